"""forget: what goes, what stays byte for byte, and that no copy is left anywhere below the root, in all three layouts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest
from conftest import SAMPLES, open_at
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memkit
from memkit.edits.forget import BEYOND
from memkit.errors import BadArgument, BadIndexError, ConflictError, LostTextError
from memkit.store import Store
from memkit.text import norm_text

LAYOUTS = ("archive", "workspace", "layers")
FROZEN = {"archive": "archive/2025/2025-02-03.md", "workspace": "memory/2025-02-03.md", "layers": "cold/2025-02/2025-02-03.md"}
TODAYS = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}
SECRET = "柜子密码是 4711，写在红水壶的壶底，谁也别告诉，连豆包也别告诉，尤其别告诉豆包，它藏不住话，上次就是它说的"


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens a copy of a layout's sample, or a store made of given files."""

    def make(layout: str, files: dict[str, str | bytes] | None = None, **options) -> Store:
        root = tmp_path / f"{layout}-{len(list(tmp_path.iterdir()))}"
        if files is None:
            shutil.copytree(SAMPLES / layout, root)
            return open_at(root, **options)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        return open_at(root, layout=layout, **options)

    return make


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def holding(root: Path, *texts: str) -> list[str]:
    """Return the files below a root that hold one of the texts, however their blanks are folded."""
    held = {path: norm_text(data.decode("utf-8", "replace")) for path, data in tree(root).items()}
    return [path for path, whole in held.items() if any(norm_text(text) in whole for text in texts)]


def clean(mem: Store) -> bool:
    """Return whether the audit has nothing to say and no summary is stale."""
    return not len(mem.audit().frame) and not mem.summaries()["stale"].any()


def day(*entries: str, index: str, date: str = "2025-02-03") -> str:
    return f"---\ndate: {date}\nindex: '{index}'\n---\n## {date}\n" + "".join(f"- {entry}\n" for entry in entries)


def row(text: str, tag: str = "-", clock: str = "01:00", date: str = "2025-02-03") -> str:
    return f"- [{date}T{clock}:00.000Z] [{tag}] {text}\n"


class TestASample:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("nth", range(0, 140, 23))
    def test_forgets_any_entry_and_stays_clean(self, opened, layout, nth):
        mem = opened(layout)
        before, entries = tree(mem.root), mem.entries()
        text = entries["text"].iloc[nth]
        plan = mem.forget(text)
        assert tree(mem.root) == before
        assert not plan.applied
        plan.apply()
        assert holding(mem.root, text, *([text[:40]] if len(text) > 40 else [])) == []
        left = entries[entries["text"] != text]
        assert mem.entries()[["path", "tag", "text"]].values.tolist() == left[["path", "tag", "text"]].values.tolist()
        assert clean(mem)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_keeps_every_other_byte_of_its_file(self, opened, layout):
        mem = opened(layout)
        entries = mem.entries()
        place = entries["path"].eq(FROZEN[layout]).to_numpy().nonzero()[0][0]
        gone = entries.iloc[place]
        before = (mem.root / gone["path"]).read_bytes().split(b"\n")
        mem.forget(entries.iloc[[place]]).apply()
        after = (mem.root / gone["path"]).read_bytes().split(b"\n")
        kept = before[: gone["line"] - 1] + before[gone["end_line"] :]
        assert [line for line in after if not line.startswith(b"index:")] == [
            line for line in kept if not line.startswith(b"index:")
        ]

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_forgets_todays_entry_too(self, opened, layout):
        mem = opened(layout)
        text = mem.entries().query("path == @TODAYS[@layout]")["text"].iloc[0]
        mem.forget(text).apply()
        assert holding(mem.root, text) == []
        assert clean(mem)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_forgets_all_there_is(self, opened, layout):
        mem = opened(layout)
        mem.forget(mem.entries(dreams=True)).apply()
        assert len(mem.entries(dreams=True)) == 0
        days = [path for path in tree(mem.root) if path.endswith(".md") and "dreaming" not in path]
        assert [path for path in days if mem._loaded.refresh().facts[path].role.day] == []
        assert [path for path in tree(mem.root) if path.startswith(("catalog/", "summaries/"))] == []


