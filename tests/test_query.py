"""Filters over the ENTRIES frame: which rows they keep, in which order, and that the frame asked stays as it is."""

from datetime import UTC, date, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pandas.testing as pdt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit import match, query, schema
from memkit.errors import BadArgument

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")
DEFAULTS = {"kind": "daily", "block": "item", "text": "tea", "path": "memory/2025-02-01.md"}


def entries(*rows):
    """Return an ENTRIES frame of invented rows; `line` counts up unless given."""
    full = [{**DEFAULTS, "line": n, **row} for n, row in enumerate(rows, 1)]
    for row in full:
        row |= {"end_line": row["line"], "chars": len(row["text"] or "")}
    return schema.frame(schema.ENTRIES, {name: [row.get(name) for row in full] for name in schema.ENTRIES})


def tags(*rows):
    return schema.rows(schema.TAGS, rows)


def texts(frame):
    return frame["text"].tolist()


@pytest.fixture
def week():
    days = [None, date(2025, 2, 1), date(2025, 2, 3), date(2025, 2, 3), date(2025, 2, 28), date(2025, 3, 1)]
    tag = ["计划", "Idea", None, "ＩＤＥＡ", "计划", None]
    return entries(*({"date": d, "tag": t, "text": f"t{n}"} for n, (d, t) in enumerate(zip(days, tag, strict=True))))


FILTERS = {
    "tagged": lambda frame: query.tagged(frame, "计划"),
    "between": lambda frame: query.between(frame, "2025-02-01", "2025-02-28"),
    "recent": lambda frame: query.recent(frame, 3, today="2025-02-03"),
    "matching": lambda frame: query.matching(frame, "t"),
    "newest_first": query.newest_first,
}


@pytest.mark.parametrize("ask", FILTERS.values(), ids=FILTERS)
def test_an_answer_has_the_schema_and_a_fresh_index(ask, week):
    for frame in (week, week.iloc[::2], schema.frame(schema.ENTRIES)):
        answer = ask(frame)
        assert answer.dtypes.to_dict() == schema.ENTRIES
        assert list(answer.columns) == list(schema.ENTRIES)
        assert answer.index.equals(pd.RangeIndex(len(answer)))


@pytest.mark.parametrize("ask", FILTERS.values(), ids=FILTERS)
def test_an_answer_is_the_callers_and_the_frame_stays(ask, week):
    before = week.copy(deep=True)
    answer = ask(week)
    assert len(answer)
    answer["text"] = "changed"
    answer.loc[0, "line"] = 99
    pdt.assert_frame_equal(week, before)


def test_tagged_is_the_whole_tag_in_any_case_and_width(week):
    assert texts(query.tagged(week, "idea")) == ["t3", "t1"]
    assert texts(query.tagged(week, "[IDEA]")) == ["t3", "t1"]
    assert texts(query.tagged(week, " 计划 ")) == ["t4", "t0"]
    assert texts(query.tagged(week, "计")) == []


def test_a_dash_stands_for_no_tag(week):
    assert texts(query.tagged(week, "-")) == ["t5", "t2"]
    assert texts(query.tagged(week, "[-]")) == ["t5", "t2"]


@pytest.mark.parametrize("tag", ["", " \u3000", "[]", "[ ]", None, 7])
def test_a_blank_tag_is_refused(week, tag):
    with pytest.raises(BadArgument, match=r"^tag: "):
        query.tagged(week, tag)


def test_with_the_tags_frame_any_tag_of_an_entry_counts():
    frame = entries(
        {"tag": "tea", "text": "both"}, {"tag": "cup", "text": "one"}, {"text": "none"}, {"path": None, "text": "lost"}
    )
    path = DEFAULTS["path"]
    all_tags = tags((path, 1, "tea"), (path, 1, "Cup"), (path, 2, "cup"), ("other.md", 3, "cup"))
    assert texts(query.tagged(frame, "CUP", tags=all_tags)) == ["one", "both"]
    assert texts(query.tagged(frame, "cup")) == ["one"]
    assert texts(query.tagged(frame, "-", tags=all_tags)) == ["none", "lost"]
    assert texts(query.tagged(frame, "cup", tags=tags())) == ["one"]


