"""The cache of loaded stores, for those who switch it on: what a store held when it was last read, beside its file facts.

It is only ever a head start: the store looks at its folder all the same and reads again what is not as the cache says,
and what the cache cannot vouch for. It holds entries as plain text, in files that only their owner can read.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from datetime import tzinfo
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from memkit import __version__, files, schema
from memkit.cache import shelf
from memkit.cache.pack import Kept, packed, unpacked
from memkit.cache.shelf import LIMIT
from memkit.errors import MemkitError, PathError
from memkit.files.trouble import readable
from memkit.model import FileFact

__all__ = ["LIMIT", "Cache", "Kept", "clear", "held", "place", "purge", "usual_folder"]

MANY_FILES, MANY_BYTES = 64, 1024 * 1024  # what must have been read before it is worth writing
LARGEST = LIMIT  # bytes of entries in memory; a store of more is not cached
GRAIN = 4_000_000_000  # nanoseconds; twice the coarsest clock of a file system
CACHED: schema.Schema = {"store": schema.STR, "layout": schema.STR, "bytes": schema.BYTES, "used": schema.INSTANT}


def place(wanted: object, root: Path) -> Path | None:
    """Return the folder that `cache=` names for a store: True is the usual one, False and None are none.

    Raises: BadArgument for what is no path; PathError if the cache would lie in the store, or the store in it.
    """
    if wanted is False or wanted is None:
        return None
    folder = usual_folder() if wanted is True else files.place_of(wanted, "cache").absolute()
    full, store = folder.resolve(), root.resolve()
    if full.is_relative_to(store) or store.is_relative_to(full):
        raise PathError(f"cache: {folder} and the memory store {root} lie in each other; choose a folder of its own")
    return full


def usual_folder() -> Path:
    """Return the folder in which loaded stores are cached unless another is named."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("memkit")) / "loaded"


class Cache:
    """One loaded store's file in a cache folder; what goes wrong with it is as if there were none.

    A file that was changed within GRAIN of its being read, or in what the clock says is the future, may change again and
    look the same; it is not vouched for, and read again by whoever loads the cache. A clock that was set back since the
    cache was written vouches for nothing.
    """

    def __init__(self, folder: Path, root: Path, layout: str, tz: tzinfo, extra: Iterable[str], session: Path | None):
        self.folder = folder
        extra = list(extra)
        places = [os.path.realpath(root / os.path.expanduser(given)) for given in extra]  # noqa: PTH111  (as the scan does: no error for a home of nobody)
        self._key: dict[str, Any] = {
            "root": os.path.realpath(root),
            "layout": layout,
            "tz": getattr(tz, "key", None) or repr(tz),
            "extra": [str(root), *extra] if extra else [],  # such paths are named as the root is given
            "session": str(session) if session else "",
            "places": [*places, *([os.path.realpath(session)] if session else [])],
        }
        self._name = shelf.named(self._key)
        self._files = self._bytes = 0  # read since the cache was
        self._doubtful: dict[str, FileFact] = {}
        self._looked = 0
        self._off = False

    def recall(self) -> Kept | None:
        """Return what the cache holds of the store, None if that is nothing that can be used."""
        found = shelf.take(self.folder, self._name)
        if found is None:
            return None
        head, parts = found
        try:
            if head["key"] != self._key or head["by"] != _made_by() or head["taken"] > time.time_ns():
                return None
            return unpacked(*parts)
        except (OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError, pa.ArrowException):
            return None

    def keep(self, kept: Kept, read: Iterable[FileFact], looked: int, holds: Callable[[], bool]) -> None:
        """Write what is loaded now, if much was read since that was last done.

        `read` are the files that were, after a look at the folder that began at `looked` (time.time_ns); `holds` tells
        whether they are still so.
        """
        self._off |= looked < self._looked  # the clock was set back
        self._looked = looked
        for fact in read:
            self._files += 1
            self._bytes += fact.size
            self._doubtful.pop(fact.path, None)
            if fact.mtime_ns > looked - GRAIN:
                self._doubtful[fact.path] = fact
        if self._off or (self._files < MANY_FILES and self._bytes < MANY_BYTES):
            return
        doubtful = sum(kept.facts.get(path) is fact for path, fact in self._doubtful.items())
        if 2 * doubtful > len(kept.facts) or kept.entries.memory_usage().sum() > LARGEST:
            return
        head = {"key": self._key, "by": _made_by(), "taken": looked}
        try:
            shelf.put(self.folder, self._name, head, lambda: packed(kept, self._is_trusted), holds)
            self._files = self._bytes = 0
        except (OSError, ValueError, MemkitError, MemoryError, pa.ArrowException):
            self._off = True  # once is enough: no room, no permission, or nothing that can be kept

    def _is_trusted(self, fact: FileFact) -> bool:
        return self._doubtful.get(fact.path) is not fact


def _made_by() -> str:
    """Return what made the records: our version, and the sizes of our modules for those who change them without one."""
    return shelf.named([__version__, shelf.sizes_below(Path(__file__).parent.parent, ".py")])


def purge(root: Path, folder: Path | None = None) -> None:
    """Remove what is cached of a store, and of every store that holds files of it or whose files it holds.

    That is done in the usual folder, and in the one that this store was opened with; other folders are known only to
    those who opened a store with them.

    Raises: DiskError, LockTimeout.
    """
    store = Path(os.path.realpath(root))

    def touches(item: shelf.Item) -> bool:
        try:
            places = [Path(path) for path in (item.head or {})["key"]["places"]] + [Path((item.head or {})["key"]["root"])]
        except (TypeError, KeyError):
            return True  # broken, or of another version: it may hold anything
        return any(path.is_relative_to(store) or store.is_relative_to(path) for path in places)

    for held_in in dict.fromkeys([usual_folder(), *([folder] if folder else [])]):
        shelf.remove(held_in, touches)


def clear(folder: Path) -> int:
    """Remove all cached stores of a folder, and return how many bytes they were.

    Raises: DiskError, LockTimeout.
    """
    return shelf.remove(folder)


def held(folder: Path) -> pd.DataFrame:
    """Return the cached stores of a folder, last used first: store, layout, bytes, used.

    Raises: DiskError.
    """
    with readable(str(folder), "looked into"):
        rows = sorted(shelf.items(folder), key=lambda item: -item.used_ns)
    told = [(item.head or {}).get("key") for item in rows]
    keys = [key if isinstance(key, dict) else {} for key in told]
    columns = {
        "store": [key.get("root") for key in keys],
        "layout": [key.get("layout") for key in keys],
        "bytes": [item.size for item in rows],
        "used": pd.to_datetime([item.used_ns for item in rows], utc=True),
    }
    return schema.frame(CACHED, columns)
