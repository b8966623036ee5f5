"""Volume, gaps and duplicates: their keys, their order, and that totals add up."""

from collections import UserDict
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memkit import schema, stats
from memkit.dates import week_key
from memkit.errors import BadArgument

SHANGHAI = ZoneInfo("Asia/Shanghai")
DEFAULTS = {"kind": "daily", "block": "item", "text": "tea", "path": "memory/2025-02-01.md"}


def entries(*rows):
    """Return an ENTRIES frame of invented rows; `line` counts up unless given."""
    full = [{**DEFAULTS, "line": n, **row} for n, row in enumerate(rows, 1)]
    for row in full:
        row |= {"end_line": row["line"], "chars": len(row["text"] or "")}
    return schema.frame(schema.ENTRIES, {name: [row.get(name) for row in full] for name in schema.ENTRIES})


def on(*days, **more):
    return entries(*({"date": day and date.fromisoformat(day), **more} for day in days))


def keys(frame):
    return [None if pd.isna(key) else key for key in frame.iloc[:, 0].tolist()]


@pytest.mark.parametrize("by", stats.KEYS)
def test_volume_has_the_same_columns_and_dtypes_also_when_empty(by):
    dtypes = {by: schema.DAY if by == "day" else schema.STR, **schema.VOLUME}
    for frame in (on("2025-02-01", None), on(None), schema.frame(schema.ENTRIES)):
        answer = stats.volume(frame, by)
        assert answer.dtypes.to_dict() == dtypes
        assert list(answer.columns) == list(dtypes)
        assert bool(len(answer)) == bool(len(frame))


@pytest.mark.parametrize("by", ["quarter", "", "Month", None, 3, ["day"]])
def test_another_key_is_refused_and_all_are_named(by):
    with pytest.raises(BadArgument, match=r"^by: .*day, week, month, year, weekday, hour, tag, label, kind, path"):
        stats.volume(on("2025-02-01"), by)


def test_volume_counts_entries_characters_bytes_and_days():
    frame = entries(
        {"date": date(2025, 1, 31), "text": "茶茶"},
        {"date": date(2025, 1, 31), "text": "🍵"},
        {"date": date(2025, 2, 1), "text": "tea"},
        {"text": "no day"},
    )
    answer = stats.volume(frame, "month")
    assert keys(answer) == ["2025-01", "2025-02", None]
    assert answer["entries"].tolist() == [2, 1, 1]
    assert answer["chars"].tolist() == [3, 3, 6]
    assert answer["bytes"].tolist() == [10, 3, 6]
    assert answer["active_days"].tolist() == [1, 1, 0]
    assert answer["share"].tolist() == [0.25, 0.25, 0.5]
    assert answer["cumulative_chars"].tolist() == [3, 6, 12]


def test_times_without_entries_are_zeros_between_first_and_last():
    frame = on("2024-12-30", "2025-01-02")
    days = stats.volume(frame, "day")
    assert [str(day.date()) for day in days["day"]] == ["2024-12-30", "2024-12-31", "2025-01-01", "2025-01-02"]
    assert days["entries"].tolist() == [1, 0, 0, 1]
    assert days["cumulative_chars"].tolist() == [3, 3, 3, 6]
    assert keys(stats.volume(on("2024-11-30", "2025-01-02"), "month")) == ["2024-11", "2024-12", "2025-01"]
    assert keys(stats.volume(on("2022-05-05", "2025-01-02"), "year")) == ["2022", "2023", "2024", "2025"]


def test_weeks_go_by_the_iso_week_year():
    assert keys(stats.volume(on("2024-12-30"), "week")) == ["2025-W01"]
    assert keys(stats.volume(on("2021-01-03"), "week")) == ["2020-W53"]
    assert keys(stats.volume(on("2026-12-31", "2027-01-03", "2027-01-04"), "week")) == ["2026-W53", "2027-W01"]


@given(st.dates(), st.integers(0, 800))
def test_every_week_between_two_days_is_listed_once(first, span):
    last = min(date.max, first + timedelta(days=span)) if first < date.max - timedelta(days=span) else date.max
    walk = (date.fromordinal(n) for n in range(first.toordinal(), last.toordinal() + 1))
    assert keys(stats.volume(on(str(first), str(last)), "week")) == list(dict.fromkeys(map(week_key, walk)))


def test_days_as_far_apart_as_days_can_be_are_counted():
    frame = on("0001-01-01", "9999-12-31")
    assert len(stats.volume(frame, "day")) == date.max.toordinal()
    assert keys(stats.volume(frame, "year"))[::9998] == ["0001", "9999"]
    assert keys(stats.volume(frame, "month"))[-1] == "9999-12"


def test_undated_entries_come_last_under_a_missing_key_and_only_if_there_are_any():
    assert keys(stats.volume(on(None, "2025-02-01"), "year")) == ["2025", None]
    assert keys(stats.volume(on(None), "year")) == [None]
    assert stats.volume(on(None), "day")["day"].isna().all()


