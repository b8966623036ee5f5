"""Questions and the catalog: each Row one answer from a loaded store beside commands and packages that read the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pandas as pd

import memkit
from tests.benchmarks import corpus, peers
from tests.benchmarks.measure import Clocked, Peer, Row
from tests.benchmarks.rows import floor, last_month, opened, optional

TITLE = re.compile("《(..)》")  # of two characters, so rare that most stand in one entry


def questions(root: Path) -> Iterator[Row]:
    """Yield queries beside grep; all but one are asked of the loaded frame alone, without a look at the folder."""
    mem, still = opened(root), opened(root)
    state = still._loaded.refresh()
    still._loaded.refresh = lambda: state
    long, english, short = corpus.NEEDLES
    least = floor(root)

    def row(name: str, ask: Callable[[], pd.DataFrame], pattern: str, goal: float | None = None, **more) -> Row:
        ours = Clocked(ask, found=len, before=more.pop("before", None))
        grep = Clocked(lambda: peers.grep(root, pattern), found=int)
        return Row(name, "grep -rniE", ours, grep, goal, floor=least, **more)

    def forget() -> None:
        state.__dict__.pop("folded", None)

    with peers.links(root) as linked:
        others = _others(root, long, Path(linked))
        yield row(f"matching {long!r}, the first query (folds)", lambda: still.matching(long), long, before=forget)
        yield row(f"matching {long!r}, again", lambda: still.matching(long), long, 0.5, more=others)
    yield row(f"matching {short!r}, one character", lambda: still.matching(short), short, 0.5)
    yield row(f"matching {english!r}, as one phrase", lambda: still.matching(f'"{english}"'), english, 0.5)
    yield row(f"matching {long!r}, with a look at the folder", lambda: mem.matching(long), long, 1)
    yield row("recent(30)", lambda: still.recent(30), last_month(), 0.1)
    first, last = _a_month(state.entries)
    month = rf"^- \[{first:%Y-%m}-"
    yield row("between, one month", lambda: still.between(first.date(), last.date()), month, 0.1)
    yield row("tagged", lambda: still.tagged("计划"), r"\] \[计划\] ", 0.25)


def _others(root: Path, term: str, linked: Path) -> tuple[Peer, ...]:
    """Return what else finds the lines that hold a term; foam-wiki has loaded its notes, as ours has."""
    foam = peers.foam(linked) if peers.has("foamwiki") else None
    return (
        Peer("grep -rnF", Clocked(lambda: peers.grep(root, term, how="-rnF"), found=int)),
        optional("rg -ni", "rg", Clocked(lambda: peers.rg(root, term), found=int)),
        optional("DuckDB read_text, regex", "duckdb", Clocked(lambda: peers.duckdb_grep(root, term), found=int), rounds=3),
        Peer("foam-wiki, loaded", Clocked(lambda: foam.search(term), found=len) if foam else None),
    )


def _a_month(entries: pd.DataFrame) -> tuple[pd.Timestamp, pd.Timestamp]:
    """Return the first and the last day of the month in the middle of the store."""
    first = entries["date"].iloc[len(entries) // 2].to_period("M").to_timestamp()
    return first, first + pd.offsets.MonthEnd()


def near_to_far(root: Path) -> Iterator[Row]:
    """Yield searches of an archive for a title in the catalog, and for one in the texts alone, beside the skill's greps."""
    mem = opened(root, "archive")
    entries = mem.entries()
    old = entries[entries["date"] < str(corpus.LAST_DAY - timedelta(days=60))]
    catalog = "".join(mem.catalog()["index"])
    titles = [title for text in old["text"] for title in TITLE.findall(text)]
    recent = set(TITLE.findall("".join(entries["text"][entries["date"] > old["date"].max()])))
    for name, held in (("catalog", True), ("body", False)):
        found = [title for title in titles if (title in catalog) == held and title not in recent]
        if found:
            yield _search_row(mem, found[len(found) // 2], name)


def _search_row(mem: memkit.Store, term: str, step: str) -> Row:
    ours = Clocked(lambda: mem.search(term, limit=None), found=lambda found: (found.step, _days(found.frame)))
    theirs = Clocked(lambda: peers.near_to_far(mem.root, term), found=tuple)
    return Row(f"search, found in the {step}", "the skill's greps", ours, theirs, floor=floor(mem.root))


def _days(frame: pd.DataFrame) -> list[str]:
    return sorted(set(frame["date"].dt.strftime("%Y-%m-%d")))


def catalogs(root: Path, scratch: Path) -> Iterator[Row]:
    """Yield a year's catalog made afresh and written, and all of them as a frame; `root` is a copy."""
    mem = opened(root, "archive")
    year = max(corpus.LAST_DAY.year - 2, int(mem.days()["date"].min().year))
    target = root / "catalog" / f"{year}.tsv"
    over = year < corpus.LAST_DAY.year  # else ours leaves today out

    def counted(_: object) -> int:
        return target.read_bytes().count(b"\n")

    yield Row(
        "rebuild a year's catalog",
        "find | sort | xargs awk",
        Clocked(lambda: mem.rebuild_catalog(year), before=target.unlink, found=counted if over else None),
        Clocked(lambda: peers.awk(root, year, scratch / target.name), found=int),
        1.5,
        floor=floor(root / "archive" / str(year)),
    )
    rows = Clocked(mem.catalog, found=len)
    theirs = Clocked(lambda: peers.read_csv(root), found=int)
    yield Row("catalog()", "pandas read_csv, a year at a time", rows, theirs, floor=floor(root / "catalog"))
