"""`df.memory`: chains, frames with fewer columns, and errors that say what is missing."""

from datetime import date, datetime, timedelta

import pandas as pd
import pandas.testing as pdt
import pytest

import memkit.accessor  # noqa: F401  (it registers df.memory)
from memkit import dates, query, schema, stats
from memkit.errors import BadArgument


@pytest.fixture
def frame():
    days = [date(2025, 2, 1), date(2025, 2, 3), date(2025, 2, 3), date(2025, 2, 9), None]
    return schema.frame(
        schema.ENTRIES,
        {
            "date": days, "tag": ["计划", "Idea", "计划", None, "计划"], "text": ["看海", "tea", "Tea", "tea", "看海"],
            "kind": ["daily"] * 5, "block": ["item"] * 5, "section": [None] * 5, "clock": ["09:00", None, None, None, None],
            "written_at": [None] * 5, "label": [None] * 5, "task": [None] * 5, "chars": [2, 3, 3, 3, 2],
            "path": ["a.md", "b.md", "b.md", "c.md", "MEMORY.md"], "line": [1, 1, 2, 1, 1], "end_line": [1, 1, 2, 1, 1],
        },
    )  # fmt: skip


def test_filters_chain_and_answer_as_the_functions_do(frame):
    answer = frame.memory.tagged("计划").memory.recent(7, today="2025-02-07")
    pdt.assert_frame_equal(answer, query.recent(query.tagged(frame, "计划"), 7, today=date(2025, 2, 7)))
    assert answer["text"].tolist() == ["Tea", "看海"]
    pdt.assert_frame_equal(frame.memory.between("2025-02-03", "2025-02-09"), query.between(frame, "2025-02-03", "2025-02-09"))
    pdt.assert_frame_equal(frame.memory.matching("TEA 计划"), query.matching(frame, "tea 计划"))
    pdt.assert_frame_equal(frame.memory.matching("tea", fields="tag"), query.matching(frame, "tea", fields=("tag",)))
    assert len(frame.memory.matching("海 idea", mode="or")) == 3


def test_sums_answer_as_the_functions_do(frame):
    pdt.assert_frame_equal(frame.memory.volume("month"), stats.volume(frame, "month"))
    pdt.assert_frame_equal(frame.memory.volume("tag", tokenizer=len), stats.volume(frame, "tag", tokenizer=len))
    pdt.assert_frame_equal(frame.memory.gaps(), stats.gaps(frame))
    pdt.assert_frame_equal(frame.memory.duplicates(), stats.duplicates(frame))
    assert len(frame.memory.duplicates()) == 1


def test_hours_are_read_in_the_zone_asked_for(frame):
    frame["written_at"] = pd.Timestamp("2025-02-01T20:30:00Z").as_unit("ms")
    hours = frame.memory.volume("hour", tz="Asia/Shanghai")
    assert hours.loc[hours["entries"] > 0, "hour"].tolist() == ["04", "09"]


def test_recent_ends_on_the_machines_day_unless_told(frame):
    today = datetime.now(dates.zone(None)).date()
    frame["date"] = schema.days([today - timedelta(days=n) for n in (0, 1, 2, 400, -3)])
    assert frame.memory.recent(3)["text"].tolist() == ["看海", "tea", "Tea"]


def test_nothing_is_kept_in_attrs_or_in_the_frame(frame):
    before = frame.copy(deep=True)
    answers = [
        frame.memory.tagged("-"),
        frame.memory.between("2025-02-01", "2025-02-02"),
        frame.memory.recent(1),
        frame.memory.matching("tea"),
        frame.memory.volume("day"),
        frame.memory.gaps(),
        frame.memory.duplicates(),
    ]
    assert all(answer.attrs == {} for answer in [frame, *answers])
    pdt.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("columns", "ask", "rows"),
    [
        (["text"], lambda memory: memory.matching("tea"), 3),
        (["tag"], lambda memory: memory.matching("idea"), 1),
        (["tag"], lambda memory: memory.tagged("计划"), 3),
        (["date"], lambda memory: memory.between("2025-02-01", "2025-02-03"), 3),
        (["date", "line"], lambda memory: memory.recent(9, today="2025-02-09"), 4),
    ],
)
def test_filters_need_only_the_columns_they_look_at(frame, columns, ask, rows):
    answer = ask(frame[columns].memory)
    assert answer.dtypes.to_dict() == {column: schema.ENTRIES[column] for column in columns}
    assert len(answer) == rows
    with pytest.raises(BadArgument, match="no column"):
        ask(frame[["kind"]].memory)


@pytest.mark.parametrize(
    ("columns", "ask"),
    [
        (["date", "text"], lambda memory: memory.volume("week")),
        (["date", "text", "tag"], lambda memory: memory.volume("tag")),
        (["date"], lambda memory: memory.gaps()),
        (["date", "tag", "text", "path"], lambda memory: memory.duplicates()),
    ],
)
def test_sums_need_only_the_columns_they_look_at(frame, columns, ask):
    pdt.assert_frame_equal(ask(frame[columns].memory), ask(frame.memory))
    for column in columns:
        with pytest.raises(BadArgument, match=f"no column {column}"):
            ask(frame.drop(columns=column).memory)


def test_a_missing_column_is_named(frame):
    with pytest.raises(BadArgument, match="no column date, path"):
        frame[["text", "tag"]].memory.duplicates()
    with pytest.raises(BadArgument, match="no column tag"):
        frame[["text"]].memory.matching("tea", fields=("text", "tag"))


def test_dates_and_times_of_another_kind_are_refused_by_name(frame):
    with pytest.raises(BadArgument, match="column date: str"):
        frame.assign(date=frame["date"].astype("str")).memory.recent(3)
    with pytest.raises(BadArgument, match="column written_at: "):
        frame.assign(written_at=frame["date"]).memory.tagged("计划")


def test_days_of_another_unit_and_plain_columns_will_do():
    frame = pd.DataFrame(
        {
            "date": pd.to_datetime(["2025-02-03", "2025-02-05"]),
            "text": ["茶", None],
            "tag": pd.Series(["a", None], dtype=object),
        }
    )
    assert frame.memory.recent(3, today="2025-02-03")["text"].tolist() == ["茶"]
    assert frame.memory.volume("day")["chars"].tolist() == [1, 0, 0]
    assert frame.memory.gaps()["days"].tolist() == [1]
    assert len(frame.memory.tagged("-")) == 1


def test_bad_arguments_are_told_as_everywhere(frame):
    for ask, named in (
        (lambda: frame.memory.recent(0), "days"),
        (lambda: frame.memory.volume("quarter"), "by"),
        (lambda: frame.memory.volume("hour", tz="Mars/Base"), "tz"),
        (lambda: frame.memory.matching(" "), "query"),
        (lambda: frame.memory.matching("tea", fields=("path",)), "fields"),
    ):
        with pytest.raises(BadArgument, match=f"^{named}: "):
            ask()
