"""What `summarize` plans: which periods get a summary, which keep theirs and why, and each one's edit; pure.

A batch can be of any length: a period is worked out when its turn comes, and its text is not kept (Remade makes it again).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import overload

from memkit.cells import count
from memkit.dates import key_of, period_days
from memkit.errors import BadArgument
from memkit.layouts import stored
from memkit.model import Edit
from memkit.sources import Sources
from memkit.summaries import extract, is_stale, weighed
from memkit.text import reading_of

# Reasons by which others tell apart what is left as it is.
LOWER_IS_STALE = "a lower summary is out of date; make that afresh first"
NOTHING_LEFT = "no entry is left in it"


@dataclass(frozen=True, slots=True)
class Wish:
    """Which periods are to get a summary: those without one, those whose summary is out of date, or all (force)."""

    missing: bool = True
    stale: bool = True
    force: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The closed window of days that periods must touch; without an `until` they must be over before `today`."""

    since: date | None
    until: date | None
    today: date

    def holds(self, period: str, key: str) -> bool:
        """Return whether a period is wanted."""
        days = period_days(period, key)
        begun = days[0] <= self.until if self.until else days[-1] < self.today
        return begun and (self.since is None or days[-1] >= self.since)


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one period: the text at its path, whether it was made now or was there, and whether that is stale.

    One that was made now is stale, too, when a lower summary that it was made from is.

    `content` is "" when the period has no entry and no summary.
    """

    period: str
    key: str
    path: str
    content: str
    created: bool
    existed: bool
    stale: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One period of a batch: what is done (create, rebuild, unchanged, skip, empty) and why, and the text found there."""

    period: str
    key: str
    path: str
    before: str | None
    action: str
    reason: str

    @property
    def makes(self) -> bool:
        """Return whether a summary is made."""
        return self.action in ("create", "rebuild")

    @property
    def row(self) -> tuple[str, str, str]:
        """Return the step as a row of its plan."""
        return self.path, self.action, self.reason


def keys_of(period: str, days: Iterable[date], held: Iterable[str], window: Window) -> list[str]:
    """Return the keys, ascending, of the periods in a window that have an entry or (`held`) a stored summary."""
    keys = {key_of(period, day) for day in days} | set(held)
    return sorted(key for key in keys if window.holds(period, key))


def is_key(period: str, name: str) -> bool:
    """Return whether a name is that of a period."""
    try:
        return bool(period_days(period, name))
    except BadArgument:
        return False


def is_current(sources: Sources, period: str, edit: Edit) -> bool:
    """Return whether a planned summary still says what its sources say."""
    key = edit.path.rpartition("/")[2].removesuffix(".md")
    return not is_stale(stored.read(edit.after or "", period, key), sources.of(period, key))


def judged(sources: Sources, period: str, key: str, path: str, before: str | None, wish: Wish) -> Step:
    """Return what becomes of one period; `before` is what lies at its path."""
    behind = before is not None and _is_behind(sources, period, key, path, before)
    below = not behind and path in sources.stored and sources.is_stale(path)
    action, reason = _left(before is not None, behind, below, wish)
    if not action:
        kept, omitted = weighed(period, sources.of(period, key))
        told = count(kept, "entry") + (f", {omitted:,} left out" if omitted else "")
        if before is None:
            action, reason = ("create", told) if kept or omitted else ("empty", "no entry to make it from")
        elif kept or omitted:
            action, reason = "rebuild", f"{told}; {'out of date' if behind else 'forced'}"
        else:
            action, reason = "unchanged", NOTHING_LEFT
    return Step(period, key, path, before, action, reason)


def _left(there: bool, behind: bool, below: bool, wish: Wish) -> tuple[str, str]:
    """Return why a period is left as it is, or two empty texts if it is to be made; `below`: a lower one is out of date."""
    if wish.force:
        return "", ""
    if there and not behind:
        current = "it says what its sources say"
        return "unchanged", LOWER_IS_STALE if below else current
    if there and not wish.stale:
        return "unchanged", "out of date; force=True makes it afresh"
    return ("", "") if there or wish.missing else ("skip", "it has none, and missing=False")


def edit_of(step: Step, sources: Sources, now: datetime) -> Edit:
    """Return the edit of a step; one that makes nothing leaves the file as it is."""
    if not step.makes:
        return Edit(step.path, step.before, step.before)
    made = extract(step.period, step.key, sources.of(step.period, step.key), generated_at=now)
    return Edit(step.path, step.before, made.content if made else step.before)


def fact(step: Step, sources: Sources, text: str | None) -> Made:
    """Return what a step came to; `text` is what lies at its path now."""
    stale = any(map(sources.is_stale, sources.below(step.period, step.key)))
    if not step.makes and step.before is not None:
        stale = stale or _is_behind(sources, step.period, step.key, step.path, step.before)
    return Made(step.period, step.key, step.path, reading_of(text or ""), step.makes, step.before is not None, stale)


def _is_behind(sources: Sources, period: str, key: str, path: str, text: str) -> bool:
    """Return whether the text at a path is out of date by itself; one outside the store is not among the stored ones."""
    if path in sources.stored:
        return sources.is_behind(path)
    return is_stale(stored.read(reading_of(text), period, key), sources.of(period, key))


class Remade(Sequence[Edit]):
    """The edits of many summaries, each made again when it is looked at, so that a batch takes the room of one."""

    def __init__(self, steps: Sequence[tuple[Step, Sources]], now: datetime):
        self._steps, self._now = steps, now

    def __len__(self) -> int:
        """Return the number of edits."""
        return len(self._steps)

    @overload
    def __getitem__(self, at: int) -> Edit: ...
    @overload
    def __getitem__(self, at: slice) -> Remade: ...
    def __getitem__(self, at: int | slice) -> Edit | Remade:
        """Return one edit, or some of them, unmade."""
        if isinstance(at, slice):
            return Remade(self._steps[at], self._now)
        return edit_of(*self._steps[at], self._now)
