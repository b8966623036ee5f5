"""Local days, ISO weeks, months, windows and the clock; nothing here knows about files or frames.

A day is a `datetime.date`, a week key is `2026-W43` (ISO week-year), a month key `2026-10`. Windows are closed at both ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from memkit.errors import BadArgument

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WEEK = re.compile(r"([0-9]{4})-W([0-9]{2})")
_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")

PERIODS = ("day", "week", "month")
Clock = Callable[[], datetime]


def parse_day(text: str) -> date | None:
    """Return the day that `YYYY-MM-DD` names (ASCII digits, a real date), else None."""
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def as_day(value: object, name: str) -> date:
    """Return `value` (a date, a datetime, a Timestamp or `YYYY-MM-DD`) as a day.

    Raises: BadArgument, naming the argument.
    """
    if isinstance(value, datetime):
        if value != value:  # NaT is a datetime that equals nothing
            raise BadArgument(f"{name}: a missing date; expected a real date as YYYY-MM-DD")
        return value.date()
    if isinstance(value, date):
        return value
    day = parse_day(value) if isinstance(value, str) else None
    if day is None:
        raise BadArgument(f"{name}: {str(value)[:40]!r} is not a day; expected a real date as YYYY-MM-DD")
    return day


def window(start: object, end: object, *, names: tuple[str, str] = ("start", "end")) -> tuple[date, date]:
    """Return both ends of a closed window as days.

    Raises: BadArgument if an end is no day or the first is after the last.
    """
    first, last = as_day(start, names[0]), as_day(end, names[1])
    if first > last:
        raise BadArgument(f"{names[0]}: {first} is after {names[1]} {last}; swap them")
    return first, last


def recent_window(today: date, days: int) -> tuple[date, date]:
    """Return the window of the last `days` calendar days, today among them.

    Raises: BadArgument if `days` is not a whole number of at least 1.
    """
    if isinstance(days, bool) or not isinstance(days, int) or days < 1:
        raise BadArgument(f"days: {days!r}; expected a whole number of at least 1")
    return date.fromordinal(max(1, today.toordinal() - days + 1)), today


def span_days(start: date, end: date) -> int:
    """Return how many days the closed window holds."""
    return (end - start).days + 1


def week_key(day: date) -> str:
    """Return the ISO week of a day, by ISO week-year: 2024-12-30 is in 2025-W01."""
    year, week, _ = day.isocalendar()
    return f"{year:04d}-W{week:02d}"


def month_key(day: date) -> str:
    """Return the month of a day as YYYY-MM."""
    return f"{day.year:04d}-{day.month:02d}"


def week_days(key: str) -> list[date]:
    """Return the seven days of an ISO week, Monday first.

    Raises: BadArgument if the key names no week.
    """
    match = _WEEK.fullmatch(key)
    try:
        monday = date.fromisocalendar(int(match[1]), int(match[2]), 1) if match else None
    except ValueError:
        monday = None
    if monday is None:
        raise BadArgument(f"week: {key[:40]!r} is not an ISO week; expected GGGG-Www, such as 2026-W43")
    return [monday + timedelta(days=n) for n in range(7) if monday.toordinal() + n <= date.max.toordinal()]


def month_days(key: str) -> list[date]:
    """Return all days of a month.

    Raises: BadArgument if the key names no month.
    """
    match = _MONTH.fullmatch(key)
    if match is None or key.startswith("0000"):
        raise BadArgument(f"month: {key[:40]!r} is not a month; expected YYYY-MM, such as 2026-10")
    first = date(int(match[1]), int(match[2]), 1)
    last = first.toordinal() + 27
    while last < date.max.toordinal() and date.fromordinal(last + 1).month == first.month:
        last += 1
    return [date.fromordinal(n) for n in range(first.toordinal(), last + 1)]


def month_weeks(key: str) -> list[str]:
    """Return every ISO week that touches the month, ascending."""
    return list(dict.fromkeys(week_key(day) for day in month_days(key)))


def check_period(period: str) -> str:
    """Return the period in lower case: day, week or month.

    Raises: BadArgument for another word.
    """
    folded = period.casefold() if isinstance(period, str) else ""
    if folded not in PERIODS:
        raise BadArgument(f"period: {str(period)[:40]!r}; expected day, week or month")
    return folded


def period_key(period: str, day: date) -> str:
    """Return the key of the period that holds the day: `2026-10-21`, `2026-W43` or `2026-10`."""
    return {"day": date.isoformat, "week": week_key, "month": month_key}[period](day)


def key_of(period: str, value: object) -> str:
    """Return the key of the period that a day lies in, or that a text names by its own key.

    Raises: BadArgument if it is neither.
    """
    if period == "day" or not isinstance(value, str) or not {"week": _WEEK, "month": _MONTH}[period].fullmatch(value):
        try:
            return period_key(period, as_day(value, "date"))
        except BadArgument as error:
            own = {"day": "", "week": ", or a week such as 2026-W43", "month": ", or a month such as 2026-10"}[period]
            raise BadArgument(f"{error}{own}") from None
    try:
        period_days(period, value)
    except BadArgument as error:
        raise BadArgument(f"date: {str(error).partition(': ')[2]}") from None
    return value


def period_days(period: str, key: str) -> list[date]:
    """Return the days of a period, ascending.

    Raises: BadArgument if the key names no such period.
    """
    if period == "day":
        return [as_day(key, "day")]
    return week_days(key) if period == "week" else month_days(key)


def zone(tz: str | tzinfo | None) -> tzinfo:
    """Return the zone that decides what "today" is; None means the machine's own.

    Raises: BadArgument if no zone has that name.
    """
    if isinstance(tz, tzinfo):
        return tz
    if tz is None:
        return _machine_zone()
    try:
        return ZoneInfo(tz)
    except (KeyError, ValueError, OSError) as error:
        raise BadArgument(f"tz: no zone is named {str(tz)[:60]!r}; expected a name such as Asia/Shanghai") from error


def _machine_zone() -> tzinfo:
    """Return the machine's named zone; where it has none that can be looked up (`TZ=CST-8`), its offset of now."""
    from tzlocal import get_localzone

    try:
        return get_localzone()
    except (LookupError, ValueError, OSError):
        return datetime.now().astimezone().tzinfo or UTC


def clock_of(now: Clock | datetime | str | None, tz: tzinfo) -> Clock:
    """Return a function that reads the clock in the zone; a fixed `now` makes a clock that stands still.

    Raises: BadArgument for a time without zone or one that is no time.
    """
    if now is None:
        return lambda: datetime.now(UTC).astimezone(tz)
    if isinstance(now, str):
        now = _parse_now(now)
    if not isinstance(now, datetime):
        read = now
        return lambda: _aware(read(), tz)
    fixed = _aware(now, tz)
    return lambda: fixed


def _parse_now(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadArgument(f"now: {text[:40]!r} is no time; expected such as 2025-02-28T21:30+08:00") from None


def _aware(now: datetime, tz: tzinfo) -> datetime:
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise BadArgument("now: a time without zone; expected an aware datetime such as 2025-02-28T21:30+08:00")
    try:
        return now.astimezone(tz)
    except OverflowError:
        raise BadArgument(f"now: {now.isoformat()} lies outside the years 1 to 9999 there") from None