class TestWhatIsAskedFor:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_may_be_a_text_with_or_without_its_tag(self, opened, layout):
        mem = opened(layout)
        found = mem.entries().dropna(subset="tag").iloc[0]
        with_tag, alone = mem.forget(f"[{found['tag']}] {found['text']}"), mem.forget(found["text"])
        assert with_tag.diff() == alone.diff()
        assert with_tag.rows["reason"].tolist()[:1] == ["asked for"]

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_must_be_the_whole_text(self, opened, layout):
        mem = opened(layout)
        plan = mem.forget(mem.entries()["text"].iloc[0][:-1])
        assert plan.edits == ()
        assert plan.warnings[0] == "no entry has exactly this text"

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_may_be_rows_whose_line_numbers_are_wrong_by_now(self, opened, layout):
        mem = opened(layout)
        rows = mem.entries().iloc[[5, 9]].assign(line=1, end_line=1)
        mem.forget(rows).apply()
        assert holding(mem.root, *rows["text"]) == []

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_may_be_rows_that_overlap(self, opened, layout):
        mem = opened(layout)
        rows = mem.entries().iloc[[5, 9]]
        plan = mem.forget(pd.concat([rows, rows.iloc[:1]]))
        assert plan.diff() == mem.forget(rows).diff()

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_rows_that_are_gone_are_a_conflict(self, opened, layout):
        mem = opened(layout)
        rows = mem.entries().iloc[[5]]
        mem.forget(rows).apply()
        with pytest.raises(ConflictError, match="no longer there"):
            mem.forget(rows)

    @pytest.mark.parametrize(
        ("what", "options"),
        [
            ("", {}),
            (" \n", {}),
            (7, {}),
            (pd.DataFrame({"text": ["茶"]}), {}),
            ("茶", {"date": "gestern"}),
            ("茶", {"replacement": " "}),
            ("茶", {"replacement": 7}),
        ],
    )
    def test_must_mean_something(self, opened, what, options):
        mem = opened("layers")
        with pytest.raises(BadArgument, match=r"^(rows_or_text|date|replacement): "):
            mem.forget(what, **options)

    def test_of_one_day_may_be_chosen_by_its_date(self, opened):
        files = {"cold/2025-02/2025-02-03.md": row("茶"), "cold/2025-02/2025-02-04.md": row("茶", date="2025-02-04")}
        mem = opened("layers", files)
        plan = mem.forget("茶", date="2025-02-04")
        assert plan.rows.values.tolist() == [
            ["cold/2025-02/2025-02-04.md:1", "forget", "asked for"],
            ["cold/2025-02/2025-02-03.md:1", "forget", "the same text elsewhere"],
        ]
        assert mem.forget("茶", date="2025-02-05").edits == ()
        plan.without(1).apply()
        assert mem.entries()["path"].tolist() == ["cold/2025-02/2025-02-03.md"]


