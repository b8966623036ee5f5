"""What is measured: loads, figures, writes and starts, each Row one of our calls beside its floor and its peers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import pandas as pd

import memkit
from memkit import layouts
from tests.benchmarks import corpus, peers
from tests.benchmarks.measure import Clocked, Peer, Process, Row, Run, Timed

NOW = f"{corpus.LAST_DAY}T21:30+00:00"
TODAY = {name: layouts.named(name).day_path(corpus.LAST_DAY) for name in ("layers", "archive", "workspace")}
LOAD_GOALS = {"layers": 3.5, "archive": 3.5, "workspace": 10, "a rich archive": 10}
PUSHED = 1000  # rows
SLOW = 3  # rounds of the peers of a load, most of which take much longer than ours


def loads(root: Path, layout: str, name: str = "") -> Iterator[Row]:
    """Yield the cold load of a layout, each in fresh processes, imports excluded, page cache warm."""
    name = name or layout
    found = [
        ("python-frontmatter, line by line", "frontmatter", "frontmatter"),
        ("foam-wiki, a row a file", "foamwiki", "foam"),
    ]
    if name in ("layers", "archive"):  # what a regular expression can read
        found.insert(1, ("DuckDB read_text, regex", "duckdb", "duckdb"))
    first, *more = (optional(told, needs, partial(child, what, root, layout), rounds=SLOW) for told, needs, what in found)
    yield Row(
        f"load {name} to entries()",
        first.name,
        partial(child, "load", root, layout),
        first.run,
        floor=Peer("read + decode", partial(child, "floor", root, layout), LOAD_GOALS[name]),
        more=tuple(more),
    )


def loads_from_cache(root: Path, layout: str, name: str = "") -> Iterator[Row]:
    """Yield the load from a cache, which the first one of all writes, beside the one without, each in fresh processes."""
    with tempfile.TemporaryDirectory(prefix="memkit-benchmark-") as folder:
        yield Row(
            f"load {name or layout} from the cache",
            "load without",
            partial(child, "load", root, layout, folder),
            partial(child, "load", root, layout),
            0.5,
            floor=Peer("read + decode", partial(child, "floor", root, layout)),
        )


def reloads(root: Path) -> Iterator[Row]:
    """Yield what noticing nothing, and one changed file, costs beside a look at the folder."""
    mem = opened(root)
    look = Clocked(lambda: peers.look(root))
    yield Row("reload, nothing changed", "scandir + stat", Clocked(mem._loaded.refresh), look, 2)
    with changing(root / TODAY["layers"]) as touch:
        yield Row("reload, one file changed", "scandir + stat", Clocked(mem._loaded.refresh, before=touch), look, 3)


@contextmanager
def changing(path: Path) -> Iterator[Callable[[], None]]:
    """Give what adds a line to a file, and take all of them off again."""
    before = path.read_bytes()

    def touch() -> None:
        with path.open("a", encoding="utf-8", newline="\n") as handle:
            handle.write(f"- [{corpus.LAST_DAY}T23:00:00.000Z] [计划] 又记一条\n")

    try:
        yield touch
    finally:
        path.write_bytes(before)


def sums(root: Path) -> Iterator[Row]:
    """Yield figures over the whole store."""
    mem = opened(root)
    ours = Clocked(lambda: mem.volume("month"), found=lambda frame: list(frame["entries"]))
    theirs = Clocked(lambda: peers.months(root), found=list)
    yield Row("volume by month", "grep -o | sort | uniq -c", ours, theirs, floor=floor(root))


def audits(root: Path, layout: str) -> Iterator[Row]:
    """Yield the whole audit of a loaded store beside its load."""
    mem = opened(root, layout)
    yield Row(f"audit of {layout}", "load the store", Clocked(mem.audit), load(root, layout), 2, floor=floor(root))


def writes(folder: Path, scratch: Path) -> Iterator[Row]:
    """Yield an append to a store of one day, and to a big one; and a push of many rows."""
    for layout in ("archive", "workspace", "layers"):
        shutil.copytree(folder / layout, scratch / layout)
        small = scratch / f"day-{layout}"
        (small / TODAY[layout]).parent.mkdir(parents=True)
        shutil.copy(folder / layout / TODAY[layout], small / TODAY[layout])
        bigger, one = (opened(scratch / name, layout) for name in (layout, f"day-{layout}"))
        for mem in (bigger, one):
            mem.append("the first of the process")
        ours, peer = (Clocked(partial(_append, mem, count())) for mem in (bigger, one))
        least = shutil.copy(folder / layout / TODAY[layout], scratch / f"least-{layout}.md")
        written = Peer("write, fsync, replace", Clocked(partial(peers.replace, Path(least), "- an entry\n")))
        yield Row(f"append to today alone, {layout}", "write, fsync, replace", peer, written.run)
        yield Row(f"append to a big store, {layout}", "append to today alone", ours, peer, 1.5, floor=written)
    yield from _pushes(scratch / "layers")


def _append(mem: memkit.Store, numbers: Iterator[int]) -> None:
    mem.append(f"an entry with the number {next(numbers)}")


def _pushes(root: Path) -> Iterator[Row]:
    """Yield a push of new rows to a big store, planned and applied, beside single appends and one write of the same lines."""
    mem, today = opened(root), root / TODAY["layers"]
    texts = [f"第 {number} 条新记录，写点什么" for number in range(PUSHED)]
    frame = pd.DataFrame({"text": texts, "tag": "计划", "digest": pd.array([None] * PUSHED, dtype="Int64")})
    before = today.read_bytes()

    def restore() -> None:
        today.write_bytes(before)

    def push() -> int:
        plan = mem.push(frame)
        plan.apply()
        return plan.added

    few = PUSHED // 10
    lines = "".join(f"- [2026-10-21T21:30:00.000Z] [计划] {text}\n" for text in texts)
    yield Row(
        f"push of {PUSHED:,} rows to a big store, layers",
        f"{few} single appends",
        Clocked(push, before=restore, found=int),
        Clocked(lambda: [mem.append(text, tag="计划") for text in texts[:few]], before=restore),
        floor=Peer("write, fsync, replace", Clocked(lambda: peers.replace(today, lines), before=restore)),
    )
    restore()


def summaries(root: Path, scratch: Path) -> Iterator[Row]:
    """Yield the summaries of all days, weeks and months, planned and written, beside the load of the store."""
    mem, peer = opened(root), load(root, "layers")
    ours = Clocked(lambda: _summarize(mem, dry_run=True))
    yield Row("all summaries planned, three periods", "load the store", ours, peer, 3, floor=floor(root))
    copy = opened(shutil.copytree(root, scratch / "summed"))
    ours = Clocked(lambda: _summarize(copy), before=lambda: shutil.rmtree(copy.root / "summaries", ignore_errors=True))
    yield Row("all summaries written, three periods", "load the store", ours, peer, floor=floor(root))


def _summarize(mem: memkit.Store, *, dry_run: bool = False) -> None:
    for period in ("day", "week", "month"):
        mem.summarize_all(period, until=corpus.LAST_DAY, progress=False, dry_run=dry_run)


def starts(root: Path) -> Iterator[Row]:
    """Yield the command line, each as a whole process: its help, and the last month of a big store with and without cache."""
    least = Peer("python -c pass", Process("-c", "pass"))
    yield Row("memkit --help", "import click", Process("-m", "memkit", "--help"), Process("-c", "import click"), floor=least)
    command = ("-m", "memkit", "recent", str(root), "--now", NOW, "--tz", "UTC", "--format", "csv")
    read = f"from pathlib import Path; from tests.benchmarks import peers; peers.floor(Path({str(root)!r}))"
    least = Peer("python, read + decode", Process("-c", read))
    shell = Clocked(lambda: peers.newest(root, last_month()), found=int)

    def listed(out: bytes) -> int:
        return out.count(b"\n") - 1  # the header

    with tempfile.TemporaryDirectory(prefix="memkit-benchmark-") as folder:
        for name, env in (("memkit recent", None), ("memkit recent, from the cache", {**os.environ, "MEMKIT_CACHE": folder})):
            yield Row(name, "grep | sort -r", Process(*command, env=env, found=listed), shell, floor=least)


# ---- what the rows share ----


def last_month() -> str:
    """Return the pattern of the last 30 days of a `layers` store."""
    days = pd.date_range(end=str(corpus.LAST_DAY), periods=30).strftime("%Y-%m-%d")
    return rf"^- \[({'|'.join(days)})"


def opened(root: Path, layout: str = "layers") -> memkit.Store:
    """Return a store that is loaded and folded."""
    mem = memkit.open(root, layout=layout, tz="UTC", now=NOW)
    mem.matching("loads and folds")
    return mem


def floor(root: Path) -> Peer:
    """Return the read of all files of a store, in this process."""
    return Peer("read + decode", Clocked(lambda: peers.floor(root)))


def load(root: Path, layout: str) -> Run:
    """Return the load of a store, in this process."""
    return Clocked(lambda: memkit.open(root, layout=layout, tz="UTC", now=NOW).entries())


def optional(name: str, needs: str, run: Run, *, goal: float | None = None, rounds: int | None = None) -> Peer:
    """Return a peer that need not be there."""
    return Peer(name, run if peers.has(needs) else None, goal, rounds)


def child(what: str, root: Path, layout: str, *more: str) -> Timed:
    """Return one measurement made in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.child", what, str(root), layout, *more]
    return Timed(**json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
