"""What `push` plans: a frame edited in a notebook against what is on disk, told apart by digest, never by line number; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from memkit.edits import forget as forget_edits
from memkit.edits import targets
from memkit.edits.archive import Read
from memkit.edits.chain import chained
from memkit.edits.held import Held
from memkit.edits.plan import Draft
from memkit.errors import BadArgument, LostTextError
from memkit.model import clean
from memkit.tables import digest
from memkit.text import norm_text

SUBJECT = 60  # characters of an old text that name it in a correction
MISSING = "it is missing from the frame"


@dataclass(frozen=True, slots=True)
class Change:
    """One row of a pushed frame: what becomes of it (append, correct, unchanged, refused, conflict, forget), and why.

    `day` and `subject` name what a correction corrects, `place` is the row on disk that is to be forgotten.
    """

    row: str
    action: str
    reason: str
    tag: str | None = None
    text: str = ""
    day: date | None = None
    subject: str = ""
    place: int = -1


Pair = tuple[str, str | None]  # the text and the tag of an entry
Append = Callable[[Read, list[Pair]], Draft]


def plan(held: Held, changes: Sequence[Change], pair_of: Callable[[Change], Pair], append: Append) -> Draft:
    """Return the plan of some changes; a row whose entry stands there already is unchanged, one that cannot be is refused.

    `pair_of` gives the entry that a change adds, `append` the draft that adds some of them, with a row for each.
    """
    told = list(changes)
    for n, change in enumerate(changes):
        if change.action == "forget" and not forget_edits.within_reach(held, held.entries["path"].iloc[change.place]):
            told[n] = replace(change, action="kept", reason=f"{change.reason}, but {forget_edits.OUT_OF_REACH}")

    def forgotten(read: Read) -> Draft:
        gone = [change.place for change in told if change.action == "forget"]
        if not gone:
            return Draft()
        return forget_edits.plan(replace(held, read=read), targets.at(held.entries, gone, MISSING))

    def added(read: Read) -> Draft:
        numbers = [n for n, change in enumerate(changes) if change.action in ("append", "correct")]
        return _added(read, numbers, told, pair_of, append) if numbers else Draft()

    draft = chained(held.read, [forgotten, added])
    return replace(draft, rows=tuple((change.row, change.action, change.reason) for change in told))


def _added(read: Read, numbers: list[int], told: list[Change], pair_of: Callable[[Change], Pair], append: Append) -> Draft:
    """Return the draft that adds some changes at once; what stands in the way is looked for half by half, and told."""
    try:
        draft = append(read, [pair_of(told[n]) for n in numbers])
    except (BadArgument, LostTextError) as error:
        if len(numbers) == 1:
            told[numbers[0]] = replace(told[numbers[0]], action="refused", reason=str(error))
            return Draft()
        halves = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
        return chained(read, [partial(_added, numbers=half, told=told, pair_of=pair_of, append=append) for half in halves])
    for n, (_, action, _) in zip(numbers, draft.rows, strict=True):
        if action == "unchanged":
            told[n] = replace(told[n], action="unchanged", reason=f"{told[n].reason}; that stands there already")
    return draft


def compare(pushed: pd.DataFrame, disk: pd.DataFrame, today: date, *, forget_missing: bool = False) -> list[Change]:
    """Return what becomes of each row; `disk` are all entries as they are now, dreams too.

    A column that the frame lacks says nothing: what it held stays as it is.

    Raises: BadArgument if the frame lacks `text` or `digest`, has a column twice, or a digest is no whole number.
    """
    if not isinstance(pushed, pd.DataFrame):
        raise BadArgument(f"frame: {type(pushed).__name__}; push takes a frame made by entries(editable=True)")
    for name in ("text", "digest"):
        if name not in pushed:
            raise BadArgument(f"frame: it has no column {name}; push takes a frame made by entries(editable=True)")
    if pushed.columns.has_duplicates:
        twice = str(pushed.columns[pushed.columns.duplicated()][0])[:40]
        raise BadArgument(f"frame: it has the column {twice!r} twice; drop one of them")
    rows = [{**row, "digest": _whole(row["digest"])} for row in _records(pushed)]
    marks = digest(disk).to_numpy("int64")
    by_digest = _by_digest(disk, marks, {row["digest"] for row in rows} - {None})
    edits: dict[tuple[int, str], set[Pair]] = {}
    changes = [_of_row(_label(place), row, by_digest, today, edits) for place, row in zip(pushed.index, rows, strict=True)]
    return changes + (_missing(rows, disk, marks.tolist()) if forget_missing else [])


def _label(place: Any) -> str:
    return str(place).encode("utf-8", "backslashreplace").decode()


def _by_digest(disk: pd.DataFrame, marks: Any, wanted: set[int | None]) -> dict[int, list[Any]]:
    """Return the entries on disk with a wanted digest, by it."""
    held: dict[int, list[Any]] = {}
    rows = np.flatnonzero(np.isin(marks, np.array(sorted(mark for mark in wanted if mark is not None), dtype="int64")))
    for mark, row in zip(marks[rows].tolist(), disk.take(rows).itertuples(), strict=True):
        held.setdefault(mark, []).append(row)
    return held


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows


def _whole(mark: Any) -> int | None:
    """Return a digest as a whole number, also where a file made text or a float of it; None for a new row."""
    if mark is None or (isinstance(mark, str) and not mark.strip()):
        return None
    try:
        number = int(mark) if isinstance(mark, str) and mark.strip().isdecimal() else int(float(mark))
        if not isinstance(mark, bool | np.bool_) and number == float(mark):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise BadArgument(f"frame: the digest {str(mark)[:40]!r} is no whole number; keep the column as it was")


def _of_row(
    place: str, row: dict[str, Any], by_digest: dict[int, list[Any]], today: date, edits: dict[tuple[int, str], set[Pair]]
) -> Change:
    """Return what becomes of one row; `edits` notes how each entry on disk was changed by the rows before it."""
    text, tag = _cleaned(row["text"]), _cleaned(row.get("tag") or None)
    if wrong := _wrong(text, tag):
        return Change(place, "refused", wrong)
    if row["digest"] is None:
        return _new(place, tag, text, row.get("date"), today)
    held = [old for old in by_digest.get(row["digest"], []) if row.get("path") in (None, "", old.path)]
    if not held:
        return Change(place, "conflict", "what it was made from is no longer in that file")
    old = held[0]
    old_tag = old.tag if isinstance(old.tag, str) else None
    tag = tag if "tag" in row else old_tag
    if (old.text, old_tag) == (text, tag):
        return Change(place, "unchanged", "as on disk")
    others = edits.setdefault((row["digest"], old.path), set())
    if (text, tag) not in others and len(others) == len(held):
        return Change(place, "conflict", "a row before it changes the same entry in another way; keep one of them")
    others.add((text, tag))
    return _changed(place, old, old_tag, tag, text, today)


def _cleaned(value: Any) -> Any:
    """Return a text as files hold it, and anything else as it is."""
    return clean(value) if isinstance(value, str) else value


def _wrong(text: Any, tag: Any) -> str:
    """Return why no entry can have such a text or tag, nothing if one can."""
    if not isinstance(text, str) or not norm_text(text):
        return "it has no text; use forget() to take an entry out"
    if tag is not None and not isinstance(tag, str):
        return "its tag is no text"
    return ""


def _new(place: str, tag: str | None, text: str, given: Any, today: date) -> Change:
    """Return what becomes of a row without a digest: an entry of today."""
    if given is not None and given != "":
        said = given.strip().casefold() if isinstance(given, str) else ""
        day = today if said in ("today", "now") else _day(given)  # by the clock of the store, not of the machine
        if day is None:
            return Change(place, "refused", f"its date {str(given)[:40]!r} is none")
        if day != today:
            return Change(place, "refused", f"new rows are appended today; {day} is another day")
    return Change(place, "append", "it has no digest, so it is new", tag, text)


def _changed(place: str, old: Any, old_tag: str | None, tag: str | None, text: str, today: date) -> Change:
    """Return what becomes of a row that was edited: a correction, if its day is over."""
    day = _day(old.date)
    if day is None:
        return Change(place, "refused", "it has no date that a correction could name; use forget(…, replacement=…)")
    if day >= today:
        return Change(place, "refused", "today's entries are append-only; add a correction with correct()")
    if old_tag != tag:
        if old.text == text and tag is None:
            return Change(place, "refused", "a correction cannot take a tag off; use forget(…, replacement=…)")
        text = f"[{tag}] {text}" if tag else text
    return Change(place, "correct", f"{day} is frozen, so today says what is right", tag, text, day, _subject(old.text))


def _subject(text: str) -> str:
    """Return the start of the first line that says something: what names an entry in a correction of it."""
    lines = [line for line in text.split("\n") if any(map(str.isalnum, line))] or [text]
    return norm_text(lines[0])[:SUBJECT].strip()


def _missing(rows: Iterable[dict[str, Any]], disk: pd.DataFrame, marks: Sequence[int]) -> list[Change]:
    """Return a forget for each entry on disk that the frame no longer has in its file."""
    left = Counter((row.get("path") or None, row["digest"]) for row in rows if row["digest"] is not None)
    changes = []
    for place, (mark, row) in enumerate(zip(marks, disk.itertuples(), strict=True)):
        key = next((key for key in ((row.path, mark), (None, mark)) if left[key] > 0), None)
        if key:
            left[key] -= 1
        elif row.kind != "dream":
            changes.append(Change(f"{row.path}:{row.line}", "forget", MISSING, place=place))
    return changes


def _day(value: Any) -> date | None:
    try:
        return None if value is None or pd.isna(value) else pd.Timestamp(value).date()
    except (TypeError, ValueError):
        return None