def test_between_holds_both_ends_and_no_undated_entry(week):
    assert texts(query.between(week, "2025-02-01", date(2025, 2, 3))) == ["t3", "t2", "t1"]
    assert texts(query.between(week, "2025-02-28", "2025-02-28")) == ["t4"]
    assert len(query.between(week, "0001-01-01", "9999-12-31")) == 5


@pytest.mark.parametrize(
    ("start", "end", "named"),
    [("2025-02-30", "2025-03-01", "start"), ("2025-02-01", None, "end"), ("2025-02-02", "2025-02-01", "start")],
)
def test_a_window_that_cannot_be_meant_names_its_argument(week, start, end, named):
    with pytest.raises(BadArgument, match=f"^{named}: "):
        query.between(week, start, end)


def test_recent_counts_calendar_days_with_today_and_leaves_the_future_out(week):
    assert texts(query.recent(week, 1, today=date(2025, 2, 28))) == ["t4"]
    assert texts(query.recent(week, 26, today="2025-02-28")) == ["t4", "t3", "t2"]
    assert texts(query.recent(week, np.int64(27), today=datetime(2025, 2, 28, 23, tzinfo=UTC))) == ["t4", "t3", "t2"]
    assert texts(query.recent(week, 10**9, today="2025-02-28")) == ["t4", "t3", "t2", "t1"]


@pytest.mark.parametrize("days", [0, -1, 1.5, True, "3", None])
def test_recent_refuses_a_number_of_days_that_is_none(week, days):
    with pytest.raises(BadArgument, match=r"^days: "):
        query.recent(week, days, today="2025-02-28")


def test_newest_first_goes_by_instant_then_date_then_line():
    at = "2025-02-01T08:00:00.000Z"
    frame = entries(
        {"text": "never"},
        {"text": "early line", "date": date(2025, 2, 1), "written_at": at},
        {"text": "late line", "date": date(2025, 2, 1), "written_at": at},
        {"text": "next day", "date": date(2025, 2, 2), "written_at": at},
        {"text": "clock", "date": date(2025, 2, 1), "clock": "08:00:01"},
        {"text": "midnight", "date": date(2025, 2, 1)},
        {"text": "bad clock", "date": date(2025, 2, 1), "clock": "25:00"},
        {"text": "never, later line"},
    )
    order = ["clock", "next day", "late line", "early line", "bad clock", "midnight", "never, later line", "never"]
    assert texts(query.newest_first(frame)) == order
    assert texts(query.newest_first(frame.iloc[::-1])) == order


def test_a_clock_is_read_in_the_zone():
    frame = entries(
        {"text": "clock", "date": date(2025, 2, 1), "clock": "08:30"},
        {"text": "stamp", "date": date(2025, 2, 1), "written_at": "2025-02-01T01:00:00Z"},
    )
    assert texts(query.newest_first(frame)) == ["clock", "stamp"]
    assert texts(query.newest_first(frame, SHANGHAI)) == ["stamp", "clock"]
    assert texts(query.between(frame, "2025-02-01", "2025-02-01", tz=SHANGHAI)) == ["stamp", "clock"]


def test_two_files_of_one_day_stay_together():
    rows = [{"path": path, "line": line, "text": f"{path}{line}"} for path in ("a", "b") for line in (1, 2)]
    assert texts(query.newest_first(entries(*rows))) == ["b2", "b1", "a2", "a1"]


