"""A fleet of invented stores, asked by one process and by two: `python -m tests.benchmarks.fleet`.

Medians of rounds in turns; the workers' memory is their peak above what the first store left.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import click

import memkit
from memkit.fleet import Fleet
from tests.benchmarks import corpus, peers
from tests.benchmarks.measure import Clocked, Peer, Row

LAYOUTS = ("layers", "archive", "workspace")
NOW = f"{corpus.LAST_DAY}T21:30+00:00"
GOAL = round(1 / 1.6, 3)  # two processes beside one
QUESTIONS: dict[str, Callable[[Fleet], object]] = {
    "entries()": Fleet.entries,
    "volume('month')": Fleet.volume,
    "volume('tag', total=True)": lambda fleet: fleet.volume("tag", total=True),
    "audit()": Fleet.audit,
}


def build(folder: Path, *, stores: int, days: int, entries: int) -> None:
    """Write stores of all layouts in turn, each of other texts."""
    for number in range(stores):
        layout = LAYOUTS[number % len(LAYOUTS)]
        corpus.build(folder / f"{number:04d}-{layout}", layout, files=days, entries=entries, seed=number)


def rows(folder: Path, *, workers: int = 2) -> Iterator[Row]:
    """Yield what several processes, already started, answer beside one in turns; each question loads every store afresh."""
    count = sum(1 for _ in folder.iterdir())
    one = memkit.open_many(folder / "*", tz="UTC", now=NOW, workers=1, progress=False)
    least = Peer("read + decode", Clocked(lambda: peers.floor(folder)))
    with memkit.open_many(folder / "*", tz="UTC", now=NOW, workers=workers, progress=False) as many:
        for name, ask in QUESTIONS.items():
            ours, peer = (Clocked(partial(ask, fleet), found=_size) for fleet in (many, one))
            yield Row(f"{count:,} stores, {workers} processes: {name}", "one process", ours, peer, GOAL, floor=least)


def _size(answer: object) -> int:
    return len(getattr(answer, "frame", answer))


@click.command()
@click.option("--stores", default=1000, show_default=True, help="Stores of the fleet, a third of each layout.")
@click.option("--days", default=30, show_default=True, help="Day files of each store.")
@click.option("--entries", default=20, show_default=True, help="Entries of each day file.")
@click.option("--rounds", default=5, show_default=True, help="How often each pair is measured.")
@click.option("--workers", default=2, show_default=True, help="Processes of the second fleet.")
@click.option("--keep", type=click.Path(path_type=Path), help="A folder to build the stores in, or to find them again.")
def main(stores: int, days: int, entries: int, rounds: int, workers: int, keep: Path | None) -> None:
    """Measure how much faster several processes answer than one, and what they take."""
    with tempfile.TemporaryDirectory(prefix="memkit-fleet-") as scratch:
        folder = keep or Path(scratch)
        if not any(folder.glob("*")):
            build(folder, stores=stores, days=days, entries=entries)
        start = perf_counter()
        one = memkit.open_many(folder / "*", tz="UTC", now=NOW, workers=1)
        click.echo(f"{len(one):,} stores found in {perf_counter() - start:.2f} s; medians of {rounds} rounds in turns")
        click.echo(f"{'':28} {'1 process s':>12} {f'{workers} processes s':>14} {'ratio':>6}")
        with memkit.open_many(folder / "*", tz="UTC", now=NOW, workers=workers) as many:
            start = perf_counter()
            many.volume()
            click.echo(f"{'first question, with start':28} {'':12} {perf_counter() - start:14.2f}")
            for name, ask in QUESTIONS.items():
                pairs = [(_seconds(ask, one), _seconds(ask, many)) for _ in range(rounds)]
                ratio = median(single / several for single, several in pairs)
                click.echo(f"{name:28} {median(a for a, _ in pairs):12.2f} {median(b for _, b in pairs):14.2f} {ratio:6.2f}")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        click.echo(f"peak of the largest worker: {peak:,.0f} MB")


def _seconds(ask: Callable[[Fleet], object], fleet: Fleet) -> float:
    start = perf_counter()
    ask(fleet)
    return perf_counter() - start


if __name__ == "__main__":
    main()
