"""What an index holds against what was seen of the files, and the rows that make it hold the same; within one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memkit.fts import rows
from memkit.fts.state import Stamp
from memkit.progress import watched

# By path: size, mtime_ns, and the SHA-256 or what tells it when it is wanted (None: unknown).
Seen = Mapping[str, tuple[int, int, str | Callable[[], str | None] | None]]
EntriesOf = Callable[[list[str]], pd.DataFrame | Iterable[pd.DataFrame]]
Finish = Callable[[sqlite3.Connection], None]

_FILES, _BYTES = 512, 8 << 20  # of files whose entries are asked for at once


@dataclass(frozen=True, slots=True)
class Extras:
    """What a sync is given beside what was seen: how entries are read, what could not be (filled meanwhile), a last step."""

    entries_of: EntriesOf
    unread: Collection[str]
    finish: Finish


@dataclass(frozen=True, slots=True)
class Synced:
    """How many files and entries the index holds now, and how many files were new, changed or gone."""

    files: int
    chunks: int
    changed: int


def is_current(seen: Seen, held: Mapping[str, Stamp]) -> bool:
    """Return whether an index holds just the files that were seen, each as large and as old."""
    return seen.keys() == held.keys() and all(held[path][:2] == stamp[:2] for path, stamp in seen.items())


def fill(conn: sqlite3.Connection, seen: Seen, extras: Extras) -> Synced:
    """Make the tables hold the entries of the files that were seen."""
    ids: dict[str, int] = {}
    held: dict[str, Stamp] = {}
    for number, path, *stamp in conn.execute("SELECT id, path, size, mtime_ns, sha256 FROM files"):
        ids[path], held[path] = number, (stamp[0], stamp[1], stamp[2])
    gone = [path for path in held if path not in seen]
    fresh, renewed = _compared(seen, held)
    rows.drop(conn, [ids[path] for path in (*gone, *fresh) if path in ids])
    conn.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in gone])
    conn.executemany("UPDATE files SET size = ?, mtime_ns = ? WHERE path = ?", [(*seen[path][:2], path) for path in renewed])
    number = max(ids.values(), default=0)
    for path in fresh:
        if path not in ids:
            ids[path] = number = number + 1
    for batch in watched(list(_batches(fresh, seen)), "indexing", "part", few=2):
        _add(conn, batch, [(ids[path], path, *seen[path][:2], _hash(fresh[path])) for path in batch], extras)
    extras.finish(conn)
    files, chunks = conn.execute("SELECT count(*), ifnull(sum(entries), 0) FROM files").fetchone()
    return Synced(files, chunks, len(gone) + sum(path not in extras.unread for path in fresh))


def _compared(seen: Seen, held: Mapping[str, Stamp]) -> tuple[dict[str, Any], list[str]]:
    """Return the files that are new or changed, with their hash or what tells it, and those with nothing but a new stamp."""
    fresh: dict[str, Any] = {}
    renewed = []
    for path, (*stamp, told) in seen.items():
        old = held.get(path)
        if old is None:
            fresh[path] = told
        elif old[:2] != tuple(stamp):
            digest = _hash(told)
            if digest and digest == old[2]:
                renewed.append(path)
            else:
                fresh[path] = digest
    return fresh, renewed


def _hash(told: Any) -> str | None:
    digest: str | None = told() if callable(told) else told
    return digest


def _add(conn: sqlite3.Connection, paths: list[str], stamps: list[tuple[Any, ...]], extras: Extras) -> None:
    """Add files and their entries; `stamps` has id, path, size, mtime_ns and hash of each.

    A file that could not be read is not among them: it must not count as known.
    """
    conn.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, 0)", stamps)
    ids = {stamp[1]: stamp[0] for stamp in stamps}
    frames = extras.entries_of(paths)
    for frame in [frames] if isinstance(frames, pd.DataFrame) else frames:
        if len(frame):
            rows.put(conn, frame, ids)
    unread = [path for path in paths if path in extras.unread]
    rows.drop(conn, [ids[path] for path in unread])
    conn.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in unread])


def _batches(paths: Iterable[str], seen: Seen) -> Iterator[list[str]]:
    """Yield the paths some at a time, so that the memory their entries take stays bounded."""
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += seen[path][0]
        if len(batch) >= _FILES or size >= _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