def test_weekday_lists_all_seven_from_monday():
    answer = stats.volume(on("2025-02-03", "2025-02-09", "2025-02-09", None), "weekday")
    assert keys(answer) == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", None]
    assert answer["entries"].tolist() == [1, 0, 0, 0, 0, 0, 2, 1]
    assert answer["active_days"].tolist() == [1, 0, 0, 0, 0, 0, 1, 0]


def test_hour_is_the_clocks_else_the_local_one_of_written_at():
    frame = entries({"clock": "09:15"}, {"written_at": "2025-02-01T17:30:00Z"}, {})
    answer = stats.volume(frame, "hour", tz=SHANGHAI)
    assert keys(answer) == [*(f"{hour:02d}" for hour in range(24)), None]
    assert answer.set_index("hour")["entries"].loc[["01", "09", "17"]].tolist() == [1, 1, 0]
    assert answer["entries"].tolist()[-1] == 1
    assert stats.volume(frame, "hour").set_index("hour").loc["17", "entries"] == 1


@pytest.mark.parametrize("by", ["tag", "label", "path"])
def test_names_come_by_characters_then_by_key_and_the_missing_one_last(by):
    frame = entries({by: "b"}, {by: "a"}, {by: None, "text": "x" * 50}, {by: "B"}, {by: "茶", "text": "long text"})
    answer = stats.volume(frame, by)
    assert keys(answer) == ["茶", "B", "a", "b", None]
    assert answer["cumulative_chars"].tolist() == [9, 12, 15, 18, 68]


def test_kinds_without_entries_are_not_listed():
    assert keys(stats.volume(entries({"kind": "note"}, {"kind": "daily"}, {"kind": "note"}), "kind")) == ["note", "daily"]


def test_with_the_tags_frame_an_entry_counts_under_each_of_its_tags_once():
    path = DEFAULTS["path"]
    frame = entries(
        {"tag": "tea", "text": "1234"}, {"tag": "cup", "text": "12"}, {"text": "1"}, {"path": None, "tag": "tea", "text": "123"}
    )
    tags = schema.rows(
        schema.TAGS,
        [
            (path, 1, "tea"),
            (path, 1, "cup"),
            (path, 1, "tea"),
            (path, 2, "cup"),
            ("gone.md", 1, "cup"),
            (path, 9, "milk"),
            ("gone.md", 3, "milk"),
        ],
    )
    answer = stats.volume(frame, "tag", tags=tags)
    assert keys(answer) == ["tea", "cup", None]
    assert answer["entries"].tolist() == [2, 2, 1]
    assert answer["chars"].tolist() == [7, 6, 1]
    assert answer["share"].tolist() == [0.7, 0.6, 0.1]
    assert stats.volume(frame, "tag")["chars"].tolist() == [7, 2, 1]
    assert stats.volume(frame, "tag", tags=schema.frame(schema.TAGS))["chars"].tolist() == [7, 2, 1]
    assert len(stats.volume(frame.head(0), "tag", tags=tags)) == 0


DAYS = st.one_of(st.none(), st.dates(date(2024, 12, 20), date(2025, 1, 20)))
NAMES = st.sampled_from([None, "tea", "茶"])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "date": DAYS,
            "tag": NAMES,
            "label": NAMES,
            "text": st.text("茶a🍵", min_size=1, max_size=5),
            "kind": st.sampled_from(["daily", "note"]),
        }
    ),
    max_size=12,
)


@given(ROWS, st.sampled_from(stats.KEYS))
def test_totals_add_up_whatever_the_key(rows, by):
    frame = entries(*rows)
    answer = stats.volume(frame, by)
    assert answer["entries"].sum() == len(rows)
    assert answer["chars"].sum() == sum(len(row["text"]) for row in rows)
    assert answer["bytes"].sum() == sum(len(row["text"].encode()) for row in rows)
    assert answer["share"].sum() == pytest.approx(1.0 if rows else 0.0)
    assert answer["cumulative_chars"].tolist() == np.cumsum(answer["chars"]).tolist()
    assert answer.iloc[:, 0].is_unique
    if by in stats.TIMES:
        assert answer["active_days"].sum() == len({row["date"] for row in rows} - {None})


def test_share_of_entries_without_text_is_zero():
    assert stats.volume(entries({"text": None, "date": date(2025, 2, 1)}), "day")["share"].tolist() == [0.0]


@pytest.mark.parametrize(
    "tokenizer", [len, str.split, lambda text: np.int64(2), lambda text: UserDict(input_ids=text.split(), mask=[])]
)
def test_a_tokenizer_adds_its_sums(tokenizer):
    frame = entries({"tag": "a", "text": "ab"}, {"tag": "b", "text": "b c"}, {"tag": "b", "text": None})
    answer = stats.volume(frame, "tag", tokenizer=tokenizer)
    assert list(answer.columns)[-1] == "tokens"
    assert answer["tokens"].dtype == schema.COUNT
    expected = {len: [3, 2], str.split: [2, 1]}.get(tokenizer)
    assert answer["tokens"].tolist() == (expected or ([2, 2] if tokenizer("x") == 2 else [2, 1]))


