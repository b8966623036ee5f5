"""The store's lock: it keeps all memkit writers apart, and it is gone when its holder is.

On POSIX it is flock on the folder itself: it holds between users and containers and leaves nothing in a synced folder.
Elsewhere, and where flock fails, it is a file in the user's cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from memkit.errors import DiskError, LockTimeout, StoreNotFound
from memkit.files.folders import make_folders, remove_empty
from memkit.files.home import CURE

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_POLL = 0.002  # seconds between two tries
_LONG = 1.0  # seconds of waiting after which a writer tries more often than the others
_SLICE = 0.05  # seconds for which one writer may take the lock again and again; then it steps aside
_ASIDE = 2.5 * _POLL
_FOLDER = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_DIRECTORY", 0)

Release = Callable[[], None]


class Lock:
    """One writer's way to a store's lock. It remembers when it last held it, so that it lets others have their turn."""

    def __init__(self, root: Path, timeout: float):
        self.root, self.timeout = root, timeout
        self.ended = threading.Event()  # once it is set, nobody waits any more
        self._since = self._released = float("-inf")

    @contextlib.contextmanager
    def held(self, *, begin: bool = True, since: float | None = None, timeout: float | None = None) -> Iterator[None]:
        """Hold the lock; a root that is missing is made if one may `begin`, and is gone again if nothing was written to it.

        The time to wait counts from `since` (of time.monotonic), from now unless it is given; one try there always is.

        Raises: LockTimeout; StoreNotFound for a missing root with which nobody may begin; DiskError if it cannot be made or
            opened.
        """
        self._step_aside()
        made: list[str] = []
        with contextlib.ExitStack() as stack:
            patience = self.timeout if timeout is None else timeout
            stack.callback(self._wait(made if begin else None, patience, time.monotonic() if since is None else since))
            stack.callback(remove_empty, made)  # before the lock is given back: who comes next must find it or make it
            yield
        self._released = time.monotonic()

    def _wait(self, made: list[str] | None, patience: float, since: float) -> Release:
        missing_until = time.monotonic() + min(_LONG, patience)
        while True:
            try:
                release = _try(self.root, made)
            except FileNotFoundError as error:
                if made is None:
                    raise StoreNotFound(f"{self.root}: the folder is gone; {CURE}") from error
                if time.monotonic() >= missing_until:  # another writer took back the folder it had made; once, not for long
                    raise _unlockable(self.root, error) from error
                release = None
            if release is not None:
                return release
            waited = time.monotonic() - since
            if waited >= patience or self.ended.is_set():
                told = f" for over {patience:g} seconds" if patience and waited >= patience else ""
                raise LockTimeout(f"{self.root}: another writer holds it{told}; try again")
            time.sleep(_POLL if waited < _LONG else _POLL / 8)
            self._since = time.monotonic()

    def _step_aside(self) -> None:
        """Let others have the lock if this writer had it for a while: they sleep between tries and would never get it."""
        now = time.monotonic()
        if now - self._released > _POLL:
            self._since = now
        elif now - self._since > _SLICE:
            time.sleep(_ASIDE)
            self._since = time.monotonic()


def _try(root: Path, made: list[str] | None) -> Release | None:
    """Return what gives the lock back, or None while another writer holds it; `made` notes the folders made, None makes none.

    Raises: FileNotFoundError if the folder went away meanwhile, DiskError.
    """
    try:
        if made is not None:
            made += make_folders(str(root))
        return _flock(root) if fcntl else _lock_file(root)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unlockable(root, error) from error


def _unlockable(root: Path, error: OSError) -> DiskError:
    reason = (error.strerror or type(error).__name__).lower()
    return DiskError(f"{root}: the store could not be locked for writing: {reason}; make it a folder you may use")


def _flock(root: Path) -> Release | None:
    with contextlib.ExitStack() as stack:
        handle = os.open(root, _FOLDER)
        stack.callback(os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        except OSError:  # a file system without flock on folders, such as NFS
            return _lock_file(root)
        # Closing is not enough: a child forked meanwhile would hold the lock on.
        stack.callback(fcntl.flock, handle, fcntl.LOCK_UN)
        if not os.path.samestat(os.fstat(handle), root.stat()):
            return None
        return stack.pop_all().close
    return None


def _lock_file(root: Path) -> Release | None:
    import filelock
    import platformdirs

    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:24]
    folder = Path(platformdirs.user_cache_dir("memkit")) / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / f"{name}.lock", timeout=0)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        return None
    return lock.release