class TestWhatSpeaksOfIt:
    FILES: ClassVar = {
        "cold/2025-02/2025-02-03.md": row("开业日期是 3 月 8 日", "决定") + row("买了豆子", clock="02:00"),
        "cold/2025-02/2025-02-04.md": row("开业日期是 3 月 8 日", "抄写", date="2025-02-04"),
        "cold/2025-02/2025-02-05.md": row("2025-02-03：开业日期 → 改到 3 月 15 日", "更正", date="2025-02-05")
        + row("2025-02-03：别的 → 开业日期是 3 月 8 日", "更正", "02:00", "2025-02-05")
        + row("2025-02-03：豆子 → 买了两袋豆子", "更正", "03:00", "2025-02-05")
        + row("开业日期又有人问", clock="04:00", date="2025-02-05"),
    }

    def test_is_in_the_plan_with_a_reason_each(self, opened):
        plan = opened("layers", self.FILES).forget("开业日期是 3 月 8 日", date="2025-02-03")
        assert plan.rows.values.tolist() == [
            ["cold/2025-02/2025-02-03.md:1", "forget", "asked for"],
            ["cold/2025-02/2025-02-04.md:1", "forget", "the same text elsewhere"],
            ["cold/2025-02/2025-02-05.md:1", "forget", "a correction of it"],
            ["cold/2025-02/2025-02-05.md:2", "forget", "a correction that quotes it"],
        ]
        assert plan.warnings == [BEYOND]

    def test_can_be_left_out_row_by_row_as_the_rows_are_numbered_then(self, opened):
        mem = opened("layers", self.FILES)
        plan = mem.forget("开业日期是 3 月 8 日", date="2025-02-03")
        once = plan.without(1).without(1)
        assert once.rows["reason"].tolist() == ["asked for", "a correction that quotes it"]
        assert once.diff() == plan.without(1, 2).diff()
        once.apply()
        assert mem.entries()["text"].tolist() == [
            "买了豆子",
            "开业日期是 3 月 8 日",
            "2025-02-03：开业日期 → 改到 3 月 15 日",
            "2025-02-03：豆子 → 买了两袋豆子",
            "开业日期又有人问",
        ]

    def test_left_out_whole_leaves_nothing_to_do(self, opened):
        mem = opened("layers", self.FILES)
        plan = mem.forget("买了豆子")
        assert plan.without(*range(len(plan.rows))).edits == ()

    @pytest.mark.parametrize("wrong", [4, -1, 99])
    def test_a_row_that_is_none_cannot_be_left_out(self, opened, wrong):
        plan = opened("layers", self.FILES).forget("开业日期是 3 月 8 日", date="2025-02-03")
        with pytest.raises(BadArgument, match=r"^without: row -?\d+ is no entry of this plan; it has 4 entries"):
            plan.without(wrong)

    def test_a_correction_that_may_be_of_another_entry_stays(self, opened):
        files = self.FILES | {"cold/2025-02/2025-02-03.md": row("买了豆子") + row("磨了豆子", clock="02:00")}
        plan = opened("layers", files).forget("买了豆子")
        assert plan.rows["reason"].tolist() == ["asked for"]

    def test_a_short_word_inside_a_correction_is_no_quote(self, opened):
        plan = opened("layers", self.FILES | {"cold/2025-02/2025-02-06.md": row("豆子", date="2025-02-06")}).forget("豆子")
        assert plan.rows["reason"].tolist() == ["asked for"]

    def test_is_also_found_in_the_archive_and_in_a_workspace(self, opened):
        for layout, path in (("archive", "archive/2025/2025-02-03.md"), ("workspace", "memory/2025-02-03.md")):
            mem = opened(layout, {path: "- 开业日期是 3 月 8 日\n"})
            mem.correct("2025-02-03", "开业日期", "改到 3 月 15 日")
            assert mem.forget("开业日期是 3 月 8 日").rows["reason"].tolist()[:2] == ["asked for", "a correction of it"]

    def test_a_quote_is_replaced_and_another_correction_is_kept(self, opened):
        mem = opened("layers", self.FILES)
        mem.forget("开业日期是 3 月 8 日", replacement="日期未定").apply()
        assert mem.entries()["text"].tolist() == [
            "日期未定",
            "买了豆子",
            "日期未定",
            "2025-02-03：开业日期 → 改到 3 月 15 日",
            "2025-02-03：别的 → 日期未定",
            "2025-02-03：豆子 → 买了两袋豆子",
            "开业日期又有人问",
        ]

    def test_what_stays_and_holds_the_words_is_named(self, opened):
        mem = opened("layers", self.FILES | {"hot.md": "开业日期是 3 月 8 日，大家都知道\n"})
        plan = mem.forget("开业日期是 3 月 8 日")
        assert plan.warnings[-1] == "the words stand in other text too, which stays: hot.md"

    def test_a_transcript_and_a_file_outside_are_kept_and_said_so(self, opened, tmp_path):
        session, outside = tmp_path / "chat.jsonl", tmp_path / "outside.md"
        session.write_text('{"role": "user", "content": "密码 4711"}\n', encoding="utf-8")
        outside.write_text("- user: 密码 4711\n", encoding="utf-8")
        files = {"MEMORY.md": "- user: 密码 4711\n", "more/notes.md": "- user: 密码 4711\n- 茶\n"}
        mem = opened("workspace", files, session=session, extra=[str(outside), "more"])
        plan = mem.forget("user: 密码 4711")
        assert plan.rows["action"].tolist().count("kept") == 2
        plan.apply()
        assert tree(mem.root) == {"MEMORY.md": b"", "more/notes.md": b"- \xe8\x8c\xb6\n"}
        assert "4711" in session.read_text("utf-8")
        assert "4711" in outside.read_text("utf-8")


