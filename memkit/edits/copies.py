"""What becomes of the copies made of entries when these go: index lines, catalogs, summaries, candidates; pure.

Copies are made afresh from what is left, never cut by hand, but for an index line that a person wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import pandas as pd

from memkit import indexing, tables
from memkit.dates import PERIODS, period_days
from memkit.edits import archive as archive_edits
from memkit.edits import layers as layers_edits
from memkit.edits.held import Held
from memkit.edits.targets import Target
from memkit.layouts import hot, line, stored
from memkit.model import Edit, Records, StoredSummary
from memkit.sources import Sources
from memkit.summaries import LIMITS, extract, is_stale
from memkit.text import decode, norm_text

Rows = list[tuple[str, str, str]]
_SHOWN = 5  # places that a warning names
_SHORTEST = min(limit.per_entry for limit in LIMITS.values())


def follow(held: Held, edits: Sequence[Edit], targets: Sequence[Target], said: Sequence[str]) -> tuple[list[Edit], Rows]:
    """Return the edits of all copies of entries that some edits change, or whose texts are said, and a row for each."""
    if held.layout.NAME == "archive":
        indexes, rows = _orphaned_indexes(held, edits, said)
        catalogs, more = _catalogs(held.over([*edits, *indexes]), [*edits, *indexes], targets, said)
        return [*indexes, *catalogs], [*rows, *more]
    if held.layout.NAME == "layers":
        frame = _entries_after(held, edits)
        summaries, rows = _summaries(held, frame, targets, said)
        candidates, more = _candidates(held, frame, targets, said)
        return [*summaries, *candidates], [*rows, *more]
    return [], []


# ---- index lines ----


def reindexed(path: str, before: str, after: str, gone: Iterable[str], new_index: str | None = None) -> tuple[str, list[str]]:
    """Return a day file whose index no longer speaks of entries that are gone, and what a person must still look at.

    `gone` are their texts without tags.
    """
    if new_index is not None:
        return archive_edits.with_index(path, after, indexing.checked(new_index)), []
    index = archive_edits.index_of(path, before)
    if index is None:
        return after, []
    held, left = archive_edits.entries_of(before), archive_edits.entries_of(after)
    if index == indexing.extract(held):
        return archive_edits.with_index(path, after, indexing.extract(left)), []
    lost = [*gone, *(entry for entry in held if entry not in left)]
    told = indexing.without(index, lost, [*left, *_without_tags(path, after)])
    still = any(indexing.shares_words(told, text, "\n".join(left)) for text in lost)
    for entry in left:
        told = told if entry in held else indexing.with_clauses(told, entry)
    told = told or indexing.extract(left)
    warnings = [f"{path}: its index was written by hand and may still speak of it; pass new_index="] if still else []
    return (after if told == index else archive_edits.with_index(path, after, told)), warnings


def _without_tags(path: str, text: str) -> list[str]:
    return [part.partition("] ")[2] for part in archive_edits.entries_of(text) if part.startswith("[")]


def _orphaned_indexes(held: Held, edits: Iterable[Edit], said: Sequence[str]) -> tuple[list[Edit], Rows]:
    """Return the edits of index lines that speak of a text which their day no longer has."""
    changed = {edit.path for edit in edits}
    found: list[Edit] = []
    indexes = {path: record.index.text or "" for path, record in held.records.items() if record.index and path not in changed}
    for path in _speaking(indexes, said):
        index = indexes[path]
        before = held.read(path) or ""
        body = norm_text("\n".join(archive_edits.entries_of(before)))
        gone = [text for text in said if _speaks_of(index, text, body)]
        if gone:
            after = archive_edits.with_index(path, before, indexing.without(index, gone, archive_edits.entries_of(before)))
            found.append(Edit(path, before, after, free=("all",)))
    return found, [(edit.path, "index", "its index speaks of what it no longer has") for edit in found]


def _speaking(indexes: Mapping[str, str], said: Sequence[str]) -> list[str]:
    """Return the keys of the indexes that hold one of the texts, or one of their clauses as their own."""
    parts = {part for text in said for part in indexing.parts_of(text)}
    everything = "\n".join(indexes.values())
    whole = [text for text in said if text in everything]
    return [
        key
        for key, index in indexes.items()
        if not parts.isdisjoint(index.split(indexing.JOIN)) or any(text in index for text in whole)
    ]


def _speaks_of(index: str, text: str, body: str) -> bool:
    """Return whether an index holds a text, or one of its clauses as its own, of which the body says nothing."""
    clauses = set(index.split(indexing.JOIN))
    own = [part for part in indexing.parts_of(text) if part in clauses]
    return any(part.removesuffix("…") not in body for part in [*own, *([text] if text in index else [])])


# ---- catalogs ----


def _catalogs(held: Held, edits: Sequence[Edit], targets: Iterable[Target], said: Sequence[str]) -> tuple[list[Edit], Rows]:
    """Return the catalogs, made afresh, of the years that lost an entry and of those that still speak of one."""
    today = held.now.date()
    days = {day for edit in edits if (day := held.layout.role(edit.path).day)} | {
        target.day for target in targets if target.day
    }
    years = {day.year for day in days if day < today}
    told = {f"{path}:{row.line}": row.index for path, record in held.records.items() for row in record.rows}
    years |= {int(place.partition(".tsv:")[0][-4:]) for place in _speaking(told, said)}
    gone = {edit.path for edit in edits if edit.after is None}

    def left(year: int) -> dict[date, str]:
        return {day: path for day, path in held.days_of(year).items() if path not in gone}

    draft = archive_edits.rebuild(held.read, sorted(years), left, today)
    return list(draft.edits), [row for row in draft.rows if row[1] != "unchanged"]


# ---- summaries ----


def _entries_after(held: Held, edits: Iterable[Edit]) -> pd.DataFrame:
    """Return the frame of all entries as it will be."""
    changed = {edit.path: edit.after for edit in edits}
    fresh: list[Records] = [held.parse(path, text) for path, text in changed.items() if text is not None]
    return tables.splice(held.entries, changed, tables.entries(fresh, held.tz))


def _summaries(held: Held, frame: pd.DataFrame, targets: Sequence[Target], said: Sequence[str]) -> tuple[list[Edit], Rows]:
    """Return the stored summaries that speak of the texts, made afresh from what is left; one without a source goes."""
    before = {path: record.summary for path, record in held.records.items() if record.summary}
    if not before:
        return [], []
    days = {target.day for target in targets if target.day}
    stale = Sources(held.entries, before, layered=True, tz=held.tz).stale()
    after: dict[str, StoredSummary] = dict(before)
    found: list[Edit] = []
    for period in PERIODS:  # a lower level is made before the level that uses it
        sources = Sources(frame, after, layered=True, tz=held.tz)
        for path, summary in before.items():
            if summary.period != period:
                continue
            left = sources.of(period, summary.key)
            fell = not stale[path] and is_stale(summary, left)
            if fell or days & set(period_days(period, summary.key)) or _repeats(summary, said):
                made = extract(period, summary.key, left, generated_at=held.now)
                found.append(Edit(path, held.read(path), made.content if made else None))
                del after[path]
                if made:
                    after[path] = stored.read(made.content, period, summary.key)
    return found, [(edit.path, "rebuild" if edit.after else "forget", "a summary made from it") for edit in found]


def _repeats(summary: StoredSummary, said: Iterable[str]) -> bool:
    """Return whether a summary has a line of one of the texts, whole or cut."""
    matches = (stored.ENTRY.fullmatch(row) for row in summary.lines)
    shown = [norm_text(match[3]) for match in matches if match]
    return any(text == row or (row.endswith("…") and text.startswith(row[:-1])) for text in said for row in shown)


# ---- candidates ----


def _candidates(held: Held, frame: pd.DataFrame, targets: Sequence[Target], said: Sequence[str]) -> tuple[list[Edit], Rows]:
    """Return the edit of hot.md that takes out, or replaces, the candidates with one of the texts.

    A candidate whose entry stays (it was left out of the plan) stays too.
    """
    before = held.read(layers_edits.HOT)
    if before is None:
        return [], []
    parts = hot.regions(before)
    puts = {norm_text(target.text): target.put for target in targets}
    left = {pair for pair in zip(frame["stamp"], frame["text"].map(norm_text), strict=True) if pair[1] in said}
    kept: list[str] = []
    rows: Rows = []
    for row in parts["candidates"]:
        match = line.ENTRY.fullmatch(row)
        text = norm_text(match[3]) if match else ""
        if not match or text not in said or (match[1], text) in left:
            kept.append(row)
            continue
        put = puts.get(text)
        rows.append((layers_edits.HOT, "forget" if put is None else "replace", "an equal candidate"))
        if put is not None:
            kept.append(f"- [{match[1]}] [{match[2]}] {layers_edits.entry_text(put)}")
    parts["candidates"] = kept
    edit = Edit(layers_edits.HOT, before, layers_edits.hot_text(before, parts), free=("candidates",))
    return ([edit], rows) if rows else ([], [])


# ---- what is left ----


def still_there(held: Held, edits: Sequence[Edit], said: Sequence[str]) -> list[str]:
    """Return a warning for what still holds one of the texts, or a cut of it, when all edits are made."""
    planned = {edit.path: edit.after for edit in edits}
    wanted = {text[:_SHORTEST] for text in said}
    if not wanted:
        return []
    paths = []
    for path, fact in held.facts.items():
        if path.endswith("/") or path in held.rebuilt or fact.role.problem == "link-outside":
            continue
        data = (planned[path] or "").encode("utf-8", "surrogateescape") if path in planned else held.bytes_of(path)
        if data and any(text in norm_text(decode(data)[1]) for text in wanted if _word(text) in data or b"\0" in data):
            paths.append(path)
    if not paths:
        return []
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return [f"the words stand in other text too, which stays: {', '.join(paths[:_SHOWN])}{more}"]


def _word(text: str) -> bytes:
    """Return the longest piece of a text without a blank: it stands as it is in every copy, however its lines are broken."""
    return max(text.split(), key=len, default="").encode("utf-8", "surrogateescape")
