"""Frames to files and back, exactly: Parquet, CSV or JSON beside a manifest with row counts and hashes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from memkit import __version__, files, schema
from memkit.errors import BadArgument, ExportError

MANIFEST = "memkit-export.json"
WRITTEN: schema.Schema = {
    "frame": schema.STR,
    "file": schema.STR,
    "rows": schema.COUNT,
    "bytes": schema.BYTES,
    "sha256": schema.STR,
}


def export(frames: Mapping[str, pd.DataFrame], folder: Path, format: str, *, store: Path) -> pd.DataFrame:
    """Write the frames and a manifest to a folder outside the store; return what was written: frame, file, rows, bytes, sha256.

    Each file is read back and compared before it counts as written.

    Raises: BadArgument for an unknown format, PathError for a folder inside the store, ExportError if one differs.
    """
    if format not in FORMATS:
        raise BadArgument(f"format: {str(format)[:40]!r}; expected {', '.join(FORMATS)}")
    write, read = FORMATS[format]
    files.refuse_inside(folder, [store])
    _refuse_others(folder, [f"{name}.{format}" for name in frames])
    rows = []
    for name, frame in frames.items():
        data = write(frame)
        if not read(data, schema.SCHEMAS[name]).equals(frame):
            raise ExportError(f"{folder}: the frame {name} does not survive {format}; please report it")
        files.write_output(folder / f"{name}.{format}", data, stores=[store])
        rows.append((name, f"{name}.{format}", len(frame), len(data), hashlib.sha256(data).hexdigest()))
    written = schema.rows(WRITTEN, rows)
    manifest = {"memkit": __version__, "format": format, "frames": json.loads(written.to_json(orient="records"))}
    files.write_output(folder / MANIFEST, json.dumps(manifest, indent=1).encode(), stores=[store])
    return written


def _refuse_others(folder: Path, names: Iterable[str]) -> None:
    """Hold that nothing is written over but an earlier export."""
    held = files.names_of_output(folder)
    taken = [name for name in names if name in held]
    if taken and MANIFEST not in held:
        raise ExportError(f"{folder}: there is a {taken[0]} which no export wrote; choose another folder")


def read_export(folder: str | Path) -> dict[str, pd.DataFrame]:
    """Return the frames of an export by name, with their columns, order and dtypes.

    Raises: ExportError if the folder holds no export, or a file is missing or was changed.
    """
    place = Path(folder).expanduser()
    try:
        manifest = json.loads(_bytes(place / MANIFEST))
        _, read = FORMATS[manifest["format"]]
        rows = [(row["frame"], row["file"], row["sha256"], schema.SCHEMAS[row["frame"]]) for row in manifest["frames"]]
    except (ValueError, LookupError, TypeError) as error:
        raise ExportError(f"{place / MANIFEST}: no manifest of a memkit export; export again") from error
    frames = {}
    for name, file, digest, columns in rows:
        data = _bytes(place / file)
        if hashlib.sha256(data).hexdigest() != digest:
            raise ExportError(f"{place / file}: changed since it was exported; export again")
        frames[name] = read(data, columns)
    return frames


def write_frame(frame: pd.DataFrame, target: Path, *, store: Path) -> None:
    """Save one frame as Parquet outside the store.

    Raises: PathError for a target inside the store.
    """
    files.write_output(target, _to_parquet(frame), stores=[store])


def read_frame(source: str | os.PathLike[str]) -> pd.DataFrame:
    """Return a frame that write_frame saved.

    Raises: ExportError if the file cannot be read as Parquet.
    """
    path = Path(source).expanduser()
    try:
        return pd.read_parquet(io.BytesIO(_bytes(path)))
    except (OSError, ValueError) as error:
        raise ExportError(f"{path}: it is no Parquet file; name one that memkit saved") from error


def _bytes(path: Path) -> bytes:
    try:
        return files.read_output(path)
    except OSError as error:
        raise ExportError(f"{path}: {(error.strerror or 'unreadable').lower()}; name the folder of a memkit export") from error


def _to_parquet(frame: pd.DataFrame) -> bytes:
    data: bytes = frame.to_parquet(index=False)
    return data


def _from_parquet(data: bytes, wanted: schema.Schema) -> pd.DataFrame:
    frame = pd.read_parquet(io.BytesIO(data))
    return schema.frame(wanted, {name: frame[name].astype(dtype) for name, dtype in wanted.items()})


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with days and instants as ISO text."""
    out = frame.copy(deep=False)
    for name, dtype in frame.dtypes.items():
        if dtype == schema.DAY:
            out[name] = frame[name].dt.strftime("%Y-%m-%d")
        elif dtype == schema.INSTANT:
            out[name] = frame[name].dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return out


def _to_csv(frame: pd.DataFrame) -> bytes:
    text: str = _plain(frame).to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    return text.encode()


def _from_csv(data: bytes, wanted: schema.Schema) -> pd.DataFrame:
    frame = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False, na_values=[], lineterminator="\n")
    return schema.frame(wanted, {name: _typed(dtype, frame[name].tolist()) for name, dtype in wanted.items()})


def _typed(dtype: Any, values: list[str]) -> list[Any]:
    """Return the cells of a CSV column as values of the dtype; an empty cell is missing."""
    if dtype == schema.FLAG:
        return [value == "True" for value in values]
    if dtype in (schema.COUNT, schema.BYTES):
        return [int(value) for value in values]
    return [value or None for value in values]


def _to_json(frame: pd.DataFrame) -> bytes:
    plain = _plain(frame).astype(object)
    rows = plain.where(plain.notna(), None).to_dict("records")
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[{lines}]\n".encode()


def _from_json(data: bytes, wanted: schema.Schema) -> pd.DataFrame:
    records = json.loads(data)
    return schema.frame(wanted, {name: [record[name] for record in records] for name in wanted})


FORMATS: dict[str, tuple[Callable[[pd.DataFrame], bytes], Callable[[bytes, schema.Schema], pd.DataFrame]]] = {
    "parquet": (_to_parquet, _from_parquet),
    "csv": (_to_csv, _from_csv),
    "json": (_to_json, _from_json),
}
