"""migrate: every entry of a store is read in the new one as it was, or the plan names it; the new store is in order."""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at, tree
from hypothesis import given, settings
from hypothesis import strategies as st

import memkit
from memkit import files
from memkit.cli import run
from memkit.edits import check as check_rule
from memkit.edits.remains import CHANGED, LEFT
from memkit.errors import BadArgument, ConflictError, FrozenError, PathError
from memkit.layouts import LAYOUTS
from memkit.migrating import NO_DATE
from memkit.model import Edit
from memkit.text import decode

PAIRS = [(source, to) for source in LAYOUTS for to in LAYOUTS if source != to]
FACTS = ["date", "tag", "text", "written_at", "clock"]
TODAY = date(2025, 2, 28)


def facts(store):
    """Return (place, what is said of it) for each entry, all tags among it."""
    frame, tags = store.entries(), store.tags()
    held: dict[tuple[str, int], list[str]] = {}
    for path, line, tag in tags.itertuples(index=False):
        held.setdefault((path, line), []).append(tag)
    rows = frame[FACTS].astype(object).where(frame[FACTS].notna(), None).itertuples(index=False, name=None)
    places = zip(frame["path"], frame["line"], strict=True)
    return [((path, line), (*row, tuple(held.get((path, line), [])))) for (path, line), row in zip(places, rows, strict=True)]


def unsaid(source, plan):
    """Return the lines of a source that neither an entry, nor the section of one, nor a row accounts for, but for layout."""
    named = set(plan.rows["row"])
    frame = source.entries(dreams=True)
    gone = set(plan.rows.loc[plan.rows["action"] == LEFT, "row"])
    kept = frame[~(frame["path"] + ":" + frame["line"].astype(str)).isin(gone)]
    found = []
    for path in source.files().query("kind in ['daily', 'daily-slug', 'longterm', 'note']")["path"]:
        held = frame[frame["path"] == path]
        inside = {n for a, b in zip(held["line"], held["end_line"], strict=True) for n in range(a, b + 1)}
        sections = set("".join(kept.loc[kept["path"] == path, "section"].dropna()))
        for number, line in enumerate(decode((source.root / path).read_bytes())[1].split("\n"), 1):
            told = line.strip("# \t\u3000")
            layout = not re.search(r"\w", line) or told in Path(path).stem or line.startswith(("date: ", "index: "))
            layout = layout or re.fullmatch(r"\s*(?:[-*+]|[0-9]+[.)])\s+(?:\[[xX ]\])?\s*", f"{line} ")
            if number not in inside and f"{path}:{number}" not in named and not layout and not set(told) <= sections:
                found.append((path, number, line))
    return found


def check(source, to, place, **options):
    """Migrate, and hold the promise: equal or named; return the plan and the new store."""
    before = tree(source.root)
    plan = memkit.migrate(source, place, to=to, **options)
    assert not plan.applied
    assert not Path(place).exists()
    plan.apply()
    assert tree(source.root) == before
    new = open_at(place, layout=to)
    named = set(plan.rows.loc[plan.rows["action"].isin([LEFT, CHANGED]), "row"])
    left = Counter(fact for _, fact in facts(new))
    for (path, line), fact in facts(source):
        if f"{path}:{line}" not in named:
            assert left[fact] > 0, (path, line, fact)
            left[fact] -= 1
    assert unsaid(source, plan) == []
    found = new.audit().frame
    own = set(source.audit().frame["rule"])
    if plan.rows["reason"].str.contains("of another day").any():
        own.add("partition-mismatch")
    assert found[found["severity"].isin(["error", "warning"]) & ~found["rule"].isin(own)].empty, found.to_string()
    return plan, new


@pytest.mark.parametrize(("layout", "to"), PAIRS)
class TestSamples:
    def test_every_entry_is_read_as_it_was_or_is_named(self, tmp_path, layout, to):
        source = open_at(SAMPLES / layout)
        plan, new = check(source, to, tmp_path / "new")
        assert new.audit().frame.empty
        assert plan.added + plan.rows["reason"].str.contains("no date|mark of what").sum() == len(source.entries())
        assert open_at(tmp_path / "new").layout == to

    def test_texts_tags_and_instants_that_are_not_left_out_are_the_same(self, tmp_path, layout, to):
        source = open_at(SAMPLES / layout)
        plan, new = check(source, to, tmp_path / "new", undated="2024-01-01")
        gone = set(plan.rows.loc[plan.rows["action"] == LEFT, "row"])
        old = source.entries()
        old = old[~(old["path"] + ":" + old["line"].astype(str)).isin(gone)]
        now = new.entries()
        now = now[now["path"] != "MEMORY.md"]  # the body of the hot layer
        assert len(now) == len(old)
        told = Counter(zip(now["text"].str.split().str.join(" "), now["tag"].fillna("-"), strict=True))
        for text, tag, task in zip(old["text"].str.split().str.join(" "), old["tag"].fillna("-"), old["task"], strict=True):
            text = f"[{task}] {text}" if to == "layers" and isinstance(task, str) else text
            told[text, tag] -= 1
        assert set(told.values()) == {0}
        assert set(old["written_at"].dropna()) <= set(now["written_at"].dropna())

    def test_a_plan_writes_nothing_and_a_second_apply_neither(self, tmp_path, layout, to):
        plan = memkit.migrate(open_at(SAMPLES / layout), tmp_path / "new", to=to)
        assert list(tmp_path.iterdir()) == []
        assert plan.diff().startswith("--- /dev/null\n")
        held = tree(plan.apply().facts)
        plan.apply()
        assert tree(tmp_path / "new") == held


