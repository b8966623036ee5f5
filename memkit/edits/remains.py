"""What of a file no copied entry carries, line by line: headings, comments, front matter, text that is no entry; pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from memkit.audit import tokens
from memkit.blocks import Scan, scan
from memkit.cells import clip
from memkit.edits import archive as archive_edits
from memkit.layouts import hot, layers
from memkit.lines import MERGE, SIGN
from memkit.model import Document
from memkit.text import front_matter

LEFT, CHANGED, CREATE = "left out", "changed", "create"
_ROOM = 40  # columns of a line that a row shows
_KEY = re.compile(r"""(["']?)([A-Za-z_\u4e00-\u9fff][\w.-]*)\1[ \t]*:(?:[ \t]+|$)""")
_WORD = re.compile(r"\w")
NUMBER = "its number in the list is not kept"
_COMMENT, _MERGE, _FRONT = "a comment", "a merge marker", "front matter"

Found = Iterator[tuple[int, str, str]]  # line, what it is, detail


class Remainder(NamedTuple):
    """Something that a plan names: its place, what becomes of it and why, which many may share, and its own detail."""

    place: str
    what: str
    detail: str = ""
    action: str = LEFT

    @property
    def reason(self) -> str:
        """Return both, as the row of a plan says them."""
        return f"{self.what}: {self.detail}" if self.detail else self.what


def remains(doc: Document, layout: str, copied: Container[int]) -> list[Remainder]:
    """Return what of a file is carried by none of its entries that are copied (by their lines), and numbers they lose."""
    lines = doc.reading.split("\n")
    if doc.role.kind == "hot":
        found = sorted(_hot(lines))
    elif layout == "layers":
        found = sorted(_cold(doc, lines))
    else:
        found = sorted(_markdown(doc, lines, layout, copied))
    secret = _secret([detail for _, _, detail in found])
    return [
        Remainder(
            f"{doc.path}:{line}",
            what,
            "" if n in secret else clip(detail.strip(), _ROOM),
            CHANGED if what == NUMBER else LEFT,
        )
        for n, (line, what, detail) in enumerate(found)
    ]


def _secret(details: list[str]) -> set[int]:
    """Return the places of the details that a secret touches, also one over several lines."""
    text = "\n".join(details)
    touched: set[int] = set()
    for secret in tokens.secrets_in(text):
        first = text.count("\n", 0, secret.start)
        touched.update(range(first, first + secret.value.count("\n") + 1))
    return touched


# ---- layers ----


def _cold(doc: Document, lines: list[str]) -> Found:
    spans = layers.parse(doc, spans=True).spans or []
    for number, (line, span) in enumerate(zip(lines, spans, strict=True), 1):
        if span in ("blank", "entry") or not _WORD.search(line):
            continue
        if span == "heading":
            if line.strip().lstrip("#").strip() != str(doc.role.day):
                yield number, "a heading, which this file's layout has no use for", line
        elif span == "marker":
            yield number, _COMMENT, line
        else:
            yield number, _MERGE if MERGE.match(line) else "no entry: it lacks a time, a tag or a text", line


def _hot(lines: list[str]) -> Found:
    """Yield the lines of the blocks that are none of their entries; the body is one thing, which the caller names."""
    block = ""
    for number, line in enumerate(lines, 1):
        if marker := hot.MARKERS.get(line.strip()):
            block = marker[0] if marker[1] == "start" else ""
        elif block and line.strip() and not hot.is_valid(block, line):
            yield number, f"no entry of the {block} of hot.md" if block == "candidates" else "no topic of hot.md", line


# ---- Markdown ----


def _markdown(doc: Document, lines: list[str], layout: str, copied: Container[int]) -> Found:
    cut = front_matter(lines, strict=layout == "workspace")
    start = cut.last if cut else 0
    found = scan(lines, start)
    yield from _front(list(enumerate(lines[:start], 1)), _own_keys(doc, layout))
    later: list[tuple[int, str]] = []
    for number, (line, span) in enumerate(zip(lines[start:], found.spans[start:], strict=True), start + 1):
        if span == "marker":
            yield number, _COMMENT, line
        elif span == "problem":
            yield number, _MERGE, line
        elif span == "front matter":
            later.append((number, line))
    yield from _front(later, ())
    yield from _headings(found, str(doc.role.day), copied)
    for block in found.blocks:
        sign = SIGN.match(lines[block.line - 1]) if block.kind == "item" and block.line in copied else None
        if sign and any(map(str.isdigit, sign[0])):
            yield block.line, NUMBER, sign[0]


def _own_keys(doc: Document, layout: str) -> tuple[str, ...]:
    """Return the keys of front matter that are made anew, or have a row of their own."""
    if layout != "archive":
        return ()
    return ("date", "index") if archive_edits.index_of(doc.path, doc.text) else ("date",)


def _front(rows: list[tuple[int, str]], own: Container[str]) -> Found:
    """Yield the lines of front matter; of a key that is `own`, none, and none of one that says nothing of a day."""
    key = ""
    for number, line in rows:
        stripped = line.strip()
        if not stripped or stripped in ("---", "..."):
            continue
        if stripped.startswith("#"):
            yield number, _COMMENT, line
            continue
        if match := _KEY.match(line):
            key = match[2]
            if key in ("date", "index") and match.end() == len(line):
                continue
        if key not in own:
            yield number, _FRONT, key


def _headings(found: Scan, day: str, copied: Container[int]) -> Found:
    """Yield the headings that are in the section of no copied entry; that of the file's day is none."""
    above: set[int] = set()
    carried: set[int] = set()
    for block in found.blocks:
        held, at = carried if block.line in copied else above, block.heading
        while at >= 0 and at not in held:
            held.add(at)
            at = found.headings[at].parent
    for n, heading in enumerate(found.headings):
        if n not in carried and heading.text not in ("", day):
            what = "a heading of what is left out" if n in above else "a heading with nothing below it"
            yield heading.line, what, heading.text
