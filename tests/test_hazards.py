"""What real memory folders hold and what users of neighbouring tools reported: a test for each, through memkit.open.

H and HA numbers are those of the house's list of hazards, R numbers those of its list of reports; all words are invented.
"""

from __future__ import annotations

import codecs
from collections import Counter

import pandas as pd
import pytest

import memkit
from memkit.errors import BadArgument

CLOCK = {"now": "2026-02-10T12:00+08:00", "tz": "Asia/Shanghai"}
DAY = "memory/2026-02-01.md"
LE, BE, BOM = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, "\ufeff"


def wide(text):
    return text.encode("utf-16-le")


@pytest.fixture
def vault(tmp_path):
    """Return a function that writes files {path: text or bytes} and opens the store."""

    def make(contents, **options):
        if isinstance(contents, str | bytes):
            contents = {DAY: contents}
        for path, content in contents.items():
            full = tmp_path / "vault" / path
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_bytes(content if isinstance(content, bytes) else content.encode())
        return memkit.open(tmp_path / "vault", **CLOCK, **options)

    return make


@pytest.fixture
def archive(vault):
    """Return a function that opens an archive whose one day file has the given text, and whose catalog agrees with it."""

    def make(text, catalog=None):
        place = ".agents/nutstore-sync/memory"
        files = {f"{place}/archive/2026/2026-02-01.md": text}
        if catalog is not None:
            files[f"{place}/catalog/2026.tsv"] = catalog
        return vault(files)

    return make


def column(mem, name="text"):
    values = mem.entries(dreams=True)[name]
    if name == "date":
        return [None if day is pd.NaT else f"{day:%Y-%m-%d}" for day in values]
    return [None if value is None or value != value else value for value in values]


def rules(mem):
    return mem.audit().frame["rule"].tolist()


def places(mem, rule):
    """Return (path, line) of the findings of a rule."""
    frame = mem.audit().frame
    return list(frame.loc[frame["rule"] == rule, ["path", "line"]].itertuples(index=False, name=None))


def skipped(mem):
    frame = mem.files()
    return frame.loc[frame["skipped"].notna(), "path"].tolist()


# ---- bytes ----


@pytest.mark.parametrize(
    ("data", "texts", "line", "byte"),
    [
        (b"# log\n- red jug\n" + wide("- blue mug\r\n- 壶\r\n"), ["red jug", "blue mug", "壶"], 3, 16),
        (b"- red jug\n" + wide("- blue mug\r\n"), ["red jug", "blue mug"], 2, 10),
        (b"- red jug\n" + LE + wide("- 壶\r\n"), ["red jug", "壶"], 2, 10),
        (b"- jug\n\n" + wide("壶里有水\r\n\r\n") + "- 茶\n".encode(), ["jug", "壶里有水", "茶"], 3, 7),
        (wide("- mug\r\n") + b"- jug\n", ["mug", "jug"], 1, 0),
        (LE + wide("- mug\r\n") + "- 壶\n".encode(), ["mug", "壶"], 1, 0),
        (b"- a\n" + wide("- 壶\r\n") + b"- b\n" + wide("- mug\r\n") + b"- c\n", ["a", "壶", "b", "mug", "c"], 2, 4),
        (b"- a\n" + wide("- last"), ["a", "last"], 2, 4),
    ],
)
def test_h01_a_run_of_utf16_is_read_and_costs_one_finding_with_its_byte(vault, data, texts, line, byte):
    mem = vault(data)
    assert column(mem) == texts
    finding = mem.audit().frame.iloc[0]
    assert (rules(mem), finding["line"]) == (["mixed-encoding"], line)
    assert finding["message"].endswith(f"from byte {byte}")


def test_h01_a_pasted_binary_breaks_nothing(vault):
    mem = vault(b"- jug\n- " + bytes(range(256)) * 3 + b"\n- mug\n")
    assert column(mem)[0] == "jug"
    assert column(mem)[-1] == "mug"
    assert not any(set(text) & set("\0\r") for text in column(mem))
    assert len(rules(mem)) == 1


@pytest.mark.parametrize(
    "data",
    [
        LE + wide("# log\n- 壶 jug\n"),
        BE + "# log\n- 壶 jug\n".encode("utf-16-be"),
        wide("# log\r\n- 壶 jug\r\n"),
        "# log\n- 壶 jug\n".encode("utf-16-be"),
        LE + wide("- 壶 jug"),
    ],
)
def test_h02_a_whole_file_in_utf16_is_decoded(vault, data):
    mem = vault(data)
    assert column(mem) == ["壶 jug"]
    assert rules(mem) == ["not-utf8"]


@pytest.mark.parametrize("rest", ["---\ntags: [a]\n---\n- jug\n", "# log\n- jug\n", "- jug\n"])
def test_h04_a_bom_hides_nothing(vault, rest):
    mem = vault(BOM + rest)
    assert column(mem) == ["jug"]
    assert rules(mem) == ["bom"]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_h07_only_lf_ends_a_line(vault, sign):
    mem = vault(f"- one{sign}- not two\n- three\n")
    assert column(mem) == [f"one{sign}- not two", "three"]
    assert column(mem, "line") == [1, 2]


def test_h08_crlf_and_a_lone_cr_leave_no_trace_in_text(vault):
    mem = vault("# log\r\n## 14:30 Jug\r\n- one\r\n  more\r\n- [tag] two\n- three\rfour\r\n")
    assert column(mem) == ["one\nmore", "two", "three four"]
    assert column(mem, "section") == ["log › 14:30 Jug"] * 3
    assert column(mem, "tag") == [None, "tag", None]
    assert mem.day("2026-02-01").text.count("\r") == 0


