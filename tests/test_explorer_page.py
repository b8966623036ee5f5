"""The explorer's ES module in a real Chromium, with the real Python side behind it: typing, brushing, keys, what is shown."""

import re

import pytest
from browser import InputMethod
from conftest import SAMPLES, open_at
from widget_page import shown

HOSTILE = [
    "<script>window.bad = 1</script>",
    '<img src="https://example.invalid/x.png" onerror="window.bad = 1">',
    "[火锅](javascript:window.bad=1) ![图](https://example.invalid/y.png)",
    "长" * 46_000,
]


@pytest.fixture
def expect():
    from playwright.sync_api import expect

    return expect


@pytest.fixture
def view(open_page):
    """Return a function that shows the explorer of a sample (or of a store) in a page: (page, explorer)."""

    def show(store="archive", *, width=1280, dark=False, patience=None, **options):
        mem = open_at(SAMPLES / store) if isinstance(store, str) else store
        explorer = mem.explore(**{"lang": "en", **options})
        page = open_page(width=width, scheme="dark" if dark else "light")
        return shown(page, explorer, dark=dark, patience=patience), explorer

    return show


def search(page):
    return page.get_by_role("searchbox")


class TestTyping:
    def test_what_is_typed_is_searched_after_a_moment(self, view, expect):
        page, explorer = view()
        search(page).press_sequentially("红水壶", delay=20)
        expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ of 147 rows$"))
        expect(page.locator("mark").first).to_have_text("红水壶")
        assert explorer.query == "红水壶"
        assert page.locator(".rows tbody tr").count() == explorer.hits > 0

    def test_an_input_method_is_waited_for(self, view, expect):
        page, explorer = view()
        page.evaluate(
            """() => { window.counts = []; const status = document.querySelector('[data-slot=status_html]');
            const seen = new MutationObserver(() => window.counts.push(status.textContent));
            seen.observe(status, {childList: true, subtree: true}); }"""
        )
        search(page).click()
        keyboard = InputMethod(page)
        keyboard.compose("h", "hu", "huo", "huo g", "huo guo")
        page.wait_for_timeout(400)  # longer than the quiet after which what was typed is sent
        assert explorer.query == ""
        keyboard.commit("火锅")
        expect(page.locator("mark").first).to_have_text("火锅")
        assert explorer.query == "火锅"
        counts = [int(re.match(r"\d+", text)[0]) for text in page.evaluate("window.counts")]
        assert 0 not in counts
        assert counts[-1] == explorer.hits > 0

    def test_a_word_taken_back_asks_for_nothing_new(self, view):
        page, explorer = view()
        search(page).click()
        keyboard = InputMethod(page)
        keyboard.compose("huo")
        keyboard.cancel()
        page.wait_for_timeout(400)
        assert (explorer.query, explorer.hits) == ("", 147)

    def test_enter_does_not_wait(self, view, expect):
        page, explorer = view()
        search(page).fill("火锅")
        search(page).press("Enter")
        expect(page.locator("mark").first).to_have_text("火锅")
        page.wait_for_timeout(300)
        assert search(page).input_value() == explorer.query == "火锅"

    def test_the_field_keeps_what_is_typed_while_an_answer_comes(self, view, expect):
        page, explorer = view()
        search(page).press_sequentially("水壶和茶室里的所有故事", delay=60)
        page.wait_for_timeout(500)
        assert search(page).input_value() == "水壶和茶室里的所有故事" == explorer.query
        expect(page.get_by_text("Nothing matches")).to_be_visible()

    def test_a_click_before_the_answer_opens_what_was_clicked(self, view, expect):
        page, explorer = view()
        row = explorer.rows[5]
        search(page).press_sequentially("茶")
        page.locator(".rows tbody tr").nth(5).click()
        expect(page.locator(".whole")).to_have_text(row["text"])
        assert explorer.query == "茶"

    def test_python_can_drive_it(self, view, expect):
        page, explorer = view()
        explorer.query = "火锅"
        page.evaluate("model.send({do: 'browse.none'})")  # the next answer brings what Python changed
        expect(search(page)).to_have_value("火锅")
        expect(page.locator("mark").first).to_have_text("火锅")

    def test_the_step_that_answered_comes_by_itself(self, view, expect):
        page, _ = view()
        search(page).fill("水壶")
        expect(page.locator("[data-slot=status_html]")).to_contain_text("would stop at: the last days")


