"""What extractive summaries promise: nothing invented, a budget kept, days and weeks treated fairly, all readable back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from hashlib import sha256
from operator import attrgetter
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit.dates import period_days, week_key
from memkit.entry_lines import Line, Lines, dated, entry, joined, read_line
from memkit.errors import BadArgument
from memkit.layouts.stored import read as parse
from memkit.model import StoredSummary
from memkit.summaries import LIMITS, Source, digest, extract, is_stale, lower

SHANGHAI = ZoneInfo("Asia/Shanghai")
AT = datetime(2026, 10, 25, 23, 0, tzinfo=SHANGHAI)
MONDAY = date(2026, 10, 19)
KEYS = {"day": "2026-10-19", "week": "2026-W43", "month": "2026-10"}


def line(text="x", *, day=MONDAY, minute=0, tag="tag"):
    moment = datetime(day.year, day.month, day.day, 2, tzinfo=UTC) + timedelta(minutes=minute)
    made = entry(moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"), tag, text, day=day)
    assert made is not None
    return made


def source(name, lines, omitted=0):
    return Source((name,), Lines.of(lines), omitted)


def texts(source):
    """Return the whole lines of a source."""
    return source.lines.data().tobytes().decode().split("\n") if len(source.lines) else []


def cold(day, *lines):
    return source(f"cold/{day:%Y-%m}/{day}.md", lines)


def made(period, *sources, key=None, at=AT):
    summary = extract(period, key or KEYS[period], sources, generated_at=at)
    assert summary is not None
    return summary


def stored(summary):
    return parse(summary.content, summary.period, summary.key)


def days_of(raws):
    return Counter(raw[3:13] for raw in raws)


# --- the file


def test_a_week_file_is_written_exactly_as_the_layout_says():
    first = source("summaries/day/2026-10-19.md", (line("定下目录", tag="计划"),), omitted=2)
    second = cold(date(2026, 10, 20), line("坚果云同步失败", day=date(2026, 10, 20), tag="-"))
    mark = sha256("\n".join(texts(first) + texts(second)).encode()).hexdigest()[:12]
    assert made("week", first, second).content == (
        "# 周摘要 2026-W43（2026-10-19 – 2026-10-25）\n"
        "\n"
        f"> 来源：summaries/day/2026-10-19.md、cold/2026-10/2026-10-20.md（2 条，sha256:{mark}）\n"
        "> 生成时间：2026-10-25T15:00:00.000Z\n"
        "\n"
        "- [2026-10-19T02:00:00.000Z] [计划] 定下目录\n"
        "- [2026-10-20T02:00:00.000Z] [-] 坚果云同步失败\n"
    )


@pytest.mark.parametrize(
    ("period", "key", "title"),
    [
        ("day", "2024-02-29", "# 日摘要 2024-02-29"),
        ("month", "2026-10", "# 月摘要 2026-10（2026-10-01 – 2026-10-31）"),
        ("month", "2024-02", "# 月摘要 2024-02（2024-02-01 – 2024-02-29）"),
        ("week", "2026-W53", "# 周摘要 2026-W53（2026-12-28 – 2027-01-03）"),
        ("week", "2025-W01", "# 周摘要 2025-W01（2024-12-30 – 2025-01-05）"),
    ],
)
def test_the_title_names_the_period_and_its_days(period, key, title):
    day = period_days(period, key)[0]
    assert made(period, cold(day, line(day=day)), key=key).content.partition("\n")[0] == title


def test_the_period_may_be_written_in_capitals():
    assert made("WEEK", cold(MONDAY, line()), key="2026-W43").period == "week"


@pytest.mark.parametrize(
    ("period", "key"), [("year", "2026"), ("week", "2025-W53"), ("month", "2026-13"), ("day", "2026-02-29")]
)
def test_a_period_that_does_not_exist_is_refused(period, key):
    with pytest.raises(BadArgument):
        extract(period, key, [cold(MONDAY, line())], generated_at=AT)


@pytest.mark.parametrize("sources", [[], [cold(MONDAY)], [source("summaries/day/2026-10-19.md", (), omitted=3)]])
def test_sources_without_entries_make_no_summary(sources):
    assert extract("week", "2026-W43", sources, generated_at=AT) is None


def test_the_omission_line_is_last_and_counts_what_was_left_out():
    summary = made("day", cold(MONDAY, *(line("t" * 10, minute=n) for n in range(50))))
    assert summary.content.endswith("\n\n> 另有 18 条因字数预算省略。\n")


def test_the_omission_line_also_counts_what_lower_summaries_left_out():
    lines = tuple(line("t" * 100, minute=n) for n in range(9))
    summary = made("week", source("summaries/day/2026-10-19.md", lines, omitted=3))
    assert summary.content.endswith("\n> 另有 2 条因字数预算省略（下层摘要另省略 3 条）。\n")


def test_a_summary_that_keeps_everything_ends_with_an_entry():
    summary = made("day", cold(MONDAY, line("最后一条")))
    assert summary.content.endswith("[tag] 最后一条\n")
    assert "省略" not in summary.content


def test_entries_too_long_for_any_budget_leave_a_file_of_header_and_omission_line():
    summary = made("day", cold(MONDAY, line(tag="t" * 2000)))
    assert summary.kept == ()
    assert [part[:4] for part in summary.content.split("\n\n")] == ["# 日摘", "> 来源", "> 另有"]
    assert stored(summary).omitted == 1


def test_a_header_names_seven_sources_and_of_eight_only_three():
    sources = [cold(day, line(day=day)) for day in period_days("month", "2026-10")[:8]]
    assert "：cold/2026-10/2026-10-01.md、" in made("month", *sources[:7]).content
    assert "、cold/2026-10/2026-10-07.md（7 条" in made("month", *sources[:7]).content
    assert "、cold/2026-10/2026-10-03.md 等 8 个文件（8 条" in made("month", *sources).content
    assert made("month", *sources).sources == tuple(name for source in sources for name in source.names)


def test_a_source_that_says_nothing_is_not_named():
    assert made("week", cold(MONDAY, line()), cold(date(2026, 10, 20))).sources == ("cold/2026-10/2026-10-19.md",)


def test_a_source_whose_only_entry_was_left_out_is_named():
    empty = source("summaries/day/2026-10-20.md", (), omitted=1)
    assert made("week", cold(MONDAY, line()), empty).sources == ("cold/2026-10/2026-10-19.md", *empty.names)


# --- budget and order


@pytest.mark.parametrize(
    ("period", "length", "count", "kept", "used"),
    [
        ("day", 10, 50, 32, 1472),
        ("day", 120, 5, 5, 780),
        ("day", 200, 50, 9, 9 * 157),
        ("week", 10, 50, 21, 966),
        ("week", 100, 5, 5, 680),
        ("week", 200, 50, 7, 7 * 137),
        ("month", 10, 50, 15, 690),
        ("month", 80, 5, 5, 580),
        ("month", 200, 50, 5, 5 * 117),
    ],
)
def test_the_budget_counts_whole_lines_and_their_line_ends(period, length, count, kept, used):
    summary = made(period, cold(MONDAY, *(line("字" * length, minute=n) for n in range(count))))
    assert (len(summary.kept), summary.omitted, summary.used) == (kept, count - kept, used)


def of_length(length, minute):
    """Return a line of exactly this many characters; its tag carries the length, as text would be cut."""
    short = line("x", minute=minute, tag="")
    return short._replace(tag="t" * (length - len(str(short._replace(tag="")))))


def test_a_line_that_does_not_fit_is_skipped_and_a_shorter_one_behind_it_kept():
    first, second, third = (of_length(length, n) for n, length in enumerate((1400, 200, 50)))
    summary = made("day", cold(MONDAY, first, second, third))
    assert summary.kept == (str(first), str(third))
    assert (summary.omitted, summary.used) == (1, 1452)


def test_lines_that_fill_the_budget_to_the_last_character_are_all_kept():
    exact = [of_length(749, 0), of_length(749, 1)]
    assert made("day", cold(MONDAY, *exact)).used == 1500
    assert made("day", cold(MONDAY, exact[0], of_length(750, 1))).omitted == 1


def test_lines_come_out_by_instant_whatever_zone_they_were_written_in():
    late = entry("2026-10-19T03:00:00Z", "-", "late", day=MONDAY)
    early = entry("2026-10-19T10:59:00+08:00", "-", "early", day=MONDAY)
    assert [raw[-5:] for raw in made("day", cold(MONDAY, late, early)).kept] == ["early", " late"]


def test_lines_of_one_instant_keep_the_order_of_their_sources():
    same = [line(text) for text in "cab"]
    assert [raw[-1] for raw in made("day", cold(MONDAY, *same)).kept] == ["c", "a", "b"]


def test_a_clock_of_unknown_zone_does_not_reorder_a_day():
    lines = [dated(MONDAY, clock, "-", clock or "none") for clock in ("23:00", None, "08:00")]
    assert [raw.rpartition(" ")[2] for raw in made("day", source("memory/2026-10-19.md", tuple(lines))).kept] == [
        "23:00",
        "none",
        "08:00",
    ]


def test_a_busy_first_day_leaves_room_for_the_other_days_of_the_week():
    busy = [cold(MONDAY, *(line("t" * 100, minute=n) for n in range(50)))]
    quiet = [cold(day, line("t" * 100, day=day)) for day in period_days("week", "2026-W43")[1:]]
    assert len(days_of(made("week", *busy, *quiet).kept)) == 7


def test_a_month_shares_its_budget_between_weeks_and_not_days():
    days = period_days("month", "2026-10")
    kept = made("month", *(cold(day, line("t" * 81, day=day)) for day in days)).kept
    assert [week_key(date.fromisoformat(raw[3:13])) for raw in kept] == [f"2026-W{n}" for n in range(40, 45)]


def test_a_day_is_filled_in_order():
    summary = made("day", cold(MONDAY, *(line("t" * 120, minute=n) for n in range(20))))
    assert [raw[14:19] for raw in summary.kept] == [f"02:0{n}" for n in range(9)]


def test_everything_is_kept_when_everything_fits_however_uneven_the_days():
    lines = [line("t", minute=n) for n in range(20)]
    other = date(2026, 10, 25)
    assert made("week", cold(MONDAY, *lines), cold(other, line("t", day=other))).omitted == 0


# --- truncation


def test_text_is_cut_at_the_limit_of_its_period():
    source = cold(MONDAY, line("字" * 119 + "😀" + "字"))
    for period, limit in (("day", 120), ("week", 100), ("month", 80)):
        text = made(period, source).kept[0].partition("[tag] ")[2]
        assert text == ("字" * 119 + "😀")[:limit] + "…"


@pytest.mark.parametrize("length", [79, 80, 81, 99, 100, 101, 119, 120, 121, 500])
def test_cutting_level_by_level_equals_cutting_once_and_never_doubles_the_mark(length):
    source = cold(MONDAY, line("字" * length))
    day = made("day", source)
    week = made("week", lower("summaries/day/2026-10-19.md", stored(day), tz=SHANGHAI))
    month = made("month", lower("summaries/week/2026-W43.md", stored(week), tz=SHANGHAI))
    assert month.kept == made("month", source).kept
    assert month.kept[0].count("…") == (length > 80)


def test_a_text_whose_mark_stands_right_behind_the_limit_is_left_as_it_is():
    assert made("week", cold(MONDAY, line("字" * 100 + "…"))).kept[0].endswith("] " + "字" * 100 + "…")


# --- lines


@pytest.mark.parametrize(
    "raw",
    [
        "- [bad] [t] x",
        "- [2026-13-40T00:00:00Z] [t] x",
        "- [2026-02-29] [t] x",
        "- [2026-10-21T24:00:00Z] [t] x",
        "- [2026-10-21T03:10:00] [t] x",
        "- [0001-01-01T00:00:00+14:00] [t] x",
        "- [2026-10-21T03:10:00.000Z] [t]",
        "- [2026-10-21T03:10:00.000Z] [t] ",
        " - [2026-10-21T03:10:00.000Z] [t] x",
        "- [2026-10-21T03:10:00.000Z]  [t] x",
        "- [2026-10-21T03:10:00.000Z] [a[b] x",
        "# 2026-10-21",
        "",
    ],
)
def test_a_line_that_is_no_entry_is_none(raw):
    assert read_line(raw) is None


def test_an_entry_line_is_read_with_its_stamp_as_written():
    read = read_line("- [2026-10-21T11:10:00+08:00] [-] [x] y", tz=SHANGHAI)
    assert read == Line("2026-10-21T11:10:00+08:00", "-", "[x] y", date(2026, 10, 21), 1792552200000)


def test_an_empty_tag_reads_as_no_tag():
    assert read_line("- [2026-10-21T03:10Z] [] x").tag == "-"


def test_the_day_of_an_entry_is_its_files_and_else_its_local_day():
    raw = "- [2026-10-31T16:30:00.000Z] [-] x"
    assert read_line(raw, tz=SHANGHAI).day == date(2026, 11, 1)
    assert read_line(raw, tz=UTC).day == date(2026, 10, 31)
    assert read_line(raw, tz=UTC, day=MONDAY).day == MONDAY


def test_a_dated_entry_may_lie_in_the_file_of_another_day():
    assert read_line("- [2026-10-18] [-] x", day=MONDAY).day == MONDAY
    assert read_line("- [2026-10-18] [-] x").day == date(2026, 10, 18)


def test_a_local_day_beyond_the_calendar_is_no_entry():
    assert read_line("- [9999-12-31T23:00:00Z] [-] x", tz=SHANGHAI) is None


def test_an_entry_of_the_other_layouts_is_folded_to_one_line():
    assert str(dated(date(2025, 2, 3), "14:30", "[计划]", "一\n  二")) == "- [2025-02-03 14:30] [计划] 一 二"
    assert str(dated(date(2025, 2, 3), None, None, "x")) == "- [2025-02-03] [-] x"


def test_an_entry_without_visible_text_is_none():
    assert dated(MONDAY, None, "t", " \n\u200b") is None


# --- lower summaries


def test_a_straddling_week_gives_a_month_only_its_own_local_days():
    raws = [f"- [{stamp}] [-] x" for stamp in ("2026-10-31T15:59:59.000Z", "2026-10-31T16:00:00.000Z", "2026-11-01T01:00:00Z")]
    week = parse("\n".join(raws), "week", "2026-W44")
    source = lower("summaries/week/2026-W44.md", week, tz=SHANGHAI, within=(date(2026, 11, 1), date(2026, 11, 30)))
    assert texts(source) == raws[1:]


def test_the_lines_of_a_day_summary_belong_to_its_day_in_any_zone():
    day = parse("- [2026-10-18T17:00:00.000Z] [-] x", "day", "2026-10-19")
    assert lower("summaries/day/2026-10-19.md", day, tz=UTC).lines.day.tolist() == [(MONDAY - date(1970, 1, 1)).days]


def test_omissions_add_up_over_the_levels():
    day = made("day", cold(MONDAY, *(line("t" * 120, minute=n) for n in range(20))))
    week = made("week", lower("d", stored(day), tz=SHANGHAI))
    month = made("month", lower("w", stored(week), tz=SHANGHAI))
    assert (day.omitted, week.omitted, week.below, month.omitted, month.below) == (11, 2, 11, 2, 13)
    assert len(month.kept) + month.omitted + month.below == 20


# --- reading back


def test_a_summary_without_any_header_has_entries_and_nothing_else():
    text = "- [2026-10-19T02:00:00Z] [a] x\n"
    assert parse(text, "day", "2026-10-19") == StoredSummary(
        "day", "2026-10-19", ("- [2026-10-19T02:00:00Z] [a] x",), 0, 0, (), None, None, len(text), at=(1,)
    )


def test_a_summary_of_dsh_itself_is_read_without_a_hash():
    text = (
        "# 日摘要 2026-10-19\n\n来源: cold/2026-10/2026-10-19.md\n生成时间: 2026-10-19T15:00:00.000Z\n\n"
        "- [2026-10-19T02:00:00.000Z] [a] x\n\n（省略 4 条）\n"
    )
    read = parse(text, "day", "2026-10-19")
    assert (read.sources, read.digest, read.generated_at) == (
        ("cold/2026-10/2026-10-19.md",),
        None,
        "2026-10-19T15:00:00.000Z",
    )
    assert (read.lines, read.omitted) == (("- [2026-10-19T02:00:00.000Z] [a] x",), 4)


def test_windows_line_ends_and_a_byte_order_mark_change_only_the_character_count():
    summary = made("week", cold(MONDAY, line()))
    marked = "\ufeff" + summary.content.replace("\n", "\r\n")
    assert parse(marked, "week", "2026-W43") == replace(stored(summary), chars=len(marked))


def test_notes_written_by_hand_are_no_entries_and_lose_nothing():
    summary = made("week", source("d", tuple(line("t" * 100, minute=n) for n in range(9)), omitted=3))
    noted = summary.content + "\n## 省略 5 条\n\n- 这周很忙\n* [x] y\n> 来源：自己\n> 生成时间：昨天\n"
    assert parse(noted, "week", "2026-W43") == replace(stored(summary), chars=len(noted))


def test_an_entry_that_talks_like_a_header_stays_an_entry():
    texts = ["> 来源：x（3 条，sha256:000000000000）", "生成时间：now", "另有 7 条因字数预算省略"]
    summary = made("day", cold(MONDAY, *map(line, texts)))
    assert stored(summary).sources == ("cold/2026-10/2026-10-19.md",)
    assert (stored(summary).omitted, len(stored(summary).lines)) == (0, 3)


def test_a_count_without_a_hash_is_no_part_of_the_last_source_name():
    read = parse("> 来源：a.md、b（二）.md (3 条)\n", "week", "2026-W43")
    assert (read.sources, read.digest) == (("a.md", "b（二）.md"), None)


@pytest.mark.parametrize("mark", ["abc", "0123456789abcd", "0123456789AB", ""])
def test_a_hash_that_was_broken_by_hand_counts_as_none(mark):
    assert parse(f"> 来源：a.md（3 条，sha256:{mark}）\n", "day", "2026-10-19").digest is None


def test_a_source_name_may_end_in_brackets():
    summary = made("week", source("memory/2026-10-19-会议（二）.md", (line(),)))
    assert stored(summary).sources == ("memory/2026-10-19-会议（二）.md",)


@given(
    st.text(
        alphabet="> 来源：（）()条生成时间另有省略下层摘要等个文件、sha256:0123456789abcdef-[]TZ\n\r\ufeff\ud800", max_size=200
    )
)
def test_reading_never_fails(text):
    assert parse(text, "week", "2026-W43").chars == len(text)


def test_a_count_too_long_for_a_number_is_ignored():
    assert parse(f"> 另有 {'9' * 5000} 条因字数预算省略。\n", "day", "2026-10-19").omitted == 0


# --- age


def test_a_summary_of_unchanged_sources_is_fresh():
    sources = [cold(MONDAY, line()), cold(date(2026, 10, 20))]
    assert not is_stale(stored(made("week", *sources)), sources)


def test_a_summary_is_stale_when_a_source_gained_an_entry():
    old = stored(made("week", cold(MONDAY, line())))
    assert is_stale(old, [cold(MONDAY, line(), line("new", minute=1))])


def test_a_change_behind_the_cut_makes_a_summary_stale():
    old = made("day", cold(MONDAY, line("字" * 200 + "a")))
    new = cold(MONDAY, line("字" * 200 + "b"))
    assert made("day", new).kept == old.kept
    assert is_stale(stored(old), [new])


def test_a_summary_is_stale_when_another_source_would_be_chosen():
    old = stored(made("week", cold(MONDAY, line())))
    assert is_stale(old, [source("summaries/day/2026-10-19.md", (line(),))])


def test_a_summary_is_stale_when_a_lower_one_is():
    sources = [cold(MONDAY, line())]
    assert is_stale(stored(made("week", *sources)), sources, lower_stale=True)


def test_a_summary_whose_sources_are_gone_is_stale():
    assert is_stale(stored(made("week", cold(MONDAY, line()))), [])


def test_a_shortened_header_still_tells_by_count_and_hash():
    sources = [cold(day, line(day=day)) for day in period_days("month", "2026-10")]
    old = stored(made("month", *sources))
    assert not is_stale(old, sources)
    merged = [*sources[:-2], Source(("merged.md",), joined([sources[-2].lines, sources[-1].lines]))]
    assert digest(joined([source.lines for source in merged])) == old.digest
    assert is_stale(old, merged)
    assert is_stale(old, [*sources[:-1], cold(date(2026, 10, 31), line("changed", day=date(2026, 10, 31)))])


@pytest.mark.parametrize("name", ["会议、纪要.md", "x 等 3 个文件", "a  b.md", "a\nb.md", "（2 条）"])
def test_an_odd_file_name_does_not_make_a_summary_stale(name):
    sources = [source(name, (line(),))]
    summary = made("week", *sources)
    assert stored(summary).digest == summary.digest
    assert not is_stale(stored(summary), sources)


@pytest.mark.parametrize(
    ("generated_at", "stale"),
    [
        ("2026-10-19T01:59:59.999Z", True),
        ("2026-10-19T02:00:00.000Z", False),
        ("2026-10-19T10:00:00+08:00", False),
        ("昨天", False),
        (None, False),
    ],
)
def test_a_summary_without_a_hash_is_stale_when_an_entry_is_newer_than_it(generated_at, stale):
    old = replace(parse("x", "day", "2026-10-19"), generated_at=generated_at, sources=("冷层",))
    assert is_stale(old, [cold(MONDAY, line())]) is stale


def test_an_empty_summary_is_stale_as_soon_as_there_is_an_entry():
    empty = parse("", "day", "2026-10-19")
    assert is_stale(empty, [cold(MONDAY, line())])
    assert not is_stale(empty, [cold(MONDAY)])


# --- properties

WEEK = period_days("week", "2024-W09")  # 2024-02-26 to 2024-03-03, with a leap day in it
TEXTS = st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)), max_size=260).map(lambda text: "." + text)
TAGS = st.text("ab计划 -", max_size=30).map(lambda tag: tag or "-")
LINES = st.builds(
    lambda text, day, minute, tag: line(text, day=day, minute=minute, tag=tag),
    TEXTS,
    st.sampled_from(WEEK),
    st.integers(0, 600),
    TAGS,
)
DRAWN = st.lists(  # what sources are made of: (name, lines, omitted)
    st.tuples(
        st.from_regex(r"[a-z]{1,5}/[0-9]{1,3}\.md", fullmatch=True),
        st.lists(LINES, max_size=12),
        st.integers(0, 99),
    ),
    max_size=9,
)
PERIODS = st.sampled_from([("day", "2024-02-29"), ("week", "2024-W09"), ("month", "2024-02")])


def cut(line, limit):
    return f"- [{line.stamp}] [{line.tag}] " + (line.text if len(line.text) <= limit else line.text[:limit] + "…")


def all_lines(drawn):
    return [line for _, lines, _ in drawn for line in lines]


@given(DRAWN, PERIODS)
def test_every_kept_line_is_the_beginning_of_a_source_line_in_order_and_within_budget(drawn, period):
    summary = extract(*period, [source(*parts) for parts in drawn], generated_at=AT)
    whole = sorted(all_lines(drawn), key=attrgetter("instant"))
    if summary is None:
        assert whole == []
        return
    limit, budget = LIMITS[period[0]]
    possible = iter(whole)
    for raw in summary.kept:  # consuming one iterator proves the order and that no entry is used twice
        assert any(cut(line, limit) == raw for line in possible)
    assert summary.used == sum(len(raw) + 1 for raw in summary.kept) <= budget
    assert len(summary.kept) + summary.omitted == len(whole)


@given(DRAWN, PERIODS)
def test_what_was_left_out_would_not_have_fitted(drawn, period):
    summary = extract(*period, [source(*parts) for parts in drawn], generated_at=AT)
    limit, budget = LIMITS[period[0]]
    left_out = Counter(cut(line, limit) for line in all_lines(drawn)) - Counter(summary.kept if summary else ())
    assert all(summary.used + len(raw) + 1 > budget for raw in left_out)


@given(DRAWN, PERIODS)
def test_a_written_summary_says_everything_when_read_back(drawn, period):
    sources = [source(*parts) for parts in drawn]
    summary = extract(*period, sources, generated_at=AT)
    if summary is None:
        assert all_lines(drawn) == []
        return
    names = summary.sources if len(summary.sources) <= 7 else (*summary.sources[:3], f"等 {len(summary.sources)} 个文件")
    assert stored(summary) == StoredSummary(
        *period,
        lines=summary.kept,
        omitted=summary.omitted,
        omitted_below=summary.below if summary.omitted else 0,
        sources=names,
        digest=sha256("\n".join(map(str, all_lines(drawn))).encode()).hexdigest()[:12],
        generated_at="2026-10-25T15:00:00.000Z",
        chars=len(summary.content),
        at=tuple(number for number, row in enumerate(summary.content.split("\n"), 1) if row.startswith("- ")),
    )
    assert not is_stale(stored(summary), sources)


@given(DRAWN, PERIODS)
def test_dated_lines_without_zone_are_read_back_too(drawn, period):
    plain = [
        source(name, [dated(line.day, line.stamp[11:16], line.tag, line.text) for line in lines], omitted)
        for name, lines, omitted in drawn
    ]
    summary = extract(*period, plain, generated_at=AT)
    assert (stored(summary).lines if summary else ()) == (summary.kept if summary else ())
    assert all(read_line(raw).stamp == raw[3:19] for raw in (summary.kept if summary else ()))


@given(st.lists(st.integers(1, 30), min_size=2, max_size=7))
def test_days_of_equal_lines_differ_by_one_line_at_most_unless_a_day_has_no_more(counts):
    sources = [
        cold(day, *(line("t" * 100, day=day, minute=n) for n in range(count))) for day, count in zip(WEEK, counts, strict=False)
    ]
    kept = days_of(made("week", *sources, key="2024-W09").kept)
    most = max(kept.values())
    assert all(kept[str(day)] >= min(count, most - 1) for day, count in zip(WEEK, counts, strict=False))
    assert kept.total() == min(sum(counts), 7)


@given(st.integers(0, 4_000_000_000), st.integers(-720, 720))
def test_an_instant_is_the_same_however_its_zone_is_written(seconds, minutes):
    aware = datetime.fromtimestamp(seconds, UTC)
    elsewhere = aware.astimezone(timezone(timedelta(minutes=minutes)))
    assert entry(elsewhere.isoformat(), None, "x").instant == seconds * 1000
