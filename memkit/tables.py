"""Records to DataFrames: entries, tags, days, catalog, topics, files; the columns themselves are in schema.py.

Rows come in reading order: by date, path and line, undated last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, tzinfo
from itertools import chain, repeat
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from memkit import schema
from memkit.dates import PERIODS, period_days
from memkit.layouts.stored import instant_of
from memkit.model import Columns, Entries, FileFact, Records

DAY_KINDS = ("daily", "daily-slug")
DIGEST_BITS = 53  # a float holds such a number exactly, so pd.concat with new rows does not blur it


def entries(records: Sequence[Records], tz: tzinfo) -> pd.DataFrame:
    """Return the entries of some documents (ENTRIES, and `stamp`: the instant as written); `tz` dates undated files'."""
    held = sorted((r for r in records if len(r.entries)), key=reading_order)
    if not held:
        return schema.frame(schema.HELD)
    counts = [len(r.entries) for r in held]
    stamp = _column(held, "stamp")
    written_at = schema.instants(stamp)
    columns = {
        "text": pa.array(list(chain.from_iterable(r.entries.text for r in held)), pa.large_string()),
        "stamp": stamp,
        "written_at": written_at,
        "date": _dates(held, counts, written_at, tz),
        "block": _blocks(held),
        "line": list(chain.from_iterable(r.entries.line for r in held)),
        "end_line": list(chain.from_iterable(r.entries.end_line or r.entries.line for r in held)),
    }
    for name in ("tag", "section", "clock", "label", "task"):
        columns[name] = _column(held, name)
    return in_order(_framed(held, counts, columns))


def entries_of_columns(records: Sequence[Records], parts: Sequence[Columns], texts: schema.Texts | None = None) -> pd.DataFrame:
    """Return the entries of dated documents that were read as columns, some at a time; all of them in reading order.

    `texts` are those of all parts if the parts themselves do not hold them.
    """
    if not parts:
        return schema.frame(schema.HELD)
    counts = np.concatenate([part.counts for part in parts])
    line = np.concatenate([part.line for part in parts])
    end_line = np.concatenate([part.line if part.end_line is None else part.end_line for part in parts])
    block = np.concatenate([np.zeros(len(part.line), "int8") if part.block is None else part.block for part in parts])
    columns = {name: _joined(parts, name) for name in ("tag", "section", "clock", "stamp", "label", "task")}
    columns["text"] = texts.column() if texts else _joined(parts, "text")
    columns |= {"written_at": schema.instants(columns["stamp"]), "line": line, "end_line": end_line}
    columns["date"] = np.repeat(schema.days([r.role.day for r in records]), counts)
    columns["block"] = pd.Categorical.from_codes(block, dtype=schema.BLOCK)
    return _framed(records, counts, columns)


def _joined(parts: Sequence[Columns], name: str) -> Any:
    """Return one text column of all parts; missing throughout costs nothing."""
    columns = [(getattr(part, name), len(part.line)) for part in parts]
    if all(column is None or column.null_count == size for column, size in columns):
        return pa.nulls(sum(size for _, size in columns), pa.large_string())
    return pa.concat_arrays([pa.nulls(size, pa.large_string()) if column is None else column for column, size in columns])


def _framed(held: Sequence[Records], counts: Any, columns: dict[str, Any]) -> pd.DataFrame:
    """Return the columns as a frame, with those that all entries of a document share, and the length of each text."""
    owner = np.repeat(np.arange(len(held)), counts)
    columns["kind"] = pd.Categorical([r.role.kind for r in held], dtype=schema.KIND).take(owner)
    columns["path"] = pa.array([r.path for r in held], pa.large_string()).take(pa.array(owner))
    columns["chars"] = pc.utf8_length(columns["text"]).to_numpy()
    return schema.frame(schema.HELD, columns)


def reading_order(held: Records | FileFact) -> tuple[date, str]:
    """Order documents by day and path, undated ones last."""
    return held.role.day or date.max, held.path


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return entries in reading order: by date, path, line; undated last. A frame already in order is returned as is."""
    dates = _day_numbers(frame)
    steps = np.diff(dates)
    if (steps >= 0).all() and _path_runs_in_order(frame, steps == 0):
        return frame
    return frame.assign(_day=dates).sort_values(["_day", "path", "line"], ignore_index=True).drop(columns="_day")


def together(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of some frames of entries in reading order."""
    filled = [frame for frame in frames if len(frame)]
    if len(filled) < 2:
        return filled[0] if filled else frames[0]
    return in_order(pd.concat(filled, ignore_index=True))


def splice(held: pd.DataFrame, stale: Iterable[str], fresh: pd.DataFrame) -> pd.DataFrame:
    """Return entries in reading order without those of the stale paths and with the fresh ones.

    Only the days between the first and the last that change are sorted; the rows around them stay as they are.
    """
    if not len(held):
        return fresh
    gone = held["path"].isin(list(stale)).to_numpy()
    days = _day_numbers(held)
    changed = np.concatenate([days[gone], _day_numbers(fresh)])
    if not len(changed):
        return held
    start, end = np.searchsorted(days, changed.min(), "left"), np.searchsorted(days, changed.max(), "right")
    kept = held.iloc[start:end][~gone[start:end]]
    parts = [held.iloc[:start], together([kept, fresh]), held.iloc[end:]]
    return schema.whole(pd.concat([part for part in parts if len(part)] or [fresh], ignore_index=True))


