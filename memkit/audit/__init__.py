"""The audit: runs the rules of a layout over a Snapshot and gives an AuditReport; the rules lie in the other modules.

A clean store has no finding and a fault has one: where a rule of SILENCING speaks of a path, all later rules are silent
about that path, its catalog row and its summaries. The rules of summaries come last, and are silent about every day of whose
file another rule spoke: mending that changes the summary anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from hashlib import sha256

import pandas as pd

from memkit import dates, display, schema
from memkit.audit import archive, common, layers, summaries, workspace
from memkit.audit.finding import Finding, Rule
from memkit.layouts import named
from memkit.model import Role, Snapshot

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
    "hot-broken",
)
OWN_RULES: dict[str, tuple[Rule, ...]] = {
    "archive": archive.RULES,
    "layers": layers.RULES + summaries.RULES,
    "workspace": workspace.RULES,
}


class AuditReport:
    """What an audit found: `.frame` (columns: schema FINDINGS), `.ok`, `.counts` by severity, `.checked` files."""

    def __init__(self, frame: pd.DataFrame, checked: int, explain: Mapping[str, str]):
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


def run(store: Snapshot) -> AuditReport:
    """Return the report of all rules over a snapshot; findings come by path, line and rule."""
    rules = rules_of(store.layout)
    silent = _Silence(store)
    rows = []
    for rule in rules:
        found = [finding for finding in rule.check(store) if not silent.about(finding)]
        rows += [_row(rule, finding) for finding in found]
        silent.add(found, whole=rule.name in SILENCING)
    rows.sort(key=lambda row: (row[2] or "", row[3], row[0]))
    read = sum(1 for path in store.files if path in store.records)
    return AuditReport(schema.rows(schema.FINDINGS, rows), read, {rule.name: rule.sentence for rule in rules})


def _row(rule: Rule, finding: Finding) -> tuple[object, ...]:
    mark = sha256("\0".join((rule.name, finding.path, finding.text)).encode("utf-8", "replace")).hexdigest()[:12]
    return (rule.name, rule.severity, finding.path, finding.line, finding.day, finding.message, finding.fix, mark)


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