def test_hours_that_a_zone_skips_repeats_or_cannot_hold_are_ordered_without_error():
    frame = entries(
        {"text": "first day", "date": date(1, 1, 1)},
        {"text": "before", "date": date(2025, 3, 30), "clock": "01:59"},
        {"text": "skipped", "date": date(2025, 3, 30), "clock": "02:30"},
        {"text": "after", "date": date(2025, 3, 30), "clock": "03:30"},
        {"text": "twice", "date": date(2025, 10, 26), "clock": "02:30"},
        {"text": "last day", "date": date(9999, 12, 31), "clock": "23:59"},
    )
    order = ["last day", "twice", "after", "skipped", "before", "first day"]
    assert texts(query.newest_first(frame, BERLIN)) == order
    assert texts(query.newest_first(frame, ZoneInfo("America/New_York"))) == order


def test_rows_that_nothing_tells_apart_keep_their_order():
    frame = entries(*({"text": f"t{n}", "date": date(2025, 2, 1), "line": 1} for n in range(50)))
    assert texts(query.newest_first(frame)) == texts(frame)


def test_matching_finds_literal_text_of_any_script_and_length():
    frame = entries(
        {"text": "今天玩成语接龙游戏"},
        {"text": "learn C++ (slowly) .* -x don't"},
        {"text": "ＡＰＩ ﬁx", "tag": "Bug"},
        {"text": "cafe\u0301 ☕"},
    )
    for asked, found in {
        "成语接龙": [1],
        "语": [1],
        "c++": [2],
        "(": [2],
        ".*": [2],
        "-x": [2],
        "DON'T": [2],
        "api FIX": [3],
        "é": [4],
    }.items():
        assert query.matching(frame, asked)["line"].tolist() == found, asked
    assert len(query.matching(frame, "*")) == 1
    assert len(query.matching(frame, "nan")) == 0


def test_and_wants_every_word_or_wants_one_and_a_phrase_stays_whole():
    frame = entries({"text": "山丘 翻唱"}, {"text": "翻唱", "tag": "山丘"}, {"text": "山丘"}, {"text": "翻唱 山丘"})
    assert query.matching(frame, "山丘 翻唱")["line"].tolist() == [4, 2, 1]
    assert query.matching(frame, "山丘 翻唱", mode="OR")["line"].tolist() == [4, 3, 2, 1]
    assert query.matching(frame, '"山丘 翻唱"')["line"].tolist() == [1]
    assert query.matching(frame, "山丘", fields="tag")["line"].tolist() == [2]
    assert query.matching(frame, "山丘", fields=["text"])["line"].tolist() == [4, 3, 1]


def test_a_missing_tag_and_the_seam_of_tag_and_text_match_nothing():
    frame = entries({"text": "看海", "tag": "计划"}, {"text": "看海"})
    for asked in ("划看", "海计", "-", "nan", "none"):
        assert len(query.matching(frame, asked)) == 0, asked


def test_matching_refuses_what_cannot_be_meant(week):
    for kwargs, named in (({"query": " "}, "query"), ({"mode": "xor"}, "mode"), ({"fields": ("text", "date")}, "fields")):
        with pytest.raises(BadArgument, match=f"^{named}: "):
            query.matching(week, **{"query": "t", **kwargs})
    with pytest.raises(BadArgument, match=r"^folded: "):
        query.matching(week.head(2), "t", folded=query.Folded.of(week))
    with pytest.raises(BadArgument, match=r"^fields: .*tag"):
        query.matching(week.drop(columns="tag"), "t")


def test_a_kept_folding_answers_as_a_fresh_one(week):
    kept = query.Folded.of(week)
    assert len(kept) == len(week)
    pdt.assert_frame_equal(
        query.matching(week, "t1 ＩＤＥＡ", mode="or", folded=kept), query.matching(week, "t1 idea", mode="or")
    )


WORDS = st.text(alphabet=st.sampled_from("aAßﬁＡ茶海…①ｶﾞe\u0301ガé한\u11ab❤\ufe0f. +(*"), min_size=1, max_size=8)
ROWS = st.lists(st.tuples(WORDS, st.one_of(st.none(), WORDS)), max_size=12)


