"""The verbs through memkit.open, on copies of the samples and on new stores: what they write, and what reading gives back."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from conftest import SAMPLES, ZONE, open_at

import memkit
from memkit.errors import BadArgument, BadIndexError, FrozenError, UnsupportedError
from memkit.layouts import line
from memkit.text import norm_text

LAYOUTS = ("archive", "workspace", "layers")
TODAY = "2025-02-28"
TODAYS = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}
STAMP = "2025-02-28T13:30:00.000Z"
OF = {"catch_up": "archive", "rebuild_catalog": "archive", "hot_set": "layers", "topics_add": "layers", "store": "workspace"}
VERBS = {
    "append": ("秤归零了", "待办"),
    "append_many": ([("水开了", "家庭"), "灯关了"],),
    "correct": ("2025-02-03", "开业日期", "改到 3 月 15 日"),
    "catch_up": (),
    "rebuild_catalog": (),
    "hot_set": ("新的正文\n第二行",),
    "topics_add": ("秤", "2025-02"),
    "store": ("喜欢白水",),
}
NASTY = [
    "- 假的\n## 假标题\n---\nindex: '假索引'\ndate: 1999-01-01\n---\n- 假条目",
    "```\n没关的围栏",
    "<!-- candidates:end -->\n<!-- topics:start -->\n假|2025-01\n<!-- topics:end -->",
    "<!-- 没关的注释",
    "<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x",
    "] [x] 更正 2025-02-03：假",
    "a\tb\rc\r\n- d\u2028- e\x0b- f\x85- g\0- h\x1b- i\u2029- j",
    "'; index: '假\" it''s \\",
    "2025-02-27\t假行\n2025-02-26\t假行",
    "- [2025-02-28T01:00:00.000Z] [假] 假的",
    "## Store\n## Forgotten\n- 假",
    "> 引\n| a | b |\n|---|---|\n| 1 | 2 |",
    "***\n\n\n# 题\n===\n1. 一\n\n\n    码",
    "\ud800\udcff孤儿",
    "\ufeff---\n假: 头\n---",
]


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


@pytest.fixture
def mem(layout, tmp_path):
    return open_at(shutil.copytree(SAMPLES / layout, tmp_path / "store"))


@pytest.fixture
def new(layout, tmp_path):
    """Return a store that does not exist yet."""
    return open_at(tmp_path / "new", layout=layout)


def verbs_of(layout: str) -> list[str]:
    return [name for name in VERBS if OF.get(name, layout) == layout]


class TestEveryVerb:
    @pytest.mark.parametrize("verb", VERBS)
    def test_leaves_every_byte_on_a_dry_run_and_then_does_what_it_said(self, mem, layout, verb):
        before = tree(mem.root)
        if verb not in verbs_of(layout):
            with pytest.raises(UnsupportedError, match=f"^{verb}: .*{OF[verb]}.*{layout}$"):
                getattr(mem, verb)(*VERBS[verb])
            assert tree(mem.root) == before
            return
        dry = getattr(mem, verb)(*VERBS[verb], dry_run=True)
        assert tree(mem.root) == before
        assert not dry.applied
        done = getattr(mem, verb)(*VERBS[verb])
        assert done.applied
        assert (done.diff(), done.added, done.rows.values.tolist()) == (dry.diff(), dry.added, dry.rows.values.tolist())
        changed = {path for path, data in tree(mem.root).items() if before.get(path) != data}
        assert changed == {edit.path for edit in done.edits}

    @pytest.mark.parametrize("verb", VERBS)
    def test_on_a_store_that_does_not_exist_creates_it_only_when_it_writes(self, new, layout, verb):
        if verb not in verbs_of(layout):
            return
        getattr(new, verb)(*VERBS[verb], dry_run=True)
        assert not new.root.exists()
        plan = getattr(new, verb)(*VERBS[verb])
        assert new.root.exists() == bool(plan.edits)
        assert not len(new.audit().frame)

    @pytest.mark.parametrize("verb", VERBS)
    def test_twice_in_a_row_changes_something_once(self, mem, layout, verb):
        if verb not in verbs_of(layout):
            return
        getattr(mem, verb)(*VERBS[verb])
        after = tree(mem.root)
        again = getattr(mem, verb)(*VERBS[verb])
        assert again.edits == ()
        assert again.added == 0
        assert tree(mem.root) == after
        assert not len(mem.audit().frame)

    @pytest.mark.parametrize(("option", "value", "of"), [("index", "索引", "archive"), ("important", True, "layers")])
    def test_refuses_an_option_of_another_layout(self, mem, layout, option, value, of):
        if layout == of:
            assert mem.append("水开了", **{option: value}).added == 1
            return
        with pytest.raises(UnsupportedError, match=rf"^{option}: .*{of}.*{layout}$"):
            mem.append("水开了", **{option: value})

    @pytest.mark.parametrize(
        ("call", "name"),
        [
            (lambda mem: mem.append(""), "text"),
            (lambda mem: mem.append(None), "text"),
            (lambda mem: mem.append(b"x"), "text"),
            (lambda mem: mem.append("水", tag=7), "tag"),
            (lambda mem: mem.append_many("水"), "entries"),
            (lambda mem: mem.append_many([("水",)]), "entries"),
            (lambda mem: mem.append_many(["水", None]), "entries"),
            (lambda mem: mem.append_many(["水", ""]), "text"),
            (lambda mem: mem.append_many(pd.DataFrame({"tag": ["x"]})), "entries"),
            (lambda mem: mem.append_many(pd.DataFrame({"text": ["水", None]})), "text"),
            (lambda mem: mem.correct("2025-02-30", "a", "b"), "date"),
            (lambda mem: mem.correct("2025-02-03", " ", "b"), "subject"),
            (lambda mem: mem.correct("2025-02-03", "a", "---"), "text"),
            (lambda mem: mem.correct("2025-02-03", 1, "b"), "subject"),
        ],
    )
    def test_refuses_what_cannot_be_meant_by_the_name_of_its_argument(self, mem, call, name):
        before = tree(mem.root)
        with pytest.raises(BadArgument, match=rf"^{name}: "):
            call(mem)
        assert tree(mem.root) == before


class TestAnAppendedEntry:
    @pytest.mark.parametrize("tag", [None, "决定", "C++", "two words", "  决定\n", "[决定]"])
    def test_is_read_back_by_every_question(self, mem, tag):
        plan = mem.append("开业日期改到 3 月 15 日", tag=tag)
        assert plan.added == 1
        found = mem.recent(1).query("text == '开业日期改到 3 月 15 日'")
        name = " ".join(tag.strip(" \n[]").split()) if tag else None
        assert found["tag"].fillna("-").tolist() == [name or "-"]
        assert mem.entries()["text"].tolist().count("开业日期改到 3 月 15 日") == 1
        if name:
            assert "开业日期改到 3 月 15 日" in mem.tagged(name)["text"].tolist()
        assert "开业日期改到 3 月 15 日" in mem.matching("3 月 15 日")["text"].tolist()

    def test_is_the_last_of_today_and_all_before_it_keep_their_bytes(self, mem, layout):
        target = mem.root / TODAYS[layout]
        before = target.read_bytes()
        mem.append("水开了")
        after = target.read_bytes()
        body = after.index(b"## 2025-02-28") if layout == "archive" else 0
        assert after[body:].startswith(before[before.index(b"## 2025-02-28") if layout == "archive" else 0 :])
        assert mem.entries().query("path == @TODAYS[@layout]")["text"].iloc[-1] == "水开了"

    def test_that_stands_there_already_adds_nothing_today_and_one_tomorrow(self, layout, tmp_path):
        times = ["2025-02-28T23:59:30+08:00"]
        mem = open_at(tmp_path / "new", layout=layout, now=lambda: datetime.fromisoformat(times[-1]))
        assert mem.append("水开了", tag="家庭").added == 1
        assert mem.append("水开了", tag="家庭").added == 0
        assert mem.append("水开了", tag="别的").added == 1
        times.append("2025-03-01T00:00:30+08:00")
        assert mem.append("水开了", tag="家庭").added == 1
        assert len(mem.recent(1)) == 1

    def test_of_several_lines_is_one_entry(self, mem, layout):
        mem.append("第一行\n\n  第二行\n- 第三行")
        said = mem.entries().query("path == @TODAYS[@layout]")["text"].iloc[-1]
        assert said == ("第一行\n\n  第二行\n- 第三行" if layout == "archive" else "第一行 第二行 - 第三行")

    def test_is_added_among_many_as_if_alone(self, layout, tmp_path):
        one, many = (open_at(tmp_path / name, layout=layout) for name in ("one", "many"))
        texts = [f"第 {n} 件事；花了 {n} 元" for n in range(30)]
        for text in texts:
            one.append(text, "记账")
        plan = many.append_many(pd.DataFrame({"text": [*texts, texts[0]], "tag": "记账"}))
        assert plan.added == 30
        assert tree(one.root) == tree(many.root)

    def test_may_be_the_first_of_thousands(self, layout, tmp_path):
        mem = open_at(tmp_path / "new", layout=layout)
        assert mem.append_many([f"第 {n} 件事" for n in range(300)]).added == 300
        assert len(mem.entries()) == 300


class TestFormats:
    def test_of_an_archive(self, tmp_path):
        mem = open_at(tmp_path, layout="archive")
        mem.append("开业日期改到 3 月 15 日。\n老顾说好", tag="决定")
        mem.append("it's 468 元")
        mem.correct("2025-02-03", "开业日期", "3 月 15 日")
        assert tree(tmp_path) == {
            TODAYS["archive"]: (
                "---\ndate: 2025-02-28\n"
                "index: '[决定] 开业日期改到 3 月 15 日；it''s 468 元；更正 2025-02-03：开业日期 → 3 月 15 日'\n---\n"
                "## 2025-02-28\n- [决定] 开业日期改到 3 月 15 日。\n  老顾说好\n- it's 468 元\n"
                "- 更正 2025-02-03：开业日期 → 3 月 15 日\n"
            ).encode()
        }

    def test_of_a_workspace(self, tmp_path):
        mem = open_at(tmp_path, layout="workspace")
        mem.append("水开了\n第二行", tag="家庭")
        mem.correct("2025-02-03", "开业日期", "3 月 15 日")
        mem.store("喜欢白水")
        mem.store("灯", "daily", tag="待办")
        assert tree(tmp_path) == {
            TODAYS["workspace"]: (
                f"- {STAMP} [家庭] 水开了 第二行\n- {STAMP} 更正 2025-02-03：开业日期 → 3 月 15 日\n- {STAMP} [待办] 灯\n"
            ).encode(),
            "MEMORY.md": f"## Store\n- {STAMP} 喜欢白水\n".encode(),
        }
        assert mem.entries()["written_at"].notna().all()

    def test_of_layers(self, tmp_path):
        mem = open_at(tmp_path, layout="layers")
        mem.append("水开了\n第二行", tag="家庭", important=True)
        mem.correct("2025-02-03", "开业日期", "3 月 15 日")
        mem.topics_add("红水壶", "2025-02")
        mem.hot_set("正文")
        lines = [f"- [{STAMP}] [家庭] 水开了 第二行", f"- [{STAMP}] [更正] 2025-02-03：开业日期 → 3 月 15 日"]
        assert tree(tmp_path) == {
            TODAYS["layers"]: f"# 2025-02-28\n\n{lines[0]}\n{lines[1]}\n".encode(),
            "hot.md": (
                f"正文\n\n<!-- candidates:start -->\n{lines[0]}\n<!-- candidates:end -->\n\n"
                "<!-- topics:start -->\n红水壶|2025-02\n<!-- topics:end -->\n"
            ).encode(),
        }
        assert all(line.ENTRY.fullmatch(said) for said in lines)

    def test_a_hot_layer_keeps_its_line_ends_and_its_mark(self, tmp_path):
        (tmp_path / "hot.md").write_bytes(
            "\ufeff正文\r\n\r\n<!-- topics:start -->\r\n壶|2025-01\r\n<!-- topics:end -->\r\n".encode()
        )
        mem = open_at(tmp_path, layout="layers")
        mem.topics_add("灯", "2025-02")
        mem.append("水开了", important=True)
        after = (tmp_path / "hot.md").read_bytes().decode()
        assert after.startswith("\ufeff正文\r\n\r\n<!-- candidates:start -->\r\n")
        assert after.count("\n") == after.count("\r\n")
        assert mem.topics()["topic"].tolist() == ["壶", "灯"]

    def test_a_stored_line_comes_back_from_either_name_of_the_long_term_file(self, tmp_path):
        (tmp_path / "memory.md").write_text("---\ntitle: 记忆\n---\n# 记忆\n", encoding="utf-8")
        mem = open_at(tmp_path, layout="workspace")
        assert mem.store("喜欢白水", tag="口味").added == 1
        assert mem.store("喜欢白水", tag="口味").added == 0
        assert sorted(tree(tmp_path)) == ["memory.md"]
        assert mem.tagged("口味")["section"].tolist() == ["记忆 › Store"]

    def test_an_entry_with_tags_in_its_text_is_still_known_as_itself(self, tmp_path):
        mem = open_at(tmp_path, layout="workspace")
        for text in ("水 #壶 [壶] 开", "[壶] [灯] 水 #壶", "[x] 水", "水 [家庭]"):
            assert mem.append(text).added == 1
            assert mem.append(text).added == 0
            assert mem.store(text).added == 1
            assert mem.store(text).added == 0


class TestTheArchive:
    def shell(self, root: Path, command: str) -> list[str]:
        done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    @pytest.fixture
    def written(self, tmp_path):
        """Return an archive in which memkit wrote one entry on each of three days, over a year's end."""
        now = [datetime(2024, 12, 31, 12, 0, tzinfo=ZoneInfo(ZONE))]
        mem = open_at(tmp_path, layout="archive", now=lambda: now[0])
        for text in ("红水壶在窗台；花了 468 元", 'it\'s Kepler 的 "钟"：停了', "豆包赢了 3 条小鱼干"):
            mem.append(text, tag="家庭")
            now[0] += timedelta(days=1)
        mem.catch_up()
        return mem

    def test_is_found_by_the_seeds_own_commands(self, written):
        root = written.root
        assert self.shell(root, "grep -HniE 'kepler|豆包' catalog/*.tsv | grep -iE '钟'") == [
            'catalog/2025.tsv:1:2025-01-01\t[家庭] it\'s Kepler 的 "钟"：停了'
        ]
        assert self.shell(root, "grep -n '' archive/2024/2024-12-31.md")[-1] == "6:- [家庭] 红水壶在窗台；花了 468 元"
        assert self.shell(root, "grep -RnE '^index:.*(468|没有)' archive") == [
            "archive/2024/2024-12-31.md:3:index: '[家庭] 红水壶在窗台；花了 468 元'"
        ]
        assert self.shell(root, "grep -RniE '小鱼干' archive | wc -l") == ["2"]
        assert len(self.shell(root, "find archive/2025 -name '*.md'")) == 2

    def test_has_the_catalog_that_the_seeds_own_recipe_makes(self, written):
        recipe = r"""
            for file in $(find archive/2025 -name '*.md' | sort); do
                date=$(sed -n 's/^date: //p' "$file" | head -1)
                index=$(sed -n "s/^index: '\(.*\)'$/\1/p" "$file" | head -1 | sed "s/''/'/g")
                printf '%s\t%s\n' "$date" "$index"
            done
        """
        assert self.shell(written.root, recipe) == (written.root / "catalog/2025.tsv").read_text("utf-8").split("\n")[:-1]

    def test_rebuilt_is_the_same_byte_for_byte(self, mem):
        if mem.layout != "archive":
            return
        before = tree(mem.root)
        assert mem.rebuild_catalog().edits == ()
        for year in (2024, 2025):
            (mem.root / f"catalog/{year}.tsv").unlink()
        mem.rebuild_catalog(2024)
        mem.rebuild_catalog(2025)
        assert tree(mem.root) == before

    def test_a_day_in_a_wrong_folder_has_a_row_too(self, tmp_path):
        shutil.copytree(SAMPLES / "broken/wrong-year-folder", tmp_path / "s")
        mem = open_at(tmp_path / "s")
        rows = mem.catalog()["date"].tolist()
        mem.rebuild_catalog()
        assert mem.catalog()["date"].tolist() == rows
        (mem.root / "catalog/2025.tsv").unlink()
        mem.rebuild_catalog(2025)
        assert mem.catalog()["date"].tolist() == rows
        assert mem.audit().frame["rule"].tolist() == ["wrong-year-folder"]
        assert mem.append("水开了").warnings == []
        assert mem.catalog()["date"].tolist() == rows

    @pytest.mark.parametrize("year", ["2025", 0, 10000, 2025.0, True])
    def test_a_year_that_is_none_is_refused(self, tmp_path, year):
        mem = open_at(shutil.copytree(SAMPLES / "archive", tmp_path / "s"))
        with pytest.raises(BadArgument, match=r"^year: "):
            mem.rebuild_catalog(year)

    def test_a_year_without_a_day_is_no_change(self, tmp_path):
        mem = open_at(shutil.copytree(SAMPLES / "archive", tmp_path / "s"))
        assert mem.rebuild_catalog(1999).rows.values.tolist() == [["catalog/1999.tsv", "unchanged", "0 days"]]

    def test_catching_up_says_which_catalogs_it_brought_up_to_date(self, tmp_path):
        mem = open_at(shutil.copytree(SAMPLES / "archive", tmp_path / "s"), now="2025-03-05T09:00+08:00")
        dry = mem.catch_up(dry_run=True)
        assert dry.rows.values.tolist() == [["catalog/2025.tsv", "append", "1 days"]]
        assert mem.append("水开了", dry_run=True).diff().count("+2025-02-28\t") == 1
        done = mem.catch_up()
        assert (done.diff(), done.rows.values.tolist()) == (dry.diff(), dry.rows.values.tolist())
        assert mem.catch_up().edits == ()

    def test_a_kept_plan_brings_the_catalog_up_to_date_too(self, tmp_path):
        mem = open_at(shutil.copytree(SAMPLES / "archive", tmp_path / "s"), now="2025-03-05T09:00+08:00")
        mem.push(pd.DataFrame({"text": ["水开了"], "digest": [None]})).apply()
        assert not len(mem.audit().frame)

    @pytest.mark.parametrize("index", ["", "  ", "a\tb", "a\nb", 7])
    def test_a_given_index_must_be_one_line(self, tmp_path, index):
        mem = open_at(tmp_path, layout="archive")
        with pytest.raises(BadIndexError, match=r"^index: "):
            mem.append("水开了", index=index)
        assert tree(tmp_path) == {}

    def test_a_given_index_replaces_the_whole_and_can_be_given_alone(self, tmp_path):
        mem = open_at(tmp_path, layout="archive")
        mem.append("水开了")
        plan = mem.append("水开了", index="it's 水")
        assert plan.added == 0
        assert plan.rows["action"].tolist() == ["index"]
        mem.append("灯关了")
        assert mem.days()["index"].tolist() == ["it's 水；灯关了"]

    def test_the_index_speaks_of_every_entry(self, tmp_path):
        mem = open_at(tmp_path, layout="archive")
        texts = list(open_at(SAMPLES / "archive").entries()["text"])
        mem.append_many(texts)
        index = mem.days()["index"].iloc[0]
        for said in mem.entries()["text"]:
            first = re.split(r"[。！？；\n]|[!?;]\s", said)[0]
            assert norm_text(first.replace("**", "")).strip("| ")[:20] in norm_text(index)


