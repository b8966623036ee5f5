"""`memkit doctor`: what is installed, what lies at PATH, what time it is there, and what a write would touch; reads only."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from memkit import __version__
from memkit.cli.commands import cli
from memkit.cli.options import format_options, settle_format, store_options, words_argument
from memkit.cli.output import as_typed, show_facts
from memkit.cli.place import open_at

if TYPE_CHECKING:
    from memkit.store import Store

NEEDED = ("pandas", "pyarrow", "click")
EXTRAS = {"jupyter": "jupyterlab", "embed": "httpx", "plots": "vl-convert-python", "dask": "distributed", "mcp": "mcp"}
BAD = 2
FEW = 5  # files that are named
Facts = dict[str, Any]


@cli.command(params=[words_argument(), *format_options("text", "json"), *store_options()])
def doctor(words: tuple[str, ...], layout: str | None, now: str | None, tz: str | None, **rest: Any) -> int:
    """Say what is installed and what lies at PATH.

    Versions, the store or why there is none, cache, index, clock, what a write would touch, extras. Nothing is written, and
    no entry is shown. Exits 2 if there is no store.

    Example: memkit doctor ~/vault
    """
    settle_format(rest)
    if len(words) > 1:
        raise click.UsageError(f"Expected [PATH]; got {len(words)}.", click.get_current_context())
    facts: dict[str, Facts] = {"versions": _versions()}
    facts |= _found(words[0] if words else None, layout, now, tz)
    facts["extras"] = {
        name: _version(package) or f"not installed: pip install 'agent-memkit[{name}]'" for name, package in EXTRAS.items()
    }
    if rest["format"] == "json":
        show_facts(facts)
    else:
        click.echo(_text(facts))
    return 0 if facts["store"]["found"] else BAD


def _versions() -> Facts:
    """Return what runs here."""
    import platform
    import sqlite3

    from memkit.fts import has_trigram

    return {
        "memkit": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in NEEDED},
        "sqlite": sqlite3.sqlite_version,
        "sqlite_trigram": has_trigram(),
        "system": platform.platform(terse=True),
    }


def _version(package: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _found(path: str | None, layout: str | None, now: str | None, tz: str | None) -> dict[str, Facts]:
    """Return what lies at PATH and what follows from it, or why nothing does."""
    from memkit.errors import MemkitError

    try:
        store = open_at(path, layout=layout, now=now, tz=tz, cache=False)
    except (MemkitError, OSError) as error:
        by = "PATH" if path is not None else "the current folder"  # which is looked at last
        return {"store": {"found": False, "named_by": by, "path": path or os.curdir, "why": as_typed(str(error))}}
    by = "PATH" if path is not None else _rule_of(store)
    parts = {
        "store": lambda: _store(store),
        "clock": lambda: _clock(store, now),
        "writes": lambda: _writes(store, now),
        "index": lambda: _index(store),
        "cache": lambda: _cache(store),
    }
    found = {name: _or_why(part) for name, part in parts.items()}
    return found | {"store": {"found": True, "named_by": by} | found["store"]}


def _or_why(part: Callable[[], Facts]) -> Facts:
    """Return the facts of a part, or why there are none: one that fails costs no other."""
    from memkit.errors import MemkitError

    try:
        return part()
    except (MemkitError, OSError) as error:
        return {"found": False, "why": as_typed(str(error))}


def _rule_of(store: Store) -> str:
    """Return what chose the place of a store, as no PATH did."""
    from memkit.tools import place

    if store.layout == "workspace" and place.workspace_root():
        return "$MEMORY_WORKSPACE"
    if store.layout == "layers" and store.root == place.layers_root().absolute():
        return "$DSH_HOME" if os.environ.get("DSH_HOME") else "~/.dsh"
    return "the current folder"


def _store(store: Store) -> Facts:
    """Return what is known of a store.

    Raises: StoreNotFound if there is nothing yet.
    """
    from memkit.errors import StoreNotFound

    files = store.files()
    if not len(files):
        raise StoreNotFound(f"{store.root}: nothing is there yet; it comes with the first write")
    read = files["skipped"].isna()
    entries = store.entries()
    facts = {
        "layout": store.layout,
        "root": str(store.root),
        "vault": str(store.vault),
        "files_read": int(read.sum()),
        "files_skipped": int((~read).sum()),
        "entries": len(entries),
        "first": _day(entries["date"].min()),
        "last": _day(entries["date"].max()),
    }
    if not read.all():
        shown = files[~read].head(FEW)
        facts["skipped"] = [f"{where}: {why}" for where, why in zip(shown["path"], shown["skipped"], strict=True)]
    return facts


def _day(value: Any) -> str | None:
    return None if value != value else str(value.date())  # NaT is not itself


def _clock(store: Store, now: str | None) -> Facts:
    from memkit import dates

    moment = dates.clock_of(now, store.tz)()
    return {"zone": str(store.tz), "now": moment.isoformat(timespec="seconds"), "today": str(moment.date())}


def _writes(store: Store, now: str | None) -> Facts:
    """Return what a write would touch, and whether it could."""
    from memkit import dates, layouts

    moment = dates.clock_of(now, store.tz)()
    today = layouts.named(store.layout).day_path(moment.date())
    there = set(store.files()["path"])
    writes = {
        "today": f"{today} ({'is there' if today in there else 'comes with the first entry'})",
        "lock": f"flock on {store.root}" if os.name == "posix" else "a file in the user's cache folder",
        "locked": _is_locked(store),
        "writable": os.access(store.root, os.W_OK),
    }
    if store.layout == "archive":
        writes["catalog"] = (
            f"catalog/{moment.year:04d}.tsv ({'is there' if f'catalog/{moment.year:04d}.tsv' in there else 'none yet'})"
        )
    if store.layout == "layers":
        writes |= {"hot": "hot.md", "summaries": "summaries/"}
    return writes


def _is_locked(store: Store) -> bool:
    """Return whether another writer holds the store right now."""
    from memkit import files
    from memkit.errors import LockTimeout, StoreNotFound

    try:
        with files.Lock(store.root, 0).held(begin=False):
            return False
    except LockTimeout:
        return True
    except StoreNotFound:
        return False


def _index(store: Store) -> Facts:
    from memkit import fts

    target = store._index.target
    if target is None:
        return {"state": "none in this layout"}
    found = fts.look(target)
    return {"path": str(target), "state": found.state, "why": found.reason, "entries": found.chunks}


def _cache(store: Store) -> Facts:
    from memkit import cache
    from memkit.cli.caching import folder_named
    from memkit.tools import place

    folder = folder_named()
    held = cache.held(folder)
    here = held[held["store"] == str(store.root)]
    return {"on": bool(place.cached()), "folder": str(folder), "stores": len(held), "bytes_of_this": int(here["bytes"].sum())}


def _text(facts: dict[str, Facts]) -> str:
    """Return the facts as lines."""
    from memkit.cells import visible

    rows = []
    for title, held in facts.items():
        rows.append(title)
        for name, value in held.items():
            for n, part in enumerate(value if isinstance(value, list) else [value]):
                told = (
                    {True: "yes", False: "no", None: "none"}.get(part, part) if part is None or isinstance(part, bool) else part
                )
                rows.append(f"  {name.replace('_', ' ') if not n else '':<15} {visible(str(told))}")
    return "\n".join(rows)
