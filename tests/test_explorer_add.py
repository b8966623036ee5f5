"""The tab Add of the explorer: its forms, what they plan, what is written when, and what is kept when it is not."""

from __future__ import annotations

import html
import re
import shutil
from datetime import datetime
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

import pytest
from conftest import CLOCK, ZONE, open_at, said, tree

from memkit import files
from memkit.errors import BadArgument, DiskError, LockTimeout
from memkit.explorer.add import AddTab
from memkit.explorer.words import Words
from memkit.explorer.words import add as words_add

TODAY = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # made up
HOSTILE = "</textarea><script>alert(1)</script> \"'><img src=x onerror=alert(1)> [x](javascript:alert(1))"


def opened(mem, lang="en"):
    tab = AddTab(mem, Words(lang), write=True)
    tab.opened()
    return tab


def press(tab, action, value="", **fields):
    """Press a button of the form that is shown, with these fields in it."""
    return tab.act(action, value or (tab.verb if action == "plan" else ""), {"verb": tab.verb, **fields})


class Fields(HTMLParser):
    """Reads a form as a browser does: `values` by name, `labels` by name, `primary` the first main button."""

    def __init__(self, markup):
        super().__init__()
        self.values, self.labels, self.primary, self._label, self._area = {}, {}, None, None, None
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        has = dict(attrs)
        if tag == "label":
            self._label = []
        if tag in ("input", "textarea") and has.get("type") != "hidden":
            self.labels[has["name"]] = self._label
            self.values[has["name"]] = has.get("value", "1" if "checked" in has else "")
        if tag == "textarea":
            self._area, self.values[has["name"]] = has["name"], ""
        if tag == "button" and has.get("class") == "primary":
            self.primary = self.primary or has["data-do"]

    def handle_endtag(self, tag):
        if tag == "textarea":
            self.values[self._area] = self.values[self._area].removeprefix("\n")
            self._area = None
        if tag == "label":
            self._label = None

    def handle_data(self, data):
        if self._area:
            self.values[self._area] += data
        elif self._label is not None:
            self._label.append(data.strip())


class TestWithoutWriting:
    def test_it_says_in_one_sentence_how_to_switch_it_on(self, copied):
        mem = open_at(copied("archive"))
        for lang in ("en", "zh"):
            tab = AddTab(mem, Words(lang))
            tab.opened()
            assert "<code>mem.explore(write=True)</code>" in tab.html()
            assert not re.search("<(input|textarea|button|form)", tab.html())

    def test_whatever_a_page_asks_nothing_is_planned_or_written(self, copied):
        mem = open_at(copied("archive"))
        before, tab = tree(mem.root), AddTab(mem, Words("en"))
        for action in ("plan", "apply", "verb", "discard"):
            tab.act(action, "append", {"verb": "append", "text": "偷偷写的"})
        tab.fill(text="偷偷写的")
        tab.plan()
        tab.apply()
        assert tree(mem.root) == before
        assert tab.planned.plan is None


