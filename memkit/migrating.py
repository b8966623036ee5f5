"""`memkit.migrate`: a store copied into a new one of another layout, as a plan first, and read back once it is written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from memkit import dates, files, indexing, tables
from memkit import layouts as known
from memkit.cells import count
from memkit.edits import Draft, Plan
from memkit.edits import archive as archive_edits
from memkit.edits import migrate as edits
from memkit.edits.forms import Entry
from memkit.edits.migrate import Page
from memkit.edits.remains import CHANGED, Remainder, remains
from memkit.errors import BadArgument, ConflictError, LostTextError, PathError
from memkit.finder import hidden
from memkit.layouts.names import split
from memkit.layouts.workspace import clock_of_name
from memkit.loading import State
from memkit.model import Edit
from memkit.schema import ENTRIES
from memkit.store import Store

BEGIN = ("begin",)  # the write rule then lets files of finished days come with the store
OUTSIDE = ("extra", "session")
NO_DATE = "it has no date, and none was named for such entries (undated)"
_FACTS = ["date", "tag", "text", "written_at", "clock", "section", "task"]  # of entries, beside path and line


def migrate(
    source: Store, target: str | os.PathLike[str], *, to: str, undated: object = None, lock_timeout: float = 10.0
) -> Plan:
    """Plan a copy of every entry of a store in a new store of another layout; `source` is not changed.

    The plan is not applied. Its rows name what is left out, what is different about an entry, and the files; all else reads
    in the target as it does in the source: day, tags, text, instant, clock, section. `undated` is the day on which entries
    without one are put; they are left out where it is missing, since no day is ever made up. Once applied, the new store is
    read back and compared.

    Raises: BadArgument for the layout that the store has, or a target that is not empty; PathError for one inside the
        store, around it, or in another, or that cannot be made; ConflictError when a plan is applied after the source has
        changed.
    """
    if not isinstance(source, Store):
        raise BadArgument(f"source: {type(source).__name__}; expected an open store, as memkit.open(path) gives it")
    layout, place = known.named(to), _target(source, target, to)
    day = dates.as_day(undated, "undated") if undated is not None else None
    loaded, now = source._fresh(), source._clock()
    new = Store(files.Found(place, place, layout), tz=source.tz, now=lambda: source._clock(), lock_timeout=lock_timeout)
    kept, left = _sorted_out(source, loaded, day, to)
    made, lost = edits.pages(kept, layout, source.tz)
    left += [Remainder(entry.place, why) for entry, why in lost]
    left += _beside(source, loaded, to, _lines_of(kept, {entry.place for entry, _ in lost}))
    added = sum(len(page.records.entries) for page in made)
    body, reshaped = edits.longterm(source.hot().content) if to == "workspace" and source.layout == "layers" else (None, [])
    made += [body] if body else []
    rows, warnings = edits.told(made, [*left, *reshaped])
    changes = tuple(Edit(page.path, None, page.text, BEGIN) for page in made)
    if to == "archive":
        changes += edits.catalogs(made, now.date())
    _refuse_full(place, changes)

    def apply(planned: Sequence[Edit]) -> None:
        if source._fresh().facts != loaded.facts:
            raise ConflictError(f"{source.root}: it changed since this was planned; nothing was written, plan again")
        if not planned:
            return
        _refuse_full(new.root, planned)
        new._desk.apply(planned)

    plan = Plan(Draft(changes, rows, added, warnings, facts=place), apply)
    plan.then.append(lambda: _compare(new, made))
    return plan


def _target(source: Store, target: str | os.PathLike[str], to: str) -> Path:
    """Return the folder of the new store.

    Raises: BadArgument, PathError.
    """
    if to == source.layout:
        raise BadArgument(f"to: {source.root} is {to} already; copy its folder, or name another layout")
    place = files.place_of(target, "target").absolute()
    files.refuse_unmakable(place)
    full = place.resolve()
    for held in (source.root.resolve(), source.vault.resolve()):
        if full.is_relative_to(held) or held.is_relative_to(full):
            raise PathError(f"{place}: it and the store {held} lie in each other; choose a folder of its own")
    if around := files.store_around(full.parent):
        files.refuse_inside(place, [around])
    return place


def _refuse_full(place: Path, planned: Sequence[Edit]) -> None:
    """Hold that nothing lies in the target but what the plan itself writes, of an apply that did not come to its end.

    Raises: BadArgument, DiskError.
    """
    if other := files.others_in(place, planned):
        told = f"{place}: it is not empty ({other!r} lies in it)"
        raise BadArgument(f"{told}: it is no start of this migration; name a new or an empty folder, or remove it")


# ---- what is copied ----


def _sorted_out(source: Store, loaded: State, undated: date | None, to: str) -> tuple[list[Entry], list[Remainder]]:
    """Return the entries to copy, and rows of those that stay behind."""
    marks, equal = hidden(source._finder, loaded) if source.layout == "workspace" else (set(), set())
    tags: dict[tuple[str, int], list[str]] = {}
    for path, line, tag in zip(*(loaded.tags[name] for name in ("path", "line", "tag")), strict=True):
        tags.setdefault((path, line), []).append(tag)
    kept: list[Entry] = []
    left: list[Remainder] = []
    frame = loaded.visible
    columns = ["path", "line", "kind", "date", "text", "tag", "section", "clock", "stamp", "task", "block"]
    plain = frame[columns].astype(object).where(frame[columns].notna(), None)
    for row in plain.itertuples(index=False):
        place, day = (row.path, int(row.line)), row.date.date() if row.date is not None else undated
        where = f"{row.path}:{row.line}"
        if row.kind in OUTSIDE:
            left.append(Remainder(where, "it lies outside the store"))
        elif place in marks:
            left.append(Remainder(where, "a mark of what is to be forgotten, which only a workspace has"))
        elif day is None:
            left.append(Remainder(where, NO_DATE))
        else:
            kept.append(_entry(row, day, tags.get(place, [row.tag] if row.tag else []), to))
            if place in equal:
                left.append(Remainder(where, "it was marked as forgotten, and is found again in the target", action=CHANGED))
            if row.date is None:
                left.append(Remainder(where, f"it had no date, and is put on {day}", action=CHANGED))
    return kept, left


def _lines_of(entries: Sequence[Entry], lost: set[str]) -> dict[str, set[int]]:
    """Return the lines of entries by path, without those that are lost."""
    found: dict[str, set[int]] = {}
    for entry in entries:
        if entry.place not in lost:
            found.setdefault(entry.path, set()).add(entry.line)
    return found


def _entry(row: Any, day: date, tags: Sequence[str], to: str) -> Entry:
    """Return one row of the frame as an entry; the clock in its file's name becomes a section, where there are sections."""
    outer = clock_of_name(row.path, day) if row.kind == "daily-slug" and to != "layers" else None
    facts = {name: getattr(row, name) for name in ("section", "clock", "stamp", "task", "block")}
    return Entry(row.path, int(row.line), row.kind, day, row.text, tuple(dict.fromkeys(tags)), outer=outer, **facts)


