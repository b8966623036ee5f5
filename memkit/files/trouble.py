"""What the system says of a file, as an error of ours that names path, reason and cure."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from memkit.errors import DiskError, MemkitError

_CURES = {
    errno.ENOSPC: "make room and try again",
    errno.EDQUOT: "make room and try again",
    errno.EACCES: "allow writing there and try again",
    errno.EPERM: "allow writing there and try again",
    errno.EROFS: "allow writing there and try again",
    errno.EIO: "look after the disk",
    errno.ENOTDIR: "something that is no folder stands in its way; move that elsewhere",
    errno.EINVAL: "a folder or a device stands in its place; move that elsewhere",
    errno.EISDIR: "a folder stands in its place; move that elsewhere",
}


@contextlib.contextmanager
def readable(path: str, done: str) -> Iterator[None]:
    """Turn what the system says into an error that names path, reason and cure."""
    try:
        yield
    except MemkitError:
        raise
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        cure = _CURES.get(error.errno or 0, "try again")
        told = DiskError(f"{path}: it could not be {done}: {reason}; {cure}")
        told.errno = error.errno
        raise told from error
