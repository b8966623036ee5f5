"""The tools of `layers`: the nine of dsh-memory-layers with their arguments and answers, and mem_topics_add.

Their docstrings are what an agent is told of them. Answers are plain JSON: dates are local days, timestamps stand as written.
"""

from __future__ import annotations

import os
from datetime import date, datetime, tzinfo
from typing import Annotated

import pandas as pd

from memkit import dates, match, opening, query, tables, views
from memkit.edits.lines import CONTROL, LIMIT
from memkit.errors import BadArgument
from memkit.loading import State
from memkit.model import Entries, Hot
from memkit.store import HOT_LIMIT, Store
from memkit.text import norm_tag, norm_text
from memkit.tools import place
from memkit.tools.arguments import Answer, Choice, Day, Flag, Number, Text, few, tool

WIDEST = 3660  # days, of mem_by_date

Limit = Annotated[int, Number("How many entries to return at most.", least=1, most=200)]
Offset = Annotated[int, Number("How many of the newest to skip, to reach those behind the limit.", least=0, most=1_000_000_000)]


def open_store(
    root: str | os.PathLike[str] | None = None,
    *,
    hot_limit: int = HOT_LIMIT,
    tz: str | tzinfo | None = None,
    now: dates.Clock | datetime | str | None = None,
) -> Store:
    """Return the store that the tools of dsh-memory-layers work on: `root`, else $DSH_HOME/dsh-memory-layers, else ~/.dsh's.

    A folder that does not exist is an empty store, and comes with the first write. A `hot_limit` that is no whole
    number from 100 to 20,000 is 600, with a warning.

    Raises: StoreNotFound, AmbiguousStore, BadArgument.
    """
    found = root if root is not None else place.layers_root()
    return opening.open_store(found, layout="layers", hot_limit=hot_limit, tz=tz, now=now, cache=place.cached())


@tool("layers")
def mem_hot_get(store: Store) -> Answer:
    """Read the hot layer: its text, the candidates waiting to join it, and the topics with the months they occur in.

    Call it first in every session; nothing loads it for you. If overLimit is true, shorten it with mem_hot_set.
    会话开始先读热层；主题索引告诉你某个主题在哪几个月。
    """
    loaded = store._fresh()
    records, fact = loaded.records, loaded.facts.get("hot.md")
    if fact is not None and fact.trouble:
        raise BadArgument(f"hot.md: {fact.trouble}; nothing is known of the hot layer")
    hot = records["hot.md"].hot if "hot.md" in records else None
    layer, candidates = views.hot_layer(hot, tables.topics(records.values()), store._hot_limit), _candidates(hot)
    topics = [{"topic": topic, "month": month} for topic, month in layer.topics.itertuples(index=False)]
    return {
        "content": layer.content,
        **_size(layer),
        "candidates": candidates,
        "candidateCount": len(candidates),
        "topics": topics,
        "topicCount": len(topics),
    }


@tool("layers")
def mem_hot_set(
    store: Store, content: Annotated[str, Text("The whole new text of the hot layer; an empty one clears it.")]
) -> Answer:
    """Replace the whole text of the hot layer; it does not append, so give back everything that is to stay.

    For who the user is, lasting agreements and what is under way, in a few hundred characters; longer texts are written
    too, and answered with overLimit. Candidates and topics stay, unless content holds their block with both markers: then
    its lines replace them. A block without the text empties the hot layer; to add one topic use mem_topics_add.
    热层全量覆盖，不是追加；精简时把值得留的候选写进正文。
    """
    facts = store.hot_set(content).facts
    layer = store.hot()
    size = _size(layer)
    if facts.lost_lines:
        size["hint"] = f"{facts.lost_lines} lines of the replaced blocks were no entry and no topic, and are gone"
    if facts.body_cleared:
        gone = f"content held only blocks, so the text of the hot layer ({facts.previous_chars} characters) is gone"
        size["hint"] = f"{gone}; call mem_hot_set again with the text that is to stand there"
    return {
        **size,
        "candidateCount": len(layer.candidates),
        "topicCount": len(layer.topics),
        "ignoredLines": facts.ignored_lines,
        "bodyCleared": facts.body_cleared,
        **({"previousChars": facts.previous_chars} if facts.body_cleared else {}),
    }


