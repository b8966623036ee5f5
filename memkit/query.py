"""Questions over the ENTRIES frame that answer with fewer of its rows: tagged, between, recent, matching, newest_first.

Nothing here sums up, reads a file or asks the machine for its day or zone. An answer has the columns and dtypes of the
frame, is the caller's own, and comes newest first under a fresh index. Windows are closed; `tz=None` stands for UTC.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from memkit import dates, match, schema
from memkit.errors import BadArgument
from memkit.text import norm_tag

NO_TAG = "-"
NEVER = np.iinfo("int64").min  # how NaT looks as a number

# Beyond these years an offset from UTC would leave the range of Python's dates.
_WALLS = (np.datetime64("0001-01-03", "ms"), np.datetime64("9999-12-29", "ms"))
_BLOCK = 8192
_BETWEEN = "\0"  # between texts made one; no text that memkit reads holds it
_RARE = 50  # a word is rare where it lies in less than every 50th row
_UNKNOWN, _ODD = sys.maxunicode + 1, sys.maxunicode + 2


def tagged(frame: pd.DataFrame, tag: str, *, tags: pd.DataFrame | None = None, tz: tzinfo | None = None) -> pd.DataFrame:
    """Return the entries that carry a tag: the whole tag, whatever its case or width; `-` stands for no tag at all.

    With the TAGS frame any of an entry's tags counts, else the column `tag` alone.

    Raises: BadArgument if nothing is left of the tag without its brackets.
    """
    wanted = norm_tag(tag) if isinstance(tag, str) else NO_TAG
    if wanted == NO_TAG and (not isinstance(tag, str) or NO_TAG not in tag):
        raise BadArgument(f"tag: {str(tag)[:40]!r} names no tag; expected one, or - for entries without")
    hit = _has_tag(frame["tag"], wanted)
    if tags is not None:
        carries = _in_rows(frame, tags if wanted == NO_TAG else tags[_has_tag(tags["tag"], wanted)])
        hit = hit & ~carries if wanted == NO_TAG else hit | carries
    return _picked(frame, hit, tz)


def between(frame: pd.DataFrame, start: object, end: object, *, tz: tzinfo | None = None) -> pd.DataFrame:
    """Return the entries of the days from `start` to `end`, both among them; undated ones are out.

    Raises: BadArgument if an end is no day or the first is after the last.
    """
    first, last = dates.window(start, end)
    found = days_of(frame)
    return _picked(frame, (found >= np.datetime64(first)) & (found <= np.datetime64(last)), tz)


def recent(frame: pd.DataFrame, days: int, *, today: object, tz: tzinfo | None = None) -> pd.DataFrame:
    """Return the entries of the last `days` calendar days, today among them; undated and future ones are out.

    Raises: BadArgument if `days` is not a whole number of at least 1, or `today` no day.
    """
    whole = int(days) if isinstance(days, np.integer) else days
    return between(frame, *dates.recent_window(dates.as_day(today, "today"), whole), tz=tz)


def matching(
    frame: pd.DataFrame,
    query: str,
    *,
    mode: str = "and",
    fields: str | Iterable[str] = match.FIELDS,
    folded: Folded | None = None,
    tz: tzinfo | None = None,
) -> pd.DataFrame:
    """Return the entries in which every term (and) or any term (or) of the query lies in one of the fields.

    `folded` is `Folded.of(frame)`, kept by who asks the same frame often.

    Raises: BadArgument for a query without a word, another mode or field, or a `folded` of another frame.
    """
    terms, mode, fields = match.split_query(query), match.check_mode(mode), match.check_fields(fields)
    if folded is None:
        folded = Folded.of(frame, fields)
    if len(folded) != len(frame):
        raise BadArgument(f"folded: holds {len(folded)} rows, the frame {len(frame)}; make it of this frame")
    return _picked(frame, folded.mask(terms, mode, fields=fields), tz)


ORDERING = ("date", "clock", "written_at", "path", "line")  # the columns that say what is newer


def newest_first(frame: pd.DataFrame, tz: tzinfo | None = None) -> pd.DataFrame:
    """Return the entries by instant, newest first; equal ones by later date, path and line; without instant last.

    The instant is written_at, else the date's clock, else its midnight, read in `tz`. A column that is not there
    takes no part; rows that nothing tells apart keep their order.
    """
    return frame.take(order(frame, tz)).reset_index(drop=True)


def order(frame: pd.DataFrame, tz: tzinfo | None) -> Any:
    """Return the positions of the rows, newest first."""
    keys = [instants_of(frame, tz)]
    if "date" in frame:
        keys.append(days_of(frame).view("int64"))
    if "path" in frame:
        codes, names = coded(frame["path"])
        keys.append(np.append(np.argsort(np.argsort(np.array(names, dtype=object))), -1)[codes])
    if "line" in frame:
        keys.append(frame["line"].to_numpy(dtype="int64"))
    # ~ turns the order round without overflow, also of NaT, which thereby comes last
    return np.lexsort([~key for key in reversed(keys)])


def _picked(frame: pd.DataFrame, hit: Any, tz: tzinfo | None) -> pd.DataFrame:
    """Return the rows of a mask, newest first: only what orders them is taken twice."""
    rows = np.flatnonzero(hit)
    keys = frame[[name for name in ORDERING if name in frame]].take(rows)
    return frame.take(rows[order(keys, tz)]).reset_index(drop=True)


def days_of(frame: pd.DataFrame) -> Any:
    """Return the column `date` as an array of datetime64[ms]."""
    return schema.days(frame["date"])


def instants_of(frame: pd.DataFrame, tz: tzinfo | None) -> Any:
    """Return the instant of each row as milliseconds since 1970 in UTC, NEVER if it has none."""
    told = np.full(len(frame), NEVER)
    if "date" in frame:
        told = _in_utc(days_of(frame) + clock_ms(frame), tz).view("int64")
    if "written_at" in frame:
        written = schema.instants(frame["written_at"]).tz_localize(None).to_numpy().view("int64")
        told = np.where(written == NEVER, told, written)
    return told


def clock_ms(frame: pd.DataFrame, *, missing: int = 0) -> Any:
    """Return the column `clock` as milliseconds since midnight (timedelta64[ms]), `missing` where there is no time."""
    if "clock" not in frame or not frame["clock"].notna().any():
        return np.full(len(frame), missing, dtype="timedelta64[ms]")
    codes, names = coded(frame["clock"])
    values = [_clock(name, missing) for name in names]
    return np.array([*values, missing], dtype="timedelta64[ms]")[codes]


def _clock(text: str, missing: int) -> int:
    """Return what `HH:MM[:SS]` says in milliseconds, `missing` if it is no time of day."""
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(part.isascii() and part.isdigit() for part in parts):
        return missing
    hours, minutes, seconds = (*map(int, parts), 0)[:3]
    return (hours * 3600 + minutes * 60 + seconds) * 1000 if hours < 24 and minutes < 60 and seconds < 60 else missing


def _in_utc(walls: Any, tz: tzinfo | None) -> Any:
    """Return local times of `tz` in UTC; of an hour that comes twice the first, one that never comes moved forward."""
    if tz is None:
        return walls
    near = pd.DatetimeIndex(np.clip(walls, *_WALLS))
    utc = near.tz_localize(tz, ambiguous=np.ones(len(near), dtype="bool"), nonexistent="shift_forward")
    return walls - (near.to_numpy() - utc.tz_convert(None).to_numpy())


def local_hours(frame: pd.DataFrame, tz: tzinfo | None) -> Any:
    """Return the hour of the day of each row: of its clock, else of written_at in `tz`, else -1."""
    hours = clock_ms(frame, missing=-1) // np.timedelta64(3_600_000, "ms")
    if "written_at" in frame:
        written = pd.DatetimeIndex(np.clip(schema.instants(frame["written_at"]).tz_localize(None).to_numpy(), *_WALLS))
        local = written.tz_localize("UTC").tz_convert(tz).hour.to_numpy()
        hours = np.where((hours < 0) & ~np.isnan(local), local, hours)
    return hours.astype("int64")


def coded(column: pd.Series) -> tuple[Any, list[str]]:
    """Return a text column as codes and the distinct values they stand for; missing is -1."""
    array = arrow(column).dictionary_encode()
    return np.asarray(array.indices.fill_null(-1)).astype("int64"), array.dictionary.to_pylist()


def arrow(column: pd.Series) -> Any:
    """Return a text column of any making as one pyarrow array of large strings."""
    array = pa.array(column.astype(schema.STR), pa.large_string(), from_pandas=True)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _has_tag(column: pd.Series, wanted: str) -> Any:
    """Return whether each tag is the wanted one after folding, or missing if that is what is wanted."""
    codes, names = coded(column)
    same = match.fold(wanted)
    hits = [match.fold(norm_tag(name)) == same for name in names]
    return np.array([*hits, wanted == NO_TAG], dtype="bool")[codes]


def _in_rows(frame: pd.DataFrame, tags: pd.DataFrame) -> Any:
    """Return whether each entry has a row in a frame of tags."""
    if not len(tags):
        return np.zeros(len(frame), dtype="bool")
    entry, tag = row_keys(frame, tags)
    return np.isin(entry, tag)


def row_keys(frame: pd.DataFrame, tags: pd.DataFrame) -> tuple[Any, Any]:
    """Return a number for (path, line) of each entry and of each row of tags, equal where they mean the same entry."""
    codes, names = coded(frame["path"])
    paths = pd.Index(names, dtype=schema.STR).get_indexer(tags["path"].astype(schema.STR))
    own = (codes << 32) | frame["line"].to_numpy(dtype="int64")
    return own, np.where(paths < 0, -1, (paths << 32) | tags["line"].to_numpy(dtype="int64"))


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """The text and the tags of a frame, folded once: `mask` answers which rows match. A column not there is None.

    Plain strings are held: CPython finds a substring in them four times as fast as pyarrow does, and in all of them, made
    one, what is rare faster still.
    """

    rows: int
    text: Sequence[str] | None
    tags: Sequence[str] | None
    codes: Any = None
    whole: str = ""
    starts: Any = None

    @classmethod
    def of(cls, frame: pd.DataFrame, fields: str | Iterable[str] = match.FIELDS) -> Folded:
        """Return the folded columns of a frame, only those that are asked for and there."""
        held = [field for field in match.check_fields(fields) if field in frame]
        text = fold_column(frame["text"]) if "text" in held else None
        codes, names = coded(frame["tag"]) if "tag" in held else (None, None)
        tags = None if names is None else [match.fold(name) for name in names]
        if text is None:
            return cls(len(frame), None, tags, codes)
        sizes = np.fromiter(map(len, text), dtype="int64", count=len(text))
        return cls(len(frame), text, tags, codes, _BETWEEN.join(text), np.cumsum(sizes + 1) - sizes - 1)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.rows

    def mask(self, terms: Sequence[str], mode: str = "and", *, fields: str | Iterable[str] = match.FIELDS) -> Any:
        """Return a bool array: whether every term (and) or any term (or), not folded yet, lies in one of the fields.

        Raises: BadArgument for another mode or field, or a field that was not folded.
        """
        every = match.check_mode(mode) == "and"
        fields = match.check_fields(fields)
        hit = np.full(self.rows, every)
        for term in map(match.fold, terms):
            open_rows = np.flatnonzero(hit == every)  # the others are decided
            hit[open_rows] = self._holds(term, fields, open_rows)
        return hit

    def _holds(self, term: str, fields: Sequence[str], rows: Any) -> Any:
        """Return whether a folded term lies in one of the fields of the rows."""
        hit = np.zeros(len(rows), dtype="bool")
        for field in fields:
            if (self.text if field == "text" else self.tags) is None:
                raise BadArgument(f"fields: there is no column {field} here; leave {field} out")
        if self.tags is not None and "tag" in fields:
            hit |= np.array([*(term in tag for tag in self.tags), False])[self.codes[rows]]
        if self.text is not None and "text" in fields:
            hit |= self._in_all(term) if len(rows) == self.rows else self._in_some(term, rows)
        return hit

    def _in_some(self, term: str, rows: Any) -> Any:
        """Return whether a folded term lies in the text of some rows."""
        text = self.text or ()
        return np.fromiter((term in text[row] for row in rows.tolist()), dtype="bool", count=len(rows))

    def _in_all(self, term: str) -> Any:
        """Return whether a folded term lies in the text of each row: one look at all of them, as long as few rows hit."""
        hit = np.zeros(self.rows, dtype="bool")
        found = self._places(term, self.rows // _RARE)
        if found is None:
            return self._in_some(term, np.arange(self.rows))
        hit[np.searchsorted(self.starts, found, side="right") - 1] = True
        return hit

    def _places(self, term: str, most: int) -> list[int] | None:
        """Return where a folded term lies in the whole text; None if there are more such places than `most`."""
        if _BETWEEN in term:
            return None
        found: list[int] = []
        at = self.whole.find(term)
        while at >= 0 and len(found) <= most:
            found.append(at)
            at = self.whole.find(term, at + 1)
        return found if at < 0 else None


def fold_column(column: pd.Series) -> list[str]:
    """Return each text of a column folded, missing as "": what match.fold says, at a tenth of its time."""
    texts = arrow(column).fill_null("").to_pylist()
    table = np.full(_UNKNOWN, _UNKNOWN, dtype="uint32")
    blocks = (texts[start : start + _BLOCK] for start in range(0, len(texts), _BLOCK))
    return [text for block in blocks for text in _fold_block(block, table)]


def _fold_block(texts: list[str], table: Any) -> list[str]:
    """Return texts folded through a table of single characters, which learns the ones it meets."""
    # "…" folds to three dots: the one such character that is everywhere, so it is not left to the slow way
    joined = "\0".join(texts).replace("…", "...")
    points = np.frombuffer(joined.encode("utf-32-le"), dtype="uint32")
    breaks = np.flatnonzero(points == 0)
    if len(breaks) != len(texts) - 1:  # a NUL inside a text, which only frames made elsewhere can hold
        return [match.fold(text) for text in texts]
    out = table.take(points)
    new = np.unique(points[out == _UNKNOWN])
    if len(new):
        table[new] = [_folds_to(chr(point)) for point in new.tolist()]
        out = table.take(points)
    odd = np.flatnonzero(out == _ODD)
    out[odd] = 0xFFFD
    folded = str(memoryview(out), "utf-32-le").split("\0")
    for row in np.unique(np.searchsorted(breaks, odd)).tolist():
        folded[row] = match.fold(texts[row])
    return folded


def _folds_to(character: str) -> int:
    """Return the one code point that a character folds to wherever it stands, or _ODD if there is no such one."""
    folded = match.fold(character)
    return _ODD if len(folded) != 1 or match.joins(character) else ord(folded)
