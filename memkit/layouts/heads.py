"""The marks of many entries as columns: of those that start plainly all at once, of the others as marks.py reads each."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memkit.layouts.many import BLANK, Lines, places_of
from memkit.layouts.plain import ITEM, ODD, QUOTE, TEXT
from memkit.marks import hash_tags, is_plain_start, is_tag, label_at_start
from memkit.model import BLOCKS

_BLOCKS = np.zeros(ODD, "int8")  # by a kind in plain.py, the place in BLOCKS
_BLOCKS[[ITEM, TEXT, QUOTE]] = [BLOCKS.index(name) for name in ("item", "paragraph", "quote")]
_SIGN, _BOX = len("- "), len("[x] ")
_GLANCE = 64  # bytes in which a leading tag ends; a longer one may be any other mark
_TAG = r"^\[(?P<tag>[^\[\]\n]+)\] "
# As much of a text as marks.label_at_start looks at.
_LABEL = r"^(?P<head>\*\*[^*\n]+\*\*[ \t]*[:：–—-]?[ \t]?)"
_WORD = rf"^(?P<word>[^{BLANK}]*)"
_SIGN_OF_TAG = pa.scalar("#", pa.large_string())
_OPEN, _CLOSE, _BLANK, _STAR = b"[] *"
_TASKS = (*b" xX",)


class Marked(NamedTuple):
    """Entries with their marks as columns, and all their tags as two more, in the order of their lines.

    `first` and `last` are their lines, as places in the lines of all documents, `block` is their kind, as a place in
    BLOCKS, text to clock are as in marks.Marks; `tagged` is the first line of the entry that has the tag in `tags`.
    """

    first: Any
    last: Any
    block: Any
    text: Any
    tag: Any
    task: Any
    stamp: Any
    label: Any
    clock: Any
    tagged: Any
    tags: Any


def marked(lines: Lines, first: Any, last: Any, kind: Any) -> tuple[Marked, list[tuple[int, int, str, str]]]:
    """Return the plain blocks that start plainly, and the others as rows: first and last line, kind, text."""
    item = kind == ITEM
    begin = lines.at[first] + _SIGN * item
    end = lines.trimmed(begin, lines.at[last + 1] - 1)
    nested = item & (last > first)
    start, task = _tasks(lines, begin, item)
    start, tag, known = _tags(lines, start, end)
    label, simple = _labels(lines, start, end)
    known = (known & simple) | (kind == QUOTE)
    hashes = _holding(lines, np.where(known, start, end), end, "#")
    hashed = _texts(lines, start[hashes], end[hashes], nested[hashes])
    odd = _is_odd_hash(hashed, kind[hashes])
    known[hashes[odd]] = False
    hashes, hashed = hashes[~odd], hashed.filter(pa.array(~odd))
    others = _rows(lines, *(column[~known] for column in (first, last, kind, begin, end, nested)))
    tag = tag if known.all() else _spread(tag.filter(pa.array(known)), np.flatnonzero(known), len(known))
    tag, places, tags = _hashed(hashed, tag, hashes, item)
    rows = np.flatnonzero(known)
    text = _texts(lines, start[rows], end[rows], nested[rows])
    if len(rows) < len(known):
        tag, task, label = (column.take(pa.array(rows)) for column in (tag, task, label))
    missing = pa.nulls(len(rows), pa.large_string())
    columns = (text, tag, task, missing, label, missing)
    return Marked(first[rows], last[rows], _BLOCKS[kind[rows]], *columns, first[places], tags), others


def _rows(lines: Lines, first: Any, last: Any, kind: Any, *place: Any) -> list[tuple[int, int, str, str]]:
    """Return blocks as rows: first and last line, kind, text."""
    kinds = [BLOCKS[code] for code in _BLOCKS[kind].tolist()]
    return list(zip(first.tolist(), last.tolist(), kinds, _texts(lines, *place).to_pylist(), strict=True))


def _tasks(lines: Lines, start: Any, item: Any) -> tuple[Any, Any]:
    """Return where the texts start behind their checkboxes, and what is in those."""
    rows = np.flatnonzero(item & (lines.codes[start] == _OPEN))
    mark, close, blank = (lines.codes[start[rows] + n] for n in (1, 2, 3))
    rows = rows[np.isin(mark, _TASKS) & (close == _CLOSE) & (blank == _BLANK)]
    task = _spread(lines.pieces(start[rows] + 1, start[rows] + 2), rows, len(start))
    start = start.copy()
    start[rows] += _BOX
    return start, task


def _tags(lines: Lines, start: Any, end: Any) -> tuple[Any, Any, Any]:
    """Return where the texts start behind a leading tag, the tags, and which texts have no bracket that may be another mark."""
    rows = np.flatnonzero(lines.codes[start] == _OPEN)
    heads = lines.pieces(start[rows], np.minimum(end[rows], start[rows] + _GLANCE))
    (written,) = pc.extract_regex(heads, _TAG).flatten()
    tag = _mapped(written, _tag)
    size = pc.fill_null(pc.binary_length(written), 0).to_numpy() + len("[] ")
    start = start.copy()
    start[rows] += np.where(np.asarray(tag.is_valid()), size, 0)
    return start, _spread(tag, rows, len(start)), lines.codes[start] != _OPEN


def _tag(written: str) -> str | None:
    """Return the tag in brackets, None if it is none or may be an instant."""
    name = written.strip()
    return name if written[0] not in "0123456789" and is_tag(name) else None


def _mapped(column: Any, call: Callable[[str], str | None]) -> Any:
    """Return a column with what a function makes of each value, asked once for those that are equal."""
    coded = column.dictionary_encode()
    return pa.array([call(value) for value in coded.dictionary.to_pylist()], pa.large_string()).take(coded.indices)


def _texts(lines: Lines, start: Any, end: Any, nested: Any) -> Any:
    """Return the texts, those that have lines below an item without its indentation."""
    text = lines.pieces(start, end)
    if nested.any():
        below = pc.replace_substring(text.filter(pa.array(nested)), "\n  ", "\n")
        text = pc.replace_with_mask(text, pa.array(nested), below)
    return text


def _labels(lines: Lines, start: Any, end: Any) -> tuple[Any, Any]:
    """Return the labels, and of which texts it is known that nothing but a label and #tags is in them."""
    rows = np.flatnonzero((lines.codes[start] == _STAR) & (lines.codes[start + 1] == _STAR))
    (written,) = pc.extract_regex(lines.pieces(start[rows], end[rows]), _LABEL).flatten()
    label = _spread(_mapped(written, label_at_start), rows, len(start))
    behind = start.copy()
    behind[rows] += len("**")
    heads = pa.array(lines.characters(behind)).dictionary_encode()
    plain = np.array([_is_plain_start(number) for number in heads.dictionary.to_pylist()], bool)
    return label, plain[heads.indices.to_numpy()]


