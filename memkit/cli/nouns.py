"""More that a store can be asked for: its other frames, one day, the hot layer, a chart, an export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memkit.cli.commands import cli
from memkit.cli.options import CHARTS, choice, format_options, on_frame, on_store
from memkit.cli.output import rows, show, show_facts

if TYPE_CHECKING:
    import pandas as pd

    from memkit.store import Store


@on_frame(cli)
def overview(store: Store) -> pd.DataFrame:
    """List the store's facts: sizes, days, longest gap.

    Example: memkit overview ~/vault --json
    """
    return store.overview().reset_index(names="fact")


@on_frame(cli)
def gaps(store: Store) -> pd.DataFrame:
    """List the runs of days without an entry.

    Example: memkit gaps ~/vault
    """
    return store.gaps()


@on_frame(cli)
def duplicates(store: Store) -> pd.DataFrame:
    """List entries that stand more than once.

    Example: memkit duplicates ~/vault --json
    """
    return store.duplicates()


@on_frame(cli)
def summaries(store: Store) -> pd.DataFrame:
    """List the stored summaries (layers).

    Example: memkit summaries ~/.dsh
    """
    return store.summaries()


@on_frame(cli)
def topics(store: Store) -> pd.DataFrame:
    """List the topics of the hot layer (layers).

    Example: memkit topics ~/.dsh --format csv
    """
    return store.topics()


@on_frame(cli)
def tags(store: Store) -> pd.DataFrame:
    """List every tag of every entry.

    `memkit volume --by tag` counts them.

    Example: memkit tags ~/vault --limit 0
    """
    return store.tags()


@on_frame(cli)
def files(store: Store) -> pd.DataFrame:
    """List every file seen, and why one is not read.

    Example: memkit files ~/vault --json
    """
    return store.files()


@on_store(cli, "DATE", options=format_options("text", "json"))
def day(store: Store, date: str, format: str) -> None:
    """Print one whole day, as its file says it.

    As JSON: path, index, text and entries.

    Example: memkit day ~/vault 2025-02-03
    """
    from memkit.cells import visible

    found = store.day(date)
    if format == "text":
        click.echo("\n".join(map(visible, found.text.rstrip("\n").split("\n"))))
        return
    told = {"path": found.path, "index": found.index, "text": found.text, "entries": rows(found.entries)}
    show_facts(told)


@on_store(cli, options=format_options("text", "json"))
def hot_layer(store: Store, format: str) -> None:
    """Print the hot layer (layers); `memkit hot` replaces it.

    Its body against its limit, how many candidates and topics; as JSON all of them.

    Example: memkit hot-layer ~/.dsh
    """
    found = store.hot()
    if format == "text":
        click.echo(repr(found))
        return
    told = {name: getattr(found, name) for name in ("content", "chars", "limit", "over_limit", "hint")}
    told |= {"candidates": rows(found.candidates), "topics": rows(found.topics)}
    show_facts(told)


@on_store(
    cli,
    "CHART",
    options=[
        click.Option(["--out"], metavar="FILE", help="Save it as .svg, .html or .json instead (.svg: extra plots)."),
        click.Option(["--by"], metavar="KEY", help="Of volume: the time to count by, as month."),
        click.Option(["--year"], type=int, help="Of calendar: the year.  [default: the latest]"),
        *format_options("text", "json"),
    ],
)
def plot(store: Store, chart: str, out: str | None, by: str | None, year: int | None, format: str) -> None:
    """Draw a chart: in the terminal, or to a file.

    CHART is volume, calendar, tags, hours, growth, budget or coverage. As JSON: frame, what is drawn, and spec, in Vega-Lite.

    Example: memkit plot ~/vault volume --out volume.html
    """
    from memkit.cells import visible

    if chart not in CHARTS:
        raise click.UsageError(f"CHART: none is named {chart[:40]!r}; expected {', '.join(CHARTS)}.")
    for name, value, of in (("--by", by, "volume"), ("--year", year, "calendar")):
        if value is not None and chart != of:
            raise click.UsageError(f"{name} goes with {of}.")
    given = {name: value for name, value in (("by", by), ("year", year)) if value is not None}
    drawn = getattr(store.plot, chart)(**given)
    if out is not None:
        click.echo(f"written: {drawn.save(out)}")
        return
    if format == "json":
        show_facts({"frame": rows(drawn.frame), "spec": drawn.spec})
        return
    click.echo("\n".join(map(visible, repr(drawn).split("\n"))))


_KIND = choice("--format", ["parquet", "csv", "json"], "Of the files.", "parquet")


@on_store(cli, "DIR", options=[_KIND, click.Option(["--json"], is_flag=True, help="The same as --format json.")])
def export(store: Store, folder: str, format: str) -> None:
    """Write every frame to a folder outside the store.

    `memkit.read_export` gives them back exactly, in Python.

    Example: memkit export ~/vault exported --format csv
    """
    show(store.export(folder, format), "table", None)
