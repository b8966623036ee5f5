"""Where a store lies: at the path itself, or at one of the places where the original programs keep theirs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from memkit import layouts
from memkit.errors import AmbiguousStore, DiskError, StoreNotFound
from memkit.files.scan import SKIPPED_FOLDERS
from memkit.layouts import Layout
from memkit.text import decode

BELOW = (".agents/*/memory", ".first_paramecium", "dsh-memory-layers")
_NAMES_A_FOLDER = 20_000  # enough to tell a layout, and no more than a glance at a huge folder


class Found(NamedTuple):
    """A store that was found: the folder it lies in, its root, and its layout."""

    vault: Path
    root: Path
    layout: Layout


def find_store(path: str | os.PathLike[str], layout: str | None = None, *, new: bool = True) -> Found:
    """Return the store at a path: at the path itself, else at one of the places where the originals keep theirs.

    With `layout` an empty store may begin where there is none yet, unless `new` is False.

    Raises: StoreNotFound, AmbiguousStore, BadArgument.
    """
    top = _folder(os.fsdecode(path))
    wanted = layouts.named(layout) if layout else None
    for place in _places(top, layout):
        names = names_of(place, layout)
        if len(names) > 1:
            raise AmbiguousStore(f"{place}: it looks like {' and like '.join(names)}; pass layout= to choose one")
        if names:
            return Found(_vault(top, place), place, layouts.named(names[0]))
    if wanted and new:
        root = _new_root(top, wanted)
        return Found(_vault(top, root), root, wanted)
    raise StoreNotFound(_nothing_at(top) if wanted is None or not top.is_dir() else _none_of(top, wanted))


def kept_out(path: Path) -> DiskError | None:
    """Return what kept find_store from looking everywhere at a path, None if there is no store because there is none."""
    lost: list[OSError] = []
    for place in (path, path / "memory", *_below(path, lost)):
        _shape(place, lost)
    if not lost:
        return None
    reason = (lost[0].strerror or "unreadable").lower()
    shown = os.fsencode(lost[0].filename or path).decode("utf-8", "backslashreplace")
    return DiskError(f"{shown}: it cannot be looked into ({reason}); allow reading it")


def _below(top: Path, lost: list[OSError]) -> Iterator[Path]:
    """Yield the folders that BELOW names, and note what cannot be looked into on the way to them."""
    for pattern in BELOW:
        folders = [top]
        for part in pattern.split("/"):
            folders = [folder / name for folder in folders for name, _ in _held(folder, lost) if fnmatchcase(name, part)]
        yield from folders


def store_around(path: Path) -> Path | None:
    """Return the nearest memory store that a path lies in, None if it lies in none."""
    folders = (folder for folder in (path, *path.parents) if folder.is_dir())
    return next((folder for folder in folders if names_of(folder)), None)


def _folder(given: str) -> Path:
    """Return the folder that a path names, absolute; it need not be there.

    Raises: StoreNotFound if no folder can be of that name.
    """
    shown = os.fsencode(given).decode("utf-8", "backslashreplace")
    if not given.strip():
        raise StoreNotFound("path: it is empty; name a folder")
    if shown != given or "\0" in given:
        raise StoreNotFound(f"{shown}: its name is not UTF-8 text; rename the folder, or name another")
    try:
        top = Path(given).expanduser().absolute()
        if ".." in top.parts:  # a link may lie before it, so only the disk knows where it leads
            top = top.resolve()
        is_file = top.is_file()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StoreNotFound(f"{shown}: {reason.lower()}; name another folder") from error
    if is_file:
        raise StoreNotFound(f"{top}: a file, and not a folder; name the folder that holds the memory")
    return top


def names_of(place: Path, layout: str | None = None) -> list[str]:
    """Return the layouts that claim a folder; only the wanted one if it is named."""
    return [name for name in layouts.detect(*_shape(place)) if layout in (None, name)]


def _places(top: Path, layout: str | None) -> Iterator[Path]:
    """Yield the folders in which a store may lie, nearest first.

    Raises: AmbiguousStore if a plugin folder stands there twice.
    """
    yield top
    yield top / "memory"
    for pattern in BELOW:
        hits = [place for place in sorted(top.glob(pattern)) if names_of(place, layout)]
        if len(hits) > 1:
            raise AmbiguousStore(f"{top}: memory lies in {hits[0]} and in {hits[1]}; name one of them")
        yield from hits


def _vault(top: Path, root: Path) -> Path:
    """Return the folder from which people name the memory's files: that which holds `.agents/`, else the one given."""
    return root.parents[2] if len(root.parts) > 3 and root.parts[-3] == ".agents" else top


