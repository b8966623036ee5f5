"""What a store hands out beside frames: the hot layer, one day, and a text to read; values with their own repr."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from memkit import tables
from memkit.cells import count, visible
from memkit.lines import FENCE, closes
from memkit.model import Hot
from memkit.text import front_matter


class Text(str):
    """A text that a notebook shows as Markdown and `print` as it is."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return harmless(self)


@dataclass(frozen=True, slots=True, eq=False)
class HotLayer:
    """The hot layer: its body and size (code points) against the limit, and its two blocks as frames.

    `candidates` has index (from 1), written_at, tag, text, line; `topics` has topic and month. `hint` says what to do
    when the body is over the limit, else it is "".
    """

    content: str
    chars: int
    limit: int
    over_limit: bool
    hint: str
    candidates: pd.DataFrame
    topics: pd.DataFrame

    def __repr__(self) -> str:
        """Return the size, then the body."""
        head = f"hot layer: {self.chars:,} of {self.limit:,} characters"
        counts = f"{len(self.candidates)} candidates, {len(self.topics)} topics"
        return "\n".join(filter(None, (f"{head}, {counts}", self.hint, "", _shown(self.content))))


def hot_layer(held: Hot | None, topics: pd.DataFrame, limit: int) -> HotLayer:
    """Return the hot layer as people see it; without a hot.md it is empty."""
    content = held.body if held else ""
    over = len(content) > limit
    hint = (
        f"the hot layer is {count(len(content) - limit, 'character')} over its limit; move details to the cold layer"
        if over
        else ""
    )
    candidates = tables.candidates(held.candidates if held else None)
    return HotLayer(content, len(content), limit, over, hint, candidates, topics)


@dataclass(frozen=True, slots=True, eq=False)
class Day:
    """One whole day: the text of its files, its entries, its index (None without one), and the path of its first file."""

    text: str
    entries: pd.DataFrame
    index: str | None
    path: str

    def _repr_markdown_(self) -> str:
        return harmless(self.text)

    def __repr__(self) -> str:
        """Return where the day lies and how much it holds, then its text."""
        return f"{self.path}: {count(len(self.entries), 'entry')}\n\n{_shown(self.text)}"


def harmless(text: str) -> str:
    """Return Markdown that loads nothing when it is shown: no image, no HTML, front matter as code.

    A memory may hold `![](https://…)` or `<img>`, which a notebook would fetch.
    """
    lines = text.split("\n")
    cut = front_matter(lines)
    shown = [f"    {line}" for line in cut.lines] if cut else []  # indented, it is code whatever it holds
    fence = ""
    for line in lines[cut.last if cut else 0 :]:
        opener = FENCE.match(line) if line[:1] in "`~" else None  # an indented one may end with its item
        if fence:
            fence = "" if closes(line, fence) else fence
        elif opener:
            fence = opener[1]
        else:
            line = line.replace("<", "&lt;").replace("![", "!\\[")
        shown.append(line)
    return "\n".join(shown)


def _shown(text: str) -> str:
    """Return a text whose control characters cannot reach a terminal."""
    return "\n".join(map(visible, text.split("\n")))
