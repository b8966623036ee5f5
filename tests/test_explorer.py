"""The explorer's tab Browse and its traits, on the Python objects: no browser, no kernel."""

import json
import re
from datetime import date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import traitlets
from conftest import SAMPLES, open_at

import memkit
from memkit.explorer.browse.timeline import MOST, bars
from memkit.explorer.words import WORDS, words_in

HOSTILE = ["<script>window.bad = 1</script>", '<img src=x onerror="window.bad = 1">', "[x](javascript:alert(1))", "长" * 46_000]


@pytest.fixture
def explorer():
    return open_at(SAMPLES / "archive").explore(lang="en")


@pytest.fixture
def vault(tmp_path):
    """Return a function that makes an archive of some days, {day: entries}, and opens it."""

    def make(days):
        for day, entries in days.items():
            path = tmp_path / "vault" / "archive" / day[:4] / f"{day}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"- {entry}\n" for entry in entries), encoding="utf-8")
        return open_at(tmp_path / "vault", layout="archive")

    return make


def click(explorer, do, value="", **form):
    explorer.act({"do": do, "value": str(value), "form": form})


def open_row(explorer, place):
    """Click on a row of the page."""
    values = re.findall(r'<tr data-do="browse.open" data-value="(\d+)"', explorer.page_html)
    click(explorer, "browse.open", values[place])


def messages(explorer, monkeypatch):
    """Return the list in which every message to the page will be noted."""
    sent = []
    monkeypatch.setattr(explorer, "_send", lambda message, buffers=None: sent.append(message))
    return sent


class TestChoosing:
    def test_at_first_all_entries_are_chosen_newest_first(self, explorer):
        mem = open_at(SAMPLES / "archive")
        assert explorer.hits == len(mem.entries()) == len(explorer.frame)
        assert list(explorer.frame.columns) == list(mem.entries().columns)
        pd.testing.assert_frame_equal(explorer.frame, mem.between("2000-01-01", "2100-01-01"))

    def test_words_choose_what_matching_finds(self, explorer):
        explorer.query = "水壶"
        pd.testing.assert_frame_equal(explorer.frame, open_at(SAMPLES / "archive").matching("水壶"))
        assert [row["path"] for row in explorer.rows] == explorer.frame["path"].tolist()
        assert explorer.rows[0]["date"] == "2025-02-26"

    def test_one_letter_is_a_query(self, explorer):
        explorer.query = "茶"
        assert explorer.hits == len(open_at(SAMPLES / "archive").matching("茶")) > 0

    def test_tags_choose_what_has_one_of_them(self, explorer):
        explorer.tags = ["计划", "同步"]
        mem = open_at(SAMPLES / "archive")
        assert explorer.hits == len(mem.tagged("计划")) + len(mem.tagged("同步"))
        explorer.tags = ["-"]
        assert explorer.hits == len(mem.tagged("-"))

    def test_days_choose_a_closed_window(self, explorer):
        explorer.date_from, explorer.date_to = "2025-01-10", date(2025, 1, 31)
        pd.testing.assert_frame_equal(explorer.frame, open_at(SAMPLES / "archive").between("2025-01-10", "2025-01-31"))
        assert explorer.date_to == "2025-01-31"
        explorer.date_to = datetime(2025, 1, 31, 12)  # noqa: DTZ001
        assert explorer.date_to == "2025-01-31"

    def test_a_kind_chooses_its_files(self):
        explorer = open_at(SAMPLES / "workspace").explore()
        explorer.kind = "longterm"
        assert set(explorer.frame["kind"]) == {"longterm"}
        assert explorer.hits == (open_at(SAMPLES / "workspace").entries()["kind"] == "longterm").sum()
        explorer.kind = "no such kind"
        assert explorer.hits == 0

    def test_filters_narrow_each_other(self, explorer):
        explorer.query, explorer.tags = "水壶", ["翻唱"]
        both = open_at(SAMPLES / "archive").matching("水壶").memory.tagged("翻唱")
        pd.testing.assert_frame_equal(explorer.frame, both)

    def test_chips_count_what_the_other_filters_leave(self, explorer):
        explorer.query = "水壶"
        explorer.tags = ["翻唱"]
        found = dict(re.findall(r"<span>([^<]*)</span> <b>(\d+)</b>", explorer.chips_html))
        volume = open_at(SAMPLES / "archive").matching("水壶").memory.volume("tag").set_index("tag")["entries"]
        assert {("no tag" if pd.isna(tag) else tag): str(number) for tag, number in volume.items()} == found

    def test_a_chip_puts_its_tag_in_and_takes_it_out(self, explorer):
        tag = re.search(r'data-value="1" data-key="tag ([^"]+)"', explorer.chips_html)[1]
        click(explorer, "browse.tag", 1)
        assert explorer.tags == [tag]
        assert 'aria-pressed="true"' in explorer.chips_html
        click(explorer, "browse.tag", 1)
        assert explorer.tags == []
        click(explorer, "browse.tag", 9999)
        assert explorer.tags == []

    def test_clear_takes_all_filters_away(self, explorer):
        explorer.query, explorer.tags, explorer.date_from, explorer.kind = "水壶", ["翻唱"], "2025-01-01", "daily"
        click(explorer, "browse.clear")
        assert (explorer.query, explorer.tags, explorer.date_from, explorer.kind) == ("", [], "", "")
        assert explorer.hits == 147

    @pytest.mark.parametrize("bad", ["x", "2025-02-30", 7])
    def test_a_day_that_is_none_is_refused(self, explorer, bad):
        with pytest.raises(traitlets.TraitError, match="date_from"):
            explorer.date_from = bad
        assert explorer.date_from == ""

    def test_a_window_upside_down_is_told_and_chooses_nothing(self, explorer):
        explorer.date_from, explorer.date_to = "2025-02-02", "2025-02-01"
        assert "date_from: 2025-02-02 is after date_to 2025-02-01" in explorer.notice_html
        assert (explorer.hits, len(explorer.frame), explorer.rows) == (0, 0, [])
        explorer.date_to = ""
        assert explorer.notice_html == ""
        assert explorer.hits > 0

    def test_one_change_is_one_message(self, explorer, monkeypatch):
        sent = messages(explorer, monkeypatch)
        explorer.set_state({"query": "水壶"})
        updates = [message for message in sent if message["method"] == "update"]
        assert len(updates) == 1
        assert {"page_html", "chips_html", "status_html", "turn"} <= set(updates[0]["state"])
        json.dumps(updates[0]["state"])


