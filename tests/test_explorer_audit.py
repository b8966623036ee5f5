"""The tab Audit of the explorer: what it shows of findings, what it never shows, and how a mend is planned and applied."""

from __future__ import annotations

import html
import re
import shutil
from datetime import timedelta

import pytest
from conftest import SAMPLES, open_at, said, tree

import memkit
from memkit import cells, files
from memkit.audit import ALL_RULES
from memkit.errors import BadArgument, DiskError, StoreNotFound
from memkit.explorer import veil
from memkit.explorer.audit import AuditTab, around, found
from memkit.explorer.words import Words
from memkit.explorer.words import audit as words_audit

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # made up
DAY = "archive/2025/2025-02-08.md"
CATALOG = "catalog/2025.tsv"


def opened(mem, lang="en"):
    tab = AuditTab(mem, Words(lang))
    tab.opened()
    return tab


def rules_shown(tab):
    return re.findall(r'<details data-key="audit ([a-z0-9-]+)"', tab.html())


def lines_shown(markup):
    """Return (number, text, is its own) of every line shown around findings."""
    found = re.findall(r'<span class="l( at)?"><b>(\d+)</b><span(?: class="q")?>(.*?)</span></span>', markup)
    return [(int(number), html.unescape(text), bool(own)) for own, number, text in found]


@pytest.fixture
def damaged(copied):
    """Return an archive with two catalog faults, which can be mended, and a control character, which cannot."""
    mem = open_at(copied("archive"))
    rows = (mem.root / CATALOG).read_text().split("\n")
    (mem.root / CATALOG).write_text("\n".join([*rows[:5], *rows[6:8], rows[8] + "差", *rows[9:]]))
    with (mem.root / DAY).open("a") as day:
        day.write("- \x1b[31m红色\n")
    return mem


@pytest.fixture
def broken(tmp_path):
    return lambda name: open_at(shutil.copytree(SAMPLES / "broken" / name, tmp_path / name))


