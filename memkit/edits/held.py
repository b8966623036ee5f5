"""Held: a store as the plans of forget and push see it; how it is read is handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

import pandas as pd

from memkit.edits.archive import Days, Read
from memkit.layouts import Layout
from memkit.model import Document, Edit, FileFact, Records
from memkit.text import decode


@dataclass(frozen=True, slots=True)
class Held:
    """How a store is read, what of it is in memory (all entries, dreams too), and the clock.

    `bytes_of` gives any file's bytes, `read` the text for splicing, which may be a planned one; `rebuilt` are files that
    are made afresh once the plan is applied.
    """

    layout: Layout
    read: Read
    bytes_of: Callable[[str], bytes | None]
    facts: Mapping[str, FileFact]
    records: Mapping[str, Records]
    entries: pd.DataFrame
    days_of: Days
    now: datetime
    rebuilt: frozenset[str] = frozenset()

    @property
    def tz(self) -> tzinfo:
        """Return the store's zone."""
        assert self.now.tzinfo is not None
        return self.now.tzinfo

    def over(self, edits: Iterable[Edit]) -> Held:
        """Return the store as it will read with some edits made."""
        planned = {edit.path: edit.after for edit in edits}
        return replace(self, read=lambda path: planned[path] if path in planned else self.read(path))

    def parse(self, path: str, text: str, *, spans: bool = False) -> Records:
        """Return the records of a text that lies, or is to lie, at a path."""
        role = self.records[path].role if path in self.records else self.layout.role(path)
        _, reading, problems = decode(text.encode("utf-8", "surrogateescape"))
        return self.layout.parse(Document(path, role, text, reading, problems), spans=spans)
