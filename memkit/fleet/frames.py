"""The frames of a fleet: those of its stores with a column `store` before them, packed as bytes on their way from a process.

Days and instants travel as whole numbers and categories as their codes, so that each column arrives in one piece and exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from memkit import schema

STORE: schema.Schema = {"store": schema.STR}
DIGEST = pd.Int64Dtype()

OVERVIEW: schema.Schema = {
    "layout": schema.STR, "root": schema.STR, "entries": schema.COUNT, "chars": schema.BYTES, "days": schema.COUNT,
    "first": schema.DAY, "last": schema.DAY, "tags": schema.COUNT, "untagged": schema.COUNT, "undated": schema.COUNT,
    "hot.chars": schema.COUNT, "hot.limit": schema.COUNT, "hot.overLimit": schema.FLAG, "hot.candidates": schema.COUNT,
    "hot.topics": schema.COUNT, "cold.files": schema.COUNT, "cold.entries": schema.COUNT, "cold.latest": schema.DAY,
    **{f"summaries.{period}.{what}": schema.COUNT for period in ("day", "week", "month") for what in ("files", "chars")},
}  # fmt: skip


def overview(facts: pd.DataFrame) -> pd.DataFrame:
    """Return the overview of one store as a row; what it says of single months is left to volume("month")."""
    value = facts["value"].astype(object)
    row = [
        pd.Timestamp(value[name]) if dtype == schema.DAY and value[name] else value[name] for name, dtype in OVERVIEW.items()
    ]
    return schema.rows(OVERVIEW, [row])


def packed(frame: pd.DataFrame, columns: schema.Schema) -> pa.Table:
    """Return the columns of a schema as an Arrow table."""
    return pa.table({name: _packed(frame[name], dtype) for name, dtype in columns.items()})


def _packed(column: pd.Series, dtype: Any) -> Any:
    if dtype == schema.STR:
        return pa.array(column.array, pa.large_string())
    if isinstance(dtype, pd.CategoricalDtype):
        return pa.array(column.cat.codes.to_numpy())
    if dtype == schema.INSTANT:
        return pa.array(column.array.asi8)
    if dtype == schema.DAY:
        return pa.array(column.to_numpy().view("int64"))
    return pa.array(column.to_numpy("int64" if dtype == DIGEST else None))


def to_bytes(table: pa.Table) -> Any:
    """Return a table as bytes that another process can read in place."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


def from_bytes(data: bytes) -> pa.Table:
    """Return the table that to_bytes wrote, over the same bytes."""
    return pa.ipc.open_stream(data).read_all()


def fleet_frame(
    names: Sequence[str], counts: Sequence[int], tables: Sequence[pa.Table], columns: schema.Schema
) -> pd.DataFrame:
    """Return the tables of all stores as one frame, `store` first: as many rows of each name as `counts` says."""
    if not tables:
        return empty(columns)
    table = pa.concat_tables(tables)
    owner = pa.array(np.repeat(np.arange(len(names)), counts))
    held = {"store": schema.strings(pa.array(names, pa.large_string()).take(owner))}
    held |= {name: _unpacked(table[name].combine_chunks(), dtype) for name, dtype in columns.items()}
    return pd.DataFrame(held, copy=False)


def empty(columns: schema.Schema) -> pd.DataFrame:
    """Return the frame of no store."""
    held = {name: dtype for name, dtype in columns.items() if dtype != DIGEST}
    frame = schema.frame({**STORE, **held})
    return frame.assign(**{name: pd.array([], dtype=DIGEST) for name in columns if name not in held})


def _unpacked(array: Any, dtype: Any) -> Any:
    if dtype == schema.STR:
        return schema.STR.__from_arrow__(array)
    values = array.to_numpy(zero_copy_only=False)
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Categorical.from_codes(values, dtype=dtype)
    if dtype in (schema.DAY, schema.INSTANT):
        return schema.series(dtype, values.view("datetime64[ms]"))
    return pd.array(values, dtype=dtype) if dtype == DIGEST else values.astype(dtype, copy=False)
