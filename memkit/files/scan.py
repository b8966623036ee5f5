"""What files a store has, and one of them read as a Document; read-only, links followed only while they stay inside.

Paths are POSIX and relative to the root. os.scandir and plain strings are used on purpose: there may be 100,000 files.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from memkit.layouts import Layout, transcript, workspace
from memkit.model import Document, FileFact, Role
from memkit.text import decode

_UNREADABLE = "unreadable"
_RoleOf = Callable[[str], Role]
TOO_LARGE = 64 * 1024 * 1024
_AT_ONCE = 1024 * 1024  # bytes that are read at once of a file which has changed since it was seen
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", ".obsidian", ".trash", "node_modules", "__pycache__", ".venv"})


def scan(
    root: Path,
    layout: Layout,
    extra: Iterable[str] = (),
    session: Path | None = None,
    *,
    known: Mapping[str, FileFact] = MappingProxyType({}),
) -> dict[str, FileFact]:
    """Return the facts of every file of a store by path, whether it is read or not; a missing root has none.

    A file that is still as its `known` fact says keeps that very object, and with it the trouble that reading it gave.
    """
    walk = _Walk(layout.role, os.path.realpath(root), known, {}, set(), [])
    for place in _places(str(root), layout, walk):
        _scan_place(os.path.join(root, place) if place else str(root), place, walk)
    for full, path in walk.links:  # the list grows while it is read: a linked folder may hold links
        _scan_link(full, path, walk)
    for given in extra:
        _scan_extra(root, given, walk)
    if session is not None:
        walk.facts[workspace.SESSION] = _fact(str(session), workspace.SESSION, layout.role, known)
    return walk.facts


class _Walk(NamedTuple):
    """What one scan carries along: `seen` are the folders it has been in, `links` what is left for the end."""

    role: _RoleOf
    real_root: str
    known: Mapping[str, FileFact]
    facts: dict[str, FileFact]
    seen: set[tuple[int, int]]
    links: list[tuple[str, str]]


def _places(root: str, layout: Layout, walk: _Walk) -> list[str]:
    """Return the places of a layout, those with a `*` as the names at the root that they match."""
    plain = [place for place in layout.PLACES if "*" not in place]
    globs = [place for place in layout.PLACES if "*" in place]
    names = [name for name in _names(root, walk) if any(map(partial(fnmatchcase, name), globs))] if globs else []
    return [*plain, *(name for name in names if name not in plain)]


def _names(root: str, walk: _Walk) -> list[str]:
    """Return the names at the root; one that cannot be looked at is noted."""
    try:
        return sorted(name for name in os.listdir(root) if _is_utf8(name))
    except FileNotFoundError:
        return []
    except OSError as error:
        walk.facts["./"] = FileFact("./", Role(), 0, 0, 0, _trouble(error))
        return []


def _scan_place(full: str, path: str, walk: _Walk) -> None:
    """Add the facts of one place: a file, or a folder and all below it; the root itself may be a link."""
    if path and os.path.islink(full):
        walk.links.append((full, path))
    elif os.path.isdir(full):
        _scan_folder(full, path, walk)
    elif os.path.lexists(full):
        _add_once(_fact(full, path, walk.role, walk.known), walk.facts)


def _scan_folder(full: str, path: str, walk: _Walk) -> None:
    """Add the facts of all files below a folder; links wait until every real file is known."""
    folders = [(full, path)]
    while folders:
        full, path = folders.pop()
        for entry in _entries(full, path, walk):
            inner = f"{path}/{entry.name}" if path else entry.name
            if not _is_utf8(entry.name):
                _skip(inner, "its name is not UTF-8", walk)
            elif entry.is_symlink():
                walk.links.append((entry.path, inner))
            elif not entry.is_dir(follow_symlinks=False):
                _add_once(_entry_fact(entry, inner, walk.role, walk.known), walk.facts)
            elif entry.name in SKIPPED_FOLDERS:
                _skip(inner + "/", "a folder that holds no memory", walk)
            else:
                folders.append((entry.path, inner))


def _entries(full: str, path: str, walk: _Walk) -> list[os.DirEntry[str]]:
    """Return what lies in a folder, nothing if it has been looked at before or cannot be."""
    try:
        here = os.stat(full)
        if (here.st_dev, here.st_ino) in walk.seen:
            return []
        walk.seen.add((here.st_dev, here.st_ino))
        with os.scandir(full) as entries:
            return list(entries)
    except OSError as error:
        name = (path or ".") + "/"
        walk.facts[name] = FileFact(name, Role(), 0, 0, 0, _trouble(error))
        return []


def _scan_link(full: str, path: str, walk: _Walk) -> None:
    """Add the facts of what a link leads to, unless that lies outside or is read by its own name."""
    if not _inside(full, walk.real_root):
        walk.facts[path] = FileFact(path, Role(problem="link-outside"), 0, 0, 0, "a link that leaves the store")
        return
    target = os.path.relpath(os.path.realpath(full), walk.real_root).replace(os.sep, "/")
    if os.path.isdir(full):
        here = os.stat(full)
        if (here.st_dev, here.st_ino) not in walk.seen:
            _scan_folder(full, path, walk)
        elif any(name.startswith(f"{target}/") and not fact.role.skipped for name, fact in walk.facts.items()):
            _skip(path + "/", f"a link to {target}, which is looked at by itself", walk)
        else:  # under its own name the folder means nothing to the layout; links in it are not followed: they may lead back
            own = walk._replace(facts={}, seen=set(), links=[])
            _scan_folder(full, path, own)
            walk.facts.update({name: fact for name, fact in own.facts.items() if name not in walk.facts})
    elif path != "memory.md" and target != path and target in walk.facts and not walk.facts[target].role.skipped:
        _skip(path, f"a link to {target}, which is read by itself", walk)
    else:
        _add_once(_fact(full, path, walk.role, walk.known), walk.facts)


def _skip(path: str, reason: str, walk: _Walk) -> None:
    """Add the fact of what is not read; bytes of its name that are not UTF-8 are spelled out."""
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    walk.facts[shown] = FileFact(shown, Role(skipped=reason), 0, 0, 0)


def _is_utf8(name: str) -> bool:
    return name.isascii() or not re.search("[\ud800-\udfff]", name)


def _add_once(fact: FileFact, facts: dict[str, FileFact]) -> None:
    """Add a fact, unless the same file is there under its other name (memory.md and MEMORY.md)."""
    twin = facts.get("MEMORY.md") if fact.path == "memory.md" else None
    if twin is None or twin.inode != fact.inode:
        facts[fact.path] = fact


def _entry_fact(entry: os.DirEntry[str], path: str, role: _RoleOf, known: Mapping[str, FileFact]) -> FileFact:
    try:
        return _fact_of(entry.stat(), path, role, known)
    except OSError as error:
        return FileFact(path, role(path), 0, 0, 0, _trouble(error))


def _fact(full: str, path: str, role: _RoleOf, known: Mapping[str, FileFact]) -> FileFact:
    try:
        return _fact_of(os.stat(full), path, role, known)
    except OSError as error:
        return FileFact(path, role(path), 0, 0, 0, _trouble(error))


def _fact_of(info: os.stat_result, path: str, role_of: _RoleOf, known: Mapping[str, FileFact]) -> FileFact:
    old = known.get(path)
    if old and _is_as(old, info) and not old.trouble.startswith(_UNREADABLE):  # what was unreadable may be readable by now
        return old
    role, trouble = role_of(path), ""
    if not stat.S_ISREG(info.st_mode):
        trouble = "no regular file"
    elif info.st_size > TOO_LARGE and not role.skipped:
        trouble = f"too large: {info.st_size:,} bytes of at most {TOO_LARGE:,}"
    return FileFact(path, role, info.st_size, info.st_mtime_ns, info.st_ino, trouble, info.st_ctime_ns)


def _is_as(fact: FileFact, info: os.stat_result) -> bool:
    """Return whether a file is as a fact says: an mtime can be put back by anyone, a ctime cannot."""
    times = fact.mtime_ns == info.st_mtime_ns and fact.ctime_ns == info.st_ctime_ns
    return times and fact.size == info.st_size and fact.inode == info.st_ino


def _scan_extra(root: Path, given: str, walk: _Walk) -> None:
    """Add the files of an extra path; inside the root they are named relative to it, elsewhere absolutely."""
    full = Path(os.path.normpath(root / os.path.expanduser(given)))
    path = full.relative_to(root).as_posix() if full.is_relative_to(root) else full.as_posix()
    path = "" if full == root else path
    if not _is_utf8(path):
        return _skip(path, "its name is not UTF-8", walk)
    own = _Walk(workspace.extra_role, os.path.realpath(full), walk.known, {}, set(), [])
    if os.path.isdir(full):
        _scan_folder(str(full), path, own)
    else:
        own.facts[path] = _fact(str(full), path, own.role, own.known)
    for link, name in own.links:
        _scan_link(link, name, own)
    for name, fact in own.facts.items():
        if name not in walk.facts or walk.facts[name].role.skipped:
            walk.facts[name] = fact
    return None


def _inside(full: str, real_root: str) -> bool:
    real = os.path.realpath(full)
    return real == real_root or real.startswith(real_root.rstrip(os.sep) + os.sep)


def _trouble(error: OSError) -> str:
    return f"{_UNREADABLE}: {(error.strerror or type(error).__name__).lower()}"


def read(root: Path, fact: FileFact, session: Path | None = None) -> Document | str:
    """Return a file as a Document, or the reason why it cannot be read."""
    is_session = fact.role.kind == "session"
    place = session if is_session and session else os.path.join(root, fact.path)
    try:
        text, reading, problems = decode(_bytes(place, fact.size))
    except OSError as error:
        return _trouble(error)
    if is_session:
        reading = transcript.render(text)
    return Document(fact.path, fact.role, text, reading, problems)


def read_plain(root: Path, fact: FileFact) -> bytes | str:
    """Return the bytes of a file, or the reason why it cannot be read."""
    try:
        return _bytes(f"{root}{os.sep}{fact.path}", fact.size)
    except OSError as error:
        return _trouble(error)


def _bytes(full: str | Path, size: int) -> bytes:
    """Return a file's bytes; `size` is how many it had when it was seen, so that mostly one read is enough."""
    handle = os.open(full, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        data = os.read(handle, size + 1)
        if len(data) == size:
            return data
        parts = [data]
        while parts[-1]:
            parts.append(os.read(handle, _AT_ONCE))
        return b"".join(parts)
    finally:
        os.close(handle)


def is_still(root: Path, fact: FileFact, session: Path | None = None) -> bool:
    """Return whether a file has the size, the times and the inode that it was seen with."""
    try:
        info = os.stat(session if fact.role.kind == "session" and session else os.path.join(root, fact.path))
    except OSError:
        return False
    return _is_as(fact, info)


def sha256(root: Path, fact: FileFact) -> str | None:
    """Return the SHA-256 of a file's bytes in hex, or None if it cannot be read."""
    try:
        with open(root / fact.path, "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return None


def head_of(root: Path, path: str, size: int = 8192) -> bytes:
    """Return the first bytes of a file; none of one that is a link or cannot be read."""
    try:
        handle = os.open(os.path.join(root, path), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b""
    try:
        return os.read(handle, size)
    except OSError:
        return b""
    finally:
        os.close(handle)


def names_in(root: Path, folder: str) -> list[str]:
    """Return the names of the files in one folder of a store; none if there is no such folder."""
    try:
        with os.scandir(root / folder) as entries:
            return [entry.name for entry in entries]
    except FileNotFoundError:
        return []


def data_of(root: Path, path: str) -> bytes | None:
    """Return a file's bytes, or None if it cannot be read."""
    try:
        with open(root / path, "rb") as handle:
            return handle.read()
    except OSError:
        return None
