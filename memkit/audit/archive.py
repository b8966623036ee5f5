"""Rules of the archive: the index line of a day, and the catalog that must repeat it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from memkit.audit.finding import Finding, Rule, named_wrong, problems
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
        if finding.day and days[finding.day].path == finding.path:
            yield finding


def row_malformed(store: Snapshot) -> Iterator[Finding]:
    """A catalog line is no row.

    Bad: a line without a tab. Good: `2025-02-03<TAB>index`.
    """
    for finding in problems(store, "row-malformed"):
        yield Finding(finding.path, finding.line, finding.message, _rebuild(finding.path), None, finding.text)


def row_wrong_year(store: Snapshot) -> Iterator[Finding]:
    """A row stands in the catalog of another year.

    Bad: 2024-12-31 in catalog/2025.tsv. Good: in catalog/2024.tsv.
    """
    for path, row in _rows(store):
        if str(row.day)[:4] != path[8:12]:
            yield _of_row(path, row, f"{row.day} stands in another year's catalog")


def row_duplicate(store: Snapshot) -> Iterator[Finding]:
    """A day has two rows.

    Bad: 2025-02-03 twice. Good: once.
    """
    for path, row in _repeated(store):
        yield _of_row(path, row, f"{row.day} has two rows")


def row_too_early(store: Snapshot) -> Iterator[Finding]:
    """A day that is not over has a row already.

    Bad: today's row. Good: rows up to yesterday.
    """
    for path, row in _own_rows(store):
        if row.day >= store.today:
            yield _of_row(path, row, f"{row.day} is not over, and has a row already")


def ghost_row(store: Snapshot) -> Iterator[Finding]:
    """A row speaks of a day that has no file.

    Bad: a row of 2025-02-03 without its file. Good: rows of days that are there.
    """
    days = _days(store)
    for path, row in _own_rows(store):
        if row.day < store.today and row.day not in days:
            yield _of_row(path, row, f"{row.day} has a row and no file")


def row_differs(store: Snapshot) -> Iterator[Finding]:
    """A row is not what its day's index says.

    Bad: an old index in the catalog. Good: the same text.
    """
    days = _days(store)
    for path, row in _own_rows(store):
        day = days.get(row.day)
        if day is not None and row.day < store.today and _index(day) not in (row.index, row.written):
            yield _of_row(path, row, f"the row of {row.day} is not the index of its file")


def row_missing(store: Snapshot) -> Iterator[Finding]:
    """A finished day has no row in the catalog of its year.

    Bad: 2025-02-03 without a row on 2025-02-28. Good: a row for each finished day.
    """
    has_row = {row.day for _, row in _rows(store)}
    missing: dict[str, list[date]] = {}
    for day in sorted(_days(store)):
        if day < store.today and day not in has_row:
            missing.setdefault(f"catalog/{day.year:04d}.tsv", []).append(day)
    for path, days in missing.items():
        if path not in store.files:  # one fault, not as many as it has days
            yield Finding(path, 0, f"the catalog is missing; {len(days)} days have no row", _rebuild(path))
            continue
        for day in days:
            yield Finding(path, 0, f"{day} has no row", _rebuild(path), day, str(day))


def catalog_unsorted(store: Snapshot) -> Iterator[Finding]:
    """The rows of a catalog are not in order of their days.

    Bad: 2025-02-04 above 2025-02-03. Good: ascending.
    """
    last: dict[str, CatalogRow] = {}
    told: set[str] = set()
    for path, row in _own_rows(store):
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
    for path, row in _own_rows(store):
        day = days.get(row.day)
        if path not in told and day is not None and row.written != row.index == _index(day):
            told.add(path)
            yield Finding(path, row.line, "its rows hold the quotes of the front matter", _rebuild(path), row.day)


def _rows(store: Snapshot) -> Iterator[tuple[str, CatalogRow]]:
    for record in store.records.values():
        for row in record.rows:
            yield record.path, row


def _repeated(store: Snapshot) -> Iterator[tuple[str, CatalogRow]]:
    seen = set()
    for path, row in _rows(store):
        if row.day in seen:
            yield path, row
        seen.add(row.day)


def _own_rows(store: Snapshot) -> Iterator[tuple[str, CatalogRow]]:
    """Yield the rows that are neither repeated nor in another year's catalog."""
    repeated = {(path, row.line) for path, row in _repeated(store)}
    for path, row in _rows(store):
        if (path, row.line) not in repeated and str(row.day)[:4] == path[8:12]:
            yield path, row


def _days(store: Snapshot) -> dict[date, Records]:
    """Return the file of each day; of two the one in its own year's folder counts."""
    found: dict[date, Records] = {}
    for record in sorted((r for r in store.records.values() if is_day_file(r)), key=plain_first, reverse=True):
        if record.role.day:
            found[record.role.day] = record
    return found


def _index(day: Records) -> str:
    return (day.index.text if day.index else None) or ""


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
