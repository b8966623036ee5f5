"""Rules of stored summaries: out of date, missing, over their budget, or saying what no entry says.

A summary has at most one fault, and one that is made from a faulty or missing summary has none of its own: mending the lower
one, and making the upper one afresh, mends both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memkit.audit.finding import Finding, Rule
from memkit.dates import PERIODS, key_of, period_days
from memkit.model import Snapshot, StoredSummary
from memkit.summaries import LIMITS, weighed
from memkit.tracing import NOWHERE, origins

_Faults = dict[str, list[Finding]]


def summary_stale(store: Snapshot) -> Iterator[Finding]:
    """A summary no longer says what its sources say.

    Bad: an entry was added to the day after its summary was made. Good: the summary made afresh.
    """
    yield from _faults(store)["summary-stale"]


def summary_line_not_in_source(store: Snapshot) -> Iterator[Finding]:
    """A line of a summary is no entry of its period: nobody remembered that.

    Bad: a sentence written into a summary by hand. Good: entries alone, whole or cut with `…`.
    """
    yield from _faults(store)["summary-line-not-in-source"]


def summary_over_budget(store: Snapshot) -> Iterator[Finding]:
    """The entry lines of a summary are longer than its level allows.

    Bad: a week of 1,200 characters. Good: at most 1,500 a day, 1,000 a week, 700 a month.
    """
    yield from _faults(store)["summary-over-budget"]


def summary_missing(store: Snapshot) -> Iterator[Finding]:
    """A finished period with entries has no summary, while others of its kind have one.

    Bad: entries in 2025-W05, and no summaries/week/2025-W05.md. Good: one for each week that is over.
    """
    for path, period in _missing(store).items():
        yield Finding(path, 0, "it is not there", f"summarize_all({period!r})")


def _missing(store: Snapshot) -> dict[str, str]:
    """Return the path and the period of each summary that is missing."""
    if store.sources is None or not store.sources.stored:
        return {}
    held = {summary.period for summary in store.sources.stored.values()}
    days = store.sources.days()
    keys = {period: dict.fromkeys(key_of(period, day) for day in days) for period in PERIODS if period in held}
    return {
        f"summaries/{period}/{key}.md": period
        for period in keys
        for key in keys[period]
        if period_days(period, key)[-1] < store.today
        and not store.sources.path_of(period, key)
        and any(weighed(period, store.sources.of(period, key)))
    }


def _faults(store: Snapshot) -> _Faults:
    return store.once("summaries", lambda: _found(store))


def _found(store: Snapshot) -> _Faults:
    """Return the findings of stored summaries by rule, lower levels judged first."""
    found: _Faults = {"summary-stale": [], "summary-line-not-in-source": [], "summary-over-budget": []}
    if store.sources is None or not store.sources.stored:
        return found
    held = sorted(store.sources.stored.items(), key=lambda item: PERIODS.index(item[1].period))
    places = dict(zip(dict(held), origins([summary for _, summary in held], store.entries), strict=True))
    troubled = set(_missing(store))
    for path, summary in held:
        if not troubled.isdisjoint((*store.sources.made_from(path), *summary.sources)):
            troubled.add(path)
            continue
        rule, findings = _fault(store, path, summary, places[path])
        if findings:
            found[rule] += findings
            troubled.add(path)
    return found


def _fault(store: Snapshot, path: str, summary: StoredSummary, places: Iterable[int]) -> tuple[str, list[Finding]]:
    """Return the one fault of a summary, and its findings; none if it has none."""
    again = f"summarize({summary.period!r}, {summary.key!r}, force=True)"
    day = period_days(summary.period, summary.key)[0]
    if store.sources.is_behind(path):
        if any(weighed(summary.period, store.sources.of(summary.period, summary.key))):
            return "summary-stale", [Finding(path, 0, "its sources changed since it was made", again, day)]
        return "summary-stale", [Finding(path, 0, "no entry of its period is left", "", day)]
    lines = zip(summary.at, summary.lines, places, strict=True)
    said = "no entry of this period says this"
    invented = [Finding(path, at, said, again, day, text) for at, text, place in lines if place == NOWHERE]
    if invented:
        return "summary-line-not-in-source", invented
    used, budget = sum(len(line) + 1 for line in summary.lines), LIMITS[summary.period].budget
    if used > budget:
        return "summary-over-budget", [Finding(path, 0, f"{used:,} characters of at most {budget:,}", again, day)]
    return "", []


RULES = (
    Rule("warning", summary_stale),
    Rule("error", summary_line_not_in_source),
    Rule("warning", summary_over_budget),
    Rule("info", summary_missing),
)