def _day_numbers(frame: pd.DataFrame) -> Any:
    """Return the dates as whole numbers that sort as the dates do, undated last."""
    return np.where(frame["date"].isna(), np.iinfo("int64").max, frame["date"].to_numpy().astype("int64"))


def _path_runs_in_order(frame: pd.DataFrame, same_day: Any) -> bool:
    """Return whether, wherever the day stays the same, path and line ascend."""
    path = pa.chunked_array(pa.array(frame["path"], pa.large_string()))
    after, before = path.slice(1), path.slice(0, len(path) - 1)
    same_path = pc.equal(after, before).to_numpy()
    ascending = pc.greater(after, before).to_numpy() | (same_path & (np.diff(frame["line"].to_numpy()) > 0))
    return bool((ascending | ~same_day).all())


def _values(held: Sequence[Records], name: str) -> list[Any]:
    """Return one column of all documents as a list."""
    parts = ((getattr(r.entries, name), len(r.entries)) for r in held)
    return list(chain.from_iterable(repeat(None, count) if part is None else part for part, count in parts))


def _column(held: Sequence[Records], name: str) -> Any:
    """Return one text column of all documents; missing throughout costs nothing."""
    if all(getattr(r.entries, name) is None for r in held):
        return pa.nulls(sum(len(r.entries) for r in held), pa.large_string())
    return _values(held, name)


def _blocks(held: Sequence[Records]) -> pd.Categorical:
    codes = {name: code for code, name in enumerate(schema.BLOCK.categories)}
    values = chain.from_iterable(
        repeat(0, len(r.entries)) if r.entries.block is None else (codes[name] for name in r.entries.block) for r in held
    )
    return pd.Categorical.from_codes(np.fromiter(values, dtype="int8"), dtype=schema.BLOCK)


def _dates(held: Sequence[Records], counts: list[int], written_at: Any, tz: tzinfo) -> Any:
    """Return the day of each entry: of its path, else the local day of written_at, else its heading's, else NaT."""
    days = np.repeat(schema.days([r.role.day for r in held]), counts)
    undated = np.repeat([r.role.day is None for r in held], counts)
    if not undated.any():
        return days
    heading = schema.days(_values(held, "day"))
    local = pd.DatetimeIndex(written_at).tz_convert(tz).tz_localize(None).normalize().to_numpy()
    own = np.where(np.isnat(local), heading, local)
    return np.where(undated, own, days)


def digest(frame: pd.DataFrame) -> pd.Series:
    """Return a number (Int64, below 2^53) for each row, made of tag and text alone."""
    joined = frame["tag"].fillna("").str.cat(frame["text"], sep="\0").to_numpy(dtype=object)
    return pd.Series(pd.util.hash_array(joined, categorize=False) >> (64 - DIGEST_BITS), index=frame.index).astype("Int64")


def tags(records: Iterable[Records]) -> pd.DataFrame:
    """Return the TAGS frame of documents that list their tags: all tags of each entry, a row each."""
    held = sorted((r for r in records if r.tags), key=reading_order)
    return schema.rows(schema.TAGS, ((r.path, line, tag) for r in held for line, tag in r.tags))


def tags_of_columns(records: Sequence[Records], parts: Sequence[Columns]) -> pd.DataFrame:
    """Return the TAGS frame of dated documents that were read as columns and list their tags."""
    listed = [part.tags for part in parts if part.tags is not None]
    if not listed:
        return schema.frame(schema.TAGS)
    before = np.cumsum([0, *(len(part.line) for part in parts)])
    row = np.concatenate([place + start for (place, _), start in zip(listed, before, strict=False)])
    owner = np.repeat(np.arange(len(records)), np.concatenate([part.counts for part in parts]))[row]
    path = pa.array([r.path for r in records], pa.large_string()).take(pa.array(owner))
    line = np.concatenate([part.line for part in parts])[row]
    return schema.frame(schema.TAGS, {"path": path, "line": line, "tag": pa.concat_arrays([tag for _, tag in listed])})


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of some frames, one behind the other."""
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if len(filled) > 1 else (filled or frames)[0]


def first_tags(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the TAGS frame of entries that have no tag but that in the column `tag`."""
    return frame.loc[frame["tag"].notna(), list(schema.TAGS)].reset_index(drop=True)


