"""The search index beside a plain scan: rows over some hundred thousand invented blocks that never become files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pandas as pd

from memkit import fts, match, schema
from tests.benchmarks import corpus
from tests.benchmarks.measure import Clocked, Row

A_FILE = 50  # blocks
HITS = 50  # of the rare word


class Blocks:
    """Invented blocks in files of fifty: what fts.sync asks for, and the folded texts that a scan looks through."""

    def __init__(self, count: int, seed: int = 11):
        random = Random(seed)
        self.texts = [corpus.sentence(random) + ("，用蓝釉茶则" if n % (count // HITS) == 0 else "") for n in range(count)]
        self.folded = [match.fold(text) for text in self.texts]
        self.paths = [f"memory/{number:06d}.md" for number in range(count // A_FILE)]
        self.seen = dict.fromkeys(self.paths, (1, 1, None))

    def entries(self, paths: list[str]) -> pd.DataFrame:
        """Return the entries of some files."""
        places = [place for path in paths for place in range(int(path[7:13]) * A_FILE, (int(path[7:13]) + 1) * A_FILE)]
        texts = [self.texts[place] for place in places]
        lines = [place % A_FILE + 1 for place in places]
        held = {
            "text": texts,
            "chars": [len(text) for text in texts],
            "path": [self.paths[place // A_FILE] for place in places],
        }
        count = len(places)
        fill = {name: [0] * count if dtype == schema.COUNT else [None] * count for name, dtype in schema.ENTRIES.items()}
        named = {"kind": ["note"] * count, "block": ["item"] * count, "line": lines, "end_line": lines}
        return schema.frame(schema.ENTRIES, {**fill, **named, **held})

    def scan(self, term: str) -> int:
        """Return how many blocks hold a term."""
        wanted = match.fold(term)
        return sum(wanted in text for text in self.folded)


def rows(scratch: Path, count: int) -> Iterator[Row]:
    """Yield the build, the questions and the refresh of an index of `count` blocks."""
    blocks, target = Blocks(count), scratch / "index.sqlite"
    size = f"{count:,} blocks"

    def build() -> None:
        fts.sync(target, blocks.seen, blocks.entries, rebuild=True)

    def touch() -> None:
        path = blocks.paths[len(blocks.paths) // 2]
        blocks.seen[path] = (1, blocks.seen[path][1] + 1, None)

    phrase, short = corpus.NEEDLES[0], corpus.NEEDLES[2]
    refresh = Clocked(lambda: fts.sync(target, blocks.seen, blocks.entries), before=touch)
    yield Row(f"index: refresh one file of {size}", "build it", refresh, Clocked(build), 0.01)
    for name, term, goal in (("3 characters", "蓝釉茶", 0.05), ("3 frequent characters", phrase, None)):
        scan = Clocked(lambda term=term: blocks.scan(term))
        hits = len(fts.find(target, [term]))
        find = Clocked(lambda term=term: fts.find(target, [term]))
        yield Row(f"index: {name}, {hits:,} hits", "plain scan", find, scan, goal)
    best = Clocked(lambda: fts.find(target, [short], limit=10))
    yield Row(f"index: {short!r}, the best 10 of {size}", "plain scan", best, Clocked(lambda: blocks.scan(short)))
    megabytes = target.stat().st_size / 1e6
    yield Row(f"index: {megabytes:,.0f} MB, look at its files", "plain scan", Clocked(lambda: fts.look(target)), scan)
