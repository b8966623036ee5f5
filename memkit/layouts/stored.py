"""A summary file read back: its entry lines, and what its header says it was made from; total, whoever wrote it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from memkit.dates import parse_day
from memkit.layouts.line import other_span
from memkit.model import Document, Problem, Records, StoredSummary

ENTRY = re.compile(r"- \[([^\[\]]*)\] \[([^\[\]]*)\] (\S.*)")
_INSTANT = re.compile(r"[0-9-]{10}T(?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})")
DATED = re.compile(r"([0-9-]{10})(?: [0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?")
_DIGEST = re.compile(r"sha256:([0-9a-f]{12})(?![0-9a-f])")
_MANY = re.compile(r" (等 [0-9]+ 个文件)")
# At most nine digits, so that no hand-edited count is too long for int().
_OMITTED = re.compile(r"(?:另有|省略了?) ?([0-9]{1,9}) ?条")
_BELOW = re.compile(r"下层摘要[另已]?省略 ?([0-9]{1,9}) ?条")


def parse(doc: Document, records: Records, *, spans: bool = False) -> Records:
    """Return the records with the summary in them; its period and key are those of its path."""
    _, period, name = doc.path.split("/")
    records.summary = read(doc.reading, period, name.removesuffix(".md"))
    start = next((number for number, line in enumerate(doc.reading.split("\n"), 1) if line.startswith("<<<<<<< ")), 0)
    if start:
        records.problems.append(Problem("merge-marker", start, "an unresolved merge: both sides are still in the file"))
    if spans:
        records.spans = ["layout" if is_line(line) else other_span(line) for line in doc.reading.split("\n")]
    return records


def read(text: str, period: str, key: str) -> StoredSummary:
    """Return what a summary file says, whoever wrote it; never raises, and what it does not say is empty or None.

    `sources` are the names as the header gives them; a shortened header ends with the part `等 N 个文件`.
    """
    lines: list[str] = []
    at: list[int] = []
    source: str | None = None
    generated_at: str | None = None
    omitted = below = 0
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.removesuffix("\r")
        if is_line(line):
            lines.append(line)
            at.append(number)
        elif source is None and (value := _said(line, "来源")):
            source = value
        elif generated_at is None and (value := _said(line, "生成时间")):
            generated_at = value
        elif "条" in line and not line.startswith("#"):
            omitted, below = _counts(line) or (omitted, below)
    names, mark = _read_source(source or "")
    return StoredSummary(period, key, tuple(lines), omitted, below, names, mark, generated_at, len(text), tuple(at))


def is_line(line: str) -> bool:
    """Return whether a line is an entry line with a real time."""
    match = ENTRY.fullmatch(line)
    if match is None:
        return False
    dated = DATED.fullmatch(match[1])
    return instant_of(match[1]) is not None or bool(dated and parse_day(dated[1]))


def instant_of(stamp: str) -> datetime | None:
    """Return the instant that a full ISO time with zone names, in UTC, or None if it is none."""
    try:
        return datetime.fromisoformat(stamp).astimezone(UTC) if _INSTANT.fullmatch(stamp) else None
    except (ValueError, OverflowError):
        return None


def _said(line: str, word: str) -> str:
    """Return what a header line says after `word：`, or nothing if it is no such line."""
    before, found, after = line.partition(word)
    after = after.lstrip()
    return after[1:].strip() if found and not before.strip(">-* \t") and after.startswith(("：", ":")) else ""


def _counts(line: str) -> tuple[int, int] | None:
    """Return the two counts of an omission line, or None for any other line."""
    below = _BELOW.search(line)
    own = _OMITTED.search(_BELOW.sub("", line))
    return (int(own[1]) if own else 0, int(below[1]) if below else 0) if own or below else None


def _read_source(value: str) -> tuple[tuple[str, ...], str | None]:
    """Return the names and the digest that a source line gives."""
    start = max(value.rfind("（"), value.rfind("("))
    facts = value[start:] if start >= 0 and value.endswith(("）", ")")) else ""
    mark = _DIGEST.search(facts)
    if mark or "条" in facts:
        value = value[:start]
    return read_names(value), mark[1] if mark else None


def read_names(text: str) -> tuple[str, ...]:
    """Return the parts of a list of names, `等 N 个文件` as one of its own."""
    start = text.rfind(" 等 ")
    many = _MANY.fullmatch(text, start) if start >= 0 else None
    parts = [*(text[:start] if many else text).split("、"), many[1] if many else ""]
    return tuple(part.strip() for part in parts if part.strip())
