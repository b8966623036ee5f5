"""The commands, in the order in which help lists them: a function from an open store to its answer each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memkit import __version__
from memkit.cli.options import KEYS, SEVERITIES, choice, format_options, on_frame, on_store, print_options
from memkit.cli.output import annotated, rows, show, show_facts, table_rows

if TYPE_CHECKING:
    from datetime import date

    import pandas as pd

    from memkit.store import Store


class _AsWritten(click.Group):
    """A group that lists its commands in the order of this page."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)


@click.group(
    cls=_AsWritten,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 fine, 1 the audit found something, 2 bad request, 130 stopped.",
)
@click.version_option(__version__, prog_name="memkit")
def cli() -> None:
    """Read, question, audit and extend the Markdown memories of AI agents. No old line is ever lost.

    PATH is a memory folder, or the vault or workspace that holds one. Without PATH it is $MEMORY_WORKSPACE, else
    $DSH_HOME/dsh-memory-layers (or ~/.dsh/dsh-memory-layers) if there is memory in it, else the current folder.
    """


HTML = click.Option(["--html"], metavar="FILE", help="Write one page with charts to FILE instead.")


@on_store(cli, options=[HTML, *format_options("text", "json")])
def report(store: Store, html: str | None, format: str) -> None:
    """Print size by month, findings, the week's summary.

    The week is this one, or the latest before it that has entries. The page of --html needs neither Jupyter nor a network.

    Example: memkit report ~/vault --html report.html
    """
    from memkit import dates

    if html is not None:
        from memkit.reporting import write_report

        click.echo(f"written: {write_report(store, html)}")
        return
    found = store.audit()
    clock = dates.clock_of(click.get_current_context().params["now"], store.tz)
    week = _latest_week(store, clock().date())
    if format == "json":
        facts = {str(row["fact"]): row["value"] for row in rows(store.overview().reset_index(names="fact"))}
        show_facts({"store": facts, "months": rows(store.volume("month")), "findings": rows(found.frame), "summary": week})
        return
    click.echo(repr(store))
    if len(found.frame):
        click.echo(f"\n{found!r}")
    if week:
        click.echo(f"\n{week}")


def _latest_week(store: Store, today: date) -> str:
    """Return the summary of this week, or of the latest one before it with entries, saying so; "" if there is none."""
    from memkit import dates
    from memkit.cells import visible

    this_week = dates.week_key(today)
    days = store.entries()["date"].dropna().dt.date
    days = days[days <= dates.week_days(this_week)[-1]]
    if not len(days):
        return ""
    latest = days.max()
    text = "\n".join(map(visible, store.summary("week", latest).rstrip("\n").split("\n")))
    if dates.week_key(latest) == this_week:
        return text
    return f"Nothing is dated in this week, {this_week}; the latest one with entries is {dates.week_key(latest)}.\n\n{text}"


@on_frame(cli, options=[choice("--by", KEYS, "What to count by.", "month")])
def volume(store: Store, by: str) -> pd.DataFrame:
    """Count entries, characters, bytes and days by a key.

    Example: memkit volume ~/vault --by tag
    """
    return store.volume(by)


@on_frame(cli)
def entries(store: Store) -> pd.DataFrame:
    """List all entries, by date, path and line.

    Example: memkit entries ~/vault --format csv
    """
    return store.entries()


@on_frame(cli)
def days(store: Store) -> pd.DataFrame:
    """List the days that have a file.

    Example: memkit days ~/vault --limit 0
    """
    return store.days()


@on_frame(cli)
def catalog(store: Store) -> pd.DataFrame:
    """List the rows of the catalog (archive only).

    Example: memkit catalog ~/vault --format json
    """
    return store.catalog()


@on_frame(cli, "[DAYS]", default="30")
def recent(store: Store, days: str) -> pd.DataFrame:
    """List the entries of the last days, newest first.

    DAYS counts today and is 30 unless given.

    Example: memkit recent ~/vault 7
    """
    return store.recent(int(days[:9]))


@on_frame(cli, "TAG")
def tagged(store: Store, tag: str) -> pd.DataFrame:
    """List the entries that carry a tag, newest first.

    TAG is a whole tag, whatever its case; - stands for entries without one.

    Example: memkit tagged ~/vault 计划
    """
    return store.tagged(tag)


@on_frame(cli, "START", "END")
def between(store: Store, start: str, end: str) -> pd.DataFrame:
    """List the entries of a window, newest first.

    START and END are days, YYYY-MM-DD, both in the window.

    Example: memkit between ~/vault 2025-01-01 2025-01-31
    """
    return store.between(start, end)


_MODE = choice("--mode", ["and", "or"], "Every word or any.", "and")
_FIELD = choice("--field", ["text", "tag"], "Where to look.  [default: both]", many=True)


