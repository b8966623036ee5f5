"""The one Markdown block scanner: lines in; headings and blocks (item, paragraph, table, quote, code) out.

It follows CommonMark with GFM tables, except where real memory files differ: an indented list item belongs to the item
above it; `•`, `①` and `1、` are list signs, an item of nothing but its sign is dropped; prose above `---` is prose and a
rule; a code fence right under an item or paragraph belongs to it; HTML other than comments, and link definitions, are
prose; text under a table inside an item or quote stays with it; merge markers, comment lines and a later front matter are
nobody's text. What a single line is lies in lines.py, what the text means is read in marks.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from memkit.lines import (
    DELIMITER,
    FENCE,
    MERGE,
    QUOTE,
    RULE,
    SIGN,
    UNDERLINE,
    cells,
    closes,
    dedent,
    heading_of,
    indent,
    inside,
    interrupts,
    text_column,
)
from memkit.model import Problem
from memkit.text import front_matter_at

_DASH = re.compile("[—–][ \t]")
_PLAIN_KEYS = re.compile(r"(?:[a-z][a-z0-9_-]*:(?:[ \t]|$)|[ \t]|- |#|$)")


class Heading(NamedTuple):
    """A heading: its level, its text, its line, and the index of the heading above it (-1: none)."""

    level: int
    text: str
    line: int
    parent: int


class Block(NamedTuple):
    """One block: its kind, first and last line, its text without list sign and indentation, its heading's index."""

    kind: str
    line: int
    end_line: int
    text: str
    heading: int


class Scan(NamedTuple):
    """What a document holds: headings and blocks in order, bad places, and what each line was taken for."""

    headings: list[Heading]
    blocks: list[Block]
    problems: list[Problem]
    spans: list[str]


def scan(lines: list[str], start: int = 0) -> Scan:
    """Return the blocks of the lines from index `start` on; line numbers count from 1 over all of `lines`."""
    found = Scan([], [], [], ["blank"] * len(lines))
    found.spans[:start] = ["front matter" if line.strip() else "blank" for line in lines[:start]]
    markers = _merge_markers(lines, start)
    here = start
    while here < len(lines):
        here = _behind(lines, here, found, markers)
    return found


def scan_gaps(lines: list[str], starts: Iterable[int], known: Sequence[int]) -> tuple[Scan, list[tuple[int, int]]]:
    """Return the blocks from each of the indexes `starts` on up to the next that is known, and the stretches read for it.

    `known` says of each line whether a block starts there of which the caller knows all. The lines have no merge marker.
    """
    found = Scan([], [], [], ["blank"] * len(lines))
    gaps = []
    here = 0
    for start in starts:
        if start < here:
            continue
        here = start
        while here < len(lines) and not known[here]:
            here = _behind(lines, here, found, frozenset())
        gaps.append((start, here))
    return found, gaps