@pytest.mark.parametrize(
    "text", ["", "\n", "  \n\t\n", "# 2026-02-01\n## Summary\n## Next\n", "---\n", "- \n-\n*\n", "- [ ]\n- [x]\n"]
)
def test_h09_a_day_without_entries_is_a_day(vault, text):
    mem = vault({DAY: text, "memory/2026-02-02.md": "- jug\n"})
    assert mem.days()["entries"].tolist() == [0, 1]
    assert rules(mem) == ["empty-day"]
    assert column(mem) == ["jug"]
    for frame in (mem.volume("day"), mem.overview(), mem.gaps(), mem.duplicates()):
        assert frame is not None


def test_h09_a_store_of_empty_days_has_figures(vault):
    mem = vault({DAY: ""})
    assert mem.volume("month").empty
    assert "0 entries" in repr(mem)


def test_h10_a_last_line_without_break_and_long_lines_are_kept(vault):
    long = "word " * 9000
    mem = vault(f"- {long}\n" + "- item\n" * 2600 + "- last")
    assert column(mem)[0] == long.rstrip()
    assert column(mem)[-1] == "last"
    assert len(column(mem)) == 2602


# ---- names ----


def test_h12_one_day_may_have_several_files(vault):
    contents = {DAY: "- c\n", "memory/2026-02-01-0930.md": "- a\n", "memory/2026-02-01-tea-plan.md": "- b\n"}
    mem = vault(contents)
    assert column(mem, "date") == ["2026-02-01"] * 3
    assert sorted(zip(column(mem), column(mem, "kind"), column(mem, "clock"), strict=True)) == [
        ("a", "daily-slug", "09:30"),
        ("b", "daily-slug", None),
        ("c", "daily", None),
    ]
    days = mem.days()
    assert (len(days), days["files"][0], days["path"][0], days["entries"][0]) == (1, 3, DAY, 3)
    assert rules(mem) == []


@pytest.mark.parametrize(
    ("name", "clock"),
    [
        ("2026-02-01_1745", "17:45"),
        ("2026-02-01T0930-sync", "09:30"),
        ("2026-02-01T09-30-15", "09:30"),
        ("2026-02-01-093015", "09:30:15"),
        ("2026-02-01 0930", "09:30"),
        ("2026-02-01-2026", None),
        ("2026-02-01-2025-review", None),
        ("2026-02-01-9999", None),
        ("2026-02-01-0930ab12", None),
        ("2026-02-01-a-0930", None),
        ("2026-02-01-2", None),
    ],
)
def test_h12_what_follows_the_day_is_a_time_or_a_slug_and_no_offset(vault, name, clock):
    mem = vault({f"memory/{name}.md": "- jug\n"})
    assert column(mem, "clock") == [clock]
    assert column(mem, "kind") == ["daily-slug"]
    assert column(mem, "date") == ["2026-02-01"]


@pytest.mark.parametrize(
    ("name", "day", "kind", "found"),
    [
        ("20260201", "2026-02-01", "daily", []),
        ("20260201-0930", "2026-02-01", "daily-slug", []),
        ("notes-2026-02-01", "2026-02-01", "daily-slug", []),
        ("a_2026-02-01_b", "2026-02-01", "daily-slug", []),
        ("15-02-2026", "2026-02-15", "daily", ["future-date"]),
        ("02-02-2026", "2026-02-02", "daily", []),
        ("01-02-2026", None, "note", ["ambiguous-date"]),
        ("31-02-2026", None, "note", ["impossible-date"]),
        ("2026-W05", None, "note", []),
        ("2026-02", None, "note", []),
        ("2026-W05-1", None, "note", []),
        ("120260201", None, "note", []),
        ("202602011", None, "note", []),
        ("12026-02-01", None, "note", []),
        ("2026-02-011", None, "note", []),
        ("２０２６-02-01", None, "note", []),
        ("20269999", None, "note", []),
        ("kettle", None, "note", []),
    ],
)
def test_h13_each_way_to_write_a_day_in_a_name_is_decided(vault, name, day, kind, found):
    mem = vault({f"memory/{name}.md": "- jug\n"})
    assert (column(mem, "date"), column(mem, "kind")) == ([day], [kind])
    assert rules(mem) == found


@pytest.mark.parametrize("name", ["YYYY-MM-DD", "yyyy-mm-dd-topic", "_template_daily", "_template", "Template", "YYYYMMDD"])
def test_h14_templates_are_left_out_with_a_reason(vault, name):
    mem = vault({f"memory/{name}.md": "# YYYY-MM-DD\n- \n", DAY: "- jug\n"})
    assert column(mem) == ["jug"]
    assert skipped(mem) == [f"memory/{name}.md"]
    assert rules(mem) == []


def test_h15_the_same_day_in_several_folders_is_several_files(vault):
    dream = "- Candidate: jug\n  - confidence: 0.5\n"
    mem = vault({DAY: "- jug\n", "memory/archive/2026-02-01.md": "- jug\n", "memory/dreaming/light/2026-02-01.md": dream})
    assert mem.entries()["text"].tolist() == ["jug", "jug"]
    assert column(mem, "kind").count("dream") == 1
    assert mem.duplicates()["count"].tolist() == [2]
    assert len(mem.entries()[["path", "line"]].drop_duplicates()) == 2
    assert mem.days()["files"].tolist() == [2]
    assert rules(mem) == []


@pytest.mark.parametrize(
    "path", ["DREAMS.md", ".dreams/2026-02-01.md", "memory/.dreams/x.md", "memory/dreaming/deep/2026-02-01.md"]
)
def test_h15_dreams_are_out_of_statistics_unless_asked_for(vault, path):
    mem = vault({DAY: "- jug\n", path: "- dreamt #dream\n"})
    assert mem.entries()["text"].tolist() == ["jug"]
    assert len(mem.entries(dreams=True)) == 2
    assert mem.volume("month")["entries"].sum() == 1
    assert mem.tags().empty


