"""What a file name says: a day, a conflict copy, a leftover temp file, a template; shared by the three layouts."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from memkit.dates import parse_day
from memkit.model import Role

SYSTEM_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".gitkeep", ".gitignore", ".gitattributes", ".nomedia"})
TEMP = re.compile(r"(?:\.~|~\$|\.#).*|.*(?:\.tmp|\.temp|\.swp|\.part|\.partial|\.crdownload|~)$", re.IGNORECASE)
STRAY = re.compile(r"\..+\.[0-9a-z_]{8,}\.tmp$")  # what a killed memkit leaves beside a file
CONFLICT = re.compile(
    r"conflicted[ _-]copy|sync-conflict|冲突(?:文件|副本|版本)|[(（][^)）]*(?:conflict|冲突)[^)）]*[)）]"
    r"|[-_]conflict-?[0-9]{6,}|^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|memory)(?:\.md)?[ ._]conflict(?:ed)?[ ._-]*[0-9]*(?:\.md)?$",
    re.IGNORECASE,
)
_DAY_FIRST = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9])(.*)$")
_DAY_WITHIN = re.compile(r"(?<![0-9])([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9])")
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?![0-9])(.*)$")
_PATTERN = re.compile("yyyy[-_.]?mm[-_.]?dd")
_TWO_WAYS = re.compile(r"([0-9]{2})-([0-9]{2})-([0-9]{4})(?![0-9])(.*)$")


def split(path: str) -> tuple[str, str, str]:
    """Return folder, stem and suffix (in lower case) of a POSIX path."""
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    return (folder, stem, f".{suffix.lower()}") if dot and stem else (folder, name, "")


def leftover(path: str, *, day_like: bool) -> Role | None:
    """Return the role of a conflict copy or a temp file, else None.

    `day_like` is for layouts whose names are days alone, where any name that speaks of a conflict is one.
    """
    name = path.rpartition("/")[2]
    day = named_day(name.lstrip(".~$#")).day
    if STRAY.match(name):
        return Role(day=day, skipped="a temp file that a killed write left", problem="stray-temp")
    if CONFLICT.search(name) or TEMP.match(name) or (day_like and re.search("conflict|冲突", name, re.IGNORECASE)):
        return Role(day=day, skipped="a conflict copy or temp file of a sync program", problem="conflict-copy")
    return None


class NamedDay(NamedTuple):
    """The day in a file's stem, what follows it, and the audit rule that its spelling trips ("" for none)."""

    day: date | None
    rest: str
    problem: str = ""


def named_day(stem: str) -> NamedDay:
    """Return the day a stem names: `2026-02-01…`, `20260201…`, `…-2026-02-01`, or `15-02-2026` if only one reading is real."""
    if match := _DAY_FIRST.match(stem):
        day = parse_day(match[1])
        return NamedDay(day, match[2], "" if day else "impossible-date")
    if match := _COMPACT.match(stem):
        day = parse_day(f"{match[1]}-{match[2]}-{match[3]}")
        meant = match[1][:2] in ("19", "20") and "01" <= match[2] <= "12" and "01" <= match[3] <= "31"
        return NamedDay(day, match[4], "impossible-date" if meant and not day else "")
    if match := _TWO_WAYS.match(stem):
        readings = {parse_day(f"{match[3]}-{a}-{b}") for a, b in ((match[1], match[2]), (match[2], match[1]))} - {None}
        if len(readings) == 1:
            return NamedDay(readings.pop(), match[4])
        return NamedDay(None, "", "ambiguous-date" if readings else "impossible-date")
    if match := _DAY_WITHIN.search(stem):
        day = parse_day(match[1])
        return NamedDay(day, stem, "" if day else "impossible-date")
    return NamedDay(None, "")


def is_template(stem: str) -> bool:
    """Return whether a stem is a template's: `YYYY-MM-DD`, `_template_daily`, `template`."""
    folded = stem.casefold()
    return bool(_PATTERN.search(folded)) or folded.startswith("_template") or folded == "template"
