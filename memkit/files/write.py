"""The only writer of memory files: apply() checks all edits, then writes each by way of a temp file; the caller holds the lock.

A kill at any moment leaves each file old or new. Other programs write without our lock: their changes are noticed up to the
last call before the replace, and not after it. Every call to the system goes through `os`: tests kill and fail each of them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from memkit.edits import check
from memkit.errors import BadArgument, ConflictError, MemkitError, PathError
from memkit.files.folders import make_folders, remove_empty
from memkit.files.scan import SKIPPED_FOLDERS, scan
from memkit.files.trouble import readable
from memkit.layouts import Layout
from memkit.model import Edit, Role

STALE_TEMP = 600  # seconds after which a temp file can only be a dead writer's
_TEMP = re.compile(r"\..+\.[0-9a-f]{12}\.tmp")  # ours alone; other programs clear up after themselves
_BOUNDARY = "surrogateescape"
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _FLAGS  # a named pipe must not hold us up
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | _FLAGS


@dataclass(frozen=True, slots=True)
class _Job:
    """An edit that is to be carried out: the real path of its file, the roles of both paths, the bytes (None: delete)."""

    edit: Edit
    target: str
    roles: tuple[Role, ...]
    data: bytes | None

    @property
    def derived(self) -> bool:
        return all(role.derived for role in self.roles)


def apply(root: Path, layout: Layout, edits: Sequence[Edit], today: date) -> None:
    """Check all edits, then write them, authority first; an edit whose file is as it would make it is done already.

    Raises: FrozenError, LostTextError, ConflictError, PathError, DiskError. Nothing is written if a check fails. Where a
    later file cannot be written the error names those done before it; applied again, the plan goes on from there.
    """
    jobs = _jobs(root, layout, edits)
    begun = any("begin" in job.edit.free for job in jobs) and _begins(root, layout, edits)
    for job in jobs:
        for role in job.roles:
            check(job.edit, role, today, begun=begun)
    done: list[str] = []
    for job in jobs:
        try:
            with readable(job.edit.path, "removed" if job.data is None else "written"):
                _carry_out(root, job)
        except MemkitError as error:
            if done:
                error.args = (f"{error} (already done: {', '.join(done)})",)
            raise
        done.append(job.edit.path)


def _begins(root: Path, layout: Layout, edits: Sequence[Edit]) -> bool:
    """Return whether a plan begins a store: nothing lies there but what these very edits made, in an apply that failed."""
    made = {edit.path: edit.after for edit in edits if edit.before is None}
    there = [path for path in scan(root, layout) if not _TEMP.fullmatch(path.rpartition("/")[2])]
    return all(path in made and _text(target_of(root, path), path) == made[path] for path in there)


def others_in(root: Path, edits: Sequence[Edit]) -> str:
    """Return what lies in a folder and is not what these edits make in an empty one, "" for nothing; temp files are nothing.

    Raises: DiskError.
    """
    made = {edit.path: edit.after for edit in edits if edit.before is None}
    folders = {parent.as_posix() for path in made for parent in PurePosixPath(path).parents}
    with readable(str(root), "read"):
        for folder, inner, names in os.walk(root, onerror=_raise):
            for name in sorted([*inner, *names]):
                full = os.path.join(folder, name)
                path = Path(full).relative_to(root).as_posix()
                if name in inner:
                    ours = path in folders
                else:
                    ours = bool(_TEMP.fullmatch(name)) or (path in made and _text(full, path) == made[path])
                if not ours or os.path.islink(full):
                    return path
    return ""


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):  # nothing lies in a folder that is not there
        raise error


def _jobs(root: Path, layout: Layout, edits: Sequence[Edit]) -> list[_Job]:
    """Return what is left to do, derived files last.

    Raises: BadArgument, PathError, DiskError; ConflictError if a file is not as its edit found it, or has two edits.
    """
    jobs: dict[str, _Job] = {}
    for edit in edits:
        target = target_of(root, edit.path)
        held = _text(target, edit.path)
        if held == edit.after:
            continue
        if held != edit.before:
            raise ConflictError(f"{edit.path}: it changed on disk since it was read; nothing was written, plan again")
        job = _Job(edit, target, _roles(root, layout, edit.path, target), _encoded(edit))
        twin = jobs.setdefault(target, job)
        if twin.edit.after != edit.after:
            raise ConflictError(f"{edit.path}: it is the same file as {twin.edit.path}, and the plan changes both differently")
    return sorted(jobs.values(), key=lambda job: job.derived)


def _encoded(edit: Edit) -> bytes | None:
    if edit.after is None:
        return None
    try:
        return edit.after.encode("utf-8", _BOUNDARY)
    except UnicodeEncodeError as error:
        raise BadArgument(f"{edit.path}: the text holds half a character, U+{ord(edit.after[error.start]):04X}") from error


def _roles(root: Path, layout: Layout, path: str, target: str) -> tuple[Role, ...]:
    """Return the role of a path, and of the file that a link leads to if it is another: the write rule holds for both."""
    real = layout.role(Path(target).relative_to(os.path.realpath(root)).as_posix())
    own = layout.role(path)
    nobodys = real.kind is None and not own.derived
    return (own,) if nobodys or real == own else (own, real)


def target_of(root: Path, path: str) -> str:
    """Return the real path of a file to write.

    Raises: PathError if it lies outside the root, also through a link.
    """
    real_root = os.path.realpath(root)
    parts = path.split("/")
    if "\0" not in path and not {"", ".", ".."} & set(parts) and not (os.name == "nt" and set(path) & set("\\:")):
        real = os.path.realpath(os.path.join(real_root, *parts))
        if real.startswith(real_root.rstrip(os.sep) + os.sep):
            return real
    raise PathError(f"{path!r}: it leads out of the store; memkit writes only inside {root}")


def text_of(root: Path, path: str) -> str | None:
    """Return a file's bytes as text for splicing, or None if there is no such file.

    Raises: PathError, DiskError.
    """
    return _text(target_of(root, path), path)


def _text(target: str, path: str) -> str | None:
    with readable(path, "read"):
        data = _bytes(target)
    return None if data is None else data.decode("utf-8", _BOUNDARY)


def _bytes(target: str) -> bytes | None:
    try:
        handle = os.open(target, _READ)
    except FileNotFoundError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        parts = []
        while part := os.read(handle, 1 << 24):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def _carry_out(root: Path, job: _Job) -> None:
    """Write or delete one file."""
    folder, name = os.path.split(job.target)
    _same_place(root, job)
    if job.data is None:
        _compare(job)
        os.unlink(job.target)
        _sync_folder(folder)
        return
    temp = os.path.join(folder, f".{name[:60]}.{secrets.token_hex(6)}.tmp")
    made = make_folders(folder)
    try:
        _write_temp(temp, job, job.data)
        _same_place(root, job)
        _compare(job)
        _swap(temp, job.target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        remove_empty(made)
        raise
    if not job.derived:
        for changed in (folder, *map(os.path.dirname, reversed(made))):
            _sync_folder(changed)


def _same_place(root: Path, job: _Job) -> None:
    """Hold that no link was put in the file's way since the plan was checked."""
    if target_of(root, job.edit.path) != job.target:
        raise ConflictError(f"{job.edit.path}: a link was put in its way; it was not written, look at it and plan again")


