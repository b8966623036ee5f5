"""The tools of `archive`, for agents that keep their memory as the long-term-memory skill of nutstore-sync has it.

Their docstrings are what an agent is told of them. Answers are plain JSON; files are named from the vault, days are local.
No answer is longer than a few thousand characters: what was left out is counted, and `offset` reaches it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Annotated, Any

import pandas as pd

from memkit import dates, diffs, hits, match, opening, recall
from memkit.edits import Plan
from memkit.hits import SearchResult
from memkit.layouts import archive
from memkit.model import clean
from memkit.store import Store
from memkit.tools import place
from memkit.tools.arguments import Answer, Day, Flag, Number, Text, Texts, Whole, few, tool

FEW = 20  # of what is told beside memory: warnings, stale rows, rows of a plan
MOST = 8_000  # characters of memory in an answer, unless archive_read is asked for more
LONGEST = 200  # characters of a tag
FAR = 1_000_000_000
_FILE = re.compile(r"(?<![\w./-])(?:archive/[0-9]{4}/|catalog/[0-9]{4}\.tsv)(?:[^\s:;,]*)")  # as warnings name one

Limit = Annotated[int, Number("How many to return at most.", least=1, most=100)]
Offset = Annotated[int, Number("How many of the newest to skip, to reach those that were left out.", least=0, most=FAR)]
Remembered = Annotated[str, Text("The entry: one fact, decision or event, understandable by itself.")]
Term = Annotated[list[str], Texts("One to three words or phrases, of which one must hit; the words of one must all hit.")]
All = Annotated[list[str] | None, Texts("Words of which each must hit too, on the same day.")]
Any_ = Annotated[list[str] | None, Texts("Words of which one must hit too, on the same day.")]
Date = Annotated[str, Day("The local day, YYYY-MM-DD.")]


def open_store(
    root: str | os.PathLike[str] | None = None,
    *,
    tz: str | tzinfo | None = None,
    now: dates.Clock | datetime | str | None = None,
    lock_timeout: float = 10.0,
) -> Store:
    """Return the archive that the tools work on: that at `root`, a vault or its memory folder, else in the current folder.

    A folder without one is an empty store, and the archive comes with the first write; in an Obsidian vault it then lies in
    `.agents/nutstore-sync/memory`.

    Raises: StoreNotFound, AmbiguousStore, BadArgument.
    """
    return opening.open_store(root, layout="archive", tz=tz, now=now, lock_timeout=lock_timeout, cache=place.cached())


@tool("archive")
def archive_append(
    store: Store,
    text: Remembered,
    tag: Annotated[str | None, Text("One word to file it under.", f"a word of at most {LONGEST} characters", LONGEST)] = None,
    index: Annotated[str | None, Text("The day's whole new index, one line; made from the entries if left out.")] = None,
) -> Answer:
    """Write one memory into today's file; finished days are never changed.

    Ask: if a later conversation did not know this, would it repeat a question or a decision, misread the user, or lose the
    thread? Then it is worth a call: lasting facts, decisions and their reasons, experiences, what is still open. Not
    everything that merely happened. Keep names, numbers, dates and the user's own words, for those are what a later search
    will look for. The same text twice on one day is kept once (added: false). Leave index out unless you rewrite it to
    cover every topic of the day.
    值得以后记起的才写：决定、经历、约定、未完的事，保留原话里的名字和数字。
    """
    return _written(store, store.append(text, tag, index))


@tool("archive")
def archive_search(
    store: Store,
    terms: Term,
    all_of: All = None,
    any_of: Any_ = None,
    days: Annotated[int, Number("How many days count as recent, today among them.", least=1, most=3660)] = 30,
    limit: Limit = 20,
    offset: Offset = 0,
    *,
    heal: bool = True,
) -> Answer:
    """Search the memory from near to far: recent days, the catalog of all years, all index lines, at last all text.

    Take the one to three most telling words of the question (a name, an object, a number, a phrase as the user says it),
    not a sentence. The first step that answers is the last, and step says which; hits come newest first, and the newer of
    two that disagree counts (correctedBy names the day of a correction). Too many hits: narrow with allOf or anyOf, which
    go by the day. None: try other words. Words are literal, case and width do not matter. If complete is false, a
    file could not be read whole.
    先查再答：给一到三个最有区分度的词，由近及远；太多用 allOf 收窄，没有就换个说法。
    """
    first, second, every = _terms(terms, "terms"), _terms(any_of or (), "anyOf"), _terms(all_of or (), "allOf")
    found = store.search(*first, any_of=second, all_of=every, days=days, limit=None, heal=heal)
    items = [_hit(store, row, found) for row in found.frame.iloc[offset : offset + limit].itertuples()]
    shown = _capped(items, "text")
    more = {
        "stale": list(found.stale[:FEW]),
        "staleCount": len(found.stale),
        "healed": [recall.in_vault(store, path) for path in found.healed],
    }
    return {
        "step": found.step,
        "complete": found.complete,
        **_page(len(found), offset, shown),
        "results": shown,
        **{name: value for name, value in more.items() if value},
        **_warned(store, found.warnings),
    }


@tool("archive")
def archive_read(
    store: Store,
    date: Date,
    limit: Annotated[int, Number("How many characters to return at most.", least=1, most=100_000)] = MOST,
    offset: Annotated[int, Number("How many characters to skip, to read on.", least=0, most=FAR)] = 0,
) -> Answer:
    """Read the file of one day as it is written.

    Only when the hits of archive_search or an index from archive_recent are not enough and their surroundings matter; do
    not read day after day through the archive.
    需要前后文时才读整天，不要逐日翻档案。
    """
    day = store.day(date)
    text = day.text[offset : offset + limit]
    left = max(len(day.text) - offset - len(text), 0)
    more = {"nextOffset": offset + len(text)} if left else {}
    return {
        "date": date,
        "path": recall.in_vault(store, day.path),
        "text": text,
        "chars": len(day.text),
        "leftOut": left,
        **more,
    }


@tool("archive")
def archive_recent(
    store: Store,
    days: Annotated[int, Number("How many days, today among them.", least=1, most=3660)] = 30,
    limit: Limit = 30,
    offset: Offset = 0,
    *,
    heal: bool = True,
) -> Answer:
    """Return the index of each of the last days that has a file, newest first: what the memory holds, at a glance.

    At the start of a conversation, and for "lately" or "yesterday". An index names the topics of its day; archive_search
    finds the entries, archive_read gives the whole day.
    会话开始时看看最近几十天各有什么。
    """
    warnings = recall.catch_up(store) if heal else []
    frame = store.context(days).iloc[::-1]
    page = frame.iloc[offset : offset + limit]
    columns = (page["date"], page["path"], page["index"].fillna(""))
    items = [{"date": str(day.date()), "path": path, "index": index} for day, path, index in zip(*columns, strict=True)]
    shown = _capped(items, "index")
    return {"days": days, **_page(len(frame), offset, shown), "results": shown, **_warned(store, warnings)}


@tool("archive")
def archive_correct(
    store: Store,
    date: Annotated[str, Day("The day of what was wrong, YYYY-MM-DD.")],
    subject: Annotated[str, Text("What it is about, in words of the old entry, so that searches show that it was corrected.")],
    text: Annotated[str, Text("What is right.")],
) -> Answer:
    """Correct what an earlier day says by an entry of today; the old day stays as it was written.

    When the user says that a memory is wrong or no longer so. From then on searches show at the old entry on which day it
    was corrected.
    记错了或变了，就在今天追加更正，旧文件不改。
    """
    return _written(store, store.correct(date, subject, text))


@tool("archive")
def archive_forget(
    store: Store,
    text: Annotated[str, Text("The whole text of the entry, as archive_search or archive_read shows it.")],
    date: Annotated[str | None, Day("The day of the entry, if only that one is meant.")] = None,
    new_index: Annotated[str | None, Text("The day's whole new index, if a warning asks for one.")] = None,
    confirm: Annotated[bool, Flag("Whether to do it; without, the answer shows what would be done.")] = False,
) -> Answer:
    """Delete an entry for good, with its words in the index and the catalog; only when the user asks to forget it.

    Call it first without confirm: the answer has the entries (rows) and the change (diff), nothing is written. Show them to
    the user, and call it again with confirm: true only after a yes. For what is merely wrong use archive_correct.
    只有用户明确要求忘记才用：先看 diff，用户同意后再 confirm。
    """
    plan = store.forget(text, date=date, new_index=new_index)
    if confirm:
        plan.apply()
    rows = [{**row, "row": recall.in_vault(store, row["row"])} for row in _plain(plan.rows)]
    return {
        "applied": plan.applied and bool(plan.edits),
        "rows": rows[:FEW],
        "rowCount": len(rows),
        **({} if confirm else _diff(store, plan)),
        **_warned(store, plan.warnings),
    }


@tool("archive")
def archive_rebuild(
    store: Store,
    year: Annotated[int | None, Whole("The year; all years if left out.", least=1, most=9999)] = None,
) -> Answer:
    """Make the catalog afresh from the day files; the files themselves are not touched.

    After files were changed, moved or deleted by hand. Searches mend by themselves what they come across.
    手工改动过记忆文件后重建目录。
    """
    plan = store.rebuild_catalog(year)
    rows = [
        {"path": recall.in_vault(store, row["row"]), "action": row["action"], "days": row["reason"]}
        for row in _plain(plan.rows)
    ]
    return {"changed": len(plan.edits), "catalogs": rows, **_warned(store, plan.warnings)}


TOOLS = (
    archive_append, archive_search, archive_read, archive_recent, archive_correct, archive_forget, archive_rebuild,
)  # fmt: skip


def _written(store: Store, plan: Plan) -> Answer:
    """Return where an entry went, and the day's index as it is now."""
    path = plan.rows["row"].iloc[0]
    day = str(archive.role(path).day)
    found = {"added": plan.added > 0, "date": day, "path": recall.in_vault(store, path)}
    return {**found, "index": clean(store.day(day).index or "")[:MOST], **_warned(store, plan.warnings)}