class TestACorrection:
    def test_leaves_the_day_it_speaks_of(self, mem, layout):
        frozen = {path: data for path, data in tree(mem.root).items() if "2025-02-03" in path}
        mem.correct("2025-02-03", "开业日期", "改到 3 月 15 日")
        assert {path: data for path, data in tree(mem.root).items() if "2025-02-03" in path} == frozen
        last = mem.entries().query("path == @TODAYS[@layout]").iloc[-1]
        said = "2025-02-03：开业日期 → 改到 3 月 15 日"
        assert (last["tag"], last["text"]) == ("更正", said) if layout == "layers" else last["text"] == f"更正 {said}"

    @pytest.mark.parametrize("nasty", NASTY)
    def test_is_one_line_whatever_it_quotes(self, mem, layout, nasty):
        before = len(mem.entries())
        mem.correct("2025-02-03", nasty, nasty)
        assert len(mem.entries()) == before + 1
        assert "\n" not in mem.entries().query("path == @TODAYS[@layout]")["text"].iloc[-1]


OF_A_GIVEN_INDEX = ("index-misses-entry", "index-invents")  # it may say what its day does not


class TestNothingCanBeForged:
    """Whatever stands in an argument is one entry, one row, one topic: never a heading, a block or a row of its own."""

    def shape(self, mem) -> dict[str, object]:
        """Return what could be forged: headings, catalog rows, blocks of the hot layer, days, summaries, findings."""
        hot, files = mem.hot(), tree(mem.root).items()
        return {
            "headings": [row for path, data in files if path != "hot.md" for row in data.split(b"\n") if row.startswith(b"#")],
            "rows": mem.catalog().values.tolist(),
            "hot": (hot.content, len(hot.candidates), len(hot.topics)),
            "dates": sorted(set(mem.entries()["date"].dropna())),
            "findings": [rule for rule in mem.audit().frame["rule"] if rule not in OF_A_GIVEN_INDEX],
        }

    @pytest.mark.parametrize("nasty", NASTY)
    def test_by_the_text_of_an_entry(self, mem, layout, nasty):
        before, entries = self.shape(mem), mem.entries()
        assert mem.append(nasty).added == 1
        assert self.shape(mem) == before
        after = mem.entries()
        assert len(after) == len(entries) + 1
        assert set(after["text"]) > set(entries["text"])
        assert mem.append(nasty).added == 0

    @pytest.mark.parametrize("nasty", NASTY)
    def test_by_a_tag(self, mem, layout, nasty):
        before, entries = self.shape(mem), mem.entries()
        try:
            mem.append("水开了", tag=nasty)
        except BadArgument as error:
            told = str(error)
        else:
            told = ""
        if told:
            assert re.fullmatch("tag: .*", told)
            assert self.shape(mem) == before
            return
        assert self.shape(mem) == before
        assert len(mem.entries()) == len(entries) + 1
        assert mem.recent(1)["text"].str.endswith("水开了").sum() == 1

    @pytest.mark.parametrize("nasty", NASTY)
    def test_by_an_index(self, tmp_path, nasty):
        mem = open_at(shutil.copytree(SAMPLES / "archive", tmp_path / "s"))
        before = self.shape(mem)
        try:
            mem.append("水开了", index=nasty)
        except BadIndexError:
            assert self.shape(mem) == before
            return
        assert self.shape(mem) == before
        assert mem.days()["index"].iloc[-1] == nasty.strip()

    @pytest.mark.parametrize("nasty", NASTY)
    def test_by_a_stored_line_or_a_topic(self, tmp_path, nasty):
        work = open_at(shutil.copytree(SAMPLES / "workspace", tmp_path / "w"))
        work.store("先有一节")
        before, count = self.shape(work), len(work.entries())
        work.store(nasty)
        work.store(nasty, "daily")
        assert self.shape(work) == before
        assert len(work.entries()) == count + 2
        layered = open_at(shutil.copytree(SAMPLES / "layers", tmp_path / "l"))
        before = self.shape(layered)
        layered.topics_add(nasty, "2025-02")
        topics = layered.topics()
        assert len(topics) == before["hot"][2] + 1
        assert topics["month"].iloc[-1] == "2025-02"
        assert self.shape(layered) == before | {"hot": (*before["hot"][:2], len(topics))}

    @pytest.mark.parametrize("nasty", NASTY)
    def test_by_a_replacement(self, mem, layout, nasty):
        entries = mem.entries()
        before = self.shape(mem)
        mem.forget(entries.iloc[[3]], replacement=nasty).apply()
        after = mem.entries()
        assert len(after) == len(entries)
        assert sum(a != b for a, b in zip(after["text"], entries["text"], strict=True)) == 1
        assert self.shape(mem) == before | {"rows": mem.catalog().values.tolist()}
        assert [row[0] for row in mem.catalog().values.tolist()] == [row[0] for row in before["rows"]]

    @pytest.mark.parametrize("nasty", NASTY)
    def test_by_a_pushed_row(self, mem, nasty):
        before, count = self.shape(mem), len(mem.entries())
        mem.push(pd.DataFrame({"text": pd.Series([nasty], dtype=object), "digest": [None]})).apply()
        assert len(mem.entries()) == count + 1
        assert self.shape(mem) == before

    @pytest.mark.parametrize("nasty", NASTY)
    def test_by_a_hot_body_without_markers(self, tmp_path, nasty):
        mem = open_at(shutil.copytree(SAMPLES / "layers", tmp_path / "l"))
        before = self.shape(mem)
        if "<!-- candidates" in nasty:
            with pytest.raises(BadArgument, match=r"^content: "):
                mem.hot_set(nasty)
            return
        mem.hot_set(nasty)
        assert self.shape(mem)["hot"][1:] == before["hot"][1:]


