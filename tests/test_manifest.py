"""Manifests: what an audit finds against one, and that it holds no text."""

from __future__ import annotations

import pandas as pd
import pytest
from conftest import open_at

import memkit
from memkit import manifest


@pytest.fixture(params=["archive", "workspace", "layers"])
def mem(request, copied):
    return open_at(copied(request.param))


def finished(mem) -> str:
    """Return the path of a finished day with two entries or more, in the middle of the store."""
    days = mem.days()
    return days[days["frozen"] & (days["entries"] > 1) & (days["files"] == 1)]["path"].iloc[10]


def found(report) -> list[tuple[str, str, int]]:
    return list(report.frame[["rule", "path", "line"]].itertuples(index=False, name=None))


def test_a_manifest_has_a_row_for_each_finished_day_file_and_no_text(mem):
    frame = mem.manifest()
    assert dict(frame.dtypes) == manifest.COLUMNS
    assert frame["path"].is_monotonic_increasing
    assert len(frame) == mem.days()["files"].sum() - (mem.days()["frozen"] == False).sum()  # noqa: E712
    assert frame["entries"].sum() == mem.days().query("frozen")["entries"].sum()
    assert not frame["lines"].str.contains("[^0-9a-f]").any()


def test_nothing_is_found_against_a_fresh_manifest_also_from_a_file(mem, tmp_path):
    mem.manifest(tmp_path / "then.parquet")
    assert found(mem.audit(against=tmp_path / "then.parquet")) == []


def test_a_deleted_file_is_missing_and_nothing_else(mem):
    then, path = mem.manifest(), finished(mem)
    (mem.root / path).unlink()
    rules = [row for row in found(mem.audit(against=then)) if row[0] != "summary-stale"]
    assert rules == [("missing-file", path, 0)]


def test_a_changed_line_is_named(mem):
    then, path = mem.manifest(), finished(mem)
    text = (mem.root / path).read_text("utf-8").rstrip("\n")
    line = text.count("\n") + 1
    (mem.root / path).write_text(text + "改\n", "utf-8")
    assert found(mem.audit(against=then)) == [("frozen-changed", path, line)]


def test_a_line_more_and_a_line_less_are_changes_in_their_place(mem):
    then, path = mem.manifest(), finished(mem)
    text = (mem.root / path).read_text("utf-8")
    lines = text.split("\n")
    (mem.root / path).write_text(text + "\n\n", "utf-8")
    assert found(mem.audit(against=then)) == [("frozen-changed", path, len(lines) + 1)]
    (mem.root / path).write_text("\n".join(lines[:-2]), "utf-8")
    assert [row[0] for row in found(mem.audit(against=then))] == ["frozen-changed"]


def test_an_emptied_day_is_one_finding(mem):
    then, path = mem.manifest(), finished(mem)
    (mem.root / path).write_bytes(b"")
    assert found(mem.audit(against=then)) == [("emptied-day", path, 0)]


def test_today_may_grow(mem):
    then = mem.manifest()
    mem.append("今天又来了一条")
    assert found(mem.audit(against=then)) == []


def test_forgetting_says_so_in_the_manifest_that_is_given(mem, tmp_path):
    saved = tmp_path / "then.parquet"
    before = mem.manifest(saved)
    row = mem.entries().query("path == @path", local_dict={"path": finished(mem)}).head(1)
    plan = mem.forget(row, manifest=saved)
    assert found(mem.audit(against=saved)) == []
    plan.apply()
    # a hand-written index that still speaks of what was forgotten is another matter: the plan asks for a new one
    assert [row for row in found(mem.audit(against=saved)) if row[0] != "index-invents"] == []
    assert "frozen-changed" in [name for name, *_ in found(mem.audit(against=before))]


def test_a_plan_without_a_row_still_keeps_the_manifest(mem, tmp_path):
    saved = tmp_path / "then.parquet"
    mem.manifest(saved)
    rows = mem.entries().query("path == @path", local_dict={"path": finished(mem)}).head(2)
    mem.forget(rows, manifest=saved).without(0).apply()
    assert [row for row in found(mem.audit(against=saved)) if row[0] != "index-invents"] == []
    with pytest.raises(memkit.ExportError):
        mem.forget(rows.head(1), manifest=tmp_path / "none.parquet")


def test_a_frame_that_is_no_manifest_is_refused(mem, tmp_path):
    with pytest.raises(memkit.BadArgument, match=r"^against: no manifest"):
        mem.audit(against=pd.DataFrame({"path": ["x"]}))
    with pytest.raises(memkit.ExportError, match="no such file"):
        mem.audit(against=tmp_path / "none.parquet")
    with pytest.raises(memkit.PathError, match="inside the memory store"):
        mem.manifest(mem.root / "then.parquet")


@pytest.mark.parametrize(
    ("old", "new", "line"), [(b"a\nb", b"a\nc", 2), (b"a", b"a\nb", 2), (b"a\nb", b"a", 2), (b"x", b"y", 1)]
)
def test_the_first_difference_is_a_line_number(old, new, line):
    assert manifest.first_difference(manifest.row("p", old, 0)[4], manifest.row("p", new, 0)[4]) == line
