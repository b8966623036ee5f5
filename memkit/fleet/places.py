"""Which stores a fleet has: paths and globs to places with names, and to a trouble for each that is no store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from memkit import files, schema
from memkit.errors import BadArgument, MemkitError, StoreNotFound
from memkit.files import Found

STORES: schema.Schema = {"store": schema.STR, "layout": schema.STR, "root": schema.STR}
PROBLEMS: schema.Schema = {
    "store": schema.STR, "path": schema.STR, "asked": schema.STR, "error": schema.STR, "reason": schema.STR,
}  # fmt: skip
GLOB = "glob"  # what is asked of a folder that nobody named, and that may well be no store


@dataclass(frozen=True, slots=True)
class Place:
    """Where one store of a fleet lies, and what it is called there; it can be sent to other processes."""

    name: str
    root: Path
    vault: Path
    layout: str


class Trouble(NamedTuple):
    """Why a store gave no answer: a row of PROBLEMS."""

    store: str
    path: str
    asked: str
    error: str
    reason: str


class _Failed(NamedTuple):
    """A path that is no store, and why; `hit` if a glob matched it."""

    path: Path
    error: Exception
    hit: bool


def places_of(paths: object, layout: str | None) -> tuple[list[Place], list[Trouble]]:
    """Return the stores that paths and globs name, by name, each once, and what is wrong with the other paths.

    A store is called after its folder, from the parent that all have in common.

    Raises: BadArgument for what is no path, StoreNotFound if nothing matches.
    """
    found: dict[Path, Found] = {}
    failed: list[_Failed] = []
    for path, hit in _candidates(_listed(paths), failed):
        try:
            store = files.find_store(path, layout, new=False)
            root = store.root.resolve()
        except (MemkitError, OSError) as error:
            if isinstance(error, BadArgument):  # the layout, the same for all
                raise
            failed.append(_Failed(path, _true(path, error), hit))
            continue
        known = found.get(root)
        if known is None or len(store.vault.parts) < len(known.vault.parts):
            found[root] = store
    base = _base([store.vault for store in found.values()])
    names = _names(list(found.values()), base)
    places = [Place(name, store.root, store.vault, store.layout.NAME) for name, store in names.items()]
    failed = [each for each in failed if not (each.hit and _within(each.path, found))]
    return sorted(places, key=lambda place: place.name), [_trouble(each, base) for each in failed]


def there(place: Place) -> Place:
    """Return a place whose folder is there: opened without one, a store would be empty, and begin anew when written.

    Raises: StoreNotFound.
    """
    if not files.is_folder(place.root):
        raise StoreNotFound(f"{shown(place.root)}: the folder is gone; open the fleet again without it")
    return place


def _listed(paths: object) -> list[Path]:
    """Return what was given as paths; a single one is a list of one.

    Raises: BadArgument.
    """
    given = [paths] if isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable) else list(paths)
    if not given:
        raise BadArgument("paths: an empty list; name folders, or a glob such as ~/agents/*")
    return list(dict.fromkeys(files.place_of(path, "paths") for path in given))


def _candidates(paths: Sequence[Path], failed: list[_Failed]) -> Iterator[tuple[Path, bool]]:
    """Yield each folder that is named or matched, the named ones first, and whether a glob matched it.

    Raises: StoreNotFound if there is none at all.
    """
    matched = {path: files.folders_of(path) for path in paths}
    failed += [_Failed(path, _unmatched(path), False) for path, hits in matched.items() if hits == []]
    if len(failed) == len(paths):
        raise failed[0].error
    named = [path for path, hits in matched.items() if hits is None]
    yield from ((path, False) for path in named)
    hits = dict.fromkeys(hit for hits in matched.values() for hit in hits or ())
    yield from ((hit, True) for hit in hits if hit not in named)


def _unmatched(pattern: Path) -> StoreNotFound:
    whole = next((parent for parent in pattern.parents if files.is_folder(parent)), pattern)
    return StoreNotFound(f"{shown(pattern)}: no folder matches (the nearest that exists is {shown(whole)}); correct the glob")


def _true(path: Path, error: Exception) -> Exception:
    """Return why a path gave no store: where not all could be looked at, nobody knows that there is none."""
    return (files.kept_out(path) or error) if isinstance(error, StoreNotFound) else error


def _within(path: Path, found: Iterable[Path]) -> bool:
    """Return whether a path is a part of one of the stores, as `**` also matches what lies in them."""
    return not {path.resolve(), *path.resolve().parents}.isdisjoint(found)


def _base(folders: Sequence[Path]) -> Path | None:
    """Return the folder below which all of them lie, None where there is none (other drives)."""
    try:
        return Path(os.path.commonpath([folder.absolute().parent for folder in folders])) if folders else None
    except ValueError:
        return None


def _names(found: Sequence[Found], base: Path | None) -> dict[str, Found]:
    """Return the stores by their names; those that share a vault are called after their own folders."""
    by_vault: dict[str, list[Found]] = {}
    for store in found:
        by_vault.setdefault(_name(store.vault, base), []).append(store)
    return {
        name if len(stores) == 1 else _name(store.root, base): store for name, stores in by_vault.items() for store in stores
    }


def _name(path: Path, base: Path | None) -> str:
    inside = base is not None and path != base and path.is_relative_to(base)
    return shown(path.relative_to(base) if inside and base else path)


def _trouble(failed: _Failed, base: Path | None) -> Trouble:
    path, error = failed.path.absolute(), failed.error
    asked = GLOB if failed.hit and isinstance(error, StoreNotFound) else "open"
    return Trouble(_name(path, base), shown(path), asked, type(error).__name__, reason_of(error))


def shown(path: Path) -> str:
    """Return a path as text; bytes of a name that are not UTF-8 are spelled out."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def reason_of(error: BaseException) -> str:
    """Return what an error says, in a line."""
    return (" ".join(str(error).split()) or type(error).__name__)[:400].encode("utf-8", "backslashreplace").decode()
