"""What `report.fix()` plans: each finding that the write rule lets mend, mended from the store's own entries; pure.

What only a person can decide stays as it is, and its row says what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from memkit import indexing
from memkit.cells import count
from memkit.dates import PERIODS, check_period
from memkit.edits import archive as archive_edits
from memkit.edits import layers as layers_edits
from memkit.edits.archive import Read
from memkit.edits.held import Held
from memkit.edits.plan import Draft
from memkit.errors import LostTextError, MemkitError
from memkit.layouts import archive, hot, stored
from memkit.model import Edit, StoredSummary
from memkit.sources import Sources
from memkit.summaries import extract

UNQUOTED = "index-unquoted"
# What an index says wrongly; where only its form is wrong, its words are somebody's and stay.
UNTRUE = ("index-missing", "index-copies-body", "index-misses-entry", "index-invents", "index-empty-phrase")
SEARCH = ("index-stale", "index-broken")  # of the search index, in a workspace
COPY = "conflict-copy"
BY_HAND = "by hand"
Rows = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """One finding: its rule, its path, what it says and what it advises, and the year it speaks of (0: of none)."""

    rule: str
    path: str
    message: str
    fix: str
    year: int


def wrongs(frame: pd.DataFrame, rules: Iterable[str] | None = None) -> list[Wrong]:
    """Return the findings of a report (columns: schema FINDINGS) as values, of some rules only if they are given."""
    held = frame if rules is None else frame[frame["rule"].isin(list(rules))]
    columns = (held[name].fillna("").astype("str") for name in ("rule", "path", "message", "fix"))
    years = held["date"].dt.year.fillna(0).astype("int64")
    return [Wrong(*values) for values in zip(*columns, years, strict=True)]


Step = Callable[[Read], Draft]


def todays_index(wrong: Sequence[Wrong], held: Held) -> Step:
    """Return the step that mends today's index, if a finding speaks of it; earlier days are frozen."""
    path = archive.day_path(held.now.date())
    spoken = [one for one in wrong if one.path == path and one.rule in (*UNTRUE, UNQUOTED)]

    def step(read: Read) -> Draft:
        before = read(path)
        if not spoken or before is None:
            return Draft()
        own = "" if any(one.rule in UNTRUE for one in spoken) else archive_edits.index_of(path, before)
        index = own or indexing.extract(archive_edits.entries_of(before))
        if not index:
            return Draft(rows=((path, BY_HAND, "there is no entry to make an index of; write one"),))
        try:
            after = archive_edits.with_index(path, before, index)
        except LostTextError as error:
            return Draft(rows=((path, BY_HAND, str(error).partition(": ")[2]),))
        told = "today's index, as it stands there, quoted" if own else "today's index, extracted afresh"
        return Draft((Edit(path, before, after),), ((path, "rebuild", told),))

    return step


def hot_layer(wrong: Sequence[Wrong]) -> Step:
    """Return the step that lays hot.md out again, with every line that it has."""

    def step(read: Read) -> Draft:
        before = read(layers_edits.HOT)
        if before is None or not any(one.rule == "hot-broken" for one in wrong):
            return Draft()
        parts = hot.regions(before)
        if any(row.strip() and not hot.is_valid(name, row) for name in ("candidates", "topics") for row in parts[name]):
            return Draft(
                rows=((layers_edits.HOT, BY_HAND, "lines of the body may lie in the open block; close it where it ends"),)
            )
        after = layers_edits.hot_text(before, parts)
        return Draft((Edit(layers_edits.HOT, before, after),), ((layers_edits.HOT, "rebuild", "its blocks, laid out again"),))

    return step


def summaries(wrong: Sequence[Wrong], held: Held) -> Step:
    """Return the step that makes faulty and missing summaries afresh, and those above them, the lower levels first."""
    asked = {one.path for one in wrong if one.rule.startswith("summary-")}

    def step(read: Read) -> Draft:
        known: dict[str, StoredSummary] = {path: record.summary for path, record in held.records.items() if record.summary}
        edits: list[Edit] = []
        rows: list[tuple[str, str, str]] = []
        for period in PERIODS:
            sources = Sources(held.entries, known, layered=True, tz=held.tz)
            paths = sorted(path for path in {*known, *asked} if path.startswith(f"summaries/{period}/"))
            made = {path: _made(sources, path, held) for path in paths if path in asked or sources.is_stale(path)}
            for path, content in made.items():
                if content is None:
                    rows.append((path, BY_HAND, "no entry of its period is left; move it to where they are"))
                    continue
                try:
                    before = read(path)
                except MemkitError as error:
                    rows.append((path, BY_HAND, str(error).partition(": ")[2]))
                    continue
                edits.append(Edit(path, before, content))
                rows.append((path, "create" if before is None else "rebuild", "a summary, from its sources"))
                known[path] = stored.read(content, period, _key(path))
        return Draft(tuple(edits), tuple(rows))

    return step if asked else lambda read: Draft()


def _made(sources: Sources, path: str, held: Held) -> str | None:
    period, key = check_period(path.split("/")[1]), _key(path)
    made = extract(period, key, sources.of(period, key), generated_at=held.now)
    return made.content if made else None


def _key(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def left(wrong: Sequence[Wrong], done: Iterable[tuple[str, str, str]], shown: Mapping[str, str]) -> Rows:
    """Return a row for each finding that no step spoke of: what a person should do; `shown` says it of conflict copies."""
    told = {row[0] for row in done}
    rest = [one for one in dict.fromkeys(wrong) if one.path not in told]
    return tuple((one.path, BY_HAND, shown.get(one.path) or f"{one.rule}: {one.fix or one.message}") for one in rest)


def original_of(path: str, names: Iterable[str]) -> str | None:
    """Return the file that a conflict copy is a copy of: the longest name in its folder that its own begins with."""
    folder, _, name = path.rpartition("/")
    found = []
    for other in names:
        stem, dot, suffix = other.rpartition("/")[2].rpartition(".")
        if other != path and other.rpartition("/")[0] == folder and dot and name.startswith(stem) and name.endswith(suffix):
            found.append(other)
    return max(found, key=len, default=None)


def both(copy: str, original: str) -> tuple[str, str]:
    """Return how a conflict copy and the file it is of differ: in figures, and as a text of both.

    In the text `<` stands before what only the file has, `>` before what only the copy has; nothing is merged.
    """
    mine, theirs = copy.split("\n"), original.split("\n")
    lines: list[str] = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, theirs, mine, autojunk=True).get_opcodes():
        lines += [f"  {line}" for line in theirs[a:b]] if what == "equal" else [f"< {line}" for line in theirs[a:b]]
        lines += [] if what == "equal" else [f"> {line}" for line in mine[c:d]]
    copied, kept = (sum(line.startswith(sign) and bool(line[2:].strip()) for line in lines) for sign in ("> ", "< "))
    return f"{count(copied, 'line')} only in the copy, {kept:,} only in the file; merge them by hand", "\n".join(lines)
