"""What files a store has, and one of them read as a Document; read-only, links followed only while they stay inside.

Paths are POSIX and relative to the root. os.scandir and plain strings are used on purpose: there may be 100,000 files.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from memkit.layouts import Layout, transcript, workspace
from memkit.model import Document, FileFact, Role
from memkit.text import decode

TOO_LARGE = 64 * 1024 * 1024
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", ".obsidian", ".trash", "node_modules", "__pycache__", ".venv"})


def scan(root: Path, layout: Layout, extra: Iterable[str] = (), session: Path | None = None) -> dict[str, FileFact]:
    """Return the facts of every file of a store by path, whether it is read or not; a missing root has none."""
    facts: dict[str, FileFact] = {}
    real_root = os.path.realpath(root)
    seen: set[tuple[int, int]] = set()
    for place in layout.PLACES:
        _scan_place(os.path.join(root, place) if place else str(root), place, layout, real_root, facts, seen)
    for given in extra:
        _scan_extra(root, given, real_root, facts)
    if session is not None:
        facts[workspace.SESSION] = _fact(str(session), workspace.SESSION, layout.role(workspace.SESSION))
    return facts


def _scan_place(
    full: str, path: str, layout: Layout, real_root: str, facts: dict[str, FileFact], seen: set[tuple[int, int]]
) -> None:
    """Add the facts of one place, a file or a folder; folders reached twice (by a link) are read once."""
    if not os.path.isdir(full):
        if os.path.lexists(full):
            _add_once(_fact(full, path, layout.role(path), real_root), facts)
        return
    try:
        here = os.stat(full)
        if (here.st_dev, here.st_ino) in seen:
            return
        seen.add((here.st_dev, here.st_ino))
        with os.scandir(full) as entries:
            held = list(entries)
    except OSError as error:
        facts[path + "/"] = FileFact(path + "/", Role(), 0, 0, 0, _trouble(error))
        return
    for entry in held:
        inner = f"{path}/{entry.name}" if path else entry.name
        if entry.is_symlink() and not _inside(entry.path, real_root):
            facts[inner] = FileFact(inner, Role(problem="link-outside"), 0, 0, 0, "a link that leaves the store")
        elif entry.is_dir():
            if entry.name in SKIPPED_FOLDERS:
                facts[inner + "/"] = FileFact(inner + "/", Role(skipped="a folder that holds no memory"), 0, 0, 0)
            else:
                _scan_place(entry.path, inner, layout, real_root, facts, seen)
        else:
            _add_once(_entry_fact(entry, inner, layout.role(inner)), facts)


def _add_once(fact: FileFact, facts: dict[str, FileFact]) -> None:
    """Add a fact, unless the same file is there under its other name (memory.md and MEMORY.md)."""
    twin = facts.get("MEMORY.md") if fact.path == "memory.md" else None
    if twin is None or twin.inode != fact.inode:
        facts[fact.path] = fact


def _entry_fact(entry: os.DirEntry[str], path: str, role: Role) -> FileFact:
    try:
        return _fact_of(entry.stat(), path, role)
    except OSError as error:
        return FileFact(path, role, 0, 0, 0, _trouble(error))


def _fact(full: str, path: str, role: Role, real_root: str | None = None) -> FileFact:
    if real_root is not None and os.path.islink(full) and not _inside(full, real_root):
        return FileFact(path, Role(problem="link-outside"), 0, 0, 0, "a link that leaves the store")
    try:
        return _fact_of(os.stat(full), path, role)
    except OSError as error:
        return FileFact(path, role, 0, 0, 0, _trouble(error))


def _fact_of(info: os.stat_result, path: str, role: Role) -> FileFact:
    trouble = ""
    if not stat.S_ISREG(info.st_mode):
        trouble = "no regular file"
    elif info.st_size > TOO_LARGE and not role.skipped:
        trouble = f"too large: {info.st_size:,} bytes of at most {TOO_LARGE:,}"
    return FileFact(path, role, info.st_size, info.st_mtime_ns, info.st_ino, trouble)


def _scan_extra(root: Path, given: str, real_root: str, facts: dict[str, FileFact]) -> None:
    """Add the files of an extra path; inside the root they are named relative to it, elsewhere absolutely."""
    full = Path(os.path.normpath(root / Path(given).expanduser()))
    names = [full] if not full.is_dir() else sorted(path for path in full.rglob("*") if path.is_file())
    for name in names:
        inside = str(name).startswith(str(root) + os.sep)
        path = name.relative_to(root).as_posix() if inside else name.as_posix()
        if path not in facts or facts[path].role.skipped:
            facts[path] = _fact(str(name), path, workspace.extra_role(path))


def _inside(full: str, real_root: str) -> bool:
    real = os.path.realpath(full)
    return real == real_root or real.startswith(real_root.rstrip(os.sep) + os.sep)


def _trouble(error: OSError) -> str:
    return f"unreadable: {(error.strerror or type(error).__name__).lower()}"


def read(root: Path, fact: FileFact, session: Path | None = None) -> Document | str:
    """Return a file as a Document, or the reason why it cannot be read."""
    is_session = fact.role.kind == "session"
    try:
        with open(session if is_session and session else root / fact.path, "rb") as handle:
            text, reading, problems = decode(handle.read())
    except OSError as error:
        return _trouble(error)
    if is_session:
        reading = transcript.render(text)
    return Document(fact.path, fact.role, text, reading, problems)


def sha256(root: Path, fact: FileFact) -> str | None:
    """Return the SHA-256 of a file's bytes in hex, or None if it cannot be read."""
    try:
        with open(root / fact.path, "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return None