class TestPage:
    def test_hits_are_marked_and_counted(self, explorer):
        explorer.query = "红水壶"
        assert "<mark>红水壶</mark>" in explorer.page_html
        assert f"<b>{explorer.hits} of 147 rows</b>" in explorer.status_html

    def test_fifty_rows_are_shown_and_the_next_on_request(self, explorer):
        frame = explorer.frame
        assert [row["text"] for row in explorer.rows] == frame["text"].head(50).tolist()
        click(explorer, "browse.older")
        assert [row["text"] for row in explorer.rows] == frame["text"][50:100].tolist()
        assert "51–100" in explorer.page_html
        for _ in range(5):
            click(explorer, "browse.older")
        assert [row["text"] for row in explorer.rows] == frame["text"][100:].tolist()
        click(explorer, "browse.newer")
        explorer.query = "水壶"
        assert explorer.rows[0]["path"] == explorer.frame["path"][0]

    def test_an_open_entry_is_whole_with_its_neighbours(self, explorer):
        explorer.query = "水壶"
        open_row(explorer, 1)
        row = explorer.frame.iloc[1]
        assert f"{row.path}:{row.line}" in explorer.entry_html
        near = explorer.frame.iloc[1:2].merge(open_at(SAMPLES / "archive").entries(), on="path", suffixes=("", "_near"))
        shown = [
            int(line) for line in re.findall(r"<li[^>]*><b[^>]*>(\d+):|>(\d+): ", explorer.entry_html) for line in line if line
        ]
        around = [line for line in near["line_near"] if line != row.line]
        assert set(shown) - {row.line} <= set(around)
        assert len(shown) == min(2, sum(line < row.line for line in around)) + 1 + min(
            2, sum(line > row.line for line in around)
        )
        click(explorer, "browse.close")
        assert explorer.entry_html == ""

    def test_a_neighbour_opens_too(self, explorer):
        open_row(explorer, 0)
        first = re.search(r'data-do="browse.open" data-value="(\d+)"', explorer.entry_html)
        other = re.search(r">(\d+): ", explorer.entry_html)[1]
        click(explorer, "browse.open", first[1])
        assert f".md:{other}</code>" in explorer.entry_html

    def test_python_opens_an_entry_by_its_place(self, explorer):
        row = explorer.frame.iloc[100]
        explorer.read(row.path, int(row.line))
        assert f"{row.path}:{row.line}" in explorer.entry_html
        explorer.read(row.path, 9999)
        assert "no longer there" in explorer.status_html
        assert explorer.entry_html == ""

    @pytest.mark.parametrize("value", ["", "-1", "999", "x", "²"])
    def test_a_row_that_is_none_opens_nothing(self, explorer, value):
        click(explorer, "browse.open", value)
        assert explorer.entry_html == ""

    @pytest.mark.parametrize("name", ["archive", "layers", "workspace"])
    def test_the_step_that_answered_is_that_of_search(self, name):
        mem = open_at(SAMPLES / name)
        explorer = mem.explore()
        explorer.query = "茶"
        assert explorer.step == ""
        assert 'data-more="browse.settle"' in explorer.status_html
        click(explorer, "browse.settle")
        found = mem.search("茶")
        assert explorer.step == (found.provider if name == "workspace" else found.step)
        assert ("an agent&#x27;s search would stop at: the last days" in explorer.status_html) == (name != "workspace")
        assert "data-more" not in explorer.status_html

    def test_words_that_nothing_holds_settle_too(self, explorer):
        explorer.query = "没有这个词吧"
        click(explorer, "browse.settle")
        assert "data-more" not in explorer.status_html
        assert "Nothing matches" in explorer.page_html


