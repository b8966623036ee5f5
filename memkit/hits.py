"""What a search answers: its hits in order, where they came from, and how they are shown; pure."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from memkit import display, marks, match, query, schema
from memkit.cells import clip, count, visible, wrap
from memkit.text import whole_characters
from memkit.wanted import Wanted

SCORED: schema.Schema = {**schema.ENTRIES, "score": schema.SHARE}
FOUND: schema.Schema = {
    "step": schema.STR, "date": schema.DAY, "text": schema.STR, "index": schema.STR, "terms": schema.STR,
    "score": schema.SHARE, "corrected_by": schema.DAY, "path": schema.STR, "line": schema.COUNT,
}  # fmt: skip
NEAR_TO_FAR = "near-to-far"
SNIPPET = 500  # characters of an entry at most, as agents are given it
_SHOWN = 10  # hits in a repr
_ROOM = 160  # characters of a hit there


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """What a search found, the best first, or where there is no score the newest.

    `frame` has step (where it was found), date, text, index (of the day, where days have one), terms (those that hit),
    score, corrected_by (the day on which a later entry corrected it), path, line; `entries` has those of its rows that are
    entries (an archive also finds headings, and days by their index alone), with the columns of entries() and `score`,
    which lies between 0 and 1, with vectors a weighted sum of both sides; only a workspace has it.
    `step` is where the answer came from ("" if nothing near to far has one), `provider` who gave it, `complete` whether all
    that was looked at could be read whole, `stale` the days whose catalog row is not so any more, `healed` the catalogs that
    were rebuilt for it; `warnings` say what did not work.
    """

    frame: pd.DataFrame
    entries: pd.DataFrame
    words: tuple[str, ...]
    step: str
    provider: str
    complete: bool = True
    stale: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    healed: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.frame)

    def __repr__(self) -> str:
        """Return the first hits as text."""
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return display.mimebundle(self._html, self._text)

    def _head(self) -> str:
        shown = f", showing {_SHOWN}" if len(self) > _SHOWN else ""
        near = f", step {self.step}" if self.provider == NEAR_TO_FAR and self.step else ""
        return f"{count(len(self), 'hit')} for {clip(visible(' '.join(self.words)), 60)} ({self.provider}{near}){shown}"

    def _hits(self) -> Iterator[tuple[str, str]]:
        """Yield where each hit of the first ones stands, and a piece of it."""
        first = self.frame.head(_SHOWN)
        held = self.entries[self.entries["path"].isin(first["path"])]
        tags = {(path, line): tag for path, line, tag in zip(held["path"], held["line"], held["tag"], strict=True)}
        for row in first.itertuples():
            day = "" if row.date is pd.NaT else f"{row.date.date()}  "
            later = "" if row.corrected_by is pd.NaT else f"  (corrected {row.corrected_by.date()})"
            piece = snippet(body(tags.get((row.path, row.line)), row.text), self.words, _ROOM)
            yield f"{day}{row.path}:{row.line}{later}", piece

    def notes(self) -> list[str]:
        """Return the warnings, and which rows of the catalog are not so, as people are told of them."""
        if not self.stale:
            return list(self.warnings)
        done = f"; {', '.join(self.healed)} rebuilt" if self.healed else "; rebuild_catalog() or heal=True mends it"
        return [*self.warnings, f"the catalog is out of date for {', '.join(self.stale)}{done}"]

    def _text(self) -> str:
        lines = wrap(self._head())
        for where, piece in self._hits():
            lines += [*wrap(visible(where), "- "), *wrap(visible(" ".join(piece.split())), "    ")]
        return "\n".join([*lines, *(f"warning: {visible(note)}" for note in self.notes())])

    def _html(self) -> str:
        rows = "".join(
            f'<li><code class="q">{html.escape(visible(where))}</code><div>{marked(piece, self.words)}</div></li>'
            for where, piece in self._hits()
        )
        notes = "".join(f'<p class="s warning">{html.escape(visible(warning))}</p>' for warning in self.notes())
        return display.page(f'<p class="v">{html.escape(self._head())}</p><ul>{rows}</ul>{notes}')


def body(tag: object, text: str) -> str:
    """Return an entry on its own as it is searched: its tag in brackets before its text, unless that holds it as `#tag`."""
    return f"[{tag}] {text}" if isinstance(tag, str) and tag not in marks.hash_tags(text, item=True) else text


def marked(text: str, terms: Sequence[str]) -> str:
    """Return a text as HTML with every hit of a term in `<mark>`."""
    parts, at = [], 0
    for start, end in match.spans(text, terms):
        parts += [html.escape(visible(text[at:start])), f"<mark>{html.escape(visible(text[start:end]))}</mark>"]
        at = end
    return "".join([*parts, html.escape(visible(text[at:]))])


def snippet(text: str, terms: Sequence[str], room: int = SNIPPET) -> str:
    """Return a piece of a text of at most `room` characters with the first hit in its middle, whole characters only."""
    if len(text) <= room:
        return text
    hits = match.spans(text, terms)
    middle = sum(hits[0]) // 2 if hits else 0
    start = min(max(0, middle - room // 2), len(text) - room)
    if hits and hits[0][1] - hits[0][0] > room:
        start = hits[0][0]
    start, end = whole_characters(text, start, start + room)
    return text[start:end]


def found(entries: pd.DataFrame, wanted: Wanted, step: str, corrected: Any) -> pd.DataFrame:
    """Return entries with their score as the frame that people see."""
    bodies = [match.fold(body(tag, text)) for tag, text in zip(entries["tag"], entries["text"], strict=True)]
    told = {
        "step": [step] * len(entries),
        "terms": ["、".join(wanted.hits(text)) for text in bodies],
        "corrected_by": corrected,
    }
    held = {name: entries[name] for name in ("date", "text", "score", "path", "line")}
    return schema.frame(FOUND, {**told, **held, "index": [None] * len(entries)})


def ordered(frame: pd.DataFrame, folded: Sequence[str], phrase: str, tz: Any) -> pd.DataFrame:
    """Return the hits with those that hold the query as one phrase first, then by score, then the newest."""
    whole = match.fold(phrase)
    apart = np.array([whole not in text for text in folded], dtype="bool")
    newest = np.empty(len(frame), dtype="int64")
    newest[query.order(frame, tz)] = np.arange(len(frame))
    return frame.take(np.lexsort([newest, -frame["score"].to_numpy(), apart])).reset_index(drop=True)
