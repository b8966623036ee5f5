"""The way out for everything that is no memory: exports, pages, tables; it refuses targets inside a store."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from memkit.errors import BadArgument, PathError
from memkit.files.folders import make_folders, remove_empty
from memkit.files.trouble import readable


def place_of(value: object, name: str) -> Path:
    """Return the path that an argument names, `~` expanded.

    Raises: BadArgument, naming the argument, for what is no path.
    """
    try:
        text = os.fspath(value)  # type: ignore[call-overload]
        if isinstance(text, str) and text and "\0" not in text:
            return Path(text).expanduser()
    except (TypeError, RuntimeError):  # a type of its own, a home of nobody
        pass
    raise BadArgument(f"{name}: {str(value)[:60]!r} is no path; expected the path of a file or folder")


def refuse_inside(target: Path, stores: Iterable[Path]) -> Path:
    """Return the resolved target.

    Raises: PathError if it lies inside one of the stores.
    """
    full = target.expanduser().resolve()
    for store in stores:
        if full.is_relative_to(store.resolve()):
            raise PathError(f"{target}: it lies inside the memory store {store}; choose a folder outside")
    return full


def refuse_unmakable(folder: Path) -> None:
    """Hold that a folder is there, or could be made; nothing is left behind of the try.

    Raises: PathError for what is no folder, or has one in its way; DiskError.
    """
    with readable(str(folder), "made"):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(folder)  # a name that can be none is no name of nothing
        here = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
        if here.is_symlink() and not here.exists():
            raise PathError(f"{folder}: {here} is a link that leads nowhere; remove it, or choose another place")
        if not here.is_dir():
            told = "" if here == folder else f"{here} is "
            raise PathError(f"{folder}: {told}a file, and not a folder; choose another place")
        if not os.access(here, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "permission denied")
        if here != folder and _holds_no_files(here):
            remove_empty(make_folders(str(folder)))


def _holds_no_files(folder: Path) -> bool:
    """Return whether a folder seems to be of a file system that keeps none, as /proc; only trying tells."""
    facts = os.statvfs(folder) if hasattr(os, "statvfs") else None
    return facts is not None and facts.f_blocks == 0


def write_output(target: Path, data: bytes, *, stores: Iterable[Path] = ()) -> None:
    """Write a file that is no memory, whole or not at all, making its folder.

    Raises: PathError if the target lies inside one of the stores or is a device or a pipe, DiskError.
    """
    full = refuse_inside(target, stores)
    temp = full.with_name(f".{full.name[:60]}.{secrets.token_hex(6)}.tmp")
    with readable(str(target), "written"):
        if full.exists() and not (full.is_file() or full.is_dir()):  # it would be replaced, even /dev/null if root asks
            raise PathError(f"{target}: a device or a pipe, and not a file; choose another place")
        full.parent.mkdir(parents=True, exist_ok=True)
        try:
            temp.write_bytes(data)
            temp.replace(full)
        except BaseException:
            with contextlib.suppress(OSError):
                temp.unlink(missing_ok=True)
            raise


def read_output(path: Path) -> bytes:
    """Return the bytes of a file that write_output made."""
    return path.read_bytes()


def tail_of_output(path: Path, size: int) -> bytes:
    """Return the last `size` bytes of a file outside the stores, all of a shorter one.

    Raises: DiskError.
    """
    with readable(str(path), "read"), path.open("rb") as handle:
        handle.seek(max(0, path.stat().st_size - size))
        return handle.read()


def remove_output(target: Path, *, stores: Iterable[Path] = ()) -> None:
    """Remove a file that write_output made, and its folders as far as they are empty then.

    Raises: PathError if it lies inside one of the stores, DiskError.
    """
    full = refuse_inside(target, stores)
    with readable(str(target), "removed"):
        full.unlink(missing_ok=True)
    remove_empty([str(full.parent.parent), str(full.parent)])


def text_of_output(path: Path) -> str | None:
    """Return a file outside the stores as text for splicing, None if there is none.

    Raises: DiskError.
    """
    with readable(str(path), "read"):
        try:
            return path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None


def names_of_output(folder: Path) -> set[str]:
    """Return the names in a folder that is written to, none if it is not there yet.

    Raises: PathError if it is no folder, DiskError.
    """
    with readable(str(folder), "read"):
        if folder.exists() and not folder.is_dir():
            raise PathError(f"{folder}: a file, and not a folder; choose another place")
        return {path.name for path in folder.iterdir()} if folder.is_dir() else set()
