import html
import re
from datetime import date

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit import cells, display, schema
from memkit.display import Card
from memkit.style import CSS

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> \x1b[31m红\x1b[0m \u202e& ' \" $x$"
MONTHS = [("2024-11", 3, 1200), ("2024-12", 0, 0), ("2025-01", 40, 12804), ("2025-02", 1, 7)]
EXPLAIN = {"row-missing": "Every day file has its row.", "secret": "No key or password is remembered."}


def card(**changes):
    facts = {
        "title": "archive", "root": "~/坚果云/记忆", "span": (date(2024, 11, 2), date(2025, 2, 28)), "days": 43,
        "entries": 1234, "chars": 14011, "bars": MONTHS, "findings": {"error": 1, "warning": 12, "info": 3},
        "notes": ["2 files could not be read"],
    }  # fmt: skip
    return Card(**{**facts, **changes})


def findings(*rows):
    columns = [(rule, severity, path, line, None, message, fix, "0" * 12) for rule, severity, path, line, message, fix in rows]
    return schema.rows(schema.FINDINGS, columns)


REPORT = findings(
    ("row-missing", "warning", "catalog/2025.tsv", 0, "2025-02-03 没有目录行", "mem.rebuild_catalog(2025)"),
    ("secret", "error", "archive/2025/2025-02-03.md", 12, "这一行像是密码 " + HOSTILE, None),
    ("row-missing", "warning", "catalog/2025.tsv", 0, "2025-02-04 没有目录行", "mem.rebuild_catalog(2025)"),
    ("duplicates", "info", None, 0, "3 texts occur twice", None),
)


def volume(by, keys):
    return pd.DataFrame({by: pd.Series(keys, dtype="str"), "entries": range(1, len(keys) + 1), "chars": 10})


def words(markup):
    """Return what a person reads of the HTML, blanks folded."""
    plain = re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", markup))
    return " ".join(html.unescape(plain).split())


def widest(text):
    return max(cells.columns(line) for line in text.split("\n"))


ALL_HTML = {
    "card": display.card_html(card(notes=[HOSTILE], root=HOSTILE, title=HOSTILE)),
    "report": display.report_html(REPORT, 4, EXPLAIN),
    "clean": display.report_html(REPORT[:0], 4, EXPLAIN),
    "table": display.table_html(pd.DataFrame({HOSTILE: [HOSTILE, None]})),
}
ALL_TEXT = {
    "card": display.card_text(card(notes=[HOSTILE], root=HOSTILE * 9, title=HOSTILE)),
    "report": display.report_text(REPORT, 4, {"secret": HOSTILE * 9}),
    "table": display.table_text(pd.DataFrame({HOSTILE: [HOSTILE, "长" * 46_000], "n": [1, 2]})),
    "bars": display.bars_text([(HOSTILE, 10**12), ("长" * 99, 1)], HOSTILE),
}


class TestEveryHtml:
    @pytest.mark.parametrize("markup", ALL_HTML.values(), ids=ALL_HTML)
    def test_holds_no_script_no_id_and_no_outside_asset(self, markup):
        for word in ("<script", "<img", " id=", "http", "url(", "@import", "\x1b", "\u202e"):
            assert word not in markup

    @pytest.mark.parametrize("markup", ALL_HTML.values(), ids=ALL_HTML)
    def test_opens_and_closes_the_same_elements(self, markup):
        opened, closed = re.findall(r"<([a-z]+)", markup), re.findall(r"</([a-z]+)>", markup)
        assert sorted(opened) == sorted(closed)

    def test_takes_each_colour_from_a_jupyter_variable_with_a_fallback(self):
        for value in re.findall(r"(?:[;{]color|background|--[a-z]):([^;}]+)", CSS):
            assert re.match(r"var\(--jp-[\w-]+,|none|inherit|var\(--q\)|color-mix\(in srgb,var\(--c\)", value), value

    def test_keeps_formulas_of_a_memory_as_text(self):
        assert "mathjax_ignore" in ALL_HTML["table"]
        assert "$x$" in ALL_HTML["table"]


class TestEveryText:
    @pytest.mark.parametrize("text", ALL_TEXT.values(), ids=ALL_TEXT)
    def test_fits_79_columns(self, text):
        assert widest(text) <= 79

    @pytest.mark.parametrize("text", ALL_TEXT.values(), ids=ALL_TEXT)
    def test_sends_no_control_character_to_the_terminal(self, text):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


class TestText:
    def test_control_characters_become_pictures(self):
        assert cells.visible("a\x1b[0m\tb\r\nc\rd\0\x7f\x9b\u2028\u202e\udcff") == "a␛[0m b⏎c␍d␀␡\ufffd⏎\ufffd\ufffd"

    def test_right_to_left_marks_and_joined_emoji_stay(self):
        assert cells.visible("\u200f👩\u200d👧") == "\u200f👩\u200d👧"

    def test_a_chinese_character_counts_two_columns_and_a_combining_mark_none(self):
        assert [cells.columns(text) for text in ("ab", "记忆", "😀", "e\u0301", "")] == [2, 4, 2, 1, 0]

    def test_clip_says_that_it_cut(self):
        assert cells.clip("坚果云同步", 10) == "坚果云同步"
        assert cells.clip("坚果云同步", 9) == "坚果云同…"
        assert cells.clip("坚果云同步", 8) == "坚果云…"

    def test_a_flood_of_combining_marks_is_cut_too(self):
        assert len(cells.clip("e" + "\u0301" * 46_000, 20)) <= 81

    @given(st.text(), st.integers(2, 40))
    def test_clip_and_pad_give_the_room_exactly(self, text, room):
        assert cells.columns(cells.pad(cells.clip(text, room), room)) == room

    @given(st.text(st.sampled_from("ab 记，\n\u0301\x1b😀"), max_size=400))
    def test_wrap_loses_no_character_but_blanks(self, text):
        lines = cells.wrap(text, "  - ")
        assert "".join(lines)[4:].replace(" ", "") == cells.visible(text).replace(" ", "") or not lines
        assert all(cells.columns(line) <= 79 for line in lines)

    def test_one_is_not_many(self):
        assert [cells.count(n, "entry") for n in (0, 1, 1234)] == ["0 entries", "1 entry", "1,234 entries"]


class TestBars:
    def test_months_are_shown_while_they_are_at_most_24(self):
        months = [f"2024-{month:02d}" for month in range(1, 13)] + [f"2025-{month:02d}" for month in range(1, 13)]
        bars, note = display.bars_of(volume("month", months), volume("year", ["2024", "2025"]))
        assert [bar[0] for bar in bars] == months
        assert note == ""

    def test_years_are_shown_when_months_are_more(self):
        bars, note = display.bars_of(volume("month", ["x"] * 25), volume("year", ["2023", "2024", "2025"]))
        assert bars == (("2023", 1, 10), ("2024", 2, 10), ("2025", 3, 10))
        assert note == ""

    def test_the_latest_24_years_say_of_how_many(self):
        bars, note = display.bars_of(volume("month", ["x"] * 25), volume("year", [str(year) for year in range(1990, 2020)]))
        assert (len(bars), bars[0][0], bars[-1][0], note) == (24, "1996", "2019", "latest 24 of 30 years")

    def test_undated_entries_keep_their_bar(self):
        years = [*(str(year) for year in range(1990, 2020)), None]
        bars, note = display.bars_of(volume("month", ["x"] * 25), volume("year", years))
        assert (len(bars), bars[0][0], bars[-1][0], note) == (24, "1997", "undated", "latest 23 of 30 years")

    def test_no_entries_give_no_bars(self):
        empty = volume("month", [])
        assert display.bars_of(empty, empty) == ((), "")

    def test_the_longest_bar_fills_its_room_and_the_shortest_is_seen(self):
        lines = display.bars_text(MONTHS, "entries", "chars").split("\n")
        assert [line.count("█") for line in lines] == [0, 3, 0, 40, 0]
        assert "▏" in lines[4]
        assert not re.search("[▏▎▍▌▋▊▉█]", lines[2])

    def test_numbers_line_up_under_their_units_also_after_chinese_labels(self):
        lines = display.bars_text([("计划", 1200), ("a", 7), ("𠮷野家", 12)], "chars").split("\n")
        assert {cells.columns(line) for line in lines} == {cells.columns(lines[0])}
        assert lines[1].endswith("1,200")

    def test_html_draws_shares_of_the_largest(self):
        markup = display.bars_html(MONTHS, "entries", "chars")
        assert re.findall(r"width:([\d.]+)%", markup) == ["9.4", "100.0", "0.1"]

    def test_zeros_alone_draw_nothing(self):
        assert "█" not in display.bars_text([("a", 0)], "chars")
        assert "width" not in display.bars_html([("a", 0)], "chars")


class TestCard:
    def test_both_twins_say_the_same_facts(self):
        markup, text = words(display.card_html(card())), display.card_text(card())
        facts = ["archive", "~/坚果云/记忆", "1,234 entries", "43 days", "14,011 characters", "2024-11-02 to 2025-02-28"]
        facts += ["2024-11", "12,804", "1 error", "12 warnings", "3 info", "2 files could not be read", "chars"]
        assert [fact for fact in facts if fact not in markup or fact not in text] == []

    def test_both_twins_say_the_same_words_in_the_same_order(self):
        for one in (
            card(),
            card(entries=0, bars=[], findings=None),
            card(findings={}, notes=["a"] * 9, bars_note="latest 4 of 9 years"),
        ):
            text = re.sub("[▏▎▍▌▋▊▉█·]", " ", display.card_text(one))
            assert words(display.card_html(one)).split() == text.split()

    def test_html_stays_under_8_kb_whatever_the_store_is_called(self):
        bars = [("2025-01", 10**6, 10**8)] * 99
        worst = card(title="'" * 999, root="'" * 46_000, bars=bars, bars_note="'" * 999, notes=["'" * 46_000] * 99)
        assert len(display.card_html(worst).encode()) <= 8192

    def test_more_bars_than_24_are_cut_and_said(self):
        many = card(bars=[(str(n), n, n) for n in range(30)])
        for said in (words(display.card_html(many)), display.card_text(many)):
            assert "latest 24 of 30 bars" in said

    def test_an_empty_store_names_the_next_step(self):
        empty = Card("workspace", "~/new", None, 0, 0, 0)
        for said in (words(display.card_html(empty)), display.card_text(empty)):
            assert "Nothing is remembered here yet." in said

    def test_before_an_audit_it_says_so_and_after_a_clean_one_too(self):
        assert "not audited yet: mem.audit()" in display.card_text(card(findings=None))
        assert "no findings" in display.card_text(card(findings={"error": 0}))
        assert "no findings" not in display.card_text(card(findings=None))

    def test_a_single_day_is_no_span(self):
        day = date(2025, 2, 3)
        assert "2025-02-03" in display.card_text(card(span=(day, day)))
        assert " to " not in display.card_text(card(span=(day, day)))

    def test_a_long_root_keeps_its_end(self):
        assert "…" in display.card_text(card(root="很长的目录/" * 40 + "memory"))
        assert "memory" in display.card_text(card(root="很长的目录/" * 40 + "memory"))

    def test_more_than_three_notes_say_how_many(self):
        assert "showing 3 of 9 notes" in display.card_text(card(notes=["a"] * 9))


class TestReport:
    def test_a_clean_store_says_how_many_files_were_read(self):
        assert words(display.report_html(REPORT[:0], 1234, {})) == "no findings in 1,234 files"
        assert display.report_text(REPORT[:0], 1, {}) == "no findings in 1 file"

    def test_both_twins_say_the_same_words_in_the_same_order(self):
        text = display.report_text(REPORT, 4, EXPLAIN, limit=3)
        kept = re.compile(r"[^\w:/…-]+")
        markup = kept.sub(" ", words(display.report_html(REPORT, 4, EXPLAIN, limit=3))).split()
        assert markup == [word for word in kept.sub(" ", text).split() if word != "-"]

    def test_rules_stand_in_order_of_severity_and_the_first_is_open(self):
        markup = display.report_html(REPORT, 4, EXPLAIN)
        assert re.findall(r"<code>([a-z-]+)</code> <span", markup) == ["secret", "row-missing", "duplicates"]
        assert re.findall(r"<details( open)?>", markup) == [" open", "", ""]

    def test_severity_is_a_word_and_a_colour(self):
        assert '<span class="s error">1 error</span>' in display.report_html(REPORT, 4, EXPLAIN)

    def test_a_finding_says_where_what_and_its_fix(self):
        text = display.report_text(REPORT, 4, EXPLAIN)
        assert "  - archive/2025/2025-02-03.md:12\n      这一行像是密码 <script>" in text
        assert "  - catalog/2025.tsv\n      2025-02-03 没有目录行\n      fix: mem.rebuild_catalog(2025)" in text
        assert "  - the whole store\n      3 texts occur twice" in text

    def test_a_bounded_report_says_n_of_n(self):
        many = findings(
            *[("secret", "error", f"{n}.md", n, "a", None) for n in range(1, 101)], *[("bom", "info", "b.md", 1, "b", None)] * 2
        )
        for said in (words(display.report_html(many, 9, {}, limit=10)), display.report_text(many, 9, {}, limit=10)):
            assert "100 errors" in said
            assert "in 9 files, showing 10 of 102" in said
            assert "8 of 100" in said
        assert display.report_html(many, 9, {}, limit=10).count("<li>") == 10

    def test_with_less_room_than_rules_the_worst_come_first_and_every_rule_is_named(self):
        many = findings(
            *[(f"rule-{n}", "info", "b.md", 1, "b", None) for n in range(9)], *[("secret", "error", "a.md", 1, "a", None)] * 9
        )
        text = display.report_text(many, 9, {}, limit=3)
        assert text.index("error  secret  1 of 9") < text.index("info  rule-0  1") < text.index("info  rule-8  0 of 1")

    def test_a_line_of_46000_characters_is_cut_in_both(self):
        long = findings(("secret", "error", "a.md", 1, "长" * 46_000, None))
        assert len(display.report_html(long, 1, {})) < 4500
        assert display.report_text(long, 1, {}).count("长") == 119


class TestTable:
    def test_columns_line_up_with_chinese_text(self):
        frame = pd.DataFrame(
            {"tag": ["计划", None], "text": ["先修目录\n再看同步", "b"], "chars": [1234, 5], "line": [1300, 7]}
        )
        assert display.table_text(frame).split("\n") == [
            "tag   text               chars  line",
            "计划  先修目录⏎再看同步  1,234  1300",
            "      b                      5     7",
        ]

    def test_days_instants_shares_and_flags_read_well(self):
        columns = {
            "date": schema.days([date(2025, 2, 3), None]),
            "written_at": schema.instants(["2025-02-03T04:05:06+08:00", None]),
            "share": [0.98765, float("nan")],
            "frozen": [True, False],
        }
        assert display.table_text(pd.DataFrame(columns)).split("\n") == [
            "date        written_at            share  frozen",
            "2025-02-03  2025-02-02 20:05:06Z  0.988  yes",
            "                                         no",
        ]

    def test_a_cut_table_says_n_of_n_rows_in_both_twins(self):
        frame = pd.DataFrame({"n": range(1500)})
        assert display.table_text(frame, limit=3).split("\n")[1:] == ["0", "1", "2", "3 of 1,500 rows"]
        assert words(display.table_html(frame, limit=3)) == "n 0 1 2 3 of 1,500 rows"

    def test_a_whole_table_says_nothing_more(self):
        frame = pd.DataFrame({"n": [1]})
        assert display.table_text(frame, limit=1) == "n\n1"
        assert words(display.table_html(frame, limit=1)) == "n 1"

    def test_an_empty_table_says_so(self):
        for name, columns in schema.SCHEMAS.items():
            assert display.table_text(schema.frame(columns), width=200).endswith("no rows"), name
            assert "no rows" in words(display.table_html(schema.frame(columns)))
        assert display.table_text(pd.DataFrame()).strip() == "no rows"
        assert words(display.table_html(pd.DataFrame())) == "no rows"

    def test_what_does_not_fit_goes_empty_columns_first_and_is_counted(self):
        row = [(date(2025, 2, 3), "计划", "长" * 500, "daily", None, None, None, None, None, "item", 500, "a" * 40, 1, 1)]
        lines = display.table_text(schema.rows(schema.ENTRIES, row)).split("\n")
        assert lines[0].split() == ["date", "tag", "text", "kind", "block", "chars"]
        assert lines[-1] == "6 of 14 columns"
        assert "2025-02-03" in lines[1]

    @given(st.lists(st.text(), min_size=1, max_size=5), st.integers(4, 100))
    def test_it_never_passes_the_width(self, cells, width):
        assert widest(display.table_text(pd.DataFrame({"名字" * 9: cells, "n": 10**9}), width=width)) <= max(width, 15)

    def test_html_wraps_only_long_cells(self):
        markup = display.table_html(pd.DataFrame({"text": ["短", "长" * 50], "n": [1, 2]}))
        assert re.findall(r"<td([^>]*)>", markup) == ["", ' class="n"', ' class="w"', ' class="n"']


class TestMimebundle:
    def test_it_holds_both_twins(self):
        assert display.mimebundle(lambda: "<p>", lambda: "p") == {"text/html": "<p>", "text/plain": "p"}

    def test_an_error_in_the_html_leaves_the_text(self):
        assert display.mimebundle(lambda: str(1 / 0), lambda: "p") == {"text/plain": "p"}

    def test_errors_in_both_leave_one_line_that_names_the_error(self):
        bundle = display.mimebundle(lambda: str(1 / 0), lambda: {}["secret"])
        assert bundle == {"text/plain": "(memkit cannot show this: KeyError)"}
