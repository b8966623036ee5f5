"""The front matter of an archive day file: its `date:` and `index:`, and what is wrong with how they are written.

All scalars stay text (`10:00`, `0123`, `no`); bad YAML never loses the index, it is recovered from its own line.
"""

from __future__ import annotations

import re
from typing import Any

from memkit.dates import parse_day
from memkit.layouts.front import mapping
from memkit.model import Document, IndexLine, Problem, Reading
from memkit.text import FrontMatter

# The block as memkit and the plugin write it; read without YAML, which gives the same (a test proves it).
_PLAIN = re.compile(r"date: ([0-9]{4}-[0-9]{2}-[0-9]{2})\nindex: '((?:[^'\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]++|'')*+)'")
_HEAD = re.compile(rb"---\n(date: ([0-9]{4}-[0-9]{2}-[0-9]{2})\nindex: '([^\n]*)')\n---\n")
_QUOTED = re.compile(r"""index:[ \t]*(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")[ \t]*(?:#.*)?$""")
_BREAKS = re.compile("[\t\n\r\x00-\x08\x0b-\x1f\x7f\u0085\u2028\u2029]")


def read(lines: list[str], cut: FrontMatter | None, doc: Document | Reading) -> tuple[IndexLine, list[Problem]]:
    """Return the index of a day file and what is wrong with its front matter."""
    if cut is None:
        return IndexLine(None, 0), [Problem("index-missing", 1, "the day has no front matter, and so no index")]
    plain = _PLAIN.fullmatch("\n".join(cut.lines))
    if plain and cut.first == 1 and lines[0] == lines[cut.last - 1] == "---":
        index = IndexLine(plain[2].replace("''", "'").strip() or None, 3)
        return index, _date_problems(plain[1], 2, doc) + _empty(index)
    return _read_yaml(lines, cut, doc)


def canonical(doc: Reading) -> tuple[IndexLine, list[Problem]] | None:
    """Return what read() finds in a document whose first lines are as memkit writes them, else None."""
    found = _written(doc.data)
    if found is None:
        return None
    index = IndexLine(found[1], 3)
    return index, _date_problems(found[0], 2, doc) + _empty(index)


LINES = 4  # of a front matter that canonical() reads


def plain(head: bytes) -> str | None:
    """Return the index of a day file whose first bytes are as memkit writes them, else None: read() then knows more."""
    found = _written(head)
    return found[1] if found else None


def _written(head: bytes) -> tuple[str, str | None] | None:
    """Return the day and the index."""
    match = _HEAD.match(head)
    if match is None:
        return None
    try:
        text = match[3].decode()
    except UnicodeDecodeError:
        return None
    day = match[2].decode()
    if text.isprintable() and "'" not in text:  # nothing in it is doubled, and nothing that _PLAIN refuses
        return day, text.strip() or None
    found = _PLAIN.fullmatch(match[1].decode())
    return (found[1], found[2].replace("''", "'").strip() or None) if found else None


def _read_yaml(lines: list[str], cut: FrontMatter, doc: Document | Reading) -> tuple[IndexLine, list[Problem]]:
    problems = _hidden(lines, cut)
    at = {key: [cut.first + n for n, line in enumerate(cut.lines, 1) if _is_key(line, key)] for key in ("date", "index")}
    line = at["index"][-1] if at["index"] else 0
    raw = lines[line - 1] if line else ""
    values, broken = mapping(cut)
    if broken:
        return IndexLine(recovered(raw), line), [*problems, *broken]
    text = values.get("index")
    text = paired(text) if isinstance(text, str) else text
    index = IndexLine(_BREAKS.sub(" ", text).strip() or None if isinstance(text, str) else None, line)
    shape = _shape(text, raw, line, repeated=len(at["index"]) > 1)
    if index.text and any(
        problem.rule == "index-unquoted" for problem in shape
    ):  # to YAML ` #` begins a comment: nobody means that here
        index = IndexLine(recovered(raw), line)
    problems += shape or _empty(index)
    day = values.get("date")
    if isinstance(day, str) and at["date"]:
        problems += _date_problems(day.strip(), at["date"][-1], doc)
    return index, problems


def _is_key(line: str, key: str) -> bool:
    """Return whether a line gives a key its value, also where the key is quoted or a blank stands before the colon."""
    name, colon, _ = line.partition(":")
    return bool(colon) and name.rstrip().strip("\"'") == key


def paired(text: str) -> str:
    """Return a text in which two halves of a character that JSON-style escapes made are one; a lone half is U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def recovered(raw: str) -> str | None:
    """Return the text of an `index:` line that YAML cannot read, without its quotes."""
    text = raw.partition(":")[2].strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return _BREAKS.sub(" ", text.lstrip("'\"") if text[:1] in "'\"" else text).strip() or None


def _shape(value: Any, raw: str, line: int, *, repeated: bool) -> list[Problem]:
    """Return the first of what is wrong with how the index is written."""
    if repeated:
        return [Problem("index-duplicate-key", line, "the key `index:` stands twice")]
    if not line or value in ("", None):
        return []
    if isinstance(value, str) and (_BREAKS.search(value) or not _one_line(raw)):
        return [Problem("index-not-one-line", line, "the index is not one line, or has a tab or control character")]
    if not _QUOTED.match(raw):
        return [Problem("index-unquoted", line, "the index is not a quoted text, so the plugin may drop or change it")]
    return []


def _one_line(raw: str) -> bool:
    text = raw.partition(":")[2].strip(" \t")
    if text[:1] in ("|", ">") or _BREAKS.search(text):  # YAML folds some breaks, so that the value does not show them
        return False
    return bool(_QUOTED.match(raw)) or text[:1] not in ("'", '"')


def _empty(index: IndexLine) -> list[Problem]:
    return [] if index.text else [Problem("index-missing", index.line or 1, "the day has no index")]


def _hidden(lines: list[str], cut: FrontMatter) -> list[Problem]:
    """Return a problem if the plugin would not see this block: it wants `---` alone, at the very top, and content."""
    if cut.first == 1 and lines[0] == lines[cut.last - 1] == "---" and cut.lines:
        return []
    return [Problem("index-hidden", cut.first, "the plugin does not see this front matter: `---` must be line 1 and close it")]


def _date_problems(text: str, line: int, doc: Document | Reading) -> list[Problem]:
    """Return a problem if `date:` is not the day of the file name."""
    if text == str(doc.role.day):
        return []
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) and parse_day(text) is None:
        return [Problem("impossible-date", line, f"`date: {text}` is no real date")]
    return [Problem("date-mismatch", line, f"`date: {text[:20]}` is not the day in the file's name")]
