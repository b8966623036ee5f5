"""What is chosen of a store's entries by words, tags, days and kind: the rows, and what each filter would still leave; pure.

Days are local, windows are closed. Tags are compared as `tagged` does: whole, whatever their case or width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Any

import numpy as np

from memkit import dates, match, query, stats
from memkit.loading import State
from memkit.text import norm_tag


@dataclass(frozen=True, slots=True)
class Asked:
    """What people chose: words that must all be there, tags of which one must be, a window of days, a kind."""

    query: str = ""
    tags: tuple[str, ...] = ()
    start: date | None = None
    end: date | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What was found: positions in the frame, newest first; words to mark; and by facet what the other filters leave.

    `tags` are (tag or None for none, entries), the most frequent first; `kinds` (kind, entries); `days` the day of each
    entry that all filters but the window leave.
    """

    rows: Any
    words: tuple[str, ...]
    tags: list[tuple[str | None, int]]
    kinds: list[tuple[str, int]]
    days: Any


class Ground:
    """The entries of one State, made ready for being asked again and again."""

    def __init__(self, state: State, tz: tzinfo) -> None:
        self.state = state
        frame = state.visible
        self.order = query.order(frame, tz)
        self.days = query.days_of(frame)
        self._kinds = frame["kind"].cat.codes.to_numpy()
        self._kind_names = [str(name) for name in frame["kind"].cat.categories]
        groups = stats.tag_groups(frame, state.tags)
        self._tag_rows, self._tag_codes = groups.rows, groups.codes
        self._tag_names: list[str] = list(groups.keys)
        self._folded = [match.fold(norm_tag(name)) for name in self._tag_names]

    def choose(self, asked: Asked) -> Chosen:
        """Return what is chosen.

        Raises: BadArgument for words or a window that cannot be meant.
        """
        words = match.split_query(asked.query) if asked.query.strip() else ()
        text = self.state.folded.mask(words) if words else np.ones(len(self.days), dtype="bool")
        window, kind, tags = self._in_window(asked.start, asked.end), self._of_kind(asked.kind), self._with_tag(asked.tags)
        hit = text & window & kind & tags
        return Chosen(
            self.order[hit[self.order]],
            words,
            self._tag_counts(text & window & kind),
            self._kind_counts(text & window & tags),
            self.days[text & kind & tags],
        )

    def _in_window(self, start: date | None, end: date | None) -> Any:
        hit = np.ones(len(self.days), dtype="bool")
        if start and end:
            dates.window(start, end, names=("date_from", "date_to"))
        if start:
            hit &= self.days >= np.datetime64(start)
        if end:
            hit &= self.days <= np.datetime64(end)
        return hit  # a comparison with NaT is false, so that undated entries are in no window

    def _of_kind(self, kind: str) -> Any:
        if not kind:
            return np.ones(len(self.days), dtype="bool")
        return self._kinds == (self._kind_names.index(kind) if kind in self._kind_names else -2)

    def _with_tag(self, tags: Sequence[str]) -> Any:
        if not tags:
            return np.ones(len(self.days), dtype="bool")
        wanted = {query.NO_TAG if tag == query.NO_TAG else match.fold(norm_tag(tag)) for tag in tags}
        codes = [code for code, name in enumerate(self._folded) if name in wanted]
        codes += [-1] if query.NO_TAG in wanted else []
        hit = np.zeros(len(self.days), dtype="bool")
        hit[self._tag_rows[np.isin(self._tag_codes, codes)]] = True
        return hit

    def _tag_counts(self, hit: Any) -> list[tuple[str | None, int]]:
        held = np.bincount(self._tag_codes[hit[self._tag_rows]] + 1, minlength=len(self._tag_names) + 1)
        found = [(None, int(held[0])), *zip(self._tag_names, held[1:].tolist(), strict=True)]
        return sorted(((name, number) for name, number in found if number), key=lambda one: -one[1])

    def _kind_counts(self, hit: Any) -> list[tuple[str, int]]:
        held = np.bincount(self._kinds[hit], minlength=len(self._kind_names)).tolist()
        return [(name, number) for name, number in zip(self._kind_names, held, strict=True) if number]
