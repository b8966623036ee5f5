"""One summary to read: its facts, and its lines with the entry that each was copied from; and how that looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from memkit import summaries
from memkit.explorer import veil
from memkit.explorer.summaries import periods
from memkit.explorer.tab import Place, button, esc
from memkit.explorer.words import Words
from memkit.layouts import stored
from memkit.model import StoredSummary

if TYPE_CHECKING:
    from memkit.store import Store

LINES = 400  # lines that are shown; a summary has some twenty, but anyone may write into one
WIDE = 2000  # characters of a line that are shown
# The severity whose colour goes with what a period is like.
SEVERITIES = {periods.THERE: "ok", periods.STALE: "warning", periods.ORPHAN: "error", periods.HELD: "ok"}


class Said(NamedTuple):
    """One line of a summary: as it stands there; whether it copies an entry, and that entry if it was found."""

    text: str
    copies: bool
    place: Place | None


class Page(NamedTuple):
    """One summary as it is read. Without a file (`path` is "") it is what would be written."""

    key: str
    status: str
    path: str
    found: StoredSummary
    lines: tuple[Said, ...]
    hidden: int


def page_of(store: Store, key: str, out: object) -> Page:
    """Return the summary of a period, or what it would say; nothing is written.

    Raises: BadArgument for a key that names no period; PathError, DiskError, StoreNotFound.
    """
    period = periods.level_of(periods.check(key))
    path, text = "", ""
    if periods.has_place(store, out):
        facts = store.summarize(period, key, out=out, dry_run=True).facts  # type: ignore[arg-type]
        path, text = facts.path if facts.existed else "", facts.content
    else:
        text = store.summary(period, key)
    found = stored.read(text, period, key)
    lines = veil.masked(text).split("\n")  # as many as before
    shown = tuple(_said(lines[:LINES], found, _places(store, found)))
    return Page(key, periods.status_of(store, key, out), path, found, shown, max(0, len(lines) - LINES))


def _places(store: Store, found: StoredSummary) -> list[Place | None]:
    """Return the entry that each entry line was copied from, None where there is none in the period."""
    shown = found.lines[:LINES]
    if not shown:
        return []
    # The period is that of the file's name, whatever a damaged title says.
    trace = store.trace("\n\n".join([summaries.title(found.period, found.key), "\n".join(shown)]))
    rows = zip(trace["path"], trace["line"], strict=True)
    return [Place(path, int(line)) if isinstance(path, str) else None for path, line in rows]


def _said(lines: list[str], found: StoredSummary, places: list[Place | None]) -> Iterator[Said]:
    copied = dict(zip(found.at, places, strict=False))
    entries = set(found.at)
    for number, raw in enumerate(lines, 1):
        line = raw.removesuffix("\r")
        if number in entries:
            yield Said(line, True, copied.get(number))
        elif line.strip("\ufeff \t"):
            yield Said(line, False, None)


def html_of(page: Page, say: Words, *, choice: str) -> str:
    """Return how a summary looks; `choice` is the button that chooses it, if any."""
    title = esc(say(f"sum_{periods.level_of(page.key)}", key=page.key))
    close = button("×", "summaries.close", key=f"sum {page.key}", kind="close", escape=True, told=say("close"))
    body = "".join(_part(list(run), say) for _, run in groupby(enumerate(page.lines), key=lambda one: one[1].copies))
    hidden = f'<p class="q">{esc(say("sum_hidden", n=page.hidden))}</p>' if page.hidden else ""
    return (
        f'<section class="entry read" aria-label="{title}"><div class="head"><b class="h">{title}</b>{_facts(page, say)}{close}'
        f'</div>{_notes(page, say)}<div class="said" data-keep="summary">{body}{hidden}</div>{choice}</section>'
    )


def _part(run: Sequence[tuple[int, Said]], say: Words) -> str:
    """Return a run of lines, each with its number, of which all copy entries or none does."""
    if run[0][1].copies:
        return f'<ul data-nav="list">{"".join(_entry(at, line, say) for at, line in run)}</ul>'
    return "".join(f'<p class="q">{esc(_short(line.text))}</p>' for _, line in run)


def _entry(at: int, line: Said, say: Words) -> str:
    text = esc(_short(line.text.removeprefix("- ")))
    if line.place is None:
        return f'<li class="lost">{text} <span class="s warning">{esc(say("sum_no_source"))}</span></li>'
    where = esc(say("sum_source", path=line.place.path, line=str(line.place.line)))
    return (
        f'<li><button type="button" data-do="summaries.source" data-value="{at}" data-key="sum line {at}" title="{where}">'
        f"{text}</button></li>"
    )


def _short(text: str) -> str:
    return text if len(text) <= WIDE else f"{text[:WIDE]}…"


def _facts(page: Page, say: Words) -> str:
    """Return what is known of a summary: what it is like, where it lies, how much it holds and leaves out, and its age."""
    found = page.found
    kind = SEVERITIES.get(page.status, "info")
    told = [f'<span class="s {kind}">{esc(say(f"sum_{page.status}"))}</span>'] if page.status else []
    told += [f'<code class="q">{esc(page.path)}</code>'] if page.path else []
    if not page.lines:
        return "".join(told)
    facts = [say("sum_entries", n=len(found.lines))]
    facts += [say("sum_omitted", n=found.omitted)] if found.omitted else []
    facts += [say("sum_below", n=found.omitted_below)] if found.omitted_below else []
    facts += [say("sum_chars", n=found.chars)] if page.path else []
    facts += [say("sum_generated", at=_short(found.generated_at)[:60])] if page.path and found.generated_at else []
    return "".join([*told, *(f'<span class="q">{esc(fact)}</span>' for fact in facts)])


def _notes(page: Page, say: Words) -> str:
    """Return what there is to know before reading: that it is only what would be written, or that there is nothing."""
    if not page.status:
        return f'<p class="q">{esc(say("sum_nothing"))}</p>'
    if page.path or page.status == periods.HELD:
        return ""
    return f'<p class="q">{esc(say("sum_would"))}</p>'
