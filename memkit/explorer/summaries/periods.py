"""Which days, weeks and months of a year have a summary, as the store's own planning says; no HTML, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np

from memkit import schema
from memkit.dates import PERIODS, period_days, period_key
from memkit.edits.summaries import LOWER_IS_STALE, NOTHING_LEFT
from memkit.errors import BadArgument

if TYPE_CHECKING:
    from memkit.store import Store

# What a period is like: its summary is there and says what its sources say, or is out of date, or is missing; or its days
# are not over; or all its entries are gone. HELD: it has entries, in a store that has no place for summaries.
THERE, STALE, MISSING, UNDER_WAY, ORPHAN, HELD = "there", "stale", "missing", "open", "orphan", "held"
TO_MAKE = (MISSING, STALE)
CHOOSABLE = (*TO_MAKE, UNDER_WAY)

# What the rows of a plan say besides their action.
_LEFT = {LOWER_IS_STALE: STALE, NOTHING_LEFT: ORPHAN}


@dataclass(frozen=True, slots=True)
class Year:
    """One year: what the periods that touch it are like, by key; those without entry and summary are not in it."""

    number: int
    status: dict[str, str] = field(default_factory=dict)

    def keys(self, period: str, status: str) -> list[str]:
        """Return the days, weeks or months that are like that, in order."""
        return [key for key, own in self.status.items() if own == status and level_of(key) == period]


def level_of(key: str) -> str:
    """Return whether a key names a day, a week or a month.

    Raises: BadArgument if it names none.
    """
    period = "week" if "W" in key else "day" if len(key) > len("2026-10") else "month"
    period_days(period, key)
    return period


def in_order(keys: Iterable[str]) -> list[str]:
    """Return keys, each once, in the order in which they are made: days, then weeks, then months, which build on them."""
    return sorted(set(keys), key=lambda key: (PERIODS.index(level_of(key)), key))


def has_place(store: Store, out: object) -> bool:
    """Return whether summaries have a place, in the store or in the folder `out`."""
    return out is not None or store.layout == "layers"


def years_of(store: Store) -> list[int]:
    """Return the years that have entries, ascending."""
    days = schema.days(store.entries()["date"])
    return [day.year for day in np.unique(days[~np.isnat(days)].astype("datetime64[Y]")).tolist()]


def planned(store: Store, number: int, out: object) -> Year:
    """Return a year as it is now.

    Raises: PathError for an `out` inside the store; DiskError, StoreNotFound.
    """
    if not has_place(store, out):
        return Year(number, dict.fromkeys(_with_entries(store, number), HELD))
    status: dict[str, str] = {}
    for period in PERIODS:
        status |= statuses(store, period, date(number, 1, 1), date(number, 12, 31), out)
    return Year(number, status)


def statuses(store: Store, period: str, first: date, last: date, out: object) -> dict[str, str]:
    """Return what the days, weeks or months that touch a window are like, by key.

    Raises: as `planned`.
    """
    today = store._clock().date()
    plan = store.summarize_all(period, since=first, until=last, out=out, dry_run=True, progress=False)  # type: ignore[arg-type]
    found = {}
    for path, action, reason in plan.rows[["row", "action", "reason"]].itertuples(index=False, name=None):
        key = str(path).rpartition("/")[2].removesuffix(".md")
        if action == "create":
            found[key] = UNDER_WAY if period_days(period, key)[-1] >= today else MISSING
        elif action == "rebuild":
            found[key] = STALE
        elif action == "unchanged":
            found[key] = _LEFT.get(str(reason), THERE)
    return found


def status_of(store: Store, key: str, out: object) -> str:
    """Return what one period is like now, "" if it has neither entry nor summary.

    Raises: as `planned`.
    """
    days = period_days(level_of(key), key)
    if has_place(store, out):
        return statuses(store, level_of(key), days[0], days[-1], out).get(key, "")
    return HELD if len(_held(store, days[0], days[-1])) else ""


def _held(store: Store, first: date, last: date) -> list[date]:
    """Return the days of a window that have entries."""
    days = schema.days(store.entries()["date"])
    inside = days[(days >= np.datetime64(first)) & (days <= np.datetime64(last))]
    found: list[date] = np.unique(inside).astype("datetime64[D]").tolist()
    return found


def _with_entries(store: Store, number: int) -> Iterator[str]:
    """Yield the keys of the periods that touch a year and have entries."""
    first = date.fromordinal(first_monday(number))
    last = date.fromordinal(min(date.max.toordinal(), date(number, 12, 31).toordinal() + 6))
    for day in _held(store, first, last):
        keys = (period_key(period, day) for period in PERIODS)
        yield from (key for key in keys if touches(key, number))


def touches(key: str, number: int) -> bool:
    """Return whether a period has a day in a year."""
    days = period_days(level_of(key), key)
    return days[0].year <= number <= days[-1].year


def first_monday(number: int) -> int:
    """Return the ordinal of the Monday of the week that holds the first day of a year."""
    first = date(number, 1, 1)
    return first.toordinal() - first.weekday()


def check(key: object) -> str:
    """Return a key that names a day, a week or a month.

    Raises: BadArgument if it names none.
    """
    if not isinstance(key, str):
        raise BadArgument(f"key: {type(key).__name__}; expected such as 2025-02-03, 2025-W06 or 2025-02")
    level_of(key)
    return key


def days_of_year(number: int) -> list[date]:
    """Return all days of a year."""
    first = date(number, 1, 1)
    return [first + timedelta(days=n) for n in range((date(number, 12, 31) - first).days + 1)]