def _terms(texts: Iterable[str], name: str) -> list[str]:
    """Return the terms of a group, without words that stand in one again.

    Raises: BadArgument, naming the argument, for a term without a word, or of too many.
    """
    return [_term(text, few(match.split_query(text, name=name), name)) for text in texts]


def _term(text: str, words: tuple[str, ...]) -> str:
    phrases = any(set(word) & set(' "“”') for word in words)  # these would have to be quoted again
    return text if phrases else " ".join(words)


def _hit(store: Store, row: Any, found: SearchResult) -> Answer:
    """Return a hit as an agent is given it; of a long one the piece around the first word, and how long it is."""
    text = hits.snippet(row.text, found.words) if isinstance(row.text, str) else ""
    cut = {"chars": len(row.text)} if text and len(text) < len(row.text) else {}
    later = {} if row.corrected_by is pd.NaT else {"correctedBy": str(row.corrected_by.date())}
    return {"date": str(row.date.date()), "text": text, **cut, **later, "path": recall.in_vault(store, row.path)}


def _capped(items: list[Answer], name: str) -> list[Answer]:
    """Return the first items, as many as the texts of an answer have room for, and at least one."""
    room = MOST
    for number, item in enumerate(items):
        room -= len(item[name])
        if room < 0 and number:
            return items[:number]
        if room < 0:
            item["leftOut"] = -room
            item[name] = item[name][:MOST]
    return items


