"""A new index file: built beside its place, then put there whole.

Nobody reads the file before it is in its place, so it is built without journal and with one fsync. Where an index stands
already, the old file's lock is held while the new one replaces it: the journal of a writer in the old file would
otherwise be taken for one of the new.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from memkit.files.folders import make_folders, remove_empty
from memkit.files.write import sweep_folder
from memkit.fts import rows
from memkit.fts.fill import Extras, Seen, Synced, fill
from memkit.fts.state import code_of, connected, identity
from memkit.fts.write import CACHE, refuse_foreign

_PRAGMAS = ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE", "secure_delete=ON", CACHE)
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# Merging while the index grows costs more than one merge at its end; later syncs merge as FTS5 does by itself.
_BEFORE = "INSERT INTO search (search, rank) VALUES ('automerge', 0)"
_AFTER = ("INSERT INTO search (search) VALUES ('optimize')", "INSERT INTO search (search, rank) VALUES ('automerge', 4)")


def build(path: Path, seen: Seen, extras: Extras, timeout: float) -> Synced:
    """Build the index of what was seen and put it in its place, instead of what is there.

    Raises: ConflictError if another program's file is there by then; sqlite3.Error; OSError.
    """
    made = make_folders(str(path.parent))
    sweep_folder(str(path.parent))
    temp = path.with_name(f".{path.name[:50]}.{secrets.token_hex(6)}.tmp")
    try:
        _create(temp, path)
        with connected(temp, "rw", 0) as conn:
            for statement in (*(f"PRAGMA {pragma}" for pragma in _PRAGMAS), "BEGIN", *rows.TABLES, _BEFORE):
                conn.execute(statement)
            done = fill(conn, seen, extras)
            for statement in (*_AFTER, "COMMIT"):
                conn.execute(statement)
        _sync(temp)
        _install(temp, path, timeout)
    except BaseException:
        with contextlib.suppress(OSError):
            temp.unlink()
        remove_empty(made)
        raise
    return done


def _create(temp: Path, path: Path) -> None:
    """Create the temp file, from the start with the mode of what it will replace."""
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    os.close(os.open(temp, _CREATE, 0o666 if mode is None else mode))
    if mode is not None:
        with contextlib.suppress(OSError):
            temp.chmod(mode)


def _sync(temp: Path) -> None:
    handle = os.open(temp, os.O_RDWR)  # no connection has it open: no lock of SQLite's can be lost
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _install(temp: Path, path: Path, timeout: float) -> None:
    """Put a finished file in its place."""
    while True:
        before = identity(path)
        if before is None:
            _clear(path)
            if _placed(temp, path):
                return
            continue
        with _held(path, timeout):
            if identity(path) == before:
                refuse_foreign(path)
                _clear(path)
                temp.replace(path)
                return


def _placed(temp: Path, path: Path) -> bool:
    """Put a file where none is; return False if another writer was faster."""
    try:
        path.hardlink_to(temp)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        temp.replace(path)
    else:
        temp.unlink()
    return True


@contextlib.contextmanager
def _held(path: Path, timeout: float) -> Iterator[None]:
    """Keep all other programs from reading and writing an index; a damaged one, which nobody can write, is left open."""
    with connected(path, "rw", timeout) as conn:
        try:
            conn.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if code_of(error) not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise
        if os.name == "nt":  # an open file cannot be replaced there
            conn.close()
        yield


def _clear(path: Path) -> None:
    """Remove what a dead writer left beside the old file, so that it is not taken for a part of the new one."""
    for suffix in ("-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
