"""What of a folder is in memory: file facts, records and the entries frame, brought up to date by what changed on disk.

Each look compares scandir + stat with what is held and re-reads only files whose size, mtime or inode changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path

import pandas as pd
from tqdm.auto import tqdm

from memkit import files, query, tables
from memkit.layouts import Layout
from memkit.model import Document, Entries, FileFact, Records

_SLOW = 1.0  # seconds after which a progress bar appears


class Loaded:
    """The readable state of one store; `refresh()` before each use."""

    def __init__(self, root: Path, layout: Layout, tz: tzinfo, *, extra: Iterable[str] = (), session: Path | None = None):
        self.root, self.layout, self.tz = root, layout, tz
        self.extra, self.session = tuple(extra), session
        self.facts: dict[str, FileFact] = {}
        self.records: dict[str, Records] = {}
        self.entries = tables.entries([], tz)
        self.tags = tables.tags([])
        self.visible = self.entries  # all but dreams
        self._folded: query.Folded | None = None

    def refresh(self) -> None:
        """Read what is new or changed and drop what is gone."""
        seen = files.scan(self.root, self.layout, self.extra, self.session)
        stale = {path for path, fact in self.facts.items() if seen.get(path) != fact and path in self.records}
        fresh = [fact for path, fact in seen.items() if _is_read(fact) and (path in stale or path not in self.records)]
        facts = {path: self._kept(path, fact) for path, fact in seen.items()}
        if stale or fresh:
            self._replace(stale, self._read(fresh, facts))
        self.facts = facts  # last, so that an interrupted reading is taken up again

    def _kept(self, path: str, fact: FileFact) -> FileFact:
        """Return the new fact of a path; a reading trouble stays known while the file is unchanged."""
        old = self.facts.get(path)
        if old is not None and old.trouble and replace(old, trouble="") == fact:
            return old
        return fact

    def _read(self, wanted: list[FileFact], facts: dict[str, FileFact]) -> list[Records]:
        """Return the records of the files; the fact of one that cannot be read gets the reason."""
        found = []
        for fact in tqdm(wanted, desc="memkit: reading", unit="file", delay=_SLOW, leave=False, disable=len(wanted) < 100):
            doc = files.read(self.root, fact, self.session)
            if isinstance(doc, str):
                facts[fact.path] = replace(fact, trouble=doc)
            else:
                found.append(_with_lines(self.layout.parse(doc), doc))
        return found

    def _replace(self, stale: set[str], fresh: list[Records]) -> None:
        """Take out the rows of changed or gone files, put in the new ones; only the frame keeps the entries."""
        entries = tables.entries(fresh, self.tz)
        tags = tables.tags(record for record in fresh if record.role.kind != "dream")
        if len(self.entries) and stale:
            self.entries = self.entries[~self.entries["path"].isin(stale)]
            self.tags = self.tags[~self.tags["path"].isin(stale)]
        self.entries = tables.in_order(pd.concat([self.entries, entries], ignore_index=True)) if len(self.entries) else entries
        self.tags = pd.concat([self.tags, tags], ignore_index=True) if len(self.tags) else tags
        for path in stale:
            self.records.pop(path, None)
        for record in fresh:
            record.entries = Entries()
            record.tags = []
            self.records[record.path] = record
        dreams = self.entries["kind"] == "dream"
        self.visible = self.entries[~dreams].reset_index(drop=True) if dreams.any() else self.entries
        self._folded = None

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


def _with_lines(records: Records, doc: Document) -> Records:
    """Return the records, each problem knowing the text of its line."""
    if records.problems:
        lines = doc.reading.split("\n")
        records.problems = [replace(p, text=lines[min(p.line, len(lines)) - 1]) for p in records.problems]
    return records
