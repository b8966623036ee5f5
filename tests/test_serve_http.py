"""The server over HTTP, in a child process: who is let in, from where, and that many clients are served."""

import json
import re
import shutil
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import anyio
import httpx
import pytest
from conftest import SAMPLES, open_at
from serving import CALLS, LINUX, TOKEN, at_http, listening, run, size_of

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Path(shutil.copytree(SAMPLES / "layers", tmp_path_factory.mktemp("served") / "layers"))


@pytest.fixture(scope="module")
def server(place):
    """Give the address of one server, which must be whole at the end and end when told to."""
    with listening(place) as (child, url, said):
        assert TOKEN not in said
        yield url
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
        assert not child.stdout.read()
        assert b"Traceback" not in child.stderr.read()


def post(url, body=LIST, **headers):
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(url, content=sent, headers=JSON | headers)


def test_it_listens_at_the_loopback_alone(server):
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/mcp", server)
    if sys.platform.startswith("linux"):
        port = f"{int(server.split(':')[-1].removesuffix('/mcp')):04X}"
        rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        assert {row[1] for row in rows if row[1].endswith(f":{port}") and row[3] == "0A"} == {f"0100007F:{port}"}


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Bearer {TOKEN[:-1]}"},
     {"Authorization": TOKEN}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": "Bearer"}, {"X-Token": TOKEN}],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
def test_without_the_token_nobody_is_let_in(server, method, headers):
    answer = httpx.request(method, server, headers=JSON | headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.text
    assert "server" not in answer.headers


def test_a_token_given_twice_or_in_the_address_is_none(server):
    assert httpx.post(server, json=LIST, headers=[*JSON.items(), *BEARER.items(), *BEARER.items()]).status_code == 401
    assert httpx.post(f"{server}?token={TOKEN}", json=LIST, headers=JSON).status_code == 401


def test_with_the_token_it_answers(server):
    answer = post(server, **BEARER)
    assert answer.status_code == 200
    assert answer.json()["result"]["tools"][0]["name"] == "mem_hot_get"
    assert httpx.post(server, json=LIST, headers=JSON | {"Authorization": f"bearer {TOKEN}"}).status_code == 200
    assert httpx.post(server.replace("/mcp", "/other"), json=LIST, headers=JSON | BEARER).status_code == 404


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example:8765", "localhost.evil.example", "127.0.0.1:80@evil.example",
     "127.0.0.1:evil.example", "localhost:", "192.168.1.5:80", ""],
)  # fmt: skip
def test_a_foreign_host_is_refused(server, host):
    assert post(server, **BEARER, Host=host).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://127.0.0.1.evil.example", "null", "file://", "http://localhost:3000.evil.example",
     "http://127.0.0.1:@evil.example", "http://localhost:3000/", "ftp://localhost"],
)  # fmt: skip
def test_a_foreign_origin_is_refused(server, origin):
    assert post(server, **BEARER, Origin=origin).status_code == 403
    assert post(server, **BEARER, Origin=origin, **{"MCP-Protocol-Version": "2026-07-28"}).status_code == 403


def test_a_page_of_this_machine_is_let_in(server):
    for origin in ("http://localhost:3000", "https://LOCALHOST", "http://[::1]:8080", "http://127.0.0.1"):
        assert post(server, **BEARER, Origin=origin).status_code == 200
    for host in ("LOCALHOST", "localhost.:80", "[::1]:1", "127.0.0.1"):
        assert post(server, **BEARER, Host=host).status_code == 200


def test_only_messages_are_taken_as_there_is_nothing_to_listen_to(server):
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        answer = httpx.request(method, server, headers=JSON | BEARER)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_server_for_all_addresses_is_reached_by_any_and_by_no_unknown_name(copied):
    with listening(copied("layers"), "--host", "0.0.0.0") as (_, url, _said):
        here = url.replace("0.0.0.0", "127.0.0.1")
        assert post(here, **BEARER, Host="192.168.1.5:80").status_code == 200
        refused = post(here, **BEARER, Host="my-machine.example")
        assert refused.status_code == 421
        assert "--allow-host" in refused.text
        assert post(here).status_code == 401


HALF = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mem_write", "arguments": {"text": "\ud83d"}}}


@pytest.mark.parametrize("body", [b"no json", b"\xff\xfe", json.dumps(HALF).encode(), b"[" * 100_000, b"x" * 5_000_000])
def test_what_is_no_message_is_refused_and_the_next_is_answered(server, body):
    for version in ({}, {"MCP-Protocol-Version": "2026-07-28"}):
        answer = post(server, body, **BEARER, **version)
        assert answer.status_code == (413 if len(body) > 4_194_304 else 400)
        assert answer.json()["error"]["message"].startswith("message: ")
        assert "pydantic" not in answer.text
    assert post(server, **BEARER).status_code == 200


