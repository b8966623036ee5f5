"""What `memkit audit` knows beyond the report: its settings, its baseline, and how a plan to mend is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memkit import files
from memkit.audit import ALL_RULES, AuditReport, Settings, read_settings
from memkit.cells import count
from memkit.cli.asking import asked
from memkit.errors import BadArgument

if TYPE_CHECKING:
    from memkit.store import Store

CONFIG = "memkit.toml"


def report(store: Store, against: str | None, config: str | None, baseline: str | None) -> AuditReport:
    """Return the report of a store without what a baseline knows; what that held is told on stderr.

    Raises: BadArgument for a file that is none of its kind.
    """
    settings = _settings(config)
    found = store.audit(against=against, off=settings.off, severities=settings.severities)
    if baseline is None:
        return found
    known = found.frame["fingerprint"].isin(_fingerprints(baseline))
    if known.any():
        click.echo(f"memkit: {count(int(known.sum()), 'finding')} left out, known to {baseline}", err=True)
    return found.only(~known)


def _settings(config: str | None) -> Settings:
    """Return the settings of a file, or those of memkit.toml in the working directory if there is one."""
    text = files.text_of_output(Path(config or CONFIG))
    if text is None and config is not None:
        raise BadArgument(f"config: no file {config}")
    return Settings() if text is None else read_settings(text, ALL_RULES, config or CONFIG)


def _fingerprints(baseline: str) -> set[str]:
    """Return the fingerprints that an earlier audit printed as JSON.

    Raises: BadArgument.
    """
    text = files.text_of_output(Path(baseline))
    try:
        found = json.loads((text or "").removeprefix("\ufeff"))
        if not isinstance(found, list):
            raise TypeError
        return {row["fingerprint"] for row in found}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadArgument(f"baseline: {baseline} is no audit; make it with `memkit audit --format json > FILE`") from error


def mended(found: AuditReport, *, dry_run: bool, yes: bool) -> bool:
    """Show the plan that mends a report, and return whether it was applied."""
    plan = found.fix()
    asked(plan, dry_run=dry_run, yes=yes)
    return plan.applied