class TestChoosing:
    def test_a_chip_is_pressed_and_keeps_the_focus(self, view, expect):
        page, explorer = view()
        page.get_by_role("button", name=re.compile("^计划")).click()
        expect(page.get_by_role("button", name=re.compile("^计划"))).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("button", name=re.compile("^计划"))).to_be_focused()
        assert explorer.tags == ["计划"]
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_have_text("147 of 147 rows")

    def test_days_are_native_fields_wide_enough_for_a_year(self, view, expect):
        page, explorer = view(width=900)
        page.get_by_label("From", exact=True).fill("2025-02-01")
        page.get_by_label("To", exact=True).fill("2025-02-10")
        expect(page.get_by_role("status")).not_to_have_text("147 of 147 rows")
        assert (explorer.date_from, explorer.date_to) == ("2025-02-01", "2025-02-10")
        assert page.get_by_label("From", exact=True).evaluate("one => one.scrollWidth <= one.clientWidth")

    def test_a_brush_over_the_timeline_sets_the_days(self, view, expect):
        page, explorer = view()
        box = page.locator("[data-brush]").bounding_box()
        bars = page.locator("[data-from]")
        number = bars.count()

        def middle(place):
            return box["x"] + (place + 0.5) * box["width"] / number

        page.mouse.move(middle(4), box["y"] + 10)
        page.mouse.down()
        page.mouse.move(middle(2), box["y"] + 20, steps=4)
        page.mouse.up()
        expect(page.get_by_label("From", exact=True)).to_have_value(bars.nth(2).get_attribute("data-from"))
        expect(page.get_by_label("To", exact=True)).to_have_value(bars.nth(4).get_attribute("data-to"))
        assert explorer.date_from == bars.nth(2).get_attribute("data-from")
        assert page.locator("[data-from].in").count() == 3
        page.mouse.move(middle(2), box["y"] + 10)
        page.mouse.down()
        page.mouse.move(middle(4), box["y"] + 10)
        page.mouse.up()  # the same span again
        expect(page.get_by_role("status")).to_have_text("147 of 147 rows")
        assert explorer.date_from == ""

    def test_clear_all_empties_every_field(self, view, expect):
        page, _ = view()
        search(page).fill("水壶")
        page.get_by_label("From", exact=True).fill("2025-02-01")
        expect(page.get_by_role("status")).not_to_have_text("147 of 147 rows")
        page.get_by_role("button", name="Clear all").click()
        expect(page.get_by_role("status")).to_have_text("147 of 147 rows")
        expect(search(page)).to_have_value("")
        expect(page.get_by_label("From", exact=True)).to_have_value("")

    def test_a_kind_is_chosen_from_a_list(self, view, expect):
        page, explorer = view("workspace")
        page.get_by_label("Kind").select_option("longterm")
        expect(page.get_by_role("status")).to_have_text(
            re.compile(rf"^{(explorer._store.entries()['kind'] == 'longterm').sum()} of")
        )
        assert explorer.kind == "longterm"


class TestSilence:
    def test_a_kernel_that_does_not_answer_is_told_until_it_does(self, view, expect):
        page, _ = view(patience=700)
        page.evaluate("() => { window.answer = python; window.python = () => new Promise((done) => { window.late = done; }); }")
        silent = page.get_by_text("The kernel does not answer")
        expect(silent).to_be_hidden()
        search(page).fill("水壶")
        expect(silent).to_be_visible()
        page.evaluate("() => { window.python = window.answer; window.late(JSON.stringify({turn: 99})); }")
        expect(silent).to_be_hidden()

    def test_the_calendar_opens_where_its_last_summaries_are(self, view, expect, tmp_path):
        path = tmp_path / "vault/cold/2024-11/2024-11-23.md"
        path.parent.mkdir(parents=True)
        path.write_text("- [2024-11-23T09:00:00.000Z] [计划] 把茶罐洗干净\n", encoding="utf-8")
        page, _ = view(open_at(tmp_path / "vault"), width=600)
        page.get_by_role("tab", name="Summaries").click()
        expect(page.locator("[data-key='sum 2024-11-23']")).to_be_in_viewport()