@lru_cache(16_384)
def _is_plain_start(number: int) -> bool:
    return is_plain_start(number.to_bytes(4).rstrip(b"\0").decode())


def _is_odd_hash(text: Any, kind: Any) -> Any:
    """Return which of some texts with a `#` may have it in code, or are quotes."""
    return np.asarray(pc.match_substring_regex(text, "[`~]")) | (kind == QUOTE)


def _hashed(text: Any, tag: Any, rows: Any, item: Any) -> tuple[Any, Any, Any]:
    """Return the first tag of each text, and all tags behind the places of their texts; `text` are those with #tags."""
    hashed, names = _hash_tags(text, item[rows])
    own = np.flatnonzero(np.asarray(tag.is_valid()))
    if not len(hashed):
        return tag, own, tag.take(pa.array(own))
    heads = tag.take(pa.array(rows[hashed])).to_pylist()
    found = zip(rows[hashed].tolist(), names, heads, strict=True)
    pairs = dict.fromkeys((row, name) for row, name, head in found if name != head)
    places = np.concatenate([own, np.array([row for row, _ in pairs], "int64")])
    tags = pa.concat_arrays([tag.take(pa.array(own)), pa.array([name for _, name in pairs], pa.large_string())])
    order = np.argsort(places, kind="stable")
    places, tags = places[order], tags.take(pa.array(order))
    at = np.flatnonzero(np.diff(places, prepend=-1))
    return _spread(tags.take(pa.array(at)), places[at], len(tag)), places, tags


def _hash_tags(text: Any, item: Any) -> tuple[Any, list[str]]:
    """Return the #tags of texts without code, behind the places of their texts: each hangs on the character before its sign."""
    found = pc.split_pattern(text, "#")
    parts, starts = found.flatten(), found.offsets.to_numpy()
    owner = np.repeat(np.arange(len(text)), np.diff(starts))
    behind = np.delete(np.arange(len(parts)), starts[:-1])
    before = parts.take(pa.array(behind - 1))
    leads = item[owner[behind]] & (behind - 1 == starts[owner[behind]]) & (pc.binary_length(before).to_numpy() == 0)
    sign = pc.if_else(pa.array(leads), " ", pc.utf8_slice_codeunits(before, -1))  # an item's text has a blank before it
    (word,) = pc.extract_regex(parts.take(pa.array(behind)), _WORD).flatten()
    tags = _mapped(pc.binary_join_element_wise(sign, word, _SIGN_OF_TAG), _hash_tag)
    held = np.flatnonzero(np.asarray(tags.is_valid()))
    return owner[behind[held]], tags.take(pa.array(held)).to_pylist()


def _hash_tag(written: str) -> str | None:
    return next(iter(hash_tags(written, item=False)), None)


def _holding(lines: Lines, start: Any, end: Any, sign: str) -> Any:
    """Return which texts hold an ASCII character."""
    hits = places_of(sign, lines.codes)
    rows = np.searchsorted(start, hits, "right")
    hits, rows = hits[rows > 0], rows[rows > 0] - 1
    rows = rows[hits < end[rows]]
    return rows[np.diff(rows, prepend=-1) > 0]


def _spread(values: Any, rows: Any, size: int) -> Any:
    """Return a column of the size with the values in some rows, missing in the others."""
    if not len(rows):
        return pa.nulls(size, pa.large_string())
    at = np.full(size, -1)
    at[rows] = np.arange(len(rows))
    return values.take(pa.array(at, mask=at < 0))
