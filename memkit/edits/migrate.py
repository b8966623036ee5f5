"""What `migrate` plans: the entries of one store written as files of another layout, read back, and compared one by one; pure.

Nothing is left to hope: each file is parsed as it is to be read, and an entry that does not read as it did is named with
what is different. Days and clocks are local, instants are kept as they were written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from typing import NamedTuple

from memkit import indexing
from memkit.blocks import scan
from memkit.cells import count
from memkit.edits import archive as archive_edits
from memkit.edits import lines as edit_lines
from memkit.edits.differing import Change, changes, is_itself
from memkit.edits.forms import Entry, form
from memkit.edits.remains import CHANGED, CREATE, LEFT, Remainder
from memkit.edits.workspace import FORGOTTEN, LONGTERM
from memkit.errors import LostTextError
from memkit.layouts import Layout, workspace
from memkit.model import Document, Edit, Records
from memkit.text import decode, front_matter, norm_tag, norm_text

_HEADING_ENDS = 6  # levels of headings that there are
_NO_TEXT, _NOT_READ = "there is no text in it", "it would not be read there"
_COMMANDS = (f"## {FORGOTTEN}", "## Store")  # sections of a workspace's long-term file that mean more than their text
Row = tuple[str, str, str]


class Page(NamedTuple):
    """A file of the target: its text, its records as they will be read, and what changes in each of its entries."""

    path: str
    text: str
    records: Records
    changes: list[tuple[Entry, list[Change]]]


def pages(entries: Iterable[Entry], layout: Layout, tz: tzinfo) -> tuple[list[Page], list[tuple[Entry, str]]]:
    """Return the day files that hold the entries in another layout, and the entries that no file of it can hold, with why.

    Raises: LostTextError if a file would not read as it was meant.
    """
    found: list[Page] = []
    lost: list[tuple[Entry, str]] = []
    days: dict[date, list[Entry]] = {}
    for entry in entries:
        if norm_text(entry.text):
            days.setdefault(entry.day, []).append(entry)
        else:
            lost.append((entry, _NO_TEXT))
    for day in sorted(days):
        page, hopeless = _page(day, days[day], layout, tz)
        lost += hopeless
        found += [page] if page else []
    return found, lost


def catalogs(made: Sequence[Page], today: date) -> tuple[Edit, ...]:
    """Return the edits that write the catalogs of a new archive."""
    texts = {page.path: page.text for page in made}
    days: dict[int, dict[date, str]] = {}
    for page in made:
        if day := page.records.role.day:
            days.setdefault(day.year, {})[day] = page.path
    draft = archive_edits.rebuild(texts.get, sorted(days), lambda year: days[year], today)
    return tuple(edit for edit in draft.edits if edit.after is not None)


def parsed(layout: Layout, path: str, text: str) -> Records:
    """Return the records of a text that is to lie at a path, as they are read once it lies there."""
    return layout.parse(Document(path, layout.role(path), *decode(text.encode("utf-8", "surrogateescape"))))


# ---- one file ----


def _page(day: date, entries: list[Entry], layout: Layout, tz: tzinfo) -> tuple[Page | None, list[tuple[Entry, str]]]:
    """Return a day's file; if its blocks do not stand beside each other as they are, it has items, and then items of one line.

    Raises: LostTextError.
    """
    path = layout.day_path(day)
    for strictness in range(3):
        held, lost, exact = _held(entries, strictness, layout.NAME)
        if not held:
            break
        text = _markdown(day, held, layout.NAME) if layout.NAME != "layers" else _cold(day, [e for e, _ in held], tz)
        records = parsed(layout, path, text)
        if len(records.entries) != len(held) or text.startswith("\ufeff"):  # at its start, a reader takes it for no text
            continue
        found = changes([entry for entry, _ in held], records, layout, tz)
        if strictness == 2 or all(is_itself(found[n][1]) for n in exact):
            return Page(path, text, records, found), lost
    if held:
        return _without_unread(day, entries, layout, tz)
    return None, lost


def _without_unread(day: date, entries: list[Entry], layout: Layout, tz: tzinfo) -> tuple[Page | None, list[tuple[Entry, str]]]:
    """Return the day's file without the entries that would not be read even if they were alone in it.

    Raises: LostTextError if it is none of them.
    """
    bad = [] if len(entries) < 2 else [entry for entry in entries if _page(day, [entry], layout, tz)[0] is None]
    if not bad and len(entries) > 1:
        path = layout.day_path(day)
        raise LostTextError(f"{path}: its {len(entries)} entries would not be read back; nothing was written, please report it")
    page, lost = _page(day, [entry for entry in entries if entry not in bad], layout, tz) if bad else (None, [])
    return page, [*lost, *((entry, _NOT_READ) for entry in bad or entries)]


def _held(
    entries: list[Entry], strictness: int, layout: str
) -> tuple[list[tuple[Entry, str]], list[tuple[Entry, str]], list[int]]:
    """Return entries with their lines of Markdown, those that have none, and which of the first read in them as they did."""
    held: list[tuple[Entry, str]] = []
    lost: list[tuple[Entry, str]] = []
    exact: list[int] = []
    for entry in entries:
        made = form(entry, strictness) if layout != "layers" else (_on_one_line(entry), True)
        if made is None or not made[0]:
            lost.append((entry, _NO_TEXT))
            continue
        exact += [len(held)] if made[1] and layout != "layers" else []
        held.append((entry, made[0]))
    return held, lost, exact


def _cold(day: date, entries: Iterable[Entry], tz: tzinfo) -> str:
    """Return a cold file of `layers`."""
    rows = []
    for entry in entries:
        task = f"[{entry.task}] " if entry.task is not None else ""
        tag = norm_tag(entry.tags[0] if entry.tags else None)
        rows.append(f"- [{entry.stamp or _stamped(entry, tz)}] [{tag}] {task}{_on_one_line(entry)}")
    return f"# {day}\n\n" + "\n".join(rows) + "\n"


def _on_one_line(entry: Entry) -> str:
    """Return the text of an entry as `layers` writes it."""
    return norm_text(edit_lines.CONTROL.sub(" ", entry.text))


def _stamped(entry: Entry, tz: tzinfo) -> str:
    """Return the instant of an entry's local day and clock, of the day's start without one."""
    local = datetime.combine(entry.day, time.fromisoformat(entry.clock or "00:00"), tz)
    try:
        return edit_lines.stamp(local)
    except OverflowError:  # the first or the last day that there is
        return edit_lines.stamp(local.replace(tzinfo=UTC))


def _markdown(day: date, held: Sequence[tuple[Entry, str]], layout: str) -> str:
    """Return a day file of `archive` or `workspace`: front matter and heading where they belong, sections, entries."""
    rows: list[str] = [f"## {day}"] if layout == "archive" else []
    here: list[str] = []
    before = ""
    for entry, lines in held:
        path = entry.sections(layout)
        if path != here:
            rows += _headings(here, path, day, 3 if layout == "archive" else 2)
            here, before = path, ""
        elif before and not (before.startswith("- ") and lines.startswith("- ")):
            rows.append("")
        rows.append(lines)
        before = lines
    body = "\n".join(rows).strip("\n") + "\n"
    if layout != "archive":
        return body
    said = indexing.extract(archive_edits.entries_of(body))
    return f"---\ndate: {day}\nindex: {indexing.quoted(said)}\n---\n{body}"


def _headings(here: list[str], path: list[str], day: date, level: int) -> list[str]:
    """Return the lines that lead from one section to another, blank lines around them."""
    same = next((n for n, (old, new) in enumerate(zip(here, path, strict=False)) if old != new), min(len(here), len(path)))
    same = min(same, len(path) - 1) if path else 0
    names = [f"{'#' * min(level + n, _HEADING_ENDS)} {name}" for n, name in enumerate(path) if n >= same]
    return ["", "\n\n".join(names or [f"## {day}"]), ""]


def longterm(body: str) -> tuple[Page | None, list[Remainder]]:
    """Return the body of a hot layer as a workspace's long-term file, where its headings command nothing, and what changed."""
    text = body.lstrip("\ufeff")
    rows = text.split("\n")
    cut = front_matter(rows, strict=True)
    changed = [Remainder("hot.md", "its body starts with no byte order mark now", "", CHANGED)] if text != body else []
    for heading in scan(rows, cut.last if cut else 0).headings:
        row = rows[heading.line - 1].rstrip()
        if row in _COMMANDS:  # closed, it is the same heading, and no command
            rows[heading.line - 1] = f"{row} ##"
            why = "a heading of its body is closed, since it would be a command there"
            changed.append(Remainder(f"{LONGTERM}:{heading.line}", why, row, CHANGED))
    if not norm_text(text):
        return None, [Remainder("hot.md", "its body", "there is no text in it")] if body else []
    text = "\n".join(rows) + "\n"
    return Page(LONGTERM, text, parsed(workspace, LONGTERM, text), []), changed


# ---- what is told ----


def told(made: Sequence[Page], more: Sequence[Remainder]) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Return the rows of the plan (left out, changed, created; rare reasons first) and what they come to, as warnings."""
    left, beside = ([row for row in more if row.action == action] for action in (LEFT, CHANGED))
    reasons = _counted(row.what for row in left)
    changed = [(entry.place, found) for page in made for entry, found in page.changes if found]
    counts = _counted([*(change.what for _, found in changed for change in found), *(row.what for row in beside)])
    rows = [
        *((row.place, LEFT, row.reason) for row in sorted(left, key=lambda row: (reasons[row.what], row.what))),
        *((row.place, CHANGED, row.reason) for row in beside),
        *((place, CHANGED, "; ".join(map(str, found))) for place, found in changed),
        *((page.path, CREATE, count(len(page.records.entries), "entry")) for page in made),
    ]
    summed = "; ".join(f"{many:,} {what}" for what, many in reasons.items())
    first = [f"{len(left):,} left out: {summed}"] if left else []
    return tuple(rows), (*first, *(f"{many:,} changed: {what}" for what, many in counts.items()))


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Return how often each name is there, the most frequent first."""
    return dict(Counter(names).most_common())
