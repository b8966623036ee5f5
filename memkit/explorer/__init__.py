"""`mem.explore()`: a widget to look around a store with, in JupyterLab and wherever ipywidgets run; offline, one ES module.

Browse chooses and reads entries, Audit shows and mends what is wrong, Summaries makes and reads those, Add changes today's
file if that was switched on. All HTML is made here, in Python, from escaped text; the script only puts it in its place.

widget.py holds the tabs together, shell.py is the page around them, tab.py what all tabs share, words/ what they say. Each tab
has a folder: browse/ (selection and timeline, drawn by listing), audit/ (found, and the lines around it), summaries/ (periods
and making, drawn by calendar and reading), add/. Audit and Add share planned.py, the plan on show; veil.py puts secrets out of
sight.
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
