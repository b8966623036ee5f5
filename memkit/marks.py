"""What stands at the head of an entry, a heading or a file name: checkbox, instant, tags, label, clock, full date.

Nothing here knows about blocks or files. A clock is HH:MM or HH:MM:SS as written, made 24-hour; its zone is unknown.
When a mark could be read in two ways, it is not read: missing, never wrong.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

# A full ISO instant with a zone. Whether day and time are real is left to instant().
INSTANT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})"
_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?(?:Z|[+-]([0-9]{2}):([0-9]{2}))"
)
_LEADING_INSTANT = re.compile(rf"(?:({INSTANT})|\[({INSTANT})\])(?=\s|$)[ \t]*")
_CHECKBOX = re.compile(r"\[([xX]|[^\w\[\]\n])\ufe0f?\](?:[ \t]+|(?=\n|$))")
_BRACKET = re.compile(r"\[([^\[\]\n]+)\](?![(\[:])[ \t]*")
# The sign comes before the look at what stands before it: so the search leaps from one `#` to the next.
_HASH = re.compile(r"#(?<=[ \t\u3000(（\[【「，。、；：,;]#)([\w/-]+)")
# A colour of 3, 4, 6 or 8 digits, or a commit's hash.
_HEX = re.compile(r"(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8}|(?=[a-fA-F]*[0-9])[0-9a-fA-F]{7,40})$")
_FENCED = re.compile(r"^ *(`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^ *\1|\Z)", re.MULTILINE | re.DOTALL)
_TICKS = re.compile("`+")
_LABEL = re.compile(r"\*\*([^*\n]{1,60}?)(?:[:：]\*\*|\*\*[:：]|\*\*(?=[ \t]+[-–—][ \t]))")

_DAYTIME = r"(凌晨|清晨|早晨|早上|上午|中午|午后|下午|傍晚|晚上|夜里)"
_AHEAD = r"(?:(?<=[0-9]{4}-[0-9]{2}-[0-9]{2}T)|(?<![0-9A-Za-z:：./+])(?<!UTC-)(?<!GMT-)(?<![0-9]-))"
# The end of a range whose AM or PM also says that of its start: 2:30-3:10 PM.
_TO = r"(?:[ \t]*(?:[-–—~～]|to)[ \t]*([0-9]{1,2})(?:[:：]([0-9]{2}))?[ \t]*([AaPp])\.?[Mm]\b)"
_TIME = re.compile(
    rf"(?:{_DAYTIME}[ \t]*)?{_AHEAD}([0-9]{{1,2}})[:：]([0-9]{{2}})(?:[:：]([0-9]{{2}}))?(?![0-9]|[:：][0-9])(?:\.[0-9]+)?"
    rf"(?:[ \t]*([AaPp])\.?[Mm]\b|{_TO})?"
)
_HOUR = re.compile(rf"{_AHEAD}([0-9]{{1,2}})(?:[ \t]?([AaPp])\.?[Mm]\b|{_TO})")
_CHINESE = re.compile(
    rf"{_DAYTIME}[ \t]*([0-9]{{1,2}}|十[一二]?|[一二两三四五六七八九零])[ \t]*[点點时時](?:[ \t]*(半|一刻|三刻|[0-9]{{1,2}}))?"
)
_FULL_HOURS = re.compile(r"(?<![0-9])(0[0-9]|1[3-9]|2[0-3])[点點时時](半|一刻|三刻|[0-9]{1,2})(?:分|(?![0-9]))")
_CLOCKS = (_TIME, _HOUR, _CHINESE, _FULL_HOURS)
# What each of them needs one of, and the first characters of all that they find.
_CLOCK_NEEDS = tuple(zip(_CLOCKS, map(frozenset, (":：", "mM", "点點时時", "点點时時")), strict=True))
_CLOCK_SIGNS = frozenset().union(*(needed for _, needed in _CLOCK_NEEDS))
_CLOCK_STARTS = frozenset("0123456789凌清早上中午下傍晚夜")
# A time that begins a heading and stands alone or before a dash with no second time behind: most are written so.
_PLAIN_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?=\Z| [-–—] [^ \t0-9])")
_WORD = re.compile(r"\w")
_DIGITS = ("", "一", "二两", "三", "四", "五", "六", "七", "八", "九", "十")
_NUMERALS = {"十一": 11, "十二": 12, "零": 0} | {name: number for number, names in enumerate(_DIGITS) for name in names}
_PART = {"半": "30", "一刻": "15", "三刻": "45"}
_PREFIX = re.compile(r"[^\w\n]{0,8}(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[ \tT]+)?")
_NAME_TIME = re.compile(r"[-_T ]?T?([01][0-9]|2[0-3])[-:]?([0-5][0-9])([0-5][0-9])?Z?(?![0-9A-Za-z])")

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
# What a tag never looks like: a footnote, a #tag, a checkbox, an address, a date or a time.
_NO_TAG = re.compile(
    r"[\^#]|[xX]$|\S*://|.*(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|(?<![0-9])[0-9]{1,2}[:：][0-9]{2}(?![0-9]))"
    rf"|(?:[0-9]{{4}}年)?[0-9]{{1,2}}月[0-9]{{1,2}}[日号號]|{_MONTH}[ \t]+[0-9]{{1,2}}\b|[0-9]{{1,2}}[ \t]+{_MONTH}"
)
_DATES = (
    re.compile(r"(?<![0-9])(?P<y>[0-9]{4})([-/.])(?P<m>[0-9]{1,2})\2(?P<d>[0-9]{1,2})(?![0-9])"),
    re.compile(r"(?<![0-9])(?P<y>[0-9]{4})[ \t]*年[ \t]*(?P<m>[0-9]{1,2})[ \t]*月[ \t]*(?P<d>[0-9]{1,2})[ \t]*[日号號]"),
    re.compile(rf"\b(?P<n>{_MONTH})[ \t]+(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?,?[ \t]+(?P<y>[0-9]{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?[ \t]+(?P<n>{_MONTH}),?[ \t]+(?P<y>[0-9]{{4}})\b", re.IGNORECASE),
)


class Marks(NamedTuple):
    """The marks of one entry, and its text without checkbox, leading instant and first leading tag."""

    text: str
    task: str | None
    stamp: str | None
    tags: tuple[str, ...]
    label: str | None
    clock: str | None


def read_marks(text: str, *, item: bool) -> Marks:
    """Return the marks at the head of an item's or paragraph's text; `tags` has the column's tag first."""
    task = stamp = None
    if item and (match := _CHECKBOX.match(text)):
        task, text = match[1], text[match.end() :]
    if (match := _LEADING_INSTANT.match(text)) and instant(match[1] or match[2]) and text[match.end() :].strip():
        stamp, text = match[1] or match[2], text[match.end() :]
    brackets, first, last = _brackets(text)
    if brackets and text[first:].strip():
        text, last = text[first:], last - first
    else:
        brackets, last = [], 0
    head = text[last:]
    tags = dict.fromkeys([*brackets, *hash_tags(text, item=item)])
    return Marks(text.lstrip("\n"), task, stamp, tuple(tags), label_at_start(head), clock_at_start(head))


