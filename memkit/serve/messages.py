"""Which bytes are a message of JSON-RPC that can be answered, and what is wrong with those that are none."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import mcp_types as mcp

LONGEST = 4 * 1024 * 1024  # of a message, in bytes


class Fault(NamedTuple):
    """Why bytes are no message: the request they were meant to be, None if they do not say, a reason, the code of JSON-RPC."""

    asked: str | int | None
    reason: str
    code: int


def fault_of(message: bytes) -> Fault | None:
    """Return what is wrong with a message, None for one that can be passed on."""
    if len(message) > LONGEST:
        return Fault(None, f"longer than {LONGEST:,} bytes", mcp.PARSE_ERROR)
    try:
        held = json.loads(message.decode("utf-8", "replace"))
    except json.JSONDecodeError:
        return Fault(None, "no JSON", mcp.PARSE_ERROR)
    except RecursionError:
        return Fault(None, "nested too deeply", mcp.PARSE_ERROR)
    except ValueError:
        return Fault(None, "a number of too many digits", mcp.PARSE_ERROR)
    return _fault_in(message, held)


def _fault_in(message: bytes, held: Any) -> Fault | None:
    asked = held.get("id") if isinstance(held, dict) else None
    named = isinstance(asked, str | int) and not isinstance(asked, bool) and _is_whole(asked)
    known = asked if named else None
    try:
        message.decode("utf-8")
    except UnicodeDecodeError as error:
        return Fault(known, f"no UTF-8 at byte {error.start:,}", mcp.PARSE_ERROR)
    if not _is_whole(held):
        return Fault(known, "half a character (a lone surrogate) in a text", mcp.PARSE_ERROR)
    if isinstance(held, dict) and "id" in held and not named:
        return Fault(None, "id: expected a text or a whole number", mcp.INVALID_REQUEST)
    try:
        mcp.jsonrpc_message_adapter.validate_json(message, by_name=False)
    except ValueError:
        return Fault(known, "no request", mcp.INVALID_REQUEST)
    return None


def _is_whole(held: object) -> bool:
    try:
        json.dumps(held, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