class TestWhatIsTold:
    def test_a_number_means_the_same_entry_whatever_is_drawn_since(self, explorer):
        row = explorer.rows[3]
        value = re.findall(r'<tr data-do="browse.open" data-value="(\d+)"', explorer.page_html)[3]
        explorer.query = "水壶"
        click(explorer, "browse.open", value)
        assert f"{row['path']}:{row['line']}" in explorer.entry_html

    @pytest.mark.parametrize(
        ("trait", "value"), [("tags", ["没有"]), ("date_from", "2030-01-01"), ("kind", "note"), ("query", "没有词")]
    )
    def test_a_filter_without_hits_is_no_empty_store(self, explorer, trait, value):
        explorer.set_state({trait: value})
        assert explorer.hits == 0
        assert "Nothing matches" in explorer.page_html

    def test_a_change_on_disk_is_told_when_several_filters_change_at_once(self, vault):
        mem = vault({"2025-02-01": ["甲", "乙"]})
        explorer = mem.explore()
        explorer.query, explorer.date_from = "甲", "2025-01-01"
        (mem.root / "archive/2025/2025-02-02.md").write_text("- 丙\n", encoding="utf-8")
        click(explorer, "browse.clear")
        assert explorer.hits == 3
        assert "The folder has changed" in explorer.status_html

    def test_a_source_that_is_gone_is_told_in_browse(self, copied):
        mem = open_at(copied("layers"))
        explorer = mem.explore()
        explorer.tab = "summaries"
        explorer.tabs["summaries"].read("2025-02-27")
        explorer.tab = "audit"
        explorer.tab = "summaries"
        value = re.search(r'data-do="summaries.source" data-value="(\d+)"', explorer.summaries_html)[1]
        (mem.root / "cold/2025-02/2025-02-27.md").unlink()
        click(explorer, "summaries.source", value)
        assert explorer.tab == "browse"
        assert "no longer there" in explorer.status_html

    def test_what_the_page_asks_by_itself_takes_no_notice_away(self, explorer):
        explorer.date_from, explorer.date_to = "2025-02-02", "2025-02-01"
        assert explorer.notice_html
        explorer.act({"do": "browse.settle", "value": "", "form": {}, "unasked": True})
        assert explorer.notice_html
        explorer.date_to = "2025-02-03"
        assert explorer.notice_html == ""

    def test_a_plan_that_python_made_can_be_applied_on_the_page(self, copied):
        mem = open_at(copied("archive"))
        explorer = mem.explore(write=True)
        adding = explorer.tabs["add"]
        adding.fill(text="挂钟修好了")
        adding.plan()
        explorer.act({"do": "add.apply", "value": "", "form": {"verb": "append", "text": "挂钟修好了", "tag": ""}})
        assert mem.recent(1)["text"].iloc[0] == "挂钟修好了"


