"""Extractive summaries of a day, week or month as pure values: made, read back, checked for age; no file, frame or clock.

A summary copies entry lines, cuts their text and leaves out what its budget does not hold: it says nothing that its
sources do not say (the seed dsh-memory-layers, "摘要规则：不编造"). Characters are code points, days are local.

Where the seed is silent: a header names up to seven sources, and of more the first three and `等 N 个文件`, so that a
month of day files stays short. When nothing was left out here but lower summaries left out M entries, the last line is
`> 下层摘要已省略 M 条。`: it claims no omission of its own, and the loss is still passed on to the level above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from hashlib import sha256
from typing import NamedTuple

from memkit.dates import check_period, parse_day, period_days, week_key
from memkit.layouts.stored import DATED, ENTRY, instant_of, read_names
from memkit.model import StoredSummary
from memkit.text import norm_tag, norm_text, truncate


class Limit(NamedTuple):
    """How many characters a summary keeps of one entry's text, and how many its entry lines may have together."""

    per_entry: int
    budget: int


LIMITS = {"day": Limit(120, 1500), "week": Limit(100, 1000), "month": Limit(80, 700)}
NAMED, NAMED_OF_MANY = 7, 3

# Which part of its period a day is: the parts share the budget fairly.
_UNITS: dict[str, Callable[[date], object]] = {"day": lambda day: None, "week": date.toordinal, "month": week_key}
_TITLES = {"day": "日摘要", "week": "周摘要", "month": "月摘要"}


@dataclass(frozen=True, slots=True)
class Line:
    """One entry as a summary sees it: stamp as written, tag (`-` for none), text on one line, local day, instant."""

    stamp: str
    tag: str
    text: str
    day: date
    instant: datetime

    def __str__(self) -> str:
        """Return the entry line with its whole text, as it is hashed."""
        return f"- [{self.stamp}] [{self.tag}] {self.text}"

    def cut(self, limit: int) -> str:
        """Return the entry line with its text cut to the limit."""
        return f"- [{self.stamp}] [{self.tag}] {truncate(self.text, limit)}"


