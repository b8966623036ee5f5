"""Facts in, HTML and plain text out: the store's card, bars, audit reports and tables. It reads no store and runs no script.

Both twins of a thing say the same facts. Colours come from Jupyter's variables with fallbacks. Text widths are terminal
columns, where a Chinese character counts two. Control characters are shown as pictures.
"""

from __future__ import annotations

import contextlib
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pandas as pd

from memkit.cells import WIDTH, clip, columns, count, pad, wrap
from memkit.schema import SEVERITY
from memkit.style import CSS

LONG = 240  # columns of one fact at most, in either twin
LABEL = 24
MOST_BARS = 24
Bar = tuple[str, *tuple[int, ...]]  # a label and its counts; the bar itself shows the last count

_Column = tuple[list[str], bool]
_SEVERITIES = tuple(str(name) for name in SEVERITY.categories)
_NAMES = ("line", "end_line", "index", "digest", "year")  # numbers that name something are not grouped by thousands


@dataclass(frozen=True, slots=True)
class Card:
    """What a store's card says. `bars` are (label, entries, chars); `findings` counts by severity, None before an audit."""

    title: str
    root: str
    span: tuple[date, date] | None
    days: int
    entries: int
    chars: int
    bars: Sequence[Bar] = ()
    bars_note: str = ""
    findings: Mapping[str, int] | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    """The findings of one rule: how many, and those shown as (where, message, fix)."""

    severity: str
    rule: str
    number: int
    shown: tuple[tuple[str, str, str], ...]


def mimebundle(html_fn: Callable[[], str], text_fn: Callable[[], str]) -> dict[str, str]:
    """Return what `_repr_mimebundle_` gives; never raises: without HTML the text stays, without text the error's name."""
    try:
        bundle = {"text/plain": text_fn()}
    except Exception as error:
        bundle = {"text/plain": f"(memkit cannot show this: {type(error).__name__})"}
    with contextlib.suppress(Exception):
        bundle["text/html"] = html_fn()
    return bundle


def _esc(text: str, room: int = LONG) -> str:
    return html.escape(clip(text, room))


def page(inner: str, kind: str = "") -> str:
    """Return the root element; its last classes keep `$…$` in memories from becoming formulas."""
    return f'<div class="mk {kind} mathjax_ignore tex2jax_ignore"><style>{CSS}</style>{inner}</div>'


