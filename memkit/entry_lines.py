"""Entries as the lines of a summary: `- [stamp] [tag] text`, one (Line) or many as columns (Lines); pure.

A stamp is an instant as it was written, or a local day with or without a clock. Instants are milliseconds since 1970 in
UTC, days are numbers counted from 1970, sizes are code points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memkit.dates import parse_day
from memkit.layouts.stored import DATED, ENTRY, instant_of
from memkit.text import norm_tag, norm_text

_MILLISECOND = timedelta(milliseconds=1)
_START = datetime(1970, 1, 1, tzinfo=UTC)
_FRAME = len("- [] [] ")


class Line(NamedTuple):
    """One entry as a summary sees it: stamp as written, tag (`-` for none), text on one line, local day, instant."""

    stamp: str
    tag: str
    text: str
    day: date
    instant: int

    def __str__(self) -> str:
        """Return the entry line with its whole text, as it is hashed."""
        return f"- [{self.stamp}] [{self.tag}] {self.text}"


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Entry lines as columns of equal length, so that ten years of them cost no Python object each.

    `whole` (pyarrow) is the line with its whole text and its line end, `head` how many characters stand before the text
    and `size` how many there are; `day` and `instant` are whole numbers.
    """

    whole: Any
    head: Any
    size: Any
    day: Any
    instant: Any

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Lines:
        """Return lines as columns."""
        stamp, tag, text, day, instant = zip(*lines, strict=True) if lines else ((),) * 5
        return cls.of_columns(stamp, tag, text, np.array(day, dtype="datetime64[D]"), np.array(instant, dtype="int64"))

    @classmethod
    def of_columns(cls, stamp: Any, tag: Any, text: Any, day: Any, instant: Any) -> Lines:
        """Return lines of columns: stamp, tag and text as texts, day as datetime64, instant as numbers."""
        parts = [pa.array(part, pa.large_string()) for part in (stamp, tag, text)]
        signs = [pa.scalar(sign, pa.large_string()) for sign in ("- [", "] [", "] ", "\n", "")]
        whole = pc.binary_join_element_wise(signs[0], parts[0], signs[1], parts[1], signs[2], parts[2], *signs[3:])
        before = _FRAME + _sizes(parts[0]) + _sizes(parts[1])
        return cls(whole, before, before + _sizes(parts[2]) + 1, day.astype("datetime64[D]").astype("int64"), instant)

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.instant)

    def __getitem__(self, rows: slice | Any) -> Lines:
        """Return some of the lines, by a slice or by a mask."""
        whole = self.whole[rows] if isinstance(rows, slice) else self.whole.filter(pa.array(rows))
        return Lines(whole, self.head[rows], self.size[rows], self.day[rows], self.instant[rows])

    def data(self) -> memoryview:
        """Return the lines as they stand in a file, in UTF-8, without the last line end."""
        _, offsets, data = self.whole.buffers()
        if not len(self):
            return memoryview(b"")
        first, last = np.frombuffer(offsets, dtype="int64")[[self.whole.offset, self.whole.offset + len(self)]].tolist()
        return memoryview(data)[first : last - 1]


def joined(parts: Sequence[Lines]) -> Lines:
    """Return the lines of several parts, in their order."""
    if len(parts) < 2:
        return parts[0] if parts else Lines.of([])
    numbers = (np.concatenate([getattr(part, name) for part in parts]) for name in ("head", "size", "day", "instant"))
    return Lines(pa.concat_arrays([part.whole for part in parts]), *numbers)


def _sizes(texts: Any) -> Any:
    return np.asarray(pc.utf8_length(texts)).astype("int64")


def entry(stamp: str, tag: str | None, text: str, *, day: date | None = None, tz: tzinfo = UTC) -> Line | None:
    """Return an entry as a Line, or None if its stamp is neither a full instant nor a date with or without clock.

    `day` is the day of the file it lies in; without one its local day in the zone counts. A clock of unknown
    zone never orders: such lines keep the order they come in within their day.
    """
    written = DATED.fullmatch(stamp)
    found = parse_day(written[1]) if written else None
    if found is not None:
        return Line(stamp, tag or "-", text, day or found, milliseconds(datetime(*found.timetuple()[:3], tzinfo=UTC)))
    instant = instant_of(stamp)
    if instant is None:
        return None
    try:
        return Line(stamp, tag or "-", text, day or instant.astimezone(tz).date(), milliseconds(instant))
    except OverflowError:  # the local day would lie before year 1 or after 9999
        return None


def dated(day: date, clock: str | None, tag: str | None, text: str) -> Line | None:
    """Return an entry that knows its day and perhaps a clock, folded to one line; None when no text is left."""
    folded = norm_text(text)
    return entry(f"{day} {clock}" if clock else str(day), norm_tag(tag), folded) if folded else None


def read_line(raw: str, *, day: date | None = None, tz: tzinfo = UTC) -> Line | None:
    """Return the Line that an entry line of a file holds, or None for every other line; day and zone as in `entry`."""
    match = ENTRY.fullmatch(raw)
    return entry(match[1], match[2], match[3], day=day, tz=tz) if match else None


def milliseconds(instant: datetime) -> int:
    """Return an aware time in milliseconds since 1970 in UTC."""
    return (instant - _START) // _MILLISECOND
