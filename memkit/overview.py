"""The overview: one column of facts about a store, dsh's mem_stats among them, for every layout; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from memkit.model import Records
from memkit.views import HotLayer


def overview(
    layout: str, root: str, entries: pd.DataFrame, days: pd.DataFrame, records: Iterable[Records], hot: HotLayer
) -> pd.DataFrame:
    """Return the facts of a store, a row each, in the one column `value`; months come newest first.

    Facts of the hot layer and of summaries are 0 in layouts without them, dates are missing when there is none.
    """
    facts: dict[str, Any] = {"layout": layout, "root": root}
    facts |= _totals(entries, days)
    facts |= {"hot.chars": hot.chars, "hot.limit": hot.limit, "hot.overLimit": hot.over_limit}
    facts |= {"hot.candidates": len(hot.candidates), "hot.topics": len(hot.topics)}
    facts |= _cold(days)
    facts |= _summaries(records)
    return pd.Series(facts, name="value", dtype=object).rename_axis("fact").to_frame()


def _totals(entries: pd.DataFrame, days: pd.DataFrame) -> dict[str, Any]:
    dated = entries["date"].dropna()
    return {
        "entries": len(entries),
        "chars": int(entries["chars"].sum()),
        "days": len(days),
        "first": _day(dated.min()),
        "last": _day(dated.max()),
        "tags": int(entries["tag"].nunique()),
        "untagged": int(entries["tag"].isna().sum()),
        "undated": len(entries) - len(dated),
    }


def _cold(days: pd.DataFrame) -> dict[str, Any]:
    """Return the facts of the dated files, in all and by month."""
    facts: dict[str, Any] = {
        "cold.files": int(days["files"].sum()),
        "cold.entries": int(days["entries"].sum()),
        "cold.latest": _day(days["date"].max()),
    }
    by_month = days.groupby(days["date"].dt.strftime("%Y-%m"))
    for month, held in sorted(by_month, reverse=True, key=lambda group: str(group[0])):
        facts[f"cold.months.{month}.files"] = int(held["files"].sum())
        facts[f"cold.months.{month}.entries"] = int(held["entries"].sum())
        facts[f"cold.months.{month}.latest"] = _day(held["date"].max())
    return facts


def _summaries(records: Iterable[Records]) -> dict[str, Any]:
    held = [record.summary for record in records if record.summary]
    facts: dict[str, Any] = {}
    for period in ("day", "week", "month"):
        facts[f"summaries.{period}.files"] = sum(summary.period == period for summary in held)
        facts[f"summaries.{period}.chars"] = sum(summary.chars for summary in held if summary.period == period)
    return facts


def _day(value: Any) -> str | None:
    return None if pd.isna(value) else str(value.date())
