"""The tab Summaries: the calendar says what the store says, making can be stopped and gone on with, lines lead to entries."""

import re
import shutil
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import open_at, tree

from memkit.dates import period_days
from memkit.errors import BadArgument
from memkit.explorer import summaries as summing
from memkit.explorer.summaries import SummariesTab, calendar, periods
from memkit.explorer.summaries.making import FAILED, LEFT, MADE, Run
from memkit.explorer.summaries.periods import HELD, MISSING, ORPHAN, STALE, THERE, UNDER_WAY, Year
from memkit.explorer.tab import Place
from memkit.explorer.words import Words
from memkit.explorer.words import summaries as words_summaries

EN, ZH = Words("en"), Words("zh")
VOID = {"input", "br", "hr", "img"}


class Seen(HTMLParser):
    """The elements of some HTML, as (tag, attributes); fails where they do not close as they opened."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def asking(self, do):
        return [attrs for _, attrs in self.elements if attrs.get("data-do") == do]


def buttons(tab, do):
    return Seen(tab.html()).asking(do)


def tab_of(root, *, say=EN, out=None, **options):
    tab = SummariesTab(open_at(root, **options), say, out=out)
    tab.opened()
    return tab


def press(tab, do, value="", form=None):
    return tab.act(do, value, form or {})


@pytest.fixture
def layers(copied):
    return copied("layers") / "dsh-memory-layers"


@pytest.fixture
def broken(samples, tmp_path):
    def copy(name):
        return Path(shutil.copytree(samples / "broken" / name, tmp_path / name))

    return copy


def add_line(root, day, text, clock="12:00:00.000"):
    path = root / f"cold/{day[:7]}/{day}.md"
    path.write_text(f"{path.read_text(encoding='utf-8').rstrip()}\n- [{day}T{clock}Z] [-] {text}\n", encoding="utf-8")


# ---- what the calendar says ----


def test_the_calendar_says_of_every_stored_summary_what_the_store_says(layers):
    add_line(layers, "2025-02-03", "后来补的一行")
    add_line(layers, "2025-01-10", "又补的一行")
    tab = tab_of(layers)
    held = tab._store.summaries()
    stale = {key for key, is_stale in zip(held["key"], held["stale"], strict=True) if is_stale}
    assert {"2025-02-03", "2025-W06", "2025-01-10", "2025-W02", "2025-01"} <= stale  # weeks and months by what is below them
    for year in tab.years:
        tab.show(year)
        status = tab.year.status
        for key in held["key"]:
            if periods.touches(key, year):
                assert status[key] == (STALE if key in stale else THERE), key


def test_a_period_without_a_summary_is_missing_once_it_is_over(layers):
    (layers / "summaries/day/2025-02-04.md").unlink()
    status = tab_of(layers).year.status
    assert status["2025-02-04"] == MISSING
    assert [status[key] for key in ("2025-02-28", "2025-W09", "2025-02")] == [UNDER_WAY] * 3
    assert "2025-02-05" not in status  # it has no entry


def test_a_summary_whose_entries_are_gone_is_told_and_not_offered(layers):
    shutil.copy(layers / "summaries/day/2025-02-04.md", layers / "summaries/day/2025-02-05.md")
    tab = tab_of(layers)
    assert tab.year.status["2025-02-05"] == ORPHAN
    assert "2025-02-05" not in tab.year.keys("day", STALE)
    assert EN("sum_orphan") in tab.html()


@pytest.mark.parametrize(("name", "status"), [("summary-stale", STALE), ("summary-missing", THERE)])
def test_broken_samples_are_what_their_names_say(broken, name, status):
    tab = tab_of(broken(name))
    assert tab.year.status["2025-02-03"] == status
    assert ("2025-02-04" in tab.year.keys("day", MISSING)) == (name == "summary-missing")


def test_a_summary_of_a_week_that_does_not_exist_hinders_nothing(broken):
    tab = tab_of(broken("bad-week"))
    assert tab.year.status["2025-02-03"] == MISSING
    assert "2025-W53" not in tab.html()


def test_every_cell_says_its_key_and_what_it_is_like(layers):
    add_line(layers, "2025-02-03", "后来补的一行")
    tab = tab_of(layers, say=ZH)
    cells = {cell["data-value"]: cell for cell in buttons(tab, "summaries.read")}
    assert set(cells) == set(tab.year.status)
    assert cells["2025-02-03"]["aria-label"] == "2025-02-03：已过时"
    for key, cell in cells.items():
        assert cell["aria-label"].startswith(key)
        assert len(set(cell["class"].split()) & set(calendar.MARKS)) == 1


def test_each_state_has_a_mark_of_its_own():
    assert len(set(calendar.MARKS.values())) == len(calendar.MARKS)


@pytest.mark.parametrize("number", [1, 1970, 2024, 2025, 2026, 2028, 9999])
def test_each_day_of_a_year_stands_once_in_the_row_of_its_weekday_under_its_week(number):
    days = periods.days_of_year(number)
    keys = [key for day in days for key in (day.isoformat(), periods.period_key("week", day), periods.period_key("month", day))]
    year = Year(number, dict.fromkeys(keys, THERE))
    seen = Seen(calendar.calendar(year, set(), "", EN))
    cells = seen.asking("summaries.read")
    place = {cell["data-value"]: (int(cell["data-row"]), int(cell["data-col"])) for cell in cells}
    assert len(cells) == len(place) == len(set(keys))
    for day in days:
        week = place[periods.period_key("week", day)]
        assert place[day.isoformat()] == (2 + day.weekday(), week[1])
    spans = [int(re.search(r"span (\d+)", attrs["style"])[1]) for _, attrs in seen.elements if "span" in attrs.get("style", "")]
    columns = max(column for _, column in place.values()) + 1
    assert (len(spans), sum(spans)) == (12, columns)
    assert min(spans) >= 4


def test_the_latest_year_that_is_not_to_come_is_shown_first(broken):
    root = broken("summary-missing")
    for day in ("2023-05-01", "2031-01-01"):
        path = root / f"cold/{day[:7]}/{day}.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"# {day}\n\n- [{day}T04:00:00.000Z] [-] 一行\n", encoding="utf-8")
    tab = tab_of(root)
    assert (tab.years, tab.year.number) == ([2023, 2025, 2031], 2025)
    assert [attrs["data-value"] for attrs in buttons(tab, "summaries.year")] == ["2023", "2023", "2025", "2031", "2031"]
    press(tab, "year", "2031")
    assert tab.year.status["2031-01-01"] == UNDER_WAY
    with pytest.raises(BadArgument, match="2030 has no entries"):
        tab.show(2030)


def test_of_many_years_those_near_the_shown_one_have_a_button():
    years = list(range(1990, 2026))
    for shown in (1990, 2005, 2025):
        chips = [
            a["data-value"] for a in Seen(calendar.years(years, shown, EN)).asking("summaries.year") if "aria-pressed" in a
        ]
        assert len(chips) == calendar.YEARS
        assert str(shown) in chips


def test_weeks_across_a_new_year_are_in_both_years(layers):
    tab = tab_of(layers)
    tab.show(2024)
    assert tab.year.status["2025-W01"] == THERE
    tab.show(2025)
    assert tab.year.status["2025-W01"] == THERE
    assert "2024-12-31" not in tab.year.status


# ---- stores that have little ----


@pytest.mark.parametrize("layout", ["layers", "archive", "workspace"])
def test_an_empty_store_says_that_there_is_nothing(tmp_path, layout):
    tab = tab_of(tmp_path / "new", layout=layout)
    assert EN("sum_undated").replace("'", "&#x27;") in tab.html()
    assert (tab.year, tab.years) == (None, [])
    assert not buttons(tab, "summaries.make")
    assert not (tmp_path / "new").exists()


def test_entries_without_a_date_have_no_calendar(tmp_path):
    (tmp_path / "MEMORY.md").write_text("# 记忆\n\n- 没有日期的一条\n", encoding="utf-8")
    tab = tab_of(tmp_path, layout="workspace")
    assert len(tab._store.entries()) == 1
    assert tab.year is None
    assert not buttons(tab, "summaries.read")


def test_a_store_of_one_day_has_three_periods(broken):
    root = broken("summary-stale")
    shutil.rmtree(root / "summaries")
    tab = tab_of(root)
    assert tab.year.status == {"2025-02-03": MISSING, "2025-W06": MISSING, "2025-02": UNDER_WAY}


# ---- without a place for summaries ----


@pytest.mark.parametrize("name", ["archive", "workspace"])
def test_without_a_place_a_click_shows_the_extract_and_nothing_is_written(copied, name):
    root = copied(name)
    before = tree(root)
    tab = tab_of(root)
    days = tab._store.entries()["date"].dropna().dt.date
    shown = {day.isoformat() for day in days if day.year == tab.year.number}
    assert {key for key in tab.year.status if len(key) == 10} == shown
    assert set(tab.year.status.values()) == {HELD}
    assert EN("sum_no_place").split(";")[0] in tab.html()
    assert not buttons(tab, "summaries.choose") + buttons(tab, "summaries.make")
    day = max(shown)
    press(tab, "read", day)
    text = tab._store.summary("day", day)
    assert [line.text for line in tab.page.lines] == [line for line in text.split("\n") if line]
    assert tab.choose("day", MISSING) == 0
    with pytest.raises(BadArgument, match="out: "):
        tab.make([day])
    assert tree(root) == before


def test_with_out_an_archive_gets_its_summaries_there_and_stays_as_it_is(copied, tmp_path):
    root, out = copied("archive"), tmp_path / "out"
    before = tree(root)
    tab = tab_of(root, out=out)
    assert not set(tab.year.status.values()) & {THERE, STALE, HELD}
    for period in ("day", "week", "month"):
        press(tab, "choose", f"{period} missing")
    outcomes = tab.make()
    assert {outcome.action for outcome in outcomes} == {MADE}
    assert {path.stem for path in out.rglob("*.md")} == {outcome.key for outcome in outcomes}
    assert set(tab.year.status.values()) == {THERE, UNDER_WAY}
    assert tree(root) == before
    page = tab.read("2025-02-10")
    assert page.path == (out / "day/2025-02-10.md").as_posix()
    assert all(line.place for line in page.lines if line.copies)
    (out / "day/2025-02-10.md").write_text(
        "# 日摘要 2025-02-10\n\n> 来源：x.md（1 条，sha256:0123456789ab）\n", encoding="utf-8"
    )
    tab.opened()
    assert tab.year.status["2025-02-10"] == STALE
    assert [outcome.action for outcome in tab.make(["2025-02-10"])] == [MADE]
    assert tab.year.status["2025-02-10"] == THERE


def test_out_inside_the_store_is_refused_in_words(layers):
    tab = tab_of(layers, out=layers / "mine")
    assert "choose a folder outside" in tab.html()
    assert not buttons(tab, "summaries.make")


# ---- choosing and making ----


def without_summaries(root):
    shutil.rmtree(root / "summaries")
    return root


def test_all_that_are_missing_can_be_chosen_by_level_and_let_go(layers):
    tab = tab_of(without_summaries(layers))
    press(tab, "choose", "week missing")
    assert tab.chosen == set(tab.year.keys("week", MISSING))
    assert EN("sum_chosen", n=len(tab.chosen)) in tab.html()
    press(tab, "choose", "day missing")
    assert {periods.level_of(key) for key in tab.chosen} == {"day", "week"}
    assert not any(period_days(periods.level_of(key), key)[-1] >= date(2025, 2, 28) for key in tab.chosen)
    press(tab, "none")
    assert tab.chosen == set()


def test_the_open_one_can_be_chosen_even_while_it_is_not_over(layers):
    tab = tab_of(layers)
    press(tab, "read", "2025-02-28")
    press(tab, "toggle", "2025-02-28")
    assert tab.chosen == {"2025-02-28"}
    assert ", chosen" in next(a["aria-label"] for a in buttons(tab, "summaries.read") if a["data-value"] == "2025-02-28")
    press(tab, "toggle", "2025-02-28")
    assert tab.chosen == set()
    press(tab, "read", "2025-02-03")
    assert not buttons(tab, "summaries.toggle")  # it is there, and current


def test_making_goes_step_by_step_can_be_stopped_and_gone_on_with(layers, monkeypatch):
    monkeypatch.setattr(summing, "STEP", 0)
    tab = tab_of(without_summaries(layers))
    press(tab, "choose", "day missing")
    press(tab, "choose", "week missing")
    total = len(tab.chosen)
    press(tab, "make")
    assert not (layers / "summaries").exists()  # the first step comes with the first look
    for done in range(3):
        bar = next(attrs for tag, attrs in Seen(tab.html()).elements if tag == "progress")
        assert (bar["value"], bar["max"]) == (str(done), str(total))
        press(tab, "more", str(done))
        assert len(list(layers.rglob("summaries/*/*.md"))) == done + 1
    press(tab, "stop")
    assert "data-more" not in tab.html()
    assert len(tab.chosen) == total - 3
    assert EN("sum_stopped", n=total - 3) in tab.html()
    press(tab, "more", "3")  # one that was already on its way
    assert len(list(layers.rglob("summaries/*/*.md"))) == 3
    press(tab, "make")
    while "data-more" in tab.html():
        press(tab, "more", str(tab.run.done))
    assert len(list(layers.rglob("summaries/*/*.md"))) == total
    assert EN("sum_done", made=total - 3, where="summaries/", left=0, failed=0) in tab.html()
    assert tab.chosen == set()
    held = tab._store.summaries()
    assert len(held) == total
    assert not held["stale"].any()


def test_a_step_that_was_asked_for_twice_is_done_once(layers, monkeypatch):
    monkeypatch.setattr(summing, "STEP", 0)
    tab = tab_of(without_summaries(layers))
    tab.choose("day", MISSING)
    press(tab, "make")
    press(tab, "more", "0")
    press(tab, "more", "0")
    assert tab.run.done == 1


def test_days_come_before_weeks_and_months_so_that_each_builds_on_what_is_below(layers):
    add_line(layers, "2025-01-10", "后来补的一行")
    tab = tab_of(layers)
    for period in ("month", "week", "day"):
        tab.choose(period, STALE)
    outcomes = tab.make()
    assert [outcome.key for outcome in outcomes] == ["2025-01-10", "2025-W02", "2025-01"]
    assert {outcome.action for outcome in outcomes} == {MADE}
    assert not tab._store.summaries()["stale"].any()
    assert STALE not in tab.year.status.values()


def test_a_week_over_a_stale_day_is_left_and_the_reason_told(layers):
    add_line(layers, "2025-01-10", "后来补的一行")
    path = layers / "summaries/week/2025-W02.md"
    before = path.read_bytes()
    tab = tab_of(layers)
    (outcome,) = tab.make(["2025-W02"])
    assert outcome.action == LEFT
    assert "lower summary is out of date" in outcome.reason
    assert path.read_bytes() == before
    assert "lower summary is out of date" in tab.html()


def test_a_current_summary_is_left_byte_for_byte(layers):
    before = tree(layers)
    tab = tab_of(layers)
    outcomes = tab.make(["2025-02-03", "2025-W06", "2025-01", "2025-02-05"])
    assert [outcome.action for outcome in outcomes] == [LEFT] * 4
    assert tree(layers) == before


def test_one_that_fails_is_told_and_the_others_are_made(layers):
    tab = tab_of(without_summaries(layers))
    (layers / "summaries/day/2025-02-04.md").mkdir(parents=True)
    outcomes = {outcome.key: outcome for outcome in tab.make(["2025-02-03", "2025-02-04", "2025-02-06"])}
    assert [outcomes[key].action for key in sorted(outcomes)] == [MADE, FAILED, MADE]
    assert "2025-02-04" in outcomes["2025-02-04"].reason
    assert f"2025-02-04: {EN('sum_failed_one')}" in tab.html()


def test_a_lock_that_another_holds_ends_the_making_and_keeps_the_choice(layers):
    tab = tab_of(without_summaries(layers), lock_timeout=0.05)
    tab.choose("day", MISSING)
    wanted = set(tab.chosen)
    with open_at(layers)._desk.writing():
        assert tab.make() == []
    assert not tab.running
    assert tab.chosen == wanted
    assert "lock" in tab.run.trouble
    assert 'role="alert"' in tab.html()
    assert {outcome.action for outcome in tab.make()} == {MADE}


def test_a_store_that_is_gone_ends_the_making(layers, monkeypatch):
    monkeypatch.setattr(summing, "STEP", 0)
    tab = tab_of(without_summaries(layers))
    tab.choose("day", MISSING)
    press(tab, "make")
    press(tab, "more", "0")
    shutil.rmtree(layers.parent)
    press(tab, "more", "1")
    assert not tab.running
    assert 'role="alert"' in tab.html()
    assert "data-more" not in tab.html()


def test_an_interrupted_make_can_go_on(layers, monkeypatch):
    tab = tab_of(without_summaries(layers))
    tab.choose("day", MISSING)
    total, step = len(tab.chosen), Run.step

    def once(run, _seconds):
        if run.done:
            raise KeyboardInterrupt
        return step(run, 0)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "step", once)
        with pytest.raises(KeyboardInterrupt):
            tab.make()
    assert not tab.running
    assert len(tab.chosen) == total - 1
    assert len(tab.make()) == total - 1


def test_a_day_file_that_cannot_be_read_is_told_with_the_summary_that_lacks_it(layers):
    with (layers / "cold/2025-02/2025-02-03.md").open("r+b") as file:
        file.truncate(64 * 1024 * 1024 + 1)  # sparse: it takes no room
    tab = tab_of(without_summaries(layers))
    (outcome,) = tab.make(["2025-W06"])
    assert (outcome.action, outcome.warned) == (MADE, True)
    assert "cold/2025-02/2025-02-03.md: too large" in tab.html()


def test_what_is_chosen_of_another_year_stays_chosen(layers):
    tab = tab_of(without_summaries(layers))
    tab.choose("day", MISSING)
    before = set(tab.chosen)
    tab.show(2024)
    assert tab.chosen == before
    tab.choose("day", MISSING)
    both = set(tab.chosen)
    assert before < both
    assert {outcome.key for outcome in tab.make()} == both
    assert tab.chosen == set()
    assert {path.stem for path in (layers / "summaries/day").iterdir()} == both


def test_a_summary_made_by_someone_else_meanwhile_is_left(layers):
    tab = tab_of(without_summaries(layers))
    tab.choose("day", MISSING)
    open_at(layers).summarize("day", "2025-02-03")
    outcomes = {outcome.key: outcome.action for outcome in tab.make()}
    assert outcomes.pop("2025-02-03") == LEFT
    assert set(outcomes.values()) == {MADE}


# ---- reading ----


def test_each_line_leads_to_the_entry_it_was_copied_from(layers):
    tab = tab_of(layers)
    for key in ("2025-02-10", "2025-W06", "2025-01"):
        press(tab, "read", key)
        entries = tab._store.entries()
        lines = buttons(tab, "summaries.source")
        assert len(lines) == len(tab.page.found.lines) > 0
        for line in lines:
            place = press(tab, "source", line["data-value"])
            assert isinstance(place, Place)
            (text,) = entries[(entries["path"] == place.path) & (entries["line"] == place.line)]["text"]
            said = tab.page.lines[int(line["data-value"])].text.split("] ", 2)[2]
            assert text.startswith(said.removesuffix("…"))


def test_a_line_that_no_entry_says_is_marked_and_leads_nowhere(broken):
    tab = tab_of(broken("summary-line-not-in-source"))
    page = tab.read("2025-02-03")
    assert [bool(line.place) for line in page.lines if line.copies] == [True, True, False]
    assert tab.html().count(EN("sum_no_source")) == 1
    assert len(buttons(tab, "summaries.source")) == 2


def test_the_facts_are_those_of_the_store(layers):
    tab = tab_of(layers)
    held = tab._store.summaries().set_index("key").loc["2025-01"]
    page = tab.read("2025-01")
    assert (page.path, len(page.found.lines), page.found.chars) == (held["path"], held["entries"], held["chars"])
    assert page.found.omitted == held["omitted"]
    html = tab.html()
    for told in (EN("sum_entries", n=int(held["entries"])), EN("sum_chars", n=int(held["chars"])), held["path"]):
        assert told in html
    assert EN("sum_generated", at=page.found.generated_at) in html


def test_a_summary_over_its_budget_is_read_whole(broken):
    tab = tab_of(broken("summary-over-budget"))
    page = tab.read("2025-02-03")
    assert len(buttons(tab, "summaries.source")) == len(page.found.lines)


def test_close_closes_and_gives_the_focus_back_to_the_cell(layers):
    tab = tab_of(layers)
    press(tab, "read", "2025-02-10")
    (close,) = [attrs for _, attrs in Seen(tab.html()).elements if "data-escape" in attrs]
    assert close["data-do"] == "summaries.close"
    assert close["data-key"] == next(a["data-key"] for a in buttons(tab, "summaries.read") if a["data-value"] == "2025-02-10")
    press(tab, "close")
    assert tab.page is None
    assert "data-escape" not in tab.html()


def test_a_summary_deleted_before_the_click_is_shown_as_it_would_be(layers):
    tab = tab_of(layers)
    tab.html()
    path = layers / "summaries/day/2025-02-10.md"
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.startswith("- ")]
    path.unlink()
    press(tab, "read", "2025-02-10")
    assert (tab.page.status, tab.page.path) == (MISSING, "")
    assert [line.text for line in tab.page.lines if line.copies] == lines
    assert EN("sum_would") in tab.html()
    assert tab.year.status["2025-02-10"] == MISSING
    assert not path.exists()


def test_a_day_deleted_with_its_summary_before_the_click_has_nothing(layers):
    tab = tab_of(layers)
    (layers / "summaries/day/2025-02-10.md").unlink()
    (layers / "cold/2025-02/2025-02-10.md").unlink()
    press(tab, "read", "2025-02-10")
    assert EN("sum_nothing") in tab.html()
    assert "2025-02-10" not in tab.year.status
    assert press(tab, "source", "0") is None


def test_a_store_that_changed_is_seen_when_the_tab_comes_to_the_front(layers):
    tab = tab_of(layers)
    tab.read("2025-02-03")
    add_line(layers, "2025-02-03", "后来补的一行")
    tab.opened()
    assert tab.year.status["2025-02-03"] == tab.page.status == STALE


def test_a_number_or_key_that_is_not_there_does_nothing_harmful(layers):
    tab = tab_of(layers)
    tab.read("2025-02-10")
    before = tree(layers)
    for value in ("999", "-1", "", "x", "²", "0" * 30 + "9" * 30):
        assert press(tab, "source", value) is None
    for do, value in (
        ("choose", ""),
        ("choose", "day"),
        ("choose", "year there"),
        ("year", "1999"),
        ("more", "x"),
        ("what", ""),
    ):
        assert press(tab, do, value) is None
    for value in ("../../hot", "2025-13-01", "2025-W60", "", "2025-02-30"):
        with pytest.raises(BadArgument):
            press(tab, "read", value)
        with pytest.raises(BadArgument):
            press(tab, "toggle", value)
    assert tab.chosen == set()
    assert tree(layers) == before


# ---- what is in the files ----

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(1)"> "\' &amp; \x1b[31m\u202e反\u2028'


def test_hostile_text_is_shown_and_never_obeyed(layers):
    add_line(layers, "2025-02-27", HOSTILE)
    path = layers / "summaries/day/2025-02-10.md"
    kept = (
        path.read_text(encoding="utf-8")
        .replace("# 日摘要 2025-02-10", f"\ufeff# {HOSTILE}")
        .replace("生成时间：", f"生成时间：{HOSTILE}")
    )
    path.write_text(f"{kept}- [2025-02-10T00:00:00.000Z] [<b>] {HOSTILE}\r\n{HOSTILE}\n", encoding="utf-8")
    tab = tab_of(layers)
    tab.make(["2025-02-27"])
    for key in ("2025-02-10", "2025-02-27"):
        press(tab, "read", key)
        html = tab.html()
        assert "<script" not in html
        assert "<img" not in html
        assert "&lt;script&gt;" in html
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]", html)
        Seen(html)
    press(tab, "read", "2025-02-10")
    assert len(buttons(tab, "summaries.source")) == len(tab.page.found.lines) - 1  # its own lines, whatever the title says


def test_bytes_that_are_no_text_are_shown_as_something(layers):
    line = b"- [2025-02-10T00:00:00.000Z] [-] \xfa\xfb"
    (layers / "summaries/day/2025-02-10.md").write_bytes(b"\xfa\xfb\n" + line + b"\n")
    tab = tab_of(layers)
    press(tab, "read", "2025-02-10")
    assert [line.place for line in tab.page.lines] == [None, None]
    assert "2025-02-10T00:00:00.000Z" in tab.html()
    assert tab.html().encode("utf-8")


def test_an_empty_summary_file_is_out_of_date_and_can_be_made(layers):
    (layers / "summaries/day/2025-02-10.md").write_bytes(b"")
    tab = tab_of(layers)
    assert tab.read("2025-02-10").status == STALE
    assert [outcome.action for outcome in tab.make(["2025-02-10"])] == [MADE]
    assert tab.page.status == THERE  # what is open is read again


def test_a_file_of_very_many_lines_is_shown_in_part(layers):
    path = layers / "summaries/day/2025-02-10.md"
    path.write_text(path.read_text(encoding="utf-8") + "一行\n" * 5000 + "字" * 50_000 + "\n", encoding="utf-8")
    tab = tab_of(layers)
    press(tab, "read", "2025-02-10")
    assert tab.page.hidden > 4000
    assert len(tab.html()) < 200_000


def test_what_looks_like_a_secret_is_not_shown(layers):
    token = "ghp_" + "a1B2c3D4e5" * 4
    add_line(layers, "2025-02-27", f"令牌 {token} 记一下")
    tab = tab_of(layers)
    tab.make(["2025-02-27"])
    press(tab, "read", "2025-02-27")
    assert token in (layers / "summaries/day/2025-02-27.md").read_text(encoding="utf-8")
    assert token not in tab.html()
    assert len(buttons(tab, "summaries.source")) == len(tab.page.found.lines)


# ---- words, keys, labels ----


def test_all_texts_are_there_in_both_languages():
    for name, (english, chinese) in words_summaries.WORDS.items():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", chinese)), name
    assert len(EN("sum_month_names").split()) == len(ZH("sum_month_names").split()) == 12
    assert len(EN("sum_row_names").split()) == len(ZH("sum_row_names").split()) == 9


@pytest.mark.parametrize("say", [EN, ZH], ids=["en", "zh"])
def test_every_button_has_a_name_and_a_key_of_its_own(layers, say):
    tab = tab_of(layers, say=say)
    press(tab, "read", "2025-02-28")
    seen = Seen(tab.html())
    asked = [attrs for _, attrs in seen.elements if "data-do" in attrs]
    keys = [attrs["data-key"] for attrs in asked if "data-escape" not in attrs]
    assert len(keys) == len(set(keys))
    assert all(attrs["data-do"].startswith("summaries.") for attrs in asked)
    assert "{" not in tab.html()
    for tag, attrs in seen.elements:
        if attrs.get("data-do") == "summaries.read":
            assert {"aria-label", "data-row", "data-col"} <= set(attrs)
        if tag == "progress" or attrs.get("role") == "group":
            assert attrs["aria-label"]


def test_make_and_stop_share_the_focus(layers):
    tab = tab_of(without_summaries(layers))
    tab.choose("day", MISSING)
    (make,) = buttons(tab, "summaries.make")
    press(tab, "make")
    (stop,) = buttons(tab, "summaries.stop")
    assert make["data-key"] == stop["data-key"]
    press(tab, "stop")


def test_python_may_choose_before_anything_was_shown(layers):
    tab = SummariesTab(open_at(without_summaries(layers)), EN)
    assert tab.choose("month", MISSING) == 1
    assert [outcome.key for outcome in tab.make()] == ["2025-01"]