class TestHostile:
    def test_markup_in_entries_tags_and_names_is_text(self, vault):
        mem = vault({"2025-02-01": [f"[{'<b>x</b>'}] {text}" for text in HOSTILE]})
        explorer = mem.explore()
        for number in range(4):
            open_row(explorer, number)
            parts = explorer.page_html + explorer.entry_html + explorer.chips_html
            assert not re.search(r"<(script|img|b>x|a )", parts)
            assert "javascript:" not in re.sub(r">[^<]*<", "><", parts)
        assert "&lt;script&gt;" in explorer.page_html
        assert "&lt;b&gt;x&lt;/b&gt;" in explorer.chips_html

    def test_a_long_line_is_cut_in_the_list_and_whole_when_open(self, vault):
        explorer = vault({"2025-02-01": HOSTILE}).explore()
        assert len(explorer.page_html) < 5_000
        place = next(n for n, row in enumerate(explorer.rows) if len(row["text"]) == 46_000)
        open_row(explorer, place)
        assert explorer.entry_html.count("长") >= 46_000

    def test_a_hit_far_inside_a_long_line_is_shown(self, vault):
        explorer = vault({"2025-02-01": ["长" * 3_000 + "火锅" + "短" * 3_000]}).explore()
        explorer.query = "火锅"
        assert "…长" in explorer.page_html
        assert "<mark>火锅</mark>" in explorer.page_html

    def test_odd_bytes_and_control_characters_can_be_sent(self, tmp_path):
        folder = tmp_path / "vault/memory"
        folder.mkdir(parents=True)
        (folder / "2025-02-01.md").write_bytes("- 坏字节 \xff\xfe 在这里\n- \x1b[31m红\x00\n".encode("latin-1", "ignore"))
        explorer = open_at(tmp_path / "vault", layout="workspace").explore()
        explorer.query = "\ud83d"
        json.dumps(explorer.get_state(["page_html", "chips_html", "status_html"])).encode()
        assert "\x1b" not in explorer.page_html


