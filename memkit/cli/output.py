"""How answers reach a terminal, a pipe or GitHub: frames as a table, JSON or CSV, findings as annotations."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

ROWS = 50  # of a table, unless --limit says otherwise
MAIN = ["date", "tag", "text", "path", "line"]  # of entries: with all columns, the text would be a few words wide
LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
COMMANDS = {
    "catch_up": "catch-up",
    "rebuild_catalog": "rebuild",
    "hot_set": "hot",
    "topics_add": "topic",
    "mark_forgotten": "mark-forgotten",
    "summaries": "summaries",
}  # what Python calls the verbs that a shell has under another name
VERBS = ("append", "audit", "correct", "forget", "manifest", "summary")  # the same in both
_OPTION = re.compile(r"\bpass ([a-z_]+)=")  # as Python spells it
_CALL = re.compile(rf"\b(?:mem\.)?({'|'.join((*COMMANDS, *VERBS))})\(\)")


def as_typed(message: str) -> str:
    """Return an error of Python's names and options as one of the commands and options of a shell."""
    for name, command in COMMANDS.items():
        message = message.replace(f"{name}: only", f"{command}: only")
    message = _CALL.sub(lambda found: f"`memkit {COMMANDS.get(found[1], found[1])}`", message)
    return _OPTION.sub(lambda found: f"pass --{found[1].replace('_', '-')}", message)


def width() -> int:
    """Return the columns of the terminal, 80 without one; shutil knows too, but its import costs a tenth of our help."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (OSError, AttributeError, ValueError):  # a pipe, no stdout at all, a closed one
        return 80


def help_width() -> int:
    """Return the columns of a help page."""
    return max(50, min(width(), 100) - 2)


def table_rows(frame: pd.DataFrame, limit: int | None) -> int:
    """Return how many rows a table shows; 0 asks for all."""
    return ROWS if limit is None else limit or len(frame)


def show(frame: pd.DataFrame, format: str, limit: int | None) -> None:
    """Print a frame: as a table of the terminal's width, as one JSON array, or as CSV that quotes every text.

    The table has the main columns of entries, and all those of other frames that fit; the other formats have all.
    """
    if format == "table":
        from memkit.display import table_text

        part = frame[MAIN] if "end_line" in frame else frame
        click.echo(table_text(_text_kept(part), limit=table_rows(frame, limit), width=width()))
        if part is not frame and len(frame):
            click.echo("more columns: --format json or csv")
        return
    from memkit.export import FORMATS

    write, _ = FORMATS[format]
    click.echo(write(frame.head(limit) if limit else frame), nl=False)


def _text_kept(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its text so far in front that a narrow terminal has it; what does not fit goes from behind."""
    if "text" not in frame or width() >= 54:  # a date, a tag and twenty columns of text
        return frame
    first = [name for name in ("date", "text") if name in frame] if width() >= 32 else ["text"]
    return frame[[*first, *frame.columns.difference(first, sort=False)]]


def rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Return a frame as the rows of JSON."""
    import json

    from memkit.export import FORMATS

    held: list[dict[str, object]] = json.loads(FORMATS["json"][0](frame))
    return held


def show_facts(facts: object) -> None:
    """Print what is no frame as JSON."""
    import json  # a twentieth of what a page of help costs

    click.echo(json.dumps(facts, ensure_ascii=False, indent=1, default=str))


def annotated(findings: pd.DataFrame, root: Path) -> Iterator[str]:
    """Yield findings as GitHub's workflow commands, with files relative to the current folder."""
    for row in findings.astype(object).where(findings.notna(), None).to_dict("records"):
        place = {}
        if row["path"]:
            place["file"] = os.path.relpath(root / row["path"]).replace(os.sep, "/")
            if row["line"] > 0:
                place["line"] = str(row["line"])
        place["title"] = f"memkit {row['rule']}"
        said = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in place.items())
        yield f"::{LEVELS[row['severity']]} {said}::{_escaped(row['message'])}"


def _escaped(text: str, also: str = "") -> str:
    for sign in f"%\r\n{also}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
