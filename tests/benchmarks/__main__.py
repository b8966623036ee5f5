"""`python -m tests.benchmarks`: builds invented stores, measures ours and the peer in turns, prints one table of ratios."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import click

from tests.benchmarks import corpus, index, notebook, rows

LAYOUTS = ("layers", "archive", "workspace")


@click.command()
@click.option("--files", default=3650, show_default=True, help="Day files of each store.")
@click.option("--entries", default=50, show_default=True, help="Entries of each day file.")
@click.option("--rounds", default=9, show_default=True, help="How often each pair is measured.")
@click.option("--only", default="", help="Only rows whose name holds this.")
@click.option("--blocks", default=1_000_000, show_default=True, help="Blocks of the search index.")
@click.option("--keep", type=click.Path(path_type=Path), help="A folder to build the stores in, or to find them again.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write the figures to this file too.")
def main(files: int, entries: int, rounds: int, only: str, blocks: int, keep: Path | None, target: Path | None) -> None:
    """Measure memkit beside the floor and grep, over stores of FILES files with ENTRIES entries each."""
    click.echo(
        f"{files:,} files, {files * entries:,} entries a store; medians of {rounds} rounds, ours and the peer in turns\n"
    )
    click.echo(f"{'':52} {'ours ms':>9} {'peer ms':>9} {'ratio':>7} {'goal':>6} {'peak MB':>8}  peer")
    found = []
    with _folder(keep) as folder:
        for layout in LAYOUTS:
            if not (folder / layout).is_dir():
                corpus.build(folder / layout, layout, files=files, entries=entries)
        for row in _all(folder, blocks, only):
            if only in row.name:
                found.append(_measured(row, rounds))
                click.echo(_line(found[-1]))
    if target:
        target.write_text(
            json.dumps({"files": files, "entries": entries, "rounds": rounds, "rows": found}, ensure_ascii=False, indent=1)
        )


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
    else:
        with tempfile.TemporaryDirectory(prefix="memkit-benchmark-") as name:
            yield Path(name)


def _all(folder: Path, blocks: int, only: str) -> Iterator[rows.Row]:
    for layout in LAYOUTS:
        yield from rows.loads(folder / layout, layout)
    yield from rows.reloads(folder / "layers")
    yield from rows.questions(folder / "layers")
    yield from rows.sums(folder / "layers")
    for layout in LAYOUTS:
        yield from rows.audits(folder / layout, layout)
    with tempfile.TemporaryDirectory(prefix="memkit-benchmark-") as scratch:
        yield from rows.writes(folder, Path(scratch))
        yield from rows.summaries(folder / "layers", Path(scratch))
        if not only or only.startswith("index"):  # its blocks alone take half a minute to make up
            yield from index.rows(Path(scratch), blocks)
    if not only or only.startswith("explorer"):
        with tempfile.TemporaryDirectory(prefix="memkit-benchmark-") as own:
            yield from notebook.keys(folder, Path(own))
    yield from rows.starts()


def _measured(row: rows.Row, rounds: int) -> dict[str, object]:
    """Return the medians; the ratio is the median of the rounds' own, since a busy machine slows both sides of a round."""
    row.ours(), row.peer()  # once unmeasured: the page cache is warm, lazy imports are done
    pairs = [(row.ours(), row.peer()) for _ in range(rounds)]
    peaks = [ours.peak_mb for ours, _ in pairs if ours.peak_mb is not None]
    return {
        "row": row.name,
        "peer": row.peer_name,
        "ours_ms": 1000 * median(ours.seconds for ours, _ in pairs),
        "peer_ms": 1000 * median(peer.seconds for _, peer in pairs),
        "ratio": median(ours.seconds / peer.seconds for ours, peer in pairs),
        "best_ratio": min(ours.seconds for ours, _ in pairs) / min(peer.seconds for _, peer in pairs),
        "goal": row.goal,
        "peak_mb": median(peaks) if peaks else None,
    }


def _line(found: dict[str, object]) -> str:
    goal = f"{found['goal']:>6}" if found["goal"] else f"{'':6}"
    peak = f"{found['peak_mb']:8.0f}" if found["peak_mb"] else f"{'':8}"
    name = str(found["row"])
    wide = sum(ord(character) > 0x2E80 for character in name)  # such characters take two columns
    figures = f"{found['ours_ms']:9.1f} {found['peer_ms']:9.1f} {found['ratio']:7.2f}"
    return f"{name:{52 - wide}} {figures} {goal} {peak}  {found['peer']}"


if __name__ == "__main__":
    main()
