"""Rules of what a store says, whatever its layout: secrets, texts that stand more than once, days and names held twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from memkit import match, query, schema
from memkit.audit import tokens
from memkit.audit.finding import Finding, Rule, files_by_day, more
from memkit.model import FileFact, Records, Snapshot
from memkit.tables import DAY_KINDS

SHORT = 10  # characters: what is shorter may well be said every day
OFTEN = 12  # times that one text stands somewhere: more than a person means to say it
_END, _FEW = 5, (1 << 20) - 1  # signs of a text that are compared first, at each end; numbers that fit side by side
_NO_REPEATS = ("session", "dream")  # kinds that repeat themselves by nature
_MARKED = "Forgotten"  # a section whose entries repeat what is to be forgotten


class _Said(NamedTuple):
    """A text somewhere in the store."""

    path: str
    line: int
    text: str


def case_twin(store: Snapshot) -> Iterator[Finding]:
    """Two paths differ by case alone: on most Macs and on Windows they are one file, and one of them is lost.

    Bad: memory/Notes.md beside memory/notes.md. Good: two names that differ by more.
    """
    first: dict[str, str] = {}
    for path in sorted(path for path, fact in store.files.items() if _is_read(fact)):
        twin = first.setdefault(path.casefold(), path)
        if twin != path:
            yield Finding(path, 0, f"differs from {twin} by case alone", "rename one of the two", store.files[path].role.day)


def same_day_twice(store: Snapshot) -> Iterator[Finding]:
    """Two files hold the same day, where the layout wants one.

    Bad: the day in its own folder and in another. Good: one file a day.
    """
    if store.layout == "workspace":
        return
    for _, files in files_by_day(store).items():
        for record in files[1:]:
            yield Finding(record.path, 0, f"the same day as {files[0].path}", "merge both by hand", record.role.day)


def secret(store: Snapshot) -> Iterator[Finding]:
    """A key, token or password stands in a memory, and goes wherever the memory goes.

    Bad: a GitHub token in an entry. Good: the name of the place where the token is kept.
    """
    found: dict[str, list[_Said]] = {}
    kinds: dict[str, str] = {}
    for said in (*_in_entries(store), *_matching(_elsewhere(store))):
        for held in tokens.secrets_in(said.text):
            found.setdefault(held.value, []).append(said)
            kinds[held.value] = f"{held.kind}: {held.mask}"
    for value, places in found.items():
        first = places[0]
        others = dict.fromkeys(said.path for said in places if said.path != first.path)
        told = f"{kinds[value]}{'; also in ' if others else ''}{more(others)}"
        fact = store.files.get(first.path)
        day = fact.role.day if fact else None
        yield Finding(first.path, first.line, told, "make it invalid where it was made, then forget() it", day, kinds[value])


def duplicates(store: Snapshot) -> Iterator[Finding]:
    """Texts stand twice in one day, or on and on through the days, so that every answer holds them as often.

    Bad: the same sentence, with the same tag, twice in 2025-02-03.md. Good: once a day; append() writes no more than that.
    """
    rows = _alike(store)
    held = store.entries[["date", "tag", "text", "kind", "path", "line"]].take(rows)
    keys = np.column_stack([query.coded(pd.Series(query.fold_column(held["text"])))[0], query.coded(held["tag"])[0]])
    _, group, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    told = _within_a_day(held, group) | set(np.flatnonzero(count >= OFTEN).tolist())
    if told:
        top = max(told, key=lambda own: (count[own], -own))
        places = held[group == top]
        often = f"{len(places):,} times, in {more(dict.fromkeys(places['path']), 5)}"
        said = (
            f"{len(told):,} texts stand {int(count[list(told)].sum()):,} times, one of them"
            if len(told) > 1
            else "a text stands"
        )
        line = int(places["line"].iat[0])
        yield Finding(places["path"].iat[0], line, f"{said} {often}", "look through duplicates(), forget() what is too much")


def _alike(store: Snapshot) -> Any:
    """Return the rows of entries that may be duplicates: as written there many times, or in one day one with the same ends.

    Folding all texts would take as long as reading them.
    """
    rows = np.flatnonzero(_counted(store))
    texts = query.arrow(store.entries["text"]).fill_null("")
    same = np.asarray(texts.dictionary_encode().indices)[rows]
    days = schema.days(store.entries["date"])[rows].astype("datetime64[D]").astype("int64") & _FEW
    first = _ends(pc.utf8_slice_codeunits(texts, 0, 3 * _END), slice(_END))[rows]
    last = _ends(pc.utf8_slice_codeunits(texts, -3 * _END), slice(-_END, None))[rows]
    _, group, count = np.unique((days << 40) | (first << 20) | last, return_inverse=True, return_counts=True)
    return rows[(np.bincount(same, minlength=1)[same] >= OFTEN) | (count[group] > 1)]


def _ends(parts: Any, kept: slice) -> Any:
    """Return a number for each text's beginning or end, equal where they are equal after folding; each is folded once.

    Three signs may fold to one (Hangul), so that only a third of what is left is compared.
    """
    coded = parts.dictionary_encode()
    numbers: dict[str, int] = {}
    folded = (match.fold(part) for part in coded.dictionary.to_pylist())
    own = [numbers.setdefault(part[kept], len(numbers)) & _FEW for part in folded]
    return np.array(own, dtype="int64")[np.asarray(coded.indices)]


def _counted(store: Snapshot) -> Any:
    """Return which entries may repeat another: long ones of files that are not copies, but for those marked as forgotten."""
    frame = store.entries
    counted = (frame["chars"].to_numpy() >= SHORT) & ~frame["kind"].isin(_NO_REPEATS).to_numpy()
    counted &= ~_in_rows(frame["section"], lambda name: _MARKED in name.split(" › "))
    twice = {finding.path for rule in (case_twin, same_day_twice) for finding in rule(store)}
    twice |= {record.path for record in store.records.values() if any(p.rule == "merge-marker" for p in record.problems)}
    return counted & ~frame["path"].isin(twice).to_numpy() if twice else counted


def _within_a_day(frame: pd.DataFrame, group: Any) -> set[int]:
    """Return the groups of which two entries are of one day: in its files, or in one of the files that are no day's."""
    days = schema.days(frame["date"]).astype("datetime64[D]").astype("int64")
    files = np.where(frame["kind"].isin(DAY_KINDS).to_numpy(), -1, query.coded(frame["path"])[0])
    _, first, count = np.unique(np.column_stack([group, days, files]), axis=0, return_index=True, return_counts=True)
    return set(group[first[count > 1]].tolist())


