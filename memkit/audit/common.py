"""Rules for every layout: encodings, names, dates, links, and what reading itself could not make sense of."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from memkit.audit import content
from memkit.audit.finding import Finding, Rule, day_files, files_by_day, named_wrong, problems
from memkit.manifest import first_difference
from memkit.model import Snapshot

LONELY = timedelta(days=200)
HIDES_ENTRIES = frozenset({"entry-invisible", "unclosed-fence"})  # rules whose finding says already why a day looks empty


def unreadable(store: Snapshot) -> Iterator[Finding]:
    """A file cannot be read.

    Bad: a day file without read permission. Good: files that the user may read.
    """
    for fact in store.files.values():
        if fact.trouble.startswith(("unreadable", "no regular file")) and not fact.role.skipped:
            yield Finding(fact.path, 0, fact.trouble, "allow reading it", fact.role.day)


def too_large(store: Snapshot) -> Iterator[Finding]:
    """A file is too large to be memory, and is not read.

    Bad: a day file of 100 MB. Good: a day file of some kilobytes.
    """
    for fact in store.files.values():
        if fact.trouble.startswith("too large"):
            yield Finding(fact.path, 0, fact.trouble, "split it by hand", fact.role.day)


def link_outside(store: Snapshot) -> Iterator[Finding]:
    """A link leads out of the store, and is not followed.

    Bad: memory/2025-02-03.md -> /elsewhere/x.md. Good: a plain file.
    """
    for fact in store.files.values():
        if fact.role.problem == "link-outside":
            yield Finding(fact.path, 0, fact.trouble, "put a plain file in its place")


def missing_file(store: Snapshot) -> Iterator[Finding]:
    """A file of the manifest is gone.

    Bad: 2025-02-03.md was there in January, and is not now. Good: all files of the manifest.
    """
    for then, now in _compared(store):
        if now is None:
            yield Finding(
                then.path, 0, f"gone since the manifest, which knew {then.entries} entries of it", "restore it from a backup"
            )


def emptied_day(store: Snapshot) -> Iterator[Finding]:
    """A file of the manifest is still there, and holds no entry any more.

    Bad: a day of 0 bytes that had five entries. Good: as many as then.
    """
    for then, now in _compared(store):
        if now is not None and then.entries and not now.entries:
            yield Finding(then.path, 0, f"it held {then.entries} entries, and holds none", "restore it from a backup")


def frozen_changed(store: Snapshot) -> Iterator[Finding]:
    """A finished day is not what the manifest says it was.

    Bad: an edited line in a day of last month. Good: the same bytes.
    """
    for then, now in _compared(store):
        if now is not None and now.sha256 != then.sha256:
            line = first_difference(then.lines, now.lines)
            yield Finding(
                then.path, line, f"changed since the manifest, first in line {line}", "restore it, or take a new manifest"
            )


def _compared(store: Snapshot) -> Iterator[tuple[Any, Any]]:
    """Yield each row of the manifest with the same file's row of now, None if it is gone."""
    if store.against is None:
        return
    present = {row.path: row for row in store.present.itertuples()}
    for row in store.against.itertuples():
        yield row, present.get(row.path)


def mixed_encoding(store: Snapshot) -> Iterator[Finding]:
    """A UTF-8 file holds a run of UTF-16, as PowerShell's `>>` leaves it.

    Bad: `- tea` in UTF-8, then `- cup` in UTF-16. Good: all of it UTF-8.
    """
    yield from problems(store, "mixed-encoding", "save it as UTF-8")


def not_utf8(store: Snapshot) -> Iterator[Finding]:
    """A file is not UTF-8.

    Bad: a byte 0xff in the text. Good: UTF-8 throughout.
    """
    yield from problems(store, "not-utf8", "save it as UTF-8")


def bom(store: Snapshot) -> Iterator[Finding]:
    """A file starts with a byte order mark, which hides its first line from other programs.

    Bad: EF BB BF before `---`. Good: `---` as the first bytes.
    """
    yield from problems(store, "bom", "save it as UTF-8 without BOM")


def control_character(store: Snapshot) -> Iterator[Finding]:
    """A file holds a control character.

    Bad: NUL, ESC or backspace in an entry. Good: printable text, tabs and line breaks.
    """
    yield from problems(store, "control-character", "remove it by hand")


def merge_marker(store: Snapshot) -> Iterator[Finding]:
    """A merge was never resolved: conflict markers stand in a file.

    Bad: `<<<<<<< HEAD` at a line's start. Good: one of the two sides, or both, without markers.
    """
    first: dict[str, Finding] = {}  # of each file: one merge leaves markers in many places
    for finding in problems(store, "merge-marker", "keep what is right of both sides and remove the markers"):
        if finding.path not in first or finding.line < first[finding.path].line:
            first[finding.path] = finding
    yield from first.values()