def _tally(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return (severity, words) for each severity that occurs, the worst first."""
    return [(name, count(counts[name], name)) for name in _SEVERITIES if counts.get(name)]


def _pills(tally: Sequence[tuple[str, str]]) -> str:
    return " ".join(f'<span class="s {name}">{words}</span>' for name, words in tally)


# ---- bars ----


def bars_of(months: pd.DataFrame, years: pd.DataFrame) -> tuple[tuple[Bar, ...], str]:
    """Return bars (label, entries, chars) of volume("month"), of volume("year") if those are over 24; and a note if cut."""
    frame = months if len(months) <= MOST_BARS else years
    labels = ["undated" if pd.isna(key) else str(key) for key in frame.iloc[:, 0]]
    bars = tuple(zip(labels, map(int, frame["entries"]), map(int, frame["chars"]), strict=True))
    if len(bars) <= MOST_BARS:
        return bars, ""
    loose = [bar for bar in bars if bar[0] == "undated"]
    dated = [bar for bar in bars if bar[0] != "undated"]
    shown = dated[len(loose) - MOST_BARS :]
    return (*shown, *loose), f"latest {len(shown)} of {len(dated)} years"


def bars_html(rows: Sequence[Bar], *units: str) -> str:
    """Return a table of bars to put in a page; `units` name the counts of a row, the last of which is drawn."""
    most = _most(rows)
    head = "".join(f"<th>{_esc(unit, LABEL)}</th>" for unit in units)
    body = "".join(_bar_html(label, counts, most) for label, *counts in rows)
    return f'<table class="bars"><thead><tr><th></th><th></th>{head}</tr></thead><tbody>{body}</tbody></table>'


def _bar_html(label: str, counts: Sequence[int], most: int) -> str:
    bar = f'<i style="width:{counts[-1] / most:.1%}"></i>' if counts[-1] > 0 else ""
    numbers = "".join(f"<td>{number:,}</td>" for number in counts)
    return f"<tr><th>{_esc(label, LABEL)}</th><td>{bar}</td>{numbers}</tr>"


def bars_text(rows: Sequence[Bar], *units: str) -> str:
    """Return the same bars as text of at most 79 columns, in eighths of a block."""
    most = _most(rows)
    table = [["", *(clip(unit, LABEL) for unit in units)]]
    table += [[clip(label, LABEL), *(f"{number:,}" for number in counts)] for label, *counts in rows]
    sizes = [max(map(columns, cells)) for cells in zip(*table, strict=True)]
    room = max(1, min(40, WIDTH - sum(sizes) - 2 * len(sizes)))
    bars = ["", *(_blocks(counts[-1] / most * room) if counts[-1] > 0 else "" for _, *counts in rows)]
    lines = []
    for (label, *numbers), bar in zip(table, bars, strict=True):
        right = [pad(number, size, right=True) for number, size in zip(numbers, sizes[1:], strict=True)]
        lines.append("  ".join([pad(label, sizes[0]), pad(bar, room), *right]))
    return "\n".join(lines)


def _most(rows: Sequence[Bar]) -> int:
    return max((counts[-1] for _, *counts in rows), default=0)


def _blocks(size: float) -> str:
    full, eighths = divmod(max(round(size * 8), 1), 8)
    return "█" * full + " ▏▎▍▌▋▊▉"[eighths].strip()


# ---- the card ----


def _facts(card: Card) -> list[tuple[str, str]]:
    """Return the card's size as (number, word), and its span."""
    numbers = (count(card.entries, "entry"), count(card.days, "day"), count(card.chars, "character"))
    span = " to ".join(dict.fromkeys(map(str, card.span or ())))
    return [(number, word) for number, _, word in (text.partition(" ") for text in numbers)] + ([("", span)] if span else [])


def _bars(card: Card) -> tuple[list[Bar], str]:
    """Return the bars that are shown, and what they leave out."""
    cut = f"latest {MOST_BARS} of {len(card.bars)} bars" if len(card.bars) > MOST_BARS else ""
    return [(clip(label, 8), *counts) for label, *counts in card.bars[-MOST_BARS:]], clip(card.bars_note, 76) or cut


def _verdict(card: Card) -> list[tuple[str, str]]:
    return [] if card.findings is None else _tally(card.findings) or [("ok", "no findings")]


def _remarks(card: Card) -> list[str]:
    """Return what the card says last: the next steps, and at most three notes."""
    notes = [] if card.entries else ["Nothing is remembered here yet."]
    notes += ["not audited yet: mem.audit()"] if card.findings is None else []
    notes += [clip(note, 76) for note in card.notes[:3]]
    return [*notes, f"showing 3 of {len(card.notes):,} notes"] if len(card.notes) > 3 else notes


def _root(card: Card, room: int = 120) -> str:
    return clip(card.root[::-1], room)[::-1]  # the end of a path says more than its start


def card_html(card: Card) -> str:
    """Return the card as HTML of at most 8 KB."""
    head = f'<div><span class="h">{_esc(card.title, LABEL)}</span> <code class="q">{html.escape(_root(card))}</code></div>'
    facts = " ".join(f"<span><b>{number}</b> {word}</span>" for number, word in _facts(card))
    rows, cut = _bars(card)
    bars = bars_html(rows, "entries", "chars") if rows else ""
    verdict = f'<p class="v">{_pills(_verdict(card))}</p>' if _verdict(card) else ""
    cut, *notes = (f'<p class="q">{_esc(note)}</p>' if note else "" for note in (cut, *_remarks(card)))
    return page(f'{head}<div class="f">{facts}</div>{bars}{cut}{verdict}{"".join(notes)}', "card")


def card_text(card: Card) -> str:
    """Return the card as text of at most 79 columns."""
    title = clip(card.title, LABEL)
    lines = [f"{title}  {_root(card, WIDTH - columns(title) - 2)}"]  # a path in one piece, to be copied
    lines += wrap(" · ".join(f"{number} {word}".strip() for number, word in _facts(card)))
    rows, cut = _bars(card)
    lines += ["", bars_text(rows, "entries", "chars"), *wrap(cut), ""] if rows else []
    lines += wrap(" · ".join(words for _, words in _verdict(card)))
    return "\n".join(lines + [line for note in _remarks(card) for line in wrap(note)])


# ---- the audit report ----


def _shares(numbers: Sequence[int], limit: int) -> list[int]:
    """Return how much of each is shown, `limit` in all: turn by turn, so that a large one hides no other."""
    shares = [0] * len(numbers)
    left = min(limit, sum(numbers))
    while left > 0:
        for place, number in enumerate(numbers):
            if left and shares[place] < number:
                shares[place] += 1
                left -= 1
    return shares


def _groups(frame: pd.DataFrame, limit: int) -> list[_Group]:
    """Return the findings by rule, the worst severity first, then as the audit met them."""
    found = frame.groupby(["severity", "rule"], observed=True).indices
    keys = sorted(found, key=lambda key: (_SEVERITIES.index(key[0]), found[key][0]))
    shares = _shares([len(found[key]) for key in keys], limit)
    return [
        _Group(key[0], key[1], len(found[key]), tuple(map(_finding, frame.iloc[found[key][:share]].to_dict("records"))))
        for key, share in zip(keys, shares, strict=True)
    ]


def _finding(row: Mapping[Any, Any]) -> tuple[str, str, str]:
    path, message, fix = ("" if pd.isna(row[name]) else clip(row[name], LONG) for name in ("path", "message", "fix"))
    where = f"{path}:{row['line']}" if path and row["line"] > 0 else path
    return where or "the whole store", message, fix


def _summary(frame: pd.DataFrame, checked: int, limit: int) -> tuple[list[tuple[str, str]], str]:
    """Return the report's first line: its tally, and the files and the bound."""
    tally = _tally(frame["severity"].value_counts().to_dict())
    cut = f", showing {limit:,} of {len(frame):,}" if limit < len(frame) else ""
    return tally or [("ok", "no findings")], f"in {count(checked, 'file')}{cut}"


def report_html(frame: pd.DataFrame, checked: int, explain: Mapping[str, str], *, limit: int = 50) -> str:
    """Return a FINDINGS frame as HTML, folded by rule, the first open; at most `limit` findings are shown."""
    tally, rest = _summary(frame, checked, limit)
    parts = [f'<p class="v">{_pills(tally)} <span class="q">{rest}</span></p>']
    for place, group in enumerate(_groups(frame, limit)):
        pill = _pills([(group.severity, group.severity)])
        head = f'{pill} <code>{_esc(group.rule)}</code> <span class="q">· {_number(group)}</span>'
        why = f'<div class="q">{_esc(explain[group.rule])}</div>' if group.rule in explain else ""
        rows = "".join(_finding_html(*finding) for finding in group.shown)
        parts.append(
            f"<details{'' if place else ' open'}><summary>{head}</summary>{why}<ul class={group.severity}>{rows}</ul></details>"
        )
    return page("".join(parts))


def _number(group: _Group) -> str:
    return f"{group.number:,}" if len(group.shown) == group.number else f"{len(group.shown):,} of {group.number:,}"


def _finding_html(where: str, message: str, fix: str) -> str:
    mend = f'<div class="q">fix: <code>{html.escape(fix)}</code></div>' if fix else ""
    return f'<li><code class="q">{html.escape(where)}</code><div>{html.escape(message)}</div>{mend}</li>'


def report_text(frame: pd.DataFrame, checked: int, explain: Mapping[str, str], *, limit: int = 20) -> str:
    """Return the same report as text of at most 79 columns."""
    tally, rest = _summary(frame, checked, limit)
    lines = wrap(f"{' · '.join(words for _, words in tally)} {rest}")
    for group in _groups(frame, limit):
        lines += ["", *wrap(f"{group.severity}  {clip(group.rule, LONG)}  {_number(group)}")]
        lines += wrap(clip(explain.get(group.rule, ""), LONG), "  ")
        for where, message, fix in group.shown:
            lines += [*wrap(where, "  - "), *wrap(message, "      "), *wrap(f"fix: {fix}" if fix else "", "      ")]
    return "\n".join(lines)


# ---- tables ----


def _columns(frame: pd.DataFrame, limit: int) -> list[_Column]:
    """Return the first rows by column: cells with the name on top, and whether they are numbers."""
    shown = frame.head(limit)
    names = [clip(str(name), LONG) for name in frame.columns]
    numeric = [pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype) for dtype in frame.dtypes]
    return [
        ([name, *(_cell_text(value, name) for value in shown.iloc[:, place])], numeric[place])
        for place, name in enumerate(names)
    ]


