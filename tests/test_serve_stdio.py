"""The server at the standard streams, in a child process: with a real MCP client, and with what no client should send."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import anyio
import pytest
from conftest import open_at
from mcp.shared.exceptions import MCPError
from serving import CALLS, ENV, LAYOUTS, LINUX, at_stdio, command, process, run, size_of, stamps

from memkit.serve.stdio import GONE, PATIENCE

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}


def line(method, params=None, number=None):
    held = {"jsonrpc": "2.0", "method": method, **({"id": number} if number is not None else {})}
    return json.dumps(held | ({"params": params} if params is not None else {}), ensure_ascii=False).encode() + b"\n"


OPENING = line("initialize", HELLO, 0) + line("notifications/initialized")


def calling(number, name, **arguments):
    return line("tools/call", {"name": name, "arguments": arguments}, number)


def answers(output):
    """Return what a server wrote, by id: every line of it is a message."""
    return {held["id"]: held for held in map(json.loads, output.splitlines())}


def is_clean(path):
    return open_at(path).audit().ok and not len(open_at(path).audit().frame)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_client_calls_every_tool_and_gets_what_it_sent_back(copied, layout):
    path = copied(layout)

    async def talk():
        found = {}
        async with at_stdio(path) as client:
            told = [tool.name for tool in (await client.list_tools()).tools]
            for name, arguments in CALLS[layout].items():
                found[name] = await client.call_tool(name, arguments)
            wrong = [await client.call_tool(name, {"misspelt": 1}) for name in told]
            missing = await client.call_tool("mem_nothing", {})
            page = await client.read_resource("memkit://day/2025-02-28")
            with pytest.raises(MCPError, match="leads nowhere"):
                await client.read_resource("memkit://nowhere")
            flush = await client.get_prompt("memory-flush")
        return told, found, wrong, missing, page, flush

    told, found, wrong, missing, page, flush = run(talk)
    assert set(told) == set(CALLS[layout])
    assert not {name: answer.content for name, answer in found.items() if answer.is_error}
    assert all(json.loads(answer.content[0].text) == answer.structured_content for answer in found.values())
    assert all(answer.is_error and "no argument is named 'misspelt'" in answer.content[0].text for answer in wrong)
    assert missing.is_error
    assert "expected " + told[0] in missing.content[0].text
    assert page.contents[0].text.startswith(open_at(path).day("2025-02-28").text[:10])
    assert "NO_REPLY" in flush.messages[0].content.text
    written = "服务写下的一条" in "".join(open_at(path).entries()["text"])
    assert written == (layout != "archive")  # there it is forgotten again
    assert is_clean(path) or layout == "workspace"


def test_numbers_beyond_their_bounds_are_brought_in_and_what_cannot_be_meant_is_an_error(copied):
    path = copied("layers")

    async def talk():
        async with at_stdio(path, "--read-only") as client:
            wide = await client.call_tool("mem_recent", {"days": 100_000, "limit": None})
            wrong = [
                await client.call_tool("mem_recall", arguments)
                for arguments in ({}, {"keyword": " "}, {"keyword": 3}, {"keyword": "壶", "mode": "xor"}, {"keyword": ["壶"]})
            ]
            dates = await client.call_tool("mem_by_date", {"from": "2025-02-30", "to": "2025-03-01"})
            writing = await client.call_tool("mem_write", {"text": "不写"})
            names = [tool.name for tool in (await client.list_tools()).tools]
        return wide, wrong, dates, writing, names

    before = stamps(path)
    wide, wrong, dates, writing, names = run(talk)
    assert wide.structured_content["days"] == 365
    assert wide.structured_content["limit"] == 50
    assert all(answer.is_error and answer.content[0].text for answer in wrong)
    assert dates.content[0].text.startswith("from: ")
    assert "open for reading only" in writing.content[0].text
    assert "mem_write" not in names
    assert stamps(path) == before


def test_lines_that_are_no_message_are_refused_and_the_next_is_answered(copied):
    path = copied("workspace")
    half = calling(1, "memory_store", text="X").replace(b'"X"', b'"\\ud83d"')
    bytes_ = calling(2, "memory_store", text="X").replace(b'"X"', b'"\xff\xfe"')
    sent = [half, bytes_, b"no json\n", b'["a list"]\n', b"\n", b"[" * 100_000 + b"\n", b'"' + b"x" * 5_000_000 + b'"\n']
    with process(path) as child:
        output, log = child.communicate(OPENING + b"".join(sent) + calling(3, "memory_search", query="水壶"), timeout=60)
    told = answers(output)
    assert "lone surrogate" in told[1]["error"]["message"]
    assert "no UTF-8 at byte" in told[2]["error"]["message"]
    assert told[3]["result"]["structuredContent"]["results"]
    assert output.count(b'"id":null') == 4  # no JSON, a list, too deep, too long; an empty line is nothing
    assert b"Traceback" not in log
    assert child.returncode == 0
    assert "\ufffd" not in "".join(open_at(path).entries()["text"])


def test_calls_under_way_are_answered_when_the_client_has_said_its_last(copied):
    path = copied("layers")
    sent = OPENING + b"".join(calling(number, "mem_write", text=f"最后第 {number} 条") for number in range(1, 41))
    with process(path) as child:
        output, log = child.communicate(sent, timeout=60)
    assert answers(output).keys() == set(range(41))
    assert all(not told["result"].get("isError") for told in answers(output).values())
    assert not log
    assert child.returncode == 0
    assert len(open_at(path).matching("最后第")) == 40


def test_a_client_that_dies_in_the_middle_of_a_call_leaves_whole_entries_and_ends_the_server(copied):
    path = copied("layers")
    with process(path) as child:
        child.stdin.write(OPENING)
        child.stdin.flush()
        child.stdout.readline()
        child.stdin.write(b"".join(calling(number, "mem_write", text=f"中断第 {number} 条") for number in range(1, 101)))
        child.stdin.flush()
        child.stdout.readline()
        child.stdout.close()  # as a killed client leaves its pipes
        child.stdin.close()
        child.wait(60)
        log = child.stderr.read()
    assert b"Traceback" not in log
    assert child.returncode == 0
    found = open_at(path).matching("中断第")
    assert 1 <= len(found) <= 100
    assert found["text"].str.fullmatch("中断第 [0-9]+ 条").all()
    assert is_clean(path)


def test_sigterm_finishes_what_is_under_way_and_leaves_a_clean_store(copied):
    path = copied("archive")
    with process(path) as child:
        child.stdin.write(OPENING)
        child.stdin.flush()
        child.stdout.readline()
        child.stdin.write(b"".join(calling(number, "archive_append", text=f"收尾第 {number} 条") for number in range(1, 31)))
        child.stdin.flush()
        child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        output = child.stdout.read()  # stdin stays open: it is the signal that ends it
        assert child.wait(60) == 0
        assert not child.stderr.read()
    answered = len(answers(output)) + 1
    found = open_at(path).matching("收尾第")
    assert 1 <= answered == len(found)
    assert is_clean(path)


def test_two_servers_at_one_store_lose_nothing(copied):
    path = copied("layers")

    async def write(name):
        async with at_stdio(path) as client:
            for number in range(15):
                answer = await client.call_tool("mem_write", {"text": f"{name} 的第 {number} 条", "important": True})
                assert not answer.is_error, answer.content

    async def talk():
        async with anyio.create_task_group() as tasks:
            for name in ("甲", "乙"):
                tasks.start_soon(write, name)

    run(talk)
    store = open_at(path)
    assert len(store.matching("甲 的第")) == len(store.matching("乙 的第")) == 15
    assert is_clean(path)


def servers():
    """Return the processes that this one has started."""
    folder = Path(f"/proc/{os.getpid()}/task")
    return {int(pid) for task in folder.iterdir() for pid in (task / "children").read_text().split()}


@LINUX
def test_a_thousand_calls_in_a_row_take_no_more_memory_and_no_more_handles(copied):
    path = copied("archive")
    wanted = ("archive_recent", {"days": 3}), ("archive_search", {"terms": ["开业"]}), ("archive_read", {"date": "2025-02-03"})

    async def talk():
        before = servers()
        async with at_stdio(path) as client:
            (pid,) = servers() - before
            sizes = []
            for number in range(1_000):
                if number in (200, 600):
                    sizes.append(size_of(pid))
                name, arguments = (*wanted, ("archive_append", {"text": "同一条"}))[number % 4]
                answer = await client.call_tool(name, arguments)
                assert not answer.is_error
            sizes.append(size_of(pid))
        return sizes

    (early, handles), (middle, _), (late, at_last) = run(talk)
    assert at_last == handles
    assert late - early < 8_000_000, (early, middle, late)


@pytest.mark.parametrize("number", ["null", "1.5", "true", "{}", "[]"])
def test_a_request_whose_id_is_none_is_refused_and_holds_nothing_up(copied, number):
    odd = line("ping", number=7).replace(b'"id": 7', f'"id": {number}'.encode())
    with process(copied("layers")) as child:
        output, log = child.communicate(OPENING + odd + line("ping", number=8), timeout=20)
    told = [json.loads(row) for row in output.splitlines()]
    assert [held["id"] for held in told if held["id"] is not None] == [0, 8]
    (refusal,) = (held["error"] for held in told if held["id"] is None)
    assert refusal["code"] == -32600
    assert "expected a text or a whole number" in refusal["message"]
    assert (child.returncode, log) == (0, b"")


def test_two_requests_of_one_id_are_not_taken_for_one(copied):
    path = copied("layers")
    sent = [calling(1, "mem_write", text="其一"), calling("1", "mem_write", text="其二"), calling(1, "mem_write", text="其三")]
    with process(path) as child:
        output, _ = child.communicate(OPENING + b"".join(sent), timeout=60)
    told = [json.loads(row) for row in output.splitlines()][1:]
    assert len(told) == 3
    assert all("result" in held or "under way" in held["error"]["message"] for held in told)
    assert len(open_at(path).matching("其", mode="or")) >= sum("result" in held for held in told)


IMPATIENT = """
import sys
from memkit.cli import run
from memkit.serve import stdio
stdio.PATIENCE = stdio.LAST = 2.0
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("how", ["signals", "end of stdin"])
def test_a_client_that_reads_nothing_holds_up_no_end(copied, how):
    words = command(copied("layers"))
    if how == "end of stdin":
        words[1:3] = ["-c", IMPATIENT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, env=ENV, **pipes) as child:
        child.stdin.write(OPENING + b"".join(line("tools/list", number=number) for number in range(1, 100)))
        child.stdin.flush()
        child.stdout.readline()
        time.sleep(1)  # by now the answers fill the pipe
        if how == "end of stdin":
            child.stdin.close()
        end = time.monotonic() + PATIENCE - 5
        while child.poll() is None and time.monotonic() < end:
            if how == "signals":
                child.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        assert child.poll() == GONE


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of POSIX")
def test_a_terminal_that_closes_lets_calls_end(copied):
    path = copied("layers")
    with process(path) as child:
        child.stdin.write(
            OPENING + b"".join(calling(number, "mem_write", text=f"挂断第 {number} 条") for number in range(1, 31))
        )
        child.stdin.flush()
        for _ in range(2):
            child.stdout.readline()
        child.send_signal(signal.SIGHUP)
        child.stdout.read()
        assert child.wait(60) == 0
    assert is_clean(path)
    assert not list(path.rglob("*.tmp"))