class TestForms:
    @pytest.mark.parametrize(
        ("verb", "names"),
        [
            ("append", ["text", "tag"]),
            ("correct", ["date", "subject", "text"]),
            ("forget", ["text", "date", "replacement"]),
        ],
    )
    @pytest.mark.parametrize("lang", ["en", "zh"])
    def test_every_field_has_its_label_and_enter_asks_for_the_plan(self, copied, verb, names, lang):
        tab = opened(open_at(copied("archive")), lang)
        tab.act("verb", verb, {})
        form = Fields(tab.html())
        assert list(form.values) == names
        assert all("".join(form.labels[name]) for name in names)
        assert form.primary == "add.plan"
        assert f'aria-pressed="true" type="button" data-do="add.verb" data-value="{verb}"' in tab.html()

    @pytest.mark.parametrize(("layout", "there"), [("archive", False), ("workspace", False), ("layers", True)])
    def test_only_layers_asks_whether_it_is_important(self, copied, layout, there):
        form = Fields(opened(open_at(copied(layout))).html())
        assert ("important" in form.values) is there

    def test_the_tags_of_the_store_are_offered_and_each_tab_has_its_own_list(self, copied):
        mem = open_at(copied("archive"))
        mem.append("新的", tag='<b>"x')
        tab, other = opened(mem), opened(mem)
        offered = [html.unescape(tag) for tag in re.findall('<option value="(.*?)">', tab.html())]
        assert set(offered) == set(mem.tags()["tag"])
        assert offered[0] == mem.tags()["tag"].value_counts().index[0]
        assert "<b>" not in tab.html()
        own = re.search('list="(mkx-[0-9a-f]+)"', tab.html())[1]
        assert f'<datalist id="{own}">' in tab.html()
        assert own not in other.html()

    @pytest.mark.parametrize("text", ["\n  前有空行", "两行\n三行\n", HOSTILE, "制\t表 &amp; &lt;"])
    def test_what_was_typed_comes_back_as_it_was_typed(self, copied, text):
        tab = opened(open_at(copied("archive")))
        press(tab, "verb", "append", text=text, tag=text.replace("\n", " "))
        form = Fields(tab.html())
        assert form.values == {"text": text, "tag": text.replace("\n", " ")}
        assert not re.search("<(script|img)", tab.html())

    def test_each_form_keeps_its_own_fields(self, copied):
        tab = opened(open_at(copied("archive")))
        press(tab, "verb", "correct", text="要添加的", tag="计划")
        press(tab, "verb", "append", date="2025-02-03", subject="旧", text="新")
        assert Fields(tab.html()).values == {"text": "要添加的", "tag": "计划"}
        press(tab, "verb", "correct")
        assert Fields(tab.html()).values == {"date": "2025-02-03", "subject": "旧", "text": "新"}

    def test_a_page_that_still_shows_another_form_fills_nothing(self, copied):
        tab = opened(open_at(copied("archive")))
        tab.choose("forget")
        tab.act("plan", "append", {"verb": "append", "text": "要添加的", "tag": "计划"})
        assert tab.fields["forget"] == {}
        assert tab.planned.plan is None

    def test_wrong_names_are_refused_in_python(self, copied):
        tab = opened(open_at(copied("archive")))
        with pytest.raises(BadArgument, match="expected append, correct, forget"):
            tab.choose("push")
        with pytest.raises(BadArgument, match="append has no such field; expected text, tag"):
            tab.fill(subject="x")

    def test_both_languages_have_every_text(self):
        for en, zh in words_add.WORDS.values():
            assert set(re.findall(r"{\w+}", en)) == set(re.findall(r"{\w+}", zh))
            assert re.search("[\u4e00-\u9fff]", zh)


