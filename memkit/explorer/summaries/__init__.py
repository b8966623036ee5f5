"""The tab Summaries: a year of them as a calendar, chosen ones made step by step, one read; the parts are in other modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from memkit.errors import BadArgument, MemkitError
from memkit.explorer.summaries import calendar, making, periods, reading
from memkit.explorer.summaries.making import FAILED, MADE, Outcome, Run
from memkit.explorer.summaries.periods import CHOOSABLE, TO_MAKE, Year
from memkit.explorer.summaries.reading import Page
from memkit.explorer.tab import Place, button, esc, notice
from memkit.explorer.words import Words

if TYPE_CHECKING:
    from memkit.store import Store

STEP = 0.25  # seconds of work between two looks at whether it is to stop


class SummariesTab:
    """The summaries of a store, or of the folder `out`: what is shown (`year`, `page`), what is chosen, what is being made.

    Python may do all that the buttons do: `show`, `read`, `choose`, `toggle`, `make`.
    """

    def __init__(self, store: Store, say: Words, out: object = None) -> None:
        self._store, self._say, self._out = store, say, out
        self.years: list[int] = []
        self.year: Year | None = None
        self.page: Page | None = None
        self.chosen: set[str] = set()
        self.run: Run | None = None
        self.running = False
        self._trouble = ""
        self._looked = False

    # ---- what is shown ----

    def opened(self) -> None:
        """Look at the store afresh."""
        self._look()
        if self.page is not None and not self._trouble:
            self.page = self._read(self.page.key)

    def show(self, year: int) -> None:
        """Show a year that has entries.

        Raises: BadArgument if it has none.
        """
        self._look(year)
        if not self._trouble and (self.year is None or self.year.number != year):
            raise BadArgument(f"year: {year} has no entries here; years lists those that have")

    def read(self, key: str) -> Page:
        """Open the summary of a day, week or month (2025-02-03, 2025-W06, 2025-02) and return it; nothing is written.

        Raises: BadArgument for a key that names no period; DiskError, StoreNotFound.
        """
        self.page = self._read(periods.check(key))
        return self.page

    def close(self) -> None:
        """Close the summary that is open."""
        self.page = None

    def _read(self, key: str) -> Page:
        page = reading.page_of(self._store, key, self._out)
        self._note(key, page.status)
        return page

    def _look(self, wanted: int | None = None) -> None:
        """Plan a year afresh, and let go of what is chosen and can no longer be made; what hinders it is shown in its place."""
        self._trouble, self._looked = "", True
        try:
            self.years = periods.years_of(self._store)
            number = self._number(wanted)
            self.year = periods.planned(self._store, number, self._out) if number else None
        except (MemkitError, OSError) as error:
            self.year, self._trouble = None, str(error)
            return
        self.chosen = set(filter(self._keeps, self.chosen))

    def _first_look(self) -> None:
        if not self._looked:
            self._look()

    def _number(self, wanted: int | None) -> int:
        """Return the year to show: the wanted one, else that which is shown, else the latest that is not yet to come."""
        for number in (wanted, self.year.number if self.year else None):
            if number in self.years:
                return int(number or 0)
        this = self._store._clock().year
        past = [year for year in self.years if year <= this]
        return (past or self.years or [0])[-1]

    def _keeps(self, key: str) -> bool:
        """Return whether a period stays chosen: one that cannot be made is let go; of other years nothing is known here."""
        year = self.year
        return year is not None and (not periods.touches(key, year.number) or year.status.get(key) in CHOOSABLE)

    def _note(self, key: str, status: str) -> None:
        """Keep what was found of one period."""
        if self.year is not None and periods.touches(key, self.year.number):
            if status:
                self.year.status[key] = status
            else:
                self.year.status.pop(key, None)

    # ---- choosing and making ----

    def choose(self, period: str, status: str) -> int:
        """Choose all days, weeks or months of the year that are `missing` or `stale`; return how many are chosen now."""
        self._first_look()
        if self.year is not None and status in TO_MAKE and periods.has_place(self._store, self._out):
            self.chosen |= set(self.year.keys(period, status))
        return len(self.chosen)

    def toggle(self, key: str) -> None:
        """Choose one period, or no longer."""
        self.chosen ^= {periods.check(key)}

    def make(self, keys: Iterable[str] | None = None) -> list[Outcome]:
        """Make the summaries of some periods, by default the chosen ones, all at once; return what came of each.

        Those that are there and say what their sources say are left. One that fails is told in its outcome.

        Raises: BadArgument for a key that names no period, or without a place for summaries.
        """
        self._start(self.chosen if keys is None else [periods.check(key) for key in keys])
        try:
            while self.running:
                self._more()
        finally:
            self.stop()  # interrupted, it can go on
        return self.run.outcomes if self.run else []

    def stop(self) -> None:
        """Stop making; what was not begun stays chosen."""
        if self.running:
            self._end()

    def _start(self, keys: Iterable[str]) -> None:
        if not periods.has_place(self._store, self._out):
            raise BadArgument(f"out: {self._store.layout} has no place for summaries; pass out=, a folder outside the store")
        self.run = Run(self._store, keys, self._out)
        self.running = self.run.total > 0

    def _more(self) -> None:
        run = self.run
        if run is None or not self.running:
            return
        for outcome in run.step(STEP):
            if outcome.action == MADE:
                self._note(outcome.key, periods.THERE)
        if run.trouble or not run.waiting:
            self._end()

    def _end(self) -> None:
        self.running = False
        if self.run is not None:
            settled = {outcome.key for outcome in self.run.outcomes if outcome.action != FAILED}
            self.chosen = (self.chosen | set(self.run.waiting)) - settled
        self.opened()

    # ---- the buttons ----

    def act(self, action: str, value: str, form: Mapping[str, str]) -> Place | None:
        """Do what a button asks; return the entry that a line was copied from if one was asked for."""
        if action == "source":
            return self._source(value)
        if action == "year" and value in map(str, self.years):
            self.show(int(value))
        elif action == "read":
            self.read(value)
        elif action == "choose":
            period, _, status = value.partition(" ")
            self.choose(period, status)
        elif action == "toggle":
            self.toggle(value)
        elif action == "none":
            self.chosen.clear()
        elif action == "make" and not self.running:
            self._start(self.chosen)
        elif action == "more" and self.run is not None and value == str(self.run.done):  # else another page asked already
            self._more()
        elif action == "close":
            self.close()
        elif action == "stop":
            self.stop()
        return None

    def _source(self, value: str) -> Place | None:
        lines = self.page.lines if self.page else ()
        at = int(value) if value.isascii() and value.isdecimal() else len(lines)
        return lines[at].place if at < len(lines) else None

    # ---- how it looks ----

    def html(self) -> str:
        """Return what is shown."""
        say = self._say
        self._first_look()
        if self._trouble:
            outcome = making.outcome(self.run, say) if self.run and not self.running else ""
            return f'<div class="sums">{notice(self._trouble, "error")}{outcome}</div>'
        if self.year is None:
            return f'<div class="sums"><p class="q">{esc(say("sum_undated"))}</p></div>'
        placed = periods.has_place(self._store, self._out)
        hint = "" if placed else f'<p class="q">{esc(say("sum_no_place"))}</p>'
        opened = self.page.key if self.page else ""
        parts = [
            calendar.years(self.years, self.year.number, say),
            hint,
            calendar.calendar(self.year, self.chosen, opened, say),
            calendar.legend(self.year, say),
            self._making(self.year) if placed else "",
            reading.html_of(self.page, say, choice=self._choice() if placed else "") if self.page else "",
        ]
        return f'<div class="sums">{"".join(parts)}</div>'

    def _making(self, year: Year) -> str:
        """Return what chooses, what makes the chosen or stops it, and what came of it."""
        say, n = self._say, len(self.chosen)
        choices = calendar.choices(year, say, off=self.running)
        if self.running and self.run is not None:
            return f"{choices}{making.progress(self.run, say)}"
        none = button(say("sum_choose_none"), "summaries.none", off=not n)
        make = button(say("sum_make"), "summaries.make", key="sum run", kind="primary", off=not n)
        chosen = f'<b role="status">{esc(say("sum_chosen", n=n))}</b>'
        outcome = making.outcome(self.run, say) if self.run else ""
        return f'{choices}<div class="bar run">{make} {chosen} {none}</div>{outcome}'

    def _choice(self) -> str:
        """Return the button that chooses the summary that is open, if it can be made."""
        page = self.page
        if page is None or page.status not in CHOOSABLE or self.running:
            return ""
        label = self._say("sum_drop" if page.key in self.chosen else "sum_take")
        return f"<p>{button(label, 'summaries.toggle', page.key, key='sum toggle')}</p>"
