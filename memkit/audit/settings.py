"""What a project wants of its audits: rules that are off, severities that differ; read from TOML, never kept in a store."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memkit.audit.finding import Rule
from memkit.errors import BadArgument
from memkit.schema import SEVERITY

SEVERITIES = tuple(str(name) for name in SEVERITY.categories)


@dataclass(frozen=True, slots=True)
class Settings:
    """Rules that say nothing, and the severity of others where it is not their own."""

    off: frozenset[str] = frozenset()
    severities: Mapping[str, str] = field(default_factory=dict)

    def severity(self, rule: Rule) -> str:
        """Return how grave a rule is."""
        return self.severities.get(rule.name, rule.severity)


def settings_of(off: str | Iterable[str], severities: Mapping[str, str], known: Iterable[str]) -> Settings:
    """Return settings; `known` are the ids of all rules of all layouts.

    Raises: BadArgument for a rule that there is none of, or a severity that is none.
    """
    silent, names = frozenset([off] if isinstance(off, str) else off), set(known)
    for name in (*silent, *severities):
        if name not in names:
            raise BadArgument(f"audit settings: {str(name)[:40]!r} is no rule; the report names each finding's rule")
    for name, severity in severities.items():
        if severity not in SEVERITIES:
            raise BadArgument(f"audit settings: {name}: {str(severity)[:40]!r}; expected {', '.join(SEVERITIES)}")
    return Settings(silent, dict(severities))


def read_settings(text: str, known: Iterable[str], name: str) -> Settings:
    """Return the settings of a TOML text: `[audit]` with `off = […]`, and `[audit.severity]` with a severity a rule.

    Raises: BadArgument, naming the file, for what is no TOML or says something else.
    """
    try:
        told = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise BadArgument(f"{name}: it is no TOML: {error}") from error
    section = told.get("audit", {})
    held = section if isinstance(section, dict) else {"": ""}
    off, severities = held.get("off", []), held.get("severity", {})
    texts = isinstance(off, list) and all(isinstance(rule, str) for rule in off)
    if told.keys() - {"audit"} or held.keys() - {"off", "severity"} or not texts or not isinstance(severities, dict):
        raise BadArgument(f'{name}: expected [audit] with off = [rules], and [audit.severity] with rule = "warning"')
    try:
        return settings_of(off, severities, known)
    except BadArgument as error:
        raise BadArgument(f"{name}: {error}") from error