class TestManyVerbs:
    TEXTS = (
        "红水壶在窗台，壶嘴朝左",
        "花了 468 元。老顾说不贵；我说贵！",
        "A rainy-day rule: ginger tea is half price",
        "`同步.log` 里有 3 行 ERROR?! 先不管",
        "《晾衣绳》第二段\n低音部进来\n- 先数四拍",
        "豆包赢了",
        "周末想去看海 #旅行",
        "**决定**：灯 22:00 关",
    )

    @pytest.mark.parametrize("seed", range(3))
    def test_leave_an_audit_without_any_finding(self, layout, tmp_path, seed):
        pick = random.Random(seed)
        now = [datetime(2025, 2, 28, 21, 30, tzinfo=ZoneInfo(ZONE))]
        mem = open_at(shutil.copytree(SAMPLES / layout, tmp_path / "s"), now=lambda: now[0])
        old = set(mem.entries()["text"])
        for _ in range(50):
            text = f"{pick.choice(self.TEXTS)}（{pick.randrange(40)}）"
            verb = pick.choice(verbs_of(layout))
            if verb == "append":
                mem.append(text, pick.choice([None, "决定", "待办"]), important=layout == "layers" and pick.random() < 0.3)
            elif verb == "append_many":
                mem.append_many([text, (pick.choice(self.TEXTS), "家庭")])
            elif verb == "correct":
                mem.correct("2025-02-03", "开业日期", text)
            elif verb == "hot_set":
                mem.hot_set(text)
            elif verb == "topics_add":
                mem.topics_add(f"话题 {pick.randrange(9)}", "2025-02")
            elif verb == "store":
                mem.store(text, pick.choice(["longterm", "daily"]))
            else:
                getattr(mem, verb)()
            if pick.random() < 0.1:
                now[0] += timedelta(hours=pick.choice([1, 13, 40]))
        mem.append("最后一条")
        found = mem.audit().frame
        assert found.loc[found["rule"] != "summary-missing", "message"].tolist() == []  # days end here without a summary
        assert old <= set(mem.entries()["text"])

    def test_of_an_archive_leave_the_catalog_that_its_day_files_say(self, tmp_path):
        now = [datetime(2024, 12, 30, 21, 30, tzinfo=ZoneInfo(ZONE))]
        mem = open_at(tmp_path, layout="archive", now=lambda: now[0])
        for text in self.TEXTS:
            mem.append(text)
            mem.append(f"{text}，又一遍")
            now[0] += timedelta(days=1)
        mem.catch_up()
        days = mem.days()
        rows = "".join(f"{day.date()}\t{index}\n" for day, index in zip(days["date"], days["index"], strict=True))
        assert "".join((tmp_path / f"catalog/{year}.tsv").read_text("utf-8") for year in (2024, 2025)) == rows
        assert mem.rebuild_catalog().edits == ()


