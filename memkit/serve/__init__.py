"""The server that gives agents a memory over MCP, the Model Context Protocol: its tools, resources and prompts.

`over_stdio` serves one client at the standard streams, `over_http` any number at a local port. Neither is imported before
it is asked for, as the package `mcp` is an extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memkit.errors import UnsupportedError

if TYPE_CHECKING:
    from memkit.serve.stdio import over_stdio
    from memkit.serve.web import over_http

_NAMES = {"over_stdio": "memkit.serve.stdio", "over_http": "memkit.serve.web"}
__all__ = ["over_http", "over_stdio"]


def __getattr__(name: str) -> Any:
    """Import a way of serving when it is first asked for (PEP 562)."""
    if name not in _NAMES:
        raise AttributeError(f"module 'memkit.serve' has no attribute {name!r}")
    try:
        return getattr(import_module(_NAMES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("memkit"):
            raise
        raise UnsupportedError(
            f"serve: the MCP SDK is not whole ({error.name} is missing); pip install 'agent-memkit[mcp]'"
        ) from error
