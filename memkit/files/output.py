"""The way out for everything that is no memory: exports, pages, tables; it refuses targets inside a store."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from memkit.errors import PathError


def refuse_inside(target: Path, stores: Iterable[Path]) -> Path:
    """Return the resolved target.

    Raises: PathError if it lies inside one of the stores.
    """
    full = target.expanduser().resolve()
    for store in stores:
        if full.is_relative_to(store.resolve()):
            raise PathError(f"{target}: it lies inside the memory store {store}; choose a folder outside")
    return full


def write_output(target: Path, data: bytes, *, stores: Iterable[Path] = ()) -> None:
    """Write a file that is no memory, whole or not at all, making its folder.

    Raises: PathError if the target lies inside one of the stores.
    """
    full = refuse_inside(target, stores)
    full.parent.mkdir(parents=True, exist_ok=True)
    temp = full.with_name(f".{full.name}.{os.getpid()}.tmp")
    try:
        temp.write_bytes(data)
        temp.replace(full)
    except OSError:
        temp.unlink(missing_ok=True)
        raise


def read_output(path: Path) -> bytes:
    """Return the bytes of a file that write_output made."""
    return path.read_bytes()


def text_of_output(path: Path) -> str | None:
    """Return a file outside the stores as text for splicing, None if there is none."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def names_of_output(folder: Path) -> set[str]:
    """Return the names in a folder that is written to, none if it is not there yet.

    Raises: PathError if it is no folder.
    """
    if folder.exists() and not folder.is_dir():
        raise PathError(f"{folder}: a file, and not a folder; choose another place")
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()