def _page(matched: int, offset: int, shown: list[Answer]) -> Answer:
    """Return how many there are, how many are shown and left out, and where to go on."""
    left = max(matched - offset - len(shown), 0)
    more = {"nextOffset": offset + len(shown)} if left else {}
    return {"matched": matched, "returned": len(shown), "leftOut": left, **more}


def _plain(rows: pd.DataFrame) -> list[dict[str, str]]:
    """Return the rows of a plan as text."""
    return [{str(name): str(value) for name, value in row.items()} for row in rows.to_dict("records")]


def _diff(store: Store, plan: Plan) -> Answer:
    """Return the change with files named from the vault, cut where an answer ends."""
    diff = clean("".join(diffs.unified(replace(edit, path=recall.in_vault(store, edit.path))) for edit in plan.edits))
    return {"diff": diff[:MOST], "leftOut": max(len(diff) - MOST, 0)}


def _warned(store: Store, warnings: Iterable[str]) -> Answer:
    """Return what did not work, with files named from the vault."""
    held = list(warnings)
    told = _FILE.sub(lambda found: recall.in_vault(store, found[0]), "; ".join(held[:FEW]))
    more = f"; and {len(held) - FEW:,} more" if len(held) > FEW else ""
    return {"warning": told[:MOST] + more} if told else {}