class TestStores:
    @pytest.mark.parametrize("layout", ["archive", "layers", "workspace"])
    def test_an_empty_store_says_so(self, tmp_path, layout):
        explorer = open_at(tmp_path / "none", layout=layout).explore()
        assert (explorer.hits, explorer.rows) == (0, [])
        assert "Nothing is remembered here yet" in explorer.page_html
        explorer.query = "茶"
        assert explorer.hits == 0
        for tab in ("audit", "summaries", "add", "browse"):
            explorer.tab = tab
        assert explorer.notice_html == ""

    def test_one_entry_without_a_tag(self, vault):
        explorer = vault({"2025-02-01": ["只有一条"]}).explore()
        assert explorer.hits == 1
        assert explorer.timeline_html.count("data-from") == 1
        open_row(explorer, 0)
        assert "只有一条" in explorer.entry_html

    def test_undated_entries_have_no_timeline_and_are_counted(self, tmp_path):
        (tmp_path / "vault").mkdir()
        (tmp_path / "vault/MEMORY.md").write_text("- 甲\n- 乙\n", encoding="utf-8")
        explorer = open_at(tmp_path / "vault", layout="workspace").explore()
        assert (explorer.hits, explorer.timeline_html) == (2, "")
        explorer.date_from = "2025-01-01"
        assert explorer.hits == 0

    def test_what_changes_on_disk_is_noticed_at_the_next_action(self, vault):
        mem = vault({"2025-02-01": ["甲", "乙"]})
        explorer = mem.explore()
        (mem.root / "archive/2025/2025-02-02.md").write_text("- 丙\n", encoding="utf-8")
        open_row(explorer, 0)
        assert explorer.hits == 3
        assert "The folder has changed" in explorer.status_html
        click(explorer, "browse.close")
        assert "changed" not in explorer.status_html

    def test_a_folder_that_is_gone_is_told(self, vault):
        mem = vault({"2025-02-01": ["甲"]})
        explorer = mem.explore()
        mem.root.rename(mem.root.with_name("away"))
        explorer.query = "甲"
        assert "the folder is gone" in explorer.notice_html

    def test_looking_around_changes_nothing(self, copied):
        folder = copied("archive")
        before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
        explorer = open_at(folder).explore(write=True)
        explorer.query = "茶"
        for do in ("browse.settle", "browse.open", "browse.older", "browse.close"):
            click(explorer, do, 0)
        for tab in ("audit", "summaries", "add"):
            explorer.tab = tab
        assert before == {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


class TestTimeline:
    def days(self, first, number, step=1):
        return np.array([first + timedelta(days=step * place) for place in range(number)], dtype="datetime64[ms]")

    @pytest.mark.parametrize(
        ("number", "length"), [(1, 1), (62, 1), (63, 7), (735, 7), (736, 31), (7_000, 31), (9_000, 366), (200_000, 366 * 4)]
    )
    def test_bars_are_few_without_holes_and_count_all(self, number, length):
        days = self.days(date(2001, 3, 5), number)
        found = bars(days)
        assert sum(bar.entries for bar in found) == number
        assert len(found) <= MOST
        assert all(second.first - first.last == timedelta(days=1) for first, second in pairwise(found))
        assert max((bar.last - bar.first).days + 1 for bar in found) <= length

    def test_the_ends_of_time_fit(self):
        days = np.array(["0001-01-01", "9999-12-31", "NaT"], dtype="datetime64[ms]")
        found = bars(days)
        assert (found[0].first, found[-1].last) == (date(1, 1, 1), date(9999, 12, 31))
        assert sum(bar.entries for bar in found) == 2

    def test_weeks_start_on_monday(self):
        found = bars(self.days(date(2025, 1, 1), 100))
        assert {bar.first.weekday() for bar in found} == {0}

    def test_nothing_has_no_bars(self):
        assert bars(np.array([], dtype="datetime64[ms]")) == []


class TestWords:
    def test_every_text_is_there_in_both_languages_with_the_same_values(self):
        for name, (english, chinese) in WORDS.items():
            assert english.strip(), name
            assert re.search(r"[一-鿿–]", chinese) or not re.search("[A-Za-z]{2}", re.sub(r"\{\w+\}", "", chinese)), name
            assert sorted(re.findall(r"\{(\w+)\}", english)) == sorted(re.findall(r"\{(\w+)\}", chinese)), name

    @pytest.mark.parametrize(
        ("lang", "expected"), [("zh", "zh"), ("zh-CN", "zh"), ("zh_TW", "zh"), ("en", "en"), ("en-GB", "en")]
    )
    def test_a_language_is_taken_as_people_write_it(self, lang, expected):
        assert words_in(lang).lang == expected

    @pytest.mark.parametrize("lang", ["fr", "", 3])
    def test_another_language_is_refused(self, lang):
        with pytest.raises(memkit.BadArgument, match="lang"):
            open_at(SAMPLES / "archive").explore(lang=lang)

    @pytest.mark.parametrize(
        ("machine", "expected"), [("zh_CN", "zh"), ("Chinese (Simplified)_China", "zh"), ("de_DE", "en"), (None, "en")]
    )
    def test_without_one_the_machine_decides(self, monkeypatch, machine, expected):
        monkeypatch.setattr("locale.getlocale", lambda: (machine, "UTF-8"))
        assert words_in(None).lang == expected


@pytest.mark.parametrize("form", [None, [1], "x", {"verb": "append", "text": 5, "tag": None, 7: "x"}])
@pytest.mark.parametrize("value", ["", None, 1e400, [1], "9" * 5000, "²"])
def test_a_message_that_no_page_sends_does_nothing_harmful(vault, form, value):
    explorer = vault({"2025-02-03": ["买茶"]}).explore(lang="en", write=True)
    for do in (None, 5, "", ".", "nowhere.open", "browse", "browse.open", "browse.tag", "summaries.source", "add.plan"):
        explorer.act({"do": do, "value": value, "form": form})
    explorer.act({"do": "add.plan", "value": "append", "form": form})
    assert explorer.hits == 1
    assert 'name="text"' in explorer.add_html


def test_the_twin_shows_the_same_rows_without_script(explorer):
    explorer.query = "水壶"
    twin = explorer._twin()
    assert twin.startswith("<details><summary>")
    assert twin.count("<tr>") == explorer.hits + 1
    assert "<script" not in twin
    assert "data-" not in twin


def test_it_says_what_it_shows(explorer):
    explorer.query = "水壶"
    assert repr(explorer) == f"Explorer(archive, {explorer.hits} of 147 entries)"
