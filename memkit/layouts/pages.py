"""Many dated Markdown documents at once: the entries that markdown.read finds in each, as columns; tests hold them equal.

Plain blocks are taken from the lines of all documents together, only what lies between them goes through the scanner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from memkit.blocks import Scan, scan, scan_gaps
from memkit.layouts import plain
from memkit.layouts.heads import Marked, marked
from memkit.layouts.many import Lines
from memkit.layouts.markdown import SECTION_JOIN, marks_of
from memkit.lines import heading_of
from memkit.marks import clock_in_heading
from memkit.model import BLOCKS, Columns, Reading, Records


class Page(NamedTuple):
    """One document, its first line below the front matter (from 0), and what else markdown.read is told of it."""

    doc: Reading
    start: int
    clock: str | None = None
    skip_heading: str = ""


class _Gaps(NamedTuple):
    """What the scanner read: what it found by document, and the stretches of lines that it went over, in order."""

    scans: dict[int, Scan]
    starts: Any
    ends: Any

    def hold(self, rows: Any) -> Any:
        """Return which lines lie in a stretch."""
        if not len(self.starts):
            return np.zeros(len(rows), bool)
        at = np.searchsorted(self.starts, rows, "right") - 1
        return (at >= 0) & (rows < self.ends[at])


class _Headings(NamedTuple):
    """The headings of all documents: their lines, and as columns the section and the clock of what stands below each."""

    row: Any
    section: Any
    clock: Any


def read(pages: Sequence[Page]) -> tuple[list[Records], Columns]:
    """Return the records of documents without their entries, and the entries of all."""
    lines = Lines.of([page.doc for page in pages])
    starts = np.array([page.start for page in pages], "int64")
    blocks = plain.blocks(lines, starts)
    gaps = _scanned(pages, lines, blocks)
    known = blocks.plain & ~gaps.hold(blocks.first)
    is_heading = blocks.kind == plain.HEADING
    rows = np.flatnonzero(known & ~is_heading)
    found, rest = marked(lines, blocks.first[rows], blocks.last[rows], blocks.kind[rows])
    found = _together(found, _by_one([*rest, *_scanned_blocks(lines, gaps)]))
    headings = _headings(pages, lines, blocks.first[known & is_heading], gaps)
    records = [Records(page.doc.path, page.doc.role, problems=list(page.doc.problems)) for page in pages]
    for number, scanned in gaps.scans.items():
        records[number].problems.extend(scanned.problems)
    return records, _columns(pages, lines, found, headings)


def _scanned(pages: Sequence[Page], lines: Lines, blocks: plain.Blocks) -> _Gaps:
    """Read what is between the plain blocks; a document with an unresolved merge is read whole."""
    odd = blocks.first[~blocks.plain]
    owners, at = np.unique(lines.owner[odd], return_index=True)
    odd_of = dict(zip(owners.tolist(), np.split(odd, at[1:]), strict=True)) if len(odd) else {}
    known = np.zeros(len(lines.owner), "uint8")
    known[blocks.first[blocks.plain]] = 1
    merged = set(plain.merges(lines, odd).tolist())
    scans: dict[int, Scan] = {}
    gaps: list[tuple[int, int]] = []
    for number in odd_of:
        first, behind = lines.first[number : number + 2].tolist()
        text = pages[number].doc.reading.split("\n")
        if number in merged:
            scans[number] = scan(text, pages[number].start)
            gaps.append((first, behind))
        else:
            rows = (odd_of[number] - first).tolist()
            scans[number], own = scan_gaps(text, rows, known[first:behind].tobytes() + b"\0")  # the line behind the last break
            gaps.extend((first + start, min(first + end, behind)) for start, end in own)
    starts, ends = np.array(gaps, "int64").reshape(-1, 2).T
    return _Gaps(scans, starts, ends)


def _scanned_blocks(lines: Lines, gaps: _Gaps) -> Iterable[tuple[int, int, str, str]]:
    for number, scanned in gaps.scans.items():
        above = int(lines.first[number]) - 1
        for block in scanned.blocks:
            yield above + block.line, above + block.end_line, block.kind, block.text


def _by_one(rows: Iterable[tuple[int, int, str, str]]) -> Marked:
    """Return blocks, given as rows of first and last line, kind and text, with their marks; without those left empty."""
    held = [(first, last, kind, marks_of(kind, text)) for first, last, kind, text in rows]
    held = [row for row in held if row[3].text.strip()]
    tags = [(first, tag) for first, _, _, mark in held for tag in mark.tags]
    columns = zip(*(row[3] for row in held), strict=True) if held else [[]] * 6
    text, task, stamp, own, label, clock = map(list, columns)
    tag = [names[0] if names else None for names in own]
    code = {kind: number for number, kind in enumerate(BLOCKS)}
    return Marked._make(
        [
            np.array([row[0] for row in held], "int64"),
            np.array([row[1] for row in held], "int64"),
            np.array([code[row[2]] for row in held], "int8"),
            *map(_strings, (text, tag, task, stamp, label, clock)),
            np.array([first for first, _ in tags], "int64"),
            _strings([tag for _, tag in tags]),
        ]
    )


def _strings(values: list[str | None]) -> Any:
    return pa.array(values, pa.large_string())


def _together(some: Marked, others: Marked) -> Marked:
    """Return the entries of both, and their tags, in the order of their lines."""
    if not len(others.first):
        return some
    order = np.argsort(np.concatenate([some.first, others.first]))
    tag_order = np.argsort(np.concatenate([some.tagged, others.tagged]), kind="stable")
    parts = zip(Marked._fields, some, others, strict=True)
    return Marked(*(_merged(a, b, tag_order if name in ("tagged", "tags") else order) for name, a, b in parts))


def _merged(some: Any, others: Any, order: Any) -> Any:
    if isinstance(some, np.ndarray):
        return np.concatenate([some, others])[order]
    return pa.concat_arrays([some, others]).take(pa.array(order))


class _Heading(NamedTuple):
    """A heading: its level, its text and the clock in that."""

    level: int
    text: str
    clock: str | None


def _read_heading(line: str) -> _Heading:
    level, text = heading_of(line) or (0, "")
    return _Heading(level, text, clock_in_heading(text))


def _headings(pages: Sequence[Page], lines: Lines, rows: Any, gaps: _Gaps) -> _Headings:
    """Return the headings of all documents: those at some lines, and those that the scanner found."""
    coded = lines.column.take(pa.array(rows)).dictionary_encode()  # most are written more than once
    known = [_read_heading(line.removesuffix("\n")) for line in coded.dictionary.to_pylist()]
    held = [(row, known[code]) for row, code in zip(rows.tolist(), coded.indices.to_pylist(), strict=True)]
    for number, found in gaps.scans.items():
        above = int(lines.first[number]) - 1
        held.extend((above + h.line, _Heading(h.level, h.text, clock_in_heading(h.text))) for h in found.headings)
    held.sort(key=itemgetter(0))
    rows = np.array([row for row, _ in held], "int64")
    below = list(_below(pages, [heading for _, heading in held], lines.owner[rows].tolist()))
    section, clock = (_strings([row[n] for row in below]) for n in (0, 1))
    return _Headings(rows, section, clock)


def _below(pages: Sequence[Page], held: list[_Heading], owners: list[int]) -> Iterator[tuple[str | None, str | None]]:
    """Yield the section and the clock of what stands below each heading."""
    path: list[tuple[int, str | None, str | None]] = []
    last = -1
    for (level, text, clock), owner in zip(held, owners, strict=True):
        if owner != last:
            last, path, skipped = owner, [], pages[owner].skip_heading
        while path and path[-1][0] >= level:
            path.pop()
        section, inherited = path[-1][1:] if path else (None, None)
        if text and text != skipped:
            section = f"{section}{SECTION_JOIN}{text}" if section else text
        path.append((level, section, clock or inherited))
        yield path[-1][1:]


def _columns(pages: Sequence[Page], lines: Lines, found: Marked, headings: _Headings) -> Columns:
    owner = lines.owner[found.first]
    at = np.searchsorted(headings.row, found.first, "right") - 1
    none = (at < 0) | (lines.owner[headings.row[at]] != owner) if len(headings.row) else np.ones(len(at), bool)
    heading = pa.array(at, mask=none)
    named = _strings([page.clock for page in pages])
    return Columns(
        np.bincount(owner, minlength=len(pages)),
        lines.number[found.first],
        found.text,
        end_line=lines.number[found.last],
        block=found.block,
        tag=found.tag,
        section=_taken(headings.section, heading),
        clock=_coalesced(found.clock, _taken(headings.clock, heading), _taken(named, pa.array(owner))),
        stamp=found.stamp,
        label=found.label,
        task=found.task,
        tags=(np.searchsorted(found.first, found.tagged), found.tags),
    )


def _taken(column: Any, rows: Any) -> Any:
    """Return some rows of a text column; missing throughout costs nothing."""
    return pa.nulls(len(rows), column.type) if column.null_count == len(column) else column.take(rows)


def _coalesced(*columns: Any) -> Any:
    """Return the first value of each row."""
    held = [column for column in columns if column.null_count < len(column)]
    return pc.coalesce(*held) if held else columns[0]
