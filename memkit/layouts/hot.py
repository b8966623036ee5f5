"""The hot layer hot.md: body, candidates block and topics block; reading only, and total."""

from __future__ import annotations

import re

from memkit.layouts import line
from memkit.model import Document, Entries, Hot, Problem, Records

MARKERS = {f"<!-- {name}:{edge} -->": (name, edge) for name in ("candidates", "topics") for edge in ("start", "end")}
TOPIC = re.compile(r"(.+)\|([0-9]{4}-(?:0[1-9]|1[0-2]))$")


def has_marker(text: str) -> bool:
    """Return whether a text holds a line that is one of the four markers."""
    return any(row.strip() in MARKERS for row in text.split("\n"))


def parse(doc: Document, records: Records, *, spans: bool = False) -> Records:
    """Return the records with the hot layer in them; a broken block runs to the next marker or the end."""
    rows = doc.reading.split("\n")
    body: list[str] = []
    held: list[tuple[int, str, str, str]] = []
    topics: list[tuple[str, str, int]] = []
    taken = []
    block, opened, removed = "", 0, False
    for number, row in enumerate(rows, 1):
        marker = MARKERS.get(row.strip())
        span = "marker"
        if marker:
            block = _step(block, marker, number, opened, records)
            opened = number if block else 0
            while len(body) > 1 and not (body[-1].strip() or body[-2].strip()):
                body.pop()  # the blank lines around a removed block fold into one
            removed = True
        elif block == "candidates":
            span = _candidate(row, number, held, records)
        elif block == "topics":
            span = _topic(row, number, topics, records)
        else:
            span = line.other_span(row)
            span = "layout" if span == "problem" and not line.MERGE.match(row) else span
            if span == "problem" and (problem := line.line_problem(row, number)):
                records.problems.append(problem)
            removed = removed and not row.strip()
            if not removed or (body and body[-1].strip()):
                body.append(row)
        taken.append(span)
    if block:
        records.problems.append(Problem("hot-broken", opened, f"the {block} block has no end marker"))
    records.hot = Hot("\n".join(body).strip(), line.columns(held) if held else Entries(stamp=[], tag=[]), tuple(topics))
    records.spans = taken if spans else None
    return records


def _step(block: str, marker: tuple[str, str], number: int, opened: int, records: Records) -> str:
    """Return the block that is open behind a marker, and report markers that do not pair."""
    name, edge = marker
    if edge == "start":
        if block:
            records.problems.append(Problem("hot-broken", opened, f"the {block} block has no end marker"))
        return name
    if block != name:
        records.problems.append(Problem("hot-broken", number, f"an end marker of {name} without its start"))
    return ""


def _candidate(row: str, number: int, held: list[tuple[int, str, str, str]], records: Records) -> str:
    match = line.ENTRY.fullmatch(row)
    if match and line.real_day(match[1][:10]):
        held.append((number, match[1], match[2], match[3]))
        return "layout"
    if not row.strip():
        return "blank"
    return _no_entry(row, Problem("entry-invisible", number, "a line among the candidates that is no entry"), records)


def _topic(row: str, number: int, topics: list[tuple[str, str, int]], records: Records) -> str:
    stripped = row.strip()
    match = TOPIC.match(stripped)
    if match and match[1].strip():
        topics.append((match[1].strip(), match[2], number))
        return "layout"
    if not stripped:
        return "blank"
    return _no_entry(row, Problem("topic-ignored", number, "a topic line is ignored: `topic|YYYY-MM` is expected"), records)


def _no_entry(row: str, otherwise: Problem, records: Records) -> str:
    """Report a line of a block that is none of its entries: a merge by its first marker, any other line as told."""
    found = line.line_problem(row, otherwise.line) if line.MERGE.match(row) else otherwise
    if found:
        records.problems.append(found)
    return "problem"
