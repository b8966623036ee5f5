"""`report.fix()`: the plan that mends what an audit found, read and written at the store's desk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from memkit.audit import ALL_RULES
from memkit.edits import Draft, Plan
from memkit.edits import archive as archive_edits
from memkit.edits import mend as edits
from memkit.edits.archive import Read
from memkit.edits.chain import chained
from memkit.edits.held import Held
from memkit.edits.mend import Wrong
from memkit.errors import BadArgument, MemkitError
from memkit.text import reading_of

if TYPE_CHECKING:
    from memkit.store import Store

_MOST = 200_000  # characters of a file that is compared line by line
_LINES = 60  # of a conflict copy beside its file


def mend(store: Store, frame: pd.DataFrame, rules: Iterable[str] | None = None) -> Plan:
    """Return the unapplied plan that mends what is found in a frame of findings, of some rules only if they are given.

    A row that says `by hand` is what only a person can decide, and what to do; nothing of it is touched.
    """
    wrong, now = edits.wrongs(frame, _checked(rules)), store._clock()
    held = store._desk.held(now)
    draft = chained(held.read, [partial(_or_by_hand, step) for step in _steps(store, wrong, held, now)])
    rows = [*draft.rows, *_index_rows(store, wrong), *_swept(wrong)]
    shown, texts = _conflicts(wrong, held)
    rows += edits.left(wrong, rows, shown)
    plan = Plan(replace(draft, rows=tuple(rows), notes=tuple(texts)), store._desk.apply)
    if _index_rows(store, wrong):
        plan.then.append(lambda: _synced(store, wrong))
    return plan


def _checked(rules: str | Iterable[str] | None) -> list[str] | None:
    """Return the rules that are asked for, None for all.

    Raises: BadArgument for what is no rule.
    """
    if rules is None:
        return None
    asked = [rules] if isinstance(rules, str) or not isinstance(rules, Iterable) else list(rules)
    for rule in asked:
        if rule not in ALL_RULES:
            raise BadArgument(f"rules: {str(rule)[:40]!r} is no rule; the report names each finding's rule")
    return asked


def _or_by_hand(step: edits.Step, read: Read) -> Draft:
    """Return what a step drafts; what is in its way costs a row, and not the rest of the plan."""
    try:
        return step(read)
    except (MemkitError, OSError) as error:
        path, _, reason = str(error).partition(": ")
        return Draft(rows=((path, edits.BY_HAND, reason or "it is in the way"),))


def _steps(store: Store, wrong: Sequence[Wrong], held: Held, now: datetime) -> list[edits.Step]:
    """Return the steps of a layout: what is authority first, then what is made from it."""
    if store.layout == "archive":
        years = [partial(_catalog, store, year, now.date()) for year in _years(wrong)]
        return [edits.todays_index(wrong, held), *years]
    return [edits.hot_layer(wrong), edits.summaries(wrong, held)] if store.layout == "layers" else []


def _years(wrong: Sequence[Wrong]) -> list[int]:
    """Return the years of whose catalogs a finding speaks."""
    rows = [one for one in wrong if one.path.startswith("catalog/")]
    named = {int(name) for one in rows if (name := one.path.removeprefix("catalog/")[:4]).isascii() and name.isdecimal()}
    return sorted({*named, *(one.year for one in rows)} - {0})


def _catalog(store: Store, year: int, today: date, read: Read) -> Draft:
    """Return the draft that rebuilds a catalog; one whose days are all gone is left: it may be all that is left of them."""
    if not store._desk.files_of(year):
        told = "no day of it has a file any more; bring them back, or delete it"
        return Draft(rows=((f"catalog/{year:04d}.tsv", edits.BY_HAND, told),))
    return archive_edits.rebuild(read, [year], store._desk.files_of, today)


def _index_rows(store: Store, wrong: Sequence[Wrong]) -> list[tuple[str, str, str]]:
    """Return the row of a search index of ours that is to be synced."""
    speaks = any(one.rule in edits.SEARCH for one in wrong)
    return [(store._index.name, "sync", "the search index")] if speaks and store._index.is_there() else []


def _synced(store: Store, wrong: Sequence[Wrong]) -> None:
    store._index.sync(rebuild=any(one.rule == "index-broken" for one in wrong))


def _swept(wrong: Sequence[Wrong]) -> list[tuple[str, str, str]]:
    """Return the rows of temp files that dead writers left: whoever applies a plan clears them up once they are old enough."""
    return [
        (one.path, "sweep", "a temp file of a dead writer, when it is ten minutes old")
        for one in wrong
        if one.rule == "stray-temp"
    ]


def _conflicts(wrong: Sequence[Wrong], held: Held) -> tuple[dict[str, str], list[str]]:
    """Return what to do about each conflict copy, and a text of both; they are never merged."""
    shown, texts = {}, []
    for one in wrong:
        original = edits.original_of(one.path, held.facts) if one.rule == edits.COPY else None
        copy, own = (held.bytes_of(path) for path in (one.path, original)) if original else (None, None)
        if original and copy is not None and own is not None:
            texts_of = [reading_of(data.decode("utf-8", "surrogateescape")) for data in (copy, own)]
            if max(map(len, texts_of)) > _MOST:
                shown[one.path] = f"of {original}: too large to be shown beside it; merge them by hand"
                continue
            told, text = edits.both(*texts_of)
            lines = text.split("\n")
            more = [f"… {len(lines) - _LINES:,} more lines"] if len(lines) > _LINES else []
            shown[one.path] = f"of {original}: {told}"
            texts.append("\n".join([f"{one.path} (>) and {original} (<):", *lines[:_LINES], *more]))
    return shown, texts
