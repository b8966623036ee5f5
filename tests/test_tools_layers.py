"""The tools of dsh-memory-layers: the acceptance table of the original, then each tool's answers, and where its folder lies."""

import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import CLOCK, SAMPLES, ZONE

from memkit import files, tools
from memkit.errors import BadArgument, MemkitError, StoreNotFound
from memkit.tools import layers, place

STAMP = "2025-02-28T13:30:00.000Z"
TODAY = "cold/2025-02/2025-02-28.md"
PAGE = ["scannedFiles", "scannedEntries", "matched", "returned", "items"]
READ_ONLY = {
    "mem_hot_get": {}, "mem_recall": {"keyword": "茶"}, "mem_recent": {"days": 365}, "mem_by_tag": {"tag": "-"},
    "mem_by_date": {"from": "2024-01-01", "to": "2025-12-31"}, "mem_stats": {},
}  # fmt: skip
HOT = """# 阿澈的热层

<!-- candidates:start -->
- [2025-02-01T01:00:00.000Z] [计划] 去看海
<!-- candidates:end -->

<!-- topics:start -->
旅行|2025-01
旅行|2025-02
<!-- topics:end -->
"""


def opened(root, **options):
    return layers.open_store(root, **{"now": CLOCK, "tz": ZONE, **options})