def conflict_copy(store: Snapshot) -> Iterator[Finding]:
    """A sync program left a copy beside a file, because two devices wrote it.

    Bad: `2025-02-03 (conflicted copy).md`. Good: one file, merged by a person.
    """
    yield from named_wrong(store, "conflict-copy", "a copy or temp file of a sync program; it is not read", "merge it")


def stray_temp(store: Snapshot) -> Iterator[Finding]:
    """A killed write left its temp file.

    Bad: `.2025-02-03.md.x1y2z3w4.tmp`. Good: the day file alone.
    """
    yield from named_wrong(store, "stray-temp", "a temp file that a killed write left", "the next write removes it")


def yaml_invalid(store: Snapshot) -> Iterator[Finding]:
    """The front matter is no valid YAML; what could be recovered was.

    Bad: `index: Kepler: 决定`. Good: `index: 'Kepler: 决定'`.
    """
    yield from problems(store, "yaml-invalid", "quote the value")


def double_frontmatter(store: Snapshot) -> Iterator[Finding]:
    """A second front-matter block stands further down in a file.

    Bad: two `---` … `---` blocks. Good: one, at the top.
    """
    yield from problems(store, "double-frontmatter", "make one block of them by hand")


def unclosed_fence(store: Snapshot) -> Iterator[Finding]:
    """A code fence or comment is opened and never closed, so that it swallows what follows.

    Bad: a lone line of three backticks. Good: the same line again behind the code.
    """
    yield from problems(store, "unclosed-fence", "add the closing line")


def not_a_day(store: Snapshot) -> Iterator[Finding]:
    """A file lies where only day files belong, and is not read.

    Bad: `archive/2025/notes.md`. Good: `archive/2025/2025-02-03.md`.
    """
    yield from named_wrong(store, "not-a-day", "its name is no day, so it is not read", "move it out of the memory folder")


def impossible_date(store: Snapshot) -> Iterator[Finding]:
    """A name or a front matter says a date that does not exist.

    Bad: `2026-02-30.md`. Good: `2026-02-28.md`.
    """
    yield from named_wrong(store, "impossible-date", "its name is a date that does not exist", "rename it")
    yield from problems(store, "impossible-date", "correct the date")


def ambiguous_date(store: Snapshot) -> Iterator[Finding]:
    """A name says a date that can be read in two ways, so that its entries stay undated.

    Bad: `01-02-2026.md`. Good: `2026-02-01.md`.
    """
    yield from named_wrong(store, "ambiguous-date", "its name can mean two days, so it stays undated", "rename it")


def future_date(store: Snapshot) -> Iterator[Finding]:
    """A day file is dated after today.

    Bad: `2026-02-03.md` on 2025-02-28. Good: files up to today.
    """
    for record in day_files(store):
        if record.role.day and record.role.day > store.today:
            yield Finding(record.path, 0, f"its day is after today, {store.today}", "rename it", record.role.day)


def empty_day(store: Snapshot) -> Iterator[Finding]:
    """A day file holds no entry.

    Bad: headings alone. Good: at least one entry.
    """
    filled = set(store.entries["path"].unique())
    for record in day_files(store):
        if record.path not in filled and not any(problem.rule in HIDES_ENTRIES for problem in record.problems):
            yield Finding(record.path, 0, "a day file without an entry", "", record.role.day)


def date_outlier(store: Snapshot) -> Iterator[Finding]:
    """A day lies far from all others, and would lie among them in another year: perhaps its year is mistyped.

    Bad: 2025-01-29 between days of January 2026. Good: 2026-01-29.
    """
    days = sorted(day for day in files_by_day(store) if day <= store.today)  # a later one is future-date's
    for day, others in ((days[0], days[1:]), (days[-1], days[:-1])) if len(days) > 3 else ():
        far = min(abs(other - day) for other in others) > LONELY
        if far and any(others[0] <= moved <= others[-1] for moved in _other_years(day)):
            path = files_by_day(store)[day][0].path
            yield Finding(path, 0, "far from all other days: is its year mistyped?", "rename it if so", day)


def _other_years(day: date) -> Iterator[date]:
    for year in (day.year - 1, day.year + 1):
        if 1 <= year <= 9999 and (day.month, day.day) != (2, 29):
            yield day.replace(year=year)


RULES = (
    Rule("error", unreadable),
    Rule("error", missing_file),
    Rule("error", emptied_day),
    Rule("error", frozen_changed),
    Rule("error", mixed_encoding),
    Rule("error", not_utf8),
    Rule("warning", bom),
    Rule("error", merge_marker),
    Rule("warning", conflict_copy),
    Rule("error", yaml_invalid),
    Rule("warning", too_large),
    Rule("warning", link_outside),
    Rule("warning", control_character),
    Rule("info", stray_temp),
    Rule("warning", double_frontmatter),
    Rule("warning", unclosed_fence),
    Rule("warning", not_a_day),
    Rule("warning", impossible_date),
    Rule("warning", ambiguous_date),
    Rule("warning", future_date),
    Rule("info", empty_day),
    Rule("info", date_outlier),
    *content.RULES,
)
