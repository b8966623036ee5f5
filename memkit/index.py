"""The search index of one workspace: what it should hold, brought up to date with the files, and the vectors beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd

from memkit import embed, files, fts, schema, vectors
from memkit.errors import LockTimeout, MemkitError, UnsupportedError
from memkit.loading import Loaded
from memkit.model import FileFact
from memkit.progress import watched

_PART = 512  # texts whose vectors are asked for and saved at once: what was paid for is kept when a later call fails
UNDATED = ("longterm", "note", "extra", "session")  # kinds whose entries are dated by their own instants
# A search waits less than a sync, for other writers and for the service: the files are there all the same.
HASTY: dict[str, Any] = {"tries": 2, "patience": 3.0, "timeout": 5.0}
_HASTY_LOCK = 0.5
_Kept = dict[str, dict[bytes, embed.Vectors]]  # vectors by model and hash


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync came to: the index, its files, entries and vectors, how many files were read anew, and the seconds it took.

    `warning` says why entries lack vectors, if they do.
    """

    path: str
    files: int
    chunks: int
    changed: int
    vectors: int
    seconds: float
    warning: str = ""


class Index:
    """One index: `target` is its file (None where a layout has none), `settings` switch vectors on."""

    def __init__(
        self,
        loaded: Loaded,
        target: Path | None,
        settings: embed.Settings | None,
        lock: Callable[[float | None], AbstractContextManager[None]],
    ):
        self.target, self.settings = target, settings
        self._loaded, self._lock = loaded, lock

    @property
    def path(self) -> Path:
        """Return the file of the index.

        Raises: UnsupportedError where there is none.
        """
        if self.target is None:
            raise UnsupportedError("sync: only a workspace has a search index")
        return self.target

    @property
    def name(self) -> str:
        """Return the index as people are told of it: relative to the store if it lies in it."""
        inside = self.path.is_relative_to(self._loaded.root)
        return self.path.relative_to(self._loaded.root).as_posix() if inside else str(self.path)

    def is_there(self) -> bool:
        """Return whether an index of ours lies there, in whatever state."""
        return self.target is not None and (found := fts.look(self.target)).ours and found.state != "missing"

    def trouble(self) -> str:
        """Return why what lies there cannot be cleaned of what is forgotten; "" if nothing lies there or it can be."""
        if self.target is None or (found := fts.look(self.target)).ours:
            return ""
        return f"{self.name}: {found.reason}; what is forgotten may still stand in it"

    def sync(self, *, rebuild: bool = False, hasty: bool = False) -> Synced:
        """Bring the index up to date with the files, all or nothing, and the vectors if embeddings are on.

        Others that write are waited for, and a `hasty` search waits less than a person who asks for it.

        Raises: ConflictError for another program's file, UnsupportedError, LockTimeout, DiskError.
        """
        self.path  # noqa: B018  # before a lock is taken
        begun = perf_counter()
        with self._lock(_HASTY_LOCK if hasty else None):
            done = self._synced(rebuild=rebuild, timeout=_HASTY_LOCK if hasty else 10.0)
        # without the lock: a service may take its time, and nobody should wait for it to append
        count, warning = self._with_vectors(self.settings, hasty) if self.settings and self.settings.vector_weight else (0, "")
        seconds = round(perf_counter() - begun, 3)
        return Synced(str(self.path), done.files, done.chunks, done.changed, count, seconds, warning)

    def purge(self) -> None:
        """Build an index that is there anew, so that nothing that was forgotten stays in it; nothing is asked of a service.

        Raises: MemkitError.
        """
        if self.is_there():
            with self._lock(None):
                self._synced(rebuild=True, timeout=10.0)

    def _synced(self, *, rebuild: bool, timeout: float) -> fts.Synced:
        """Bring the index up to date, under the lock that its caller holds."""
        facts = self.facts()
        anew = rebuild or fts.look(self.path).state in ("outdated", "broken")
        unread: dict[str, FileFact] = {}
        return fts.sync(
            self.path,
            self._seen(facts),
            partial(self._entries_of, facts, unread),
            rebuild=rebuild,
            timeout=timeout,
            unread=unread.keys(),
            finish=partial(self._put_back, self._kept() if anew else {}),
        )

    def facts(self) -> dict[str, FileFact]:
        """Return the files that are searched, as they are now: all that are read, but for dreams."""
        seen = self._loaded.seen()
        return {path: fact for path, fact in seen.items() if self._loaded.is_read(fact) and fact.role.kind != "dream"}

    def _seen(self, facts: Mapping[str, FileFact]) -> dict[str, tuple[int, int, Any]]:
        root = self._loaded.root
        hashes = {path: partial(files.sha256, root, fact) for path, fact in facts.items() if fact.role.kind != "session"}
        return {path: (fact.size, fact.mtime_ns, hashes.get(path)) for path, fact in facts.items()}

    def _entries_of(self, facts: Mapping[str, FileFact], unread: dict[str, FileFact], paths: Iterable[str]) -> pd.DataFrame:
        """Return the entries of some files, and note those that cannot be read, or were not what their facts say any more."""
        held = [facts[path] for path in paths]
        entries = self._loaded.peek(held, unread)[list(schema.ENTRIES)]
        unread.update({fact.path: fact for fact in held if not self._loaded.is_still(fact)})
        return entries

    def here(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return entries that the index gave, with the days of this store's zone, wherever it was made."""
        written = frame["kind"].isin(UNDATED) & frame["written_at"].notna()
        if not written.any():
            return frame
        local = frame["written_at"].dt.tz_convert(self._loaded.tz).dt.tz_localize(None).dt.normalize().astype(schema.DAY)
        return frame.assign(date=frame["date"].where(~written, local))

    # ---- vectors ----

    def _kept(self) -> _Kept:
        """Return the vectors of an index that is about to be built anew; none of one that is damaged.

        Raises: LockTimeout if another program holds it: they were paid for.
        """
        try:
            with fts.reading(self.path, 10.0, outdated=True) as conn:
                return vectors.everything(conn)
        except fts.Unreadable as error:
            if error.state == "locked":
                raise LockTimeout(f"{error}; try again") from error
            return {}

    @staticmethod
    def _put_back(kept: _Kept, conn: sqlite3.Connection) -> None:
        """Put kept vectors back, and drop those of entries that are gone; in the transaction that made it so."""
        if not kept and not vectors.has_any(conn):
            return
        texts = _texts(conn)
        for model, own in kept.items():
            vectors.save(conn, model, {key: vector for key, vector in own.items() if key in texts})
        vectors.prune(conn, None, texts)

    def _with_vectors(self, settings: embed.Settings, hasty: bool) -> tuple[int, str]:
        """Ask for the vectors that are missing; return how many there are then, and what failed."""
        with fts.asking(self.path) as asked:
            texts = _texts(asked.conn)
            known = vectors.stored(asked.conn, settings.model, texts).keys()
        try:
            self._ask({key: text for key, text in texts.items() if key not in known}, settings, HASTY if hasty else {})
            with fts.asking(self.path) as asked:
                return len(vectors.stored(asked.conn, settings.model, texts)), ""
        except MemkitError as error:  # the words are in the index all the same
            return len(known), str(error)

    def _ask(self, texts: Mapping[bytes, str], settings: embed.Settings, how: Mapping[str, Any]) -> None:
        """Ask for vectors, and keep them part by part: those whose text was not forgotten meanwhile.

        Raises: EmbedError.
        """
        keys = list(texts)
        for part in watched([keys[n : n + _PART] for n in range(0, len(keys), _PART)], "asking for vectors", "part", few=2):
            asked = embed.embed([texts[key] for key in part], settings, **how)
            with fts.writing(self.path) as conn:
                still = _texts(conn)
                vectors.save(conn, settings.model, {key: own for key, own in zip(part, asked, strict=True) if key in still})


def _texts(conn: sqlite3.Connection) -> dict[bytes, str]:
    """Return what is searched of each entry of an index, by its hash."""
    return {vectors.hash_of(text): text for text in fts.bodies_in(conn)}
