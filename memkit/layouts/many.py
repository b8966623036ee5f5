"""Many documents as one column of lines in one buffer, and pieces of it; what reads many documents at once starts here."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memkit.model import FileFact, Reading
from memkit.text import decode_bytes

# What Python's \s stands for, inside the brackets of an RE2 class; RE2 itself means ASCII by \s. A test holds them equal.
BLANK = r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_BLANKS = [[int.from_bytes(c.encode()) for c in SPACES if len(c.encode()) == size] for size in (1, 2, 3)]  # by their bytes
_ENDS_BLANK = np.isin(range(256), [c.encode()[-1] for c in SPACES])
_FIRST_BYTES = np.repeat([0xFF << 24, 0xFFFF << 16, 0xFFFFFF << 8, 0xFFFFFFFF], [0xC0, 0x20, 0x10, 0x10])  # of a character
_BEHIND = b"\0\0\0"  # behind all lines, so that one may look at the bytes behind any place
_PART = 131_072  # bytes that are compared at once; a comparison of megabytes takes its time to get memory for the answer


def readings(held: Sequence[tuple[FileFact, bytes]]) -> list[Reading]:
    """Return files with their bytes as text for reading: mostly the bytes are that, which is seen of all at once."""
    if _are_clean([data for _, data in held]):
        return [Reading(fact.path, fact.role, data) for fact, data in held]
    return [Reading(fact.path, fact.role, *decode_bytes(data)) for fact, data in held]


def _are_clean(held: Sequence[bytes]) -> bool:
    """Return whether bytes are all UTF-8 without a BOM, a carriage return and control characters but blanks."""
    offsets, data = _joined(held)
    codes = np.frombuffer(data, "uint8")
    if any(_has_control(part) for _, part in _parts(codes)):
        return False
    if any(each.startswith(codecs.BOM_UTF8) for each in held):
        return False
    try:
        _column(pa.large_binary(), offsets, data).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def _joined(held: Sequence[bytes]) -> tuple[Any, Any]:
    """Return where each of some bytes starts when they stand one behind the other, and where all end; and all of them."""
    offsets = np.cumsum([0, *map(len, held)])
    # The memory of pyarrow is warm from the batch before; that of b"".join would be new to the system each time.
    buffer = pa.allocate_buffer(int(offsets[-1]))
    view = memoryview(buffer).cast("B")
    for start, data in zip(offsets.tolist(), held, strict=False):
        view[start : start + len(data)] = data
    return offsets, buffer


def _column(kind: Any, offsets: Any, data: Any) -> Any:
    """Return what lies in a buffer from each offset to the next as a column, without copying it."""
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _has_control(codes: Any) -> bool:
    """Return whether bytes have a carriage return or a control character that is no blank."""
    # Numbers below 0 begin anew at 255, so that one comparison is enough for 13 to 27.
    return bool((codes < 9).any() or (codes - 13 < 15).any() or (codes == 127).any())


def _parts(codes: Any) -> Iterator[tuple[int, Any]]:
    for start in range(0, len(codes), _PART):
        yield start, codes[start : start + _PART]


def places_of(sign: str, codes: Any) -> Any:
    """Return where an ASCII character is among bytes; pyarrow takes six times as long to look for one."""
    places = [np.flatnonzero(part == ord(sign)) + start for start, part in _parts(codes)]
    return np.concatenate(places) if places else np.zeros(0, "int64")


class Lines(NamedTuple):
    """The lines of some documents, one behind the other.

    `column` holds each with its line break, `at` where it starts in the buffer `codes` (and, at last, where all end),
    `owner` which document it is of, `number` its number there; `first` is the place of each document's first line (and,
    at last, how many lines there are).
    """

    codes: Any
    column: Any
    at: Any
    owner: Any
    number: Any
    first: Any

    @classmethod
    def of(cls, docs: Sequence[Reading]) -> Lines:
        """Return the lines of documents; one that ends with a line break has no empty line behind that."""
        held = [doc.data if doc.data.endswith(b"\n") else doc.data + b"\n" for doc in docs]
        offsets, data = _joined([*held, _BEHIND])
        codes = np.frombuffer(data, "uint8")
        at = np.append(0, places_of("\n", codes) + 1)
        first = np.searchsorted(at, offsets[:-1])
        owner = np.repeat(np.arange(len(docs)), np.diff(first))
        number = np.arange(1, len(at)) - first[owner]
        return cls(codes, _column(pa.large_string(), at, codes), at, owner, number, first)

    def pieces(self, starts: Any, ends: Any) -> Any:
        """Return the text between each start and end, places in the buffer that only ascend, as a column."""
        # Cut the buffer at every start and every end: each second part is a piece.
        cuts = np.empty(2 * len(starts) + 1, "int64")
        cuts[:-1:2], cuts[1::2] = starts, ends
        cuts[-1] = ends[-1] if len(ends) else 0
        return _column(pa.large_string(), cuts, self.codes).take(pa.array(np.arange(0, 2 * len(starts), 2)))

    def trimmed(self, starts: Any, ends: Any) -> Any:
        """Return the ends of pieces without the blanks at their ends."""
        rows = np.flatnonzero(_ENDS_BLANK[self.codes[ends - 1]] & (ends > starts))
        tails = self.codes[ends[rows, None] - (3, 2, 1)] @ (65_536, 256, 1)  # the last three bytes as one number
        rows = rows[np.isin(tails & 0xFF, _BLANKS[0]) | np.isin(tails & 0xFFFF, _BLANKS[1]) | np.isin(tails, _BLANKS[2])]
        text = self.pieces(starts[rows], ends[rows])
        ends = ends.copy()
        ends[rows] -= pc.subtract(pc.binary_length(text), pc.binary_length(pc.utf8_rtrim(text, SPACES))).to_numpy()
        return ends

    def characters(self, places: Any) -> Any:
        """Return the characters that start at places, each as the number that its UTF-8 makes in four bytes."""
        first = self.codes[places]
        number = first.astype("int64")
        for behind in range(1, 4):
            number = (number << 8) | self.codes[places + behind]
        return number & _FIRST_BYTES[first]

    def lines(self, rows: Any) -> list[str]:
        """Return some lines, without their line breaks."""
        return [text[:-1] for text in self.column.take(pa.array(rows)).to_pylist()]
