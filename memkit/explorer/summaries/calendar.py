"""How a year of summaries looks: months over weeks over days, a mark in each, a legend, and the choice of a year; HTML only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from datetime import date, timedelta

from memkit.dates import month_key, week_key
from memkit.explorer.summaries import periods
from memkit.explorer.summaries.periods import HELD, MISSING, ORPHAN, STALE, THERE, UNDER_WAY, Year
from memkit.explorer.tab import button, esc
from memkit.explorer.words import Words

# A mark and a shape each, so that colour is not all that tells them apart.
MARKS = {THERE: "✓", STALE: "!", MISSING: "○", UNDER_WAY: "…", ORPHAN: "×", HELD: "●"}
YEARS = 12  # years that have a button at once


def years(known: Sequence[int], shown: int, say: Words) -> str:
    """Return the choice of a year: some around the one that is shown, and the way to earlier and later ones."""
    at = known.index(shown)
    first = max(0, min(at - YEARS // 2, len(known) - YEARS))
    near = known[first : first + YEARS]
    chips = "".join(
        button(str(year), "summaries.year", year, key=f"sum year {year}", kind="chip", pressed=year == shown) for year in near
    )
    before, after = known[at - 1] if at else shown, known[at + 1] if at + 1 < len(known) else shown
    back = _turn("‹", before, say("sum_earlier"), off=before == shown)
    on = _turn("›", after, say("sum_later"), off=after == shown)
    return (
        f'<div class="chips years" role="group" aria-label="{esc(say("sum_years"))}" data-nav="chips">{back}{chips}{on}</div>'
    )


def _turn(mark: str, year: int, label: str, *, off: bool) -> str:
    return button(mark, "summaries.year", year, key=f"sum {mark}", told=label, off=off)


def calendar(year: Year, chosen: Container[str], opened: str, say: Words) -> str:
    """Return the year as a grid: a column a week; in it the week, then its days; over them the months."""
    days = periods.days_of_year(year.number)
    start = periods.first_monday(year.number)
    columns = (days[-1].toordinal() - start) // 7 + 1
    draw = _Cells(year, chosen, opened, say)
    weeks = "".join(_week(start + 7 * column, column, draw) for column in range(columns))
    names = [f'<span class="q">{esc(name)}</span>' for name in say("sum_row_names").split()]
    return (
        f'<div class="calendar" data-keep="calendar {year.number}" data-end>'
        f'<div class="grid" role="group" data-nav="grid" style="--weeks:{columns}" '
        f'aria-label="{esc(say("sum_calendar", year=str(year.number)))}">{names[0]}{_months(days, start, draw)}'
        f'<div class="names">{"".join(names[1:])}</div>{weeks}</div></div>'
    )


def _months(days: Sequence[date], start: int, draw: _Cells) -> str:
    """Return a cell for each month, over the weeks whose Thursday lies in it; at its ends a year keeps what is cut off."""
    weeks = Counter[int]()
    columns = (days[-1].toordinal() - start) // 7 + 1
    for column in range(columns):
        thursday = min(max(start + 7 * column + 3, days[0].toordinal()), days[-1].toordinal())
        weeks[date.fromordinal(thursday).month] += 1
    parts, column = [], 0
    for month, name in enumerate(draw.say("sum_month_names").split(), 1):
        span = weeks[month]
        key = month_key(days[0].replace(month=month))
        parts.append(draw.cell(key, 0, column + span // 2, name=name, style=f"grid-column:span {span}"))
        column += span
    return "".join(parts)


def _week(monday: int, column: int, draw: _Cells) -> str:
    """Return the column of one week; its days in other years are blank."""
    inside = [n for n in range(7) if _year_of(monday + n) == draw.year.number]
    first = date.fromordinal(monday + inside[0])
    cells = [draw.cell(week_key(first), 1, column)]
    for n in range(7):
        day = first + timedelta(days=n - inside[0]) if n in inside else None
        cells.append(draw.cell(day.isoformat(), 2 + n, column) if day else "<span></span>")
    return f"<div>{''.join(cells)}</div>"


def _year_of(ordinal: int) -> int:
    return date.fromordinal(ordinal).year if ordinal <= date.max.toordinal() else 0


class _Cells:
    """Draws the cells of one calendar."""

    def __init__(self, year: Year, chosen: Container[str], opened: str, say: Words) -> None:
        self.year, self.say = year, say
        self._chosen, self._opened = chosen, opened
        self._told = {status: say(f"sum_{status}") for status in MARKS}

    def cell(self, key: str, row: int, column: int, *, name: str = "", style: str = "") -> str:
        """Return the cell of a period: a button if it has an entry or a summary."""
        status = self.year.status.get(key, "")
        look = f' style="{style}"' if style else ""
        if not status:
            return f'<span class="c none"{look}>{esc(name)}</span>'
        chosen = key in self._chosen
        label = esc(self.say("sum_cell_chosen" if chosen else "sum_cell", key=key, status=self._told[status]))
        kinds = f"c {status}{' chosen' if chosen else ''}"
        current = ' aria-current="true"' if key == self._opened else ""
        mark = f"{esc(name)} {MARKS[status]}" if name else MARKS[status]
        return (
            f'<button type="button" class="{kinds}" data-do="summaries.read" data-value="{key}" data-key="sum {key}" '
            f'data-row="{row}" data-col="{column}" title="{label}" aria-label="{label}"{current}{look}>{mark}</button>'
        )


def legend(year: Year, say: Words) -> str:
    """Return what the marks mean; those that only some years need are told where they are."""
    found = set(year.status.values())
    always = () if HELD in found else (THERE, STALE, MISSING, UNDER_WAY)
    shown = [status for status in MARKS if status in found or status in always]
    parts = [(f"c {status}", MARKS[status], say(f"sum_{status}")) for status in shown] + [("c none", "", say("sum_none"))]
    items = "".join(
        f'<span><span class="{kind}" aria-hidden="true">{mark}</span> {esc(text)}</span>' for kind, mark, text in parts
    )
    return f'<div class="legend q" role="group" aria-label="{esc(say("sum_legend"))}">{items}</div>'


def choices(year: Year, say: Words, *, off: bool) -> str:
    """Return the buttons that choose all that are missing, or out of date, by level."""
    parts = []
    for period, name in (("day", "sum_days"), ("week", "sum_weeks"), ("month", "sum_months")):
        buttons = []
        for status, label in ((MISSING, "sum_all_missing"), (STALE, "sum_all_stale")):
            n = len(year.keys(period, status))
            buttons.append(button(say(label, n=n), "summaries.choose", f"{period} {status}", off=off or not n))
        parts.append(f'<span role="group" aria-label="{esc(say(name))}"><b>{esc(say(name))}</b> {" ".join(buttons)}</span>')
    of = f'<span class="q">{esc(say("sum_of_year", year=str(year.number)))}</span>'
    return f'<div class="choices">{of}{"".join(parts)}</div>'