def label_at_start(text: str) -> str | None:
    """Return the bold label that a text starts with, None if it has none or that is a clock."""
    label = _LABEL.match(text)
    return None if label is None or clock_at_start(label[1]) else label[1].strip() or None


def is_plain_start(character: str) -> bool:
    """Return whether a text that starts with a character has no mark at its head, whatever follows."""
    return character not in _CLOCK_STARTS and bool(_WORD.match(character))


def _brackets(text: str) -> tuple[list[str], int, int]:
    """Return the leading `[tag]`s, where the first ends, and where the last does."""
    found: list[str] = []
    first = at = 0
    while (match := _BRACKET.match(text, at)) and is_tag(match[1].strip()):
        found.append(match[1].strip())
        at = match.end()
        first = first or at
    return found, first, at


def is_tag(name: str) -> bool:
    """Return whether what stands in brackets names something: it has a letter, and is no footnote, date or time."""
    return any(map(str.isalpha, name)) and not _NO_TAG.match(name) and not clock_at_start(name)


def hash_tags(text: str, *, item: bool) -> list[str]:
    """Return the `#tags` of a text: not in code, not at a line's start, no number, no colour."""
    if "#" not in text:
        return []
    plain = f" {text}" if item else text
    if "`" in text or "~~~" in text:
        plain = _without_code_spans(_FENCED.sub(" ", plain))
    return [tag for name in _HASH.findall(plain) if (tag := _named(name))]


@lru_cache(4096)
def _named(written: str) -> str:
    """Return the tag behind a `#`, "" for a number or a colour."""
    tag = written.rstrip("/-")
    return tag if any(map(str.isalpha, tag)) and not _HEX.match(tag) else ""


def _without_code_spans(text: str) -> str:
    """Return a text without what stands between two equal runs of backticks in one paragraph."""
    runs = list(_TICKS.finditer(text))
    closers: list[int] = []
    last: dict[str, int] = {}
    for n in range(len(runs) - 1, -1, -1):
        closers.append(last.get(runs[n][0], 0))
        last[runs[n][0]] = n
    parts, at, n = [], 0, 0
    while n < len(runs):
        closer = closers[-1 - n]
        if closer and text.find("\n\n", runs[n].end(), runs[closer].start()) < 0:
            parts.append(text[at : runs[n].start()])
            at, n = runs[closer].end(), closer
        n += 1
    return " ".join((*parts, text[at:]))


