"""memkit doctor: what it says of a store and of a place without one, and that it writes nothing."""

from __future__ import annotations

import json

import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at, tree

import memkit
from memkit.cli import run

EVENING = ["--now", CLOCK, "--tz", ZONE]
TODAYS = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}


@pytest.fixture
def doctor(capsys, monkeypatch, tmp_path):
    """Return a function from words to the exit code and the facts."""
    for name in ("MEMORY_WORKSPACE", "DSH_HOME", "MEMKIT_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def doctor(*words):
        code = run(["doctor", *map(str, words), "--json", *EVENING])
        out, err = capsys.readouterr()
        assert err == ""
        return code, json.loads(out)

    return doctor


@pytest.mark.parametrize("layout", TODAYS)
class TestAStore:
    def test_is_found_with_its_layout_files_clock_and_what_a_write_touches(self, doctor, layout):
        code, told = doctor(SAMPLES / layout)
        store = open_at(SAMPLES / layout)
        assert code == 0
        assert list(told) == ["versions", "store", "clock", "writes", "index", "cache", "extras"]
        assert told["store"]["layout"] == layout
        assert told["store"]["root"] == str(store.root)
        assert told["store"]["entries"] == len(store.entries())
        assert told["store"]["files_read"] + told["store"]["files_skipped"] == len(store.files())
        assert told["clock"] == {"zone": ZONE, "now": "2025-02-28T21:30:00+08:00", "today": "2025-02-28"}
        assert told["writes"]["today"] == f"{TODAYS[layout]} (is there)"
        assert ("catalog" in told["writes"]) == (layout == "archive")
        assert (told["index"]["state"] == "missing") == (layout == "workspace")
        assert told["cache"]["on"] is False

    def test_is_not_changed_and_not_cached(self, doctor, copied, tmp_path, monkeypatch, layout):
        root = copied(layout)
        monkeypatch.setenv("MEMKIT_CACHE", str(tmp_path / "kept"))
        before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
        assert doctor(root)[1]["cache"] == {"on": True, "folder": str(tmp_path / "kept"), "stores": 0, "bytes_of_this": 0}
        assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
        assert not (tmp_path / "kept").exists()
        assert not (tmp_path / "cache").exists()

    def test_as_text_says_the_same_facts(self, doctor, capsys, layout):
        told = doctor(SAMPLES / layout)[1]
        assert run(["doctor", str(SAMPLES / layout), *EVENING]) == 0
        out = capsys.readouterr()[0]
        for name, held in told.items():
            assert f"\n{name}\n" in f"\n{out}"
            for value in held.values():
                if isinstance(value, str):
                    assert value in out


def test_versions_and_extras_are_those_that_are_installed(doctor):
    told = doctor(SAMPLES / "archive")[1]
    assert told["versions"]["memkit"] == memkit.__version__
    assert told["versions"]["sqlite_trigram"] is True
    assert {"python", "pandas", "pyarrow", "sqlite"} <= set(told["versions"])
    assert set(told["extras"]) == {"jupyter", "embed", "plots", "dask", "mcp"}


def test_an_extra_that_is_not_installed_comes_with_its_cure(doctor, monkeypatch):
    from importlib import metadata

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert doctor(SAMPLES / "archive")[1]["extras"]["plots"] == "not installed: pip install 'agent-memkit[plots]'"


class TestAPlaceWithoutAStore:
    def test_is_told_with_the_reason_and_exits_2(self, doctor, tmp_path):
        (tmp_path / "both/memory").mkdir(parents=True)
        (tmp_path / "both/catalog").mkdir()
        (tmp_path / "both/memory/2025-01-01.md").touch()
        (tmp_path / "both/catalog/2025.tsv").touch()
        for path, said in (
            (tmp_path / "nowhere", "no such folder"),
            (tmp_path / "both", "it looks like archive and like workspace; pass --layout to choose one"),
        ):
            code, told = doctor(path)
            assert code == 2
            assert told["store"]["found"] is False
            assert said in told["store"]["why"]
            assert "versions" in told
        assert doctor(tmp_path / "both", "--layout", "archive")[0] == 0

    def test_begins_nothing_where_a_layout_is_named(self, doctor, tmp_path):
        code, told = doctor(tmp_path / "new", "--layout", "archive")
        assert (code, told["store"]["found"]) == (2, False)
        assert told["writes"]["today"] == "archive/2025/2025-02-28.md (comes with the first entry)"
        assert not (tmp_path / "new").exists()


def test_files_that_are_not_read_are_named_with_the_reason(doctor, copied):
    root = open_at(copied("archive")).root
    before = tree(root)
    (root / "archive/2025/2025-02-27 (conflicted copy).md").write_text("- 茶\n", encoding="utf-8")
    told = doctor(root)[1]["store"]
    assert told["files_skipped"] == 1
    assert told["skipped"] == ["archive/2025/2025-02-27 (conflicted copy).md: a conflict copy or temp file of a sync program"]
    assert set(tree(root)) - set(before) == {"archive/2025/2025-02-27 (conflicted copy).md"}


def test_two_paths_show_the_usage(capsys):
    assert run(["doctor", "a", "b"]) == 2
    assert capsys.readouterr()[1].startswith("Usage: memkit doctor")


def test_a_part_that_fails_costs_no_other(doctor, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    code, told = doctor(SAMPLES / "layers")
    assert code == 0
    assert told["store"]["found"] is True
    assert told["clock"]["today"] == "2025-02-28"
    assert "file" in told["cache"]["why"]


def test_a_place_where_nothing_is_yet_is_no_store(doctor, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMORY_WORKSPACE", str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    for words, by in (([], "$MEMORY_WORKSPACE"), ([tmp_path / "empty", "--layout", "layers"], "PATH")):
        code, told = doctor(*words)
        assert told["store"]["named_by"] == by
        assert (code, told["store"]["found"]) == (2, False)
        assert "nothing is there yet" in told["store"]["why"]
    assert not (tmp_path / "nowhere").exists()


def test_it_says_what_named_the_place(doctor, copied, monkeypatch):
    assert doctor(SAMPLES / "layers")[1]["store"]["named_by"] == "PATH"
    monkeypatch.setenv("MEMORY_WORKSPACE", str(copied("workspace")))
    assert doctor()[1]["store"]["named_by"] == "$MEMORY_WORKSPACE"
    monkeypatch.delenv("MEMORY_WORKSPACE")
    layers = open_at(copied("layers")).root
    monkeypatch.setenv("DSH_HOME", str(layers.parent))
    assert doctor()[1]["store"]["named_by"] == "$DSH_HOME"
    monkeypatch.delenv("DSH_HOME")
    monkeypatch.chdir(copied("archive"))
    assert doctor()[1]["store"]["named_by"] == "the current folder"


def test_it_says_whether_another_writer_holds_the_store(doctor, copied):
    store = open_at(copied("layers"))
    assert doctor(store.root)[1]["writes"]["locked"] is False
    with store._desk.writing():
        assert doctor(store.root)[1]["writes"]["locked"] is True
