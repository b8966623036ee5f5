"""The write rule by itself: which edits pass, and which are refused with which error; no file is touched."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.edits import check
from memkit.edits.rule import split_head
from memkit.errors import FrozenError, LostTextError
from memkit.layouts import LAYOUTS
from memkit.model import Edit

TODAY = date(2025, 2, 28)
TODAYS = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}
EARLIER = [
    ("archive", "archive/2025/2025-02-27.md"),
    ("archive", "archive/2024/2025-02-27.md"),
    ("workspace", "memory/2025-02-27.md"),
    ("workspace", "memory/2025-02-27-kettle.md"),
    ("workspace", "memory/daily/20250227.md"),
    ("layers", "cold/2025-02/2025-02-27.md"),
    ("layers", "cold/2024-01/2025-02-27.md"),
]
DERIVED = [
    ("archive", "catalog/2024.tsv"),
    ("layers", "summaries/day/2025-02-03.md"),
    ("layers", "summaries/week/2025-W06.md"),
    ("layers", "summaries/month/2025-02.md"),
    ("workspace", "memory/index.sqlite"),
]
DAY = "---\ndate: 2025-02-28\nindex: '水壶'\nmood: calm\n---\n## 2025-02-28\n- 水壶响了。\n- 灯关了。\n"
LONGTERM = "# 记忆\n\n- 一\n- 二\n\n## Store\n\n- 三\n"
HOT = """正文一
正文二

<!-- candidates:start -->
- [2025-02-16T09:20:44.129Z] [决定] 看海
一行不合格的
- [2025-02-27T15:45:30.220Z] [-] 第二条
<!-- candidates:end -->

