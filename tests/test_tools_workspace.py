"""The tools of ParameciumU's memory skill: their answers, the original's faults, which files may be read, where they lie."""

import json
import os
import sqlite3
import subprocess
import sys
import warnings
from importlib import import_module

import numpy as np
import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at
from jsonschema import Draft202012Validator

import memkit
from memkit import fts, tools
from memkit.errors import BadArgument, ConflictError, EmbedError, MemkitError, StoreNotFound, UnsupportedError
from memkit.tools import place, workspace

STAMP = "2025-02-28T13:30:00.000Z"
TODAY = "memory/2025-02-28.md"
INDEX = "memory/index.sqlite"
TAKES = {
    "memory_search": ["query", "maxResults", "includeForgotten"], "memory_get": ["path", "from", "lines"],
    "memory_store": ["text", "target"], "memory_recall": ["query", "maxResults", "includeForgotten"],
    "memory_forget": ["text"], "memory_sync": [],
}  # fmt: skip
ENVIRONMENT = (
    "MEMORY_WORKSPACE", "MEMORY_INDEX_PATH", "MEMORY_EXTRA_PATHS", "MEMORY_INDEX_SESSION", "MEMORY_SESSION_PATH",
    "MEMORY_EMBEDDING_ENABLED", "EMBEDDING_API_KEY", "OPENAI_API_KEY", "EMBEDDING_BASE_URL", "EMBEDDING_MODEL",
    "MEMORY_VECTOR_WEIGHT", "MEMORY_TEXT_WEIGHT",
)  # fmt: skip
LINKS = pytest.mark.skipif(sys.platform == "win32", reason="links want rights there")
FAMILY = "👨\u200d👩\u200d👧"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def opened(root, **options):
    return memkit.open(root, **{"layout": "workspace", "now": CLOCK, "tz": ZONE, "lock_timeout": 0.2, **options})


