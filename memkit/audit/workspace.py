"""Rules of the workspace: the session transcript."""

from __future__ import annotations

from collections.abc import Iterator

from memkit.audit.finding import Finding, Rule, problems
from memkit.model import Snapshot


def transcript_bad(store: Snapshot) -> Iterator[Finding]:
    """A record of the session transcript cannot be read, and is left out.

    Bad: a line that is no JSON. Good: `{"role": "user", "content": "…"}`.
    """
    yield from problems(store, "transcript-bad", "export the session again")


RULES = (Rule("warning", transcript_bad),)
