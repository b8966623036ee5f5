"""open_many, which people call as `memkit.open_many`: from paths and globs to a Fleet, or to the reason why not."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime, tzinfo

from memkit import dates
from memkit.errors import BadArgument
from memkit.fleet import places
from memkit.fleet.fleet import Fleet
from memkit.opening import checked_limit
from memkit.store import HOT_LIMIT

_Path = str | os.PathLike[str]


def open_many(
    paths: _Path | Iterable[_Path],
    *,
    layout: str | None = None,
    tz: str | tzinfo | None = None,
    now: dates.Clock | datetime | str | None = None,
    workers: int | None = None,
    progress: bool = True,
    hot_limit: int = HOT_LIMIT,
    lock_timeout: float = 10.0,
) -> Fleet:
    """Return the memory stores that paths and globs name (`~/agents/*`, `**` at any depth) as one Fleet, each store once.

    `workers` processes ask them (default: one for each processor, no more than stores, and none for what takes a second);
    1 asks them in this process. A script that starts processes needs `if __name__ == "__main__":` around its work. `layout`,
    `tz`, `now`, `hot_limit` and `lock_timeout` are those of open(), for every store; no new store is begun. A path that is
    no store is a row of `problems()`.

    Raises: BadArgument; StoreNotFound if nothing matches at all.
    """
    zone = dates.zone(tz)
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise BadArgument(f"workers: {str(workers)[:40]!r}; expected a whole number of at least 1")
    found, lost = places.places_of(paths, layout)
    settings = {"hot_limit": checked_limit(hot_limit), "lock_timeout": lock_timeout}
    return Fleet(found, lost, tz=zone, now=now, workers=workers, progress=progress, settings=settings)
