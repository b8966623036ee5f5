"""Manifests: what finished days looked like once, so that a later audit can prove that none was lost or changed; pure.

Columns: path, size (bytes), sha256, entries, lines. `lines` is a checksum of eight hex digits for each line of the file, by
which the first differing line is found without keeping any text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from zlib import crc32

import pandas as pd

from memkit import schema
from memkit.errors import BadArgument

COLUMNS: schema.Schema = {
    "path": schema.STR, "size": schema.BYTES, "sha256": schema.STR, "entries": schema.COUNT, "lines": schema.STR,
}  # fmt: skip
_DIGITS = 8


def manifest(contents: Iterable[tuple[str, bytes]], entries: Mapping[str, int]) -> pd.DataFrame:
    """Return the manifest of some files; `entries` says how many each holds."""
    return schema.rows(COLUMNS, (row(path, data, entries.get(path, 0)) for path, data in contents))


def row(path: str, data: bytes, entries: int) -> tuple[str, int, str, int, str]:
    """Return one file's row."""
    lines = "".join(f"{crc32(line):0{_DIGITS}x}" for line in data.split(b"\n"))
    return (path, len(data), sha256(data).hexdigest(), entries, lines)


def checked(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a manifest with its columns and dtypes.

    Raises: BadArgument if it is none.
    """
    missing = [name for name in COLUMNS if name not in frame]
    if missing:
        raise BadArgument(f"against: no manifest, it lacks the column {missing[0]}; use what mem.manifest() gave")
    return schema.frame(COLUMNS, {name: frame[name] for name in COLUMNS})


def first_difference(old: str, new: str) -> int:
    """Return the number of the first line that two rows' `lines` differ in, from 1."""
    pairs = zip(_cut(old), _cut(new), strict=False)
    same = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)) // _DIGITS)
    return same + 1


def _cut(lines: str) -> list[str]:
    return [lines[start : start + _DIGITS] for start in range(0, len(lines), _DIGITS)]
