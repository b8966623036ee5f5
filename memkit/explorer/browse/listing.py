"""How Browse looks: chips, timeline, the page of rows, an entry with its neighbours; facts in, HTML out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import pandas as pd

from memkit import hits
from memkit.explorer.browse.timeline import Bar
from memkit.explorer.tab import Place, button, esc, notice
from memkit.explorer.words import Words
from memkit.query import NO_TAG

CHIPS = 24  # tags that are shown
SNIPPET = 140  # characters of an entry in the list
WHOLE = 200_000  # characters of an open entry; a browser grows slow at more

Tags = Sequence[tuple[str | None, int]]


def tags_shown(counts: Tags, chosen: Sequence[str]) -> list[tuple[str, int]]:
    """Return the tags that have a chip, with their entries: the chosen ones, then the most frequent."""
    found = {NO_TAG if tag is None else tag: number for tag, number in counts}
    first = [(tag, found.get(tag, 0)) for tag in chosen]
    return first + [(tag, number) for tag, number in found.items() if tag not in chosen][: max(0, CHIPS - len(first))]


def chips(shown: Sequence[tuple[int, str, int]], chosen: Sequence[str], number: int, say: Words) -> str:
    """Return a chip for each tag (its number, it, its entries), pressed if it is chosen; there are `number` tags."""
    parts = [_chip(value, tag, count, say, pressed=tag in chosen) for value, tag, count in shown]
    more = f'<span class="q">{esc(say("more_tags", n=number - len(shown)))}</span>' if number > len(shown) else ""
    return f'<div class="chips" role="group" aria-label="{esc(say("tags"))}" data-nav="chips">{"".join(parts)}{more}</div>'


def _chip(value: int, tag: str, count: int, say: Words, *, pressed: bool) -> str:
    label = say("untagged") if tag == NO_TAG else tag
    return (
        f'<button type="button" class="chip" data-do="browse.tag" data-value="{value}" data-key="tag {esc(tag)}" '
        f'aria-pressed="{str(pressed).lower()}"><span>{esc(label)}</span> <b>{count:,}</b></button>'
    )


def kinds(counts: Sequence[tuple[str, int]], chosen: str, say: Words) -> str:
    """Return the choice of a kind of file; nothing where there is only one."""
    if len(counts) < 2 and not chosen:
        return ""
    found = dict(counts) | ({chosen: dict(counts).get(chosen, 0)} if chosen else {})
    options = "".join(
        f'<option value="{esc(kind)}"{" selected" if kind == chosen else ""}>{esc(kind)} ({number:,})</option>'
        for kind, number in found.items()
    )
    first = f'<option value="">{esc(say("all_kinds"))}</option>'
    return f'<label>{esc(say("kind"))} <select data-trait="kind" data-key="kind">{first}{options}</select></label>'


def timeline(bars: Sequence[Bar], window: tuple[date | None, date | None], undated: int, say: Words) -> str:
    """Return the bars over time, those of the window marked; they are to be brushed."""
    if not bars:
        return ""
    most = max(bar.entries for bar in bars) or 1
    shapes = "".join(_bar(place, bar, most, window, say) for place, bar in enumerate(bars))
    loose = f'<span class="q">{esc(say("undated", n=undated))}</span>' if undated else ""
    return (
        f'<div class="time" data-brush title="{esc(say("timeline"))}">'
        f'<svg role="img" aria-label="{esc(say("timeline"))}" viewBox="0 0 {len(bars)} 40" preserveAspectRatio="none">{shapes}'
        f'</svg></div><div class="axis q"><span>{bars[0].first}</span>{loose}<span>{bars[-1].last}</span></div>'
    )


def _bar(place: int, bar: Bar, most: int, window: tuple[date | None, date | None], say: Words) -> str:
    start, end = window
    inside = (start is None or bar.last >= start) and (end is None or bar.first <= end)
    size = 38 * bar.entries / most
    key = str(bar.first) if bar.first == bar.last else f"{bar.first} – {bar.last}"
    shape = (
        f'<rect x="{place + 0.1:g}" y="{40 - max(size, 1.2):.1f}" width=".8" height="{max(size, 1.2):.1f}"/>' if size else ""
    )
    return (
        f'<g data-from="{bar.first}" data-to="{bar.last}"{" class=in" if inside else ""}>'
        f"<title>{esc(say('bar', key=key, n=bar.entries))}</title>"
        f'<rect class="hit" x="{place}" y="0" width="1" height="40"/>{shape}</g>'
    )


def status(number: int, total: int, step: str, say: Words, *, waits: bool) -> str:
    """Return how many rows are chosen, and the step that answered; while that is open, what asks for it."""
    near = f' <span class="q">· {esc(say("step", step=step))}</span>' if step else ""
    asks = '<span data-more="browse.settle" data-wait="600"></span>' if waits else ""
    return f'<span role="status"><b>{esc(say("rows_of", n=number, total=total))}</b></span>{near}{asks}'


def remark(text: str) -> str:
    """Return what is to be noticed, if anything."""
    return notice(text, "info")


def page(
    frame: pd.DataFrame,
    places: Sequence[int],
    words: Sequence[str],
    opened: Place | None,
    first: int,
    counts: tuple[int, int],
    say: Words,
) -> str:
    """Return a page of rows with their hits marked, and the way to the other pages.

    `places` are the rows' numbers, `first` is the place of the first one among those that are chosen; `counts` are how many
    are chosen, and how many there are.
    """
    number, total = counts
    if not len(frame):
        return f'<p class="q">{esc(say("nothing" if total else "empty"))}</p>'
    head = "".join(f"<th scope=col>{esc(say(name))}</th>" for name in ("date", "tag", "text", "place"))
    rows = zip(places, frame.itertuples(index=False), strict=True)
    body = "".join(_row(place, value, row, words, opened) for place, (value, row) in enumerate(rows))
    table = (
        f'<div class="rows" data-keep="rows"><table role="grid" aria-label="{esc(say("results"))}" '
        f'aria-rowcount="{number}"><thead><tr>{head}</tr></thead><tbody data-nav="list">{body}</tbody></table></div>'
    )
    return table + _pages(first, first + len(frame), number, say)


def _pages(first: int, last: int, number: int, say: Words) -> str:
    if first == 0 and last == number:
        return ""
    place = f'<span class="q">{esc(say("shown", first=first + 1, last=last))}</span>'
    newer = button("‹ " + say("newer"), "browse.newer", off=first == 0)
    older = button(say("older") + " ›", "browse.older", off=last == number)
    return f'<div class="pages">{newer} {place} {older}</div>'


def _row(place: int, value: int, row: Any, words: Sequence[str], opened: Place | None) -> str:
    is_open = opened == (row.path, row.line)
    piece = hits.snippet(row.text, words, SNIPPET)
    before, after = ("" if whole else "…" for whole in (row.text.startswith(piece), row.text.endswith(piece)))
    name = f'<span title="{esc(row.path)}">{esc(row.path.rpartition("/")[2])}:{row.line}</span>'
    cells = (_when(row), _tag(row.tag), f"{before}{hits.marked(piece, words)}{after}", name)
    looks = ("when", "", "said", "place q")
    drawn = "".join(f'<td class="{look}">{cell}</td>' for look, cell in zip(looks, cells, strict=True))
    what = f'data-do="browse.open" data-value="{value}" data-key="row {place}" aria-selected="{str(is_open).lower()}"'
    return f"<tr {what}>{drawn}</tr>"


def _when(row: Any) -> str:
    day = "" if row.date is pd.NaT else str(row.date.date())
    clock = f' <span class="q">{esc(row.clock[:5])}</span>' if isinstance(row.clock, str) else ""
    return f"{day}{clock}"


def _tag(tag: object) -> str:
    return f'<span class="tag">{esc(tag)}</span>' if isinstance(tag, str) else ""


def entry(near: pd.DataFrame, places: Sequence[int], middle: int, tags: Sequence[str], words: Sequence[str], say: Words) -> str:
    """Return an entry whole, row `middle` of those around it, with all its tags; `places` are the numbers of the rows."""
    rows = list(near.itertuples(index=False))
    row = rows[middle]
    where = f"{esc(row.path)}:{row.line}" + (f"–{row.end_line}" if row.end_line > row.line else "")
    told = [_when(row), *map(_tag, tags), f'<code class="q">{where}</code>', f'<span class="q">{esc(row.kind)}</span>']
    told += [f'<span class="q">{esc(row.section)}</span>'] if isinstance(row.section, str) else []
    text = "\n".join(hits.marked(line, words) for line in row.text[:WHOLE].split("\n"))
    left = f"\n… {len(row.text) - WHOLE:,}" if len(row.text) > WHOLE else ""
    around = "".join(
        f"<li>{button(_short(other), 'browse.open', places[place], key=f'near {place}')}</li>"
        if place != middle
        else f'<li aria-current="true"><b>{esc(_short(row))}</b></li>'
        for place, other in enumerate(rows)
    )
    return (
        f'<section class="entry" aria-label="{esc(say("entry"))}"><div class="head">{" ".join(filter(None, told))}'
        f"{button('×', 'browse.close', key='close', kind='close', escape=True, told=say('close'))}</div>"
        f'<div class="whole" data-keep="whole">{text}{left}</div>'
        + (f'<p class="q">{esc(say("neighbours"))}</p><ul data-nav="list">{around}</ul>' if len(rows) > 1 else "")
        + "</section>"
    )


def _short(row: Any) -> str:
    return f"{row.line}: {row.text[:120]}"
