"""Fleet: many stores asked as one, in processes of their own; how they are found, asked and shown lies in the other modules."""

from __future__ import annotations

import os
import secrets
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from memkit import dates, display, hits, schema, stats
from memkit.errors import BadArgument
from memkit.fleet import cluster, frames, places, report, upkeep
from memkit.fleet.asking import Call
from memkit.fleet.crew import Answers, Crew
from memkit.fleet.places import Place, Trouble
from memkit.opening import open_store
from memkit.store import Store

if TYPE_CHECKING:
    from dask.dataframe import DataFrame

_Path = str | os.PathLike[str]


class Fleet:
    """Many memory stores. Use `memkit.open_many` to get one; `with` it, or close(), to end its processes early.

    Its frames are those of Store with the column `store` first, store by store in the order of their names. A store that
    gives no answer costs a row of problems(), and nothing else.
    """

    def __init__(
        self,
        found: Sequence[Place],
        lost: Sequence[Trouble] = (),
        *,
        tz: tzinfo,
        now: dates.Clock | datetime | str | None = None,
        workers: int | None = None,
        progress: bool = True,
        settings: Mapping[str, Any] | None = None,
    ):
        self.tz: tzinfo = tz
        self._places = {place.name: place for place in found}
        self._lost: tuple[Trouble, ...] = tuple(lost)
        self._last: tuple[Trouble, ...] = ()
        self._clock, self._now, self._settings = dates.clock_of(now, tz), now, dict(settings or {})
        self._clusters: list[tuple[Any, str]] = []
        self._crew = Crew(found, workers, progress=progress)
        weakref.finalize(self, self._crew.close)

    @property
    def workers(self) -> int:
        """Return how many processes ask the stores."""
        return self._crew.workers

    # ---- the stores ----

    def stores(self) -> pd.DataFrame:
        """Return the stores by name: store, layout, root."""
        return schema.rows(places.STORES, ((p.name, p.layout, places.shown(p.root)) for p in self._places.values()))

    def problems(self) -> pd.DataFrame:
        """Return which paths are no store, and which stores gave no answer to the last question, and why.

        Columns: store, path, asked (the method; `open`, or `glob` for a folder that one matched), error (its kind), reason.
        """
        told = (each for client, topic in self._clusters for each in cluster.told(client, topic))
        return schema.rows(places.PROBLEMS, sorted({*self._lost, *self._last, *told}))

    def __len__(self) -> int:
        """Return the number of stores."""
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the stores."""
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        """Return whether a store has that name."""
        return name in self._places

    def __getitem__(self, name: str) -> Store:
        """Return one store by its name.

        Raises: BadArgument for another name, StoreNotFound if the folder is gone.
        """
        if name not in self._places:
            raise BadArgument(f"store: {str(name)[:60]!r} is none of the {len(self)}; stores() lists their names")
        place = places.there(self._places[name])
        return open_store(place.root, layout=place.layout, tz=self.tz, now=self._now, **self._settings)

    # ---- nouns ----

    @overload
    def entries(self, *, dreams: bool = False, editable: bool = False, client: None = None) -> pd.DataFrame:  # noqa: D418
        """Return a pandas DataFrame."""

    @overload
    def entries(self, *, dreams: bool = False, editable: bool = False, client: Any) -> DataFrame:  # noqa: D418
        """Return a Dask DataFrame."""

    def entries(self, *, dreams: bool = False, editable: bool = False, client: Any = None) -> pd.DataFrame | DataFrame:
        """Return all entries of all stores, as Store.entries.

        With the `client` of a Dask cluster, a Dask DataFrame that reads each store as a partition, on machines that see
        the same folders and have memkit; computed, and its index reset, it is the same frame.

        Raises: UnsupportedError without Dask.
        """
        columns = {**schema.ENTRIES, **({"digest": frames.DIGEST} if editable else {})}
        call = self._call("entries", columns, (), {"dreams": dreams, "editable": editable})
        if client is None:
            return self._answers(call).frame
        topic = f"memkit-{secrets.token_hex(8)}"
        self._clusters.append((client, topic))
        return cluster.entries(call, list(self._places.values()), topic)

    def days(self) -> pd.DataFrame:
        """Return a row for each day of each store that has a file, as Store.days."""
        return self._asked("days", schema.DAYS)

    def catalog(self) -> pd.DataFrame:
        """Return the rows of all catalogs, as Store.catalog."""
        return self._asked("catalog", schema.CATALOG)

    def summaries(self) -> pd.DataFrame:
        """Return the stored summaries, as Store.summaries."""
        return self._asked("summaries", schema.SUMMARIES)

    def topics(self) -> pd.DataFrame:
        """Return the topics of the hot layers, as Store.topics."""
        return self._asked("topics", schema.TOPICS)

    def tags(self) -> pd.DataFrame:
        """Return all tags of all entries, as Store.tags."""
        return self._asked("tags", schema.TAGS)

    def files(self) -> pd.DataFrame:
        """Return every file seen, as Store.files."""
        return self._asked("files", schema.FILES)

    # ---- questions ----

    def recent(self, days: int = 30) -> pd.DataFrame:
        """Return the entries of the last `days` local days, the newest of each store first, as Store.recent.

        Raises: BadArgument.
        """
        return self._asked("recent", schema.ENTRIES, days)

    def between(self, start: object, end: object) -> pd.DataFrame:
        """Return the entries of the days from `start` to `end`, the newest of each store first, as Store.between.

        Raises: BadArgument.
        """
        return self._asked("between", schema.ENTRIES, *dates.window(start, end))

    def tagged(self, tag: str) -> pd.DataFrame:
        """Return the entries that carry a tag, the newest of each store first, as Store.tagged.

        Raises: BadArgument.
        """
        return self._asked("tagged", schema.ENTRIES, tag)

    def matching(self, query: str, mode: str = "and", fields: str | Iterable[str] = ("text", "tag")) -> pd.DataFrame:
        """Return the entries that hold the words of a query, the newest of each store first, as Store.matching.

        Raises: BadArgument.
        """
        return self._asked("matching", schema.ENTRIES, query, mode, fields if isinstance(fields, str) else tuple(fields))

    def search(
        self,
        *terms: str,
        any_of: str | Iterable[str] = (),
        all_of: str | Iterable[str] = (),
        days: int | None = None,
        limit: int | None = 50,
        include_forgotten: bool = False,
    ) -> pd.DataFrame:
        """Return the entries that Store.search finds in each store, at most `limit` of each, with their `score`.

        Each store is searched in its own way, the best or the newest of it first; scores of two stores do not compare.

        Raises: BadArgument.
        """
        given = {"any_of": any_of, "all_of": all_of}
        words = {name: value if isinstance(value, str) else tuple(value) for name, value in given.items()}
        rest = {"days": days, "limit": limit, "include_forgotten": include_forgotten}
        return self._asked("search", hits.SCORED, *terms, **words, **rest)

    # ---- figures ----

    def volume(self, by: str = "month", *, total: bool = False, tokenizer: stats.Tokenizer | None = None) -> pd.DataFrame:
        """Return how much each store holds by month or another key, as Store.volume: shares and sums are of that store.

        By `store` there is a row for each, the largest first, with its share of them all. With `total` all stores count
        as one, without the column `store`; a day is active when any of them has an entry. In both, chars are int64.

        Raises: BadArgument.
        """
        options = {} if tokenizer is None else {"tokenizer": tokenizer}
        if total or by == "store":
            return self._total(by, total, options)
        columns = stats.volume_schema(stats.check_by(by), tokens=tokenizer is not None)
        return self._asked("volume", columns, by, **options)

    def _total(self, by: str, total: bool, options: dict[str, Any]) -> pd.DataFrame:
        """Return the volume of all stores together, or by store."""
        if total and by == "store":
            raise BadArgument("total: by store there is a row for each store; leave one of the two out")
        own = "day" if by == "store" else stats.check_by(by)
        sums, chars, _ = self._answers(self._call("day_sums", stats.sums_schema(tokens=bool(options)), (own,), options))
        if by == "store":
            frame = stats.volume_of(sums.assign(key=sums["store"]).drop(columns="store"), "path", sum(chars.values()))
            return frame.set_axis(["store", *frame.columns[1:]], axis=1)
        key = sums["store"].str.cat(sums["key"], sep="/") if by == "path" else sums["key"]
        return stats.volume_of(sums.assign(key=key).drop(columns="store"), by, sum(chars.values()))

    def gaps(self) -> pd.DataFrame:
        """Return the runs of days without an entry in a store, as Store.gaps."""
        return self._asked("gaps", schema.GAPS)

    def duplicates(self) -> pd.DataFrame:
        """Return entries that stand more than once in a store, as Store.duplicates."""
        return self._asked("duplicates", schema.DUPLICATES)

    def overview(self) -> pd.DataFrame:
        """Return the facts of each store in a row, as Store.overview names them; those of single months are left out."""
        return self._asked("overview", frames.OVERVIEW)

    # ---- health, summaries and way out ----

    audit = upkeep.audit
    summarize_all = upkeep.summarize_all
    export = upkeep.export

    # ---- how it is shown, and its end ----

    def __repr__(self) -> str:
        """Return what the fleet is as text."""
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        facts = (self.stores(), self.problems())
        return display.mimebundle(lambda: report.fleet_html(*facts), lambda: report.fleet_text(*facts))

    def close(self) -> None:
        """End the worker processes; the next question starts new ones."""
        self._crew.close()

    def __enter__(self) -> Fleet:
        """Return the fleet; `with` closes it at its end."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the fleet."""
        self.close()

    # ---- inside ----

    def _call(self, what: str, columns: schema.Schema, terms: tuple[Any, ...], options: Mapping[str, Any]) -> Call:
        """Return a question, with the clock read once."""
        return Call(what, columns, self.tz, self._clock(), self._settings, terms, options)

    def _asked(self, what: str, columns: schema.Schema, *terms: Any, **options: Any) -> pd.DataFrame:
        return self._answers(self._call(what, columns, terms, options)).frame

    def _answers(self, call: Call, *, writes: bool = False, strict: bool = True) -> Answers:
        """Return what all stores answer, and note the troubles."""
        self._last = ()
        answers = self._crew.answers(call, writes=writes, strict=strict)
        self._last = answers.troubles
        return answers