def _is_read(fact: FileFact) -> bool:
    return fact.role.kind is not None and not (fact.role.skipped or fact.role.problem or fact.trouble)


def _in_rows(column: Any, wanted: Any) -> Any:
    """Return for each row whether its value is wanted; each distinct value is asked about once."""
    codes, names = query.coded(column)
    return np.array([*map(wanted, names), False], dtype="bool")[codes]


def _in_entries(store: Snapshot) -> Iterator[_Said]:
    """Yield the entries whose text, tag or section may hold a secret."""
    frame = store.entries
    for name in ("text", "tag", "section"):
        column = query.arrow(frame[name])
        if name != "text":
            column = column.dictionary_encode()
            hits = np.append(_may_hold(column.dictionary), False)[np.asarray(column.indices.fill_null(len(column.dictionary)))]
        else:
            hits = _may_hold(column)
        for row in np.flatnonzero(hits).tolist():
            yield _Said(frame["path"].iat[row], int(frame["line"].iat[row]), frame[name].iat[row])


def _may_hold(texts: Any) -> Any:
    return pc.fill_null(pc.match_substring_regex(texts, tokens.ANYWHERE), False).to_numpy(zero_copy_only=False)


def _matching(held: list[_Said]) -> Iterator[_Said]:
    """Yield the texts that may hold a secret."""
    hits = _may_hold(pa.array([said.text for said in held], pa.large_string()))
    return (held[row] for row in np.flatnonzero(hits).tolist())


def _elsewhere(store: Snapshot) -> list[_Said]:
    """Return the texts that are no entries: the hot layer and lines that were no entry, then what is derived."""
    own: list[_Said] = []
    derived: list[_Said] = []
    for record in store.records.values():
        path = record.path
        if record.problems or record.hot:
            own += _loose(record)
        if record.index and record.index.text:
            derived.append(_Said(path, record.index.line, record.index.text))
        derived += [_Said(path, row.line, row.written) for row in record.rows]
        if record.summary:
            derived += map(_Said, [path] * len(record.summary.lines), record.summary.at, record.summary.lines)
    return own + derived


def _loose(record: Records) -> Iterator[_Said]:
    if record.hot:
        yield _Said(record.path, 0, record.hot.body)
        yield from map(
            _Said, [record.path] * len(record.hot.candidates), record.hot.candidates.line, record.hot.candidates.text
        )
        yield from (_Said(record.path, line, topic) for topic, _, line in record.hot.topics)
    yield from (_Said(record.path, problem.line, problem.text) for problem in record.problems)


RULES = (
    Rule("warning", case_twin),
    Rule("warning", same_day_twice),
    Rule("error", secret),
    Rule("info", duplicates),
)