def test_h16_neighbours_are_counted_and_not_read(vault):
    others = [
        "memory/state.json",
        "memory/2026-02-01.md.bak",
        "memory/.dreams/2026-02-01.txt",
        "memory/x.ps1",
        "memory/x.sqlite",
    ]
    mem = vault({DAY: "- jug\n", **dict.fromkeys(others, "- old\n")})
    assert column(mem) == ["jug"]
    assert skipped(mem) == sorted(others)


def test_h17_only_the_memory_of_the_root_is_read(vault):
    mem = vault({"MEMORY.md": "# M\n- jug\n", "agents/x/memory.md": "# m\n- mug\n", "x/MEMORY.md": "- cup\n"})
    assert column(mem) == ["jug"]
    assert column(mem, "kind") == ["longterm"]
    assert column(vault({"memory/x.md": ""}, extra=["agents"])) == ["jug", "mug"]


def test_h17_a_lower_case_memory_is_the_memory(vault):
    assert column(vault({"memory.md": "- jug\n"}), "kind") == ["longterm"]


@pytest.mark.parametrize("name", ["2026-02-30", "2026-02-30-tea", "notes-2026-02-30", "20260230", "2026-13-01", "2025-02-29"])
def test_h18_a_date_that_does_not_exist_is_told_and_its_file_kept(vault, name):
    mem = vault({f"memory/{name}.md": "- jug\n"})
    assert column(mem) == ["jug"]
    assert column(mem, "date") == [None]
    assert rules(mem) == ["impossible-date"]


def test_h18_a_year_that_may_be_mistyped_is_a_hint(vault):
    days = {f"memory/2026-01-{day}.md": "- jug\n" for day in (20, 25, 28, 30)}
    mem = vault({**days, "memory/2025-01-29.md": "- mug\n"})
    report = mem.audit()
    assert report.frame[["rule", "severity", "path"]].to_numpy().tolist() == [["date-outlier", "info", "memory/2025-01-29.md"]]
    assert report.ok


# ---- front matter ----


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("---\n## 2026-02-01\n- **jug** red\n---\n## 2026-02-02\n- mug\n", ["**jug** red", "mug"]),
        ("---\n# Report\n- jug\n", ["jug"]),
        ("---\n- **jug** red\n- mug\n---\n", ["**jug** red", "mug"]),
        ("---\njust words\n---\n- jug\n", ["just words", "jug"]),
        ("---\n\n- jug\n", ["jug"]),
        ("***\n- jug\n", ["jug"]),
        ("---\nJug: it is red\nand it is mine\n---\n", ["Jug: it is red\nand it is mine"]),
    ],
)
@pytest.mark.parametrize("path", ["MEMORY.md", DAY, "memory/x.md"])
def test_h20_a_file_that_starts_with_a_rule_loses_nothing(vault, path, text, texts):
    mem = vault({path: text})
    assert sorted(column(mem)) == sorted(texts)
    assert rules(mem) == []


def test_h21_below_a_blank_line_three_dashes_are_a_rule(vault):
    mem = vault("\n---\n\n## 2026-02-01 06:59 AM (flush)\n- jug\n")
    assert column(mem) == ["jug"]
    assert column(mem, "clock") == ["06:59"]
    assert rules(mem) == []


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("name: Jug rules\ndescription: Jug: red only, 80 C\ntype: feedback", 3),
        ("a: b: c", 2),
        ("a: 'open\nb: c", 3),
        ("a: [1, 2\nb: c", 3),
        ("a: *alias", 2),
        ("a: @x", 2),
        ("a:\n\t- x", 3),
        ("a: {", 2),
    ],
)
def test_h22_bad_yaml_costs_one_finding_and_no_entry(vault, block, line):
    mem = vault({"memory/feedback.md": f"---\n{block}\n---\n- jug\n", DAY: "- mug\n"})
    assert column(mem) == ["mug", "jug"]
    assert [(path, place) for path, place in places(mem, "yaml-invalid")] == [("memory/feedback.md", line)]
    assert len(rules(mem)) == 1


def test_h23_front_matter_of_any_type_makes_no_mixed_column(vault):
    block = "date: 2026-02-01\nindex: 14:30\ntags: [daily, jug]\nn: 010\nyes: no\nempty:\nmeta:\n  node: x\nlist:\n- a\n- b"
    mem = vault(f"---\n{block}\n---\n- jug\n")
    assert column(mem) == ["jug"]
    assert rules(mem) == []
    assert mem.entries().dtypes.equals(vault({}).entries().dtypes)


def test_h25_no_front_matter_is_normal_in_a_workspace_and_told_in_an_archive(vault, archive):
    assert rules(archive("- jug\n", "")) == ["index-missing"]


def test_h25_no_front_matter_is_normal_in_a_workspace(vault):
    assert rules(vault("- jug\n")) == []


# ---- what is an entry ----


def test_h26_prose_is_entries(vault):
    mem = vault("# 2026-02-01\n\nWe planted beans.\nMany of them.\n\n## Evening\nRain.\n")
    assert column(mem) == ["We planted beans.\nMany of them.", "Rain."]
    assert column(mem, "block") == ["paragraph"] * 2
    assert column(mem, "section") == ["2026-02-01", "2026-02-01 › Evening"]


def test_h27_the_time_of_a_heading_is_that_of_what_stands_below_it(vault):
    text = "# 2026-02-01\n- before\n## 14:30 - Jug\n- boiled\n### Detail\n- drank\n- 14:45 washed\n"
    text += "## Mug (15:05)\nbroke\n## End\n- none\n"
    mem = vault(text)
    clocks = dict(zip(column(mem), column(mem, "clock"), strict=True))
    assert clocks == {
        "before": None,
        "boiled": "14:30",
        "drank": "14:30",
        "14:45 washed": "14:45",
        "broke": "15:05",
        "none": None,
    }