class TestWhatItShows:
    def test_nothing_is_audited_before_it_is_opened(self, copied):
        assert (tab := AuditTab(open_at(copied("archive")), Words("en"))).report is None
        assert tab.html() == ""

    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_a_clean_store_has_no_findings_and_nothing_to_mend(self, copied, layout):
        tab = opened(open_at(copied(layout)))
        assert tab.report.ok
        assert said(tab.html()).startswith("No findings files read: ")
        assert 'data-do="audit.plan"' not in tab.html()
        tab.plan()
        assert tab.remark == "There is nothing to mend."
        assert tab.planned.plan is None

    def test_rules_stand_by_severity_the_worst_first_and_only_the_first_is_open(self, damaged):
        with (damaged.root / DAY).open("a") as day:
            day.write(f"- [凭据] {KEY}\n")
        tab = opened(damaged)
        assert rules_shown(tab) == ["secret", "control-character", "row-missing", "row-differs"]
        assert re.findall(r'<details data-key="[^"]*"( open)?>', tab.html()) == [" open", "", "", ""]
        assert said(tab.html()).startswith("errors: 1 warnings: 3 files read: ")

    def test_each_rule_says_its_sentence_and_each_finding_its_place_message_and_mend(self, damaged):
        text = said(opened(damaged).html())
        assert "A finished day has no row in the catalog of its year." in text
        assert "catalog/2025.tsv:8 the row of 2025-01-16 is not the index of its file fix: rebuild_catalog(2025)" in text

    def test_the_lines_around_a_finding_are_numbered_and_its_own_is_marked(self, damaged):
        tab = opened(damaged)
        rows = (damaged.root / CATALOG).read_text().split("\n")
        shown = [line for line in lines_shown(tab.html()) if "\t" not in line[1] and line[1].startswith("2025-01")]
        assert [(number, own) for number, _, own in shown] == [(6, False), (7, False), (8, True), (9, False), (10, False)]
        assert all(text.startswith(rows[number - 1].replace("\t", " ")[:40]) for number, text, _ in shown)

    def test_a_finding_at_the_end_of_a_file_shows_no_line_that_is_not_there(self, damaged):
        rows = (damaged.root / DAY).read_text().split("\n")[:-1]
        first = re.search("<pre.*?</pre>", opened(damaged).html())[0]
        assert [(number, own) for number, _, own in lines_shown(first)] == [
            (len(rows) - 2, False), (len(rows) - 1, False), (len(rows), True),
        ]  # fmt: skip
        assert lines_shown(first)[-1][1] == "- ␛[31m红色"

    def test_a_finding_of_a_whole_file_shows_no_lines(self, broken):
        tab = opened(broken("row-missing"))
        assert tab.report.frame["line"].tolist() == [0]
        assert "<pre" not in tab.html()

    def test_many_findings_of_a_rule_are_shown_in_parts(self, copied):
        mem = open_at(copied("archive"))
        rows = [row for row in (mem.root / CATALOG).read_text().split("\n") if row]
        (mem.root / CATALOG).write_text("".join(f"{row}差\n" for row in rows))
        tab = opened(mem)
        number = len(tab.report.frame)
        assert number > found.SHOWN
        assert f"· {found.SHOWN} of {number} " in said(tab.html())
        assert tab.html().count("<li>") == found.SHOWN
        tab.act("more", "row-differs", {})
        assert tab.html().count("<li>") == min(number, 2 * found.SHOWN)
        for _ in range(9):
            tab.act("more", "row-differs", {})
        assert tab.html().count("<li>") == number
        assert "audit.more" not in tab.html()

    def test_only_files_whose_findings_are_shown_are_read_and_each_once(self, copied, monkeypatch):
        mem = open_at(copied("archive"))
        for path in sorted((mem.root / "archive/2025").glob("*.md")):
            path.write_text(path.read_text() + "- \x1b 红\n- \x1b 蓝\n")
        tab, read = opened(mem), []
        text_of = files.text_of
        monkeypatch.setattr(files, "text_of", lambda root, path: read.append(path) or text_of(root, path))
        tab.html()
        tab.html()
        held = [group for group in tab._found._groups if group.rule != "secret"]
        shown = {tab.report.frame["path"].iat[row] for group in held for row in group.rows[: tab._found.shown[group.rule]]}
        assert 0 < len(read) == len(set(read))
        assert set(read) <= shown
        assert len(shown) < len(set(tab.report.frame["path"]))

    def test_showing_changes_no_byte(self, damaged):
        before = tree(damaged.root)
        tab = opened(damaged)
        tab.html()
        tab.plan()
        tab.html()
        assert tree(damaged.root) == before

    def test_it_is_audited_again_only_when_something_has_changed_or_it_is_asked_for(self, damaged):
        now = [damaged._clock()]
        mem = memkit.open(damaged.root, now=lambda: now[0], tz="Asia/Shanghai")
        tab = opened(mem)
        first = tab.report
        tab.opened()
        assert tab.report is first
        tab.act("again", "", {})
        assert (second := tab.report) is not first
        with (mem.root / DAY).open("a") as day:
            day.write("- 红水壶\n")
        tab.opened()
        assert (third := tab.report) is not second
        now[0] += timedelta(days=1)
        tab.opened()
        assert tab.report is not third
        assert "2025-02-28 has no row" in said(tab.html())

    def test_a_search_index_that_was_made_meanwhile_is_noticed(self, copied, tmp_path):
        mem = open_at(copied("workspace"), index=tmp_path / "index.sqlite")
        mem.sync()
        tab = opened(mem)
        (tmp_path / "index.sqlite").write_bytes(b"x" * 4096)
        tab.opened()
        assert tab.report.frame["rule"].tolist() == ["index-broken"]

    def test_every_rule_has_a_sentence_in_chinese(self):
        assert set(words_audit.RULES) == set(ALL_RULES)
        assert all(re.search("[\u4e00-\u9fff]", sentence) for sentence in words_audit.RULES.values())

    def test_in_chinese_it_speaks_chinese(self, damaged):
        tab = opened(damaged, "zh")
        tab.plan()
        text = said(tab.html())
        for told in (
            "警告：3",
            "查看修复方案",
            "重新核对",
            "已结束的一天在当年的编目中没有对应的行。",
            "应用",
            "放弃",
            "尚未写入任何内容。",
        ):
            assert told in text
        tab.apply()
        assert "已完成：catalog/2025.tsv: rebuild。" in said(tab.html())

    def test_both_languages_have_every_text(self):
        for en, zh in words_audit.WORDS.values():
            assert set(re.findall(r"{\w+}", en)) == set(re.findall(r"{\w+}", zh))
            assert re.search("[\u4e00-\u9fff]", zh) or en == "{n} of {total}"


