"""What a model is told of the memory: the instructions of the server, when to remember, and the flush before it forgets."""

from __future__ import annotations

from typing import Any

from memkit.errors import BadArgument
from memkit.serve import reference
from memkit.store import Store
from memkit.tools.flush import NO_REPLY, memory_flush_prompt

FLUSH, WHEN = "memory-flush", "when-to-remember"
_FLUSH = (
    "This conversation is about to be cut short. Write down now, with {tool}, what a later one must know and the memory does "
    f"not hold yet. Reply with {NO_REPLY} if there is nothing.\n"
    f"会话即将压缩：把以后还用得着、记忆里还没有的写下来（{{tool}}）；没有就只回复 {NO_REPLY}。"
)
_WRITES = {"archive": "archive_append", "layers": "mem_write"}


def instructions(store: Store, *, read_only: bool) -> str:
    """Return the short form of how the memory is used, which clients give their model."""
    text = reference.short(store.layout)
    if not read_only:
        return text
    return f"{text}\n\nThis server only reads: nothing can be written now. 本服务只读，不能写入。"


def listed(store: Store) -> list[dict[str, Any]]:
    """Return the prompts."""
    flush = "Before a conversation is compacted: write down what is to last. 压缩前记忆刷新。"
    when = "What is worth remembering, and how it is found again. 什么值得记，怎么找回来。"
    return [
        {"name": FLUSH, "title": "Memory flush · 记忆刷新", "description": flush},
        {"name": WHEN, "title": "When to remember · 何时记忆", "description": when},
    ]


def read(store: Store, name: str) -> str:
    """Return a prompt.

    Raises: BadArgument for another name.
    """
    if name == FLUSH:
        return memory_flush_prompt() if store.layout == "workspace" else _FLUSH.format(tool=_WRITES[store.layout])
    if name == WHEN:
        return reference.page(store.layout, "usage")
    raise BadArgument(f"prompt: none is named {name[:40]!r}; expected {FLUSH}, {WHEN}")
