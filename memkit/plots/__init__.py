"""mem.plot: a chart of each thing that can be counted; sums are `stats`, looks are `specs`, showing and saving is Chart's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from memkit import stats
from memkit.plots import frames, specs
from memkit.plots.chart import Bars, Chart

if TYPE_CHECKING:
    from memkit.store import Store

__all__ = ["Bars", "Chart", "Plots"]


class Plots:
    """The charts of a store. Each is drawn from the folder as it is now; `.frame` holds exactly what is drawn."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __repr__(self) -> str:
        """Return which charts there are."""
        return f"plot: {' '.join(name for name in vars(type(self)) if not name.startswith('_'))}"

    def volume(self, by: str = "month", *, split: str | None = None) -> Chart:
        """Draw characters by day, week, month, year, weekday or hour, as `mem.volume` counts them.

        `split` stacks them by tag (an entry counts once, under its first), kind or label: the largest nine, or eight and
        one `other`. Frame: the key, with `split` its name and rank, entries, chars. What has no time comes last.

        Raises: BadArgument for another `by` or `split`, or for more than 5,000 bars: take a longer time then.
        """
        drawn = frames.volume(self._entries(), by, split, self._store.tz)
        title = f"Characters by {by}" + (f" and {split}" if split else "")
        spec = specs.volume(title, drawn.frame, drawn.keys, by, split, drawn.named)
        whole = drawn.frame.groupby(by)[["entries", "chars"]].sum().reindex(drawn.keys, fill_value=0).reset_index()
        bars = [_bars(whole, by, "entries", "chars", what=by)]
        if split is not None and len(whole):
            groups = drawn.frame.groupby(["rank", split])[["entries", "chars"]].sum().reset_index()
            bars.append(_bars(groups, split, "entries", "chars", what=split))
        return self._chart(title, spec, drawn, *bars)

    def calendar(self, year: int | None = None) -> Chart:
        """Draw the days of a year, weeks across and weekdays down; by default the latest year with entries.

        Frame: date, week (ISO), weekday, entries, chars; each day of the year has its row.

        Raises: BadArgument if `year` is none.
        """
        drawn = frames.calendar(self._entries(), year, self._store._clock().date())
        title = "Entries by day" + (f", {drawn.frame['date'].iloc[0].year}" if len(drawn.frame) else "")
        months = drawn.frame.assign(month=drawn.frame["date"].dt.strftime("%Y-%m"))
        months = months.groupby("month")[["chars", "entries"]].sum().reset_index()
        spec = specs.calendar(title, drawn.frame, drawn.keys, drawn.note)
        return self._chart(title, spec, drawn, _bars(months, "month", "chars", "entries", what="month"))

    def tags(self, top: int = 20) -> Chart:
        """Draw the tags with most characters, the rest as one `other`; an entry counts under each of its tags.

        Frame: tag, entries, chars. How much has no tag is said beside.

        Raises: BadArgument if `top` is no whole number of at least 1.
        """
        drawn = frames.tags(self._store.volume("tag"), top)
        title = "Characters by tag"
        spec = specs.tags(title, drawn.frame, drawn.keys, drawn.note)
        return self._chart(title, spec, drawn, _bars(drawn.frame, "tag", "entries", "chars", largest=True, what="tag"))

    def hours(self) -> Chart:
        """Draw the entries of each hour of the day; how many have none is said beside. Frame: hour, entries, chars."""
        drawn = frames.hours(self._store.volume("hour"))
        title = "Entries by hour"
        spec = specs.hours(title, drawn.frame, drawn.keys, drawn.note)
        return self._chart(title, spec, drawn, _bars(drawn.frame, "hour", "chars", "entries", what="hour"))

    def growth(self, tokenizer: stats.Tokenizer | None = None) -> Chart:
        """Draw how the characters (with a tokenizer: the tokens) grow, by day up to two years, else by month.

        Frame: day, month or year; entries, chars, cumulative_chars; with a tokenizer tokens and cumulative_tokens.

        Raises: BadArgument for a tokenizer that is none.
        """
        drawn = frames.growth(self._entries(), tokenizer, self._store.tz)
        by, total = drawn.frame.columns[0], drawn.frame.columns[-1]
        title = f"{'Characters' if tokenizer is None else 'Tokens'} so far, by {by}"
        spec = specs.growth(title, drawn.frame, drawn.keys, drawn.note)
        return self._chart(title, spec, drawn, _grown(drawn.frame, by, total))

    def budget(self) -> Chart:
        """Draw the hot body and the latest stored summaries against their limits; only `layers` has them.

        Frame: period (hot, day, week, month), key, chars (of a summary: of its entry lines), limit, over_limit.
        """
        hot, records = self._store.hot(), self._store._fresh().records.values()
        has_hot = any(record.hot for record in records)
        held = [record.summary for record in records if record.summary]
        drawn = frames.budget((hot.chars, hot.limit) if has_hot else None, held)
        title = "Characters against their limits"
        spec = specs.budget(title, drawn.frame, drawn.note)
        return self._chart(title, spec, drawn, _bars(drawn.frame, "key", "limit", "chars"))

    def coverage(self) -> Chart:
        """Draw by month how many days with entries have a catalog row, or day, week and month summaries.

        Only what is over counts: finished days, weeks and months. Frame: month, what, days, covered, share; empty in
        `workspace`, which makes neither.
        """
        store = self._store
        drawn = frames.coverage(store.layout, store.days(), store.summaries(), store._clock().date())
        title = "Days with entries that are covered"
        spec = specs.coverage(title, drawn.frame, drawn.keys, drawn.note)
        sums = drawn.frame.groupby("what", sort=False)[["days", "covered"]].sum().reset_index()
        return self._chart(title, spec, drawn, _bars(sums, "what", "days", "covered"))

    def _entries(self) -> pd.DataFrame:
        return self._store.entries()

    def _chart(self, title: str, spec: specs.Spec, drawn: frames.Drawn, *bars: Bars) -> Chart:
        return Chart(title, spec, drawn.frame, bars, self._store.root, drawn.note)


def _bars(frame: pd.DataFrame, label: str, *counts: str, what: str = "row", largest: bool = False) -> Bars:
    """Return the rows of a frame as bars of some of its columns."""
    columns: list[Any] = [frame[label].astype(str).tolist(), *(frame[name].tolist() for name in counts)]
    return Bars(list(zip(*columns, strict=True)), counts, what, largest)


def _grown(frame: pd.DataFrame, by: str, total: str) -> Bars:
    """Return sums that grow as bars of the longer time, which says more in a few rows."""
    longer = {"day": "month", "month": "year"}.get(by, by)
    keys = frame[by].str[: 7 if longer == "month" else 4]
    so_far = "chars so far" if total == "cumulative_chars" else "tokens so far"
    sums = frame.groupby(keys).agg(entries=("entries", "sum"), **{so_far: (total, "max")}).reset_index()
    return _bars(sums, by, "entries", so_far, what=longer)
