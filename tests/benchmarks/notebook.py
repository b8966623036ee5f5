"""The explorer in a real JupyterLab: from a key in the search field to the page of rows, beside a plain ipywidgets table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from tests.benchmarks import corpus
from tests.benchmarks.measure import Row, Timed
from tests.benchmarks.rows import NOW
from tests.browser import Pages, chromium
from tests.lab import Lab, server

FILES, ENTRIES = 4000, 50  # 200,000 rows
WORDS = ("茶", "书", "a", "山", "o", "修")

OURS = """
import memkit
mem = memkit.open({root!r}, layout="layers", tz="UTC", now={now!r})
mem.explore(lang="en")
"""
# What a person would write without memkit's explorer: a text field, and the first rows that hold what is in it.
PLAIN = """
import ipywidgets, pandas as pd
frame = mem.between("1900-01-01", "2100-01-01")[["date", "tag", "text", "path", "line"]]
field, page = ipywidgets.Text(), ipywidgets.HTML()
def show(change):
    hit = frame["text"].str.contains(change["new"], case=False, regex=False)
    page.value = f"{{hit.sum()}} of {{len(frame)}} rows" + frame[hit].head(50).to_html()
field.observe(show, "value")
ipywidgets.VBox([field, page])
"""
# Resolves with the milliseconds from the next input event to the moment at which the page has been drawn with new rows.
WATCH = """([field, target]) => {
    const [at, into] = [document.querySelector(field), document.querySelector(target)];
    at.focus(); at.select();
    let start = 0;
    at.addEventListener('input', () => { start = performance.now(); }, { capture: true, once: true });
    window.took = new Promise((done) => {
        const seen = new MutationObserver(() => {
            if (!start) return;
            seen.disconnect();
            requestAnimationFrame(() => done(performance.now() - start));
        });
        seen.observe(into, { childList: true, subtree: true, characterData: true });
    });
}"""


def keys(folder: Path, own: Path) -> Iterator[Row]:
    """Yield the time from a key to the page, in Chromium; `own` is an empty folder for Jupyter's files."""
    root = folder / "explore"
    if not root.is_dir():
        corpus.build(root, "layers", files=FILES, entries=ENTRIES)
    served = own / "root"
    served.mkdir()
    with server(served, own) as address, chromium() as browser:
        pages = Pages(browser)
        lab = Lab(pages(width=1400, height=1600), address, served)
        lab.run(lab.write("keys.ipynb", OURS.format(root=str(root), now=NOW), PLAIN))
        field = ".mkx input[type=search]"
        ours = _key(lab, field, ".mkx [data-slot=page_html]")
        peer = _key(lab, ".widget-text input", ".widget-html .widget-html-content")
        lab.page.wait_for_timeout(3000)  # until it has folded its texts
        yield Row("explorer, key to page, 200,000 rows", "plain ipywidgets table", ours, peer)
        pages.close()
        pages.seen.check()


def _key(lab: Lab, field: str, target: str):
    words = cycle(WORDS)

    def run() -> Timed:
        lab.page.evaluate(WATCH, [field, target])
        lab.page.keyboard.insert_text(next(words))
        took = lab.page.evaluate("window.took")
        lab.page.wait_for_timeout(700)  # what comes after the page is not part of the next figure
        return Timed(took / 1000)

    return run
