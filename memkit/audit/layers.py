"""Rules of the layered store: lines that recall cannot see, hot.md and what it points to, folders, names and days."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta

import numpy as np

from memkit import schema
from memkit.audit import common, content
from memkit.audit.finding import Finding, Rule, more, named_wrong, problems
from memkit.layouts.stored import instant_of
from memkit.model import Hot, Snapshot
from memkit.tables import is_day_file

HOT = "hot.md"
OLD = timedelta(days=30)
# How far from the midnight of its day an instant may lie in some zone: UTC+14 is ahead of all others, UTC-12 behind.
_AHEAD, _BEHIND = np.timedelta64(14, "h"), np.timedelta64(36, "h")


def entry_invisible(store: Snapshot) -> Iterator[Finding]:
    """A list line is no entry, so that recall never finds it.

    Bad: `- 周末想去看海`. Good: `- [2025-02-03T02:10:00.000Z] [计划] 周末想去看海`.
    """
    yield from problems(store, "entry-invisible", "write it as `- [time] [tag] text`")


def topic_ignored(store: Snapshot) -> Iterator[Finding]:
    """A line of the topics block is no topic.

    Bad: `翻唱：2025-02`. Good: `翻唱|2025-02`.
    """
    yield from problems(store, "topic-ignored", "write it as `topic|YYYY-MM`")


def hot_broken(store: Snapshot) -> Iterator[Finding]:
    """A block of hot.md lacks its start or its end.

    Bad: `<!-- topics:start -->` alone. Good: both markers.
    """
    yield from problems(store, "hot-broken", "hot_set() lays the file out again")


def hot_over_limit(store: Snapshot) -> Iterator[Finding]:
    """The body of hot.md is longer than its limit; it is kept whole, and costs that much in each conversation.

    Bad: 601 characters of at most 600. Good: at most 600, the rest in the cold layer.
    """
    for path, hot in _hot(store):
        if len(hot.body) > store.hot_limit:
            told = f"the body has {len(hot.body):,} characters of at most {store.hot_limit:,}"
            yield Finding(path, 0, told, "hot_set() with what matters most")


def candidate_old(store: Snapshot) -> Iterator[Finding]:
    """Candidates for the hot layer wait longer than 30 days.

    Bad: a candidate of 2025-01-03 on 2025-02-28. Good: taken into the body with hot_set(), or out of the block.
    """
    for path, hot in _hot(store):
        held = hot.candidates
        days = [(_local_day(stamp, store.now), place) for place, stamp in enumerate(held.stamp or [])]
        old = sorted((day, place) for day, place in days if day is not None and store.today - day > OLD)
        if old:
            day, place = old[0]
            told = f"{len(old)} of {len(days)} candidates wait longer than {OLD.days} days, the oldest since {day}"
            yield Finding(path, held.line[place], told, "hot_set() with the candidates that are left", text=held.text[place])


def topic_empty(store: Snapshot) -> Iterator[Finding]:
    """A topic points to a month without entries.

    Bad: `翻唱|2023-01` without a file in cold/2023-01. Good: a month in which something was written.
    """
    lost = {path[5:12] for path in store.against["path"] if path not in store.files} if store.against is not None else set()
    filled = {*_months(store), *lost, *_troubled(store), str(store.today)[:7]}  # a topic may come before today's first entry
    told: set[str] = set()
    for path, hot in _hot(store):
        for topic, month, line in hot.topics:
            if month not in filled and month not in told and not _is_unread(store, f"cold/{month}"):
                told.add(month)
                count = [own for _, own, _ in hot.topics].count(month)
                said = f"{month} has no entries, and {count} topic{'s' * (count > 1)} of it"
                yield Finding(path, line, said, "correct the month by hand, or take the line out", text=f"{topic}|{month}")


def month_untopiced(store: Snapshot) -> Iterator[Finding]:
    """No topic leads to a finished month, though other months have some.

    Bad: entries in 2025-01, and topics of 2024-12 and 2025-02 alone. Good: `红水壶|2025-01` among them.
    """
    for path, hot in _hot(store):
        covered = {month for _, month, _ in hot.topics}
        typos = {str(finding.day)[:7] for finding in common.date_outlier(store)}
        ignored = any(problem.rule == "topic-ignored" for problem in store.records[path].problems)
        missing = [month for month in _months(store) if month not in {*covered, *typos} and month < str(store.today)[:7]]
        if covered and missing and not ignored:
            said = f"no topic leads to {more(missing, 6)}"
            yield Finding(path, 0, said, f"topics_add(topic, {missing[0]!r})", text=" ".join(missing))


def partition_mismatch(store: Snapshot) -> Iterator[Finding]:
    """Entries lie in the file of another day than they were written on, in whatever zone that was.

    Bad: an entry stamped 2025-02-10T08:00Z in 2025-02-03.md. Good: the local day of the stamp, also of one made on a journey.
    """
    frame = store.entries
    written = schema.instants(frame["written_at"]).tz_localize(None).to_numpy()
    apart = written - schema.days(frame["date"])
    wrong = frame[(apart < -_AHEAD) | (apart >= _BEHIND)]
    if len(wrong):
        other = (common.future_date, common.date_outlier, content.same_day_twice)
        explained = {finding.path for rule in other for finding in rule(store)}
        for path, rows in wrong.groupby("path", sort=False):
            if path not in explained:
                fact = store.files.get(str(path))
                day = fact.role.day if fact else None
                told = (
                    f"{len(rows)} of its entries belong to another day, the first to {rows['written_at'].iat[0]:%Y-%m-%d} (UTC)"
                )
                yield Finding(
                    str(path),
                    int(rows["line"].iat[0]),
                    told,
                    "move them by hand to the file of their day",
                    day,
                    rows["text"].iat[0],
                )


def _hot(store: Snapshot) -> Iterator[tuple[str, Hot]]:
    return ((record.path, record.hot) for record in store.records.values() if record.hot)


def _local_day(stamp: str | None, now: datetime) -> date | None:
    instant = instant_of(stamp) if stamp else None
    return instant.astimezone(now.tzinfo).date() if instant else None


def _months(store: Snapshot) -> list[str]:
    """Return the months that have entries, ascending."""
    days = store.entries["date"].to_numpy()
    return [str(month) for month in np.unique(days[~np.isnat(days)].astype("datetime64[M]"))]


def _troubled(store: Snapshot) -> set[str]:
    """Return the months of files that are there and gave no entry: another finding says why."""
    return {str(fact.role.day)[:7] for fact in store.files.values() if fact.role.kind == "daily" and fact.role.day}


def _is_unread(store: Snapshot, folder: str) -> bool:
    """Return whether something lies where a month's files would, or the place itself cannot be looked into."""
    above = [store.files[place] for place in ("./", "cold", "cold/", folder, f"{folder}/") if place in store.files]
    return bool(above) or any(
        path.startswith(f"{folder}/") and not fact.role.skipped.startswith("not a") for path, fact in store.files.items()
    )


def wrong_month_folder(store: Snapshot) -> Iterator[Finding]:
    """A cold file lies in the folder of another month.

    Bad: cold/2025-01/2025-02-03.md. Good: cold/2025-02/2025-02-03.md.
    """
    days = [record.role.day for record in store.records.values() if is_day_file(record)]
    for finding in named_wrong(store, "wrong-month-folder", "it lies in another month's folder", "move it"):
        if days.count(finding.day) == 1:
            yield finding


def bad_week(store: Snapshot) -> Iterator[Finding]:
    """A weekly summary is named after a week that does not exist.

    Bad: summaries/week/2025-W53.md. Good: summaries/week/2025-W52.md.
    """
    yield from named_wrong(store, "bad-week", "its name is no ISO week", "rename or delete it")


RULES = (
    Rule("warning", entry_invisible),
    Rule("warning", topic_ignored),
    Rule("warning", hot_broken),
    Rule("warning", hot_over_limit),
    Rule("warning", topic_empty),
    Rule("info", month_untopiced),
    Rule("info", candidate_old),
    Rule("warning", partition_mismatch),
    Rule("warning", wrong_month_folder),
    Rule("warning", bad_week),
)
