"""The layout `workspace`: MEMORY.md, daily logs under memory/, notes, dreams; what ParameciumU, OpenClaw and others write."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from memkit.layouts import markdown, pages, transcript
from memkit.layouts.front import mapping
from memkit.layouts.names import SYSTEM_FILES, is_template, leftover, named_day, split
from memkit.marks import clock_in_name
from memkit.model import Columns, Document, Reading, Records, Role
from memkit.text import front_matter

NAME = "workspace"
# With what sync programs and killed writers leave beside MEMORY.md.
PLACES: tuple[str, ...] = ("MEMORY.md", "memory.md", "DREAMS.md", "memory", ".dreams", "MEMORY[ .(]*", ".MEMORY.md.*")
SESSION = "session/transcript.md"


def claims(paths: frozenset[str], hot_text: str) -> bool:
    """Return whether a folder of this shape is a workspace: MEMORY.md, or a `memory/` with Markdown in it."""
    if "MEMORY.md" in paths or "memory.md" in paths:
        return True
    return any(path.startswith("memory/") and path.lower().endswith(".md") for path in paths)


def role(path: str) -> Role:
    """Return what a path is to this layout."""
    folder, stem, suffix = split(path)
    name = path.rpartition("/")[2]
    if path == SESSION:
        return Role("session")
    if path == "memory/index.sqlite":
        return Role("index", derived=True, skipped="the search index, made from the files")
    if name in SYSTEM_FILES:
        return Role(skipped="a system file")
    if found := leftover(path, day_like=False):
        return found
    if suffix != ".md":
        return Role(skipped=f"not Markdown ({suffix or 'no suffix'})")
    if stem != stem.strip() or is_template(stem):
        return Role(skipped="a template" if stem == stem.strip() else "a blank around its name")
    if path in ("MEMORY.md", "memory.md"):
        return Role("longterm")
    if path == "DREAMS.md" or folder.split("/")[0] == ".dreams" or folder.split("/")[1:2] in (["dreaming"], [".dreams"]):
        return Role("dream", named_day(stem).day)
    if folder.split("/")[0] != "memory":
        return Role(skipped="not a memory file")
    found_day = named_day(stem)
    if found_day.day is None:
        return Role("note", problem=found_day.problem)
    return Role("daily-slug" if found_day.rest else "daily", found_day.day)


def extra_role(path: str) -> Role:
    """Return what a file named by the caller as an extra path is: `extra` if it is Markdown."""
    if found := leftover(path, day_like=False):
        return found
    if split(path)[2] not in (".md", ".markdown", ".txt"):
        return Role(skipped="not Markdown")
    return Role("extra")


def day_path(day: date) -> str:
    """Return where a day's log lies."""
    return f"memory/{day}.md"


def parse(doc: Document, *, spans: bool = False) -> Records:
    """Return the records of one document; never raises, a bad place becomes a Problem."""
    if doc.role.kind == "session":
        return transcript.parse(doc, spans=spans)
    lines = doc.reading.split("\n")
    cut = front_matter(lines, strict=True)
    records = markdown.read(doc, lines, cut.last if cut else 0, clock=_clock(doc))
    if cut:
        records.problems.extend(mapping(cut)[1])
    if not spans:
        records.spans = None
    return records


def read(docs: Sequence[Reading]) -> tuple[list[Records], Columns]:
    """Return what parse() finds in each of many dated logs, their entries as columns."""
    cuts = [front_matter(doc.reading.split("\n"), strict=True) if doc.data.startswith(b"---") else None for doc in docs]
    records, columns = pages.read(
        [pages.Page(doc, cut.last if cut else 0, clock=_clock(doc)) for doc, cut in zip(docs, cuts, strict=True)]
    )
    for record, cut in zip(records, cuts, strict=True):
        if cut:
            record.problems.extend(mapping(cut)[1])
    return records, columns


def _clock(doc: Document | Reading) -> str | None:
    """Return the time in the name of a dated log."""
    return clock_of_name(doc.path, doc.role.day) if doc.role.day else None


def clock_of_name(path: str, day: date) -> str | None:
    """Return the time that follows the day in the name of a log."""
    return clock_in_name(named_day(split(path)[1]).rest, day)
