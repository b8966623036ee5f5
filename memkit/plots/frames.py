"""What each chart draws, as a frame: sums of `stats` cut to what fits a picture; no colour, no spec, no file in here.

A missing key has a name here (`undated`, `untagged`), because it is drawn. Characters are code points, days are local.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, tzinfo
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from memkit import dates, query, schema, stats
from memkit.cells import clip, count
from memkit.errors import BadArgument
from memkit.model import StoredSummary
from memkit.summaries import LIMITS

MOST = 5_000  # values of one chart: about half a megabyte of spec
NAMED = 9  # colours that can be told apart
ROOM = 40  # columns of one name
SUMMARIES = 12  # stored summaries of one period that are drawn
SPLITS = ("tag", "kind", "label")
MISSING = {"hour": "no hour", "tag": "untagged", "label": "no label", "kind": "no kind"}
UNDATED = "undated"
COVERED = {"catalog": "catalog row", "day": "day summary", "week": "week summary", "month": "month summary"}

_COUNTS: schema.Schema = {"entries": schema.COUNT, "chars": schema.COUNT}
CALENDAR: schema.Schema = {"date": schema.DAY, "week": schema.STR, "weekday": schema.STR, **_COUNTS}
BUDGET: schema.Schema = {
    "period": schema.STR, "key": schema.STR, "chars": schema.COUNT, "limit": schema.COUNT, "over_limit": schema.FLAG,
}  # fmt: skip
COVERAGE: schema.Schema = {
    "month": schema.STR, "what": schema.STR, "days": schema.COUNT, "covered": schema.COUNT, "share": schema.SHARE,
}  # fmt: skip


class Drawn(NamedTuple):
    """A frame to be drawn, all keys of its axis in order (also those without a row), and what was left out."""

    frame: pd.DataFrame
    keys: list[str]
    note: str = ""
    named: int = 0  # how many groups have a name of their own


def volume(entries: pd.DataFrame, by: str, split: str | None, tz: tzinfo) -> Drawn:
    """Return entries and characters by a time; with `split` also by its largest names and their `rank` from 1.

    An entry counts once, under its first tag, so that the parts of a key sum up to it.

    Raises: BadArgument for another `by` or `split`, or for more values than a chart has room for.
    """
    if by not in (*stats.TIMES, *stats.CYCLES):
        raise BadArgument(f"by: {str(by)[:40]!r}; expected {', '.join((*stats.TIMES, *stats.CYCLES))}")
    if split is not None and split not in SPLITS:
        raise BadArgument(f"split: {str(split)[:40]!r}; expected {', '.join(SPLITS)} or None")
    whole = _named(stats.volume(entries, by, tz=tz), by)
    keys = whole[by].tolist()
    groups, named = ([], 0) if split is None else _groups(entries, split)
    frame = whole[[by, "entries", "chars"]] if split is None else _split(entries, by, split, tz, keys, groups)
    if max(len(frame), len(keys)) > MOST:
        raise BadArgument(f"by: {by} makes {max(len(frame), len(keys)):,} bars of at most {MOST:,}; take a longer time")
    return Drawn(frame, keys, named=named)


def _named(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return a volume frame with text keys, none missing."""
    keys = frame[by].dt.strftime("%Y-%m-%d") if frame[by].dtype.kind == "M" else frame[by]
    return frame.assign(**{by: keys.astype(schema.STR).fillna(MISSING.get(by, UNDATED))})


def _split(
    entries: pd.DataFrame, by: str, split: str, tz: tzinfo, keys: list[str], groups: list[tuple[str, Any]]
) -> pd.DataFrame:
    """Return the volume of each group by itself, in order of keys and ranks; only where there is something."""
    parts = []
    for rank, (name, rows) in enumerate(groups, 1):
        part = _named(stats.volume(entries[rows], by, tz=tz), by)
        part = part[part["entries"] > 0]
        parts.append(part.assign(**{split: name, "rank": rank})[[by, split, "rank", "entries", "chars"]])
    if not parts:
        return schema.frame({by: schema.STR, split: schema.STR, "rank": schema.COUNT, **_COUNTS})
    frame = pd.concat(parts, ignore_index=True).astype({split: schema.STR, "rank": schema.COUNT})
    places = {key: place for place, key in enumerate(keys)}
    return frame.iloc[np.lexsort([frame["rank"], frame[by].map(places)])].reset_index(drop=True)


