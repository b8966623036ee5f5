"""Chosen summaries made one after another, a step at a time, so that a button can stop it; and how that looks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from memkit.dates import period_days
from memkit.errors import LockTimeout, MemkitError, StoreNotFound
from memkit.explorer.summaries.periods import in_order, level_of
from memkit.explorer.tab import button, esc, notice
from memkit.explorer.words import Words

if TYPE_CHECKING:
    from memkit.store import Store

MADE, LEFT, FAILED = "made", "left", "failed"
LISTED = 20  # outcomes that are told one by one


class Outcome(NamedTuple):
    """What became of one period: made, left as it was, or failed; why, as the store says it; and whether it warned."""

    key: str
    action: str
    reason: str
    warned: bool = False


class Run:
    """The making of some summaries: what is left to do (`waiting`), what came of the others, and what ended it early.

    Each is made by the store's own verbs, under its lock, from the sources there are at that moment.
    """

    def __init__(self, store: Store, keys: Iterable[str], out: object) -> None:
        self._store, self._out = store, out
        self.waiting = deque(in_order(keys))
        self.total = len(self.waiting)
        self.outcomes: list[Outcome] = []
        self.trouble = ""
        self.where = str(out) if out is not None else "summaries/"

    @property
    def done(self) -> int:
        """Return how many periods have had their turn."""
        return len(self.outcomes)

    def step(self, seconds: float) -> list[Outcome]:
        """Make at least one summary, and more while there is time; return what came of them."""
        until = monotonic() + seconds
        before = self.done
        while self.waiting and not self.trouble:
            key = self.waiting[0]
            try:
                self.outcomes.append(made(self._store, key, self._out))
            except (LockTimeout, StoreNotFound) as error:  # the others would meet the same
                self.trouble = str(error)
                break
            except (MemkitError, OSError) as error:
                self.outcomes.append(Outcome(key, FAILED, str(error)))
            self.waiting.popleft()
            if monotonic() >= until:
                break
        return self.outcomes[before:]

    def count(self, action: str) -> int:
        """Return how many periods came out like that."""
        return sum(outcome.action == action for outcome in self.outcomes)


def made(store: Store, key: str, out: object) -> Outcome:
    """Make the summary of one period if it lacks one or has one that is out of date, and say what was done.

    Raises: MemkitError, as the store's `summarize`.
    """
    period = level_of(key)
    plan = store.summarize(period, key, out=out)  # type: ignore[arg-type]
    if plan.facts is not None and plan.facts.existed and plan.facts.stale:
        days = period_days(period, key)  # only what touches them: the period itself
        plan = store.summarize_all(period, since=days[0], until=days[-1], out=out, progress=False)  # type: ignore[arg-type]
    action, reason = plan.rows[["action", "reason"]].iloc[0] if len(plan.rows) else ("empty", "")
    done = MADE if action in ("create", "rebuild") else LEFT
    return Outcome(key, done, "; ".join(filter(None, [str(reason), *plan.warnings])), bool(plan.warnings))


def progress(run: Run, say: Words) -> str:
    """Return how far it is, the button that stops it, and what asks for its next step."""
    told = esc(say("sum_progress", n=run.done, total=run.total))
    bar = f'<progress max="{run.total}" value="{run.done}" aria-label="{told}"></progress>'
    stop = button(say("sum_stop"), "summaries.stop", key="sum run")
    more = f'<span data-more="summaries.more" data-value="{run.done}" data-wait="0"></span>'
    return f'<div class="bar run">{stop} {bar} <span>{told}</span>{more}</div>'


def outcome(run: Run, say: Words) -> str:
    """Return what came of it: a sentence, then those that were not made, and why."""
    told = [say("sum_done", made=run.count(MADE), where=run.where, left=run.count(LEFT), failed=run.count(FAILED))]
    told += [say("sum_stopped", n=len(run.waiting))] if run.waiting else []
    others = [one for one in run.outcomes if one.action != MADE or one.warned]
    rows = "".join(_outcome(one, say) for one in others[:LISTED])
    more = f'<p class="q">{esc(say("sum_more", n=len(others) - LISTED))}</p>' if len(others) > LISTED else ""
    listed = f'<ul aria-label="{esc(say("sum_outcome"))}">{rows}</ul>{more}' if rows else ""
    return f'<div class="outcome"><p role="status">{esc(" ".join(told))}</p>{notice(run.trouble, "error")}{listed}</div>'


def _outcome(one: Outcome, say: Words) -> str:
    kind = "error" if one.action == FAILED else "warning" if one.warned else "info"
    return f'<li class="{kind}">{one.key}: {esc(say(f"sum_{one.action}_one"))} <span class="q">{esc(one.reason)}</span></li>'