HEADINGS = {
    "14:30 UTC": "14:30",
    "Jug 14:30": "14:30",
    "Jug (14:30)": "14:30",
    "14:30-15:10": "14:30",
    "14:30 – 15:10 Jug": "14:30",
    "14:30 Jug": "14:30",
    "🏺 14:30 Jug": "14:30",
    "[14:30] Jug": "14:30",
    "14:30:05": "14:30:05",
    "🏺 14:30:05": "14:30:05",
    "2026-02-01T14:30:05Z": "14:30:05",
    "2026-02-01T14:30+08:00": "14:30",
    "2:30 PM": "14:30",
    "2:30-3:10 PM": "14:30",
    "12:10 AM": "00:10",
    "~14：30 壶": "14:30",
    "下午2点 壶": "14:00",
    "晚上九点半": "21:30",
    "ratio 3:1": None,
    "Version 1.14:30": None,
    "chapter 99:30": None,
    "Jug": None,
}


@pytest.mark.parametrize("title", HEADINGS)
def test_h28_a_heading_has_the_start_time_it_shows_or_none(vault, title):
    mem = vault(f"## {title}\n- jug\n")
    assert column(mem, "clock") == [HEADINGS[title]]
    assert column(mem, "section") == [title]


def test_h30_zones_stay_as_written_and_convert_nothing(vault):
    mem = vault("## 09:00 UTC\n- a\n## 18:00 CST\n- b\n## 7:05 PST\n- c\n")
    assert column(mem, "clock") == ["09:00", "18:00", "07:05"]
    assert column(mem, "section") == ["09:00 UTC", "18:00 CST", "7:05 PST"]
    assert column(mem, "written_at") == [None] * 3
    assert column(mem, "date") == ["2026-02-01"] * 3


@pytest.mark.parametrize(
    ("item", "clock", "text"),
    [
        ("14:30 jug", "14:30", "14:30 jug"),
        ("**14:30** - jug", "14:30", "**14:30** - jug"),
        ("**14:30:** jug", "14:30", "**14:30:** jug"),
        ("[14:30] jug", "14:30", "[14:30] jug"),
        ("(14:30) jug", "14:30", "(14:30) jug"),
        ("14:30-14:40 jug", "14:30", "14:30-14:40 jug"),
        ("2:30-2:40 pm jug", "14:30", "2:30-2:40 pm jug"),
        ("14:30:09 jug", "14:30:09", "14:30:09 jug"),
        ("[x] 14:30 jug", "14:30", "14:30 jug"),
        ("2026-02-01T14:30 jug", "14:30", "2026-02-01T14:30 jug"),
        ("2026-02-01T14:30Z jug", None, "jug"),
        ("3:1 ratio", None, "3:1 ratio"),
        ("2026-02-01 jug", None, "2026-02-01 jug"),
        ("jug at 14:30", None, "jug at 14:30"),
        ("2 jugs", None, "2 jugs"),
    ],
)
def test_h31_an_item_has_the_time_it_starts_with(vault, item, clock, text):
    mem = vault(f"- {item}\n")
    assert (column(mem, "clock"), column(mem), column(mem, "tag")) == ([clock], [text], [None])


def test_h31_only_a_full_instant_with_zone_is_written_at(vault):
    mem = vault("- 2026-02-01T14:30Z a\n- 2026-02-01T14:30+08:00 b\n- [2026-02-01T14:30:00.250Z] c\n- 2026-02-01T14:30 d\n")
    assert [f"{at:%H:%M:%S.%f}" for at in mem.entries()["written_at"].dropna()] == [
        "14:30:00.000000",
        "06:30:00.000000",
        "14:30:00.250000",
    ]
    assert column(mem) == ["a", "b", "c", "2026-02-01T14:30 d"]


def test_h33_a_days_file_name_wins_and_an_undated_file_has_the_dates_of_its_headings(vault):
    log = (
        "- top\n## 2026-01-30\n- x\n### Jug\n- deep\n## January 31, 2026\n- y\n## 2026年1月29日\n- z\n"
        "## Jug\n- none\n- 2026-01-05T20:00Z w\n"
    )
    mem = vault({"memory/2026-02-01.md": "# 2026-02-01\n## Plan for 2026-02-02\n- a\n", "MEMORY.md": log})
    days = dict(zip(column(mem), column(mem, "date"), strict=True))
    assert days == {
        "a": "2026-02-01",
        "top": None,
        "x": "2026-01-30",
        "deep": "2026-01-30",
        "y": "2026-01-31",
        "z": "2026-01-29",
        "none": None,
        "w": "2026-01-06",
    }


@pytest.mark.parametrize(
    "top",
    [
        "# Daily Log — Sunday, February 1, 2026\n",
        "",
        "# 2026年2月1日 星期日\n",
        "## Jug\n",
        "Some words.\n\n",
        "- first\n",
        "# 2026-02-01\n",
    ],
)
def test_h34_no_particular_first_heading_is_needed(vault, top):
    mem = vault(f"{top}- last\n")
    assert column(mem)[-1] == "last"
    assert set(column(mem, "date")) == {"2026-02-01"}


def test_h35_nested_items_belong_to_their_parent_at_any_depth(vault):
    mem = vault("- **Jug:**\n  - red\n   - three blanks\n    - four blanks\n - one blank\n\t- a tab\n- next\n")
    assert len(column(mem)) == 2
    assert [line.strip("- ") for line in column(mem)[0].split("\n")] == [
        "**Jug:**",
        "red",
        "three blanks",
        "four blanks",
        "one blank",
        "a tab",
    ]
    assert column(mem, "end_line") == [6, 7]
    assert column(mem, "label") == ["Jug", None]


def test_h36_wrapped_items_are_joined(vault):
    mem = vault("- jug is\n  red\n- mug is\nblue\n\n- pot\n\n  still pot\n\nno pot\n\n1. one\n   more\n2. two\n")
    assert column(mem) == ["jug is\nred", "mug is\nblue", "pot\n\nstill pot", "no pot", "one\nmore", "two"]