# ---- random stores ----

CHARS = st.sampled_from([*"ab 水壶茶:：[]()#|*_`~>-=+.1239xX\\'\"!?;；。", "\u3000", "\u200b", "🙂", "<!--", "-->", "---"])
WORDS = st.lists(CHARS, min_size=1, max_size=14).map("".join)
LINE = st.one_of(
    WORDS,
    st.builds("- {}".format, WORDS),
    st.builds("- [{}] {}".format, st.sampled_from(["计划", "x", " ", "2025-02-03", "a b", "12", "^1"]), WORDS),
    st.builds("- [计划] [家] {} #茶".format, WORDS),
    st.builds("- 2025-02-03T09:1{}:00+08:00 {}".format, st.integers(0, 9), WORDS),
    st.builds("  {}".format, WORDS),
    st.builds("    {}".format, WORDS),
    st.builds("{} {}".format, st.sampled_from(["#", "##", "### 14:30", "####"]), WORDS),
    st.builds("> {}".format, WORDS),
    st.builds("1. {}".format, WORDS),
    st.builds("**{}:** {}".format, WORDS, WORDS),
    st.sampled_from(["", "", "```", "~~~", "---", "| a | b |", "|---|---|", "| 1 | 2 |", "- 14:30 茶", "- [x] 买茶"]),
)
DAYS = st.sampled_from([date(2024, 12, 31), date(2025, 1, 1), date(2025, 2, 27), TODAY])
PAGES = st.dictionaries(DAYS, st.lists(LINE, min_size=1, max_size=9).map("\n".join), min_size=1, max_size=3)
STAMPS = st.sampled_from(["2025-02-03T09:10:00.000Z", "2025-01-01T23:59+08:00", "2024-12-31T16:00:00.123456Z"])
TAGS = st.one_of(st.sampled_from(["-", "", "计划", "更正", "2025-02-03", "12"]), st.text("ab#水 :(/", max_size=5))
COLD = st.builds("- [{}] [{}] {}".format, STAMPS, TAGS, WORDS)
COLD_PAGES = st.dictionaries(DAYS, st.lists(COLD, min_size=1, max_size=6).map("\n".join), min_size=1, max_size=3)


def begin(root, layout, pages, longterm=""):
    for day, text in pages.items():
        path = root / LAYOUTS[layout].day_path(day)
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"---\ndate: {day}\nindex: '茶'\n---\n## {day}\n" if layout == "archive" else ""
        path.write_text(f"{head}{text}\n", encoding="utf-8")
    if longterm:
        (root / "MEMORY.md").write_text(longterm, encoding="utf-8")
    return open_at(root, layout=layout)


def migrated(layout, to, pages, **more):
    with tempfile.TemporaryDirectory() as folder:
        check(begin(Path(folder) / "old", layout, pages, **more), to, Path(folder) / "new", undated="2024-06-01")


class TestRandomStores:
    @pytest.mark.parametrize("to", ["workspace", "layers"])
    @given(pages=PAGES)
    @settings(max_examples=25)
    def test_of_an_archive_lose_no_entry_unsaid(self, to, pages):
        migrated("archive", to, pages)

    @pytest.mark.parametrize("to", ["archive", "layers"])
    @given(pages=PAGES, longterm=st.lists(LINE, max_size=6).map("\n".join))
    @settings(max_examples=25)
    def test_of_a_workspace_lose_no_entry_unsaid(self, to, pages, longterm):
        migrated("workspace", to, pages, longterm=longterm)

    @pytest.mark.parametrize("to", ["archive", "workspace"])
    @given(pages=COLD_PAGES)
    @settings(max_examples=25)
    def test_of_layers_lose_no_entry_unsaid(self, to, pages):
        migrated("layers", to, pages)


# ---- what changes its form ----


def one(tmp_path, layout, to, text, day=date(2025, 2, 3), **options):
    """Return the plan and the new store of a store with one day."""
    source = begin(tmp_path / "old", layout, {day: text})
    plan, new = check(source, to, tmp_path / "new", **options)
    return plan, new


def reasons(plan, action=CHANGED):
    return plan.rows.loc[plan.rows["action"] == action, "reason"].tolist()


