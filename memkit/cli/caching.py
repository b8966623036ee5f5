"""`memkit cache`: where loaded stores are cached, how large that is, and a way to be rid of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memkit.cli.commands import cli
from memkit.cli.options import print_options, settle_format
from memkit.cli.output import show, show_facts

if TYPE_CHECKING:
    from pathlib import Path

ACTION = click.Argument(["action"], required=False, type=click.Choice(["clear"]), metavar="[clear]")


@cli.command(params=[ACTION, *print_options("table", "json", "csv")])
def cache(action: str | None, limit: int | None, **rest: Any) -> None:
    """List the loaded stores that are cached, or clear them.

    MEMKIT_CACHE=1 has the commands and the agents' tools cache what they load, MEMKIT_CACHE=DIR in a folder of yours.

    Example: memkit cache clear
    """
    from memkit import cache as cached

    settle_format(rest)
    folder = folder_named()
    if action == "clear":
        removed = cached.clear(folder)
        if rest["format"] == "json":
            show_facts({"removed_bytes": removed, "folder": str(folder)})
        else:
            click.echo(f"{removed:,} bytes removed from {folder}")
        return
    found = cached.held(folder)
    show(found, rest["format"], limit)
    click.echo(f"memkit: {folder}: {int(found['bytes'].sum()):,} bytes of at most {cached.LIMIT:,}", err=True)


def folder_named() -> Path:
    """Return the folder that the environment names, else the usual one.

    Raises: BadArgument.
    """
    from memkit import files
    from memkit.cache import usual_folder
    from memkit.tools import place

    named = place.cached()
    return usual_folder() if isinstance(named, bool) else files.place_of(named, "MEMKIT_CACHE").absolute()
