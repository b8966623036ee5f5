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
from memkit.edits.migrate import CREATE, LEFT, Page, Row
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
        store, or around it; ConflictError when a plan is applied after the source has changed.
    """
    if not isinstance(source, Store):
        raise BadArgument(f"source: {type(source).__name__}; expected an open store, as memkit.open(path) gives it")
    layout, place = known.named(to), _target(source, target, to)
    day = dates.as_day(undated, "undated") if undated is not None else None
    loaded, now = source._fresh(), source._clock()
    new = Store(files.Found(place, place, layout), tz=source.tz, now=lambda: source._clock(), lock_timeout=lock_timeout)
    kept, left = _sorted_out(source, loaded, day, to)
    made, lost = edits.pages(kept, layout, source.tz)
    left += _beside(source, loaded, to)
    rows, warnings = edits.told(made, lost, left)
    changes = tuple(Edit(page.path, None, page.text, BEGIN) for page in made)
    if to == "archive":
        changes += edits.catalogs(made, now.date())
    body = source.hot().content if source.layout == "layers" and to == "workspace" else ""
    if body:
        changes += (Edit("MEMORY.md", None, f"{body}\n"),)
        rows += (("MEMORY.md", CREATE, "the body of hot.md"),)

    def apply(planned: Sequence[Edit]) -> None:
        if source._fresh().facts != loaded.facts:
            raise ConflictError(f"{source.root}: it changed since this was planned; nothing was written, plan again")
        if not planned:
            return
        _refuse_full(new.root, {edit.path for edit in planned})
        new._desk.apply(planned)

    plan = Plan(Draft(changes, rows, sum(len(page.records.entries) for page in made), warnings, facts=place), apply)
    plan.then.append(lambda: _compare(new, made))
    return plan


def _target(source: Store, target: str | os.PathLike[str], to: str) -> Path:
    """Return the folder of the new store.

    Raises: BadArgument, PathError.
    """
    if to == source.layout:
        raise BadArgument(f"to: {source.root} is {to} already; copy its folder, or name another layout")
    place = files.place_of(target, "target").absolute()
    full = place.resolve()
    for held in (source.root.resolve(), source.vault.resolve()):
        if full.is_relative_to(held) or held.is_relative_to(full):
            raise PathError(f"{place}: it and the store {held} lie in each other; choose a folder of its own")
    _refuse_full(place, set())
    return place


def _refuse_full(place: Path, ours: set[str]) -> None:
    """Hold that nothing lies in the target but what the plan itself wrote.

    Raises: BadArgument; PathError for a file.
    """
    others = files.names_of_output(place) - {path.partition("/")[0] for path in ours}
    if others:
        raise BadArgument(f"{place}: it is not empty ({sorted(others)[0]!r} lies in it); name a new or an empty folder")


# ---- what is copied ----


def _sorted_out(source: Store, loaded: State, undated: date | None, to: str) -> tuple[list[Entry], list[Row]]:
    """Return the entries to copy, and rows of those that stay behind."""
    marks, equal = hidden(source._finder, loaded) if source.layout == "workspace" else (set(), set())
    tags: dict[tuple[str, int], list[str]] = {}
    for path, line, tag in zip(*(loaded.tags[name] for name in ("path", "line", "tag")), strict=True):
        tags.setdefault((path, line), []).append(tag)
    kept: list[Entry] = []
    left: list[Row] = []
    frame = loaded.visible
    columns = ["path", "line", "kind", "date", "text", "tag", "section", "clock", "stamp", "task", "block"]
    plain = frame[columns].astype(object).where(frame[columns].notna(), None)
    for row in plain.itertuples(index=False):
        place, day = (row.path, int(row.line)), row.date.date() if row.date is not None else undated
        where = f"{row.path}:{row.line}"
        if row.kind in OUTSIDE:
            left.append((where, LEFT, "it lies outside the store"))
        elif place in marks:
            left.append((where, LEFT, "a mark of what is to be forgotten; only a workspace has them"))
        elif day is None:
            left.append((where, LEFT, "it has no date; undated=DAY (--undated) puts such entries on a day"))
        else:
            kept.append(_entry(row, day, tags.get(place, [row.tag] if row.tag else []), to))
            if place in equal:
                left.append((where, edits.CHANGED, "it was marked as forgotten, and is found again in the target"))
            if row.date is None:
                left.append((where, edits.CHANGED, f"it had no date, and is put on {day}"))
    return kept, left


def _entry(row: Any, day: date, tags: Sequence[str], to: str) -> Entry:
    """Return one row of the frame as an entry; the clock in its file's name becomes a section, where there are sections."""
    outer = clock_of_name(row.path, day) if row.kind == "daily-slug" and to != "layers" else None
    facts = {name: getattr(row, name) for name in ("section", "clock", "stamp", "task", "block")}
    return Entry(row.path, int(row.line), row.kind, day, row.text, tuple(dict.fromkeys(tags)), outer=outer, **facts)


# ---- what is beside the entries ----


def _beside(source: Store, loaded: State, to: str) -> list[Row]:
    """Return rows of what the target has no place for."""
    rows = list(_files(loaded))
    if source.layout == "archive":
        rows += _indexes(source, loaded)
    if source.layout == "layers":
        rows += _hot(source, loaded, to)
    dreams = loaded.entries[loaded.entries["kind"] == "dream"]["path"].value_counts(sort=False)
    return rows + [(path, LEFT, f"{count(number, 'entry')} that a machine dreamt up") for path, number in dreams.items()]


def _files(loaded: State) -> Iterator[Row]:
    """Yield files that are not read, and those that are derived, a row for each folder of them."""
    derived: dict[str, int] = {}
    for path, fact in sorted(loaded.facts.items()):
        if fact.role.derived:
            name = "/".join(path.split("/")[:-1]) or path
            derived[name] = derived.get(name, 0) + 1
        elif (fact.role.skipped or fact.trouble) and fact.role.skipped != "a system file" and split(path)[1]:
            yield path, LEFT, fact.trouble or fact.role.skipped
    for record in sorted(loaded.records.values(), key=lambda record: record.path):
        bad = next((problem for problem in record.problems if problem.rule in ("not-utf8", "mixed-encoding")), None)
        if bad:
            yield f"{record.path}:{bad.line}", edits.CHANGED, "bytes that are not UTF-8 are copied as they are read"
    yield from (
        (name, LEFT, f"{count(number, 'file')} made from the entries, to be made again") for name, number in derived.items()
    )


def _indexes(source: Store, loaded: State) -> Iterator[Row]:
    """Yield the days whose index somebody wrote."""
    for record in sorted(loaded.records.values(), key=lambda record: record.path):
        said = record.index.text if record.index else None
        text = source._desk.read(record.path) if said else None
        if text is not None and said != indexing.extract(archive_edits.entries_of(text)):
            yield record.path, LEFT, "its index, written by hand"


def _hot(source: Store, loaded: State, to: str) -> Iterator[Row]:
    """Yield what of the hot layer stays behind: candidates are lines of the cold layer."""
    hot = source.hot()
    if hot.content and to != "workspace":
        yield "hot.md", LEFT, f"its body, {count(hot.chars, 'character')}"
    cold = set(zip(loaded.visible["text"], loaded.visible["written_at"], strict=True))
    for row in hot.candidates.itertuples(index=False):
        there = (row.text, row.written_at) in cold
        yield (
            f"hot.md:{row.line}",
            LEFT,
            "a candidate" + (": its entry is copied" if there else " that is no entry of the cold layer"),
        )
    if len(hot.topics):
        yield "hot.md", LEFT, count(len(hot.topics), "topic")


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
