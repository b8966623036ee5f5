"""`memkit serve`: a store for agents, over MCP."""

from __future__ import annotations

import os
import signal
import sys
from typing import IO, TYPE_CHECKING

import click

from memkit.cli.commands import cli
from memkit.cli.options import on_store

if TYPE_CHECKING:
    from memkit.store import Store

PORT = 8765
TOKEN = "MEMKIT_TOKEN"  # the variable's name
_BYTES = 32  # of a token that is made here
_LONGEST = 4_096  # bytes of a file with a token

OPTIONS = [
    click.Option(
        ["--http"],
        is_flag=False,
        flag_value=str(PORT),
        type=click.IntRange(0, 65_535),
        metavar="[PORT]",
        help=f"Listen at http://127.0.0.1:PORT/mcp instead ({PORT} unless given, 0 for any free one).",
    ),
    click.Option(
        ["--host"],
        metavar="ADDRESS",
        help="Listen there, for others too, with --allow-host.  [default: 127.0.0.1]",
    ),
    click.Option(["--allow-host", "names"], metavar="NAME", multiple=True, help="A name by which clients may reach it."),
    click.Option(["--token-file"], type=click.File("rb"), metavar="FILE", help="Holds the token of --http."),
    click.Option(["--read-only"], is_flag=True, help="Offer the tools that read, and leave catalog and index as they are."),
]


@on_store(cli, options=OPTIONS)
def serve(
    store: Store, http: int | None, host: str | None, names: tuple[str, ...], token_file: IO[bytes] | None, read_only: bool
) -> None:
    """Give agents the memory at PATH, over MCP.

    The client starts it and talks to it by stdin and stdout. With --http it waits for clients that send a token: that of
    --token-file, of $MEMKIT_TOKEN, or one that is made and printed.

    Example: memkit serve ~/vault --tz Asia/Shanghai
    """
    if http is None and (host or names or token_file):
        raise click.UsageError("--host, --allow-host and --token-file need --http.", click.get_current_context())
    _prepare()
    from memkit import files
    from memkit import serve as serving

    files.refuse_begin(store.root, store._desk.layout)  # --layout is believed, and the first write would be too late

    if http is None:
        if sys.stdin.isatty():
            click.echo("memkit: waiting for an MCP client at stdin; Ctrl-C ends it, --http listens at a port", err=True)
        serving.over_stdio(store, read_only=read_only)
        return
    said = f"memkit: serving {store.root} ({store.layout}{', read-only' if read_only else ''}) at"
    serving.over_http(
        store,
        token=_token(token_file),
        port=http,
        host=host or "127.0.0.1",
        names=names,
        read_only=read_only,
        ready=lambda url: click.echo(f"{said} {url}", err=True),
    )


def _prepare() -> None:
    """Let a client that goes away be an error of one answer, and not the end of the server; log to stderr."""
    import logging

    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="memkit: %(levelname)s %(name)s: %(message)s")


def _token(file: IO[bytes] | None) -> str:
    """Return the token that clients must send; one that is made here is printed to stderr.

    Raises: BadArgument for a file that holds something else.
    """
    from secrets import token_urlsafe

    if file is not None:
        return _token_in(file)
    if given := os.environ.get(TOKEN, "").strip():
        return given
    made = token_urlsafe(_BYTES)
    click.echo(f"memkit: token: {made}", err=True)
    return made


def _token_in(file: IO[bytes]) -> str:
    """Return the token in a file.

    Raises: BadArgument for a file that is too long, or no text.
    """
    from memkit.errors import BadArgument

    held = file.read(_LONGEST + 1)
    try:
        if len(held) <= _LONGEST:
            return held.decode("utf-8-sig").strip()
        reason = f"longer than {_LONGEST:,} bytes"
    except UnicodeDecodeError:
        reason = "not UTF-8 text"
    raise BadArgument(f"{file.name}: {reason}; expected the token alone, saved as UTF-8")
