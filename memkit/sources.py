"""Which entries and lower summaries a summary is made from, and which stored summaries are out of date; pure.

`layers` builds weeks on day summaries and months on week summaries where they exist; the other layouts build all on entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, tzinfo

import numpy as np
import pandas as pd

from memkit.dates import month_weeks, period_days, week_days
from memkit.model import StoredSummary
from memkit.summaries import Line, Source, dated, entry, is_stale, lower


class Sources:
    """The entries of a store by day, and its stored summaries by (period, key)."""

    def __init__(self, entries: pd.DataFrame, stored: Mapping[str, StoredSummary], *, layered: bool, tz: tzinfo):
        self._frame = entries
        self._days = entries["date"].to_numpy()
        self._order = np.argsort(self._days, kind="stable")  # NaT comes last
        self._sorted = self._days[self._order]
        self._stored = {(summary.period, summary.key): (path, summary) for path, summary in stored.items()}
        self._layered, self._tz = layered, tz

    def of(self, period: str, key: str) -> list[Source]:
        """Return the sources of a period, in order; empty when it has no entry."""
        days = period_days(period, key)
        if period == "month" and self._layered:
            return [source for week in month_weeks(key) for source in self._of_week(week, days)]
        return list(self._entries_of(days[0])) if period == "day" else _once(self._of_days(days))

    def _of_week(self, week: str, month: list[date]) -> list[Source]:
        """Return the sources of that part of a week which lies in a month."""
        found = self._stored.get(("week", week))
        if found:
            return [lower(found[0], found[1], tz=self._tz, within=(month[0], month[-1]))]
        return self._of_days([day for day in week_days(week) if month[0] <= day <= month[-1]])

    def _of_days(self, days: list[date]) -> list[Source]:
        sources: list[Source] = []
        for day in days:
            found = self._stored.get(("day", day.isoformat())) if self._layered else None
            if found:
                sources.append(lower(found[0], found[1], tz=self._tz))
            else:
                sources.extend(self._entries_of(day))
        return sources

    def _entries_of(self, day: date) -> Iterator[Source]:
        """Yield a source for each file that has entries of a day."""
        start, end = np.searchsorted(self._sorted, [np.datetime64(day), np.datetime64(day) + 1])
        rows = self._frame.take(self._order[start:end])
        for path, held in rows.groupby("path", sort=True):
            columns = (held[name] for name in ("date", "stamp", "clock", "tag", "text"))
            lines = [line for line in map(self._line, *columns) if line]
            yield Source(str(path), tuple(lines))

    def _line(self, day: pd.Timestamp, stamp: object, clock: object, tag: object, text: str) -> Line | None:
        name = tag if isinstance(tag, str) else None
        if self._layered and isinstance(stamp, str):
            return entry(stamp, name, text, day=day.date(), tz=self._tz)
        return dated(day.date(), clock if isinstance(clock, str) else None, name, text)

    def stale(self) -> dict[str, bool]:
        """Return for each stored summary, by path, whether it is out of date."""
        answers: dict[str, bool] = {}
        for period in ("day", "week", "month"):  # a lower level is judged before the level that uses it
            for (found, key), (path, summary) in self._stored.items():
                if found == period:
                    sources = self.of(period, key)
                    below = any(answers.get(source.name, False) for source in sources)
                    answers[path] = is_stale(summary, sources, lower_stale=below)
        return answers


def _once(sources: list[Source]) -> list[Source]:
    """Return the sources with each file once: one that holds entries of several days gives them in the order of the days."""
    found: dict[str, Source] = {}
    for source in sources:
        old = found.get(source.name)
        found[source.name] = replace(source, lines=old.lines + source.lines) if old else source
    return list(found.values())
