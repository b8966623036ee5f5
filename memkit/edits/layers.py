"""What the verbs of `layers` plan: write, promote, hot_set, topics_add; pure, what it needs to read is handed in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from memkit.cells import count
from memkit.dates import month_days
from memkit.edits import lines as edit_lines
from memkit.edits.archive import Read, correction
from memkit.edits.plan import Draft
from memkit.errors import BadArgument
from memkit.layouts import hot, layers, line
from memkit.model import Edit, clean
from memkit.text import norm_tag, norm_text, reading_of

LIMIT = 4000
HOT = "hot.md"


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did: the entry's stamp (the existing one's for a duplicate), its tag, its place among the candidates."""

    day: date
    stamp: str
    tag: str
    added: bool
    candidate: int


def write(read: Read, text: str, tag: str | None, now: datetime, *, important: bool = False) -> Draft:
    """Return the plan that adds one entry to today's cold file, and to the candidates if it is important; facts: Written.

    Raises: BadArgument for an empty text, or one of more than 4,000 characters.
    """
    said, name, stamp = entry_text(text), norm_tag(edit_lines.tag_name(tag)), edit_lines.stamp(now)
    path = layers.day_path(now.date())
    before = read(path)
    if before is not None:
        edit_lines.refuse_utf16(path, before)
    twin = next((row for row in rows_of(before or "") if norm_tag(row[1]) == name and norm_text(row[2]) == said), None)
    stamp = twin[0] if twin else stamp
    entry = f"- [{stamp}] [{name}] {said}"
    edits, rows = [], []
    if twin:
        rows.append((path, "unchanged", "the entry stands there already"))
    else:
        after = edit_lines.appended(before, entry) if before is not None else f"# {now.date()}\n\n{entry}\n"
        edits.append(Edit(path, before, after))
        rows.append((path, "append", "today"))
    candidate = 0
    if important:
        edit, candidate = _promote(read(HOT), f"- [{twin[0]}] [{twin[1]}] {twin[2]}" if twin else entry)
        edits.append(edit)
        rows.append((HOT, "append", f"candidate {candidate}"))
    written = Written(now.date(), stamp, name, twin is None, candidate)
    return Draft(tuple(edits), tuple(rows), int(twin is None), facts=written)


def append_all(read: Read, entries: Iterable[tuple[str, str | None]], now: datetime) -> Draft:
    """Return the plan that adds (text, tag) pairs to today's cold file, a line each.

    Raises: BadArgument for an empty text, or one of more than 4,000 characters.
    """
    said = [(norm_tag(edit_lines.tag_name(tag)), entry_text(text)) for text, tag in entries]
    path = layers.day_path(now.date())
    before = read(path)
    if before is not None:
        edit_lines.refuse_utf16(path, before)
    fresh, rows = edit_lines.rows_of(path, said, {(norm_tag(row[1]), norm_text(row[2])) for row in rows_of(before or "")})
    pairs = zip(said, fresh, strict=True)
    new = [f"- [{edit_lines.stamp(now)}] [{name}] {text}" for (name, text), is_new in pairs if is_new]
    if not new:
        return Draft((), rows)
    start = before if before is not None else f"# {now.date()}\n\n"
    return Draft((Edit(path, before, edit_lines.appended(start, "\n".join(new))),), rows, len(new))


def entry_text(text: object) -> str:
    """Return a text folded to one line.

    Raises: BadArgument if it is no text, empty, or over the limit.
    """
    said = norm_text(edit_lines.CONTROL.sub(" ", text)) if isinstance(text, str) else ""
    if not said:
        raise BadArgument("text: text is required")
    if len(said) > LIMIT:
        raise BadArgument(f"text: {len(said):,} characters of at most {LIMIT:,}; split it into several entries")
    return said


def rows_of(text: str) -> list[tuple[str, str, str]]:
    """Return (stamp, tag, text) of each entry line of a file."""
    reading = reading_of(text)
    found = (line.ENTRY.fullmatch(row) for row in reading.split("\n"))
    return [(match[1], match[2], match[3]) for match in found if match and line.real_day(match[1][:10])]


