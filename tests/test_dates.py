"""Days, weeks, months, windows and the clock: calendar arithmetic and readable errors."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memkit import dates
from memkit.errors import BadArgument

property_test = settings(deadline=None)
SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("2026-02-28", True),
        ("2024-02-29", True),
        ("0001-01-01", True),
        ("9999-12-31", True),
        ("2026-02-29", False),
        ("2026-2-3", False),
        ("20260203", False),
        ("2026-00-10", False),
        ("2026-13-01", False),
        ("2026-04-31", False),
        ("2026-01-01T00:00", False),
        ("0000-01-01", False),
        ("２０２６-02-03", False),
        (" 2026-02-03", False),
        ("2026-02-03\n", False),
        ("2026-W05-1", False),
        ("", False),
    ],
)
def test_a_day_is_ten_ascii_characters_and_a_real_date(text, real):
    assert (dates.parse_day(text) is not None) is real


@property_test
@given(st.dates())
def test_a_written_day_is_read_back(day):
    assert dates.parse_day(day.isoformat()) == day


@pytest.mark.parametrize(
    "value", [date(2025, 2, 3), datetime(2025, 2, 3, 23, 59, tzinfo=UTC), pd.Timestamp("2025-02-03 10:00"), "2025-02-03"]
)
def test_a_day_may_be_given_as_date_time_or_text(value):
    assert dates.as_day(value, "date") == date(2025, 2, 3)


@pytest.mark.parametrize("value", ["2025-02-30", "yesterday", "", 20250203, None, pd.NaT, 3.5, ["2025-02-03"]])
def test_what_is_no_day_is_refused_by_the_arguments_name(value):
    with pytest.raises(BadArgument, match=r"^from: .*expected a real date as YYYY-MM-DD$"):
        dates.as_day(value, "from")


@pytest.mark.parametrize(
    ("day", "week"),
    [
        ("2026-10-21", "2026-W43"),
        ("2026-12-31", "2026-W53"),
        ("2027-01-01", "2026-W53"),
        ("2027-01-03", "2026-W53"),
        ("2027-01-04", "2027-W01"),
        ("2024-12-29", "2024-W52"),
        ("2024-12-30", "2025-W01"),
        ("2021-01-03", "2020-W53"),
        ("2020-12-31", "2020-W53"),
        ("2015-12-31", "2015-W53"),
        ("2000-01-01", "1999-W52"),
        ("2032-12-31", "2032-W53"),
        ("2033-01-01", "2032-W53"),
    ],
)
def test_a_week_belongs_to_its_iso_year(day, week):
    assert dates.week_key(date.fromisoformat(day)) == week


@pytest.mark.parametrize(
    ("week", "first", "last"),
    [
        ("2026-W53", "2026-12-28", "2027-01-03"),
        ("2027-W01", "2027-01-04", "2027-01-10"),
        ("2020-W53", "2020-12-28", "2021-01-03"),
        ("2026-W01", "2025-12-29", "2026-01-04"),
    ],
)
def test_a_week_has_seven_days_from_monday(week, first, last):
    days = dates.week_days(week)
    assert (str(days[0]), str(days[-1]), len(days)) == (first, last, 7)


@property_test
@given(st.dates(max_value=date(9999, 12, 31)))
def test_each_period_holds_the_day_it_is_named_after(day):
    for period in dates.PERIODS:
        key = dates.period_key(period, day)
        days = dates.period_days(period, key)
        assert day in days
        assert all(after - before == timedelta(1) for before, after in pairwise(days))
        assert {dates.period_key(period, other) for other in days} == {key}


@pytest.mark.parametrize(
    ("month", "weeks"),
    [
        ("2026-02", ["2026-W05", "2026-W06", "2026-W07", "2026-W08", "2026-W09"]),
        ("2027-01", ["2026-W53", "2027-W01", "2027-W02", "2027-W03", "2027-W04"]),
        ("2024-12", ["2024-W48", "2024-W49", "2024-W50", "2024-W51", "2024-W52", "2025-W01"]),
        ("2021-01", ["2020-W53", "2021-W01", "2021-W02", "2021-W03", "2021-W04"]),
        ("2026-11", ["2026-W44", "2026-W45", "2026-W46", "2026-W47", "2026-W48", "2026-W49"]),
    ],
)
def test_a_month_touches_these_weeks(month, weeks):
    assert dates.month_weeks(month) == weeks


@pytest.mark.parametrize(
    "key", ["2025-W53", "2026-W00", "2026-W54", "2026-w01", "2026-W1", "2026W01", "0000-W01", "", "x" * 99]
)
def test_what_is_no_week_is_refused(key):
    with pytest.raises(BadArgument, match=r"^week: .* is not an ISO week; expected GGGG-Www, such as 2026-W43$"):
        dates.week_days(key)


@pytest.mark.parametrize("key", ["2026-13", "2026-00", "2026-1", "202601", "0000-01", "２０２６-01", ""])
def test_what_is_no_month_is_refused(key):
    with pytest.raises(BadArgument, match=r"^month: .* is not a month; expected YYYY-MM, such as 2026-10$"):
        dates.month_days(key)


def test_the_ends_of_the_calendar_have_days():
    assert len(dates.month_days("9999-12")) == 31
    assert dates.month_days("0001-01")[0] == date.min
    assert dates.week_days("9999-W52")[-1] == date(9999, 12, 31)
    assert dates.recent_window(date(1, 1, 5), 30) == (date.min, date(1, 1, 5))


@pytest.mark.parametrize(
    ("today", "days", "first"),
    [
        ("2026-10-21", 3, "2026-10-19"),
        ("2026-10-21", 1, "2026-10-21"),
        ("2026-03-01", 2, "2026-02-28"),
        ("2024-03-01", 2, "2024-02-29"),
    ],
)
def test_recent_days_are_calendar_days_with_today_among_them(today, days, first):
    assert dates.recent_window(date.fromisoformat(today), days) == (date.fromisoformat(first), date.fromisoformat(today))


@pytest.mark.parametrize("days", [0, -1, 1.5, "3", True, None])
def test_a_number_of_days_that_is_none_is_refused(days):
    with pytest.raises(BadArgument, match=r"^days: .*; expected a whole number of at least 1$"):
        dates.recent_window(date(2025, 2, 28), days)


@pytest.mark.parametrize(
    ("start", "end", "days"),
    [
        ("2026-10-21", "2026-10-21", 1),
        ("2016-10-14", "2026-10-21", 3660),
        ("2016-10-13", "2026-10-21", 3661),
        ("2026-01-01", "2026-12-31", 365),
    ],
)
def test_a_window_counts_both_ends(start, end, days):
    assert dates.span_days(*dates.window(start, end)) == days


def test_a_window_the_wrong_way_round_names_both_arguments():
    with pytest.raises(BadArgument, match=r"^from: 2025-02-04 is after to 2025-02-03; swap them$"):
        dates.window("2025-02-04", "2025-02-03", names=("from", "to"))


@pytest.mark.parametrize("period", ["day", "WEEK", "Month"])
def test_a_period_is_named_in_any_case(period):
    assert dates.check_period(period) == period.lower()


@pytest.mark.parametrize("period", ["year", "", None, 3])
def test_another_period_is_refused(period):
    with pytest.raises(BadArgument, match=r"^period: .*; expected day, week or month$"):
        dates.check_period(period)


def test_a_zone_may_be_named_given_or_the_machines():
    assert dates.zone("Asia/Shanghai") == SHANGHAI
    assert dates.zone(SHANGHAI) is SHANGHAI
    assert dates.zone(None) is not None


@pytest.mark.parametrize("name", ["Asia/Nowhere", "", "../etc/passwd", "/etc/localtime", "\0"])
def test_a_zone_that_is_none_is_refused(name):
    with pytest.raises(BadArgument, match=r"^tz: no zone is named"):
        dates.zone(name)


@pytest.mark.parametrize(
    "now",
    [
        "2025-02-28T16:30:00+00:00",
        datetime(2025, 2, 28, 16, 30, tzinfo=UTC),
        lambda: datetime(2025, 2, 28, 16, 30, tzinfo=UTC),
        pd.Timestamp("2025-02-28T16:30Z"),
    ],
)
def test_today_is_the_day_in_the_zone_and_not_in_utc(now):
    assert dates.clock_of(now, SHANGHAI)().date() == date(2025, 3, 1)
    assert dates.clock_of(now, ZoneInfo("UTC"))().date() == date(2025, 2, 28)


@pytest.mark.parametrize("now", ["2025-02-28T21:30", datetime(2025, 2, 28), "soon", ""])  # noqa: DTZ001
def test_a_time_without_zone_or_that_is_none_is_refused(now):
    with pytest.raises(BadArgument, match=r"^now: "):
        dates.clock_of(now, SHANGHAI)


def test_a_clock_that_gives_a_time_without_zone_is_refused_when_it_is_read():
    clock = dates.clock_of(lambda: datetime(2025, 2, 28), SHANGHAI)  # noqa: DTZ001
    with pytest.raises(BadArgument, match=r"^now: a time without zone"):
        clock()


def test_the_real_clock_runs():
    clock = dates.clock_of(None, SHANGHAI)
    assert clock().tzinfo is SHANGHAI
    assert clock() <= clock()
