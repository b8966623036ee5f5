"""Near-to-far search of an archive: which step answers, with which days, and what is shown of them; pure, files are handed in.

The steps: `context`, the days whose index the caller holds already; `recent`, the window's days; `catalog`, the rows of all
years; `frontmatter`, the index lines of all files; `body`, everything in them. The unit is the day: words may stand in
different entries of it, or in its index. Front matter but for the index, the day heading, dates and paths are no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from memkit import match, query, schema, tables
from memkit.corrections import Correction, corrected_by
from memkit.dates import as_day
from memkit.errors import BadArgument
from memkit.hits import FOUND, SCORED
from memkit.layouts import archive, index_line
from memkit.model import Document
from memkit.text import front_matter
from memkit.wanted import Wanted, Words

STEPS = ("context", "recent", "catalog", "frontmatter", "body")
KEY = "memory:"  # what comes before a day in the keys of a context
CONTEXT: schema.Schema = {
    "key": schema.STR, "path": schema.STR, "index": schema.STR, "date": schema.DAY, "removed": schema.FLAG,
}  # fmt: skip
# Where YAML says less than stands in the block: its lines are searched as text.
_LOSSY = {"yaml-invalid", "merge-marker", "index-duplicate-key"}
Holds = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """A day's index as a catalog or a caller holds it, as written there too, and the catalog's path."""

    day: date
    index: str
    written: str = ""
    path: str = ""


class Shelf(NamedTuple):
    """What an archive holds: the files of each day, the one that counts first; their indexes; all rows of the catalogs.

    A file without an index has "", and one that could not be read no entry there; `read` gives None for it.
    """

    days: Mapping[date, Sequence[str]]
    indexes: Mapping[str, str]
    rows: Sequence[Row]
    read: Callable[[str], Document | None]


class Near(NamedTuple):
    """What is near: the rows that the caller holds, and the window, closed at both ends."""

    context: Sequence[Row]
    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Page:
    """A day file as it is searched: its index and that one's line, and its other lines by number, but for the day heading."""

    path: str
    index: str
    index_line: int
    lines: Mapping[int, str]
    folded: str
    doc: Document | None


class Answer(NamedTuple):
    """The step that answered ("": none), the steps that were taken, the days that hit, and what the catalogs have wrong.

    `stale` are rows whose file is gone or says something else, `lacking` finished days that were found without a row.
    """

    step: str
    taken: tuple[str, ...]
    found: Mapping[date, Sequence[Page]]
    stale: Sequence[Row]
    lacking: Sequence[date]


def search(shelf: Shelf, wanted: Wanted, near: Near) -> Answer:
    """Return what the first step that answers gives; a hit counts only if its file, as it is now, says so."""
    holds = wanted.test()
    stale: list[Row] = []
    for number, step in enumerate(STEPS, 1):
        told = _told(step, shelf, near, holds)
        found = {day: pages for day, index in told.items() if (pages := _pages(shelf, day, index, holds))}
        if step == "catalog":
            stale += [row for row in shelf.rows if row.day in told and _holds(row, holds) and not _is_so(row, shelf)]
        if found:
            late = step in ("frontmatter", "body")
            wrong, lacking = _unknown(shelf, found, near.last) if late else ([], [])
            return Answer(step, STEPS[:number], found, [*dict.fromkeys([*stale, *wrong])], lacking)
    return Answer("", STEPS, {}, stale, [])


def _told(step: str, shelf: Shelf, near: Near, holds: Holds) -> dict[date, str]:
    """Return the days that a step points to, each with the index by which it does, if there is one."""
    if step in ("context", "catalog"):
        rows = near.context if step == "context" else shelf.rows
        return {row.day: row.index for row in rows if _holds(row, holds)}
    if step == "frontmatter":
        every = ((day, "\n".join(shelf.indexes.get(path, "") for path in paths)) for day, paths in shelf.days.items())
        return {day: "" for day, index in every if index and holds(match.fold(index))}
    return {day: "" for day in shelf.days if step == "body" or near.first <= day <= near.last}


