"""Folders made on the way to a file, and taken back when nothing came of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable


def make_folders(folder: str) -> list[str]:
    """Make a folder and those above it that are missing; return the ones made, the outermost first.

    Raises: OSError.
    """
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    made = []
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)
            made.append(path)
    return made


def remove_empty(folders: Iterable[str]) -> None:
    """Remove folders that are empty, the innermost first; what holds something, or cannot be removed, stays."""
    for path in reversed(list(folders)):
        with contextlib.suppress(OSError):
            os.rmdir(path)
