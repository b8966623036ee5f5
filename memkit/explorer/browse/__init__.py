"""The tab Browse: which entries are chosen, which page of them is shown, which one is open; how they look is in listing.py."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

import pandas as pd

from memkit import schema
from memkit.errors import MemkitError
from memkit.explorer.browse import listing
from memkit.explorer.browse.selection import Asked, Chosen, Ground
from memkit.explorer.browse.timeline import bars
from memkit.explorer.tab import Numbers, Place
from memkit.explorer.words import Words
from memkit.hits import NEAR_TO_FAR
from memkit.loading import State

if TYPE_CHECKING:
    from memkit.store import Store

PAGE = 50  # rows that are shown at once
NOWHERE = "–"  # the step when none has answered
AROUND = 2  # entries that are shown before and after an open one


class Browse:
    """What is chosen of a store, and shown. Every look first notices what has changed on disk."""

    def __init__(self, store: Store, say: Words) -> None:
        self._store, self._say = store, say
        self.asked = Asked()
        self.page = 0
        self.open: Place | None = None
        self.remark = ""
        self.step = ""
        self._ground: Ground | None = None
        self._chosen: Chosen | None = None
        self._places: Numbers[Place] = Numbers()
        self._tags: Numbers[str] = Numbers()

    # ---- what is chosen ----

    def look(self, asked: Asked) -> None:
        """Choose what is asked for, of the store as it is now.

        Raises: BadArgument for words or a window that cannot be meant; StoreNotFound.
        """
        changed = self._renew()
        if asked == self.asked and self._chosen is not None and not changed:
            return
        if asked != self.asked:
            self.page, self.open = 0, None
        self.asked, self.step, self._chosen = asked, "", None
        self._chosen = self._held.choose(asked)
        self.page = min(self.page, max(0, (len(self._chosen.rows) - 1) // PAGE))

    def _renew(self) -> bool:
        """Take in what is on disk now; return whether it is something else than before."""
        state = self._store._fresh()
        if self._ground is not None and self._ground.state.visible is state.visible:
            return False
        self.remark = self._say("changed") if self._ground is not None else ""
        self._ground = Ground(state, self._store.tz)
        return True

    @property
    def _held(self) -> Ground:
        if self._ground is None:
            self._renew()
        assert self._ground is not None
        return self._ground

    @property
    def state(self) -> State:
        """Return the state of the store that is shown."""
        return self._held.state

    @property
    def total(self) -> int:
        """Return how many entries the store has."""
        return len(self.state.visible)

    @property
    def hits(self) -> int:
        """Return how many entries are chosen."""
        return len(self._chosen.rows) if self._chosen else 0

    def frame(self) -> pd.DataFrame:
        """Return the entries that are chosen, newest first, with the columns of entries()."""
        rows = self._chosen.rows if self._chosen else []
        return self.state.visible[list(schema.ENTRIES)].take(rows).reset_index(drop=True)

    def page_frame(self) -> pd.DataFrame:
        """Return the page of them that is shown."""
        rows = self._chosen.rows[self.page * PAGE : (self.page + 1) * PAGE] if self._chosen else []
        return self.state.visible[list(schema.ENTRIES)].take(rows)

    # ---- what buttons ask ----

    def opened(self) -> None:
        """Look again, as the store may have changed."""
        self.look(self.asked)

    def act(self, action: str, value: str, form: Mapping[str, str]) -> Place | None:
        """Do what a button asks."""
        self.opened()
        if action in ("newer", "older"):
            last = max(0, (self.hits - 1) // PAGE)
            self.page = min(last, max(0, self.page + (1 if action == "older" else -1)))
            self.open = None
        elif action == "open" and (place := self._places.thing(value)):
            self.read(place)
        elif action == "close":
            self.open = None
        elif action == "settle":
            self._settle()
        return None

    def read(self, place: Place) -> None:
        """Open an entry of the store as it is now; one that is not there any more is told of."""
        self.opened()
        there = self._position(place) is not None
        self.open = place if there else None
        self.remark = self.remark if there else self._say("gone")

    def turned(self, value: str) -> tuple[str, ...]:
        """Return the chosen tags with one that was shown put in, or taken out if it was in."""
        tag, chosen = self._tags.thing(value), self.asked.tags
        if tag is None:
            return chosen
        return tuple(old for old in chosen if old != tag) if tag in chosen else (*chosen, tag)

    def _settle(self) -> None:
        """Make ready for the next key; find out by which step an agent's search would have found the words."""
        _ = self.state.folded  # made when it is first asked for: better now than under the first letter
        if not self.asked.query.strip():
            return
        try:
            found = self._store.search(self.asked.query, limit=1)
        except MemkitError:
            self.step = NOWHERE
        else:
            self.step = found.provider if found.provider != NEAR_TO_FAR else found.step or NOWHERE

    # ---- how it is shown ----

    def html(self) -> str:
        """Return all parts in one."""
        return "".join(self.slots().values())

    def slots(self) -> dict[str, str]:
        """Return the HTML of each part of the tab."""
        chosen, say = self._chosen, self._say
        if chosen is None:
            return {"chips": "", "kinds": "", "timeline": "", "status": "", "page": "", "entry": ""}
        frame = self.page_frame()
        places = [self._places.of(Place(*place)) for place in zip(frame["path"], frame["line"].tolist(), strict=True)]
        tags = listing.tags_shown(chosen.tags, self.asked.tags)
        chips = [(self._tags.of(tag), tag, number) for tag, number in tags]
        window = self.asked.start, self.asked.end
        waits = (bool(chosen.words) and not self.step) or "folded" not in self.state.__dict__
        entry = self._entry(chosen.words)
        return {
            "chips": listing.chips(chips, self.asked.tags, len(chosen.tags), say),
            "kinds": listing.kinds(chosen.kinds, self.asked.kind, say),
            "timeline": listing.timeline(bars(chosen.days, self._span()), window, _undated(chosen.days), say),
            "status": listing.status(self.hits, self.total, self._stop(), say, waits=waits) + listing.remark(self.remark),
            "page": listing.page(frame, places, chosen.words, self.open, self.page * PAGE, (self.hits, self.total), say),
            "entry": entry,
        }

    def _stop(self) -> str:
        """Return where a search from near to far would stop, in words; "" where it does not go so."""
        near = self.step in ("", NOWHERE) or self._store.layout == "workspace"
        return "" if near else self._say(f"step_{self.step}")

    def _span(self) -> tuple[date, date] | None:
        """Return the days that the timeline shows: always the store's own, so that it stands still while people type."""
        known = self._held.days[~pd.isna(self._held.days)].astype("datetime64[D]")
        return (known.min().item(), known.max().item()) if len(known) else None

    def _position(self, place: Place) -> int | None:
        frame = self.state.visible
        hit = (frame["line"].to_numpy() == place.line) & (frame["path"] == place.path).to_numpy()
        found = hit.nonzero()[0]
        return int(found[0]) if len(found) else None

    def _entry(self, words: tuple[str, ...]) -> str:
        """Return the open entry with its neighbours in the file."""
        at = self._position(self.open) if self.open else None
        if self.open is None or at is None:
            return ""
        frame = self.state.visible
        own = (frame["path"] == self.open.path).to_numpy().nonzero()[0]
        middle = int((own == at).nonzero()[0][0])
        near = own[max(0, middle - AROUND) : middle + AROUND + 1]
        places = [self._places.of(Place(self.open.path, line)) for line in frame["line"].to_numpy()[near].tolist()]
        tags = self.state.tags
        carried = tags["tag"][(tags["path"] == self.open.path) & (tags["line"] == self.open.line)].tolist()
        return listing.entry(frame.iloc[near], places, int((near == at).nonzero()[0][0]), carried, words, self._say)


def _undated(days: Any) -> int:
    return int(pd.isna(days).sum())
