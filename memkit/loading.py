"""What of a folder is in memory: file facts, records and the entries frame, brought up to date by what changed on disk.

Each look compares scandir + stat with what is held and re-reads only files whose size, mtime, ctime or inode changed.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import tzinfo
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import pandas as pd

from memkit import files, fts, query, schema, tables
from memkit.cache import Cache, Kept, purge
from memkit.errors import BadArgument, DiskError, StoreNotFound
from memkit.layouts import AT_ONCE, Layout
from memkit.layouts.many import readings
from memkit.model import Columns, Document, Entries, FileFact, Reading, Records, StoredSummary
from memkit.progress import watched
from memkit.sources import Sources
from memkit.text import reading_of
from memkit.tracing import titled

_BATCH = 512  # files that are parsed at once; more cost memory, fewer cost time

Told = dict[str, Records] | Callable[[], dict[str, Records]]  # records by path, or what gives them when they are asked for

_Doc = TypeVar("_Doc", Document, tuple[FileFact, bytes])


class State:
    """What one look at a folder found. It is never changed after, so that threads may share it."""

    def __init__(self, facts: dict[str, FileFact], records: Told, entries: pd.DataFrame, tags: pd.DataFrame):
        self.facts = facts
        self._told = records
        self.entries = entries
        dreams = entries["kind"] == "dream"
        self.visible = entries[~dreams].reset_index(drop=True) if dreams.any() else entries  # all but dreams
        self.listed_tags = tags  # of documents whose entries may have several tags; the others' are in the column `tag`

    @cached_property
    def records(self) -> dict[str, Records]:
        """Return the records by path."""
        return self._told() if callable(self._told) else self._told

    @cached_property
    def tags(self) -> pd.DataFrame:
        """Return all tags of all entries but dreams."""
        return self.listed_tags if len(self.listed_tags) else tables.first_tags(self.visible)

    @cached_property
    def bodies(self) -> list[str]:
        """Return what is searched of each entry, folded, made once for as long as the frame stands."""
        return fts.folded_bodies(self.visible)

    @cached_property
    def folded(self) -> query.Folded:
        """Return the folded text beside the entries frame, made once for as long as the frame stands."""
        return query.Folded.of(self.visible)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Let the collector of cycles wait: reading makes many objects and no cycles, and it would look at all again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Read(NamedTuple):
    """What some files hold: their records, their entries (schema HELD), and all tags of those with several (TAGS)."""

    records: list[Records]
    entries: pd.DataFrame
    tags: pd.DataFrame


class Loaded:
    """The readable state of one store: `refresh()` gives it as it is on disk now."""

    def __init__(
        self,
        root: Path,
        layout: Layout,
        tz: tzinfo,
        *,
        extra: Iterable[str] = (),
        session: Path | None = None,
        cache: Path | None = None,
    ):
        self.root, self.layout, self.tz = root, layout, tz
        self.extra, self.session = tuple(extra), session
        self._cache = Cache(cache, root, layout.NAME, tz, self.extra, session) if cache else None
        self._begun = self._cache is None
        self._state = State({}, {}, tables.entries([], tz), tables.tags([]))
        self._lock = threading.Lock()
        self._home = files.home_of(root)  # which folder it is, once there is something in it

    @_without_collector()
    def refresh(self) -> State:
        """Read what is new or changed, drop what is gone, and return all; what is interrupted leaves the state before.

        Raises: StoreNotFound if the folder was there and is gone.
        """
        with self._lock:
            self.hold_there()
            old, looked = self._at_hand(), time.time_ns()
            seen = files.scan(self.root, self.layout, self.extra, self.session, known=old.facts)
            stale = {path for path, fact in old.facts.items() if seen.get(path) is not fact and self.is_read(fact)}
            fresh = [fact for path, fact in seen.items() if old.facts.get(path) is not fact and self.is_read(fact)]
            if stale or fresh:
                self._state = _spliced(old, seen, stale, self._read(sorted(fresh, key=tables.reading_order), seen))
                self._keep(fresh, looked)
            else:
                self._state = State(seen, old.records, old.entries, old.listed_tags) if seen != old.facts else old
            self.settle()
            return self._state

    def _at_hand(self) -> State:
        """Return what is known before a look at the folder: at first, what the cache holds."""
        kept = None if self._begun or self._cache is None else self._cache.recall()
        self._begun = True
        if kept is not None:
            self._state = State(*kept)
        return self._state

    def _keep(self, read: list[FileFact], looked: int) -> None:
        """Cache the state if that is wanted and worth it, unless a file has changed meanwhile."""
        state = self._state

        def holds() -> bool:
            now = files.scan(self.root, self.layout, self.extra, self.session, known=state.facts)
            return all(now.get(path) is fact for path, fact in state.facts.items() if self.is_read(fact))

        if self._cache is not None:
            kept = Kept(state.facts, state.records, state.entries, state.listed_tags)
            self._cache.keep(kept, read, looked, holds)

    def uncache(self) -> None:
        """Remove what is cached of the store, in the usual place and in its own.

        Raises: DiskError, LockTimeout.
        """
        purge(self.root, self._cache.folder if self._cache else None)

    def seen(self) -> dict[str, FileFact]:
        """Return the files as they are now, without reading any.

        Raises: StoreNotFound if the folder was there and is gone.
        """
        with self._lock:
            self.hold_there()
            return files.scan(self.root, self.layout, self.extra, self.session, known=self._state.facts)

    def peek(self, facts: Iterable[FileFact], unread: dict[str, FileFact] | None = None) -> pd.DataFrame:
        """Return the entries of some files as they are now (schema HELD), read anew; `unread` notes what cannot be."""
        held = [fact for fact in facts if self.is_read(fact)]
        return self._read(sorted(held, key=tables.reading_order), {} if unread is None else unread).entries

    def is_still(self, fact: FileFact) -> bool:
        """Return whether a file is still as it was seen."""
        return files.is_still(self.root, fact, self.session)

    @staticmethod
    def is_read(fact: FileFact) -> bool:
        """Return whether a file is one that is read."""
        return not fact.role.skipped and not fact.trouble and fact.role.kind is not None

    def hold_there(self) -> None:
        """Hold that the folder in which there was something is there: that one, or another that has memory too.

        Raises: StoreNotFound.
        """
        here = files.home_at(self.root)
        if self._home is None or here == self._home:
            return
        if here is None:
            raise StoreNotFound(f"{self.root}: the folder is gone; {files.CURE}")
        if all(fact.role.skipped or fact.trouble for fact in files.scan(self.root, self.layout).values()):  # as unmounted
            raise StoreNotFound(f"{self.root}: the folder is gone, and another without memory is in its place; {files.CURE}")
        self._home = here

    def settle(self) -> None:
        """Take note that there is a store, if there is something in the folder."""
        self._home = self._home or files.home_of(self.root)

    @property
    def is_begun(self) -> bool:
        """Return whether there ever was something in the folder: then nobody may begin it anew."""
        return self._home is not None

    def _read(self, facts: list[FileFact], seen: dict[str, FileFact]) -> _Read:
        """Return what is in files given in reading order; what cannot be read is noted in `seen`."""
        kinds = {kind for layout, kind in AT_ONCE if layout == self.layout.NAME}
        alike = [fact for fact in facts if fact.role.kind in kinds]
        others = [fact for fact in facts if fact.role.kind not in kinds]
        docs = _documents(others, lambda fact: files.read(self.root, fact, self.session), seen)
        records = [_with_lines(self.layout.parse(doc), doc) for doc in docs]
        entries = tables.entries(records, self.tz)
        tags = tables.tags(record for record in records if record.role.kind != "dream")
        for record in records:  # only the frame keeps them, and a record of none looks the same wherever it comes from
            record.entries, record.tags = Entries(), []
        if not alike:
            return _Read(records, entries, tags)
        more, columns, texts = self._read_at_once(alike, seen)
        entries = tables.together([tables.entries_of_columns(more, columns, texts), entries])
        records = records + more
        if self.layout.NAME != "layers":  # there the hot layer and the summaries come first: the audit names the first place
            records.sort(key=tables.reading_order)
        return _Read(records, entries, tables.joined([tables.tags_of_columns(more, columns), tags]))

    def _read_at_once(
        self, facts: list[FileFact], seen: dict[str, FileFact]
    ) -> tuple[list[Records], list[Columns], schema.Texts]:
        """Return the records, the entry columns and the texts of files that are parsed many at a time, all in one way."""
        parse = AT_ONCE[self.layout.NAME, facts[0].role.kind]
        held = _documents(facts, self._with_bytes, seen)
        records: list[Records] = []
        columns: list[Columns] = []
        texts = schema.Texts(sum(fact.size for fact in facts))
        while docs := readings(list(islice(held, _BATCH))):
            found, part = parse(docs)
            records.extend(map(_with_lines, found, docs))
            texts.add(part.text)
            columns.append(replace(part, text=None))
        return records, columns, texts

    def _with_bytes(self, fact: FileFact) -> tuple[FileFact, bytes] | str:
        data = files.read_plain(self.root, fact)
        return data if isinstance(data, str) else (fact, data)

    def sources(self, state: State) -> Sources:
        """Return what summaries of a state are made from."""
        stored = {path: record.summary for path, record in state.records.items() if record.summary}
        return Sources(state.visible, stored, layered=self.layout.NAME == "layers", tz=self.tz)

    def summary_at(self, state: State, path: object) -> StoredSummary:
        """Return the summary at a path: one of the store, or one elsewhere that was written with `out=`.

        Raises: BadArgument if there is none.
        """
        place = files.place_of(path, "summary")
        inside = place.relative_to(self.root) if place.is_relative_to(self.root) else place
        record = state.records.get(inside.as_posix())
        if record is not None and record.summary is not None:
            return record.summary
        try:
            text = files.text_of_output(place)
        except DiskError as error:
            raise BadArgument(f"summary: {error}") from error
        if text is None:
            raise BadArgument(f"summary: no file {place}; summaries() lists the stored ones")
        return titled(reading_of(text))

    def hashes(self, state: State) -> dict[str, str]:
        """Return the SHA-256 of each file that is read, by path."""
        held = (fact for fact in state.facts.values() if self.is_read(fact) and fact.role.kind != "session")
        return {fact.path: digest for fact in held if (digest := files.sha256(self.root, fact))}


def _spliced(old: State, seen: dict[str, FileFact], stale: set[str], fresh: _Read) -> State:
    """Return the state without the rows of changed or gone files, with the new ones; only the frame keeps the entries."""
    tags = fresh.tags
    if len(old.listed_tags):
        held = old.listed_tags[~old.listed_tags["path"].isin(stale)]
        tags = pd.concat([held, tags], ignore_index=True)
    entries = tables.splice(old.entries, stale, fresh.entries)
    records = {path: record for path, record in old.records.items() if path not in stale}
    records.update({record.path: record for record in fresh.records})
    return State(seen, records, entries, tables.in_order_of(entries, tags))


def _documents(facts: list[FileFact], read: Callable[[FileFact], _Doc | str], seen: dict[str, FileFact]) -> Iterator[_Doc]:
    """Yield the files as documents, and note in `seen` the trouble of those that cannot be read."""
    for fact in watched(facts, "reading", "file"):
        doc = read(fact)
        if isinstance(doc, str):
            seen[fact.path] = replace(fact, trouble=doc)
        else:
            yield doc


def _with_lines(records: Records, doc: Document | Reading) -> Records:
    """Return the records, each problem knowing the text of its line."""
    if records.problems:
        lines = doc.reading.split("\n")
        records.problems = [replace(p, text=lines[min(p.line, len(lines)) - 1]) for p in records.problems]
    return records