def test_h36_numbered_items_are_an_entry_each(vault):
    assert column(vault("1. a\n2. b\n3. c\n10. d\n")) == ["a", "b", "c", "d"]
    assert column(vault("- a\n1. b\n2. c\n")) == ["a", "b", "c"]


def test_h38_signs_of_other_editors_are_items(vault):
    mem = vault("• a\n● b\n· c\n* d\n+ e\n① f\n2、g\n— h\n")
    assert column(mem) == ["a", "b", "c", "d", "e", "f", "g", "— h"]
    assert column(mem, "block") == ["item"] * 7 + ["paragraph"]


def test_h40_a_checkbox_is_a_column_and_not_text(vault):
    mem = vault(
        "- [ ] a\n- [x] b\n- [X] c\n- [~] d\n- [→] e\n- [!] f\n- [?] g\n- ✅ h\n- [x](u.md) i\n- [ ] [tag] j\n- [ ]\n- [x]k\n"
    )
    assert column(mem) == ["a", "b", "c", "d", "e", "f", "g", "✅ h", "[x](u.md) i", "j", "[x]k"]
    assert column(mem, "task") == [" ", "x", "X", "~", "→", "!", "?", None, None, " ", None]
    assert column(mem, "tag") == [None] * 9 + ["tag", None]


def test_h42_hash_tags_are_no_numbers_colours_links_or_code(vault):
    mem = vault(
        "- a #jug #绿茶 b\n- fix #12\n- colour #ff0000 #abc #A1B2C3D4\n- C# x\n- http://h/#frag\n- `#code`\n#NotHeading\n"
        "- commit #1a2b3c4\n- (#mug)，#壶。\n- #12ab34 #2025-02\n"
    )
    assert mem.tags()["tag"].tolist() == ["jug", "绿茶", "mug", "壶"]
    assert column(mem)[0] == "a #jug #绿茶 b"
    assert mem.tagged("绿茶")["text"].tolist() == ["a #jug #绿茶 b"]


def test_h43_a_label_is_a_column_and_stays_text(vault):
    items = ["**Jug:** a", "**Jug**: b", "**壶**：c", "**壶：** d", "**Jug** - e", "**bold** start only", "**unclosed e"]
    mem = vault("".join(f"- {item}\n" for item in items))
    assert column(mem, "label") == ["Jug", "Jug", "壶", "壶", "Jug", None, None]
    assert column(mem) == items


def test_h44_code_is_no_entry_heading_or_rule_of_its_own(vault):
    fence = "```sh\n# no heading\n- no entry\n---\n## 2026-02-09\n```"
    inner = "  ```\n  - no\n  ```\n````md\n```\n- no\n```\n````"
    mem = vault(f"- a\n{fence}\n- b\n{inner}\n- c\n\n```\n- alone\n```\n")
    assert column(mem) == [f"a\n{fence}", "b\n```\n- no\n```\n````md\n```\n- no\n```\n````", "c", "```\n- alone\n```"]
    assert column(mem, "block") == ["item", "item", "item", "code"]
    assert column(mem, "section") == [None] * 4
    assert rules(mem) == []


def test_h44_an_unclosed_fence_is_told_and_what_it_swallows_is_kept(vault):
    mem = vault("- a\n```\n- lost?\n\n# b\n")
    assert column(mem) == ["a\n```\n- lost?\n\n# b"]
    assert places(mem, "unclosed-fence") == [(DAY, 2)]


def test_h46_a_table_is_one_entry_without_its_separator(vault):
    mem = vault("| item | n |\n|---|---|\n| jug \\| mug | 2 |\n\na | b\n:-: | -\nc | d\n")
    assert column(mem) == ["| item | n |\n| jug \\| mug | 2 |", "a | b\nc | d"]
    assert column(mem, "block") == ["table", "table"]


def test_h48_machine_sections_can_be_filtered(vault):
    mem = vault(
        "# Session: 2026-02-01 09:00:00 UTC\n\n- **Session Key**: k\n\n## Conversation Summary\n\nuser: jug?\nassistant: yes\n"
    )
    assert column(mem, "label") == ["Session Key", None]
    assert column(mem, "section")[1].endswith("› Conversation Summary")
    assert column(mem, "clock") == ["09:00:00", "09:00:00"]
    assert column(mem)[1] == "user: jug?\nassistant: yes"


def test_h50_exact_repeats_are_one_group(vault):
    mem = vault("- OK\n" * 300 + "- jug\n")
    assert mem.duplicates()[["text", "count"]].to_numpy().tolist() == [["OK", 300]]
    assert rules(mem).count("duplicates") <= 1


NA_LIKE = ["None", "N/A", "NA", "null", "NaN", "nan", "无", "-", "--", "<NA>", "NULL", "#N/A", "TRUE", "1.10", "007", "1e5"]


def test_h51_words_that_look_missing_are_text(vault, tmp_path):
    mem = vault("".join(f"- {text}\n" for text in NA_LIKE if text != "--") + "\n--\n")
    expected = [text for text in NA_LIKE if text != "--"] + ["--"]
    assert column(mem) == expected
    for kind in ("parquet", "csv", "json"):
        mem.export(tmp_path / kind, kind)
        assert memkit.read_export(tmp_path / kind)["entries"]["text"].tolist() == expected


def test_h52_formulas_tabs_and_quotes_survive_every_export(vault, tmp_path):
    items = ["=1+1", "@jug note", "a\tb", 'say "hi', "it's", "a,b;c", "\\n", "+1", "%x", "a\u2028b"]
    mem = vault("".join(f"- {text}\n" for text in items))
    assert column(mem) == items
    for kind in ("parquet", "csv", "json"):
        mem.export(tmp_path / kind, kind)
        pd.testing.assert_frame_equal(memkit.read_export(tmp_path / kind)["entries"], mem.entries(dreams=True))


