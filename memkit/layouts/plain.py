"""Which blocks of many Markdown documents stand in plain lines, that can be read without the scanner of blocks.py.

Most blocks of a memory are an item or paragraph that ends where its lines say so. A line is of a kind that its first
characters tell; a block is plain if no line in it is odd and what follows cannot belong to it. The scanner is in no state
between two blocks, so that it finds a plain block wherever it arrives at the first line of one: the odd lines between
plain blocks are all that has to be scanned. Tests hold the two equal.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memkit.layouts.many import BLANK, Lines

EMPTY, ITEM, BELOW, HEADING, TEXT, QUOTE, ODD = range(7)


def _are(*kinds: int) -> Any:
    """Return by kind whether it is one of some."""
    return np.isin(range(ODD + 1), kinds)


_RUNS = _are(TEXT, QUOTE)  # lines of which those directly under one another are one block
_LAZY = _are(ITEM, BELOW, QUOTE)  # under which a line of text may belong to them
_ENDS = _are(ITEM, HEADING, QUOTE)  # what ends any block above it


def _bytes(*held: str) -> Any:
    """Return by byte whether it is one of some characters."""
    return np.isin(range(256), list("".join(held).encode()))


_SIGNS = _bytes("-*+")
# Bytes with which a character starts that is no blank and no sign of any kind, as most lines do.
_LETTERS = np.isin(range(256), [*b"([{", *range(0xC3, 0xE1), *range(0xE4, 0xF5)]) | _bytes(ascii_letters)
_DIGITS = _bytes(digits)

# An item of one sign and one blank, which is neither a rule nor the delimiter row of a table.
_ITEM = rf"^[-*+] (?:[-*_:|][-*_:| \t]*)?[^-*_:|{BLANK}]"
# A line that belongs to an item above it if that starts at the margin.
_BELOW = rf"^ {{2,}}[^{BLANK}]"
_HEADING = r"^#{1,6}[ \t\n]"
# What starts no block but a paragraph, and interrupts none; and, below, what might but for its next characters.
_TEXT = (
    rf"^(?:[^{BLANK}#`~>\-*+_<|=0-9:•●·\x{{2460}}-\x{{2473}}]"
    rf"|\*\*?[^-*_{BLANK}]|_[^-*_{BLANK}]|`{{1,2}}[^`{BLANK}]|<[^!<{BLANK}]|[0-9]+[^0-9.)、])"
)
_INDENTED = f"^[{BLANK}]"
_MERGE = "^<<<<<<<"


class Blocks(NamedTuple):
    """Where blocks start, in order: their first line, their last one with text, their kind, and whether they are plain."""

    first: Any
    last: Any
    kind: Any
    plain: Any


def blocks(lines: Lines, starts: Any) -> Blocks:
    """Return the blocks of documents, each from its line `starts` on; one that is not plain may be no block at all."""
    kind = _kinds(lines, starts)
    first = np.flatnonzero(_opens(kind, lines.owner))
    behind = np.append(first[1:], len(kind))
    filled = np.maximum.accumulate(np.where(kind != EMPTY, np.arange(len(kind)), 0))
    last = filled[behind - 1]
    return Blocks(first, last, kind[first], _is_plain(lines, kind, first, last))


def merges(lines: Lines, odd: Any) -> Any:
    """Return which documents have, among their odd lines, one that might open an unresolved merge."""
    return np.unique(lines.owner[odd[_hits(lines.column.take(pa.array(odd)), _MERGE)]])


def _kinds(lines: Lines, starts: Any) -> Any:
    """Return the kind of each line; those above a document's start are taken for empty ones."""
    head, second, third = (lines.codes[lines.at[:-1] + n] for n in range(3))
    kind = np.full(len(lines.owner), ODD, "int8")
    kind[head == ord(">")] = QUOTE
    kind[_LETTERS[head]] = TEXT
    signed = _SIGNS[head] & (second == ord(" "))
    kind[signed & (_LETTERS | _DIGITS)[third]] = ITEM
    kind[np.diff(lines.at) == len("\n")] = EMPTY
    kind[lines.number <= starts[lines.owner]] = EMPTY
    odd = kind == ODD
    _name(kind, lines, np.flatnonzero(odd & signed), ITEM, _ITEM)
    _name(kind, lines, np.flatnonzero(odd & (head == ord(" "))), BELOW, _BELOW)
    _name(kind, lines, np.flatnonzero(odd & (head == ord("#"))), HEADING, _HEADING)
    _name(kind, lines, np.flatnonzero(kind == ODD), TEXT, _TEXT)
    _below_items(kind, lines.owner)
    lazy = (kind[1:] == TEXT) & _LAZY[kind[:-1]] & _same(lines.owner)
    kind[1:][lazy] = ODD
    return kind


def _name(kind: Any, lines: Lines, rows: Any, name: int, pattern: str) -> None:
    kind[rows[_hits(lines.column.take(pa.array(rows)), pattern)]] = name


def _hits(column: Any, pattern: str) -> Any:
    return np.flatnonzero(np.asarray(pc.match_substring_regex(column, pattern)))


def _same(owner: Any) -> Any:
    """Return of each line but the first whether the one before it is of the same document."""
    return owner[1:] == owner[:-1]


def _below_items(kind: Any, owner: Any) -> None:
    """Take the lines that are indented but not below an item for odd ones."""
    opens = np.maximum.accumulate(np.where((kind != EMPTY) & (kind != BELOW), np.arange(len(kind)), 0))
    kind[(kind == BELOW) & ((kind[opens] != ITEM) | (owner[opens] != owner))] = ODD


def _opens(kind: Any, owner: Any) -> Any:
    """Return which lines open a block: all but empty ones, those below an item, and those of a run behind its first."""
    opens = (kind != EMPTY) & (kind != BELOW)
    opens[1:] &= ~_RUNS[kind[1:]] | (kind[:-1] != kind[1:]) | ~_same(owner)
    return opens


def _is_plain(lines: Lines, kind: Any, first: Any, last: Any) -> Any:
    """Return which blocks are over before the next one starts, whatever that is."""
    own, following = kind[first], np.append(kind[first[1:]], EMPTY)
    apart = np.append(lines.owner[first[1:]] != lines.owner[first[:-1]], True)
    ended = apart | (np.append(first[1:], 0) > last + 1) | _ENDS[following]
    plain = (own == HEADING) | ((own != ODD) & ended)
    rows = np.flatnonzero(plain & (own == ITEM) & (following == ODD) & ~apart)
    plain[rows[_hits(lines.column.take(pa.array(first[rows + 1])), _INDENTED)]] = False
    return plain
