"""Where the original programs keep their memory: what their environment says, read here and nowhere else."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memkit.errors import BadArgument

if TYPE_CHECKING:
    from memkit.embed import Settings

WORKSPACE = ".first_paramecium"  # in the current folder, where the environment names no other
SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "": False, "0": False, "false": False, "no": False, "off": False}


def layers_root() -> Path:
    """Return the folder of dsh-memory-layers, which need not be there: below $DSH_HOME, else below ~/.dsh.

    A relative $DSH_HOME counts from the current folder; a `~` in it is a name, since shells have expanded it already.
    That of ~/.dsh is left to whoever opens the folder, and who says so where there is no home.
    """
    home = os.environ.get("DSH_HOME")
    return (Path(home).absolute() if home else Path("~/.dsh")) / "dsh-memory-layers"


def workspace_root() -> str | None:
    """Return the workspace that $MEMORY_WORKSPACE names, None if it names none."""
    return os.environ.get("MEMORY_WORKSPACE") or None


def cached() -> bool | str:
    """Return what $MEMKIT_CACHE says of caching what is loaded, as memkit.open takes it: a yes, a no, or a folder.

    Raises: BadArgument for a word that is neither and no path: a folder of its name would hold the memory as plain text.
    """
    said = os.environ.get("MEMKIT_CACHE", "").strip()
    if said.casefold() in SWITCHES:
        return SWITCHES[said.casefold()]
    if said.startswith("~") or any(mark in said for mark in ("/", os.sep)):
        return said
    told = f"MEMKIT_CACHE: {said[:40]!r} is neither a switch nor a path; set it to 1 or 0, or to a folder such as ./{said[:40]}"
    raise BadArgument(told)


def workspace_options(*, places: bool) -> dict[str, Any]:
    """Return what the environment says of a workspace, as options of memkit.open: embeddings, and with `places` also those."""
    settings = embedding()
    return (workspace_extras() if places else {}) | ({"embed": settings} if settings else {})


def workspace_extras() -> dict[str, Any]:
    """Return what the environment adds to a workspace: more paths, the transcript if it is switched on, the index elsewhere.

    Extra paths count from the workspace, the other two from the current folder.
    """
    extra = [path.strip() for path in os.environ.get("MEMORY_EXTRA_PATHS", "").split(",") if path.strip()]
    session = os.environ.get("MEMORY_SESSION_PATH")
    indexed = os.environ.get("MEMORY_INDEX_SESSION", "").strip().casefold() in ("1", "true")
    index = os.environ.get("MEMORY_INDEX_PATH")
    given = {"extra": extra, "session": session if indexed else None, "index": index}
    return {name: value for name, value in given.items() if value}


def embedding() -> Settings | None:
    """Return the embeddings that the environment switches on; for what cannot be meant there is a warning, and none."""
    from memkit import embed  # with numpy

    try:
        return embed.from_environment(os.environ)
    except BadArgument as error:
        warnings.warn(f"{error}; searching goes on without embeddings", stacklevel=2)
        return None