class TestForms:
    def test_a_day_alone_is_stamped_at_its_start_and_said_so(self, tmp_path):
        plan, new = one(tmp_path, "archive", "layers", "- 茶")
        assert new.entries()["written_at"].tolist() == [pd.Timestamp("2025-02-02T16:00Z")]
        assert new.entries()["date"].tolist() == [pd.Timestamp("2025-02-03")]
        assert reasons(plan) == ["only its day is known: it is stamped 00:00 of that day, zone Asia/Shanghai"]
        assert plan.warnings[-1] == "1 changed: only its day is known: it is stamped 00:00 of that day, zone Asia/Shanghai"

    def test_a_clock_becomes_an_instant_and_the_text_keeps_it(self, tmp_path):
        plan, new = one(tmp_path, "workspace", "layers", "- 14:30 茶")
        assert new.entries()["written_at"].tolist() == [pd.Timestamp("2025-02-03T06:30Z")]
        assert new.entries()["text"].tolist() == ["14:30 茶"]
        assert reasons(plan) == ["its clock became an instant of the zone Asia/Shanghai (14:30)"]

    def test_an_instant_is_kept_as_it_was_written(self, tmp_path):
        plan, new = one(tmp_path, "workspace", "layers", "- 2025-02-03T09:10:30+08:00 [茶] 壶")
        assert reasons(plan) == []
        path = new.root / "cold/2025-02/2025-02-03.md"
        assert path.read_text(encoding="utf-8") == "# 2025-02-03\n\n- [2025-02-03T09:10:30+08:00] [茶] 壶\n"

    def test_several_lines_are_folded_in_layers_and_kept_elsewhere(self, tmp_path):
        text = "- 茶\n  - 水\n\n  壶\n- [x] 买茶"
        plan, new = one(tmp_path, "archive", "layers", text)
        assert new.entries()["text"].tolist() == ["茶 - 水 壶", "[x] 买茶"]
        assert "its text is folded to one line" in reasons(plan)[0]
        assert "its checkbox stands in its text ([x])" in reasons(plan)[1]
        plan, new = one(tmp_path / "b", "archive", "workspace", text)
        assert new.entries()["text"].tolist() == ["茶\n- 水\n\n壶", "买茶"]
        assert (reasons(plan), new.entries()["task"].tolist()[1]) == ([], "x")

    def test_tables_quotes_code_sections_and_clocks_of_headings_survive_between_markdown_layouts(self, tmp_path):
        text = (
            "一段话\n第二行\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> 引\n\n```\ncode\n```\n\n### 14:30 会\n- [茶] [家] 壶 #水\n"
        )
        plan, new = one(tmp_path, "archive", "workspace", text)
        source = open_at(tmp_path / "old")
        columns = ["date", "tag", "text", "kind", "section", "clock", "task", "block"]
        assert new.entries()[columns].equals(source.entries()[columns])
        assert new.tags()["tag"].tolist() == source.tags()["tag"].tolist() == ["茶", "家", "水"]
        assert reasons(plan) == []

    def test_a_tag_that_cannot_be_read_there_stays_in_the_text(self, tmp_path):
        plan, new = one(tmp_path, "layers", "archive", "- [2025-02-03T09:10:00.000Z] [2025-02-01] 茶")
        assert new.entries()["text"].tolist() == ["[2025-02-01] 茶"]
        assert "its tag stands in its text, since it cannot be one there" in reasons(plan)[0]

    def test_a_long_text_is_kept_whole(self, tmp_path):
        plan, new = one(tmp_path, "archive", "layers", f"- {'茶' * 5000}")
        assert new.entries()["chars"].tolist() == [5000]
        assert "it is longer than the 4,000 characters that this layout's own tools write (5,000)" in reasons(plan)[0]

    def test_entries_without_a_date_are_left_out_unless_a_day_is_named(self, tmp_path):
        source = begin(tmp_path / "old", "workspace", {TODAY: "- 茶"}, longterm="- 喜欢白水\n")
        plan, new = check(source, "archive", tmp_path / "a")
        assert reasons(plan, LEFT) == [NO_DATE]
        assert new.entries()["text"].tolist() == ["茶"]
        plan, new = check(source, "archive", tmp_path / "b", undated="2025-01-01")
        assert new.entries()["text"].tolist() == ["喜欢白水", "茶"]
        assert "it had no date, and is put on 2025-01-01" in reasons(plan)

    def test_marks_of_what_is_forgotten_stay_behind_and_what_they_hid_is_named(self, tmp_path):
        source = begin(tmp_path / "old", "workspace", {TODAY: "- 茶"}, longterm="## Forgotten\n- 2025-02-28T09:00:00Z 茶\n")
        plan, new = check(source, "archive", tmp_path / "new")
        assert new.entries()["text"].tolist() == ["茶"]
        assert reasons(plan, LEFT) == [
            "a heading of what is left out: Forgotten",
            "a mark of what is to be forgotten, which only a workspace has",
        ]
        assert reasons(plan) == ["it was marked as forgotten, and is found again in the target"]

    def test_the_hot_body_becomes_long_term_memory_or_is_named(self, tmp_path):
        source = open_at(SAMPLES / "layers")
        _, new = check(source, "workspace", tmp_path / "a")
        assert (new.root / "MEMORY.md").read_text(encoding="utf-8") == f"{source.hot().content}\n"
        plan, _ = check(source, "archive", tmp_path / "b")
        assert f"its body: {source.hot().chars:,} characters" in reasons(plan, LEFT)
        assert f"its topics: {len(source.topics())} topics" in reasons(plan, LEFT)

    def test_a_new_archive_has_an_index_a_day_and_a_catalog_of_finished_days(self, tmp_path):
        _, new = check(open_at(SAMPLES / "layers"), "archive", tmp_path / "new")
        days = new.days()
        assert days["index"].notna().all()
        assert days["catalogued"].tolist() == days["frozen"].tolist()
        assert new.rebuild_catalog(dry_run=True).edits == ()

    def test_files_that_are_not_read_are_named(self, tmp_path):
        source = begin(tmp_path / "old", "archive", {TODAY: "- 茶"})
        (source.root / "archive/2025/notes.md").write_text("- 壶\n", encoding="utf-8")
        plan, _ = check(source, "layers", tmp_path / "new")
        assert ["archive/2025/notes.md", LEFT, "not archive/<YYYY>/<YYYY-MM-DD>.md"] in plan.rows.to_numpy().tolist()


