"""A real Chromium for tests, and what they do in it; there is no test in here.

The fixture `open_page` (conftest) gives pages of one browser a session. What every page asks for and complains of is
noted: when a test ends, nothing outside this machine may have been asked for and no script may have failed.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

CHROMIUM = Path("/usr/bin/chromium-headless-shell")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
HERE = ("127.0.0.1", "localhost", "::1")
INSIDE = ("data", "blob", "about")  # schemes that ask nobody
PATIENCE = 30_000  # ms, for a machine that does other things too
# The least contrast of the words in an element with what lies behind them (WCAG: 4.5 is readable), and those words.
CONTRAST = """root => {
    const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const paint = colors => {
        pen.clearRect(0, 0, 1, 1);
        for (const color of colors) { pen.fillStyle = color; pen.fillRect(0, 0, 1, 1); }
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
    let least = [21, ''];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode, own = node.parentElement;
        if (!node.data.trim() || !own.checkVisibility() || own.closest('style')) continue;
        const layers = [];
        for (let one = own; one; one = one.parentElement) layers.unshift(getComputedStyle(one).backgroundColor);
        const style = getComputedStyle(own), behind = ['white', ...layers];
        const ink = own instanceof SVGElement ? style.fill : style.color;
        const [one, two] = [light(paint(behind)), light(paint([...behind, ink]))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (two + 0.05);
        if (ratio < least[0]) least = [ratio, node.data.trim()];
    }
    return least;
}"""


@contextmanager
def chromium():
    """Yield a browser that can reach this machine alone."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=2 * PATIENCE)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Seen:
    """What the pages of a context asked for, which of their scripts failed, and what they wrote as errors to the console."""

    asked: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self, context):
        """Note all that happens in a context from now on; answer it."""
        context.on("request", lambda request: self.asked.append(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: self.asked.append(socket.url)))
        context.on("weberror", lambda error: self.failed.append(getattr(error.error, "stack", None) or str(error.error)))
        context.on("console", self._console)
        return context

    def _console(self, message):
        if message.type == "error":
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    @property
    def outside(self):
        """The addresses outside this machine that were asked for."""
        parts = [(urlsplit(url), url) for url in self.asked]
        return [url for part, url in parts if part.scheme not in INSIDE and part.hostname not in HERE]

    def check(self):
        """Assert that nothing outside was asked for and that no script failed; then forget what was seen."""
        outside, failed = self.outside, list(self.failed)
        self.asked.clear()
        self.failed.clear()
        assert not outside
        assert not failed


def contrast(locator):
    """Return the least contrast of the visible words of an element with their background, and the words that have it."""
    return tuple(locator.evaluate(CONTRAST))


class Pages:
    """Opens pages, each in a context of its own, so that no test sees what another one left; `seen` is of all of them."""

    def __init__(self, browser):
        self.browser = browser
        self.seen = Seen()
        self._contexts = []

    def __call__(self, url=None, *, width=1280, height=900, scheme="light", **options):
        """Return a new page of this width and color scheme (`light` or `dark`), at `url` if there is one."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, service_workers="block", **options
        )
        context.set_default_timeout(PATIENCE)
        self._contexts.append(self.seen.watch(context))
        page = context.new_page()
        if url is not None:
            page.goto(url)
        return page

    def close(self):
        """Close all pages."""
        while self._contexts:
            self._contexts.pop().close()


class InputMethod:
    """A Chinese keyboard: shows the stages of a word in the focused field, then puts the word there or takes it back."""

    def __init__(self, page):
        self._devtools = page.context.new_cdp_session(page)

    def compose(self, *stages):
        """Show one after another what is being typed, such as "h", "huo", "huo g"; nothing is put in yet."""
        for stage in stages:
            place = {"selectionStart": len(stage), "selectionEnd": len(stage)}
            self._devtools.send("Input.imeSetComposition", {"text": stage, **place})

    def commit(self, word):
        """Put a word in the place of what was being typed."""
        self._devtools.send("Input.insertText", {"text": word})

    def cancel(self):
        """Take back what was being typed."""
        self.compose("")
