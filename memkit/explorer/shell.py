"""The frame of the explorer: its tabs and the fields that stay while all else is drawn anew; with the house's style sheets."""

from __future__ import annotations

from collections.abc import Sequence

from memkit.explorer.tab import button, esc
from memkit.explorer.words import Words
from memkit.style import CSS, DIFF


def shell(tabs: Sequence[str], say: Words) -> str:
    """Return the HTML in which the script fills each part."""
    heads = "".join(_head(name, say) for name in tabs)
    panels = "".join(_panel(name, _browse(say) if name == "browse" else _slot(name), say) for name in tabs)
    return (
        f'<style>{CSS}{DIFF}</style><div role="tablist" class="tabs" aria-label="{esc(say("explorer"))}" data-nav="tabs">'
        f"{heads}</div>{_slot('notice')}"
        f'<p class="note warning" role="alert" data-silent hidden>{esc(say("silent"))}</p>{panels}'
    )


def _head(name: str, say: Words) -> str:
    return f'<button type="button" role="tab" data-tab="{name}" data-key="tab {name}">{esc(say(name))}</button>'


def _panel(name: str, inner: str, say: Words) -> str:
    return f'<div role="tabpanel" data-panel="{name}" aria-label="{esc(say(name))}" hidden>{inner}</div>'


def _slot(name: str, kind: str = "", tag: str = "div") -> str:
    return f'<{tag} data-slot="{name}_html"{f" class={kind}" if kind else ""}></{tag}>'


def _browse(say: Words) -> str:
    search = (
        f'<input type="search" data-trait="query" aria-label="{esc(say("search"))}" placeholder="{esc(say("search_hint"))}" '
        'spellcheck="false" autocomplete="off">'
    )
    dates = _day("from", "date_from", say) + _day("to", "date_to", say)
    clear = button(say("clear"), "browse.clear")
    return (
        f'<div class="bar">{search}{dates}{_slot("kinds", tag="span")}{clear}</div>{_slot("chips")}{_slot("timeline")}'
        f'{_slot("status", "line")}<div class="two">{_slot("page")}{_slot("entry")}</div>'
    )


def _day(label: str, trait: str, say: Words) -> str:
    return f'<label>{esc(say(label))} <input type="date" data-trait="{trait}" min="0001-01-01" max="9999-12-31"></label>'
