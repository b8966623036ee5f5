"""What `forget` speaks of: the entries asked for, equal ones elsewhere, corrections that quote them; a frame in, values out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pandas as pd

from memkit.edits.lines import entry_text
from memkit.errors import BadArgument, ConflictError
from memkit.indexing import CORRECTION
from memkit.text import norm_text

ASKED, EQUAL, QUOTING, OF_IT = "asked for", "the same text elsewhere", "a correction that quotes it", "a correction of it"
_CORRECTION = re.compile(rf"(?:{CORRECTION} ?)?([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}) ?[：:] ?(.+)")
_ARROW = " → "
_LONG = 6  # characters from which on a text inside a correction is a quote, and no mere word


@dataclass(frozen=True, slots=True)
class Target:
    """One entry to forget: its file, day, tag and text, and why it is here; `put` is the text that stands instead.

    `line` only chooses between equal entries of one file.
    """

    path: str
    line: int
    day: date | None
    tag: str | None
    text: str
    reason: str
    put: str | None = None


def find(frame: pd.DataFrame, what: pd.DataFrame | str, day: date | None, replacement: str | None) -> list[Target]:
    """Return what a text, or rows of a frame, ask to forget, and what speaks of it elsewhere.

    `frame` are all entries as they are now. A replacement is put in place of the text also where a correction quotes it.

    Raises: BadArgument; ConflictError if a row is no longer there.
    """
    if replacement is not None:
        entry_text(replacement, "replacement")
    folded = frame["text"].map(norm_text).tolist()
    asked = _of_rows(frame, what) if isinstance(what, pd.DataFrame) else _of_text(frame, folded, what, day)
    taken = set(asked)
    texts = {folded[place] for place in asked}
    equal = [place for place, text in enumerate(folded) if text in texts and place not in taken]
    found = [
        _target(frame, place, reason, replacement) for places, reason in ((asked, ASKED), (equal, EQUAL)) for place in places
    ]
    taken.update(equal)
    for place, (cited, rest) in _corrections(frame, folded).items():
        said = next((text for text in texts if _quotes(rest, text)), None)
        if place in taken:
            continue
        if said is not None:
            put = folded[place].replace(said, norm_text(replacement)) if replacement is not None else None
            found.append(_target(frame, place, QUOTING, put))
        elif replacement is None and any(_is_of(cited, rest, target, frame, folded, taken) for target in found):
            found.append(_target(frame, place, OF_IT))
    return found


def at(frame: pd.DataFrame, places: Iterable[int], reason: str) -> list[Target]:
    """Return the entries at some places of a frame as targets."""
    return [_target(frame, place, reason) for place in places]


def _target(frame: pd.DataFrame, place: int, reason: str, put: str | None = None) -> Target:
    row = frame.iloc[place]
    day = None if pd.isna(row["date"]) else row["date"].date()
    tag = row["tag"] if isinstance(row["tag"], str) else None
    return Target(row["path"], int(row["line"]), day, tag, row["text"], reason, put)


def _of_text(frame: pd.DataFrame, folded: list[str], text: object, day: date | None) -> list[int]:
    """Return where entries with a text stand, given with or without their tag in front."""
    if not isinstance(text, str):
        raise BadArgument(f"rows_or_text: {type(text).__name__}; expected an entry's text, or rows of a frame")
    said = norm_text(text)
    if not said:
        raise BadArgument("rows_or_text: it is empty; give an entry's exact text, or rows of a frame")
    days = frame["date"].to_numpy()
    wanted = None if day is None else pd.Timestamp(day).to_datetime64()
    tags = frame["tag"].fillna("-").tolist()
    return [
        place
        for place, (tag, whole) in enumerate(zip(tags, folded, strict=True))
        if said in (whole, f"[{tag}] {whole}") and (wanted is None or days[place] == wanted)
    ]


def _of_rows(frame: pd.DataFrame, rows: pd.DataFrame) -> list[int]:
    """Return where rows stand now: by file and text, and by tag and line only where several are equal."""
    for name in ("path", "text"):
        if name not in rows:
            raise BadArgument(f"rows_or_text: the frame has no column {name}; give rows of entries()")
    held: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(zip(frame["path"], frame["text"], strict=True)):
        held.setdefault(key, []).append(place)
    tags, lines = frame["tag"].tolist(), frame["line"].tolist()
    found: dict[int, None] = {}
    known = [name for name in ("path", "text", "tag", "line") if name in rows]
    for row in rows[known].drop_duplicates().to_dict("records"):
        hits = [place for place in held.get((row["path"], row["text"]), []) if place not in found]
        if not hits:
            raise ConflictError(f"{row['path']}: an entry of the frame is no longer there; load the frame again")
        best = min(hits, key=lambda place: (_differs(row, "tag", tags[place]), _differs(row, "line", lines[place])))
        found[best] = None
    return list(found)


def _differs(row: dict[Any, Any], name: str, value: object) -> bool:
    """Return whether a row says something else; both missing is the same."""
    given = row.get(name)
    return given != value and not (pd.isna(given) and pd.isna(value))


def _corrections(frame: pd.DataFrame, folded: list[str]) -> dict[int, tuple[str, str]]:
    """Return the day that each correction names and what follows it, by place."""
    tags = frame["tag"].tolist()
    heads = ((place, text) for place, text in enumerate(folded) if text.startswith(CORRECTION) or tags[place] == CORRECTION)
    matches = ((place, _CORRECTION.match(text)) for place, text in heads)
    return {place: (match[1], match[2]) for place, match in matches if match}


def _sides(rest: str) -> list[tuple[str, str]]:
    """Return what a correction may name and what it may say instead, wherever its arrow is."""
    parts = rest.split(_ARROW)
    return [(_ARROW.join(parts[:cut]), _ARROW.join(parts[cut:])) for cut in range(1, len(parts))]


def _quotes(rest: str, text: str) -> bool:
    """Return whether a correction holds a whole text: as what it says, or anywhere if it is no mere word."""
    return (len(text) >= _LONG and text in rest) or any(text == said for _, said in _sides(rest))


def _is_of(cited: str, rest: str, target: Target, frame: pd.DataFrame, folded: Sequence[str], taken: set[int]) -> bool:
    """Return whether a correction names a part of a target, and of no other entry of that day."""
    if target.reason not in (ASKED, EQUAL) or str(target.day) != cited:
        return False
    subjects = [subject for subject, _ in _sides(rest) if subject in norm_text(target.text)]
    others = [place for place in (frame["date"] == pd.Timestamp(cited)).to_numpy().nonzero()[0] if place not in taken]
    return any(not any(subject in folded[place] for place in others) for subject in subjects)