def test_a_frozen_day_is_changed_by_no_verb_but_forget(mem):
    frozen = {
        path: data for path, data in tree(mem.root).items() if (day := mem._loaded.layout.role(path).day) and str(day) < TODAY
    }
    for verb in verbs_of(mem.layout):
        getattr(mem, verb)(*VERBS[verb])
    assert {path: data for path, data in tree(mem.root).items() if path in frozen} == frozen


def test_a_plan_of_yesterday_is_frozen(layout, tmp_path):
    times = ["2025-02-28T23:59:30+08:00"]
    mem = open_at(tmp_path, layout=layout, now=lambda: datetime.fromisoformat(times[-1]))
    plan = mem.append("水开了", dry_run=True)
    times.append("2025-03-01T00:00:30+08:00")
    with pytest.raises(FrozenError):
        plan.apply()
    assert tree(tmp_path) == {}


class TestKeptPlans:
    def test_a_forgetting_planned_before_midnight_reaches_the_row_made_after_it(self, copied):
        clock = [datetime(2025, 2, 28, 23, 59, tzinfo=ZoneInfo("Asia/Shanghai"))]
        mem = memkit.open(copied("archive"), now=lambda: clock[0], tz="Asia/Shanghai")
        mem.append("蓝色钥匙藏在花盆下")
        plan = mem.forget("蓝色钥匙藏在花盆下")
        clock[0] += timedelta(minutes=2)
        mem.catch_up()
        assert "蓝色钥匙" in mem.catalog()["index"].iloc[-1]
        plan.apply()
        assert not any("蓝色钥匙".encode() in path.read_bytes() for path in mem.root.rglob("*") if path.is_file())
        assert mem.audit().ok

    def test_words_that_stand_elsewhere_are_told_however_their_lines_break(self, tmp_path):
        (tmp_path / "memory").mkdir()
        (tmp_path / "memory/2025-02-27.md").write_text("- 钥匙\n  藏在花盆下面\n", encoding="utf-8")
        (tmp_path / "memory/2025-02-26.md").write_text("前言 钥匙\n藏在花盆下面 后记\n", encoding="utf-8")
        mem = open_at(tmp_path)
        plan = mem.forget(mem.between("2025-02-27", "2025-02-27"))
        assert [warning for warning in plan.warnings if "memory/2025-02-26.md" in warning]

    @pytest.mark.parametrize("junk", [None, 5, object()])
    def test_what_is_no_list_of_entries_is_refused(self, copied, junk):
        mem = open_at(copied("layers"))
        with pytest.raises(memkit.BadArgument, match=r"^entries: "):
            mem.append_many(junk)
        with pytest.raises(memkit.BadArgument, match=r"^manifest: "):
            mem.forget("x", manifest=b"x")