class TestKeys:
    def test_arrows_move_through_the_rows_enter_opens_and_escape_closes(self, view, expect):
        page, _ = view()
        search(page).press("ArrowDown")
        rows = page.locator(".rows tbody tr")
        expect(rows.nth(0)).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        expect(rows.nth(1)).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".entry")).to_be_visible()
        expect(rows.nth(1)).to_be_focused()
        expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Escape")
        expect(page.locator(".entry")).to_have_count(0)
        page.keyboard.press("End")
        expect(rows.nth(49)).to_be_focused()
        page.keyboard.press("Home")
        expect(rows.nth(0)).to_be_focused()

    def test_one_tab_stop_leads_into_the_rows_and_one_into_the_chips(self, view):
        page, _ = view()
        assert page.locator(".rows tbody tr[tabindex='0']").count() == 1
        assert page.locator(".chips [data-do][tabindex='0']").count() == 1
        search(page).focus()
        stops = []
        for _ in range(16):
            page.keyboard.press("Tab")
            stops.append(
                page.evaluate("document.activeElement.closest('[data-slot]')?.dataset.slot ?? document.activeElement.type")
            )
        assert stops.index("chips_html") < stops.index("page_html")
        assert stops.count("chips_html") == 1

    def test_arrows_change_the_tab_and_leave_the_text_field_alone(self, view, expect):
        page, explorer = view()
        page.get_by_role("tab", name="Browse").focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tabpanel", name="Audit")).to_be_visible()
        expect(page.get_by_role("tab", name="Audit")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Home")
        expect(page.get_by_role("tabpanel", name="Browse")).to_be_visible()
        search(page).fill("水壶")
        search(page).press("ArrowLeft")
        search(page).press_sequentially("红")
        expect(search(page)).to_have_value("水红壶")
        assert explorer.tab == "browse"

    def test_keys_do_not_reach_the_notebook(self, view, expect):
        page, _ = view()
        page.evaluate("window.heard = []; document.addEventListener('keydown', (event) => window.heard.push(event.key))")
        search(page).press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator(".entry")).to_be_visible()
        page.keyboard.press("Escape")
        assert page.evaluate("window.heard") == []
        assert page.locator("[data-lm-suppress-shortcuts]").count() == 1


class TestWhileTheKernelWorks:
    """The answers of a kernel that takes its time come while people go on."""

    @pytest.fixture
    def slow(self, view):
        def show(*given, **options):
            page, explorer = view(*given, **options)
            page.evaluate(
                """() => { const quick = window.python, wait = () => new Promise((then) => setTimeout(then, 600));
                window.python = async (message) => { await wait(); return quick(message); }; }"""
            )
            return page, explorer

        return show

    def test_what_is_typed_while_a_plan_is_made_stays(self, slow, expect, copied):
        page, _ = slow(open_at(copied("archive")), write=True)
        page.get_by_role("tab", name="Add").click()
        text = page.locator("textarea[name=text]")
        text.press_sequentially("买茶")
        page.locator("[data-do='add.plan']").click()
        text.click()
        page.keyboard.press("End")
        text.press_sequentially("，还有")
        expect(page.locator(".plan")).to_be_visible()
        expect(text).to_be_focused()
        page.keyboard.type("米")
        expect(text).to_have_value("买茶，还有米")

    def test_an_answer_does_not_break_into_a_word_of_an_input_method(self, slow, expect, copied):
        page, _ = slow(open_at(copied("archive")), write=True)
        page.get_by_role("tab", name="Add").click()
        text = page.locator("textarea[name=text]")
        text.press_sequentially("买")
        page.locator("[data-do='add.plan']").click()
        text.click()
        page.keyboard.press("End")
        keyboard = InputMethod(page)
        keyboard.compose("c", "ch", "cha")
        page.wait_for_timeout(1200)
        assert page.locator(".plan").count() == 0
        keyboard.commit("茶")
        expect(page.locator(".plan")).to_be_visible()
        expect(text).to_have_value("买茶")

    def test_what_was_typed_outlives_another_tab_and_a_store_that_changed(self, view, expect, copied):
        mem = open_at(copied("archive"))
        page, _ = view(mem, write=True)
        page.get_by_role("tab", name="Add").click()
        text = page.locator("textarea[name=text]")
        text.press_sequentially("写了很久")
        page.get_by_role("tab", name="Browse").click()
        mem.append("别人写的", "新的标签")
        page.get_by_role("tab", name="Add").click()
        expect(page.locator("datalist option[value='新的标签']")).to_have_count(1)
        expect(text).to_have_value("写了很久")

    def test_two_clicks_on_apply_write_once_and_say_so(self, slow, expect, copied):
        mem = open_at(copied("archive"))
        page, _ = slow(mem, write=True)
        page.get_by_role("tab", name="Add").click()
        page.locator("textarea[name=text]").fill("晒被子")
        page.locator("[data-do='add.plan']").click()
        page.locator("[data-do='add.apply']").dblclick()
        expect(page.locator(".add .note.ok")).to_be_visible()
        page.wait_for_timeout(1500)
        expect(page.locator(".add .note.ok")).to_be_visible()
        expect(page.locator("textarea[name=text]")).to_have_value("")
        assert len(mem.matching("晒被子")) == 1

    def test_a_press_counts_although_an_answer_comes_before_it_ends(self, slow, expect):
        page, explorer = slow()
        search(page).click()
        page.keyboard.type("水")
        page.wait_for_timeout(250)
        box = page.locator(".chip").nth(2).bounding_box()
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()  # the search field loses the focus
        page.wait_for_timeout(1200)
        page.mouse.up()
        expect(page.locator(".chip[aria-pressed=true]")).to_have_count(1)
        assert len(explorer.tags) == 1


