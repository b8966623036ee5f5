"""The server of agents within this process: what it offers, what its tools do to a store, and what it says when it fails."""

import json
import re
import sys
import threading
from datetime import datetime, timedelta
from functools import partial
from time import monotonic

import anyio
import mcp_types
import pytest
from conftest import CLOCK, open_at, tree
from mcp import Client
from mcp.shared.exceptions import MCPError
from serving import CALLS, LAYOUTS, run, stamps

from memkit import BadArgument, UnsupportedError, tools
from memkit.cli import run as command_line
from memkit.serve import bounds, prompts, reference, resources
from memkit.serve.server import WRITE, Host, built, called, lane_of, offered
from memkit.tools import archive, layers, workspace
from memkit.tools.effects import EFFECTS

MODULES = {"archive": archive, "layers": layers, "workspace": workspace}
TOMORROW = (datetime.fromisoformat(CLOCK) + timedelta(days=1)).isoformat()
EACH = [(layout, name) for layout in LAYOUTS for name in CALLS[layout]]


def behind(path, layout):
    """Leave derived files behind the files: a catalog without its last row, an index that knows nothing of today."""
    if layout == "archive":
        catalog = path / ".agents/nutstore-sync/memory/catalog/2025.tsv"
        catalog.write_bytes(b"\n".join(catalog.read_bytes().split(b"\n")[:-2]) + b"\n")
    if layout == "workspace":
        open_at(path).sync()
        open_at(path).store("在索引之后写下", "daily")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_tool_has_its_effect_and_its_call_in_these_tests(layout):
    names = {function.__name__ for function in MODULES[layout].TOOLS}
    assert names == set(CALLS[layout])
    assert names <= set(EFFECTS)
    assert set(EFFECTS) == {function.__name__ for module in MODULES.values() for function in module.TOOLS}


@pytest.mark.parametrize(("layout", "name"), EACH)
def test_a_tool_does_to_a_store_what_its_effect_says(copied, layout, name):
    path, effect = copied(layout), EFFECTS[name]
    behind(path, layout)
    if name == "archive_forget":
        open_at(path).append("服务写下的一条")
    before = stamps(path)
    tools.call(open_at(path), name, CALLS[layout][name])
    after = stamps(path)
    assert (after == before) == effect.reads
    old, new = (b"".join(body or b"" for file, (_, body) in held.items() if file.endswith(".md")) for held in (before, after))
    kept = not set(filter(None, old.split(b"\n"))) - set(new.split(b"\n"))
    assert kept or effect.loses or name in ("archive_append", "archive_correct")  # these renew the index line of today
    if effect.settles:
        tools.call(open_at(path), name, CALLS[layout][name])
        assert tree(path).keys() == {file for file, (_, body) in after.items() if body is not None}
        settled = tree(path)
        tools.call(open_at(path, now=TOMORROW), name, CALLS[layout][name])
        renewed = {file for file, body in tree(path).items() if settled.get(file) != body}
        assert all(file.endswith("catalog/2025.tsv") for file in renewed)  # the row of the day that has ended