@on_frame(cli, "QUERY", options=[_MODE, _FIELD])
def matching(store: Store, query: str, mode: str, field: tuple[str, ...]) -> pd.DataFrame:
    """List the entries that hold words, newest first.

    The words of QUERY are literal and of any length, whatever their case; "a quoted phrase" is one word.

    Example: memkit matching ~/vault "坚果云 同步" --mode or
    """
    return store.matching(query, mode, field or ("text", "tag"))


_SEARCHING = [
    click.Option(["--or", "more"], multiple=True, metavar="WORDS", help="Or these words; may be repeated."),
    click.Option(["--any-of"], multiple=True, metavar="WORDS", help="One of these must hit too."),
    click.Option(["--all-of"], multiple=True, metavar="WORDS", help="Each of these must hit too."),
    click.Option(["--days"], type=int, metavar="N", help="Days looked at first.  [default: 30 of an archive, 3 of layers]"),
    click.Option(["--heal"], is_flag=True, help="Mend the catalog (archive), refresh the index (workspace)."),
    click.Option(["--include-forgotten"], is_flag=True, help="Also what was marked as forgotten (workspace)."),
]


@on_store(cli, "QUERY", options=[*_SEARCHING, *print_options("table", "json", "csv")])
def search(store: Store, query: str, more: tuple[str, ...], format: str, limit: int | None, **options: Any) -> None:
    """List what holds every word, from near to far.

    An archive and layers answer with the newest, from the nearest place that has any; a workspace with the best, by its
    index if there is one (`memkit sync`). Words are literal, whatever their case; "a quoted phrase" is one word.

    Example: memkit search ~/vault "红水壶" --all-of 哨子
    """
    from memkit.hits import NEAR_TO_FAR

    found = store.search(query, *more, limit=None, **options)
    if found.provider != NEAR_TO_FAR:
        frame = found.entries
    else:
        frame = found.frame[["step", "date", "text", "path", "line"]] if format == "table" else found.frame
    show(frame, format, limit)
    for note in found.notes():
        click.echo(f"memkit: {note}", err=True)


@on_store(
    cli,
    options=[
        click.Option(["--days"], type=int, default=30, metavar="N", help="The last days.  [default: 30]"),
        *format_options("json", "table", "csv"),
    ],
)
def context(store: Store, days: int, format: str) -> None:
    """Print what an agent is given (archive).

    The key, path and index of each of the last days.

    Example: memkit context ~/vault --days 7
    """
    show(store.context(days)[["key", "path", "index"]], format, 0)


_FAIL_ON = choice("--fail-on", SEVERITIES, "The least that makes it exit 1.", "warning")


_AGAINST = click.Option(["--against"], metavar="FILE", help="A manifest: find what was lost or changed since then.")


_CONFIG = click.Option(["--config"], metavar="FILE", help="TOML with rules and severities.  [default: memkit.toml here]")
_BASELINE = click.Option(["--baseline"], metavar="FILE", help="An earlier audit's JSON: what it found does not count.")
_FIX = click.Option(["--fix"], is_flag=True, help="Mend what can be mended: shows the change and asks.")


@on_store(
    cli,
    options=[
        _FAIL_ON,
        _AGAINST,
        _CONFIG,
        _BASELINE,
        _FIX,
        click.Option(["--dry-run"], is_flag=True, help="With --fix: only show the change."),
        click.Option(["--yes"], is_flag=True, help="With --fix: apply it without asking."),
        *print_options("table", "json", "csv", "github"),
    ],
)
def audit(
    store: Store,
    fail_on: str,
    against: str | None,
    config: str | None,
    baseline: str | None,
    fix: bool,
    dry_run: bool,
    yes: bool,
    format: str,
    limit: int | None,
) -> int:
    """Say what is wrong with the files.

    Exits 0 if nothing is, 1 if something is that --fail-on counts. With --fix it exits 0 if what counted is mended.

    Example: memkit audit ~/vault --format github
    """
    from memkit.cli import auditing

    if fix and format != "table":
        raise click.UsageError("--fix shows a plan; it goes with no other --format.")
    if (dry_run or yes) and not fix:
        raise click.UsageError("--dry-run and --yes go with --fix.")
    found = auditing.report(store, against, config, baseline)
    if not found.checked:
        click.echo(f"memkit: no file was read in {store.root}", err=True)
    if format == "github":
        for line in annotated(found.frame.head(limit) if limit else found.frame, store.root):
            click.echo(line)
    elif format == "table":
        from memkit.display import report_text

        click.echo(report_text(found.frame, found.checked, found.explain, limit=table_rows(found.frame, limit)))
    else:
        show(found.frame, format, limit)
    if fix and auditing.mended(found, dry_run=dry_run, yes=yes):
        found = auditing.report(store, against, config, baseline)
    counted = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return int(found.frame["severity"].isin(counted).any())