# ---- what is beside the entries ----


def _beside(source: Store, loaded: State, to: str, copied: dict[str, set[int]]) -> list[Remainder]:
    """Return what the target has no place for; `copied` are the lines of the entries that it has, by path."""
    dreams = loaded.entries[loaded.entries["kind"] == "dream"]["path"].value_counts(sort=False)
    rows = [*_files(loaded), *_lines(source, loaded, copied, set(dreams.index))]
    if source.layout == "archive":
        rows += _indexes(source, loaded)
    if source.layout == "layers":
        rows += _hot(source, loaded, to)
    told = "what a machine dreamt up"
    return rows + [Remainder(str(path), told, count(number, "entry")) for path, number in dreams.items()]


def _lines(source: Store, loaded: State, copied: dict[str, set[int]], dreamt: set[str]) -> Iterator[Remainder]:
    """Yield what is in the files beside their entries; those of dreams are named as a whole."""
    for path, record in sorted(loaded.records.items()):
        if record.role.derived or record.role.kind in OUTSIDE or path in dreamt:
            continue
        doc = files.read(source.root, loaded.facts[path])
        if not isinstance(doc, str):
            yield from remains(doc, source.layout, copied.get(path, set()))


def _files(loaded: State) -> Iterator[Remainder]:
    """Yield files that are not read, and those that are derived, a row for each folder of them."""
    derived: dict[str, int] = {}
    for path, fact in sorted(loaded.facts.items()):
        if fact.role.derived:
            name = "/".join(path.split("/")[:-1]) or path
            derived[name] = derived.get(name, 0) + 1
        elif (fact.role.skipped or fact.trouble) and fact.role.skipped != "a system file" and split(path)[1]:
            yield Remainder(path, fact.trouble or fact.role.skipped)
    for record in sorted(loaded.records.values(), key=lambda record: record.path):
        bad = next((problem for problem in record.problems if problem.rule in ("not-utf8", "mixed-encoding")), None)
        if bad:
            what = "bytes that are not UTF-8 are copied as they are read"
            yield Remainder(f"{record.path}:{bad.line}", what, action=CHANGED)
    yield from (
        Remainder(name, "made from the entries, to be made again", count(number, "file")) for name, number in derived.items()
    )


def _indexes(source: Store, loaded: State) -> Iterator[Remainder]:
    """Yield the days whose index somebody wrote."""
    for record in sorted(loaded.records.values(), key=lambda record: record.path):
        said = record.index.text if record.index else None
        text = source._desk.read(record.path) if said else None
        if text is not None and said != indexing.extract(archive_edits.entries_of(text)):
            yield Remainder(record.path, "its index, written by hand")


def _hot(source: Store, loaded: State, to: str) -> Iterator[Remainder]:
    """Yield what of the hot layer stays behind: candidates are lines of the cold layer."""
    hot = source.hot()
    if hot.content and to != "workspace":
        yield Remainder("hot.md", "its body", count(hot.chars, "character"))
    cold = set(zip(loaded.visible["text"], loaded.visible["written_at"], strict=True))
    for row in hot.candidates.itertuples(index=False):
        there = (row.text, row.written_at) in cold
        what = "a candidate, whose entry is copied" if there else "a candidate that is no entry of the cold layer"
        yield Remainder(f"hot.md:{row.line}", what)
    if len(hot.topics):
        yield Remainder("hot.md", "its topics", count(len(hot.topics), "topic"))


# ---- read back ----


def _compare(new: Store, made: Sequence[Page]) -> None:
    """Read the new store, and compare its entries with those that were planned.

    Raises: LostTextError.
    """
    wanted = tables.entries([page.records for page in made], new.tz)
    held = new.entries()
    held = held[held["path"].isin({page.path for page in made})].reset_index(drop=True)
    names = ["path", "line", *_FACTS]
    if not held[names].equals(wanted[list(ENTRIES)][names]):
        raise LostTextError(f"{new.root}: its entries do not read as they were planned; the source is as it was, plan again")
    if new.layout == "workspace" and any(hidden(new._finder, new._loaded.refresh())):
        raise LostTextError(f"{new.root}: some of its entries are hidden; the source is as it was, look at MEMORY.md there")
