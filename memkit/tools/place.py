"""Where the original programs keep their memory: what their environment says, read here and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


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


def workspace_extras() -> dict[str, Any]:
    """Return what the environment adds to a workspace: more paths, and the transcript if it is switched on."""
    extra = [path.strip() for path in os.environ.get("MEMORY_EXTRA_PATHS", "").split(",") if path.strip()]
    session = os.environ.get("MEMORY_SESSION_PATH")
    indexed = os.environ.get("MEMORY_INDEX_SESSION", "").casefold() in ("1", "true")
    return ({"extra": extra} if extra else {}) | ({"session": session} if session and indexed else {})
