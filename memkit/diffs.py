"""Plans shown as people read them: unified diffs and rows, as HTML and as text with the same facts; pure."""

from __future__ import annotations

import difflib
import html
from collections.abc import Sequence
from itertools import islice

import pandas as pd

from memkit import display
from memkit.cells import WIDTH, clip, count, visible, wrap
from memkit.model import Edit
from memkit.style import DIFF

NOTHING = "/dev/null"
IDLE = ("unchanged", "skip", "empty", "kept")  # what a row of a plan says when nothing is done
LOUD = ("left out", "refused", "conflict")  # and where what was asked for is not done
LINES = 200  # of a diff in a repr; .diff() has them all
ROOM = 400  # characters of one line in a repr


def unified(edit: Edit) -> str:
    """Return one edit as a unified diff; a file that is new or goes away is compared with nothing."""
    inside = not edit.path.startswith("/")
    old, new = (f"{side}/{edit.path}" if inside else edit.path for side in "ab")
    names = (old if edit.before is not None else NOTHING, new if edit.after is not None else NOTHING)
    lines = difflib.unified_diff(_lines(edit.before), _lines(edit.after), *names, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _lines(text: str | None) -> list[str]:
    """Return the lines of a text; one that lacks its end says so, as diffs do."""
    lines = (text or "").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
        return lines
    return lines[:-1]


def _shown(edits: Sequence[Edit]) -> tuple[list[str], str]:
    """Return the lines of the diff that a repr shows, and what it leaves out; edits behind those are not even made."""
    every = (line for edit in edits for line in unified(edit).removesuffix("\n").split("\n"))
    lines = list(islice(every, LINES + 1))
    left = f"showing the first {LINES:,} lines; diff() has them all" if len(lines) > LINES else ""
    return [clip(visible(line), ROOM) for line in lines[:LINES]], left


def _busy_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a plan with those in front that change something, for what is cut off behind."""
    return rows.sort_values("action", key=lambda actions: actions.isin(IDLE), kind="stable")


def _state(edits: Sequence[Edit], added: int, applied: bool) -> str:
    files, entries = count(len(edits), "file"), count(added, "entry")
    return f"applied: {files} changed, {entries} added" if applied else f"not applied: {files} to change, {entries} to add"


def plan_text(
    edits: Sequence[Edit], rows: pd.DataFrame, added: int, warnings: Sequence[str], applied: bool, texts: Sequence[str] = ()
) -> str:
    """Return a plan as text: its state, its rows, its diff, texts to be looked at, its warnings."""
    table = [display.table_text(_busy_first(rows), limit=20)] if len(rows) else []
    return _joined(edits, [_state(edits, added, applied), *table], warnings, texts)


def terminal_text(
    edits: Sequence[Edit],
    rows: pd.DataFrame,
    added: int,
    warnings: Sequence[str],
    applied: bool,
    texts: Sequence[str] = (),
    *,
    width: int = WIDTH,
) -> str:
    """Return the same text for a terminal of `width` columns, with every row of what is not done, whole, in front."""
    rest = rows[~rows["action"].isin(LOUD)]
    lines = [_state(edits, added, applied)]
    for action in LOUD:
        found = rows[rows["action"] == action]
        lines += [f"{action}, {len(found):,} of {count(len(rows), 'row')}:"] if len(found) else []
        for row, reason in zip(found["row"], found["reason"], strict=True):
            lines += wrap(f"{row}  {reason}", "  - ", width=width)
    lines += [display.table_text(_busy_first(rest), limit=20, width=width)] if len(rest) else []
    return _joined(edits, lines, warnings, texts)


def _joined(edits: Sequence[Edit], head: Sequence[str], warnings: Sequence[str], texts: Sequence[str]) -> str:
    """Return what a plan says first, and below it what is the same wherever it is shown."""
    lines, left = _shown(edits)
    notes = [f"warning: {visible(warning)}" for warning in warnings]
    shown = [_visible(text) for text in texts]
    return "\n".join(filter(None, [*head, *lines, left, *shown, *notes]))


def plan_html(
    edits: Sequence[Edit], rows: pd.DataFrame, added: int, warnings: Sequence[str], applied: bool, texts: Sequence[str] = ()
) -> str:
    """Return the same plan as HTML."""
    lines, left = _shown(edits)
    table = display.table_html(_busy_first(rows), limit=20) if len(rows) else ""
    notes = "".join(f'<p class="s warning">{html.escape(visible(warning))}</p>' for warning in (*warnings, left) if warning)
    diff = f"<pre>{''.join(map(_line_html, lines))}</pre>" if lines else ""
    diff += "".join(f"<pre>{html.escape(_visible(text))}</pre>" for text in texts)
    return display.page(
        f'<style>{DIFF}</style><p class="v">{html.escape(_state(edits, added, applied))}</p>{table}{diff}{notes}'
    )


def _visible(text: str) -> str:
    """Return a text with what is not meant to be seen made visible, line by line."""
    return "\n".join(clip(visible(line), ROOM) for line in text.split("\n"))


def _line_html(line: str) -> str:
    mark = {"+": "ok", "-": "error"}.get(line[:1], "q")
    mark = "b" if line.startswith(("+++ ", "--- ")) else mark
    return f'<span class="d {mark}">{html.escape(line) or " "}</span>'
