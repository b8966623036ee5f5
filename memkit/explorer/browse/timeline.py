"""The bars of entries over time: days, weeks, months or years, whichever few enough bars can show; pure."""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

import numpy as np

MOST = 240  # bars at most; more would be thinner than a pixel or two
_FEW_DAYS, _FEW_WEEKS = 62, 105


class Bar(NamedTuple):
    """One bar: its first and its last day, and how many entries lie in it."""

    first: date
    last: date
    entries: int


def bars(days: Any, span: tuple[date, date] | None = None) -> list[Bar]:
    """Return the bars of some days (datetime64, NaT left out), without holes, over a span if one is given, else their own.

    Bars are as long as they must be for there to be at most MOST of them: a day, an ISO week, a month, years.
    """
    known = days[~np.isnat(days)].astype("datetime64[D]")
    if span is None and not len(known):
        return []
    first, last = span or (known.min(), known.max())
    edges = _edges(np.datetime64(first, "D"), np.datetime64(last, "D"))
    counts = np.bincount(np.searchsorted(edges, known, side="right") - 1, minlength=len(edges) - 1)
    ends = np.minimum(edges[1:] - 1, np.datetime64(date.max))
    return [Bar(*bar) for bar in zip(edges[:-1].tolist(), ends.tolist(), counts.tolist(), strict=True)]


def _edges(first: Any, last: Any) -> Any:
    """Return the first day of each bar, and of the one that would follow."""
    length = int((last - first).astype("int64")) + 1
    if length <= _FEW_DAYS:
        return np.arange(first, last + 2)
    if length <= _FEW_WEEKS * 7:
        monday = first - (first.astype("int64") + 3) % 7  # day 0 of 1970 was a Thursday
        return np.arange(monday, last + 8, 7)
    months = first.astype("datetime64[M]"), last.astype("datetime64[M]")
    if int((months[1] - months[0]).astype("int64")) < MOST:
        return np.arange(months[0], months[1] + 2).astype("datetime64[D]")
    years = first.astype("datetime64[Y]"), last.astype("datetime64[Y]")
    size = -(-(int((years[1] - years[0]).astype("int64")) + 1) // MOST)
    return np.arange(years[0], years[1] + size + 1, size).astype("datetime64[D]")
