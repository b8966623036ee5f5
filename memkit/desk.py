"""The desk at which a store's changes are made: it reads under the lock, lets a pure function plan, and has files apply it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from memkit import files
from memkit.cells import count
from memkit.dates import Clock, parse_day
from memkit.edits import Draft, Plan
from memkit.edits import archive as archive_edits
from memkit.edits import forget as forget_edits
from memkit.edits import layers as layers_edits
from memkit.edits import push as push_edits
from memkit.edits import workspace as workspace_edits
from memkit.edits.archive import Read
from memkit.edits.held import Held
from memkit.edits.push import Change, Pair
from memkit.edits.targets import Target, find
from memkit.errors import BadArgument, MemkitError
from memkit.gate import Gate
from memkit.index import Index
from memkit.layouts import Layout
from memkit.layouts.index_line import plain
from memkit.loading import Loaded
from memkit.model import Edit

Make = Callable[[datetime], Draft]
EDITS: dict[str, Any] = {"archive": archive_edits, "layers": layers_edits, "workspace": workspace_edits}
_CATALOG = re.compile(r"(?!0000)[0-9]{4}\.tsv")
_YEAR = re.compile(r"(?!0000)[0-9]{4}")


@dataclass(frozen=True, slots=True)
class New:
    """An entry to append: its text, tag, a given index line (archive), and whether it becomes a candidate (layers)."""

    text: str
    tag: str | None = None
    index: str | None = None
    important: bool = False


class Desk:
    """One store's writing side. All verbs of one store, and of every other process, take the same lock."""

    def __init__(self, root: Path, layout: Layout, clock: Clock, timeout: float, loaded: Loaded):
        self.root, self.layout, self.clock, self.loaded = root, layout, clock, loaded
        self.gate = Gate(root, layout, timeout, loaded)
        self.writing = self.gate.writing
        self.index: Index | None = None  # the search index, a copy of what is remembered

    def read(self, path: str) -> str | None:
        """Return a file as text for splicing, or None if there is none."""
        return files.text_of(self.root, path)

    def days_of(self, year: int) -> dict[date, str]:
        """Return the days of a year that have a file in its own folder of an archive, each with the file's path."""
        return self._days_in(f"archive/{year:04d}", year)

    def files_of(self, year: int) -> dict[date, str]:
        """Return the days of a year that have a file in any folder of an archive; that in its own counts."""
        found: dict[date, str] = {}
        for folder in sorted(self.years() - {year}):
            found |= self._days_in(f"archive/{folder:04d}", year)
        return found | self.days_of(year)

    def _days_in(self, folder: str, year: int) -> dict[date, str]:
        names = files.names_in(self.root, folder)
        own = f"{year:04d}-"
        days = ((parse_day(name[:-3]), f"{folder}/{name}") for name in names if name.endswith(".md") and name.startswith(own))
        return {day: path for day, path in days if day}

    def years(self) -> set[int]:
        """Return the years that have a folder in an archive."""
        return {int(name) for name in files.names_in(self.root, "archive") if _YEAR.fullmatch(name)}

    def do(self, make: Make, *, dry_run: bool, patience: float | None = None) -> Plan:
        """Return the plan of a verb, applied unless it is a dry run; read, plan, check and write are one locked stretch.

        `patience` as for writing.
        """
        if dry_run:
            return self.later(lambda now: _together(self._behind(now.date()), make(now)))
        with self.writing(patience):
            now = self.clock()
            caught = self._caught_up(now.date())
            draft = make(now)
            plan = Plan(_together(caught, draft), self.apply)
            files.apply(self.root, self.layout, draft.edits, now.date())
            plan.applied = True
        return plan

    def later(self, make: Make) -> Plan:
        """Return the plan of a verb, to be looked at and applied by a person."""
        return Plan(make(self.clock()), self.apply)

    def apply(self, edits: Sequence[Edit], years: Sequence[int] = ()) -> None:
        """Apply a plan that a person kept, and then rebuild the catalogs of some years."""
        with self.writing():
            today = self.clock().date()
            files.apply(self.root, self.layout, edits, today)
            self._caught_up(today)
            if years:
                draft = archive_edits.rebuild(self.read, years, self.files_of, today)
                files.apply(self.root, self.layout, draft.edits, today)

    def _apply_forgetting(self, edits: Sequence[Edit]) -> None:
        """Apply a plan of forget; a day may have got its row since it was planned, so its catalog is rebuilt."""
        days = (self.layout.role(edit.path).day for edit in edits)
        self.apply(edits, sorted({day.year for day in days if day}) if self.layout.NAME == "archive" else ())

    def _purge(self) -> None:
        """Build the search index anew and drop the cache, so that nothing that was forgotten stays in them.

        Raises: MemkitError, saying that only the index or the cache is left.
        """
        try:
            if self.index is not None:
                self.index.purge()
        except MemkitError as error:
            error.args = (f"{error} (the files are done; the index still holds it: sync(rebuild=True))",)
            raise
        finally:
            self._uncache()

    def _uncache(self) -> None:
        try:
            self.loaded.uncache()
        except MemkitError as error:
            error.args = (f"{error} (the files are done; the cache may still hold it: memkit cache clear)",)
            raise

    def _and_index(self, draft: Draft) -> Draft:
        """Return the draft of a forgetting with what becomes of the search index."""
        if self.index is None or self.index.target is None:
            return draft
        if self.index.is_there():
            return replace(draft, rows=(*draft.rows, (self.index.name, "rebuild", "the search index")))
        return replace(draft, warnings=(*draft.warnings, *filter(None, [self.index.trouble()])))

    def _caught_up(self, today: date) -> Draft:
        """Bring an archive's catalog up to yesterday, and return what that took."""
        draft = self._behind(today)
        try:
            files.apply(self.root, self.layout, draft.edits, today)
        except (MemkitError, OSError) as error:
            return _not_caught_up(error)
        return draft

    def _behind(self, today: date) -> Draft:
        """Return the draft that brings an archive's catalog up to yesterday; what goes wrong there stops nothing."""
        try:
            return self.catch_up(today) if self.layout.NAME == "archive" else Draft()
        except (MemkitError, OSError) as error:
            return _not_caught_up(error)

    def catch_up(self, today: date) -> Draft:
        """Return the draft that gives the days since the last catalogued one their rows."""
        first = min(self.years(), default=today.year)
        return archive_edits.catch_up(self.read, self.days_of, today, first=first, misfiled=self.files_of)

    def rebuild(self, year: int | None, today: date) -> Draft:
        """Return the draft that writes the catalogs of one year, or of all, afresh."""
        years = {int(name[:4]) for name in files.names_in(self.root, "catalog") if _CATALOG.fullmatch(name)}
        years |= self.years()
        wanted = sorted(years) if year is None else [archive_edits.checked_year(year)]
        return archive_edits.rebuild(self.read, wanted, self.files_of, today, index=self._index_reader())

    def _index_reader(self) -> Read:
        """Return a function from a day file's path to its index, which reads no more of a plain file than its first bytes."""
        inside = cache(self._is_own)

        def index(path: str) -> str | None:
            found = plain(files.head_of(self.root, path)) if inside(path.rpartition("/")[0]) else None
            return found if found is not None else archive_edits.index_at(self.read, path)

        return index

    def _is_own(self, folder: str) -> bool:
        """Return whether a folder lies in the store and not behind a link that leaves it."""
        try:
            files.text_of(self.root, f"{folder}/none.md")
        except MemkitError:
            return False
        return True

    def append(self, read: Read, entry: New, now: datetime) -> Draft:
        """Return the draft that adds one entry to today's file, in the layout's own way."""
        if self.layout.NAME == "archive":
            return archive_edits.append(read, entry.text, entry.tag, entry.index, now)
        if self.layout.NAME == "layers":
            return layers_edits.write(read, entry.text, entry.tag, now, important=entry.important)
        return workspace_edits.store(read, entry.text, "daily", now, tag=entry.tag)

    def append_all(self, read: Read, entries: Iterable[Pair], now: datetime) -> Draft:
        """Return the draft that adds (text, tag) pairs to today's file as entries."""
        draft: Draft = EDITS[self.layout.NAME].append_all(read, entries, now)
        return draft

    def correct(self, day: date, subject: str, text: str, now: datetime) -> Draft:
        """Return the draft that adds a correction of an earlier day to today's file."""
        return self.append_all(self.read, [EDITS[self.layout.NAME].corrected(day, subject, text)], now)

    def pushing(self, frame: pd.DataFrame, *, forget_missing: bool) -> Plan:
        """Return the unapplied plan of what an edited frame says; what it forgets goes from the search index too."""
        plan = self.later(lambda now: self.push(frame, now, forget_missing=forget_missing))
        if any("all" in edit.free for edit in plan.edits):
            plan.then.append(self._purge)
        return plan

    def push(self, frame: pd.DataFrame, now: datetime, *, forget_missing: bool) -> Draft:
        """Return the draft of what an edited frame says."""
        held = self.held(now)
        changes = push_edits.compare(frame, held.entries, now.date(), forget_missing=forget_missing)

        def pair_of(change: Change) -> Pair:
            if change.action == "append":
                return change.text, change.tag
            pair: Pair = EDITS[self.layout.NAME].corrected(change.day or now.date(), change.subject, change.text)
            return pair

        draft = push_edits.plan(held, changes, pair_of, partial(self.append_all, now=now))
        return self._and_index(draft) if any("all" in edit.free for edit in draft.edits) else draft

    def forget(self, what: pd.DataFrame | str, day: date | None, replacement: str | None, new_index: str | None) -> Plan:
        """Return the unapplied plan that forgets entries by their text or as rows of a frame."""
        targets = find(self.loaded.refresh().entries, what, day, replacement)
        return self._forgetting(targets, [what] if isinstance(what, str) else [], new_index)

    def _forgetting(self, targets: Sequence[Target], texts: Sequence[str], new_index: str | None) -> Plan:
        """Return the plan that forgets some targets; left out are only they, their copies follow them."""

        def without(rows: frozenset[int]) -> Plan:
            wrong = sorted(rows - set(range(len(targets))), key=str)
            if wrong:
                raise BadArgument(f"without: row {wrong[0]} is no entry of this plan; it has {count(len(targets), 'entry')}")
            left = [target for n, target in enumerate(targets) if n not in rows]
            return self._forgetting(left, [], new_index if left else None)

        now = self.clock()
        draft = forget_edits.plan(self.held(now), targets, texts, new_index=new_index)
        plan = Plan(self._and_index(draft) if targets or texts else draft, self._apply_forgetting)
        plan.leave_out = without
        plan.then.append(self._purge)
        return plan

    def held(self, now: datetime) -> Held:
        """Return the store as it is now, for plans that look at all of it."""
        loaded = self.loaded.refresh()
        return Held(
            self.layout,
            self.read,
            partial(files.data_of, self.root),
            loaded.facts,
            loaded.records,
            loaded.entries,
            self.files_of,
            now,
            frozenset([self.index.name]) if self.index is not None and self.index.is_there() else frozenset(),
        )


