"""The tools of `workspace`: the six of ParameciumU's memory skill with their arguments and answers, and its flush.

Their docstrings are what an agent is told of them. Answers are plain JSON; every path in them counts from the workspace,
or is that of an extra file elsewhere, and is one that memory_get takes.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import PurePosixPath
from typing import Annotated

from memkit import dates, files, fts, hits, opening
from memkit.edits import Plan
from memkit.edits.workspace import TARGETS
from memkit.errors import BadArgument
from memkit.layouts.workspace import SESSION
from memkit.model import FileFact
from memkit.store import Store
from memkit.tools import place
from memkit.tools.arguments import Answer, Choice, Flag, Number, Text, Whole, few, shown, tool
from memkit.tools.flush import memory_flush_prompt, run_memory_flush
from memkit.wanted import wanted

__all__ = ["TOOLS", "memory_flush_prompt", "open_store", "run_memory_flush"]

LONGTERM = {"MEMORY.md": "memory.md", "memory.md": "MEMORY.md"}  # one file's two names, where only one of them is there
READABLE = "MEMORY.md, a .md file below memory/, session/transcript.md or an extra path, named as memory_search does"

Query = Annotated[str, Text('Words parted by blanks; "quotes" hold a phrase together.')]
Most = Annotated[int, Number("How many entries to return at most.", least=1, most=50)]
Forgotten = Annotated[bool, Flag("Whether to return also what memory_forget marked.")]


def open_store(
    root: str | os.PathLike[str] | None = None,
    *,
    tz: str | tzinfo | None = None,
    now: dates.Clock | datetime | str | None = None,
    lock_timeout: float = 10.0,
) -> Store:
    """Return the workspace that the tools work on: `root`, else $MEMORY_WORKSPACE, else .first_paramecium here.

    Without `root` the environment also says what else is searched and where the index lies (MEMORY_EXTRA_PATHS,
    MEMORY_SESSION_PATH with MEMORY_INDEX_SESSION, MEMORY_INDEX_PATH); it switches embeddings on either way, and what
    cannot be meant there is warned of. A folder that does not exist is an empty store, and comes with the first write.

    Raises: StoreNotFound, BadArgument.
    """
    found = root if root is not None else place.workspace_root() or place.WORKSPACE
    given = {"cache": place.cached(), **place.workspace_options(places=root is None)}
    return opening.open_store(found, layout="workspace", tz=tz, now=now, lock_timeout=lock_timeout, **given)


@tool("workspace")
def memory_search(
    store: Store, query: Query, max_results: Most = 10, include_forgotten: Forgotten = False, *, heal: bool = True
) -> Answer:
    """Search all that is remembered: MEMORY.md, the daily logs and notes below memory/, extra files and the transcript.

    Call it first whenever a question touches the past: what was said or decided, preferences, to-dos, dates, people. Then
    read around a hit with memory_get(path, from, lines). An entry must hold every word, as it is written but for case and
    width; if nothing is found, try fewer or other words. What memory_forget marked is left out; a warning says what did not
    work. 凡是问到以前、上次、偏好、待办，先搜再答。
    """
    return _found(store, query, max_results, include_forgotten, heal=heal)


@tool("workspace")
def memory_get(
    store: Store,
    path: Annotated[str, Text("A path as memory_search returns it, relative to the workspace.")],
    from_: Annotated[int | None, Whole("The first line, counted from 1; the whole file if left out.", least=1)] = None,
    lines: Annotated[int | None, Whole("How many lines; all to the end if left out.", least=1)] = None,
) -> Answer:
    """Read a memory file, or some lines of it; nothing is changed.

    Use it after memory_search, which names path, startLine and endLine: read only the lines that are needed. It takes
    MEMORY.md, Markdown files below memory/, session/transcript.md and extra paths, and nothing else. Past the last line
    text is empty, and totalLines says how many there are.
    搜到之后按行取原文，只取需要的几行。
    """
    fact = _readable(store, path)
    doc = files.read(store.root, fact, store._loaded.session)
    if isinstance(doc, str):
        raise _refused(path, doc)
    rows = doc.reading.split("\n")
    total = len(rows) - (rows[-1] == "")  # the last line end begins no line
    first = (from_ or 1) - 1
    text = "\n".join(rows[first : None if lines is None else first + lines])
    return {"path": fact.path, "text": text, **({"totalLines": total} if first >= total else {})}


@tool("workspace")
def memory_store(
    store: Store,
    text: Annotated[str, Text("What to remember, at most 4,000 characters; line breaks become spaces.")],
    target: Annotated[str, Choice("MEMORY.md (longterm) or the log of today (daily).", TARGETS)] = "longterm",
) -> Answer:
    """Write one memory down; it can be found at once, and is never changed or lost.

    Call it when the user says to remember something, and for every decision, preference or fact that is to outlast this
    conversation: longterm for what stays true, daily for what happened or was done today. One fact a call, understandable
    by itself. The same text twice on one day is kept once (added: false).
    用户说“记住这个”就写；长期有效的写 longterm，当天的事写 daily。
    """
    return {**_written(store.store(text, target)), "target": target}


@tool("workspace")
def memory_recall(
    store: Store, query: Query, max_results: Most = 10, include_forgotten: Forgotten = False, *, heal: bool = True
) -> Answer:
    """Recall what is remembered of something: memory_search under another name, with the same arguments and answers.

    For questions like "do you remember" or "what did we say about": give the words that the memory itself would hold.
    与 memory_search 相同，用于“回忆”类问题。
    """
    return _found(store, query, max_results, include_forgotten, heal=heal)


@tool("workspace")
def memory_forget(
    store: Store,
    text: Annotated[str, Text("What to forget: the whole text of an entry, as memory_search shows it.")],
) -> Answer:
    """Mark something as to be forgotten: one line below ## Forgotten in MEMORY.md, for a person to look through.

    Nothing is deleted, and memory_get still shows it. The searches leave out entries that are equal to text, whole, not
    those that only hold it: so give an entry's full text, or a gist as a note to the person. The same text twice on one day
    is kept once (added: false).
    只做“待遗忘”标记，不删原文。
    """
    return _written(store.mark_forgotten(text))


@tool("workspace")
def memory_sync(store: Store) -> Answer:
    """Build the search index, or bring it up to date with the files; all or nothing.

    Worth it once after many files were changed or added by hand, to make searches fast; without an index, or with an old
    one, the searches find the same and read the files instead. Where embeddings are switched on, it also asks for missing
    vectors. The memory files themselves are not touched.
    大量改动记忆文件后调用一次，让检索更快。
    """
    done = store.sync()
    counts = {"files": done.files, "chunks": done.chunks, "seconds": done.seconds}
    return {"ok": True, "indexPath": store._index.name, **counts, **({"warning": done.warning} if done.warning else {})}


TOOLS = (memory_search, memory_get, memory_store, memory_recall, memory_forget, memory_sync)


def _found(store: Store, query: str, limit: int, forgotten: bool, *, heal: bool) -> Answer:
    """Return the best hits; with `heal`, an index that is there is brought up to date first, none is made."""
    asked = wanted([query], name="query")
    asked = replace(asked, terms=(few(asked.words, "query"),))
    result = store._finder.search(asked, limit=limit, include_forgotten=forgotten, refresh=heal)
    frame = result.entries
    columns = (frame["path"], frame["line"], frame["end_line"], fts.bodies(frame), frame["score"])
    results = [
        {
            "path": path,
            "startLine": int(first),
            "endLine": int(last),
            "snippet": hits.snippet(body, result.words),
            "score": float(score),
        }
        for path, first, last, body, score in zip(*columns, strict=True)
    ]
    warning = {"warning": "; ".join(result.warnings)} if result.warnings else {}
    return {"results": results, "provider": result.provider, **warning}


def _written(plan: Plan) -> Answer:
    """Return where a line went, and that it stood there already if it did."""
    return {"ok": True, "path": plan.rows["row"].iloc[0], **({} if plan.added else {"added": False})}


# ---- which files may be read ----


def _readable(store: Store, path: str) -> FileFact:
    """Return the file that a path names, looked up among those that the store has: no link or `..` leads out of it.

    Raises: BadArgument, with the reason, for any other.
    """
    facts = store._loaded.seen()
    plain = posixpath.normpath(path) if path else ""
    if plain not in facts:
        plain = _other_name(store, plain, facts)
    fact = facts.get(plain)
    if fact is None:
        raise _refused(path, _reason(plain, facts))
    if not store._loaded.is_read(fact):
        raise _refused(path, fact.role.skipped or fact.trouble)
    if fact.role.kind == "dream" and not plain.startswith("memory/"):
        raise _refused(path, "dreams are read only below memory/")
    return fact


def _other_name(store: Store, plain: str, facts: Mapping[str, FileFact]) -> str:
    """Return the name under which a file is known: MEMORY.md has two, and an extra file in the workspace a relative one."""
    pure = PurePosixPath(plain)
    inside = str(pure.relative_to(store.root.as_posix())) if pure.is_relative_to(store.root.as_posix()) else plain
    if inside in facts and facts[inside].role.kind == "extra":
        return inside
    return LONGTERM.get(plain, plain)


def _reason(plain: str, facts: Mapping[str, FileFact]) -> str:
    """Return why there is no such file."""
    if any(path.startswith(f"{plain}/") for path in facts):
        return "a folder, and not a file"
    if plain.startswith("/"):
        return "an absolute path that leads to no extra file"
    if plain == ".." or plain.startswith("../"):
        return "it leaves the workspace"
    if plain == SESSION:
        return "no transcript is switched on (MEMORY_INDEX_SESSION=1 with MEMORY_SESSION_PATH)"
    return "no such memory file"


def _refused(path: str, reason: str) -> BadArgument:
    return BadArgument(f"path: {shown(path)}: {reason}; expected {READABLE}")
