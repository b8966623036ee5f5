"""The audit: runs the rules of a layout over a Snapshot and gives an AuditReport; the rules lie in the other modules.

A clean store has no finding and a fault has one: where a rule of SILENCING speaks of a path, all later rules are silent
about that path, its catalog row and its summaries, but for LOUD ones. The rules of summaries come last, and are silent
about every day of whose file another rule spoke: mending that changes the summary anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from hashlib import sha256

import pandas as pd

from memkit import dates, display, schema
from memkit.audit import archive, common, layers, summaries, workspace
from memkit.audit.finding import Finding, Rule
from memkit.audit.settings import Settings, read_settings, settings_of
from memkit.edits import Plan
from memkit.errors import UnsupportedError
from memkit.layouts import named
from memkit.model import Role, Snapshot
from memkit.progress import watched

SILENCING = (
    "unreadable",
    "too-large",
    "link-outside",
    "missing-file",
    "emptied-day",
    "frozen-changed",
    "mixed-encoding",
    "not-utf8",
    "bom",
    "control-character",
    "merge-marker",
    "conflict-copy",
    "yaml-invalid",
    "index-duplicate-key",
    "index-not-one-line",
    "index-unquoted",
    "index-hidden",
    "index-missing",
    "index-copies-body",
    "index-empty-phrase",
    "index-invents",
    "index-misses-entry",
    "index-broken",
    "index-stale",
    "hot-broken",
)
# What no other finding may hide: a secret is at risk whatever else is wrong, and duplicates are of the whole store.
LOUD = frozenset({"secret", "duplicates"})
Mend = Callable[[pd.DataFrame, "str | Iterable[str] | None"], Plan]
OWN_RULES: dict[str, tuple[Rule, ...]] = {
    "archive": archive.RULES,
    "layers": layers.RULES + summaries.RULES,
    "workspace": workspace.RULES,
}


ALL_RULES = tuple(rule.name for rules in (common.RULES, *OWN_RULES.values()) for rule in rules)

__all__ = ["ALL_RULES", "OWN_RULES", "SILENCING", "AuditReport", "Settings", "read_settings", "rules_of", "run", "settings_of"]


class AuditReport:
    """What an audit found: `.frame` (columns: schema FINDINGS), `.ok`, `.counts` by severity, `.checked` files."""

    def __init__(self, frame: pd.DataFrame, checked: int, explain: Mapping[str, str], mend: Mend | None = None):
        self._mend = mend
        self.frame = frame
        self.checked = checked
        self.explain = dict(explain)

    @property
    def counts(self) -> dict[str, int]:
        """Return how many findings there are by severity, worst first; severities without any are left out."""
        counts = self.frame["severity"].value_counts()
        return {name: int(counts[name]) for name in schema.SEVERITY.categories if counts.get(name, 0)}

    @property
    def ok(self) -> bool:
        """Return whether there is no error and no warning (hints may be)."""
        return not self.frame["severity"].isin(["error", "warning"]).any()

    def only(self, rows: pd.Series) -> AuditReport:
        """Return the report of some of its findings: those where `rows` is true."""
        return AuditReport(self.frame[rows].reset_index(drop=True), self.checked, self.explain, self._mend)

    def fix(self, rules: str | Iterable[str] | None = None) -> Plan:
        """Plan to mend what can be mended from the store's own entries, of some rules only if they are given.

        Catalogs and summaries are made afresh, today's index extracted, hot.md laid out, the search index synced. The
        plan's rows say what is left `by hand`, and what to do; conflict copies are shown beside their file, never merged.
        The plan is not applied: look at it, then `plan.apply()`.

        Raises: UnsupportedError for a report that no store made.
        """
        if self._mend is None:
            raise UnsupportedError("fix: this report was made without a store; call audit() of one")
        return self._mend(self.frame, rules)

    def __repr__(self) -> str:
        """Return the report as text."""
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return display.mimebundle(
            lambda: display.report_html(self.frame, self.checked, self.explain),
            lambda: display.report_text(self.frame, self.checked, self.explain),
        )


def rules_of(layout: str) -> tuple[Rule, ...]:
    """Return the rules of a layout, those that silence others first, in the order of SILENCING."""
    rules = common.RULES + OWN_RULES[layout]
    rank = {name: place for place, name in enumerate(SILENCING)}
    last = len(SILENCING) + 1
    return tuple(sorted(rules, key=lambda rule: last if rule in summaries.RULES else rank.get(rule.name, len(SILENCING))))


def run(store: Snapshot, settings: Settings | None = None, mend: Mend | None = None) -> AuditReport:
    """Return the report of all rules over a snapshot; findings come by path, line and rule.

    `settings` switch rules off and set their severity; a rule that is off still silences what it would have silenced.
    """
    rules = rules_of(store.layout)
    asked = settings or Settings()
    silent = _Silence(store)
    rows = []
    for rule in watched(rules, "auditing", "rule", few=2):
        found = [finding for finding in rule.check(store) if rule.name in LOUD or not silent.about(finding)]
        rows += [_row(rule, asked.severity(rule), finding) for finding in found if rule.name not in asked.off]
        silent.add(found, whole=rule.name in SILENCING)
    rows.sort(key=lambda row: (row[2] or "", row[3], row[0]))
    read = sum(1 for path in store.files if path in store.records)
    return AuditReport(schema.rows(schema.FINDINGS, rows), read, {rule.name: rule.sentence for rule in rules}, mend)


def _row(rule: Rule, severity: str, finding: Finding) -> tuple[object, ...]:
    mark = sha256("\0".join((rule.name, finding.path, finding.text)).encode("utf-8", "replace")).hexdigest()[:12]
    return (rule.name, severity, finding.path, finding.line, finding.day, finding.message, finding.fix, mark)


class _Silence:
    """The paths and days that an earlier rule already spoke of: the days of graver ones also hide catalog rows."""

    def __init__(self, store: Snapshot):
        self._store = store
        self._paths: set[str] = set()
        self._days: set[date] = set()
        self._summarised: set[date] = set()

    def add(self, findings: list[Finding], *, whole: bool) -> None:
        """Note what a rule found; `whole` silences the paths themselves."""
        for finding in findings:
            role = self._role(finding.path)
            held = {role.day} if role.day is not None and not role.derived else set()
            self._summarised |= held
            if whole:
                self._paths.add(finding.path)
                self._days |= held

    def about(self, finding: Finding) -> bool:
        """Return whether a finding says nothing new."""
        if finding.path in self._paths:
            return True
        role = self._role(finding.path)
        if role.kind == "summary":
            return not self._summarised.isdisjoint(self._covered(finding.path))
        return finding.day in self._days and (role.derived or finding.path.startswith("catalog/"))

    def _role(self, path: str) -> Role:
        fact = self._store.files.get(path)
        return fact.role if fact is not None else named(self._store.layout).role(path)

    def _covered(self, path: str) -> list[date]:
        """Return the days of the period that a summary's path names."""
        _, period, name = path.split("/")
        return dates.period_days(period, name.removesuffix(".md"))
