"""A store's card: size, span, bars and findings, gathered from what is in memory; how it looks is display's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memkit import cells, display, stats
from memkit.loading import State


def card_of(layout: str, root: Path, loaded: State, findings: Mapping[str, int]) -> display.Card:
    """Return the card of a store; `findings` counts by severity."""
    frame = loaded.visible
    dated = frame["date"].dropna()
    span = (dated.min().date(), dated.max().date()) if len(dated) else None
    bars, note = display.bars_of(stats.volume(frame, "month"), stats.volume(frame, "year"))
    unread = [fact for fact in loaded.facts.values() if fact.trouble]
    return display.Card(
        title=layout,
        root=str(root),
        span=span,
        days=dated.nunique(),
        entries=len(frame),
        chars=int(frame["chars"].sum()),
        bars=bars,
        bars_note=note,
        findings=findings,
        notes=[f"{cells.count(len(unread), 'file')} could not be read: see files()"] if unread else [],
    )
