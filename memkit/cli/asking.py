"""Plans in the terminal: printed as text or as JSON, and applied when somebody says yes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from memkit.cli.output import width

if TYPE_CHECKING:
    from memkit.edits import Plan


BUSY = ("rebuild", "sync", "sweep")  # what a plan does beside its edits


def print_plan(plan: Plan, format: str = "text") -> None:
    """Print a plan; as JSON it is rows, added, applied, warnings and diff."""
    if format != "json":
        from memkit.diffs import terminal_text

        facts = (plan.edits, plan.rows, plan.added, plan.warnings, plan.applied, plan.notes)
        click.echo(terminal_text(*facts, width=width()))
        return
    told = {
        "applied": plan.applied,
        "added": plan.added,
        "rows": plan.rows.to_dict("records"),
        "warnings": plan.warnings,
        "diff": plan.diff(),
    }
    click.echo(json.dumps(told, ensure_ascii=False, indent=1))


def check(format: str, *, dry_run: bool, yes: bool) -> None:
    """Hold that nothing is asked between two lines of JSON."""
    if format == "json" and not (dry_run or yes):
        raise click.UsageError("JSON leaves no room for a question; pass --yes or --dry-run.")


def asked(plan: Plan, *, dry_run: bool, yes: bool, format: str = "text") -> int:
    """Print a plan, and apply it if that is wanted; 1 says that it was not."""
    idle = dry_run or not (plan.edits or plan.rows["action"].isin(BUSY).any())
    if format == "json":
        print_plan(plan if idle else plan.apply(), format)
        return 0
    print_plan(plan)
    if idle:
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
    except RuntimeError:  # stdin is closed
        click.echo("\nthere is nobody to ask; pass --yes")
        return False
