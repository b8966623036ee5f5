"""The layout `layers`: a hot layer, a cold layer by month, extractive summaries; what dsh-memory-layers writes."""

from __future__ import annotations

import re
from datetime import date

from memkit.dates import month_days, parse_day, week_days
from memkit.errors import BadArgument
from memkit.layouts import hot, line, stored
from memkit.layouts.names import leftover
from memkit.model import Document, Records, Role

NAME = "layers"
PLACES: tuple[str, ...] = ("",)
_COLD = re.compile(r"cold/([0-9]{4}-[0-9]{2})/([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
_SUMMARY = re.compile(r"summaries/(day|week|month)/([^/]+)\.md")


def claims(paths: frozenset[str], hot_text: str) -> bool:
    """Return whether a folder of this shape is a layers store: `cold/<YYYY-MM>/`, or a hot.md with a marker."""
    return any(re.match(r"cold/[0-9]{4}-[0-9]{2}/", path) for path in paths) or hot.has_marker(hot_text)


def role(path: str) -> Role:
    """Return what a path is to this layout."""
    if path == "hot.md":
        return Role("hot")
    if (match := _COLD.fullmatch(path)) and (day := parse_day(match[2])):
        misfiled = match[1] != match[2][:7]
        return Role("daily", day, problem="wrong-month-folder" if misfiled else "")
    if match := _SUMMARY.fullmatch(path):
        start = period_start(match[1], match[2])
        if start:
            return Role("summary", start, derived=True)
        if found := leftover(path, day_like=True):
            return found
        return Role(derived=True, skipped="its name is no period", problem="bad-week" if match[1] == "week" else "not-a-day")
    if found := leftover(path, day_like=True):
        return found
    if path.startswith("cold/") and path.endswith(".md"):
        named = re.fullmatch(r"cold/[0-9]{4}-[0-9]{2}/[0-9]{4}-[0-9]{2}-[0-9]{2}\.md", path)
        return Role(skipped="its name is no day", problem="impossible-date" if named else "not-a-day")
    return Role(skipped="not a memory file")


def period_start(period: str, key: str) -> date | None:
    """Return the first day of a summary's period, or None if the key names none."""
    try:
        return parse_day(key) if period == "day" else (week_days(key) if period == "week" else month_days(key))[0]
    except BadArgument:
        return None


def day_path(day: date) -> str:
    """Return where a day's cold file lies."""
    return f"cold/{day.year:04d}-{day.month:02d}/{day}.md"


def parse(doc: Document, *, spans: bool = False) -> Records:
    """Return the records of one document; never raises, a bad place becomes a Problem."""
    records = Records(doc.path, doc.role, problems=list(doc.problems))
    if doc.role.kind == "hot":
        return hot.parse(doc, records, spans=spans)
    if doc.role.kind == "summary":
        return stored.parse(doc, records, spans=spans)
    rows = line.LINES.findall(doc.reading)
    held = [(number, *row) for number, row in enumerate(rows, 1) if row[0]]
    if not all(map(line.real_day, {row[1][:10] for row in held})):
        held = [row for row in held if line.real_day(row[1][:10])]
    records.entries = line.columns(held)
    if spans or len(held) < len(rows):
        line.read_the_rest(doc.reading.split("\n"), records, spans=spans)
    return records
