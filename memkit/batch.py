"""Summaries written one at a time: each period is worked out, written and let go before the next.

A batch may be stopped at any moment: what is written stays, and the same batch again goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import TypeVar

from memkit import files
from memkit.dates import period_days
from memkit.desk import Desk
from memkit.edits import Draft, Plan
from memkit.edits import summaries as edits
from memkit.edits.rule import DAY_KINDS
from memkit.edits.summaries import Remade, Step, Wish
from memkit.errors import BadArgument, ConflictError
from memkit.loading import State
from memkit.model import Edit, StoredSummary
from memkit.progress import watched
from memkit.sources import Sources

_Item = TypeVar("_Item")
CHUNK = 256  # periods that are done under one hold of the lock, so that other writers get their turn


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where summaries lie: in the store's `summaries/`, or in the folder `out` outside it."""

    desk: Desk
    out: Path | None

    def path(self, period: str, key: str) -> str:
        """Return where the summary of a period lies, relative to the store or as `out` was given."""
        return f"summaries/{period}/{key}.md" if self.out is None else (self.out / period / f"{key}.md").as_posix()

    def keys(self, period: str, sources: Sources) -> list[str]:
        """Return the keys of the summaries that are there."""
        if self.out is None:
            return [summary.key for summary in sources.stored.values() if summary.period == period]
        names = files.names_of_output(self.out / period)
        return [name[:-3] for name in names if name.endswith(".md") and edits.is_key(period, name[:-3])]

    def read(self, path: str) -> str | None:
        """Return a summary as text for splicing, None if there is none."""
        return self.desk.read(path) if self.out is None else files.text_of_output(Path(path))

    def write(self, edit: Edit, today: date) -> None:
        """Write one summary.

        Raises: ConflictError if it is not what it was when the edit was planned; PathError, DiskError.
        """
        if self.out is None:
            files.apply(self.desk.root, self.desk.layout, [edit], today)
            return
        held = self.read(edit.path)
        if held == edit.after:
            return
        if held != edit.before:
            raise ConflictError(f"{edit.path}: it changed on disk since it was read; it was not written, plan again")
        data = (edit.after or "").encode("utf-8", "surrogateescape")
        files.write_output(Path(edit.path), data, stores=[self.desk.root])

    def held(self) -> AbstractContextManager[None]:
        """Return the lock of what is written to: only a store has one, and where none is there is nothing to sum up."""
        return self.desk.writing() if self.out is None and files.is_folder(self.desk.root) else nullcontext()


def shelf_of(desk: Desk, out: object) -> Shelf:
    """Return where a store's summaries go.

    Raises: BadArgument where a layout has no place for them and `out` is missing; PathError for one inside the store.
    """
    if out is not None:
        folder = files.place_of(out, "out")
        files.refuse_inside(folder, [desk.root])
        return Shelf(desk, folder)
    if desk.layout.NAME != "layers":
        raise BadArgument(f"out: {desk.layout.NAME} has no place for summaries; pass out=, a folder outside the store")
    return Shelf(desk, None)


class Batch:
    """One call of summarize or summarize_all: the periods wanted, worked through in order."""

    def __init__(self, shelf: Shelf, period: str, wish: Wish, now: datetime):
        self._shelf, self._period, self._wish, self._now = shelf, period, wish, now
        self._state: State | None = None
        self._sources: Sources | None = None

    def keys(self, window: edits.Window) -> list[str]:
        """Return the periods of a window that have an entry or a summary."""
        sources = self._look()
        return edits.keys_of(self._period, sources.days(), self._shelf.keys(self._period, sources), window)

    def run(self, keys: Sequence[str], *, dry_run: bool, progress: bool = False) -> Plan:
        """Return the plan of some periods, written already unless it is a dry run."""
        steps: list[tuple[Step, Sources]] = []
        todo = watched(keys, "summaries", self._period, show=progress)
        for chunk in _chunks(todo, len(keys) if dry_run else CHUNK):
            with nullcontext() if dry_run else self._shelf.held():
                sources = self._look(again=not dry_run)
                for key in chunk:
                    step = self._step(sources, key)
                    steps.append((step, sources))
                    if step.makes and not dry_run:
                        self._shelf.write(edits.edit_of(step, sources, self._now), self._now.date())
        plan = Plan(self._draft(steps), self._apply)
        plan.applied = not dry_run
        return plan

    def _draft(self, steps: Sequence[tuple[Step, Sources]]) -> Draft:
        """Return what the steps come to; of a single one also its text, as a fact."""
        changed = Remade([(step, sources) for step, sources in steps if step.makes], self._now)
        fact = None
        if len(steps) == 1:
            fact = edits.fact(*steps[0], edits.edit_of(*steps[0], self._now).after)
        rows = tuple(step.row for step, _ in steps)
        return Draft(changed, rows, warnings=tuple(self._unread([step for step, _ in steps])), facts=fact)

    def _unread(self, steps: Sequence[Step]) -> Iterator[str]:
        """Yield a warning for each day file that could not be read, and so is in no summary that was made now."""
        facts = self._state.facts.values() if self._state else ()
        held = {fact.role.day: fact for fact in facts if fact.trouble and fact.role.kind in DAY_KINDS}
        for step in steps if held else ():
            for day in period_days(step.period, step.key) if step.makes or step.action == "empty" else ():
                if day in held:
                    yield f"{held[day].path}: {held[day].trouble}; it is not in {step.path}"

    def _step(self, sources: Sources, key: str) -> Step:
        path = self._shelf.path(self._period, key)
        return edits.judged(sources, self._period, key, path, self._before(path), self._wish)

    def _before(self, path: str) -> str | None:
        """Return what lies at a path; where the look at the folder saw no file, none is looked for again."""
        known = self._shelf.out is not None or (self._state is not None and path in self._state.facts)
        return self._shelf.read(path) if known else None

    def _look(self, *, again: bool = True) -> Sources:
        """Return the sources as they are now: the same ones while nothing but this batch's own files changed."""
        if self._sources is not None and not again:
            return self._sources
        state = self._shelf.desk.loaded.refresh()
        if self._sources is None or self._state is None or not _same_sources(self._state, state, self._period):
            self._sources = self._shelf.desk.loaded.sources(state)
        self._state = state
        return self._sources

    def _apply(self, planned: Sequence[Edit]) -> None:
        """Write what a dry run planned, unless its sources have changed since.

        Raises: ConflictError.
        """
        for chunk in _chunks(iter(planned), CHUNK):
            with self._shelf.held():
                sources = self._look()
                for edit in chunk:
                    if not edits.is_current(sources, self._period, edit):
                        raise ConflictError(f"{edit.path}: its sources changed since it was planned; plan again")
                    self._shelf.write(edit, self._now.date())


def _chunks(items: Iterator[_Item], size: int) -> Iterator[list[_Item]]:
    while chunk := list(islice(items, max(1, size))):
        yield chunk


def _same_sources(old: State, new: State, period: str) -> bool:
    """Return whether the entries and the summaries of the other levels are the same."""
    return old.entries is new.entries and _others(old, period) == _others(new, period)


def _others(state: State, period: str) -> dict[str, StoredSummary]:
    held = ((path, record.summary) for path, record in state.records.items())
    return {path: summary for path, summary in held if summary and summary.period != period}