class TestWhatIsNoEntry:
    def rows(self, plan, action=LEFT):
        rows = plan.rows[plan.rows["action"] == action]
        return dict(zip(rows["row"], rows["reason"], strict=True))

    def test_lines_of_a_cold_file_that_are_no_entry_are_named(self, tmp_path):
        text = "# 2025-02-03\n\n# 茶会\n<!-- 备注 -->\n- 没有时间的一行\n散文一句\n---\n"
        text += "- [2025-02-03T09:10:00Z] [茶] 壶\n<<<<<<< a\n"
        plan, new = one(tmp_path, "layers", "archive", text)
        path = "cold/2025-02/2025-02-03.md"
        assert self.rows(plan) == {
            f"{path}:3": "a heading, which this file's layout has no use for: # 茶会",
            f"{path}:4": "a comment: <!-- 备注 -->",
            f"{path}:5": "no entry: it lacks a time, a tag or a text: - 没有时间的一行",
            f"{path}:6": "no entry: it lacks a time, a tag or a text: 散文一句",
            f"{path}:9": "a merge marker: <<<<<<< a",
        }
        assert new.entries()["text"].tolist() == ["壶"]
        assert plan.warnings[0] == (
            "5 left out: 2 no entry: it lacks a time, a tag or a text; 1 a heading, which this file's layout has no use for; "
            "1 a comment; 1 a merge marker"
        )

    @pytest.mark.parametrize(("layout", "to"), [("archive", "layers"), ("workspace", "archive"), ("workspace", "layers")])
    def test_headings_comments_and_front_matter_are_named(self, tmp_path, layout, to):
        head = "date: 2025-02-03\nmood: 好\nlist:\n  - 一\n# 旁注\nindex: '茶'"
        body = "## 2025-02-03\n### 待办：给外婆打电话\n### 会\n- 茶\n<!-- 一\n二 -->\n\n没有下文\n====\n"
        source = begin(tmp_path / "old", layout, {TODAY: "- 水"})
        path = LAYOUTS[layout].day_path(date(2025, 2, 3))
        (source.root / path).parent.mkdir(exist_ok=True)
        (source.root / path).write_text(f"---\n{head}\n---\n{body}", encoding="utf-8")
        plan, _ = check(source, to, tmp_path / "new")
        keys = {3: "mood", 4: "list", 5: "list"} | ({2: "date", 7: "index"} if layout == "workspace" else {})
        told = self.rows(plan)
        told.pop(LAYOUTS[layout].day_path(TODAY), None)  # its index
        assert told == {
            **{f"{path}:{line}": f"front matter: {key}" for line, key in keys.items()},
            f"{path}:6": "a comment: # 旁注",
            f"{path}:10": "a heading with nothing below it: 待办：给外婆打电话",
            f"{path}:13": "a comment: <!-- 一",
            f"{path}:14": "a comment: 二 -->",
            f"{path}:16": "a heading with nothing below it: 没有下文",
        }

    def test_headings_of_what_is_left_out_are_named_and_carried_with_what_is_not(self, tmp_path):
        source = begin(tmp_path / "old", "workspace", {TODAY: "- 茶"}, longterm="# 记忆\n## 喜好\n- 白水\n## 空\n")
        plan, _ = check(source, "archive", tmp_path / "a")
        assert self.rows(plan) == {
            "MEMORY.md:1": "a heading of what is left out: 记忆",
            "MEMORY.md:2": "a heading of what is left out: 喜好",
            "MEMORY.md:3": NO_DATE,
            "MEMORY.md:4": "a heading with nothing below it: 空",
        }
        plan, new = check(source, "archive", tmp_path / "b", undated="2025-01-01")
        assert self.rows(plan) == {"MEMORY.md:4": "a heading with nothing below it: 空"}
        assert new.entries()["section"].iloc[0] == "记忆 › 喜好"

    def test_stray_lines_of_the_blocks_of_hot_are_named(self, tmp_path):
        source = begin(tmp_path / "old", "layers", {TODAY: "- [2025-02-28T09:10:00Z] [茶] 壶"})
        hot = "正文\n<!-- candidates:start -->\n- 手写一句\n<!-- candidates:end -->\n"
        hot += "<!-- topics:start -->\n茶|2025-13\n茶|2025-02\n"
        (source.root / "hot.md").write_text(hot, encoding="utf-8")
        plan, _ = check(source, "workspace", tmp_path / "new")
        assert self.rows(plan) == {
            "hot.md:3": "no entry of the candidates of hot.md: - 手写一句",
            "hot.md:6": "no topic of hot.md: 茶|2025-13",
            "hot.md": "its topics: 1 topic",
        }

    def test_dreams_are_named_file_by_file(self, tmp_path):
        source = begin(tmp_path / "old", "workspace", {TODAY: "- 茶"})
        (source.root / "DREAMS.md").write_text("# 梦\n- 飞\n- 游\n", encoding="utf-8")
        (source.root / "memory/dreaming").mkdir()
        (source.root / "memory/dreaming/a.md").write_text("# 空梦\n", encoding="utf-8")
        plan, _ = check(source, "layers", tmp_path / "new")
        assert self.rows(plan) == {
            "DREAMS.md": "what a machine dreamt up: 2 entries",
            "memory/dreaming/a.md:1": "a heading with nothing below it: 空梦",
        }

    def test_a_secret_or_a_long_line_is_not_shown(self, tmp_path):
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
        plan, _ = one(tmp_path, "archive", "layers", f"- 茶\n\n<!-- {secret[:40]} -->\n<!-- {'长' * 90} -->")
        told = [row for row in reasons(plan, LEFT) if row.startswith("a comment")]
        assert told[0] == "a comment"
        assert told[1].endswith("长…")
        assert len(told[1]) < 40

    @pytest.mark.parametrize("to", ["archive", "workspace"])
    def test_the_number_of_an_item_is_named(self, tmp_path, to):
        layout = "workspace" if to == "archive" else "archive"
        plan, new = one(tmp_path, layout, to, "7) 七\n8) 八\n- 九\n")
        assert new.entries()["text"].tolist() == ["七", "八", "九"]
        assert reasons(plan) == ["its number in the list is not kept: 7)", "its number in the list is not kept: 8)"]


