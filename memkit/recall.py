"""The methods of Store that look for something: search, in each layout its own way, and context, what an agent is given.

Reading writes nothing; only `heal` does, and only what is made from the files: the catalog, or a workspace's index.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from memkit import dates, files, fts, hits, match, nearfar, query
from memkit.corrections import Correction, corrected_by, corrections
from memkit.errors import MemkitError, UnsupportedError
from memkit.finder import SIGN
from memkit.hits import NEAR_TO_FAR, SCORED, SearchResult
from memkit.loading import State
from memkit.model import Document, FileFact
from memkit.nearfar import Answer, Near, Row, Shelf
from memkit.text import unread
from memkit.wanted import Wanted, wanted

if TYPE_CHECKING:
    from memkit.store import Store

WINDOW = {"archive": 30, "layers": 3}  # days of the first step, as the seeds have them


def search(
    self: Store,
    *terms: str,
    any_of: str | Iterable[str] = (),
    all_of: str | Iterable[str] = (),
    days: int | None = None,
    limit: int | None = 50,
    context: pd.DataFrame | Iterable[Mapping[str, Any]] | None = None,
    heal: bool = False,
    include_forgotten: bool = False,
) -> SearchResult:
    """Return what one of the terms finds.

    A term finds what holds all of its words, in any script, whatever their case and width; `"a phrase"` is one word. Of
    `any_of` one must hit too, of `all_of` each. `limit=None` gives all.

    `archive` looks near to far, at days as a whole: the rows of `context` (as context() gave them), the last `days` (30),
    the catalog, all index lines, all text. The first step that answers is the last; its hits come newest first. A row of
    the catalog counts only if its file says so. `heal` brings the catalog up to date first, and rebuilds the years in
    which something was wrong.

    `layers` looks at entries: those of the last `days` (3), of the months of topics that the words name, all; newest first.

    `workspace` looks at all entries at once, the best first: the phrase as it is, then by score, then the newest. It asks
    the index where that is as new as the files, and reads the files where it is not; `heal` refreshes an index that is
    there. What stands under `## Forgotten`, and what is equal to it, is left out unless `include_forgotten`.

    Raises: BadArgument for a query without a word, or another value that cannot be meant; UnsupportedError for `days` in a
        workspace, and `context` in another layout than archive.
    """
    asked = wanted(terms, any_of, all_of)
    fts.check_limit(limit)
    if context is not None and self.layout != "archive":
        raise UnsupportedError(f"context: only a search of an archive takes it; this store is {self.layout}")
    if self.layout == "workspace":
        if days is not None:
            raise UnsupportedError("days: a workspace is searched as a whole; filter the dates of .frame")
        return self._finder.search(asked, limit=limit, include_forgotten=include_forgotten, refresh=heal)
    first, today = _window(self, days)
    if self.layout == "layers":
        return _layers(self, asked, first, today, limit)
    near = Near(nearfar.rows_of(context, "context"), first, today)
    return _archive(self, asked, near, limit, heal=heal)


def context(self: Store, days: int = 30, previous: pd.DataFrame | Iterable[Mapping[str, Any]] | None = None) -> pd.DataFrame:
    """Return what an agent is given of the last `days`: key, path (from the vault), index, date, removed; ascending.

    With an earlier context as `previous`, days of it that are no more, as their file is gone or the window has passed
    them, come as rows with `removed`, which have a key and a date alone. Only `archive` has it.

    Raises: UnsupportedError; BadArgument if `days` is not a whole number of at least 1, or `previous` is no context.
    """
    if self.layout != "archive":
        raise UnsupportedError(f"context: only a store of the layout archive has it; this one is {self.layout}")
    first, today = _window(self, days)
    shelf = _shelf(self, self._fresh(), {})
    held = ((day, paths[0]) for day, paths in shelf.days.items() if first <= day <= today)
    return nearfar.context(((day, in_vault(self, path), shelf.indexes.get(path, "")) for day, path in held), previous)


def in_vault(store: Store, path: str) -> str:
    """Return a file of the store as people and agents are told of it: relative to the vault."""
    return (store.root.relative_to(store.vault) / path).as_posix()


def catch_up(store: Store) -> list[str]:
    """Give finished days of an archive their rows, if any lack one; return what went wrong, which stops nothing.

    Nobody is waited for: a reader is answered from what is there.
    """
    try:
        plan = store.catch_up(dry_run=True)
        if plan.edits:
            plan = store._desk.do(lambda now: store._desk.catch_up(now.date()), dry_run=False, patience=0.0)
        return list(plan.warnings)
    except (MemkitError, OSError) as error:
        return [f"the catalog was not brought up to date: {error}"]


def _window(store: Store, days: int | None) -> tuple[date, date]:
    whole = WINDOW[store.layout] if days is None else int(days) if isinstance(days, np.integer) else days
    return dates.recent_window(store._clock().date(), whole)


def _known(state: State) -> list[Correction]:
    """Return all corrections of a store."""
    return corrections(state.visible[state.visible["text"].str.contains(SIGN)])


def _not_whole(state: State, facts: Iterable[FileFact]) -> dict[str, str]:
    """Return those of some files that could not be read whole, each with the reason."""
    found = {}
    for fact in facts:
        record = state.records.get(fact.path)
        if reason := fact.trouble or (unread(record.problems) if record else ""):
            found[fact.path] = reason
    return found


def _told(flawed: Mapping[str, str]) -> list[str]:
    return [f"{path}: {reason}; what is there may have been missed" for path, reason in sorted(flawed.items())]


# ---- archive ----


def _archive(store: Store, asked: Wanted, near: Near, limit: int | None, *, heal: bool) -> SearchResult:
    warnings = catch_up(store) if heal else []
    state = store._fresh()
    flawed: dict[str, str] = {}
    answer = nearfar.search(_shelf(store, state, flawed), asked, near)
    frame = nearfar.shown(answer.found, asked, answer.step, _known(state)).iloc[:limit]
    flawed |= _not_whole(state, _looked_at(state, answer))
    healed, more = _heal(store, answer, near.last) if heal else ((), _lacking(answer))
    return SearchResult(
        frame,
        nearfar.entries_of(frame, answer.found, store.tz),
        asked.words,
        answer.step,
        NEAR_TO_FAR,
        complete=not flawed,
        stale=tuple(sorted({str(row.day) for row in answer.stale})),
        warnings=(*warnings, *_told(flawed), *more),
        healed=tuple(healed),
    )


def _shelf(store: Store, state: State, flawed: dict[str, str]) -> Shelf:
    """Return what an archive holds; which of its files could not be read whole is put into `flawed` as they are read."""
    held: dict[date, list[str]] = {}
    for path, fact in state.facts.items():
        if fact.role.kind == "daily" and fact.role.day:
            held.setdefault(fact.role.day, []).append(path)
    days = {day: sorted(held[day], key=lambda path: (path != store._desk.layout.day_path(day), path)) for day in sorted(held)}
    records = state.records.values()
    indexes = {record.path: record.index.text or "" for record in records if record.index}
    rows = [Row(row.day, row.index, row.written, record.path) for record in records for row in record.rows]

    def read(path: str) -> Document | None:
        doc = state.facts[path].trouble or files.read(store.root, state.facts[path])
        if isinstance(doc, str) or unread(doc.problems):
            flawed[path] = doc if isinstance(doc, str) else unread(doc.problems)
        return None if isinstance(doc, str) else doc

    return Shelf(days, indexes, rows, read)


def _looked_at(state: State, answer: Answer) -> list[FileFact]:
    """Return the files that were looked at without being read, in the steps that go by indexes alone, and closed folders."""
    kinds = {"catalog": "catalog", "frontmatter": "daily"}
    looked = [kind for step, kind in kinds.items() if step in answer.taken]
    return [fact for fact in state.facts.values() if fact.role.kind in looked or fact.path.endswith("/")]


def _heal(store: Store, answer: Answer, today: date) -> tuple[list[str], list[str]]:
    """Rebuild the years of which a catalog was wrong; return the catalogs that changed, and what went wrong."""
    years = {day.year for day in (*answer.lacking, *(row.day for row in answer.stale))}
    years |= {int(row.path[len("catalog/") :][:4]) for row in answer.stale}
    healed: list[str] = []
    try:
        for year in sorted(years - {0}):
            healed += _rebuilt(store, year)
    except (MemkitError, OSError) as error:
        return healed, [f"the catalog was not mended: {error}"]
    return healed, []


def _rebuilt(store: Store, year: int) -> list[str]:
    plan = store._desk.do(lambda now: store._desk.rebuild(year, now.date()), dry_run=False, patience=0.0)
    return [edit.path for edit in plan.edits]


def _lacking(answer: Answer) -> list[str]:
    if not answer.lacking:
        return []
    days = ", ".join(map(str, sorted(answer.lacking)))
    return [f"the catalog has no row of {days}; rebuild_catalog() or heal=True adds it"]


# ---- layers ----


def _layers(store: Store, asked: Wanted, first: date, today: date, limit: int | None) -> SearchResult:
    """Return the entries of the nearest step that has any: recent days, the months of topics, all."""
    state = store._fresh()
    holds = asked.test()
    found = state.visible.iloc[[row for row, body in enumerate(state.bodies) if holds(body)]]
    facts = [fact for fact in state.facts.values() if fact.role.kind == "daily" and fact.role.day]
    step, kept, near = "", found.iloc[:0], facts
    for name, is_near in _steps(first, today, _months(state, asked)).items():
        hit = found[[is_near(day.date()) for day in found["date"]]] if len(found) else found
        if len(hit):
            step, kept, near = name, hit, [fact for fact in facts if fact.role.day and is_near(fact.role.day)]
            break
    entries = query.newest_first(kept, store.tz).iloc[:limit].assign(score=np.nan)[list(SCORED)]
    flawed = _not_whole(state, near)
    frame = hits.found(entries, asked, step, corrected_by(entries, _known(state)))
    return SearchResult(frame, entries, asked.words, step, NEAR_TO_FAR, complete=not flawed, warnings=tuple(_told(flawed)))


def _steps(first: date, today: date, months: Container[str]) -> dict[str, Callable[[date], bool]]:
    """Return the steps, nearest first, each with what says whether a day lies in it."""
    return {
        "recent": lambda day: first <= day <= today,
        "topics": lambda day: dates.month_key(day) in months,
        "recall": lambda day: True,
    }


def _months(state: State, asked: Wanted) -> set[str]:
    """Return the months of the topics that one of the words names: it lies in the topic, or the topic in it."""
    words = [match.fold(word) for word in asked.words]
    topics = [topic for record in state.records.values() if record.hot for topic in record.hot.topics]
    named = ((match.fold(topic), month) for topic, month, _ in topics)
    return {month for topic, month in named if any(word in topic or topic in word for word in words)}
