"""The tables of the index, and the way of ENTRIES rows into them and back; no file is opened here.

Days and instants are milliseconds since 1970, missing is NULL, kind and block stand as words. `body` is folded, with
U+FFFD for NUL: FTS5 would read no further than that.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from memkit import query, schema
from memkit.fts.body import bodies, folded_bodies

APPLICATION_ID = 0x6D656D6B  # "memk"
_VERSION = 1
# Folding follows the Unicode of the Python that built the index; one with another must not ask it.
_UNICODE = "".join(part.zfill(2) for part in unicodedata.unidata_version.split("."))
USER_VERSION = _VERSION * 1_000_000 + int(_UNICODE)

NUL_AS = "\ufffd"
COLUMNS = [name for name in schema.ENTRIES if name != "path"]
_TYPES = {
    name: "TEXT" if dtype == schema.STR or hasattr(dtype, "categories") else "INTEGER" for name, dtype in schema.ENTRIES.items()
}
_SEARCH = "search USING fts5(body, content='blocks', content_rowid='id', tokenize='trigram case_sensitive 1')"
TABLES = (
    "CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,"
    " mtime_ns INTEGER NOT NULL, sha256 TEXT, entries INTEGER NOT NULL)",
    "CREATE TABLE blocks (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files (id), "
    + ", ".join(f"{name} {_TYPES[name]}" for name in COLUMNS)
    + ", body TEXT NOT NULL)",
    "CREATE INDEX blocks_of_file ON blocks (file)",
    f"CREATE VIRTUAL TABLE {_SEARCH}",
    f"PRAGMA application_id={APPLICATION_ID}",
    f"PRAGMA user_version={USER_VERSION}",
)
_INSERT = f"INSERT INTO blocks (file, {', '.join(COLUMNS)}, body) VALUES ({', '.join('?' * (len(COLUMNS) + 2))})"


def put(conn: sqlite3.Connection, frame: pd.DataFrame, ids: Mapping[str, int]) -> None:
    """Add entries to all three tables; `ids` has the row in `files` of each path."""
    last = conn.execute("SELECT ifnull(max(id), 0) FROM blocks").fetchone()[0]
    codes, paths = query.coded(frame["path"])
    files = np.array([ids[path] for path in paths], dtype="int64")
    columns = [_plain(frame[name], schema.ENTRIES[name]) for name in COLUMNS]
    conn.executemany(_INSERT, zip(files[codes].tolist(), *columns, searched(folded_bodies(frame)), strict=True))
    conn.execute("INSERT INTO search (rowid, body) SELECT id, body FROM blocks WHERE id > ?", (last,))
    counts = np.bincount(codes, minlength=len(paths)).tolist()
    conn.executemany("UPDATE files SET entries = entries + ? WHERE id = ?", zip(counts, files.tolist(), strict=True))


def bodies_in(conn: sqlite3.Connection) -> list[str]:
    """Return what is searched of all entries, each text once."""
    tags, texts = zip(*conn.execute("SELECT DISTINCT tag, text FROM blocks"), strict=True) if _any(conn) else ((), ())
    frame = schema.frame({"tag": schema.STR, "text": schema.STR}, {"tag": tags, "text": texts})
    return list(dict.fromkeys(bodies(frame).dropna().tolist()))


def _any(conn: sqlite3.Connection) -> bool:
    return conn.execute("SELECT 1 FROM blocks LIMIT 1").fetchone() is not None


def drop(conn: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Take the entries of some files out; FTS5 must be told what it was given."""
    of_each = [(number,) for number in ids]
    conn.executemany("INSERT INTO search (search, rowid, body) SELECT 'delete', id, body FROM blocks WHERE file = ?", of_each)
    conn.executemany("DELETE FROM blocks WHERE file = ?", of_each)


def searched(folded: Sequence[str]) -> list[str]:
    """Return folded texts as the index holds and compares them."""
    return [text.replace("\0", NUL_AS) for text in folded]


def columns_of(found: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return rows (the columns of ENTRIES in their order, and more) as columns of an ENTRIES frame, as they went in.

    Raises: ValueError, TypeError, KeyError, OverflowError for what cannot have gone in.
    """
    given = zip(*found, strict=True) if found else repeat(())
    return {name: _typed(values, dtype) for (name, dtype), values in zip(schema.ENTRIES.items(), given, strict=False)}


def _plain(column: pd.Series, dtype: Any) -> list[Any]:
    """Return a column as SQLite takes it: text, whole numbers, None."""
    if dtype == schema.STR:
        values: list[Any] = query.arrow(column).to_pylist()
        return values
    if dtype == schema.COUNT:
        return list(column.to_numpy().tolist())
    if isinstance(dtype, pd.CategoricalDtype):
        names = np.array([*dtype.categories, None], dtype=object)
        return list(names[column.astype(dtype).cat.codes].tolist())
    numbers = schema.instants(column).asi8 if dtype == schema.INSTANT else schema.days(column).view("int64")
    return list(pa.array(numbers, mask=numbers == query.NEVER).to_pylist())


def _typed(values: Sequence[Any], dtype: Any) -> Any:
    """Return a column as it was before `_plain`."""
    if dtype == schema.STR:
        return pa.array(values, pa.large_string())
    if dtype in (schema.DAY, schema.INSTANT):
        numbers = pa.array(values, pa.int64()).fill_null(query.NEVER).to_numpy(zero_copy_only=False)
        return numbers.astype("int64").view("datetime64[ms]")
    if isinstance(dtype, pd.CategoricalDtype):
        codes = {name: code for code, name in enumerate([*dtype.categories])} | {None: -1}
        return pd.Categorical.from_codes([codes[value] for value in values], dtype=dtype, validate=False)
    return np.array(values, dtype=dtype)
