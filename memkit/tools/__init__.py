"""The agents' tools, under the names, arguments and answers of the original programs; one module for each layout.

`schemas(store)` says what there is, `call(store, name, arguments)` answers with a dict that is plain JSON.
`run_memory_flush` has a model write down what is to last before its conversation is cut short.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memkit.errors import BadArgument
from memkit.tools.arguments import Answer, described, named, shown

if TYPE_CHECKING:
    from memkit.store import Store
    from memkit.tools.flush import memory_flush_prompt, run_memory_flush

__all__ = ["call", "memory_flush_prompt", "names", "run_memory_flush", "schemas"]


def call(store: Store, name: str, arguments: object = None) -> Answer:
    """Return what a tool answers to arguments given under the names that agents know; null means the default.

    Raises: MemkitError; BadArgument for a tool or an argument that is unknown, missing or cannot be meant.
    """
    held = _tools(store)
    if not isinstance(name, str) or name not in held:
        raise BadArgument(f"tool: none is named {shown(name)}; expected {', '.join(held)}")
    return held[name](store, **named(held[name], arguments))


def names(store: Store) -> tuple[str, ...]:
    """Return the names of the tools that a store has."""
    return tuple(_tools(store))


def schemas(store: Store) -> list[Answer]:
    """Return the tools of a store as agents are told of them: name, description, inputSchema (JSON schema)."""
    return [described(function) for function in _tools(store).values()]


def __getattr__(name: str) -> Any:
    """Import the flush when it is first asked for (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module 'memkit.tools' has no attribute {name!r}")
    return getattr(import_module("memkit.tools.flush"), name)


def _tools(store: Store) -> dict[str, Callable[..., Answer]]:
    """Return the tools of a store's layout by name; its module is imported when it is first asked for."""
    return {function.__name__: function for function in import_module(f"memkit.tools.{store.layout}").TOOLS}
