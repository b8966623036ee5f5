"""What is measured: each Row is one of our calls beside its peer, over the same files, in turns."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter

import memkit
from memkit import layouts
from tests.benchmarks import corpus, peers

NOW = f"{corpus.LAST_DAY}T21:30+00:00"


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one call, and megabytes at its peak above the imports if that was measured."""

    seconds: float
    peak_mb: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `goal` is the ratio that memkit wants to keep, if it has named one."""

    name: str
    peer_name: str
    ours: Callable[[], Timed]
    peer: Callable[[], Timed]
    goal: float | None = None


def loads(root: Path, layout: str) -> Iterator[Row]:
    """Yield the cold load of a layout beside the floor, each in fresh processes, imports excluded, page cache warm."""
    goal = 6 if layout == "layers" else None
    yield Row(
        f"load {layout} to entries()",
        "floor",
        lambda: _child("load", root, layout),
        lambda: _child("floor", root, layout),
        goal,
    )


def reloads(root: Path) -> Iterator[Row]:
    """Yield what noticing nothing, and one changed file, costs beside a look at the folder."""
    mem = _open(root)
    look = _clocked(lambda: peers.look(root))
    yield Row("reload, nothing changed", "scandir + stat", _clocked(mem._loaded.refresh), look, 2)
    last = root / f"cold/{corpus.LAST_DAY:%Y-%m}/{corpus.LAST_DAY}.md"
    yield Row("reload, one file changed", "scandir + stat", _clocked(mem._loaded.refresh, before=lambda: _touch(last)), look, 3)


def questions(root: Path) -> Iterator[Row]:
    """Yield queries beside grep; `still` ones are asked of the loaded frame alone, without a look at the folder."""
    mem, still = _open(root), _open(root)
    state = still._loaded.refresh()
    still._loaded.refresh = lambda: state
    long, english, short = corpus.NEEDLES

    def row(
        name: str, ask: Callable[[], object], pattern: str, goal: float | None = None, how: str = "-rniE", before=None
    ) -> Row:
        return Row(
            name, f"grep {how}", _clocked(ask, before=before), _clocked(lambda: peers.grep(root, pattern, how=how)), goal
        )

    def forget() -> None:
        state.__dict__.pop("folded", None)

    yield row(f"matching {long!r}, the first query (folds)", lambda: still.matching(long), long, before=forget)
    yield row(f"matching {long!r}", lambda: still.matching(long), long, 0.5)
    yield row(f"matching {long!r}", lambda: still.matching(long), long, how="-rnF")
    yield row(f"matching {english!r}, as one phrase", lambda: still.matching(f'"{english}"'), english, 0.5)
    yield row(f"matching {short!r}, one character", lambda: still.matching(short), short, 0.5)
    yield row(f"matching {long!r}, with a look at the folder", lambda: mem.matching(long), long, 1)
    yield row("recent(30)", lambda: still.recent(30), r"^- \[2026-(10|09-2[2-9]|09-30)", 0.1)
    yield row("between, one month", lambda: still.between("2025-01-01", "2025-01-31"), r"^- \[2025-01-", 0.1)
    yield row("tagged", lambda: still.tagged("计划"), r"\] \[计划\] ", 0.25)


def sums(root: Path) -> Iterator[Row]:
    """Yield figures over the whole store beside the floor."""
    mem = _open(root)
    floor = _clocked(lambda: peers.floor(root))
    yield Row("volume by month", "floor", _clocked(lambda: mem.volume("month")), floor)
    yield Row("audit", "floor", _clocked(mem.audit), floor)


def audits(root: Path, layout: str) -> Iterator[Row]:
    """Yield the whole audit of a loaded store beside its load."""
    mem = _open(root, layout)
    load = _clocked(lambda: memkit.open(root, layout=layout, tz="UTC", now=NOW).entries())
    yield Row(f"audit of {layout}", "load the store", _clocked(mem.audit), load, 2)


def writes(folder: Path, scratch: Path) -> Iterator[Row]:
    """Yield an append to a big store beside one to a store of today alone, and a year's catalog beside shell commands."""
    for layout in ("archive", "workspace", "layers"):
        shutil.copytree(folder / layout, scratch / layout)
        today = layouts.named(layout).day_path(corpus.LAST_DAY)
        (scratch / f"day-{layout}" / today).parent.mkdir(parents=True)
        shutil.copy(folder / layout / today, scratch / f"day-{layout}" / today)
        big, small = (_open(scratch / name, layout) for name in (layout, f"day-{layout}"))
        for mem in (big, small):
            mem.append("the first of the process")
        ours, peer = (_clocked(partial(_append, mem, count())) for mem in (big, small))
        yield Row(f"append to a big {layout} store", "append to its today alone", ours, peer, 1.5)
    mem, year = _open(scratch / "archive", "archive"), corpus.LAST_DAY.year - 2
    rebuild = _clocked(lambda: mem.rebuild_catalog(year))
    yield Row("rebuild a year's catalog", "find | sort | xargs awk", rebuild, _clocked(lambda: peers.awk(mem.root, year)), 1.5)


def _append(mem: memkit.Store, numbers: Iterator[int]) -> None:
    mem.append(f"an entry with the number {next(numbers)}")


def summaries(root: Path, scratch: Path) -> Iterator[Row]:
    """Yield the summaries of all days, weeks and months, planned and written, beside the load of the store."""
    mem = _open(root)
    load = _clocked(lambda: memkit.open(root, layout="layers", tz="UTC", now=NOW).entries())
    yield Row(
        "all summaries planned, three periods", "load the store", _clocked(lambda: _summarize(mem, dry_run=True)), load, 3
    )
    copy = _open(shutil.copytree(root, scratch / "summed"))
    yield Row(
        "all summaries written, three periods",
        "load the store",
        _clocked(lambda: _summarize(copy), before=lambda: shutil.rmtree(copy.root / "summaries", ignore_errors=True)),
        load,
    )


def _summarize(mem: memkit.Store, *, dry_run: bool = False) -> None:
    for period in ("day", "week", "month"):
        mem.summarize_all(period, until=corpus.LAST_DAY, progress=False, dry_run=dry_run)


def starts() -> Iterator[Row]:
    """Yield the command line's start beside the import of its toolkit, each as a whole process."""
    yield Row("memkit --help", "import click", _process("-m", "memkit", "--help"), _process("-c", "import click"))


def _open(root: Path, layout: str = "layers") -> memkit.Store:
    mem = memkit.open(root, layout=layout, tz="UTC", now=NOW)
    mem.matching("loads and folds")
    return mem


def _clocked(call: Callable[[], object], *, before: Callable[[], None] | None = None) -> Callable[[], Timed]:
    def run() -> Timed:
        if before:
            before()
        start = perf_counter()
        call()
        return Timed(perf_counter() - start)

    return run


def _touch(path: Path) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as handle:
        handle.write(f"- [{corpus.LAST_DAY}T23:00:00.000Z] [计划] 又记一条\n")


def _process(*arguments: str) -> Callable[[], Timed]:
    return _clocked(lambda: subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, check=True))


def _child(what: str, root: Path, layout: str) -> Timed:
    command = [sys.executable, "-m", "tests.benchmarks.child", what, str(root), layout]
    done = subprocess.run(command, capture_output=True, check=True)
    found = json.loads(done.stdout)
    return Timed(found["seconds"], found["peak_mb"])
