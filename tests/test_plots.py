"""The charts: frames that agree with the sums, specs that draw exactly the frames, SVG from the specs, and saving."""

import json
import re
import sys
from datetime import date, datetime, timedelta
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from conftest import SAMPLES, ZONE, open_at

from memkit import cells, schema, stats
from memkit.errors import BadArgument, PathError, UnsupportedError
from memkit.plots import frames, specs
from memkit.plots.chart import EMBED, VEGALITE
from memkit.summaries import LIMITS

LAYOUTS = ("archive", "workspace", "layers")
TZ = ZoneInfo(ZONE)
HOSTILE = [
    "<script>alert(1)</script>",
    "__proto__",
    "constructor",
    "untagged",
    "other (2 tags)",
    "a.b[0]",
    "${x}",
    "长" * 46_000,
]
ALL = ("volume", "calendar", "tags", "hours", "growth", "budget", "coverage")


@pytest.fixture(params=LAYOUTS)
def mem(request):
    return open_at(SAMPLES / request.param)


def entries(rows):
    """Return an ENTRIES frame of (day, tag, text) rows."""
    days, tags, texts = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    columns = {name: [None] * len(rows) for name in schema.ENTRIES}
    numbers = {"chars": [len(text) for text in texts], "line": range(len(rows)), "end_line": range(len(rows))}
    return schema.frame(
        schema.ENTRIES, {**columns, "date": days, "tag": tags, "text": texts, "path": ["a.md"] * len(rows), **numbers}
    )


def svg_of(spec):
    vl_convert = pytest.importorskip("vl_convert")
    return vl_convert.vegalite_to_svg(spec, vl_version="5.21")


def words(svg):
    return [node.text for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("}text") and node.text]


