"""The verbs that change a store, as methods of Store: each plans, checks and writes under the store's lock.

With `dry_run=True` a verb only plans; forget and push never apply by themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from memkit import dates, export, upkeep
from memkit import manifest as manifests
from memkit.batch import Batch, shelf_of
from memkit.desk import New, pairs_of
from memkit.edits import Plan
from memkit.edits import layers as layers_edits
from memkit.edits import workspace as workspace_edits
from memkit.edits.summaries import Window, Wish
from memkit.errors import BadArgument, UnsupportedError
from memkit.index import Synced

if TYPE_CHECKING:
    from memkit.store import Store


def append(
    self: Store, text: str, tag: str | None = None, index: str | None = None, *, important: bool = False, dry_run: bool = False
) -> Plan:
    """Add one entry to today's file; one that stands there already today adds nothing.

    `index` (archive) takes the place of the extracted index line; `important` (layers) also makes it a candidate.

    Raises: BadArgument, BadIndexError, UnsupportedError, LostTextError, PathError, LockTimeout.
    """
    _only(self, "archive", index is not None, "index")
    _only(self, "layers", important, "important")
    entry = New(text, tag, index, important)
    return self._desk.do(lambda now: self._desk.append(self._desk.read, entry, now), dry_run=dry_run)


def append_many(self: Store, entries: pd.DataFrame | Iterable[str | tuple[str, str]], *, dry_run: bool = False) -> Plan:
    """Add many entries to today's file at once: texts, (text, tag) pairs, or a frame with `text` and perhaps `tag`.

    Raises: as append; nothing is written if one entry is refused.
    """
    pairs = pairs_of(entries)
    return self._desk.do(lambda now: self._desk.append_all(self._desk.read, pairs, now), dry_run=dry_run)


def correct(self: Store, date: object, subject: str, text: str, *, dry_run: bool = False) -> Plan:
    """Add today what is right about an earlier day: `更正 <date>：<subject> → <text>`; the day itself stays as it is.

    Raises: as append.
    """
    day = dates.as_day(date, "date")
    return self._desk.do(lambda now: self._desk.correct(day, subject, text, now), dry_run=dry_run)


def forget(
    self: Store,
    rows_or_text: pd.DataFrame | str,
    *,
    date: object = None,
    replacement: str | None = None,
    new_index: str | None = None,
    manifest: str | os.PathLike[str] | None = None,
) -> Plan:
    """Plan to take entries out for good (or put `replacement` in their place), and every copy made from them.

    Takes an entry's exact text or rows of a frame. The plan is not applied: look at it, leave out rows with
    `plan.without(…)`, then `plan.apply()`. Exports, synced versions and git are beyond reach, and it says so.
    `manifest` is a file that `mem.manifest(out)` saved: what was asked for by name is then no loss to a later audit.

    Raises: BadArgument; ConflictError if a row is no longer there; ExportError if `manifest` is none.
    """
    day = dates.as_day(date, "date") if date is not None else None
    plan = self._desk.forget(rows_or_text, day, replacement, new_index)
    if manifest is not None and not isinstance(manifest, str | os.PathLike):
        raise BadArgument(f"manifest: {type(manifest).__name__}; expected the path that manifest(out) saved to")
    return plan if manifest is None else _kept_in(self, plan, Path(manifest).expanduser())


def _kept_in(self: Store, plan: Plan, saved: Path) -> Plan:
    """Return a plan that, once applied, says in a saved manifest what its files are now."""
    export.read_frame(saved)
    leave_out = plan.leave_out
    plan.then.insert(0, lambda: _update_manifest(self, saved, {edit.path for edit in plan.edits}))
    if leave_out is not None:
        plan.leave_out = lambda rows: _kept_in(self, leave_out(rows), saved)
    return plan


def _update_manifest(self: Store, saved: Path, paths: set[str]) -> None:
    """Put into a saved manifest what some of its files are now; those that are gone leave it."""
    then = manifests.checked(export.read_frame(saved))
    touched = then["path"].isin(paths)
    now = upkeep.present(self, self._fresh(), then["path"][touched].tolist())
    whole = pd.concat([then[~touched], now], ignore_index=True).sort_values("path", ignore_index=True)
    export.write_frame(whole, saved, store=self.root)


def push(self: Store, frame: pd.DataFrame, *, forget_missing: bool = False) -> Plan:
    """Plan what an edited frame of `entries(editable=True)` says: new rows are appended, changed old ones corrected.

    A changed row of today is refused, a row that is gone from its file is a conflict; `plan.rows` says which and why.
    Missing rows change nothing unless `forget_missing`. The plan is not applied.

    Raises: BadArgument.
    """
    return self._desk.pushing(frame, forget_missing=forget_missing)


def catch_up(self: Store, *, dry_run: bool = False) -> Plan:
    """Give the days since the last catalogued one their rows. Only `archive` has a catalog.

    Raises: UnsupportedError, PathError, LockTimeout.
    """
    _only(self, "archive", True, "catch_up")
    return self._desk.do(lambda now: self._desk.catch_up(now.date()), dry_run=dry_run)


def rebuild_catalog(self: Store, year: int | None = None, *, dry_run: bool = False) -> Plan:
    """Write the catalog of one year, or of all, afresh from the day files; the same again gives the same bytes.

    Raises: UnsupportedError, PathError, LockTimeout.
    """
    _only(self, "archive", True, "rebuild_catalog")
    return self._desk.do(lambda now: self._desk.rebuild(year, now.date()), dry_run=dry_run)


def hot_set(self: Store, content: str, *, dry_run: bool = False) -> Plan:
    """Replace the body of the hot layer; candidates and topics stay unless `content` holds their block.

    Raises: UnsupportedError; BadArgument for a block without its start or end.
    """
    _only(self, "layers", True, "hot_set")
    return self._desk.do(lambda now: layers_edits.hot_set(self._desk.read("hot.md"), content), dry_run=dry_run)


def topics_add(self: Store, topic: str, month: str, *, dry_run: bool = False) -> Plan:
    """Add one line `topic|YYYY-MM` to the topics of the hot layer.

    Raises: UnsupportedError, BadArgument.
    """
    _only(self, "layers", True, "topics_add")
    return self._desk.do(lambda now: layers_edits.topics_add(self._desk.read("hot.md"), topic, month), dry_run=dry_run)


def summarize(
    self: Store,
    period: str,
    date: object = None,
    *,
    force: bool = False,
    out: str | os.PathLike[str] | None = None,
    dry_run: bool = False,
) -> Plan:
    """Write the summary of the day, week or month that holds `date` (default: today), unless there is one.

    `force` makes it afresh, from the lower summaries there are. `layers` keeps it in `summaries/`; for the other
    layouts `out` is the folder, outside the store. `date` is a day, or the period's own key, such as 2025-W09.

    Raises: BadArgument, PathError, LockTimeout.
    """
    now = self._clock()
    period = dates.check_period(period)
    key = dates.key_of(period, date if date is not None else now.date())
    batch = Batch(shelf_of(self._desk, out), period, Wish(stale=False, force=force), now)
    return batch.run([key], dry_run=dry_run)


def summarize_all(
    self: Store,
    period: str,
    *,
    since: object = None,
    until: object = None,
    stale: bool = True,
    missing: bool = True,
    force: bool = False,
    out: str | os.PathLike[str] | None = None,
    progress: bool = True,
    dry_run: bool = False,
) -> Plan:
    """Write the summaries of all days, weeks or months that lack one (`missing`) or whose is out of date (`stale`).

    Only periods that are over, unless `until` names a later day; `since` and `until` are days, and every period that
    touches the window counts. `force` makes them all afresh. It can be interrupted: called again, it goes on. The plan's
    rows say what was made, what was left and why. `out` as for `summarize`.

    Raises: BadArgument, PathError, LockTimeout.
    """
    now = self._clock()
    first, last = (dates.as_day(day, name) if day is not None else None for day, name in ((since, "since"), (until, "until")))
    if first and last:
        dates.window(first, last, names=("since", "until"))
    wish = Wish(missing=missing, stale=stale, force=force)
    batch = Batch(shelf_of(self._desk, out), dates.check_period(period), wish, now)
    return batch.run(batch.keys(Window(first, last, now.date())), dry_run=dry_run, progress=progress)


def store(self: Store, text: str, target: str = "longterm", *, tag: str | None = None, dry_run: bool = False) -> Plan:
    """Add one line to the section `## Store` of MEMORY.md (longterm), or to today's log (daily). Only `workspace`.

    Raises: UnsupportedError, BadArgument.
    """
    _only(self, "workspace", True, "store")
    return self._desk.do(lambda now: workspace_edits.store(self._desk.read, text, target, now, tag=tag), dry_run=dry_run)


def mark_forgotten(self: Store, text: str, *, dry_run: bool = False) -> Plan:
    """Add one line to the section `## Forgotten` of MEMORY.md: search leaves out what is equal to it. Nothing is deleted.

    Only `workspace`. `forget` takes an entry out for good.

    Raises: UnsupportedError, BadArgument.
    """
    _only(self, "workspace", True, "mark_forgotten")
    return self._desk.do(lambda now: workspace_edits.forgotten(self._desk.read, text, now), dry_run=dry_run)


def sync(self: Store, *, rebuild: bool = False) -> Synced:
    """Make or refresh the search index of a workspace, and the vectors if embeddings are on; all or nothing.

    Returns what came of it: path, files, chunks (entries), changed (files read anew), vectors, seconds, warning. `rebuild`
    builds a new file, so that nothing that was deleted stays in it.

    Raises: UnsupportedError, ConflictError for another program's file, LockTimeout, DiskError.
    """
    _only(self, "workspace", True, "sync")
    return self._index.sync(rebuild=rebuild)


def _only(self: Store, layout: str, asked: bool, name: str) -> None:
    if asked and self.layout != layout:
        raise UnsupportedError(f"{name}: only a store of the layout {layout} has it; this one is {self.layout}")