@pytest.mark.parametrize("base", ["", "||||||| 9f8e7d6\n- old\n"])
@pytest.mark.parametrize("names", [("HEAD", "0a1b2c3"), ("LOCAL", "REMOTE"), ("Updated upstream", "Stashed changes")])
def test_h54_both_sides_of_a_merge_are_kept_and_its_markers_are_not(vault, base, names):
    mem = vault(f"- a\n<<<<<<< {names[0]}\n- b\n{base}=======\n- c\n>>>>>>> {names[1]}\n- d\n")
    assert [text for text in column(mem) if text != "old"] == ["a", "b", "c", "d"]
    assert places(mem, "merge-marker") == [(DAY, 2)]
    assert len(rules(mem)) == 1


def test_h54_an_underlined_heading_is_no_merge(vault):
    mem = vault("Jug\n=======\n- a\n")
    assert (column(mem), column(mem, "section"), rules(mem)) == (["a"], ["Jug"], [])


# ---- the archive ----

MERGED = """<<<<<<< LOCAL
---
date: 2026-02-01
index: 'jug'
---

## 2026-02-01

- jug
||||||| BASE
=======
---
date: 2026-02-01
index: 'mug'
---

## 2026-02-01

- mug
>>>>>>> REMOTE
"""


def test_ha1_a_merge_around_a_whole_day_keeps_both_entries(archive):
    mem = archive(MERGED, "")
    assert column(mem) == ["jug", "mug"]
    assert rules(mem) == ["merge-marker"]


def test_ha1_a_merge_inside_the_front_matter_is_told_as_one(archive):
    mem = archive("---\ndate: 2026-02-01\n<<<<<<< LOCAL\nindex: 'jug'\n=======\nindex: 'mug'\n>>>>>>> REMOTE\n---\n- jug\n", "")
    assert column(mem) == ["jug"]
    assert rules(mem) == ["merge-marker"]


def test_ha1_a_merge_in_a_catalog_keeps_the_rows_of_both_sides(archive):
    rows = "2026-01-30\ta\n<<<<<<< LOCAL\n2026-01-31\tb\n||||||| BASE\n=======\n2026-02-01\tjug\n>>>>>>> REMOTE\n"
    mem = archive("---\ndate: 2026-02-01\nindex: 'jug'\n---\n- jug\n", rows)
    assert mem.catalog()["index"].tolist() == ["a", "b", "jug"]
    assert rules(mem).count("merge-marker") == 1


def good(index):
    return f"---\ndate: 2026-02-01\nindex: {index}\n---\n\n## 2026-02-01\n\n- jug\n"


@pytest.mark.parametrize("written", ["it's jug", "'it''s jug'", '"it\'s jug"'])
def test_ha3_a_row_is_compared_without_the_quotes_it_was_copied_with(archive, written):
    mem = archive(good("'it''s jug'"), f"2026-02-01\t{written}\n")
    assert mem.catalog()["index"].tolist() == ["it's jug"]
    assert mem.days()["index"].tolist() == ["it's jug"]
    assert rules(mem) == ([] if written == "it's jug" else ["catalog-quoted"])


@pytest.mark.parametrize(
    ("index", "text", "rule"),
    [
        ("2026", "2026", "index-unquoted"),
        ("10:00", "10:00", "index-unquoted"),
        ("0123", "0123", "index-unquoted"),
        ("no", "no", "index-unquoted"),
        ("true", "true", "index-unquoted"),
        ("2026-10-21", "2026-10-21", "index-unquoted"),
        ("1.50", "1.50", "index-unquoted"),
        ("[a, b]", None, "index-unquoted"),
        ("{a: b}", None, "index-unquoted"),
        ("壶 · mug 🏺 plan", "壶 · mug 🏺 plan", "index-unquoted"),
        ("|\n  jug\n  mug", "jug mug", "index-not-one-line"),
        (">\n  jug", "jug", "index-not-one-line"),
        ("'jug\n  mug'", "jug mug", "index-not-one-line"),
        ('"jug\\tmug"', "jug mug", "index-not-one-line"),
        ("'jug\tmug'", "jug mug", "index-not-one-line"),
        ("'jug\u2028mug'", "jug mug", "index-not-one-line"),
        ("'jug'\nindex: 'mug'", "mug", "index-duplicate-key"),
        ("Jug: it broke", "Jug: it broke", "yaml-invalid"),
        ("'open", "open", "yaml-invalid"),
        ("@jug", "@jug", "yaml-invalid"),
        ("", None, "index-missing"),
        ("''", None, "index-missing"),
        ("'  '", None, "index-missing"),
    ],
)
def test_ha4_and_r30_r40_an_index_is_kept_as_written_and_told_once(archive, index, text, rule):
    mem = archive(good(index), f"2026-02-01\t{text or ''}\n")
    assert column(mem) == ["jug"]
    found = mem.days()["index"][0]
    assert (None if found != found else found) == text
    assert rules(mem) == [rule]
    assert places(mem, rule)[0][0] == "archive/2026/2026-02-01.md"


@pytest.mark.parametrize("index", ["'it''s jug'", '"say \\"jug\\""', "'a: b'", "'# jug'", "'jug' # note"])
def test_r40_a_quoted_index_round_trips(archive, index):
    mem = archive(good(index), None)
    assert set(rules(mem)) <= {"row-missing"}
    assert mem.days()["index"].notna().all()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (BOM + good("'jug'"), "bom"),
        (good("'jug'").replace("---\n", "--- \n", 1), "index-hidden"),
        (good("'jug'").replace("\n---\n", "\n...\n"), "index-hidden"),
        ("\n" + good("'jug'"), "index-hidden"),
        (BOM + good("'jug'").replace("---\n", "--- \n", 1).replace("\n---\n", "\n...\n"), "bom"),
    ],
)
def test_ha5_and_r34_front_matter_that_the_plugin_cannot_see_is_read(archive, text, rule):
    mem = archive(text, "2026-02-01\tjug\n")
    assert (column(mem), mem.days()["index"].tolist(), rules(mem)) == (["jug"], ["jug"], [rule])