def test_a_tokenizer_that_is_none_is_refused():
    for tokenizer in ("cl100k", 3, lambda text: None, lambda text: 1.5):
        with pytest.raises(BadArgument, match=r"^tokenizer: "):
            stats.volume(on("2025-02-01"), "day", tokenizer=tokenizer)
    assert list(stats.volume(schema.frame(schema.ENTRIES), "day", tokenizer=len).columns)[-1] == "tokens"


def test_volume_counts_characters_where_a_frame_has_no_such_column():
    frame = on("2025-02-01", "2025-02-01", text="茶🍵")
    assert stats.volume(frame[["date", "text"]], "month")["chars"].tolist() == [4]


def test_gaps_are_the_runs_of_days_without_entries():
    frame = on("2025-03-01", None, "2025-02-25", "2025-02-25", "2025-02-26", "2025-03-03")
    for given_days in (frame, frame["date"], pd.Index(frame["date"])):
        answer = stats.gaps(given_days)
        assert answer.dtypes.to_dict() == schema.GAPS
        assert answer.astype(str).values.tolist() == [["2025-02-27", "2025-02-28", "2"], ["2025-03-02", "2025-03-02", "1"]]


@pytest.mark.parametrize("days", [(), (None,), ("2025-02-01",), ("2025-02-01", "2025-02-02")])
def test_there_is_no_gap_without_a_day_missing(days):
    answer = stats.gaps(on(*days))
    assert len(answer) == 0
    assert answer.dtypes.to_dict() == schema.GAPS


@given(st.sets(st.dates(date(2025, 1, 1), date(2025, 3, 1)), min_size=1))
def test_gaps_and_days_with_entries_make_up_the_whole_span(days):
    assert stats.gaps(on(*map(str, days)))["days"].sum() + len(days) == (max(days) - min(days)).days + 1


def test_duplicates_group_equal_tag_and_folded_text():
    frame = entries(
        {"text": "Drink ＴＥＡ", "date": date(2025, 2, 3), "path": "b.md"},
        {"text": "drink tea", "date": date(2025, 2, 1), "path": "a.md"},
        {"text": "drink tea", "tag": "plan", "path": "a.md"},
        {"text": "drink tea", "path": "MEMORY.md"},
        {"text": "heartbeat", "tag": "Plan"}, {"text": "heartbeat", "tag": "plan"}, {"text": "heartbeat", "tag": "plan"},
        {"text": None}, {"text": None},
    )  # fmt: skip
    answer = stats.duplicates(frame)
    assert answer.dtypes.to_dict() == schema.DUPLICATES
    assert answer["text"].tolist() == ["drink tea", "heartbeat"]
    assert answer["count"].tolist() == [3, 2]
    assert answer["tag"].fillna("-").tolist() == ["-", "plan"]
    assert answer["first"].tolist() == [pd.Timestamp("2025-02-01"), pd.NaT]
    assert answer["last"].tolist() == [pd.Timestamp("2025-02-03"), pd.NaT]
    assert answer["paths"].tolist() == ["a.md, b.md, MEMORY.md", DEFAULTS["path"]]


def test_duplicates_name_five_paths_and_count_the_rest():
    answer = stats.duplicates(entries(*({"path": f"{n % 7}.md"} for n in range(14))))
    assert answer["paths"].tolist() == ["0.md, 1.md, 2.md, 3.md, 4.md, … +2"]
    assert answer["count"].tolist() == [14]


def test_duplicates_as_frequent_come_by_first_appearance():
    rows = [("tea", "plan"), ("cup", None), ("tea", "plan"), ("tea", None), ("tea", None), ("cup", None)]
    answer = stats.duplicates(entries(*({"text": text, "tag": tag} for text, tag in rows)))
    assert answer["text"].tolist() == ["tea", "cup", "tea"]
    assert answer["tag"].fillna("-").tolist() == ["plan", "-", "-"]


def test_without_repeats_there_are_no_duplicates():
    for frame in (schema.frame(schema.ENTRIES), entries({"text": "a"}, {"text": "b"})):
        answer = stats.duplicates(frame)
        assert len(answer) == 0
        assert answer.dtypes.to_dict() == schema.DUPLICATES


@given(st.lists(st.tuples(st.sampled_from(["tea", "Tea", "茶"]), NAMES, DAYS), max_size=15))
def test_duplicates_are_what_counting_one_by_one_finds(rows):
    answer = stats.duplicates(entries(*({"text": text, "tag": tag, "date": day} for text, tag, day in rows)))
    groups = {}
    for text, tag, day in rows:
        groups.setdefault((tag, text.lower()), []).append(day)
    expected = {}
    for key, days in groups.items():
        dated = [day for day in days if day]
        if len(days) > 1:
            expected[key] = (len(days), min(dated, default=None), max(dated, default=None))
    got = {
        (None if pd.isna(row.tag) else row.tag, row.text.lower()): (
            row.count_,
            *(None if pd.isna(d) else d.date() for d in (row.first, row.last)),
        )
        for row in answer.rename(columns={"count": "count_"}).itertuples()
    }
    assert got == expected
    assert answer["count"].is_monotonic_decreasing