def instant(stamp: str) -> bool:
    """Return whether a full ISO instant names a real one."""
    match = _INSTANT.fullmatch(stamp)
    if match is None:
        return False
    day, hour, minute, second, zone_hour, zone_minute = match.groups()
    if int(hour) > 23 or int(minute) > 59 or int(second or 0) > 59 or int(zone_hour or 0) > 23 or int(zone_minute or 0) > 59:
        return False
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True


def clock_at_start(text: str) -> str | None:
    """Return the clock that a text starts with, behind signs such as `**`, `[`, `(`, `~` or an emoji, or None."""
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    if text[start : start + 1] not in _CLOCK_STARTS:
        return None
    for pattern in _CLOCKS:
        if match := pattern.match(text, start):
            return _clock(match, pattern)
    return None


def clock_in_heading(text: str) -> str | None:
    """Return the first clock in a heading, of a range its start, or None."""
    if _CLOCK_SIGNS.isdisjoint(text):
        return None
    if plain := _PLAIN_TIME.match(text):
        return plain[0]
    hits = [
        (match.start(), _clock(match, pattern))
        for pattern, needed in _CLOCK_NEEDS
        if not needed.isdisjoint(text)
        for match in pattern.finditer(text)
    ]
    if len(hits) > 1:
        hits.sort(key=itemgetter(0))
    return next((clock for _, clock in hits if clock), None)


def clock_in_name(rest: str, day: date) -> str | None:
    """Return the time that follows the date in a file name: `-0930`, `_0930`, `T0930-…`; a year near the day's is none."""
    match = _NAME_TIME.match(rest)
    if match is None or not rest or rest[0] not in "-_T ":
        return None
    if match[3] is None and abs(int(match[1] + match[2]) - day.year) <= 1:
        return None
    return ":".join(part for part in match.groups() if part)


def _clock(match: re.Match[str], pattern: re.Pattern[str]) -> str | None:
    if pattern in (_CHINESE, _FULL_HOURS):
        hour, part = match.groups()[-2:]
        number = _NUMERALS[hour] if hour in _NUMERALS else int(hour)
        daytime = match[1] if pattern is _CHINESE else None
        return _format(number, _PART.get(part or "", (part or "0").zfill(2)), None, daytime, None)
    if pattern is _HOUR:
        half = match[2] or _half_of_range(int(match[1]), 0, *match.groups()[2:])
        return _format(int(match[1]), "00", None, None, half) if half else None
    daytime, hour, minute, second, half = match.groups()[:5]
    half = half or _half_of_range(int(hour), int(minute), *match.groups()[5:])
    return _format(int(hour), minute, second, daytime, half)


def _half_of_range(hour: int, minute: int, to_hour: str | None, to_minute: str | None, half: str | None) -> str | None:
    """Return whether the start of a range is AM or PM, of which only the end says so: that of the end if it is before it."""
    if half is None or to_hour is None or int(to_hour) > 12:
        return None
    ahead = (hour % 12, minute) < (int(to_hour) % 12, int(to_minute or 0))
    return half if ahead else "A" if half in "Pp" else "P"


def _format(hour: int, minute: str, second: str | None, daytime: str | None, half: str | None) -> str | None:
    """Return HH:MM[:SS], with 下午 and PM made 24-hour; None if it is no time of day, or might be another."""
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half in "Pp" else 0)
    elif daytime and hour <= 12:
        hour = _daytime_hour(hour, daytime)
    if not 0 <= hour <= 23 or int(minute) > 59 or int(second or 0) > 59:
        return None
    return f"{hour:02d}:{minute}" + (f":{second}" if second else "")


def _daytime_hour(hour: int, daytime: str) -> int:
    """Return the hour of the day, or -1 where the word leaves it open (晚上12点)."""
    if daytime in ("下午", "午后", "傍晚"):
        return hour % 12 + 12
    if daytime == "中午":
        return hour if hour >= 10 else hour + 12
    if daytime in ("晚上", "夜里"):
        return -1 if hour < 5 or hour == 12 else hour + 12
    return 0 if daytime == "凌晨" and hour == 12 else hour


def day_in_heading(text: str) -> date | None:
    """Return the first full, real date in a heading (2026-02-01, 2026年2月1日, February 1, 2026), or None."""
    hits = [match for pattern in _DATES for match in pattern.finditer(text)]
    for match in sorted(hits, key=re.Match.start):
        found = match.groupdict()
        month = _MONTHS.index(found["n"][:3].casefold()) + 1 if found.get("n") else int(found["m"])
        try:
            return date(int(found["y"]), month, int(found["d"]))
        except ValueError:
            continue
    return None
