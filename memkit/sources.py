"""Which entries and lower summaries a summary is made from, and which stored summaries are out of date; pure.

`layers` builds weeks on day summaries and months on week summaries where they exist; the other layouts build all on entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, tzinfo
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from memkit import query, schema
from memkit.dates import month_weeks, period_days, week_days
from memkit.entry_lines import Line, Lines, dated
from memkit.model import StoredSummary
from memkit.summaries import Source, is_stale, lower

BLOCK = 8192  # entries that are made lines at once: periods are mostly asked for in their order


_NOTHING = Line("", "-", "", date(1970, 1, 1), 0)


class _Block(NamedTuple):
    """Some entries of the frame, from `start` to before `end`, as lines; `real` says which have a text and an instant."""

    start: int
    end: int
    lines: Lines
    real: Any

    def of(self, start: int, end: int) -> Lines:
        rows = slice(start - self.start, end - self.start)
        lines, real = self.lines[rows], self.real[rows]
        return lines if real.all() else lines[real]


class Sources:
    """The entries of a store by day (a frame of schema HELD), and its stored summaries by (period, key).

    What a period is made from is worked out when it is asked for, and not kept.
    """

    def __init__(self, entries: pd.DataFrame, stored: Mapping[str, StoredSummary], *, layered: bool, tz: tzinfo):
        days = schema.days(entries["date"])
        order = np.argsort(days, kind="stable")  # NaT comes last
        if (np.diff(order) != 1).any():
            entries, days = entries.take(order), days[order]
        self._days, self._entries = days, entries
        self._paths = query.arrow(entries["path"])
        self._stored = {(summary.period, summary.key): path for path, summary in stored.items()}
        self.stored = stored
        self._layered, self._tz = layered, tz
        self._known: dict[str, tuple[bool, tuple[str, ...]]] = {}
        self._block = _Block(0, 0, Lines.of([]), np.zeros(0, dtype="bool"))

    def days(self) -> list[date]:
        """Return the days that have entries, ascending."""
        days: list[date] = np.unique(self._days[~np.isnat(self._days)]).astype("datetime64[D]").tolist()
        return days

    def path_of(self, period: str, key: str) -> str | None:
        """Return where the stored summary of a period lies, None if there is none."""
        return self._stored.get((period, key))

    def of(self, period: str, key: str) -> list[Source]:
        """Return the sources of a period, in order; empty when it has no entry."""
        days = period_days(period, key)
        if period == "day" or not self._layered:
            return self._entries_of(days)
        if period == "week":
            return self._of_days(days)
        return [source for week in month_weeks(key) for source in self._of_week(week, days)]

    def _of_week(self, week: str, month: list[date]) -> list[Source]:
        """Return the sources of that part of a week which lies in a month."""
        path = self.path_of("week", week)
        if path:
            return [lower(path, self.stored[path], tz=self._tz, within=(month[0], month[-1]))]
        return self._of_days([day for day in week_days(week) if month[0] <= day <= month[-1]])

    def _of_days(self, days: list[date]) -> list[Source]:
        """Return the day summaries of consecutive days, and the entries of the runs of days that have none."""
        sources: list[Source] = []
        for path, run in groupby(days, key=lambda day: self.path_of("day", day.isoformat())):
            sources += [lower(path, self.stored[path], tz=self._tz)] if path else self._entries_of(list(run))
        return sources

    def _entries_of(self, days: list[date]) -> list[Source]:
        """Return the entries of consecutive days as one source."""
        start = int(np.searchsorted(self._days, np.datetime64(days[0])))
        end = int(np.searchsorted(self._days, np.datetime64(days[-1]), side="right"))
        if start == end:
            return []
        if not (self._block.start <= start and end <= self._block.end):
            self._block = self._made(start, min(len(self._days), max(end, start + BLOCK)))
        paths = tuple(dict.fromkeys(self._paths[start:end].to_pylist()))
        return [Source(paths, self._block.of(start, end))]

    def _made(self, start: int, end: int) -> _Block:
        """Return some entries as lines."""
        frame, days = self._entries.iloc[start:end], self._days[start:end]
        stamp, clock, tag, text = (query.arrow(frame[name]) for name in ("stamp", "clock", "tag", "text"))
        if self._layered:
            instants = query.instants_of(frame[["written_at"]], None)
            lines = Lines.of_columns(stamp.fill_null(""), tag.fill_null("-"), text, days, instants)
            return _Block(start, end, lines, instants != query.NEVER)
        columns = (column.to_pylist() for column in (clock, tag, text))
        made = list(map(dated, days.astype("datetime64[D]").tolist(), *columns))
        return _Block(start, end, Lines.of([line or _NOTHING for line in made]), np.array([bool(line) for line in made]))

    def is_stale(self, path: str) -> bool:
        """Return whether a stored summary is out of date, by itself or by a lower one that it is made from."""
        own, lower = self._judged(path)
        return own or any(map(self.is_stale, lower))

    def is_behind(self, path: str) -> bool:
        """Return whether a stored summary is out of date by itself: making it afresh would change what it says."""
        return self._judged(path)[0]

    def made_from(self, path: str) -> tuple[str, ...]:
        """Return the lower summaries that a stored summary would be made from now."""
        return self._judged(path)[1]

    def below(self, period: str, key: str) -> list[str]:
        """Return the stored summaries that a period would be made from now."""
        return [name for source in self.of(period, key) for name in source.names if name in self.stored]

    def _judged(self, path: str) -> tuple[bool, tuple[str, ...]]:
        """Return whether a stored summary is out of date by itself, and its lower ones; worked out once."""
        if path not in self._known:
            summary = self.stored[path]
            sources = self.of(summary.period, summary.key)
            lower = tuple(name for source in sources for name in source.names if name in self.stored)
            self._known[path] = is_stale(summary, sources), lower
        return self._known[path]

    def stale(self) -> dict[str, bool]:
        """Return for each stored summary, by path, whether it is out of date."""
        return {path: self.is_stale(path) for path in self.stored}
