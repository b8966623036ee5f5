"""Changes as values: Plan and the write rule here, what each layout's verbs plan in the other modules; pure."""

from memkit.edits.plan import Draft, Plan
from memkit.edits.rule import check

__all__ = ["Draft", "Plan", "check"]
