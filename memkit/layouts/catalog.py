"""A catalog file: `<YYYY-MM-DD> TAB <index>`, a row a day; reading only, and total."""

from __future__ import annotations

import re

from memkit.dates import parse_day
from memkit.lines import MERGE
from memkit.model import CatalogRow, Document, Problem, Records

_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"')


def parse(doc: Document, *, spans: bool = False) -> Records:
    """Return the rows of a catalog; a line that is no row becomes a Problem."""
    records = Records(doc.path, doc.role, problems=list(doc.problems))
    taken = []
    for number, line in enumerate(doc.reading.split("\n"), 1):
        day_text, tab, index = line.partition("\t")
        day = parse_day(day_text.strip()) if tab else None
        if not line.strip():
            taken.append("blank")
        elif day:
            records.rows.append(CatalogRow(day, unquoted(index), number, index))
            taken.append("layout")
        else:
            taken.append("problem")
            if not MERGE.match(line):
                records.problems.append(Problem("row-malformed", number, "a row that is not <YYYY-MM-DD> TAB <index>"))
            elif line.startswith("<"):
                records.problems.append(Problem("merge-marker", number, "an unresolved merge: rows of both sides are there"))
    records.spans = taken if spans else None
    return records


def unquoted(index: str) -> str:
    """Return an index without the quotes of the day file's own YAML, if it was copied with them."""
    text = index.strip()
    if text[:1] not in ("'", '"'):
        return index
    if match := _SINGLE.fullmatch(text):
        return match[1].replace("''", "'")
    if match := _DOUBLE.fullmatch(text):
        return re.sub(r"\\(.)", r"\1", match[1])
    return index
