"""What of a folder is in memory: file facts, records and the entries frame, brought up to date by what changed on disk.

Each look compares scandir + stat with what is held and re-reads only files whose size, mtime or inode changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import tzinfo
from itertools import islice
from pathlib import Path
from typing import TypeVar

import pandas as pd
from tqdm.auto import tqdm

from memkit import files, query, tables
from memkit.layouts import AT_ONCE, Layout
from memkit.model import Columns, Document, Entries, FileFact, Reading, Records

_SLOW = 1.0  # seconds after which a progress bar appears
_BATCH = 512  # files that are parsed at once; more cost memory, fewer cost time

_Doc = TypeVar("_Doc", Document, Reading)


class Loaded:
    """The readable state of one store; `refresh()` before each use."""

    def __init__(self, root: Path, layout: Layout, tz: tzinfo, *, extra: Iterable[str] = (), session: Path | None = None):
        self.root, self.layout, self.tz = root, layout, tz
        self.extra, self.session = tuple(extra), session
        self.facts: dict[str, FileFact] = {}
        self.records: dict[str, Records] = {}
        self.entries = tables.entries([], tz)
        self.visible = self.entries  # all but dreams
        self.listed_tags = tables.tags([])  # of documents whose entries may have several tags; the others' are in `tag`
        self._tags: pd.DataFrame | None = None
        self._folded: query.Folded | None = None

    def refresh(self) -> None:
        """Read what is new or changed and drop what is gone."""
        seen = files.scan(self.root, self.layout, self.extra, self.session, known=self.facts)
        stale = {path for path in self.records if seen.get(path) is not self.facts[path]}
        fresh = [fact for path, fact in seen.items() if self.facts.get(path) is not fact and _is_read(fact)]
        if stale or fresh:
            self._replace(stale, *self._read(sorted(fresh, key=tables.reading_order), seen))
        self.facts = seen

    def _read(self, facts: list[FileFact], seen: dict[str, FileFact]) -> tuple[list[Records], pd.DataFrame]:
        """Return the records and the entries of files in reading order; what cannot be read is noted in `seen`."""
        alike = [fact for fact in facts if (self.layout.NAME, fact.role.kind) in AT_ONCE]
        others = [fact for fact in facts if (self.layout.NAME, fact.role.kind) not in AT_ONCE]
        docs = _documents(others, lambda fact: files.read(self.root, fact, self.session), seen)
        records = [_with_lines(self.layout.parse(doc), doc) for doc in docs]
        entries = tables.entries(records, self.tz)
        if not alike:
            return records, entries
        more, columns = self._read_at_once(alike, seen)
        return records + more, tables.together([tables.entries_of_columns(more, columns), entries])

    def _read_at_once(self, facts: list[FileFact], seen: dict[str, FileFact]) -> tuple[list[Records], list[Columns]]:
        """Return the records and the entry columns of files of one kind that the layout parses many at a time."""
        parse = AT_ONCE[self.layout.NAME, facts[0].role.kind]
        docs = _documents(facts, lambda fact: files.read_plain(self.root, fact), seen)
        records: list[Records] = []
        columns: list[Columns] = []
        while batch := list(islice(docs, _BATCH)):
            found, part = parse(batch)
            records.extend(map(_with_lines, found, batch))
            columns.append(part)
        return records, columns

    def _replace(self, stale: set[str], fresh: list[Records], entries: pd.DataFrame) -> None:
        """Take out the rows of changed or gone files, put in the new ones; only the frame keeps the entries."""
        tags = tables.tags(record for record in fresh if record.role.kind != "dream")
        if len(self.listed_tags):
            held = self.listed_tags[~self.listed_tags["path"].isin(stale)]
            tags = pd.concat([held, tags], ignore_index=True)
        self.listed_tags = tags
        self.entries = tables.splice(self.entries, stale, entries)
        for path in stale:
            self.records.pop(path, None)
        for record in fresh:
            record.entries = Entries()
            record.tags = []
            self.records[record.path] = record
        dreams = self.entries["kind"] == "dream"
        self.visible = self.entries[~dreams].reset_index(drop=True) if dreams.any() else self.entries
        self._tags = self._folded = None

    @property
    def tags(self) -> pd.DataFrame:
        """Return all tags of all entries but dreams."""
        if self._tags is None:
            self._tags = self.listed_tags if len(self.listed_tags) else tables.first_tags(self.visible)
        return self._tags

    def folded(self) -> query.Folded:
        """Return the folded text beside the entries frame, made once for as long as the frame stands."""
        if self._folded is None:
            self._folded = query.Folded.of(self.visible)
        return self._folded

    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of each file that is read, by path."""
        held = (fact for fact in self.facts.values() if _is_read(fact) and fact.role.kind != "session")
        return {fact.path: digest for fact in held if (digest := files.sha256(self.root, fact))}


def _is_read(fact: FileFact) -> bool:
    return not fact.role.skipped and not fact.trouble and fact.role.kind is not None


def _documents(facts: list[FileFact], read: Callable[[FileFact], _Doc | str], seen: dict[str, FileFact]) -> Iterator[_Doc]:
    """Yield the files as documents, and note in `seen` the trouble of those that cannot be read."""
    for fact in tqdm(facts, desc="memkit: reading", unit="file", delay=_SLOW, leave=False, disable=len(facts) < 100):
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
