"""The MCP server of one store: what it offers and how it answers; over which wire is the business of stdio and web."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as mcp
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from memkit import __version__, tools
from memkit.errors import BadArgument, ConflictError, LockTimeout, MemkitError
from memkit.serve import bounds, prompts, resources
from memkit.store import Store
from memkit.tools.effects import EFFECTS

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
LANES = READ, HEAL, WRITE, SYNC = ("read", "heal", "write", "sync")
AGAIN = (LockTimeout, ConflictError)  # what may go well a moment later

log = logging.getLogger("memkit")


class Host:
    """A store that is served: work is done in threads, so that the wire never waits for the disk.

    Of each lane one piece of work is done at a time: who reads waits neither for a writer, who may wait for another program's
    lock, nor for a service that is asked for vectors.
    """

    def __init__(self, store: Store, *, read_only: bool = False):
        self.store, self.read_only = store, read_only
        self._lanes = {lane: anyio.CapacityLimiter(1) for lane in LANES}

    async def do(self, work: Callable[[], T], lane: str = READ) -> T:
        """Return what a piece of work returns; once begun it is finished, even if nobody waits for it any more.

        What it waits for the store's lock counts from now: it has that much less time as it stood in its lane.
        """
        return await anyio.to_thread.run_sync(partial(self._done, work, monotonic()), limiter=self._lanes[lane])

    def _done(self, work: Callable[[], T], arrived: float) -> T:
        with self.store._desk.gate.counting_from(arrived):
            return work()

    def hurried(self, stop: Callable[[], object]) -> Callable[[], None]:
        """Return what calls `stop`, and lets no call wait for the store's lock any more."""

        def both() -> None:
            self.store._desk.gate.hurry()
            stop()

        return both

    async def finish(self) -> None:
        """Wait until nothing is under way; nobody waits for the store's lock any more."""
        self.store._desk.gate.hurry()
        for lane in self._lanes.values():
            async with lane:
                pass

    # ---- tools ----

    async def list_tools(self, _: Context, __: mcp.PaginatedRequestParams | None) -> mcp.ListToolsResult:
        """Return the tools of the store's layout."""
        return mcp.ListToolsResult(tools=offered(self.store, read_only=self.read_only))

    async def call_tool(self, _: Context, asked: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        """Return what a tool answers, or why it does not."""
        work = partial(called, self.store, asked.name, asked.arguments, read_only=self.read_only)
        return await self.do(work, lane_of(asked.name))

    # ---- resources ----

    async def list_resources(self, _: Context, __: mcp.PaginatedRequestParams | None) -> mcp.ListResourcesResult:
        """Return the pages that have an address of their own, and the latest days."""
        found = await self.do(partial(_meant, resources.listed, self.store))
        return mcp.ListResourcesResult(resources=[mcp.Resource.model_validate(page) for page in found])

    async def list_templates(self, _: Context, __: mcp.PaginatedRequestParams | None) -> mcp.ListResourceTemplatesResult:
        """Return the forms of the addresses of days and summaries."""
        found = [mcp.ResourceTemplate.model_validate(form) for form in resources.TEMPLATES]
        return mcp.ListResourceTemplatesResult(resource_templates=found)

    async def read_resource(self, _: Context, asked: mcp.ReadResourceRequestParams) -> mcp.ReadResourceResult:
        """Return the page at an address."""
        text = await self.do(partial(_meant, resources.read, self.store, asked.uri))
        page = mcp.TextResourceContents(uri=asked.uri, mime_type=resources.MARKDOWN, text=bounds.sound(bounds.shortened(text)))
        return mcp.ReadResourceResult(contents=[page])

    # ---- prompts ----

    async def list_prompts(self, _: Context, __: mcp.PaginatedRequestParams | None) -> mcp.ListPromptsResult:
        """Return the prompts."""
        return mcp.ListPromptsResult(
            prompts=[mcp.Prompt.model_validate(held) for held in prompts.listed(read_only=self.read_only)]
        )

    async def read_prompt(self, _: Context, asked: mcp.GetPromptRequestParams) -> mcp.GetPromptResult:
        """Return a prompt as the message of a person."""
        text = _meant(partial(prompts.read, read_only=self.read_only), self.store, asked.name)
        return mcp.GetPromptResult(messages=[mcp.PromptMessage(role="user", content=mcp.TextContent(text=text))])


def lane_of(tool: str) -> str:
    """Return the lane in which a tool works."""
    effect = EFFECTS.get(tool)
    if effect is None or effect.reads:
        return READ
    return HEAL if effect.heals else SYNC if tool == "memory_sync" else WRITE


def built(host: Host) -> Server[Any]:
    """Return the MCP server of a store."""
    return Server(
        "memkit",
        version=__version__,
        title=f"memkit ({host.store.layout})",
        instructions=prompts.instructions(host.store, read_only=host.read_only),
        on_list_tools=host.list_tools,
        on_call_tool=host.call_tool,
        on_list_resources=host.list_resources,
        on_list_resource_templates=host.list_templates,
        on_read_resource=host.read_resource,
        on_list_prompts=host.list_prompts,
        on_get_prompt=host.read_prompt,
    )


def offered(store: Store, *, read_only: bool) -> list[mcp.Tool]:
    """Return a store's tools with what they do to it."""
    remote = store._index.settings is not None  # an embedding service is asked
    found = []
    for told in tools.schemas(store, read_only=read_only):
        effect = EFFECTS[told["name"]]
        hints = mcp.ToolAnnotations(
            read_only_hint=effect.reads or (read_only and effect.heals),
            destructive_hint=effect.loses,
            idempotent_hint=effect.settles,
            open_world_hint=remote and effect.sends,
        )
        found.append(mcp.Tool.model_validate({**told, "annotations": hints}))
    return found


def called(store: Store, name: str, arguments: object, *, read_only: bool) -> mcp.CallToolResult:
    """Return what a tool answers, within bounds; whatever goes wrong is an answer too, for the model to do better."""
    try:
        answer = bounds.bounded(tools.call(store, name, arguments, read_only=read_only))
    except MemkitError as error:
        return _failed(str(error), retryable=isinstance(error, AGAIN))
    except OSError as error:
        return _failed(f"{error.filename or store.root}: {(error.strerror or type(error).__name__).lower()}", retryable=True)
    except Exception as error:
        log.exception("%s failed", name)
        return _failed(f"{name}: the server failed ({type(error).__name__}); its log says more", retryable=False)
    text = bounds.written(answer)
    return mcp.CallToolResult(content=[mcp.TextContent(text=text)], structured_content=json.loads(text))


def _failed(reason: str, *, retryable: bool) -> mcp.CallToolResult:
    """Return that a call failed: the reason, and whether the same call may go well a moment later."""
    told = bounds.sound(reason[: bounds.MOST])
    facts = {"error": told, "retryable": retryable}
    return mcp.CallToolResult(content=[mcp.TextContent(text=told)], structured_content=facts, is_error=True)


def _meant(read: Callable[..., T], *given: Any) -> T:
    """Return what is read.

    Raises: MCPError with the reason, for an address or a name that means nothing here.
    """
    try:
        return read(*given)
    except MemkitError as error:
        code = mcp.INVALID_PARAMS if isinstance(error, BadArgument) else mcp.INTERNAL_ERROR
        raise MCPError(code=code, message=bounds.sound(str(error))) from error
