"""Rules of what an index says: copies of the body, empty phrases, what the day does not hold, entries it does not name.

What extraction made is never at fault. Only days without another problem are judged, since an index is read wrong where its
front matter is, and an entry may be there by mistake where a fence is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

import numpy as np

from memkit import indexing, match, query
from memkit.audit import common, numbers, tokens
from memkit.audit.finding import Finding, Rule, day_files
from memkit.model import Records, Snapshot

LONG = 400  # characters of a body that an index may repeat whole
COPIED = 0.9
_RUN = re.compile(r"\w+")
_CLAUSE = re.compile("[；;。！？!?]+")
_DIGITS = re.compile("[0-9]+")
_LATIN = re.compile("[A-Za-z]{3,}")
_PLAIN_GRAM = re.compile("[\u4e00-\u9fff]{2}|[A-Za-z0-9]{3}")
_EAST = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_GRAM = re.compile(f"(?=([{_EAST}].|.[{_EAST}]|[^{_EAST}]{{3}}))")
_HAN = re.compile(f"[{_EAST}]")
_SPLITS = re.compile(r"[。！？；!?;\n*_~`|>#\[-]")  # what ends a clause, or extraction may take away
_GIVEN = frozenset({"todo", "done", "idea", "plan", "fixme", "wip", "note", "notes", "the", "and"})  # words for what a text is
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_MARKS = ("tag", "task", "stamp", "section", "clock", "label")


class _Day(NamedTuple):
    """A day file with an index: its rows in the frame, the texts of its entries, and the marks that stand beside them."""

    record: Records
    said: str
    start: int
    texts: list[str]
    marks: str

    @property
    def body(self) -> str:
        return "\n".join((*self.texts, self.marks))

    @property
    def day(self) -> date:
        assert self.record.role.day is not None
        return self.record.role.day


def index_copies_body(store: Snapshot) -> Iterator[Finding]:
    """An index copies the whole body of a long day, where it should say how to find it.

    Bad: an index of 900 characters over a body of 950. Good: names, numbers, decisions and what is open.
    """
    for held in _days(store):
        long = sum(map(len, held.texts)) > LONG and len(held.said) >= LONG * COPIED
        if long and _share(held.texts, held.said) >= COPIED and _copies(store, held):
            yield _of(store, held, "it repeats the body, which is there to be read")


def index_empty_phrase(store: Snapshot) -> Iterator[Finding]:
    """A clause of an index is an empty phrase, which tells no day from another.

    Bad: `index: '进行了讨论'`. Good: `index: '讨论火锅锅底，定为番茄'`.
    """
    for held in _days(store):
        if any(phrase in held.said for phrase in indexing.EMPTY_PHRASES):
            clauses = [part.strip() for part in _CLAUSE.split(held.said)]
            empty = [place for place, clause in enumerate(clauses, 1) if indexing.is_empty_phrase(clause)]
            if empty and not _is_own(store, held, [clauses[place - 1] for place in empty]):
                yield _of(store, held, f"clause {empty[0]} is a phrase that every day could have")


def index_invents(store: Snapshot) -> Iterator[Finding]:
    """An index names a number, date or Latin word that its day does not hold.

    Bad: `3 月 9 日` in the index of a day that says `3 月 8 日`. Good: what the body says, in its words.
    """
    for held in _days(store):
        body = held.body
        odd = set(_DIGITS.findall(held.said)) - set(_DIGITS.findall(body))
        strange = [word for word in set(_LATIN.findall(held.said)) if word not in body]
        if odd or strange:
            yield from _invented(store, held, body)


def index_misses_entry(store: Snapshot) -> Iterator[Finding]:
    """An entry has no word in common with the index of its day, so that only a full scan finds it.

    Bad: `index: '开业日期'` above `- 豆包踩坏了挂钟`. Good: `index: '开业日期；豆包踩坏挂钟'`.
    """
    for held in _days(store):
        unnamed = [place for place, text in enumerate(held.texts) if not _shares(text, held.said)]
        missed = [place for place in _unshared(held, unnamed) if not _is_named(store, held, place)] if unnamed else []
        if missed:
            line = int(store.entries["line"].iat[held.start + missed[0]])
            told = f"the index names nothing of {len(missed)} of its {len(held.texts)} entries"
            yield Finding(held.record.path, line, told, _mend(store, held), held.day, held.texts[missed[0]])


# ---- days ----


def _days(store: Snapshot) -> list[_Day]:
    return store.once("indexed days", lambda: list(_found(store)))


def _found(store: Snapshot) -> Iterator[_Day]:
    """Yield the days with an index and entries, and no other problem; the rows of a file follow each other."""
    frame = store.entries
    if not len(frame):
        return
    codes, paths = query.coded(frame["path"])
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    rows = dict(zip([paths[code] for code in codes[starts]], zip(starts, [*starts[1:], len(frame)], strict=True), strict=True))
    texts = query.arrow(frame["text"]).fill_null("").to_pylist()
    columns = _marks(store).values()
    told = {finding.path for rule in (common.future_date, common.date_outlier) for finding in rule(store)}
    for record in day_files(store):
        if record.path in rows and record.path not in told and record.index and record.index.text and not record.problems:
            own = slice(*map(int, rows[record.path]))
            marks = " ".join(dict.fromkeys(value for column in columns for value in column[own] if value))
            yield _Day(record, record.index.text, own.start, texts[own], marks)


def _marks(store: Snapshot) -> dict[str, list[str | None]]:
    """Return the columns that hold what was taken from the text of an entry, those of them that are not empty."""

    def find() -> dict[str, list[str | None]]:
        columns = {name: query.arrow(store.entries[name]) for name in _MARKS}
        return {name: column.to_pylist() for name, column in columns.items() if column.null_count < len(column)}

    return store.once("marks", find)


def _of(store: Snapshot, held: _Day, message: str) -> Finding:
    line = held.record.index.line if held.record.index else 0
    return Finding(held.record.path, line, message, _mend(store, held), held.day, held.said)


def _mend(store: Snapshot, held: _Day) -> str:
    if held.day >= store.today:
        return "append(an entry, index=…) gives the day a new one"
    return f"frozen: rewrite the line by hand if you want to, then rebuild_catalog({held.day.year})"


def _written(store: Snapshot, held: _Day, place: int) -> list[str]:
    """Return the ways an entry may have stood in the file, with what the frame keeps in other columns."""
    marks = _marks(store)
    ways = [held.texts[place]]
    for name in ("tag", "stamp", "task"):
        mark = marks[name][held.start + place] if name in marks else None
        if mark:
            ways += [f"{shown} {way}" for shown in {f"[{mark}]", mark} for way in ways]
    return ways


def _is_own(store: Snapshot, held: _Day, clauses: list[str]) -> bool:
    """Return whether extraction made all these clauses of the day's entries."""
    return not _foreign(store, held, clauses)


