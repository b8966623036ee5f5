"""The methods of Fleet that prove what the stores hold and write beside them: audit, summarize_all, export."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from memkit import dates, files, schema
from memkit.edits.plan import ROWS
from memkit.fleet import dataset, places
from memkit.fleet.places import Trouble
from memkit.fleet.report import FleetReport

if TYPE_CHECKING:
    from memkit.fleet.fleet import Fleet

_Path = str | os.PathLike[str]


def audit(self: Fleet, *, off: str | Iterable[str] = (), severities: Mapping[str, str] | None = None) -> FleetReport:
    """Return what is wrong with the files of all stores, as Store.audit.

    A store that cannot be audited is not ok either; a folder without one that only a glob matched is.

    Raises: BadArgument for what is no rule or no severity.
    """
    options = {"off": off if isinstance(off, str) else tuple(off), "severities": dict(severities or {})}
    frame, extras, _ = self._answers(self._call("audit", schema.FINDINGS, (), options))
    checked = sum(number for number, _ in extras.values())
    explain = {rule: sentence for _, told in extras.values() for rule, sentence in told.items()}
    lost = sorted(trouble for trouble in {*self._lost, *self._last} if trouble.asked != places.GLOB)
    return FleetReport(frame, len(extras), checked, explain, schema.rows(places.PROBLEMS, lost))


def summarize_all(
    self: Fleet,
    period: str,
    *,
    since: object = None,
    until: object = None,
    stale: bool = True,
    missing: bool = True,
    force: bool = False,
    out: _Path | None = None,
    dry_run: bool = False,
) -> pd.DataFrame:
    """Write the summaries that are missing or stale in every store, as Store.summarize_all; return what was done.

    With `out`, each store's lie in a folder of its name there. A layout without a place for them, and no `out`, is a
    problem of that store. It can be interrupted: called again, it goes on.

    Columns: store, row, action, reason.

    Raises: BadArgument; PathError for an `out` inside a store.
    """
    window = {name: dates.as_day(day, name) if day is not None else None for name, day in (("since", since), ("until", until))}
    if window["since"] and window["until"]:
        dates.window(window["since"], window["until"], names=("since", "until"))
    place = _outside(self, out, "out") if out is not None else None
    options = {**window, "stale": stale, "missing": missing, "force": force, "out": place, "dry_run": dry_run}
    call = self._call("summarize_all", ROWS, (dates.check_period(period),), options)
    frame, extras, _ = self._answers(call, writes=not dry_run, strict=False)
    warnings = ((self._places[name], text) for name, told in extras.items() for text in told)
    self._last += tuple(Trouble(p.name, places.shown(p.root), call.what, "warning", text) for p, text in warnings)
    return frame


def export(self: Fleet, dir: _Path) -> pd.DataFrame:
    """Write the entries, dreams among them, as a Parquet dataset outside the stores; return what was written.

    Its files are `store=<name>/year=<yyyy>/part.parquet`, as DuckDB, Spark, Polars and pandas read partitions; in names,
    what means something in a path is %XX. Entries without a date are of the year 0. Where all names look like numbers or
    dates, a part without rows of the store `(text)` has them read as text; only Dask needs to be told the kinds of `store`
    and `year`, or reads 007 as 7. An earlier export there is replaced, but for stores that gave no answer this time.

    Columns: store, year (missing: undated), file, rows, bytes, sha256.

    Raises: PathError for a folder inside a store, whether of the fleet or not, ExportError if
    anything lies there that no export wrote.
    """
    folder = _outside(self, dir, "dir")
    around = files.store_around(folder)
    files.refuse_inside(folder, [around] if around else [])
    before = dataset.earlier(folder)
    written = self._answers(self._call("export", dataset.WRITTEN, (folder,), {}), writes=True).frame
    unanswered = {lost.store for lost in (*self._lost, *self._last) if lost.asked != places.GLOB}
    dataset.hold_names(folder, [*written["file"], *dataset.sweep(folder, before, written["file"], unanswered)])
    return written


def _outside(self: Fleet, given: _Path, name: str) -> Path:
    """Return a folder that lies in none of the stores.

    Raises: BadArgument, PathError.
    """
    return files.refuse_inside(files.place_of(given, name), [place.root for place in self._places.values()])