class TestWhatIsHostile:
    def test_markup_links_and_control_characters_are_only_text(self, copied):
        mem = open_at(copied("archive"))
        with (mem.root / DAY).open("a") as day:
            day.write(
                "- <script>alert(1)</script> [x](javascript:alert(1)) \"'><img src=x onerror=alert(1)>\n"
                "- \x00\x1b]0;\x07 \u202e红\n"
            )
        tab = opened(mem)
        tab.plan()
        assert "&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:alert(1))" in tab.html()
        assert not re.search(r"<(script|img|a)\b|href=|[\x00-\x08\x0b-\x1f\x7f\u202e]", tab.html())

    def test_a_line_of_46000_characters_is_cut(self, copied):
        mem = open_at(copied("archive"))
        with (mem.root / DAY).open("a") as day:
            day.write(f"- {'长' * 46_000}\n- \x1b\n")
        markup = opened(mem).html()
        text = next(text for _, text, _ in lines_shown(markup) if "长" in text)
        assert text.endswith("长…")
        assert cells.columns(text) <= around.WIDE
        assert len(markup) < 20_000

    def test_a_name_with_odd_letters_is_only_text(self, copied):
        mem = open_at(copied("archive"))
        (mem.root / 'archive/2025/<b>x\x1b".md').write_text("x\n")
        tab = opened(mem)
        assert "archive/2025/&lt;b&gt;x␛&quot;.md" in tab.html()
        assert "<b>x" not in tab.html()

    @pytest.mark.parametrize("value", ["", "no-such-rule", "secret", "-1", "999", "<b>", "../../x"])
    def test_a_button_that_is_not_there_any_more_does_nothing(self, copied, value):
        mem = open_at(copied("archive"))
        before, tab = tree(mem.root), opened(mem)
        for action in ("plan", "apply", "more", "discard", "again", "nonsense", ""):
            assert tab.act(action, value, {}) is None
        assert tree(mem.root) == before

    def test_an_unknown_rule_is_refused_in_python(self, damaged):
        with pytest.raises(BadArgument, match="is no rule"):
            opened(damaged).plan("no-such-rule")


class TestFilesThatCannotBeShown:
    def test_a_file_that_is_gone_or_has_changed_since_shows_no_lines(self, damaged):
        tab = opened(damaged)
        (damaged.root / DAY).unlink()
        with (damaged.root / CATALOG).open("a") as catalog:
            catalog.write("x\n")
        markup = tab.html()
        assert "<pre" not in markup
        assert said(markup).count("(no lines: the file has changed; audit again)") == 2

    def test_a_file_that_is_too_large_shows_no_lines(self, damaged, monkeypatch):
        monkeypatch.setattr(around, "LARGEST", 10)
        assert "(no lines: the file is too large to be shown)" in said(opened(damaged).html())

    @pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), DiskError("x: it could not be read")])
    def test_a_file_that_cannot_be_read_shows_no_lines(self, damaged, monkeypatch, error):
        tab = opened(damaged)
        monkeypatch.setattr(files, "text_of", lambda root, path: (_ for _ in ()).throw(error))
        assert "(no lines: the file cannot be read from here)" in said(tab.html())
        assert "<pre" not in tab.html()

    def test_a_file_outside_the_store_shows_no_lines(self, copied, tmp_path):
        extra = tmp_path / "elsewhere.md"
        extra.write_text("- \x1b 红\n")
        tab = opened(open_at(copied("workspace"), extra=[str(extra)]))
        assert tab.report.frame["line"].tolist() == [1]
        assert "(no lines: the file cannot be read from here)" in said(tab.html())

    def test_bytes_that_are_no_utf8_are_shown_as_replaced(self, broken):
        tab = opened(broken("not-utf8"))
        assert any("\ufffd" in text for _, text, own in lines_shown(tab.html()) if own)

    def test_utf16_is_shown_as_it_is_read(self, copied):
        mem = open_at(copied("archive"))
        text = (mem.root / DAY).read_text() + "- \x1b 红\n"
        (mem.root / DAY).write_bytes(text.encode("utf-16"))
        shown = lines_shown(opened(mem).html())
        assert all("\x00" not in line and "␀" not in line for _, line, _ in shown)


