"""A folder of cache files: read, written whole or not at all, dropped least recently used first; every file is private.

A file is one line (sign, checksum, length of the head), a head of JSON that says whose it is, and parts of any bytes.
What is broken, cut off, of another version or another user's is as good as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import stat
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from memkit import files
from memkit.files.trouble import readable
from memkit.files.write import sweep_folder

LIMIT = 512 * 1024 * 1024  # bytes of all files of a folder
FORMAT = 2
_SIGN = b"memkit-cache %d " % FORMAT
_END = ".memkit"
_NAME = re.compile(r"[0-9a-f]{24}\.memkit")  # whatever else lies in the folder is not ours
_TEMP = re.compile(r"\.[0-9a-f]{24}\.memkit\.[0-9a-f]{12}\.tmp")
_LINE = len(_SIGN) + 18  # eight digits of the checksum, a blank, eight of the length, a line end
_HEAD = 1 << 20  # bytes that a head may have
_SOON, _PATIENCE = 1.0, 10.0  # seconds to wait for others: when it is only for speed, and when it must be
_OPEN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)

_SPOILT = (ValueError, TypeError, RecursionError)  # what a head of any bytes may raise

Head = dict[str, Any]


def named(what: Any) -> str:
    """Return the name under which something is kept: a digest of it as JSON."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]


def sizes_below(folder: Path, ending: str) -> list[tuple[str, int]]:
    """Return the names and sizes of the files with an ending in a folder and those in it, in an order that stays."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith(ending):
                    found.append((entry.name, entry.stat().st_size))
                elif "." not in entry.name and not entry.name.startswith("__") and entry.is_dir():
                    found += sizes_below(folder / entry.name, ending)
    except OSError:  # a package that is no folder, such as a zip file
        return found
    return found


class Item(NamedTuple):
    """A cache file: its path, its bytes, when it was last used, and its head (None if that cannot be read)."""

    path: Path
    size: int
    used_ns: int
    head: Head | None


def take(folder: Path, name: str) -> tuple[Head, list[pa.Buffer]] | None:
    """Return the head and the parts of a file, None if there is none that is whole and ours; it counts as used now."""
    path = folder / f"{name}{_END}"
    try:
        data = _data(path)
        head, size = _head(data) if data is not None else (None, 0)
        if data is None or head is None or bytes(data[:_LINE]) != _line(zlib.crc32(data[_LINE:]), size):
            return None
        parts, start = [], _LINE + size
        for length in head["parts"]:
            parts.append(pa.py_buffer(data[start : start + length]))
            start += length
    except (OSError, *_SPOILT, KeyError, MemoryError):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return head, parts


def _data(path: Path) -> memoryview | None:
    """Return the bytes of a file of our own."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _OPEN)
    with os.fdopen(handle, "rb", buffering=0) as file:
        info = os.fstat(handle)
        if hasattr(os, "geteuid") and info.st_uid != os.geteuid():
            return None
        buffer = memoryview(pa.allocate_buffer(info.st_size))
        return buffer if file.readinto(buffer) == info.st_size else None


def _head(data: memoryview | bytes) -> tuple[Head | None, int]:
    """Return the head of a file and its length, None if it is not of our kind."""
    line = bytes(data[:_LINE])
    if not line.startswith(_SIGN) or len(line) < _LINE:
        return None, 0
    size = int(line[-9:], 16)
    head = json.loads(bytes(data[_LINE : _LINE + size])) if size <= _HEAD else None
    return (head, size) if isinstance(head, dict) else (None, 0)


def put(folder: Path, name: str, head: Head, parts: Callable[[], Sequence[Any]], holds: Callable[[], bool]) -> bool:
    """Write a file, unless `holds` says at the last moment that what it holds is out of date; return whether it is there.

    The lock is held from that question on, as `remove` holds it: what is removed because its files changed stays away.

    Raises: OSError, ValueError, MemkitError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    temp = folder / f".{name}{_END}.{secrets.token_hex(6)}.tmp"
    handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)  # before any work: it may not be allowed
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            for part in _framed(head, parts()):
                rest = memoryview(part)
                while rest:
                    rest = rest[file.write(rest) :]
        with files.Lock(folder, _SOON).held():
            if not holds():
                return False
            temp.replace(folder / f"{name}{_END}")
            _trim(folder)
            return True
    finally:
        with contextlib.suppress(OSError):
            temp.unlink(missing_ok=True)


def _framed(head: Head, parts: Sequence[Any]) -> Iterator[Any]:
    """Yield the pieces of a file, the line first."""
    told = json.dumps({**head, "parts": [memoryview(part).nbytes for part in parts]}).encode()
    checksum = zlib.crc32(told)
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    yield _line(checksum, len(told))
    yield told
    yield from parts


def _line(checksum: int, size: int) -> bytes:
    return _SIGN + b"%08x %08x\n" % (checksum, size)


def _trim(folder: Path) -> None:
    """Drop what was not used for longest until the rest is within the limit, and what dead writers left."""
    sweep_folder(str(folder), time.time)
    held = sorted(items(folder, heads=False), key=lambda item: item.used_ns)
    total = sum(item.size for item in held)
    for item in held[:-1]:
        if total > LIMIT:
            with contextlib.suppress(OSError):
                item.path.unlink()
                total -= item.size


def items(folder: Path, *, heads: bool = True) -> list[Item]:
    """Return the cache files of a folder, none if there is no such folder.

    Raises: OSError.
    """
    found = []
    for name in _names(folder):
        path = folder / name
        if _NAME.fullmatch(name):
            with contextlib.suppress(FileNotFoundError):  # another program has just dropped it
                info = path.lstat()
                if stat.S_ISDIR(info.st_mode):  # whoever made it, it is none of ours
                    continue
                found.append(Item(path, info.st_size, info.st_mtime_ns, _head_at(path) if heads else None))
    return found


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []


def _head_at(path: Path) -> Head | None:
    try:
        with path.open("rb") as file:
            return _head(file.read(_LINE + _HEAD))[0]
    except (OSError, *_SPOILT):
        return None


def remove(folder: Path, wanted: Callable[[Item], bool] = lambda _: True) -> int:
    """Remove cache files, and all that a writer has begun; return the bytes of the files.

    Raises: DiskError, LockTimeout.
    """
    size = 0
    with readable(str(folder), "cleared"):
        if not folder.is_dir():
            return 0
        with files.Lock(folder, _PATIENCE).held():
            for item in items(folder):
                if wanted(item):
                    size += item.size
                    item.path.unlink(missing_ok=True)
            for path in (folder / name for name in _names(folder) if _TEMP.fullmatch(name)):
                if path.is_symlink() or not path.is_dir():
                    path.unlink(missing_ok=True)
    return size
