"""The one Markdown block scanner: lines in; headings and blocks (item, paragraph, table, quote, code) out.

It follows CommonMark with GFM tables, except where real memory files differ: an indented list item belongs to the item
above it; `•`, `①` and `1、` are list signs; prose above `---` is prose and a rule; a code fence right under an item or
paragraph belongs to it; merge markers and comment lines are nobody's text. What the text means is read in marks.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from memkit.model import Problem
from memkit.text import front_matter_at

HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
UNDERLINE = re.compile(r" {0,3}=+[ \t]*$")
QUOTE = re.compile(r" {0,3}>")
SIGN = re.compile(r"([ \t]*)(?:(?:[-*+]|([0-9]{1,9})[.)])(?:[ \t]+|$)|(?:([•●·])(?!\3)|[\u2460-\u2473]|[0-9]{1,9}、)[ \t]*)")
MERGE = re.compile(r"(?:<{7}|\|{7}|={7}|>{7})(?: |$)")
_DELIMITER = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CELL = re.compile(r"(?<!\\)\|")
_DASH = re.compile("[—–][ \t]")
_PLAIN_KEYS = re.compile(r"(?:[a-z][a-z0-9_-]*:(?:[ \t]|$)|[ \t]|- |#|$)")
_MAY_START_BLOCK = frozenset(" \t#`~>-*+_<|=0123456789•●·") | {chr(n) for n in range(0x2460, 0x2474)}


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
        line = lines[here]
        if not line or line.isspace():
            here += 1
        elif here in markers:
            here = _merge_marker(lines, here, found)
        else:
            here = next(end for read in _READERS if (end := read(lines, here, found, markers)))
    return found


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
        if _closes(lines[end], opener[1]):
            return end + 1
    found.problems.append(Problem("unclosed-fence", here + 1, "a code fence opened here never closes"))
    return len(lines)


def _closes(line: str, opener: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(opener) and not stripped.strip(opener[0]) and indent(line) < 4


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
    match = HEADING.match(lines[here])
    if match is None:
        return 0
    return _add_heading(found, lines, len(match[1]), (match[2] or "").strip(), here, here + 1)


def _add_heading(found: Scan, lines: list[str], level: int, text: str, start: int, end: int) -> int:
    parent = len(found.headings) - 1
    while parent >= 0 and found.headings[parent].level >= level:
        parent = found.headings[parent].parent
    found.headings.append(Heading(level, text, start + 1, parent))
    return _mark(found, lines, start, end, "heading")


def _item(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    sign = SIGN.match(lines[here])
    if sign is None or indent(lines[here]) > 3:
        return 0
    base = indent(lines[here])
    content = base + len(sign[0]) - len(sign[1])
    body, end = _item_lines(lines, here, base, content, markers)
    text = [lines[here][sign.end() :], *(_dedent(line, content) for line in body)]
    behind = _fences_below(lines, end, found, markers)
    return _add(found, lines, "item", here, behind, "\n".join(text + lines[end:behind]))


def _item_lines(lines: list[str], here: int, base: int, content: int, markers: frozenset[int]) -> tuple[list[str], int]:
    """Return the lines of an item below its first, and the index behind them."""
    fence = _opened(lines[here][content:])
    lazy, end, at = bool(lines[here][content:].strip()) and not fence, here + 1, here + 1
    while at < len(lines) and at not in markers:
        line = lines[at]
        if line.strip():
            blank, depth = at > end, indent(line)
            if fence and depth >= content:
                fence = "" if _closes(line[content:], fence) else fence
                lazy = False
            elif _continues(line, depth, base, content, blank):
                fence = _opened(_dedent(line, content))
                lazy = not fence
            elif blank or not lazy or _interrupts(lines, at) or _DASH.match(line):
                break
            end = at + 1
        at += 1
    return lines[here + 1 : end], end


def _continues(line: str, depth: int, base: int, content: int, blank: bool) -> bool:
    """Return whether an indented line is part of the item: a nested item, or text that is indented enough."""
    if depth <= base:
        return False
    if depth >= content or SIGN.match(line):
        return True
    if FENCE.match(line) or HEADING.match(line) or QUOTE.match(line):
        return False
    return not blank or depth >= base + 2


def _opened(text: str) -> str:
    """Return the fence that a line of an item opens, or ""."""
    nested = SIGN.match(text)
    match = FENCE.match(text[nested.end() :] if nested else text.lstrip())
    return match[1] if match else ""


def _fences_below(lines: list[str], end: int, found: Scan, markers: frozenset[int]) -> int:
    """Return the index behind the code fences that stand directly under a block (they belong to it)."""
    while end < len(lines) and end not in markers and FENCE.match(lines[end]):
        end = _fence_end(lines, end, found)
    return end


def _quote(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    if QUOTE.match(lines[here]) is None:
        return 0
    end = here + 1
    while end < len(lines) and end not in markers and lines[end].strip():
        lazy = lines[end - 1].strip(" \t>") and not _interrupts(lines, end)
        if not QUOTE.match(lines[end]) and not lazy:
            break
        end += 1
    return _add(found, lines, "quote", here, end, "\n".join(lines[here:end]))


def _table(lines: list[str], here: int, found: Scan, markers: frozenset[int]) -> int:
    if not _is_table(lines, here):
        return 0
    end = here + 2
    while end < len(lines) and end not in markers and "|" in lines[end] and not _interrupts(lines, end):
        end += 1
    return _add(found, lines, "table", here, end, "\n".join([lines[here], *lines[here + 2 : end]]))


def _is_table(lines: list[str], here: int) -> bool:
    """Return whether a header row and its delimiter row stand at the index."""
    if "|" not in lines[here] or here + 1 == len(lines) or not _DELIMITER.match(lines[here + 1]):
        return False
    header, delimiter = (len(_CELL.findall(line.strip().strip("|"))) for line in lines[here : here + 2])
    return header == delimiter and ("|" in lines[here + 1] or header > 0)


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
        if _interrupts(lines, end) or _is_table(lines, end):
            break
        end += 1
    behind = _fences_below(lines, end, found, markers)
    return _add(found, lines, "paragraph", here, behind, "\n".join(lines[here:behind]))


Reader = Callable[[list[str], int, Scan, frozenset[int]], int]
_READERS: tuple[Reader, ...] = (
    _fence, _comment, _later_front_matter, _rule, _heading, _indented_code, _item, _quote, _table, _paragraph,
)  # fmt: skip


def _interrupts(lines: list[str], at: int) -> bool:
    """Return whether a non-blank line starts a block of its own, even directly under text."""
    line = lines[at]
    if line[0] not in _MAY_START_BLOCK or indent(line) > 3:
        return False
    if HEADING.match(line) or FENCE.match(line) or QUOTE.match(line) or RULE.match(line):
        return True
    sign = SIGN.match(line)
    if sign is None:
        return line.lstrip().startswith("<!--")
    return sign.end() < len(line) and (sign[2] is None or int(sign[2]) == 1)


def indent(line: str) -> int:
    """Return the columns of blanks before a line's text; a tab reaches to the next multiple of four."""
    width = len(line) - len(line.lstrip(" \t"))
    return width if "\t" not in line[:width] else len(line[:width].expandtabs(4))


def _dedent(line: str, columns: int) -> str:
    """Return the line without at most so many columns of leading blanks."""
    width = indent(line)
    return " " * max(0, width - columns) + line.lstrip(" \t") if line.strip() else ""


def _merge_markers(lines: list[str], start: int) -> frozenset[int]:
    """Return the indexes of git and diff3 conflict markers: from a `<<<<<<<` outside fences to its `>>>>>>>`."""
    found: set[int] = set()
    region: list[int] = []
    fence = ""
    for at in range(start, len(lines)):
        line = lines[at]
        if fence and not region:
            fence = "" if _closes(line, fence) else fence
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