class TestTheIndexAndTheCatalog:
    def test_an_extracted_index_is_extracted_again(self, opened):
        mem = opened(
            "archive", {FROZEN["archive"]: day("花了 468 元。真的", "[家庭] 红水壶；补过", index="花了 468 元；[家庭] 红水壶")}
        )
        mem.rebuild_catalog()
        plan = mem.forget("花了 468 元。真的")
        plan.apply()
        assert (mem.root / FROZEN["archive"]).read_text("utf-8") == day("[家庭] 红水壶；补过", index="[家庭] 红水壶")
        assert (mem.root / "catalog/2025.tsv").read_text("utf-8") == "2025-02-03\t[家庭] 红水壶\n"
        assert plan.warnings == [BEYOND]

    def test_an_index_written_by_hand_loses_the_clauses_that_it_alone_had(self, opened):
        index = "那天的事；花了 468 元；壶；红水壶响了"
        mem = opened("archive", {FROZEN["archive"]: day("花了 468 元", "[家庭] 红水壶响了", index=index)})
        plan = mem.forget("花了 468 元")
        plan.apply()
        assert mem.day("2025-02-03").index == "那天的事；壶；红水壶响了"
        assert plan.warnings == [BEYOND]

    def test_an_index_that_still_has_its_words_asks_for_a_new_one(self, opened):
        mem = opened("archive", {FROZEN["archive"]: day("宋阿姨来收水费", "灯关了", index="宋阿姨的事；灯关了")})
        plan = mem.forget("宋阿姨来收水费")
        assert (
            "archive/2025/2025-02-03.md: its index was written by hand and may still speak of it; pass new_index="
            in plan.warnings
        )
        plan = mem.forget("宋阿姨来收水费", new_index="it's 关灯")
        assert plan.warnings == [BEYOND]
        plan.apply()
        assert (mem.root / FROZEN["archive"]).read_text("utf-8") == day("灯关了", index="it''s 关灯")
        assert mem.catalog()["index"].tolist() == ["it's 关灯"]

    def test_a_whole_copy_of_a_text_is_cut_out_of_an_index(self, opened):
        mem = opened("archive", {FROZEN["archive"]: day("甲乙。丙丁", "灯", index="前言，甲乙。丙丁；灯")})
        mem.forget("甲乙。丙丁").apply()
        assert holding(mem.root, "甲乙。丙丁", "丙丁") == []

    def test_a_new_index_is_one_days(self, opened):
        files = {
            path: day("茶", "灯", index="x", date=path[13:23])
            for path in ("archive/2025/2025-02-03.md", "archive/2025/2025-02-04.md")
        }
        mem = opened("archive", files)
        with pytest.raises(BadArgument, match=r"^new_index: it is one day's, and this is about 2 days"):
            mem.forget("茶", new_index="新")
        mem.forget("茶", date="2025-02-03", new_index="新").apply()
        assert mem.days()["index"].tolist() == ["新", "x"]
        with pytest.raises(BadIndexError):
            mem.forget("灯", date="2025-02-03", new_index="a\tb")

    @pytest.mark.parametrize("layout", ["workspace", "layers"])
    def test_only_an_archive_has_an_index(self, opened, layout):
        mem = opened(layout)
        with pytest.raises(BadArgument, match=r"^new_index: "):
            mem.forget(mem.entries()["text"].iloc[0], new_index="新")

    def test_the_last_entry_takes_the_file_and_its_row_along(self, opened):
        mem = opened(
            "archive",
            {FROZEN["archive"]: day("茶", index="茶"), "archive/2025/2025-02-04.md": day("灯", index="灯", date="2025-02-04")},
        )
        mem.rebuild_catalog()
        mem.forget("茶").apply()
        assert sorted(tree(mem.root)) == ["archive/2025/2025-02-04.md", "catalog/2025.tsv"]
        assert mem.catalog()["index"].tolist() == ["灯"]
        mem.forget("灯").apply()
        assert tree(mem.root) == {}

    def test_one_of_two_index_lines_is_not_guessed(self, opened):
        text = "---\nindex: '茶'\nindex: '灯'\n---\n- 茶\n- 灯\n"
        mem = opened("archive", {FROZEN["archive"]: text})
        with pytest.raises(LostTextError, match="two index lines"):
            mem.forget("灯")
        plan = mem.forget("茶")
        assert plan.warnings[-1] == f"the words stand in other text too, which stays: {FROZEN['archive']}"

    def test_a_day_without_front_matter_gets_none(self, opened):
        mem = opened("archive", {FROZEN["archive"]: "- 茶\n- 灯\n"})
        mem.forget("茶").apply()
        assert (mem.root / FROZEN["archive"]).read_text("utf-8") == "- 灯\n"

    def test_a_day_in_a_wrong_folder_keeps_its_row(self, opened):
        mem = opened("archive", {"archive/2024/2025-02-03.md": day("茶", "灯", index="茶；灯")})
        mem.forget("茶").apply()
        assert mem.catalog()["index"].tolist() == ["灯"]


