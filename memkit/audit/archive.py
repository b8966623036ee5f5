"""Rules of the archive: the index line of a day, and the catalog that must repeat it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from memkit.audit import indexes
from memkit.audit.finding import Finding, Rule, named_wrong, problems
from memkit.dates import parse_day
from memkit.layouts.archive import day_path
from memkit.model import CatalogRow, Records, Snapshot
from memkit.tables import is_day_file, plain_first


def index_missing(store: Snapshot) -> Iterator[Finding]:
    """A day has no index, so that only a full scan finds it.

    Bad: `index:` with nothing behind it. Good: `index: '开业日期；火锅'`.
    """
    yield from problems(store, "index-missing", "write one")


def index_unquoted(store: Snapshot) -> Iterator[Finding]:
    """An index is not in quotes, so that a program may take it for a number, a date or nothing.

    Bad: `index: 10:00 开门`. Good: `index: '10:00 开门'`.
    """
    yield from problems(store, "index-unquoted", "put it in single quotes")


def index_not_one_line(store: Snapshot) -> Iterator[Finding]:
    r"""An index runs over several lines, or holds a tab or control character, which breaks the catalog.

    Bad: a folded text, `"a\tb"`. Good: one line without tabs.
    """
    yield from problems(store, "index-not-one-line", "make it one line")


def index_duplicate_key(store: Snapshot) -> Iterator[Finding]:
    """The front matter has two `index:` lines, of which programs see different ones.

    Bad: `index:` twice. Good: once.
    """
    yield from problems(store, "index-duplicate-key", "make one line of them")


def index_hidden(store: Snapshot) -> Iterator[Finding]:
    """The plugin does not see the front matter: `---` is not alone on line 1, or `...` closes it, or it is empty.

    Bad: a blank line before `---`. Good: `---` as the first line.
    """
    yield from problems(store, "index-hidden", "let `---` open and close it")


def date_mismatch(store: Snapshot) -> Iterator[Finding]:
    """The `date:` of a day is not the day of its file name, which alone counts.

    Bad: `date: 2025-02-04` in 2025-02-03.md. Good: `date: 2025-02-03`.
    """
    yield from problems(store, "date-mismatch", "write the day of the file name")


def wrong_year_folder(store: Snapshot) -> Iterator[Finding]:
    """A day file lies in the folder of another year.

    Bad: archive/2024/2025-02-03.md. Good: archive/2025/2025-02-03.md.
    """
    days = _days(store)
    for finding in named_wrong(store, "wrong-year-folder", "it lies in another year's folder", "move it"):
        if finding.day in days and days[finding.day].path == finding.path:
            yield finding


def row_malformed(store: Snapshot) -> Iterator[Finding]:
    """A catalog line is no row.

    Bad: a line without a tab. Good: `2025-02-03<TAB>index`.
    """
    told: set[str] = set()
    for finding in problems(store, "row-malformed"):
        if finding.path not in told:
            yield replace(finding, fix=_rebuild(finding.path))
        if not store.records[finding.path].rows:
            told.add(finding.path)  # no line of it is a row: one fault, not as many as it has lines


def row_wrong_year(store: Snapshot) -> Iterator[Finding]:
    """A row stands in the catalog of another year.

    Bad: 2024-12-31 in catalog/2025.tsv. Good: in catalog/2024.tsv.
    """
    for record in store.records.values():
        foreign = [row for row in record.rows if _is_foreign(record.path, row)]
        if len(foreign) == len(record.rows):
            foreign = foreign[:1]  # the whole file is another year's: one fault, not as many as it has rows
        for row in foreign:
            yield _of_row(record.path, row, f"{row.day} stands in another year's catalog")


def row_duplicate(store: Snapshot) -> Iterator[Finding]:
    """A day has two rows.

    Bad: 2025-02-03 twice. Good: once.
    """
    for path, rows in _own_rows(store):
        for row in rows[1:]:
            yield _of_row(path, row, f"{row.day} has two rows")


def row_too_early(store: Snapshot) -> Iterator[Finding]:
    """A day that is not over has a row already.

    Bad: today's row. Good: rows up to yesterday.
    """
    for path, (row, *_) in _own_rows(store):
        if row.day >= store.today:
            yield _of_row(path, row, f"{row.day} is not over, and has a row already")


def ghost_row(store: Snapshot) -> Iterator[Finding]:
    """A row speaks of a day that has no file.

    Bad: a row of 2025-02-03 without its file. Good: rows of days that are there.
    """
    days = {*_days(store), *(fact.role.day for fact in store.files.values() if fact.role.skipped)}
    for path, (row, *_) in _own_rows(store):
        there = row.day in days or _is_unread(store, day_path(row.day))
        if row.day < store.today and not there:
            yield _of_row(path, row, f"{row.day} has a row and no file")


def row_differs(store: Snapshot) -> Iterator[Finding]:
    """A row is not what its day's index says.

    Bad: an old index in the catalog. Good: the same text.
    """
    days = _days(store)
    for path, (row, *_) in _own_rows(store):
        day = days.get(row.day)
        if day is not None and row.day < store.today and not _agrees(row, day):
            yield _of_row(path, row, f"the row of {row.day} is not the index of its file")


def row_missing(store: Snapshot) -> Iterator[Finding]:
    """A finished day has no row in the catalog of its year.

    Bad: 2025-02-03 without a row on 2025-02-28. Good: a row for each finished day.
    """
    held = {row.day for record in store.records.values() for row in record.rows}
    missing: dict[str, list[date]] = {}
    for day in sorted(_days(store)):
        if day < store.today and day not in held:
            missing.setdefault(f"catalog/{day.year:04d}.tsv", []).append(day)
    for path, days in missing.items():
        if not _is_unread(store, path):
            yield from _without_row(path, days, store.records.get(path))


def catalog_unsorted(store: Snapshot) -> Iterator[Finding]:
    """The rows of a catalog are not in order of their days.

    Bad: 2025-02-04 above 2025-02-03. Good: ascending.
    """
    days = _days(store)
    last: dict[str, CatalogRow] = {}
    told: set[str] = set()
    for path, (row, *more) in _own_rows(store):
        if more or row.day not in days or row.day >= store.today:
            continue  # a row too many has a finding of its own, wherever it stands
        if path in last and row.day < last[path].day and path not in told:
            told.add(path)
            yield _of_row(path, row, f"{row.day} stands below {last[path].day}")
        last[path] = row


def catalog_quoted(store: Snapshot) -> Iterator[Finding]:
    """A catalog repeats the quotes of the front matter, so that its rows are not the index itself.

    Bad: `2025-02-03<TAB>'index'`. Good: `2025-02-03<TAB>index`.
    """
    days = _days(store)
    told: set[str] = set()
    for path, (row, *_) in _own_rows(store):
        day = days.get(row.day)
        if path not in told and day is not None and row.written != row.index == _index(day):
            told.add(path)
            yield Finding(path, row.line, "its rows hold the quotes of the front matter", _rebuild(path), row.day)


def _is_foreign(path: str, row: CatalogRow) -> bool:
    return str(row.day)[:4] != path[8:12]


def _own_rows(store: Snapshot) -> Iterator[tuple[str, list[CatalogRow]]]:
    """Yield the rows of each day in the catalog of its year; of several, one that says what the file says comes first."""
    days = _days(store)
    for record in store.records.values():
        found: dict[date, list[CatalogRow]] = {}
        for row in record.rows:
            if not _is_foreign(record.path, row):
                found.setdefault(row.day, []).append(row)
        for day, rows in found.items():
            if len(rows) > 1 and (held := days.get(day)):
                rows.sort(key=lambda row: not _agrees(row, held))
            yield record.path, rows


def _without_row(path: str, days: list[date], catalog: Records | None) -> Iterator[Finding]:
    if catalog is not None and (catalog.rows or catalog.problems):
        explained = _explained(catalog, days)
        days = [day for day in days if day not in explained]
    elif len(days) > 1:  # one fault, not as many as it has days
        yield Finding(path, 0, f"the catalog is missing or empty; {len(days)} days have no row", _rebuild(path))
        return
    for day in days:
        yield Finding(path, 0, f"{day} has no row", _rebuild(path), day, str(day))


def _explained(catalog: Records, missing: list[date]) -> set[date]:
    """Return the days whose rows another finding misses already: a torn line stands in place of each, or no row is right."""
    right = [row for row in catalog.rows if not _is_foreign(catalog.path, row)]
    if not right:
        return set(missing)
    found: set[date] = set()
    for problem in catalog.problems:
        if problem.rule == "row-malformed":
            first = max((row.day for row in right if row.line < problem.line), default=date.min)
            last = min((row.day for row in right if row.line > problem.line), default=date.max)
            named = parse_day(problem.text[:10])
            lost = [day for day in missing if day == named or (not named and first < day < last and day not in found)]
            found.update(lost[:1])
    return found


def _is_unread(store: Snapshot, path: str) -> bool:
    """Return whether a file, or a folder above it, is there and was not read; another finding says so."""
    parts = path.split("/")
    places = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    return any(store.files[place].trouble for name in places for place in (name, f"{name}/") if place in store.files)


def _days(store: Snapshot) -> dict[date, Records]:
    """Return the file of each day; of two the one in its own year's folder counts."""
    found: dict[date, Records] = {}
    for record in sorted((r for r in store.records.values() if is_day_file(r)), key=plain_first, reverse=True):
        if record.role.day:
            found[record.role.day] = record
    return found


def _index(day: Records) -> str:
    return (day.index.text if day.index else None) or ""


def _agrees(row: CatalogRow, day: Records) -> bool:
    return _index(day) in (row.index, row.written)


def _rebuild(path: str) -> str:
    return f"rebuild_catalog({path[8:12]})"


def _of_row(path: str, row: CatalogRow, message: str) -> Finding:
    return Finding(path, row.line, message, _rebuild(path), row.day, f"{row.day}\t{row.written}")


RULES = (
    Rule("error", index_duplicate_key),
    Rule("error", index_not_one_line),
    Rule("warning", index_unquoted),
    Rule("warning", index_hidden),
    Rule("warning", index_missing),
    *indexes.RULES,
    Rule("warning", date_mismatch),
    Rule("warning", wrong_year_folder),
    Rule("warning", row_malformed),
    Rule("warning", row_wrong_year),
    Rule("warning", row_duplicate),
    Rule("warning", row_too_early),
    Rule("warning", ghost_row),
    Rule("warning", row_differs),
    Rule("warning", row_missing),
    Rule("warning", catalog_unsorted),
    Rule("warning", catalog_quoted),
)
