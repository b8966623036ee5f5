"""Chart: one drawing as a Vega-Lite 5 spec, the frame it draws and the same facts as bars; shown, or saved to a file.

Its SVG is made from the very spec by vl-convert (the extra `plots`). Nothing in here knows what the numbers mean.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from memkit import display, files
from memkit.cells import count, wrap
from memkit.display import MOST_BARS, Bar
from memkit.errors import BadArgument, UnsupportedError
from memkit.report_page import document

VEGALITE = "application/vnd.vegalite.v5+json"
EMBED = {"renderer": "svg", "actions": False}  # real text in the page, and no menu that offers to open an outside editor
COMPILER = "5.21"  # the last Vega-Lite 5 that vl-convert has
SUFFIXES = (".svg", ".html", ".json")
EMPTY = "nothing to draw yet"


@dataclass(frozen=True, slots=True)
class Bars:
    """Rows of a chart as bars: (label, counts), the last of which is drawn; `units` name the counts.

    Of too many, the first are shown if they are the `largest`, else the last, which are the latest.
    """

    rows: Sequence[Bar]
    units: tuple[str, ...]
    what: str = "row"
    largest: bool = False

    def shown(self) -> tuple[list[Bar], str]:
        """Return the rows that a page has room for, and how many they are of how many."""
        if len(self.rows) <= MOST_BARS:
            return list(self.rows), ""
        rows = list(self.rows[:MOST_BARS] if self.largest else self.rows[-MOST_BARS:])
        return rows, f"{'largest' if self.largest else 'latest'} {len(rows)} of {count(len(self.rows), self.what)}"

    def text(self) -> str:
        """Return the bars as text."""
        rows, cut = self.shown()
        return "\n".join([display.bars_text(rows, *self.units), *wrap(cut)] if rows else [EMPTY])

    def html(self) -> str:
        """Return the bars as HTML to put in a page."""
        rows, cut = self.shown()
        return f"{display.bars_html(rows, *self.units)}{_said(cut)}" if rows else _said(EMPTY)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chart:
    """A chart: `spec` is one Vega-Lite 5 dict with its data inside, `frame` exactly what is drawn, `note` what is not.

    Notebooks draw the spec; with the extra `plots` an SVG of it lies beside, for where there is no Vega.
    """

    title: str
    spec: dict[str, Any]
    frame: pd.DataFrame
    bars: Sequence[Bars]
    store: Path
    note: str = ""

    def svg(self) -> str:
        """Return the chart as SVG, made from the spec.

        Raises: UnsupportedError without the extra `plots`.
        """
        try:
            import vl_convert
        except ImportError as error:
            raise UnsupportedError("svg: vl-convert is not installed; pip install 'agent-memkit[plots]'") from error
        return str(vl_convert.vegalite_to_svg(self.spec, vl_version=COMPILER, allowed_base_urls=[]))

    def save(self, out: Any) -> Path:
        """Save the chart as .svg, .html or .json (the spec) outside the store, and return the path.

        The HTML is one page without script that needs no network: the SVG, or without the extra `plots` the bars.

        Raises: BadArgument for another suffix, UnsupportedError for .svg without the extra, PathError for a target
            inside the store, DiskError.
        """
        target = files.place_of(out, "out")
        suffix = target.suffix.lower()
        if suffix not in SUFFIXES:
            raise BadArgument(f"out: {str(out)[-40:]!r}; expected a name that ends in {', '.join(SUFFIXES)}")
        if suffix == ".json":
            text = json.dumps(self.spec, ensure_ascii=False, indent=1) + "\n"
        else:
            text = self.svg() if suffix == ".svg" else document(self.title, self.figure())
        files.write_output(target, text.encode(), stores=[self.store])
        return target

    def figure(self) -> str:
        """Return the chart as HTML to put in a page: the SVG, or without the extra `plots` the bars."""
        try:
            return f'<figure class="svg" aria-label="{escape(self.title)}">{self.svg()}</figure>'
        except UnsupportedError:
            parts = [f"<p><b>{escape(self.title)}</b></p>", *(bars.html() for bars in self.bars), _said(self.note)]
            return f"<figure>{display.page(''.join(parts))}</figure>"

    def __repr__(self) -> str:
        """Return the title, the numbers as bars, and what is left out."""
        return "\n".join([*wrap(self.title), "\n".join(bars.text() for bars in self.bars), *wrap(self.note)])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle: dict[str, Any] = {"text/plain": repr(self), VEGALITE: self.spec}
        with contextlib.suppress(Exception):  # without the extra, the spec is all there is
            bundle["image/svg+xml"] = self.svg()
        return bundle, {VEGALITE: {"embed_options": dict(EMBED)}}


def _said(text: str) -> str:
    return f'<p class="q">{escape(text)}</p>' if text else ""