def test_ha5_an_empty_block_ends_at_its_own_second_line(archive):
    mem = archive("---\n---\n- jug\n---\n- mug\n", "2026-02-01\t\n")
    assert column(mem) == ["jug", "mug"]
    assert rules(mem) == ["index-hidden"]


def test_r34_bom_and_crlf_give_the_row_of_a_clean_day(archive, vault):
    clean = column(archive(good("'jug'"), None))
    mem = archive((BOM + good("'jug'")).replace("\n", "\r\n"), None)
    assert column(mem) == clean
    assert mem.days()["index"].tolist() == ["jug"]
    assert "bom" in rules(mem)


def test_ha7_and_r61_a_catalog_is_split_at_lf_and_its_first_tab(archive):
    rows = '2026-02-02\t"open quote\n2026-02-03\tNA\n2026-02-04\tnull\n2026-02-05\t1.10\n2026-02-06\ta\tb\n\n'
    rows += "2026-02-07\t\n2026-02-08\t'\n"
    for data in (rows, BOM + rows, rows.replace("\n", "\r\n"), rows.rstrip("\n")):
        mem = archive(good("'jug'"), data)
        frame = mem.catalog()
        assert frame["date"].dt.day.tolist() == [2, 3, 4, 5, 6, 7, 8]
        assert frame["index"].fillna("").tolist() == ['"open quote', "NA", "null", "1.10", "a\tb", "", "'"]
        assert frame["line"].tolist() == [1, 2, 3, 4, 5, 7, 8]


def test_ha7_duplicate_unsorted_and_foreign_rows_stay_rows(archive):
    mem = archive(good("'jug'"), "2026-02-01\tjug\n2026-01-31\tx\n2026-02-01\tjug\n2025-12-31\ty\nno row\n2026-02-30\tz\n")
    assert mem.catalog()["date"].dt.strftime("%m-%d").tolist() == ["02-01", "01-31", "02-01", "12-31"]
    assert Counter(rules(mem)).keys() >= {"row-duplicate", "row-wrong-year", "row-malformed"}


def test_ha7_today_has_no_row_by_design(vault):
    place = ".agents/nutstore-sync/memory"
    mem = vault(
        {f"{place}/archive/2026/2026-02-10.md": good("'jug'").replace("02-01", "02-10"), f"{place}/catalog/2026.tsv": ""}
    )
    assert rules(mem) == []
    assert mem.days()["frozen"].tolist() == [False]


def test_ha9_an_index_without_quotes_and_date_loads(archive):
    mem = archive("---\nindex: 壶 · mug 🏺 plan\n---\n\nbody only\n", "2026-02-01\t壶 · mug 🏺 plan\n")
    assert (column(mem), mem.days()["index"].tolist(), rules(mem)) == (["body only"], ["壶 · mug 🏺 plan"], ["index-unquoted"])


# ---- reports that concern reading ----