def test_two_clients_at_once_are_served_and_lose_nothing(server, place):
    async def write(name):
        async with at_http(server) as client:
            for number in range(15):
                answer = await client.call_tool("mem_write", {"text": f"{name} 的第 {number} 条"})
                assert not answer.is_error, answer.content
                assert (await client.call_tool("mem_recent", {})).structured_content["matched"]

    async def talk():
        async with anyio.create_task_group() as tasks:
            for name in ("甲", "乙"):
                tasks.start_soon(write, name)

    run(talk)
    assert len(open_at(place).matching("甲 的第")) == len(open_at(place).matching("乙 的第")) == 15
    assert open_at(place).audit().ok


def test_a_client_calls_every_tool(server):
    async def talk():
        async with at_http(server) as client:
            found = {name: await client.call_tool(name, arguments) for name, arguments in CALLS["layers"].items()}
            wrong = await client.call_tool("mem_recall", {"keyword": "", "mode": "and"})
            return found, wrong, await client.read_resource("memkit://hot"), await client.get_prompt("when-to-remember")

    found, wrong, page, _ = run(talk)
    assert not [name for name, answer in found.items() if answer.is_error]
    assert wrong.is_error
    assert "小满的茶室三月八日开业" in page.contents[0].text


def test_a_client_that_dies_in_the_middle_of_a_call_costs_nobody_else_anything(server, place):
    host, port = server.removeprefix("http://").removesuffix("/mcp").split(":")
    for number in range(20):
        call = {"name": "mem_write", "arguments": {"text": f"断线第 {number} 条"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
        head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {len(body)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in (JSON | BEARER).items())
        with socket.create_connection((host, int(port))) as wire:
            wire.sendall(f"{head}\r\n".encode() + (body if number % 2 else body[:-20]))
    last = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mem_stats"}}
    count = -1
    while count < (count := len(open_at(place).matching("断线第"))):  # what had arrived is still written, one by one
        assert post(server, last, **BEARER).status_code == 200
        sleep(0.5)
    found = open_at(place).matching("断线第")
    assert found["text"].str.fullmatch("断线第 [0-9]+ 条").all()
    assert set(open_at(place).audit().frame["rule"]) <= {"summary-stale"}  # another test made today's


def test_sigterm_answers_what_is_under_way_and_leaves_a_clean_store(copied):
    path = copied("archive")

    def append(url, number):
        call = {"name": "archive_append", "arguments": {"text": f"收尾第 {number} 条"}}
        try:
            return post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, **BEARER).status_code == 200
        except httpx.TransportError:  # it came too late
            return False

    with listening(path) as (child, url, _), ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(append, url, number) for number in range(60)]
        assert waiting[0].result()
        child.terminate()
        answered = sum(one.result() for one in waiting)
        assert child.wait(30) == 0
        assert b"Traceback" not in child.stderr.read()
    found = open_at(path).matching("收尾第")
    assert 1 <= answered <= len(found) <= 60
    assert found["text"].str.fullmatch("收尾第 [0-9]+ 条").all()
    assert not len(open_at(path).audit().frame)


def test_a_token_is_made_and_told_where_none_is_given_and_a_file_can_hold_one(copied, tmp_path):
    path, file = copied("archive"), tmp_path / "token"
    with listening(path, "--read-only", env={"MEMKIT_TOKEN": ""}) as (child, url, said):
        assert "read-only" in said
        made = re.search(r"token: (\S{40,})", said)[1]
        assert post(url, Authorization=f"Bearer {made}").status_code == 200
        assert post(url, **BEARER).status_code == 401
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 0
    file.write_text(f"{TOKEN[::-1]}\n", encoding="utf-8")
    with listening(path, "--token-file", str(file), "--allow-host", "memory.example") as (child, url, said):
        assert TOKEN[::-1] not in said
        known = {"Authorization": f"Bearer {TOKEN[::-1]}"}
        assert post(url, **known).status_code == 200
        assert post(url, **known, Host="memory.example").status_code == 200
        assert post(url, **known, Host="other.example").status_code == 421
        child.terminate()
        assert child.wait(30) == 0


def test_a_port_that_is_taken_is_an_error_and_says_which(copied, capfd):
    from memkit.cli import run as command_line

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert command_line(["serve", str(copied("archive")), "--http", port]) == 2
    assert f"127.0.0.1:{port}: " in capfd.readouterr().err


@LINUX
def test_a_thousand_calls_in_a_row_take_no_more_memory_and_no_more_handles(copied):
    async def talk(url, pid):
        sizes = []
        async with at_http(url) as client:
            for number in range(1_000):
                if number == 200:
                    sizes.append(size_of(pid))
                name, arguments = (("mem_recent", {}), ("mem_write", {"text": "同一条"}))[number % 2]
                assert not (await client.call_tool(name, arguments)).is_error
            return [*sizes, size_of(pid)]

    with listening(copied("layers")) as (child, url, _):
        (early, handles), (late, at_last) = run(talk, url, child.pid)
        child.terminate()
        assert child.wait(30) == 0
    assert at_last == handles
    assert late - early < 8_000_000, (early, late)
