"""A session transcript (JSON array or JSON Lines) as the virtual file session/transcript.md; one entry a message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from memkit.model import Document, Entries, Problem, Records, clean

_DEEPEST = 20  # lists of parts inside one another; no gateway writes more


def parse(doc: Document, *, spans: bool = False) -> Records:
    """Return the records of a transcript; `doc.text` is the JSON, lines are those of render()."""
    messages, problems = _messages(doc.text)
    records = Records(doc.path, doc.role, problems=[*doc.problems, *problems])
    lines, ends, line = [], [], 1
    for text, _ in messages:
        lines.append(line)
        ends.append(line + text.count("\n"))
        line = ends[-1] + 2
    records.entries = Entries(
        line=lines,
        end_line=ends,
        text=[text for text, _ in messages],
        stamp=[stamp for _, stamp in messages],
        block=["paragraph"] * len(messages),
    )
    if spans:
        records.spans = ["entry" if line.strip() else "blank" for line in doc.reading.split("\n")]
    return records


def render(text: str) -> str:
    """Return the transcript as Markdown: `role: content`, a blank line between messages."""
    return "\n\n".join(message for message, _ in _messages(text)[0])


def _messages(text: str) -> tuple[list[tuple[str, str | None]], list[Problem]]:
    """Return (text, instant) of each message that says something, and what could not be read."""
    found: list[tuple[str, str | None]] = []
    problems: list[Problem] = []
    for line, record in _json_records(clean(text).removeprefix("\ufeff"), problems):
        inner = record.get("message") if isinstance(record, dict) else None
        message = inner if isinstance(inner, dict) else record
        if not isinstance(message, dict) or not ("content" in message or "role" in message):
            if not isinstance(record, dict) or "type" not in record:
                problems.append(Problem("transcript-bad", line, "a record of the transcript is no message"))
            continue
        said = _said(message.get("content")).strip()
        if said:
            role = message.get("role")
            text = clean(f"{role if isinstance(role, str) and role.strip() else 'unknown'}: {said}")
            found.append((text, _stamp(record) or _stamp(message)))
    return found, problems


def _json_records(text: str, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    """Yield (line, record) of a JSON array, or of JSON Lines."""
    if text.lstrip().startswith("["):
        try:
            records = json.loads(text)
        except (ValueError, RecursionError):
            problems.append(Problem("transcript-bad", 1, "the transcript is no valid JSON array"))
            return
        yield from ((1, record) for record in records)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                problems.append(Problem("transcript-bad", number, "a line of the transcript is no valid JSON"))


def _said(content: Any, depth: int = 0) -> str:
    """Return the text of a content: a string, a list of parts, or nothing."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content.get("text")]
    if isinstance(content, list) and depth < _DEEPEST:
        return "\n".join(said for part in content if (said := _said(part, depth + 1)))
    return ""


def _stamp(record: dict[str, Any]) -> str | None:
    """Return the record's time as a UTC instant, from ISO text or epoch milliseconds."""
    value = record.get("timestamp", record.get("ts"))
    try:
        if isinstance(value, str):
            when = datetime.fromisoformat(value)
            return None if when.tzinfo is None else _iso(when)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _iso(datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC))
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _iso(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
