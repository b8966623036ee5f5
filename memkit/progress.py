"""Progress bars for work that takes over a second: a widget in notebooks, a line in terminals, nothing in pipes."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from typing import TypeVar

from tqdm.auto import tqdm

SLOW = 1.0  # seconds after which a bar appears
FEW = 100  # things that are never worth one

_Item = TypeVar("_Item")


def watched(
    items: Sequence[_Item], doing: str, unit: str, *, show: bool = True, few: int = FEW
) -> Generator[_Item, None, None]:
    """Yield the items, and show how far they are when somebody is there to look; `doing` says what is done to them.

    Of fewer than `few` nothing is shown.
    """
    quiet = not show or len(items) < few or not (sys.stderr.isatty() or "ipykernel" in sys.modules)
    yield from tqdm(items, desc=f"memkit: {doing}", unit=unit, delay=SLOW, leave=False, disable=quiet)
