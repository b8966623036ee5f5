"""What `forget` plans: entries taken out (or replaced) wherever they stand, and every copy made of them; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memkit.edits import copies
from memkit.edits import layers as layers_edits
from memkit.edits import lines as edit_lines
from memkit.edits import workspace as workspace_edits
from memkit.edits.held import Held
from memkit.edits.plan import Draft
from memkit.edits.targets import ASKED, Target
from memkit.errors import BadArgument, ConflictError
from memkit.indexing import checked
from memkit.layouts import line
from memkit.lines import SIGN, text_column
from memkit.model import Edit, Records
from memkit.text import norm_text, reading_of

BEYOND = "exports, out= folders, synced versions, backups and git keep their copies; remove those by hand"
OUT_OF_REACH = "it lies where memkit never writes"
_MARK = "\ufeff"
_WORD = re.compile(r"\w")
_BARE = ("blank", "heading", "front matter")
DAY_KINDS = ("daily", "daily-slug")


class Spot(NamedTuple):
    """Where an entry stands in a text: its first and last line, its tag and text, the kind of its block."""

    line: int
    end_line: int
    tag: str | None
    text: str
    block: str


def plan(held: Held, targets: Sequence[Target], texts: Iterable[str] = (), *, new_index: str | None = None) -> Draft:
    """Return the plan that forgets the targets, file by file, and what was derived from them.

    `texts` are looked for among the derived copies too, for entries that are gone already.

    Raises: ConflictError if a target is not there any more; BadArgument for a new index that could be of several days.
    """
    kept = [target for target in targets if not within_reach(held, target.path)]
    within = [target for target in targets if target not in kept]
    by_path: dict[str, list[Target]] = {}
    for target in within:
        by_path.setdefault(target.path, []).append(target)
    indexed = _to_be_indexed(held, within, new_index)
    texts = list(texts)
    edits: list[Edit] = []
    warnings = [BEYOND] if targets else ["no entry has exactly this text"] if texts else []
    for path, wanted in by_path.items():
        edit, notes = _of_file(held, path, wanted, new_index if path in indexed else None)
        edits.append(edit)
        warnings += notes
    said = tuple(dict.fromkeys([*(norm_text(target.text) for target in within), *map(norm_text, texts)]))
    derived, derived_rows = copies.follow(held, edits, within, said)
    warnings += copies.still_there(held, [*edits, *derived], said)
    rows = [(f"{target.path}:{target.line}", *_told(target, target in kept)) for target in targets]
    return Draft((*edits, *derived), (*rows, *derived_rows), 0, tuple(dict.fromkeys(warnings)))


def _told(target: Target, kept: bool) -> tuple[str, str]:
    if kept:
        return "kept", f"{target.reason}, but {OUT_OF_REACH}"
    return "forget" if target.put is None else "replace", target.reason


def within_reach(held: Held, path: str) -> bool:
    """Return whether a file is the store's own: no transcript, and nothing outside the root."""
    fact = held.facts.get(path)
    return (fact is None or fact.role.kind != "session") and not path.startswith(("/", "..")) and path[1:2] != ":"


def _to_be_indexed(held: Held, targets: Iterable[Target], new_index: str | None) -> set[str]:
    """Return the one file whose index is given."""
    if new_index is None:
        return set()
    checked(new_index)
    paths = {target.path for target in targets if target.reason == ASKED}
    if held.layout.NAME != "archive" or len(paths) != 1:
        raise BadArgument(f"new_index: it is one day's, and this is about {len(paths)} days; name the day with date=")
    return paths


