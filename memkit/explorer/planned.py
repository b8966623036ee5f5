"""A plan on show: how it looks in the explorer, how it is applied or discarded, and when it is refused because it is old."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from memkit import diffs
from memkit.cells import clip
from memkit.edits import Plan
from memkit.edits.mend import BY_HAND
from memkit.errors import ConflictError, FrozenError, LockTimeout, MemkitError
from memkit.explorer import veil
from memkit.explorer.tab import button, esc
from memkit.explorer.words import Words
from memkit.layouts import named
from memkit.model import FileFact

if TYPE_CHECKING:
    from memkit.store import Store

_NAMED = 5  # things that were done, by name
_ROOM = 100  # columns of one of them


class Outcome(NamedTuple):
    """What came of applying a plan: whether it is done, and what people are told."""

    done: bool
    told: str


def moment(store: Store) -> dict[str, FileFact]:
    """Return what a folder holds now, to be compared with later; a transcript that is being written does not count."""
    held = store._loaded
    return {path: fact for path, fact in held.seen().items() if held.is_read(fact) and fact.role.kind != "session"}


class Planned:
    """The plan that a tab shows, if any. `plan` is it."""

    def __init__(self, store: Store, say: Words, tab: str) -> None:
        self._store, self._say, self._tab = store, say, tab
        self.plan: Plan | None = None
        self._seen: dict[str, FileFact] | None = None
        self._html = ""

    def make(self, make: Callable[[], Plan], *, of_all: bool) -> Plan:
        """Make a plan, to be looked at; one `of_all` the store is old as soon as any file of it is another.

        Raises: what `make` raises; there is no plan then.
        """
        self.discard()
        seen = moment(self._store) if of_all else None
        self.plan, self._seen = make(), seen
        return self.plan

    def discard(self) -> None:
        """Forget the plan; nothing was written."""
        self.plan = self._seen = None
        self._html = ""

    def is_old(self) -> bool:
        """Return whether the folder is not as it was when the plan was made."""
        return self.plan is not None and self._seen is not None and moment(self._store) != self._seen

    def apply(self) -> Outcome:
        """Write what the plan says. An old one is dropped, and one that the disk refused is kept, to be tried again."""
        plan = self.plan
        if plan is None:
            return Outcome(done=False, told="")
        try:
            old = self.is_old()
            if not old:
                plan.apply()
        except (MemkitError, OSError) as error:
            return self._failed(plan, error)
        self.discard()
        if old:
            return Outcome(done=False, told=self._say("plan_old"))
        return Outcome(done=True, told=self._say("plan_done", what=_done(plan)))

    def _failed(self, plan: Plan, error: Exception) -> Outcome:
        if plan.applied:  # what follows the files, such as the search index, could not be done
            self.discard()
            return Outcome(done=True, told=f"{self._say('plan_done', what=_done(plan))} {error}")
        if not isinstance(error, LockTimeout | OSError):
            self.discard()
        if isinstance(error, ConflictError | FrozenError):
            return Outcome(done=False, told=f"{self._say('plan_old')} {error}")
        return Outcome(done=False, told=str(error))

    def html(self) -> str:
        """Return the plan with its buttons, "" if there is none."""
        if self.plan is not None and not self._html:
            self._html = self._drawn(self.plan)
        return self._html

    def _drawn(self, plan: Plan) -> str:
        say, useful = self._say, changes(plan)
        apply = button(say("plan_apply"), f"{self._tab}.apply", key=f"{self._tab} apply", kind="primary") if useful else ""
        name = say("plan_discard" if useful else "plan_close")
        drop = button(name, f"{self._tab}.discard", key=f"{self._tab} discard", escape=True)
        told = say("plan_hint" if useful else "plan_by_hand" if len(plan.rows) else "plan_idle")
        return (
            f'<div class="plan" role="region" aria-label="{esc(say("plan"))}"><div class="bar"><b>{esc(say("plan"))}</b>'
            f'{apply}{drop}<span class="q">{esc(told)}</span></div>{_shown(self._store, plan)}</div>'
        )


def changes(plan: Plan) -> bool:
    """Return whether applying a plan does anything."""
    return len(plan.edits) > 0 or not plan.rows["action"].isin([*diffs.IDLE, BY_HAND]).all()


def _done(plan: Plan) -> str:
    """Return what a plan did in a few words."""
    rows = plan.rows[~plan.rows["action"].isin([*diffs.IDLE, BY_HAND])]
    did = [f"{row}: {action}" for row, action in zip(rows["row"], rows["action"], strict=True)]
    did = did or [edit.path for edit in plan.edits]
    left = f"; … +{len(did) - _NAMED}" if len(did) > _NAMED else ""
    return "; ".join(clip(one, _ROOM) for one in did[:_NAMED]) + left


def _shown(store: Store, plan: Plan) -> str:
    """Return a plan as the house shows it, what people write themselves before what is made of it, secrets out of sight."""
    role = named(store.layout).role
    edits = [replace(edit, before=_masked(edit.before), after=_masked(edit.after)) for edit in plan.edits]
    edits.sort(key=lambda edit: role(edit.path).derived)
    texts = [veil.masked(text) for text in plan.notes]
    return diffs.plan_html(edits, plan.rows, plan.added, plan.warnings, plan.applied, texts)


def _masked(text: str | None) -> str | None:
    return None if text is None else veil.masked(text)
