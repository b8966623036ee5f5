"""`memkit migrate`: a store copied into a new one of another layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memkit.cli.commands import cli
from memkit.cli.options import LAYOUTS, on_plan

if TYPE_CHECKING:
    from memkit.edits import Plan
    from memkit.store import Store

_TO = click.Option(["--to"], type=click.Choice(LAYOUTS), required=True, help="The layout of the new store.")
_UNDATED = click.Option(["--undated"], metavar="DAY", help="Put entries without a date on this day.  [default: left out]")


@on_plan(cli, "TARGET", options=[_TO, _UNDATED], asks=True)
def migrate(store: Store, target: str, to: str, undated: str | None) -> Plan:
    """Copy all entries into a new store of another layout.

    TARGET is a folder that is empty or not there yet, or in which this very migration was broken off. The store itself is
    not changed. Shows what is left out, what is different about an entry and the new files, and asks; what was written is
    read back and compared. A no exits 1.

    Example: memkit migrate ~/vault copied --to layers --dry-run
    """
    from memkit.migrating import migrate as planned

    return planned(store, target, to=to, undated=undated)