def test_r3_the_given_zone_wins_over_the_machines(tmp_path, vault, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    vault({"memory/2026-02-11.md": "- jug\n"})
    late = {"now": "2026-02-10T19:53:00Z"}
    assert len(memkit.open(tmp_path / "vault", tz="Asia/Shanghai", **late).recent(1)) == 1
    assert len(memkit.open(tmp_path / "vault", tz="UTC", **late).recent(1)) == 0


def test_r5_half_a_minute_after_midnight_today_is_the_new_day(tmp_path, vault):
    vault({"memory/2026-02-10.md": "- old\n", "memory/2026-02-11.md": "- new\n"})
    mem = memkit.open(tmp_path / "vault", tz="Asia/Shanghai", now="2026-02-11T00:00:30+08:00")
    assert mem.recent(1)["text"].tolist() == ["new"]
    assert mem.days()["frozen"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("line", "found"),
    [("date: 2026-02-03", ["date-mismatch"]), ("date: 2026-02-30", ["impossible-date"]), ("date: soon", ["date-mismatch"])],
)
def test_r8_a_day_has_the_date_of_its_path(archive, line, found):
    mem = archive(good("'jug'").replace("date: 2026-02-01", line), "2026-02-01\tjug\n")
    assert column(mem, "date") == ["2026-02-01"]
    assert rules(mem) == found


def test_r12_instants_of_mixed_forms_are_equal_and_junk_is_no_entry(vault):
    times = ["2026-02-01T10:10:00.000Z", "2026-02-01T10:10Z", "2026-02-01T18:10:00+08:00", "2026-02-01T18:10+08:00", "garbage"]
    mem = vault({"cold/2026-02/2026-02-01.md": "".join(f"- [{time}] [-] jug {n}\n" for n, time in enumerate(times))})
    assert mem.entries()["written_at"].nunique() == 1
    assert len(mem.entries()) == 4
    assert places(mem, "entry-invisible") == [("cold/2026-02/2026-02-01.md", 5)]


def test_r21_prose_between_entries_is_read(vault):
    assert column(vault("intro\n\n- a\n\nbetween\n\n- b\n\noutro")) == ["intro", "a", "between", "b", "outro"]


def test_r23_a_second_front_matter_is_told_and_no_entry(archive):
    mem = archive(good("'jug'") + "\n---\ndate: 2026-02-01\nindex: 'mug'\n---\n- mug\n", "2026-02-01\tjug\n")
    assert column(mem) == ["jug", "mug"]
    assert mem.days()["index"].tolist() == ["jug"]
    assert rules(mem) == ["double-frontmatter"]


def test_r29_an_unquoted_colon_costs_a_finding_with_its_line(archive):
    mem = archive(good("Jug: 决定"), "2026-02-01\tJug: 决定\n")
    assert mem.days()["index"].tolist() == ["Jug: 决定"]
    assert places(mem, "yaml-invalid") == [("archive/2026/2026-02-01.md", 3)]


def test_r36_a_banner_of_four_dashes_is_no_front_matter(vault):
    mem = vault("----\nwords: here\n----\n- jug\n")
    assert "\n".join(column(mem)) == "words: here\njug"


def test_r38_one_bad_file_costs_one_finding_and_no_row_of_another(vault):
    days = {f"memory/2026-01-{day:02d}.md": "---\na: 'b'\n---\n- jug\n" for day in range(1, 31)}
    mem = vault({**days, "memory/2026-01-31.md": "---\na: b: c\n---\n- jug\n"})
    assert len(mem.entries()) == 31
    assert rules(mem) == ["yaml-invalid"]


def test_r39_each_finding_has_rule_path_line_and_message(vault):
    mem = vault({DAY: "- a\n```\n", "memory/x.md": b"- \xff\n", "memory/2026-02-30.md": "- b\n"})
    frame = mem.audit().frame
    assert len(frame) == 3
    assert frame[["rule", "path", "message", "fingerprint"]].notna().to_numpy().all()


@pytest.mark.parametrize(
    "word", ["2026-03-14", "POL-358", "don't", "TODO: fix", "38.101", "C++", "(", "*", "a\\b", "[x]", "^$", "水"]
)
def test_r44_a_query_is_literal(vault, word):
    mem = vault(f"- before {word} after\n- something else\n")
    assert len(mem.matching(f'"{word}"' if " " in word else word)) == 1


def test_r41_r42_r45_chinese_of_any_length_is_found(vault):
    mem = vault("- 今天玩成语接龙游戏\n- 在山丘翻唱\n- 山丘\n")
    for query, count in (("成语接龙", 1), ("成语", 1), ("丘", 2), ("山丘 翻唱", 1)):
        assert len(mem.matching(query)) == count
    assert len(mem.matching("山丘 翻唱", mode="or")) == 2


def test_r47_windows_hold_both_ends_and_bad_ones_are_refused(vault):
    mem = vault({"memory/2026-02-01.md": "- a\n", "memory/2026-02-03.md": "- b\n"})
    assert len(mem.between("2026-02-01", "2026-02-03")) == 2
    assert len(mem.between("2026-02-03", "2026-02-03")) == 1
    assert len(mem.between("0001-01-01", "9999-12-31")) == 2
    for window, name in (
        (("2026-02-03", "2026-02-01"), "start"),
        (("2026-02-30", "2026-03-01"), "start"),
        (("2026-01-01", "x"), "end"),
    ):
        with pytest.raises(BadArgument, match=name):
            mem.between(*window)


def test_r49_notes_in_folders_are_read_and_out_of_day_statistics(vault):
    mem = vault({"memory/research/deep/jug.md": "- jug\n", DAY: "- mug\n"})
    assert dict(zip(column(mem), column(mem, "kind"), strict=True)) == {"jug": "note", "mug": "daily"}
    assert len(mem.days()) == 1


def test_r50_a_slugged_day_is_a_day(vault):
    mem = vault({"memory/2026-02-01-api.md": "- jug\n"})
    assert (column(mem, "kind"), mem.days()["path"].tolist()) == (["daily-slug"], ["memory/2026-02-01-api.md"])


def test_r52_list_lines_in_code_and_comments_are_no_entries(vault):
    mem = vault("<!-- - no\n- no -->\n- a\n\n```\n- no\n```\n<!-- x:start -->\n- b\n<!-- x:end -->\n")
    assert column(mem) == ["a", "```\n- no\n```", "b"]
    assert rules(mem) == []


@pytest.mark.parametrize(
    "name",
    [
        "2026-02-01 (conflicted copy 2026-02-02)",
        "2026-02-01 (Jo's conflicted copy)",
        "2026-02-01.sync-conflict-20260202-101112-ABCDEFG",
        "2026-02-01(冲突)",
        "2026-02-01（冲突文件）",
        "2026-02-01-冲突副本",
        "2026-02-01_conflict-20260202-101112",
        "2026-02-01.conflict",
    ],
)
def test_r63_conflict_copies_are_no_rows_and_a_finding(vault, name):
    mem = vault({DAY: "- jug\n", f"memory/{name}.md": "- copy\n"})
    assert column(mem) == ["jug"]
    assert rules(mem) == ["conflict-copy"]


@pytest.mark.parametrize("name", ["2026-02-01-conflict-with-the-cat", "2026-02-01-merge-notes", "no-conflict-today"])
def test_r63_a_slug_that_speaks_of_conflicts_is_memory(vault, name):
    assert column(vault({f"memory/{name}.md": "- jug\n"})) == ["jug"]


def test_r75_candidates_and_the_hot_body_are_never_entries(vault):
    block = "<!-- candidates:start -->\n- [2026-02-01T02:10:00.000Z] [a] mug\n<!-- candidates:end -->\n"
    hot = f"Jug is red.\n- list in the body\n\n{block}"
    mem = vault({"hot.md": hot, "cold/2026-02/2026-02-01.md": "- [2026-02-01T02:10:00.000Z] [a] jug\n"})
    assert column(mem) == ["jug"]
    assert mem.hot().candidates["text"].tolist() == ["mug"]
    assert mem.hot().content == "Jug is red.\n- list in the body"


def test_r72_a_hot_layer_over_its_limit_is_whole_and_says_so(vault):
    mem = vault({"hot.md": "壶" * 601 + "\n<!-- topics:start -->\n<!-- topics:end -->\n"})
    hot = mem.hot()
    assert (hot.chars, hot.over_limit, bool(hot.hint), len(hot.content)) == (601, True, True, 601)
    exact = vault({"hot.md": "壶" * 600 + "\n<!-- topics:start -->\n<!-- topics:end -->\n"}).hot()
    assert (exact.over_limit, bool(exact.hint)) == (False, False)
