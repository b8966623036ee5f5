"""The entries of a fleet as a Parquet dataset: `store=<name>/year=<yyyy>/part.parquet`, as DuckDB, Spark and Polars read it.

Readers make the names of stores numbers, dates or truth values where all of them look like it, and then 007 is 7. A
dataset in which no name is plainly text has therefore a part without rows, of the store `(text)`, so that all are text.
Entries without a date are of the year 0, which every reader takes. Nothing else lies in its folder: what wrote a file is
told in its own footer, since readers stumble over other files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from memkit import __version__, files, schema
from memkit.errors import ExportError

if TYPE_CHECKING:
    from memkit.store import Store

WRITTEN: schema.Schema = {
    "year": schema.STR, "file": schema.STR, "rows": schema.COUNT, "bytes": schema.BYTES, "sha256": schema.STR,
}  # fmt: skip
UNDATED = 0  # Hive's own word for a missing value is one that pandas and Dask fail at
TEXT = "(text)"  # the store of the part without rows
PART = "part.parquet"
MARK = b"memkit-fleet"

_TEXT = re.compile(r"(?!(?:true|false|null|none|nan?|inf|infinity|epoch|nat)\Z)[^\W\d_]", re.IGNORECASE)
_SYSTEM = re.compile(r"\.DS_Store|\._.*|\.localized|\.directory|Thumbs\.db|desktop\.ini", re.IGNORECASE)  # of file browsers
_ESCAPED = re.compile("[\x00-\x1f\x7f\"#%'*/:=?\\\\{\\[\\]^<>|]")  # those of Hive, and what Windows has in no name
_TEMP = re.compile(r"\.part\.parquet\.[0-9a-f]{12}\.tmp")
_FOOTER = 1 << 20
_MARKER = f"store={TEXT}/year={UNDATED}/{PART}"


def folder_of(name: str) -> str:
    """Return a name as part of a path: characters that mean something there as %XX, all others as they are."""
    escaped = _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", name)
    return re.sub(r"[. ]+\Z", lambda found: "".join(f"%{ord(each):02X}" for each in found[0]), escaped)


def write(store: Store, folder: Path, name: str) -> pd.DataFrame:
    """Write the entries of one store, dreams among them, a file a year; return what was written (WRITTEN).

    Raises: PathError, DiskError.
    """
    entries = store._fresh().entries[list(schema.ENTRIES)]
    years = entries["date"].dt.year.fillna(UNDATED).astype("int64")
    rows = []
    for year, held in entries.groupby(years):
        file = f"{_folder(name)}year={year}/{PART}"
        data = _parquet(held)
        files.write_output(folder / file, data, stores=[store.root])
        told = None if year == UNDATED else f"{year:04}"
        rows.append((told, file, len(held), len(data), hashlib.sha256(data).hexdigest()))
    return schema.rows(WRITTEN, rows)


def _folder(name: str) -> str:
    return f"store={folder_of(name)}/"


def _parquet(frame: pd.DataFrame) -> bytes:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), MARK: __version__.encode()}), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def earlier(folder: Path) -> list[str]:
    """Return the files that an export left in a folder.

    Raises: ExportError if anything else lies there, PathError if it is no folder.
    """
    held = []
    for file in _files(folder):
        if not _is_ours(folder, file):
            raise ExportError(f"{folder}: there is a {file} which no export of a fleet wrote; choose another folder")
        held.append(file)
    return held


def _files(folder: Path) -> Iterator[str]:
    """Yield what lies at the places of an export's files, and what lies elsewhere, but not what file browsers leave."""
    for store in _names(folder):
        if not store.startswith("store=") or not files.is_folder(folder / store):
            yield store
            continue
        for year in _names(folder / store):
            if year.startswith("year=") and files.is_folder(folder / store / year):
                yield from (f"{store}/{year}/{name}" for name in _names(folder / store / year))
            else:
                yield f"{store}/{year}"


def _names(folder: Path) -> list[str]:
    return sorted(name for name in files.names_of_output(folder) if not _SYSTEM.fullmatch(name))


def _is_ours(folder: Path, file: str) -> bool:
    """Return whether an export wrote a file: it is a part whose footer says so, or what a killed one left behind."""
    _, _, name = file.rpartition("/")
    if file.count("/") != 2 or name != PART:
        return file.count("/") == 2 and _TEMP.fullmatch(name) is not None
    try:
        footer = pq.read_schema(pa.BufferReader(files.tail_of_output(folder / file, _FOOTER)))
    except (pa.ArrowException, OSError, ValueError):
        return False
    return MARK in (footer.metadata or {})


def sweep(folder: Path, before: Iterable[str], written: Iterable[str], unanswered: Iterable[str]) -> list[str]:
    """Remove the files of an earlier export, and their folders; return those of stores that gave no answer, which stay.

    Raises: DiskError.
    """
    stores = tuple(map(_folder, unanswered))
    old = sorted({*before}.difference(written))
    stay = [file for file in old if file.startswith(stores) and file.endswith(f"/{PART}")]
    for file in old:
        if file not in stay:
            files.remove_output(folder / file)
    return stay


def hold_names(folder: Path, held: Iterable[str]) -> None:
    """Have the names of the stores read as text: add the part without rows where none of them plainly is.

    Raises: DiskError.
    """
    names = {file.partition("/")[0].removeprefix("store=") for file in held}
    if names and not any(name == TEXT or _TEXT.match(name) for name in names):
        files.write_output(folder / _MARKER, _parquet(schema.frame(schema.ENTRIES)))
