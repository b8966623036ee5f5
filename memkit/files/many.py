"""Which folders a glob names; nothing in them is looked at."""

from __future__ import annotations

import glob
from pathlib import Path


def folders_of(path: Path) -> list[Path] | None:
    """Return the folders that a path with `*`, `?` or `[` matches, sorted, `**` at any depth; None where it is no glob.

    A folder that lies there under that very name is meant itself. As in a shell, `*` passes over names that start with
    a dot.
    """
    text = str(path)
    if not glob.has_magic(text) or path.is_dir():
        return None
    return sorted({Path(hit) for hit in glob.glob(text, recursive=True) if Path(hit).is_dir()})  # noqa: PTH207 (hides dot files)