def _compare(job: _Job) -> None:
    """Hold that the file is still what the edit was made from; the last call before the replace."""
    if _text(job.target, job.edit.path) != job.edit.before:
        raise ConflictError(f"{job.edit.path}: it changed on disk since it was read; it was not written, plan again")


def _write_temp(temp: str, job: _Job, data: bytes) -> None:
    """Write the temp file whole, from the start with the mode (and where allowed the owner) of what it replaces."""
    old = _facts(job.target)
    handle = os.open(temp, _CREATE, stat.S_IMODE(old.st_mode) if old else 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if old:
            _take_after(temp, os.fstat(handle), old)
        if not job.derived:
            os.fsync(handle)
    finally:
        os.close(handle)


def _facts(target: str) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _take_after(temp: str, new: os.stat_result, old: os.stat_result) -> None:
    """Give the temp file owner, group and mode of the old file: owner and group where that is allowed."""
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) and hasattr(os, "chown"):
        try:
            os.chown(temp, old.st_uid, old.st_gid)
        except OSError:
            with contextlib.suppress(OSError):
                os.chown(temp, -1, old.st_gid)  # a shared folder: the group may go on reading
    if stat.S_IMODE(new.st_mode) != stat.S_IMODE(old.st_mode):  # file systems without modes refuse even to be asked
        os.chmod(temp, stat.S_IMODE(old.st_mode))


def _swap(temp: str, target: str) -> None:
    """Replace the target; where another program holds it open (Windows), try again for a second."""
    deadline = time.monotonic() + 1.0
    while True:
        try:
            os.replace(temp, target)
        except PermissionError:
            if os.name != "nt" or time.monotonic() >= deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _sync_folder(folder: str) -> None:
    """Have the folder's new state on disk; where the system cannot do that for folders, the file stands all the same."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | _FLAGS)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep(root: Path, layout: Layout, now: Callable[[], float] = time.time) -> None:
    """Remove the temp files that dead writers left anywhere in a store."""
    sweep_folder(str(root), now)
    for place in layout.PLACES:
        for folder, inner, _ in os.walk(os.path.join(root, place)):
            inner[:] = [name for name in inner if name not in SKIPPED_FOLDERS]
            sweep_folder(folder, now)


def sweep_folder(folder: str, now: Callable[[], float] = time.time) -> None:
    """Remove the temp files that dead writers left in a folder; that it fails stops nothing."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMP.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    if now() - entry.stat(follow_symlinks=False).st_mtime > STALE_TEMP:
                        os.unlink(entry.path)
