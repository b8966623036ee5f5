"""How all stores of a fleet are asked: here or in worker processes, watched, and put together again in their order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import pandas as pd

from memkit.fleet import frames
from memkit.fleet.asking import Call, Reply, replies
from memkit.fleet.places import Place, Trouble
from memkit.fleet.pool import Pool, sent
from memkit.progress import watched

PATIENCE = 1.0  # seconds, about what starting processes takes


class Answers(NamedTuple):
    """What the stores answered: one frame, what each said beside it by name, and why some gave no answer."""

    frame: pd.DataFrame
    extras: dict[str, Any]
    troubles: tuple[Trouble, ...]


class Crew:
    """The stores of a fleet and the processes that ask them: as many as `workers`, else one for each processor.

    Where it is not given, no process is started for what is done within a moment.
    """

    def __init__(self, places: Sequence[Place], workers: int | None, *, progress: bool = True):
        self.workers = max(1, min(workers or _processors(), len(places)))
        self._patient = workers is None
        self._places = tuple(places)
        self._progress = progress
        self._pool = Pool(self.workers)

    def close(self) -> None:
        """End the processes; the next question starts new ones."""
        self._pool.close()

    def answers(self, call: Call, *, writes: bool = False, strict: bool = True) -> Answers:
        """Return what all stores answer; with `writes`, stores that are written to come to an end when interrupted.

        Raises: BadArgument if one of them finds an argument that cannot be meant (where `strict`).
        """
        held: list[tuple[int, Reply]] = []
        steps = watched(self._places, call.what.replace("_", " "), "store", show=self._progress, few=2)
        try:
            for start, reply in self._replies(call, writes=writes):
                if reply.fault is not None and strict:
                    raise reply.fault
                held.append((start, reply))
                list(islice(steps, len(reply.counts)))
        finally:
            steps.close()
        return self._gathered(call, [reply for _, reply in sorted(held, key=lambda pair: pair[0])])

    def _replies(self, call: Call, *, writes: bool) -> Iterator[tuple[int, Reply]]:
        """Yield the replies as they come, each with the number of its first store."""
        if self.workers == 1:
            yield from enumerate(replies(call, self._places))
            return
        sent(call)  # what cannot be sent is refused, however few stores there are
        first = 0
        if self._patient and not self._pool.started:
            end = perf_counter() + PATIENCE
            for reply in replies(call, self._places):
                yield first, reply
                first += 1
                if perf_counter() > end:
                    break
        if first < len(self._places):
            rest = self._pool.replies(call, self._places[first:], writes=writes)
            yield from ((first + at, reply) for at, reply in rest)

    def _gathered(self, call: Call, held: Sequence[Reply]) -> Answers:
        counts = [count for reply in held for count in reply.counts]
        extras = [extra for reply in held for extra in reply.extras]
        troubles = tuple(trouble for reply in held for trouble in reply.troubles)
        failed = {trouble.store for trouble in troubles}
        names = [place.name for place in self._places]
        tables = [reply.arrow() for reply in held if reply.table is not None]
        frame = frames.fleet_frame(names, counts, tables, call.columns)
        told = {name: extra for name, extra in zip(names, extras, strict=True) if name not in failed}
        return Answers(frame, told, troubles)


def _processors() -> int:
    """Return how many processors this process may use; on Windows no more than a pool can wait for."""
    allowed = getattr(os, "sched_getaffinity", None)
    number = len(allowed(0)) if allowed else os.cpu_count() or 1
    return min(number, 60) if os.name == "nt" else number
