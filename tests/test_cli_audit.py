"""`memkit audit` beyond its report: settings, a baseline, and mending."""

from __future__ import annotations

import io
import json
import shutil

import pytest
from conftest import CLOCK, SAMPLES, ZONE

from memkit.cli import run

EVENING = ["--now", CLOCK, "--tz", ZONE]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Stand in an empty folder, in 80 columns."""
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "cwd"


@pytest.fixture
def say(capsys, monkeypatch):
    def say(*words, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run(["audit", *map(str, words), *EVENING])
        return code, *capsys.readouterr()

    return say


@pytest.fixture
def broken(tmp_path):
    return lambda name: shutil.copytree(SAMPLES / "broken" / name, tmp_path / name)


class TestSettings:
    def test_of_the_working_directory_are_taken_and_those_of_the_store_are_not(self, say, broken, elsewhere):
        root = broken("row-missing")
        (root / "memkit.toml").write_text('[audit]\noff = ["row-missing"]\n')
        assert "row-missing" in say(root)[1]
        (root / "memkit.toml").unlink()
        (elsewhere / "memkit.toml").write_text('[audit]\noff = ["row-missing"]\n')
        assert say(root) == (0, "no findings in 4 files\n", "")

    def test_set_a_severity_and_can_be_named(self, say, broken, tmp_path):
        root = broken("row-missing")
        (tmp_path / "my.toml").write_text('[audit.severity]\nrow-missing = "info"\n')
        code, out, _ = say(root, "--config", tmp_path / "my.toml")
        assert (code, out.startswith("1 info in 4 files")) == (0, True)
        assert say(root, "--config", tmp_path / "my.toml", "--fail-on", "info")[0] == 1

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[audit", "it is no TOML"),
            ('[audit]\noff = ["nope"]', "'nope' is no rule"),
            ('[audit.severity]\nbom = "fatal"', "expected error, warning, info"),
            ("[audit]\nquiet = true", "expected [audit] with off"),
            ("[other]\nx = 1", "expected [audit] with off"),
            ('[audit]\noff = "bom"', "expected [audit] with off"),
        ],
    )
    def test_that_cannot_be_meant_are_one_line(self, say, broken, tmp_path, text, said):
        (tmp_path / "my.toml").write_text(text)
        code, out, err = say(broken("bom"), "--config", tmp_path / "my.toml")
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1

    def test_that_are_not_there_are_an_error_only_if_named(self, say, broken):
        code, _, err = say(broken("bom"), "--config", "none.toml")
        assert (code, err) == (2, "memkit: config: no file none.toml\n")


class TestBaseline:
    def test_known_findings_do_not_count(self, say, broken, tmp_path):
        root = broken("row-missing")
        known = tmp_path / "known.json"
        known.write_text(say(root, "--format", "json")[1])
        assert say(root, "--baseline", known) == (
            0,
            "no findings in 4 files\n",
            f"memkit: 1 finding left out, known to {known}\n",
        )
        (root / "archive/2025/2025-02-06.md").write_text("x\n")
        code, out, _ = say(root, "--baseline", known, "--format", "json")
        assert code == 1
        assert {row["path"] for row in json.loads(out)} == {"archive/2025/2025-02-06.md"}

    @pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"rule": "bom"}]', "no JSON"])
    def test_what_is_no_audit_is_one_line(self, say, broken, tmp_path, text):
        (tmp_path / "known.json").write_text(text)
        code, out, err = say(broken("bom"), "--baseline", tmp_path / "known.json")
        assert (code, out) == (2, "")
        assert "is no audit" in err


class TestFix:
    def test_shows_the_change_and_asks(self, say, broken):
        root = broken("row-missing")
        before = (root / "catalog/2025.tsv").read_bytes()
        code, out, _ = say(root, "--fix", typed="n\n")
        assert (code, "+2025-02-04" in out, "nothing was written" in out) == (1, True, True)
        assert (root / "catalog/2025.tsv").read_bytes() == before
        code, out, _ = say(root, "--fix", typed="y\n")
        assert (code, out.rstrip().endswith("applied")) == (0, True)
        assert say(root) == (0, "no findings in 4 files\n", "")

    def test_on_a_dry_run_only_shows_it(self, say, broken):
        root = broken("row-missing")
        before = (root / "catalog/2025.tsv").read_bytes()
        assert say(root, "--fix", "--dry-run")[0] == 1
        assert (root / "catalog/2025.tsv").read_bytes() == before

    def test_what_only_a_person_can_mend_still_counts(self, say, broken):
        code, out, _ = say(broken("not-utf8"), "--fix", "--yes")
        assert (code, "by hand" in out, "applied\n" not in out.replace("not applied", "")) == (1, True, True)