@pytest.mark.parametrize(("layout", "name"), [pair for pair in EACH if EFFECTS[pair[1]].quiet])
def test_a_tool_that_only_reads_leaves_what_is_out_of_date(copied, layout, name):
    path = copied(layout)
    behind(path, layout)
    before = stamps(path)
    assert tools.call(open_at(path), name, CALLS[layout][name], read_only=True)
    assert stamps(path) == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_with_read_only_no_tool_writes_and_each_is_said_to_read(copied, layout):
    path = copied(layout)
    store, before = open_at(path), stamps(path)
    told = offered(store, read_only=True)
    assert [tool.name for tool in told] == [name for name in tools.names(store) if EFFECTS[name].quiet]
    assert all(tool.annotations.read_only_hint and not tool.annotations.destructive_hint for tool in told)
    for name, arguments in CALLS[layout].items():
        if not EFFECTS[name].quiet:
            with pytest.raises(UnsupportedError, match=f"{name}: it writes"):
                tools.call(store, name, arguments, read_only=True)
            assert called(store, name, arguments, read_only=True).is_error
    assert stamps(path) == before
    assert prompts.instructions(store, read_only=True).startswith("This memory is open for reading only")
    assert [held["name"] for held in prompts.listed(read_only=True)] == ["when-to-remember"]
    with pytest.raises(BadArgument, match="expected when-to-remember"):
        prompts.read(store, "memory-flush", read_only=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tools_are_offered_with_their_own_schema_and_true_hints(copied, layout):
    store = open_at(copied(layout))
    told = {tool.name: tool for tool in offered(store, read_only=False)}
    assert {name: tool.input_schema for name, tool in told.items()} == {
        held["name"]: held["inputSchema"] for held in tools.schemas(store)
    }
    for name, tool in told.items():
        effect, hints = EFFECTS[name], tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (
            effect.reads,
            effect.loses,
            effect.settles,
        )
        assert hints.open_world_hint is False
        assert tool.description == " ".join(tool.description.split()) or "\n\n" in tool.description


def test_an_answer_within_bounds_is_given_as_it_is():
    answer = {"items": [{"text": "红水壶"}], "returned": 1}
    assert bounds.bounded(answer) is answer


def test_a_long_list_is_cut_at_its_end_and_counted():
    answer = {"matched": 500, "returned": 200, "items": [{"text": "茶" * 1_000}] * 200}
    cut = bounds.bounded(answer)
    assert len(json.dumps(cut, ensure_ascii=False)) <= bounds.MOST
    assert 40 < len(cut["items"]) == cut["returned"] < 50
    assert cut["truncated"].startswith(f"items: {len(cut['items'])} of 200; ask for less at once")


def test_a_long_text_is_cut_at_a_line_and_one_without_lines_anywhere():
    lines = bounds.bounded({"path": "MEMORY.md", "text": "一行\n" * 40_000})
    assert len(json.dumps(lines, ensure_ascii=False)) <= bounds.MOST
    assert lines["text"].endswith("\n")
    assert f"text: the first {lines['text'].count(chr(10)):,} of 40,001 lines" in lines["truncated"]
    whole = bounds.bounded({"text": '"' * 60_000})
    assert len(json.dumps(whole, ensure_ascii=False)) <= bounds.MOST
    assert len(whole["text"]) > 24_000  # each sign is two of JSON
    assert f"the first {len(whole['text']):,} of 60,000 characters" in whole["truncated"]


def test_one_item_that_is_too_long_is_cut_too():
    cut = bounds.bounded({"items": [{"text": "茶" * 90_000}, {"text": "短"}]})
    assert len(json.dumps(cut, ensure_ascii=False)) <= bounds.MOST
    assert len(cut["items"]) == 1
    assert len(cut["items"][0]["text"]) > 40_000
    assert "items: 1 of 2, and that not whole" in cut["truncated"]


def test_a_huge_file_is_given_in_part_and_says_where_it_ends(copied):
    path = copied("workspace")
    (path / "MEMORY.md").write_text("".join(f"- 第 {number} 行\n" for number in range(60_000)), encoding="utf-8")
    answer = called(open_at(path), "memory_get", {"path": "MEMORY.md"}, read_only=False)
    assert len(answer.content[0].text) <= bounds.MOST
    told = answer.structured_content
    kept = told["text"].count("\n")
    assert f"text: the first {kept:,} of 60,001 lines" in told["truncated"]
    rest = called(open_at(path), "memory_get", {"path": "MEMORY.md", "from": kept + 1, "lines": 1}, read_only=False)
    assert rest.structured_content["text"] == f"- 第 {kept} 行"
    assert bounds.shortened("茶" * 90_000).endswith("of 90,000 characters left out)\n")
    assert len(bounds.shortened("茶" * 90_000)) < bounds.MOST


def read_on(store, name, page, offset, **arguments):
    """Return all texts that a tool gives, going on where each answer says."""
    found = []
    while True:
        told = called(store, name, {**arguments, "offset": offset}, read_only=False).structured_content
        assert len(json.dumps(told, ensure_ascii=False)) <= bounds.MOST
        found.append(told)
        if "nextOffset" not in told:
            assert told["leftOut"] == 0
            return found
        assert told["leftOut"] > 0
        assert told["nextOffset"] > offset
        offset = told["nextOffset"]


LINES = ["- 第 {} 条 {}\n".format("{}", "长" * 30), '- "{}" \\ "\n', "- {} " + "一" * 70_000 + "\n"]


@pytest.mark.parametrize("line", [*LINES, "- {} " + '"' * 70_000 + "\n", "\n" * 20, "- {} " + "\x01" * 70_000 + "\n"])
def test_going_on_where_an_answer_ends_skips_nothing(copied, line):
    store = open_at(copied("archive"))
    day = store.root / "archive/2025/2025-02-26.md"
    count = 3 if len(line) > 1_000 else 5_000
    day.write_text("## 2025-02-26\n\n" + "".join(line.format(number) for number in range(count)), encoding="utf-8")
    whole = store.day("2025-02-26").text
    for limit in (100_000, 30_000):
        pages = read_on(store, "archive_read", "text", 0, date="2025-02-26", limit=limit)
        assert "".join(page["text"] for page in pages) == whole
        assert all(page["leftOut"] == len(whole) - page.get("nextOffset", len(whole)) for page in pages)
        assert all(len(page["text"]) > 3_000 for page in pages[:-1])  # a control character is six of JSON
    assert len(pages) > 1


def test_whatever_signs_a_text_is_of_its_cut_fills_the_room():
    for sign in '茶"\\\n\x01😀':
        cut = bounds.bounded({"text": sign * 90_000})
        assert bounds.MOST - 1_000 < len(json.dumps(cut, ensure_ascii=False)) <= bounds.MOST


def test_what_is_said_beside_a_page_does_not_move_where_it_goes_on():
    page = {"matched": 500, "returned": 2, "leftOut": 498, "nextOffset": 2, "results": [{"text": "茶"}] * 2}
    cut = bounds.bounded({**page, "warning": "坏" * 90_000, "stale": ["旧" * 900] * 90})
    assert {name: cut[name] for name in page} == page
    assert "nextOffset goes on there" in cut["truncated"]


@pytest.mark.parametrize("name", ["archive_search", "archive_recent"])
def test_going_on_reaches_every_hit_and_every_day_once(copied, name):
    store = open_at(copied("archive"))
    day = store.root / "archive/2025/2025-02-26.md"
    odd = '"\\\x01' * 60
    day.write_text("## 2025-02-26\n\n" + "".join(f"- 茶缸 {number} {odd}\n" for number in range(300)), encoding="utf-8")
    arguments = {"terms": ["茶缸"]} if name == "archive_search" else {"days": 3_660}
    pages = read_on(store, name, "results", 0, **arguments, limit=100)
    found = [json.dumps(item) for page in pages for item in page["results"]]
    assert all(page["returned"] == len(page["results"]) for page in pages)
    assert len(found) == len(set(found)) == pages[0]["matched"]


def test_the_lines_of_a_file_are_all_reached_and_of_one_too_long_it_is_said_where_it_ends(copied):
    store = open_at(copied("workspace"))
    whole = "".join(f"- 第 {number} 行\n" for number in range(9_000)) + "长" * 60_000 + "\n末行\n"
    (store.root / "MEMORY.md").write_text(whole, encoding="utf-8")
    first, found, inside = 1, [], []
    while True:
        told = called(store, "memory_get", {"path": "MEMORY.md", "from": first}, read_only=False).structured_content
        if "truncated" not in told:
            break
        part = re.match(
            r"text: the first ([\d,]+) of [\d,]+ (?:lines|characters, to inside line ([\d,]+) of )", told["truncated"]
        )
        sent, number = (int((group or "0").replace(",", "")) for group in part.groups())
        lines = number - 1 if number else sent
        found += told["text"].split("\n")[:lines]
        if number == 1:  # this line alone is too long
            assert len(told["text"]) == sent > 45_000
            assert "the file MEMORY.md alone has" in told["truncated"]
            inside.append(first)
        first += lines or 1
    assert found == whole[: whole.index("长") - 1].split("\n")
    assert inside == [9_001]
    assert told["text"] == "末行\n"


def test_of_an_entry_that_is_too_long_it_is_said_how_much_is_there_and_where_the_rest_stands(copied):
    store = open_at(copied("layers"))
    file = store.root / "cold/2025-02/2025-02-28.md"
    held = file.read_text(encoding="utf-8")
    file.write_text(held + "- [2025-02-28T10:00:00.000Z] [长] " + "长" * 500_000 + "\n", encoding="utf-8")
    told = called(store, "mem_by_tag", {"tag": "长"}, read_only=False).structured_content
    (item,), line = told["items"], held.count("\n") + 1
    assert (item["path"], item["line"]) == ("cold/2025-02/2025-02-28.md", line)
    assert len(item["text"]) > 45_000
    said = f"items: 1 of 1, and that not whole (text: the first {len(item['text']):,} of 500,000 characters; "
    assert told["truncated"].startswith(f"{said}the file cold/2025-02/2025-02-28.md (line {line}) alone has the rest)")
    assert all(set(item) == {"date", "timestamp", "tag", "text"} for item in layers.mem_by_tag(store, "茶")["items"])


@pytest.mark.parametrize(
    ("layout", "name", "argument"),
    [("archive", "archive_search", "terms"), ("workspace", "memory_search", "query"), ("layers", "mem_recall", "keyword")],
)
def test_equal_words_count_once_and_too_many_are_refused(copied, layout, name, argument):
    store = open_at(copied(layout))
    plain = called(store, name, {argument: "茶"}, read_only=False)
    assert "茶" in plain.content[0].text
    assert called(store, name, {argument: "茶 " * 20_000}, read_only=False) == plain
    assert not called(store, name, {argument: " ".join(map(str, range(64)))}, read_only=False).is_error
    refused = called(store, name, {argument: " ".join(map(str, range(65)))}, read_only=False)
    assert refused.content[0].text == f"{argument}: 65 different words; expected at most 64, the most telling ones"


def test_a_phrase_that_stands_twice_stays_a_phrase(copied):
    store = open_at(copied("archive"))
    store.append("青瓷 茶缸，一只")
    store.append("茶缸 青瓷，两只")
    found = archive.archive_search(store, ['"青瓷 茶缸" "青瓷 茶缸" 一只'])
    assert [hit["text"] for hit in found["results"]] == ["青瓷 茶缸，一只"]


def test_a_long_line_behind_a_short_one_is_cut_inside():
    cut = bounds.bounded({"content": "短\n" + "长" * 60_000, "chars": 60_002})
    assert len(cut["content"]) > 45_000
    assert f"the first {len(cut['content']):,} of 60,002 characters" in cut["truncated"]


def test_long_parts_share_the_room_and_none_falls_to_nothing():
    lists = {"candidates": [{"text": "候" * 90}] * 3_000, "topics": [{"topic": "茶", "month": "2025-02"}] * 3_000}
    cut = bounds.bounded({"content": "正文。" * 100_000, **lists, "chars": 300_000})
    assert len(json.dumps(cut, ensure_ascii=False)) <= bounds.MOST
    assert len(cut["content"]) > 10_000
    assert len(cut["candidates"]) > 100
    assert len(cut["topics"]) > 300
    assert all(f"{name}: " in cut["truncated"] for name in ("content", "candidates", "topics"))


def test_an_empty_list_means_none_and_where_words_are_needed_is_refused(copied):
    store = open_at(copied("archive"))
    plain = called(store, "archive_search", {"terms": ["茶"]}, read_only=False)
    for none in ([], None, ""):
        assert called(store, "archive_search", {"terms": ["茶"], "allOf": none, "anyOf": none}, read_only=False) == plain
    blank = called(store, "archive_search", {"terms": ["茶"], "allOf": [" "]}, read_only=False)
    assert blank.content[0].text == "allOf: no word in it; expected at least one word to look for"
    refused = called(store, "archive_search", {"terms": []}, read_only=False)
    assert refused.content[0].text == "terms: an empty list; expected a list of 1 to 64 texts"
    many = called(store, "archive_search", {"terms": [str(number) for number in range(65)]}, read_only=False)
    assert many.content[0].text == "terms: a list of 65; expected a list of 1 to 64 texts"
    assert called(store, "archive_search", {"terms": ["茶"] * 20_000}, read_only=False) == plain


def test_halves_of_characters_are_never_sent():
    assert bounds.written({"a": "\ud800"}).encode("utf-8")
    for text, sent in (("红\ud83d", "红\ufffd"), ("\udc00\ud83d壶", "\ufffd\ufffd壶"), ("茶\U0001f600", "茶\U0001f600")):
        assert bounds.sound(text) == sent  # as long as before, or a bound would not hold


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_page_that_is_listed_can_be_read(copied, layout):
    path = copied(layout)
    store, before = open_at(path), stamps(path)
    pages = {page["uri"]: resources.read(store, page["uri"]) for page in resources.listed(store)}
    assert ("memkit://hot" in pages) == (layout == "layers")
    assert "memkit://day/2025-02-28" in pages
    assert all(text.strip() for text in pages.values())
    assert resources.read(store, "memkit://summary/week/2025-W09") == str(store.summary("week", "2025-W09"))
    assert resources.read(store, "memkit://day/2025-02-03") == store.day("2025-02-03").text
    assert stamps(path) == before


@pytest.mark.parametrize(
    "uri",
    ["memkit://nowhere", "memkit://day", "memkit://day/2025-13-01", "memkit://day/1999-01-01", "memkit://summary/year/2025",
     "memkit://summary/week", "memkit://reference/../../etc/passwd", "file:///etc/passwd", "", "memkit://day/2025-02-03/x"],
)  # fmt: skip
def test_an_address_that_leads_nowhere_is_an_error_that_says_so(copied, uri):
    with pytest.raises(BadArgument):
        resources.read(open_at(copied("archive")), uri)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_reference_pages_name_the_tools_of_their_layout_and_no_others(copied, layout):
    store = open_at(copied(layout))
    text = "".join(reference.page(layout, name) for name in reference.PAGES) + reference.short(layout)
    text += "".join(prompts.read(store, name, read_only=False) for name in ("memory-flush", "when-to-remember"))
    own = set(tools.names(store))
    assert not {name for name in set(EFFECTS) - own if name in text}
    assert own - {"mem_by_tag", "memory_recall", "mem_stats"} <= {name for name in own if name in text}
    for name in reference.PAGES:
        page = reference.page(layout, name)
        assert any("一" <= sign <= "鿿" for sign in page)
        assert " the " in page


def test_an_unknown_prompt_is_refused(copied):
    with pytest.raises(BadArgument, match="expected memory-flush, when-to-remember"):
        prompts.read(open_at(copied("archive")), "nothing", read_only=False)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_flush_names_the_tool_that_writes_in_both_languages(copied, layout):
    text = prompts.read(open_at(copied(layout)), "memory-flush", read_only=False)
    assert text.count({"archive": "archive_append", "layers": "mem_write", "workspace": "memory_store"}[layout]) == 2
    assert "NO_REPLY" in text
    assert "会话即将压缩" in text


def test_what_asks_a_service_for_vectors_says_so(copied):
    store = open_at(copied("workspace"), embed={"key": "k", "url": "http://127.0.0.1:1"})
    asking = {tool.name for tool in offered(store, read_only=False) if tool.annotations.open_world_hint}
    assert asking == {"memory_search", "memory_recall", "memory_sync"}


def test_an_entry_of_any_length_leaves_room_for_others_in_the_context(copied):
    store = open_at(copied("layers"))
    store.append("长" * 3_000, tag="很长")
    store.append("短的一条", tag="短")
    lines = resources.read(store, "memkit://context").splitlines()
    assert max(map(len, lines)) < 1_100
    assert any("短的一条" in row for row in lines)


def test_an_address_may_be_written_as_addresses_are(copied):
    store = open_at(copied("layers"))
    week = resources.read(store, "memkit://summary/week/2025-W06")
    assert resources.read(store, "MEMKIT://summary/week/2025-W06") == week
    with pytest.raises(BadArgument, match=r"2026-W43"):
        resources.read(store, "memkit://summary/week/2025-W9")


def test_a_store_that_another_writer_holds_gives_an_error_to_try_again(copied):
    path = copied("layers")
    with open_at(path)._desk.writing():
        refused = called(open_at(path, lock_timeout=0.1), "mem_write", {"text": "等不到"}, read_only=False)
        read = called(open_at(path, lock_timeout=0.1), "mem_recent", {}, read_only=False)
    assert refused.is_error
    assert refused.structured_content["retryable"] is True
    assert "another writer holds it" in refused.content[0].text
    assert not read.is_error


def test_calls_that_wait_for_the_lock_fail_together_and_reading_waits_for_none_of_them(copied):
    path = copied("layers")
    took = {}

    async def timed(client, number, begun):
        answer = await client.call_tool("mem_write", {"text": f"等不到 {number}"})
        took[number] = monotonic() - begun
        assert answer.is_error
        assert answer.structured_content["retryable"] is True

    async def talk():
        async with Client(built(Host(open_at(path, lock_timeout=1.0)))) as client:
            begun = monotonic()
            async with anyio.create_task_group() as tasks:
                for number in range(4):
                    tasks.start_soon(timed, client, number, begun)
                await anyio.sleep(0.1)
                assert not (await client.call_tool("mem_recent", {})).is_error
                assert (await client.read_resource("memkit://hot")).contents
                took["reading"] = monotonic() - begun

    with open_at(path)._desk.writing():
        run(talk)
    assert took.pop("reading") < min(took.values())
    assert len(took) == 4
    assert max(took.values()) < 2.0


@pytest.mark.parametrize("name", ["archive_search", "archive_recent"])
def test_a_reader_that_would_heal_does_not_wait_for_a_writer(copied, name):
    path = copied("archive")
    behind(path, "archive")
    store = open_at(path, lock_timeout=30.0)
    root, before = store.root, tree(path)
    with open_at(root)._desk.writing():
        begun = monotonic()
        answer = called(store, name, CALLS["archive"][name], read_only=False)
        took = monotonic() - begun
    assert not answer.is_error
    assert took < 10.0
    assert tree(path) == before
    assert "another writer holds it; try again" in answer.content[0].text
    called(store, name, CALLS["archive"][name], read_only=False)
    assert tree(path) != before


def test_a_service_that_never_answers_holds_up_no_other_call(copied):
    host, answered = Host(open_at(copied("workspace"))), threading.Event()

    async def talk():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.do, partial(answered.wait, 60), lane_of("memory_sync"))
            await anyio.sleep(0.1)
            for name in ("memory_store", "memory_search", "memory_get"):
                work = partial(called, host.store, name, CALLS["workspace"][name], read_only=False)
                assert not (await host.do(work, lane_of(name))).is_error
            assert not answered.is_set()
            answered.set()

    begun = monotonic()
    run(talk)
    assert monotonic() - begun < 30.0


