"""The numbers that a text names, however it writes them: 17,500 or 1.75 万, 三十二 or 32, 15:00 or 下午 3 点; pure.

Texts are folded already (NFKC, lower case), so that full-width digits are plain ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_DIGITS = re.compile("[0-9]+")
_WITH_UNIT = re.compile(r"([0-9]+(?:\.[0-9]+)?)[ \t]*([kmw%十百千万亿])")
_UNITS = {"k": 1e3, "m": 1e6, "w": 1e4, "%": 1.0, "十": 1e1, "百": 1e2, "千": 1e3, "万": 1e4, "亿": 1e8}
_CHINESE = re.compile("[〇零一二两三四五六七八九十百千万廿]+")
_NUMERALS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_STEPS = {"十": 10, "百": 100, "千": 1000}
_ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS = re.compile(rf"\b(?:{'|'.join(_ENGLISH)})\b")
_ORDINAL = re.compile(r"^[ \t]*[0-9]{1,2}[.、)）]")  # the number of a clause, not one of the day's
_LATE = re.compile("下午|晚上|傍晚|午后|夜里|中午|pm|p\\.m")
_RELATIVE = re.compile(
    "[昨前明后][天日晚早]|[上下本这]个?(?:周|月|星期|礼拜)|月底|月初|过几天|yesterday|tomorrow|tonight|(?:last|next|this) "
)
_DATE = re.compile(r"(?:([0-9]{4})[-/.年][ \t]*)?([0-9]{1,2})[ \t]*[-/.月][ \t]*([0-9]{1,2})")
_NEAR = timedelta(days=31)


def values_of(said: str) -> set[int]:
    """Return the numbers that a text names."""
    plain = _THOUSANDS.sub("", said)
    found = {0, *map(_number, _DIGITS.findall(plain)), *_with_units(plain)}
    found |= {value for word in _CHINESE.findall(plain) for value in _chinese(word)}
    found |= {_ENGLISH.index(word) + 1 for word in _WORDS.findall(plain)}
    if _LATE.search(plain):
        found |= {value + 12 for value in found if 1 <= value <= 11}
    else:
        found |= {value - 12 for value in found if 13 <= value <= 23}
    found |= {30} if "半" in plain else set()
    return found | ({15, 45} if "刻" in plain else set())


def near(said: str, index: str, day: date) -> set[int]:
    """Return the numbers of a day's date, and of dates near it in its index if the text tells days by their distance."""
    found = {day.year, day.year % 100, day.month, day.day}
    if _RELATIVE.search(said):
        for year, month, own in _DATE.findall(index):
            try:
                told = date(int(year or day.year), int(month), int(own))
            except ValueError:
                continue
            if abs(told - day) <= _NEAR:
                found |= {told.year, told.month, told.day}
    return found


def unexplained(clause: str, known: set[int]) -> set[int]:
    """Return the numbers of a clause of an index that are not among those known."""
    plain = _THOUSANDS.sub("", _ORDINAL.sub("", clause))
    for match in _WITH_UNIT.finditer(plain):
        if int(float(match[1]) * _UNITS[match[2]]) in known:
            plain = plain.replace(match[0], " ")
    return {value for digits in _DIGITS.findall(plain) if (value := _number(digits)) not in known}


def _number(digits: str) -> int:
    return int(digits[:30])


def _with_units(plain: str) -> Iterator[int]:
    return (round(float(number[:30]) * _UNITS[unit]) for number, unit in _WITH_UNIT.findall(plain))


def _chinese(word: str) -> Iterator[int]:
    """Yield what a run of Chinese numerals may say: read as one number, digit by digit, and each digit alone."""
    digits = [_NUMERALS[sign] for sign in word if sign in _NUMERALS]
    yield from digits
    if len(digits) == len(word):
        yield int("".join(map(str, digits[:30])))
        return
    total = section = last = 0
    for sign in word:
        if sign in _NUMERALS:
            last = _NUMERALS[sign]
        elif sign == "廿":
            section += 20
        elif sign == "万":
            total, section, last = (total + section + last) * 10_000, 0, 0
        else:
            section += (last or 1) * _STEPS[sign]
            last = 0
    yield total + section + last
