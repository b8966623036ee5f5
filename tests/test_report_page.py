"""The report as one page: whole without a network, a script or Jupyter; what memories hold is text in it; it prints."""

import html
import os
import re
import sys

import pytest
from browser import contrast
from conftest import CLOCK, SAMPLES, ZONE, open_at

from memkit import reporting
from memkit.cli import run
from memkit.errors import BadArgument, PathError
from memkit.report_page import CSS, POLICY, document, markdown
from memkit.style import CSS as SHOWN

LAYOUTS = ("archive", "workspace", "layers")
SCRIPT = "<script>document.title='owned'</script>"
IMAGE = "<img src=https://nobody.invalid/x.png onerror=\"document.title='owned'\">"
LINK = "[x](javascript:document.title='owned')"
HOSTILE = [
    f"- [{SCRIPT}] {SCRIPT}",
    f"- {IMAGE} \x1b[31m",
    f"- {LINK} ![y](https://nobody.invalid/y.png)",
    f"- {'长' * 46_000}",
]


@pytest.fixture
def hostile(tmp_path):
    """Return a workspace in which all that is remembered wants to be more than text."""
    day = tmp_path / "vault" / "memory" / "2025-02-28.md"
    day.parent.mkdir(parents=True)
    day.write_text("\n".join(HOSTILE) + "\n", encoding="utf-8")
    return open_at(tmp_path / "vault", layout="workspace")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the paths of the reports of the samples, by layout."""
    folder = tmp_path_factory.mktemp("reports")
    return {layout: reporting.write_report(open_at(SAMPLES / layout), folder / f"{layout}.html") for layout in LAYOUTS}


def words(page):
    """Return what a person reads of a page, blanks folded."""
    plain = re.sub(r"<[^>]+>", " ", re.sub(r"<(style|title)>.*?</\1>", "", page))
    return " ".join(html.unescape(plain).split())


def written(mem, tmp_path):
    path = reporting.write_report(mem, tmp_path / "out" / "report.html")
    return path, path.read_text(encoding="utf-8")


class TestWhole:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_it_says_size_charts_findings_and_the_latest_summaries(self, layout, pages):
        pytest.importorskip("vl_convert")
        mem = open_at(SAMPLES / layout)
        page = pages[layout].read_text(encoding="utf-8")
        said = words(page)
        assert f"{len(mem.entries())} entries" in said
        for title in ("Characters by month and tag", "Entries by day, 2025", "Characters by tag", "no findings"):
            assert title in said
        for key in ("周摘要 2025-W09", "月摘要 2025-02"):
            assert key in said
        kept = [line[2:] for line in mem.summary("week").split("\n") if line.startswith("- ")]
        assert [line for line in kept if " ".join(line.split()) not in said] == []
        assert page.count("<figure") == page.count("<svg") == len(list(reporting.charts(mem)))

    def test_only_charts_that_draw_something_are_in_it(self):
        titles = {layout: [chart.title for chart in reporting.charts(open_at(SAMPLES / layout))] for layout in LAYOUTS}
        assert "Characters against their limits" in titles["layers"]
        assert "Characters against their limits" not in titles["archive"]
        assert "Days with entries that are covered" in titles["archive"]
        assert "Days with entries that are covered" not in titles["workspace"]

    @pytest.mark.parametrize("extra", [True, False])
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_it_holds_no_script_no_outside_asset_and_a_strict_policy(self, layout, extra, tmp_path, monkeypatch):
        if not extra:
            monkeypatch.setitem(sys.modules, "vl_convert", None)
        _, page = written(open_at(SAMPLES / layout), tmp_path)
        assert page.startswith('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">')
        assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in page
        assert "<title>Memory report: " in page
        assert not re.search(
            r"<(script|img|link|iframe|object|embed|base|form)\b|\b(src|href|srcset|on\w+)=|url\(|@import", page
        )
        assert ("<svg" in page) == (extra and "vl_convert" in sys.modules)

    def test_its_parts_open_and_close_the_same_elements(self, pages):
        page = pages["layers"].read_text(encoding="utf-8")
        opened = re.findall(r"<([a-z]\w*)(?![^<>]*/>)", page)
        closed = re.findall(r"</([a-z]\w*)>", page)
        assert sorted(tag for tag in opened if tag != "meta") == sorted(closed)

    def test_no_two_elements_share_an_id(self, pages):
        page = pages["layers"].read_text(encoding="utf-8")
        assert re.findall(r"\sid=", page) == []

    def test_each_variable_of_jupyter_that_the_style_asks_for_is_defined_or_has_a_fallback(self):
        for name, rest in re.findall(r"var\((--jp-[\w-]+)(.)", SHOWN + CSS):
            assert rest == "," or f"{name}:" in CSS, name

    def test_without_the_extra_the_bars_say_the_numbers(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "vl_convert", None)
        mem = open_at(SAMPLES / "layers")
        said = words(written(mem, tmp_path)[1])
        for tag, entries, chars in mem.volume("tag").dropna()[["tag", "entries", "chars"]].itertuples(index=False):
            assert f"{tag} {entries:,} {chars:,}" in said

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_an_empty_store_has_a_report_without_charts(self, layout, tmp_path):
        _, page = written(open_at(tmp_path / "new", layout=layout), tmp_path)
        assert "Nothing is remembered here yet." in words(page)
        assert "<figure" not in page
        assert "Latest summaries" not in page

    def test_one_date_far_off_does_not_cost_the_report(self, copied, tmp_path):
        root = copied("workspace")
        (root / "memory/0205-03-01.md").write_text("- 年份写错了\n", encoding="utf-8")
        _, page = written(open_at(root), tmp_path)
        assert "Characters so far, by year" in words(page)
        assert "Entries by day, 2025" in words(page)

    def test_two_dates_too_far_apart_for_any_chart_of_time_do_not_cost_the_report(self, tmp_path):
        for day in ("0001-01-01", "6000-01-01"):
            path = tmp_path / "vault" / "archive" / day[:4] / f"{day}.md"
            path.parent.mkdir(parents=True)
            path.write_text("- [远] 很远的一天\n", encoding="utf-8")
        titles = [chart.title for chart in reporting.charts(open_at(tmp_path / "vault", layout="archive"))]
        assert "Characters by tag" in titles
        assert not any(title.startswith(("Characters by month", "Characters by year")) for title in titles)

    def test_findings_are_in_it_with_their_fix(self, copied, tmp_path):
        root = copied("archive") / ".agents/nutstore-sync/memory"
        rows = (root / "catalog/2025.tsv").read_bytes().split(b"\n")
        (root / "catalog/2025.tsv").write_bytes(b"\n".join(rows[1:]))
        said = words(written(open_at(root), tmp_path)[1])
        assert "row-missing" in said
        assert "fix: rebuild_catalog(2025)" in said


class TestMarkdown:
    def test_headings_quotes_items_and_lines(self):
        made = markdown("# 周摘要 2025-W09\n\n> 来源：a\n\n- [t] 一\n- [t] 二\n\nplain\n")
        assert made == '<h3>周摘要 2025-W09</h3><p class="q">来源：a</p><ul><li>[t] 一</li><li>[t] 二</li></ul><p>plain</p>'

    def test_all_else_is_text(self):
        made = markdown(f"# {SCRIPT}\n- {IMAGE}\n> {LINK}\n<b>x</b>\n- a\x1b[0m\u202e")
        assert set(re.findall(r"<(\w+)", made)) == {"h3", "ul", "li", "p"}
        assert html.escape(SCRIPT) in made
        assert LINK in html.unescape(made)
        assert "␛[0m\ufffd" in made


class TestWriting:
    def test_a_target_inside_the_store_is_refused_before_anything_is_drawn(self, copied):
        mem = open_at(copied("layers"))
        before = sorted(path.name for path in mem.root.rglob("*"))
        with pytest.raises(PathError, match="inside the memory store"):
            reporting.write_report(mem, mem.root / "report.html")
        assert sorted(path.name for path in mem.root.rglob("*")) == before

    def test_a_pipe_is_not_replaced(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with pytest.raises(PathError, match="pipe: a device or a pipe, and not a file; choose another place"):
            reporting.write_report(open_at(SAMPLES / "layers"), pipe)
        assert pipe.is_fifo()
        assert list(tmp_path.iterdir()) == [pipe]

    def test_what_is_no_path_is_refused_by_name(self):
        with pytest.raises(BadArgument, match=r"^out: "):
            reporting.write_report(open_at(SAMPLES / "layers"), 3)

    def test_the_command_writes_the_page_and_says_where(self, tmp_path, capsys):
        target = tmp_path / "r.html"
        code = run(["report", str(SAMPLES / "layers"), "--html", str(target), "--now", CLOCK, "--tz", ZONE])
        assert (code, *capsys.readouterr()) == (0, f"written: {target}\n", "")
        assert "as of 2025-02-28 21:30, times in Asia/Shanghai" in target.read_text(encoding="utf-8")

    def test_the_command_refuses_a_place_inside_the_store(self, copied, capsys):
        root = copied("layers")
        code = run(["report", str(root), "--html", str(root / "dsh-memory-layers/r.html"), "--now", CLOCK, "--tz", ZONE])
        assert code == 2
        assert "it lies inside the memory store" in capsys.readouterr().err

    def test_a_title_is_text_and_short(self):
        assert "<title>&lt;b&gt;" in document("<b>" * 200, "")
        assert len(document("<b>" * 200, "")) < len(document("", "")) + 2000


class TestInTheBrowser:
    @pytest.fixture
    def open_file(self, open_page):
        """Return a function that opens a file from disk; it alone may have been asked for, and nobody complained."""

        def opened(path, **options):
            page = open_page(path.as_uri(), **options)
            assert open_page.seen.asked == [path.as_uri()]
            open_page.seen.asked.clear()
            assert open_page.seen.complaints == []
            return page

        return opened

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("extra", [True, False])
    def test_hostile_memories_are_text(self, hostile, tmp_path, open_file, monkeypatch, extra, scheme):
        if not extra:
            monkeypatch.setitem(sys.modules, "vl_convert", None)
        path, _ = written(hostile, tmp_path)
        page = open_file(path, scheme=scheme)
        assert page.title().startswith("Memory report: workspace")
        text = page.inner_text("body")
        assert SCRIPT in text
        assert "onerror=" in text
        assert LINK in text
        assert page.evaluate("document.querySelectorAll('script,img,a,iframe,form').length") == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_nothing_is_wider_than_the_window(self, layout, pages, open_file):
        page = open_file(pages[layout])
        for width in (420, 900, 1400):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(
            "[...document.querySelectorAll('figure svg')].every(one => one.getBoundingClientRect().width > 100)"
        )

    def test_light_and_dark_follow_the_reader_and_words_stand_out(self, pages, open_file):
        pytest.importorskip("vl_convert")
        grounds = {}
        for scheme in ("light", "dark"):
            page = open_file(pages["layers"], scheme=scheme)
            grounds[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert contrast(page.locator("main"))[0] >= 4.5
            ink = page.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
            assert ink == page.evaluate("getComputedStyle(document.body).color")
        assert grounds == {"light": "rgb(246, 246, 244)", "dark": "rgb(22, 22, 22)"}

    def test_in_print_all_is_open_black_on_white_and_nothing_is_cut(self, copied, tmp_path, open_file):
        root = copied("archive") / ".agents/nutstore-sync/memory"
        rows = (root / "catalog/2025.tsv").read_bytes().split(b"\n")
        (root / "catalog/2025.tsv").write_bytes(b"\n".join(rows[1:]))
        with (root / "archive/2025/2025-02-27.md").open("ab") as day:
            day.write(b"- \xff\n")
        page = open_file(written(open_at(root), tmp_path)[0], scheme="dark", width=800)
        closed = page.locator("details:not([open]) li").first
        assert page.locator("details:not([open])").count() >= 1
        assert not closed.evaluate("one => one.checkVisibility()")
        page.emulate_media(media="print", color_scheme="dark")
        assert closed.evaluate("one => one.checkVisibility()")
        assert closed.bounding_box()["height"] > 10
        colors = page.evaluate("(one => [one.color, one.backgroundColor])(getComputedStyle(document.body))")
        assert colors == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pdf = page.pdf(format="A4")
        assert pdf.startswith(b"%PDF-")
        assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3
