"""Vectors of texts: kept in SQLite by hash and model, compared, and weighed together with text scores; nobody is asked.

A vector is a row of float32, a hash is the SHA-256 of a whole text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from memkit.embed import Settings, Vectors

if TYPE_CHECKING:
    import sqlite3

_Key = TypeVar("_Key")

KEPT = 0.35  # a hybrid score above it is a hit, whatever words are missing
_TABLE = "vectors(hash BLOB, model TEXT, dim INTEGER, data BLOB, PRIMARY KEY(hash, model)) WITHOUT ROWID"
_FIND = "SELECT hash, dim, data FROM vectors WHERE hash = ? AND model = ? AND dim > 0 AND length(data) = 4 * dim"
_ALL = "SELECT hash, model, dim, data FROM vectors WHERE dim > 0 AND length(data) = 4 * dim"
_AT_ONCE = 4_096  # vectors that are compared at once, as their float64 copies are large


def hash_of(text: str) -> bytes:
    """Return the SHA-256 of a text, under which its vector is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def packed(array: Vectors) -> bytes:
    """Return vectors as little-endian float32, row after row."""
    return np.asarray(array, "<f4").tobytes()


def unpacked(data: bytes, d: int) -> Vectors:
    """Return the rows of `d` numbers each that were packed."""
    return np.frombuffer(data, "<f4").astype(np.float32).reshape(-1, d)


def cosine(query: Vectors, matrix: Vectors) -> NDArray[np.float64]:
    """Return how like the query each row of its length is, from -1 to 1; 0 where either is all zeros or no number."""
    chunks = (matrix[start : start + _AT_ONCE] for start in range(0, len(matrix), _AT_ONCE))
    near = [np.clip(_unit(chunk) @ _unit(query), -1, 1) for chunk in chunks]
    return np.concatenate(near) if near else np.empty(0)


def _unit(rows: Vectors) -> NDArray[np.float64]:
    wide = np.where(np.isfinite(rows), rows, 0).astype(np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    return wide / np.where(lengths > 0, lengths, 1.0)


def stored(
    connection: sqlite3.Connection, model: str, hashes: Iterable[bytes], *, d: int | None = None
) -> dict[bytes, Vectors]:
    """Return the kept vectors of these hashes (with `d`: of that length only), without those that are damaged.

    A database without the table holds none, and stays without it.
    """
    if not _there(connection):
        return {}
    rows = (connection.execute(_FIND, (key, model)).fetchone() for key in set(hashes))
    return {key: unpacked(data, dim)[0] for key, dim, data in filter(None, rows) if d in (None, dim)}


def has_any(connection: sqlite3.Connection) -> bool:
    """Return whether any vector is kept."""
    return _there(connection) and connection.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is not None


def everything(connection: sqlite3.Connection) -> dict[str, dict[bytes, Vectors]]:
    """Return all vectors that are kept, by model and hash."""
    found: dict[str, dict[bytes, Vectors]] = {}
    for key, model, dim, data in connection.execute(_ALL) if _there(connection) else ():
        found.setdefault(model, {})[key] = unpacked(data, dim)[0]
    return found


def save(connection: sqlite3.Connection, model: str, mapping: Mapping[bytes, Vectors]) -> None:
    """Keep vectors by hash, in the caller's transaction; the model's of another length go, as nothing compares to both."""
    if not mapping:
        return
    connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
    rows = [(key, model, len(vector), packed(vector)) for key, vector in mapping.items()]
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
    connection.execute("DELETE FROM vectors WHERE model = ? AND dim <> ?", (model, rows[0][2]))


def prune(connection: sqlite3.Connection, model: str | None, keep_hashes: Collection[bytes]) -> int:
    """Delete the vectors of a model (None: of all) whose texts are gone, in the caller's transaction; return how many."""
    if not _there(connection):
        return 0
    keep = set(keep_hashes)
    rows = connection.execute("SELECT hash, model FROM vectors WHERE ? IS NULL OR model = ?", (model, model))
    gone = [row for row in rows if row[0] not in keep]
    connection.executemany("DELETE FROM vectors WHERE hash = ? AND model = ?", gone)
    return len(gone)


def _there(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'vectors'").fetchone())


def provider(settings: Settings | None, *, fts: bool = True) -> str:
    """Return who answers a search: hybrid, vector, fts5 or file-keyword. Only the first two need the query's vector."""
    if settings is None or not settings.vector_weight:
        return "fts5" if fts else "file-keyword"
    return "hybrid" if fts and settings.text_weight else "vector"


def hybrid(
    cosines: Mapping[_Key, float], texts: Mapping[_Key, float], settings: Settings, *, whole: Collection[_Key] | None = None
) -> dict[_Key, float]:
    """Return the hits and their scores, best first: vector weight x cosine + text weight x text score.

    Candidates come from either side, and what one lacks counts 0. A hit scores above 0.35, or is in `whole`, which has
    all words (default: all of `texts`). With a vector weight of 0 the text scores stay as they are.
    """
    near, text = (settings.vector_weight, settings.text_weight) if settings.vector_weight else (0.0, 1.0)
    sure = texts.keys() if whole is None else set(whole)
    keys = dict.fromkeys([*(cosines if near else ()), *texts, *sure])
    scores = {key: near * float(cosines.get(key, 0.0)) + text * texts.get(key, 0.0) for key in keys}
    best = sorted(scores.items(), key=lambda hit: -hit[1])
    return {key: score for key, score in best if score > KEPT or key in sure}
