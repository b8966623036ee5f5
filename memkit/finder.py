"""Search over a workspace: the index answers for the files it knows as they are, all others are read; one answer either way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from memkit import embed, files, fts, hits, match, schema, vectors
from memkit.corrections import Correction, corrected_by, corrections
from memkit.edits.workspace import FORGOTTEN, sections_of
from memkit.errors import EmbedError, MemkitError
from memkit.hits import SCORED, SearchResult
from memkit.index import HASTY, Index
from memkit.loading import Loaded, State
from memkit.model import FileFact
from memkit.text import norm_text
from memkit.wanted import Wanted

LONGTERM = ("MEMORY.md", "memory.md")
SIGN = "更正|[0-9]{4}-[0-9]{2}-[0-9]{2}："  # what a correction holds
_CORRECTING = ("更正 1", "更正 2")  # as one begins, and long enough for the index
_SLACK = 64  # hits asked for beyond a limit, as forgotten ones fall out


class Question(NamedTuple):
    """What is looked for, and how many hits at most."""

    wanted: Wanted
    limit: int | None


class _Answer(NamedTuple):
    """The hits of one way of looking, and all corrections."""

    frame: pd.DataFrame
    corrections: list[Correction]
    provider: str
    step: str
    warnings: list[str]


class _Gists(NamedTuple):
    """What was marked as forgotten: the file, the lines of its sections, and what is searched of their entries, folded."""

    path: str
    lines: frozenset[int]
    bodies: frozenset[str]


class Finder:
    """The search of one store."""

    def __init__(self, loaded: Loaded, index: Index):
        self._loaded, self._index = loaded, index

    def search(
        self, wanted: Wanted, *, limit: int | None = None, include_forgotten: bool = False, refresh: bool = False
    ) -> SearchResult:
        """Return the entries that are wanted, the best first; with `refresh` an index of ours is synced first.

        Raises: BadArgument for a limit that is none.
        """
        fts.check_limit(limit)
        question = Question(wanted, limit)
        warnings = self._refreshed() if refresh else []
        facts = self._index.facts()
        gists = [] if include_forgotten else self._gists(facts)
        answer = self._by_index(question, facts, gists, warnings) or self._by_files(question, gists)
        folded = fts.folded_bodies(answer.frame)
        phrase = " ".join(wanted.terms[0]) if wanted.alone else ""
        entries = hits.ordered(answer.frame, folded, phrase, self._loaded.tz).iloc[:limit]
        return SearchResult(
            hits.found(entries, wanted, answer.step, corrected_by(entries, answer.corrections)),
            entries,
            wanted.words,
            answer.step,
            answer.provider,
            warnings=tuple(dict.fromkeys([*warnings, *answer.warnings])),
        )

    def _refreshed(self) -> list[str]:
        """Sync an index that is there, and return what was in the way."""
        try:
            return [warning] if self._index.is_there() and (warning := self._index.sync(hasty=True).warning) else []
        except (MemkitError, OSError) as error:
            return [self._told(error)]

    def _told(self, error: object) -> str:
        """Return what went wrong with the index, as people are told of it: with its name in the store."""
        return str(error).replace(str(self._index.path), self._index.name)

    # ---- two ways to one answer ----

    def _by_files(self, question: Question, gists: Sequence[_Gists]) -> _Answer:
        """Return the hits among all files as they are in memory."""
        state = self._loaded.refresh()
        frame = _remembered(_matching(state.visible, state.bodies, question.wanted), gists)
        known = corrections(state.visible[state.visible["text"].str.contains(SIGN)]) if len(frame) else []
        return _Answer(frame, known, "file-keyword", "files", [])

    def _by_index(
        self, question: Question, facts: dict[str, FileFact], gists: Sequence[_Gists], warnings: list[str]
    ) -> _Answer | None:
        """Return the hits of the index, and of the files that it does not know as they are; None if it cannot be asked."""
        if self._index.target is None:
            return None
        try:
            with fts.asking(self._index.path) as asked:
                stale = [path for path, fact in facts.items() if asked.files.get(path, (-1,))[:2] != (fact.size, fact.mtime_ns)]
                skip = [*stale, *(asked.files.keys() - facts.keys())]
                found = self._asked(question, asked, skip, gists)
                told = self._index.here(pd.concat([asked.find(part, skip=skip) for part in _CORRECTING]))
                every = self._index.here(asked.find((), skip=skip)) if self._wants_vectors else found.iloc[:0]
        except fts.Unreadable as error:
            warnings += [f"{self._told(error)}; the files were read instead"] if error.state != "missing" else []
            return None
        fresh = self._loaded.peek([facts[path] for path in stale])
        more = _remembered(_matching(fresh, fts.folded_bodies(fresh), question.wanted), gists)
        if len(more):  # one scale for all: an index that lacks some files must not make them look better
            found = pd.concat([_plainly(found, question.wanted), more], ignore_index=True)
        known = [*corrections(told), *corrections(fresh)]
        if not self._wants_vectors:
            return _Answer(found, known, "fts5", "index", [])
        every = pd.concat([every, _scored(fresh, 0.0)], ignore_index=True)
        return self._near(question, _remembered(every, gists), _Answer(found, known, "fts5", "index", []))

    def _asked(self, question: Question, asked: fts.Asked, skip: Sequence[str], gists: Sequence[_Gists]) -> pd.DataFrame:
        """Return the entries of the index that are wanted.

        Raises: fts.Unreadable.
        """
        wanted, limit = question
        if not wanted.alone or limit is None or self._wants_vectors or len(wanted.terms[0]) > 1:
            return self._index.here(_remembered(_of_ways(asked, wanted, skip), gists))
        # Of one word every hit holds the phrase, so that the index may keep the best ones alone.
        few = limit + _SLACK
        frame = asked.find(wanted.terms[0], skip=skip, limit=few)
        kept = _remembered(frame, gists)
        if len(frame) == few and not _settled(kept, limit):
            kept = _remembered(asked.find(wanted.terms[0], skip=skip), gists)
        return self._index.here(kept)

    # ---- vectors ----

    @property
    def _wants_vectors(self) -> bool:
        return bool(self._index.settings and self._index.settings.vector_weight)

    def _near(self, question: Question, every: pd.DataFrame, words: _Answer) -> _Answer:
        """Return the hits of words and vectors together among all entries; if the service fails, those of words, and why."""
        settings = self._index.settings
        assert settings is not None
        keys = [vectors.hash_of(text) for text in fts.bodies(every).fillna("")]
        try:
            wanted = embed.embed([" ".join(question.wanted.words)], settings, **HASTY)[0]
            with fts.asking(self._index.path) as asked:
                held = vectors.stored(asked.conn, settings.model, keys, d=len(wanted))
        except (EmbedError, fts.Unreadable) as error:
            return words._replace(warnings=[self._told(error)])
        rows = [row for row, key in enumerate(keys) if key in held]
        near = vectors.cosine(wanted, np.array([held[keys[row]] for row in rows]).reshape(len(rows), len(wanted)))
        places = {place: row for row, place in enumerate(zip(every["path"], every["line"], strict=True))}
        hit = zip(*(words.frame[name] for name in ("path", "line", "score")), strict=True)
        texts = {places[path, line]: score for path, line, score in hit if (path, line) in places}
        scores = vectors.hybrid(dict(zip(rows, near.tolist(), strict=True)), texts, settings)
        frame = every.iloc[list(scores)].assign(score=list(scores.values()))
        lacking = len(every) - len(rows)
        note = [f"{lacking:,} entries have no vector of this service yet; sync() asks for them"] if lacking else []
        return words._replace(frame=frame, provider=vectors.provider(settings), warnings=note)

    # ---- what was forgotten ----

    def _gists(self, facts: dict[str, FileFact]) -> list[_Gists]:
        """Return what stands under `## Forgotten`."""
        found = []
        for fact in (facts[path] for path in LONGTERM if path in facts):
            doc = files.read(self._loaded.root, fact)
            if isinstance(doc, str) or FORGOTTEN not in doc.reading:
                continue
            sections = sections_of(doc.reading.split("\n"), FORGOTTEN)
            lines = frozenset(line for first, last in sections for line in range(first + 1, last + 1))
            rows = self._loaded.peek([fact])
            rows = rows[rows["line"].isin(lines)]
            found.append(_Gists(fact.path, lines, frozenset(map(_folded, fts.bodies(rows).fillna("")))))
        return found


def hidden(finder: Finder, state: State) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """Return where marks of what was forgotten stand, and where entries do that search leaves out for them."""
    frame, gists = state.visible, finder._gists(dict(state.facts))
    places = set(zip(frame["path"], frame["line"], strict=True))
    left = _remembered(frame, gists)
    gone = places - set(zip(left["path"], left["line"], strict=True))
    marks = {(gist.path, line) for gist in gists for line in gist.lines}
    return gone & marks, gone - marks


def _remembered(frame: pd.DataFrame, gists: Sequence[_Gists]) -> pd.DataFrame:
    """Return the entries that nobody marked as forgotten: neither the marks nor what is equal to one, with tag or without."""
    for gist in gists:
        marks = (frame["path"] == gist.path) & frame["line"].isin(gist.lines)
        texts = zip(frame["text"], fts.bodies(frame).fillna(""), strict=True)
        equal = np.fromiter((not gist.bodies.isdisjoint(map(_folded, both)) for both in texts), dtype="bool", count=len(frame))
        frame = frame[~(marks.to_numpy() | equal)]
    return frame.reset_index(drop=True)


def _settled(frame: pd.DataFrame, limit: int) -> bool:
    """Return whether the first `limit` of the best hits are sure: those behind them score less than the last of them."""
    return len(frame) > limit and (limit == 0 or frame["score"].iloc[limit - 1] > frame["score"].iloc[-1])


def _folded(text: str) -> str:
    return match.fold(norm_text(text))


def _of_ways(asked: fts.Asked, wanted: Wanted, skip: Sequence[str]) -> pd.DataFrame:
    """Return the entries that one of the terms finds, each once with its best score, and that the other groups let through."""
    parts = [asked.find(words, skip=skip) for words in wanted.ways()]
    every = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    every = every.sort_values("score", ascending=False, kind="stable").drop_duplicates(["path", "line"])
    kept = [row for row, body in enumerate(fts.folded_bodies(every)) if wanted.narrows(body)]
    return every.iloc[kept].reset_index(drop=True)


def _matching(frame: pd.DataFrame, folded: Sequence[str], wanted: Wanted) -> pd.DataFrame:
    """Return the entries that are wanted, with their score."""
    holds = wanted.test()
    rows = [row for row, body in enumerate(folded) if holds(body)]
    return _plainly(frame.iloc[rows], wanted, [folded[row] for row in rows])


def _plainly(frame: pd.DataFrame, wanted: Wanted, folded: Sequence[str] | None = None) -> pd.DataFrame:
    """Return entries with the score that a scan of files gives: the best that one of the terms has."""
    texts = fts.folded_bodies(frame) if folded is None else folded
    ways = [fts.plain_scores(texts, list(map(match.fold, words))) for words in wanted.ways()]
    return _scored(frame, np.max(ways, axis=0) if len(texts) else 0.0)


def _scored(frame: pd.DataFrame, score: object) -> pd.DataFrame:
    return frame[list(schema.ENTRIES)].assign(score=score).astype({"score": schema.SHARE})[list(SCORED)]
