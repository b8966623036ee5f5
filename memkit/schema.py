"""The one schema: names, order and dtypes of every frame, and how plain columns become one.

`date` is a local day (datetime64[ms]), `written_at` UTC, `chars` code points, `bytes` UTF-8. A str column never holds "".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from memkit.model import BLOCKS, DERIVED_KINDS, KINDS

STR = pd.StringDtype(na_value=np.nan)
DAY = np.dtype("datetime64[ms]")
INSTANT = pd.DatetimeTZDtype("ms", "UTC")
COUNT = np.dtype("int32")
BYTES = np.dtype("int64")
FLAG = np.dtype("bool")
SHARE = np.dtype("float64")
KIND = pd.CategoricalDtype(pd.Index(KINDS, dtype=STR))
FILE_KIND = pd.CategoricalDtype(pd.Index((*KINDS, *DERIVED_KINDS), dtype=STR))
BLOCK = pd.CategoricalDtype(pd.Index(BLOCKS, dtype=STR))
SEVERITY = pd.CategoricalDtype(pd.Index(("error", "warning", "info"), dtype=STR))

_FIRST, _LAST = (int(np.datetime64(time, "ms").view("int64")) for time in ("0001-01-01", "9999-12-31T23:59:59.999"))

Schema = dict[str, Any]

ENTRIES: Schema = {
    "date": DAY, "tag": STR, "text": STR, "kind": KIND, "section": STR, "clock": STR, "written_at": INSTANT,
    "label": STR, "task": STR, "block": BLOCK, "chars": COUNT, "path": STR, "line": COUNT, "end_line": COUNT,
}  # fmt: skip
# What a store keeps in memory: with the instant as written, which agents' tools and summaries repeat.
HELD: Schema = {**ENTRIES, "stamp": STR}
DAYS: Schema = {
    "date": DAY, "path": STR, "files": COUNT, "index": STR, "entries": COUNT, "chars": COUNT, "bytes": BYTES,
    "frozen": FLAG, "catalogued": FLAG,
}  # fmt: skip
CATALOG: Schema = {"date": DAY, "index": STR, "path": STR, "line": COUNT}
SUMMARIES: Schema = {
    "period": STR, "key": STR, "start": DAY, "end": DAY, "path": STR, "entries": COUNT, "omitted": COUNT,
    "chars": COUNT, "generated_at": INSTANT, "stale": FLAG,
}  # fmt: skip
TOPICS: Schema = {"topic": STR, "month": STR}
CANDIDATES: Schema = {"index": COUNT, "written_at": INSTANT, "tag": STR, "text": STR, "line": COUNT}
TAGS: Schema = {"path": STR, "line": COUNT, "tag": STR}
FILES: Schema = {
    "path": STR, "kind": FILE_KIND, "date": DAY, "bytes": BYTES, "modified": INSTANT, "sha256": STR, "skipped": STR,
}  # fmt: skip
FINDINGS: Schema = {
    "rule": STR, "severity": SEVERITY, "path": STR, "line": COUNT, "date": DAY, "message": STR, "fix": STR,
    "fingerprint": STR,
}  # fmt: skip
VOLUME: Schema = {
    "entries": COUNT, "chars": COUNT, "bytes": BYTES, "active_days": COUNT, "share": SHARE, "cumulative_chars": COUNT,
}  # fmt: skip
GAPS: Schema = {"start": DAY, "end": DAY, "days": COUNT}
DUPLICATES: Schema = {"tag": STR, "text": STR, "count": COUNT, "first": DAY, "last": DAY, "paths": STR}

# The frames that a store exports, by name.
SCHEMAS: dict[str, Schema] = {
    "entries": ENTRIES, "days": DAYS, "catalog": CATALOG, "summaries": SUMMARIES, "topics": TOPICS,
    "tags": TAGS, "files": FILES,
}  # fmt: skip


def frame(schema: Schema, columns: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Return a DataFrame of exactly the schema's columns, order and dtypes; without `columns` an empty one.

    A column may be a list, an array or a pyarrow array; "" in a str column becomes missing.
    """
    columns = columns or {}
    return pd.DataFrame({name: series(dtype, columns.get(name, ())) for name, dtype in schema.items()}, copy=False)