@tool("layers")
def mem_write(
    store: Store,
    text: Annotated[str, Text("What to remember, at most 4,000 characters; line breaks become spaces.")],
    tag: Annotated[str | None, Text("One word to file it under; square brackets are dropped.")] = None,
    important: Annotated[bool, Flag("Whether it also becomes a candidate for the hot layer.")] = False,
) -> Answer:
    """Add one memory to today's file of the cold layer; it can be found again, and is never changed or lost.

    Use it for every detail worth keeping; set important only for what may belong into the hot layer. The same tag and text
    twice on one day is kept once (added: false). On a new topic, also call mem_topics_add.
    值得长期记住的细节随手写进冷层；确实重要再用 important。
    """
    written = store.append(text, tag, important=important).facts
    return {
        "added": written.added,
        "date": str(written.day),
        "timestamp": written.stamp,
        "tag": written.tag,
        "candidateIndex": written.candidate,
        **(_size(store.hot()) if important else {}),
    }


@tool("layers")
def mem_recall(
    store: Store,
    keyword: Annotated[str, Text("Words parted by blanks, each looked for literally in texts and tags.")],
    limit: Annotated[int, Number("How many entries to return at most.", least=1, most=50)] = 10,
    mode: Annotated[str, Choice("Whether an entry must hold every word (and) or any of them (or).", match.MODES)] = "and",
    offset: Offset = 0,
) -> Answer:
    """Search the whole cold layer, all months, for entries that hold the words, newest first; nothing is changed.

    The last resort: look at mem_recent(3) first, then for the month in the topics of mem_hot_get, then at that month with
    mem_by_date. Case and width do not matter, quotes and signs are literal. If matched is far above returned, add a word;
    if it is 0, try fewer words or mode "or".
    全文检索冷层，放在最后一步；多个词用空格分开。
    """
    tokens, loaded = few(match.words(keyword, name="keyword"), "keyword"), store._fresh()
    found = query.newest_first(loaded.visible[loaded.folded.mask(tokens, mode)], store.tz)
    head = {"mode": mode, "tokens": list(tokens), "limit": limit}
    return _page(head, found, limit, offset, scanned=(_files(loaded), len(loaded.visible)))


