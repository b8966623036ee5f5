"""Rules of the workspace: the session transcript, the search index, and what was stored where forgotten things stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from memkit import match, query, schema
from memkit.audit.finding import Finding, Rule, more, problems
from memkit.model import Snapshot

_JUDGED = 30  # lines at most, the latest: each is looked for in the whole store
_NAMED = 0.2  # of a gist's runs that the entry it means has at least
_EAST = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_RUNS = re.compile(f"[{_EAST}]{{2}}|[0-9a-z]{{3,}}")
_EAST_RUN = re.compile(f"[{_EAST}]{{2,}}")


def transcript_bad(store: Snapshot) -> Iterator[Finding]:
    """A record of the session transcript cannot be read, and is left out.

    Bad: a line that is no JSON. Good: `{"role": "user", "content": "…"}`.
    """
    yield from problems(store, "transcript-bad", "export the session again")


def index_broken(store: Snapshot) -> Iterator[Finding]:
    """What lies where the search index should is damaged or another program's, so that searches read the files instead.

    Bad: a database cut short. Good: an index that sync() made, or none.
    """
    if store.index is not None and store.index.state in ("broken", "foreign"):
        foreign = store.index.state == "foreign"
        fix = "name another place: open(index=…) or MEMORY_INDEX_PATH" if foreign else "sync(), or move it away first"
        yield Finding(store.index.path, 0, store.index.reason, fix, text=store.index.state)


def index_stale(store: Snapshot) -> Iterator[Finding]:
    """The search index does not hold the files as they are.

    Searches are right all the same, and slower.
    Bad: a day written after the last sync(). Good: an index as new as its files, or none.
    """
    if store.index is None:
        return
    if store.index.state == "outdated":
        yield Finding(store.index.path, 0, store.index.reason, "sync()", text="outdated")
    elif store.index.behind:
        behind = store.index.behind
        said = f"it does not hold {len(behind)} file{'s' * (len(behind) > 1)} as they are: {more(behind)}"
        yield Finding(store.index.path, 0, said, "sync()", text="behind")


def stored_under_forgotten(store: Snapshot) -> Iterator[Finding]:
    """What was to be kept stands under `## Forgotten`, where search leaves it out.

    The original tool stored everything there once something had been forgotten: what has a tag was stored, for a forgotten
    text has none; and where nothing was added to `## Store` ever since, what nothing else in the store speaks of.
    Bad: `- 2025-02-11T00:20:00.000Z [钥匙] 备用的在宋阿姨那里` there. Good: the same under `## Store`.
    """
    frame = store.entries
    longterm = (frame["kind"] == "longterm").to_numpy() & frame["stamp"].notna().to_numpy()
    marked = longterm & _in_section(frame["section"], "Forgotten")
    if not marked.any():
        return
    rows = np.flatnonzero(marked)
    written = schema.instants(frame["written_at"]).asi8
    kept = written[longterm & _in_section(frame["section"], "Store")]
    others = pc.utf8_lower(query.arrow(frame["text"]).filter(~marked))
    tagged = frame["tag"].notna().to_numpy()
    judged = [row for row in rows if tagged[row] and not _stands(frame["text"].iat[row], others)]
    if len(kept) and kept.max() < written[rows].min():
        judged += [row for row in rows[1:][-_JUDGED:] if not tagged[row] and not _is_spoken_of(frame["text"].iat[row], others)]
    if judged:
        row = min(judged)
        told = f"{len(judged)} of {len(rows)} entries there look like stored ones"
        fix = "move what was to be kept under ## Store by hand"
        yield Finding(frame["path"].iat[row], int(frame["line"].iat[row]), told, fix, text=frame["text"].iat[row])


def _in_section(column: pd.Series, wanted: str) -> Any:
    """Return for each row whether it stands in a section of a name, at whatever level."""
    codes, names = query.coded(column)
    return np.array([*(wanted in name.split(" › ") for name in names), False], dtype="bool")[codes]


def _stands(text: str, others: Any) -> bool:
    """Return whether a text stands elsewhere too."""
    return bool(pc.any(pc.equal(others, text.lower())).as_py())


def _is_spoken_of(text: str, others: Any) -> bool:
    """Return whether one entry has a part of the runs of a gist: two Chinese characters, a word, a number."""
    gist = match.fold(text)
    east = (run[at : at + 2] for run in _EAST_RUN.findall(gist) for at in range(len(run) - 1))
    runs = dict.fromkeys([*east, *(run for run in _RUNS.findall(gist) if run.isascii())])
    if not runs or not len(others):
        return not runs
    found = np.zeros(len(others), dtype="int32")
    for run in runs:
        found += np.asarray(pc.fill_null(pc.match_substring(others, run), False))
    return bool(found.max() >= max(1, _NAMED * len(runs)))


RULES = (
    Rule("warning", transcript_bad),
    Rule("warning", index_broken),
    Rule("info", index_stale),
    Rule("info", stored_under_forgotten),
)