class TestAppend:
    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_the_plan_is_shown_then_applied_as_the_verb_itself_does_it(self, copied, tmp_path, layout):
        mem = open_at(copied(layout))
        twin = open_at(shutil.copytree(tmp_path / layout, tmp_path / "twin"))
        tab, before = opened(mem), tree(mem.root)
        press(tab, "plan", text="决定先修目录重建", tag="计划")
        assert tree(mem.root) == before
        assert "+" in said(tab.html())
        assert "决定先修目录重建" in tab.html()
        assert "Nothing is written yet." in said(tab.html())
        press(tab, "apply", text="决定先修目录重建", tag="计划")
        twin.append("决定先修目录重建", tag="计划")
        assert tree(mem.root) == tree(twin.root)
        assert mem.audit().frame.empty
        assert tab.remark.startswith(f"Done: {TODAY[layout]}")
        assert tab.fields["append"] == {}
        assert not any(Fields(tab.html()).values.values())
        assert 'class="plan"' not in tab.html()

    def test_what_people_write_is_shown_before_what_is_made_of_it(self, copied):
        mem = open_at(copied("archive"))
        catalog = mem.root / "catalog/2025.tsv"
        catalog.write_text("".join(catalog.read_text().splitlines(keepends=True)[:-1]))
        tab = opened(mem)
        press(tab, "plan", text="今天的一条")
        assert tab.html().index("+++ b/archive/2025/2025-02-28.md") < tab.html().index("+++ b/catalog/2025.tsv")

    def test_an_important_one_becomes_a_candidate(self, copied):
        mem = open_at(copied("layers"))
        tab, before = opened(mem), len(mem.hot().candidates)
        press(tab, "plan", text="要一直记着的事", important="1")
        press(tab, "apply", text="要一直记着的事", important="1")
        assert len(mem.hot().candidates) == before + 1
        press(tab, "plan", text="不那么重要的事", important="")
        press(tab, "apply", text="不那么重要的事", important="")
        assert len(mem.hot().candidates) == before + 1

    def test_what_stands_there_already_changes_nothing_and_cannot_be_applied(self, copied):
        mem = open_at(copied("archive"))
        mem.append("今天的一条", tag="计划")
        tab = opened(mem)
        press(tab, "plan", text="今天的一条", tag="计划")
        assert 'data-do="add.apply"' not in tab.html()
        assert "the entry stands there already" in said(tab.html())

    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_another_entry_written_in_between_is_kept_and_the_plan_refused(self, copied, layout):
        mem = open_at(copied(layout))
        tab = opened(mem)
        press(tab, "plan", text="我的一条", tag="计划")
        open_at(mem.root).append("别人的一条")
        before = tree(mem.root)
        press(tab, "apply", text="我的一条", tag="计划")
        assert tree(mem.root) == before
        assert tab.remark.startswith("The folder has changed since this plan was made; nothing was written. Plan again.")
        assert tab.planned.plan is None
        assert Fields(tab.html()).values["text"] == "我的一条"
        press(tab, "plan", text="我的一条", tag="计划")
        press(tab, "apply", text="我的一条", tag="计划")
        assert {"我的一条", "别人的一条"} <= set(mem.entries()["text"])
        assert mem.audit().frame.empty

    def test_a_change_elsewhere_does_not_stop_it(self, copied):
        mem = open_at(copied("workspace"))
        tab = opened(mem)
        press(tab, "plan", text="我的一条")
        with (mem.root / "MEMORY.md").open("a") as longterm:
            longterm.write("- 别人的一条\n")
        press(tab, "apply", text="我的一条")
        assert tab.remark.startswith("Done: ")

    def test_after_midnight_the_plan_of_yesterday_is_refused(self, copied):
        now = [datetime.fromisoformat(CLOCK)]
        mem = open_at(copied("archive"), now=lambda: now[0])
        mem.append("先有的一条")
        tab, before = opened(mem), tree(mem.root)
        press(tab, "plan", text="半夜的一条")
        now[0] = datetime(2025, 3, 1, 0, 1, tzinfo=ZoneInfo(ZONE))
        press(tab, "apply", text="半夜的一条")
        assert tree(mem.root) == before
        assert "Plan again. archive/2025/2025-02-28.md: 2025-02-28 is before today" in tab.remark
        press(tab, "plan", text="半夜的一条")
        press(tab, "apply", text="半夜的一条")
        assert "半夜的一条" in (mem.root / "archive/2025/2025-03-01.md").read_text()

    def test_fields_that_changed_after_the_plan_are_not_written(self, copied):
        mem = open_at(copied("archive"))
        tab, before = opened(mem), tree(mem.root)
        press(tab, "plan", text="一条")
        press(tab, "apply", text="一条，改过")
        assert tree(mem.root) == before
        assert tab.remark.startswith("The fields have changed since this plan was made")
        assert Fields(tab.html()).values["text"] == "一条，改过"

    def test_of_two_clicks_on_apply_the_second_neither_fills_the_form_again_nor_hides_what_was_done(self, copied):
        mem = open_at(copied("archive"))
        tab = opened(mem)
        press(tab, "plan", text="晒被子")
        press(tab, "apply", text="晒被子")
        told = tab.remark
        press(tab, "apply", text="晒被子")  # the page had not yet heard of the first
        assert told.startswith("Done")
        assert tab.remark == told
        assert tab.fields["append"] == {}
        assert len(mem.matching("晒被子")) == 1

    def test_discarded_the_fields_stay(self, copied):
        mem = open_at(copied("archive"))
        tab, before = opened(mem), tree(mem.root)
        press(tab, "plan", text="一条", tag="计划")
        press(tab, "discard", text="一条", tag="计划")
        assert tree(mem.root) == before
        assert Fields(tab.html()).values == {"text": "一条", "tag": "计划"}
        assert 'class="plan"' not in tab.html()
        press(tab, "apply", text="一条", tag="计划")
        assert tree(mem.root) == before

    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_the_first_entry_of_an_empty_store_makes_it(self, tmp_path, layout):
        mem = open_at(tmp_path / "new", layout=layout)
        tab = opened(mem)
        press(tab, "plan", text="第一条")
        assert not (tmp_path / "new").exists()
        press(tab, "apply", text="第一条")
        assert mem.entries()["text"].tolist() == ["第一条"]
        assert mem.audit().frame.empty

    def test_a_long_or_hostile_text_is_planned_bounded_and_escaped(self, copied):
        mem = open_at(copied("archive"))
        tab = opened(mem)
        text = HOSTILE + " \x1b[31m " + "长" * 46_000
        press(tab, "plan", text=text)
        plan = tab.planned.html()
        assert not re.search("<(script|img|a )|[\x00-\x09\x0b-\x1f]", plan)
        assert len(plan) < 12_000
        press(tab, "apply", text=text)
        assert "长" * 46_000 in (mem.root / TODAY["archive"]).read_text()

    def test_a_plan_shows_no_secret(self, copied):
        tab = opened(open_at(copied("archive")))
        press(tab, "plan", text=f"令牌 {KEY}")
        assert KEY in tab.planned.plan.diff()
        assert KEY not in tab.planned.html()


