"""The layout `archive`: one Markdown file a day with an index line, and a catalog a year; what nutstore-sync writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from memkit.dates import parse_day
from memkit.layouts import catalog, index_line, markdown, pages
from memkit.layouts.names import SYSTEM_FILES, leftover, named_day, split
from memkit.model import Columns, Document, IndexLine, Problem, Reading, Records, Role
from memkit.text import front_matter

NAME = "archive"
PLACES: tuple[str, ...] = ("",)
_DAY = re.compile(r"archive/([0-9]{4})/([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
_CATALOG = re.compile(r"catalog/([0-9]{4})\.tsv")


def claims(paths: frozenset[str], hot_text: str) -> bool:
    """Return whether a folder of this shape is an archive: `archive/<YYYY>/<day>.md` or `catalog/<YYYY>.tsv`."""
    return any(_DAY.fullmatch(path) or _CATALOG.fullmatch(path) for path in paths)


def role(path: str) -> Role:
    """Return what a path is to this layout."""
    match = _DAY.fullmatch(path)
    if match and (day := parse_day(match[2])):
        return Role("daily", day, problem="" if match[1] == match[2][:4] else "wrong-year-folder")
    if _CATALOG.fullmatch(path):
        return Role("catalog", derived=True)
    if match:
        return Role(skipped="its name is no real date", problem="impossible-date")
    if found := leftover(path, day_like=True):
        return found
    if path.rpartition("/")[2] in SYSTEM_FILES:
        return Role(skipped="a system file")
    day = named_day(split(path)[1]).day
    return Role(day=day, skipped="not archive/<YYYY>/<YYYY-MM-DD>.md", problem="not-a-day")


def day_path(day: date) -> str:
    """Return where a day's file lies."""
    return f"archive/{day.year:04d}/{day}.md"


def parse(doc: Document, *, spans: bool = False) -> Records:
    """Return the records of one document; never raises, a bad place becomes a Problem."""
    if doc.role.kind == "catalog":
        return catalog.parse(doc, spans=spans)
    lines = doc.reading.split("\n")
    cut = front_matter(lines)
    records = markdown.read(doc, lines, cut.last if cut else 0, skip_heading=str(doc.role.day))
    records.index, problems = index_line.read(lines, cut, doc)
    records.problems.extend(problems)
    if not spans:
        records.spans = None
    return records


def read(docs: Sequence[Reading]) -> tuple[list[Records], Columns]:
    """Return what parse() finds in each of many day files, their entries as columns."""
    heads = [_head(doc) for doc in docs]
    held = [pages.Page(doc, start, skip_heading=str(doc.role.day)) for doc, (start, _, _) in zip(docs, heads, strict=True)]
    records, columns = pages.read(held)
    for record, (_, index, problems) in zip(records, heads, strict=True):
        record.index = index
        record.problems.extend(problems)
    return records, columns


def _head(doc: Reading) -> tuple[int, IndexLine, list[Problem]]:
    """Return how many lines the front matter has, the index in it and what is wrong with it."""
    if found := index_line.canonical(doc):
        return index_line.LINES, *found
    lines = doc.reading.split("\n")
    cut = front_matter(lines)
    return cut.last if cut else 0, *index_line.read(lines, cut, doc)