def _of_file(held: Held, path: str, targets: Sequence[Target], new_index: str | None) -> tuple[Edit, list[str]]:
    """Return the edit of one file, and what a person must still look at."""
    before = held.read(path)
    if before is None:
        raise ConflictError(f"{path}: it is gone; ask again")
    edit_lines.refuse_utf16(path, before, anywhere=True)
    spots = _spots(held.parse(path, before))
    places = _located(path, spots, targets)
    after, notes = _taken_out(held, path, before, spots, places)
    records = held.parse(path, after, spans=True)
    if not len(records.entries) and _is_bare(records, after):
        return Edit(path, before, None, free=("all",)), notes
    if held.layout.NAME == "archive" and records.role.kind == "daily":
        after, more = copies.reindexed(path, before, after, [target.text for target in targets], new_index)
        notes += more
    return Edit(path, before, after, free=("all",)), notes


def _spots(records: Records) -> list[Spot]:
    found = records.entries
    ends = found.end_line or found.line
    nothing: list[str | None] = [None] * len(found)
    blocks = found.block or ["item"] * len(found)
    return [Spot(*row) for row in zip(found.line, ends, found.tag or nothing, found.text, blocks, strict=True)]


def _located(path: str, spots: Sequence[Spot], targets: Iterable[Target]) -> dict[int, Target]:
    """Return which spot each target is: the one with its text; of several that with its tag, then that on its line."""
    places: dict[int, Target] = {}
    for target in targets:
        hits = [n for n, spot in enumerate(spots) if spot.text == target.text and n not in places]
        if not hits:
            raise ConflictError(f"{path}: an entry that was to be forgotten is no longer there; ask again")
        places[min(hits, key=lambda n: (spots[n].tag != target.tag, spots[n].line != target.line))] = target
    return places


def _taken_out(
    held: Held, path: str, before: str, spots: Sequence[Spot], places: Mapping[int, Target]
) -> tuple[str, list[str]]:
    """Return a file without some of its entries, or with others in their place; all other entries still read the same.

    A blank line is left where an entry stood if its neighbours would else grow into one.
    """
    rows = [f"{row}\n" for row in before.split("\n")]
    rows[-1] = rows[-1][:-1]
    newline = edit_lines.newline_of(before)
    wanted = [
        None if n in places else spot[2:4] for n, spot in enumerate(spots) if n not in places or places[n].put is not None
    ]
    after = ""
    for gap in ([], [newline]):
        left = list(rows)
        for n in sorted(places, reverse=True):
            spot, put = spots[n], places[n].put
            new = gap if put is None else [f"{row}{newline}" for row in _put(held, rows[spot.line - 1], spot, put)]
            left[spot.line - 1 : spot.end_line] = new
        after = "".join(left)
        after = _MARK + after if before.startswith(_MARK) and not after.startswith(_MARK) else after
        found = [spot[2:4] for spot in _spots(held.parse(path, after))]
        if len(found) == len(wanted) and all(want in (None, got) for want, got in zip(wanted, found, strict=True)):
            return after, []
    return after, [f"{path}: what stood around it reads differently now; look at the diff"]


def _put(held: Held, row: str, spot: Spot, text: str) -> list[str]:
    """Return the lines of an entry that takes another's place, behind the same sign, instant and tag."""
    row = row.rstrip("\r\n").removeprefix(_MARK)
    if match := line.ENTRY.fullmatch(row):
        return [f"- [{match[1]}] [{match[2]}] {layers_edits.entry_text(text)}"]
    said = workspace_edits.one_line(text) if held.layout.NAME == "workspace" else edit_lines.entry_text(text, "replacement")
    sign = SIGN.match(row) if spot.block == "item" else None
    at = row.find(spot.text.split("\n")[0], sign.end()) if sign else -1
    head = row[:at] if at >= 0 else "- "
    indent = " " * (text_column(row, sign) if sign and at >= 0 else 2)
    first, *rest = said.split("\n")
    return [head + first, *(indent + more if more else "" for more in rest)]


def _is_bare(records: Records, text: str) -> bool:
    """Return whether nothing is left of a file but its front matter, headings and rules; the long-term file stays."""
    if records.role.kind not in (*DAY_KINDS, "note", "dream", "extra"):
        return False
    rows = reading_of(text).split("\n")
    spans = records.spans or []
    return all(span in _BARE or not _WORD.search(row) for span, row in zip(spans, rows, strict=True))