class TestSummariesAndCandidates:
    def summed(self, opened, **more: str) -> Store:
        """Return a store with one long secret, and day, week and month summaries of all its days."""
        files = {
            "cold/2025-01/2025-01-31.md": row("一月最后一天", date="2025-01-31"),
            "cold/2025-02/2025-02-03.md": row(SECRET * 3, "家庭") + row("灯关了", clock="02:00"),
            "cold/2025-02/2025-02-04.md": row("水开了", date="2025-02-04"),
            **more,
        }
        mem = opened("layers", files)
        for period in ("day", "week", "month"):
            for first in ("2025-01-31", "2025-02-03", "2025-02-04"):
                text = str(mem.summary(period, first))
                target = mem.root / f"summaries/{period}/{text.split()[2].partition('（')[0]}.md"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        assert not mem.summaries()["stale"].any()
        return mem

    def test_are_made_again_from_what_is_left(self, opened):
        mem = self.summed(opened)
        assert holding(mem.root, SECRET[:40])[1:] == [
            "summaries/day/2025-02-03.md",
            "summaries/month/2025-02.md",
            "summaries/week/2025-W06.md",
        ]
        old = tree(mem.root)
        mem.forget(SECRET * 3).apply()
        assert holding(mem.root, SECRET[:40]) == []
        assert clean(mem)
        assert mem.summaries().query("key == '2025-W06'")["entries"].tolist() == [2]
        kept = [path for path, data in tree(mem.root).items() if old[path] == data]
        assert {"summaries/month/2025-01.md", "summaries/week/2025-W05.md", "summaries/day/2025-02-04.md"} <= set(kept)

    def test_go_when_their_period_has_nothing_left(self, opened):
        mem = self.summed(opened)
        mem.forget(mem.between("2025-02-01", "2025-02-28")).apply()
        assert mem.summaries()["key"].tolist() == ["2025-01-31", "2025-W05", "2025-01"]
        assert clean(mem)

    def test_are_purged_when_the_entry_is_gone_already(self, opened):
        mem = self.summed(opened, **{"hot.md": f"<!-- candidates:start -->\n{row(SECRET * 3)}<!-- candidates:end -->\n"})
        (mem.root / "cold/2025-02/2025-02-03.md").write_text(row("灯关了", clock="02:00"), encoding="utf-8")
        plan = mem.forget(SECRET * 3)
        assert plan.warnings == ["no entry has exactly this text"]
        plan.apply()
        assert holding(mem.root, SECRET[:40]) == []
        assert clean(mem)
        assert mem.forget(SECRET * 3).edits == ()

    def test_a_summary_that_says_no_source_is_made_again_too(self, opened):
        mem = opened("layers", {"cold/2025-02/2025-02-03.md": row("茶") + row("灯", clock="02:00")})
        place = mem.root / "summaries/day/2025-02-03.md"
        place.parent.mkdir(parents=True)
        place.write_text(f"# 日摘要 2025-02-03\n\n{row('茶')}{row('灯', clock='02:00')}", encoding="utf-8")
        mem.forget("茶").apply()
        assert "茶" not in place.read_text("utf-8")
        assert "灯" in place.read_text("utf-8")

    HOT = (
        "正文\n\n<!-- candidates:start -->\n{0}不是条目\n{1}<!-- candidates:end -->\n\n"
        "<!-- topics:start -->\n茶|2025-02\n<!-- topics:end -->\n"
    )

    def test_equal_candidates_go_and_all_else_of_the_hot_layer_stays(self, opened):
        hot = self.HOT.format(row("茶"), row("灯", clock="02:00"))
        mem = opened("layers", {FROZEN["layers"]: row("茶") + row("灯", clock="02:00"), "hot.md": hot})
        plan = mem.forget("茶")
        assert plan.rows.values.tolist()[-1] == ["hot.md", "forget", "an equal candidate"]
        plan.apply()
        assert (mem.root / "hot.md").read_text("utf-8") == hot.replace(row("茶"), "")

    def test_a_candidate_is_replaced_with_its_entry(self, opened):
        hot = self.HOT.format(row("茶", "口味"), row("灯", clock="02:00")).replace("\n", "\r\n")
        mem = opened("layers", {FROZEN["layers"]: row("茶", "口味"), "hot.md": hot})
        mem.forget("茶", replacement="白水").apply()
        assert (mem.root / "hot.md").read_bytes().decode() == hot.replace("[口味] 茶", "[口味] 白水")

    def test_a_candidate_of_an_entry_that_is_left_out_stays(self, opened):
        hot = self.HOT.format(row("茶"), row("茶", date="2025-02-04"))
        files = {FROZEN["layers"]: row("茶"), "cold/2025-02/2025-02-04.md": row("茶", date="2025-02-04"), "hot.md": hot}
        mem = opened("layers", files)
        mem.forget("茶", date="2025-02-03").without(1).apply()
        assert (mem.root / "hot.md").read_text("utf-8") == hot.replace(row("茶"), "")


