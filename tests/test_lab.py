"""The notebooks in a real JupyterLab: what a person sees there, in the light and the dark theme, and nothing from outside.

A further notebook needs a test here, and its name in TOURED.
"""

import re
import shutil
from pathlib import Path

import pytest
from browser import InputMethod, Pages, contrast
from conftest import SAMPLES
from lab import Lab, server
from playwright.sync_api import expect

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
TOURED = ["01-volume.ipynb", "02-audit.ipynb", "03-summaries.ipynb", "04-explore.ipynb"]
READABLE = 4.5
MIDDLE = 4.3  # a tone that is to do on white and on the black of Lab reaches 4.34 at most
TABLE = "table.dataframe"


@pytest.fixture(scope="module")
def pages(chromium):
    pages = Pages(chromium)
    yield pages
    pages.close()


@pytest.fixture(scope="module")
def started(pages, tmp_path_factory):
    own, root = tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("root")
    shutil.copytree(SAMPLES, root / "data-samples")
    shutil.copytree(NOTEBOOKS, root / "notebooks")
    with server(root, own) as address:
        yield Lab(pages(height=1600), address, root)


@pytest.fixture
def lab(started, pages):
    yield started
    pages.seen.check()


@pytest.fixture
def run(lab):
    """Return a function that runs a notebook, sees that no cell failed, and gives its panel; closed at the end."""
    ran = []

    def run(path):
        ran.append(path)
        panel = lab.run(path)
        kinds = {output["output_type"] for output in lab.outputs(path)}
        assert kinds <= {"execute_result", "display_data"}
        expect(panel.locator(".jp-OutputArea-output")).to_have_count(len(lab.outputs(path)))
        return panel

    yield run
    for path in ran:
        lab.close(path)


def assert_readable_in_both_themes(lab, parts, least=READABLE):
    """What memkit shows can be read in the light and in the dark theme."""
    try:
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            lab.theme(theme)
            worst = min(contrast(part) for part in parts.all())
            assert worst[0] >= least, (theme, worst)
    finally:
        lab.theme("JupyterLab Light")


OPENED = 'import memkit\nmem = memkit.open("data-samples/archive", now="2025-02-28T21:30+08:00", tz="Asia/Shanghai")'


def test_every_notebook_has_its_test_here():
    assert sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")) == TOURED


def test_volume_shows_the_card_the_tables_and_a_summary(run, lab):
    panel = run("notebooks/01-volume.ipynb")
    card = panel.locator(".mk.card")
    expect(card).to_be_visible()
    for fact in ("archive", "147 entries", "2025-02", "no findings"):
        expect(card).to_contain_text(fact)
    expect(card.locator(".bars i")).to_have_count(3)
    assert card.locator(".bars i").last.bounding_box()["width"] > 100
    expect(panel.locator(TABLE)).to_have_count(8)
    expect(panel.locator(TABLE).filter(has_text="红水壶")).to_be_visible()
    expect(panel.get_by_role("heading", name=re.compile("^周摘要 2025-W09"))).to_be_visible()
    assert_readable_in_both_themes(lab, panel.locator(".mk"))


def test_the_audit_shows_its_findings_folded_and_the_mend_as_a_diff(run, lab):
    panel = run("notebooks/02-audit.ipynb")
    report = panel.locator(".mk").filter(has=lab.page.locator("details")).first
    expect(report.locator("details").first).to_have_attribute("open", "")
    expect(report).to_contain_text("frozen-changed")
    folded = report.locator("details:not([open])").first
    expect(folded.locator("li").first).to_be_hidden()
    folded.locator("summary").click()
    expect(report.locator("details").nth(1).locator("li").first).to_be_visible()
    plan = panel.locator(".mk").filter(has=lab.page.locator("pre")).first
    expect(plan).to_contain_text("not applied")
    added = plan.locator("pre .d.ok").filter(has_text="+2025")
    expect(added.first).to_be_visible()
    assert added.first.evaluate("line => getComputedStyle(line).backgroundColor") != "rgba(0, 0, 0, 0)"
    expect(panel.locator(".mk").last).to_contain_text("no findings")
    assert_readable_in_both_themes(lab, panel.locator(".mk"))


