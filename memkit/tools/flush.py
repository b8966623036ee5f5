"""The flush before a conversation is cut short: silent turns of the caller's model, which writes down what is to last."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from memkit.errors import BadArgument, MemkitError, UnsupportedError
from memkit.text import norm_text
from memkit.tools import call
from memkit.tools.arguments import Answer, shown

if TYPE_CHECKING:
    from memkit.store import Store

Message = dict[str, Any]
Turn = Callable[[list[Message]], Mapping[str, Any]]

DEFAULT = (
    "Session nearing compaction. Write any lasting notes to MEMORY.md or memory/YYYY-MM-DD.md now. "
    "Reply with NO_REPLY if nothing to store."
)
NO_REPLY = "NO_REPLY"
CALL = ("id", "name", "arguments")  # what is kept of a call


def memory_flush_prompt() -> str:
    """Return what a model is told before its conversation is cut short, unless the caller words it otherwise."""
    return DEFAULT


def run_memory_flush(store: Store, turn: Turn, *, prompt: str = DEFAULT, max_rounds: int = 4) -> Answer:
    """Have a model write lasting notes with the memory tools; the caller's own conversation is neither seen nor touched.

    `turn(messages)` is one silent turn of the caller's model, behind its conversation: it gets a copy of the messages of
    this flush and returns `{"text", "calls": [{"name", "arguments"}]}`. The messages are the prompt (role user), each turn
    (assistant: content, calls) and what each call gave (tool: name, content as JSON, `id` if the call had one); what a tool
    refuses is `{"error": reason}`, for the model to do better. It ends with a turn without calls, with one that says
    NO_REPLY and nothing else (calls beside that are still run), or after `max_rounds` turns.

    Returns `stored` (the calls of memory_store that added something), `replied` (whether the last turn said anything but
    NO_REPLY) and `rounds` (the turns taken).

    Raises: BadArgument for a turn that returns anything else; UnsupportedError for a store that is no workspace; what
        `turn` raises.
    """
    if store.layout != "workspace":
        raise UnsupportedError(f"run_memory_flush: it is for the layout workspace; this store is {store.layout}")
    if not isinstance(max_rounds, int) or isinstance(max_rounds, bool) or max_rounds < 1:
        raise BadArgument(f"max_rounds: {shown(max_rounds)}; expected a whole number of at least 1")
    if not isinstance(prompt, str) or not prompt.strip():
        raise BadArgument(f"prompt: {shown(prompt)}; expected a text")
    messages: list[Message] = [{"role": "user", "content": prompt}]
    stored = rounds = 0
    text, calls = "", True
    while calls and rounds < max_rounds and not _is_no_reply(text):
        text, asked = _said(turn(deepcopy(messages)))
        rounds, calls = rounds + 1, bool(asked)
        messages.append({"role": "assistant", "content": text, "calls": asked})
        for one in asked:
            answer = _run(store, one)
            stored += one.get("name") == "memory_store" and "error" not in answer and answer.get("added", True)
            messages.append(_result(one, answer))
    return {"stored": stored, "replied": bool(norm_text(text)) and not _is_no_reply(text), "rounds": rounds}


def _is_no_reply(text: str) -> bool:
    return norm_text(text).upper() == NO_REPLY


def _said(told: object) -> tuple[str, list[Message]]:
    """Return the text and the calls of a turn; null stands for none.

    Raises: BadArgument for what is no turn.
    """
    if not isinstance(told, Mapping) or not told.keys() & {"text", "calls"}:
        raise BadArgument(f"turn: it returned {_named(told)}; expected an object of text and calls")
    text, calls = (told.get(name) for name in ("text", "calls"))
    if not isinstance(text, str | None):
        raise BadArgument(f"turn: its text is {shown(text)}; expected a text")
    if not isinstance(calls, list | tuple | None):
        raise BadArgument(f"turn: its calls are {shown(calls)}; expected a list of objects with name and arguments")
    for one in calls or ():
        if not isinstance(one, Mapping):
            raise BadArgument(f"turn: one of its calls is {shown(one)}; expected an object with name and arguments")
    return text or "", [{name: one[name] for name in CALL if name in one} for one in calls or ()]


def _named(told: object) -> str:
    return f"an object of {', '.join(map(str, told))[:40] or 'nothing'}" if isinstance(told, Mapping) else shown(told)


def _run(store: Store, one: Message) -> Answer:
    """Return what a call gives, or why it was refused."""
    try:
        return call(store, one.get("name"), one.get("arguments"))  # type: ignore[arg-type]  # whatever a model made up
    except MemkitError as error:
        return {"error": str(error)}


def _result(one: Message, answer: Answer) -> Message:
    """Return what a call gave as a message."""
    held = {"role": "tool", "name": one.get("name"), "content": json.dumps(answer, ensure_ascii=False)}
    return held | ({"id": one["id"]} if "id" in one else {})
