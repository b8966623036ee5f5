"""The archive's index line by extraction: clauses of each entry that can be searched for, nothing that is not in the body."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from memkit.errors import BadIndexError
from memkit.text import norm_text

CLAUSES, CLAUSE_LIMIT, CORRECTION_LIMIT = 4, 120, 300
JOIN = "；"
CORRECTION = "更正"
EMPTY_PHRASES = (
    "进行了讨论",
    "进行讨论",
    "确定了方案",
    "确定方案",
    "记录了问题",
    "记录问题",
    "做了总结",
    "讨论了问题",
    "解决了问题",
    "完成了工作",
    "有一些进展",
)
_END = re.compile(r"[。！？；\n]+|[!?;]+(?=\s|$)")
_MARKS = re.compile(r"^[ \t]*(?:(?:[-*+•●·]|[0-9]{1,9}[.)、]|#{1,6}|>)[ \t]+)+(?:\[[^\w\[\]]\][ \t]+|\[[xX]\][ \t]+)?")
_STRESS = re.compile(r"\*\*|__|~~|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_TELLING = re.compile(r"[0-9A-Za-z《》「」“”`]|#\w|决定|定为|改为|确认|待办|遗留|未完|TODO")
_WORDS = re.compile(r"[0-9A-Za-z]{3,}")
_HAN = re.compile("[\u4e00-\u9fff]{2}")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def extract(entries: Iterable[str]) -> str:
    """Return the index of a day's entries, in order: up to four clauses of each, none twice, no entry left out."""
    clauses: dict[str, None] = {}
    for entry in entries:
        found = clauses_of(entry)
        clauses.update(dict.fromkeys(found))
    return JOIN.join(clauses)


def clauses_of(entry: str) -> list[str]:
    """Return the clauses by which one entry can be found: its first, and those that hold something to search for.

    A clause of an empty phrase alone (进行了讨论 …) is left out when the entry has another; a 更正 entry is kept whole.
    """
    if entry.lstrip("- ").startswith(CORRECTION):
        return [_cut(_plain(entry.replace("\n", " ")), CORRECTION_LIMIT)]
    whole = [clause for part in _END.split(_FENCE.sub("", entry)) if (clause := _plain(part))]
    clauses = [clause for clause in whole if not is_empty_phrase(clause)] or whole
    told = [clause for place, clause in enumerate(clauses) if place == 0 or _TELLING.search(clause)]
    kept = list(dict.fromkeys(_cut(clause, CLAUSE_LIMIT) for clause in told))[:CLAUSES]
    return kept or [_cut(" ".join(_FORBIDDEN.sub(" ", entry).split()), CLAUSE_LIMIT)]


def is_empty_phrase(clause: str) -> bool:
    """Return whether a clause is nothing but a phrase that tells no day from another."""
    return clause.strip(" ，,。.、：:") in EMPTY_PHRASES


def refreshed(index: str | None, before: list[str], new: list[str]) -> str:
    """Return the index after new entries: extracted afresh if extraction made it, else kept, with their clauses added."""
    if not index or index == extract(before):
        return extract([*before, *new])
    for entry in new:
        index = with_clauses(index, entry)
    return index


def with_clauses(index: str, entry: str) -> str:
    """Return an index with the clauses of one more entry at its end, those that it has not yet."""
    known = set(index.split(JOIN))
    return JOIN.join([*filter(None, [index]), *(clause for clause in clauses_of(entry) if clause not in known)])


def without(index: str, gone: Iterable[str], left: Iterable[str]) -> str:
    """Return an index without what it says of entries that are gone and of none that is left."""
    gone, left = list(gone), list(left)
    lost = {part for entry in gone for part in parts_of(entry)} - {part for entry in left for part in parts_of(entry)}
    body = norm_text("\n".join(left))
    texts = [text for entry in gone if (text := norm_text(entry)) and text not in body]
    kept = []
    for clause in index.split(JOIN):
        for text in texts:
            clause = clause.replace(text, "")
        if clause.strip(" ，,、：:") and clause not in lost:
            kept.append(clause)
    return JOIN.join(kept)


def parts_of(entry: str) -> list[str]:
    """Return an entry's clauses as they stand in an index, where a correction taken whole may be several."""
    return [part for clause in clauses_of(entry) for part in clause.split(JOIN)]


def checked(index: object) -> str:
    """Return an index that somebody gave.

    Raises: BadIndexError if it is blank, or has a tab, a line break or a control character.
    """
    if not isinstance(index, str) or not index.strip():
        raise BadIndexError("index: it is blank; give one line that names what the day holds, or leave it out")
    bad = _FORBIDDEN.search(index)
    if bad:
        raise BadIndexError(
            f"index: it has the character U+{ord(bad[0]):04X}; an index is one line of whole characters, without tabs"
        )
    return index.strip()


def quoted(index: str) -> str:
    """Return the index as YAML in single quotes."""
    return "'" + index.replace("'", "''") + "'"


def _plain(part: str) -> str:
    """Return a clause without Markdown's marks, on one line."""
    text = _STRESS.sub("", _MARKS.sub("", part))
    return " ".join(_FORBIDDEN.sub(" ", text).split()).strip("| ") if text.strip("|-:` ") else ""


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def shares_words(index: str, forgotten: str, left: str) -> bool:
    """Return whether an index still holds words (two Chinese characters, a Latin word, a number) of a forgotten text alone."""
    pairs = (first + second for first, second in pairwise(forgotten))
    words = {*_WORDS.findall(forgotten), *(pair for pair in pairs if _HAN.fullmatch(pair))}
    return any(word in index and word not in left for word in words)
