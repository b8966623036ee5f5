"""Bringing the index up to date with the files, in one transaction: all or nothing.

What memkit cannot read as an index of its own it builds anew; what is another program's it refuses to touch.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection
from pathlib import Path

from memkit.errors import ConflictError, UnsupportedError
from memkit.fts.build import build
from memkit.fts.fill import EntriesOf, Extras, Finish, Seen, Synced, fill, is_current
from memkit.fts.state import code_of, has_trigram, look, real
from memkit.fts.write import Moved, refuse_foreign, told, transaction

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_TRIES = 5  # for an index that others replace all the time


def sync(
    target: str | os.PathLike[str],
    seen: Seen,
    entries_of: EntriesOf,
    *,
    rebuild: bool = False,
    timeout: float = 10.0,
    unread: Collection[str] = (),
    finish: Finish = lambda conn: None,
) -> Synced:
    """Make the index hold the entries of exactly the files in `seen`; a kill leaves it old or new.

    A file of the same size and mtime is left as it is, one of the same SHA-256 gets only its new stamp. The hash is asked
    for before the entries, and must be that of the bytes they come from or of older ones. `entries_of` is asked for some
    hundred paths at a time; those that it has put into `unread` by then are not held. `finish` runs last in the same
    transaction, when anything has changed. With `rebuild` a new file takes the place of the old one, so that nothing that
    was ever deleted stays in it. Another writer is waited for, at most `timeout` seconds.

    Raises: ConflictError if a file that is no index of ours stands there; UnsupportedError; LockTimeout; DiskError.
    """
    if not has_trigram():
        raise UnsupportedError(f"{target}: this SQLite ({sqlite3.sqlite_version}) has no FTS5 trigrams; 3.34 and later have")
    path, extras = real(target), Extras(entries_of, unread, finish)
    for _ in range(_TRIES):
        with told(path, timeout):
            refuse_foreign(path)
            try:
                return _synced(path, seen, extras, rebuild, timeout)
            except Moved:
                continue
    raise ConflictError(f"{path}: other programs replace it all the time; try again")


def _synced(path: Path, seen: Seen, extras: Extras, rebuild: bool, timeout: float) -> Synced:
    found = None if rebuild else look(path, timeout=0)
    if found and found.state == "ok" and is_current(seen, found.files):
        return Synced(len(found.files), found.chunks, 0)
    # A broken one may only wait for the journal of a dead writer to be rolled back, which opening it for writing does.
    if found and found.state in ("ok", "locked", "broken"):
        try:
            with transaction(path, timeout) as conn:
                return fill(conn, seen, extras)
        except sqlite3.DatabaseError as error:
            if code_of(error) not in _DAMAGED:
                raise
    return build(path, seen, extras, timeout)
