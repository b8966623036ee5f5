"""MCP at the standard streams, for a client that starts the server itself: one JSON message a line.

The SDK's own reader drops a line that is no JSON without a word, waits for a last line before it can stop, and forgets the
calls under way when the client has said its last. This one refuses such a line, stops when told to, and answers first.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from types import TracebackType
from typing import Any, cast

import anyio
import mcp_types as mcp
from anyio.from_thread import BlockingPortal
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage

from memkit.serve.server import Host, built, log
from memkit.store import Store

PATIENCE = 30.0  # seconds that calls under way have left when the client has gone
WHOLE = 65_536  # bytes read at once
LONGEST = 4 * 1024 * 1024  # of a message, in bytes, as over HTTP
Outgoing = WriteStream[SessionMessage]


def over_stdio(store: Store, *, read_only: bool = False) -> None:
    """Serve a store to the client at the standard streams until it closes them, or until SIGTERM or Ctrl-C."""
    anyio.run(_serve, Host(store, read_only=read_only))


async def _serve(host: Host) -> None:
    wire = _Wire()
    async with BlockingPortal() as portal, anyio.create_task_group() as tasks:
        threading.Thread(target=wire.read, args=(portal,), daemon=True).start()
        tasks.start_soon(stop_on_signal, wire.close)
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


async def stop_on_signal(stop: Any) -> None:
    """Call `stop` at each SIGTERM or Ctrl-C; where a system has no such signals, they end the program as they always do."""
    try:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                stop()
    except NotImplementedError:
        return


class _Wire:
    """The lines of a client as the SDK reads them, and which of its requests still wait for an answer."""

    def __init__(self) -> None:
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
        """Take no more requests."""
        self._send.close()

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
        with anyio.move_on_after(PATIENCE):
            while self._waiting:
                self._answered = anyio.Event()
                await self._answered.wait()
        raise StopAsyncIteration

    async def _sound(self, line: bytes) -> str:
        """Return a line that is a message; any other is refused, and "" returned."""
        if not line.strip():
            return ""
        try:
            text = line.decode("utf-8")
            mcp.jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError as error:
            await self._refuse(line, error)
            return ""
        self._note(json.loads(text))
        return text

    def _note(self, message: dict[str, Any]) -> None:
        """Take note of a request, or of one that is called off."""
        if message.get("method") == "notifications/cancelled":
            self.answered((message.get("params") or {}).get("requestId"))
        elif "method" in message and "id" in message:
            self._waiting.add(_key(message["id"]))

    async def _refuse(self, line: bytes, error: ValueError) -> None:
        """Answer a line that is no message, to whom it may concern."""
        asked, reason = _trouble(line, error)
        told = mcp.ErrorData(code=mcp.PARSE_ERROR, message=f"message: {reason}; expected one JSON-RPC message a line, in UTF-8")
        if self.outgoing is not None:
            await self.outgoing.send(SessionMessage(mcp.JSONRPCError(jsonrpc="2.0", id=asked, error=told)))


def _trouble(line: bytes, error: ValueError) -> tuple[str | int | None, str]:
    """Return which request a line was meant to be, None if it does not say, and what is wrong with it."""
    if len(line) > LONGEST:
        return None, f"longer than {LONGEST:,} bytes"
    try:
        held = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None, "no JSON"
    given = held.get("id") if isinstance(held, dict) else None
    asked = given if isinstance(given, str | int) and not isinstance(given, bool) and _is_whole(given) else None
    if isinstance(error, UnicodeDecodeError):
        return asked, f"no UTF-8 at byte {error.start:,}"
    return asked, "no request" if _is_whole(held) else "half a character (a lone surrogate) in a text"


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
    return str(request)


def _is_whole(held: object) -> bool:
    try:
        json.dumps(held, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
