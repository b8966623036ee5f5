"""`report.fix()`: what it mends from the store's own entries, what it leaves by hand, and that it never loses a line."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest
from conftest import SAMPLES, open_at

from memkit import schema
from memkit.audit import AuditReport
from memkit.errors import ConflictError, UnsupportedError

BROKEN = sorted(path.name for path in (SAMPLES / "broken").iterdir())
MENDED = {
    "catalog-quoted", "catalog-unsorted", "ghost-row", "row-differs", "row-duplicate", "row-malformed", "row-missing",
    "row-too-early", "row-wrong-year", "hot-broken", "summary-line-not-in-source", "summary-missing",
    "summary-over-budget", "summary-stale",
}  # fmt: skip


@pytest.fixture
def broken(tmp_path):
    """Return a function that opens a copy of a broken sample."""
    return lambda name: open_at(shutil.copytree(SAMPLES / "broken" / name, tmp_path / name))


def rules(mem):
    return mem.audit().frame["rule"].tolist()


def tree(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def texts(root):
    """Return the lines of every file that is no catalog and no summary."""
    derived = ("catalog/", "summaries/")
    return {path: data.split(b"\n") for path, data in tree(root).items() if not path.startswith(derived)}


class TestEachRule:
    @pytest.mark.parametrize("rule", BROKEN)
    def test_is_mended_or_left_with_what_a_person_should_do(self, broken, rule):
        mem = broken(rule)
        before, found = texts(mem.root), rules(mem)
        plan = mem.audit().fix()
        assert not plan.applied
        assert tree(mem.root) == tree(SAMPLES / "broken" / rule)
        plan.apply()
        left = mem.audit()
        assert left.frame["rule"].tolist() == ([] if rule in MENDED else found)
        by_hand = plan.rows[~plan.rows["action"].isin(["rebuild", "create"])]
        assert set(left.frame["path"].dropna()) <= set(by_hand["row"])
        assert by_hand["reason"].str.len().gt(5).all()
        kept = texts(mem.root)
        assert all(
            line in kept[path] for path, lines in before.items() for line in lines if line.strip() and rule != "hot-broken"
        )

    @pytest.mark.parametrize("rule", sorted(MENDED))
    def test_mended_twice_changes_nothing_more(self, broken, rule):
        mem = broken(rule)
        mem.audit().fix().apply()
        after = tree(mem.root)
        plan = mem.audit().fix()
        assert (len(plan.edits), len(plan.rows)) == (0, 0)
        plan.apply()
        assert tree(mem.root) == after

    def test_a_clean_store_has_nothing_to_mend(self):
        for name in ("archive", "workspace", "layers"):
            plan = open_at(SAMPLES / name).audit().fix()
            assert (len(plan.edits), len(plan.rows), plan.warnings) == (0, 0, [])


class TestChosenRules:
    def test_only_those_asked_for_are_mended(self, copied):
        mem = open_at(copied("layers"))
        (mem.root / "summaries/week/2025-W06.md").unlink()
        hot = mem.root / "hot.md"
        hot.write_text(hot.read_text().replace("<!-- topics:end -->\n", ""))
        assert rules(mem) == ["hot-broken", "summary-missing"]
        mem.audit().fix("hot-broken").apply()
        assert rules(mem) == ["summary-missing"]
        mem.audit().fix(["summary-missing"]).apply()
        assert rules(mem) == []


class TestArchive:
    def test_todays_index_is_extracted_afresh_and_an_earlier_one_is_left(self, copied):
        mem = open_at(copied("archive"))
        for path in ("archive/2025/2025-02-28.md", "archive/2025/2025-02-06.md"):
            file = mem.root / path
            rows = file.read_text().split("\n")
            rows[2] = "index:"
            file.write_text("\n".join(rows))
        assert sorted(rules(mem)) == ["index-missing", "index-missing"]
        plan = mem.audit().fix()
        plan.apply()
        assert mem.audit().frame["path"].tolist() == ["archive/2025/2025-02-06.md"]
        assert plan.rows.set_index("row")["action"].to_dict()["archive/2025/2025-02-06.md"] == "by hand"

    def test_the_index_that_was_extracted_is_that_of_an_append(self, copied, tmp_path):
        mem = open_at(copied("archive"))
        path = mem.root / "archive/2025/2025-02-28.md"
        fresh = open_at(tmp_path / "fresh", layout="archive")
        for text in mem.day("2025-02-28").entries["text"]:
            fresh.append(text)
        rows = path.read_text().split("\n")
        path.write_text(
            "\n".join([*rows[:2], "index:", "---", "", "## 2025-02-28", *(f"- {t}" for t in ("秤归零了", "钟上弦"))]) + "\n"
        )
        mem.audit().fix().apply()
        assert mem.day("2025-02-28").index == "秤归零了；钟上弦"


class TestLayers:
    def test_what_is_built_on_a_faulty_summary_is_made_afresh_too(self, copied):
        mem = open_at(copied("layers"))
        cold = mem.root / "cold/2025-01/2025-01-14.md"
        cold.write_text(cold.read_text() + "- [2025-01-14T12:00:00.000Z] [-] 补记一句\n")
        plan = mem.audit().fix()
        assert plan.rows["row"].tolist() == [
            "summaries/day/2025-01-14.md",
            "summaries/week/2025-W03.md",
            "summaries/month/2025-01.md",
        ]
        plan.apply()
        assert rules(mem) == []
        assert not mem.summaries()["stale"].any()
        assert "补记一句" in (mem.root / "summaries/week/2025-W03.md").read_text()

    def test_a_summary_whose_entries_are_gone_is_left_by_hand(self, copied):
        mem = open_at(copied("layers"))
        (mem.root / "cold/2025-01/2025-01-14.md").unlink()
        plan = mem.audit().fix()
        assert plan.rows.set_index("row")["action"]["summaries/day/2025-01-14.md"] == "by hand"
        plan.apply()
        assert (mem.root / "summaries/day/2025-01-14.md").is_file()


class TestConflictCopies:
    def test_are_shown_beside_their_file_and_never_merged(self, copied):
        mem = open_at(copied("workspace"))
        original = mem.root / "memory/2025-02-26.md"
        copy = mem.root / "memory/2025-02-26 (conflicted copy).md"
        rows = original.read_text().split("\n")
        copy.write_text("\n".join([*rows[:-2], "- 只在副本里的一句", ""]))
        before = tree(mem.root)
        plan = mem.audit().fix()
        assert plan.rows["reason"].tolist() == [
            "of memory/2025-02-26.md: 1 line only in the copy, 1 only in the file; merge them by hand"
        ]
        assert "> - 只在副本里的一句" in plan.notes[0]
        assert f"< {rows[-2]}" in plan.notes[0]
        plan.apply()
        assert tree(mem.root) == before


class TestThePlan:
    def test_of_a_store_that_changed_since_is_a_conflict(self, broken):
        mem = broken("row-missing")
        plan = mem.audit().fix()
        (mem.root / "catalog/2025.tsv").write_text("2025-02-03\tx\n")
        with pytest.raises(ConflictError):
            plan.apply()

    def test_of_a_report_without_a_store_is_refused(self):
        with pytest.raises(UnsupportedError, match="fix: "):
            AuditReport(schema.frame(schema.FINDINGS), 0, {}).fix()


class TestSettings:
    def test_switch_rules_off_and_set_severities(self, broken):
        mem = broken("row-missing")
        assert mem.audit(off="row-missing").frame.empty
        report = mem.audit(severities={"row-missing": "info"})
        assert (report.frame["severity"].tolist(), report.ok) == (["info"], True)

    def test_a_rule_that_is_off_still_silences(self, broken, copied):
        mem = open_at(copied("archive"))
        path = mem.root / "archive/2025/2025-02-06.md"
        path.write_bytes(path.read_bytes() + b"- \xff\n- \x1b[31m\n")
        assert rules(mem) == ["not-utf8"]
        assert mem.audit(off=["not-utf8"]).frame.empty

    @pytest.mark.parametrize(
        "wrong", [{"off": "no-such-rule"}, {"severities": {"bom": "fatal"}}, {"severities": {"nope": "info"}}]
    )
    def test_that_name_no_rule_or_severity_are_refused(self, broken, wrong):
        with pytest.raises(ValueError, match="audit settings: "):
            broken("bom").audit(**wrong)


def test_the_frame_of_some_findings_keeps_its_fix(broken):
    report = broken("row-missing").audit()
    part = report.only(pd.Series([True] * len(report.frame)))
    assert part.fix().rows["row"].tolist() == ["catalog/2025.tsv"]


class TestWhatAStrangerTried:
    @pytest.mark.parametrize("index", ["修好 #3 号水龙头，买茶", "Kepler 决定 C# 项目"])
    def test_an_unquoted_index_keeps_every_word(self, copied, index):
        mem = open_at(copied("archive"))
        path = mem.root / "archive/2025/2025-02-28.md"
        rows = path.read_text().split("\n")
        path.write_text("\n".join([*rows[:2], f"index: {index}", *rows[3:]]))
        assert rules(mem) == ["index-unquoted"]
        mem.audit().fix().apply()
        assert path.read_text().split("\n")[2] == f"index: '{index}'"
        assert rules(mem) == ["index-misses-entry"]  # as these words are of no entry here

    @pytest.mark.parametrize("odd", ["archive/2024", "catalog/2025.tsv/x", "archive/2025/2025-02-28.md/x"])
    def test_one_odd_path_costs_one_row_and_not_the_plan(self, copied, odd):
        mem = open_at(copied("archive"))
        rows = (mem.root / "catalog/2024.tsv").read_text().split("\n")
        (mem.root / "catalog/2024.tsv").write_text("\n".join(rows[1:]))
        path = mem.root / odd
        if odd == "archive/2024":
            shutil.rmtree(path)
        elif path.parent.is_file():
            path.parent.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        plan = mem.audit().fix()
        assert "catalog/2024.tsv" in plan.rows["row"].tolist()
        plan.apply()

    def test_lines_that_may_be_the_body_are_not_shut_into_a_block(self, copied):
        mem = open_at(copied("layers"))
        hot = mem.root / "hot.md"
        text = "# 我\n<!-- topics:start -->\n旅行|2025-02\n\n## 我的规矩\n什么都不删。\n"
        hot.write_text(text)
        plan = mem.audit().fix("hot-broken")
        assert plan.rows["action"].tolist() == ["by hand"]
        plan.apply()
        assert hot.read_text() == text

    def test_a_large_conflict_copy_is_compared_in_time_or_not_at_all(self, copied):
        mem = open_at(copied("workspace"))
        (mem.root / "memory/2025-02-25.md").write_text("".join(f"- line {n}\n" for n in range(4000)))
        (mem.root / "memory/2025-02-25 (conflicted copy).md").write_text("".join(f"- xine {n}\n" for n in range(4000)))
        plan = mem.audit().fix("conflict-copy")
        assert plan.rows["reason"].iloc[0].startswith("of memory/2025-02-25.md: 4,000 lines only in the copy, 4,000 only in")
        assert len(plan.notes[0]) < 5000

    @pytest.mark.parametrize("wrong", ["nope", "row_missing", "", [5], 5])
    def test_a_rule_that_there_is_none_of_is_refused(self, broken, wrong):
        with pytest.raises(ValueError, match="rules: "):
            broken("row-missing").audit().fix(wrong)

    def test_a_catalog_whose_days_are_all_gone_is_left(self, copied):
        mem = open_at(copied("archive"))
        shutil.rmtree(mem.root / "archive/2024")
        plan = mem.audit().fix()
        assert plan.rows.set_index("row")["action"]["catalog/2024.tsv"] == "by hand"
        plan.apply()
        assert (mem.root / "catalog/2024.tsv").is_file()
