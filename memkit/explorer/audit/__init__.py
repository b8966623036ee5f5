"""The tab Audit: what is wrong, and the plan that mends it; how findings look is in found.py, how plans go in planned.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memkit.audit import AuditReport
from memkit.explorer.audit.found import Found
from memkit.explorer.planned import Planned, moment
from memkit.explorer.tab import Place, button, esc, notice
from memkit.explorer.words import Words
from memkit.model import FileFact

if TYPE_CHECKING:
    from memkit.store import Store


class AuditTab:
    """What an audit found, and the plan to mend it; `remark` is what people are told of the last thing they did."""

    def __init__(self, store: Store, say: Words) -> None:
        self._store, self._say = store, say
        self.remark, self.kind = "", "warning"
        self.planned = Planned(store, say, "audit")
        self._found: Found | None = None
        self._seen: dict[str, FileFact] = {}  # the folder as it was audited

    @property
    def report(self) -> AuditReport | None:
        """Return the last audit, None before the first."""
        return self._found.report if self._found else None

    # ---- what can be done ----

    def opened(self) -> None:
        """Audit, unless nothing has changed since the last time; an old plan is dropped."""
        self._tell("")
        held, self._found = self._found, None  # a folder that is gone shows nothing old
        if self.planned.is_old():
            self.planned.discard()
            self._tell(self._say("plan_old"))
        if held is not None and held.is_current():
            self._found = held
        else:
            self.audit()

    def audit(self) -> AuditReport:
        """Audit the store as it is now, and return the report.

        Raises: StoreNotFound.
        """
        self._found = None
        self._seen = moment(self._store)
        self._found = Found(self._store, self._say)
        return self._found.report

    def plan(self, rule: str | None = None) -> None:
        """Plan to mend what was found, of one rule only if it is given; where the folder has changed, it is audited anew.

        Raises: BadArgument for what is no rule; StoreNotFound.
        """
        self._tell("")
        report = self.report
        if report is None or moment(self._store) != self._seen:
            self._tell(self._say("changed") if report is not None else "")
            report = self.audit()
        plan = self.planned.make(lambda: report.fix(rule), of_all=True)
        if not len(plan.edits) and not len(plan.rows):
            self.planned.discard()
            self._tell(self._say("audit_nothing"), "ok")

    def apply(self) -> None:
        """Write what the plan says, and audit again; a plan from before the folder changed is dropped."""
        outcome = self.planned.apply()
        self._tell(outcome.told, "ok" if outcome.done else "error")
        self.audit()

    def discard(self) -> None:
        """Drop the plan."""
        self.planned.discard()
        self._tell("")

    def more(self, rule: str) -> None:
        """Show more findings of a rule."""
        if self._found:
            self._found.more(rule)

    def act(self, action: str, value: str, form: Mapping[str, str]) -> Place | None:
        """Do what a button asks; what it does not know is not done."""
        if action == "again":
            self._found = None
            self.opened()
        elif action == "plan" and (not value or (self._found and value in self._found.shown)):
            self.plan(value or None)
        elif action == "apply" and self.planned.plan is not None:
            self.apply()
        elif action == "discard":
            self.discard()
        elif action == "more":
            self.more(value)
        return None

    def _tell(self, remark: str, kind: str = "warning") -> None:
        self.remark, self.kind = remark, kind

    # ---- how it is shown ----

    def html(self) -> str:
        """Return the findings, the plan above them; before an audit only what people are told."""
        if self._found is None:
            return notice(self.remark, self.kind)
        head = self._head(self._found.report)
        return f'<div class="audit">{head}{notice(self.remark, self.kind)}{self.planned.html()}{self._found.html()}</div>'

    def _head(self, report: AuditReport) -> str:
        say = self._say
        pills = [f'<span class="s {name}">{esc(say(f"audit_{name}", n=n))}</span>' for name, n in report.counts.items()]
        tally = "".join(pills) or f'<span class="s ok">{esc(say("audit_clean"))}</span>'
        mend = button(say("audit_mend"), "audit.plan", key="audit plan", kind="primary") if len(report.frame) else ""
        again = button(say("audit_again"), "audit.again", key="audit again")
        files = f'<span class="q">{esc(say("audit_files", n=report.checked))}</span>'
        return f'<div class="bar"><span>{tally}</span>{files}{mend}{again}</div>'
