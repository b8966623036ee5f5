"""What is different about an entry in the layout to which it was taken; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, tzinfo
from itertools import groupby
from typing import NamedTuple

from memkit.edits import lines as edit_lines
from memkit.edits.forms import Entry
from memkit.layouts import Layout
from memkit.layouts.markdown import SECTION_JOIN
from memkit.layouts.stored import instant_of
from memkit.model import Records
from memkit.text import norm_text

TEXT, FOLDED, TAGS = "its text is not the same", "its text is folded to one line", "its tags are not the same"
IN_TEXT = "its tag stands in its text, since it cannot be one there"
LONG = "it is longer than the 4,000 characters that this layout's own tools write"
_KINDS = {
    "longterm": "it stood in the long-term file",
    "note": "it stood in a note",
    "daily-slug": "its file's name is not kept",
}


class Change(NamedTuple):
    """What is different about an entry in the target: a fact that many may share, and its own detail."""

    what: str
    detail: str = ""

    def __str__(self) -> str:
        """Return both."""
        return f"{self.what} ({self.detail})" if self.detail else self.what


def is_itself(changes: list[Change]) -> bool:
    """Return whether an entry still says what it did, whatever else is different about it."""
    return not any(change.what in (TEXT, TAGS) for change in changes)


def changes(entries: Sequence[Entry], read: Records, layout: Layout, tz: tzinfo) -> list[tuple[Entry, list[Change]]]:
    """Return for each entry what is different about it in the target."""
    held = read.entries
    tags: dict[int, list[str]] = {line: [tag for _, tag in rows] for line, rows in groupby(read.tags, lambda row: row[0])}
    missing = [None] * len(held)
    found = []
    for n, entry in enumerate(entries):
        own = held.tag[n] if held.tag else None
        now = Entry(
            read.path,
            held.line[n],
            "daily",
            entry.day,
            held.text[n],
            tuple(tags.get(held.line[n], [own] if own else [])),
            (held.section or missing)[n],
            (held.clock or missing)[n],
            (held.stamp or missing)[n],
            (held.task or missing)[n],
            held.block[n] if held.block else "item",
        )
        found.append((entry, list(_differences(entry, now, layout, tz))))
    return found


def _differences(old: Entry, new: Entry, layout: Layout, tz: tzinfo) -> Iterator[Change]:
    layers = layout.NAME == "layers"
    told = f"[{old.task}] {old.text}" if layers and old.task is not None else old.text
    if old.tags and norm_text(new.text) == norm_text(f"[{old.tags[0]}] {told}"):
        yield Change(IN_TEXT, old.tags[0][:40])
    elif new.text != told:
        yield Change(FOLDED if new.text == norm_text(told) else TEXT)
    if new.tags != old.tags:
        stays = layers and new.tags == old.tags[:1]
        yield Change("its tags but the first are only words of its text" if stays else TAGS, _listed(old.tags, new.tags))
    if new.stamp != old.stamp:
        yield _stamp_change(old, tz)
    if layers and old.stamp and _is_elsewhere(old.stamp, old.day, tz):
        yield Change("its instant is of another day than its file, which an audit of layers minds", old.stamp)
    if new.clock != old.clock and not (layers and new.stamp != old.stamp):
        yield Change("its clock is not the same", f"{old.clock or 'none'}, now {new.clock or 'none'}")
    if (new.section or "") not in (old.section or "", SECTION_JOIN.join(replace(old, outer=None).sections(layout.NAME))):
        yield Change("its section is not the same" if new.section else "its section is not kept", old.section or "none")
    if new.task != old.task:
        yield Change("its checkbox is not kept" if not layers else "its checkbox stands in its text", f"[{old.task}]")
    if new.block != old.block:
        yield Change("it is a list item now", f"it was a {old.block}") if new.block == "item" else Change("its form", new.block)
    if old.kind in _KINDS:
        yield Change(_KINDS[old.kind], old.path)
    if layout.NAME != "archive" and len(new.text) > edit_lines.LIMIT:
        yield Change(LONG, f"{len(new.text):,}")


def _listed(old: tuple[str, ...], new: tuple[str, ...]) -> str:
    return f"{' '.join(old) or 'none'}, now {' '.join(new) or 'none'}"[:80]


def _is_elsewhere(stamp: str, day: date, tz: tzinfo) -> bool:
    """Return whether an instant lies on another local day."""
    found = instant_of(stamp)
    try:
        return found is not None and found.astimezone(tz).date() != day
    except OverflowError:
        return True


def _stamp_change(old: Entry, tz: tzinfo) -> Change:
    if old.stamp:
        return Change("its instant is not the same", old.stamp)
    if old.clock:
        return Change(f"its clock became an instant of the zone {tz}", old.clock)
    return Change(f"only its day is known: it is stamped 00:00 of that day, zone {tz}")