class TestWhenItIsGoneAlready:
    def test_an_index_and_a_catalog_that_speak_of_it_are_mended(self, opened):
        mem = opened("archive", {FROZEN["archive"]: day("花了 468 元", "灯", index="花了 468 元；灯")})
        mem.rebuild_catalog()
        (mem.root / FROZEN["archive"]).write_text(day("灯", index="花了 468 元；灯"), encoding="utf-8")
        plan = mem.forget("花了 468 元")
        assert plan.rows.values.tolist() == [
            [FROZEN["archive"], "index", "its index speaks of what it no longer has"],
            ["catalog/2025.tsv", "rebuild", "1 days"],
        ]
        plan.apply()
        assert holding(mem.root, "468") == []

    def test_a_catalog_row_of_a_day_that_is_gone_is_withdrawn(self, opened):
        mem = opened("archive", {FROZEN["archive"]: day("花了 468 元", index="花了 468 元")})
        mem.rebuild_catalog()
        (mem.root / FROZEN["archive"]).unlink()
        mem.forget("花了 468 元").apply()
        assert tree(mem.root) == {}

    def test_an_index_whose_words_the_day_still_has_is_left_alone(self, opened):
        mem = opened("archive", {FROZEN["archive"]: day("花了 468 元，买壶", "灯", index="花了 468 元；灯")})
        assert mem.forget("花了 468 元").edits == ()


