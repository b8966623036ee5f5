"""A Markdown document to Records: blocks with their marks, sections and clocks; shared by archive and workspace."""

from __future__ import annotations

from datetime import date

from memkit.blocks import Heading, Scan, scan
from memkit.marks import Marks, clock_in_heading, day_in_heading, hash_tags, read_marks
from memkit.model import Document, Entries, Records

SECTION_JOIN = " › "


def read(doc: Document, lines: list[str], start: int, *, clock: str | None = None, skip_heading: str = "") -> Records:
    """Return the records of a document's lines from index `start` on.

    `clock` is the time in the file's name; a heading equal to `skip_heading` (the day's own) names no section.
    """
    found = scan(lines, start)
    records = Records(doc.path, doc.role, problems=[*doc.problems, *found.problems], spans=found.spans)
    marks = [marks_of(block.kind, block.text) for block in found.blocks]
    if not all(mark.text.strip() for mark in marks):
        marks = _without_empty(found, marks)
    records.tags = [(block.line, tag) for block, mark in zip(found.blocks, marks, strict=True) for tag in mark.tags]
    sections = [_section(found.headings, n, skip_heading) for n in range(len(found.headings))]
    clocks = _inherited(found.headings, [clock_in_heading(heading.text) for heading in found.headings])
    records.entries = _entries(found, marks, [*sections, None], [*(c or clock for c in clocks), clock])
    if doc.role.day is None:
        days = [*_inherited_days(found.headings), None]
        records.entries.day = [days[block.heading] for block in found.blocks]
    return records


def _without_empty(found: Scan, marks: list[Marks]) -> list[Marks]:
    """Take out the blocks of which only a checkbox was there, and return the marks of the others."""
    kept = [(block, mark) for block, mark in zip(found.blocks, marks, strict=True) if mark.text.strip()]
    for block, mark in zip(found.blocks, marks, strict=True):
        if not mark.text.strip():
            found.spans[block.line - 1] = "layout"
    found.blocks[:] = [block for block, _ in kept]
    return [mark for _, mark in kept]


def marks_of(kind: str, text: str) -> Marks:
    """Return the marks of a block of a kind; a table, quote or code has none but its #tags."""
    if kind in ("item", "paragraph"):
        return read_marks(text, item=kind == "item")
    return Marks(text, None, None, tuple(hash_tags(text, item=False)), None, None)


def _entries(found: Scan, marks: list[Marks], sections: list[str | None], clocks: list[str | None]) -> Entries:
    """Return the columns; sections and clocks are by heading, their last value is for blocks above any heading."""
    return Entries(
        line=[block.line for block in found.blocks],
        end_line=[block.end_line for block in found.blocks],
        text=[mark.text for mark in marks],
        tag=[mark.tags[0] if mark.tags else None for mark in marks],
        section=[sections[block.heading] for block in found.blocks],
        clock=[mark.clock or clocks[block.heading] for block, mark in zip(found.blocks, marks, strict=True)],
        stamp=[mark.stamp for mark in marks],
        label=[mark.label for mark in marks],
        task=[mark.task for mark in marks],
        block=[block.kind for block in found.blocks],
    )


def _path(headings: list[Heading], index: int) -> list[int]:
    """Return the indexes of a heading's ancestors and itself, outermost first."""
    path: list[int] = []
    while index >= 0:
        path.append(index)
        index = headings[index].parent
    return path[::-1]


def _section(headings: list[Heading], index: int, skip: str) -> str | None:
    names = (headings[n].text for n in _path(headings, index))
    return SECTION_JOIN.join(name for name in names if name and name != skip) or None


def _inherited(headings: list[Heading], own: list[str | None]) -> list[str | None]:
    """Return each heading's clock, or that of the nearest heading above it in the path."""
    return [next((own[n] for n in reversed(_path(headings, index)) if own[n]), None) for index in range(len(headings))]


def _inherited_days(headings: list[Heading]) -> list[date | None]:
    own = [day_in_heading(heading.text) for heading in headings]
    return [next((own[n] for n in reversed(_path(headings, index)) if own[n]), None) for index in range(len(headings))]