def _groups(entries: pd.DataFrame, split: str) -> tuple[list[tuple[str, Any]], int]:
    """Return (name, rows) of the groups, and how many come first: the largest; then all others, then those without a name."""
    codes, names = query.coded(entries[split])
    chars = np.bincount(codes + 1, weights=entries["chars"], minlength=len(names) + 1)[1:]
    order = sorted(range(len(names)), key=lambda code: (-chars[code], names[code]))
    shown = order if len(order) <= NAMED else order[: NAMED - 1]
    other = [f"other ({count(len(order) - len(shown), split)})"] if len(shown) < len(order) else []
    missing = [MISSING[split]] if (codes < 0).any() else []
    drawn = distinct([*other, *missing, *(names[code] for code in shown)])[len(other) + len(missing) :]
    groups = [(name, codes == code) for name, code in zip(drawn, shown, strict=True)]
    groups += [(name, (codes >= 0) & ~np.isin(codes, shown)) for name in other]
    return groups + [(name, codes < 0) for name in missing], len(shown)


def distinct(names: Iterable[str]) -> list[str]:
    """Return names as they are drawn: visible, of 40 columns at most, those that would look alike numbered."""
    taken: dict[str, None] = {}
    for name in names:
        shown, number = clip(name, ROOM), 1
        while shown in taken:
            number += 1
            shown = f"{clip(name, ROOM - 6)} ({number})"
        taken[shown] = None
    return list(taken)


def tags(volumes: pd.DataFrame, top: int) -> Drawn:
    """Return the tags with most characters, all others in one row at the end; `volumes` is by tag.

    What has no tag would dwarf them: the note says how much it is.

    Raises: BadArgument if `top` is no whole number of at least 1.
    """
    if not isinstance(top, int) or isinstance(top, bool) or top < 1:
        raise BadArgument(f"top: {str(top)[:40]!r}; expected a whole number of at least 1")
    columns = ["entries", "chars"]
    tagged, loose = volumes[volumes["tag"].notna()], volumes[volumes["tag"].isna()]
    rest = tagged[columns].iloc[min(top, MOST) :]
    frame = tagged[["tag", *columns]].head(min(top, MOST))
    other = [f"other ({count(len(rest), 'tag')})"] if len(rest) else []
    names = distinct([*other, *frame["tag"]])
    keys = names[len(other) :] + other
    sums = {name: [*frame[name], *([rest[name].sum()] if other else [])] for name in columns}
    left = f"{int(loose['chars'].sum()):,} characters in {count(int(loose['entries'].sum()), 'entry')} without a tag"
    return Drawn(schema.frame({"tag": schema.STR, **_COUNTS}, {"tag": keys, **sums}), keys, left if len(loose) else "")


def calendar(entries: pd.DataFrame, year: object, today: date) -> Drawn:
    """Return a row for each day of a year, also without entries: date, ISO week, weekday, entries, chars.

    Without `year` the latest with entries, of those that are not in the future if there are any.

    Raises: BadArgument if `year` is none.
    """
    days = query.days_of(entries).astype("datetime64[D]")
    years = sorted(set(days[~np.isnat(days)].astype("datetime64[Y]").astype("int64") + 1970))
    if year is None:
        year = next((one for one in reversed(years) if one <= today.year), years[-1] if years else None)
        if year is None:
            return Drawn(schema.frame(CALENDAR), [], _left_out(len(entries), "a day"))
    if not isinstance(year, int | np.integer) or isinstance(year, bool) or not 1 <= year <= 9999:
        raise BadArgument(f"year: {str(year)[:40]!r}; expected a whole number from 1 to 9999")
    first = np.datetime64(f"{int(year):04d}", "Y")
    held = entries[days.astype("datetime64[Y]") == first]
    return _calendar(np.arange(first.astype("datetime64[D]"), (first + 1).astype("datetime64[D]")), held)


def _calendar(days: Any, entries: pd.DataFrame) -> Drawn:
    place = (query.days_of(entries).astype("datetime64[D]") - days[0]).astype("int64")
    all_days = [day.item() for day in days]
    columns = {
        "date": days,
        "week": [dates.week_key(day) for day in all_days],
        "weekday": [stats.CYCLES["weekday"][day.weekday()] for day in all_days],
        "entries": np.bincount(place, minlength=len(days)),
        "chars": np.bincount(place, weights=entries["chars"], minlength=len(days)).astype("int64"),
    }
    return Drawn(schema.frame(CALENDAR, columns), list(dict.fromkeys(columns["week"])))