class TestCorrect:
    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_it_is_added_today_and_the_day_itself_stays(self, copied, layout):
        mem = open_at(copied(layout))
        tab, before = opened(mem), tree(mem.root)
        fields = {"date": "2025-02-03", "subject": "旧说法", "text": "新说法"}
        press(tab, "verb", "correct")
        press(tab, "plan", **fields)
        assert tree(mem.root) == before
        press(tab, "apply", **fields)
        after = tree(mem.root)
        assert "2025-02-03：旧说法 → 新说法".encode() in after[TODAY[layout]]
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        assert changed == {TODAY[layout]}
        assert tab.fields["correct"] == {}

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"date": "", "subject": "旧", "text": "新"}, "date: '' is not a day"),
            ({"date": "2025-02-30", "subject": "旧", "text": "新"}, "date: '2025-02-30' is not a day"),
            ({"date": "2025-02-03", "subject": " ", "text": "新"}, "subject"),
            ({"date": "2025-02-03", "subject": "旧", "text": ""}, "text"),
        ],
    )
    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_what_cannot_be_meant_is_told_in_place_and_the_fields_stay(self, copied, layout, fields, told):
        mem = open_at(copied(layout))
        tab, before = opened(mem), tree(mem.root)
        press(tab, "verb", "correct")
        press(tab, "plan", **fields)
        assert told in tab.remark
        assert told in said(tab.html())
        assert Fields(tab.html()).values == fields
        assert tab.planned.plan is None
        assert tree(mem.root) == before


