"""The worker processes of a fleet: started fresh when first asked (spawn), kept until closed, gone whenever the fleet is.

Each worker listens on a line whose other end only the fleet holds: when that closes, by close() or because the fleet's own
process is gone in whatever way, the worker ends at once. Writing is atomic, so that this harms nothing.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection

import pyarrow as pa
from tqdm.auto import tqdm

from memkit.errors import BadArgument, MemkitError
from memkit.fleet.asking import Call, Reply, answer, trouble
from memkit.fleet.places import Place, reason_of

AHEAD = 2  # tasks for each worker that are under way, so that none waits for its next
GRACE = 5.0  # seconds in which stores that are being written to may come to an end
CHUNKS = 16  # tasks for each worker at least, so that all end at about the same time
MOST = 16  # stores in a task at most

Numbered = tuple[int, Reply]


class Pool:
    """Worker processes that answer Calls; `close()` ends them, and the next question starts them again."""

    def __init__(self, workers: int):
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None
        self._line: Connection | None = None
        self._lock = threading.Lock()

    @property
    def started(self) -> bool:
        """Return whether there are processes already."""
        return self._executor is not None

    def replies(self, call: Call, places: Sequence[Place], *, writes: bool = False) -> Iterator[Numbered]:
        """Yield the replies as they come, each with the number of its first place.

        A process that dies costs the store that it died of, and no other. What interrupts this ends the workers.

        Raises: BadArgument for arguments that cannot be sent, MemkitError if no worker can be started.
        """
        ask = sent(call)
        todo = _chunks(len(places), self._workers)
        running: dict[Future[Reply], range] = {}
        try:
            while todo or running:
                while todo and len(running) < self._workers * AHEAD:
                    chunk = todo.pop()
                    running[self._submit(ask, [places[at] for at in chunk])] = chunk
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                failed = [future for future in done if future.exception() is not None]
                suspects = [running.pop(future) for future in failed]
                for future in done.difference(failed):
                    yield running.pop(future).start, future.result()
                if any(isinstance(future.exception(), BrokenProcessPool) for future in failed):
                    suspects += running.values()  # what was under way is lost, whichever of them it was
                    running.clear()
                    self.close()
                yield from self._one_by_one(ask, call.what, places, suspects)
        except BaseException:
            for future in running:
                future.cancel()
            if writes:
                wait(running, timeout=GRACE)
            self.close()
            raise

    def _one_by_one(self, ask: bytes, what: str, places: Sequence[Place], chunks: Sequence[range]) -> Iterator[Numbered]:
        """Yield the replies of stores one of which ended a worker, each asked alone."""
        single = Pool(1)
        try:
            for at in (at for chunk in chunks for at in chunk):
                single.hold_ready()
                try:
                    yield at, single._submit(ask, [places[at]]).result()
                except BrokenProcessPool:
                    single.close()
                    died = BrokenProcessPool("the process that read it died, of a lack of memory perhaps; open it alone to see")
                    yield at, Reply([0], None, [None], [trouble(places[at], what, died)])
                except Exception as error:
                    yield at, Reply([0], None, [None], [trouble(places[at], what, error)])
        finally:
            single.close()

    def hold_ready(self) -> None:
        """Hold that a worker answers at all.

        Raises: MemkitError.
        """
        try:
            with _uninterrupted():
                ready = self._started().submit(os.getpid)
            ready.result()
        except BrokenProcessPool as error:
            self.close()
            told = 'no worker process can start; a script needs `if __name__ == "__main__":` around its work, or pass workers=1'
            raise MemkitError(f"workers: {told}") from error

    def _submit(self, ask: bytes, places: Sequence[Place]) -> Future[Reply]:
        try:
            with _uninterrupted():
                return self._started().submit(answer, ask, places)
        except BrokenProcessPool as error:  # it broke between two questions
            failed: Future[Reply] = Future()
            failed.set_exception(error)
            return failed

    def _started(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._executor is None:
                context = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks, not the threads
                line, self._line = context.Pipe(duplex=False)
                self._executor = ProcessPoolExecutor(self._workers, context, initializer=_begin, initargs=(line,))
            return self._executor

    def close(self) -> None:
        """End the workers, at once; what they were asked is cancelled."""
        with self._lock:
            executor, line, self._executor, self._line = self._executor, self._line, None, None
        if executor is not None and line is not None:
            line.close()
            _let_go(executor)
            executor.shutdown(wait=True, cancel_futures=True)


def _let_go(executor: ProcessPoolExecutor) -> None:
    """Close this process's own end of what workers write to: a reply that one leaves half written then ends, as a fault.

    The executor keeps that end open for workers to come, and else would wait for the other half for ever.
    """
    writer = getattr(getattr(executor, "_result_queue", None), "_writer", None)
    if writer is not None:
        writer.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back while a process is started, so that the new one never hears of it, not even during its imports."""
    mask = getattr(signal, "pthread_sigmask", None)  # there is none on Windows
    if mask:
        resource_tracker.ensure_running()  # it lets signals through again when it is started, so that comes first
    old = mask(signal.SIG_BLOCK, {signal.SIGINT}) if mask else None
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_SETMASK, old)


def _begin(line: Connection) -> None:
    """Make a process a worker: it leaves Ctrl-C to the fleet, and does one thing at a time."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    tqdm.set_lock(threading.RLock())  # its own would be a semaphore that a process which ends at once leaves behind
    pa.set_cpu_count(1)
    gc.freeze()  # what is imported is no garbage, so that looking for some after each store is quick


def _end_with(line: Connection) -> None:
    """End this process when the other end of the line is closed."""
    try:
        line.recv()
    except (EOFError, OSError):
        os._exit(1)


def sent(call: Call) -> bytes:
    """Return a Call as it is sent to other processes.

    Raises: BadArgument for an argument that cannot be.
    """
    try:
        return pickle.dumps(call)
    except Exception as error:
        told = f"an argument cannot be sent to other processes ({reason_of(error)}); pass a function of a module, or workers=1"
        raise BadArgument(told) from error


def _chunks(count: int, workers: int) -> list[range]:
    """Return the numbers from 0 in pieces, the first ones last."""
    size = max(1, min(MOST, count // (workers * CHUNKS)))
    return [range(start, min(start + size, count)) for start in range(0, count, size)][::-1]
