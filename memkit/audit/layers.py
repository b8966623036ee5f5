"""Rules of the layered store: lines that recall cannot see, the blocks of hot.md, folders and names."""

from __future__ import annotations

from collections.abc import Iterator

from memkit.audit.finding import Finding, Rule, named_wrong, problems
from memkit.model import Snapshot
from memkit.tables import is_day_file


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
    Rule("warning", wrong_month_folder),
    Rule("warning", bad_week),
)