def _holds(row: Row, holds: Holds) -> bool:
    return holds(match.fold(f"{row.index}\n{row.written}"))


def _pages(shelf: Shelf, day: date, index: str, holds: Holds) -> list[Page]:
    """Return the files of a day that is a hit, else none; of files that cannot be read the index that was told is taken."""
    paths = shelf.days.get(day, ())
    pages = [page_of(doc) for path in paths if (doc := shelf.read(path))]
    if paths and index and not pages:
        pages = [Page(paths[0], index, 1, {}, match.fold(index), None)]
    return pages if pages and holds("\n".join(page.folded for page in pages)) else []


def page_of(doc: Document) -> Page:
    """Return a day file as it is searched."""
    lines = doc.reading.split("\n")
    cut = front_matter(lines)
    index, problems = index_line.read(lines, cut, doc)
    start = cut.last if cut else 0
    kept = dict(enumerate(lines[start:], start + 1))
    if cut and any(problem.rule in _LOSSY for problem in problems):
        kept = {n: line for n, line in enumerate(cut.lines, cut.first + 1) if not line.startswith("date:")} | kept
    heading = re.compile(rf" {{0,3}}#+[ \t]+{doc.role.day}[ \t#]*")
    kept = {n: line for n, line in kept.items() if not heading.fullmatch(line)}
    text = index.text or ""
    return Page(doc.path, text, index.line, kept, match.fold("\n".join([text, *kept.values()])), doc)


# ---- the catalog against the files ----


def _is_so(row: Row, shelf: Shelf) -> bool:
    """Return whether a row says what the file of its day says; of one that cannot be read nothing is known."""
    paths = shelf.days.get(row.day)
    if not paths:
        return False
    return paths[0] not in shelf.indexes or shelf.indexes[paths[0]] in (row.index, row.written)


def _unknown(shelf: Shelf, found: Iterable[date], today: date) -> tuple[list[Row], list[date]]:
    """Return the rows of finished days that say something else, and the days that have none in the catalog of their year."""
    held: dict[date, list[Row]] = {}
    for row in shelf.rows:
        held.setdefault(row.day, []).append(row)
    over = [day for day in found if day < today]
    lacking = [day for day in over if not any(row.path == f"catalog/{day.year:04d}.tsv" for row in held.get(day, ()))]
    return [row for day in over for row in held.get(day, ()) if not _is_so(row, shelf)], lacking


# ---- what is shown of a day ----


class Hit(NamedTuple):
    """What is shown: an entry, a line that is none, or a day by its index."""

    day: date
    text: str
    day_index: str
    terms: str
    path: str
    line: int


def shown(found: Mapping[date, Sequence[Page]], wanted: Wanted, step: str, known: Iterable[Correction]) -> pd.DataFrame:
    """Return the hits (FOUND), newest first: of each day the entries that a term finds, else its lines, else its index."""
    every = [hit for day, pages in found.items() for hit in _hits(day, pages, wanted)]
    columns = (
        dict(zip(("date", "text", "index", "terms", "path", "line"), zip(*every, strict=True), strict=True)) if every else {}
    )
    held = {"step": [step] * len(every), "score": np.full(len(every), np.nan), "corrected_by": [None] * len(every)}
    frame = query.newest_first(schema.frame(FOUND, {**held, **columns}))
    return frame.assign(corrected_by=corrected_by(frame, known))


def _hits(day: date, pages: Sequence[Page], wanted: Wanted) -> list[Hit]:
    whole = "\n".join(page.folded for page in pages)
    terms = [term for term in wanted.terms if _every(term, whole)]
    index = next((page.index for page in pages if page.index), "")
    blocks = [(page.path, *block) for page in pages for block in _blocks(page)]
    picked: dict[int, list[str]] = {}
    for term in terms:
        told = [n for n, block in enumerate(blocks) if _every(term, block[3])]
        for n in told or [n for n, block in enumerate(blocks) if _any(term, block[3])]:
            picked.setdefault(n, []).append(" ".join(term))
    if picked:
        return [Hit(day, blocks[n][2], index, "、".join(told), blocks[n][0], blocks[n][1]) for n, told in picked.items()]
    return _lines(day, pages, terms, index)