def rows(schema: Schema, records: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Return a DataFrame of the schema from rows in the schema's column order."""
    columns = list(zip(*records, strict=True))
    return frame(schema, dict(zip(schema, columns, strict=True)) if columns else None)


def series(dtype: Any, values: Any) -> Any:
    """Return values as an array of the dtype; missing is None, NaN or NaT, and for text also ""."""
    if dtype == STR:
        return strings(values)
    if dtype == INSTANT:
        return instants(values)
    if dtype == DAY:
        return days(values)
    if isinstance(dtype, pd.CategoricalDtype):
        return values if isinstance(values, pd.Categorical) else pd.Categorical(values, dtype=dtype)
    return np.asarray(values, dtype=dtype)


def strings(values: Any) -> Any:
    """Return values as pandas' arrow-backed str array, "" missing."""
    if isinstance(values, pd.Series):
        return values.astype(STR).replace("", np.nan).array
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        values = pa.array(values, pa.large_string(), from_pandas=True)
    if pc.any(pc.equal(pc.binary_length(values), 0)).as_py():
        values = pc.if_else(pc.equal(pc.binary_length(values), 0), None, values)
    return STR.__from_arrow__(values.cast(pa.large_string()))


class Texts:
    """The texts of many entries as one column that grows, so that the memory of each part is free for the next.

    `size` is how many bytes they are likely to take at most.
    """

    def __init__(self, size: int):
        self._data = pa.allocate_buffer(size)
        self._ends = [np.zeros(1, "int64")]
        self._size = 0

    def add(self, part: Any) -> None:
        """Add a column (large_string) in which nothing is missing."""
        _, offsets, data = part.buffers()
        ends = np.frombuffer(offsets, "int64")[part.offset :][: len(part) + 1]
        start, end = self._size, self._size + int(ends[-1] - ends[0])
        if end > self._data.size:
            held, self._data = self._data, pa.allocate_buffer(2 * end)
            _bytes(self._data)[:start] = _bytes(held)[:start]
        if end > start:
            _bytes(self._data)[start:end] = _bytes(data)[ends[0] : ends[-1]]
        self._ends.append(ends[1:] - ends[0] + start)
        self._size = end

    def column(self) -> Any:
        """Return all of them."""
        ends = np.concatenate(self._ends)
        return pa.Array.from_buffers(pa.large_string(), len(ends) - 1, [None, pa.py_buffer(ends), self._data])


def _bytes(data: Any) -> memoryview:
    return memoryview(data).cast("B")


def whole(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame made of pieces with each text column in one piece; else pyarrow would join them at every take."""
    text = {name: pa.chunked_array(pa.array(frame[name].array)) for name in frame.columns[frame.dtypes == STR]}
    return frame.assign(**{name: STR.__from_arrow__(column.combine_chunks()) for name, column in text.items()})


def days(values: Any) -> Any:
    """Return days (dates, None) as datetime64[ms]."""
    if isinstance(values, np.ndarray | pd.Series | pd.Index):
        return np.asarray(values, dtype=DAY)
    plain = ["NaT" if value is None or value != value else value for value in values]
    return np.array(plain, dtype="datetime64[D]").astype(DAY)


def instants(values: Any) -> Any:
    """Return full ISO instants (text with zone, None) or aware times as datetime64[ms, UTC]; what is none becomes NaT."""
    if isinstance(values, pd.arrays.DatetimeArray) and values.dtype == INSTANT:
        return values
    if isinstance(values, pd.Series | pd.Index | pd.arrays.DatetimeArray):
        return pd.DatetimeIndex(values).tz_convert("UTC").as_unit("ms").array
    if isinstance(values, pa.Array) and values.null_count == len(values):
        return pd.array([pd.NaT], dtype=INSTANT).repeat(len(values))
    if isinstance(values, np.ndarray):
        return pd.DatetimeIndex(values).tz_localize("UTC").as_unit("ms").array
    try:
        array = pa.array(values, pa.large_string()).cast(pa.timestamp("ms", "UTC"))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        parsed = pd.to_datetime(pd.Series(list(values), dtype=object), format="ISO8601", errors="coerce", utc=True)
        return _within_years(pd.DatetimeIndex(parsed).as_unit("ms").array)
    return _within_years(array.to_pandas().array)


def _within_years(times: Any) -> Any:
    """Return times with NaT for those that leave the years 1 to 9999 in UTC, which nothing else can print."""
    numbers = times.asi8
    out = (numbers > _LAST) | ((numbers < _FIRST) & (numbers != np.iinfo("int64").min))
    if out.any():
        times = times.copy()
        times[out] = pd.NaT
    return times