class TestOddEntries:
    @pytest.mark.parametrize("odd", ["\x01", "\x01\x02 \x7f", "[x] \x01"])
    def test_nothing_but_control_characters_stops_no_migration(self, tmp_path, odd):
        plan, new = one(tmp_path, "archive", "layers", f"- {odd}\n- 茶")
        assert new.entries()["text"].tolist() == ["茶"]
        assert "there is no text in it" in reasons(plan, LEFT)

    @pytest.mark.parametrize("to", ["workspace", "layers"])
    def test_a_byte_order_mark_at_the_start_of_a_text_is_read_back(self, tmp_path, to):
        plan, new = one(tmp_path, "archive", to, "\ufeff茶水\n\n- 壶")
        assert [text.lstrip("\ufeff") for text in new.entries()["text"]] == ["茶水", "壶"]
        assert any("list item" in reason for reason in reasons(plan))

    def test_an_entry_that_no_form_brings_back_is_left_out_alone(self, tmp_path, monkeypatch):
        from memkit.edits import migrate as planned

        real = planned.form
        monkeypatch.setattr(planned, "form", lambda entry, s: ("a\n\nb", True) if entry.text == "坏" else real(entry, s))
        plan, new = one(tmp_path, "archive", "workspace", "- 茶\n- 坏\n- 水")
        assert new.entries()["text"].tolist() == ["茶", "水"]
        assert "it would not be read there" in reasons(plan, LEFT)

    def test_the_index_of_a_new_archive_is_the_one_that_extraction_gives(self, tmp_path):
        lines = [f"- [2025-02-03T09:10:00Z] [采购] 第{n}次买茶，**花了 {n} 元**。细节从略。" for n in range(1, 40)]
        text = "\n".join([*lines, "- [2025-02-03T10:10:00Z] [2025-02-01] 壶", "- [2025-02-03T10:10:00Z] [-] [x] 勾"])
        _, new = one(tmp_path, "layers", "archive", text)
        assert "index-copies-body" not in set(new.audit().frame["rule"])
        again = memkit.migrate(new, tmp_path / "again", to="layers")
        assert "its index, written by hand" not in reasons(again, LEFT)


