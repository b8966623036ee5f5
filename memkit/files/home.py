"""The folder of a store as a whole: which one it is, whether it holds anything, and whether a layout may begin in it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memkit.errors import BadArgument, StoreNotFound
from memkit.files.find import names_of
from memkit.layouts import Layout

Home = tuple[int, int]  # device and number: what tells a folder from any other that takes its place
CURE = "open the store where it is now, or bring it back"


def home_at(root: Path) -> Home | None:
    """Return which folder is at a path, None if there is none.

    Raises: StoreNotFound if a file is in its way, or it may not be looked at.
    """
    try:
        info = root.stat()
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise StoreNotFound(f"{root}: the folder is gone; {CURE} (a file is where a folder above it was)") from error
    except OSError as error:
        raise StoreNotFound(f"{root}: the folder cannot be looked at: {(error.strerror or 'unreadable').lower()}") from error
    if not stat.S_ISDIR(info.st_mode):
        raise StoreNotFound(f"{root}: the folder is gone; {CURE} (a file is in its place)")
    return info.st_dev, info.st_ino


def home_of(root: Path) -> Home | None:
    """Return which folder is at a path, None if there is none or nothing is in it: then it may be a place to begin.

    Raises: StoreNotFound, as home_at.
    """
    here = home_at(root)
    if here is None:
        return None
    try:
        with os.scandir(root) as entries:
            return here if next(entries, None) is not None else None
    except FileNotFoundError:
        return None
    except OSError:  # it holds what nobody may see
        return here


def refuse_begin(root: Path, layout: Layout) -> None:
    """Hold that a folder is a store of a layout, or of none: what is written to it would spoil that of another.

    Raises: BadArgument.
    """
    own = names_of(root)
    if layout.NAME in own:
        return
    below = root / "memory"  # a workspace keeps its logs there
    place, there = next(((place, held) for place in (root, below) if (held := names_of(place))), (root, []))
    if there and (place == root or layout.NAME == "workspace"):
        raise BadArgument(
            f"layout: {place} is a store of the layout {' and '.join(there)}, and holds no {layout.NAME}; "
            f"leave layout= (--layout) out, or name another folder to begin one in"
        )
