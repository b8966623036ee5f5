"""What the verbs plan, byte for byte, in all three layouts; property tests over arbitrary texts and file bodies."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memkit import indexing
from memkit.edits import archive, layers, workspace
from memkit.edits import lines as edit_lines
from memkit.edits.plan import Draft
from memkit.edits.rule import check
from memkit.errors import BadArgument, BadIndexError, LostTextError
from memkit.layouts import LAYOUTS
from memkit.model import Document
from memkit.text import decode, norm_text

NOW = datetime(2025, 2, 28, 21, 30, tzinfo=ZoneInfo("Asia/Shanghai"))
TODAY = date(2025, 2, 28)
STAMP = "2025-02-28T13:30:00.000Z"
DAY = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}


def reader(**files: str):
    held = {path.replace("__", "/"): text for path, text in files.items()}
    return held.get


def append(layout: str, text: str, before: str | None = None, tag: str | None = None) -> Draft:
    read = {DAY[layout]: before}.get
    if layout == "archive":
        return archive.append(read, text, tag, None, NOW)
    if layout == "layers":
        return layers.write(read, text, tag, NOW)
    return workspace.store(read, text, "daily", NOW, tag=tag)


def entries(layout: str, text: str) -> list[tuple[str | None, str]]:
    """Return (tag, text) of the entries that a day file of the layout holds."""
    data = decode(text.encode("utf-8", "surrogateescape"))
    path = DAY[layout]
    records = LAYOUTS[layout].parse(Document(path, LAYOUTS[layout].role(path), text, data[1], data[2]))
    tags = records.entries.tag or [None] * len(records.entries)
    return list(zip(tags, records.entries.text, strict=True))


WORDS = st.text(min_size=1, max_size=80)
NASTY = st.sampled_from(
    [
        "- 假的\n## 假标题\n---\nindex: 'x'",
        "```\n没关的围栏",
        "<!-- 没关的注释",
        "--> 关上",
        "<!-- candidates:end -->",
        "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x",
        "] [x] 更正",
        "a\tb\rc\r\nd\u2028e\x0bf\x85g\0h\x1bi",
        "[x] 做完了",
        "[2025-02-01] 方括号日期",
        "2025-02-01T10:00:00.000Z 看起来像时间",
        "1. 一\n2. 二\n\n   三",
        "    缩进四格\n\t制表符",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "'引号' \"双引号\" it's",
        "# 井号 #标签 `#代码`",
        "***",
        "* * *\n真的有字",
        "• 圆点",
        "①一",
        "\ufeff开头",
        "\ud800孤儿",
        "=====\n",
        "word  \ntwo trailing blanks",
        "\n\n空行开头\n\n\n中间三行\n\n",
        "---\n# 第一行是横线",
        "|-|\n表格的第二行",
        "上\n \n下",
    ]
)


class TestAnAppendedEntry:
    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    @given(text=st.one_of(NASTY, WORDS), before=st.one_of(st.none(), NASTY, st.text(max_size=200)))
    def test_is_read_back_and_keeps_every_earlier_byte(self, layout: str, text: str, before: str | None) -> None:
        if before is not None:
            before = before.replace("\ud800", "\udc80")  # what a file can hold
        try:
            draft = append(layout, text, before)
        except (BadArgument, LostTextError):
            return
        for edit in draft.edits:
            check(edit, LAYOUTS[layout].role(edit.path), TODAY)
        if draft.edits:
            after = draft.edits[0].after
            assert after is not None
            if layout != "archive":
                assert after.startswith(before or "")
            old, new = entries(layout, before or ""), entries(layout, after)
            assert len(new) == len(old) + draft.added
            closing = len(old) - 1 if old and new[len(old) - 1] != old[-1] else len(old)
            assert new[:closing] == old[:closing]
            if closing < len(old):  # only the closing line of a fence that was open may join an old entry
                assert new[closing][1].startswith(old[closing][1])
                assert set(new[closing][1][len(old[closing][1]) :].strip()) <= {"`", "~"}

    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    @given(text=st.one_of(NASTY, WORDS))
    def test_stands_alone_in_a_new_file(self, layout: str, text: str) -> None:
        try:
            draft = append(layout, text)
        except BadArgument:
            return
        after = draft.edits[0].after
        assert after is not None
        found = entries(layout, after)
        assert len(found) == 1
        said = layers.entry_text(text) if layout == "layers" else edit_lines.entry_text(text)
        assert norm_text(said).endswith(norm_text(found[0][1]))

    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    @given(text=st.one_of(NASTY, WORDS))
    def test_twice_the_same_adds_once(self, layout: str, text: str) -> None:
        try:
            first = append(layout, text).edits[0].after
        except BadArgument:
            return
        again = append(layout, text, first)
        assert again.added == 0
        assert again.edits == ()

    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_has_its_tag_read_back(self, layout: str) -> None:
        after = append(layout, "决定先修目录重建", tag="计划").edits[0].after
        assert entries(layout, after or "") == [("计划", "决定先修目录重建")]

    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    @pytest.mark.parametrize("text", ["", "  \n ", "---", "* * *", "- - -", "___", "[x]", "[ ]", "\ufeff", "|", "|-|:-:|"])
    def test_needs_words(self, layout: str, text: str) -> None:
        if layout == "layers" and text.strip("\ufeff \n"):
            assert append(layout, text).added == 1  # its lines stand alone, so that anything but blanks can be told
            return
        with pytest.raises(BadArgument, match=r"^text: "):
            append(layout, text)

    @pytest.mark.parametrize("layout", ["workspace", "layers"])
    def test_over_4000_characters_is_refused_with_its_length(self, layout: str) -> None:
        with pytest.raises(BadArgument, match=r"4,001 characters of at most 4,000"):
            append(layout, "字" * 4001)
        assert append(layout, "字" * 4000).added == 1

    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_takes_the_files_own_line_ends_and_adds_a_missing_one(self, layout: str) -> None:
        before = {
            "archive": "---\r\ndate: 2025-02-28\r\nindex: '旧'\r\n---\r\n- 旧",
            "workspace": "- 旧\r\n- 二",
            "layers": "# x\r\n旧",
        }
        after = append(layout, "新的", before[layout]).edits[0].after or ""
        assert after.count("\n") == after.count("\r\n")
        assert after.endswith("\r\n")
        assert entries(layout, after)[-1][1] == "新的"

    def test_of_a_utf16_file_is_refused(self) -> None:
        before = "- 茶\n".encode("utf-16").decode("utf-8", "surrogateescape")
        for layout in DAY:
            with pytest.raises(LostTextError, match="UTF-16"):
                append(layout, "新的", before)


class TestTheArchiveFormat:
    def test_of_a_new_day(self) -> None:
        draft = archive.append(reader(), "开业日期改到 3 月 15 日。\n老顾说好", "决定", None, NOW)
        assert draft.edits[0].after == (
            "---\ndate: 2025-02-28\nindex: '[决定] 开业日期改到 3 月 15 日'\n---\n## 2025-02-28\n"
            "- [决定] 开业日期改到 3 月 15 日。\n  老顾说好\n"
        )

    def test_a_given_index_takes_the_place_and_doubles_its_quotes(self) -> None:
        draft = archive.append(reader(), "茶", None, "it's tea", NOW)
        assert "index: 'it''s tea'\n" in (draft.edits[0].after or "")

    @pytest.mark.parametrize("index", ["", " ", "a\tb", "a\nb", "a\rb", "a\u2028b", "a\0b", "a\x1bb", "a\x85b"])
    def test_an_index_that_a_catalog_cannot_hold_is_refused(self, index: str) -> None:
        with pytest.raises(BadIndexError, match=r"^index: "):
            archive.append(reader(), "茶", None, index, NOW)

    def test_only_the_index_line_of_the_front_matter_changes(self) -> None:
        head = "---\ntitle: '保留'\n# 注释\nindex: '茶'\ndate: 2025-02-28\ntags: [a, b]\n---\n"
        after = archive.append({DAY["archive"]: head + "- 茶\n"}.get, "咖啡 2 杯", None, None, NOW).edits[0].after
        assert after == head.replace("'茶'", "'茶；咖啡 2 杯'") + "- 茶\n- 咖啡 2 杯\n"

    def test_a_hand_written_index_is_kept_and_only_added_to(self) -> None:
        before = "---\ndate: 2025-02-28\nindex: '人写的摘要'\n---\n- 茶凉了\n"
        after = archive.append({DAY["archive"]: before}.get, "咖啡 2 杯", None, None, NOW).edits[0].after
        assert "index: '人写的摘要；咖啡 2 杯'\n" in (after or "")

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("- 茶\n", "---\ndate: 2025-02-28\nindex: '茶；新'\n---\n- 茶\n- 新\n"),
            ("\ufeff- 茶\n", "\ufeff---\ndate: 2025-02-28\nindex: '茶；新'\n---\n- 茶\n- 新\n"),
            ("---\ndate: 2025-02-28\n---\n- 茶\n", "---\ndate: 2025-02-28\nindex: '茶；新'\n---\n- 茶\n- 新\n"),
            ("---\nindex: 茶: 坏\n---\n- 茶\n", "---\nindex: '茶: 坏；新'\n---\n- 茶\n- 新\n"),
            ("- 茶\n```\n没关", "---\ndate: 2025-02-28\nindex: '茶；新'\n---\n- 茶\n```\n没关\n```\n- 新\n"),
        ],
    )
    def test_what_is_missing_or_open_is_completed(self, before: str, after: str) -> None:
        assert archive.append({DAY["archive"]: before}.get, "新", None, None, NOW).edits[0].after == after

    @pytest.mark.parametrize(
        "before",
        [
            "---\nindex: 'a'\nindex: 'b'\n---\n- 茶\n",
            "---\nindex: 'a\n  b'\n---\n- 茶\n",
            "---\nindex: 'a\n\n  b'\n---\n- 茶\n",
            "---\nindex: 'a\nb'\n---\n- 茶\n",
            "---\nindex: |\n\n  b\n---\n- 茶\n",
            "---\nindex:\n- a\n- b\n---\n- 茶\n",
            "---\nindex : 'a'\n---\n- 茶\n",
            "---\n\"index\": 'a'\n---\n- 茶\n",
            "---\nindex: 'a'\nindex : 'b'\n---\n- 茶\n",
            "---\nindex: 'a'\n---\n- 茶\n---\nindex: 'b'\ndate: 2025-02-28\n---\n",
            "<<<<<<< LOCAL\n---\nindex: 'a'\n---\n- 茶\n=======\n- 咖啡\n>>>>>>> REMOTE\n",
        ],
    )
    def test_unclear_front_matter_is_refused(self, before: str) -> None:
        with pytest.raises(LostTextError, match=r"^archive/2025/2025-02-28\.md: "):
            archive.append({DAY["archive"]: before}.get, "新", None, None, NOW)

    def test_a_correction(self) -> None:
        draft = archive.append_all(reader(), [archive.corrected(date(2025, 2, 3), "开业\n日期", " 改到 3 月 15 日 ")], NOW)
        assert "- 更正 2025-02-03：开业 日期 → 改到 3 月 15 日\n" in (draft.edits[0].after or "")


class TestTheCatalog:
    FILES: ClassVar = {
        "archive/2024/2024-12-31.md": "---\ndate: 2024-12-31\nindex: '年末'\n---\n- 年末\n",
        "archive/2025/2025-01-01.md": "---\ndate: 2025-01-01\nindex: 'it''s 元旦'\n---\n- 元旦\n",
        "archive/2025/2025-02-27.md": "- 没有索引\n",
        "archive/2025/2025-02-28.md": "---\ndate: 2025-02-28\nindex: '今天'\n---\n- 今天\n",
    }

    def days_of(self, year: int) -> dict[date, str]:
        return {date.fromisoformat(path[13:23]): path for path in self.FILES if path.startswith(f"archive/{year}/")}

    def test_is_rebuilt_from_the_day_files_alone_without_today(self) -> None:
        draft = archive.rebuild(self.FILES.get, [2024, 2025, 2026], self.days_of, TODAY)
        assert {edit.path: edit.after for edit in draft.edits} == {
            "catalog/2024.tsv": "2024-12-31\t年末\n",
            "catalog/2025.tsv": "2025-01-01\tit's 元旦\n2025-02-27\t\n",
            "catalog/2026.tsv": None,
        }

    @pytest.mark.parametrize(
        "catalogs",
        [
            {},
            {"catalog/2024.tsv": "2024-12-31\t年末\n"},
            {"catalog/2024.tsv": "2024-12-31\t年末\n", "catalog/2025.tsv": "2025-01-01\tit's 元旦\n"},
            {"catalog/2024.tsv": "2024-12-31\t年末\n", "catalog/2025.tsv": "2025-01-02\t鬼\n"},
            {"catalog/2024.tsv": "2024-12-31\t年末\n", "catalog/2025.tsv": "2025-02-27\t\n"},
            {"catalog/2024.tsv": "2024-12-31\t年末\n", "catalog/2025.tsv": "2025-01-01\tit's 元旦"},
        ],
    )
    def test_catches_up_to_what_a_rebuild_gives(self, catalogs: dict[str, str]) -> None:
        held = {**self.FILES, **catalogs}
        draft = archive.catch_up(held.get, self.days_of, TODAY)
        held.update({edit.path: edit.after or "" for edit in draft.edits})
        assert held["catalog/2025.tsv"] == "2025-01-01\tit's 元旦\n2025-02-27\t\n"
        assert held["catalog/2024.tsv"] == "2024-12-31\t年末\n"
        assert archive.catch_up(held.get, self.days_of, TODAY).edits == ()


class TestTheWorkspaceFormat:
    def test_a_stored_line_is_the_last_of_its_section(self) -> None:
        before = "# 记忆\n\n## Store\n- 2025-01-01T00:00:00.000Z 一\n\n## Forgotten\n- 2025-01-02T00:00:00.000Z 忘\n"
        after = workspace.store({"MEMORY.md": before}.get, "二\n行", "longterm", NOW).edits[0].after
        assert after == before.replace("一\n", f"一\n- {STAMP} 二 行\n")

    def test_a_missing_section_is_made_at_the_end(self) -> None:
        for before, glue in (("# 记忆", "\n\n"), ("# 记忆\n", "\n"), ("", "")):
            after = workspace.store({"MEMORY.md": before}.get, "二", "longterm", NOW).edits[0].after
            assert after == f"{before}{glue}## Store\n- {STAMP} 二\n"

    @pytest.mark.parametrize("near", ["### Store\n- x\n", "## Storefront\n- x\n", "```\n## Store\n```\n", "在 ## Store 里\n"])
    def test_only_the_exact_heading_is_the_section(self, near: str) -> None:
        after = workspace.store({"MEMORY.md": near}.get, "二", "longterm", NOW).edits[0].after
        assert after == f"{near}\n## Store\n- {STAMP} 二\n"

    def test_forgotten_lines_go_below_their_own_heading(self) -> None:
        before = "## Forgotten\n- 2025-01-02T00:00:00.000Z 忘\n\n## Store\n- 2025-01-01T00:00:00.000Z 一"
        after = workspace.forgotten({"MEMORY.md": before}.get, "又忘", NOW).edits[0].after
        assert after == before.replace("忘\n", f"忘\n- {STAMP} 又忘\n", 1)
        again = workspace.store({"MEMORY.md": after}.get, "二", "longterm", NOW).edits[0].after
        assert (again or "").endswith(f"一\n- {STAMP} 二\n")

    def test_the_same_text_again_today_adds_nothing(self) -> None:
        first = workspace.store(reader(), "二", "longterm", NOW).edits[0].after
        assert workspace.store({"MEMORY.md": first}.get, "二", "longterm", NOW).added == 0
        later = datetime(2025, 3, 1, 9, 0, tzinfo=NOW.tzinfo)
        assert workspace.store({"MEMORY.md": first}.get, "二", "longterm", later).added == 1

    def test_another_target_is_refused(self) -> None:
        with pytest.raises(BadArgument, match=r"^target: "):
            workspace.store(reader(), "x", "weekly", NOW)


class TestTheLayersFormat:
    def test_a_new_cold_file_has_a_heading(self) -> None:
        draft = layers.write(reader(), "周末想去看海", "计划", NOW)
        written = draft.facts
        assert draft.edits[0].after == f"# 2025-02-28\n\n- [{STAMP}] [计划] 周末想去看海\n"
        assert (written.added, written.candidate, written.stamp) == (True, 0, STAMP)

    def test_an_important_entry_is_also_a_candidate_once(self) -> None:
        draft = layers.write(reader(), "看海", None, NOW, important=True)
        written = draft.facts
        hot = draft.edits[1].after or ""
        assert written.candidate == 1
        assert hot == (
            f"<!-- candidates:start -->\n- [{STAMP}] [-] 看海\n<!-- candidates:end -->\n\n"
            "<!-- topics:start -->\n<!-- topics:end -->\n"
        )
        held = {DAY["layers"]: draft.edits[0].after, "hot.md": hot}
        again = layers.write(held.get, "看海", None, NOW, important=True)
        twice = again.facts
        assert (twice.added, twice.candidate) == (False, 1)
        assert all(edit.before == edit.after for edit in again.edits)

    def test_a_duplicate_can_still_be_promoted_with_its_own_stamp(self) -> None:
        old = "# 2025-02-28\n\n- [2025-02-28T01:00:00.000Z] [-] 看海\n"
        draft = layers.write({DAY["layers"]: old}.get, "看海", None, NOW, important=True)
        written = draft.facts
        assert (written.added, written.candidate, written.stamp) == (False, 1, "2025-02-28T01:00:00.000Z")
        assert [edit.path for edit in draft.edits] == ["hot.md"]

    HOT = (
        "旧正文\n\n<!-- candidates:start -->\n- [2025-02-01T01:00:00.000Z] [-] 候选\n写坏的一行\n<!-- candidates:end -->\n\n"
        "<!-- topics:start -->\n海|2025-02\n坏的\n<!-- topics:end -->\n"
    )

    def test_hot_set_replaces_the_body_and_keeps_both_blocks(self) -> None:
        draft = layers.hot_set(self.HOT, "新正文\n第二行\n")
        facts = draft.facts
        assert draft.edits[0].after == self.HOT.replace("旧正文", "新正文\n第二行")
        assert (facts.ignored_lines, facts.body_cleared, facts.previous_chars) == (0, False, 3)

    def test_hot_set_with_a_block_replaces_that_region(self) -> None:
        content = "新\n<!-- topics:start -->\n山|2025-01\n山|2025-01\n坏\n<!-- topics:end -->"
        draft = layers.hot_set(self.HOT, content)
        facts = draft.facts
        assert draft.edits[0].after == self.HOT.replace("旧正文", "新").replace("海|2025-02\n坏的\n", "山|2025-01\n")
        assert facts.ignored_lines == 1

    def test_a_block_alone_clears_the_body_and_says_so(self) -> None:
        draft = layers.hot_set(self.HOT, "<!-- topics:start -->\n<!-- topics:end -->")
        facts = draft.facts
        assert (draft.edits[0].after or "").startswith("<!-- candidates:start -->\n")
        assert facts.body_cleared

    @pytest.mark.parametrize("content", ["x\n<!-- topics:start -->\na|2025-01", "x\n<!-- candidates:end -->", None, 7])
    def test_an_unpaired_block_or_no_text_is_refused(self, content: object) -> None:
        with pytest.raises(BadArgument, match=r"^content: "):
            layers.hot_set(self.HOT, content)

    def test_a_topic_is_added_once(self) -> None:
        after = layers.topics_add(self.HOT, "山", "2025-01").edits[0].after
        assert after == self.HOT.replace("坏的\n", "坏的\n山|2025-01\n")
        assert layers.topics_add(after, "山", "2025-01").edits == ()
        with pytest.raises(BadArgument, match="topic and month"):
            layers.topics_add(self.HOT, "山", "2025-13")

    @given(hot=st.text(st.characters(exclude_characters="\0"), max_size=200), content=st.text(max_size=80))
    @example(hot="a\r\n<!-- topics:start -->\r\nx|2025-01\r\n", content="b")
    def test_hot_set_never_loses_a_candidate_or_topic(self, hot: str, content: str) -> None:
        hot = hot.encode("utf-8", "replace").decode()
        try:
            draft = layers.hot_set(hot, content)
        except BadArgument:
            return
        check(draft.edits[0], LAYOUTS["layers"].role("hot.md"), TODAY)


class TestExtraction:
    def test_represents_every_entry_and_invents_nothing(self) -> None:
        texts = ["开会。进行了讨论。", "确定了方案", "花了 468 元！见《山丘》；没别的", "`code` 里\n更多 TODO"]
        index = indexing.extract(texts)
        assert index == "开会；确定了方案；花了 468 元；见《山丘》；`code` 里；更多 TODO"
        assert all(clause in text for clause, text in zip(index.split("；")[:2], texts, strict=False))

    @given(st.lists(st.one_of(NASTY, WORDS), min_size=1, max_size=8))
    def test_is_one_line_that_a_catalog_can_hold(self, texts: list[str]) -> None:
        kept = []
        for text in texts:
            try:
                kept.append(edit_lines.entry_text(text))
            except BadArgument:
                continue
        if kept:
            index = indexing.extract(kept)
            assert index
            assert indexing.checked(index) == index.strip()

    def test_a_correction_is_taken_whole(self) -> None:
        text = "更正 2025-02-03：开业日期。真的 → 改到 3 月 15 日！一定"
        assert indexing.extract([text]) == text

    def test_a_long_clause_is_cut_and_at_most_four_are_kept(self) -> None:
        assert indexing.clauses_of("字" * 121) == ["字" * 120 + "…"]
        assert len(indexing.clauses_of("；".join(f"第 {n} 条" for n in range(9)))) == 4
