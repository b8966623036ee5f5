"""The report of a store as one HTML file: what is gathered for it; how it looks is report_page's, and the charts are plots'."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from memkit import dates, display, files
from memkit.errors import BadArgument
from memkit.plots import Chart, Plots
from memkit.report_page import Report, report

if TYPE_CHECKING:
    from memkit.store import Store

FINDINGS = 50


def write_report(store: Store, out: object) -> Path:
    """Write the report of a store to a file outside it: one page without script, which needs no network; return its path.

    With the extra `plots` its charts are SVG, else bars.

    Raises: BadArgument for what is no path, PathError for a target inside the store, DiskError.
    """
    target = files.place_of(out, "out")
    files.refuse_inside(target, [store.root])
    files.write_output(target, report(facts(store)).encode(), stores=[store.root])
    return target


def facts(store: Store) -> Report:
    """Return what the report of a store says."""
    now = store._clock()
    found = store.audit()
    return Report(
        card=store._card(),
        made=f"as of {now:%Y-%m-%d %H:%M}, times in {now.tzinfo}",
        figures=[chart.figure() for chart in charts(store)],
        audit=display.report_html(found.frame, found.checked, found.explain, limit=FINDINGS),
        summaries=list(summaries(store, now.date())),
    )


def charts(store: Store) -> Iterator[Chart]:
    """Yield the charts of a report, those that draw something."""
    plot = Plots(store)
    drawn = (*_volume(plot), plot.calendar(), plot.tags(), plot.hours(), plot.growth(), plot.budget(), plot.coverage())
    yield from (chart for chart in drawn if len(chart.frame))


def _volume(plot: Plots) -> Iterator[Chart]:
    """Yield the volume by month, by year where one date far off makes too many months, nothing if even years are too many."""
    for by, split in (("month", "tag"), ("year", None)):
        with contextlib.suppress(BadArgument):
            yield plot.volume(by, split=split)
            return


def summaries(store: Store, today: date) -> Iterator[str]:
    """Yield the summaries of the latest week and month that have entries, and are not after those of today."""
    days = store.entries()["date"].dropna().dt.date
    for period in ("week", "month"):
        until = dates.period_days(period, dates.period_key(period, today))[-1]
        held = days[days <= until]
        if len(held):
            yield store.summary(period, held.max())
