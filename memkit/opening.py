"""open_store, which people call as `memkit.open`: from a path and options to a Store, or to the reason why not."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from datetime import datetime, tzinfo
from pathlib import Path

from memkit import dates, files
from memkit.errors import BadArgument, UnsupportedError
from memkit.store import HOT_LIMIT, Store

HOT_LIMITS = (100, 20_000)


def open_store(
    path: str | os.PathLike[str] | None = None,
    *,
    layout: str | None = None,
    tz: str | tzinfo | None = None,
    now: dates.Clock | datetime | str | None = None,
    extra: Iterable[str] = (),
    session: str | os.PathLike[str] | None = None,
    hot_limit: int = HOT_LIMIT,
    lock_timeout: float = 10.0,
) -> Store:
    """Return the memory store at a path (default: the current folder), whatever its layout.

    `layout` names one of archive, workspace, layers and also opens a folder that does not exist yet, as an empty
    store. `tz` (default: the machine's zone) and `now` decide what today is. `extra` and `session` are for
    `workspace`: more Markdown files or folders, and a chat transcript in JSON. `hot_limit` is for `layers`.

    Raises: StoreNotFound, AmbiguousStore, BadArgument, UnsupportedError.
    """
    given = [extra] if isinstance(extra, str) else list(extra)
    if any("\0" in os.fspath(path) for path in (*given, *([session] if session else []))):
        raise BadArgument("extra and session: a path has no NUL in it")
    found = files.find_store(path if path is not None else Path.cwd(), layout)
    if found.layout.NAME != "workspace" and (given or session):
        raise UnsupportedError(f"extra and session: only a workspace has them; this store is {found.layout.NAME}")
    limit = _checked_limit(hot_limit)
    return Store(found, tz=dates.zone(tz), now=now, extra=given, session=session, hot_limit=limit, lock_timeout=lock_timeout)


def _checked_limit(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and HOT_LIMITS[0] <= value <= HOT_LIMITS[1]:
        return value
    warnings.warn(f"hot_limit: {value!r} is not a whole number from 100 to 20000; {HOT_LIMIT} is used", stacklevel=3)
    return HOT_LIMIT
