"""What the workspace's verbs plan: store to MEMORY.md or to today's log, mark as forgotten; pure, reading is handed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime

from memkit.blocks import open_end, scan
from memkit.edits import lines as edit_lines
from memkit.edits.archive import Read, correction
from memkit.edits.plan import Draft
from memkit.errors import BadArgument
from memkit.layouts import workspace
from memkit.marks import read_marks
from memkit.model import Edit
from memkit.text import front_matter, norm_text, reading_of

LIMIT = 4000
LONGTERM = "MEMORY.md"
FORGOTTEN = "Forgotten"
TARGETS = ("longterm", "daily")


def one_line(text: object) -> str:
    """Return a text as the one line that the original tool writes.

    Raises: BadArgument if it is no text, empty, nothing but rules, or over 4,000 characters.
    """
    if not isinstance(text, str):
        raise BadArgument("text: text is required")
    said = norm_text(edit_lines.entry_text(text))
    if len(said) > LIMIT:
        raise BadArgument(f"text: {len(said):,} characters of at most {LIMIT:,}; split it into several entries")
    return said


def store(read: Read, text: str, target: str, now: datetime, *, tag: str | None = None) -> Draft:
    """Return the plan that adds `- <instant> text` to the section `## Store`, or to today's log.

    Raises: BadArgument for another target.
    """
    if target not in TARGETS:
        raise BadArgument(f"target: {str(target)[:40]!r}; expected longterm or daily")
    if target == "daily":
        return append_all(read, [(text, tag)], now)
    entry = edit_lines.tagged(tag, one_line(text))
    return to_section(read, "Store", entry, f"- {edit_lines.stamp(now)} {entry}", now)


def forgotten(read: Read, text: str, now: datetime) -> Draft:
    """Return the plan that adds `- <instant> text` to the section `## Forgotten`; nothing is deleted."""
    entry = one_line(text)
    return to_section(read, FORGOTTEN, entry, f"- {edit_lines.stamp(now)} {entry}", now)


def append_all(read: Read, entries: Iterable[tuple[str, str | None]], now: datetime) -> Draft:
    """Return the plan that adds (text, tag) pairs to today's log, each as `- <instant> [tag] text`."""
    said = [edit_lines.tagged(tag, one_line(text)) for text, tag in entries]
    path = workspace.day_path(now.date())
    before = read(path)
    if before is not None:
        edit_lines.refuse_utf16(path, before)
    lines = _reading(before or "")
    fresh, rows = edit_lines.rows_of(path, said, {own for own, _ in _entries_of(lines, 0, len(lines))})
    new = [f"- {edit_lines.stamp(now)} {entry}" for entry, is_new in zip(said, fresh, strict=True) if is_new]
    if not new:
        return Draft((), rows)
    closing = open_end(lines, _head(lines))
    text = edit_lines.appended(before or "", closing) if closing else before or ""
    return Draft((Edit(path, before, edit_lines.appended(text, "\n".join(new))),), rows, len(new))


def to_section(read: Read, section: str, entry: str, line: str, now: datetime) -> Draft:
    """Return the plan that adds a line as the last item of a section of MEMORY.md, which is made if it is missing."""
    path, before = _longterm(read)
    if before is None:
        return Draft((Edit(path, None, f"## {section}\n{line}\n"),), ((path, "append", f"a new section {section}"),), 1)
    edit_lines.refuse_utf16(path, before, anywhere=True)
    lines = _reading(before)
    start, end = section_of(lines, section)
    if start < 0:
        closing = open_end(lines, _head(lines))
        text = edit_lines.appended(before, closing) if closing else before
        blank = "" if not text.strip() else "\n"
        after = edit_lines.appended(text, f"{blank}## {section}\n{line}")
        return Draft((Edit(path, before, after),), ((path, "append", f"a new section {section}"),), 1)
    if _stands_there(lines, start, end, entry, now):
        return Draft((), ((path, "unchanged", "the entry stands there already"),))
    after = _inserted(before, lines, start, end, line)
    return Draft((Edit(path, before, after),), ((path, "append", section),), 1)


def _longterm(read: Read) -> tuple[str, str | None]:
    """Return the path of the long-term file, whichever of its two names is there, and its text."""
    for path in (LONGTERM, "memory.md"):
        text = read(path)
        if text is not None:
            return path, text
    return LONGTERM, None


def _reading(text: str) -> list[str]:
    return reading_of(text).split("\n")


def _head(lines: list[str]) -> int:
    """Return how many lines the front matter takes."""
    cut = front_matter(lines, strict=True)
    return cut.last if cut else 0


def section_of(lines: list[str], name: str) -> tuple[int, int]:
    """Return the indexes between which the lines of a section lie, its heading not among them; -1 if there is none.

    The heading must be `## name` exactly; it ends before the next heading of its level or above.
    """
    return next(sections_of(lines, name), (-1, -1))


def sections_of(lines: list[str], name: str) -> Iterator[tuple[int, int]]:
    """Yield every section of a name as section_of returns one."""
    headings = scan(lines, _head(lines)).headings
    for place, heading in enumerate(headings):
        if lines[heading.line - 1].rstrip() == f"## {name}":
            after = (other.line - 1 for other in headings[place + 1 :] if other.level <= 2)
            yield heading.line, next(after, len(lines))


def _inserted(text: str, lines: list[str], start: int, end: int, line: str) -> str:
    """Return the text with a line behind the last line of a section that is not blank, closing what is open there."""
    while end > start and not lines[end - 1].strip():
        end -= 1
    closing = open_end(lines[:end], _head(lines))
    ending = "\r" if edit_lines.newline_of(text) == "\r\n" else ""
    added = [f"{row}{ending}" for row in (closing, line) if row]
    rows = text.split("\n")
    if end == len(rows):  # the last line has no line end yet
        rows[-1] += ending
        added.append("")
    rows[end:end] = added
    return "\n".join(rows)


def _stands_there(lines: list[str], start: int, end: int, entry: str, now: datetime) -> bool:
    """Return whether an entry with this text, of the clock's local day, stands between the indexes."""
    held = _entries_of(lines, start, end)
    return any(own == entry and _local_day(stamp, now) == now.date() for own, stamp in held)


def _entries_of(lines: list[str], start: int, end: int) -> Iterator[tuple[str, str | None]]:
    """Yield each entry between the indexes on one line without its leading instant, and that instant."""
    for block in scan(lines, _head(lines)).blocks:
        if start < block.line <= end:
            stamp = read_marks(block.text, item=True).stamp
            yield norm_text(block.text.removeprefix(f"[{stamp}]").removeprefix(stamp or "")), stamp


def _local_day(stamp: str | None, now: datetime) -> date | None:
    return datetime.fromisoformat(stamp).astimezone(now.tzinfo).date() if stamp else None


def corrected(day: date, subject: str, text: str) -> tuple[str, str | None]:
    """Return the text and the tag of an entry that corrects an earlier day."""
    return correction(day, subject, text), None