def hours(volumes: pd.DataFrame) -> Drawn:
    """Return entries and characters of the 24 hours, no row if none has an hour; the note says how many have none."""
    timed = volumes["hour"].notna()
    frame = volumes.loc[timed, ["hour", "entries", "chars"]]
    frame = frame if frame["entries"].any() else frame.head(0)
    return Drawn(frame, frame["hour"].tolist(), _left_out(int(volumes.loc[~timed, "entries"].sum()), "an hour"))


def growth(entries: pd.DataFrame, tokenizer: stats.Tokenizer | None, tz: tzinfo) -> Drawn:
    """Return sums that grow by day, month or year, the finest that fits, with what was there before in each.

    Columns: the key, entries, chars, cumulative_chars; with a tokenizer tokens and cumulative_tokens too. What has no
    day is left out, and the note says so.
    """
    dated = entries[entries["date"].notna()]
    days = dated["date"]
    span = (days.max() - days.min()).days if len(dated) else 0
    by = "day" if span <= 731 else "month" if span <= 30 * MOST else "year"
    frame = _named(stats.volume(dated, by, tz=tz, tokenizer=tokenizer), by)
    shown = [by, "entries", "chars", "cumulative_chars"]
    if tokenizer is not None:
        frame = frame.assign(cumulative_tokens=frame["tokens"].cumsum().astype(schema.COUNT))
        shown += ["tokens", "cumulative_tokens"]
    return Drawn(frame[shown], frame[by].tolist(), _left_out(len(entries) - len(dated), "a day"))


def _left_out(number: int, lack: str) -> str:
    return f"{count(number, 'entry')} without {lack} left out" if number else ""


def budget(hot: tuple[int, int] | None, stored: Iterable[StoredSummary]) -> Drawn:
    """Return characters against limits: the hot body (characters, limit), and the entry lines of the latest summaries.

    Columns: period (hot, day, week, month), key, chars, limit, over_limit. A summary is measured as the audit does.
    """
    rows = [("hot", "hot", *hot, hot[0] > hot[1])] if hot else []
    notes = []
    held = sorted(stored, key=lambda one: one.key)
    for period, (_, limit) in LIMITS.items():
        own = [one for one in held if one.period == period]
        notes += [f"latest {SUMMARIES} of {len(own):,} {period} summaries"] if len(own) > SUMMARIES else []
        used = [(one.key, sum(len(line) + 1 for line in one.lines)) for one in own[-SUMMARIES:]]
        rows += [(period, key, chars, limit, chars > limit) for key, chars in used]
    frame = schema.rows(BUDGET, rows)
    return Drawn(frame, frame["key"].tolist(), ", ".join(notes))


def coverage(layout: str, days: pd.DataFrame, stored: pd.DataFrame, today: date) -> Drawn:
    """Return by month how many of the days with entries have what their layout makes of them, once their time is over.

    That is a catalog row in `archive`, and a day, week and month summary in `layers`; `workspace` makes neither. `days`
    and `stored` are as in DAYS and SUMMARIES. Columns: month, what, days, covered, share.
    """
    held = days[days["entries"] > 0]
    out = []
    for name in {"archive": ("catalog",), "layers": dates.PERIODS}.get(layout, ()):
        over = [day.date() for day in held["date"]]
        if name == "catalog":
            done = held["catalogued"].tolist()
            ended = [day < today for day in over]
        else:
            keys = [dates.period_key(name, day) for day in over]
            known = set(stored.loc[stored["period"] == name, "key"])
            done = [key in known for key in keys]
            last = {key: dates.period_days(name, key)[-1] for key in set(keys)}
            ended = [last[key] < today for key in keys]
        out += _by_month(name, over, done, ended)
    frame = schema.rows(COVERAGE, sorted(out, key=lambda row: (row[0], list(COVERED.values()).index(row[1]))))
    return Drawn(frame, list(dict.fromkeys(frame["month"])))


def _by_month(name: str, days: Sequence[date], done: Sequence[bool], ended: Sequence[bool]) -> list[tuple[Any, ...]]:
    sums: dict[str, list[int]] = {}
    for day, covered, over in zip(days, done, ended, strict=True):
        if over:
            both = sums.setdefault(dates.month_key(day), [0, 0])
            both[0] += 1
            both[1] += covered
    return [(month, COVERED[name], number, covered, covered / number) for month, (number, covered) in sums.items()]