@given(
    ROWS,
    st.lists(WORDS, min_size=1, max_size=3),
    st.sampled_from(match.MODES),
    st.sampled_from([("text", "tag"), ("tag",), ("text",)]),
)
def test_the_mask_says_what_folding_and_looking_row_by_row_says(rows, terms, mode, fields):
    frame = entries(*({"text": text, "tag": tag} for text, tag in rows))
    folded = [[match.fold(row[field == "tag"] or "") for field in fields] for row in rows]
    every = all if mode == "and" else any
    expected = [every(any(match.fold(term) in field for field in row) for term in terms) for row in folded]
    assert query.Folded.of(frame).mask(terms, mode, fields=fields).tolist() == expected
    assert [match.matches([match.fold(term) for term in terms], row, mode) for row in folded] == expected


@given(st.lists(st.one_of(WORDS, st.text(max_size=6), st.just("a\0b")), min_size=1, max_size=40), WORDS | st.just("a\0b"))
def test_rare_and_frequent_words_are_found_alike(texts, term):
    folded = query.Folded.of(entries(*({"text": text} for text in texts)), "text")
    told = [match.fold(term) in text for text in folded.text]
    assert folded._in_some(match.fold(term), np.arange(len(texts))).tolist() == told
    for most in (0, 1, len(texts), 10_000):
        found = folded._places(match.fold(term), most)
        if found is not None:
            hit = np.zeros(len(texts), dtype="bool")
            hit[np.searchsorted(folded.starts, found, side="right") - 1] = True
            assert hit.tolist() == told
    assert folded.mask([term], fields="text").tolist() == told


@given(st.lists(st.one_of(st.none(), WORDS, st.text(max_size=10)), max_size=20))
def test_a_column_folds_as_its_texts_one_by_one(values):
    column = pd.Series(values, dtype=schema.STR)
    assert query.fold_column(column) == [match.fold(value or "") for value in values]


def test_a_column_longer_than_a_block_folds_whole():
    values = [f"Ｎ{n} ﬁ…" if n % 5 else f"ｶﾞ{n}" for n in range(20_000)]
    assert query.fold_column(pd.Series(values)) == [match.fold(value) for value in values]


DAYS = st.one_of(st.none(), st.dates(date(2025, 1, 30), date(2025, 2, 2)))
CLOCKS = st.sampled_from([None, "00:00", "08:00", "08:00:30", "23:59"])
STAMPS = st.sampled_from([None, "2025-01-31T23:30:00Z", "2025-02-01T00:00:00.000Z", "2025-02-01T08:00:00+08:00"])


@given(st.lists(st.tuples(DAYS, CLOCKS, STAMPS, st.integers(1, 3)), max_size=10))
def test_the_order_is_that_of_plain_tuples(rows):
    frame = entries(
        *({"text": str(n), "date": d, "clock": c, "written_at": w, "line": line} for n, (d, c, w, line) in enumerate(rows))
    )
    epoch = datetime(1, 1, 1, tzinfo=UTC)

    def instant(day, clock, stamp):
        if stamp or day is None:
            return datetime.fromisoformat(stamp) if stamp else epoch
        return datetime.fromisoformat(f"{day}T{clock or '00:00'}").replace(tzinfo=SHANGHAI)

    keys = [(instant(d, c, w), d or date.min, line) for d, c, w, line in rows]
    expected = sorted(range(len(rows)), key=keys.__getitem__, reverse=True)
    got = [int(text) for text in texts(query.newest_first(frame, SHANGHAI))]
    assert [keys[n] for n in got] == [keys[n] for n in expected]
    assert all(a < b for a, b in pairwise(got) if keys[a] == keys[b])


def test_the_local_hour_is_the_clocks_else_that_of_written_at():
    frame = entries(
        {"clock": "23:59:59", "written_at": "2025-02-01T01:00:00Z"},
        {"written_at": "2025-02-01T17:30:00Z"},
        {"clock": "later"},
        {},
    )
    assert query.local_hours(frame, SHANGHAI).tolist() == [23, 1, -1, -1]
    assert query.local_hours(frame, None).tolist() == [23, 17, -1, -1]
