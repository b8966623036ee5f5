"""Several drafts as one: each step sees what the steps before it planned; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memkit.edits.archive import Read
from memkit.edits.plan import Draft
from memkit.model import Edit


def chained(read: Read, steps: Iterable[Callable[[Read], Draft]]) -> Draft:
    """Return one draft of all steps; a file that several of them change is one edit, from its first text to its last."""
    planned: dict[str, Edit] = {}

    def over(path: str) -> str | None:
        return planned[path].after if path in planned else read(path)

    drafts = []
    for step in steps:
        draft = step(over)
        drafts.append(draft)
        for edit in draft.edits:
            planned[edit.path] = joined(planned.get(edit.path), edit)
    return merged(drafts, tuple(planned.values()))


def joined(first: Edit | None, second: Edit) -> Edit:
    """Return two edits of one file, made one after the other, as one."""
    if first is None:
        return second
    return Edit(first.path, first.before, second.after, tuple(dict.fromkeys((*first.free, *second.free))))


def merged(drafts: Sequence[Draft], edits: tuple[Edit, ...]) -> Draft:
    """Return the rows, counts and warnings of some drafts over given edits."""
    rows = tuple(row for draft in drafts for row in draft.rows)
    warnings = tuple(dict.fromkeys(warning for draft in drafts for warning in draft.warnings))
    return Draft(edits, rows, sum(draft.added for draft in drafts), warnings)
