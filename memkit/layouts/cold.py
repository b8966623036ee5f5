"""Many cold files at once: the same entries and problems that layers.parse finds in each, as columns; a test holds them equal.

Every line of a cold file stands alone, so that one regex can run over the lines of all of them, in pyarrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memkit.layouts import line
from memkit.model import Columns, Reading, Records

# What Python's \s stands for in RE2, which means ASCII by it.
_BLANK = r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
# line.ENTRY as far as the first character of the text, which is not part of `tag`; RE2 is slow at the whole line.
_HEAD = rf"^- \[(?P<stamp>{line.TIME})\] \[(?P<tag>[^\[\]\n]*)\] [^{_BLANK}]"
_BRACKETS = len("- [] [] ")


def read(docs: Sequence[Reading]) -> tuple[list[Records], Columns]:
    """Return the records of cold files without their entries, and the entries of all."""
    found = pc.split_pattern(pa.array([doc.data for doc in docs], pa.large_binary()).view(pa.large_string()), "\n")
    lines, starts = found.flatten(), found.offsets.to_numpy()
    owner = np.repeat(np.arange(len(docs)), np.diff(starts))
    number = np.arange(1, len(lines) + 1) - starts[owner]
    heads = pc.extract_regex(lines, _HEAD)
    hit = _is_entry(heads)
    rows = np.flatnonzero(hit)
    stamp, tag = (column.take(pa.array(rows)) for column in heads.flatten())
    size = pc.add(pc.binary_length(stamp), pc.binary_length(tag)).to_numpy() + _BRACKETS
    columns = Columns(
        np.bincount(owner[rows], minlength=len(docs)), number[rows], stamp, _named(tag), _rest_of(lines, rows, size)
    )
    records = [Records(doc.path, doc.role, problems=list(doc.problems)) for doc in docs]
    _add_problems(records, lines, owner, number, ~hit)
    return records, columns


def _is_entry(heads: Any) -> Any:
    """Return which lines have an entry's head and a real day in it."""
    hit = np.asarray(heads.is_valid())
    days = pc.utf8_slice_codeunits(heads.field("stamp"), 0, len("2026-10-21"))
    unreal = [day for day in days.unique().to_pylist() if day and not line.real_day(day)]
    return hit & ~np.asarray(pc.is_in(days, pa.array(unreal, pa.large_string()))) if unreal else hit


def _rest_of(lines: Any, rows: Any, size: Any) -> Any:
    """Return some of the lines, each without as many bytes at its start as `size` says."""
    # The lines lie one behind the other in one buffer: cut them in two where their rest starts, then take each second part.
    offsets = np.frombuffer(lines.buffers()[1], "int64")[lines.offset : lines.offset + len(lines) + 1]
    cuts = np.empty(2 * len(rows) + 1, "int64")
    cuts[:-1:2] = offsets[rows] + size
    cuts[1::2] = offsets[rows + 1]
    cuts[-1] = offsets[-1]
    parts = pa.Array.from_buffers(pa.large_string(), 2 * len(rows), [None, pa.py_buffer(cuts), lines.buffers()[2]])
    return parts.take(pa.array(np.arange(0, 2 * len(rows), 2)))


def _named(tag: Any) -> Any:
    """Return the tags as line.columns gives them: folded to one line, missing for `-` or nothing."""
    coded = tag.dictionary_encode()
    return pa.array([line.tag_of(name) for name in coded.dictionary.to_pylist()], pa.large_string()).take(coded.indices)


def _add_problems(records: list[Records], lines: Any, owner: Any, number: Any, rest: Any) -> None:
    """Give each document the problems of its lines that are no entries; blank lines and headings have none."""
    open_lines = lines.filter(pa.array(rest))
    odd = np.flatnonzero((np.asarray(pc.binary_length(open_lines)) > 0) & ~np.asarray(pc.starts_with(open_lines, "#")))
    places = np.flatnonzero(rest)[odd]
    for text, place in zip(open_lines.take(pa.array(odd)).to_pylist(), places.tolist(), strict=True):
        if line.other_span(text) == "problem" and (problem := line.line_problem(text, int(number[place]))):
            records[owner[place]].problems.append(problem)
