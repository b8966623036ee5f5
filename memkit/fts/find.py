"""Asking the index: every entry that holds all terms, with a score; it reads only.

Terms of three and more code points are found through FTS5, shorter ones in the rows themselves. Whatever FTS5 offers is
held against the folded body, so that the answer is that of a substring search over all entries.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from memkit import match, schema
from memkit.errors import BadArgument
from memkit.fts import rows
from memkit.fts.body import folded_bodies, plain_scores, scores
from memkit.fts.state import Stamp, Unreadable, reading

_TRIGRAM = 3
_MOST = 64  # terms that SQLite is asked for; it takes no expression of any depth
_FOUND: schema.Schema = {**schema.ENTRIES, "score": schema.SHARE}
_COLUMNS = ", ".join("path" if name == "path" else f"blocks.{name}" for name in schema.ENTRIES)


class Asked:
    """An index as it is at one moment: the files it holds, and `find`."""

    def __init__(self, target: str | os.PathLike[str], conn: sqlite3.Connection):
        self._target, self.conn = target, conn
        held = conn.execute("SELECT path, size, mtime_ns, sha256 FROM files").fetchall()
        self.files: dict[str, Stamp] = {path: (size, mtime_ns, digest) for path, size, mtime_ns, digest in held}

    def find(self, terms: str | Sequence[str], *, skip: Iterable[str] = (), limit: int | None = None) -> pd.DataFrame:
        """Return the entries whose folded body holds every term: the columns of ENTRIES, and `score` (from 0 to under 1).

        Terms are literal and not folded yet; without any, all entries are found. The best come first, of equal ones the
        newest day, the later path and line. Entries of the paths in `skip` are left out; `limit` keeps the first ones.

        Raises: BadArgument; Unreadable if the index cannot be asked.
        """
        check_limit(limit)
        wanted = list(dict.fromkeys(filter(None, map(match.fold, [terms] if isinstance(terms, str) else terms))))
        ranked = bool(wanted) and all(len(term) >= _TRIGRAM for term in wanted)
        # Of NUL and U+FFFD, which the index does not tell apart, and of more terms than it is asked for, it knows too much.
        loose = len(wanted) > _MOST or any(rows.NUL_AS in term or "\0" in term for term in wanted)
        found = _rows(self.conn, sorted(wanted, key=len)[-_MOST:], ranked, skip, None if loose else limit)
        try:
            columns = rows.columns_of(found)
        except (ValueError, TypeError, KeyError, OverflowError) as error:  # a number where text should be: not our writing
            raise Unreadable(self._target, f"it is damaged: {error}", "broken") from error
        key = np.array([row[-1] for row in found], dtype="float64")
        frame = schema.frame(_FOUND, {**columns, "score": scores(key, ranked=ranked)})
        return _checked(frame, wanted, ranked).iloc[:limit] if loose else frame


def check_limit(limit: object) -> None:
    """Hold that a limit is one.

    Raises: BadArgument.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise BadArgument(f"limit: {limit!r}; expected a whole number of at least 0, or None")


@contextlib.contextmanager
def asking(target: str | os.PathLike[str], timeout: float = 5.0) -> Iterator[Asked]:
    """Hold an index for some questions to one state of it, whoever writes it meanwhile.

    Raises: Unreadable, also while it is asked.
    """
    with reading(target, timeout) as conn:
        conn.execute("BEGIN")
        yield Asked(target, conn)


def find(
    target: str | os.PathLike[str],
    terms: str | Sequence[str],
    *,
    skip: Iterable[str] = (),
    limit: int | None = None,
    timeout: float = 5.0,
) -> pd.DataFrame:
    """Return what Asked.find does, for a single question.

    Raises: BadArgument; Unreadable if the index cannot be asked.
    """
    check_limit(limit)
    with asking(target, timeout) as asked:
        return asked.find(terms, skip=skip, limit=limit)


def _rows(conn: sqlite3.Connection, terms: list[str], ranked: bool, skip: Iterable[str], limit: int | None) -> list[Any]:
    """Return the rows that hold every term: the columns of ENTRIES and the key, the best first."""
    if any(not _is_utf8(term) for term in terms):
        return []
    terms = rows.searched(terms)
    values: dict[str, Any] = {f"t{n}": term for n, term in enumerate(terms)}
    where = [f"instr(blocks.body, :{name})" for name in values]
    source = "blocks"
    if long := [term for term in terms if len(term) >= _TRIGRAM]:
        source = "search CROSS JOIN blocks ON blocks.id = search.rowid"
        where.insert(0, "search MATCH :match")
        values["match"] = " AND ".join('"' + term.replace('"', '""') + '"' for term in long)
    if _skipped(conn, skip):
        where.append("file NOT IN (SELECT id FROM temp.skipped)")
    sql = (
        f"SELECT {_COLUMNS}, {'-bm25(search)' if ranked else _key_of(terms)} AS key"
        f" FROM {source} CROSS JOIN files ON files.id = file WHERE {' AND '.join(where) or 'TRUE'}"
        " ORDER BY key DESC, date DESC, path DESC, line DESC LIMIT :limit"
    )
    return conn.execute(sql, {**values, "limit": -1 if limit is None else limit}).fetchall()


def _key_of(terms: Sequence[str]) -> str:
    """Return the SQL of what body.keys says: the hits of all terms, squared, by the code points of the body."""
    hits = (f"(length(blocks.body) - length(replace(blocks.body, :t{n}, ''))) / {len(term)}" for n, term in enumerate(terms))
    total = " + ".join(hits) or "0"
    return f"1.0 * ({total}) * ({total}) / max(length(blocks.body), 1)"


def _skipped(conn: sqlite3.Connection, paths: Iterable[str]) -> bool:
    """Note the files to leave out in a table of this connection, in memory; return whether there are any."""
    named = [(path,) for path in paths]
    if named:
        conn.execute("CREATE TEMP TABLE IF NOT EXISTS skipped (id INTEGER PRIMARY KEY)")
        conn.execute("DELETE FROM temp.skipped")
        conn.executemany("INSERT OR IGNORE INTO skipped SELECT id FROM files WHERE path = ?", named)
    return bool(named)


def _checked(frame: pd.DataFrame, terms: Sequence[str], ranked: bool) -> pd.DataFrame:
    """Return the rows that really hold every term, the best first."""
    folded = folded_bodies(frame)
    hit = np.flatnonzero([match.matches(terms, [body]) for body in folded])
    frame = frame.take(hit)
    if not ranked:
        frame = frame.assign(score=plain_scores((folded[row] for row in hit.tolist()), terms))
    return frame.sort_values("score", ascending=False, kind="stable", ignore_index=True)


def _is_utf8(term: str) -> bool:
    """Return whether a term can stand in a text at all; half a character cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in term)