def _not_caught_up(error: Exception) -> Draft:
    return Draft(warnings=(f"the catalog was not brought up to date: {error}",))


def _together(caught: Draft, draft: Draft) -> Draft:
    """Return the draft of a verb with what was caught up before it; whoever only catches up is told the days."""
    edits = {edit.path: edit for edit in caught.edits}
    for edit in draft.edits:
        edits[edit.path] = replace(edit, before=edits[edit.path].before) if edit.path in edits else edit
    warnings = (*draft.warnings, *caught.warnings)
    return replace(draft, edits=tuple(edits.values()), rows=draft.rows or caught.rows, warnings=warnings)


def pairs_of(entries: pd.DataFrame | Iterable[str | Pair]) -> list[Pair]:
    """Return what append_many was given as (text, tag) pairs: texts, such pairs, or a frame with `text` and perhaps `tag`.

    Raises: BadArgument for a frame without `text`, or a single text.
    """
    if isinstance(entries, str):
        raise BadArgument("entries: one text; use append() for it, or give a list")
    if isinstance(entries, pd.DataFrame):
        if "text" not in entries:
            raise BadArgument("entries: the frame has no column text")
        tags = entries["tag"].tolist() if "tag" in entries else [None] * len(entries)
        return [(text, tag if isinstance(tag, str) else None) for text, tag in zip(entries["text"], tags, strict=True)]
    if not isinstance(entries, Iterable):
        raise BadArgument(f"entries: {type(entries).__name__}; expected texts, (text, tag) pairs or a frame")
    return [_pair(place, entry) for place, entry in enumerate(entries)]


def _pair(place: int, entry: object) -> Pair:
    pair = (entry, None) if isinstance(entry, str) else entry
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
        raise BadArgument(f"entries: number {place} is no text and no (text, tag)")
    return pair[0], pair[1]
