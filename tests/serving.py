"""What the tests of the server share: a server in a child process, real MCP clients at it, and what is called there."""

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from conftest import CLOCK, SAMPLES, ZONE
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

import memkit

HOME = Path(memkit.__file__).parents[1]
TOKEN = "a-token-for-the-tests-0123456789"
EVENING = ["--now", CLOCK, "--tz", ZONE]
ENV = {name: value for name, value in os.environ.items() if not re.match("MEMORY_|MEMKIT_|DSH_|EMBEDDING_|OPENAI_", name)}
ENV |= {"PYTHONPATH": str(HOME)}

# Every tool with arguments that it takes, in an order in which each finds what it needs.
CALLS = {
    "layers": {
        "mem_hot_get": {},
        "mem_recall": {"keyword": "水壶", "mode": "or", "limit": 3},
        "mem_recent": {"days": 7},
        "mem_by_tag": {"tag": "茶室", "limit": 2},
        "mem_by_date": {"from": "2025-02-01", "to": "2025-02-28"},
        "mem_stats": {},
        "mem_write": {"text": "服务写下的一条", "tag": "服务", "important": True},
        "mem_topics_add": {"topic": "服务", "month": "2025-02"},
        "mem_summarize": {"period": "day"},
        "mem_hot_set": {"content": "小满的茶室三月八日开业。"},
    },
    "workspace": {
        "memory_search": {"query": "水壶", "maxResults": 3},
        "memory_get": {"path": "MEMORY.md", "from": 1, "lines": 2},
        "memory_recall": {"query": "茶室"},
        "memory_store": {"text": "服务写下的一条", "target": "daily"},
        "memory_forget": {"text": "这一条不再需要"},
        "memory_sync": {},
    },
    "archive": {
        "archive_recent": {"days": 30},
        "archive_search": {"terms": ["开业"], "limit": 3},
        "archive_read": {"date": "2025-02-03"},
        "archive_append": {"text": "服务写下的一条", "tag": "服务"},
        "archive_correct": {"date": "2025-02-03", "subject": "开业", "text": "开业改到 3 月 15 日"},
        "archive_rebuild": {"year": 2025},
        "archive_forget": {"text": "服务写下的一条", "confirm": True},
    },
}


LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")


def command(path, *more, evening=EVENING):
    """Return the command line of a server."""
    return [sys.executable, "-m", "memkit", "serve", str(path), *evening, *more]


def run(work, *given):
    """Run async work in a thread of its own: a browser in other tests leaves a loop behind in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, work, *given).result(120)


@asynccontextmanager
async def at_stdio(path, *more):
    """Give a client at a server of its own."""
    words = command(path, *more)
    parameters = StdioServerParameters(command=words[0], args=words[1:], env=ENV)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def at_http(url, token=TOKEN):
    """Give a client at a server that listens."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(*streams) as session,
    ):
        await session.initialize()
        yield session


@contextmanager
def process(path, *more, env=None):
    """Give a server as a process with pipes; at the end it is stopped if it still runs."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command(path, *more), env=ENV | (env or {}), **pipes) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)


@contextmanager
def listening(path, *more, env=None):
    """Give a server that listens at a free port, and its address."""
    with process(path, "--http", "0", *more, env={"MEMKIT_TOKEN": TOKEN} | (env or {})) as child:
        said = []
        for line in child.stderr:
            said.append(line.decode())
            if found := re.search(r"http://\S+", said[-1]):
                yield child, found[0], "".join(said)
                return
        raise AssertionError("".join(said))


def stamps(root):
    """Return the bytes and the modification time of all files and folders below one."""
    found = {}
    for path in sorted(root.rglob("*")):
        held = path.stat()
        found[path.relative_to(root).as_posix()] = (held.st_mtime_ns, path.read_bytes() if path.is_file() else None)
    return found


def size_of(pid):
    """Return the resident bytes of a process, and how many handles it has open."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(list(Path(f"/proc/{pid}/fd").iterdir()))


LAYOUTS = sorted(CALLS)
assert all((SAMPLES / name).is_dir() for name in LAYOUTS)
