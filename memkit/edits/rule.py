"""The write rule: what an edit may do to a file. One function, called by the only writer; no caller can skip it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from memkit.errors import FrozenError, LostTextError
from memkit.layouts import hot
from memkit.model import Edit, Role
from memkit.text import front_matter, is_index_line

_MARK = "\ufeff"
DAY_KINDS = ("daily", "daily-slug")


def check(edit: Edit, role: Role, today: date, *, begun: bool = False) -> None:
    """Let an edit pass, or say why not; `today` is the local day at this moment.

    `begun` says that no file of the store is there but those that this very plan made: an edit of a plan that begins a store
    (free: "begin") may then make the file of any day, which changes no finished one.

    Raises: FrozenError for a day before today, LostTextError if an old line would be lost or altered.
    """
    if edit.after == edit.before or role.derived or "all" in edit.free:
        return
    if role.kind == "hot":
        _keep_regions(edit)
    elif role.kind in DAY_KINDS and role.day is not None and role.day < today and not (begun and _begins(edit)):
        raise FrozenError(f"{edit.path}: {role.day} is before today, {today}, and frozen; use correct() or forget()")
    elif edit.before is None:
        return
    elif edit.after is None:
        raise LostTextError(f"{edit.path}: the file would be deleted; only forget() may do that")
    elif role.kind in DAY_KINDS:
        _keep_prefix(edit.path, edit.before, edit.after)
    else:
        _keep_lines(edit.path, _lines(edit.before), _lines(edit.after))


def _begins(edit: Edit) -> bool:
    """Return whether an edit is one of those that begin a store."""
    return "begin" in edit.free and edit.before is None and edit.after is not None


def _keep_prefix(path: str, before: str, after: str) -> None:
    """Hold that a day file starts with its old body, and that its front matter lost nothing but its old index."""
    if _grown(before, after):
        return
    if before.startswith(_MARK) != after.startswith(_MARK):
        raise LostTextError(f"{path}: its byte order mark would change; a day file only grows at its end")
    old_head, old_body = split_head(before.removeprefix(_MARK))
    new_head, new_body = split_head(after.removeprefix(_MARK))
    if not _grown(old_body, new_body):
        raise LostTextError(f"{path}: its text so far would change; a day file only grows at its end")
    old_lines, new_lines = list(_lines(old_head)), list(_lines(new_head))
    if sum(map(is_index_line, old_lines)) > sum(map(is_index_line, new_lines)):
        raise LostTextError(f"{path}: its index line would be lost; it may only change")
    _keep_lines(path, (line for line in old_lines if not is_index_line(line)), new_lines)


def _grown(before: str, after: str) -> bool:
    """Return whether a text is the old one with nothing but whole lines behind it."""
    rest = after[len(before) :]
    whole = not before or before.endswith("\n") or not rest or rest.startswith(("\n", "\r\n"))
    return whole and after.startswith(before)


def split_head(text: str) -> tuple[str, str]:
    """Return the front matter with all that stands before it, and the body; both joined are the text."""
    lines = text.split("\n")
    cut = front_matter([line.removesuffix("\r").removeprefix(_MARK) for line in lines])
    if cut is None:
        return "", text
    end = sum(len(line) + 1 for line in lines[: cut.last])
    return text[:end], text[end:]


def _keep_regions(edit: Edit) -> None:
    """Hold that hot.md keeps every line of every region that was not asked to change."""
    before, after = (hot.regions(text or "") for text in (edit.before, edit.after))
    for name in ("body", "candidates", "topics"):
        if name not in edit.free:
            _keep_lines(edit.path, before[name], after[name])


def _keep_lines(path: str, before: Iterable[str], after: Iterable[str]) -> None:
    """Hold that all old lines are still there, in their order, whatever stands between them."""
    rest = iter(after)
    for line in before:
        if line.strip() and not any(line == other for other in rest):
            raise LostTextError(f"{path}: an old line would be lost or altered; memkit only adds")


def _lines(text: str) -> Iterator[str]:
    """Yield the lines with their own endings; the last one, if it has none yet, as it will be with the file's."""
    rows = text.split("\n")
    if rows[-1] and rows[0].endswith("\r") and not rows[-1].endswith("\r"):
        rows[-1] += "\r"
    return iter(rows)
