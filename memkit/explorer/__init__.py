"""`mem.explore()`: a widget to look around a store with, in JupyterLab and wherever ipywidgets run; offline, one ES module.

Browse chooses and reads entries, Audit shows and mends what is wrong, Summaries makes and reads those, Add changes today's
file if that was switched on. All HTML is made here, in Python, from escaped text; the script only puts it in its place.

widget.py holds the tabs together, shell.py is the page around them, tab.py what all tabs share, words/ what they say.
Browse: browse.py over selection.py and timeline.py, drawn by listing.py.
Audit: audits.py over found.py and around.py. Summaries: summing.py over periods.py and making.py, drawn by calendar.py and
reading.py. Add: adding.py. Audit and Add share planned.py, the plan on show; secrets are put out of sight by veil.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memkit.explorer.words import words_in

if TYPE_CHECKING:
    from memkit.explorer.widget import Explorer
    from memkit.store import Store

__all__ = ["explore"]


def explore(store: Store, *, lang: str | None = None, write: bool = False, out: object = None) -> Explorer:
    """Return the explorer of a store.

    Raises: BadArgument for a language other than en and zh.
    """
    from memkit.explorer.widget import Explorer

    return Explorer(store, words_in(lang), write=write, out=out)
