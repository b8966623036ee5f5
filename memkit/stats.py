"""Sums over the ENTRIES frame: volume by a key, gaps between days, duplicates; nothing here picks rows or reads files.

Characters are code points, bytes are UTF-8, days are local, a share is one of the whole frame. `tz=None` stands for UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from datetime import tzinfo
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from memkit import query, schema
from memkit.errors import BadArgument
from memkit.tables import text_bytes

TIMES = ("day", "week", "month", "year")
CYCLES = {"weekday": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), "hour": tuple(f"{hour:02d}" for hour in range(24))}
NAMES = ("tag", "label", "kind", "path")
KEYS = (*TIMES, *CYCLES, *NAMES)
PATHS_SHOWN = 5

Tokenizer = Callable[[str], Any]


class Groups(NamedTuple):
    """How entries fall under keys: the keys, then the entry and the key's code (-1 missing) of each falling.

    `rows` is None when each entry falls once, under the code at its own place.
    """

    keys: Any
    codes: Any
    rows: Any = None


def volume(
    frame: pd.DataFrame,
    by: str,
    *,
    tags: pd.DataFrame | None = None,
    tz: tzinfo | None = None,
    tokenizer: Tokenizer | None = None,
) -> pd.DataFrame:
    """Return entries, characters and bytes by day, week, month, year, weekday, hour, tag, label, kind or path.

    First column: the key, named after `by`; then as in schema.VOLUME, and `tokens` if there is a tokenizer (a callable
    from text to a number, or to what has a length). Times come ascending and without holes, names by characters. What
    has no key comes last under a missing one. With the TAGS frame an entry counts under each of its tags.

    Raises: BadArgument for another `by`, or a tokenizer that is none.
    """
    groups = _groups(frame, check_by(by), tags, tz)
    sizes = {"chars": _chars(frame), "bytes": text_bytes(frame["text"])}
    if tokenizer is not None:
        sizes["tokens"] = _tokens(frame["text"], tokenizer)
    sums = _sums(groups, sizes, query.days_of(frame))
    return _ordered(by, groups.keys, sums, sizes["chars"].sum(), schema.VOLUME)


def day_sums(
    frame: pd.DataFrame,
    by: str,
    *,
    tags: pd.DataFrame | None = None,
    tz: tzinfo | None = None,
    tokenizer: Tokenizer | None = None,
) -> pd.DataFrame:
    """Return the sums of a frame by key and day, small enough to be gathered from many: what volume_of adds up.

    Columns: key (missing where the day tells it), date, entries, chars, bytes, and `tokens` if there is a tokenizer.

    Raises: as volume.
    """
    known_by_day = check_by(by) in (*TIMES, "weekday")
    groups = Groups((), np.full(len(frame), -1)) if known_by_day else _groups(frame, by, tags, tz)
    rows = np.arange(len(frame)) if groups.rows is None else groups.rows
    keys = pa.array([*groups.keys, None], pa.large_string()).take(pa.array(groups.codes % (len(groups.keys) + 1)))
    columns = {
        "key": schema.series(schema.STR, keys),
        "date": query.days_of(frame)[rows],
        "entries": np.ones(len(rows), "int64"),
    }
    columns |= {"chars": _chars(frame)[rows], "bytes": text_bytes(frame["text"])[rows]}
    if tokenizer is not None:
        columns["tokens"] = _tokens(frame["text"], tokenizer)[rows]
    return pd.DataFrame(columns).groupby(["key", "date"], dropna=False, sort=False).sum().reset_index()


def sums_schema(*, tokens: bool = False) -> schema.Schema:
    """Return the columns of day_sums."""
    sizes = ("entries", "chars", "bytes", *(["tokens"] if tokens else []))
    return {"key": schema.STR, "date": schema.DAY, **dict.fromkeys(sizes, schema.BYTES)}


def volume_of(sums: pd.DataFrame, by: str, total: int) -> pd.DataFrame:
    """Return the volume of many frames, whose day_sums are given as one frame, and of which `total` are the characters.

    As volume, but for characters and tokens in int64.

    Raises: BadArgument for another `by`.
    """
    frame = sums.assign(**{by: sums["key"]}) if check_by(by) in (*NAMES, "hour") else sums
    if by == "hour" and len(frame):
        groups = Groups(CYCLES[by], pd.Index(CYCLES[by], dtype=schema.STR).get_indexer(frame[by]))
    else:
        groups = _groups(frame, by, None, None)
    sizes = {name: sums[name].to_numpy() for name in sums.columns[2:]}
    wide = schema.VOLUME | {"chars": schema.BYTES, "cumulative_chars": schema.BYTES}
    return _ordered(by, groups.keys, _sums(groups, sizes, query.days_of(frame)), total, wide)


def check_by(by: object) -> str:
    """Return what volume goes by.

    Raises: BadArgument for another word.
    """
    if not isinstance(by, str) or by not in KEYS:
        raise BadArgument(f"by: {str(by)[:40]!r}; expected {', '.join(KEYS)}")
    return by


def _ordered(by: str, keys: Any, sums: dict[str, Any], total: int, dtypes: schema.Schema) -> pd.DataFrame:
    """Return the frame of sums, a row for each key that counts, in its order."""
    order = _by_name(keys, sums) if by in NAMES else _as_listed(keys, sums)
    return _volume(by, keys, {name: column[order] for name, column in sums.items()}, order, total, dtypes)


def _volume(by: str, keys: Any, sums: dict[str, Any], order: Any, total: int, dtypes: schema.Schema) -> pd.DataFrame:
    """Return the frame of sums, a row for each key in the given order; the code beyond the keys is the missing one."""
    days = by == "day"
    missing = np.datetime64("NaT", "ms")
    first = np.append(np.asarray(keys, dtype=schema.DAY), missing) if days else np.array([*keys, None], dtype=object)
    columns = {
        by: first[order],
        **sums,
        "share": sums["chars"] / total if total else np.zeros(len(order)),
        "cumulative_chars": np.cumsum(sums["chars"]),
    }
    return schema.frame(volume_schema(by, dtypes, tokens="tokens" in sums), columns)


def volume_schema(by: str, dtypes: schema.Schema = schema.VOLUME, *, tokens: bool = False) -> schema.Schema:
    """Return the columns of a volume by `by`."""
    return {by: schema.DAY if by == "day" else schema.STR, **dtypes, **({"tokens": dtypes["chars"]} if tokens else {})}


def _sums(groups: Groups, sizes: dict[str, Any], days: Any) -> dict[str, Any]:
    """Return the sums for each code, the missing one last."""
    count = len(groups.keys) + 1
    codes = np.where(groups.codes < 0, count - 1, groups.codes)
    if groups.rows is not None:
        sizes, days = {name: column[groups.rows] for name, column in sizes.items()}, days[groups.rows]
    out = {"entries": np.bincount(codes, minlength=count)}
    # as floats they are exact far beyond what fits into memory
    out |= {name: np.bincount(codes, weights=column, minlength=count).astype("int64") for name, column in sizes.items()}
    dated = ~np.isnat(days)
    day = days[dated].astype("datetime64[D]").astype("int64") + (1 << 31)
    pairs = np.unique((codes[dated] << 32) | day)
    return out | {"active_days": np.bincount(pairs >> 32, minlength=count)}


def _as_listed(keys: Any, sums: dict[str, Any]) -> Any:
    """Return the codes as they are, the missing one only if something falls under it."""
    return np.arange(len(keys) + bool(sums["entries"][-1]))


def _by_name(keys: Any, sums: dict[str, Any]) -> Any:
    """Return the codes under which something falls: most characters first, then by key, the missing one last."""
    listed = sorted(range(len(keys)), key=lambda code: (-sums["chars"][code], keys[code]))
    return np.array([code for code in [*listed, len(keys)] if sums["entries"][code]], dtype="int64")


def _groups(frame: pd.DataFrame, by: str, tags: pd.DataFrame | None, tz: tzinfo | None) -> Groups:
    """Return how the entries of a frame fall under the keys of `by`."""
    if not len(frame):
        return Groups((), np.zeros(0, dtype="int64"))
    if by in TIMES:
        return _by_time(query.days_of(frame).astype("datetime64[D]"), by)
    if by in CYCLES:
        return Groups(CYCLES[by], _cycle(frame, by, tz))
    if by == "tag" and tags is not None:
        return tag_groups(frame, tags)
    codes, names = query.coded(frame[by])
    return Groups(names, codes)


def _by_time(days: Any, by: str) -> Groups:
    """Return the periods from the first day to the last, those without an entry among them."""
    dated = ~np.isnat(days)
    if not dated.any():
        return Groups((), np.full(len(days), -1))
    # a week is numbered by its Thursday, whose year is the ISO year; day 0 of 1970 is one
    unit = f"datetime64[{by[0].upper()}]"
    numbers = (days.astype("int64") + 3) // 7 if by == "week" else days.astype(unit).astype("int64")
    first, last = numbers[dated].min(), numbers[dated].max()
    return Groups(_time_keys(np.arange(first, last + 1), by), np.where(dated, numbers - first, -1))


def _time_keys(numbers: Any, by: str) -> Any:
    """Return the keys of running period numbers: days, or text such as 2025-W01, 2025-01, 2025."""
    if by == "day":
        return numbers.astype("datetime64[D]").astype(schema.DAY)
    if by == "month":
        return np.datetime_as_string(numbers.astype("datetime64[M]"))
    if by == "year":
        return np.datetime_as_string(numbers.astype("datetime64[Y]"))
    thursdays = (numbers * 7).astype("datetime64[D]")
    years = thursdays.astype("datetime64[Y]")
    weeks = (thursdays - years.astype("datetime64[D]")).astype("int64") // 7 + 1
    return [f"{year}-W{week:02d}" for year, week in zip(np.datetime_as_string(years), weeks.tolist(), strict=True)]


def _cycle(frame: pd.DataFrame, by: str, tz: tzinfo | None) -> Any:
    """Return the weekday (0 is Monday) or the hour of each entry, -1 if it has none."""
    if by == "hour":
        return query.local_hours(frame, tz)
    days = query.days_of(frame)
    return np.where(np.isnat(days), -1, (days.astype("datetime64[D]").astype("int64") + 3) % 7)


def tag_groups(frame: pd.DataFrame, tags: pd.DataFrame) -> Groups:
    """Return how entries fall under all their tags, each once; an entry that the TAGS frame lacks under its column."""
    entry, tag = query.row_keys(frame, tags)
    codes, keys = query.coded(pd.concat([frame["tag"], tags["tag"]], ignore_index=True))
    order = np.argsort(entry, kind="stable")
    rows = order[np.minimum(np.searchsorted(entry, tag, sorter=order), len(entry) - 1)]
    own = codes[len(frame) :]
    fits = (entry[rows] == tag) & (own >= 0)
    rows, own = rows[fits], own[fits]
    alone = np.setdiff1d(np.arange(len(frame)), rows)
    pairs = np.unique((np.append(rows, alone) << 32) | (np.append(own, codes[alone]) + 1))
    return Groups(keys, (pairs & 0xFFFFFFFF) - 1, pairs >> 32)


def _chars(frame: pd.DataFrame) -> Any:
    """Return the characters of each text: the column `chars`, counted where a frame has none."""
    if "chars" in frame:
        return frame["chars"].to_numpy(dtype="int64")
    return np.asarray(pc.fill_null(pc.utf8_length(query.arrow(frame["text"])), 0), dtype="int64")


def _tokens(text: pd.Series, tokenizer: Tokenizer) -> Any:
    """Return the number of tokens of each text, missing as 0; equal texts are counted once."""
    if not callable(tokenizer):
        raise BadArgument(f"tokenizer: {str(tokenizer)[:40]!r} cannot be called; expected a function from text to a number")
    codes, texts = query.coded(text)
    return np.array([*(_token_count(tokenizer(each)) for each in texts), 0], dtype="int64")[codes]


def _token_count(answer: Any) -> int:
    """Return what a tokenizer said as a number: itself, or how many tokens it holds."""
    if isinstance(answer, Mapping):  # transformers answers with a mapping, whose own length is that of its fields
        answer = answer.get("input_ids", answer)
    if isinstance(answer, Sized):
        return len(answer)
    if isinstance(answer, int | np.integer):
        return int(answer)
    raise BadArgument(f"tokenizer: answered with {type(answer).__name__}; expected a number or what has a length")


def gaps(frame: pd.DataFrame | pd.Series | pd.Index) -> pd.DataFrame:
    """Return the runs of days without an entry between the first and the last day that has one, ascending.

    Takes entries, or just their days. Columns: start, end (both without an entry), days.
    """
    found = query.days_of(frame) if isinstance(frame, pd.DataFrame) else schema.days(frame)
    days = np.unique(found[~np.isnat(found)].astype("datetime64[D]"))
    open_after = np.flatnonzero(np.diff(days) > np.timedelta64(1, "D"))
    start, end = days[open_after] + 1, days[open_after + 1] - 1
    return schema.frame(schema.GAPS, {"start": start, "end": end, "days": (end - start).astype("int64") + 1})


def duplicates(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the groups of two entries or more with the same tag and, after folding, the same text.

    Columns: tag, text (as the earliest has it), count, first and last day, paths (the first five, then `… +n`);
    most frequent first, then by first appearance.
    """
    rows, group = _repeated(frame)
    days = query.days_of(frame)[rows]
    # NaT sorts last, so a group starts with its earliest day; a stable sort keeps the frame's order within
    order = np.lexsort([days, group])
    rows, group, days = rows[order], group[order], days[order]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], len(group))
    listed = np.lexsort([rows[starts], starts - ends])
    starts, ends = starts[listed], ends[listed]
    dated = np.append(0, np.cumsum(~np.isnat(days)))
    last = days[np.maximum(starts + dated[ends] - dated[starts] - 1, starts)]
    columns = {"count": ends - starts, "first": days[starts], "last": last}
    columns |= {name: query.arrow(frame[name]).take(rows[starts]) for name in ("tag", "text")}
    paths = query.arrow(frame["path"]).take(rows).to_pylist()
    columns["paths"] = [_named(paths[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return schema.frame(schema.DUPLICATES, columns)


def _repeated(frame: pd.DataFrame) -> tuple[Any, Any]:
    """Return the positions of entries whose tag and folded text come more than once, and the number of their group."""
    texts = pa.array(query.fold_column(frame["text"]), pa.large_string())
    same = np.asarray(texts.dictionary_encode().indices, dtype="int64")
    keys = (same << 32) | (query.coded(frame["tag"])[0] + 1)
    _, group, count = np.unique(keys, return_inverse=True, return_counts=True)
    rows = np.flatnonzero((count[group] > 1) & frame["text"].notna().to_numpy())
    return rows, group[rows]


def _named(paths: list[str | None]) -> str:
    """Return the distinct paths of a group in one line, no more than fits a cell."""
    distinct = [path for path in dict.fromkeys(paths) if path]
    more = len(distinct) - PATHS_SHOWN
    return ", ".join([*distinct[:PATHS_SHOWN], *([f"… +{more}"] if more > 0 else [])])