def _new_root(top: Path, layout: Layout) -> Path:
    """Return where an empty store begins: in an Obsidian vault, an archive lies in its plugin's folder."""
    if layout.NAME == "archive" and (top / ".obsidian").is_dir():
        return top / ".agents/nutstore-sync/memory"
    return top


def _none_of(top: Path, wanted: Layout) -> str:
    return f"{top}: no {wanted.NAME} store in it; leave layout= out, or open it alone to start one there"


def _nothing_at(top: Path) -> str:
    if top.is_dir():
        try:
            seen = sorted(os.fsencode(entry.name).decode("utf-8", "backslashreplace") for entry in os.scandir(top))
        except OSError as error:
            return f"{top}: it cannot be looked into ({(error.strerror or 'unreadable').lower()}); allow reading it"
        listing = ", ".join(seen[:5]) + (f" and {len(seen) - 5} more" if len(seen) > 5 else "") if seen else "nothing"
        inside = any(name[:4].isdigit() and name.endswith(".md") for name in seen)
        cure = f"open its parent {top.parent}, or pass layout=" if inside else "pass layout= to start a new store there"
        return f"{top}: no memory store in it (seen: {listing}); {cure}"
    parent = next((parent for parent in top.parents if parent.is_dir()), top)
    return f"{top}: no such folder (the nearest that exists is {parent}); correct the path, or pass layout= to start there"


def _shape(place: Path, lost: list[OSError] | None = None) -> tuple[frozenset[str], str]:
    """Return the paths at a place that tell a layout, and the text of its hot.md; `lost` notes what cannot be looked into."""
    paths: set[str] = set()
    for folder, depth in (("", 0), ("archive", 1), ("catalog", 0), ("cold", 1), ("memory", 3)):
        paths.update(_walk_names(place, folder, depth, lost))
    hot = ""
    if "hot.md" in paths:
        try:
            hot = decode((place / "hot.md").read_bytes())[1]
        except OSError:
            hot = ""
    return frozenset(paths), hot


def _walk_names(place: Path, folder: str, depth: int, lost: list[OSError] | None) -> Iterator[str]:
    """Yield file paths of a folder down to a depth, and `cold/2025-01/` style folder paths with a slash."""
    for name, entry in _held(place / folder, lost):
        path = f"{folder}/{name}" if folder else name
        if not entry.is_dir():
            yield path
        elif depth and name not in SKIPPED_FOLDERS:
            yield f"{path}/"
            yield from _walk_names(place, path, depth - 1, lost)


def _held(folder: Path, lost: list[OSError] | None) -> list[tuple[str, os.DirEntry[str]]]:
    """Return what a folder holds that can tell a layout, by name."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry) for entry in entries if _may_tell(entry))[:_NAMES_A_FOLDER]
    except OSError as error:
        if lost is not None and not isinstance(error, FileNotFoundError | NotADirectoryError):
            lost.append(error)
        return []


def _may_tell(entry: os.DirEntry[str]) -> bool:
    """Return whether a name can tell a layout: Markdown or a catalog as a file, or any folder."""
    try:
        return entry.is_dir() or (entry.name.lower().endswith((".md", ".tsv")) and entry.is_file())
    except OSError:  # a link that leads to itself
        return False


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a folder at a path."""
    return Path(path).expanduser().is_dir()
