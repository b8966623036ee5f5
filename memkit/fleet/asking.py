"""What is asked of one store after another, in whatever process: a Call and places in, Replies out.

A store is opened, asked and let go before the next one, so that no more than the largest is in memory, beside the answers.
"""

from __future__ import annotations

import contextlib
import gc
import io
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from time import perf_counter
from typing import Any

import pandas as pd
import pyarrow as pa

from memkit import files, layouts, schema, stats
from memkit.errors import BadArgument
from memkit.files import Found
from memkit.fleet import dataset, frames
from memkit.fleet.places import Place, Trouble, reason_of, shown, there
from memkit.store import Store

Answer = tuple[pd.DataFrame, Any]
SWEEP = 1.0  # seconds between two looks for garbage where that costs much


@dataclass(frozen=True, slots=True)
class Call:
    """One question to every store: a method of Store or one of ASKED, its arguments, and the one clock for all."""

    what: str
    columns: schema.Schema
    tz: tzinfo
    now: datetime
    settings: Mapping[str, Any]
    terms: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Reply:
    """What some stores answered, in order: rows of each, all rows (as bytes between processes), extras, troubles.

    `fault` is an argument that no store can take.
    """

    counts: list[int]
    table: pa.Table | bytes | None
    extras: list[Any] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    fault: BadArgument | None = None

    def arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""
        return frames.from_bytes(self.table) if isinstance(self.table, bytes) else self.table


def replies(call: Call, places: Sequence[Place], *, sweep: float = SWEEP) -> Iterator[Reply]:
    """Yield the reply of each store; whatever goes wrong with one is a trouble of its own."""
    swept = perf_counter()
    for place in places:
        yield _reply(call, place)
        if perf_counter() - swept >= sweep:
            gc.collect()
            swept = perf_counter()


def _reply(call: Call, place: Place) -> Reply:
    try:
        store = _opened(place, call)
        try:
            frame, extra = ASKED.get(call.what, _method)(store, place, call)
            return Reply([len(frame)], frames.packed(frame, call.columns), [extra])
        finally:
            del store._loaded._state  # all that is large; the store itself waits in its cycles for the collector
    except BadArgument as error:
        return Reply([0], None, [None], [trouble(place, call.what, error)], error)
    except Exception as error:
        return Reply([0], None, [None], [trouble(place, call.what, error)])


def trouble(place: Place, what: str, error: BaseException) -> Trouble:
    """Return the row that an error in a store costs."""
    return Trouble(place.name, shown(place.root), what, type(error).__name__, reason_of(error))


def joined(parts: Sequence[Reply]) -> Reply:
    """Return some replies as one, its rows as bytes."""
    tables = [part.table for part in parts if part.table is not None]
    return Reply(
        [count for part in parts for count in part.counts],
        frames.to_bytes(pa.concat_tables(tables)) if tables else None,
        [extra for part in parts for extra in part.extras],
        [each for part in parts for each in part.troubles],
        next((part.fault for part in parts if part.fault), None),
    )


def answer(call: bytes, places: Sequence[Place]) -> Reply:
    """Return what some stores answer to a pickled Call, silently; this is what worker processes run."""
    try:
        asked: Call = pickle.loads(call)
    except Exception as error:
        fault = BadArgument(f"an argument cannot be sent to other processes ({reason_of(error)}); pass workers=1")
        return Reply([0] * len(places), None, [None] * len(places), [], fault)
    with contextlib.redirect_stderr(io.StringIO()):  # no bar of a single store in the bar of all
        return joined(list(replies(asked, places, sweep=0)))


def _opened(place: Place, call: Call) -> Store:
    """Return a store, without looking for it again.

    Raises: StoreNotFound, OSError.
    """
    files.names_in(there(place).root, "")  # a folder that may not be looked into would seem to be empty
    found = Found(place.vault, place.root, layouts.named(place.layout))
    return Store(found, tz=call.tz, now=call.now, **call.settings)


def _method(store: Store, place: Place, call: Call) -> Answer:
    return getattr(store, call.what)(*call.terms, **call.options), None


def _overview(store: Store, place: Place, call: Call) -> Answer:
    return frames.overview(store.overview()), None


def _search(store: Store, place: Place, call: Call) -> Answer:
    return store.search(*call.terms, **call.options).entries, None


def _day_sums(store: Store, place: Place, call: Call) -> Answer:
    loaded = store._fresh()
    sums = stats.day_sums(loaded.visible, *call.terms, tags=loaded.tags, tz=call.tz, **call.options)
    return sums, int(loaded.visible["chars"].sum())


def _audit(store: Store, place: Place, call: Call) -> Answer:
    report = store.audit(**call.options)
    return report.frame, (report.checked, report.explain)


def _summarize_all(store: Store, place: Place, call: Call) -> Answer:
    out = call.options["out"]
    own = None if out is None else out / dataset.folder_of(place.name)
    plan = store.summarize_all(*call.terms, **{**call.options, "out": own}, progress=False)
    return plan.rows, tuple(plan.warnings)


def _export(store: Store, place: Place, call: Call) -> Answer:
    return dataset.write(store, call.terms[0], place.name), None


ASKED: dict[str, Callable[[Store, Place, Call], Answer]] = {
    "overview": _overview,
    "search": _search,
    "day_sums": _day_sums,
    "audit": _audit,
    "summarize_all": _summarize_all,
    "export": _export,
}
