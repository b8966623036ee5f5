"""What the explorer says, in English and in Chinese: labels, counts and notices, by a name each; nothing else."""

from __future__ import annotations

import locale

from memkit.errors import BadArgument
from memkit.explorer.words import add, audit, summaries

LANGUAGES = ("en", "zh")

# Each name: English, Chinese. `{n}` and the like are filled in by `say`.
WORDS: dict[str, tuple[str, str]] = (
    {
        # ---- the frame of it ----
        "explorer": ("Memory explorer", "记忆浏览窗口"),
        "browse": ("Browse", "浏览"),
        "audit": ("Audit", "核对"),
        "summaries": ("Summaries", "摘要"),
        "add": ("Add", "添加"),
        "twin": ("For when the kernel is gone: what was shown first", "内核关闭后可看：最初显示的条目"),
        # ---- browse ----
        "search": ("Search", "搜索"),
        "search_hint": ('words, all must occur; "quotes" for a phrase', "输入词语，空格分开，须全部出现；加引号按原文查找"),
        "tags": ("Tags", "标签"),
        "untagged": ("no tag", "无标签"),
        "more_tags": ("and {n} more", "另有 {n} 个"),
        "from": ("From", "从"),
        "to": ("To", "到"),
        "kind": ("Kind", "种类"),
        "all_kinds": ("all kinds", "全部"),
        "clear": ("Clear all", "清除条件"),
        "timeline": ("Entries over time; drag over it to choose a span", "条目的时间分布；拖动可选定时间段"),
        "bar": ("{key}: {n}", "{key}：{n} 条"),
        "undated": ("{n} undated", "无日期 {n} 条"),
        "rows_of": ("{n} of {total} rows", "{total} 条中的 {n} 条"),
        "step": ("an agent's search would stop at: {step}", "智能体的搜索会停在：{step}"),
        "step_recent": ("the last days", "最近几天"),
        "step_topics": ("the months of a topic", "主题所在的月份"),
        "step_catalog": ("the catalog", "编目"),
        "step_frontmatter": ("the index lines", "索引行"),
        "step_body": ("all text", "全部正文"),
        "step_recall": ("all text", "全部正文"),
        "silent": (
            "The kernel does not answer: it is busy, or gone. If it is gone, run the cell again.",
            "内核没有响应：可能正忙，也可能已经关闭。若已关闭，请重新运行这一格。",
        ),
        "date": ("Date", "日期"),
        "tag": ("Tag", "标签"),
        "text": ("Text", "内容"),
        "place": ("File", "文件"),
        "results": ("Entries, newest first", "条目，新的在前"),
        "nothing": (
            "Nothing matches: try fewer or shorter words, or take a filter away.",
            "没有匹配的条目：试试更少或更短的词，或去掉一个条件。",
        ),
        "empty": ("Nothing is remembered here yet.", "这里还没有记忆。"),
        "newer": ("Newer", "较新"),
        "older": ("Older", "较旧"),
        "shown": ("{first}–{last}", "第 {first}–{last} 条"),
        "entry": ("The whole entry", "完整条目"),
        "neighbours": ("Around it in the file", "文件中的前后条目"),
        "close": ("Close", "关闭"),
        "gone": ("This entry is no longer there; what is shown is new.", "该条目已不在原处；现已重新载入。"),
        "changed": ("The folder has changed; this is what it holds now.", "文件夹已有变化；现在显示的是最新内容。"),
    }
    | add.WORDS
    | audit.WORDS
    | summaries.WORDS
)


class Words:
    """The explorer's texts in one language: `say("rows_of", n=3, total=9)`."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self._place = LANGUAGES.index(lang)

    def __call__(self, name: str, **values: object) -> str:
        """Return a text with its values; whole numbers are grouped by thousands."""
        told = {key: f"{value:,}" if isinstance(value, int) else value for key, value in values.items()}
        return WORDS[name][self._place].format(**told)


def words_in(lang: str | None) -> Words:
    """Return the texts in a language (`en`, `zh`, also as zh-CN or zh_TW), by default that of the machine's locale.

    Raises: BadArgument for a language there is no text in.
    """
    asked = lang if lang is not None else locale.getlocale()[0] or ""
    if not isinstance(asked, str):
        raise BadArgument(f"lang: {type(lang).__name__}; expected en or zh")
    short = "zh" if asked.lower().startswith(("zh", "chinese")) else asked.lower().replace("_", "-").partition("-")[0]
    if lang is None:
        return Words(short if short in LANGUAGES else "en")
    if short not in LANGUAGES:
        raise BadArgument(f"lang: {asked[:40]!r}; expected en or zh")
    return Words(short)