class TestShapes:
    """One entry of every shape goes, and what stands around it reads as before."""

    BODIES: ClassVar = {
        "more lines": ("- 上\n", "- 壶\n  底下\n\n  再底下\n", "- 下\n", "壶\n底下\n\n再底下"),
        "nested items": ("- 上\n", "- 壶\n  - 盖\n    - 钮\n", "- 下\n", "壶\n- 盖\n  - 钮"),
        "a fence below": ("- 上\n", "- 壶\n```sh\n- 不是条目\n```\n", "- 下\n", "壶\n```sh\n- 不是条目\n```"),
        "a table": ("上\n\n", "| 壶 | 价 |\n|---|---|\n| 红 | 4711 |\n", "\n- 下\n", "| 壶 | 价 |\n| 红 | 4711 |"),
        "a quote": ("- 上\n\n", "> 壶说\n> 水开了\n", "\n- 下\n", "> 壶说\n> 水开了"),
        "a paragraph": ("上\n\n", "壶在窗台\n第二行\n", "\n下\n", "壶在窗台\n第二行"),
        "code": ("- 上\n\n", "```\n壶\n```\n", "\n下\n", "```\n壶\n```"),
        "a checkbox": ("- [ ] 上\n", "- [x] 壶\n", "- [ ] 下\n", "壶"),
        "a number": ("1. 上\n", "2. 壶\n", "3. 下\n", "壶"),
        "between prose and a number": ("上\n", "- 壶\n", "2. 下\n", "壶"),
        "above an item of another list": ("* 上\n", "- 壶\n", "+ 下\n", "壶"),
        "under a heading": ("# 一\n- 上\n## 二\n", "- 壶\n", "## 三\n- 下\n", "壶"),
    }

    @pytest.mark.parametrize("shape", BODIES)
    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.parametrize("path", ["memory/2025-02-03.md", "MEMORY.md", "archive/2025/2025-02-03.md"])
    def test_goes_whole_and_alone(self, opened, shape, newline, mark, path):
        above, it, below, text = self.BODIES[shape]
        layout = "archive" if path.startswith("archive") else "workspace"
        mem = opened(layout, {path: mark + (above + it + below).replace("\n", newline)})
        assert text in mem.entries()["text"].tolist()
        others = [said for said in mem.entries()["text"] if said != text]
        mem.forget(text).apply()
        assert mem.entries()["text"].tolist() == others
        after = (mem.root / path).read_bytes().decode()
        gap = newline if shape == "between prose and a number" else ""
        assert after == mark + above.replace("\n", newline) + gap + below.replace("\n", newline)

    @pytest.mark.parametrize("shape", BODIES)
    @pytest.mark.parametrize("layout", ["workspace", "archive"])
    def test_can_be_replaced(self, opened, shape, layout):
        above, it, below, text = self.BODIES[shape]
        path = FROZEN[layout]
        mem = opened(layout, {path: above + it + below})
        tasks = mem.entries()["task"].tolist()
        others = [said for said in mem.entries()["text"] if said != text]
        mem.forget(text, replacement="# 白水\n- 一杯").apply()
        said = "# 白水 - 一杯" if layout == "workspace" else "# 白水\n- 一杯"
        assert sorted(mem.entries()["text"]) == sorted([*others, said])
        assert mem.entries()["task"].tolist() == tasks
        after = (mem.root / path).read_bytes().decode()
        assert after.startswith(above)
        assert after.endswith(below)

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_the_last_one_may_lack_a_line_end(self, opened, layout, newline):
        first, last = (row("上").rstrip(), row("壶", clock="02:00").rstrip()) if layout == "layers" else ("- 上", "- 壶")
        mem = opened(layout, {FROZEN[layout]: f"{first}{newline}{last}"})
        replaced = opened(layout, {FROZEN[layout]: f"{first}{newline}{last}"})
        mem.forget("壶").apply()
        assert (mem.root / FROZEN[layout]).read_bytes().decode() == first + newline
        replaced.forget("壶", replacement="白水").apply()
        assert (
            replaced.root / FROZEN[layout]
        ).read_bytes().decode() == f"{first}{newline}{last.replace('壶', '白水')}{newline}"

    def test_a_replacement_keeps_instant_and_tag(self, opened):
        line = "- 2025-02-03T01:00:00.000Z [家庭] 壶 #红\n"
        mem = opened("workspace", {"MEMORY.md": line})
        mem.forget("壶 #红", replacement="白水").apply()
        assert (mem.root / "MEMORY.md").read_text("utf-8") == line.replace("壶 #红", "白水")

    def test_each_of_several_is_replaced_behind_its_own_head(self, opened):
        text = row("茶", "一") + row("茶", "二", "02:00")
        mem = opened("layers", {FROZEN["layers"]: text})
        mem.forget("茶", replacement="白水").apply()
        assert (mem.root / FROZEN["layers"]).read_text("utf-8") == text.replace("茶", "白水")

    @pytest.mark.parametrize(
        ("path", "text", "left"),
        [
            ("memory/2025-02-03.md", "# 2025-02-03\n\n---\n\n- 壶\n", None),
            ("memory/2025-02-03.md", "#标签也是字\n\n- 壶\n", "#标签也是字\n\n"),
            ("memory/2025-02-03.md", "<!-- 手写的话 -->\n- 壶\n", "<!-- 手写的话 -->\n"),
            ("memory/2025-02-03-夜里.md", "- 壶\n", None),
            ("memory/notes/壶.md", "# 壶\n- 壶\n", None),
            ("MEMORY.md", "# 记忆\n- 壶\n", "# 记忆\n"),
        ],
    )
    def test_a_file_goes_only_if_nothing_is_left_to_read(self, opened, path, text, left):
        mem = opened("workspace", {path: text, "memory/2025-02-04.md": "- 灯\n"})
        mem.forget(mem.entries().query("text == '壶'")).apply()
        assert tree(mem.root).get(path) == (left.encode() if left is not None else None)

    def test_prose_of_a_cold_file_keeps_it(self, opened):
        mem = opened("layers", {FROZEN["layers"]: f"# 2025-02-03\n\n手写的一句话\n{row('壶')}"})
        mem.forget("壶").apply()
        assert (mem.root / FROZEN["layers"]).read_text("utf-8") == "# 2025-02-03\n\n手写的一句话\n"

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_bytes_that_are_no_utf8_survive(self, opened, layout):
        bad, it = b"- [2025-02-03T01:00:00Z] [-] \xff\xfe1\n", row("壶").encode()
        mem = opened(layout, {FROZEN[layout]: bad + it + bad})
        mem.forget(mem.entries().query("text == '壶'" if layout == "layers" else "text.str.endswith('壶')")).apply()
        assert (mem.root / FROZEN[layout]).read_bytes() == bad + bad

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_utf16_is_refused(self, opened, layout):
        text = row("壶").encode("utf-16")
        mem = opened(layout, {FROZEN[layout]: text})
        with pytest.raises(LostTextError, match="UTF-16"):
            mem.forget(mem.entries())


