"""The commands that change a store; each prints its plan, and `--dry-run` only that. forget and push ask first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memkit.cli.commands import cli
from memkit.cli.given import lines, said
from memkit.cli.options import PERIODS, choice, format_options, on_frame, on_plan, on_store
from memkit.cli.output import show_facts
from memkit.errors import BadArgument

if TYPE_CHECKING:
    import pandas as pd

    from memkit.edits import Plan
    from memkit.store import Store

TAG = click.Option(["--tag"], metavar="TAG", help="The entry's tag.")


@on_plan(
    cli,
    "TEXT",
    options=[
        TAG,
        click.Option(["--index"], metavar="LINE", help="The day's index, in place of the extracted one (archive)."),
        click.Option(["--important"], is_flag=True, help="Also make it a candidate (layers)."),
    ],
)
def append(store: Store, text: str, tag: str | None, index: str | None, important: bool, dry_run: bool) -> Plan:
    """Add one entry to today's file. TEXT - reads it from stdin.

    Example: memkit append ~/vault "开业日期改到 3 月 15 日" --tag 决定
    """
    return store.append(said(text), tag, index, important=important, dry_run=dry_run)


@on_plan(cli, "FILE", options=[TAG])
def append_many(store: Store, file: str, tag: str | None, dry_run: bool) -> Plan:
    """Add every line of a text file to today's file. FILE - reads stdin.

    All or nothing; blank lines are skipped. --tag is that of each.

    Example: memkit append-many ~/vault lines.txt --tag 待办
    """
    return store.append_many([(line, tag or "") for line in lines(file)], dry_run=dry_run)


@on_plan(cli, "DATE", "SUBJECT", "TEXT")
def correct(store: Store, date: str, subject: str, text: str, dry_run: bool) -> Plan:
    """Correct an earlier day by an entry of today. TEXT - reads it from stdin.

    Example: memkit correct ~/vault 2025-02-03 开业日期 "改到 3 月 15 日"
    """
    return store.correct(date, subject, said(text), dry_run=dry_run)


@on_plan(
    cli,
    "TEXT",
    options=[
        click.Option(["--date"], metavar="DAY", help="The day of the entry that is meant."),
        click.Option(["--replacement"], metavar="TEXT", help="What stands there instead."),
        click.Option(["--new-index"], metavar="LINE", help="The day's new index (archive)."),
        click.Option(["--manifest"], metavar="FILE", help="Say in this manifest what the files are now."),
        click.Option(["--keep"], multiple=True, metavar="ROW", help="Leave this row of the plan, as PATH:LINE, as it is."),
    ],
    asks=True,
)
def forget(store: Store, text: str, keep: tuple[str, ...], **options: str | None) -> Plan:
    """Take an entry out for good, and every copy made from it. TEXT is its exact text; - reads it from stdin.

    Equal entries elsewhere and corrections of it are in the plan too, a row each; --keep leaves some out. Shows the change
    and asks before it applies it; a no exits 1.

    Example: memkit forget ~/vault "红水壶放在窗台" --date 2025-02-03
    """
    return _without(store.forget(said(text), **options), keep)


def _without(plan: Plan, keep: tuple[str, ...]) -> Plan:
    rows = plan.rows["row"].tolist()
    wrong = [row for row in keep if row not in rows]
    if wrong:
        raise BadArgument(f"keep: {wrong[0]!r} is no row of this plan; look at it with --dry-run")
    return plan.without(*map(rows.index, keep)) if keep else plan


@on_plan(
    cli,
    "FILE",
    options=[click.Option(["--forget-missing"], is_flag=True, help="Entries that FILE lacks are forgotten.")],
    asks=True,
)
def push(store: Store, file: str, forget_missing: bool) -> Plan:
    """Append and correct what an edited export says. FILE is Parquet, as `entries(editable=True)` was saved.

    Shows the change and asks before it applies it; a no exits 1.

    Example: memkit push ~/vault edited.parquet --dry-run
    """
    from memkit.export import read_frame

    return store.push(read_frame(file), forget_missing=forget_missing)


@on_plan(cli)
def catch_up(store: Store, dry_run: bool) -> Plan:
    """Give finished days their catalog rows (archive).

    Example: memkit catch-up ~/vault
    """
    return store.catch_up(dry_run=dry_run)


@on_plan(cli, options=[click.Option(["--year"], type=int, help="Only this year.  [default: all]")])
def rebuild(store: Store, year: int | None, dry_run: bool) -> Plan:
    """Write the catalog afresh from the day files (archive).

    Example: memkit rebuild ~/vault --year 2025
    """
    return store.rebuild_catalog(year, dry_run=dry_run)


@on_plan(cli, "CONTENT")
def hot(store: Store, content: str, dry_run: bool) -> Plan:
    """Replace the body of the hot layer (layers). CONTENT - reads it from stdin.

    Example: memkit hot ~/.dsh - < hot-body.md
    """
    return store.hot_set(said(content), dry_run=dry_run)


@on_plan(cli, "TEXT", options=[choice("--target", ["longterm", "daily"], "Where to.", "longterm"), TAG])
def store(store: Store, text: str, target: str, tag: str | None, dry_run: bool) -> Plan:
    """Add one line to MEMORY.md, or to today's log (workspace). TEXT - reads it from stdin.

    Example: memkit store ~/agent "喜欢手冲，不加糖"
    """
    return store.store(said(text), target, tag=tag, dry_run=dry_run)


@on_plan(cli, "TEXT")
def mark_forgotten(store: Store, text: str, dry_run: bool) -> Plan:
    """Mark a text as forgotten in MEMORY.md (workspace).

    Search leaves out what is equal to it; nothing is deleted (`memkit forget` does that). TEXT - reads it from stdin.

    Example: memkit mark-forgotten ~/agent "喜欢手冲，不加糖"
    """
    return store.mark_forgotten(said(text), dry_run=dry_run)


REBUILD = click.Option(["--rebuild"], is_flag=True, help="Build it anew: nothing that was deleted stays in it.")


@on_store(cli, options=[REBUILD, *format_options("text", "json")])
def sync(store: Store, rebuild: bool, format: str) -> None:
    """Make or refresh the search index (workspace).

    Example: memkit sync ~/agent
    """
    done = store.sync(rebuild=rebuild)
    if format == "json":
        told = {name: getattr(done, name) for name in ("chunks", "files", "changed", "seconds", "warning")}
        show_facts({"path": str(done.path), **told})
        return
    click.echo(f"{done.path}: {done.chunks:,} entries of {done.files:,} files, {done.changed:,} read, {done.seconds:g} s")
    if done.warning:
        click.echo(f"memkit: {done.warning}", err=True)


@on_plan(cli, "TOPIC", "MONTH")
def topic(store: Store, topic: str, month: str, dry_run: bool) -> Plan:
    """Add one topic to the hot layer (layers).

    Example: memkit topic ~/.dsh 翻唱 2025-02
    """
    return store.topics_add(topic, month, dry_run=dry_run)


PERIOD = choice("--period", PERIODS, "What to sum up.", "week")
DATE = click.Option(["--date"], metavar="DAY", help="A day in it, or its own key, as 2025-W09.  [default: today]")


@on_plan(
    cli,
    options=[
        PERIOD,
        DATE,
        click.Option(["--all"], is_flag=True, help="All that are over and lack one, or whose is out of date."),
        click.Option(["--since"], metavar="DAY", help="With --all: only those that reach this day."),
        click.Option(["--until"], metavar="DAY", help="With --all: those begun by this day, also unfinished ones."),
        click.Option(["--force"], is_flag=True, help="Make them afresh, whatever there is."),
        click.Option(["--out"], metavar="DIR", help="Write them to this folder; archive and workspace need it."),
    ],
)
def summarize(
    store: Store, period: str, date: str | None, all: bool, since: str | None, until: str | None, **options: Any
) -> Plan:
    """Write one summary, or all that are missing.

    Example: memkit summarize ~/vault --period week --all --out ~/summaries
    """
    if all and date is not None:
        raise click.UsageError("--date goes without --all; --since and --until make a window.")
    if not all and (since is not None or until is not None):
        raise click.UsageError("--since and --until go with --all.")
    return store.summarize_all(period, since=since, until=until, **options) if all else store.summarize(period, date, **options)


@on_store(cli, options=[PERIOD, DATE, *format_options("text", "json")])
def summary(store: Store, period: str, date: str | None, format: str) -> None:
    """Print a summary; nothing is written.

    Example: memkit summary ~/vault --period month --date 2025-02
    """
    from memkit import dates
    from memkit.cells import visible

    text = store.summary(period, date)
    if format == "json":
        clock = dates.clock_of(click.get_current_context().params["now"], store.tz)
        key = dates.key_of(period, date if date is not None else clock().date())
        show_facts({"period": period, "key": key, "chars": len(text), "text": str(text)})
        return
    click.echo("\n".join(map(visible, text.rstrip("\n").split("\n"))))


@on_frame(cli, "SUMMARY")
def trace(store: Store, summary: str) -> pd.DataFrame:
    """List the entry behind each line of a stored summary. SUMMARY is its path.

    Example: memkit trace ~/.dsh summaries/week/2025-W08.md
    """
    return store.trace(summary)


@on_frame(cli, options=[click.Option(["--out"], metavar="FILE", help="Also save it as Parquet, for audit --against.")])
def manifest(store: Store, out: str | None) -> pd.DataFrame:
    """List finished days with size and hash.

    Example: memkit manifest ~/vault --out january.parquet
    """
    return store.manifest(out)[["path", "size", "sha256", "entries"]]
