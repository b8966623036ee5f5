"""What a tab of the explorer is: it shows itself as HTML and does what its buttons ask; and the pieces of HTML all tabs share.

A button is an element with `data-do="tab.action"`; the script sends that, its `data-value` and the fields of the nearest
`data-form` around it. An element with `data-more` asks for its action as soon as it is shown (after `data-wait` ms), which
is how long work goes on: step by step, so that a button can stop it. All text is escaped here, in one place.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from memkit.cells import visible

_Thing = TypeVar("_Thing")


class Place(NamedTuple):
    """An entry by its file and first line: what Browse is to open."""

    path: str
    line: int


class Numbers(Generic[_Thing]):
    """Numbers for what is shown, to be used in HTML; one means the same thing for ever, whatever is drawn since."""

    def __init__(self) -> None:
        self._things: list[_Thing] = []
        self._numbers: dict[_Thing, int] = {}

    def of(self, thing: _Thing) -> int:
        """Return the number of a thing, a new one if it has none yet."""
        if thing not in self._numbers:
            self._numbers[thing] = len(self._things)
            self._things.append(thing)
        return self._numbers[thing]

    def thing(self, value: str) -> _Thing | None:
        """Return the thing that a page names by its number, None if there is none."""
        return self._things[int(value)] if value.isdecimal() and int(value) < len(self._things) else None


class Tab(Protocol):
    """One tab. `opened` is called whenever it comes to the front, `act` for its buttons; then its HTML is shown anew."""

    def opened(self) -> None:
        """Look at the store afresh, as it may have changed."""

    def act(self, action: str, value: str, form: Mapping[str, str]) -> Place | None:
        """Do what a button asks; return the entry that Browse is to open, if any."""

    def html(self) -> str:
        """Return what is shown."""


def esc(text: object) -> str:
    """Return a text on one line, safe in HTML, also in an attribute."""
    return html.escape(visible(str(text)))


def button(
    label: str,
    do: str,
    value: object = "",
    *,
    key: str = "",
    kind: str = "",
    off: bool = False,
    pressed: bool | None = None,
    escape: bool = False,
    told: str = "",
) -> str:
    """Return a button that asks for an action; `key` names it, so that it keeps the focus when it is drawn anew.

    `pressed` makes it one that stays down, `escape` the one that the Escape key presses, `told` says what a mark means.
    """
    name = esc(key or f"{do} {value}")
    first = f' aria-pressed="{str(pressed).lower()}"' if pressed is not None else ""
    more = f' class="{kind}"' if kind else ""
    more += f' aria-label="{esc(told)}" title="{esc(told)}"' if told else ""
    more += " data-escape" if escape else ""
    more += " disabled" if off else ""
    return (
        f'<button{first} type="button" data-do="{do}" data-value="{esc(value)}" data-key="{name}"{more}>{esc(label)}</button>'
    )


def notice(text: str, kind: str = "warning") -> str:
    """Return a remark that a screen reader reads out; "" for none."""
    return f'<p role="alert" class="note {kind}">{esc(text)}</p>' if text else ""
