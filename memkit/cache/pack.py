"""A loaded store as bytes and back: the entries and tags as Arrow, file facts and records as JSON; pure, and no pickle."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from memkit import schema
from memkit.model import CatalogRow, Entries, FileFact, Hot, IndexLine, Problem, Records, Role, StoredSummary

_CODED = ("path", "tag", "section", "clock", "label", "task")  # few values, each of many rows
_DAYS = "day"  # the one column of Entries that holds dates
_UNKNOWN = -1  # no file was ever changed at this time


class Kept(NamedTuple):
    """What was loaded of a store: facts and records by path, the entries (schema HELD), the listed tags (TAGS).

    What comes from a cache gives its records when it is called for them: many questions never do.
    """

    facts: dict[str, FileFact]
    records: dict[str, Records] | Callable[[], dict[str, Records]]
    entries: pd.DataFrame
    tags: pd.DataFrame


def packed(kept: Kept, trusted: Callable[[FileFact], bool]) -> list[bytes | pa.Buffer]:
    """Return the parts that `unpacked` takes; a file whose fact is not trusted will be read again.

    Raises: ValueError for what does not fit.
    """
    records = kept.records() if callable(kept.records) else kept.records
    frames = [_arrow(kept.entries, schema.HELD), _arrow(kept.tags, schema.TAGS)]
    return [_facts(kept.facts, trusted), _records(kept.facts, records), *frames]


def unpacked(facts: Any, records: Any, entries: Any, tags: Any) -> Kept:
    """Return what was packed, from its parts.

    Raises: ValueError, TypeError or LookupError for what nobody packed.
    """
    known = _known(json.loads(bytes(facts)))
    frames = _frame(entries, schema.HELD), _frame(tags, schema.TAGS)
    return Kept({fact.path: fact for fact in known}, lambda: _recalled(known, json.loads(bytes(records))), *frames)


# ---- facts and records ----


def _json(told: Any) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def _facts(facts: Mapping[str, FileFact], trusted: Callable[[FileFact], bool]) -> bytes:
    """Return the facts as columns: a list a file would have the garbage collector look through all of memory."""
    kinds: dict[tuple[Any, ...], int] = {}
    roles = [fact.role for fact in facts.values()]
    places = [kinds.setdefault((role.kind, role.derived, role.skipped, role.problem), len(kinds)) for role in roles]
    told = {
        "kinds": list(kinds),
        "kind": places,
        "day": [role.day.toordinal() if role.day else 0 for role in roles],
        "path": list(facts),
        "size": [fact.size for fact in facts.values()],
        "mtime": [fact.mtime_ns if trusted(fact) else _UNKNOWN for fact in facts.values()],
        "inode": [fact.inode for fact in facts.values()],
        "ctime": [fact.ctime_ns for fact in facts.values()],
        "trouble": [fact.trouble for fact in facts.values()],
    }
    return _json(told)


def _known(told: Mapping[str, Any]) -> list[FileFact]:
    kinds, day_of = told["kinds"], date.fromordinal
    names = ("path", "size", "mtime", "inode", "trouble", "ctime", "kind", "day")
    facts = []
    for path, size, mtime, inode, trouble, ctime, number, day in zip(*(told[name] for name in names), strict=True):
        kind, derived, skipped, problem = kinds[number]
        role = Role(kind, day_of(day) if day else None, derived, skipped, problem)
        facts.append(FileFact(path, role, size, mtime, inode, trouble, ctime))
    return facts


def _records(facts: Mapping[str, FileFact], records: Mapping[str, Records]) -> bytes:
    places = {path: place for place, path in enumerate(facts)}
    more = {}
    for path, record in records.items():
        if record.role != facts[path].role or len(record.entries) or record.tags or record.spans is not None:
            raise ValueError(f"{path}: a record of another shape")
        if told := _record(record):
            more[str(places[path])] = told
    return _json({"held": [places[path] for path in records], "more": more})


def _recalled(facts: Sequence[FileFact], told: Mapping[str, Any]) -> dict[str, Records]:
    records = {(fact := facts[place]).path: Records(fact.path, fact.role) for place in told["held"]}
    for place, more in told["more"].items():
        _recorded(records[facts[int(place)].path], more)
    return records


def _record(record: Records) -> dict[str, Any]:
    """Return what a record holds beside its entries, without what it does not have."""
    told: dict[str, Any] = {}
    if record.index:
        told["index"] = [record.index.text, record.index.line]
    if record.rows:
        told["rows"] = [
            [row.day.toordinal(), row.index, row.line, None if row.written == row.index else row.written] for row in record.rows
        ]
    if record.summary:
        told["summary"] = {name: getattr(record.summary, name) for name in StoredSummary.__slots__}
    if record.hot:
        told["hot"] = [record.hot.body, _columns(record.hot.candidates), record.hot.topics]
    if record.problems:
        told["problems"] = [[p.rule, p.line, p.message, p.text] for p in record.problems]
    return told


def _recorded(record: Records, told: Mapping[str, Any]) -> None:
    """Give a record what was told of it."""
    if "index" in told:
        record.index = IndexLine(*told["index"])
    if "rows" in told:
        day_of = date.fromordinal
        record.rows = [
            CatalogRow(day_of(day), index, line, index if written is None else written)
            for day, index, line, written in told["rows"]
        ]
    if "summary" in told:
        record.summary = StoredSummary(**{name: _tuple(value) for name, value in told["summary"].items()})
    if "hot" in told:
        body, candidates, topics = told["hot"]
        record.hot = Hot(body, _entries(candidates), tuple(map(tuple, topics)))
    if "problems" in told:
        record.problems = [Problem(*said) for said in told["problems"]]


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _columns(entries: Entries) -> dict[str, Sequence[Any]]:
    told = {name: column for name in Entries.__slots__ if (column := getattr(entries, name)) is not None}
    if _DAYS in told:
        told[_DAYS] = [day and day.toordinal() for day in told[_DAYS]]
    return told


def _entries(told: dict[str, Any]) -> Entries:
    if _DAYS in told:
        told[_DAYS] = [day and date.fromordinal(day) for day in told[_DAYS]]
    return Entries(**told)


# ---- frames ----


def _arrow(frame: pd.DataFrame, wanted: schema.Schema) -> pa.Buffer:
    """Return a frame of a schema as an Arrow stream: each text column in one piece, categories and times as numbers."""
    table = pa.table({name: _column(frame[name], name, dtype) for name, dtype in wanted.items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def _column(values: pd.Series, name: str, dtype: Any) -> pa.Array:
    if isinstance(dtype, pd.CategoricalDtype):
        return pa.array(values.cat.codes.to_numpy())
    if dtype == schema.INSTANT:
        return pa.array(values.array.asi8)
    if dtype == schema.DAY:
        return pa.array(values.to_numpy().view("int64"))
    if dtype != schema.STR:
        return pa.array(values.to_numpy())
    text = pa.chunked_array(pa.array(values.array)).combine_chunks()
    if text.null_count == len(text):
        return pa.nulls(len(text))
    return text.dictionary_encode() if name in _CODED else text


def _frame(data: Any, wanted: schema.Schema) -> pd.DataFrame:
    """Return the frame of an Arrow stream; its numbers are copies, so that whoever gets the frame may write in it.

    Raises: ValueError if it is of another schema.
    """
    table = pa.ipc.open_stream(data).read_all()
    if table.column_names != list(wanted):
        raise ValueError("a frame of another schema")
    return pd.DataFrame({name: _values(table[name], dtype) for name, dtype in wanted.items()}, copy=False)


def _values(column: pa.ChunkedArray, dtype: Any) -> Any:
    array = column.combine_chunks()
    if dtype == schema.STR:
        if pa.types.is_null(array.type):
            array = pa.nulls(len(array), pa.large_string())
        elif pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        return schema.STR.__from_arrow__(array)
    numbers = array.to_numpy(zero_copy_only=False).copy()
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Categorical.from_codes(numbers, dtype=dtype)
    if dtype == schema.INSTANT:
        return pd.arrays.DatetimeArray._simple_new(numbers.view("datetime64[ms]"), dtype=dtype)
    return numbers.view(dtype) if dtype == schema.DAY else numbers.astype(dtype, copy=False)