class TestTheBodyOfHot:
    def migrate(self, tmp_path, body):
        source = begin(tmp_path / "old", "layers", {TODAY: "- [2025-02-28T09:10:00Z] [-] 茶\n- [2025-02-28T09:11:00Z] [-] 水"})
        (source.root / "hot.md").write_text(body, encoding="utf-8")
        return check(source, "workspace", tmp_path / "new")

    def test_hides_no_entry(self, tmp_path):
        plan, new = self.migrate(tmp_path, "# 我\n## Forgotten\n- 茶\n## Store\n- 壶\n")
        assert (new.root / "MEMORY.md").read_text(encoding="utf-8") == "# 我\n## Forgotten ##\n- 茶\n## Store ##\n- 壶\n"
        assert set(new.search("茶").frame["path"]) == {"MEMORY.md", "memory/2025-02-28.md"}
        assert reasons(plan) == [
            f"a heading of its body is closed, since it would be a command there: ## {name}" for name in ("Forgotten", "Store")
        ]
        assert plan.added == 2

    def test_is_read_back_too(self, tmp_path, monkeypatch):
        from memkit.edits import migrate as planned

        monkeypatch.setattr(planned, "_COMMANDS", ())
        with pytest.raises(memkit.LostTextError, match="some of its entries are hidden"):
            self.migrate(tmp_path, "## Forgotten\n- 茶\n")

    def test_may_start_with_a_byte_order_mark(self, tmp_path):
        plan, new = self.migrate(tmp_path, "\ufeff\ufeff正文\n")
        assert (new.root / "MEMORY.md").read_text(encoding="utf-8") == "正文\n"
        assert reasons(plan) == ["its body starts with no byte order mark now"]


