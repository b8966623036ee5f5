"""Plans in the terminal: printed, and applied when somebody says yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from memkit.edits import Plan


BUSY = ("rebuild", "sync", "sweep")  # what a plan does beside its edits


def print_plan(plan: Plan) -> None:
    """Print a plan."""
    click.echo(repr(plan))


def asked(plan: Plan, *, dry_run: bool, yes: bool) -> int:
    """Print a plan, and apply it if that is wanted; 1 says that it was not."""
    print_plan(plan)
    if dry_run or not (plan.edits or plan.rows["action"].isin(BUSY).any()):
        return 0
    if not yes and not _agreed():
        click.echo("nothing was written")
        return 1
    plan.apply()
    click.echo("applied")
    return 0


def _agreed() -> bool:
    """Return whether somebody says yes; where nobody can (no stdin is left to read), that is no."""
    try:
        return click.confirm("Apply it?", default=False)
    except click.Abort as stopped:
        if isinstance(stopped.__context__, EOFError):
            click.echo("\nthere is nobody to ask; pass --yes")
            return False
        raise
