"""The gate to a store's writing side: its lock, how long who waits for it, and what must hold of the folder behind it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from memkit import files
from memkit.layouts import Layout
from memkit.loading import Loaded


class Gate:
    """The one way to write to a store, for all its verbs; every other process has its own, to the same lock."""

    def __init__(self, root: Path, layout: Layout, timeout: float, loaded: Loaded):
        self.root, self.layout, self._loaded = root, layout, loaded
        self._lock = files.Lock(root, timeout)
        self._calls = threading.local()
        self._swept_at = float("-inf")
        self._ours = False  # whether the folder is known to be no store of another layout

    @contextmanager
    def writing(self, patience: float | None = None) -> Iterator[None]:
        """Hold the store's lock; at first, and every ten minutes, clear up after writers that were killed.

        `patience` are the seconds to wait for others, those of the store unless given.

        Raises: LockTimeout, DiskError; StoreNotFound if the store was there and is gone; BadArgument if the folder is a store
            of another layout alone.
        """
        self._loaded.hold_there()
        since = getattr(self._calls, "since", None) if patience is None else None
        with self._lock.held(begin=not self._loaded.is_begun, since=since, timeout=patience):
            self._hold_ours()
            if monotonic() - self._swept_at > files.STALE_TEMP:
                files.sweep(self.root, self.layout)
                self._swept_at = monotonic()
            yield
            self._loaded.settle()

    @contextmanager
    def counting_from(self, moment: float) -> Iterator[None]:
        """Let what this thread does count its wait for the lock from a moment of time.monotonic."""
        self._calls.since = moment
        try:
            yield
        finally:
            self._calls.since = None

    def hurry(self) -> None:
        """Let nobody wait for the lock any more: who finds it taken is told so at once."""
        self._lock.ended.set()

    def _hold_ours(self) -> None:
        """Hold, under the lock, that the folder is still there, and no store of another layout.

        Raises: StoreNotFound, BadArgument.
        """
        self._loaded.hold_there()
        if not self._ours:
            files.refuse_begin(self.root, self.layout)
            self._ours = True