def _behind(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    """Read the block at an index, or skip a blank line, and return the index behind it."""
    line = lines[here]
    if not line or line.isspace():
        return here + 1
    if here in markers:
        return _merge_marker(lines, here, found)
    readers = _READERS.get(line[0]) or (_ANY if line[0].isspace() else _OTHERS)
    return next(end for read in readers if (end := read(lines, here, found, markers)))


def _mark(found: Scan, lines: list[str], start: int, end: int, span: str) -> int:
    for number in range(start, end):
        if lines[number].strip():
            found.spans[number] = span
    return end


def _add(found: Scan, lines: list[str], kind: str, start: int, end: int, text: str) -> int:
    """Record a block of lines[start:end], or layout text if nothing is in it, and return the end."""
    text = text.strip("\n").rstrip()
    if not text.strip():
        return _mark(found, lines, start, end, "layout")
    last = end
    while not lines[last - 1].strip():
        last -= 1
    found.blocks.append(Block(kind, start + 1, last, text, len(found.headings) - 1))
    return _mark(found, lines, start, end, "entry")


# Readers: each returns the index behind its block at `here`, or 0 if no such block starts there.


def _fence(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    if FENCE.match(lines[here]) is None:
        return 0
    end = _fence_end(lines, here, found)
    return _add(found, lines, "code", here, end, "\n".join(lines[here:end]))


def _fence_end(lines: list[str], here: int, found: Scan) -> int:
    """Return the index behind a fence; one that is never closed ends where the file ends and is reported."""
    opener = FENCE.match(lines[here])
    assert opener is not None
    for end in range(here + 1, len(lines)):
        if closes(lines[end], opener[1]):
            return end + 1
    found.problems.append(Problem("unclosed-fence", here + 1, "a code fence opened here never closes"))
    return len(lines)


def _comment(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    stripped = lines[here].lstrip()
    if not stripped.startswith("<!--") or indent(lines[here]) > 3:
        return 0
    for end in range(here, len(lines)):
        _, closed, rest = lines[end].rpartition("-->") if end > here else stripped[4:].rpartition("-->")
        if closed:
            if not rest.strip():
                return _mark(found, lines, here, end + 1, "marker")
            return _mark(found, lines, here, end, "marker") if end > here else 0
    found.problems.append(Problem("unclosed-fence", here + 1, "a comment opened here never closes; all after it is unread"))
    return _mark(found, lines, here, len(lines), "marker")


def _later_front_matter(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    if lines[here].rstrip() != "---":
        return 0
    block = front_matter_at(lines, here)
    if block is None or not all(_PLAIN_KEYS.match(line) for line in block.lines):
        return 0
    if not markers:
        found.problems.append(
            Problem("double-frontmatter", here + 1, "a front-matter block that is not at the top of the file")
        )
    return _mark(found, lines, here, block.last, "front matter")


def _rule(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    return _mark(found, lines, here, here + 1, "layout") if RULE.match(lines[here]) else 0


def _heading(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    heading = heading_of(lines[here])
    return _add_heading(found, lines, *heading, here, here + 1) if heading else 0


def _add_heading(found: Scan, lines: list[str], level: int, text: str, start: int, end: int) -> int:
    parent = len(found.headings) - 1
    while parent >= 0 and found.headings[parent].level >= level:
        parent = found.headings[parent].parent
    found.headings.append(Heading(level, text, start + 1, parent))
    return _mark(found, lines, start, end, "heading")


def _item(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    line = lines[here]
    sign = SIGN.match(line)
    if sign is None or indent(line) > 3:
        return 0
    content = text_column(line, sign)
    body, end = _item_lines(lines, here, content, markers)
    text = line[sign.end() :]
    behind = _fences_below(lines, end, found, markers)
    if behind > here + 1:
        text = "\n".join([text, *(dedent(line, content) for line in body), *lines[end:behind]])
    return _add(found, lines, "item", here, behind, text)


def _item_lines(lines: list[str], here: int, content: int, markers: frozenset[int]) -> tuple[list[str], int]:
    """Return the lines of an item below its first, and the index behind them."""
    base, columns, end = indent(lines[here]), [0], here + 1
    if end < len(lines) and indent(lines[end]) <= base and SIGN.match(lines[end]):
        return [], end  # by far the most frequent case
    state = inside(lines[here], columns, "")
    columns = columns[1:]
    at = end
    while at < len(lines) and at not in markers:
        line = lines[at]
        if not line.strip():
            state = inside(line, columns, state)
        elif (depth := indent(line)) >= content or (depth > base and SIGN.match(line)):
            state = inside(line, columns, state)
            end = at + 1
        elif state == "text" and not interrupts(lines[at], lazy=True) and not _DASH.match(line):
            end = at + 1
        else:
            break
        at += 1
    return lines[here + 1 : end], end


def _fences_below(lines: list[str], end: int, found: Scan, markers: frozenset[int]) -> int:
    """Return the index behind the code fences that stand directly under a block (they belong to it)."""
    while end < len(lines) and end not in markers and FENCE.match(lines[end]):
        end = _fence_end(lines, end, found)
    return end


def _quote(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    if QUOTE.match(lines[here]) is None:
        return 0
    end, columns, state = here, [0], ""
    while end < len(lines) and end not in markers and lines[end].strip():
        if quote := QUOTE.match(lines[end]):
            state = inside(lines[end][quote.end() :].removeprefix(" "), columns, state)
        elif state != "text" or interrupts(lines[end], lazy=True):
            break
        end += 1
    return _add(found, lines, "quote", here, end, "\n".join(lines[here:end]))


def _table(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    if not _is_table(lines, here):
        return 0
    end = here + 2
    while end < len(lines) and end not in markers and lines[end].strip() and not interrupts(lines[end], lazy=True):
        end += 1
    return _add(found, lines, "table", here, end, "\n".join([lines[here], *lines[here + 2 : end]]))


def _is_table(lines: list[str], here: int, *, under_text: bool = False) -> bool:
    """Return whether a header row and its delimiter row stand at the index; directly under text it starts with a pipe."""
    if "|" not in lines[here] or here + 1 == len(lines) or not DELIMITER.match(lines[here + 1].rstrip()):
        return False
    if indent(lines[here]) > 3 or (under_text and not lines[here].lstrip().startswith("|")):
        return False
    return 0 < cells(lines[here]) == cells(lines[here + 1])


def _indented_code(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    if indent(lines[here]) < 4:
        return 0
    end = here
    while end < len(lines) and end not in markers and (not lines[end].strip() or indent(lines[end]) >= 4):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return _add(found, lines, "code", here, end, "\n".join(lines[here:end]))


def _paragraph(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    end = here + 1
    while end < len(lines) and end not in markers and lines[end].strip():
        if UNDERLINE.match(lines[end]):
            title = " ".join(line.strip() for line in lines[here:end])
            return _add_heading(found, lines, 1, title, here, end + 1)
        if interrupts(lines[end]) or _is_table(lines, end, under_text=True):
            break
        end += 1
    behind = _fences_below(lines, end, found, markers)
    return _add(found, lines, "paragraph", here, behind, "\n".join(lines[here:behind]))


Reader = Callable[[list[str], int, Scan, frozenset[int]], int]
_ANY: tuple[Reader, ...] = (
    _fence, _comment, _later_front_matter, _rule, _heading, _indented_code, _item, _quote, _table, _paragraph,
)  # fmt: skip
_TEXT: tuple[Reader, ...] = (_table, _paragraph)
_OTHERS: tuple[Reader, ...] = (_item, *_TEXT)
# By the first character of a line that is no blank: what may start there, in the order of _ANY.
_READERS: dict[str, tuple[Reader, ...]] = {
    "`": (_fence, *_TEXT), "~": (_fence, *_TEXT), "<": (_comment, *_TEXT), "#": (_heading, *_TEXT), ">": (_quote,), "|": _TEXT,
    "-": (_later_front_matter, _rule, *_OTHERS), "*": (_rule, *_OTHERS), "_": (_rule, *_TEXT),
}  # fmt: skip


def _merge_markers(lines: list[str], start: int) -> frozenset[int]:
    """Return the indexes of git and diff3 conflict markers: from a `<<<<<<<` outside fences to its `>>>>>>>`."""
    found: set[int] = set()
    region: list[int] = []
    fence = ""
    for at in range(start, len(lines)):
        line = lines[at]
        if fence and not region:
            fence = "" if closes(line, fence) else fence
        elif MERGE.match(line) and (region or line.startswith("<<<<<<<")):
            region.append(at)
            if line.startswith(">>>>>>>"):
                found.update(region)
                region = []
        elif not region and (opener := FENCE.match(line)):
            fence = opener[1]
    return frozenset(found)


def _merge_marker(lines: list[str], here: int, found: Scan) -> int:
    if lines[here].startswith("<<<<<<<"):
        found.problems.append(Problem("merge-marker", here + 1, "an unresolved merge: both sides are still in the file"))
    return _mark(found, lines, here, here + 1, "problem")


def open_end(lines: list[str], start: int = 0) -> str:
    """Return the line that closes a fence or comment which is still open at the end of the lines, or ""."""
    unclosed = [problem.line for problem in scan(lines, start).problems if problem.rule == "unclosed-fence"]
    if not unclosed:
        return ""
    opener = FENCE.match(lines[unclosed[-1] - 1])
    return opener[1] if opener else "-->"