class TestShowing:
    def test_hostile_entries_are_text(self, view, expect, tmp_path):
        path = tmp_path / "vault/archive/2025/2025-02-01.md"
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"- {text}\n" for text in HOSTILE), encoding="utf-8")
        page, explorer = view(open_at(tmp_path / "vault"))
        for number, row in enumerate(explorer.rows):
            page.locator(".rows tbody tr").nth(number).click()
            expect(page.locator(".whole")).to_have_text(row["text"])
        assert page.evaluate("window.bad") is None
        assert page.locator("#here script, #here img, #here a").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    @pytest.mark.parametrize("width", [600, 900, 1400])
    @pytest.mark.parametrize("store", ["archive", "layers", "workspace"])
    def test_nothing_is_wider_than_the_page(self, view, expect, store, width):
        page, _ = view(store, width=width, write=True)
        for tab in ("Browse", "Audit", "Summaries", "Add"):
            page.get_by_role("tab", name=tab).click()
            expect(page.get_by_role("tabpanel", name=tab)).to_be_visible()
            if tab == "Browse":
                page.locator(".rows tbody tr").first.click()
                expect(page.locator(".entry")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), tab

    def test_a_row_stays_in_sight_when_it_opens(self, view, expect):
        page, _ = view()
        row = page.locator(".rows tbody tr").nth(12)
        row.scroll_into_view_if_needed()
        row.click()
        expect(page.locator(".entry")).to_be_visible()
        box, rows = row.bounding_box(), page.locator(".rows").bounding_box()
        assert rows["y"] - 5 <= box["y"] <= rows["y"] + rows["height"]
        assert page.locator(".rows").evaluate("one => one.scrollTop") > 50

    def test_it_speaks_chinese(self, view, expect):
        page, _ = view(lang="zh")
        expect(page.get_by_role("tab", name="浏览")).to_be_visible()
        expect(page.get_by_role("status")).to_have_text("147 条中的 147 条")
        assert page.locator(".mkx").get_attribute("lang") == "zh"

    def test_every_field_and_button_has_a_name(self, view, expect):
        page, _ = view(write=True)
        for tab in ("Browse", "Audit", "Summaries", "Add"):
            page.get_by_role("tab", name=tab).click()
            expect(page.get_by_role("tabpanel", name=tab)).to_be_visible()
            unnamed = page.evaluate(
                """() => {
                const panel = document.querySelector('[data-panel]:not([hidden])');
                const named = (one) => one.textContent.trim() || one.ariaLabel || one.labels?.length || one.title;
                const all = [...panel.querySelectorAll('button,input:not([type=hidden]),select,textarea')];
                return all.filter((one) => !named(one)).map((one) => one.outerHTML); }"""
            )
            assert unnamed == [], tab

    def test_a_view_that_goes_leaves_no_listener(self, view):
        page, _ = view()
        page.evaluate("window.undo()")
        assert page.evaluate("Object.values(model.listeners).reduce((sum, held) => sum + held.size, 0)") == 0
