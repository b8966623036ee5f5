"""What stands where an index is wanted, told without changing a byte or creating a file; and read-only connections to it.

The file is opened by SQLite alone: closing another descriptor of it would take away the locks that SQLite holds for other
threads of this process (POSIX).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memkit.errors import MemkitError
from memkit.fts import rows

State = Literal["missing", "ok", "foreign", "broken", "outdated", "locked", "unsupported"]
Stamp = tuple[int, int, str | None]  # size, mtime_ns, sha256

_CODE = 0xFF  # the part of SQLite's error code that says which kind it is
_STATES: dict[int, tuple[State, str]] = {
    sqlite3.SQLITE_BUSY: ("locked", "another program is writing it"),
    sqlite3.SQLITE_LOCKED: ("locked", "another program is writing it"),
    sqlite3.SQLITE_PROTOCOL: ("locked", "another program is writing it"),
    sqlite3.SQLITE_READONLY: ("broken", "a writer was stopped halfway; the next sync puts it right"),
    sqlite3.SQLITE_CANTOPEN: ("broken", "it cannot be opened"),
}


class Unreadable(MemkitError):
    """The index cannot be asked, for the reason in `state`; the caller reads the files instead."""

    def __init__(self, target: str | os.PathLike[str], reason: str, state: State):
        super().__init__(f"{os.fspath(target)}: {reason}")
        self.reason, self.state = reason, state


@dataclass(frozen=True, slots=True)
class Look:
    """What stands at a path: the state, the reason in words, the files and how many entries an index in order holds.

    `ours` says that a rebuild may replace what is there: an index of memkit in whatever state, or nothing at all.
    """

    state: State
    reason: str
    files: dict[str, Stamp] = field(default_factory=dict)
    chunks: int = 0
    ours: bool = True


def look(target: str | os.PathLike[str], *, timeout: float = 1.0) -> Look:
    """Return what stands at a path, waiting for a writer at most `timeout` seconds."""
    try:
        with reading(target, timeout) as conn:
            held = conn.execute("SELECT path, size, mtime_ns, sha256, entries FROM files").fetchall()
            conn.execute("SELECT * FROM search, blocks LIMIT 0")
    except Unreadable as error:
        found = head(real(target))
        return found if found.state != "ok" else Look(error.state, error.reason)
    files = {path: (size, mtime_ns, digest) for path, size, mtime_ns, digest, _ in held}
    return Look("ok", "it is in order", files, sum(row[-1] for row in held))


@contextlib.contextmanager
def reading(target: str | os.PathLike[str], timeout: float, *, outdated: bool = False) -> Iterator[sqlite3.Connection]:
    """Hold a read-only connection to an index of ours; with `outdated` also to one of another version.

    Raises: Unreadable, for whatever keeps the index from being read, also while it is read.
    """
    path = real(target)
    found = head(path)
    if found.state != "ok" and not (outdated and found.state == "outdated"):
        raise Unreadable(target, found.reason, found.state)
    try:
        with connected(path, "ro", timeout) as conn:
            yield conn
    except sqlite3.Error as error:
        state, reason = _STATES.get(code_of(error), ("broken", f"it is damaged: {error}"))
        if state == "broken" and not has_trigram():
            state, reason = "unsupported", "this SQLite has no FTS5 trigrams (they came with 3.34)"
        raise Unreadable(target, reason, state) from error


def head(path: Path) -> Look:
    """Return what the head of a file says: `ok` stands for an index of ours and of this version."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return Look("missing", "there is no index yet")
    except (OSError, ValueError) as error:
        return Look("broken", f"it cannot be read: {error}", ours=False)
    if not stat.S_ISREG(facts.st_mode):
        return Look("broken", "it is no file", ours=False)
    if facts.st_size == 0:
        return Look("broken", "it is empty")
    try:
        return _told(path, "nolock=1")
    except sqlite3.Error as error:
        code = code_of(error)
    try:
        found = _told(path, "immutable=1")  # whatever journal or WAL there is
    except sqlite3.Error as error:
        unopened = code_of(error) == sqlite3.SQLITE_CANTOPEN
        return Look("broken", "it cannot be opened" if unopened else f"it is no database: {error}", ours=False)
    # Without locks SQLite cannot open a file in WAL mode; with them it would make two more beside it, also to read.
    wal = found.state == "ok" and code == sqlite3.SQLITE_CANTOPEN
    return Look("broken", "another program put it into WAL mode") if wal else found


def _told(path: Path, how: str) -> Look:
    """Return what the first page of a database says.

    Raises: sqlite3.Error.
    """
    with connected(path, f"ro&{how}", 0) as conn:
        conn.execute("PRAGMA writable_schema=ON")  # with it also the head of a file cut short is read
        own, version = (conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        if own == rows.APPLICATION_ID:
            same = version == rows.USER_VERSION
            return Look("ok", "it is in order") if same else Look("outdated", "another version of memkit or Python made it")
        if own or conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return Look("foreign", "it is another program's database", ours=False)
        return Look("broken", "it is a database without tables")


@contextlib.contextmanager
def connected(path: Path, mode: str, timeout: float) -> Iterator[sqlite3.Connection]:
    """Hold a connection in which nothing is committed by itself, and nothing of a query is laid down elsewhere on disk."""
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode={mode}", timeout, isolation_level=None, uri=True)) as conn:
        conn.execute("PRAGMA temp_store=MEMORY")
        yield conn


def has_trigram() -> bool:
    """Return whether this SQLite can index trigrams."""
    with contextlib.closing(sqlite3.connect(":memory:")) as conn:
        try:
            conn.execute("CREATE VIRTUAL TABLE probe USING fts5(body, tokenize='trigram case_sensitive 1')")
        except sqlite3.OperationalError:
            return False
    return True


def real(target: str | os.PathLike[str]) -> Path:
    """Return the path that a target leads to through links: beside it a new index is built."""
    return Path(os.path.realpath(target))


def identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from the one that replaces it, or None if there is none."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino


def code_of(error: sqlite3.Error) -> int:
    """Return SQLite's error code without its extension; for what Python found itself (text that is no UTF-8) SQLITE_CORRUPT."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)) & _CODE
