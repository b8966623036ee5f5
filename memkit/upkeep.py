"""The methods of Store that prove what it holds and carry it out: audit, manifest, export; nothing in the store is written."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from memkit import audit as audits
from memkit import export as exports
from memkit import files, tables
from memkit import manifest as manifests
from memkit.audit import AuditReport
from memkit.loading import State
from memkit.model import Snapshot
from memkit.schema import ENTRIES

if TYPE_CHECKING:
    from memkit.store import Store


def audit(self: Store, *, against: pd.DataFrame | str | os.PathLike[str] | None = None) -> AuditReport:
    """Return what is wrong with the files, and only that: a clean store has no finding. Nothing is written.

    `against` is a manifest (a frame, or the Parquet file it was saved in): what was lost or changed since then is
    found too.

    Raises: BadArgument for what is no manifest.
    """
    loaded, now = self._fresh(), self._clock()
    if against is None:
        return audited(self, loaded, now)
    then = manifests.checked(against if isinstance(against, pd.DataFrame) else exports.read_frame(against))
    return audited(self, loaded, now, then, present(self, loaded, [path for path in then["path"] if path in loaded.facts]))


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
        exports.write_frame(frame, Path(out), store=self.root)
    return frame


def export(self: Store, dir: str | os.PathLike[str], format: str = "parquet") -> pd.DataFrame:
    """Write every frame as Parquet, CSV or JSON to a folder outside the store; `memkit.read_export` gives them back.

    Returns what was written: frame, file, rows, bytes, sha256.

    Raises: BadArgument for another format, PathError for a folder inside the store or a file in its place,
        ExportError if files lie there that no export wrote.
    """
    return exports.export(_frames(self), Path(dir).expanduser(), format, store=self.root)


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
    store: Store, loaded: State, now: datetime, then: pd.DataFrame | None = None, present: pd.DataFrame | None = None
) -> AuditReport:
    """Return the report of a store as it was loaded."""
    sources = store._loaded.sources(loaded)
    return audits.run(Snapshot(store.layout, loaded.facts, loaded.records, loaded.entries, now, then, present, sources))


def present(store: Store, loaded: State, paths: list[str]) -> pd.DataFrame:
    """Return the manifest of some files as they are now."""
    contents = ((path, files.data_of(store.root, path)) for path in paths)
    held = ((path, data) for path, data in contents if data is not None)
    return manifests.manifest(held, loaded.entries["path"].value_counts().to_dict())