def test_a_server_that_ends_waits_for_no_lock(copied):
    path = copied("layers")
    host = Host(open_at(path, lock_timeout=60.0))
    work = partial(called, host.store, "mem_write", {"text": "等不到"}, read_only=False)

    async def end():
        found = []

        async def write():
            found.append(await host.do(work, WRITE))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.sleep(0.2)
            host.hurried(lambda: None)()
        return found

    begun = monotonic()
    with open_at(path)._desk.writing():
        (answer,) = run(end)
    assert answer.structured_content["retryable"] is True
    assert monotonic() - begun < 20.0


def test_a_folder_of_another_layout_is_not_served(copied, capfd):
    path = copied("workspace")
    before = tree(path)
    assert command_line(["serve", str(path), "--layout", "archive"]) == 2
    said = capfd.readouterr()
    assert not said.out
    assert "is a store of the layout workspace, and holds no archive; leave layout= (--layout) out" in said.err
    assert tree(path) == before


def test_whatever_fails_inside_is_an_answer_and_says_nothing_of_the_memory(copied, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError("秘密")

    monkeypatch.setattr(tools, "call", broken)
    failed = called(open_at(copied("layers")), "mem_recent", {}, read_only=False)
    assert failed.is_error
    assert failed.content[0].text == "mem_recent: the server failed (RuntimeError); its log says more"
    assert "mem_recent failed" in caplog.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_of_the_old_and_one_of_the_new_protocol_are_served(copied, mode):
    store = open_at(copied("layers"))

    async def talk():
        async with Client(built(Host(store)), mode=mode) as client:
            assert client.instructions == reference.short("layers")
            assert len((await client.list_tools()).tools) == 10
            assert {form.uri_template for form in (await client.list_resource_templates()).resource_templates} == {
                "memkit://day/{date}", "memkit://summary/{period}/{key}",
            }  # fmt: skip
            page = (await client.read_resource("memkit://hot")).contents[0]
            with pytest.raises(MCPError, match="has no file here"):
                await client.read_resource("memkit://day/1999-01-01")
            with pytest.raises(MCPError, match="none is named"):
                await client.get_prompt("nothing")
            asked = await client.get_prompt("when-to-remember")
            answer = await client.call_tool("mem_by_date", {"from": "2025-02-28", "to": "2025-02-28"})
            return page, asked.messages[0], answer

    page, asked, answer = run(talk)
    assert isinstance(page, mcp_types.TextResourceContents)
    assert asked.content.text == reference.page("layers", "usage")
    assert answer.structured_content == json.loads(answer.content[0].text)
    assert answer.structured_content["matched"] == len(store.between("2025-02-28", "2025-02-28"))


def test_a_place_without_memory_and_one_with_two_are_refused_before_anything_is_served(tmp_path, capfd):
    (tmp_path / "two/archive/2025").mkdir(parents=True)
    (tmp_path / "two/archive/2025/2025-02-03.md").write_text("- 红水壶\n", encoding="utf-8")
    (tmp_path / "two/cold/2025-02").mkdir(parents=True)
    assert command_line(["serve", str(tmp_path / "missing")]) == 2
    assert command_line(["serve", str(tmp_path / "two")]) == 2
    assert command_line(["serve", str(tmp_path / "two"), "--layout", "layers", "--host", "0.0.0.0"]) == 2
    said = capfd.readouterr()
    assert not said.out
    assert "missing: no such folder" in said.err
    assert "archive" in said.err.splitlines()[1]
    assert "layers" in said.err.splitlines()[1]
    assert "need --http" in said.err


@pytest.mark.parametrize("token", ["", "short", "with a blank in it, and long", "红水壶红水壶红水壶红水壶红水壶红水壶"])
def test_a_token_that_protects_nothing_is_refused(copied, tmp_path, capfd, token):
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8")
    assert command_line(["serve", str(copied("archive")), "--http", "0", "--token-file", str(file)]) == 2
    said = capfd.readouterr().err
    assert "token: expected at least 16" in said
    assert not token or token not in said


@pytest.mark.parametrize(("held", "reason"), [("x" * 20, "not UTF-8 text"), ("x" * 5_000, "longer than 4,096 bytes")])
def test_a_file_that_holds_more_than_a_token_is_refused(copied, tmp_path, capfd, held, reason):
    file = tmp_path / "token"
    file.write_bytes(held.encode("utf-16" if "UTF-8" in reason else "utf-8"))
    assert command_line(["serve", str(copied("archive")), "--http", "0", "--token-file", str(file)]) == 2
    assert f"{file}: {reason}; expected the token alone" in capfd.readouterr().err


def test_without_the_sdk_the_command_says_what_to_install(copied, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    monkeypatch.delitem(sys.modules, "memkit.serve.stdio", raising=False)
    assert command_line(["serve", str(copied("archive"))]) == 2
    assert capfd.readouterr().err.endswith("pip install 'agent-memkit[mcp]'\n")
