"""Which entry each line of a summary was copied from: the proof that a summary says nothing of its own; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import pandas as pd

from memkit import schema
from memkit.dates import month_weeks, period_days, week_days
from memkit.entry_lines import Line, read_line
from memkit.layouts import stored
from memkit.model import StoredSummary
from memkit.summaries import LIMITS
from memkit.text import norm_tag, norm_text

TRACE: schema.Schema = {"summary_line": schema.COUNT, "shown": schema.STR, **schema.ENTRIES}
NOWHERE = -1
SHORTEST = min(limit.per_entry for limit in LIMITS.values())
_TITLE = re.compile(r"^#+ \S*摘要 ([0-9]{4}-(?:W[0-9]{2}|[0-9]{2}-[0-9]{2}|[0-9]{2}))(?![0-9-])", re.MULTILINE)


class _Row(NamedTuple):
    """An entry that a line may come from: its place in the frame, its day, and its tag and text as a summary has them."""

    place: int
    day: date | None
    tag: str
    text: str


def titled(content: str) -> StoredSummary:
    """Return a summary as its own title tells it; without one its period and key are empty."""
    match = _TITLE.search(content)
    key = match[1] if match else ""
    period = "week" if "W" in key else "day" if len(key) > len("2026-10") else "month"
    return stored.read(content, period if key else "", key)


def trace(summary: StoredSummary, entries: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each entry line of a summary: its number and text there, then the entry it was copied from.

    A line that comes from no entry of the summary's period has no path. `entries` has the columns of schema HELD.
    """
    (places,) = origins([summary], entries)
    lines = [read_line(line) for line in summary.lines]
    shown = {"summary_line": list(summary.at), "shown": [line.text if line else None for line in lines]}
    known = [place for place in places if place != NOWHERE]
    rows = entries[list(schema.ENTRIES)].iloc[known]
    rows.index = pd.Index([at for at, place in enumerate(places) if place != NOWHERE])
    rows = rows.reindex(range(len(places)))
    counts = {name: rows[name].fillna(0) for name, dtype in schema.ENTRIES.items() if dtype == schema.COUNT}
    return schema.frame(TRACE, {**shown, **rows.assign(**counts)})


def origins(summaries: Sequence[StoredSummary], entries: pd.DataFrame) -> list[list[int]]:
    """Return for each line of each summary the place of its entry in the frame, NOWHERE if it has none in the period.

    Lines that are alike are given the entries that are alike, in turn.
    """
    lines = [[read_line(line) for line in summary.lines] for summary in summaries]
    wanted = {line.stamp for held in lines for line in held if line}
    rows = _by_stamp(entries, wanted)
    return [_places(held, rows, _days(summary)) for summary, held in zip(summaries, lines, strict=True)]


def _places(lines: Iterable[Line | None], rows: Mapping[str, Sequence[_Row]], days: frozenset[date] | None) -> list[int]:
    places: list[int] = []
    taken = set()
    for line in lines:
        fits = [row.place for row in rows.get(line.stamp, ()) if _shows(line, row, days)] if line else []
        places.append(next((place for place in fits if place not in taken), fits[0] if fits else NOWHERE))
        taken.add(places[-1])
    return places


def _shows(line: Line, row: _Row, days: frozenset[date] | None) -> bool:
    """Return whether a line shows an entry of one of the days, whole, or cut to what a level keeps at least."""
    if row.tag != line.tag or (days is not None and row.day not in days):
        return False
    cut = line.text.endswith("…") and len(line.text) > SHORTEST
    return row.text == line.text or (cut and row.text.startswith(line.text[:-1]))


def _days(summary: StoredSummary) -> frozenset[date] | None:
    """Return the days whose files a summary may draw on, None for any; a month draws on whole weeks, too."""
    if not summary.key:
        return None
    if summary.period != "month":
        return frozenset(period_days(summary.period, summary.key))
    return frozenset(day for week in month_weeks(summary.key) for day in week_days(week))


def _by_stamp(entries: pd.DataFrame, wanted: Iterable[str]) -> dict[str, list[_Row]]:
    """Return the entries with one of the wanted stamps, by it: the instant as written, or the day and the clock."""
    exact = [stamp for stamp in wanted if "T" in stamp]
    days = np.array(sorted({stamp[:10] for stamp in wanted if "T" not in stamp}), dtype="datetime64[D]").astype(schema.DAY)
    found = entries["date"].to_numpy()
    hit = np.isin(found, days) | entries["stamp"].isin(exact).to_numpy()
    places = np.flatnonzero(hit)
    held = entries.iloc[places]
    rows: dict[str, list[_Row]] = defaultdict(list)
    columns = (held[name].tolist() for name in ("stamp", "clock", "tag", "text"))
    for place, day, stamp, clock, tag, text in zip(places.tolist(), _dates(held), *columns, strict=True):
        own = _Row(place, day, tag if isinstance(tag, str) else "-", text)
        if isinstance(stamp, str):
            rows[stamp].append(own)
        if day is not None:
            name = f"{day} {clock}" if isinstance(clock, str) else str(day)
            rows[name].append(own._replace(tag=norm_tag(own.tag), text=norm_text(text)))
    return rows


def _dates(entries: pd.DataFrame) -> list[date | None]:
    return [None if day is pd.NaT else day.date() for day in entries["date"]]
