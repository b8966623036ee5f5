"""Store: a folder, its layout and a clock; its methods return DataFrames. What changes the folder is in verbs.py.

Every answer first compares the folder with what is held and re-reads only what changed. Frames are the caller's own.
Characters are code points, `date` is local, `written_at` is UTC, windows are closed, lines count from 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date, datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from memkit import (
    dates,
    display,
    files,
    overview,
    query,
    recall,
    schema,
    stats,
    summaries,
    tables,
    tracing,
    upkeep,
    verbs,
)
from memkit.card import card_of
from memkit.desk import Desk
from memkit.embed import Settings
from memkit.errors import BadArgument
from memkit.files import Found
from memkit.finder import Finder
from memkit.index import Index
from memkit.loading import Loaded, State
from memkit.views import Day, HotLayer, Text, hot_layer

if TYPE_CHECKING:
    from memkit.explorer.widget import Explorer
    from memkit.plots import Plots

HOT_LIMIT = 600


class Store:
    """One memory folder. Use `memkit.open` to get one.

    Look: entries, volume, tagged, between, matching, recent, search, summary, audit, plot, explore. Change: append, correct,
    forget, push, summarize_all.

    Every method looks at the folder once; if it is gone since it was opened, it raises StoreNotFound.
    """

    def __init__(
        self,
        found: Found,
        *,
        tz: tzinfo,
        now: dates.Clock | datetime | str | None = None,
        extra: Iterable[str] = (),
        session: str | os.PathLike[str] | None = None,
        index: Path | None = None,
        hot_limit: int = HOT_LIMIT,
        lock_timeout: float = 10.0,
        embed: Settings | None = None,
        cache: Path | None = None,
    ):
        self.root: Path = found.root
        self.vault: Path = found.vault
        self.layout: str = found.layout.NAME
        self.tz: tzinfo = tz
        self._clock = dates.clock_of(now, tz)
        self._hot_limit = hot_limit
        transcript = Path(session).expanduser().absolute() if session is not None else None
        self._loaded = Loaded(found.root, found.layout, tz, extra=extra, session=transcript, cache=cache)

        self._desk = Desk(found.root, found.layout, self._clock, lock_timeout, self._loaded)
        target = index or found.root / "memory/index.sqlite" if self.layout == "workspace" else None
        self._index = self._desk.index = Index(self._loaded, target, embed, self._desk.writing)
        self._finder = Finder(self._loaded, self._index)

    # ---- nouns ----

    def entries(self, *, dreams: bool = False, editable: bool = False) -> pd.DataFrame:
        """Return all entries (columns: schema ENTRIES), by date, path and line, undated last.

        `dreams` adds what a machine dreamt up; `editable` adds `digest`, a number made of tag and text as they are now.
        """
        loaded = self._fresh()
        frame = _public(loaded.entries if dreams else loaded.visible)
        return frame.assign(digest=tables.digest(frame)) if editable else frame

    def days(self) -> pd.DataFrame:
        """Return a row for each day that has a file: date, path, files, index, entries, chars, bytes, frozen, catalogued."""
        return _days(self._fresh(), self._clock().date())

    def catalog(self) -> pd.DataFrame:
        """Return the rows of the catalog as they lie in its files: date, index, path, line. Only `archive` has one."""
        return tables.catalog(self._fresh().records.values())

    def summaries(self) -> pd.DataFrame:
        """Return the stored summaries: period, key, start, end, path, entries, omitted, chars, generated_at, stale."""
        loaded = self._fresh()
        return tables.summaries(loaded.records.values(), self._loaded.sources(loaded).stale())

    def topics(self) -> pd.DataFrame:
        """Return the topics of the hot layer: topic, month. Only `layers` has them."""
        return tables.topics(self._fresh().records.values())

    def tags(self) -> pd.DataFrame:
        """Return all tags of all entries: path, line (of the entry), tag."""
        return self._fresh().tags.copy(deep=False)

    def files(self) -> pd.DataFrame:
        """Return every file seen: path, kind, date, bytes, modified, sha256, skipped (the reason, missing if read)."""
        loaded = self._fresh()
        return tables.files(loaded.facts.values(), self._loaded.hashes(loaded))

    def hot(self) -> HotLayer:
        """Return the hot layer; empty where there is none."""
        return _hot(self._fresh(), self._hot_limit)

    def day(self, date: object) -> Day:
        """Return one whole day: its text as it lies on disk, its entries and its index.

        Raises: BadArgument if it is no day, or there is no file of that day.
        """
        wanted = dates.as_day(date, "date")
        loaded = self._fresh()
        held = [record for record in loaded.records.values() if record.role.day == wanted and tables.is_day_file(record)]
        if not held:
            raise BadArgument(f"date: {wanted} has no file here; {_nearest(loaded, wanted)}")
        held.sort(key=tables.plain_first)
        texts = (files.read(self.root, loaded.facts[record.path]) for record in held)
        text = "\n".join(doc.reading for doc in texts if not isinstance(doc, str))
        entries = _public(loaded.visible[loaded.visible["path"].isin([record.path for record in held])])
        index = next((record.index.text for record in held if record.index and record.index.text), None)
        return Day(text, entries.reset_index(drop=True), index, held[0].path)

    # ---- questions ----

    def recent(self, days: int = 30) -> pd.DataFrame:
        """Return the entries of the last `days` local days, today among them, newest first.

        Raises: BadArgument if `days` is not a whole number of at least 1.
        """
        today = self._clock().date()
        return _public(query.recent(self._fresh().visible, days, today=today, tz=self.tz))

    def between(self, start: object, end: object) -> pd.DataFrame:
        """Return the entries of the days from `start` to `end`, both among them, newest first.

        Raises: BadArgument if an end is no day or the first is after the last.
        """
        return _public(query.between(self._fresh().visible, start, end, tz=self.tz))

    def tagged(self, tag: str) -> pd.DataFrame:
        """Return the entries that carry a tag (whole, whatever its case or width; `-`: none at all), newest first.

        Raises: BadArgument for a blank tag.
        """
        loaded = self._fresh()
        return _public(query.tagged(loaded.visible, tag, tags=loaded.listed_tags, tz=self.tz))

    def matching(self, query: str, mode: str = "and", fields: str | Iterable[str] = ("text", "tag")) -> pd.DataFrame:
        """Return the entries whose text or tag holds every word (mode="and") or any word ("or") of a query, newest first.

        Words are literal, of any length and script, without regard to case or width; `"a quoted phrase"` is one word.

        Raises: BadArgument for a query without a word, another mode or another field.
        """
        return _public(_matching(self._fresh(), query, mode, fields, self.tz))

    search = recall.search
    context = recall.context

    # ---- figures ----

    def volume(self, by: str = "month", *, tokenizer: stats.Tokenizer | None = None) -> pd.DataFrame:
        """Return how much there is by day, week, month, year, weekday, hour, tag, label, kind or path.

        Columns: the key, entries, chars, bytes, active_days, share (of chars), cumulative_chars; `tokenizer` (from a
        text to a number or to tokens) adds `tokens`. Times without entries are zeros; what has no key comes last.

        Raises: BadArgument for another `by`, or a tokenizer that is none.
        """
        loaded = self._fresh()
        return stats.volume(loaded.visible, by, tags=loaded.tags, tz=self.tz, tokenizer=tokenizer)

    def gaps(self) -> pd.DataFrame:
        """Return the runs of days without an entry: start, end, days."""
        return stats.gaps(self._fresh().visible)

    def duplicates(self) -> pd.DataFrame:
        """Return entries that stand more than once: tag, text, count, first, last, paths; most frequent first."""
        return stats.duplicates(self._fresh().visible)

    def overview(self) -> pd.DataFrame:
        """Return the store's facts, a row each in the column `value`; dsh's mem_stats are among them in every layout."""
        loaded, today = self._fresh(), self._clock().date()
        days, hot = _days(loaded, today), _hot(loaded, self._hot_limit)
        return overview.overview(self.layout, str(self.root), loaded.visible, days, loaded.records.values(), hot)

    def summary(self, period: str = "week", date: object = None) -> Text:
        """Return the extractive summary of the day, week or month that holds `date` (default: today). Nothing is written.

        `date` is a day, or the period's own key, such as 2025-W09 or 2025-02.

        Raises: BadArgument for another period, or a date that is none.
        """
        now = self._clock()
        period = dates.check_period(period)
        key = dates.key_of(period, date if date is not None else now.date())
        made = summaries.extract(period, key, self._loaded.sources(self._fresh()).of(period, key), generated_at=now)
        return Text(made.content if made else f"{summaries.title(period, key)}\n\n> 没有条目 (no entries)\n")

    def trace(self, summary: str | os.PathLike[str]) -> pd.DataFrame:
        """Return the entry that each line of a summary was copied from: summary_line, shown, then the columns of entries().

        `summary` is what `summary()` gave, or the path of a stored one. A line that no entry of the period says has no `path`.

        Raises: BadArgument if it is neither.
        """
        loaded = self._fresh()
        given = isinstance(summary, str) and "\n" in summary
        found = tracing.titled(str(summary)) if given else self._loaded.summary_at(loaded, summary)
        if not found.key and not found.lines:
            raise BadArgument("summary: no summary; expected what summary() gave, or the path of a stored one")
        return tracing.trace(found, loaded.visible)

    @property
    def plot(self) -> Plots:
        """The charts: plot.volume, calendar, tags, hours, growth, budget, coverage."""
        from memkit.plots import Plots

        return Plots(self)

    # ---- health and way out ----

    audit = upkeep.audit
    manifest = upkeep.manifest
    export = upkeep.export

    # ---- changes ----

    append = verbs.append
    append_many = verbs.append_many
    correct = verbs.correct
    forget = verbs.forget
    push = verbs.push
    catch_up = verbs.catch_up
    rebuild_catalog = verbs.rebuild_catalog
    hot_set = verbs.hot_set
    topics_add = verbs.topics_add
    summarize = verbs.summarize
    summarize_all = verbs.summarize_all
    store = verbs.store
    mark_forgotten = verbs.mark_forgotten
    sync = verbs.sync

    # ---- how it is shown ----

    def explore(self, *, lang: str | None = None, write: bool = False, out: str | os.PathLike[str] | None = None) -> Explorer:
        """Return a widget to look around in: browse, audit, summaries, and with `write=True` add, correct and forget.

        Its traits `query tags date_from date_to kind` choose entries and `rows hits` tell what came of it; `.frame` is the
        selection. `lang` is en or zh (default: the machine's). `out` is where summaries go, for layouts without a place
        for them.

        Raises: BadArgument for another language.
        """
        from memkit.explorer import explore

        return explore(self, lang=lang, write=write, out=out)

    def __repr__(self) -> str:
        """Return the card as text."""
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        card = cache(self._card)
        return display.mimebundle(lambda: display.card_html(card()), lambda: display.card_text(card()))

    def _card(self) -> display.Card:
        loaded = self._fresh()
        return card_of(self.layout, self.root, loaded, upkeep.audited(self, loaded, self._clock()).counts)

    # ---- inside ----

    def _fresh(self) -> State:
        return self._loaded.refresh()


def _public(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that people see."""
    return frame[list(schema.ENTRIES)]


def _days(loaded: State, today: date) -> pd.DataFrame:
    return tables.days(loaded.records.values(), loaded.visible, today)


def _nearest(loaded: State, wanted: date) -> str:
    days = [record.role.day for record in loaded.records.values() if record.role.day and tables.is_day_file(record)]
    nearest = min(days, key=lambda day: abs((day - wanted).days), default=None)
    return f"the nearest day that has one is {nearest}" if nearest else "no day has one"


def _hot(loaded: State, limit: int) -> HotLayer:
    held = loaded.records.values()
    return hot_layer(next((record.hot for record in held if record.hot), None), tables.topics(held), limit)


def _matching(loaded: State, words: str, mode: str, fields: str | Iterable[str], tz: tzinfo) -> pd.DataFrame:
    return query.matching(loaded.visible, words, mode=mode, fields=fields, folded=loaded.folded, tz=tz)