def test_summaries_show_a_summary_its_sources_and_the_plans(run, lab):
    panel = run("notebooks/03-summaries.ipynb")
    expect(panel.get_by_role("heading", name=re.compile("^周摘要 2025-W06"))).to_be_visible()
    expect(panel.locator(TABLE).filter(has_text="summary_line")).to_be_visible()
    plans = panel.locator(".mk").filter(has_text="applied")
    expect(plans.last).to_contain_text("summaries/day/2025-02-28.md")
    expect(plans.last.locator("pre .d.ok").first).to_contain_text("日摘要 2025-02-28")
    assert_readable_in_both_themes(lab, panel.locator(".mk"))


def test_the_explorer_follows_python_mends_a_catalog_and_makes_a_summary(run, lab):
    panel = run("notebooks/04-explore.ipynb")
    expect(panel.locator(".jp-RenderedVegaLite svg.marks")).to_have_count(3)
    browsing, mending, writing = (lab.output(number) for number in (8, 12, 14))
    expect(browsing.get_by_role("searchbox")).to_have_value("火锅")
    expect(browsing.locator("mark").first).to_have_text("火锅")
    browsing.locator("tr[data-do]", has_text="鸳鸯锅").click()
    expect(browsing.locator(".entry")).to_contain_text("archive/2025/2025-02-22.md")
    expect(mending.get_by_role("tab", selected=True)).to_have_text("Audit")
    expect(mending).to_contain_text("row-missing")
    mending.get_by_role("button", name="Plan the mend", exact=True).click()
    expect(mending.locator("pre .d.ok").filter(has_text="+2025-02-04")).to_be_visible()
    mending.get_by_role("button", name="Apply").click()
    expect(mending.locator(".audit")).to_contain_text("No findings")
    expect(writing.get_by_role("tab", selected=True)).to_have_text("Summaries")
    assert_readable_in_both_themes(lab, panel.locator(".jp-Cell-outputArea").filter(has=lab.page.get_by_role("tab")))
    writing.get_by_role("button", name=re.compile("^choose .* missing$")).nth(1).click()
    writing.get_by_role("button", name="Make the chosen").click()
    expect(writing.locator(".outcome")).to_contain_text("made")
    writing.get_by_role("button", name=re.compile("^2025-W08: has a summary")).click()
    expect(writing.locator(".read")).to_contain_text("2025-W08")


def test_a_chart_is_drawn_from_its_spec_with_words_that_can_be_read_and_follow_the_theme(run, lab):
    names = ("volume", "calendar", "tags", "hours", "growth", "budget", "coverage")
    panel = run(lab.write("charts.ipynb", OPENED, *(f"mem.plot.{name}()" for name in names)))
    drawn = panel.locator(".jp-RenderedVegaLite svg.marks")
    expect(drawn).to_have_count(len(names))
    expect(panel.locator(".jp-RenderedSVG, .jp-RenderedVegaLite canvas, .jp-RenderedVegaLite details")).to_have_count(0)
    expect(lab.output(1).locator("svg .role-mark path[aria-label*='2025-02']")).to_be_visible()
    assert_readable_in_both_themes(lab, drawn, MIDDLE)


def test_the_explorer_takes_an_input_method_and_leaves_its_twin_where_its_kernel_is_gone(run, lab):
    path = lab.write("explorer.ipynb", OPENED, 'mem.explore(lang="zh")')
    run(path)
    lab.output(1).get_by_role("searchbox").click()
    keyboard = InputMethod(lab.page)
    keyboard.compose("h", "hong", "hong shui")
    keyboard.commit("红水壶")
    expect(lab.output(1)).to_contain_text("147 条中的 11 条")
    assert_readable_in_both_themes(lab, lab.output(1))
    lab.restart(path)
    lab.save(path)
    lab.load()
    lab.open(path)
    expect(lab.output(1)).to_contain_text("model not found")
    lab.output(1).locator("details summary").click()
    expect(lab.output(1).locator("details")).to_contain_text("2025-02-28")
