"""The lines around places of a file, as they were audited: read when they are shown, bounded, without what is secret."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from memkit import files
from memkit.cells import clip
from memkit.errors import MemkitError
from memkit.explorer import veil
from memkit.model import FileFact
from memkit.text import reading_of

if TYPE_CHECKING:
    from memkit.store import Store

NEAR = 2  # lines before and after
WIDE = 200  # columns of one line
LARGEST = 4 * 1024 * 1024  # bytes of a file that lines are shown of


class Around(NamedTuple):
    """Some lines, the first of them by its number; None for one that is hidden. `why` names the reason if there are none."""

    first: int = 0
    lines: tuple[str | None, ...] = ()
    why: str = ""


def around(store: Store, fact: FileFact | None, places: Iterable[int], hidden: Collection[int] = ()) -> dict[int, Around]:
    """Return the lines around each place of a file; those in `hidden`, and all that hold a secret, are left out.

    A file that is gone, no longer as its fact says, too large or unreadable gives none, and the reason.
    """
    reading, why = _reading(store, fact)
    if why:
        return {place: Around(why=why) for place in places}
    secret = veil.lines(reading)
    rows = reading.split("\n")
    if not rows[-1]:
        rows.pop()
    found = {}
    for place in places:
        first, last = max(1, place - NEAR), min(len(rows), place + NEAR)
        shown = (None if n in secret or n in hidden else clip(rows[n - 1], WIDE) for n in range(first, last + 1))
        found[place] = Around(first, tuple(shown)) if place <= len(rows) else Around(why="changed")
    return found


def _reading(store: Store, fact: FileFact | None) -> tuple[str, str]:
    """Return a file's text as people read it, and "", or the reason why there is none."""
    if fact is None:
        return "", "gone"
    if fact.size > LARGEST:
        return "", "large"
    if not store._loaded.is_still(fact):
        return "", "changed"
    try:
        text = files.text_of(store.root, fact.path)
    except (MemkitError, OSError):
        return "", "unread"
    return ("", "unread") if text is None else (reading_of(text), "")