class TestEveryChart:
    @pytest.mark.parametrize("name", ALL)
    def test_the_spec_draws_exactly_the_frame(self, mem, name):
        chart = getattr(mem.plot, name)()
        assert chart.spec["data"]["values"] == specs.values(chart.frame)
        assert len(chart.spec["data"]["values"]) == len(chart.frame)
        assert json.loads(json.dumps(chart.spec, allow_nan=False)) == chart.spec

    @pytest.mark.parametrize("name", ALL)
    def test_it_is_one_vega_lite_5_spec_on_no_background_that_asks_nobody(self, mem, name):
        spec = getattr(mem.plot, name)().spec
        assert spec["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
        assert spec["background"] == "transparent"
        assert re.findall(r'"(url|href)"|https?:', json.dumps({key: spec[key] for key in spec if key != "$schema"})) == []

    @pytest.mark.parametrize("name", ALL)
    def test_the_earliest_and_the_latest_vega_lite_5_draw_the_same_words(self, mem, name):
        vl_convert = pytest.importorskip("vl_convert")
        spec = getattr(mem.plot, name)().spec
        old, new = (vl_convert.vegalite_to_svg(spec, vl_version=version) for version in ("5.8", "5.21"))
        assert words(old) == words(new)
        assert spec["title"]["text"] in words(new)

    @pytest.mark.parametrize("name", ALL)
    def test_a_notebook_gets_the_spec_the_text_and_the_svg_and_no_html_that_would_win(self, mem, name):
        pytest.importorskip("vl_convert")
        chart = getattr(mem.plot, name)()
        data, metadata = chart._repr_mimebundle_()
        assert set(data) == {VEGALITE, "text/plain", "image/svg+xml"}
        assert data[VEGALITE] is chart.spec
        assert metadata == {VEGALITE: {"embed_options": EMBED}}
        assert chart.title in data["text/plain"]

    def test_without_the_extra_the_spec_and_the_text_are_left(self, mem, monkeypatch):
        monkeypatch.setitem(sys.modules, "vl_convert", None)
        chart = mem.plot.volume()
        assert set(chart._repr_mimebundle_()[0]) == {VEGALITE, "text/plain"}
        with pytest.raises(UnsupportedError, match=r"pip install 'agent-memkit\[plots\]'"):
            chart.svg()

    @pytest.mark.parametrize("name", ALL)
    def test_the_text_fits_79_columns(self, mem, name):
        assert max(map(cells.columns, repr(getattr(mem.plot, name)()).split("\n"))) <= 79

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("name", ALL)
    def test_an_empty_store_draws_words_that_say_so(self, tmp_path, layout, name):
        chart = getattr(open_at(tmp_path / "new", layout=layout).plot, name)()
        assert len(chart.frame) == 0
        assert "nothing to draw yet" in repr(chart)
        assert chart.spec["title"]["subtitle"].startswith("nothing to draw yet")
        assert "nothing to draw yet" in words(svg_of(chart.spec))

    def test_a_chart_is_of_the_folder_as_it_is_now(self, copied):
        mem = open_at(copied("layers"))
        before = mem.plot.volume("month").frame["entries"].sum()
        mem.append("图表之后又一条", tag="新")
        assert mem.plot.volume("month").frame["entries"].sum() == before + 1


class TestVolume:
    @pytest.mark.parametrize("by", [*stats.TIMES, *stats.CYCLES])
    def test_its_numbers_are_those_of_volume(self, mem, by):
        told, shown = mem.volume(by), mem.plot.volume(by).frame
        assert shown["entries"].tolist() == told["entries"].tolist()
        assert shown["chars"].tolist() == told["chars"].tolist()
        keys = told[by].dt.strftime("%Y-%m-%d") if by == "day" else told[by]
        assert shown[by].tolist() == keys.fillna("no hour" if by == "hour" else "undated").tolist()

    @pytest.mark.parametrize("split", frames.SPLITS)
    @pytest.mark.parametrize("by", ["month", "week", "weekday"])
    def test_the_parts_of_a_key_sum_up_to_its_volume(self, mem, by, split):
        told = mem.volume(by)
        told = told[told["entries"] > 0].fillna({by: "undated"}).set_index(by)
        parts = mem.plot.volume(by, split=split).frame.groupby(by, sort=False)[["entries", "chars"]].sum()
        pd.testing.assert_frame_equal(
            parts, told.loc[parts.index, ["entries", "chars"]], check_dtype=False, check_index_type=False
        )
        assert len(parts) == len(told)

    def test_eight_tags_have_a_name_when_there_are_more_than_nine(self):
        made = entries([("2025-01-01", f"t{n:02d}", "x" * (99 - n)) for n in range(12)] + [("2025-01-01", None, "y")])
        frame = frames.volume(made, "month", "tag", TZ).frame
        assert frame["tag"].tolist() == [*(f"t{n:02d}" for n in range(8)), "other (4 tags)", "untagged"]
        assert frame["rank"].tolist() == list(range(1, 11))
        assert frame["chars"].tolist() == [*range(99, 91, -1), sum(range(88, 92)), 1]

    def test_nine_tags_need_no_other(self):
        made = entries([("2025-01-01", f"t{n}", "x") for n in range(9)])
        assert frames.volume(made, "month", "tag", TZ).frame["tag"].tolist() == [f"t{n}" for n in range(9)]

    def test_what_has_no_name_is_grey(self):
        rows = [("2025-01-01", "a", "x"), ("2025-01-01", None, "y")]
        spec = _volume_spec(entries(rows))
        assert spec["encoding"]["color"]["scale"] == {"domain": ["a", "untagged"], "range": [specs.PALETTE[0], specs.PALE]}
        rows = [("2025-01-01", f"t{n:02d}", "x") for n in range(12)]
        assert _volume_spec(entries(rows))["encoding"]["color"]["scale"]["range"] == [*specs.PALETTE[:8], specs.OTHER]
        assert _volume_spec(entries([*rows, ("2025-01-01", None, "y")]))["encoding"]["color"]["scale"]["range"][8:] == [
            specs.OTHER,
            specs.PALE,
        ]

    def test_keys_without_entries_keep_their_place_on_the_axis(self):
        made = entries([("2025-01-31", "a", "x"), ("2025-04-01", "a", "y")])
        assert _volume_spec(made)["encoding"]["x"]["scale"]["domain"] == ["2025-01", "2025-02", "2025-03", "2025-04"]

    def test_undated_entries_alone_make_one_bar(self):
        shown = frames.volume(entries([(None, "a", "xy"), (None, None, "z")]), "month", None, TZ)
        assert shown.frame.to_dict("list") == {"month": ["undated"], "entries": [2], "chars": [3]}

    def test_one_entry_makes_one_narrow_bar(self):
        spec = _volume_spec(entries([("2025-01-31", "a", "x")]))
        assert spec["mark"]["size"] == 48
        assert words(svg_of(spec)).count("2025-01") == 1

    @pytest.mark.parametrize("arguments", [{"by": "tag"}, {"by": 3}, {"split": "path"}, {"split": "month"}])
    def test_another_key_or_split_is_refused_by_name(self, mem, arguments):
        with pytest.raises(BadArgument, match=f"^{next(iter(arguments))}: .* expected "):
            mem.plot.volume(**arguments)

    def test_more_than_5000_bars_are_refused_with_a_cure(self):
        made = entries([("2005-01-01", "a", "x"), ("2025-01-01", "a", "y")])
        with pytest.raises(BadArgument, match=r"^by: day makes 7,306 bars of at most 5,000; take a longer time"):
            frames.volume(made, "day", None, TZ)
        assert len(frames.volume(made, "week", None, TZ).frame) == 1045

    def test_ten_years_by_day_stay_under_half_a_megabyte(self):
        first = date(2015, 1, 1)
        made = entries([(first + timedelta(n), f"t{n % 20}", "x" * 80) for n in range(3650)])
        shown = frames.volume(made, "day", "tag", TZ)
        spec = specs.volume("x", shown.frame, shown.keys, "day", "tag", shown.named)
        assert len(shown.frame) == 3650
        assert len(json.dumps(spec)) < 500_000


def _volume_spec(made):
    shown = frames.volume(made, "month", "tag", TZ)
    return specs.volume("x", shown.frame, shown.keys, "month", "tag", shown.named)


class TestNames:
    def test_hostile_tags_are_words_in_the_svg_and_part_of_no_expression(self):
        made = entries([("2025-01-01", tag, "x" * (50 - n)) for n, tag in enumerate(HOSTILE)])
        svg = svg_of(_volume_spec(made))
        assert "<script" not in svg
        legend = [
            word for word in words(svg) if word.startswith(("<script", "__proto__", "constructor", "untagged", "a.b[0]", "$"))
        ]
        assert legend == ["<script>alert(1)</script>", "__proto__", "constructor", "untagged", "a.b[0]", "${x}"]
        assert len(svg) < 60_000

    def test_bars_of_hostile_tags_are_all_drawn(self):
        made = entries([("2025-01-01", tag, "x" * (50 - n)) for n, tag in enumerate(HOSTILE)])
        shown = frames.tags(stats.volume(made, "tag"), 20)
        assert len(shown.frame) == len(HOSTILE)
        assert set(shown.keys) <= set(words(svg_of(specs.tags("x", shown.frame, shown.keys))))

    def test_a_tag_that_is_called_as_a_group_of_ours_gets_a_number(self):
        made = entries([("2025-01-01", "untagged", "xx"), ("2025-01-01", None, "y")])
        frame = frames.volume(made, "month", "tag", TZ).frame
        assert dict(zip(frame["tag"], frame["chars"], strict=True)) == {"untagged (2)": 2, "untagged": 1}

    def test_tags_that_look_alike_when_cut_stay_two(self):
        names = frames.distinct(["长" * 99 + "a", "长" * 99 + "b", "x\ny", "x⏎y", "计划", "计画"])
        assert len(set(names)) == 6
        assert all(cells.columns(name) <= 40 for name in names)
        assert names[2:] == ["x⏎y", "x⏎y (2)", "计划", "计画"]

    def test_control_characters_never_reach_the_spec(self):
        spec = _volume_spec(entries([("2025-01-01", "a\x1b[31m\u202eb\0", "x")]))
        assert not re.search(r"\\u001b|\\u202e|\\u0000", json.dumps(spec))


class TestCalendar:
    def test_its_days_are_those_of_volume(self, mem):
        told = mem.volume("day")
        told = told[told["day"].dt.year == 2025].set_index("day")
        shown = mem.plot.calendar(2025).frame.set_index("date")
        assert shown.loc[told.index, "entries"].tolist() == told["entries"].tolist()
        assert shown.loc[told.index, "chars"].tolist() == told["chars"].tolist()
        assert shown["entries"].sum() == told["entries"].sum()

    def test_every_day_of_the_year_is_there_also_in_a_leap_year_before_the_first_entry(self, mem):
        frame = mem.plot.calendar(2000).frame
        assert (len(frame), frame["entries"].sum()) == (366, 0)
        assert frame["date"].dt.strftime("%G-W%V").tolist() == frame["week"].tolist()
        assert frame["date"].dt.strftime("%a").tolist() == frame["weekday"].tolist()

    def test_the_latest_year_with_entries_is_drawn_but_for_one_in_the_future(self):
        made = entries([("2023-03-01", None, "x"), ("2205-03-01", None, "x")])
        assert set(frames.calendar(made, None, date(2025, 2, 28)).frame["date"].dt.year) == {2023}
        assert set(frames.calendar(made.tail(1), None, date(2025, 2, 28)).frame["date"].dt.year) == {2205}

    def test_undated_entries_alone_draw_nothing_and_are_counted(self):
        shown = frames.calendar(entries([(None, "a", "x")]), None, date(2025, 2, 28))
        assert (len(shown.frame), shown.note) == (0, "1 entry without a day left out")

    def test_empty_days_are_pale_and_months_are_named(self, mem):
        chart = mem.plot.calendar(2025)
        assert chart.title == "Entries by day, 2025"
        svg = svg_of(chart.spec)
        pale = len(re.findall(rf'fill="{specs.GREY}" opacity="0.14"', svg))
        assert pale == (chart.frame["entries"] == 0).sum()
        months = [word for word in words(svg) if word.istitle() and len(word) == 3][-19:]
        assert months[:12] == ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    @pytest.mark.parametrize("year", [0, 10_000, "2025", True, 2025.0])
    def test_what_is_no_year_is_refused(self, mem, year):
        with pytest.raises(BadArgument, match=r"^year: "):
            mem.plot.calendar(year)


class TestTags:
    def test_its_numbers_are_those_of_volume(self, mem):
        told = mem.volume("tag")
        named = told[told["tag"].notna()]
        assert mem.plot.tags(99).frame.to_dict("list") == named[["tag", "entries", "chars"]].to_dict("list")

    def test_the_rest_is_one_row_and_what_has_no_tag_is_said(self, mem):
        told, chart = mem.volume("tag"), mem.plot.tags(3)
        named, loose = told[told["tag"].notna()], told[told["tag"].isna()]
        assert chart.frame["tag"].tolist() == [*named["tag"][:3], f"other ({len(named) - 3} tags)"]
        assert chart.frame["chars"].sum() == named["chars"].sum()
        assert chart.note == f"{loose['chars'].sum():,} characters in {loose['entries'].sum():,} entries without a tag"
        assert chart.spec["title"]["subtitle"] == chart.note
        assert chart.note in repr(chart)

    def test_the_svg_names_each_tag_and_its_number(self, mem):
        chart = mem.plot.tags()
        said = words(svg_of(chart.spec))
        assert [tag for tag in chart.frame["tag"] if tag not in said] == []
        assert [number for number in chart.frame["chars"] if f"{number:,}" not in said] == []

    @pytest.mark.parametrize("top", [0, -1, 2.5, "3", True])
    def test_what_is_no_number_is_refused(self, mem, top):
        with pytest.raises(BadArgument, match=r"^top: "):
            mem.plot.tags(top)


class TestHours:
    def test_24_hours_and_how_many_entries_have_none(self, mem):
        told, chart = mem.volume("hour"), mem.plot.hours()
        assert chart.frame["hour"].tolist() == list(stats.CYCLES["hour"])
        assert chart.frame["entries"].tolist() == told["entries"].tolist()[:24]
        missing = told["entries"].tolist()[24:]
        assert chart.note == (f"{missing[0]} entries without an hour left out" if missing else "")

    def test_entries_without_an_hour_alone_draw_nothing(self):
        shown = frames.hours(stats.volume(entries([("2025-01-01", "a", "x")]), "hour", tz=TZ))
        assert (len(shown.frame), shown.note) == (0, "1 entry without an hour left out")


class TestGrowth:
    def test_it_grows_to_all_dated_characters(self, mem):
        told, chart = mem.volume("day"), mem.plot.growth()
        dated = told[told["day"].notna()]
        assert chart.frame["cumulative_chars"].tolist() == dated["cumulative_chars"].tolist()
        assert chart.frame["cumulative_chars"].iloc[-1] == chart.frame["chars"].sum()
        undated = len(told) > len(dated)
        assert bool(chart.note) == undated

    def test_a_tokenizer_draws_tokens(self, mem):
        frame = mem.plot.growth(tokenizer=lambda text: len(text) // 2).frame
        assert frame["cumulative_tokens"].tolist() == frame["tokens"].cumsum().tolist()
        told = mem.volume("day", tokenizer=lambda text: len(text) // 2)
        assert frame["tokens"].sum() == told.loc[told["day"].notna(), "tokens"].sum()
        assert mem.plot.growth(len).spec["encoding"]["y"]["field"] == "cumulative_tokens"

    @pytest.mark.parametrize(("last", "by"), [("2027-01-02", "day"), ("2027-01-03", "month"), ("9999-12-31", "year")])
    def test_a_longer_time_is_drawn_more_coarsely(self, last, by):
        shown = frames.growth(entries([("2025-01-01", "a", "x"), (last, "a", "yy")]), None, TZ)
        assert shown.frame.columns[0] == by
        assert shown.frame["cumulative_chars"].iloc[-1] == 3
        assert len(shown.frame) <= (frames.MOST if by != "year" else 8_000)

    def test_one_day_is_a_point(self):
        shown = frames.growth(entries([("2025-01-01", "a", "x")]), None, TZ)
        assert specs.growth("x", shown.frame, shown.keys)["mark"]["type"] == "point"


class TestBudget:
    def test_it_holds_the_hot_body_and_the_latest_summaries_against_their_limits(self):
        mem = open_at(SAMPLES / "layers")
        frame, hot = mem.plot.budget().frame, mem.hot()
        assert frame.iloc[0].tolist() == ["hot", "hot", hot.chars, hot.limit, hot.over_limit]
        stored = mem.summaries()
        for period, (_, limit) in LIMITS.items():
            own = frame[frame["period"] == period]
            assert own["key"].tolist() == stored.loc[stored["period"] == period, "key"].tolist()[-12:]
            assert set(own["limit"]) == {limit}
        assert mem.plot.budget().note == f"latest 12 of {(stored['period'] == 'day').sum()} day summaries"

    def test_a_summary_is_measured_as_the_audit_does(self, copied):
        root = copied("layers") / "dsh-memory-layers"
        path = root / "summaries/week/2025-W08.md"
        line = next(line for line in path.read_text(encoding="utf-8").split("\n") if line.startswith("- ["))
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n" * 20)
        frame = open_at(root).plot.budget().frame.set_index("key")
        lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.startswith("- [")]
        assert frame.loc["2025-W08", "chars"] == sum(len(line) + 1 for line in lines) > 1000
        assert frame.index[frame["over_limit"]].tolist() == ["2025-W08"]

    @pytest.mark.parametrize("layout", ["archive", "workspace"])
    def test_other_layouts_have_none(self, layout):
        assert len(open_at(SAMPLES / layout).plot.budget().frame) == 0


class TestCoverage:
    def test_a_whole_archive_is_covered(self):
        mem = open_at(SAMPLES / "archive")
        frame, days = mem.plot.coverage().frame, mem.days()
        over = days[(days["entries"] > 0) & days["frozen"]]
        assert frame["days"].sum() == len(over)
        assert frame["covered"].tolist() == frame["days"].tolist()
        assert set(frame["what"]) == {"catalog row"}

    def test_a_lost_row_and_lost_summaries_are_seen_in_their_month(self, copied):
        root = copied("archive") / ".agents/nutstore-sync/memory"
        rows = (root / "catalog/2025.tsv").read_bytes().split(b"\n")
        (root / "catalog/2025.tsv").write_bytes(b"\n".join(rows[1:]))
        frame = open_at(root).plot.coverage().frame.set_index("month")
        assert (frame["days"] - frame["covered"]).to_dict() == {"2024-12": 0, "2025-01": 1, "2025-02": 0}
        layers = copied("layers") / "dsh-memory-layers"
        (layers / "summaries/month/2025-01.md").unlink()
        frame = open_at(layers).plot.coverage().frame
        lost = frame[frame["share"] < 1]
        assert lost[["month", "what", "covered", "share"]].values.tolist() == [["2025-01", "month summary", 0, 0.0]]

    def test_what_is_not_over_does_not_count(self):
        mem = open_at(SAMPLES / "layers")
        frame = mem.plot.coverage().frame
        last = frame[frame["month"] == "2025-02"].set_index("what")["days"]
        assert "month summary" not in last
        assert last["week summary"] < last["day summary"]

    def test_a_workspace_makes_neither(self):
        assert len(open_at(SAMPLES / "workspace").plot.coverage().frame) == 0


class TestAxis:
    @pytest.mark.parametrize(
        ("first", "last", "by", "labels"),
        [
            ("2024-11-02", "2025-02-28", "month", "2024-11 2024-12 2025-01 2025-02"),
            ("2023-02-01", "2025-02-28", "month", "2023-04 2023-07 2023-10 2024-01 2024-04 2024-07 2024-10 2025-01"),
            ("2015-03-01", "2025-02-28", "month", " ".join(f"{year}-01" for year in range(2016, 2026))),
            ("2016-03-01", "2018-02-28", "week", "2016-W14 2016-W27 2016-W40 2017-W01 2017-W14 2017-W27 2017-W40 2018-W01"),
            ("2024-11-20", "2025-02-28", "day", "2024-12-01 2024-12-15 2025-01-01 2025-01-15 2025-02-01 2025-02-15"),
            ("1900-03-01", "2025-02-28", "year", " ".join(str(year) for year in range(1900, 2026, 8))),
        ],
    )
    def test_labels_stand_at_round_times_and_have_room(self, first, last, by, labels):
        keys = frames.volume(entries([(first, "a", "x"), (last, "a", "y")]), by, None, TZ).keys
        ticks = specs.axis(keys, by)["axis"]["values"]
        assert ticks == labels.split()
        assert len(ticks) * len(ticks[0]) * specs.LETTER <= specs.WIDTH

    def test_undated_is_named_and_pushes_its_neighbours_away(self):
        keys = [f"2025-W{week:02d}" for week in range(1, 11)] + ["undated"]
        ticks = specs.axis(keys, "week")["axis"]["values"]
        assert ticks[-1] == "undated"
        assert "2025-W10" not in ticks

    def test_a_few_entries_are_counted_in_whole_steps(self):
        shown = frames.hours(stats.volume(_clocked("07:10"), "hour", tz=TZ))
        said = words(svg_of(specs.hours("x", shown.frame, shown.keys)))
        assert said[24:] == ["hour of the day", "0", "1", "entries", "x"]


def _clocked(clock):
    return entries([("2025-01-01", "a", "x")]).assign(clock=pd.Series([clock], dtype="str"))


class TestSave:
    def test_each_suffix_is_written(self, mem, tmp_path):
        pytest.importorskip("vl_convert")
        chart = mem.plot.tags()
        assert chart.save(tmp_path / "x.json") == tmp_path / "x.json"
        assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == chart.spec
        chart.save(str(tmp_path / "x.svg"))
        assert (tmp_path / "x.svg").read_text(encoding="utf-8") == chart.svg()
        chart.save(tmp_path / "deep" / "x.HTML")
        page = (tmp_path / "deep/x.HTML").read_text(encoding="utf-8")
        assert page.count("<svg") == 1
        assert "<script" not in page
        assert "default-src 'none'" in page

    def test_without_the_extra_html_has_bars_and_svg_names_the_cure(self, mem, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "vl_convert", None)
        chart = mem.plot.tags()
        chart.save(tmp_path / "x.html")
        page = (tmp_path / "x.html").read_text(encoding="utf-8")
        assert "<svg" not in page
        assert page.count("<tr>") == len(chart.frame) + 1
        with pytest.raises(UnsupportedError, match="pip install"):
            chart.save(tmp_path / "x.svg")
        assert not (tmp_path / "x.svg").exists()

    @pytest.mark.parametrize("name", ["x.png", "x", "x.svg.gz"])
    def test_another_suffix_is_refused_with_those_there_are(self, mem, tmp_path, name):
        with pytest.raises(BadArgument, match=r"^out: .* ends in \.svg, \.html, \.json"):
            mem.plot.tags().save(tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_written_inside_the_store(self, copied):
        mem = open_at(copied("layers"))
        before = mem.files()
        with pytest.raises(PathError, match="inside the memory store"):
            mem.plot.tags().save(mem.root / "x.json")
        pd.testing.assert_frame_equal(mem.files(), before)


def test_no_clock_but_the_stores_is_asked():
    mem = open_at(SAMPLES / "archive", now="2024-12-31T12:00+08:00")
    assert mem.plot.calendar().title == "Entries by day, 2024"
    assert datetime.now(TZ).year > 2024
