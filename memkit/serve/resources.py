"""What a client can look up without a tool: the hot layer, what is recent, a day, a summary, and how the memory works."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from memkit import dates
from memkit.cells import clip
from memkit.errors import BadArgument
from memkit.recall import WINDOW
from memkit.serve import reference
from memkit.store import Store

MARKDOWN = "text/markdown"
LATEST = 14  # days that are listed
RECENT = 3  # days of a workspace that are its context
LONG = 1_000  # columns of an entry in the context; a day has it whole
_ADDRESS = re.compile(r"(?i:memkit)://([a-z]+)(?:/(.+))?")

_HOT = ("The hot layer · 热层", "What is to be known in every session. 每次会话都要知道的。")
_CONTEXT = ("Recent memory · 最近的记忆", "What an agent is given at the start of a session. 会话开始时给智能体的内容。")
TEMPLATES = (
    {
        "uriTemplate": "memkit://day/{date}",
        "name": "day",
        "title": "A day · 某一天",
        "description": "One whole day as it is written; date is YYYY-MM-DD. 某一天的全文。",
        "mimeType": MARKDOWN,
    },
    {
        "uriTemplate": "memkit://summary/{period}/{key}",
        "name": "summary",
        "title": "A summary · 摘要",
        "description": "The summary of a day (2025-02-03), week (2025-W06) or month (2025-02), copied from the entries. 摘要。",
        "mimeType": MARKDOWN,
    },
)


def listed(store: Store) -> list[dict[str, Any]]:
    """Return the pages of a store: hot layer (layers), context, reference pages, and its latest days."""
    pages = [_page("hot", *_HOT)] if store.layout == "layers" else []
    pages.append(_page("context", *_CONTEXT))
    for name, (title, about) in reference.PAGES.items():
        pages.append(_page(f"reference/{name}", title, about))
    for day in reversed(store.days()["date"].iloc[-LATEST:].tolist()):
        pages.append(_page(f"day/{day.date()}", str(day.date()), "One day as it is written. 某一天的全文。"))
    return pages


def _page(address: str, title: str, about: str) -> dict[str, Any]:
    return {"uri": f"memkit://{address}", "name": address, "title": title, "description": about, "mimeType": MARKDOWN}


def read(store: Store, uri: str) -> str:
    """Return the page at an address, as Markdown; nothing is written.

    Raises: BadArgument for an address that leads nowhere.
    """
    found = _ADDRESS.fullmatch(uri)
    kind, rest = (found[1], found[2] or "") if found else ("", "")
    if kind == "hot" and not rest and store.layout == "layers":
        return _hot(store)
    if kind == "context" and not rest:
        return _context(store)
    if kind == "day" and rest:
        return store.day(rest).text
    if kind == "summary" and rest.count("/") == 1:
        return str(store.summary(*rest.split("/")))
    if kind == "reference" and rest in reference.PAGES:
        return reference.page(store.layout, rest)
    raise BadArgument(f"uri: {uri[:80]!r} leads nowhere; expected {', '.join(_forms(store))}")


def _forms(store: Store) -> list[str]:
    """Return the addresses that a store has."""
    hot = ["memkit://hot"] if store.layout == "layers" else []
    pages = [f"memkit://reference/{name}" for name in reference.PAGES]
    return [*hot, "memkit://context", *(form["uriTemplate"] for form in TEMPLATES), *pages]


def _hot(store: Store) -> str:
    """Return the hot layer: its text, the candidates, the topics."""
    hot = store.hot()
    candidates = [f"- [{tag if isinstance(tag, str) else '-'}] {text}" for tag, text in hot.candidates[["tag", "text"]].values]
    topics = [f"- {topic}|{month}" for topic, month in hot.topics.values]
    parts = [hot.content or "(empty)", *([hot.hint] if hot.hint else [])]
    parts += ["## Candidates · 候选\n\n" + "\n".join(candidates)] if candidates else []
    parts += ["## Topics · 主题\n\n" + "\n".join(topics)] if topics else []
    return "\n\n".join(parts) + "\n"


def _context(store: Store) -> str:
    """Return what the store knows of the last days: an archive's indexes, oldest first, else the entries, newest first."""
    if store.layout == "archive":
        rows = store.context().fillna("")
        lines = [f"- `{path}` {clip(index, LONG)}" for path, index in zip(rows["path"], rows["index"], strict=True)]
        return _titled(dates.recent_window(store._clock().date(), WINDOW["archive"]), lines)
    days = WINDOW.get(store.layout, RECENT)
    return _titled(dates.recent_window(store._clock().date(), days), _lines(store.recent(days)))


def _lines(entries: pd.DataFrame) -> list[str]:
    columns = (entries["date"], entries["tag"], entries["text"])
    tags = (
        (day, f"[{clip(tag, LONG)}] " if isinstance(tag, str) else "", text) for day, tag, text in zip(*columns, strict=True)
    )
    return [f"- {day.date()} {tag}{clip(text, LONG)}" for day, tag, text in tags]


def _titled(window: tuple[Any, Any], lines: list[str]) -> str:
    first, last = window
    return "\n".join([f"# {first} – {last}", "", *(lines or ["Nothing is remembered of these days. 这几天没有记忆。"])]) + "\n"
