"""The reference pages of each layout, in English and Chinese: how its files lie, how it is used, what else remembers."""

from __future__ import annotations

from importlib import import_module

PAGES = {
    "layout": (
        "Files · 文件布局",
        "Which files there are, what stands in them, what may change. 有哪些文件，写了什么，什么能改。",
    ),
    "short-term-memory": ("Conversation and memory · 短期记忆", "What a conversation keeps by itself. 会话自己记得什么。"),
    "usage": ("Usage · 使用建议", "When to remember, and how to find it again. 什么值得记，怎么找回来。"),
}

_SHORT_TERM = """# Conversation and memory

Within a conversation, its messages are the memory: nothing has to be stored to be known a few turns later, and what is
still in view need not be searched for. What was said goes with the conversation, though, and the start of a long one goes
first, when it is compacted. So:

- before you ask the memory, look at what the conversation already holds, the recent context (`memkit://context`) included;
- store a thing when it is settled, with `{write}`, not at the end: the end may not come;
- before a conversation is compacted, the prompt `memory-flush` asks once for what is to last;
- do not store the conversation itself. One fact, decision or event an entry, understandable to somebody who was not there;
- another conversation sees what was stored at once, also while this one goes on.

# 会话与长期记忆

同一会话里，消息本身就是记忆：刚说过的不用存，也不用查。会话结束就没有了；会话太长被压缩时，先丢的是开头。因此：

- 先看会话里已有的内容（包括最近的记忆 `memkit://context`），再查长期记忆；
- 事情定下来就用 `{write}` 写，不要等到最后；
- 压缩之前，用提示 `memory-flush` 做一次刷新；
- 不要存整段对话；一条只写一件事，没参加对话的人也能看懂；
- 写入后，别的会话马上就能查到。
"""


def page(layout: str, name: str) -> str:
    """Return a reference page of a layout, as Markdown."""
    held = import_module(f"memkit.serve.reference.{layout}")
    pages = {"layout": held.LAYOUT, "usage": held.USAGE, "short-term-memory": _SHORT_TERM.format(write=held.WRITE)}
    text: str = pages[name]
    return text


def writer(layout: str) -> str:
    """Return the tool with which a layout's agents write a memory down."""
    name: str = import_module(f"memkit.serve.reference.{layout}").WRITE
    return name


def short(layout: str) -> str:
    """Return the short form of how a memory is used."""
    text: str = import_module(f"memkit.serve.reference.{layout}").SHORT
    return text
