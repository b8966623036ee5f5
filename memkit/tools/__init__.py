"""The agents' tools, under the names, arguments and answers of the original programs; one module for each layout.

`schemas(store)` says what there is, `call(store, name, arguments)` answers with a dict that is plain JSON. With `read_only`
only those tools are there that read, and they leave the derived files as they are too.
`run_memory_flush` has a model write down what is to last before its conversation is cut short.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memkit.errors import BadArgument, UnsupportedError
from memkit.tools.arguments import Answer, described, named, shown
from memkit.tools.effects import EFFECTS

if TYPE_CHECKING:
    from memkit.store import Store
    from memkit.tools.flush import memory_flush_prompt, run_memory_flush

__all__ = ["call", "memory_flush_prompt", "names", "run_memory_flush", "schemas"]


def call(store: Store, name: str, arguments: object = None, *, read_only: bool = False) -> Answer:
    """Return what a tool answers to arguments given under the names that agents know; null means the default.

    Raises: MemkitError; BadArgument for a tool or an argument that is unknown, missing or cannot be meant; UnsupportedError
        for a tool that writes, with `read_only`.
    """
    held = _tools(store)
    if not isinstance(name, str) or name not in held:
        raise BadArgument(f"tool: none is named {shown(name)}; expected {', '.join(names(store, read_only=read_only))}")
    if read_only and not EFFECTS[name].quiet:
        raise UnsupportedError(f"{name}: it writes, and this memory is open for reading only; ask the person to change that")
    still = {"heal": False} if read_only and EFFECTS[name].heals else {}
    return held[name](store, **named(held[name], arguments), **still)


def names(store: Store, *, read_only: bool = False) -> tuple[str, ...]:
    """Return the names of the tools that a store has."""
    return tuple(name for name in _tools(store) if EFFECTS[name].quiet or not read_only)


def schemas(store: Store, *, read_only: bool = False) -> list[Answer]:
    """Return the tools of a store as agents are told of them: name, description, inputSchema (JSON schema)."""
    return [described(function) for name, function in _tools(store).items() if EFFECTS[name].quiet or not read_only]


def __getattr__(name: str) -> Any:
    """Import the flush when it is first asked for (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module 'memkit.tools' has no attribute {name!r}")
    return getattr(import_module("memkit.tools.flush"), name)


def _tools(store: Store) -> dict[str, Callable[..., Answer]]:
    """Return the tools of a store's layout by name; its module is imported when it is first asked for."""
    return {function.__name__: function for function in import_module(f"memkit.tools.{store.layout}").TOOLS}