class TestSecrets:
    def test_a_secret_is_never_shown_neither_its_line_nor_those_beside_it(self, damaged):
        path = damaged.root / DAY
        path.write_text(path.read_text().replace("- \x1b[31m红色\n", f"- 水壶的令牌 {KEY}\n- 水壶旁的一行\n"))
        markup = opened(damaged).html()
        assert KEY not in markup
        assert "水壶旁的一行" not in markup
        assert "(hidden: it looks like a secret)" in said(markup)

    def test_a_secret_near_another_finding_is_hidden_and_its_neighbours_are_not(self, damaged):
        path = damaged.root / DAY
        path.write_text(path.read_text() + f"- 令牌 {KEY}\n- 水壶旁的一行\n")
        markup = opened(damaged).html()
        assert KEY[:12] not in markup
        shown = {text: number for number, text, _ in lines_shown(markup)}
        assert shown["(hidden: it looks like a secret)"] + 1 == shown["- 水壶旁的一行"]

    def test_the_same_secret_elsewhere_is_hidden_though_no_finding_stands_on_its_line(self, damaged):
        other = damaged.root / "archive/2025/2025-02-10.md"
        other.write_text(other.read_text() + f"- 令牌 {KEY}\n- \x1b 红\n")
        path = damaged.root / DAY
        path.write_text(path.read_text() + f"- 令牌 {KEY}\n")
        tab = opened(damaged)
        assert (tab.report.frame["rule"] == "secret").sum() == 1
        assert KEY[:12] not in tab.html()
        assert [text for _, text, _ in lines_shown(tab.html())].count("(hidden: it looks like a secret)") == 2

    @pytest.mark.parametrize("margin", ["", "  ", "> ", "  > > "])
    def test_a_private_key_of_many_lines_is_hidden_whole(self, margin):
        body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC7x2Qp", "KcwggSjAgEAAoIBAQC7VJTUt9Us8cKj3mQz", "MSfrWaV5tYq4Kz=="]
        text = "\n".join(
            ["前", *(margin + row for row in ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"]), "后"]
        )
        assert veil.lines(text) >= {2, 3, 4, 5}
        assert not veil.lines(text) & {1, 7}
        masked = veil.masked(text)
        assert all(row not in masked for row in body)
        assert masked.count("\n") == text.count("\n")
        assert masked.startswith("前\n")
        assert masked.endswith("后")

    def test_a_text_without_secrets_is_left_as_it_is(self):
        text = "# 标题\r\n- sk-example-000000000000000000000\udc80 ghp_…\n"
        assert veil.masked(text) == text
        assert veil.lines(text) == frozenset()

    def test_all_lines_of_an_entry_that_holds_one_are_hidden(self, damaged):
        path = damaged.root / DAY
        path.write_text(path.read_text() + f"- 服务器\n  口令在下面\n  {KEY}\n")
        markup = opened(damaged).html()
        assert "口令在下面" not in markup
        assert "- 服务器" not in markup

    def test_a_plan_shows_no_secret_either(self, copied):
        mem = open_at(copied("archive"))
        path = mem.root / "archive/2025/2025-02-10.md"
        path.write_text(re.sub("(?m)^index: '", f"index: '{KEY} ", path.read_text()))
        tab = opened(mem)
        tab.plan()
        assert KEY in tab.planned.plan.diff()
        assert KEY not in tab.html()
        assert KEY[:4] + "…" in tab.html()


class TestTheMend:
    def test_it_is_shown_before_a_byte_is_written_and_the_findings_stay_below(self, damaged):
        tab, before = opened(damaged), tree(damaged.root)
        tab.act("plan", "", {})
        markup = tab.html()
        assert tree(damaged.root) == before
        assert rules_shown(tab) == ["control-character", "row-missing", "row-differs"]
        assert markup.index('class="plan"') < markup.index("<details")
        text = said(markup)
        assert "not applied: 1 file to change" in text
        assert "catalog/2025.tsv rebuild" in text
        assert "archive/2025/2025-02-08.md by hand control-character: remove it by hand" in text

    def test_applied_the_catalog_is_what_a_rebuild_makes_and_it_is_audited_again(self, damaged, tmp_path):
        twin = shutil.copytree(damaged.root, tmp_path / "twin")
        memkit.open(twin, now="2025-02-28T21:30+08:00", tz="Asia/Shanghai").rebuild_catalog(2025)
        tab = opened(damaged)
        tab.act("plan", "", {})
        tab.act("apply", "", {})
        assert tree(damaged.root) == tree(twin)
        assert tab.report.frame["rule"].tolist() == ["control-character"]
        assert tab.remark == "Done: catalog/2025.tsv: rebuild."
        assert rules_shown(tab) == ["control-character"]
        assert 'class="plan"' not in tab.html()

    def test_a_store_with_nothing_else_wrong_is_clean_then(self, broken):
        for name in ("row-differs", "summary-stale", "hot-broken"):
            tab = opened(broken(name))
            tab.act("plan", name, {})
            tab.act("apply", "", {})
            assert tab.report.frame.empty
            assert "No findings" in said(tab.html())

    def test_of_one_rule_only_that_is_planned(self, damaged):
        tab = opened(damaged)
        tab.act("plan", "control-character", {})
        assert tab.planned.plan.rows["row"].tolist() == [DAY]
        assert not len(tab.planned.plan.edits)
        tab.act("plan", "row-missing", {})
        assert tab.planned.plan.rows["row"].tolist() == [CATALOG]

    def test_what_is_left_to_a_person_offers_nothing_to_apply(self, damaged):
        tab, before = opened(damaged), tree(damaged.root)
        tab.act("plan", "control-character", {})
        assert 'data-do="audit.apply"' not in tab.html()
        assert "Nothing of this can be written by itself; the rows say why." in said(tab.html())
        tab.act("discard", "", {})
        assert 'class="plan"' not in tab.html()
        assert tree(damaged.root) == before

    def test_a_search_index_is_synced_though_no_file_changes(self, copied):
        mem = open_at(copied("workspace"))
        mem.sync()
        with (mem.root / "MEMORY.md").open("a") as longterm:
            longterm.write("- 新的一条\n")
        tab = opened(mem)
        assert tab.report.frame["rule"].tolist() == ["index-stale"]
        tab.plan()
        assert 'data-do="audit.apply"' in tab.html()
        tab.apply()
        assert tab.report.frame.empty
        assert tab.remark.startswith("Done: memory/index.sqlite: sync")

    @pytest.mark.parametrize("changed", [CATALOG, DAY, "archive/2025/2025-02-27.md"])
    def test_a_plan_from_before_the_folder_changed_is_refused_and_it_is_audited_again(self, damaged, changed):
        tab = opened(damaged)
        tab.plan()
        with (damaged.root / changed).open("a") as file:
            file.write("- 别的程序写的\n")
        before, report = tree(damaged.root), tab.report
        tab.act("apply", "", {})
        assert tree(damaged.root) == before
        assert tab.remark.startswith("The folder has changed since this plan was made; nothing was written.")
        assert 'role="alert"' in tab.html()
        assert tab.planned.plan is None
        assert tab.report is not report
        tab.plan()
        tab.apply()
        assert tab.remark.startswith("Done: ")

    def test_opened_again_an_old_plan_is_dropped_and_a_good_one_stays(self, damaged):
        tab = opened(damaged)
        tab.plan()
        tab.opened()
        assert tab.planned.plan is not None
        (damaged.root / DAY).unlink()
        tab.opened()
        assert tab.planned.plan is None
        assert tab.remark.startswith("The folder has changed")

    def test_a_plan_is_made_of_what_is_there_now(self, damaged):
        tab = opened(damaged)
        (damaged.root / CATALOG).unlink()
        tab.plan()
        assert tab.remark == "The folder has changed; this is what it holds now."
        assert [edit.before for edit in tab.planned.plan.edits] == [None]

    @pytest.mark.parametrize(
        "error",
        [DiskError("catalog/2025.tsv: it could not be written: permission denied"), PermissionError(13, "Permission denied")],
    )
    def test_a_folder_that_may_not_be_written_says_so_and_the_plan_stays(self, damaged, monkeypatch, error):
        tab, before = opened(damaged), tree(damaged.root)
        tab.plan()
        with monkeypatch.context() as patch:
            patch.setattr(files, "apply", lambda *args: (_ for _ in ()).throw(error))
            tab.act("apply", "", {})
        assert tree(damaged.root) == before
        assert "ermission denied" in said(tab.html())
        assert tab.kind == "error"
        tab.act("apply", "", {})
        assert tab.remark == "Done: catalog/2025.tsv: rebuild."

    def test_pressed_twice_it_is_applied_once(self, damaged):
        tab = opened(damaged)
        tab.plan()
        tab.act("apply", "", {})
        after, remark = tree(damaged.root), tab.remark
        tab.act("apply", "", {})
        assert (tree(damaged.root), tab.remark) == (after, remark)


class TestStoresOfOtherShapes:
    @pytest.mark.parametrize("layout", ["archive", "workspace", "layers"])
    def test_an_empty_store_is_clean_and_stays_empty(self, tmp_path, layout):
        mem = open_at(tmp_path / "new", layout=layout)
        tab = opened(mem)
        tab.plan()
        assert "No findings" in said(tab.html())
        assert not (tmp_path / "new").exists()

    def test_a_folder_that_is_gone_is_an_error_and_shows_nothing_old(self, damaged):
        tab = opened(damaged)
        shutil.rmtree(damaged.root)
        with pytest.raises(StoreNotFound):
            tab.opened()
        assert tab.html() == ""
