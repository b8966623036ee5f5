"""open_store, which people call as `memkit.open`: from a path and options to a Store, or to the reason why not."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from memkit import dates, files
from memkit.embed import Settings, settings_of
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
    index: str | os.PathLike[str] | None = None,
    hot_limit: int = HOT_LIMIT,
    lock_timeout: float = 10.0,
    embed: Mapping[str, Any] | Settings | None = None,
) -> Store:
    """Return the memory store at a path (default: the current folder), whatever its layout.

    `layout` names one of archive, workspace, layers and also opens a folder that does not exist yet, as an empty
    store. `tz` (default: the machine's zone) and `now` decide what today is. `extra` and `session` are for
    `workspace`: more Markdown files or folders, and a chat transcript in JSON. `index` is where the search index of a
    workspace lies (default: memory/index.sqlite in it; sync() makes it), and `embed` switches vectors on for it: a dict of
    `key` and perhaps `url`, `model`, `vector_weight`, `text_weight`; without it nothing is ever sent. `hot_limit` is for
    `layers`.

    Raises: StoreNotFound, AmbiguousStore, BadArgument, UnsupportedError.
    """
    given = [extra] if isinstance(extra, str) else list(extra)
    if any("\0" in os.fspath(path) for path in (*given, *([session] if session else []))):
        raise BadArgument("extra and session: a path has no NUL in it")
    found = files.find_store(path if path is not None else Path.cwd(), layout)
    if found.layout.NAME != "workspace" and (given or session):
        raise UnsupportedError(f"extra and session: only a workspace has them; this store is {found.layout.NAME}")
    if found.layout.NAME != "workspace" and (index is not None or embed is not None):
        raise UnsupportedError(f"index and embed: only a workspace has them; this store is {found.layout.NAME}")
    return Store(
        found,
        tz=dates.zone(tz),
        now=now,
        extra=given,
        session=session,
        index=_index_place(found, index),
        hot_limit=_checked_limit(hot_limit),
        lock_timeout=lock_timeout,
        embed=settings_of(embed) if embed is not None else None,
    )


def _index_place(found: files.Found, index: object) -> Path | None:
    """Return where the index is to lie, None for where it always does.

    Raises: BadArgument for a memory file's place.
    """
    if index is None:
        return None
    target = files.place_of(index, "index").absolute()
    if target.suffix.lower() in (".md", ".markdown", ".txt"):
        raise BadArgument(f"index: {index} would be read as a memory; choose a name such as index.sqlite")
    if target.is_relative_to(found.root):
        role = found.layout.role(target.relative_to(found.root).as_posix())
        if role.kind is not None and not role.derived:
            raise BadArgument(f"index: {index} is a memory file's place; choose another, such as memory/index.sqlite")
    return target


def _checked_limit(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and HOT_LIMITS[0] <= value <= HOT_LIMITS[1]:
        return value
    warnings.warn(f"hot_limit: {value!r} is not a whole number from 100 to 20000; {HOT_LIMIT} is used", stacklevel=3)
    return HOT_LIMIT