class TestForget:
    @pytest.fixture
    def twice(self, copied):
        """Return a store where one text stands on two days."""
        mem = open_at(copied("workspace"))
        for day in ("2025-02-05", "2025-02-06"):
            path = mem.root / f"memory/{day}.md"
            path.write_text((path.read_text() if path.exists() else "") + "- 要忘掉的一条\n")
        return mem

    def forgetting(self, mem, **fields):
        tab = opened(mem)
        press(tab, "verb", "forget")
        press(tab, "plan", **fields)
        return tab

    def test_every_entry_that_goes_is_listed_and_gone_once_applied(self, twice):
        before = tree(twice.root)
        tab = self.forgetting(twice, text="要忘掉的一条")
        assert tree(twice.root) == before
        rows = tab.planned.plan.rows
        assert rows["action"].tolist() == ["forget", "forget"]
        assert all(row in said(tab.html()) for row in rows["row"])
        press(tab, "apply", text="要忘掉的一条")
        assert not any("要忘掉的一条".encode() in data for data in tree(twice.root).values())
        assert tab.remark.startswith("Done: memory/2025-02-05.md:")
        assert tab.fields["forget"] == {}

    def test_of_one_day_or_with_another_text_in_its_place(self, twice):
        tab = self.forgetting(twice, text="要忘掉的一条", date="2025-02-06", replacement="代替的一条")
        press(tab, "apply", text="要忘掉的一条", date="2025-02-06", replacement="代替的一条")
        assert "代替的一条".encode() in tree(twice.root)["memory/2025-02-06.md"]
        assert "要忘掉的一条".encode() not in tree(twice.root)["memory/2025-02-06.md"]

    def test_a_text_that_no_entry_has_offers_nothing_to_apply(self, twice):
        tab = self.forgetting(twice, text="从来没有的一条")
        assert 'data-do="add.apply"' not in tab.html()
        assert "no entry has exactly this text" in said(tab.html())
        assert "This changes nothing." in said(tab.html())

    def test_an_equal_entry_that_came_in_between_makes_the_plan_old(self, twice):
        tab = self.forgetting(twice, text="要忘掉的一条")
        with (twice.root / "MEMORY.md").open("a") as longterm:
            longterm.write("- 要忘掉的一条\n")
        before = tree(twice.root)
        press(tab, "apply", text="要忘掉的一条")
        assert tree(twice.root) == before
        assert tab.remark.startswith("The folder has changed since this plan was made; nothing was written.")
        assert Fields(tab.html()).values["text"] == "要忘掉的一条"
        press(tab, "plan", text="要忘掉的一条")
        assert len(tab.planned.plan.rows) == 3

    def test_opened_again_an_old_plan_is_dropped(self, twice):
        tab = self.forgetting(twice, text="要忘掉的一条")
        (twice.root / "memory/2025-02-06.md").unlink()
        tab.opened()
        assert tab.planned.plan is None
        assert tab.remark.startswith("The folder has changed")
        assert Fields(tab.html()).values["text"] == "要忘掉的一条"

    def test_an_empty_text_is_told_in_place(self, twice):
        assert "it is empty; give an entry's exact text" in self.forgetting(twice, text=" ", date="").remark


class TestWhatTheDiskSays:
    @pytest.mark.parametrize(
        "error",
        [
            DiskError("archive/2025/2025-02-28.md: it could not be written: permission denied; allow writing there"),
            PermissionError(13, "permission denied"),
            LockTimeout("another writer holds the store (permission denied)"),
        ],
    )
    def test_a_folder_that_cannot_be_written_now_keeps_plan_and_fields(self, copied, monkeypatch, error):
        mem = open_at(copied("archive"))
        tab, before = opened(mem), tree(mem.root)
        press(tab, "plan", text="一条")
        with monkeypatch.context() as patch:
            patch.setattr(files, "apply", lambda *args: (_ for _ in ()).throw(error))
            press(tab, "apply", text="一条")
        assert tree(mem.root) == before
        assert "permission denied" in said(tab.html())
        assert Fields(tab.html()).values["text"] == "一条"
        press(tab, "apply", text="一条")
        assert tab.remark == "Done: archive/2025/2025-02-28.md: append."

    def test_half_a_character_breaks_nothing(self, copied):
        mem = open_at(copied("archive"))
        tab = opened(mem)
        press(tab, "plan", text="一条\ud83d")
        assert "一条\ufffd" in tab.html()
        tab.html().encode()
        press(tab, "apply", text="一条\ud83d")
        assert (mem.root / TODAY["archive"]).read_text().endswith("- 一条\ufffd\n")

    def test_a_search_index_that_cannot_follow_is_told_of_and_the_files_are_done(self, copied, monkeypatch):
        mem = open_at(copied("workspace"))
        mem.append("要忘掉的一条")
        mem.sync()
        tab = opened(mem)
        press(tab, "verb", "forget")
        press(tab, "plan", text="要忘掉的一条")
        monkeypatch.setattr(mem._index, "purge", lambda: (_ for _ in ()).throw(DiskError("memory/index.sqlite: no space")))
        press(tab, "apply", text="要忘掉的一条")
        assert "要忘掉的一条" not in mem.entries()["text"].tolist()
        assert tab.remark.startswith("Done: memory/2025-02-28.md")
        assert "no space (the files are done; the index still holds it" in tab.remark
        assert tab.planned.plan is None
