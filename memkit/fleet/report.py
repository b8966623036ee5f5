"""What the audit of a fleet found, and how it and the fleet are shown; pure."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping

import pandas as pd

from memkit import display, schema
from memkit.cells import count, wrap

_SHOWN = 10  # rows of a table in a repr


class FleetReport:
    """The findings of all stores: `.frame` (store, then schema FINDINGS), `.ok`, `.counts` by severity, `.checked` files.

    `.problems` are the stores that could not be audited; `.stores` counts those that were.
    """

    def __init__(self, frame: pd.DataFrame, stores: int, checked: int, explain: Mapping[str, str], problems: pd.DataFrame):
        self.frame = frame
        self.stores = stores
        self.checked = checked
        self.explain = dict(explain)
        self.problems = problems

    @property
    def counts(self) -> dict[str, int]:
        """Return how many findings there are by severity, worst first; severities without any are left out."""
        counts = self.frame["severity"].value_counts()
        return {name: int(counts[name]) for name in schema.SEVERITY.categories if counts.get(name, 0)}

    @property
    def ok(self) -> bool:
        """Return whether every store was audited (at least one), and none has an error or a warning (hints may be)."""
        return bool(self.stores) and not len(self.problems) and not self.frame["severity"].isin(["error", "warning"]).any()

    def by_store(self) -> pd.DataFrame:
        """Return a row for each store with a finding: store, error, warning, info (how many); the worst first."""
        names = list(schema.SEVERITY.categories)
        table = pd.crosstab(self.frame["store"], self.frame["severity"].astype(schema.STR)).reindex(columns=names, fill_value=0)
        table = table.sort_values(names, ascending=False, kind="stable").reset_index()
        return schema.frame({"store": schema.STR, **dict.fromkeys(names, schema.COUNT)}, dict(table))

    def __repr__(self) -> str:
        """Return the report as text."""
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return display.mimebundle(self._html, self._text)

    def _head(self) -> Iterator[str]:
        found = self.frame["store"].nunique()
        if self.stores:
            yield f"{count(self.stores, 'store')} audited, {count(found, 'store')} with findings"
        else:
            yield "no store was audited, so nothing is known to be right"
        if len(self.problems):
            yield f"{count(len(self.problems), 'store')} could not be audited"

    def _named(self) -> pd.DataFrame:
        """Return the findings with paths that begin with the store's name."""
        store, path = self.frame["store"], self.frame["path"]
        return self.frame.assign(path=store.str.cat("/" + path.fillna("")).str.removesuffix("/"))

    def _text(self) -> str:
        parts = wrap(" · ".join(self._head()))
        parts += [display.report_text(self._named(), self.checked, self.explain)] if self.stores else []
        rest = ["", display.table_text(_brief(self.problems), limit=_SHOWN)] if len(self.problems) else []
        return "\n".join(parts + rest)

    def _html(self) -> str:
        head = display.page(f'<p class="v">{html.escape(" · ".join(self._head()))}</p>')
        rest = display.table_html(_brief(self.problems), limit=_SHOWN) if len(self.problems) else ""
        return head + (display.report_html(self._named(), self.checked, self.explain) if self.stores else "") + rest


def fleet_text(stores: pd.DataFrame, problems: pd.DataFrame) -> str:
    """Return what a fleet is as text: how many stores, the first of them, how many problems."""
    lines = [*wrap(f"fleet  {_facts(stores)}"), "", display.table_text(stores, limit=_SHOWN)]
    return "\n".join(lines + [line for note in _notes(problems) for line in wrap(note)])


def fleet_html(stores: pd.DataFrame, problems: pd.DataFrame) -> str:
    """Return the same as HTML."""
    head = f'<p class="v"><span class="h">fleet</span> {html.escape(_facts(stores))}</p>'
    notes = "".join(f'<p class="s warning">{html.escape(note)}</p>' for note in _notes(problems))
    return display.page(head) + display.table_html(stores, limit=_SHOWN) + (display.page(notes) if notes else "")


def _facts(stores: pd.DataFrame) -> str:
    kinds = stores["layout"].value_counts()
    told = " · ".join(f"{kinds[name]:,} {name}" for name in sorted(kinds.index))
    return count(len(stores), "store") + (f": {told}" if told else "")


def _notes(problems: pd.DataFrame) -> list[str]:
    return [f"{count(len(problems), 'problem')}: see problems()"] if len(problems) else []


def _brief(problems: pd.DataFrame) -> pd.DataFrame:
    return problems[["store", "error", "reason"]]
