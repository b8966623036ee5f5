"""An entry on its way to another layout, and the lines of Markdown that read as it does; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from memkit.blocks import scan
from memkit.edits import lines as edit_lines
from memkit.layouts.markdown import SECTION_JOIN, marks_of
from memkit.text import norm_text

_EXACT = 16  # more than any other score


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the source: where it stands, and all that a frame says of it; `stamp` is its instant as written.

    `outer` is the clock in its file's name, which its section does not hold.
    """

    path: str
    line: int
    kind: str
    day: date
    text: str
    tags: tuple[str, ...] = ()
    section: str | None = None
    clock: str | None = None
    stamp: str | None = None
    task: str | None = None
    block: str = "item"
    outer: str | None = None

    @property
    def place(self) -> str:
        """Return where it stands, as rows of plans say it."""
        return f"{self.path}:{self.line}"

    def sections(self, layout: str) -> list[str]:
        """Return the names of its headings; in an archive that of the day is none."""
        names = [name for name in (self.outer, *(self.section or "").split(SECTION_JOIN)) if name]
        return [name for name in names if layout == "workspace" or name != str(self.day)]


def form(entry: Entry, strictness: int) -> tuple[str, bool] | None:
    """Return the lines of an entry and whether they read as it does: else those that read most like it, None for none.

    With a `strictness` of 0 a block stands as it stood, with 1 it is a list item, with 2 one of one line.
    """
    best: str | None = None
    most = 0
    for lines in _forms(entry, strictness):
        score = _score(entry, lines)
        if score > most:
            best, most = lines, score
        if score == _EXACT:
            break
    return None if best is None else (best, most == _EXACT)


def _forms(entry: Entry, strictness: int) -> Iterator[str]:
    """Yield the ways to write an entry, from its own to one line."""
    tagged = [f"[{entry.tags[0]}] {entry.text}"] if entry.tags else []
    stamp = f"{entry.stamp} " if entry.stamp else ""
    task = f"[{entry.task}] " if entry.task is not None else ""
    texts = [entry.text, *tagged]
    if strictness == 0 and entry.block != "item" and not task:
        yield from (f"{stamp}{_as_block(entry.block, text)}" for text in texts)
    if strictness < 2:
        yield from (edit_lines.item(f"{task}{stamp}{text}") for text in texts)
    for fold in (_tidy, norm_text):
        yield from (edit_lines.item(fold(edit_lines.CONTROL.sub(" ", f"{task}{stamp}{text}"))) for text in texts)


def _as_block(block: str, text: str) -> str:
    """Return the text of a block as it stood: a table lacks the line below its first."""
    first, _, rest = text.partition("\n")
    if block != "table":
        return text
    columns = max(1, first.strip().strip("|").replace("\\|", "").count("|") + 1)
    return "\n".join(filter(None, [first, "|" + "---|" * columns, rest]))


def _tidy(text: str) -> str:
    """Return a text without blank lines and blanks that an item would not keep."""
    return "\n".join(line.rstrip() for line in text.strip().split("\n") if line.strip())


def _score(entry: Entry, lines: str) -> int:
    """Return how much of an entry is read from its lines: 0 for another number of entries than one."""
    found = scan(lines.split("\n"))
    if len(found.blocks) != 1 or found.problems or found.headings:
        return 0
    marks = marks_of(found.blocks[0].kind, found.blocks[0].text)
    if not marks.text.strip():
        return 0
    if (marks.text, marks.tags, marks.stamp, marks.task) == (entry.text, entry.tags, entry.stamp, entry.task):
        return _EXACT
    same = norm_text(marks.text) == norm_text(entry.text)
    tagged = marks.tags[:1] == entry.tags[:1]
    named = bool(entry.tags) and marks.text.startswith(f"[{entry.tags[0]}]")  # it is lost to no reader, even if it is none here
    return 1 + 4 * (tagged or named) + 2 * same + tagged + (marks.text == entry.text) + (marks.stamp == entry.stamp)
