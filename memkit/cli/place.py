"""Which store a command means: the one at PATH, else that of the original programs, wherever their environment says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memkit.store import Store

HERE = "."


def open_at(path: str | None, *, layout: str | None, now: str | None, tz: str | None, cache: bool = True) -> Store:
    """Return the store at PATH; without one, of the first usual place that has memory.

    With `cache=False` it is read from its files alone, whatever the environment says.

    Raises: what memkit.open raises.
    """
    import memkit
    from memkit.tools import place

    kept = place.cached() if cache else False
    for usual, known in _usual_places(layout) if path is None else [(path, layout)]:
        try:
            store = memkit.open(usual, layout=known, now=now, tz=tz, cache=kept)
        except memkit.StoreNotFound:
            if usual in (path, HERE):
                raise
            continue
        given = place.workspace_options(places=path is None) if store.layout == "workspace" else {}
        return memkit.open(usual, layout=known, now=now, tz=tz, cache=kept, **given) if given else store
    raise AssertionError("the current folder is always looked at")


def _usual_places(layout: str | None) -> Iterator[tuple[str, str | None]]:
    """Yield (place, layout): the seeds' own places (spec workspace 1, layers 1), then the current folder."""
    from memkit.tools import place

    workspace = place.workspace_root()
    if workspace and layout in (None, "workspace"):
        yield workspace, "workspace"
    if layout in (None, "layers"):
        yield str(place.layers_root()), None
    yield HERE, layout