def in_order_of(frame: pd.DataFrame, tags: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of tags in the order in which the entries' files come."""
    paths = pc.unique(pa.array(frame["path"], pa.large_string()))
    rank = pc.index_in(pa.array(tags["path"], pa.large_string()), paths).to_numpy()
    order = np.argsort(rank, kind="stable")
    return tags if (np.diff(rank) >= 0).all() else tags.take(order).reset_index(drop=True)


def catalog(records: Iterable[Records]) -> pd.DataFrame:
    """Return the CATALOG frame: every readable row of every catalog, as it lies in the files."""
    held = sorted((r for r in records if r.rows), key=lambda r: r.path)
    return schema.rows(schema.CATALOG, ((row.day, row.index, r.path, row.line) for r in held for row in r.rows))


def summaries(records: Iterable[Records], stale: Mapping[str, bool]) -> pd.DataFrame:
    """Return the SUMMARIES frame, by period (day, week, month) and key; `stale` says by path which are out of date."""
    held = [(r, r.summary) for r in records if r.summary]
    held.sort(key=lambda pair: (PERIODS.index(pair[1].period), pair[1].key))
    rows = []
    for record, stored in held:
        days = period_days(stored.period, stored.key)
        counts = (len(stored.lines), stored.omitted, stored.chars)
        head = (stored.period, stored.key, days[0], days[-1], record.path)
        rows.append((*head, *counts, _time(stored.generated_at), stale.get(record.path, False)))
    return schema.rows(schema.SUMMARIES, rows)


def _time(stamp: str | None) -> str | None:
    """Return what a summary says of its making if that is an instant; pandas would take `now` for one too."""
    return stamp if stamp and instant_of(stamp) else None


def topics(records: Iterable[Records]) -> pd.DataFrame:
    """Return the TOPICS frame: topic and month, in the order of hot.md."""
    return schema.rows(schema.TOPICS, (pair[:2] for r in records if r.hot for pair in r.hot.topics))


def candidates(found: Entries | None) -> pd.DataFrame:
    """Return the candidates of the hot layer: index from 1, written_at, tag, text, line."""
    if found is None:
        return schema.frame(schema.CANDIDATES)
    return schema.frame(
        schema.CANDIDATES,
        {
            "index": range(1, len(found) + 1),
            "written_at": found.stamp or [],
            "tag": found.tag or [],
            "text": found.text,
            "line": found.line,
        },
    )


def days(records: Iterable[Records], frame: pd.DataFrame, today: date) -> pd.DataFrame:
    """Return the DAYS frame: a row for each day that has a day file, its counts summed over that day's files."""
    groups: dict[date, list[Records]] = {}
    catalogued: set[date] = set()
    for record in records:
        if record.role.day and is_day_file(record):
            groups.setdefault(record.role.day, []).append(record)
        catalogued.update(row.day for row in record.rows)
    sums = _sums_by_day(frame[frame["kind"].isin(DAY_KINDS)])
    out = []
    for day in sorted(groups):
        files = sorted(groups[day], key=plain_first)
        index = next((r.index.text for r in files if r.index and r.index.text), None)
        count, chars, size = sums.get(day, (0, 0, 0))
        out.append((day, files[0].path, len(files), index, count, chars, size, day < today, day in catalogued))
    return schema.rows(schema.DAYS, out)


def plain_first(record: Records) -> tuple[bool, bool, int, str]:
    """Order a day's files: the plain one, in its own year or month folder, at the top, before the others."""
    day = str(record.role.day)
    folder, _, name = record.path.rpartition("/")
    misfiled = folder.rpartition("/")[2] not in (day[:4], day[:7], "memory")
    return name != f"{day}.md", misfiled, record.path.count("/"), record.path


def _sums_by_day(frame: pd.DataFrame) -> dict[date, tuple[int, int, int]]:
    """Return entries, characters and UTF-8 bytes by day."""
    sized = frame.assign(bytes=text_bytes(frame["text"]))
    sums = sized.groupby("date").agg(entries=("text", "size"), chars=("chars", "sum"), bytes=("bytes", "sum"))
    return {row.Index.date(): (row.entries, row.chars, row.bytes) for row in sums.itertuples()}


def text_bytes(text: pd.Series) -> Any:
    """Return the length in UTF-8 bytes of each text, missing as 0 (int64)."""
    lengths = pc.fill_null(pc.binary_length(pa.array(text, pa.large_string(), from_pandas=True)), 0)
    return np.asarray(lengths, dtype="int64")


def files(facts: Iterable[FileFact], hashes: dict[str, str]) -> pd.DataFrame:
    """Return the FILES frame: every file seen; `skipped` is the reason why one was not read, else missing."""
    held = sorted(facts, key=lambda fact: fact.path)
    return schema.frame(
        schema.FILES,
        {
            "path": [fact.path for fact in held],
            "kind": [fact.role.kind for fact in held],
            "date": [fact.role.day for fact in held],
            "bytes": [fact.size for fact in held],
            "modified": np.array([fact.mtime_ns // 1_000_000 for fact in held], dtype="datetime64[ms]"),
            "sha256": [hashes.get(fact.path) for fact in held],
            "skipped": [fact.trouble or fact.role.skipped for fact in held],
        },
    )


def is_day_file(records: Records) -> bool:
    """Return whether a document is a day's log."""
    return records.role.kind in DAY_KINDS and records.role.day is not None