def _cell_text(value: Any, name: str) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, pd.Timestamp):
        return str(value.isoformat(" ", "seconds")).removesuffix(" 00:00:00").replace("+00:00", "Z")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name not in _NAMES:
        return f"{value:,}"
    return f"{value:,.3f}" if isinstance(value, float) else clip(str(value), LONG)


def _rows_shown(frame: pd.DataFrame, limit: int) -> str:
    return f"{limit:,} of {len(frame):,} rows" if limit < len(frame) else "" if len(frame) else "no rows"


def table_html(frame: pd.DataFrame, *, limit: int = 50) -> str:
    """Return the first `limit` rows as an HTML table; below it `n of N rows` when it is cut."""
    drawn = [_column_html(*column) for column in _columns(frame, limit)]
    head, *rows = (f"<tr>{''.join(row)}</tr>" for row in zip(*drawn, strict=True)) if drawn else [""]
    note = f'<p class="q">{_rows_shown(frame, limit)}</p>' if _rows_shown(frame, limit) else ""
    return page(f'<div class="t"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>{note}')


def _column_html(cells: Sequence[str], numeric: bool) -> list[str]:
    """Return the cells of a column; only long ones may wrap."""
    kinds = ["n" if numeric else "w" if columns(cell) > 40 else "" for cell in cells]
    tags = ["th", *["td"] * (len(cells) - 1)]
    parts = zip(tags, (f' class="{kind}"' if kind else "" for kind in kinds), map(html.escape, cells), strict=True)
    return [f"<{tag}{kind}>{cell}</{tag}>" for tag, kind, cell in parts]