<!-- topics:start -->
茶室|2024-12
写错的主题
火锅|2024-12
<!-- topics:end -->
"""


def allow(layout: str, path: str, before: str | None, after: str | None, *free: str, today: date = TODAY) -> None:
    check(Edit(path, before, after, free), LAYOUTS[layout].role(path), today)


class TestADayBeforeToday:
    @pytest.mark.parametrize(("layout", "path"), EARLIER)
    @pytest.mark.parametrize(("before", "after"), [("- a\n", "- a\n- b\n"), (None, "- a\n"), ("- a\n", None), ("- a\n", "")])
    def test_is_frozen(self, layout: str, path: str, before: str | None, after: str | None) -> None:
        with pytest.raises(FrozenError, match=r"2025-02-27 is before today, 2025-02-28"):
            allow(layout, path, before, after)

    def test_is_frozen_in_its_index_too(self) -> None:
        with pytest.raises(FrozenError):
            allow("archive", EARLIER[0][1], DAY, DAY.replace("'水壶'", "'水壶；灯'"))

    @pytest.mark.parametrize(("layout", "path"), EARLIER)
    def test_may_change_when_the_user_asked_for_it_by_name(self, layout: str, path: str) -> None:
        allow(layout, path, "- a\n- b\n", "- b\n", "all")
        allow(layout, path, "- a\n", None, "all")

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_begins_when_the_day_is_over(self, layout: str) -> None:
        allow(layout, TODAYS[layout], "- a\n", "- a\n- b\n", today=TODAY)
        with pytest.raises(FrozenError):
            allow(layout, TODAYS[layout], "- a\n", "- a\n- b\n", today=TODAY + timedelta(days=1))

    def test_an_edit_that_changes_nothing_is_none(self) -> None:
        allow("archive", EARLIER[0][1], DAY, DAY)


class TestDerivedFiles:
    @pytest.mark.parametrize(("layout", "path"), DERIVED)
    @pytest.mark.parametrize("after", ["另一个\n", "", None])
    def test_may_become_anything(self, layout: str, path: str, after: str | None) -> None:
        allow(layout, path, "2024-12-16\t红水壶\n", after)


class TestTodaysFile:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize(
        "after",
        [
            "- a\n",
            "- a\n- c\n- b\n",
            "- b\n- a\n",
            "- a\n- b",
            "- a\n\n- b\n",
            "x- a\n- b\n",
            "- A\n- b\n- c\n",
            "\n- a\n- b\n",
            "- a\r\n- b\r\n- c\r\n",
            "",
            None,
        ],
    )
    def test_keeps_every_earlier_byte_of_its_body(self, layout: str, after: str | None) -> None:
        with pytest.raises(LostTextError):
            allow(layout, TODAYS[layout], "- a\n- b\n", after)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_may_grow_at_its_end(self, layout: str) -> None:
        allow(layout, TODAYS[layout], None, "- a\n")
        allow(layout, TODAYS[layout], "", "- a\n")
        allow(layout, TODAYS[layout], "- a\n", "- a\n- b")
        allow(layout, TODAYS[layout], "- a\r\n", "- a\r\n- b\r\n")
        allow(layout, TODAYS[layout], "坏\udcff字节\n", "坏\udcff字节\n- b\n")

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_a_last_line_without_an_end_gets_one_and_nothing_more(self, layout: str) -> None:
        allow(layout, TODAYS[layout], "- a\n- b", "- a\n- b\n- c\n")
        allow(layout, TODAYS[layout], "- a\r\n- b", "- a\r\n- b\r\n- c\r\n")
        with pytest.raises(LostTextError):
            allow(layout, TODAYS[layout], "- a\n- b", "- a\n- bad\n")

    @pytest.mark.parametrize(
        "after",
        [
            DAY.replace("'水壶'", "'水壶；灯'"),
            DAY.replace("mood: calm\n", "mood: calm\ntags: [a]\n") + "- 新\n",
            DAY.replace("date: 2025-02-28\n", "date: 2025-02-28\nextra: 1\n"),
            DAY + "- 新\n",
        ],
    )
    def test_may_change_its_index_and_gain_front_matter(self, after: str) -> None:
        allow("archive", TODAYS["archive"], DAY, after)
        allow("archive", TODAYS["archive"], "\ufeff" + DAY, "\ufeff" + after)
        allow("archive", TODAYS["archive"], DAY.replace("\n", "\r\n"), after.replace("\n", "\r\n"))

    @pytest.mark.parametrize("before", ["## 2025-02-28\n- a\n", "\ufeff## 2025-02-28\n- a\n", "", "- a"])
    def test_may_gain_a_front_matter_block_in_front(self, before: str) -> None:
        body = before.removeprefix("\ufeff")
        mark = "\ufeff" if before != body else ""
        allow("archive", TODAYS["archive"], before, f"{mark}---\ndate: 2025-02-28\nindex: 'a'\n---\n{body}")

    @pytest.mark.parametrize(
        "after",
        [
            DAY.replace("mood: calm\n", ""),
            DAY.replace("mood: calm", "mood: wild"),
            DAY.replace("date: 2025-02-28\n", ""),
            DAY.replace("date: 2025-02-28\nindex: '水壶'\nmood: calm\n", "mood: calm\ndate: 2025-02-28\nindex: '水壶'\n"),
            DAY.replace("index: '水壶'\n", ""),
            DAY.removeprefix("---\ndate: 2025-02-28\nindex: '水壶'\nmood: calm\n---\n"),
            DAY.replace("\n", "\r\n"),
            DAY.replace("date: 2025-02-28\n", "date: 2025-02-28\r\n"),
            "\ufeff" + DAY,
            "\n" + DAY.replace("- 灯关了。\n", ""),
        ],
    )
    def test_loses_no_other_line_of_its_front_matter(self, after: str) -> None:
        with pytest.raises(LostTextError):
            allow("archive", TODAYS["archive"], DAY, after)

    def test_keeps_its_byte_order_mark(self) -> None:
        with pytest.raises(LostTextError, match="byte order mark"):
            allow("archive", TODAYS["archive"], "\ufeff" + DAY, DAY.replace("'水壶'", "'灯'"))
        with pytest.raises(LostTextError):
            allow("workspace", TODAYS["workspace"], "\ufeff- a\n", "- a\n- b\n")

    def test_keeps_an_index_that_runs_over_several_lines(self) -> None:
        before = DAY.replace("index: '水壶'", "index: >\n  水壶")
        with pytest.raises(LostTextError):
            allow("archive", TODAYS["archive"], before, DAY)

    @given(old=st.text(alphabet="-a\n\r\ufeff: '#", max_size=40), new=st.text(alphabet="-a\n\r\ufeff: '#", max_size=40))
    def test_whatever_passes_ends_the_old_body_with_whole_lines(self, old: str, new: str) -> None:
        try:
            allow("archive", TODAYS["archive"], old, new)
        except LostTextError:
            return
        if old != new:
            bare = old.removeprefix("\ufeff")
            body = split_head(bare)[1]
            assert new.startswith(old) or split_head(new.removeprefix("\ufeff"))[1].startswith(body)
            kept = [row for row in bare.split("\n") if row.strip() and not row.startswith("index:")]
            rows = iter(row.removesuffix("\r") for row in new.removeprefix("\ufeff").split("\n"))
            assert all(row.removesuffix("\r") in rows for row in kept)


class TestFilesWithoutADay:
    @pytest.mark.parametrize("path", ["MEMORY.md", "memory.md", "memory/notes/song.md", "DREAMS.md", "foreign.txt"])
    @pytest.mark.parametrize(
        "after",
        [
            LONGTERM.replace("- 二\n", ""),
            LONGTERM.replace("- 二", "- 二!"),
            LONGTERM.replace("- 一\n- 二", "- 二\n- 一"),
            LONGTERM.replace("# 记忆", "## 记忆"),
            LONGTERM.replace("\n", "\r\n"),
            LONGTERM[:-4],
            "",
            None,
        ],
    )
    def test_keep_every_old_line_in_order(self, path: str, after: str | None) -> None:
        with pytest.raises(LostTextError):
            allow("workspace", path, LONGTERM, after)

    @pytest.mark.parametrize(
        "after",
        [
            LONGTERM + "- 四\n",
            LONGTERM.replace("- 一\n", "- 一\n- 一半\n"),
            "前言\n" + LONGTERM,
            LONGTERM.replace("\n\n", "\n"),
            LONGTERM.replace("## Store", "## Forgotten\n\n- x\n\n## Store"),
        ],
    )
    def test_may_gain_lines_anywhere(self, after: str) -> None:
        allow("workspace", "MEMORY.md", LONGTERM, after)
        allow("workspace", "MEMORY.md", LONGTERM.replace("\n", "\r\n"), after.replace("\n", "\r\n"))

    def test_a_line_that_stood_there_twice_stands_there_twice(self) -> None:
        with pytest.raises(LostTextError):
            allow("workspace", "MEMORY.md", "- a\n- a\n", "- a\n- b\n")

    def test_a_last_line_without_an_end_may_get_the_files_own(self) -> None:
        allow("workspace", "MEMORY.md", "- a\n- b", "- a\n- b\n- c\n")
        allow("workspace", "MEMORY.md", "- a\r\n- b", "- a\r\n- b\r\n- c\r\n")
        with pytest.raises(LostTextError):
            allow("workspace", "MEMORY.md", "- a\n- b", "- a\n- bad\n")

    def test_a_byte_order_mark_stays(self) -> None:
        allow("workspace", "MEMORY.md", "\ufeff- a\n", "\ufeff- a\n- b\n")
        with pytest.raises(LostTextError):
            allow("workspace", "MEMORY.md", "\ufeff- a\n", "- a\n- b\n")


LINES = {
    "body": ("正文一", "正文二"),
    "candidates": ("- [2025-02-16T09:20:44.129Z] [决定] 看海", "一行不合格的", "- [2025-02-27T15:45:30.220Z] [-] 第二条"),
    "topics": ("茶室|2024-12", "写错的主题", "火锅|2024-12"),
}
EACH_LINE = [(region, line) for region, lines in LINES.items() for line in lines]


class TestTheHotLayer:
    @pytest.mark.parametrize(("region", "line"), EACH_LINE)
    def test_loses_no_line_of_any_region(self, region: str, line: str) -> None:
        other = "<!-- topics:end -->\n" if region == "candidates" else "<!-- candidates:end -->\n"
        without = HOT.replace(line + "\n", "")
        for after in (without, HOT.replace(line, line + "."), without.replace(other, line + "\n" + other)):
            with pytest.raises(LostTextError):
                allow("layers", "hot.md", HOT, after)

    @pytest.mark.parametrize(("region", "line"), EACH_LINE)
    def test_may_change_in_the_region_that_was_asked_for_alone(self, region: str, line: str) -> None:
        allow("layers", "hot.md", HOT, HOT.replace(line + "\n", ""), region)
        for other in {"body", "candidates", "topics"} - {region}:
            with pytest.raises(LostTextError):
                allow("layers", "hot.md", HOT, HOT.replace(line + "\n", ""), other)

    @pytest.mark.parametrize(("region", "lines"), LINES.items())
    def test_keeps_the_order_of_a_region(self, region: str, lines: tuple[str, ...]) -> None:
        first, last = lines[0], lines[-1]
        swapped = HOT.replace(first, "@").replace(last, first).replace("@", last)
        with pytest.raises(LostTextError):
            allow("layers", "hot.md", HOT, swapped)
        allow("layers", "hot.md", HOT, swapped, region)

    def test_may_gain_lines_and_lose_blanks_and_markers(self) -> None:
        allow("layers", "hot.md", HOT, HOT.replace("\n\n", "\n"))
        allow("layers", "hot.md", HOT, HOT.replace("火锅|2024-12", "火锅|2024-12\n看海|2025-02"))
        allow(
            "layers",
            "hot.md",
            "正文\n<!-- topics:start -->\na|2025-01\n",
            "正文\n\n<!-- topics:start -->\na|2025-01\n<!-- topics:end -->\n",
        )
        allow("layers", "hot.md", HOT.replace("\n", "\r\n"), HOT)

    def test_is_not_deleted(self) -> None:
        for free in ((), ("body",), ("body", "topics")):
            with pytest.raises(LostTextError):
                allow("layers", "hot.md", HOT, None, *free)

    def test_may_be_made(self) -> None:
        allow("layers", "hot.md", None, HOT)
