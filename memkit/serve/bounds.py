"""How much an agent is told at once: an answer or a text that is longer is cut, and says what was left out."""

from __future__ import annotations

import json
from typing import Any

from memkit.tools.arguments import Answer

MOST = 50_000  # characters of one answer, as JSON, or of one text
_NOTE = 400  # what is kept free for saying what was left out
_CURE = (
    "ask for less at once (a smaller limit, an offset, fewer lines) to see the rest; of one long line the file alone has it; "
    "never write back what was cut"
)


def written(answer: object) -> str:
    """Return an answer as JSON, with U+FFFD for what no text may hold."""
    return sound(json.dumps(answer, ensure_ascii=False))


def sound(text: str) -> str:
    """Return a text that can be sent: halves of characters become U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if not text.isascii() else text


def bounded(answer: Answer, most: int = MOST) -> Answer:
    """Return an answer of at most `most` characters as JSON; `truncated` says what was left out of one that was cut.

    Long parts share the room that short ones leave: of lists the last items go, of texts the last lines, or a part of a
    long line. `returned`, `leftOut` and `nextOffset` speak of what is there, so that nothing is skipped by going on.
    """
    if _size(answer) <= most:
        return answer
    held, told = dict(answer), []
    room = most - _NOTE - _size(answer) + sum(map(_size, answer.values()))
    by_size = sorted(answer, key=lambda name: _size(answer[name]))
    for number, name in enumerate(by_size):
        share = max(room // (len(by_size) - number), 2)
        if _size(answer[name]) > share:
            held[name], said = _cut(answer[name], share)
            told += [f"{name}: {said}"] if said else []
            _recount(held, name, len(answer[name]) - len(held[name]) if said else 0)
        room -= _size(held[name])
    return held | {"truncated": f"{'; '.join(told)}; {_CURE}"}


def _recount(held: Answer, name: str, removed: int) -> None:
    """Let the numbers of a page speak of what is left, `removed` characters or items fewer."""
    part = held[name]
    if not removed:
        return
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
    kept = text[:room]
    while (over := _size(kept) - room) > 0 and kept:
        kept = kept[:-over]
    whole, end, _ = kept.rpartition("\n")
    if end and len(whole) > len(kept) // 2:
        return whole + end, f"the first {whole.count(end) + 1:,} of {text.count(end) + 1:,} lines"
    return kept, f"the first {len(kept):,} of {len(text):,} characters"


def _cut_list(items: list[Any], room: int) -> tuple[list[Any], str]:
    kept, size = 0, 2
    for item in items:
        size += _size(item) + 2
        if size > room:
            break
        kept += 1
    if not kept and items and isinstance(items[0], dict) and room > 2 * _NOTE:  # one item alone is too long
        return [bounded(items[0], room - 4)], f"1 of {len(items):,}, and that not whole"
    return items[:kept], f"{kept:,} of {len(items):,}"
