"""MCP at the standard streams, for a client that starts the server itself: one JSON message a line.

The SDK's own reader drops a line that is no JSON without a word, waits for a last line before it can stop, and forgets the
calls under way when the client has said its last. This one refuses such a line, stops when told to, and answers first; a
client that no longer reads the answers is not waited for.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, cast

import anyio
import mcp_types as mcp
from anyio.from_thread import BlockingPortal
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage

from memkit.serve.messages import LONGEST, Fault, fault_of
from memkit.serve.server import Host, built, log
from memkit.store import Store

PATIENCE = 30.0  # seconds that calls under way have left when the client has gone
LAST = PATIENCE + 5  # seconds after which the process ends, whoever holds it up
WHOLE = 65_536  # bytes read at once
GONE = 1  # exit code of a server that was held up
Outgoing = WriteStream[SessionMessage]


def over_stdio(store: Store, *, read_only: bool = False) -> None:
    """Serve a store to the client at the standard streams until it closes them, or until SIGTERM, SIGHUP or Ctrl-C.

    A second signal ends the process at once, and so does a client that neither reads nor goes away; what was written stays
    whole, as each file is replaced at once.
    """
    end = threading.Timer(LAST, os._exit, (GONE,))
    end.daemon = True
    try:
        anyio.run(_serve, Host(store, read_only=read_only), end)
    finally:
        end.cancel()


async def _serve(host: Host, end: threading.Timer) -> None:
    wire = _Wire(end)
    async with BlockingPortal() as portal, anyio.create_task_group() as tasks:
        threading.Thread(target=wire.read, args=(portal,), daemon=True).start()
        tasks.start_soon(stop_on_signal, host.hurried(wire.close), partial(os._exit, GONE))
        try:
            await _converse(host, wire)
        except* (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.info("the client is gone")
        finally:
            wire.close()
            with anyio.CancelScope(shield=True):
                await host.finish()
                await portal.stop(cancel_remaining=True)
            tasks.cancel_scope.cancel()


async def _converse(host: Host, wire: _Wire) -> None:
    server = built(host)
    async with stdio_server(stdin=cast("Any", wire)) as (incoming, outgoing):
        wire.outgoing = outgoing
        await server.run(incoming, cast("Outgoing", _Answers(outgoing, wire)), server.create_initialization_options())


async def stop_on_signal(stop: Callable[[], object], at_once: Callable[[], object]) -> None:
    """Call `stop` at SIGTERM, SIGHUP or Ctrl-C, and `at_once` at the next; a system without such signals ends the program."""
    known = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]
    try:
        with anyio.open_signal_receiver(*known) as signals:
            end = stop
            async for _ in signals:
                end()
                end = at_once
    except NotImplementedError:
        return


class _Wire:
    """The lines of a client as the SDK reads them, and which of its requests still wait for an answer."""

    def __init__(self, end: threading.Timer) -> None:
        self._end = end
        self._send, self._lines = anyio.create_memory_object_stream[bytes](16)
        self._waiting: set[str] = set()
        self._answered = anyio.Event()
        self.outgoing: Outgoing | None = None

    def read(self, portal: BlockingPortal) -> None:
        """Pass on what comes in, line by line, to its end; in a thread, since a read cannot be called off."""
        raw = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)  # at exit, Python would wait for the other's lock
        try:
            for line in _lines(lambda: raw.read(WHOLE) or b""):
                portal.call(self._send.send, line)
        except (RuntimeError, CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the server stops, or has stopped
        finally:
            with suppress(RuntimeError, CancelledError):
                portal.call(self._send.aclose)

    def close(self) -> None:
        """Take no more requests, and see that there is an end."""
        self._send.close()
        with suppress(RuntimeError):  # it is started once
            self._end.start()

    def answered(self, request: object) -> None:
        """Take note that a request was answered, or called off."""
        self._waiting.discard(_key(request))
        self._answered.set()

    def __aiter__(self) -> _Wire:
        """Return the lines."""
        return self

    async def __anext__(self) -> str:
        """Return the next line that is JSON; at the end, wait for what is under way."""
        async for line in self._lines:
            if text := await self._sound(line):
                return text
        self.close()
        with anyio.move_on_after(PATIENCE):
            while self._waiting:
                self._answered = anyio.Event()
                await self._answered.wait()
        raise StopAsyncIteration

    async def _sound(self, line: bytes) -> str:
        """Return a line that is a message; any other is refused, and "" returned."""
        if not line.strip():
            return ""
        fault = fault_of(line) or self._note(json.loads(line))
        if fault is not None:
            await self._refuse(fault)
            return ""
        return line.decode("utf-8")

    def _note(self, message: dict[str, Any]) -> Fault | None:
        """Take note of a request, or of one that is called off; return why it cannot be taken."""
        if message.get("method") == "notifications/cancelled":
            self.answered((message.get("params") or {}).get("requestId"))
        elif "method" in message and "id" in message:
            key = _key(message["id"])
            if key in self._waiting:
                return Fault(None, "id: a request of this id is under way", mcp.INVALID_REQUEST)
            self._waiting.add(key)
        return None

    async def _refuse(self, fault: Fault) -> None:
        """Answer a line that is no message, to whom it may concern."""
        told = mcp.ErrorData(
            code=fault.code, message=f"message: {fault.reason}; expected one JSON-RPC message a line, in UTF-8"
        )
        if self.outgoing is not None:
            await self.outgoing.send(SessionMessage(mcp.JSONRPCError(jsonrpc="2.0", id=fault.asked, error=told)))


def _lines(more: Callable[[], bytes]) -> Iterator[bytes]:
    """Yield the lines of what comes in; of one that is too long for a message, its beginning, which is too long as well."""
    rest, skipping = b"", False
    with suppress(OSError):
        while chunk := more():
            first, *lines = (rest + chunk).split(b"\n")
            if lines:
                yield from () if skipping else (first,)
                yield from lines[:-1]
                rest, skipping = lines[-1], False
            else:
                rest = b"" if skipping else first
            if len(rest) > LONGEST:
                yield rest
                rest, skipping = b"", True
    yield rest


class _Answers:
    """What the SDK writes to, which takes note of what was answered."""

    def __init__(self, outgoing: Outgoing, wire: _Wire):
        self._outgoing, self._wire = outgoing, wire

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        await self._outgoing.send(item)
        if isinstance(item.message, mcp.JSONRPCResponse | mcp.JSONRPCError):
            self._wire.answered(item.message.id)

    async def aclose(self) -> None:
        """Send nothing more."""
        await self._outgoing.aclose()

    async def __aenter__(self) -> _Answers:
        """Return itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None


def _key(request: object) -> str:
    return json.dumps(request)  # 1 and "1" are two
