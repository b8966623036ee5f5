"""One line of Markdown by itself: heading, fence, rule, list sign, indentation; and what a line leaves open for the next.

Which lines make a block together is blocks.py's work. Columns count from 0; a tab reaches to the next multiple of four.
"""

from __future__ import annotations

import re

HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
UNDERLINE = re.compile(r" {0,3}=+[ \t]*$")
QUOTE = re.compile(r" {0,3}>")
SIGN = re.compile(r"([ \t]*)(?:(?:[-*+]|([0-9]{1,9})[.)])(?:[ \t]+|$)|(?:([•●·])(?!\3)|[\u2460-\u2473]|[0-9]{1,3}、)[ \t]*)")
MERGE = re.compile(r"(?:<{7}|\|{7}|={7}|>{7})(?: |$)")
DELIMITER = re.compile(r" {0,3}(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$")
_PIPE = re.compile(r"(?<!\\)\|")
_DEEPEST = 32  # lists and quotes inside one another on one line; what lies deeper is text
_MAY_START_BLOCK = frozenset(" \t#`~>-*+_<|=0123456789•●·") | {chr(n) for n in range(0x2460, 0x2474)}


def indent(line: str) -> int:
    """Return the columns of blanks before a line's text; a tab reaches to the next multiple of four."""
    width = len(line) - len(line.lstrip(" \t"))
    return width if "\t" not in line[:width] else len(line[:width].expandtabs(4))


def dedent(line: str, columns: int) -> str:
    """Return the line without at most so many columns of leading blanks."""
    width = indent(line)
    return " " * max(0, width - columns) + line.lstrip(" \t") if line.strip() else ""


def closes(line: str, opener: str) -> bool:
    """Return whether a line closes the fence that its opener's sign started."""
    stripped = line.strip()
    return stripped.startswith(opener) and not stripped.strip(opener[0]) and indent(line) < 4


def interrupts(line: str, *, lazy: bool = False) -> bool:
    """Return whether a non-blank line starts a block of its own, even directly under text.

    Under a paragraph of its own only a list item with text, numbered 1 if at all, does; under text that would be a
    lazy continuation of an item or quote, any does.
    """
    if line[0] not in _MAY_START_BLOCK or indent(line) > 3:
        return False
    if HEADING.match(line) or FENCE.match(line) or QUOTE.match(line) or RULE.match(line):
        return True
    sign = SIGN.match(line)
    if sign is None:
        return line.lstrip().startswith("<!--")
    return lazy or (sign.end() < len(line) and (sign[2] is None or int(sign[2]) == 1))


def heading_of(line: str) -> tuple[int, str] | None:
    """Return the level and the text of a line that is a heading by itself, else None."""
    match = HEADING.match(line)
    if match is None:
        return None
    title = line[match.end() :].strip()
    text = title.rstrip("#")
    closed = text != title and (not text or text[-1] in " \t")  # `## Tea ##`, but not `## C#`
    return len(match[1]), text.rstrip() if closed else title


def cells(row: str) -> int:
    """Return how many cells a table row has; 0 if it has no pipe that is not escaped."""
    row = row.strip()
    pipes = len(_PIPE.findall(row))
    return pipes and pipes + 1 - row.startswith("|") - (row.endswith("|") and not row.endswith("\\|"))


def text_column(line: str, sign: re.Match[str]) -> int:
    """Return the column at which an item's text starts; behind a lone sign, or one before code, that is one blank on."""
    width = sign.end() if "\t" not in sign[0] else len(sign[0].expandtabs(4))
    bare = len(sign[0].rstrip(" \t").expandtabs(4))
    return bare + 1 if sign.end() == len(line) or width - bare > 4 else width


def inside(line: str, columns: list[int], state: str) -> str:
    """Return what is open behind a line of an item or quote: a fence's sign, "text" (a paragraph) or nothing.

    `columns` are those at which the text of the items open there starts, outermost first; they are brought up to date.
    """
    if not line.strip():
        return "" if state == "text" else state
    line = line.expandtabs(4) if "\t" in line else line
    level = len(columns) - 1
    while level and indent(line) < columns[level]:
        level -= 1
    text = dedent(line, columns[level])
    if level < len(columns) - 1:
        if state == "text" and not interrupts(text, lazy=True):
            return "text"
        del columns[level + 1 :]
        state = ""
    if state not in ("", "text"):
        return "" if closes(text, state) else state
    for _ in range(_DEEPEST):
        if indent(text) > 3 or text[:1] not in _MAY_START_BLOCK or RULE.match(text):
            break
        if sign := SIGN.match(text):
            columns.append(columns[-1] + text_column(text, sign))
            text, state = text[columns[-1] - columns[-2] :], ""
        elif quote := QUOTE.match(text):
            text = text[quote.end() :].removeprefix(" ")
        else:
            break
    return _open(text, state)


def _open(text: str, state: str) -> str:
    """Return what a line without its signs leaves open; `state` is what was open before."""
    if text[:1] not in _MAY_START_BLOCK:
        return "text" if text else ""
    if fence := FENCE.match(text):
        return fence[1]
    closed = HEADING.match(text) or RULE.match(text) or text.lstrip().startswith("<!--") or not text.strip()
    if closed or (UNDERLINE.match(text) if state == "text" else indent(text) >= 4):
        return ""
    return "text"
