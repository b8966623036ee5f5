"""`df.memory`: the questions of query.py and stats.py on any frame of entries; it holds nothing but the frame.

It knows neither store nor clock: "today" is the machine's day, an hour the machine's, and of tags it sees the column.
Columns that a question does not need may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any

import pandas as pd

from memkit import dates, match, query, stats
from memkit.errors import BadArgument


@pd.api.extensions.register_dataframe_accessor("memory")
class MemoryAccessor:
    """Questions over a frame of entries: `df.memory.tagged("计划").memory.recent(7)`. Filters answer newest first."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def tagged(self, tag: str) -> pd.DataFrame:
        """Return the entries whose column `tag` is this tag, whatever its case or width; `-` for those without.

        Raises: BadArgument for a blank tag or a missing column.
        """
        return query.tagged(self._having("tag"), tag)

    def between(self, start: object, end: object) -> pd.DataFrame:
        """Return the entries of the days from `start` to `end`, both among them.

        Raises: BadArgument for an end that is no day, a window upside down or a missing column.
        """
        return query.between(self._having("date"), start, end)

    def recent(self, days: int, *, today: object = None) -> pd.DataFrame:
        """Return the entries of the last `days` calendar days; `today` is the machine's day unless given.

        Raises: BadArgument if `days` is not a whole number of at least 1, for a bad `today` or a missing column.
        """
        day = datetime.now(dates.zone(None)).date() if today is None else today
        return query.recent(self._having("date"), days, today=day)

    def matching(self, text: str, *, mode: str = "and", fields: str | Iterable[str] | None = None) -> pd.DataFrame:
        """Return the entries in which the words of `text` lie, in text or tag: every one (and) or any (or).

        `fields` defaults to those of the two columns that the frame has.

        Raises: BadArgument for a query without a word, another mode or field, or a missing column.
        """
        if fields is None:
            fields = [field for field in match.FIELDS if field in self._frame] or match.FIELDS
        named = match.check_fields(fields)
        return query.matching(self._having(*named), text, mode=mode, fields=named)

    def volume(self, by: str, *, tz: str | tzinfo | None = None, tokenizer: stats.Tokenizer | None = None) -> pd.DataFrame:
        """Return entries, characters and bytes by day, week, month, year, weekday, hour, tag, label, kind or path.

        `tz` (the machine's unless given) is where written_at is read for `hour`. Columns: as stats.volume.

        Raises: BadArgument for another `by`, a tokenizer that is none or a missing column.
        """
        own = [by] if by in stats.NAMES else []
        return stats.volume(self._having("date", "text", *own), by, tz=dates.zone(tz), tokenizer=tokenizer)

    def gaps(self) -> pd.DataFrame:
        """Return the runs of days without an entry: start, end, days.

        Raises: BadArgument for a missing column.
        """
        return stats.gaps(self._having("date"))

    def duplicates(self) -> pd.DataFrame:
        """Return the groups of entries with the same tag and folded text: tag, text, count, first, last, paths.

        Raises: BadArgument for a missing column.
        """
        return stats.duplicates(self._having("date", "tag", "text", "path"))

    def _having(self, *columns: str) -> pd.DataFrame:
        """Return the frame if it has the columns, and what times it has are of the right kind."""
        missing = [column for column in columns if column not in self._frame]
        if missing:
            raise BadArgument(f"this frame has no column {', '.join(missing)}; take one that memkit made, or add it")
        for column, right in (("date", _is_day), ("written_at", _is_instant)):
            if column in self._frame and not right(self._frame[column].dtype):
                raise BadArgument(f"column {column}: {self._frame[column].dtype}; expected {_EXPECTED[column]}")
        return self._frame


_EXPECTED = {"date": "days (pd.to_datetime makes them)", "written_at": "times with a zone (pd.to_datetime with utc=True)"}


def _is_day(dtype: Any) -> bool:
    return getattr(dtype, "kind", "") == "M" and getattr(dtype, "tz", None) is None


def _is_instant(dtype: Any) -> bool:
    return getattr(dtype, "tz", None) is not None
