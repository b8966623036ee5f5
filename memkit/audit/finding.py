"""Finding and Rule: the two values of the audit, how a rule is made of a function, and what several rules look up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from memkit.model import Records, Snapshot
from memkit.tables import is_day_file, plain_first


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where something is wrong. `line` 0 means the whole file; `fix` names the verb that mends it.

    `text` is the line's own text, of which only a fingerprint is made.
    """

    path: str
    line: int
    message: str
    fix: str = ""
    day: date | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with its severity: error (a rule is broken or data at risk), warning (drift), info (a hint).

    The check is a generator of findings; its name with dashes is the rule's id, its docstring's first sentence explains it.
    """

    severity: str
    check: Callable[[Snapshot], Iterator[Finding]]

    @property
    def name(self) -> str:
        """Return the rule's id."""
        return self.check.__name__.replace("_", "-")

    @property
    def sentence(self) -> str:
        """Return what the rule says is wrong."""
        return (self.check.__doc__ or "").partition("\n")[0]


def problems(store: Snapshot, rule: str, fix: str = "") -> Iterator[Finding]:
    """Yield a finding for each Problem that reading met under this rule."""
    for record in store.records.values():
        for problem in record.problems:
            if problem.rule == rule:
                yield Finding(record.path, problem.line, problem.message, fix, record.role.day, problem.text)


def named_wrong(store: Snapshot, rule: str, message: str, fix: str = "") -> Iterator[Finding]:
    """Yield a finding for each file whose path alone trips the rule."""
    for fact in store.files.values():
        if fact.role.problem == rule:
            yield Finding(fact.path, 0, message, fix, fact.role.day)


def day_files(store: Snapshot) -> Iterator[Records]:
    """Yield the files that are a day's log."""
    return (record for record in store.records.values() if is_day_file(record))


def files_by_day(store: Snapshot) -> dict[date, list[Records]]:
    """Return the files of each day, the one that counts first."""

    def find() -> dict[date, list[Records]]:
        found: dict[date, list[Records]] = {}
        for record in day_files(store):
            if record.role.day:
                found.setdefault(record.role.day, []).append(record)
        return {day: sorted(files, key=plain_first) if len(files) > 1 else files for day, files in found.items()}

    return store.once("files by day", find)


def more(paths: Iterable[str], shown: int = 3) -> str:
    """Return some paths in words, and how many are left out."""
    names = list(paths)
    left = len(names) - shown
    return ", ".join([*names[:shown], *([f"… +{left}"] if left > 0 else [])])
