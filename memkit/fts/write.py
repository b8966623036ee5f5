"""Transactions on an index of ours, and in what words a failure is told."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from memkit.errors import ConflictError, DiskError, LockTimeout, MemkitError
from memkit.fts.state import code_of, connected, head, identity, real

CACHE = "cache_size=-65536"  # KiB
# Deleted rows are overwritten (FTS5's own pages too, but of a segment only once it is merged away).
_PRAGMAS = ("journal_mode=DELETE", "secure_delete=ON", CACHE)
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_CURES = {
    sqlite3.SQLITE_FULL: "make room and try again",
    sqlite3.SQLITE_READONLY: "allow writing there and try again",
    sqlite3.SQLITE_CANTOPEN: "allow writing in its folder and try again",
    sqlite3.SQLITE_IOERR: "make room, look after the disk and try again",
}


class Moved(ConflictError):
    """The file of the index was moved away, removed or replaced while it was to be written."""


@contextlib.contextmanager
def writing(target: str | os.PathLike[str], *, timeout: float = 10.0) -> Iterator[sqlite3.Connection]:
    """Hold a transaction on an index that is there, committed at the end and rolled back by an exception.

    Raises: ConflictError if it is another program's, or is replaced meanwhile; LockTimeout; DiskError.
    """
    path = real(target)
    with told(path, timeout):
        refuse_foreign(path)
        with transaction(path, timeout) as conn:
            yield conn


@contextlib.contextmanager
def transaction(path: Path, timeout: float) -> Iterator[sqlite3.Connection]:
    """Hold a transaction; a journal that a dead writer left is rolled back first.

    Raises: Moved; sqlite3.Error.
    """
    before = identity(path)
    try:
        with connected(path, "rw", timeout) as conn:
            for pragma in _PRAGMAS:
                conn.execute(f"PRAGMA {pragma}")
            conn.execute("BEGIN IMMEDIATE")
            yield conn
            conn.execute("COMMIT")
    except sqlite3.Error as error:
        # SQLite refuses to write to a file that no longer has its name: the journal would be taken for another's.
        other = before is None or identity(path) != before
        if other and code_of(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise Moved(f"{path}: it was replaced or removed meanwhile; try again") from error
        raise


def refuse_foreign(path: Path) -> None:
    """Hold that what stands at a path may be written over.

    Raises: ConflictError.
    """
    found = head(path)
    if not found.ours:
        cure = "move it away, or name another place for the index (MEMORY_INDEX_PATH, index=)"
        raise ConflictError(f"{path}: {found.reason}, so memkit does not write there; {cure}")


@contextlib.contextmanager
def told(path: Path, timeout: float) -> Iterator[None]:
    """Turn what SQLite or the system says into an error that names path, reason and cure."""
    try:
        yield
    except MemkitError:
        raise
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):  # ours to mend, not the user's
        raise
    except sqlite3.Error as error:
        code = code_of(error)
        if code in _LOCKED:
            raise LockTimeout(f"{path}: another program holds it for over {timeout:g} seconds; try again") from error
        cure = _CURES.get(code, "delete it and sync again")
        raise DiskError(f"{path}: the index could not be written: {error}; {cure}") from error
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        cure = "allow writing there" if isinstance(error, PermissionError) or error.errno == errno.EROFS else "make room there"
        raise DiskError(f"{path}: the index could not be written: {reason}; {cure} and try again") from error
