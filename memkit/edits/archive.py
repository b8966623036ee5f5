"""What the archive's verbs plan: append, correct, rebuild and catch up the catalog; pure, reading is handed in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import partial

from memkit import indexing
from memkit.blocks import open_end, scan
from memkit.edits import lines as edit_lines
from memkit.edits.plan import Draft
from memkit.edits.rule import split_head
from memkit.errors import BadArgument, LostTextError
from memkit.layouts import archive, index_line
from memkit.model import Document, Edit
from memkit.text import decode, front_matter, norm_text, reading_of

Read = Callable[[str], str | None]  # path -> text for splicing, None if there is no such file
Days = Callable[[int], Mapping[date, str]]  # year -> its days that have a file, each with the file's path


_INDEX_KEY = re.compile(r"""[ \t]*["']?index["']?[ \t]*:""")
# What may stand below a value of one line: the end of the block, another key, a comment.
_ENDS_VALUE = re.compile(r"""(?:---|\.\.\.)[ \t]*$|#|["']?[^\s"'#:\[\]{}-][^:]*:(?:[ \t]|$)""")


def append(read: Read, text: str, tag: str | None, index: str | None, now: datetime) -> Draft:
    """Return the plan that adds one entry to today's file, and to its index."""
    return append_all(read, [(text, tag)], now, index=index)


def append_all(read: Read, entries: Iterable[tuple[str, str | None]], now: datetime, *, index: str | None = None) -> Draft:
    """Return the plan that adds (text, tag) pairs to today's file as entries, and to its index, unless that is given."""
    said = [edit_lines.tagged(tag, edit_lines.entry_text(text)) for text, tag in entries]
    given = indexing.checked(index) if index is not None else None
    path = archive.day_path(now.date())
    before = read(path)
    if before is not None:
        edit_lines.refuse_utf16(path, before)
    held = entries_of(before) if before is not None else []
    known = set(held)
    new = list(dict.fromkeys(entry for entry in said if entry not in known))
    rows = _rows(path, said, new, given)
    if not new and given is None:
        return Draft((), rows, 0)
    added = "\n".join(map(edit_lines.item, new))
    if before is None:
        head = f"---\ndate: {now.date()}\nindex: {indexing.quoted(given or indexing.extract(new))}\n---\n## {now.date()}\n"
        return Draft((Edit(path, None, head + added + "\n"),), rows, len(new))
    after = edit_lines.appended(_closed(before), added) if new else before
    after = with_index(path, after, given or indexing.refreshed(index_of(path, before), held, new))
    return Draft((Edit(path, before, after),), rows, len(new))


def _rows(path: str, said: Iterable[str], new: Iterable[str], given: str | None) -> tuple[tuple[str, str, str], ...]:
    """Return what becomes of each entry; one that is there already may still bring the day a new index."""
    fresh = set(new)
    there = (
        ("index", "a new index; the entry stands there already") if given else ("unchanged", "the entry stands there already")
    )
    rows = []
    for entry in said:
        rows.append((path, *(("append", "today") if entry in fresh else there)))
        fresh.discard(entry)
    return tuple(rows)


def entries_of(text: str) -> list[str]:
    """Return the texts of a day file's entries as they are written, tag and checkbox included."""
    reading = reading_of(text).split("\n")
    cut = front_matter(reading)
    return [block.text for block in scan(reading, cut.last if cut else 0).blocks]


def index_of(path: str, text: str) -> str | None:
    """Return the index that a day file's text has, or None; its body is not looked at."""
    _, reading, problems = decode(text.encode("utf-8", "surrogateescape"))
    lines = reading.split("\n")
    cut = front_matter(lines)
    doc = Document(path, archive.role(path), "", "", problems)
    return index_line.read(lines, cut, doc)[0].text


def _closed(text: str) -> str:
    """Return the text with the closing line of a fence or comment that is open at its end."""
    reading = reading_of(text).split("\n")
    cut = front_matter(reading)
    closing = open_end(reading, cut.last if cut else 0)
    return edit_lines.appended(text, closing) if closing else text


def with_index(path: str, text: str, index: str) -> str:
    """Return a day file whose `index:` line says this; the front matter is completed or added, nothing else touched.

    Raises: LostTextError where two front-matter blocks, a merge marker or an index of several lines stand in the way.
    """
    newline = edit_lines.newline_of(text)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    head, body = split_head(text.removeprefix("\ufeff"))
    _refuse_unclear(path, head, body)
    said = f"index: {indexing.quoted(index)}"
    if not head:
        return f"{mark}---{newline}date: {archive.role(path).day}{newline}{said}{newline}---{newline}{body}"
    rows = head.split("\n")
    at = [place for place, row in enumerate(rows) if row.startswith("index:")]
    end = "\r" if newline == "\r\n" else ""
    if at:
        rows[at[0]] = said + ("\r" if rows[at[0]].endswith("\r") else "")
    else:
        opening = next(place for place, row in enumerate(rows) if row.rstrip() == "---")
        rows.insert(opening + 1 + any(row.startswith("date:") for row in rows[opening + 1 : opening + 2]), said + end)
    return mark + "\n".join(rows) + body


def _refuse_unclear(path: str, head: str, body: str) -> None:
    rows = [row.rstrip("\r") for row in head.split("\n")]
    places = [place for place, row in enumerate(rows) if _INDEX_KEY.match(row)]
    if any(row.startswith(("<<<<<<<", ">>>>>>>")) for row in rows) or body.startswith("<<<<<<<"):
        raise LostTextError(f"{path}: a merge marker stands in its front matter; resolve it by hand first")
    if len(places) > 1:
        raise LostTextError(f"{path}: its front matter has two index lines; make one of them by hand first")
    if places and not rows[places[0]].startswith("index:"):
        raise LostTextError(f"{path}: its index key is not written as `index:`; write it so by hand first")
    below = next((row for row in rows[places[0] + 1 :] if row.strip()), "---") if places else "---"
    if not _ENDS_VALUE.match(below):
        raise LostTextError(f"{path}: its index runs over several lines; make it one line by hand first")
    if any(problem.rule == "double-frontmatter" for problem in scan(body.replace("\r", "").split("\n")).problems):
        raise LostTextError(f"{path}: it has two front-matter blocks; make one of them by hand first")


def corrected(day: date, subject: str, text: str) -> tuple[str, str | None]:
    """Return the text and the tag of an entry that corrects an earlier day."""
    return correction(day, subject, text), None


def correction(day: date, subject: str, text: str) -> str:
    """Return the entry that corrects an earlier day: `更正 <date>：<subject> → <text>`."""
    told = (norm_text(edit_lines.entry_text(part, name)) for part, name in ((subject, "subject"), (text, "text")))
    return f"{indexing.CORRECTION} {day}：{' → '.join(told)}"


# ---- the catalog ----


def rebuild(read: Read, years: Iterable[int], days_of: Days, today: date, *, index: Read | None = None) -> Draft:
    """Return the plan that writes the catalogs of some years afresh from their day files; a year without any loses its.

    `days_of` also gives the days whose file lies in another year's folder: they are read, so they have a row. `index`
    gives the index of a day file, where there is a faster way than reading all of it.
    """
    edits, rows = [], []
    for year in years:
        path = f"catalog/{year:04d}.tsv"
        before = read(path)
        found = days_of(year)
        days = [day for day in sorted(found) if day < today]
        after = "".join(_row(index or partial(index_at, read), day, found[day]) for day in days) or None
        edits.append(Edit(path, before, after))
        rows.append((path, "unchanged" if after == before else "rebuild", f"{len(days)} days"))
    return Draft(tuple(edits), tuple(rows))


def checked_year(year: object) -> int:
    """Return a year.

    Raises: BadArgument if it is none.
    """
    if isinstance(year, bool) or not isinstance(year, int) or not date.min.year <= year <= date.max.year:
        raise BadArgument(f"year: {str(year)[:40]!r}; expected a year such as 2025")
    return int(year)


def _row(index: Read, day: date, path: str) -> str:
    return f"{day}\t{index(path) or ''}\n"


def index_at(read: Read, path: str) -> str | None:
    """Return the index of a day file, None if it has none or is not there."""
    text = read(path)
    return None if text is None else index_of(path, text)


def catch_up(read: Read, days_of: Days, today: date, *, first: int | None = None, misfiled: Days | None = None) -> Draft:
    """Return the plan that gives the days since the last row theirs; a year whose catalog is wrong is rebuilt.

    Looks only at the years from that of the last row on, so its cost does not grow with the years before. `first` is the
    earliest year that has a folder: the way back may lead over idle years, which have none. `days_of` looks only into a
    year's own folder; `misfiled`, which a rebuild uses, into all.
    """
    edits: list[Edit] = []
    rows: list[tuple[str, str, str]] = []
    for year in _open_years(read, days_of, today, first):
        path = f"catalog/{year:04d}.tsv"
        before = read(path)
        held = [line.partition("\t")[0] for line in (before or "").split("\n")[:-1]]
        found = days_of(year)
        days = [str(day) for day in sorted(found) if day < today]
        if before is not None and held == days:
            continue
        if before is None or held != days[: len(held)] or not before.endswith("\n"):
            draft = rebuild(read, [year], misfiled or days_of, today)
            edits.extend(draft.edits)
            rows.extend(draft.rows)
            continue
        missing = [date.fromisoformat(day) for day in days[len(held) :]]
        edits.append(Edit(path, before, before + "".join(_row(partial(index_at, read), day, found[day]) for day in missing)))
        rows.append((path, "append", f"{len(missing)} days"))
    return Draft(tuple(edits), tuple(rows))


def _open_years(read: Read, days_of: Days, today: date, first: int | None) -> list[int]:
    """Return the years that may lack rows: from the latest that has a catalog up to that of yesterday."""
    last = (today - timedelta(days=1)).year
    year = last
    while year > 0 and read(f"catalog/{year:04d}.tsv") is None:
        if not (days_of(year - 1) or days_of(year) if first is None else first < year):
            break
        year -= 1
    return list(range(max(year, 1), last + 1))
