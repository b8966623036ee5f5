"""The methods of Store that prove what it holds and carry it out: audit, manifest, export; nothing in the store is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from memkit import audit as audits
from memkit import export as exports
from memkit import files, fts, tables
from memkit import manifest as manifests
from memkit.audit import AuditReport
from memkit.loading import State
from memkit.mending import mend
from memkit.model import FileFact, IndexFact, Snapshot
from memkit.schema import ENTRIES

if TYPE_CHECKING:
    from memkit.store import Store


def audit(
    self: Store,
    *,
    against: pd.DataFrame | str | os.PathLike[str] | None = None,
    off: str | Iterable[str] = (),
    severities: Mapping[str, str] | None = None,
) -> AuditReport:
    """Return what is wrong with the files, and only that: a clean store has no finding. Nothing is written.

    `against` is a manifest (a frame, or the Parquet file it was saved in): what was lost or changed since then is
    found too. `off` are rules that say nothing, `severities` those of rules where they are not their own.

    Raises: BadArgument for what is no manifest, no rule or no severity.
    """
    loaded, now = self._fresh(), self._clock()
    settings = audits.settings_of(off, severities or {}, audits.ALL_RULES)
    if against is None:
        return audited(self, loaded, now, settings=settings)
    then = manifests.checked(against if isinstance(against, pd.DataFrame) else exports.read_frame(against))
    now_there = present(self, loaded, [path for path in then["path"] if path in loaded.facts])
    return audited(self, loaded, now, then, now_there, settings=settings)


def manifest(self: Store, out: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return what the finished days look like now: path, size (bytes), sha256, entries, lines (a checksum each).

    `out` also saves it as Parquet, outside the store; give it to `audit(against=…)` later, also on another machine.

    Raises: PathError for a target inside the store.
    """
    loaded, today = self._fresh(), self._clock().date()
    held = [record for record in loaded.records.values() if tables.is_day_file(record)]
    paths = sorted(record.path for record in held if record.role.day and record.role.day < today)
    frame = present(self, loaded, paths)
    if out is not None:
        exports.write_frame(frame, files.place_of(out, "out"), store=self.root)
    return frame


def export(self: Store, dir: str | os.PathLike[str], format: str = "parquet") -> pd.DataFrame:
    """Write every frame as Parquet, CSV or JSON to a folder outside the store; `memkit.read_export` gives them back.

    Returns what was written: frame, file, rows, bytes, sha256.

    Raises: BadArgument for another format, PathError for a folder inside the store or a file in its place,
        ExportError if files lie there that no export wrote.
    """
    return exports.export(_frames(self), files.place_of(dir, "dir"), format, store=self.root)


def _frames(store: Store) -> dict[str, pd.DataFrame]:
    """Return every frame by name, all of one moment; the entries with dreams."""
    loaded, today = store._fresh(), store._clock().date()
    records = loaded.records.values()
    return {
        "entries": loaded.entries[list(ENTRIES)],
        "days": tables.days(records, loaded.visible, today),
        "catalog": tables.catalog(records),
        "summaries": tables.summaries(records, store._loaded.sources(loaded).stale()),
        "topics": tables.topics(records),
        "tags": loaded.tags,
        "files": tables.files(loaded.facts.values(), store._loaded.hashes(loaded)),
    }


def audited(
    store: Store,
    loaded: State,
    now: datetime,
    then: pd.DataFrame | None = None,
    present: pd.DataFrame | None = None,
    *,
    settings: audits.Settings | None = None,
) -> AuditReport:
    """Return the report of a store as it was loaded."""
    seen = Snapshot(
        store.layout,
        loaded.facts,
        loaded.records,
        loaded.entries,
        now,
        then,
        present,
        store._loaded.sources(loaded),
        _index_fact(store, loaded),
        store._hot_limit,
    )
    return audits.run(seen, settings, partial(mend, store))


def _index_fact(store: Store, loaded: State) -> IndexFact | None:
    """Return what is known of the search index, None in a layout without one; a file is hashed only if its time differs."""
    index = store._index
    if index.target is None:
        return None
    found = fts.look(index.target)
    behind = _behind(store, found.files, loaded) if found.state == "ok" else ()
    return IndexFact(index.name, found.state, found.reason, behind)


def _behind(store: Store, held: Mapping[str, fts.Stamp], loaded: State) -> tuple[str, ...]:
    """Return the files that an index does not hold as they are, and those it holds that are gone; dreams are not searched."""
    facts = {path: fact for path, fact in loaded.facts.items() if store._loaded.is_read(fact) and fact.role.kind != "dream"}
    changed = [path for path, fact in facts.items() if not _holds(store, held.get(path), fact)]
    return tuple(sorted([*changed, *(held.keys() - facts.keys())]))


def _holds(store: Store, stamp: fts.Stamp | None, fact: FileFact) -> bool:
    """Return whether an index holds a file of this size and time, or of these very bytes."""
    if stamp is None or stamp[:2] == (fact.size, fact.mtime_ns):
        return stamp is not None
    return fact.role.kind != "session" and stamp[2] is not None and stamp[2] == files.sha256(store.root, fact)


def present(store: Store, loaded: State, paths: list[str]) -> pd.DataFrame:
    """Return the manifest of some files as they are now."""
    contents = ((path, files.data_of(store.root, path)) for path in paths)
    held = ((path, data) for path, data in contents if data is not None)
    return manifests.manifest(held, loaded.entries["path"].value_counts().to_dict())