class TestTheTarget:
    def test_must_be_another_layout(self, tmp_path):
        with pytest.raises(BadArgument, match=r"^to: .* is archive already"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="archive")
        with pytest.raises(BadArgument, match=r"^layout: 'obsidian'"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="obsidian")
        with pytest.raises(BadArgument, match=r"^source: str; expected an open store"):
            memkit.migrate("data-samples/archive", tmp_path / "new", to="layers")
        with pytest.raises(BadArgument, match=r"^undated: '2025-02-30' is not a day"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers", undated="2025-02-30")

    def test_must_be_empty_or_missing(self, tmp_path):
        (tmp_path / "full").mkdir()
        (tmp_path / "full/note.txt").touch()
        with pytest.raises(BadArgument, match=r"it is not empty \('note.txt' lies in it\)"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "full", to="layers")
        with pytest.raises(PathError, match="a file, and not a folder"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "full/note.txt", to="layers")

    @pytest.mark.parametrize("where", ["archive/new", "archive/.agents/nutstore-sync/memory/new", ".", "link/new"])
    def test_lies_neither_in_the_source_nor_around_it(self, tmp_path, copied, where):
        source = open_at(copied("archive"))
        (tmp_path / "link").symlink_to(source.root)
        with pytest.raises(PathError, match="lie in each other"):
            memkit.migrate(source, tmp_path / where, to="layers")

    @pytest.mark.parametrize(
        ("layout", "inside"), [("workspace", "."), ("workspace", "memory/x"), ("layers", "cold"), ("archive", "a/b")]
    )
    def test_lies_in_no_other_store(self, tmp_path, layout, inside):
        other = begin(tmp_path / "other", layout, {TODAY: "- [2025-02-28T09:10:00Z] [-] 茶"}).root
        source = open_at(SAMPLES / ("layers" if layout != "layers" else "archive"))
        before = tree(tmp_path)
        with pytest.raises(PathError, match="lies inside the memory store"):
            memkit.migrate(source, other / inside / "new", to="workspace" if layout != "workspace" else "archive")
        assert tree(tmp_path) == before

    @pytest.mark.parametrize(
        ("where", "reason"),
        [
            ("dangling", "is a link that leads nowhere"),
            ("dangling/new", "is a link that leads nowhere"),
            ("file/new", "file is a file, and not a folder"),
            ("file/new/er", "file is a file, and not a folder"),
            ("/dev/null/x", "/dev/null is a file, and not a folder"),
            ("n" * 300, "it could not be made: file name too long"),
        ],
    )
    def test_that_cannot_be_made_is_refused_at_once(self, tmp_path, where, reason):
        (tmp_path / "dangling").symlink_to(tmp_path / "gone")
        (tmp_path / "file").touch()
        with pytest.raises((PathError, memkit.DiskError), match=reason):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / where, to="layers")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "file"]

    @pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc")
    def test_where_no_files_are_kept_is_refused_at_once(self):
        with pytest.raises(memkit.DiskError, match="it could not be made: "):
            memkit.migrate(open_at(SAMPLES / "archive"), "/proc/new", to="layers")

    @pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc")
    def test_that_cannot_be_locked_is_said_so_and_no_other_writer_blamed(self):
        with (
            pytest.raises(memkit.DiskError, match="could not be locked for writing"),
            files.Lock(Path("/proc/new"), 0.1).held(),
        ):
            pass

    def test_that_gained_a_foreign_file_is_not_empty(self, tmp_path):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")
        (tmp_path / "new/cold").mkdir(parents=True)
        (tmp_path / "new/cold/zz.md").write_text("- mine\n", encoding="utf-8")
        with pytest.raises(BadArgument, match=r"it is not empty \('cold/zz.md' lies in it\)"):
            plan.apply()
        assert list(tree(tmp_path / "new")) == ["cold/zz.md"]

    def test_that_a_killed_apply_left_half_is_finished_by_a_new_plan(self, tmp_path):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")
        new = tmp_path / "new"
        for edit in list(plan.edits)[:7]:
            (new / edit.path).parent.mkdir(parents=True, exist_ok=True)
            (new / edit.path).write_bytes(edit.after.encode())
        (new / edit.path).with_name(".2025-02-01.md.0123456789ab.tmp").write_text("half", encoding="utf-8")
        held = len(tree(new))
        again = memkit.migrate(open_at(SAMPLES / "archive"), new, to="layers")
        assert len(tree(new)) == held == 8
        again.apply()
        assert len(open_at(new).entries()) == plan.added
        (new / edit.path).write_text("- mine\n", encoding="utf-8")
        with pytest.raises(BadArgument, match="it is no start of this migration"):
            memkit.migrate(open_at(SAMPLES / "archive"), new, to="layers")

    @pytest.mark.parametrize("other", ["link", "folder"])
    def test_with_a_link_or_a_folder_of_another_is_not_empty(self, tmp_path, other):
        (tmp_path / "new").mkdir()
        (tmp_path / "new/link").symlink_to(SAMPLES) if other == "link" else (tmp_path / "new/folder").mkdir()
        with pytest.raises(BadArgument, match="it is not empty"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")

    def test_that_filled_since_the_plan_is_left_alone(self, tmp_path):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")
        (tmp_path / "new").mkdir()
        (tmp_path / "new/hot.md").write_text("mine\n", encoding="utf-8")
        with pytest.raises(BadArgument, match="it is not empty"):
            plan.apply()
        assert list(tree(tmp_path / "new")) == ["hot.md"]

    def test_is_not_written_when_the_source_changed_since_the_plan(self, tmp_path, copied):
        source = open_at(copied("archive"))
        plan = memkit.migrate(source, tmp_path / "new", to="layers")
        source.append("水开了")
        with pytest.raises(ConflictError, match="it changed since this was planned"):
            plan.apply()
        assert not (tmp_path / "new").exists()

    def test_is_finished_by_a_second_apply_after_a_first_that_failed(self, tmp_path, monkeypatch):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")
        from memkit.files import write

        real, calls = write._carry_out, []

        def failing(root, job):
            calls.append(job)
            if len(calls) == 9:
                raise memkit.DiskError("no space")
            real(root, job)

        monkeypatch.setattr(write, "_carry_out", failing)
        with pytest.raises(memkit.DiskError, match="no space"):
            plan.apply()
        assert len(tree(tmp_path / "new")) == 8
        plan.apply()
        assert plan.applied
        assert len(open_at(tmp_path / "new").entries()) == plan.added

    def test_that_does_not_read_back_is_an_error(self, tmp_path, monkeypatch):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")
        real = memkit.Store.entries
        monkeypatch.setattr(memkit.Store, "entries", lambda self, **more: real(self, **more).iloc[1:])
        with pytest.raises(memkit.LostTextError, match="do not read as they were planned"):
            plan.apply()

    def test_of_an_empty_store_has_nothing_to_do(self, tmp_path):
        source = memkit.open(tmp_path / "none", layout="archive", now=CLOCK, tz=ZONE)
        plan = memkit.migrate(source, tmp_path / "new", to="layers").apply()
        assert (plan.added, len(plan.rows), plan.applied) == (0, 0, True)
        assert not (tmp_path / "new").exists()


class TestTheCommand:
    @pytest.fixture
    def say(self, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "120")

        def say(*words, typed=""):
            monkeypatch.setattr("sys.stdin", io.StringIO(typed))
            code = run(["migrate", *map(str, words), "--now", CLOCK, "--tz", ZONE])
            return code, *capsys.readouterr()

        return say

    def test_shows_the_plan_and_asks(self, say, tmp_path):
        new = tmp_path / "new"
        code, out, err = say(SAMPLES / "archive", new, "--to", "layers", "--dry-run")
        assert (code, err) == (0, "")
        assert out.startswith("not applied: 44 files to change, 147 entries to add\n")
        assert "warning: 146 changed: only its day is known" in out
        assert say(SAMPLES / "archive", new, "--to", "layers", typed="n\n")[0] == 1
        assert say(SAMPLES / "archive", new, "--to", "layers")[0] == 1
        assert list(tmp_path.iterdir()) == []
        assert say(SAMPLES / "archive", new, "--to", "layers", typed="y\n")[:2][0] == 0
        assert len(open_at(new).entries()) == 147

    def test_prints_json_and_takes_a_day_for_what_has_none(self, say, tmp_path):
        words = [SAMPLES / "workspace", tmp_path / "new", "--to", "archive", "--undated", "2024-01-01", "--yes", "--json"]
        code, out, _ = say(*words)
        told = json.loads(out)
        assert (code, told["applied"]) == (0, True)
        assert told["added"] == len(open_at(tmp_path / "new").entries())
        assert {row["action"] for row in told["rows"]} == {LEFT, CHANGED, "create"}

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["{old}", "{new}", "--to", "archive"], "is archive already"),
            (["{old}", "{old}/x", "--to", "layers"], "lie in each other"),
            (["{old}", "{full}", "--to", "layers"], "it is not empty"),
            (["{old}", "{new}", "--to", "layers", "--undated", "soon"], "undated: 'soon' is not a day"),
            (["{new}", "{old}", "--to", "layers"], "no such folder"),
            (["{old}", "{new}"], "Missing option '--to'"),
            (["{old}", "--to", "layers"], "TARGET is missing"),
        ],
    )
    def test_refuses_what_cannot_be_meant(self, say, tmp_path, copied, words, said):
        (tmp_path / "full").mkdir()
        (tmp_path / "full/note.txt").touch()
        places = {"old": copied("archive"), "new": tmp_path / "new", "full": tmp_path / "full"}
        before = tree(tmp_path)
        code, out, err = say(*(word.format(**places) for word in words))
        assert (code, out) == (2, "")
        assert said in err
        assert tree(tmp_path) == before

    def test_waits_no_longer_than_it_may_for_another_writer(self, tmp_path):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers", lock_timeout=0.1)
        (tmp_path / "new").mkdir()
        with files.Lock(tmp_path / "new", 1).held(), pytest.raises(memkit.LockTimeout, match="try again"):
            plan.apply()
        assert tree(tmp_path / "new") == {}
        assert len(open_at(plan.apply().facts).entries()) == plan.added


