"""The harness itself: what it must notice in a page, it does notice."""

import pytest
from browser import InputMethod, Pages, contrast
from playwright.sync_api import expect

FIELD = """<input id="field"><pre id="log"></pre><script>
const say = text => { log.textContent += text + "\\n"; };
for (const name of ["input", "compositionend"]) field.addEventListener(name, event => say(
    `${name} ${field.value} ${event.isComposing === true}`));
</script>"""


@pytest.fixture
def pages(chromium):
    pages = Pages(chromium)
    yield pages
    pages.close()


def test_a_page_that_asks_outside_is_noticed_and_gets_nothing(pages):
    page = pages()
    page.set_content("<img src='https://example.org/a.png' onerror='document.body.dataset.failed = 1'>")
    expect(page.locator("body[data-failed]")).to_be_attached()
    assert pages.seen.outside == ["https://example.org/a.png"]
    with pytest.raises(AssertionError):
        pages.seen.check()


def test_a_socket_to_the_outside_is_noticed(pages):
    page = pages()
    page.evaluate("() => new Promise(done => { new WebSocket('wss://example.org/live').onerror = () => done(); })")
    assert pages.seen.outside == ["wss://example.org/live"]


def test_a_failing_script_is_noticed_and_so_is_an_error_in_the_console(pages):
    page = pages()
    with page.expect_event("pageerror"):
        page.set_content("<script>console.error('记错了'); setTimeout(() => { throw new Error('坏了') });</script>")
    assert any("坏了" in error for error in pages.seen.failed)
    assert any("记错了" in complaint for complaint in pages.seen.complaints)
    with pytest.raises(AssertionError):
        pages.seen.check()


def test_a_word_is_typed_in_stages_and_put_in_at_once(open_page):
    page = open_page()
    page.set_content(FIELD)
    page.locator("#field").click()
    keyboard = InputMethod(page)
    keyboard.compose("h", "huo", "huo g")
    keyboard.commit("火锅")
    expect(page.locator("#field")).to_have_value("火锅")
    said = page.locator("#log").inner_text().split("\n")[:-1]
    assert said[:3] == ["input h true", "input huo true", "input huo g true"]
    assert said[-1].startswith("compositionend 火锅")  # no `input` comes after it
    keyboard.compose("l", "la")
    keyboard.cancel()
    expect(page.locator("#field")).to_have_value("火锅")


def test_a_page_has_the_width_and_the_color_scheme_that_was_asked_for(open_page):
    page = open_page(width=480, scheme="dark")
    assert page.evaluate("innerWidth") == 480
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


def test_contrast_is_that_of_the_worst_words(open_page):
    page = open_page()
    page.set_content("<div id=all style='background:#000;color:#fff'>black and white<p style='color:#0008'>dim</p></div>")
    ratio, words = contrast(page.locator("#all"))
    assert words == "dim"
    assert ratio == 1
    page.set_content("<p id=all style='color:rgb(118,118,118)'>grey</p>")
    assert contrast(page.locator("#all"))[0] == pytest.approx(4.54, abs=0.01)