@dataclass(frozen=True, slots=True)
class Source:
    """One file a summary is made from; `omitted` counts what it left out itself or by its sources (0 for entries)."""

    name: str
    lines: tuple[Line, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """One summary, ready to be written: `content` is the whole file, `kept` its entry lines, `used` their cost.

    `omitted` counts the entries that it left out, `below` those that its sources had; `sources` are all their names.
    """

    period: str
    key: str
    content: str
    kept: tuple[str, ...]
    omitted: int
    below: int
    used: int
    sources: tuple[str, ...]
    digest: str


def entry(stamp: str, tag: str | None, text: str, *, day: date | None = None, tz: tzinfo = UTC) -> Line | None:
    """Return an entry as a Line, or None if its stamp is neither a full instant nor a date with or without clock.

    `day` is the day of the file it lies in; without one its local day in the zone counts. A clock of unknown
    zone never orders: such lines keep the order they come in within their day.
    """
    written = DATED.fullmatch(stamp)
    found = parse_day(written[1]) if written else None
    if found is not None:
        return Line(stamp, tag or "-", text, day or found, datetime(found.year, found.month, found.day, tzinfo=UTC))
    instant = instant_of(stamp)
    if instant is None:
        return None
    try:
        return Line(stamp, tag or "-", text, day or instant.astimezone(tz).date(), instant)
    except OverflowError:  # the local day would lie before year 1 or after 9999
        return None


def dated(day: date, clock: str | None, tag: str | None, text: str) -> Line | None:
    """Return an entry that knows its day and perhaps a clock, folded to one line; None when no text is left."""
    folded = norm_text(text)
    return entry(f"{day} {clock}" if clock else str(day), norm_tag(tag), folded) if folded else None


def read_line(raw: str, *, day: date | None = None, tz: tzinfo = UTC) -> Line | None:
    """Return the Line that an entry line of a file holds, or None for every other line; day and zone as in `entry`."""
    match = ENTRY.fullmatch(raw)
    return entry(match[1], match[2], match[3], day=day, tz=tz) if match else None


def lower(name: str, stored: StoredSummary, *, tz: tzinfo, within: tuple[date, date] | None = None) -> Source:
    """Return a stored summary as a source of the level above; `within` keeps the lines of a closed window.

    Its omissions are passed on whole, so for a week that straddles the window they are an upper bound.
    """
    day = parse_day(stored.key) if stored.period == "day" else None
    lines = [line for raw in stored.lines if (line := read_line(raw, day=day, tz=tz))]
    if within:
        lines = [line for line in lines if within[0] <= line.day <= within[1]]
    return Source(name, tuple(lines), stored.omitted + stored.omitted_below)


def digest(lines: Iterable[str]) -> str:
    """Return the first 12 hex digits of the sha256 over the entry lines, joined with LF."""
    return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def extract(period: str, key: str, sources: Sequence[Source], *, generated_at: datetime) -> Summary | None:
    """Return the summary of a period from its sources, or None if they hold no entry; `generated_at` is aware.

    Lines come out in order of their instants, equal ones in the order of the sources.

    Raises: BadArgument for an unknown period or a key that names none.
    """
    period = check_period(period)
    days = period_days(period, key)
    title = f"# {_TITLES[period]} {key}" + ("" if period == "day" else f"（{days[0]} – {days[-1]}）")
    moment = generated_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    sources = _useful(sources)
    whole = [line for source in sources for line in source.lines]
    if not whole:
        return None
    kept = _keep(period, sorted(whole, key=lambda line: line.instant))
    omitted = len(whole) - len(kept)
    below = sum(source.omitted for source in sources)
    names = tuple(source.name for source in sources)
    mark = digest(map(str, whole))
    head = f"> 来源：{_named(names)}（{len(whole)} 条，sha256:{mark}）\n> 生成时间：{moment}"
    parts = (title, head, "\n".join(kept), _omission(omitted, below))
    content = "\n\n".join(part for part in parts if part) + "\n"
    return Summary(period, key, content, kept, omitted, below, sum(map(_cost, kept)), names, mark)


def is_stale(stored: StoredSummary, sources: Sequence[Source], *, lower_stale: bool = False) -> bool:
    """Return whether a summary no longer says what its sources say; `sources` are those that would be chosen now.

    `lower_stale` says that a lower summary among them is stale itself. A summary without a hash (dsh's own) is stale
    when a source entry is newer than its 生成时间; one that does not even say that shows no sign of age.
    """
    if lower_stale:
        return True
    lines = [line for source in sources for line in source.lines]
    if stored.digest is not None:
        # Both sides are read from header text, so a name that a header cannot give back exactly still compares equal.
        names = read_names(_named([source.name for source in _useful(sources)]))
        return stored.sources != names or stored.digest != digest(map(str, lines))
    generated_at = instant_of(stored.generated_at or "")
    return generated_at is not None and any(line.instant > generated_at for line in lines)


def _useful(sources: Iterable[Source]) -> list[Source]:
    """Return the sources that say anything: an empty file neither makes a summary nor makes one stale."""
    return [source for source in sources if source.lines or source.omitted]


def _keep(period: str, lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the cut lines that the budget holds, in the order given."""
    per_entry, budget = LIMITS[period]
    cut = [line.cut(per_entry) for line in lines]
    costs = [_cost(line) for line in cut]
    units: dict[object, list[int]] = {}
    for index, line in enumerate(lines):
        units.setdefault(_UNITS[period](line.day), []).append(index)
    return tuple(cut[index] for index in sorted(_fill(units.values(), costs, budget)))


def _fill(units: Iterable[list[int]], costs: Sequence[int], room: int) -> list[int]:
    """Return the indexes kept when the units take turns, each giving its next line that fits.

    What does not fit once never fits later, so each line is looked at once, and shorter ones behind it may follow.
    """
    kept: list[int] = []
    waiting = [iter(unit) for unit in units]
    while waiting:
        going = []
        for unit in waiting:
            index = next((index for index in unit if costs[index] <= room), None)
            if index is not None:
                room -= costs[index]
                kept.append(index)
                going.append(unit)
        waiting = going
    return kept


def _cost(line: str) -> int:
    """Return what a line costs: all its characters, and one for the line end."""
    return len(line) + 1


def _named(names: Sequence[str]) -> str:
    """Return the names of the sources as the header gives them."""
    many = len(names) > NAMED
    shown = "、".join(norm_text(name) for name in (names[:NAMED_OF_MANY] if many else names))
    return f"{shown} 等 {len(names)} 个文件" if many else shown


def _omission(omitted: int, below: int) -> str:
    if not omitted:
        return f"> 下层摘要已省略 {below} 条。" if below else ""
    return f"> 另有 {omitted} 条因字数预算省略" + (f"（下层摘要另省略 {below} 条）。" if below else "。")
