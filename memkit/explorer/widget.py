"""Explorer: the widget in which people look around a store; its traits are its state, so that Python can drive and read it.

It holds the tabs together: what is chosen goes to Browse, what a button asks to its tab, and the HTML they give to the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import pandas as pd
import traitlets

from memkit import display
from memkit.cells import count
from memkit.dates import as_day
from memkit.errors import BadArgument, MemkitError
from memkit.explorer.add import AddTab
from memkit.explorer.audit import AuditTab
from memkit.explorer.browse import Browse
from memkit.explorer.browse.selection import Asked
from memkit.explorer.shell import shell
from memkit.explorer.summaries import SummariesTab
from memkit.explorer.tab import Place, Tab, esc, notice
from memkit.explorer.words import Words

if TYPE_CHECKING:
    from memkit.store import Store

HERE = Path(__file__).parent
CHOICE = ("query", "tags", "date_from", "date_to", "kind")
ROOM = 100  # characters of what a button says: a number, a key, a rule


class DayText(traitlets.Unicode):  # type: ignore[type-arg]
    """A trait that is a day as YYYY-MM-DD, "" for none; dates and times are taken too."""

    def validate(self, obj: Any, value: Any) -> str:
        """Return the day as text."""
        if value is None or value == "":
            return ""
        try:
            return as_day(value.date() if isinstance(value, datetime) else value, self.name or "date").isoformat()
        except BadArgument as error:
            raise traitlets.TraitError(str(error)) from error


class Explorer(anywidget.AnyWidget):
    """The explorer of one store: `query`, `tags` (one of them must be there), `date_from`, `date_to`, `kind` choose entries.

    `hits` is how many entries are chosen, `rows` the page of them that is shown (a dict each), `frame` all of them, newest
    first; `step` where a search from near to far would have found the words, once that is known; `tab` is in front.
    """

    _esm = HERE / "explorer.js"
    _css = HERE / "explorer.css"

    lang = traitlets.Unicode("en").tag(sync=True)
    tab = traitlets.Enum(["browse", "audit", "summaries", "add"], "browse").tag(sync=True)
    query = traitlets.Unicode().tag(sync=True)
    tags = traitlets.List(traitlets.Unicode()).tag(sync=True)
    date_from = DayText().tag(sync=True)
    date_to = DayText().tag(sync=True)
    kind = traitlets.Unicode().tag(sync=True)
    turn = traitlets.Int(help="How often Python has answered.").tag(sync=True)

    hits = traitlets.Int()
    rows = traitlets.List(traitlets.Dict())
    step = traitlets.Unicode()

    shell_html = traitlets.Unicode().tag(sync=True)
    notice_html = traitlets.Unicode().tag(sync=True)
    chips_html = traitlets.Unicode().tag(sync=True)
    kinds_html = traitlets.Unicode().tag(sync=True)
    timeline_html = traitlets.Unicode().tag(sync=True)
    status_html = traitlets.Unicode().tag(sync=True)
    page_html = traitlets.Unicode().tag(sync=True)
    entry_html = traitlets.Unicode().tag(sync=True)
    audit_html = traitlets.Unicode().tag(sync=True)
    summaries_html = traitlets.Unicode().tag(sync=True)
    add_html = traitlets.Unicode().tag(sync=True)

    def __init__(self, store: Store, say: Words, *, write: bool, out: object) -> None:
        self._store, self._say, self._doing = store, say, False
        self._browse = Browse(store, say)
        self.tabs: dict[str, Tab] = {
            "browse": self._browse,
            "audit": AuditTab(store, say),
            "summaries": SummariesTab(store, say, out=out),
            "add": AddTab(store, say, write=write),
        }
        super().__init__(lang=say.lang, shell_html=shell(tuple(self.tabs), say))
        self._browse.opened()
        self._show("browse")
        self.observe(self._choose, list(CHOICE))
        self.observe(self._front, "tab")
        self.on_msg(lambda _widget, content, _buffers: self.act(content))

    @property
    def frame(self) -> pd.DataFrame:
        """Return the entries that are chosen, newest first, with the columns of entries()."""
        return self._browse.frame()

    # ---- what happens ----

    def act(self, asked: Mapping[str, Any]) -> None:
        """Do what a button asks: `do` is tab.action, `value` and `form` go with it; as the page sends it."""
        tab, _, action = str(asked.get("do", "")).partition(".")
        value, form = str(asked.get("value", ""))[:ROOM], asked.get("form")
        texts = {name: text for name, text in form.items() if isinstance(text, str)} if isinstance(form, Mapping) else {}
        if tab in self.tabs:
            self._trying(tab, lambda: self._acted(tab, action, value, texts), unasked=asked.get("unasked") is True)

    def _acted(self, tab: str, action: str, value: str, form: Mapping[str, str]) -> None:
        if (tab, action) == ("browse", "tag"):
            self.tags = list(self._browse.turned(value))
        elif (tab, action) == ("browse", "clear"):
            with self.hold_trait_notifications():
                self.query, self.tags, self.date_from, self.date_to, self.kind = "", [], "", "", ""
        elif (place := self.tabs[tab].act(action, value, form)) is not None:
            self.tab = "browse"
            self._browse.read(place)
            self._show("browse")

    def read(self, path: str, line: int) -> None:
        """Open the entry that starts at a line of a file, as a click on its row does."""
        self._trying("browse", lambda: self._browse.read(Place(path, line)))

    def _choose(self, _change: object) -> None:
        start, end = (date.fromisoformat(day) if day else None for day in (self.date_from, self.date_to))
        asked = Asked(self.query, tuple(self.tags), start, end, self.kind)
        if asked != self._browse.asked:  # several that change at once are each told of here
            self._trying("browse", lambda: self._browse.look(asked))

    def _front(self, _change: object) -> None:
        self._trying(self.tab, self.tabs[self.tab].opened)

    def _trying(self, tab: str, do: Callable[[], object], *, unasked: bool = False) -> None:
        """Do something, tell of what it refuses, and show a tab anew, all in one message to the page.

        What was told last stays when it is the page that asks, `unasked` by a person. What is done within something else
        that is done is shown with that.
        """
        if self._doing:
            do()
            return
        self._doing = True
        with self.hold_sync():
            self.notice_html = self.notice_html if unasked else ""
            try:
                do()
            except (MemkitError, OSError) as error:
                self.notice_html = notice(str(error), "error")
            finally:
                self._doing = False
            self._show(tab)
            self.turn += 1

    # ---- how it is shown ----

    def _show(self, tab: str) -> None:
        if tab != "browse":
            setattr(self, f"{tab}_html", self.tabs[tab].html())
            return
        for name, part in self._browse.slots().items():
            setattr(self, f"{name}_html", part)
        self.hits, self.step = self._browse.hits, self._browse.step
        self.rows = _plain(self._browse.page_frame())
        self._browse.remark = ""  # told once

    def __dir__(self) -> list[str]:
        """Return what people use, for Tab; what ipywidgets needs is there too, but would hide it."""
        return [*CHOICE, "act", "frame", "hits", "lang", "read", "rows", "step", "tab", "tabs"]

    def __repr__(self) -> str:
        """Return what is chosen of what."""
        return f"Explorer({self._store.layout}, {self.hits:,} of {count(self._browse.total, 'entry')})"

    def _ipython_display_(self) -> None:
        """Show the widget, and folded below it the same rows as plain HTML, which outlive the kernel."""
        from IPython import display as shown

        publish: Any = shown.publish_display_data
        data, metadata = self._repr_mimebundle_() or ({}, {})
        publish(data, metadata)
        publish({"text/html": self._twin(), "text/plain": repr(self)})

    def _twin(self) -> str:
        frame = self._browse.page_frame()[["date", "tag", "text", "path", "line"]]
        head = f"{esc(self._say('twin'))}: {esc(self._say('rows_of', n=self.hits, total=self._browse.total))}"
        return f"<details><summary>{head}</summary>{display.table_html(frame)}</details>"


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dicts of plain values: days as YYYY-MM-DD, instants in ISO, None where there is nothing."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(name): _value(name, value) for name, value in row.items()} for row in rows]


def _value(name: object, value: Any) -> Any:
    if isinstance(value, date):  # a Timestamp is one
        return value.isoformat()[:10] if name == "date" else value.isoformat()
    return value
