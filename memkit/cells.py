"""Text in terminal cells, where a Chinese character takes two: made visible, measured, clipped, padded, wrapped."""

from __future__ import annotations

import re
import unicodedata

from memkit.model import clean

WIDTH = 79  # columns of a text twin
_PLURALS = {"entry": "entries", "info": "info"}
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# C0 has pictures of its own; C1 and marks that turn the direction of all that follows have none.
_PICTURES = {code: chr(0x2400 + code) for code in range(32)} | dict.fromkeys((10, 0x85, 0x2028, 0x2029), "⏎")
_PICTURES |= {9: " ", 127: "␡"}


def visible(text: str) -> str:
    """Return the text on one line, safe to print: breaks as ⏎, control characters as pictures or U+FFFD."""
    text = clean(text.replace("\0", "␀").replace("\r\n", "\n").replace("\r", "␍"))
    return _CONTROL.sub(lambda found: _PICTURES.get(ord(found[0]), "\ufffd"), text)


def columns(text: str) -> int:
    """Return how many columns the text takes in a terminal: Chinese and emoji two a character, combining marks none."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _head(text: str, room: int) -> str:
    """Return the longest start of the text that fits; a flood of marks without width is cut too."""
    used = 0
    for place, character in enumerate(text[: 4 * room]):
        used += _cell(character)
        if used > room:
            return text[:place]
    return text[: 4 * room]


def clip(text: str, room: int) -> str:
    """Return the visible text cut to `room` columns, with … where something was cut."""
    text = visible(text[: 4 * room + 2])
    return text if _head(text, room) == text else _head(text, room - 1) + "…"


def pad(text: str, room: int, *, right: bool = False) -> str:
    """Return the text filled with blanks to `room` columns; `right` puts the blanks before it."""
    blanks = " " * (room - columns(text))
    return blanks + text if right else text + blanks


def wrap(text: str, indent: str = "", *, width: int = WIDTH) -> list[str]:
    """Return visible text as lines of at most `width` columns, broken at a near blank; `indent` is blank after the first."""
    rest, room = visible(text), max(2, width - len(indent))  # two, so that every character has its place
    lines: list[str] = []
    while rest:
        head = _head(rest, room)
        blank = head.rfind(" ")
        if len(head) < len(rest) and rest[len(head)] != " " and blank > len(head) // 2:
            head = head[:blank]
        lines.append((" " * len(indent) if lines else indent) + head.rstrip())
        rest = rest[len(head) :].lstrip()
    return lines


def count(number: int, word: str) -> str:
    """Return `1 entry`, `1,234 entries`."""
    return f"{number:,} {word if number == 1 else _PLURALS.get(word, word + 's')}"
