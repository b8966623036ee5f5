"""The three layouts behind one Protocol, and which of them a folder's shape claims; no layout opens a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Protocol

from memkit.errors import BadArgument
from memkit.layouts import archive, cold, layers, workspace
from memkit.model import Columns, Document, Reading, Records, Role


class Layout(Protocol):
    """What a layout module offers; PLACES are the paths below the root that are its own ("" = all of it; `*` as in globs)."""

    NAME: str
    PLACES: tuple[str, ...]

    def claims(self, paths: frozenset[str], hot_text: str) -> bool:
        """Return whether a folder with these paths, and this hot.md text, is a store of the layout."""

    def role(self, path: str) -> Role:
        """Return what a path is to the layout: kind, day, derived; or not ours, with the reason."""

    def day_path(self, day: date) -> str:
        """Return where a day's file lies."""

    def parse(self, doc: Document, *, spans: bool = False) -> Records:
        """Return the records of one document; never raises, a bad place becomes a Problem."""


LAYOUTS: dict[str, Layout] = {"archive": archive, "workspace": workspace, "layers": layers}

# By layout and kind: how many dated documents are read at once, with the result that parse() has for each.
AT_ONCE: dict[tuple[str, str | None], Callable[[Sequence[Reading]], tuple[list[Records], Columns]]] = {
    ("layers", "daily"): cold.read,
    ("archive", "daily"): archive.read,
    ("workspace", "daily"): workspace.read,
    ("workspace", "daily-slug"): workspace.read,
}


def named(layout: str) -> Layout:
    """Return the layout of a name.

    Raises: BadArgument for another name.
    """
    if layout not in LAYOUTS:
        raise BadArgument(f"layout: {str(layout)[:40]!r}; expected archive, workspace or layers")
    return LAYOUTS[layout]


def detect(paths: frozenset[str], hot_text: str) -> list[str]:
    """Return the names of the layouts that claim a folder: usually one, none, or two that clash.

    `memory/archive/<YYYY>/<day>.md` without MEMORY.md is an archive at `memory/`, which the caller looks at next.
    """
    found = [name for name, layout in LAYOUTS.items() if layout.claims(paths, hot_text)]
    below = frozenset(path.removeprefix("memory/") for path in paths if path.startswith("memory/"))
    if found == ["workspace"] and not {"MEMORY.md", "memory.md"} & paths and archive.claims(below, ""):
        return []
    return found