def table_text(frame: pd.DataFrame, *, limit: int = 20, width: int = WIDTH) -> str:
    """Return the first `limit` rows as text of at most `width` columns; the last line says what was left out.

    Long cells are cut with …; where not all columns fit, empty ones go first, then the last ones.
    """
    table = _columns(frame, limit)
    if _least(table) > width:
        table = [column for column in table if any(column[0][1:])] or table
    while len(table) > 1 and _least(table) > width:
        table.pop()
    sizes = _shares([_widest(cells) for cells, _ in table], width - 2 * (len(table) - 1))
    drawn = [
        [pad(clip(cell, size), size, right=right) for cell in cells] for (cells, right), size in zip(table, sizes, strict=True)
    ]
    lines = ["  ".join(row).rstrip() for row in zip(*drawn, strict=True)]
    left_out = f"{len(table)} of {frame.shape[1]} columns" if len(table) < frame.shape[1] else ""
    note = ", ".join(part for part in (_rows_shown(frame, limit), left_out) if part)
    return "\n".join([*lines, note] if note else lines)


def _widest(cells: Sequence[str]) -> int:
    return max(map(columns, cells))


def _least(table: Sequence[_Column]) -> int:
    """Return the columns that a table needs when no cell of up to 20 columns, so no number and no time, is cut."""
    return sum(min(_widest(cells), 20) + 2 for cells, _ in table) - 2
