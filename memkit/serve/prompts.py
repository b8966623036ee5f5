"""What a model is told of the memory: the instructions of the server, when to remember, and the flush before it forgets."""

from __future__ import annotations

from typing import Any

from memkit.errors import BadArgument
from memkit.serve import reference
from memkit.store import Store
from memkit.tools.flush import NO_REPLY

FLUSH, WHEN = "memory-flush", "when-to-remember"
_FLUSH = (
    "This conversation is about to be cut short. Write down now, with {tool}, what a later one must know and the memory does "
    f"not hold yet. Reply with {NO_REPLY} if there is nothing.\n"
    f"会话即将压缩：把以后还用得着、记忆里还没有的写下来（{{tool}}）；没有就只回复 {NO_REPLY}。"
)
_READS_ONLY = (
    "This memory is open for reading only: the tools that write, which the rest speaks of, are not there. Tell the user what "
    "you would have written.\n只读：没有写入工具；该记的告诉用户。"
)


def instructions(store: Store, *, read_only: bool) -> str:
    """Return the short form of how the memory is used, which clients give their model."""
    text = reference.short(store.layout)
    return f"{_READS_ONLY}\n\n{text}" if read_only else text


def listed(*, read_only: bool) -> list[dict[str, Any]]:
    """Return the prompts; there is nothing to flush to where nothing can be written."""
    flush = "Before a conversation is compacted: write down what is to last. 压缩前记忆刷新。"
    when = "What is worth remembering, and how it is found again. 什么值得记，怎么找回来。"
    held = [
        {"name": FLUSH, "title": "Memory flush · 记忆刷新", "description": flush},
        {"name": WHEN, "title": "When to remember · 何时记忆", "description": when},
    ]
    return held[1:] if read_only else held


def read(store: Store, name: str, *, read_only: bool) -> str:
    """Return a prompt.

    Raises: BadArgument for another name.
    """
    if name == FLUSH and not read_only:
        return _FLUSH.format(tool=reference.writer(store.layout))
    if name == WHEN:
        return reference.page(store.layout, "usage")
    known = ", ".join(held["name"] for held in listed(read_only=read_only))
    raise BadArgument(f"prompt: none is named {name[:40]!r}; expected {known}")
