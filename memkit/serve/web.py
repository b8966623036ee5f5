"""MCP over streamable HTTP, for clients of this machine that know the token; of other machines only if told to."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp

from memkit.errors import BadArgument, DiskError
from memkit.serve.guard import LOOPBACK, Guard
from memkit.serve.server import Host, built
from memkit.serve.stdio import stop_on_signal
from memkit.store import Store

PATH = "/mcp"
GRACE = 3  # seconds that open connections have when the server stops
_UNCHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # guard.py does, name by name
_TOKEN = re.compile(r"[\x21-\x7e]{16,}")


def over_http(
    store: Store,
    *,
    token: str,
    port: int,
    host: str = LOOPBACK,
    names: Sequence[str] = (),
    read_only: bool = False,
    ready: Callable[[str], object] = lambda url: None,
) -> None:
    """Serve a store at http://host:port/mcp, to who sends the token, until SIGTERM or Ctrl-C.

    A request must name this machine in Host, and in Origin if it has one: by a loopback name, by `host`, or by one of
    `names`; where `host` stands for all addresses, any address will do. Port 0 is any free one; `ready` is told the address.

    Raises: BadArgument for a token shorter than 16 characters, or with blanks or signs beyond ASCII; DiskError if the
        system refuses the port.
    """
    if not _TOKEN.fullmatch(token):
        raise BadArgument("token: expected at least 16 letters, digits or signs of ASCII, without blanks")
    served = Host(store, read_only=read_only)
    app = built(served).streamable_http_app(
        streamable_http_path=PATH, json_response=True, stateless_http=True, transport_security=_UNCHECKED
    )
    with _listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}{PATH}")
        anyio.run(_serve, served, Guard(app, token, host, names), listener)


async def _serve(host: Host, app: ASGIApp, listener: socket.socket) -> None:
    config = uvicorn.Config(
        app, log_config=None, access_log=False, ws="none", server_header=False, timeout_graceful_shutdown=GRACE
    )
    server = _Server(config)
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_news)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop_on_signal, host.hurried(server.stop), server.stop_at_once)
        await server.serve([listener])
        await host.finish()
        tasks.cancel_scope.cancel()


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a line of the log is worth one: that a client went away in the middle of a request is not."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


class _Server(uvicorn.Server):
    """uvicorn's server, but that it ends as a function does, and not by the signal that ended it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield

    def stop(self) -> None:
        """Finish what is under way and take no more."""
        self.should_exit = True

    def stop_at_once(self) -> None:
        """Take no more, and wait for nobody."""
        self.force_exit = True


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """Give a socket that listens.

    Raises: DiskError if the system refuses.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # with its protocol named, asyncio sends each answer at once, and not 40 ms later with the next packet
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        try:
            if os.name == "posix":  # a port that was used a moment ago; elsewhere it would be shared
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen()
        except (OSError, UnicodeError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise DiskError(f"{host}:{port}: {reason}; choose another port or host") from error
        yield listener