def _lines(day: date, pages: Sequence[Page], terms: Sequence[Words], index: str) -> list[Hit]:
    """Return the day's lines that hold a word and are no entries, such as a heading; if there are none, its index."""
    told = "、".join(" ".join(term) for term in terms)
    found = [
        Hit(day, line.strip(), index, told, page.path, n)
        for page in pages
        for n, line in page.lines.items()
        if line.strip() and any(_any(term, match.fold(line)) for term in terms)
    ]
    if found:
        return found
    page = next((page for page in pages if page.index), pages[0])
    text = page.index or next((line.strip() for line in page.lines.values() if line.strip()), "")
    return [Hit(day, text, index, told, page.path, max(page.index_line, 1))]


def _blocks(page: Page) -> list[tuple[int, str, str]]:
    """Return the entries of a page: line, text, and what stands in the file there, folded."""
    if page.doc is None:
        return []
    entries = archive.parse(page.doc).entries
    ends = entries.end_line or entries.line
    lines = page.doc.reading.split("\n")
    spans = zip(entries.line, ends, entries.text, strict=True)
    return [(line, text, match.fold("\n".join(lines[line - 1 : end]))) for line, end, text in spans]


def _every(term: Words, folded: str) -> bool:
    return all(match.fold(word) in folded for word in term)


def _any(term: Words, folded: str) -> bool:
    return any(match.fold(word) in folded for word in term)


def entries_of(frame: pd.DataFrame, found: Mapping[date, Sequence[Page]], tz: tzinfo) -> pd.DataFrame:
    """Return the hits that are entries with all their columns (SCORED; the score is missing), in the order of the hits."""
    paths = set(frame["path"])
    docs = [page.doc for pages in found.values() for page in pages if page.doc and page.path in paths]
    every = tables.entries([archive.parse(doc) for doc in docs], tz)
    rows = {key: row for row, key in enumerate(zip(every["path"], every["line"], strict=True))}
    kept = [rows[key] for key in zip(frame["path"], frame["line"], strict=True) if key in rows]
    taken = every.iloc[kept].reset_index(drop=True)
    return taken.assign(score=np.full(len(taken), np.nan))[list(SCORED)]


# ---- what a caller holds ----


def context(days: Iterable[tuple[date, str, str]], previous: object = None) -> pd.DataFrame:
    """Return (day, path, index) as a context (CONTEXT), ascending; days of an earlier one that are no more are `removed`.

    Raises: BadArgument for an earlier context that is none.
    """
    rows = {day: (f"{KEY}{day}", path, index, day, False) for day, path, index in days}
    for row in rows_of(previous, "previous"):
        rows.setdefault(row.day, (f"{KEY}{row.day}", "", "", row.day, True))
    return schema.rows(CONTEXT, (rows[day] for day in sorted(rows)))


def rows_of(given: object, name: str) -> list[Row]:
    """Return a context that a caller hands in, a frame or dicts, as rows; what was removed from it is left out.

    Raises: BadArgument if it is neither, or a row names no day by `date` or `key`.
    """
    if given is None:
        return []
    rows: Any = given.to_dict("records") if isinstance(given, pd.DataFrame) else given
    if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
        raise BadArgument(f"{name}: {type(given).__name__}; expected a frame of context(), or a list of dicts")
    return [_row(row, name) for row in rows if not (isinstance(row, Mapping) and row.get("removed") is True)]


def _row(row: object, name: str) -> Row:
    if not isinstance(row, Mapping) or not (row.keys() & {"date", "key"}):
        raise BadArgument(f"{name}: a row without date and key; expected date (or key), path and index")
    key = row.get("key")
    named = isinstance(key, str) and key.startswith(KEY)  # JSON may have made another thing of the date
    told = key.removeprefix(KEY) if isinstance(key, str) and named else row.get("date", key)
    index = row.get("index")
    return Row(as_day(told, f"{name}: date"), index if isinstance(index, str) else "")