def plant(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def cold(day, *lines):
    return {f"cold/{day[:7]}/{day}.md": f"# {day}\n\n" + "".join(f"- {line}\n" for line in lines)}


def tree(root):
    return {path.relative_to(root).as_posix(): path.is_dir() or path.read_bytes() for path in sorted(root.rglob("*"))}


def texts(answer):
    return [item["text"] for item in answer["items"]]


@pytest.fixture
def root(tmp_path):
    """Return the folder of a store that is not there yet."""
    return tmp_path / "dsh" / "dsh-memory-layers"


@pytest.fixture
def ask(root):
    """Return a function that calls a tool on the store, opened anew each time."""

    def ask(name, now=CLOCK, **arguments):
        answer = tools.call(opened(root, now=now), name, {name.rstrip("_"): value for name, value in arguments.items()})
        json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()
        return answer

    return ask


@pytest.fixture
def months(root):
    """Return a store of three months: 2024-12-31, 2025-01-31, 2025-02-25, 26 and 28."""
    files = {
        **cold("2024-12-31", "[2024-12-31T04:00:00.000Z] [旅行] 火车票订好了"),
        **cold("2025-01-31", "[2025-01-31T04:00:00.000Z] [Family] 年夜饭 Menu 定了", "[2025-01-31T05:00:00.000Z] [-] 海鲜涨价"),
        **cold("2025-02-25", "[2025-02-25T04:00:00.000Z] [family] 外婆来电话"),
        **cold("2025-02-26", "[2025-02-26T04:00:00.000Z] [旅行] 看海的路线"),
        **cold("2025-02-28", "[2025-02-28T04:00:00.000Z] [计划] 旅行箱修好"),
    }
    return plant(root, files)


class TestAcceptance:
    """The original's own table, row by row."""

    def test_the_hot_layer_can_be_read_without_a_file(self, ask, root):
        assert ask("mem_hot_get") == {
            "content": "", "chars": 0, "limit": 600, "overLimit": False, "hint": "",
            "candidates": [], "candidateCount": 0, "topics": [], "topicCount": 0,
        }  # fmt: skip
        assert not root.parent.exists()

    def test_recall_crosses_months(self, ask, months):
        answer = ask("mem_recall", keyword="旅行")
        assert [item["date"] for item in answer["items"]] == ["2025-02-28", "2025-02-26", "2024-12-31"]
        assert list(answer) == ["mode", "tokens", "limit", *PAGE]
        assert (answer["mode"], answer["tokens"], answer["limit"]) == ("and", ["旅行"], 10)
        assert [answer[name] for name in PAGE[:4]] == [5, 6, 3, 3]

    def test_summaries_of_all_three_periods_land_on_disk(self, ask, months):
        keys = {"day": "2025-02-28", "week": "2025-W09", "month": "2025-02"}
        for period, key in keys.items():
            answer = ask("mem_summarize", period=period)
            assert list(answer) == ["period", "key", "path", "created", "existed", "stale", "content"]
            assert (answer["period"], answer["key"], answer["path"]) == (period, key, f"summaries/{period}/{key}.md")
            assert (answer["created"], answer["existed"], answer["stale"]) == (True, False, False)
            assert (months / answer["path"]).read_text(encoding="utf-8") == answer["content"]
            assert "旅行箱修好" in answer["content"]

    def test_over_the_limit_three_tools_say_so_and_hint(self, ask):
        told = [ask("mem_hot_set", content="字" * 601), ask("mem_hot_get"), ask("mem_write", text="水开了", important=True)]
        assert [(answer["chars"], answer["limit"], answer["overLimit"]) for answer in told] == [(601, 600, True)] * 3
        assert all(answer["hint"] for answer in told)
        told = [ask("mem_hot_set", content="字" * 600), ask("mem_hot_get"), ask("mem_write", text="灯关了", important=True)]
        assert [(answer["chars"], answer["overLimit"], answer["hint"]) for answer in told] == [(600, False, "")] * 3

    def test_recent_reads_only_files_that_lie_in_the_window(self, ask, months):
        answer = ask("mem_recent", days=3)
        assert list(answer) == ["days", "from", "to", "limit", *PAGE]
        assert (answer["days"], answer["from"], answer["to"]) == (3, "2025-02-26", "2025-02-28")
        assert [answer[name] for name in PAGE[:4]] == [2, 2, 2, 2]
        assert texts(answer) == ["旅行箱修好", "看海的路线"]
        assert texts(ask("mem_recent", days=4)) == ["旅行箱修好", "看海的路线", "外婆来电话"]

    def test_by_tag_is_exact_whatever_the_case_and_a_dash_is_no_tag(self, ask, months):
        answer = ask("mem_by_tag", tag="FAMILY")
        assert texts(answer) == ["外婆来电话", "年夜饭 Menu 定了"]
        assert [answer[name] for name in PAGE[:4]] == [5, 6, 2, 2]
        assert ask("mem_by_tag", tag="fam")["matched"] == 0
        assert ask("mem_by_tag", tag="-")["items"] == [
            {"date": "2025-01-31", "timestamp": "2025-01-31T05:00:00.000Z", "tag": "-", "text": "海鲜涨价"}
        ]

    def test_by_date_is_closed_at_both_ends(self, ask, months):
        answer = ask("mem_by_date", from_="2024-12-31", to="2025-02-25")
        assert list(answer) == ["from", "to", "limit", *PAGE]
        assert texts(answer) == ["外婆来电话", "海鲜涨价", "年夜饭 Menu 定了", "火车票订好了"]
        assert [answer[name] for name in PAGE[:4]] == [3, 4, 4, 4]
        assert texts(ask("mem_by_date", from_="2025-02-26", to="2025-02-26")) == ["看海的路线"]
        assert ask("mem_by_date", from_="2025-02-27", to="2025-02-27")["scannedFiles"] == 0

    @pytest.mark.parametrize(
        ("first", "last", "told"),
        [("2026-02-29", "2026-03-01", "from: '2026-02-29'; expected a real date as YYYY-MM-DD"),
         ("2025-02-01", "2025-2-3", "to: '2025-2-3'; expected a real date as YYYY-MM-DD"),
         ("２０２５-02-01", "2025-02-03", "from: '２０２５-02-01'; expected a real date as YYYY-MM-DD"),
         ("2025-02-03", "2025-02-01", "from: 2025-02-03 is after to 2025-02-01; swap them"),
         ("2016-10-13", "2026-10-21", "from and to: 3,661 days; expected at most 3,660, ask for less at once")],
    )  # fmt: skip
    def test_by_date_says_readably_what_is_wrong(self, ask, first, last, told):
        with pytest.raises(BadArgument, match=f"^{re.escape(told)}$"):
            ask("mem_by_date", from_=first, to=last)

    def test_by_date_takes_3660_days(self, ask):
        assert ask("mem_by_date", from_="2016-10-14", to="2026-10-21")["matched"] == 0

    def test_several_words_must_all_be_there_or_any(self, ask, months):
        assert texts(ask("mem_recall", keyword="海 路线")) == ["看海的路线"]
        assert texts(ask("mem_recall", keyword="海\u3000路线", mode="and")) == ["看海的路线"]
        assert texts(ask("mem_recall", keyword="海 电话", mode="OR")) == ["看海的路线", "外婆来电话", "海鲜涨价"]
        with pytest.raises(BadArgument, match=r"^mode: 'both'; expected and, or$"):
            ask("mem_recall", keyword="海", mode="both")

    def test_topics_and_candidates_do_not_count_as_text(self, ask, root):
        plant(root, {"hot.md": HOT})
        answer = ask("mem_hot_get")
        assert (answer["content"], answer["chars"]) == ("# 阿澈的热层", 7)
        assert (answer["candidateCount"], answer["topicCount"]) == (1, 2)

    def test_another_process_finds_what_was_written(self, ask, root):
        code = (
            "import sys, json; from memkit import tools; from memkit.tools.layers import open_store; store = open_store();"
            "print(json.dumps([tools.call(store, 'mem_recall', {'keyword': '外婆'}), tools.call(store, 'mem_hot_get')]))"
        )
        ask("mem_write", text="外婆来电话", tag="家庭", important=True)
        ask("mem_hot_set", content="记得回电话")
        environment = {**os.environ, "DSH_HOME": str(root.parent)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        recalled, hot = json.loads(done.stdout)
        assert recalled["items"] == [{"date": "2025-02-28", "timestamp": STAMP, "tag": "家庭", "text": "外婆来电话"}]
        assert (hot["content"], hot["candidates"][0]["text"]) == ("记得回电话", "外婆来电话")


class TestReadOnly:
    @pytest.mark.parametrize("name", READ_ONLY)
    def test_questions_make_no_file_and_no_folder(self, ask, root, name):
        ask(name, **READ_ONLY[name])
        assert not root.parent.exists()

    @pytest.mark.parametrize("name", READ_ONLY)
    def test_questions_change_no_byte(self, copied, name):
        root = copied("layers")
        before = tree(root)
        tools.call(opened(root), name, READ_ONLY[name])
        assert tree(root) == before

    @pytest.mark.parametrize(("name", "given"), [
        ("mem_write", {"text": " "}), ("mem_write", {"text": "字" * 4001}), ("mem_write", {"text": "x", "tag": 5}),
        ("mem_hot_set", {"content": "<!-- topics:start -->"}), ("mem_topics_add", {"topic": "海", "month": "2025-13"}),
        ("mem_summarize", {"period": "year"}), ("mem_summarize", {"date": "2026-02-29"}), ("mem_summarize", {}),
    ])  # fmt: skip
    def test_what_is_refused_or_empty_writes_nothing(self, root, name, given):
        with suppress(BadArgument):
            assert tools.call(opened(root), name, given)["empty"]
        assert not root.exists()


class TestHotGet:
    def test_it_tells_candidates_and_topics(self, ask, root):
        plant(root, {"hot.md": HOT.replace("[计划] 去看海", "[] 去看海").replace("00.000Z", "00+08:00")})
        answer = ask("mem_hot_get")
        assert answer["candidates"] == [{"index": 1, "timestamp": "2025-02-01T01:00:00+08:00", "tag": "-", "text": "去看海"}]
        assert answer["topics"] == [{"topic": "旅行", "month": "2025-01"}, {"topic": "旅行", "month": "2025-02"}]

    def test_an_over_long_text_is_measured_in_code_points(self, ask, root):
        plant(root, {"hot.md": "👨‍👩‍👧" * 150})
        assert (ask("mem_hot_get")["chars"], ask("mem_hot_get")["overLimit"]) == (750, True)

    @pytest.mark.parametrize(("text", "content", "candidates", "topics"), [
        ("正文\n<!-- candidates:start -->\n- [2025-02-01T01:00:00Z] [a] 一\n", "正文", 1, 0),
        ("正文\n<!-- candidates:end -->\n后文", "正文\n\n后文", 0, 0),
        ("正文\n<!-- candidates:start -->\n- [2025-02-01T01:00:00Z] [a] 一\n<!-- topics:start -->\n海|2025-02\n", "正文", 1, 1),
        ("正文\n<!-- topics:start -->\n海|2025-13\n海 2025-02\n|2025-02\n a|b | 2025-02\nc|d|2025-02\n", "正文", 0, 1),
        ("a <!-- candidates:start --> b", "a <!-- candidates:start --> b", 0, 0),
    ])  # fmt: skip
    def test_broken_blocks_are_read_as_far_as_they_go(self, ask, root, text, content, candidates, topics):
        plant(root, {"hot.md": text})
        answer = ask("mem_hot_get")
        found = re.sub(r"\n+", "\n", answer["content"])
        assert (found, answer["candidateCount"], answer["topicCount"]) == (re.sub(r"\n+", "\n", content), candidates, topics)
        assert (root / "hot.md").read_text(encoding="utf-8") == text
        ask("mem_hot_set", content="新")  # the next write lays it out again, and keeps what was in the blocks
        answer = ask("mem_hot_get")
        assert (answer["content"], answer["candidateCount"], answer["topicCount"]) == ("新", candidates, topics)


class TestHotSet:
    def test_it_replaces_the_text_and_keeps_both_blocks(self, ask, root):
        plant(root, {"hot.md": HOT})
        assert ask("mem_hot_set", content="新的正文") == {
            "chars": 4, "limit": 600, "overLimit": False, "hint": "", "candidateCount": 1, "topicCount": 2,
            "ignoredLines": 0, "bodyCleared": False,
        }  # fmt: skip
        assert (root / "hot.md").read_text(encoding="utf-8") == HOT.replace("# 阿澈的热层", "新的正文")

    def test_an_empty_text_clears_the_body_and_keeps_the_blocks(self, ask, root):
        plant(root, {"hot.md": HOT})
        answer = ask("mem_hot_set", content="")
        assert (answer["chars"], answer["candidateCount"], answer["topicCount"], answer["bodyCleared"]) == (0, 1, 2, False)
        assert (root / "hot.md").read_text(encoding="utf-8") == HOT.split("\n\n", 1)[1]

    def test_the_first_text_makes_the_file_with_both_blocks(self, ask, root):
        ask("mem_hot_set", content="正文")
        assert [line for line in (root / "hot.md").read_text(encoding="utf-8").split("\n") if line] == [
            "正文", "<!-- candidates:start -->", "<!-- candidates:end -->", "<!-- topics:start -->", "<!-- topics:end -->",
        ]  # fmt: skip

    def test_a_supplied_block_replaces_its_region_and_what_is_no_line_of_it_is_counted(self, ask, root):
        plant(root, {"hot.md": HOT})
        block = "<!-- topics:start -->\n秤|2025-02\n秤|2025-02\n没有月份\n\n火锅|2025-1\n<!-- topics:end -->"
        answer = ask("mem_hot_set", content=f"正文\n\n{block}")
        assert (answer["ignoredLines"], answer["topicCount"], answer["candidateCount"]) == (2, 1, 1)
        assert ask("mem_hot_get")["topics"] == [{"topic": "秤", "month": "2025-02"}]

    def test_a_block_alone_empties_the_text_and_says_so_aloud(self, ask, root):
        plant(root, {"hot.md": HOT})
        answer = ask("mem_hot_set", content="<!-- topics:start -->\n秤|2025-02\n<!-- topics:end -->")
        assert (answer["chars"], answer["bodyCleared"], answer["previousChars"]) == (0, True, 7)
        assert "7 characters" in answer["hint"]

    @pytest.mark.parametrize("block", ["topics", "candidates"])
    @pytest.mark.parametrize("edge", ["start", "end"])
    def test_half_a_block_is_refused(self, ask, root, block, edge):
        plant(root, {"hot.md": HOT})
        with pytest.raises(BadArgument, match=f"^content: the {block} block lacks"):
            ask("mem_hot_set", content=f"正文\n<!-- {block}:{edge} -->\n秤|2025-02")
        assert (root / "hot.md").read_text(encoding="utf-8") == HOT

    @pytest.mark.parametrize("content", [5, ["a"], {"text": "a"}, True])
    def test_what_is_no_text_is_refused(self, ask, content):
        with pytest.raises(BadArgument, match=r"^content: .*; expected a text$"):
            ask("mem_hot_set", content=content)

    def test_the_limit_is_that_of_the_store(self, root):
        answer = tools.call(opened(root, hot_limit=100), "mem_hot_set", {"content": "字" * 101})
        assert (answer["limit"], answer["overLimit"]) == (100, True)


class TestWrite:
    def test_it_tells_day_time_tag_and_place(self, ask, root):
        assert ask("mem_write", text=" 外婆\n来 \t 电话 ", tag="[家 [庭]]") == {
            "added": True, "date": "2025-02-28", "timestamp": STAMP, "tag": "家 庭", "candidateIndex": 0,
        }  # fmt: skip
        assert (root / TODAY).read_text(encoding="utf-8") == f"# 2025-02-28\n\n- [{STAMP}] [家 庭] 外婆 来 电话\n"
        assert not (root / "hot.md").exists()

    @pytest.mark.parametrize("tag", [None, "", " ", "[]", "-"])
    def test_no_tag_is_a_dash(self, ask, tag):
        assert ask("mem_write", text="水开了", tag=tag)["tag"] == "-"
        assert ask("mem_by_tag", tag="-")["matched"] == 1
        assert ask("mem_recall", keyword="-")["matched"] == 0

    def test_the_same_again_on_one_day_adds_nothing_and_tells_the_first_time(self, ask, root):
        ask("mem_write", text="水开了", tag="茶")
        before = tree(root)
        again = ask("mem_write", now="2025-02-28T22:00+08:00", text=" 水开了\n", tag="[茶]")
        assert (again["added"], again["timestamp"]) == (False, STAMP)
        assert tree(root) == before
        assert ask("mem_write", text="水开了", tag="水")["added"]
        assert ask("mem_write", now="2025-03-01T08:00+08:00", text="水开了", tag="茶")["added"]

    def test_equal_in_another_case_is_another_entry(self, ask):
        assert [ask("mem_write", text=text)["added"] for text in ("Tea", "tea", "Ｔea", "Tea")] == [True, True, True, False]

    def test_important_ones_wait_among_the_candidates(self, ask, root):
        first = ask("mem_write", text="水开了", important=True)
        second = ask("mem_write", text="灯关了", tag="家", important="true")
        assert (first["candidateIndex"], second["candidateIndex"]) == (1, 2)
        assert list(second) == ["added", "date", "timestamp", "tag", "candidateIndex", "chars", "limit", "overLimit", "hint"]
        assert [(held["index"], held["tag"], held["text"]) for held in ask("mem_hot_get")["candidates"]] == [
            (1, "-", "水开了"), (2, "家", "灯关了"),
        ]  # fmt: skip
        assert ask("mem_hot_get")["chars"] == 0

    def test_a_known_entry_can_be_made_important_later_and_only_once(self, ask):
        ask("mem_write", text="水开了")
        later = ask("mem_write", now="2025-02-28T22:00+08:00", text="水开了", important=True)
        assert (later["added"], later["candidateIndex"], later["timestamp"]) == (False, 1, STAMP)
        assert ask("mem_write", text="水开了", important=True)["candidateIndex"] == 1
        assert ask("mem_hot_get")["candidates"][0]["timestamp"] == STAMP

    @pytest.mark.parametrize("important", [1, "yes", "True", False, None, [True]])
    def test_only_true_is_important(self, ask, root, important):
        assert ask("mem_write", text="水开了", important=important)["candidateIndex"] == 0
        assert not (root / "hot.md").exists()

    def test_4000_characters_are_taken_and_one_more_is_refused_whole(self, ask):
        assert ask("mem_write", text="😀" * 4000 + "\n")["added"]
        with pytest.raises(BadArgument, match=r"^text: 4,001 characters of at most 4,000"):
            ask("mem_write", text="😀" * 4001)

    @pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff\u3000", None, 5, ["水"]])
    def test_a_text_is_required(self, ask, text):
        with pytest.raises(BadArgument, match=r"^text: "):
            ask("mem_write", text=text)

    @pytest.mark.parametrize("tag", [5, True, ["茶"], {"tag": "茶"}])
    def test_a_tag_is_a_text(self, ask, tag):
        with pytest.raises(BadArgument, match=r"^tag: .*; expected a text$"):
            ask("mem_write", text="水开了", tag=tag)

    @pytest.mark.parametrize("text", [
        "<!-- candidates:end -->", "a\n<!-- candidates:end -->\n<!-- topics:start -->\n假|2025-01\n<!-- topics:end -->",
        "- [2025-01-01T00:00:00.000Z] [假] 假的", "# 标题",
        "a\u2028- [2025-01-01T00:00:00Z] [假] b\x85c\x1cd", "[x] y", "a\ud800b",
    ])  # fmt: skip
    def test_no_text_can_break_a_file(self, ask, root, text):
        plant(root, {"hot.md": HOT})
        ask("mem_write", text=text, tag="<!-- topics:end -->", important=True)
        assert ask("mem_recent")["matched"] == 1
        answer = ask("mem_hot_get")
        assert (answer["content"], answer["candidateCount"], answer["topicCount"]) == ("# 阿澈的热层", 2, 2)
        assert texts(ask("mem_recent")) == [answer["candidates"][1]["text"]]

    def test_a_hand_edited_file_keeps_every_byte(self, ask, root):
        held = "随手写的标题\r\n* [x] 不是条目\r\n- [2025-02-28T09:00+08:00] [手] 手写的"
        plant(root, {TODAY: held})
        ask("mem_write", text="水开了")
        assert (root / TODAY).read_bytes() == f"{held}\r\n- [{STAMP}] [-] 水开了\r\n".encode()
        assert texts(ask("mem_recent")) == ["水开了", "手写的"]

    def test_the_day_is_the_local_one_and_the_time_utc(self, ask):
        answer = ask("mem_write", now="2025-03-01T00:10+08:00", text="水开了")
        assert (answer["date"], answer["timestamp"]) == ("2025-03-01", "2025-02-28T16:10:00.000Z")


class TestRecall:
    LINES = ("C++ 与 Go", "f(x) 的图", "a.*b", "用 | 分开", "加 -x 参数", '他说"好"', "Straße ＡＢＣ", "海")

    @pytest.fixture(autouse=True)
    def told(self, root):
        plant(root, cold("2025-02-28", *(f"[2025-02-28T04:00:0{n}.000Z] [t{n}] {text}" for n, text in enumerate(self.LINES))))

    @pytest.mark.parametrize(("keyword", "found"), [
        ("C++", [0]), ("c++ go", [0]), ("(", [1]), (".*", [2]), ("|", [3]),
        ("-x", [4]), ('"好"', [5]), ('"', [5]), ('"他说"', []),
        ("STRASSE", [6]), ("abc", [6]), ("海", [7]), ("t7", [7]), ("t7 海", [7]),
        ("t7海", []), ("t0 海", []), ("2025", []), ("+", [0]),
        ("\\", []), ("[", []), ("-", [4]),
    ])  # fmt: skip
    def test_words_are_literal_of_any_length_and_hit_text_or_tag(self, ask, keyword, found):
        assert texts(ask("mem_recall", keyword=keyword)) == [self.LINES[n] for n in found]

    @pytest.mark.parametrize("keyword", ["", " ", "\u3000\t", "\u200b", None, 5, ["海"]])
    def test_a_word_is_required(self, ask, keyword):
        with pytest.raises(BadArgument, match=r"^keyword: "):
            ask("mem_recall", keyword=keyword)

    @pytest.mark.parametrize("mode", ["both", "", "and or", 1, True, ["and"]])
    def test_another_mode_is_an_error_that_names_both(self, ask, mode):
        with pytest.raises(BadArgument, match=r"^mode: .*; expected and, or$"):
            ask("mem_recall", keyword="海", mode=mode)

    def test_summaries_and_the_hot_layer_are_not_searched(self, ask, root):
        plant(root, {"hot.md": HOT, "summaries/day/2025-02-28.md": "# x\n\n- [2025-02-28T04:00:00.000Z] [t] 去看海\n"})
        assert texts(ask("mem_recall", keyword="海")) == ["海"]


class TestQuestions:
    def test_newest_come_first_and_of_one_moment_the_last_written(self, ask, root):
        same = "[2025-02-28T00:00:00.000Z]"
        plant(root, cold("2025-02-27", f"{same} [-] 昨"))
        plant(
            root, cold("2025-02-28", f"{same} [-] 一", f"{same} [-] 二", "[2025-02-28T08:30:00+09:00] [-] 早", f"{same} [-] 三")
        )
        told = ["三", "二", "一", "昨", "早"]
        assert texts(ask("mem_recent")) == told
        assert texts(ask("mem_by_tag", tag="-")) == told
        assert texts(ask("mem_by_date", from_="2025-02-01", to="2025-02-28")) == told
        assert texts(ask("mem_recall", keyword="三 二 一 昨 早", mode="or")) == told

    @pytest.mark.parametrize("name", ["mem_recall", "mem_recent", "mem_by_tag", "mem_by_date"])
    def test_offset_reaches_every_entry(self, ask, root, name):
        lines = [f"[2025-02-28T04:{n // 60:02}:{n % 60:02}.000Z] [数] 第 {n} 条" for n in range(230)]
        plant(root, cold("2025-02-28", *lines))
        asked = {
            "mem_recall": {"keyword": "第"},
            "mem_by_tag": {"tag": "数"},
            "mem_by_date": {"from": "2025-02-28", "to": "2025-02-28"},
        }
        first = tools.call(opened(root), name, {**asked.get(name, {}), "limit": 50})
        assert "offset" not in first
        second = tools.call(opened(root), name, {**asked.get(name, {}), "limit": 50, "offset": "50"})
        assert (second["offset"], second["matched"], second["returned"]) == (50, 230, 50)
        assert texts(first) + texts(second) == [f"第 {n} 条" for n in range(229, 129, -1)]
        last = tools.call(opened(root), name, {**asked.get(name, {}), "limit": 50, "offset": 220})
        assert texts(last) == [f"第 {n} 条" for n in range(9, -1, -1)]
        assert tools.call(opened(root), name, {**asked.get(name, {}), "offset": 10**12})["items"] == []

    def test_hand_edited_lines_are_entries_only_in_the_full_form(self, ask, root):
        lines = [
            "[2025-02-28T12:00+08:00] [手] 有时区", "[2025-02-28T12:00] [手] 没有时区", "[2025-02-28] [手] 只有日期",
            "[2025-02-30T04:00:00Z] [手] 没有这天", "[2025-02-28T04:00:00Z] [手]", "[2025-02-28T04:00:00Z]  [手] 两个空格",
            "[2025-02-28T03:00:00Z] [ 手  写 ] [x] 带方括号",
        ]  # fmt: skip
        plant(root, cold("2025-02-28", *lines))
        answer = ask("mem_recent")
        assert [(item["timestamp"], item["tag"], item["text"]) for item in answer["items"]] == [
            ("2025-02-28T12:00+08:00", "手", "有时区"), ("2025-02-28T03:00:00Z", "手 写", "[x] 带方括号"),
        ]  # fmt: skip
        assert (answer["scannedFiles"], answer["scannedEntries"]) == (1, 2)
        assert texts(ask("mem_by_tag", tag="[手 写]")) == ["[x] 带方括号"]

    @pytest.mark.parametrize("tag", ["", " ", "[]", "[ ]", "\u200b", None, 5])
    def test_a_tag_is_required(self, ask, tag):
        with pytest.raises(BadArgument, match=r"^tag: "):
            ask("mem_by_tag", tag=tag)

    def test_only_day_files_in_a_month_folder_count_and_their_name_is_their_date(self, ask, root):
        line = "- [2025-02-28T04:00:00.000Z] [-] {}\n"
        ours = {"cold/2025-02/2025-02-28.md": "一", "cold/2024-01/2025-02-27.md": "错放"}
        others = [
            "cold/2025-02-26.md",
            "cold/2025-02/2025-02-30.md",
            "cold/2025-02/notes.md",
            "cold/2025-02/2025-02-25.txt",
            "2025-02-24.md",
        ]
        plant(root, {path: line.format(text) for path, text in {**ours, **dict.fromkeys(others, "别的")}.items()})
        answer = ask("mem_recall", keyword="一 错 别", mode="or")
        assert (answer["scannedFiles"], answer["scannedEntries"]) == (2, 2)
        assert [(item["date"], item["text"]) for item in answer["items"]] == [("2025-02-28", "一"), ("2025-02-27", "错放")]
        assert [held["month"] for held in ask("mem_stats")["cold"]["months"]] == ["2025-02"]

    def test_a_link_that_leaves_the_store_is_not_followed(self, ask, root, tmp_path):
        plant(tmp_path, {"outside.md": "- [2025-02-28T04:00:00.000Z] [-] 外面\n"})
        (root / "cold/2025-02").mkdir(parents=True)
        (root / TODAY).symlink_to(tmp_path / "outside.md")
        assert ask("mem_recent")["scannedFiles"] == 0

    def test_tomorrow_is_not_recent_and_the_day_of_a_file_counts_not_its_stamp(self, ask, root):
        plant(root, cold("2025-03-01", "[2025-02-28T04:00:00.000Z] [-] 明天"))
        plant(root, cold("2025-02-28", "[2025-03-09T04:00:00.000Z] [-] 今天"))
        assert texts(ask("mem_recent", days=1)) == ["今天"]

    def test_bytes_that_are_no_utf8_are_shown_and_kept(self, ask, root):
        data = b"- [2025-02-28T04:00:00.000Z] [-] a\xffb\n"
        plant(root, {TODAY: ""})
        (root / TODAY).write_bytes(data)
        assert texts(ask("mem_recent")) == ["a\ufffdb"]
        ask("mem_write", text="水开了")
        assert (root / TODAY).read_bytes().startswith(data)

    def test_one_store_answers_with_what_is_on_disk_now(self, root):
        store = opened(root)
        assert tools.call(store, "mem_recent")["matched"] == 0
        plant(root, cold("2025-02-28", "[2025-02-28T04:00:00.000Z] [-] 一"))
        assert tools.call(store, "mem_recent")["matched"] == 1
        tools.call(store, "mem_write", {"text": "二"})
        assert tools.call(store, "mem_recent")["matched"] == 2


class TestSummarize:
    def test_what_is_there_is_returned_until_forced(self, ask, months):
        made = ask("mem_summarize")
        again = ask("mem_summarize", period="DAY", date="2025-02-28")
        assert (again["created"], again["existed"], again["content"]) == (False, True, made["content"])
        ask("mem_write", text="水开了")
        assert ask("mem_summarize")["stale"] is True
        forced = ask("mem_summarize", force=True)
        assert (forced["created"], forced["stale"], "水开了" in forced["content"]) == (True, False, True)
        assert ask("mem_summarize", force="yes")["created"] is False

    @pytest.mark.parametrize(("period", "day", "key"), [
        ("day", "2025-01-31", "2025-01-31"), ("week", "2024-12-30", "2025-W01"), ("month", "2025-01-15", "2025-01"),
    ])  # fmt: skip
    def test_any_day_of_a_period_selects_it(self, ask, months, period, day, key):
        assert ask("mem_summarize", period=period, date=day)["key"] == key

    def test_a_period_without_entries_gets_no_file_and_says_so(self, ask, months):
        before = tree(months)
        answer = ask("mem_summarize", period="month", date="2023-05-01")
        assert answer.pop("message")
        assert answer == {
            "period": "month", "key": "2023-05", "path": "summaries/month/2023-05.md", "created": False, "existed": False,
            "empty": True, "content": "",
        }  # fmt: skip
        assert tree(months) == before

    @pytest.mark.parametrize(("name", "value", "expected"), [
        ("period", "year", "day, week, month"), ("period", "", "day, week, month"),
        ("period", 1, "day, week, month"),
        ("date", "2026-02-29", "a real date"), ("date", "2025-W09", "a real date"), ("date", "", "a real date"),
        ("date", 20250228, "a real date"),
    ])  # fmt: skip
    def test_what_is_no_period_or_day_is_refused(self, ask, name, value, expected):
        with pytest.raises(BadArgument, match=f"^{name}: .*; expected {expected}"):
            ask("mem_summarize", **{name: value})

    def test_a_file_in_the_place_of_the_folder_is_an_error_and_stays(self, ask, months):
        (months / "summaries").write_bytes(b"x")
        assert ask("mem_stats")["summaries"]["day"] == {"files": 0, "chars": 0}
        with pytest.raises(MemkitError, match="summaries"):
            ask("mem_summarize")
        assert (months / "summaries").read_bytes() == b"x"


class TestStats:
    def test_an_empty_store_is_all_zeros(self, ask):
        none = {"files": 0, "chars": 0}
        assert ask("mem_stats") == {
            "hot": {"chars": 0, "limit": 600, "overLimit": False, "candidates": 0, "topics": 0},
            "cold": {"files": 0, "entries": 0, "latest": None, "months": []},
            "summaries": {"day": none, "week": none, "month": none},
        }

    def test_it_counts_every_layer_the_newest_month_first(self, ask, months):
        plant(months, {"hot.md": HOT})
        week = ask("mem_summarize", period="week")["content"]
        assert ask("mem_stats") == {
            "hot": {"chars": 7, "limit": 600, "overLimit": False, "candidates": 1, "topics": 2},
            "cold": {
                "files": 5,
                "entries": 6,
                "latest": "2025-02-28",
                "months": [
                    {"month": "2025-02", "files": 3, "entries": 3, "latest": "2025-02-28"},
                    {"month": "2025-01", "files": 1, "entries": 2, "latest": "2025-01-31"},
                    {"month": "2024-12", "files": 1, "entries": 1, "latest": "2024-12-31"},
                ],
            },
            "summaries": {
                "day": {"files": 0, "chars": 0},
                "week": {"files": 1, "chars": len(week)},
                "month": {"files": 0, "chars": 0},
            },
        }


class TestTopicsAdd:
    def test_it_adds_one_line_and_leaves_all_else(self, ask, root):
        plant(root, {"hot.md": HOT})
        added = {"added": True, "topic": "火 锅", "month": "2025-02", "topicCount": 3}
        assert ask("mem_topics_add", topic=" 火\n锅 ", month="2025-02") == added
        assert (root / "hot.md").read_text(encoding="utf-8") == HOT.replace("行|2025-02\n", "行|2025-02\n火 锅|2025-02\n")
        assert ask("mem_topics_add", topic="火 锅", month="2025-02") == {**added, "added": False}

    @pytest.mark.parametrize(("topic", "month"), [
        ("", "2025-02"), (" ", "2025-02"), ("海", "2025-13"), ("海", "2025-2"), ("海", ""), ("海", "0000-01"),
        ("海", "２０２５-02"),
        (5, "2025-02"), ("海", 202502),
    ])  # fmt: skip
    def test_a_topic_and_a_month_are_required(self, ask, root, topic, month):
        with pytest.raises(BadArgument, match=r"^topic.*; expected|^topic and month: expected|^month: "):
            ask("mem_topics_add", topic=topic, month=month)
        assert not root.exists()


class TestPlace:
    @pytest.fixture(autouse=True)
    def home(self, tmp_path, monkeypatch):
        monkeypatch.delenv("DSH_HOME", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path)

    def test_the_folder_lies_below_dsh_home_else_below_the_home_folder(self, tmp_path, monkeypatch):
        for value, folder in (
            (None, tmp_path / "home/.dsh"), ("", tmp_path / "home/.dsh"), (str(tmp_path / "x"), tmp_path / "x"),
            ("rel/ative", tmp_path / "rel/ative"), ("~", tmp_path / "~"), ("~/x", tmp_path / "~/x"),
        ):  # fmt: skip
            if value is not None:
                monkeypatch.setenv("DSH_HOME", value)
            assert layers.open_store().root == folder / "dsh-memory-layers"
        assert sorted(tmp_path.iterdir()) == []

    def test_a_named_folder_goes_before_the_environment(self, tmp_path, monkeypatch):
        monkeypatch.setenv("DSH_HOME", str(SAMPLES / "layers"))
        assert layers.open_store(tmp_path / "own").root == tmp_path / "own"
        assert layers.open_store(now=CLOCK, tz=ZONE).root == SAMPLES / "layers/dsh-memory-layers"

    def test_the_first_write_makes_the_folder(self, tmp_path):
        tools.call(layers.open_store(now=CLOCK, tz=ZONE), "mem_write", {"text": "水开了"})
        assert (tmp_path / "home/.dsh/dsh-memory-layers" / TODAY).is_file()

    def test_a_file_in_its_place_is_an_error(self, tmp_path):
        (tmp_path / "file").write_bytes(b"x")
        with pytest.raises(StoreNotFound, match="a file, and not a folder"):
            layers.open_store(tmp_path / "file")

    @pytest.mark.parametrize("limit", [100, 600, 20_000])
    def test_a_limit_in_the_range_is_taken(self, root, limit):
        assert tools.call(opened(root, hot_limit=limit), "mem_stats")["hot"]["limit"] == limit

    @pytest.mark.parametrize("limit", ["600", 600.5, float("nan"), True, 99, 20_001, -1, None, [600], 600.0])
    def test_another_limit_is_600_with_one_warning(self, root, limit):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            store = opened(root, hot_limit=limit)
        assert len(caught) == 1
        assert "whole number from 100 to 20000" in str(caught[0].message)
        assert tools.call(store, "mem_hot_get")["limit"] == 600

    def test_the_environment_of_a_workspace(self, monkeypatch):
        for name in ("MEMORY_WORKSPACE", "MEMORY_EXTRA_PATHS", "MEMORY_SESSION_PATH", "MEMORY_INDEX_SESSION"):
            monkeypatch.delenv(name, raising=False)
        assert (place.workspace_root(), place.workspace_extras()) == (None, {})
        monkeypatch.setenv("MEMORY_WORKSPACE", "/vault")
        monkeypatch.setenv("MEMORY_EXTRA_PATHS", " a.md, ,b ")
        monkeypatch.setenv("MEMORY_SESSION_PATH", "talk.json")
        assert (place.workspace_root(), place.workspace_extras()) == ("/vault", {"extra": ["a.md", "b"]})
        monkeypatch.setenv("MEMORY_INDEX_SESSION", "True")
        assert place.workspace_extras() == {"extra": ["a.md", "b"], "session": "talk.json"}

    def test_the_folder_of_the_original_need_not_be_there(self, tmp_path):
        assert place.layers_root() == Path("~/.dsh/dsh-memory-layers")


class TestWhatAStrangerFound:
    """Cases that an outside reading of the seed brought up, in our own words."""

    def test_a_month_folder_that_is_a_link_inside_the_store_is_read(self, tmp_path):
        (tmp_path / "real").mkdir()
        (tmp_path / "cold").mkdir()
        (tmp_path / "cold/2025-02").symlink_to("../real", target_is_directory=True)
        mem = opened(tmp_path)
        assert tools.call(mem, "mem_write", {"text": "壶"})["added"]
        assert tools.call(mem, "mem_recall", {"keyword": "壶"})["matched"] == 1
        assert not tools.call(mem, "mem_write", {"text": "壶"})["added"]

    def test_links_that_lead_round_in_circles_end(self, tmp_path):
        (tmp_path / "real/inner").mkdir(parents=True)
        (tmp_path / "real/inner/back").symlink_to("../../real", target_is_directory=True)
        (tmp_path / "cold").mkdir()
        (tmp_path / "cold/2025-02").symlink_to("../real", target_is_directory=True)
        assert tools.call(opened(tmp_path), "mem_recall", {"keyword": "壶"})["matched"] == 0

    def test_a_summary_made_on_a_stale_one_says_that_it_is_stale(self, tmp_path):
        mem = opened(tmp_path)
        tools.call(mem, "mem_write", {"text": "一"})
        tools.call(mem, "mem_summarize", {})
        tools.call(mem, "mem_write", {"text": "二"})
        asked = [{"period": "week"}, {"period": "week"}, {"period": "week", "force": True}, {"force": True}]
        assert [tools.call(mem, "mem_summarize", arguments)["stale"] for arguments in asked] == [True, True, True, False]
        assert tools.call(mem, "mem_summarize", {"period": "week", "force": True})["stale"] is False

    def test_a_file_that_cannot_be_read_is_named_and_not_taken_for_empty(self, tmp_path, monkeypatch):
        mem = opened(tmp_path)
        for text in ("一", "二"):
            tools.call(mem, "mem_write", {"text": text, "important": True})
        real = files.read

        def refuse(root, fact, session=None):
            return "unreadable: permission denied" if fact.path == "hot.md" else real(root, fact, session)

        monkeypatch.setattr(files, "read", refuse)
        monkeypatch.setattr(files, "read_plain", lambda root, fact: "unreadable: permission denied")
        blind = opened(tmp_path)
        with pytest.raises(MemkitError, match=r"hot\.md: unreadable"):
            tools.call(blind, "mem_hot_get", {})
        told = tools.call(blind, "mem_summarize", {})
        assert told["empty"]
        assert "cold/2025-02/2025-02-28.md: unreadable" in told["warning"]

    def test_a_tag_is_looked_for_as_it_is_written(self, tmp_path):
        mem = opened(tmp_path)
        tools.call(mem, "mem_write", {"text": "y", "tag": "a\x07b"})
        assert tools.call(mem, "mem_by_tag", {"tag": "a\x07b"})["matched"] == 1

    @pytest.mark.parametrize(
        ("content", "body"),
        [
            ("正文\ud83d!", "正文\ufffd!"),
            ("a\0b\0", "ab"),
            ("  x \n", "x"),
            ("\u2028x\x0b", "x"),
            ("a\r\nb", "a\nb"),
        ],
    )
    def test_the_hot_layer_takes_a_text_as_text_and_trims_it(self, tmp_path, content, body):
        mem = opened(tmp_path)
        assert tools.call(mem, "mem_hot_set", {"content": content})["chars"] == len(body)
        assert (tmp_path / "hot.md").read_text().startswith(f"{body}\n\n<!-- candidates:start -->")

    def test_a_kept_block_keeps_its_blank_lines(self, tmp_path):
        block = "<!-- topics:start -->\n\n a|2026-01\n\n<!-- topics:end -->\n"
        (tmp_path / "hot.md").write_text(f"旧\n{block}")
        tools.call(opened(tmp_path), "mem_hot_set", {"content": "新"})
        assert (tmp_path / "hot.md").read_text().endswith(block)

    def test_topics_that_differ_in_blanks_alone_are_one(self, tmp_path):
        content = "x\n<!-- topics:start -->\n家|2026-01 \n  家|2026-01\n<!-- topics:end -->"
        assert tools.call(opened(tmp_path), "mem_hot_set", {"content": content})["topicCount"] == 1

    def test_lines_that_a_lost_end_marker_hides_do_not_vanish_silently(self, tmp_path):
        (tmp_path / "hot.md").write_text("b\n<!-- topics:start -->\nx|2026-01\n\n# 我的正文\n很重要\n")
        content = "新\n<!-- topics:start -->\nx|2026-02\n<!-- topics:end -->"
        told = tools.call(opened(tmp_path), "mem_hot_set", {"content": content})
        assert (told["ignoredLines"], "2 lines" in told["hint"]) == (0, True)
