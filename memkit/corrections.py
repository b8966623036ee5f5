"""Corrections: which earlier entries a later one says are no longer so (`更正 <date>：<subject> → <text>`); pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Any, NamedTuple

import pandas as pd

from memkit import match, schema
from memkit.dates import parse_day

TAG = "更正"
_WITH_TAG = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})：(.+?) → ", re.DOTALL)
_IN_TEXT = re.compile(rf"{TAG} ([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})：(.+?) → ", re.DOTALL)


class Correction(NamedTuple):
    """One correction: the day it corrects, its subject folded, and the day it was made."""

    day: date
    subject: str
    made: date


def corrections(frame: pd.DataFrame) -> list[Correction]:
    """Return the corrections among some entries; undated ones correct nothing that comes before them."""
    found = []
    for made, tag, text in zip(frame["date"], frame["tag"], frame["text"], strict=True):
        told = _WITH_TAG.match(text) if tag == TAG else _IN_TEXT.match(text)
        day = parse_day(told[1]) if told else None
        if told and day and made is not pd.NaT:
            found.append(Correction(day, match.fold(told[2]), made.date()))
    return found


def corrected_by(frame: pd.DataFrame, known: Iterable[Correction]) -> Any:
    """Return for each entry the latest day on which what it says was corrected (datetime64[ms]), NaT if it was not."""
    by_day: dict[date, list[Correction]] = {}
    for one in sorted(known, key=lambda one: one.made):
        by_day.setdefault(one.day, []).append(one)
    latest: list[date | None] = []
    for day, text in zip(frame["date"], frame["text"], strict=True):
        own = by_day.get(day.date(), []) if by_day and day is not pd.NaT else []
        folded = match.fold(text) if own else ""
        latest.append(next((one.made for one in reversed(own) if one.subject in folded), None))
    return schema.days(latest)