def _foreign(store: Snapshot, held: _Day, clauses: list[str]) -> set[str]:
    """Return those of some clauses that extraction did not make of the day's entries."""
    left = {clause.strip() for clause in clauses}
    tags = _marks(store).get("tag")
    others = []
    for place, text in enumerate(held.texts):  # an entry of one clause without marks is its own index
        tag = tags[held.start + place] if tags else None
        plain = (f"[{tag}] {text}" if tag else text).rstrip("。！？；!?;")
        plain = plain if len(plain) <= indexing.CLAUSE_LIMIT else f"{plain[: indexing.CLAUSE_LIMIT]}…"
        if plain in left:
            left.discard(plain)
        else:
            others.append(place)
    for place in others:
        if not left:
            break
        for way in _written(store, held, place):
            parts = indexing.parts_of(way)
            left -= {*parts, *(clause.strip() for part in parts for clause in _CLAUSE.split(part))}
    return left


# ---- copies ----


def _copies(store: Snapshot, held: _Day) -> bool:
    """Return whether what somebody wrote of an index is long, and repeats what extraction does not account for."""
    clauses = held.said.split(indexing.JOIN)
    foreign = _foreign(store, held, clauses)
    written = indexing.JOIN.join(clause for clause in clauses if clause.strip() in foreign)
    made = indexing.JOIN.join(clause for clause in clauses if clause.strip() not in foreign)
    return len(written) >= LONG * COPIED and _share(held.texts, written, besides=made) >= COPIED


