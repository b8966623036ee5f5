"""The audit: runs the rules of a layout over a Snapshot and gives an AuditReport; the rules lie in the other modules.

A clean store has no finding and a fault has one: where a rule of SILENCING speaks of a path, all later rules are silent
about that path, its catalog row and its summaries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from hashlib import sha256

import pandas as pd

from memkit import dates, display, schema
from memkit.audit import archive, common, layers, workspace
from memkit.audit.finding import Finding, Rule
from memkit.layouts import named
from memkit.model import Snapshot

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
OWN_RULES: dict[str, tuple[Rule, ...]] = {"archive": archive.RULES, "layers": layers.RULES, "workspace": workspace.RULES}


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
    return tuple(sorted(rules, key=lambda rule: rank.get(rule.name, len(SILENCING))))


def run(store: Snapshot) -> AuditReport:
    """Return the report of all rules over a snapshot; findings come by path, line and rule."""
    rules = rules_of(store.layout)
    silent = _Silence(store)
    rows = []
    for rule in rules:
        found = [finding for finding in rule.check(store) if not silent.about(finding)]
        rows += [_row(rule, finding) for finding in found]
        if rule.name in SILENCING:
            silent.add(found)
    rows.sort(key=lambda row: (row[2] or "", row[3], row[0]))
    read = sum(1 for path in store.files if path in store.records)
    return AuditReport(schema.rows(schema.FINDINGS, rows), read, {rule.name: rule.sentence for rule in rules})


def _row(rule: Rule, finding: Finding) -> tuple[object, ...]:
    mark = sha256("\0".join((rule.name, finding.path, finding.text)).encode("utf-8", "replace")).hexdigest()[:12]
    return (rule.name, rule.severity, finding.path, finding.line, finding.day, finding.message, finding.fix, mark)


class _Silence:
    """The paths and days that an earlier, graver rule already spoke of."""

    def __init__(self, store: Snapshot):
        self._store = store
        self._paths: set[str] = set()
        self._days: set[date] = set()

    def add(self, findings: list[Finding]) -> None:
        for finding in findings:
            self._paths.add(finding.path)
            fact = self._store.files.get(finding.path)
            role = fact.role if fact is not None else named(self._store.layout).role(finding.path)
            if role.day is not None and not role.derived:
                self._days.add(role.day)

    def about(self, finding: Finding) -> bool:
        if finding.path in self._paths:
            return True
        fact = self._store.files.get(finding.path)
        if fact is None or not fact.role.derived or not self._days:
            return bool(finding.day in self._days and finding.path.startswith("catalog/"))
        return finding.day in self._days or any(day in self._days for day in self._covered(finding.path))

    def _covered(self, path: str) -> Iterator[date]:
        """Yield the days of a summary file's period."""
        record = self._store.records.get(path)
        if record is not None and record.summary is not None:
            yield from dates.period_days(record.summary.period, record.summary.key)
