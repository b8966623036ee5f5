"""Plain text work: bytes to text, lines, folding of blanks, truncation by code point, and where front matter ends.

Characters are code points. Lines end at LF only; U+2028, NEL, VT and FF are characters like others.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from memkit.model import Problem, clean

# Unicode White_Space, and what either Python or JavaScript takes for a blank beside it.
_BLANKS = re.compile("[\\s\ufeff\u200b\u0085\x1c-\x1f\0]+")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1b\x7f]")
_KEY = re.compile(r"[A-Za-z_\u4e00-\u9fff][\w.-]*[ \t]*:(?:[ \t]|$)")
_LIST = re.compile(r"-(?:[ \t]|$)")


def norm_text(text: str) -> str:
    """Return the text as one line: every run of blanks and breaks one space, none at the ends."""
    return _BLANKS.sub(" ", clean(text)).strip(" ")


def norm_tag(tag: str | None) -> str:
    """Return a tag without square brackets, folded to one line; `-` when nothing is left."""
    return norm_text((tag or "").replace("[", "").replace("]", "")) or "-"


def truncate(text: str, limit: int) -> str:
    """Return the first `limit` code points, and `…` after them when something was cut: at most limit + 1 characters."""
    return text if len(text) <= limit else text[:limit] + "…"


def decode(data: bytes) -> tuple[str, str, tuple[Problem, ...]]:
    """Return the bytes as text for splicing, as text for reading, and what was odd about them.

    The first encodes to the same bytes again (utf-8, surrogateescape); the second is clean (see model.clean),
    with UTF-16 decoded wherever a file or a run of it is that, and without one leading BOM.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return text, *_odd(data, text)
    if "\0" in text or text.startswith("\ufeff") or _CONTROL.search(text):
        return text, *_odd(data, text)
    return text, clean(text), ()


def _odd(data: bytes, text: str) -> tuple[str, tuple[Problem, ...]]:
    """Return the reading and the problems of bytes that are not plain UTF-8 text."""
    for bom, name in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(bom):
            reading = data[2:].decode(name, "replace")
            return clean(reading), (Problem("not-utf8", 1, f"the file is {name.upper()}; save it as UTF-8"),)
    problems = []
    run = _utf16_run(data)
    if run is not None:
        start, end = run
        text = "".join(
            (
                data[:start].decode("utf-8", "surrogateescape"),
                data[start:end].decode("utf-16-le", "replace").removeprefix("\ufeff"),
                data[end:].decode("utf-8", "surrogateescape"),
            )
        )
        line = data.count(b"\n", 0, start) + 1
        if start == 0 and end == len(data):
            problems.append(Problem("not-utf8", line, "the file is UTF-16 without a mark; save it as UTF-8"))
        else:
            problems.append(Problem("mixed-encoding", line, f"UTF-16 text inside a UTF-8 file, from byte {start}"))
    bad = re.search("[\udc80-\udcff]", text)
    if bad is not None:
        offset = len(text[: bad.start()].encode("utf-8", "surrogateescape"))
        line = text.count("\n", 0, bad.start()) + 1
        problems.append(Problem("not-utf8", line, f"a byte that is not UTF-8 at byte {offset}"))
    if text.startswith("\ufeff"):
        text = text[1:]
        problems.append(Problem("bom", 1, "the file starts with a byte order mark, which hides its first line"))
    control = re.search("[\0\x01-\x08\x0e-\x1b\x7f]", text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        problems.append(Problem("control-character", line, f"a control character U+{ord(control[0]):04X}"))
    return clean(text), tuple(problems)


def _utf16_run(data: bytes) -> tuple[int, int] | None:
    """Return where a UTF-16-LE run (such as PowerShell's `>>` leaves) starts and ends in bytes, or None."""
    zero = data.find(b"\0")
    if zero < 1:
        return None
    start = data.rfind(b"\n", 0, zero - 1) + 1
    before = data[start : zero - 1]
    if (zero - start) % 2 == 0 or not before or _is_utf8(before):
        start = zero - 1  # what stands before on the line is UTF-8 of its own
    if not _is_utf16_text(data[start : min(_utf16_line_end(data, start), start + 128)]):
        return None
    end = start
    while end < len(data):
        stop = data.find(b"\n", end)
        plain = data[end : len(data) if stop < 0 else stop + 1]
        if end > start and 0 not in plain and data[end + len(plain) : end + len(plain) + 1] != b"\0" and _is_utf8(plain):
            break
        stop = _utf16_line_end(data, end)
        end = stop
    return start, end


def _utf16_line_end(data: bytes, start: int) -> int:
    """Return the offset behind the next aligned UTF-16-LE line break, or the end of the data."""
    at = data.find(b"\n\0", start)
    while at >= 0 and (at - start) % 2:
        at = data.find(b"\n\0", at + 1)
    return len(data) if at < 0 else at + 2


def _is_utf16_text(data: bytes) -> bool:
    """Return whether bytes read as UTF-16-LE text: two ASCII characters or a break in it, and no odd character."""
    text = data[: len(data) // 2 * 2].decode("utf-16-le", "replace")
    plain = sum(character.isascii() for character in text)
    return plain >= 2 and all(
        character in "\r\n\t\ufeff" or unicodedata.category(character) not in ("Cc", "Cn", "Co", "Cs") for character in text
    )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class FrontMatter(NamedTuple):
    """Where a front-matter block lies: line numbers of its opening and closing fence, and the lines between."""

    first: int
    last: int
    lines: list[str]


def front_matter(lines: list[str], *, strict: bool = False) -> FrontMatter | None:
    """Return the front matter that opens the lines of a file, or None if it has none.

    It opens at the first non-blank line that is `---` and closes at the next `---` or `...`; what stands between must
    look like a mapping, so that a file which merely starts with a rule loses nothing. `strict` takes it only on line 1.
    """
    start = 0
    while not strict and start < len(lines) and not lines[start].strip():
        start += 1
    if start >= len(lines) or lines[start].rstrip() != "---":
        return None
    return front_matter_at(lines, start, lenient=not strict, empty=not strict)


def front_matter_at(lines: list[str], start: int, *, lenient: bool = False, empty: bool = False) -> FrontMatter | None:
    """Return the front-matter-shaped block that opens at index `start` (a `---` line), or None.

    `lenient` forgives stray lines once the block has named `date:` or `index:`; `empty` allows a block of no lines.
    """
    for end in range(start + 1, len(lines)):
        if lines[end].rstrip() in ("---", "..."):
            inner = lines[start + 1 : end]
            if looks_like_mapping(inner, lenient=lenient) or (empty and end == start + 1):
                return FrontMatter(start + 1, end + 1, inner)
            return None
    return None


def looks_like_mapping(lines: list[str], *, lenient: bool = False) -> bool:
    """Return whether the lines read as a YAML mapping: keys, their indented lines and lists, comments, blanks."""
    key = ""
    open_value = False
    for line in lines:
        stripped = line.strip()
        if not stripped or (stripped.startswith("#") and key):
            continue
        if _KEY.match(line):
            key = key or stripped.partition(":")[0].strip()
            open_value = stripped.endswith((":", "[", "|", ">", "|-", ">-"))
        elif not key:
            return False
        elif line[0] in " \t" or (open_value and _LIST.match(line)):
            continue
        elif not (lenient and key in ("date", "index")) or stripped.startswith(("## ", "- ")):
            return False
    return bool(key)