def _share(texts: list[str], said: str, *, besides: str = "") -> float:
    """Return how much of some texts' runs of letters and digits an index holds, each counted once, but for known ones."""
    runs = {run for text in texts for run in _RUN.findall(text) if run not in besides}
    return sum(len(run) for run in runs if run in said) / max(1, sum(map(len, runs)))


# ---- inventions ----


def _invented(store: Snapshot, held: _Day, body: str) -> Iterator[Finding]:
    """Yield a finding if a clause of an index holds what neither the day, its date nor extraction explains.

    Only a clause of which the day says half is judged: another one speaks of what was forgotten since, or in other words.
    """
    said = match.fold(body)
    known = numbers.values_of(said) | numbers.near(said, match.fold(held.said), held.day)
    own = _grams(said)
    chinese = len(_HAN.findall(said)) >= len(re.findall("[a-z]", said))
    for place, clause in enumerate(held.said.split(indexing.JOIN), 1):
        folded = match.fold(clause)
        odd = numbers.unexplained(folded, known)
        strange = [word for word in _LATIN.findall(clause) if not _is_said(word, said) and (chinese or _is_name(word, clause))]
        if not (odd or strange) or any(tokens.secrets_in(clause)):
            continue
        about = _grams(re.sub("|".join(["[0-9]+", *map(str.lower, strange)]), " ", folded))
        if about and len(about & own) >= len(about) / 2 and not _is_own(store, held, [clause]):
            what = "a number" if odd else "a word"
            yield _of(store, held, f"clause {place} names {what} that the day does not hold")
            return


def _is_said(word: str, said: str) -> bool:
    """Return whether a folded text holds a word, or what is left of it without its ending."""
    word = word.casefold()
    stems = [word, *(word.removesuffix(end) for end in _ENDINGS if len(word) - len(end) >= 3)]
    return word in _GIVEN or any(stem in said for stem in stems)


def _is_name(word: str, clause: str) -> bool:
    """Return whether a word of an English text is one that no paraphrase would add: a capital inside, or not at the start."""
    return any(map(str.isupper, word[1:])) or (word[:1].isupper() and not clause.lstrip(" '\"“‘(（").startswith(word))


# ---- entries that are missed ----


def _shares(text: str, index: str) -> bool:
    """Return whether an index holds one of the first plain runs of a text: a quick yes, no proof of no."""
    for count, found in enumerate(_PLAIN_GRAM.finditer(text)):
        if found[0] in index:
            return True
        if count > 16:
            break
    return False


def _unshared(held: _Day, places: list[int]) -> list[int]:
    """Return which entries share no run of two Chinese characters or three letters or digits with the index, after folding."""
    index = _grams(match.fold(held.said))
    if not index:  # `a: b` has no run that any entry could share
        return []
    folded = match.fold("\0".join(held.texts[place] for place in places)).split("\0")
    return [place for place, text in zip(places, folded, strict=True) if (own := _grams(text)) and own.isdisjoint(index)]


def _begins_empty(text: str) -> bool:
    return text.startswith(indexing.EMPTY_PHRASES)


def _grams(folded: str) -> set[str]:
    """Return the runs of a text without its blanks and signs, so that `第 5 杯` and `第5杯` are the same."""
    return set(_GRAM.findall("".join(_RUN.findall(folded))))


def _is_named(store: Snapshot, held: _Day, place: int) -> bool:
    """Return whether an index names an entry by a mark that it has, or as extraction would."""
    tags = _marks(store).get("tag")
    tag = tags[held.start + place] if tags else None
    if tag and (tag in held.said or match.fold(tag) in match.fold(held.said)):
        return True
    first = _PLAIN_GRAM.search(held.texts[place][:60])
    if first and not _SPLITS.search(held.texts[place], 0, first.end()) and not _begins_empty(held.texts[place]):
        return False  # extraction takes the first clause, and this one would have brought the run with it
    return any(clause in held.said for way in _written(store, held, place) for clause in indexing.clauses_of(way))


RULES = (
    Rule("warning", index_copies_body),
    Rule("info", index_empty_phrase),
    Rule("warning", index_invents),
    Rule("warning", index_misses_entry),
)
