"""Text made ready to be one entry, and a file made ready to take it: endings, open fences, indentation; pure."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from datetime import UTC, datetime

from memkit.errors import BadArgument, LostTextError
from memkit.marks import read_marks
from memkit.model import clean
from memkit.text import decode, norm_text

LIMIT = 4000
THERE = ("unchanged", "the entry stands there already")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HOLLOW = re.compile(r"[-*_|: ]*")  # beside rules, what may be the second row of a table


def entry_text(text: object, name: str = "text") -> str:
    """Return a text as it will be read back: clean, control characters blank, nothing blank around it.

    Raises: BadArgument, naming the argument, if nothing is left of it but rules, blanks and a checkbox.
    """
    if not isinstance(text, str):
        raise BadArgument(f"{name}: {type(text).__name__}; expected a text")
    folded = CONTROL.sub(" ", clean(text)).strip()
    folded = _led("\n".join(map(_tidy, folded.split("\n"))))
    if _HOLLOW.fullmatch(norm_text(folded)) or not norm_text(read_marks(folded, item=True).text):
        raise BadArgument(f"{name}: there is nothing in it; an entry needs words")
    return folded


def _led(text: str) -> str:
    """Return a text whose first line is no rule, which would end the item that it is to start: it joins the next."""
    first, found, rest = text.partition("\n")
    return _led(f"{first} {rest.lstrip()}") if found and _HOLLOW.fullmatch(first) else text


def _tidy(line: str) -> str:
    """Return a line without blanks at its end, and with spaces for tabs at its start, where indentation is counted."""
    told = line.lstrip(" \t")
    return line[: len(line) - len(told)].expandtabs(4) + told.rstrip() if told.rstrip() else ""


def item(text: str) -> str:
    """Return a text as one list item: further lines are indented by two, so that they can forge nothing."""
    first, *rest = text.split("\n")
    return "\n".join([f"- {first}", *(f"  {line}" if line else "" for line in rest)])


def tagged(tag: str | None, text: str) -> str:
    """Return a text with its tag in front, as the reader takes it off.

    Raises: BadArgument if the tag is no text, or could not be read back.
    """
    name = tag_name(tag)
    if not name:
        return text
    if read_marks(f"[{name}] x", item=True).tags != (name,):
        raise BadArgument(f"tag: {name[:40]!r} would not be read back as a tag; use a word that is no date, time or number")
    return f"[{name}] {text}"


def tag_name(tag: object) -> str:
    """Return a tag on one line, without square brackets and control characters; "" for none.

    Raises: BadArgument if it is no text.
    """
    if tag is not None and not isinstance(tag, str):
        raise BadArgument(f"tag: {type(tag).__name__}; expected a text")
    return norm_text(CONTROL.sub(" ", (tag or "").replace("[", "").replace("]", "")))


def rows_of(path: str, said: Sequence[object], known: Container[object]) -> tuple[list[bool], tuple[tuple[str, str, str], ...]]:
    """Return which of some entries are new to a file, each once, and what becomes of each as the row of a plan."""
    seen: set[object] = set()
    fresh = []
    for entry in said:
        fresh.append(entry not in known and entry not in seen)
        seen.add(entry)
    return fresh, tuple((path, *(("append", "today") if new else THERE)) for new in fresh)


def newline_of(text: str) -> str:
    """Return a file's own line ending: that of its first line."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def appended(text: str, lines: str) -> str:
    """Return a file with lines at its end; a missing last line end is added first, in the file's own style."""
    newline = newline_of(text)
    glue = "" if not text or text.endswith("\n") else newline
    return text + glue + (lines + "\n").replace("\n", newline)


def refuse_utf16(path: str, text: str, *, anywhere: bool = False) -> None:
    """Hold that a file is one that UTF-8 can be added to; with `anywhere`, that its lines are those which are read.

    Raises: LostTextError for UTF-16.
    """
    _, reading, problems = decode(text.encode("utf-8", "surrogateescape"))
    if reading == clean(text.removeprefix("\ufeff")):
        return
    if anywhere or not any(problem.rule == "mixed-encoding" for problem in problems):
        raise LostTextError(f"{path}: it is UTF-16, or holds some; save it as UTF-8 before it is changed")


def stamp(now: datetime) -> str:
    """Return a time as a UTC instant in milliseconds: 2026-10-21T03:10:00.000Z."""
    return now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
