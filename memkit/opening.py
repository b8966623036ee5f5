"""open_store, which people call as `memkit.open`: from a path and options to a Store, or to the reason why not."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from memkit import dates, files
from memkit.cache import place as cache_place
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
    cache: bool | str | os.PathLike[str] = False,
    extra: Iterable[str] = (),
    session: str | os.PathLike[str] | None = None,
    index: str | os.PathLike[str] | None = None,
    hot_limit: int = HOT_LIMIT,
    lock_timeout: float = 10.0,
    embed: Mapping[str, Any] | Settings | None = None,
) -> Store:
    """Return the memory store at a path (default: the current folder), whatever its layout.

    `layout` names one of archive, workspace, layers and also opens a folder that does not exist yet, as an empty
    store. `tz` (default: the machine's zone) and `now` decide what today is. `cache` keeps what is loaded, as plain text
    for the owner's eyes, for who opens the store next: True in the user's cache folder, else in a folder of yours, which
    forget() clears only if the store was opened with it. `extra` and `session` are for `workspace`: more Markdown files or
    folders, and a chat transcript in JSON. `index` is where the search index of a workspace lies (default:
    memory/index.sqlite in it; sync() makes it), and `embed` switches vectors on for it: a dict of `key` and perhaps `url`,
    `model`, `vector_weight`, `text_weight`; without it nothing is ever sent. `hot_limit` is for `layers`.

    Raises: StoreNotFound, AmbiguousStore, BadArgument, UnsupportedError, PathError.
    """
    given = [extra] if isinstance(extra, str) else list(extra)
    if any("\0" in os.fspath(path) for path in (*given, *([session] if session else []))):
        raise BadArgument("extra and session: a path has no NUL in it")
    found = files.find_store(path if path is not None else Path.cwd(), layout)
    _refuse_foreign(found, {"extra and session": given or session, "index and embed": (index, embed) != (None, None)})
    return Store(
        found,
        tz=dates.zone(tz),
        now=now,
        extra=given,
        session=session,
        index=_index_place(found, index),
        hot_limit=checked_limit(hot_limit),
        lock_timeout=lock_timeout,
        embed=settings_of(embed) if embed is not None else None,
        cache=cache_place(cache, found.root),
    )


def _refuse_foreign(found: files.Found, given: Mapping[str, object]) -> None:
    """Hold that what only a workspace has was given for one.

    Raises: UnsupportedError, naming the options.
    """
    for options, value in given.items():
        if value and found.layout.NAME != "workspace":
            raise UnsupportedError(f"{options}: only a workspace has them; this store is {found.layout.NAME}")


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


def checked_limit(value: object) -> int:
    """Return the limit of the hot layer, the usual one with a warning for what can be none."""
    if isinstance(value, int) and not isinstance(value, bool) and HOT_LIMITS[0] <= value <= HOT_LIMITS[1]:
        return value
    warnings.warn(f"hot_limit: {value!r} is not a whole number from 100 to 20000; {HOT_LIMIT} is used", stacklevel=3)
    return HOT_LIMIT