@tool("layers")
def mem_recent(
    store: Store,
    days: Annotated[int, Number("How many calendar days, today among them.", least=1, most=365)] = 3,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Answer:
    """Return the entries of the last days, today among them, newest first; nothing is changed.

    The first step when something does not come to mind, and the answer to "just now" or "these days".
    最近几天（含今天）发生了什么，先看这里。
    """
    first, last = dates.recent_window(store._clock().date(), days)
    return _window(store, {"days": days}, first, last, limit, offset)


@tool("layers")
def mem_by_tag(
    store: Store,
    tag: Annotated[str, Text("The whole tag, whatever its case; - for entries without a tag.")],
    limit: Limit = 20,
    offset: Offset = 0,
) -> Answer:
    """Return the entries of one tag, of all months, newest first; nothing is changed.

    For going through a category; part of a tag is not enough (mem_recall finds that).
    按标签回顾一类记忆；"-" 取没有标签的。
    """
    loaded = store._fresh()
    name = CONTROL.sub(" ", tag)  # as a write does
    found, head = query.tagged(loaded.visible, name, tz=store.tz), {"tag": norm_tag(name), "limit": limit}
    return _page(head, found, limit, offset, scanned=(_files(loaded), len(loaded.visible)))


@tool("layers")
def mem_by_date(
    store: Store,
    from_: Annotated[str, Day("The first local day, YYYY-MM-DD.")],
    to: Annotated[str, Day("The last local day, YYYY-MM-DD; the same as from for one day.")],
    limit: Limit = 50,
    offset: Offset = 0,
) -> Answer:
    """Return the entries from one local day to another, both among them, newest first; nothing is changed.

    Use it once the topics of mem_hot_get have told the month; at most 3,660 days at once.
    按日期区间取记忆（首尾两天都算）；先用主题索引定位月份。
    """
    first, last = dates.window(from_, to, names=("from", "to"))
    span = dates.span_days(first, last)
    if span > WIDEST:
        raise BadArgument(f"from and to: {span:,} days; expected at most {WIDEST:,}, ask for less at once")
    return _window(store, {}, first, last, limit, offset)


@tool("layers")
def mem_summarize(
    store: Store,
    period: Annotated[str, Choice("What to sum up.", dates.PERIODS)] = "day",
    date: Annotated[str | None, Day("Any local day of the period, YYYY-MM-DD; today if left out.")] = None,
    force: Annotated[bool, Flag("Whether to make anew a summary that is there.")] = False,
) -> Answer:
    """Make the summary of a day, week (ISO) or month, or return the one that is there; it is extracted, nothing is invented.

    At the end of each day and week, and once a month; also to look back on a time. Summaries are never brought up to date
    by themselves: if stale is true, call it again with force; if it stays true, a lower one is stale: begin with its day.
    每天、每周、每月收尾时生成摘要；只抽取原文。
    """
    plan = store.summarize(period, date, force=force)
    facts, told = plan.facts, {"warning": "; ".join(plan.warnings)} if plan.warnings else {}
    head = {"period": facts.period, "key": facts.key, "path": facts.path, "created": facts.created, "existed": facts.existed}
    if facts.created or facts.existed:
        return {**head, "stale": facts.stale, "content": facts.content, **told}
    message = f"there are no entries in {facts.key}, so no summary was written"
    return {**head, "empty": True, "content": "", "message": message, **told}


@tool("layers")
def mem_stats(store: Store) -> Answer:
    """Return how much each layer holds: the hot layer, the cold layer by month, the summaries by period.

    Use it to see whether the hot layer needs shortening or summaries are missing; nothing is changed.
    记忆是否臃肿，看这里。
    """
    facts = store.overview()["value"].to_dict()
    months = [fact.split(".")[2] for fact in facts if fact.startswith("cold.months.") and fact.endswith(".files")]

    def part(name: str, *fields: str) -> Answer:
        return {field: facts[f"{name}.{field}"] for field in fields}

    by_month = [{"month": month, **part(f"cold.months.{month}", "files", "entries", "latest")} for month in months]
    return {
        "hot": part("hot", "chars", "limit", "overLimit", "candidates", "topics"),
        "cold": {**part("cold", "files", "entries", "latest"), "months": by_month},
        "summaries": {period: part(f"summaries.{period}", "files", "chars") for period in dates.PERIODS},
    }


@tool("layers")
def mem_topics_add(
    store: Store,
    topic: Annotated[str, Text("The name of the topic.")],
    month: Annotated[str, Text("A month in which it occurs, YYYY-MM.", "a month as YYYY-MM")],
) -> Answer:
    """Add one line topic|month to the topics of the hot layer, and leave all else as it is.

    Call it after mem_write on a new topic, or an old one in a new month, so that the topics stay a way to find the month.
    写下新主题后，顺手补一行主题索引。
    """
    plan = store.topics_add(topic, month)
    name = norm_text(CONTROL.sub(" ", topic))
    return {"added": plan.added > 0, "topic": name, "month": month, "topicCount": len(store.hot().topics)}


TOOLS = (
    mem_hot_get, mem_hot_set, mem_write, mem_recall, mem_recent, mem_by_tag, mem_by_date, mem_summarize, mem_stats,
    mem_topics_add,
)  # fmt: skip


def _size(layer: views.HotLayer) -> Answer:
    """Return how long the hot layer is against its limit."""
    return {"chars": layer.chars, "limit": layer.limit, "overLimit": layer.over_limit, "hint": layer.hint}


def _candidates(hot: Hot | None) -> list[Answer]:
    """Return the candidates with their times as written, which the frame that people see does not keep."""
    held = hot.candidates if hot else Entries()
    rows = enumerate(zip(held.stamp or [], held.tag or [], held.text, strict=True), 1)
    return [{"index": n, "timestamp": stamp, "tag": tag or query.NO_TAG, "text": text} for n, (stamp, tag, text) in rows]


def _window(store: Store, head: Answer, first: date, last: date, limit: int, offset: int) -> Answer:
    """Return the entries of a closed window; the files outside it do not count as scanned."""
    loaded = store._fresh()
    found = query.between(loaded.visible, first, last, tz=store.tz)
    head = {**head, "from": str(first), "to": str(last), "limit": limit}
    return _page(head, found, limit, offset, scanned=(_files(loaded, first, last), len(found)))


def _files(loaded: State, first: date = date.min, last: date = date.max) -> int:
    """Return how many files of the cold layer lie in a window."""
    days = [record.role.day for record in loaded.records.values() if record.role.kind == "daily"]
    return sum(day is not None and first <= day <= last for day in days)


def _page(head: Answer, found: pd.DataFrame, limit: int, offset: int, *, scanned: tuple[int, int]) -> Answer:
    """Return the answer of a question: what it looked at, what it found, and one page of that."""
    shown = found.iloc[offset : offset + limit]
    columns = (shown["date"], shown["stamp"], shown["tag"].fillna(query.NO_TAG), shown["text"], shown["path"], shown["line"])
    items = [
        {"date": str(day.date()), "timestamp": stamp, "tag": tag, "text": text}
        | ({"path": path, "line": int(line)} if len(text) > LIMIT else {})  # written by hand, and maybe too long to be sent
        for day, stamp, tag, text, path, line in zip(*columns, strict=True)
    ]
    return {
        **head,
        **({"offset": offset} if offset else {}),
        "scannedFiles": scanned[0],
        "scannedEntries": scanned[1],
        "matched": len(found),
        "returned": len(items),
        "items": items,
    }
