"""The README on agents: each configuration starts a server or reaches one, each tool and each address in it is there."""

import json
import re
import shlex
import shutil

import anyio
import pytest
from conftest import SAMPLES, open_at
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from serving import CALLS, ENV, at_http, at_stdio, command, listening, run
from test_readme import BLOCKS, PROGRAM, README

from memkit.cli.serving import PORT
from memkit.serve.bounds import MOST
from memkit.serve.web import PATH

AGENTS = README.split("\n## For agents")[1].split("\n## ")[0]


def configurations():
    for block in BLOCKS:
        if block.language == "json":
            (servers,) = json.loads(block.text).values()
            yield pytest.param(servers["memory"], id=f"line {block.line}")
        elif PROGRAM in block.text:
            words = shlex.split(block.text.partition(" -- ")[2])
            yield pytest.param({"command": words[0], "args": words[1:]}, id=f"line {block.line}")


@pytest.mark.parametrize("given", [held for held in configurations() if "command" in held.values[0]])
def test_a_configuration_starts_a_server_of_the_memory(tmp_path, given):
    assert given["command"] == PROGRAM
    _, vault, *options = given["args"]
    assert vault == "/home/me/vault"
    shutil.copytree(SAMPLES / "archive", tmp_path / "vault")
    words = command(tmp_path / "vault", evening=options)
    assert words[-len(given["args"]) :] == ["serve", str(tmp_path / "vault"), *options]

    async def names():
        parameters = StdioServerParameters(command=words[0], args=words[1:], env=ENV)
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return [tool.name for tool in (await session.list_tools()).tools]

    assert sorted(run(names)) == sorted(CALLS["archive"])


@pytest.mark.parametrize("given", [held for held in configurations() if "url" in held.values[0]])
def test_a_configuration_reaches_a_server_that_listens(tmp_path, given):
    assert given["url"] == f"http://127.0.0.1:{PORT}{PATH}"
    scheme, token = given["headers"]["Authorization"].split(" ")
    assert scheme == "Bearer"
    shutil.copytree(SAMPLES / "layers", tmp_path / "layers")

    async def names(url):
        async with at_http(url, token) as session:
            return {tool.name for tool in (await session.list_tools()).tools}

    with listening(tmp_path / "layers", env={"MEMKIT_TOKEN": token}) as (_, url, _said):
        assert run(names, url) == set(CALLS["layers"])


def test_the_table_has_every_tool_below_its_layout():
    held, layout = {}, ""
    for first, tools in re.findall(r"^\| (?:`(\w+)` )?\| (`.+?`) \|", AGENTS, re.MULTILINE):
        layout = first or layout
        held.setdefault(layout, set()).update(re.findall(r"`(\w+)`", tools))
    assert held == {layout: set(calls) for layout, calls in CALLS.items()}


def test_the_addresses_lead_somewhere_and_the_prompts_and_the_bound_are_so(tmp_path):
    store = open_at(shutil.copytree(SAMPLES / "layers", tmp_path / "layers"))
    addresses = re.findall(r"`(memkit://[^`]+)`", AGENTS)
    assert {address.split("/")[2] for address in addresses} == {"hot", "context", "day", "summary", "reference"}
    addresses += [f"memkit://reference{name}" for name in re.findall(r"`…(/[\w-]+)`", AGENTS)]

    async def look():
        async with at_stdio(store.vault) as session:
            for address in addresses:
                (page,) = (await session.read_resource(address)).contents
                assert page.text.strip()
            return {prompt.name for prompt in (await session.list_prompts()).prompts}

    prompts = run(look)
    assert all(f"`{name}`" in AGENTS for name in prompts)
    assert f"{MOST:,} characters" in AGENTS


def test_what_one_agent_writes_another_finds_at_once(tmp_path):
    path = shutil.copytree(SAMPLES / "layers", tmp_path / "layers")

    async def two():
        async with at_stdio(path) as one, at_stdio(path) as other:
            with anyio.fail_after(60):
                await one.call_tool("mem_write", {"text": "桥下有一只白鹭", "tag": "散步"})
                found = await other.call_tool("mem_recall", {"keyword": "鹭"})
            return found.structured_content

    assert run(two)["items"][0]["text"] == "桥下有一只白鹭"
