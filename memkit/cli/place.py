"""Which store a command means: the one at PATH, else that of the original programs, whose environment is read here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memkit.store import Store

HERE = "."


def open_at(path: str | None, *, layout: str | None, now: str | None, tz: str | None) -> Store:
    """Return the store at PATH; without one, of the first usual place that has memory.

    Raises: what memkit.open raises.
    """
    import memkit

    if path is not None:
        return memkit.open(path, layout=layout, now=now, tz=tz)
    for place, known in _usual_places(layout):
        try:
            store = memkit.open(place, layout=known, now=now, tz=tz)
        except memkit.StoreNotFound:
            if place == HERE:
                raise
            continue
        given = _workspace_extras() if store.layout == "workspace" else {}
        return memkit.open(place, layout=known, now=now, tz=tz, **given) if given else store
    raise AssertionError("the current folder is always looked at")


def _usual_places(layout: str | None) -> Iterator[tuple[str, str | None]]:
    """Yield (place, layout): the seeds' own places (spec workspace 1, layers 1), then the current folder."""
    from pathlib import Path

    workspace, home = os.environ.get("MEMORY_WORKSPACE"), os.environ.get("DSH_HOME")
    if workspace and layout in (None, "workspace"):
        yield workspace, "workspace"
    if layout in (None, "layers"):
        dsh = Path(home).absolute() if home else Path("~/.dsh")
        yield str(dsh / "dsh-memory-layers"), None
    yield HERE, layout


def _workspace_extras() -> dict[str, Any]:
    """Return what the environment adds to a workspace: more paths, and the transcript if it is switched on."""
    extra = [path.strip() for path in os.environ.get("MEMORY_EXTRA_PATHS", "").split(",") if path.strip()]
    session = os.environ.get("MEMORY_SESSION_PATH")
    indexed = os.environ.get("MEMORY_INDEX_SESSION", "").casefold() in ("1", "true")
    return ({"extra": extra} if extra else {}) | ({"session": session} if session and indexed else {})
