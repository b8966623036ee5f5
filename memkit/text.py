"""Plain text work: bytes to text, lines, folding of blanks, truncation by code point, and where front matter ends.

Characters are code points. Lines end at LF only; U+2028, NEL, VT and FF are characters like others.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from memkit.model import Problem, clean

# Unicode White_Space, and what either Python or JavaScript takes for a blank beside it.
_BLANKS = re.compile("[\\s\ufeff\u200b\u0085\x1c-\x1f\0]+")
_CONTROL = bytes([*range(9), *range(14, 28), 127])
_ODD = re.compile("[\0\u202d\u2d20\u0d0a\ufffd]")  # in UTF-16, ASCII `- ` is U+202D or U+2D20, CRLF U+0D0A
_KEY = re.compile(r"""(["']?)[A-Za-z_\u4e00-\u9fff][\w.-]*\1[ \t]*:(?:[ \t]|$)""")
_JOINER = "\u200d"
_NOT_READ = "a byte that is not UTF-8 at byte "
# Vowels and finals of Hangul, skin tones, and the letters behind a black flag.
_TIED = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
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


def whole_characters(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the longest stretch between two places of a text that cuts no character in two.

    Marks, variation selectors, skin tones and what a joiner ties together belong to the character before them, and two
    letters of a flag to each other.
    """
    while start < end and _is_tied(text, start):
        start += 1
    while end > start and end < len(text) and _is_tied(text, end):
        end -= 1
    return start, end


def _is_tied(text: str, at: int) -> bool:
    """Return whether the code point at a place belongs to the character before it."""
    if at == 0:
        return False
    here, before = text[at], text[at - 1]
    if here == _JOINER or before == _JOINER or _TIED.match(here) or unicodedata.category(here)[0] == "M":
        return True
    letters = 0
    while at - letters > 0 and "\U0001f1e6" <= text[at - letters - 1] <= "\U0001f1ff":
        letters += 1
    return "\U0001f1e6" <= here <= "\U0001f1ff" and letters % 2 == 1


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
    if _is_plain(data):
        return text, clean(text) if "\r" in text else text, ()
    return text, *_odd(data, text)


def reading_of(text: str) -> str:
    """Return a text for splicing as people read it."""
    return decode(text.encode("utf-8", "surrogateescape"))[1]


def decode_bytes(data: bytes) -> tuple[bytes, tuple[Problem, ...]]:
    """Return the text for reading in UTF-8, and what was odd about the bytes: mostly they are that text already."""
    text, clean_text, problems = decode(data)
    return (data if clean_text == text else clean_text.encode()), problems


def unread(problems: Iterable[Problem]) -> str:
    """Return why a document could not be read whole, "" if it was: a file in another encoding is."""
    return next((problem.message for problem in problems if problem.message.startswith(_NOT_READ)), "")


def _is_plain(data: bytes) -> bool:
    """Return whether UTF-8 has neither a BOM nor a control character other than blanks and line ends."""
    # deleting them all and comparing lengths is five times as fast as a search for one of them
    return len(data.translate(None, _CONTROL)) == len(data) and not data.startswith(codecs.BOM_UTF8)


def _odd(data: bytes, text: str) -> tuple[str, tuple[Problem, ...]]:
    """Return the reading and the problems of bytes that are not plain UTF-8 text."""
    problems = []
    runs = _utf16_runs(data)
    if runs:
        text = _with_runs(data, runs)
        start, end, codec = runs[0]
        if start == 0 and end == len(data):
            problems.append(Problem("not-utf8", 1, f"the file is {codec.upper()}; save it as UTF-8"))
        else:
            line = data.count(b"\n", 0, start) + 1
            problems.append(Problem("mixed-encoding", line, f"UTF-16 text inside a UTF-8 file, from byte {start}"))
    bad = re.search("[\udc80-\udcff]", text)
    if bad is not None:
        offset = len(text[: bad.start()].encode("utf-8", "surrogateescape"))
        line = text.count("\n", 0, bad.start()) + 1
        problems.append(Problem("not-utf8", line, f"{_NOT_READ}{offset}"))
    if text.startswith("\ufeff"):
        text = text[1:]
        problems.append(Problem("bom", 1, "the file starts with a byte order mark, which hides its first line"))
    control = re.search("[\0\x01-\x08\x0e-\x1b\x7f]", text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        problems.append(Problem("control-character", line, f"a control character U+{ord(control[0]):04X}"))
    return clean(text), tuple(problems)


class _Run(NamedTuple):
    """Where a run of UTF-16 (such as PowerShell's `>>` leaves) starts and ends in bytes, and its codec."""

    start: int
    end: int
    codec: str


_MARK = re.compile("^\ufeff", re.MULTILINE)
_LITTLE, _BIG = "utf-16-le", "utf-16-be"
_BREAK = {_LITTLE: b"\n\0", _BIG: b"\0\n"}
_MARKS = {codecs.BOM_UTF16_LE: _LITTLE, codecs.BOM_UTF16_BE: _BIG}
_GLANCE = 128  # bytes of a line that tell whether it is UTF-16
_TRIES = 200  # lines with NULs that turn out to be no UTF-16, after which a file is taken for binary junk


def _with_runs(data: bytes, runs: list[_Run]) -> str:
    """Return the text of the bytes, UTF-16 where the runs are and UTF-8 elsewhere."""
    parts, at = [], 0
    for start, end, codec in runs:
        parts.append(data[at:start].decode("utf-8", "surrogateescape"))
        parts.append(_MARK.sub("", data[start:end].decode(codec, "replace")))
        at = end
    parts.append(data[at:].decode("utf-8", "surrogateescape"))
    return "".join(parts)


def _utf16_runs(data: bytes) -> list[_Run]:
    """Return the runs of UTF-16 in the bytes, in order; big-endian only from the start of a file on."""
    marked = _MARKS.get(data[:2])
    if marked or data[::2].count(0) > data[1::2].count(0):
        text = data.decode(marked or _BIG, "replace")
        if _is_text(text) and (marked or data[0] == 0 or _is_common(text)):
            return [_Run(0, len(data), marked or _BIG)]
    runs = [_Run(0, _run_end(data, 0, marked), marked)] if marked else []
    at, tries = runs[0].end if runs else 0, 0
    while (zero := data.find(b"\0", at)) >= 0 and tries < _TRIES:
        start = _run_start(data, at, zero)
        if start is None:
            tries += 1
            at = data.find(b"\n", zero) + 1 or len(data)
        else:
            at = _run_end(data, start, _LITTLE)
            runs.append(_Run(start, at, _LITTLE))
    return runs


def _run_start(data: bytes, at: int, zero: int) -> int | None:
    """Return where the UTF-16 around the first NUL from offset `at` on starts, or None if there is none.

    It starts with its line, or with the line above when a character such as U+4E0A holds the byte of a line break, or
    in the middle of a line that was UTF-8 and had no end.
    """
    line = data.rfind(b"\n", at, max(at, zero - 1)) + 1 or at
    above = data.rfind(b"\n", at, max(at, line - 1)) + 1 or at
    for start in (above, line, max(at, zero - 1), zero):
        if _reads_as_utf16(data, start):
            return start - 2 if data[max(at, start - 2) : start] in _MARKS else start
    return None


def _reads_as_utf16(data: bytes, start: int) -> bool:
    """Return whether the line at an offset reads as UTF-16, and better so than as UTF-8."""
    end = _line_end(data, start, start + _GLANCE, _LITTLE)
    if data[start:end] in (b"\n\0", b"\r\0\n\0"):  # a blank line says nothing: look at the one below
        start, end = end, _line_end(data, end, end + _GLANCE, _LITTLE)
    text = data[start:end][: (end - start) // 2 * 2].decode(_LITTLE, "replace")
    if not text.strip() or not _is_text(text) or (sum(map(str.isascii, text)) < 2 and not _is_common(text)):
        return False
    head = text[: next((n for n, character in enumerate(text) if character.isascii()), len(text))]
    before = head.encode(_LITTLE)
    return 0 in data[start:end] and (0 in before or not _is_utf8(before) or _is_common(head))


def _run_end(data: bytes, start: int, codec: str) -> int:
    """Return where a run ends: at the end of the bytes, or before a line that is UTF-8."""
    end = _line_end(data, start, len(data), codec)
    while end < len(data):
        stop = data.find(b"\n", end) + 1 or len(data)
        if 0 not in data[end:stop] and data[stop : stop + 1] != b"\0" and not _is_cut_off(data[end:stop], codec):
            break
        end = _line_end(data, end, len(data), codec)
    return end


def _is_cut_off(rest: bytes, codec: str) -> bool:
    """Return whether bytes without NUL behind a run belong to it: they are no UTF-8, or its end without a line break."""
    if not _is_utf8(rest):
        return True
    return not rest.endswith(b"\n") and len(rest) % 2 == 0 and _is_common(rest.decode(codec, "replace"))


def _line_end(data: bytes, start: int, stop: int, codec: str) -> int:
    """Return the offset behind the next aligned UTF-16 line break, or `stop` or the end of the bytes."""
    at = data.find(_BREAK[codec], start, stop)
    while at >= 0 and (at - start) % 2:
        at = data.find(_BREAK[codec], at + 1, stop)
    return min(stop, len(data)) if at < 0 else at + 2


def _is_text(text: str) -> bool:
    """Return whether all characters are such as texts are made of, and none is what ASCII looks like in UTF-16."""
    return not _ODD.search(text) and all(
        character in "\r\n\t" or unicodedata.category(character) not in ("Cc", "Cn", "Co", "Cs") for character in set(text)
    )


def _is_common(text: str) -> bool:
    """Return whether a text holds frequent characters alone, as two letters of ASCII taken for one seldom are."""
    try:
        text.replace("\ufeff", "").encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


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
        if not stripped or (key and stripped.startswith("#") and not stripped.startswith("## ")):
            continue
        if _KEY.match(line):
            key = key or stripped.partition(":")[0].strip("\"' \t")
            open_value = stripped.endswith((":", "[", "|", ">", "|-", ">-"))
        elif not key:
            return False
        elif line[0] in " \t" or (open_value and _LIST.match(line)):
            continue
        elif not (lenient and key in ("date", "index")) or stripped.startswith(("## ", "- ")):
            return False
    return bool(key)


def is_index_line(line: str) -> bool:
    """Return whether a line of front matter is the one that a later entry may change."""
    return line.startswith("index:")
