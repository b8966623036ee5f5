"""What is shown of the figures: lines for a terminal, a Markdown table, and the machine that they were measured on."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path

BEGIN, END = "<!-- the table: written by `--markdown`, never by hand -->", "<!-- end of the table -->"
HEAD = ("", "ours ms", "floor ms", "× floor", "peer", "peer ms", "× peer", "goal", "kept", "peak MB")
WIDTHS = (58, 10, 9, 8, 34, 10, 8, 13, 5, 8)
NO_FIGURE = "-"


def lines(found: dict) -> Iterator[tuple[str, ...]]:
    """Yield the cells of a row: a line for each peer, of which only the first repeats what is ours."""
    floor = found["floor"] or {}
    for number, peer in enumerate(found["peers"] or [{}]):
        goals = [("× floor", floor)] if number == 0 else []
        ours = (found["row"], _figure(found["ours_ms"]), _figure(floor.get("ms")), _figure(floor.get("ratio"), 2))
        goal, kept = _goal([*goals, ("× peer", peer)])
        yield (
            *(ours if number == 0 else ("",) * 4),
            peer.get("name", ""),
            _figure(peer.get("ms")),
            _figure(peer.get("ratio"), 2),
            goal,
            kept,
            _figure(found["peak_mb"], 0) if number == 0 else "",
        )


def _goal(sides: list[tuple[str, dict]]) -> tuple[str, str]:
    """Return the goal as text and whether it was kept; a line has one at most."""
    for name, figures in sides:
        if figures.get("goal") is not None and figures["ratio"] is not None:
            return f"≤ {figures['goal']:g} {name}", "yes" if figures["ratio"] <= figures["goal"] else "no"
    return "", ""


def _figure(value: float | None, digits: int = 1) -> str:
    return NO_FIGURE if value is None else f"{value:,.{digits}f}"


def terminal(cells: tuple[str, ...]) -> str:
    """Return one line of the table for a terminal."""
    return " ".join(_padded(cell, width, left=n in (0, 4)) for n, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True)))


def _padded(cell: str, width: int, *, left: bool) -> str:
    blanks = " " * (width - len(cell) - sum(ord(character) > 0x2E80 for character in cell))  # such take two columns
    return cell + blanks if left else blanks + cell


def markdown(found: list[dict], about: str) -> str:
    """Return the Markdown table between its two markers, under what it is about."""
    head = (f"| {' | '.join(HEAD)} |", f"|---|{'---:|' * 3}---|{'---:|' * 2}---|---|---:|")
    cells = chain.from_iterable(map(lines, found))
    body = (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in cells)
    return "\n".join((BEGIN, "", about, "", *head, *body, "", END))


def written(path: Path, table: str) -> None:
    """Put a table between the markers of a Markdown file; a file without them becomes the table."""
    old = path.read_text(encoding="utf-8") if path.is_file() else ""
    if BEGIN in old and END in old:
        before, after = old.split(BEGIN)[0], old.split(END)[1]
        table = f"{before}{table}{after}"
    path.write_text(table.rstrip("\n") + "\n", encoding="utf-8", newline="\n")


def machine() -> str:
    """Return what the figures were measured on, without any name that is the machine's own."""
    versions = ", ".join(filter(None, map(_version, ("pandas", "pyarrow", "python-frontmatter", "duckdb", "foam-wiki"))))
    tools = ", ".join(filter(None, map(_tool, ("grep", "rg"))))
    return (
        f"Measured on {os.cpu_count()} cores ({_processor()}) with {_memory()} GB, {_system()}, "
        f"Python {platform.python_version()}, {versions}; {tools}."
    )


def load() -> str:
    """Return how busy the machine is: 1 for the benchmark alone, and more than there are cores is too much."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def _tool(name: str) -> str:
    if not shutil.which(name):
        return f"no {name}"
    told = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"\d+(\.\d+)+", told)
    return f"{name} {number[0]}" if number else name


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (AttributeError, KeyError, OSError):
        name = platform.system()
    return name if sys.platform != "linux" else f"{name} (Linux {'.'.join(platform.release().split('.')[:2])})"


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":")[1].strip() for line in told if line.startswith("model name")), platform.machine())


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f}"
    except (AttributeError, OSError, ValueError):
        return "?"
