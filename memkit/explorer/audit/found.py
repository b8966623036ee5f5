"""Found: an audit as it is drawn, by rule, each finding with the lines it is about; lines are read when they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from memkit import schema
from memkit.cells import clip
from memkit.explorer.audit.around import Around, around
from memkit.explorer.tab import button, esc
from memkit.explorer.words import Words
from memkit.explorer.words.audit import RULES

if TYPE_CHECKING:
    from memkit.store import Store

SHOWN = 20  # findings of a rule that are shown at first, and that `more` adds
FIRST = 100  # findings that are shown at first in all,
LEAST = 5  # but some of each rule, however many rules there are
ROOM = 240  # columns of a message
SECRET = "secret"


class Group(NamedTuple):
    """The findings of one rule: their rows in the report."""

    severity: str
    rule: str
    rows: list[int]


class Found:
    """An audit of a store, made at once. `report` is it, `shown` how many findings of each rule are shown."""

    def __init__(self, store: Store, say: Words) -> None:
        self._store, self._say = store, say
        self._day, self._state = store._clock().date(), store._fresh()  # from before the audit: what changes later is old
        self.report = store.audit()
        self._groups = _by_rule(self.report.frame)
        first = max(LEAST, min(SHOWN, FIRST // max(1, len(self._groups))))
        self.shown = {group.rule: first for group in self._groups}
        self._hidden = _secret_lines(store, self.report.frame)
        self._around: dict[int, Around] = {}

    def is_current(self) -> bool:
        """Return whether another audit would find the same: a search index may change where no file of the store does."""
        store = self._store
        return store.layout != "workspace" and store._fresh() is self._state and store._clock().date() == self._day

    def more(self, rule: str) -> None:
        """Show more findings of a rule."""
        if rule in self.shown:
            self.shown[rule] += SHOWN

    def html(self) -> str:
        """Return the rules with their findings, folded but for the first."""
        self._read()
        return "".join(self._rule(group, is_open=not place) for place, group in enumerate(self._groups))

    def _read(self) -> None:
        """Read the lines around the findings that are shown and were not before, each file once; never those of a secret."""
        frame = self.report.frame
        shown = {row for group in self._groups if group.rule != SECRET for row in group.rows[: self.shown[group.rule]]}
        rows = sorted(shown - self._around.keys())
        wanted: dict[str, dict[int, int]] = {}
        for row, path, line in zip(rows, frame["path"].iloc[rows], frame["line"].iloc[rows], strict=True):
            if line > 0 and isinstance(path, str):
                wanted.setdefault(path, {})[row] = int(line)
        for path, places in wanted.items():
            found = around(self._store, self._state.facts.get(path), set(places.values()), self._hidden.get(path, ()))
            self._around |= {row: found[line] for row, line in places.items()}

    def _rule(self, group: Group, *, is_open: bool) -> str:
        say, rule, total = self._say, group.rule, len(group.rows)
        rows = group.rows[: self.shown[rule]]
        number = say("audit_of", n=len(rows), total=total) if len(rows) < total else f"{total:,}"
        told = self.report.frame.iloc[rows].to_dict("records")
        items = "".join(self._finding(row, finding) for row, finding in zip(rows, told, strict=True))
        left = min(SHOWN, total - len(rows))
        more = f"<p>{button(say('audit_more', n=left), 'audit.more', rule)}</p>" if left else ""
        why = RULES.get(rule, "") if say.lang == "zh" else self.report.explain.get(rule, "")
        pill = f'<span class="s {group.severity}">{esc(say(f"audit_kind_{group.severity}"))}</span>'
        mend = button(say("audit_mend_rule"), "audit.plan", rule)
        return (
            f'<details data-key="audit {rule}"{" open" if is_open else ""}><summary>{pill} <code>{rule}</code> '
            f'<span class="q">· {esc(number)}</span></summary><div class="bar"><span class="q">{esc(why)}</span>{mend}</div>'
            f'<ul class="{group.severity}">{items}</ul>{more}</details>'
        )

    def _finding(self, row: int, told: Mapping[Any, Any]) -> str:
        path, message, fix = ("" if pd.isna(told[name]) else clip(told[name], ROOM) for name in ("path", "message", "fix"))
        line = int(told["line"])
        where = f"{path}:{line}" if path and line > 0 else path or self._say("audit_whole")
        mend = f'<div class="q">{esc(self._say("audit_fix"))}: <code>{esc(fix)}</code></div>' if fix else ""
        held = Around(why="hidden") if told["rule"] == SECRET and line > 0 else self._around.get(row)
        lines = self._lines(held, line, where) if held else ""
        return f'<li><code class="q">{esc(where)}</code><div>{esc(message)}</div>{mend}{lines}</li>'

    def _lines(self, held: Around, line: int, where: str) -> str:
        """Return the lines around a finding, its own marked, or why there are none."""
        if held.why:
            return f'<div class="q">{esc(self._say(f"audit_{held.why}"))}</div>'
        rows = "".join(self._line(n, text, own=n == line) for n, text in enumerate(held.lines, held.first))
        return f'<pre role="group" aria-label="{esc(self._say("audit_lines", place=where))}">{rows}</pre>'

    def _line(self, number: int, text: str | None, *, own: bool) -> str:
        said = f'<span class="q">{esc(self._say("audit_hidden"))}</span>' if text is None else f"<span>{esc(text)}</span>"
        return f'<span class="l{" at" if own else ""}"><b>{number}</b>{said}</span>'


def _by_rule(frame: pd.DataFrame) -> list[Group]:
    """Return the findings of each rule, the worst severity first, then as the audit met them."""
    found = frame.groupby(["severity", "rule"], observed=True).indices
    rank = list(schema.SEVERITY.categories).index
    keys = sorted(found, key=lambda key: (rank(key[0]), found[key][0]))
    return [Group(str(severity), str(rule), found[severity, rule].tolist()) for severity, rule in keys]


def _secret_lines(store: Store, frame: pd.DataFrame) -> dict[str, set[int]]:
    """Return the lines of each file that a finding calls secret, of an entry all of them."""
    told = frame[(frame["rule"] == SECRET) & (frame["line"] > 0)]
    hidden: dict[str, set[int]] = {}
    if len(told):
        entries = store.entries(dreams=True)[["path", "line", "end_line"]]
        entries = entries[entries["line"].isin(told["line"]) & entries["path"].isin(told["path"])]
        for path, line, end in told[["path", "line"]].merge(entries, how="left").itertuples(index=False):
            hidden.setdefault(path, set()).update(range(line, (line if pd.isna(end) else int(end)) + 1))
    return hidden