def plant(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def tree(root):
    """Return all that lies below a folder: bytes and times."""
    return {path: (path.is_dir() or path.read_bytes(), path.lstat().st_mtime_ns) for path in sorted([root, *root.rglob("*")])}


def text_of(root, path="MEMORY.md"):
    return (root / path).read_bytes().decode()


def snippets(answer):
    return [found["snippet"] for found in answer["results"]]


def places(answer):
    return [(found["path"], found["startLine"], found["endLine"]) for found in answer["results"]]


@pytest.fixture
def root(tmp_path):
    """Return the folder of a workspace that is not there yet."""
    return tmp_path / "ws"


@pytest.fixture
def ask(root):
    """Return a function that calls a tool on the workspace, opened anew each time; every answer is plain JSON."""

    def ask(name, *, options=None, **arguments):
        given = {key.rstrip("_"): value for key, value in arguments.items()}
        answer = tools.call(opened(root, **(options or {})), name, given)
        assert json.loads(json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()) == answer
        return answer

    return ask


@pytest.fixture(params=["files", "index"])
def search(request, root, ask):
    """Return a function that searches, once by the files alone and once through an index that was there before."""
    if request.param == "index":
        ask("memory_sync")
    provider = {"files": "file-keyword", "index": "fts5"}[request.param]

    def search(query, **arguments):
        answer = ask("memory_search", query=query, **arguments)
        assert list(answer) == ["results", "provider"]
        assert answer["provider"] == provider
        return answer

    return search


class TestSchemas:
    def test_the_tools_are_the_six_of_the_original_in_its_order(self):
        store = open_at(SAMPLES / "workspace")
        assert tools.names(store) == tuple(TAKES)
        for schema in tools.schemas(store):
            assert json.loads(json.dumps(schema)) == schema
            Draft202012Validator.check_schema(schema["inputSchema"])
            assert list(schema["inputSchema"]["properties"]) == TAKES[schema["name"]]
            assert schema["inputSchema"]["required"] == TAKES[schema["name"]][: schema["name"] != "memory_sync"]
            assert any("\u4e00" <= character <= "\u9fff" for character in schema["description"])
            assert schema["description"].count("\n\n") == 1
            assert all(held["description"].endswith(".") for held in schema["inputSchema"]["properties"].values())

    def test_ranges_and_defaults_are_those_of_the_original(self):
        found = {
            schema["name"]: schema["inputSchema"]["properties"] for schema in tools.schemas(open_at(SAMPLES / "workspace"))
        }
        for name in ("memory_search", "memory_recall"):
            most = found[name]["maxResults"]
            assert (most["default"], most["minimum"], most["maximum"]) == (10, 1, 50)
            assert found[name]["includeForgotten"]["default"] is False
        assert found["memory_store"]["target"]["enum"] == ["longterm", "daily", None]
        assert found["memory_store"]["target"]["default"] == "longterm"
        assert {found["memory_get"][name]["minimum"] for name in ("from", "lines")} == {1}

    @pytest.mark.parametrize("name", TAKES)
    def test_another_layout_has_none_of_them(self, name):
        given = {"memory_sync": ()}.get(name, ("x",))
        with pytest.raises(UnsupportedError, match=f"{name}: it is for the layout workspace; this store is layers"):
            getattr(workspace, name)(open_at(SAMPLES / "layers"), *given)

    def test_python_names_are_those_of_python(self, root):
        store = opened(plant(root, {"memory/x.md": "- 茶\n- 茶\n- 茶\n"}))
        assert len(workspace.memory_search(store, "茶", max_results="2", include_forgotten=True)["results"]) == 2
        assert workspace.memory_get(store, "memory/x.md", from_=2, lines=1) == {"path": "memory/x.md", "text": "- 茶"}
        assert workspace.memory_get(store, "memory/x.md", 2, 1) == {"path": "memory/x.md", "text": "- 茶"}
        with pytest.raises(
            BadArgument, match=r"no argument is named 'max_results'; it takes query, maxResults, includeForgott"
        ):
            tools.call(store, "memory_search", {"query": "茶", "max_results": 2})


class TestKnownFaults:
    """What the original got wrong, a test each."""

    def test_sync_builds_an_index(self, ask, root):
        plant(root, {"MEMORY.md": "- 茶\n- 水\n", "memory/2025-02-27.md": "- 火\n"})
        answer = ask("memory_sync")
        assert list(answer) == ["ok", "indexPath", "files", "chunks", "seconds"]
        assert (answer["ok"], answer["indexPath"], answer["files"], answer["chunks"]) == (True, INDEX, 2, 3)
        assert answer["seconds"] >= 0
        assert (root / INDEX).is_file()
        assert ask("memory_search", query="茶")["provider"] == "fts5"

    def test_a_hit_on_the_line_after_a_hit_is_found(self, search, root):
        plant(root, {"memory/2025-02-27.md": "- 茶一\n- 茶二\n- 茶三\n"})
        assert places(search("茶")) == [("memory/2025-02-27.md", line, line) for line in (3, 2, 1)]

    def test_what_is_stored_after_something_was_forgotten_is_no_forgotten_thing(self, ask, root):
        ask("memory_store", text="一")
        ask("memory_forget", text="旧事")
        ask("memory_store", text="二")
        assert text_of(root) == f"## Store\n- {STAMP} 一\n- {STAMP} 二\n\n## Forgotten\n- {STAMP} 旧事\n"

    @pytest.mark.parametrize(
        "other", ["### Store", "## Storefront", "## Store 2", "See ## Store", "```\n## Store\n```", "# Store", "    ## Store"]
    )
    def test_what_only_looks_like_the_section_is_none(self, ask, root, other):
        before = f"# M\n\n{other}\n\n- 别的\n"
        plant(root, {"MEMORY.md": before})
        ask("memory_store", text="一")
        assert text_of(root) == f"{before}\n## Store\n- {STAMP} 一\n"

    @pytest.mark.parametrize("before", ["## Store\n- 旧", "## Store", f"- 旧\n\n## Store\n- {STAMP} 旧"])
    def test_a_last_line_without_its_end_stays_a_line_of_its_own(self, ask, root, before):
        plant(root, {"MEMORY.md": before, TODAY: "- 昨"})
        ask("memory_store", text="一")
        ask("memory_store", text="二", target="daily")
        assert text_of(root) == f"{before}\n- {STAMP} 一\n"
        assert text_of(root, TODAY) == f"- 昨\n- {STAMP} 二\n"

    def test_eight_writers_of_fifty_keep_all_400(self, root):
        code = """
import sys, threading
from memkit.tools import workspace
def write(writer):
    store = workspace.open_store(sys.argv[1], now=sys.argv[2], tz="Asia/Shanghai", lock_timeout=60)
    for n in range(50):
        assert "added" not in workspace.memory_store(store, f"writer {writer} note {n}", "daily" if n % 2 else "longterm")
writers = [threading.Thread(target=write, args=[writer]) for writer in sys.argv[3:]]
[writer.start() for writer in writers]
[writer.join() for writer in writers]
"""
        begun = [subprocess.Popen([sys.executable, "-c", code, str(root), CLOCK, str(n), str(n + 1)]) for n in range(0, 8, 2)]
        assert [process.wait(timeout=60) for process in begun] == [0] * 4
        wanted = {f"- {STAMP} writer {writer} note {n}" for writer in range(8) for n in range(50)}
        lines = [line for path in ("MEMORY.md", TODAY) for line in text_of(root, path).split("\n") if line.startswith("- ")]
        assert len(lines) == 400
        assert set(lines) == wanted

    def test_today_is_the_local_day(self, ask, root):
        ask("memory_store", text="早", target="daily", options={"now": "2025-03-01T00:30+08:00"})
        assert text_of(root, "memory/2025-03-01.md") == "- 2025-02-28T16:30:00.000Z 早\n"

    def test_the_words_of_a_query_are_all_required_wherever_they_stand(self, search, root):
        plant(root, {"memory/2025-02-27.md": "- 坚果云 又 同步 了\n- 坚果云\n- 同步\n- 坚果云 同步\n"})
        assert snippets(search("坚果云 同步")) == ["坚果云 同步", "坚果云 又 同步 了"]
        assert snippets(search('"坚果云 同步"')) == ["坚果云 同步"]
        assert snippets(search("同步 坚果云")) == ["坚果云 同步", "坚果云 又 同步 了"]

    def test_today_does_not_starve_behind_older_days(self, search, root):
        plant(root, {f"memory/2025-02-{day:02}.md": "- 去看海\n" for day in range(1, 29)})
        assert [path for path, *_ in places(search("看海", maxResults=3))] == [
            f"memory/2025-02-{day}.md" for day in (28, 27, 26)
        ]

    def test_a_snippet_holds_the_hit_and_no_half_character(self, search, root):
        plant(root, {"memory/2025-02-27.md": f"- {FAMILY * 300}海马{FAMILY * 300}\n"})
        (snippet,) = snippets(search("海马"))
        assert len(snippet) <= 500
        assert "海马" in snippet
        assert snippet.replace("海马", "").replace(FAMILY, "") == ""
        assert abs(snippet.index("海马") - (len(snippet) - snippet.index("海马"))) < 30

    @pytest.mark.parametrize("name", ["memory_store", "memory_forget"])
    @pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\x0b"])
    def test_no_heading_is_forged_through_line_breaks(self, ask, root, name, line_break):
        ask(name, text=f"一{line_break}## Forgotten{line_break}- 二")
        section = {"memory_store": "Store", "memory_forget": "Forgotten"}[name]
        assert text_of(root) == f"## {section}\n- {STAMP} 一 ## Forgotten - 二\n"

    def test_bytes_that_are_no_utf8_survive_a_write_and_are_shown(self, ask, root):
        before = b"# M\n\n- a\xffb\n\n## Store\n"
        plant(root, {"MEMORY.md": before})
        ask("memory_store", text="一")
        assert (root / "MEMORY.md").read_bytes() == before + f"- {STAMP} 一\n".encode()
        assert ask("memory_get", path="MEMORY.md", from_=3, lines=1)["text"] == "- a\ufffdb"
        assert snippets(ask("memory_search", query="a\ufffdb")) == ["a\ufffdb"]

    @LINKS
    def test_links_that_leave_the_workspace_are_not_followed(self, ask, search, root, tmp_path):
        plant(tmp_path, {"out/secret.md": "- 秘密\n", "secret.md": "- 秘密\n"})
        plant(root, {"memory/x.md": "- 茶\n"})
        (root / "memory/link.md").symlink_to(tmp_path / "secret.md")
        (root / "memory/folder").symlink_to(tmp_path / "out")
        (root / "MEMORY.md").symlink_to(tmp_path / "secret.md")
        assert search("秘密")["results"] == []
        for path in ("memory/link.md", "MEMORY.md", "memory/folder/secret.md", "memory/folder"):
            with pytest.raises(BadArgument, match=r"^path: "):
                ask("memory_get", path=path)
        with pytest.raises(MemkitError):
            ask("memory_store", text="一")
        assert text_of(tmp_path, "secret.md") == "- 秘密\n"

    def test_what_can_be_read_below_memory_can_be_found(self, ask, search, root):
        plant(root, {"memory/sub/deep/x.md": "- 深处\n"})
        assert places(search("深处")) == [("memory/sub/deep/x.md", 1, 1)]
        assert ask("memory_get", path="memory/sub/deep/x.md")["text"] == "- 深处\n"

    @pytest.mark.parametrize("query", ["计划", "划", "已定", "的计划已", "计划 定", "計", "ﾃﾞｰﾀ", "х", "a", "A1", "é"])
    def test_chinese_and_short_words_are_found_with_and_without_an_index(self, search, root, query):
        plant(root, {"memory/2025-02-27.md": "- 旅行的计划已定 A1\n- 計 データ\n- Хорошо café a1\n"})
        assert search(query)["results"]

    def test_an_index_older_than_a_file_is_never_trusted(self, ask, root):
        plant(root, {"memory/2025-02-27.md": "- 旧茶\n", "memory/gone.md": "- 走茶\n"})
        ask("memory_sync")
        plant(root, {"memory/2025-02-27.md": "- 新茶\n", "memory/new.md": "- 来茶\n"})
        (root / "memory/gone.md").unlink()
        assert sorted(snippets(ask("memory_search", query="茶"))) == ["新茶", "来茶"]
        ask("memory_store", text="存茶")
        assert snippets(ask("memory_search", query="存茶")) == ["存茶"]

    def test_paths_and_line_numbers_are_no_text(self, search, root):
        plant(root, {"memory/projects/opening.md": "\n" * 40 + "- 茶\n"})
        for query in ("opening", "projects", "memory", "md", "41"):
            assert search(query)["results"] == []

    @pytest.mark.parametrize(
        "query", ["C++", "2025-02-03", "a.b@example.com", '"', "'", '5" 3"', "NOT", "a OR b", "x*", "(", "^c", "{}", "%", "_",
                  "\\", "col:x", "-x", "NEAR(a", "https://a.b/c?d=e#f", "“", "“二 三”", ";--"],
    )  # fmt: skip
    def test_signs_are_literal(self, search, root, query):
        lines = [
            "C++",
            "2025-02-03",
            "a.b@example.com",
            '说 "好"',
            "it's",
            '5" 3"',
            "NOT",
            "a OR b",
            "x*",
            "(",
            "^c",
            "{}",
            "%",
            "_",
            "\\",
            "col:x",
            "-x",
            "NEAR(a",
            "https://a.b/c?d=e#f",
            "“",
            "二 三",
            ";--",
        ]
        plant(root, {"memory/2025-02-27.md": "".join(f"- 茶 {line} 水\n" for line in lines)})
        wanted = query.strip("“”") or query
        found = snippets(search(query, maxResults=50))
        assert found
        assert all(word in text for text in found for word in ([wanted] if wanted != query else query.split()))

    def test_a_weight_of_zero_is_a_value(self, monkeypatch, root):
        for name, value in (("MEMORY_EMBEDDING_ENABLED", "1"), ("EMBEDDING_API_KEY", "k"), ("MEMORY_VECTOR_WEIGHT", "0")):
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("EMBEDDING_BASE_URL", "http://127.0.0.1:9/nobody")
        assert place.embedding().vector_weight == 0.0
        store = workspace.open_store(plant(root, {"memory/x.md": "- 看海去\n"}), now=CLOCK, tz=ZONE)
        assert "warning" not in tools.call(store, "memory_sync")
        assert tools.call(store, "memory_search", {"query": "看海去"})["provider"] == "fts5"

    @pytest.mark.parametrize("form", ["lines", "array"])
    def test_a_transcript_is_searched_in_either_form(self, ask, root, tmp_path, form):
        talk = [{"role": "user", "content": "什么时候看海\n第二行"}, {"role": "assistant", "content": "周末看海"}]
        data = json.dumps(talk) if form == "array" else "\n".join(map(json.dumps, talk))
        (tmp_path / "talk.json").write_text(data, encoding="utf-8")
        options = {"session": tmp_path / "talk.json"}
        for _ in range(2):
            answer = ask("memory_search", query="看海", options=options)
            assert sorted(places(answer)) == [("session/transcript.md", 1, 2), ("session/transcript.md", 4, 4)]
            held = ask("memory_get", path="session/transcript.md", from_=4, lines=1, options=options)
            assert held == {"path": "session/transcript.md", "text": "assistant: 周末看海"}
            ask("memory_sync", options=options)


class TestSearch:
    def test_an_empty_workspace_has_nothing_and_stays_away(self, ask, root):
        for name in ("memory_search", "memory_recall"):
            assert ask(name, query="茶") == {"results": [], "provider": "file-keyword"}
        assert not root.exists()

    def test_recall_is_the_same(self, ask, root):
        plant(root, {"memory/2025-02-27.md": "- [决定] 茶 #计划\n- 水\n"})
        answer = ask("memory_search", query="[决定]")
        assert ask("memory_recall", query="[决定]") == answer
        (found,) = answer["results"]
        assert list(found) == ["path", "startLine", "endLine", "snippet", "score"]
        assert found["snippet"] == "[决定] 茶 #计划"
        assert [type(value) for value in found.values()] == [str, int, int, str, float]
        assert 0 < found["score"] < 1

    @pytest.mark.parametrize("provider", ["file-keyword", "fts5"])
    def test_files_and_index_answer_alike(self, ask, copied, provider):
        store = opened(copied("workspace"))
        if provider == "fts5":
            tools.call(store, "memory_sync")
        for query in ("海", "开业", "3 月", "手冲 豆", "merge_menu.py"):
            answer = tools.call(store, "memory_search", {"query": query, "maxResults": 50})
            assert answer["provider"] == provider
            want = opened(SAMPLES / "workspace").search(query).entries
            assert places(answer) == list(zip(want["path"], want["line"], want["end_line"], strict=True))
            assert len(want)

    @pytest.mark.parametrize("most", [1, "2", 2.9, 50])
    def test_as_many_as_asked_for_are_returned(self, search, root, most):
        plant(root, {f"memory/2025-01-{day:02}.md": "- 茶\n- 茶汤\n- 茶叶\n" for day in range(1, 31)})
        assert len(search("茶", maxResults=most)["results"]) == int(float(most))

    def test_ten_are_returned_unless_asked_and_fifty_at_most(self, ask, root):
        plant(root, {"memory/x.md": "- 茶\n" * 60})
        asked = [(None, 10), (0, 1), (-5, 1), (1000, 50), ("1e9", 50)]
        assert [len(ask("memory_search", query="茶", maxResults=most)["results"]) for most, _ in asked] == [n for _, n in asked]

    @pytest.mark.parametrize("most", ["many", "", True, [], float("nan"), {}])
    def test_what_is_no_number_is_an_error(self, ask, most):
        with pytest.raises(BadArgument, match=r"^maxResults: .*; expected a number from 1 to 50$"):
            ask("memory_search", query="茶", maxResults=most)

    @pytest.mark.parametrize("query", ["", " ", "\u3000\t", "\u200b", None, 5, ["茶"]])
    def test_a_word_is_required(self, ask, query):
        with pytest.raises(BadArgument, match=r"^query: "):
            ask("memory_search", query=query)

    def test_half_an_emoji_is_nowhere(self, search, root):
        plant(root, {"memory/x.md": f"- {FAMILY} 海\n"})
        assert search("\ud83d")["results"] == []
        assert snippets(search("👧")) == [f"{FAMILY} 海"]

    def test_forgotten_things_are_left_out_unless_asked_for(self, ask, search, root):
        plant(root, {"memory/2025-02-27.md": "- 旧的菜单\n- 旧的菜单 第二版\n- [菜] 旧的  菜单\n"})
        ask("memory_forget", text="旧的菜单")
        assert snippets(search("菜单")) == ["旧的菜单 第二版", "[菜] 旧的  菜单"]
        assert len(search("菜单", includeForgotten=True)["results"]) == 4
        assert text_of(root, "memory/2025-02-27.md").count("旧的") == 3

    @pytest.mark.parametrize(
        "entry",
        [
            "- [决定] 看海 #旅行",
            "- **海**：看海",
            "- [x] 看海",
            "看海\n第二行\n",
            "- 看海\n  - 里面\n",
            "| 看海 | 价 |\n|---|---|\n| 1 | 2 |",
            f"- {STAMP} [旅行] 看海",
            "> 看海",
            "- 看海 ＡＢＣ",
            "1. 看海",
            "```\n看海\n```",
        ],
    )
    def test_a_snippet_given_to_forget_hides_its_entry(self, ask, search, root, entry):
        plant(root, {"memory/2025-02-27.md": f"{entry}\n"})
        (snippet,) = snippets(search("看海"))
        ask("memory_forget", text=snippet)
        assert search("看海")["results"] == []

    def test_dreams_and_what_is_no_memory_are_not_searched(self, search, root):
        plant(root, {"memory/dreaming/x.md": "- 茶\n", "DREAMS.md": "- 茶\n", "notes.md": "- 茶\n", "memory/x.txt": "- 茶\n"})
        assert search("茶")["results"] == []

    def test_every_hit_can_be_read_and_its_lines_are_its_block(self, ask, root, copied, tmp_path):
        copied("workspace").rename(root)
        plant(tmp_path, {"out/a.md": "# 外\n\n- 外面\n  续\n", "one.txt": "外面\n"})
        plant(
            root, {"more/b.md": "- 外面\n", "memory/crlf.md": "- 外面\r\n  第二\r\n\r\n| 外面 | x |\r\n|--|--|\r\n| y |  |\r\n"}
        )
        plant(
            root,
            {"memory/utf16.md": "- 外面\n- 二\n".encode("utf-16"), "memory/bom.md": b"\xef\xbb\xbf- \xe5\xa4\x96\xe9\x9d\xa2"},
        )
        (tmp_path / "talk.json").write_text(json.dumps([{"role": "user", "content": "外面\n\n外面"}] * 2), encoding="utf-8")
        options = {"extra": ["more", str(tmp_path / "out"), "../one.txt"], "session": tmp_path / "talk.json"}
        store = opened(root, **options)
        entries = {(row.path, row.line): row for row in store.entries().itertuples()}
        answers = [ask("memory_search", query=word, maxResults=50, options=options) for word in "外的是一了"]
        found = [hit for answer in answers for hit in answer["results"]]
        assert len({hit["path"] for hit in found}) > 20
        for hit in found:
            first, last = hit["startLine"], hit["endLine"]
            held = ask("memory_get", path=hit["path"], from_=first, lines=last - first + 1, options=options)
            assert held["path"] == hit["path"]
            assert len(held["text"].split("\n")) == last - first + 1
            text = entries[hit["path"], first].text
            assert all(line.strip(" |").split(" | ")[0].strip() in held["text"] for line in text.split("\n"))

    @pytest.mark.parametrize("state", ["foreign", "no database", "a folder", "damaged", "another version"])
    def test_an_index_that_cannot_be_used_is_told_of_and_not_needed(self, ask, root, state):
        plant(root, {"memory/2025-02-27.md": "- 茶\n", "MEMORY.md": "- 水\n"})
        target = root / INDEX
        if state == "foreign":
            with sqlite3.connect(target) as conn:
                conn.execute("CREATE TABLE chunks (text)")
            conn.close()
        elif state == "no database":
            target.write_bytes(b"x" * 5000)
        elif state == "a folder":
            target.mkdir()
        else:
            ask("memory_sync")
            data = bytearray(target.read_bytes())
            if state == "damaged":
                data[4096:] = b"\xff" * (len(data) - 4096)
            else:
                data[60:64] = (999).to_bytes(4, "big")
            target.write_bytes(data)
        before = tree(root)
        answer = ask("memory_search", query="茶")
        assert snippets(answer) == ["茶"]
        if state in ("damaged", "another version"):  # ours: put right by the way
            assert answer["provider"] == "fts5"
            return
        assert answer["provider"] == "file-keyword"
        assert "the files were read instead" in answer["warning"]
        assert tree(root) == before
        with pytest.raises(ConflictError, match="MEMORY_INDEX_PATH"):
            ask("memory_sync")
        assert tree(root) == before

    def test_a_locked_index_is_told_of_and_the_files_are_read(self, ask, root, monkeypatch):
        plant(root, {"memory/2025-02-27.md": "- 茶\n"})
        ask("memory_sync")
        for function in (fts.sync, fts.look):
            monkeypatch.setitem(function.__kwdefaults__, "timeout", 0.05)
        conn = sqlite3.connect(root / INDEX, isolation_level=None)
        conn.execute("BEGIN EXCLUSIVE")
        try:
            plant(root, {"memory/2025-02-28.md": "- 新茶\n"})
            answer = ask("memory_search", query="茶")
        finally:
            conn.close()
        assert answer["provider"] == "file-keyword"
        assert "another program" in answer["warning"]
        assert sorted(snippets(answer)) == ["新茶", "茶"]
        assert "warning" not in ask("memory_search", query="茶")

    def test_another_writer_of_the_store_does_not_stop_a_search(self, ask, root):
        plant(root, {"memory/2025-02-27.md": "- 茶\n"})
        ask("memory_sync")
        plant(root, {"memory/2025-02-28.md": "- 新茶\n"})
        with opened(root)._desk.writing():
            answer = ask("memory_search", query="茶")
        assert sorted(snippets(answer)) == ["新茶", "茶"]
        assert "another writer" in answer["warning"]

    def test_without_trigrams_sync_says_so_and_search_reads_the_files(self, ask, root, monkeypatch):
        plant(root, {"memory/2025-02-27.md": "- 茶\n"})
        monkeypatch.setattr(import_module("memkit.fts.sync"), "has_trigram", lambda: False)
        with pytest.raises(UnsupportedError, match="no FTS5 trigrams"):
            ask("memory_sync")
        assert ask("memory_search", query="茶")["provider"] == "file-keyword"


class TestGet:
    @pytest.fixture(autouse=True)
    def planted(self, root):
        plant(root, {"memory/x.md": "一\r\n二\n三\n", "memory/y.md": "一\n二", "memory/empty.md": ""})

    @pytest.mark.parametrize(
        ("asked", "text"),
        [({}, "一\n二\n三\n"), ({"from_": 1}, "一\n二\n三\n"), ({"from_": 2, "lines": 1}, "二"), ({"lines": 2}, "一\n二"),
         ({"from_": "2", "lines": "1"}, "二"), ({"from_": 2.0}, "二\n三\n"), ({"from_": 3, "lines": 99}, "三\n"),
         ({"from_": 3, "lines": 10**30}, "三\n"), ({"from_": None, "lines": None}, "一\n二\n三\n")],
    )  # fmt: skip
    def test_it_returns_the_lines_that_are_there(self, ask, asked, text):
        assert ask("memory_get", path="memory/x.md", **asked) == {"path": "memory/x.md", "text": text}

    @pytest.mark.parametrize(("path", "total"), [("memory/x.md", 3), ("memory/y.md", 2), ("memory/empty.md", 0)])
    @pytest.mark.parametrize("lines", [None, 1])
    def test_past_the_end_it_says_how_many_lines_there_are(self, ask, path, total, lines):
        for first in (total + 1, total + 50, 10**30):
            answer = ask("memory_get", path=path, from_=first, lines=lines)
            assert answer == {"path": path, "text": "", "totalLines": total}

    @pytest.mark.parametrize("name", ["from", "lines"])
    @pytest.mark.parametrize("value", [0, -1, 1.5, "0", "one", "", True, [], {}, float("inf"), "1.5"])
    def test_what_is_no_line_number_is_an_error(self, ask, name, value):
        with pytest.raises(BadArgument, match=f"^{name}: .*; expected a whole number of at least 1$"):
            ask("memory_get", path="memory/x.md", **{f"{name}_": value})

    @pytest.mark.parametrize(
        "path", ["./memory/x.md", "memory//x.md", "memory/./x.md", "memory/sub/../x.md", "memory/../memory/x.md"]
    )
    def test_other_spellings_of_a_path_inside_are_taken(self, ask, path):
        assert ask("memory_get", path=path, lines=1) == {"path": "memory/x.md", "text": "一"}

    def test_the_long_term_file_has_two_names(self, ask, root):
        for name, other in (("MEMORY.md", "memory.md"), ("memory.md", "MEMORY.md")):
            plant(root, {name: "- 茶\n"})
            for asked in (name, other):
                assert ask("memory_get", path=asked)["text"] == "- 茶\n"
            (root / name).unlink()
        with pytest.raises(BadArgument, match="no such memory file"):
            ask("memory_get", path="MEMORY.md")

    @pytest.mark.parametrize(
        ("path", "reason"),
        [("../x.md", "it leaves the workspace"), ("memory/../../ws/memory/x.md", "it leaves the workspace"), ("..", "it "),
         ("/etc/passwd", "an absolute path that leads to no extra file"), ("~/x.md", "no such memory file"),
         ("memory", "a folder"), ("memory/", "a folder"), ("memory/x.md/", None), (".", "no such"), ("", "no such"),
         ("memory/none.md", "no such"), ("x\0.md", "no such"), ("\ud800.md", "no such"), ("notes.md", "no such"),
         ("memory/index.sqlite", "the search index"), ("memory/a.txt", "not Markdown"), ("memory/. md", "not Markdown"),
         ("memory/ .md", "a blank around its name"), ("session/transcript.md", "no transcript is switched on"),
         ("session/other.md", "no such"), ("DREAMS.md", "dreams are read only below memory/"), ("memory\\x.md", "no such"),
         ("memory/day.md", "a folder")],
    )  # fmt: skip
    def test_all_else_is_refused_with_the_reason(self, ask, root, path, reason):
        held = ["notes.md", "memory/a.txt", "memory/. md", "memory/ .md", "DREAMS.md", "memory/day.md/in.md"]
        plant(root, dict.fromkeys(held, "- 茶\n"))
        ask("memory_sync")
        if reason is None:
            assert ask("memory_get", path=path)["path"] == "memory/x.md"
            return
        with pytest.raises(BadArgument, match=rf"^path: .*: {reason}.*; expected MEMORY\.md, a \.md file below memory/"):
            ask("memory_get", path=path)

    @pytest.mark.parametrize("path", [None, 5, ["memory/x.md"], {}])
    def test_a_path_is_a_text(self, ask, path):
        with pytest.raises(BadArgument, match=r"^path: .*; expected a text$"):
            ask("memory_get", path=path)

    def test_an_absolute_path_into_the_workspace_is_refused(self, ask, root):
        with pytest.raises(BadArgument, match="an absolute path"):
            ask("memory_get", path=str(root / "memory/x.md"))

    def test_dreams_below_memory_can_be_read(self, ask, root):
        plant(root, {"memory/dreaming/x.md": "- 梦\n"})
        assert ask("memory_get", path="memory/dreaming/x.md")["text"] == "- 梦\n"

    def test_extra_paths_can_be_read_and_nothing_beside_them(self, ask, root, tmp_path):
        plant(tmp_path, {"out/a.md": "外\n", "out/sub/b.md": "里\n", "out/c.py": "x\n", "out2/d.md": "旁\n", "e.md": "单\n"})
        plant(root, {"more/f.md": "多\n", "less/g.md": "少\n"})
        options = {"extra": [str(tmp_path / "out"), "../e.md", "more", str(root / "less")]}
        good = {str(tmp_path / "out/a.md"): "外", str(tmp_path / "out/sub/b.md"): "里", str(tmp_path / "e.md"): "单",
                "more/f.md": "多", "./more/f.md": "多", "less/g.md": "少", str(root / "less/g.md"): "少",
                str(tmp_path / "out/sub/../a.md"): "外"}  # fmt: skip
        for path, text in good.items():
            assert ask("memory_get", path=path, options=options)["text"] == f"{text}\n"
            if path.startswith("/"):
                with pytest.raises(BadArgument, match=r"^path: "):
                    ask("memory_get", path=path)
        bad = ("out2/d.md", "out/c.py", "out", "out/../out2/d.md", "e.md/x")
        for path in (*(str(tmp_path / path) for path in bad), "../out2/d.md"):
            with pytest.raises(BadArgument, match=r"^path: "):
                ask("memory_get", path=path, options=options)

    @LINKS
    def test_a_link_that_stays_inside_leads_to_what_is_read_by_its_own_name(self, ask, root):
        (root / "memory/alias.md").symlink_to("x.md")
        with pytest.raises(BadArgument, match=r"a link to memory/x\.md, which is read by itself"):
            ask("memory_get", path="memory/alias.md")

    @LINKS
    def test_a_link_out_of_an_extra_folder_is_refused(self, ask, root, tmp_path):
        plant(tmp_path, {"out/a.md": "外\n", "secret.md": "- 秘密\n"})
        (tmp_path / "out/link.md").symlink_to(tmp_path / "secret.md")
        with pytest.raises(BadArgument, match="a link that leaves"):
            ask("memory_get", path=str(tmp_path / "out/link.md"), options={"extra": [str(tmp_path / "out")]})

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
    def test_a_pipe_is_refused_and_stops_nothing(self, ask, search, root):
        os.mkfifo(root / "memory/pipe.md")
        with pytest.raises(BadArgument, match="no regular file"):
            ask("memory_get", path="memory/pipe.md")
        assert snippets(search("三")) == ["一\n二\n三"]

    def test_what_is_too_large_is_refused_and_not_searched(self, ask, root, monkeypatch):
        monkeypatch.setattr(import_module("memkit.files.scan"), "TOO_LARGE", 10)
        with pytest.raises(BadArgument, match="too large: 13 bytes of at most 10"):
            ask("memory_get", path="memory/x.md")
        assert places(ask("memory_search", query="一")) == [("memory/y.md", 1, 2)]

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_what_must_not_be_read_is_refused(self, ask, root):
        (root / "memory/x.md").chmod(0)
        with pytest.raises(BadArgument, match="unreadable: permission denied"):
            ask("memory_get", path="memory/x.md")

    def test_a_transcript_that_is_gone_is_said_to_be(self, ask, root, tmp_path):
        with pytest.raises(BadArgument, match="unreadable: no such file"):
            ask("memory_get", path="session/transcript.md", options={"session": tmp_path / "none.json"})


class TestStore:
    def test_longterm_and_daily_answer_where_the_text_went(self, ask, root):
        assert ask("memory_store", text="一") == {"ok": True, "path": "MEMORY.md", "target": "longterm"}
        assert ask("memory_store", text="二", target="Daily") == {"ok": True, "path": TODAY, "target": "daily"}
        assert text_of(root) == f"## Store\n- {STAMP} 一\n"
        assert text_of(root, TODAY) == f"- {STAMP} 二\n"

    @pytest.mark.parametrize("target", ["longterm", "daily"])
    def test_the_same_text_is_kept_once_a_day(self, ask, root, target):
        first = ask("memory_store", text="一", target=target)
        before = tree(root)
        assert ask("memory_store", text=" 一\n", target=target) == {**first, "added": False}
        assert tree(root) == before
        answer = ask("memory_store", text="一", target=target, options={"now": "2025-03-01T09:00+08:00"})
        assert "added" not in answer

    def test_a_workspace_that_calls_its_file_memory_md_keeps_doing_so(self, ask, root):
        plant(root, {"memory.md": "- 茶\n"})
        assert ask("memory_store", text="一")["path"] == "memory.md"
        assert ask("memory_forget", text="二")["path"] == "memory.md"
        assert sorted(path.name for path in root.iterdir()) == ["memory.md"]

    @pytest.mark.parametrize("name", ["memory_store", "memory_forget"])
    @pytest.mark.parametrize("text", ["", " \n", "\u200b", None, 5, "字" * 4001])
    def test_a_text_of_one_to_four_thousand_characters_is_required(self, ask, root, name, text):
        with pytest.raises(BadArgument, match=r"^text: "):
            ask(name, text=text)
        assert not root.exists()

    def test_four_thousand_characters_are_kept(self, ask, root):
        ask("memory_store", text="😀" * 4000)
        assert text_of(root) == f"## Store\n- {STAMP} {'😀' * 4000}\n"

    @pytest.mark.parametrize("target", ["weekly", "", 1, True, ["daily"]])
    def test_another_target_is_an_error_that_names_both(self, ask, root, target):
        with pytest.raises(BadArgument, match=r"^target: .*; expected longterm, daily$"):
            ask("memory_store", text="一", target=target)
        assert not root.exists()

    def test_forget_marks_deletes_nothing_and_is_kept_once_a_day(self, ask, root):
        before = "# M\n\n## Store\n- 旧\n"
        plant(root, {"MEMORY.md": before})
        assert ask("memory_forget", text="旧") == {"ok": True, "path": "MEMORY.md"}
        assert text_of(root) == f"{before}\n## Forgotten\n- {STAMP} 旧\n"
        assert ask("memory_forget", text="旧") == {"ok": True, "path": "MEMORY.md", "added": False}

    def test_what_is_stored_is_found_at_once(self, ask, search):
        ask("memory_store", text="看海去")
        ask("memory_store", text="看海回", target="daily")
        assert sorted(snippets(search("看海"))) == ["看海去", "看海回"]

    def test_what_one_process_stored_another_finds(self, ask, root):
        begin = "s = w.open_store(sys.argv[1], now=sys.argv[2], tz='Asia/Shanghai')"
        code = f"import sys; from memkit.tools import workspace as w; {begin}"
        for step in ("w.memory_store(s, '看海去'); w.memory_sync(s)", "w.memory_store(s, '看海回', 'daily')"):
            subprocess.run([sys.executable, "-c", f"{code}; {step}", str(root), CLOCK], check=True, timeout=60)
        answer = ask("memory_search", query="看海")
        assert sorted(snippets(answer)) == ["看海去", "看海回"]
        assert answer["provider"] == "fts5"


class TestQuiet:
    @pytest.mark.parametrize("indexed", [False, True])
    def test_reading_tools_change_nothing(self, ask, copied, root, indexed):
        copied("workspace").rename(root)
        if indexed:
            ask("memory_sync")
        before = tree(root)
        for name, given in (
            ("memory_search", {"query": "海"}), ("memory_search", {"query": "没有这样的话", "includeForgotten": True}),
            ("memory_recall", {"query": "C++"}), ("memory_get", {"path": "MEMORY.md"}),
            ("memory_get", {"path": TODAY, "from": 999}),
        ):  # fmt: skip
            tools.call(opened(root), name, given)
            assert tree(root) == before
        with pytest.raises(BadArgument):
            ask("memory_get", path="../x.md")
        assert tree(root) == before

    def test_a_search_makes_no_index(self, ask, root):
        ask("memory_store", text="一")
        ask("memory_search", query="一")
        assert not (root / INDEX).exists()

    def test_a_search_brings_an_index_up_to_date_that_is_there(self, ask, root):
        ask("memory_sync")
        ask("memory_store", text="一")
        stale = fts.look(root / INDEX).files
        ask("memory_search", query="二")
        assert "MEMORY.md" in fts.look(root / INDEX).files.keys() - stale.keys()

    def test_an_index_elsewhere_is_named_in_full(self, ask, root, tmp_path):
        ask("memory_store", text="一")
        answer = ask("memory_sync", options={"index": tmp_path / "other/i.sqlite"})
        assert answer["indexPath"] == str(tmp_path / "other/i.sqlite")
        assert not (root / "memory").exists()


class TestPlace:
    @pytest.fixture(autouse=True)
    def here(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    def test_the_argument_goes_before_the_environment_and_that_before_the_folder_here(self, tmp_path, monkeypatch):
        assert workspace.open_store().root == tmp_path / ".first_paramecium"
        monkeypatch.setenv("MEMORY_WORKSPACE", str(tmp_path / "named"))
        assert workspace.open_store().root == tmp_path / "named"
        assert workspace.open_store(tmp_path / "given").root == tmp_path / "given"
        monkeypatch.setenv("MEMORY_WORKSPACE", "")
        assert workspace.open_store().root == tmp_path / ".first_paramecium"
        assert list(tmp_path.iterdir()) == []

    def test_the_first_write_makes_the_folder(self, tmp_path):
        tools.call(workspace.open_store(now=CLOCK, tz=ZONE), "memory_store", {"text": "一"})
        assert (tmp_path / ".first_paramecium/MEMORY.md").is_file()

    def test_a_file_in_its_place_is_an_error(self, tmp_path):
        (tmp_path / "file").write_bytes(b"x")
        with pytest.raises(StoreNotFound, match="a file, and not a folder"):
            workspace.open_store(tmp_path / "file")

    def test_places_of_the_environment_count_only_without_a_root(self, tmp_path, monkeypatch):
        plant(tmp_path, {"ws/memory/x.md": "- 里面\n", "out/a.md": "- 外面\n", "ws/more.md": "- 更多\n"})
        (tmp_path / "talk.jsonl").write_text('{"role": "user", "content": "谈话"}', encoding="utf-8")
        for name, value in (
            ("MEMORY_WORKSPACE", "ws"), ("MEMORY_EXTRA_PATHS", f"{tmp_path / 'out'}, ,more.md"),
            ("MEMORY_SESSION_PATH", "talk.jsonl"), ("MEMORY_INDEX_SESSION", "1"), ("MEMORY_INDEX_PATH", "i/x.sqlite"),
        ):  # fmt: skip
            monkeypatch.setenv(name, value)
        wanted = {"里面": "memory/x.md", "外面": str(tmp_path / "out/a.md"), "更多": "more.md", "谈话": "session/transcript.md"}
        for root, paths in ((None, wanted), (tmp_path / "ws", {"里面": "memory/x.md"})):
            store = workspace.open_store(root, now=CLOCK, tz=ZONE)
            for query in wanted:
                found = tools.call(store, "memory_search", {"query": query})["results"]
                assert [hit["path"] for hit in found] == [path for path in [paths.get(query)] if path]
        tools.call(workspace.open_store(), "memory_sync")
        assert (tmp_path / "i/x.sqlite").is_file()
        assert not (tmp_path / "ws" / INDEX).exists()
        for off in ("0", "", "yes"):
            monkeypatch.setenv("MEMORY_INDEX_SESSION", off)
            assert "session" not in place.workspace_extras()

    def test_embeddings_of_the_environment_count_either_way_and_a_key_alone_never(self, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        assert workspace.open_store(tmp_path / "ws")._index.settings is None
        for on in ("1", "true"):
            monkeypatch.setenv("MEMORY_EMBEDDING_ENABLED", on)
            for root in (None, tmp_path / "ws"):
                assert workspace.open_store(root)._index.settings.key == "k"

    @pytest.mark.parametrize(
        ("name", "value"), [("EMBEDDING_BASE_URL", "ftp://x"), ("EMBEDDING_API_KEY", "a b"), ("EMBEDDING_API_KEY", "钥")]
    )
    def test_embeddings_that_cannot_be_meant_are_warned_of_once_and_left_out(self, tmp_path, monkeypatch, name, value):
        monkeypatch.setenv("MEMORY_EMBEDDING_ENABLED", "1")
        monkeypatch.setenv("EMBEDDING_API_KEY", "k")
        monkeypatch.setenv(name, value)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            store = workspace.open_store(tmp_path / "ws", now=CLOCK, tz=ZONE)
        (warning,) = caught
        assert str(warning.message).startswith(f"{name}: ")
        assert value not in str(warning.message)
        assert store._index.settings is None
        assert tools.call(store, "memory_search", {"query": "茶"})["results"] == []

    def test_vectors_join_the_search_and_where_they_cannot_be_had_it_says_so(self, tmp_path, monkeypatch):
        def vectors(texts, settings, **_):
            if settings.model == "broken":
                raise EmbedError("embeddings from x: no answer; try later")
            return np.array([[1.0, 0.0] if "海" in text or "beach" in text else [0.0, 1.0] for text in texts], dtype="float32")

        monkeypatch.setattr("memkit.embed.embed", vectors)
        monkeypatch.setenv("MEMORY_EMBEDDING_ENABLED", "true")
        monkeypatch.setenv("EMBEDDING_API_KEY", "sk-secret")
        plant(tmp_path, {"memory/x.md": "- 看海去\n- 喝茶去\n"})
        for weight, provider in (("0.3", "hybrid"), ("0", "vector")):
            monkeypatch.setenv("MEMORY_TEXT_WEIGHT", weight)
            store = workspace.open_store(tmp_path, now=CLOCK, tz=ZONE)
            assert "warning" not in tools.call(store, "memory_sync")
            answer = tools.call(store, "memory_search", {"query": "beach"})
            assert (snippets(answer), answer["provider"], "warning" in answer) == (["看海去"], provider, False)
        monkeypatch.setenv("EMBEDDING_MODEL", "broken")
        store = workspace.open_store(tmp_path, now=CLOCK, tz=ZONE)
        answer = tools.call(store, "memory_sync")
        assert (answer["ok"], answer["chunks"], answer["warning"]) == (True, 2, "embeddings from x: no answer; try later")
        answer = tools.call(store, "memory_search", {"query": "看海去"})
        assert (snippets(answer), answer["provider"]) == (["看海去"], "fts5")
        assert answer["warning"] == "embeddings from x: no answer; try later"

    def test_the_flush_is_part_of_it(self):
        assert workspace.memory_flush_prompt is tools.memory_flush_prompt
        assert workspace.run_memory_flush is tools.run_memory_flush
        with pytest.raises(AttributeError, match="no attribute 'run_flush'"):
            tools.run_flush  # noqa: B018
