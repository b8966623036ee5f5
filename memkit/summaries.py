"""Extractive summaries of a day, week or month as pure values: made, read back, checked for age; no file, frame or clock.

A summary copies entry lines, cuts their text and leaves out what its budget does not hold: it says nothing that its
sources do not say (the seed dsh-memory-layers, "摘要规则：不编造"). Characters are code points, days are local.

Where the seed is silent: a header names up to seven sources, and of more the first three and `等 N 个文件`, so that a
month of day files stays short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from memkit.dates import check_period, period_days
from memkit.entry_lines import Lines, joined, milliseconds, read_line
from memkit.layouts.stored import instant_of, read_names
from memkit.model import StoredSummary
from memkit.text import norm_text, truncate


class Limit(NamedTuple):
    """How many characters a summary keeps of one entry's text, and how many its entry lines may have together."""

    per_entry: int
    budget: int


LIMITS = {"day": Limit(120, 1500), "week": Limit(100, 1000), "month": Limit(80, 700)}
NAMED, NAMED_OF_MANY = 7, 3

_TITLES = {"day": "日摘要", "week": "周摘要", "month": "月摘要"}


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What a summary is made from: one lower summary, or files of entries; their names, in order, and their lines.

    `omitted` counts what it left out itself or by its sources (0 for entries).
    """

    names: tuple[str, ...]
    lines: Lines
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """One summary, ready to be written: `content` is the whole file, `kept` its entry lines, `used` their cost.

    `omitted` counts the entries that it left out, `below` those that its sources had; `sources` are all their names.
    """

    period: str
    key: str
    content: str
    kept: tuple[str, ...]
    omitted: int
    below: int
    used: int
    sources: tuple[str, ...]
    digest: str


def lower(name: str, stored: StoredSummary, *, tz: tzinfo, within: tuple[date, date] | None = None) -> Source:
    """Return a stored summary as a source of the level above; `within` keeps the lines of a closed window.

    The day of a line is the local one of its stamp, but never one outside the summary's own period: so each line of a
    week that straddles two months is in one of them. Its omissions are passed on whole, as an upper bound.
    """
    days = period_days(stored.period, stored.key)
    first, last = days[0], days[-1]
    read = (read_line(raw, tz=tz) for raw in stored.lines)
    lines = [line._replace(day=min(max(line.day, first), last)) for line in read if line]
    if within:
        lines = [line for line in lines if within[0] <= line.day <= within[1]]
    return Source((name,), Lines.of(lines), stored.omitted + stored.omitted_below)


def digest(lines: Lines) -> str:
    """Return the first 12 hex digits of the sha256 over the entry lines, joined with LF."""
    return sha256(lines.data()).hexdigest()[:12]


def extract(period: str, key: str, sources: Sequence[Source], *, generated_at: datetime) -> Summary | None:
    """Return the summary of a period from its sources, or None if they hold no entry; `generated_at` is aware.

    Lines come out in order of their instants, equal ones in the order of the sources.

    Raises: BadArgument for an unknown period or a key that names none.
    """
    period = check_period(period)
    head = title(period, key)
    moment = generated_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    sources = _useful(sources)
    lines = joined([source.lines for source in sources])
    if not len(lines):
        return None
    kept = tuple(_cut(period, lines, _chosen(period, lines)))
    omitted = len(lines) - len(kept)
    below = sum(source.omitted for source in sources)
    names = _names(sources)
    mark = digest(lines)
    said = f"> 来源：{_named(names)}（{len(lines)} 条，sha256:{mark}）\n> 生成时间：{moment}"
    parts = (head, said, "\n".join(kept), _omission(omitted, below))
    content = "\n\n".join(part for part in parts if part) + "\n"
    return Summary(period, key, content, kept, omitted, below, sum(len(line) + 1 for line in kept), names, mark)


def weighed(period: str, sources: Sequence[Source]) -> tuple[int, int]:
    """Return how many entries a summary of these sources keeps, and how many it leaves out; its text is not made."""
    lines = joined([source.lines for source in _useful(sources)])
    kept = len(_chosen(period, lines))
    return kept, len(lines) - kept


def title(period: str, key: str) -> str:
    """Return the first line of a summary.

    Raises: BadArgument for a key that names no such period.
    """
    days = period_days(period, key)
    return f"# {_TITLES[period]} {key}" + ("" if period == "day" else f"（{days[0]} – {days[-1]}）")


def is_stale(stored: StoredSummary, sources: Sequence[Source], *, lower_stale: bool = False) -> bool:
    """Return whether a summary no longer says what its sources say; `sources` are those that would be chosen now.

    `lower_stale` says that a lower summary among them is stale itself. A summary without a hash (dsh's own) is stale
    when a source entry is newer than its 生成时间; one that does not even say that shows no sign of age, unless it is empty.
    """
    if lower_stale:
        return True
    useful = _useful(sources)
    lines = joined([source.lines for source in useful])
    if stored.digest is not None:
        # Both sides are read from header text, so a name that a header cannot give back exactly still compares equal.
        names = read_names(_named(_names(useful)))
        return stored.sources != names or stored.digest != digest(lines)
    generated_at = instant_of(stored.generated_at or "")
    if generated_at is None:
        return bool(len(lines)) and not stored.chars
    return bool((lines.instant > milliseconds(generated_at)).any())


def _useful(sources: Iterable[Source]) -> list[Source]:
    """Return the sources that say anything: an empty file neither makes a summary nor makes one stale."""
    return [source for source in sources if len(source.lines) or source.omitted]


def _names(sources: Iterable[Source]) -> tuple[str, ...]:
    """Return the names of the sources, each once: a file that holds entries of several days is in several."""
    return tuple(dict.fromkeys(name for source in sources for name in source.names))


def _chosen(period: str, lines: Lines) -> Any:
    """Return the places of the lines that the budget holds, in order of their instants."""
    limit, budget = LIMITS[period]
    rows = np.argsort(lines.instant, kind="stable")
    costs = np.minimum(lines.size, lines.head + limit + 2)[rows]
    if costs.sum() <= budget:
        return rows
    return rows[sorted(_fill(_units(period, lines.day[rows]), costs.tolist(), budget))]


def _cut(period: str, lines: Lines, rows: Any) -> list[str]:
    """Return some of the lines, without their ends, each text cut to what the level keeps of it."""
    ends = (lines.head + LIMITS[period].per_entry)[rows].tolist()
    return [truncate(line[:-1], end) for line, end in zip(lines.whole.take(pa.array(rows)).to_pylist(), ends, strict=True)]


def _units(period: str, days: Any) -> Iterable[Iterable[int]]:
    """Return the places of the lines by the part of the period that they lie in; the parts share the budget fairly.

    The parts of a week are its days, those of a month its weeks; 1970 began on a Thursday.
    """
    if period == "day":
        return [range(len(days))]
    units = days if period == "week" else (days + 3) // 7
    return [np.flatnonzero(units == unit).tolist() for unit in np.unique(units)]


def _fill(units: Iterable[Iterable[int]], costs: Sequence[int], room: int) -> list[int]:
    """Return the indexes kept when the units take turns, each giving its next line that fits.

    What does not fit once never fits later, so each line is looked at once, and shorter ones behind it may follow.
    """
    kept: list[int] = []
    waiting = [iter(unit) for unit in units]
    while waiting:
        going = []
        for unit in waiting:
            index = next((index for index in unit if costs[index] <= room), None)
            if index is not None:
                room -= costs[index]
                kept.append(index)
                going.append(unit)
        waiting = going
    return kept


def _named(names: Sequence[str]) -> str:
    """Return the names of the sources as the header gives them."""
    many = len(names) > NAMED
    shown = "、".join(norm_text(name) for name in (names[:NAMED_OF_MANY] if many else names))
    return f"{shown} 等 {len(names)} 个文件" if many else shown


def _omission(omitted: int, below: int) -> str:
    if not omitted:
        return ""
    return f"> 另有 {omitted} 条因字数预算省略" + (f"（下层摘要另省略 {below} 条）。" if below else "。")
