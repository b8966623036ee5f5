"""One measurement in its own process, behind its imports: `python -m tests.benchmarks.child WHAT ROOT LAYOUT [CACHE]`.

WHAT is load, floor, frontmatter, duckdb or foam.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import pyarrow.compute  # noqa: F401  (part of the imports, which count on neither side)

import memkit
import memkit.store
from tests.benchmarks import peers
from tests.benchmarks.measure import highest

PEERS = {
    "floor": peers.floor,
    "frontmatter": peers.frontmatter_frame,
    "duckdb": peers.duckdb_frame,
    "foam": peers.foam,
}
COUNTED = ("frontmatter", "duckdb")  # those that find the items at the margin, as ours does


def measured(what: str, root: str, layout: str, cache: str | None = None) -> dict[str, object]:
    """Return seconds, megabytes at the peak above those of the imports, and items; `cache` is a folder to load from."""
    with ExitStack() as ending:
        if what == "foam":
            root = ending.enter_context(peers.links(Path(root)))
        imported = highest() or 0
        start = perf_counter()
        mem = memkit.open(root, layout=layout, tz="UTC", cache=cache) if what == "load" else None
        found = mem.entries() if mem else PEERS[what](Path(root))
        seconds = perf_counter() - start
        peak = highest()
    if what == "load":
        found = int((found["block"] == "item").sum())
    return {
        "seconds": seconds,
        "peak_mb": None if peak is None else peak - imported,
        "found": found if what in ("load", *COUNTED) else None,
    }


if __name__ == "__main__":
    peers.ready(sys.argv[1])
    json.dump(measured(*sys.argv[1:]), sys.stdout)
