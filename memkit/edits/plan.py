"""Plan: what a verb is about to change, or has changed; looked at as a diff, and applied once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from memkit import diffs, display, schema
from memkit.errors import UnsupportedError
from memkit.model import Edit

ROWS: schema.Schema = {"row": schema.STR, "action": schema.STR, "reason": schema.STR}


@dataclass(frozen=True, slots=True)
class Draft:
    """What a verb wants: its edits, a row (row, action, reason) for each thing asked, how many entries are added.

    `notes` are texts to be looked at, such as a conflict copy beside its file. `facts` is what the verb says of itself
    beyond that, a value of its own; the agents' tools answer with it.
    """

    edits: Sequence[Edit] = ()
    rows: tuple[tuple[str, str, str], ...] = ()
    added: int = 0
    warnings: tuple[str, ...] = field(default=())
    facts: Any = None
    notes: tuple[str, ...] = field(default=())


class Plan:
    """A change as edits. `applied` says whether it is on disk; `rows`, `added` and `warnings` say what it does.

    `apply()` checks and writes it; a plan made before another program changed the files raises ConflictError.
    """

    def __init__(self, draft: Draft, apply: Callable[[Sequence[Edit]], None]):
        self.edits: Sequence[Edit] = _changes(draft.edits)
        self.rows: pd.DataFrame = schema.rows(ROWS, draft.rows)
        self.added = draft.added
        self.warnings = list(draft.warnings)
        self.notes = list(draft.notes)
        self.facts: Any = draft.facts
        self.applied = False
        self.leave_out: Callable[[frozenset[int]], Plan] | None = None
        self.then: list[Callable[[], None]] = []  # what follows once the files are written
        self._apply = apply

    def diff(self) -> str:
        """Return the change as a unified diff, file by file; empty when nothing changes."""
        return "".join(diffs.unified(edit) for edit in self.edits)

    def without(self, *rows: int) -> Plan:
        """Return the plan again without some of its rows (numbers as in `rows`); for plans of forget().

        Raises: UnsupportedError for other plans.
        """
        if self.leave_out is None:
            raise UnsupportedError("without: only a plan of forget() can leave rows out")
        return self.leave_out(frozenset(rows))

    def apply(self) -> Plan:
        """Check and write all edits; return the plan. Applying again does nothing.

        Raises: FrozenError, LostTextError, ConflictError, PathError, LockTimeout.
        """
        if not self.applied:
            self._apply(self.edits)
            self.applied = True
            with ExitStack() as rest:  # each of them, whatever another of them raises
                for follow in reversed(self.then):
                    rest.callback(follow)
        return self

    def __repr__(self) -> str:
        """Return the plan as text."""
        return self._repr_mimebundle_()["text/plain"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        facts = (self.edits, self.rows, self.added, self.warnings, self.applied, self.notes)
        return display.mimebundle(lambda: diffs.plan_html(*facts), lambda: diffs.plan_text(*facts))


def _changes(edits: Sequence[Edit]) -> Sequence[Edit]:
    """Return the edits that change something; a sequence that makes them only when looked at has no others."""
    return tuple(edit for edit in edits if edit.before != edit.after) if isinstance(edits, tuple) else edits
