"""How a row is measured: ours, the floor and the peers in turns, and the memory that ours takes; not what the rows are."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import pyarrow as pa

LEAST = 5  # rounds of a row, however long they take


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one call, megabytes at its peak if they were measured, and what it found if a peer finds the same."""

    seconds: float
    peak_mb: float | None = None
    found: object = None


Run = Callable[[], Timed]


@dataclass(frozen=True, slots=True)
class Peer:
    """What a figure of ours is held against; without `run` it is not installed. `rounds` is for what takes long."""

    name: str
    run: Run | None
    goal: float | None = None
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; a `goal` is the ratio that memkit wants to keep, if it has named one.

    The floor is the least that the same work costs whoever does it; `more` are further peers.
    """

    name: str
    peer_name: str
    ours: Run
    peer: Run | None
    goal: float | None = None
    floor: Peer | None = None
    more: tuple[Peer, ...] = ()

    def against(self) -> list[Peer]:
        """Return the floor, if there is one, and all peers."""
        floor = [self.floor] if self.floor else []
        return [*floor, Peer(self.peer_name, self.peer, self.goal), *self.more]


class Clocked:
    """A call in this process, with the clock around it; `before` and `found`, which counts its result, are not timed."""

    def __init__(
        self,
        call: Callable[[], object],
        *,
        before: Callable[[], object] | None = None,
        found: Callable[..., object] | None = None,
    ):
        self._call, self._before, self._found = call, before, found

    def __call__(self) -> Timed:
        if self._before:
            self._before()
        start = perf_counter()
        result = self._call()
        seconds = perf_counter() - start
        return Timed(seconds, found=self._found(result) if self._found else None)

    def peak(self) -> float | None:
        """Return by how many megabytes the call makes this process grow at its peak; None where the system cannot say."""
        if self._before:
            self._before()
        gc.collect()
        pa.default_memory_pool().release_unused()
        try:
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peaks before this one
        except (AttributeError, OSError, TypeError):
            return None
        before = highest("VmRSS")
        self._call()
        after = highest()
        return None if before is None or after is None else after - before


class Process:
    """A Python process from its start to its end; `found` counts what it wrote."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None, found: Callable[[bytes], object] | None = None):
        self._command, self._env, self._found = [sys.executable, *arguments], env, found

    def __call__(self) -> Timed:
        start = perf_counter()
        done = subprocess.run(self._command, stdout=subprocess.PIPE, env=self._env, check=True)
        seconds = perf_counter() - start
        return Timed(seconds, found=self._found(done.stdout) if self._found else None)

    def peak(self) -> float | None:
        """Return the megabytes of the process as they were seen last, every few milliseconds."""
        started = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, env=self._env)
        seen = None
        while started.poll() is None:
            seen = highest(process=str(started.pid)) or seen
            sleep(0.003)
        return seen


def highest(field: str = "VmHWM", *, process: str = "self") -> float | None:
    """Return the megabytes that a process has held at most, not counting its parent's as getrusage does."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    found = [line for line in status.splitlines() if line.startswith(f"{field}:")]
    return int(found[0].split()[1]) / 1024 if found else None


def tried(row: Row) -> None:
    """Run ours and each peer once, so that caches are warm and lazy imports done, and hold that they find the same.

    Raises: AssertionError with what each found.
    """
    ours = row.ours()
    for peer in row.against():
        theirs = peer.run() if peer.run else Timed(0)
        if None not in (ours.found, theirs.found):
            assert ours.found == theirs.found, f"{row.name}: {ours.found}, but {peer.name}: {theirs.found}"


def measured(row: Row, rounds: int, seconds: float) -> dict[str, object]:
    """Return the medians of rounds in turns, fewer once they took `seconds`.

    A ratio is the median of the rounds' own, since a busy machine slows both sides of a round.
    """
    tried(row)
    peak = getattr(row.ours, "peak", lambda: None)()
    against = row.against()
    ours: list[Timed] = []
    theirs: list[list[float]] = [[] for _ in against]
    start = perf_counter()
    while len(ours) < rounds and (len(ours) < min(LEAST, rounds) or perf_counter() - start < seconds):
        ours.append(row.ours())
        for peer, times in zip(against, theirs, strict=True):
            if peer.run and len(ours) <= (peer.rounds or rounds):
                times.append(peer.run().seconds)
    peaks = [timed.peak_mb for timed in ours if timed.peak_mb is not None]
    took = [timed.seconds for timed in ours]
    told = [_told(peer, took, times) for peer, times in zip(against, theirs, strict=True)]
    return {
        "row": row.name,
        "rounds": len(ours),
        "ours_ms": 1000 * median(took),
        "peak_mb": median(peaks) if peaks else peak,
        "floor": told.pop(0) if row.floor else None,
        "peers": told,
    }


def _told(peer: Peer, ours: list[float], theirs: list[float]) -> dict[str, object]:
    """Return the figures of one peer; those of a missing one are None."""
    figures: dict[str, object] = {"name": peer.name, "ms": None, "ratio": None, "best_ratio": None, "goal": peer.goal}
    if theirs:
        beside = ours[: len(theirs)]
        figures["ms"] = 1000 * median(theirs)
        figures["ratio"] = median(a / b for a, b in zip(beside, theirs, strict=True))
        figures["best_ratio"] = min(beside) / min(theirs)
    return figures
