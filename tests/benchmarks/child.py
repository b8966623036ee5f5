"""One measurement in a process of its own, behind its imports: `python -m tests.benchmarks.child load|floor ROOT LAYOUT`."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import perf_counter

import pyarrow.compute  # noqa: F401  (part of the imports, which count on neither side)

import memkit
import memkit.store
from tests.benchmarks import peers


def main(what: str, root: str, layout: str) -> None:
    """Write seconds, and megabytes at the peak above those of the imports, as JSON."""
    imported = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    rows = peers.floor(Path(root)) if what == "floor" else len(memkit.open(root, layout=layout, tz="UTC").entries())
    seconds = perf_counter() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - imported) / 1024
    json.dump({"seconds": seconds, "peak_mb": peak, "rows": rows}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