def _promote(before: str | None, entry: str) -> tuple[Edit, int]:
    """Return the edit that puts an entry line among the candidates, and its place there from 1."""
    parts = hot.regions(before or "")
    match = line.ENTRY.fullmatch(entry)
    key = (norm_tag(match[2]), norm_text(match[3])) if match else None
    held = [(norm_tag(row[1]), norm_text(row[2])) for row in rows_of("\n".join(parts["candidates"]))]
    if key in held:
        return Edit(HOT, before, before), held.index(key) + 1
    parts["candidates"].append(entry)
    return Edit(HOT, before, hot_text(before, parts)), len(held) + 1


def hot_text(before: str | None, parts: dict[str, list[str]]) -> str:
    """Return hot.md laid out from its parts, with the line ends and the byte order mark that it had."""
    edit_lines.refuse_utf16(HOT, before or "", anywhere=True)
    mark = "\ufeff" if (before or "").startswith("\ufeff") else ""
    return mark + hot.laid_out(parts, "\r\n" if "\r\n" in (before or "") else "\n")


@dataclass(frozen=True, slots=True)
class HotSet:
    """What a hot_set did beside: lines of its blocks that are none, whether it emptied a body, how long that was.

    `lost_lines` counts what was no entry and no topic in the blocks that it replaced.
    """

    ignored_lines: int
    body_cleared: bool
    previous_chars: int
    lost_lines: int = 0


def hot_set(before: str | None, content: object) -> Draft:
    """Return the plan that gives hot.md a new body; a block in the content replaces that region; facts: HotSet.

    Raises: BadArgument if the content is no text, or a block in it lacks its start or end.
    """
    if not isinstance(content, str):
        raise BadArgument("content: content is required, as a text; an empty one clears the body")
    given = clean(content)
    supplied = hot.supplied_blocks(given)
    new, old = hot.regions(given), hot.regions(before or "")
    parts = dict(old)
    body = "\n".join(new["body"]).strip()
    parts["body"] = body.split("\n") if body else []
    ignored, lost = (
        sum(1 for name in supplied for row in held[name] if row.strip() and not hot.is_valid(name, row)) for held in (new, old)
    )
    for name in supplied:
        valid = [row for row in new[name] if hot.is_valid(name, row)]
        parts[name] = list(dict.fromkeys(map(str.strip, valid))) if name == "topics" else valid
    previous = len("\n".join(hot.trimmed(old["body"])))
    cleared = bool(supplied) and not parts["body"] and previous > 0
    edit = Edit(HOT, before, hot_text(before, parts), free=("body", *supplied))
    facts = HotSet(ignored, cleared, previous, lost)
    none = f"{count(ignored + lost, 'line')} of the old and new blocks that are no entry and no topic are gone"
    warnings = [none] if ignored + lost else []
    warnings += [f"the content holds only blocks, so the body ({count(previous, 'character')}) is gone"] if cleared else []
    return Draft((edit,), ((HOT, "hot_set", "the body is replaced"),), warnings=tuple(warnings), facts=facts)


def topics_add(before: str | None, topic: object, month: object) -> Draft:
    """Return the plan that adds one topic line; one that is there already changes nothing.

    Raises: BadArgument for an empty topic or a month that is none.
    """
    name = norm_text(edit_lines.CONTROL.sub(" ", topic)) if isinstance(topic, str) else ""
    if not name or not isinstance(month, str) or not hot.TOPIC.match(f"{name}|{month}"):
        raise BadArgument("topic and month: expected a name and a month as YYYY-MM")
    month_days(month)
    parts = hot.regions(before or "")
    row = f"{name}|{month}"
    if row in (held.strip() for held in parts["topics"]):
        return Draft((), ((HOT, "unchanged", "the topic stands there already"),))
    parts["topics"].append(row)
    return Draft((Edit(HOT, before, hot_text(before, parts)),), ((HOT, "append", "a topic"),), 1)


def corrected(day: date, subject: str, text: str) -> tuple[str, str | None]:
    """Return the text and the tag of an entry that corrects an earlier day."""
    return correction(day, subject, text).partition(" ")[2], "更正"
