"""What of an entry is searched, and how well it fits a query where BM25 does not apply; pure.

The index and a scan of the files share this room, so that both find and rank the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from memkit import marks, query, schema


def bodies(frame: pd.DataFrame) -> pd.Series:
    """Return what is searched of each entry: `[tag] text`, or the text alone if it has no tag or its tag as `#tag`."""
    text = query.arrow(frame["text"]).fill_null("")
    tag = query.arrow(frame["tag"])
    opening, closing, glue = (pa.scalar(sign, pa.large_string()) for sign in ("[", "] ", ""))
    tagged = pc.coalesce(pc.binary_join_element_wise(opening, tag, closing, text, glue), text)
    told = np.zeros(len(frame), dtype="bool")
    for row in np.flatnonzero(pc.and_(tag.is_valid(), pc.match_substring(text, "#"))).tolist():
        told[row] = tag[row].as_py() in marks.hash_tags(text[row].as_py(), item=True)
    return pd.Series(schema.strings(pc.if_else(pa.array(told), text, tagged)), index=frame.index)


def folded_bodies(frame: pd.DataFrame) -> list[str]:
    """Return the body of each entry as it is compared."""
    return query.fold_column(bodies(frame))


def plain_scores(folded: Iterable[str], terms: Sequence[str]) -> Any:
    """Return how well folded bodies fit folded terms, from 0 to under 1: s/(1+s), s = hits ÷ √(code points/100)."""
    return scores(keys(folded, terms), ranked=False)


def keys(folded: Iterable[str], terms: Sequence[str]) -> Any:
    """Return hits² ÷ code points of each body: what the index sorts by, as SQLite may lack a square root."""
    return np.array([sum(map(body.count, terms)) ** 2 / max(len(body), 1) for body in folded], dtype="float64")


def scores(found: Any, *, ranked: bool) -> Any:
    """Return s/(1+s) of each key: of BM25's own number if `ranked`, else of what `keys` returns."""
    s = found if ranked else 10 * np.sqrt(found)
    return s / (1 + s)
