"""The entry line of `layers`, `- [time] [tag] text`: its grammar, its columns, and what any other line is taken for."""

from __future__ import annotations

import re
from functools import lru_cache

from memkit.dates import parse_day
from memkit.lines import MERGE
from memkit.model import Entries, Problem, Records
from memkit.text import norm_tag

TIME = (
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
ENTRY = re.compile(rf"- \[({TIME})\] \[([^\[\]\n]*)\] (\S[^\n]*)")
# One hit a line, so that a hit's place is its line number: an entry with three groups, any other line with none.
LINES = re.compile(rf"^(?:{ENTRY.pattern}|[^\n]*)$", re.MULTILINE)
LIST_LINE = re.compile(r"\s*(?:(?:[-*+•●·]|[0-9]{1,9}[.)])\s|[\u2460-\u2473]|[0-9]{1,3}、)\s*\S")


@lru_cache(4096)
def real_day(text: str) -> bool:
    """Return whether the day part of a stamp is a real date."""
    return parse_day(text) is not None


def columns(held: list[tuple[int, str, str, str]]) -> Entries:
    """Return (line, stamp, tag, text) rows as columns; a tag of `-` or nothing is missing."""
    if not held:
        return Entries()
    line, stamp, tag, text = (list(column) for column in zip(*held, strict=True))
    known = {name: tag_of(name) for name in set(tag)}
    return Entries(line=line, text=text, tag=[known[name] for name in tag], stamp=stamp)


def tag_of(written: str) -> str | None:
    """Return a tag as written folded to one line; `-` or nothing is missing."""
    tag = norm_tag(written)
    return None if tag == "-" else tag


def read_the_rest(lines: list[str], records: Records, *, spans: bool) -> None:
    """Name every line that is no entry; a list line among them is invisible to recall, and said so."""
    entries = set(records.entries.line)
    records.spans = ["blank"] * len(lines) if spans else None
    for number, text in enumerate(lines, 1):
        span = "entry" if number in entries else other_span(text)
        if span == "problem" and (problem := line_problem(text, number)):
            records.problems.append(problem)
        if records.spans:
            records.spans[number - 1] = span


def other_span(text: str) -> str:
    """Return what a line that is no entry is taken for."""
    stripped = text.strip()
    if not stripped:
        return "blank"
    if LIST_LINE.match(text) or MERGE.match(text):
        return "problem"
    return "heading" if stripped.startswith("#") else "marker" if stripped.startswith("<!--") else "layout"


def line_problem(text: str, number: int) -> Problem | None:
    """Return the problem of a line that other_span() calls one; of a merge only its first marker has one."""
    if LIST_LINE.match(text):
        return Problem("entry-invisible", number, "a list line that is no entry: `- [time] [tag] text` is expected")
    if text.startswith("<"):
        return Problem("merge-marker", number, "an unresolved merge: both sides are still in the file")
    return None
