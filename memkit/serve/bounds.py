"""How much an agent is told at once: an answer or a text that is longer is cut, and says what was left out."""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import Any

from memkit.tools.arguments import Answer

MOST = 50_000  # characters of one answer, as JSON, or of one text
_NOTE = 800  # what is kept free for saying what was left out
_PATH = 200  # characters of a path that are told
_PAGES = ("text", "index", "diff", "results", "items")  # the parts that the numbers of a page speak of
_FEWER = "ask for less at once (a smaller limit, an offset, fewer lines) to see the rest; what none of these reaches, "
_NEVER = "never write back what was cut"


def written(answer: object) -> str:
    """Return an answer as JSON, with U+FFFD for what no text may hold."""
    return sound(json.dumps(answer, ensure_ascii=False))


def sound(text: str) -> str:
    """Return a text that can be sent, no longer than it is: halves of characters become U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def bounded(answer: Answer, most: int = MOST) -> Answer:
    """Return an answer of at most `most` characters as JSON; `truncated` says what was left out of one that was cut.

    Long parts share the room that short ones leave: of lists the last items go, of texts the last lines, or a part of a
    long line. `returned`, `leftOut` and `nextOffset` speak of what is there, so that nothing is skipped by going on.
    """
    return answer if _size(answer) <= most else _shortened(answer, most)[0]


def _shortened(answer: Answer, most: int) -> tuple[Answer, str]:
    """Return a long answer within bounds, and what of it is there."""
    held, told = dict(answer), []
    room = most - _NOTE - _size(answer) + sum(map(_size, answer.values()))
    by_size = sorted(answer, key=lambda name: _size(answer[name]))
    for number, name in enumerate(by_size):
        share = max(room // (len(by_size) - number), 2)
        if _size(answer[name]) > share:
            held[name], said = _cut(answer[name], share)
            told += [f"{name}: {said}"] if said else []
            if said and name in _PAGES:
                _recount(held, name, len(answer[name]) - len(held[name]))
        room -= _size(held[name])
    facts = "; ".join(told)
    return held | {"truncated": f"{facts}; {_cure(held)}; {_NEVER}"}, facts


def _cure(held: Answer) -> str:
    """Return how the rest of an answer that was cut is reached."""
    return "nextOffset goes on there" if "nextOffset" in held else f"{_FEWER}{_place(held)} alone has"


def _place(held: Answer) -> str:
    """Return where the whole of an answer stands, as far as it says so itself."""
    path = held.get("path")
    if not isinstance(path, str) or _size(path) > _PATH:
        return "the file"
    return f"the file {path}" + (f" (line {held['line']:,})" if isinstance(held.get("line"), int) else "")


def _recount(held: Answer, name: str, removed: int) -> None:
    """Let the numbers of a page speak of what is left, `removed` characters or items fewer."""
    part = held[name]
    if isinstance(part, list) and held.get("returned") == len(part) + removed:
        held["returned"] = len(part)
    if "leftOut" in held:
        end = held.get("nextOffset", held.get("chars" if isinstance(part, str) else "matched"))
        held["leftOut"] += removed
        if end is not None:
            held["nextOffset"] = end - removed


def shortened(text: str, most: int = MOST) -> str:
    """Return a text of at most `most` characters, with a last line that says how many were left out of a longer one."""
    if len(text) <= most:
        return text
    kept = text[: most - _NOTE]
    return f"{kept}\n\n… ({len(text) - len(kept):,} of {len(text):,} characters left out)\n"


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _cut(value: Any, room: int) -> tuple[Any, str]:
    """Return what of a value has room, and what is said of the rest; "" for a value that cannot be cut."""
    if isinstance(value, str):
        return _cut_text(value, room)
    if isinstance(value, list):
        return _cut_list(value, room)
    return value, ""


def _cut_text(text: str, room: int) -> tuple[str, str]:
    kept = text[: bisect_right(range(min(len(text), room)), room, key=lambda end: _size(text[: end + 1]))]
    whole, end, _ = kept.rpartition("\n")
    lines = text.count("\n") + 1
    if end and len(whole) > len(kept) // 2:
        return whole + end, f"the first {whole.count(end) + 1:,} of {lines:,} lines"
    inside = f", to inside line {kept.count(chr(10)) + 1:,} of {lines:,}" if lines > 1 else ""
    return kept, f"the first {len(kept):,} of {len(text):,} characters{inside}"


def _cut_list(items: list[Any], room: int) -> tuple[list[Any], str]:
    kept, size = 0, 2
    for item in items:
        size += _size(item) + 2
        if size > room:
            break
        kept += 1
    if not kept and items and isinstance(items[0], dict) and room > 2 * _NOTE:  # one item alone is too long
        item, facts = _shortened(items[0], room - 4)
        return [item], f"1 of {len(items):,}, and that not whole ({facts}; {_place(item)} alone has the rest)"
    return items[:kept], f"{kept:,} of {len(items):,}"