class TestAPlan:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_made_before_a_change_by_hand_is_a_conflict_and_writes_nothing(self, opened, layout):
        mem = opened(layout)
        plan = mem.forget(mem.entries()["text"].iloc[3])
        place = mem.root / plan.edits[0].path
        place.write_bytes(place.read_bytes() + b"\n")
        before = tree(mem.root)
        with pytest.raises(ConflictError):
            plan.apply()
        assert tree(mem.root) == before
        assert not plan.applied

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_applied_after_midnight_still_counts(self, opened, layout):
        times = ["2025-02-28T23:59:59+08:00"]
        mem = opened(layout, now=lambda: pd.Timestamp(times[-1]).to_pydatetime())
        text = mem.entries().query("path == @TODAYS[@layout]")["text"].iloc[0]
        plan = mem.forget(text)
        times.append("2025-03-01T00:00:01+08:00")
        plan.apply()
        assert holding(mem.root, text) == []
        assert set(mem.audit().frame["rule"]) <= {"summary-missing"}  # of the day that is over now

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_says_what_lies_beyond_its_reach(self, opened, layout):
        mem = opened(layout)
        plan = mem.forget(mem.entries()["text"].iloc[0])
        assert BEYOND in plan.warnings
        assert BEYOND in repr(plan)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_left_rows_follow_an_entry_to_where_it_stands_now(self, opened, layout):
        lines = "- 灯\n" if layout != "layers" else row("灯", clock="00:30")
        it = row("壶") if layout == "layers" else "- 壶\n"
        mem = opened(layout, {FROZEN[layout]: it * 2})
        plan = mem.forget("壶")
        (mem.root / FROZEN[layout]).write_text(lines + it * 2, encoding="utf-8")
        plan.without(1).apply()
        assert (mem.root / FROZEN[layout]).read_text("utf-8") == lines + it


BLOCKS = st.sampled_from(
    [
        *(
            "- 甲",
            "- 乙\n  续",
            "丙",
            "丙\n丁",
            "> 戊",
            "1. 己",
            "2. 庚",
            "* 辛",
            "• 点",
            "- [ ] 卯",
            "## 题",
            "<!-- 注 -->",
            "---",
            "",
        ),
        *("```\n壬\n```", "| a | b |\n|---|---|\n| 1 | 2 |", "\t缩进", "    四格", "子\n==="),
        "<<<<<<< H\n- 丑\n=======\n- 寅\n>>>>>>> T",
    ]
)


class TestAnyFile:
    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(blocks=st.lists(BLOCKS, min_size=1, max_size=8), data=st.data())
    def test_all_other_entries_read_as_before(self, opened, blocks, data):
        mem = opened("workspace", {"memory/2025-02-03.md": "\n".join(blocks) + "\n"})
        entries = mem.entries()
        if not len(entries):
            return
        text = data.draw(st.sampled_from(sorted(set(entries["text"]))))
        plan = mem.forget(text)
        plan.apply()
        reads_differently = any("reads differently" in warning for warning in plan.warnings)
        left = [said for said in entries["text"] if norm_text(said) != norm_text(text)]
        assert mem.entries()["text"].tolist() == left or reads_differently
        assert not reads_differently or "===" in blocks


def test_an_entry_may_be_forgotten_by_the_row_of_any_question(opened):
    mem = opened("workspace")
    found = mem.matching("红水壶").iloc[[0]]
    mem.forget(found).apply()
    assert holding(mem.root, found["text"].iloc[0]) == []
    assert isinstance(memkit.open(mem.root, layout="workspace"), Store)