class TestTheWriteRule:
    """Rule 5.2: a day file in a store that the same plan creates is no change of a finished day."""

    EARLY = Edit("cold/2025-02/2025-02-03.md", None, "- [2025-02-03T09:10:00.000Z] [-] 茶\n", ("begin",))

    def apply(self, root, *edits):
        files.apply(root, LAYOUTS["layers"], edits, TODAY)

    def test_lets_a_plan_begin_a_store_with_finished_days(self, tmp_path):
        self.apply(tmp_path, self.EARLY)
        assert tree(tmp_path) == {self.EARLY.path: self.EARLY.after.encode()}

    @pytest.mark.parametrize("other", ["cold/2025-02/2025-02-01.md", "hot.md", "notes.txt", "cold/2025-02/2025-02-03.md"])
    def test_is_as_strict_as_ever_where_any_file_lies(self, tmp_path, other):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).write_text("- something\n", encoding="utf-8")
        before = tree(tmp_path)
        with pytest.raises((FrozenError, ConflictError)):
            self.apply(tmp_path, self.EARLY)
        assert tree(tmp_path) == before

    def test_does_not_let_the_store_that_was_begun_be_changed(self, tmp_path):
        self.apply(tmp_path, self.EARLY)
        for edit in (
            Edit(self.EARLY.path, self.EARLY.after, f"{self.EARLY.after}- more\n", ("begin",)),
            Edit(self.EARLY.path, self.EARLY.after, None, ("begin",)),
            Edit("cold/2025-02/2025-02-04.md", None, "- [2025-02-04T09:10:00.000Z] [-] 茶\n", ("begin",)),
        ):
            with pytest.raises(FrozenError):
                self.apply(tmp_path, edit)

    def test_lets_the_same_plan_go_on_but_no_plan_that_differs_in_what_is_there(self, tmp_path):
        late = Edit("cold/2025-02/2025-02-04.md", None, "- [2025-02-04T09:10:00.000Z] [-] 茶\n", ("begin",))
        self.apply(tmp_path, self.EARLY)
        self.apply(tmp_path, self.EARLY, late)
        assert sorted(tree(tmp_path)) == [self.EARLY.path, late.path]

    def test_is_for_plans_that_say_that_they_begin_a_store(self, tmp_path):
        with pytest.raises(FrozenError):
            self.apply(tmp_path, Edit(self.EARLY.path, None, self.EARLY.after))
        with pytest.raises(FrozenError):
            check_rule(self.EARLY, LAYOUTS["layers"].role(self.EARLY.path), TODAY)
        assert tree(tmp_path) == {}
