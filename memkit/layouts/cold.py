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
from memkit.layouts.many import BLANK, Lines
from memkit.model import Columns, Reading, Records

# line.ENTRY as far as the first character of the text, which is not part of `tag`; RE2 is slow at the whole line.
_HEAD = rf"^- \[(?P<stamp>{line.TIME})\] \[(?P<tag>[^\[\]\n]*)\] [^{BLANK}]"
_BRACKETS = len("- [] [] ")


def read(docs: Sequence[Reading]) -> tuple[list[Records], Columns]:
    """Return the records of cold files without their entries, and the entries of all."""
    lines = Lines.of(docs)
    heads = pc.extract_regex(lines.column, _HEAD)
    hit = _is_entry(heads)
    rows = np.flatnonzero(hit)
    stamp, tag = (column.take(pa.array(rows)) for column in heads.flatten())
    size = pc.add(pc.binary_length(stamp), pc.binary_length(tag)).to_numpy() + _BRACKETS
    text = lines.pieces(lines.at[rows] + size, lines.at[rows + 1] - 1)
    counts = np.bincount(lines.owner[rows], minlength=len(docs))
    columns = Columns(counts, lines.number[rows], text, stamp=stamp, tag=_named(tag))
    records = [Records(doc.path, doc.role, problems=list(doc.problems)) for doc in docs]
    _add_problems(records, lines, np.flatnonzero(~hit))
    return records, columns


def _is_entry(heads: Any) -> Any:
    """Return which lines have an entry's head and a real day in it."""
    hit = np.asarray(heads.is_valid())
    days = pc.utf8_slice_codeunits(heads.field("stamp"), 0, len("2026-10-21"))
    unreal = [day for day in days.unique().to_pylist() if day and not line.real_day(day)]
    return hit & ~np.asarray(pc.is_in(days, pa.array(unreal, pa.large_string()))) if unreal else hit


def _named(tag: Any) -> Any:
    """Return the tags as line.columns gives them: folded to one line, missing for `-` or nothing."""
    coded = tag.dictionary_encode()
    return pa.array([line.tag_of(name) for name in coded.dictionary.to_pylist()], pa.large_string()).take(coded.indices)


def _add_problems(records: list[Records], lines: Lines, rest: Any) -> None:
    """Give each document the problems of its lines that are no entries; blank lines and headings have none."""
    column = lines.column.take(pa.array(rest))
    odd = np.asarray(pc.binary_length(column)) > len("\n")
    rows = rest[odd & ~np.asarray(pc.starts_with(column, "#"))]
    for text, row in zip(lines.lines(rows), rows.tolist(), strict=True):
        if line.other_span(text) == "problem" and (problem := line.line_problem(text, int(lines.number[row]))):
            records[lines.owner[row]].problems.append(problem)
