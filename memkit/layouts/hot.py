"""The hot layer hot.md: body, candidates block and topics block; reading only, and total."""

from __future__ import annotations

import re

from memkit.errors import BadArgument
from memkit.layouts import line
from memkit.lines import MERGE
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
            fold_blanks(body)
            removed = True
        elif block == "candidates":
            span = _candidate(row, number, held, records)
        elif block == "topics":
            span = _topic(row, number, topics, records)
        else:
            span = line.other_span(row)
            span = "layout" if span == "problem" and not MERGE.match(row) else span
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
    found = line.line_problem(row, otherwise.line) if MERGE.match(row) else otherwise
    if found:
        records.problems.append(found)
    return "problem"


def regions(text: str) -> dict[str, list[str]]:
    """Return the lines of body, candidates and topics, each as it stands; the body without blanks where blocks were.

    Blank lines inside a block stay, but at the end of the file no marker says that they belong to it.
    """
    crlf = "\r\n" in text
    found: dict[str, list[str]] = {"body": [], "candidates": [], "topics": []}
    block, removed = "body", False
    for row in text.removeprefix("\ufeff").split("\n"):
        row = row.removesuffix("\r") if crlf else row
        marker = MARKERS.get(row.strip())
        if marker:
            block = marker[0] if marker[1] == "start" else "body"
            removed = True
            fold_blanks(found["body"])
        elif block != "body":
            found[block].append(row)
        else:
            removed = removed and not row.strip()
            if not removed or (found["body"] and found["body"][-1].strip()):
                found["body"].append(row)
    while block != "body" and found[block] and not found[block][-1].strip():
        found[block].pop()
    return {**found, "body": trimmed(found["body"])}


def fold_blanks(body: list[str]) -> None:
    """Fold the blank lines before a removed block into one."""
    while len(body) > 1 and not (body[-1].strip() or body[-2].strip()):
        body.pop()


def laid_out(parts: dict[str, list[str]], newline: str = "\n") -> str:
    """Return hot.md as every write lays it out: body, blank line, both blocks (also when empty), final line end."""
    body = trimmed(parts["body"])
    rows = [*body, *([""] if body else [])]
    for name in ("candidates", "topics"):
        rows += [f"<!-- {name}:start -->", *parts[name], f"<!-- {name}:end -->", ""]
    return newline.join(rows)


def trimmed(rows: list[str]) -> list[str]:
    """Return lines without blank ones at either end."""
    held = [place for place, row in enumerate(rows) if row.strip()]
    return rows[held[0] : held[-1] + 1] if held else []


def supplied_blocks(text: str) -> tuple[str, ...]:
    """Return the names of the blocks that a text holds whole.

    Raises: BadArgument for a start without end, or an end without start: guessing would swallow the body.
    """
    found: dict[str, None] = {}
    block = ""
    for row in text.split("\n"):
        marker = MARKERS.get(row.strip())
        if marker is None:
            continue
        if (marker[1] == "start") == bool(block) or (block and marker[0] != block):
            raise BadArgument(f"content: the {marker[0]} block lacks its start or its end marker; give both or neither")
        block = marker[0] if marker[1] == "start" else ""
        found[marker[0]] = None
    if block:
        raise BadArgument(f"content: the {block} block lacks its end marker; give both or neither")
    return tuple(found)


def is_valid(name: str, row: str) -> bool:
    """Return whether a line is one that its block may hold: an entry line, or `topic|YYYY-MM`."""
    if name == "topics":
        match = TOPIC.match(row.strip())
        return bool(match and match[1].strip())
    found = line.ENTRY.fullmatch(row)
    return bool(found and line.real_day(found[1][:10]))
