"""`python -m tests.benchmarks`: builds invented stores, measures ours, the floor and the peers in turns, prints one table."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import click

from tests.benchmarks import corpus, fleet, index, notebook, questions, rows, table
from tests.benchmarks.measure import Row, measured

LAYOUTS = ("layers", "archive", "workspace")
STORES = (*LAYOUTS, "archive-rich")  # by the folder that each is built in; the layout is the first word of its name
DECADE = corpus.SIZES["decade"][0] * corpus.SIZES["decade"][1]
FLEET = (30, 20)  # day files of each store of a fleet, and entries of each


@click.command()
@click.option("--size", default="decade", show_default=True, type=click.Choice(list(corpus.SIZES)), help="Of each store.")
@click.option("--files", type=int, help="Day files of each store, instead of what the size says.")
@click.option("--entries", type=int, help="Entries of each day file, instead of what the size says.")
@click.option(
    "--blocks", type=int, help="Blocks of the search index.  [default: a million, and as the entries of a small store]"
)
@click.option("--stores", default=200, show_default=True, help="Stores of the fleet.")
@click.option("--rounds", default=9, show_default=True, help="How often each row is measured.")
@click.option("--seconds", default=15.0, show_default=True, help="When a row has enough, if five rounds are done.")
@click.option("--only", default="", help="Only rows whose name holds this.")
@click.option("--keep", type=click.Path(path_type=Path), help="A folder to build the stores in, or to find them again.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write the figures to this file too.")
@click.option("--markdown", type=click.Path(path_type=Path), help="Put the table between the markers of this file too.")
def main(
    size: str,
    files: int | None,
    entries: int | None,
    blocks: int | None,
    stores: int,
    rounds: int,
    seconds: float,
    only: str,
    keep: Path | None,
    target: Path | None,
    markdown: Path | None,
) -> None:
    """Measure memkit beside the floor and what people do without it, over stores of one size."""
    files, entries = files or corpus.SIZES[size][0], entries or corpus.SIZES[size][1]
    about = (
        f"{files:,} day files, {files * entries:,} entries a store; medians of up to {rounds} rounds, in turns. "
        f"Goals are meant for the size decade."
    )
    found, start, machine = [], perf_counter(), f"{table.machine()} Load: {table.load()} when it began"
    click.echo(f"{about}\n{machine}.\n\n{table.terminal(table.HEAD)}")
    with _folder(keep) as folder:
        for row in every(folder, files, entries, blocks or _blocks(files * entries), stores, only):
            if only in row.name:
                found.append(measured(row, rounds, seconds))
                for line in table.lines(found[-1]):
                    click.echo(table.terminal(line))
    machine += f", {table.load()} when it ended."
    click.echo(f"\n{perf_counter() - start:,.0f} s; {machine}")
    if target:
        told = {"files": files, "entries": entries, "rounds": rounds, "machine": machine, "rows": found}
        target.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if markdown:
        table.written(markdown, table.markdown(found, f"{about}\n\n{machine}"))


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
    else:
        with tempfile.TemporaryDirectory(prefix="memkit-benchmark-") as name:
            yield Path(name)


def _blocks(entries: int) -> int:
    """Return how many blocks the index holds: those that its goals are meant for, unless the stores are small."""
    return entries if entries < DECADE else max(entries, 1_000_000)


def every(folder: Path, files: int, entries: int, blocks: int, stores: int, only: str = "") -> Iterator[Row]:
    """Yield all rows, over stores that are built in a folder where they are not there yet."""
    for name in STORES:
        if not (folder / name).is_dir():
            corpus.build(folder / name, name, files=files, entries=entries)
    for layout in LAYOUTS:
        yield from rows.loads(folder / layout, layout)
        yield from rows.loads_from_cache(folder / layout, layout)
    yield from rows.loads(folder / "archive-rich", "archive", "a rich archive")
    yield from rows.loads_from_cache(folder / "archive-rich", "archive", "a rich archive")
    yield from rows.reloads(folder / "layers")
    yield from questions.questions(folder / "layers")
    yield from questions.near_to_far(folder / "archive")
    yield from rows.sums(folder / "layers")
    for layout in LAYOUTS:
        yield from rows.audits(folder / layout, layout)
    with tempfile.TemporaryDirectory(prefix="memkit-benchmark-") as scratch:
        yield from rows.writes(folder, Path(scratch))
        yield from rows.summaries(folder / "layers", Path(scratch))
        yield from questions.catalogs(Path(shutil.copytree(folder / "archive", Path(scratch) / "catalogs")), Path(scratch))
        if not only or only.startswith("index"):  # its blocks alone take a while to make up
            yield from index.rows(Path(scratch), blocks)
    if not only or "stores" in only:
        yield from _fleet(folder / f"fleet-{stores}", stores)
    if not only or only.startswith("explorer"):  # a JupyterLab and a browser take their time to start
        with tempfile.TemporaryDirectory(prefix="memkit-benchmark-") as own:
            yield from notebook.keys(folder, Path(own))
    yield from rows.starts(folder / "layers")


def _fleet(folder: Path, stores: int) -> Iterator[Row]:
    if not folder.is_dir():
        fleet.build(folder, stores=stores, days=FLEET[0], entries=FLEET[1])
    yield from fleet.rows(folder)


if __name__ == "__main__":
    main()
