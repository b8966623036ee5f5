"""migrate: every entry of a store is read in the new one as it was, or the plan names it; the new store is in order."""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at, tree
from hypothesis import given, settings
from hypothesis import strategies as st

import memkit
from memkit import files
from memkit.cli import run
from memkit.edits import check as check_rule
from memkit.edits.migrate import CHANGED, LEFT
from memkit.errors import BadArgument, ConflictError, FrozenError, PathError
from memkit.layouts import LAYOUTS
from memkit.model import Edit

PAIRS = [(source, to) for source in LAYOUTS for to in LAYOUTS if source != to]
FACTS = ["date", "tag", "text", "written_at", "clock"]
TODAY = date(2025, 2, 28)


def facts(store):
    """Return (place, what is said of it) for each entry, all tags among it."""
    frame, tags = store.entries(), store.tags()
    held: dict[tuple[str, int], list[str]] = {}
    for path, line, tag in tags.itertuples(index=False):
        held.setdefault((path, line), []).append(tag)
    rows = frame[FACTS].astype(object).where(frame[FACTS].notna(), None).itertuples(index=False, name=None)
    places = zip(frame["path"], frame["line"], strict=True)
    return [((path, line), (*row, tuple(held.get((path, line), [])))) for (path, line), row in zip(places, rows, strict=True)]


def check(source, to, place, **options):
    """Migrate, and hold the promise: equal or named; return the plan and the new store."""
    before = tree(source.root)
    plan = memkit.migrate(source, place, to=to, **options)
    assert not plan.applied
    assert not Path(place).exists()
    plan.apply()
    assert tree(source.root) == before
    new = open_at(place, layout=to)
    named = set(plan.rows.loc[plan.rows["action"].isin([LEFT, CHANGED]), "row"])
    left = Counter(fact for _, fact in facts(new))
    for (path, line), fact in facts(source):
        if f"{path}:{line}" not in named:
            assert left[fact] > 0, (path, line, fact)
            left[fact] -= 1
    found = new.audit().frame
    own = set(source.audit().frame["rule"])
    if plan.rows["reason"].str.contains("of another day").any():
        own.add("partition-mismatch")
    assert found[found["severity"].isin(["error", "warning"]) & ~found["rule"].isin(own)].empty, found.to_string()
    return plan, new


@pytest.mark.parametrize(("layout", "to"), PAIRS)
class TestSamples:
    def test_every_entry_is_read_as_it_was_or_is_named(self, tmp_path, layout, to):
        source = open_at(SAMPLES / layout)
        plan, new = check(source, to, tmp_path / "new")
        assert new.audit().frame.empty
        assert plan.added + plan.rows["reason"].str.contains("no date|mark of what").sum() == len(source.entries())
        assert open_at(tmp_path / "new").layout == to

    def test_texts_tags_and_instants_that_are_not_left_out_are_the_same(self, tmp_path, layout, to):
        source = open_at(SAMPLES / layout)
        plan, new = check(source, to, tmp_path / "new", undated="2024-01-01")
        gone = set(plan.rows.loc[plan.rows["action"] == LEFT, "row"])
        old = source.entries()
        old = old[~(old["path"] + ":" + old["line"].astype(str)).isin(gone)]
        now = new.entries()
        now = now[now["path"] != "MEMORY.md"]  # the body of the hot layer
        assert len(now) == len(old)
        told = Counter(zip(now["text"].str.split().str.join(" "), now["tag"].fillna("-"), strict=True))
        for text, tag, task in zip(old["text"].str.split().str.join(" "), old["tag"].fillna("-"), old["task"], strict=True):
            text = f"[{task}] {text}" if to == "layers" and isinstance(task, str) else text
            told[text, tag] -= 1
        assert set(told.values()) == {0}
        assert set(old["written_at"].dropna()) <= set(now["written_at"].dropna())

    def test_a_plan_writes_nothing_and_a_second_apply_neither(self, tmp_path, layout, to):
        plan = memkit.migrate(open_at(SAMPLES / layout), tmp_path / "new", to=to)
        assert list(tmp_path.iterdir()) == []
        assert plan.diff().startswith("--- /dev/null\n")
        held = tree(plan.apply().facts)
        plan.apply()
        assert tree(tmp_path / "new") == held


# ---- random stores ----

CHARS = st.sampled_from([*"ab 水壶茶:：[]()#|*_`~>-=+.1239xX\\'\"!?;；。", "\u3000", "\u200b", "🙂", "<!--", "-->", "---"])
WORDS = st.lists(CHARS, min_size=1, max_size=14).map("".join)
LINE = st.one_of(
    WORDS,
    st.builds("- {}".format, WORDS),
    st.builds("- [{}] {}".format, st.sampled_from(["计划", "x", " ", "2025-02-03", "a b", "12", "^1"]), WORDS),
    st.builds("- [计划] [家] {} #茶".format, WORDS),
    st.builds("- 2025-02-03T09:1{}:00+08:00 {}".format, st.integers(0, 9), WORDS),
    st.builds("  {}".format, WORDS),
    st.builds("    {}".format, WORDS),
    st.builds("{} {}".format, st.sampled_from(["#", "##", "### 14:30", "####"]), WORDS),
    st.builds("> {}".format, WORDS),
    st.builds("1. {}".format, WORDS),
    st.builds("**{}:** {}".format, WORDS, WORDS),
    st.sampled_from(["", "", "```", "~~~", "---", "| a | b |", "|---|---|", "| 1 | 2 |", "- 14:30 茶", "- [x] 买茶"]),
)
DAYS = st.sampled_from([date(2024, 12, 31), date(2025, 1, 1), date(2025, 2, 27), TODAY])
PAGES = st.dictionaries(DAYS, st.lists(LINE, min_size=1, max_size=9).map("\n".join), min_size=1, max_size=3)
STAMPS = st.sampled_from(["2025-02-03T09:10:00.000Z", "2025-01-01T23:59+08:00", "2024-12-31T16:00:00.123456Z"])
TAGS = st.one_of(st.sampled_from(["-", "", "计划", "更正", "2025-02-03", "12"]), st.text("ab#水 :(/", max_size=5))
COLD = st.builds("- [{}] [{}] {}".format, STAMPS, TAGS, WORDS)
COLD_PAGES = st.dictionaries(DAYS, st.lists(COLD, min_size=1, max_size=6).map("\n".join), min_size=1, max_size=3)


def begin(root, layout, pages, longterm=""):
    for day, text in pages.items():
        path = root / LAYOUTS[layout].day_path(day)
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"---\ndate: {day}\nindex: '茶'\n---\n## {day}\n" if layout == "archive" else ""
        path.write_text(f"{head}{text}\n", encoding="utf-8")
    if longterm:
        (root / "MEMORY.md").write_text(longterm, encoding="utf-8")
    return open_at(root, layout=layout)


def migrated(layout, to, pages, **more):
    with tempfile.TemporaryDirectory() as folder:
        check(begin(Path(folder) / "old", layout, pages, **more), to, Path(folder) / "new", undated="2024-06-01")


class TestRandomStores:
    @pytest.mark.parametrize("to", ["workspace", "layers"])
    @given(pages=PAGES)
    @settings(max_examples=25)
    def test_of_an_archive_lose_no_entry_unsaid(self, to, pages):
        migrated("archive", to, pages)

    @pytest.mark.parametrize("to", ["archive", "layers"])
    @given(pages=PAGES, longterm=st.lists(LINE, max_size=6).map("\n".join))
    @settings(max_examples=25)
    def test_of_a_workspace_lose_no_entry_unsaid(self, to, pages, longterm):
        migrated("workspace", to, pages, longterm=longterm)

    @pytest.mark.parametrize("to", ["archive", "workspace"])
    @given(pages=COLD_PAGES)
    @settings(max_examples=25)
    def test_of_layers_lose_no_entry_unsaid(self, to, pages):
        migrated("layers", to, pages)


# ---- what changes its form ----


def one(tmp_path, layout, to, text, day=date(2025, 2, 3), **options):
    """Return the plan and the new store of a store with one day."""
    source = begin(tmp_path / "old", layout, {day: text})
    plan, new = check(source, to, tmp_path / "new", **options)
    return plan, new


def reasons(plan, action=CHANGED):
    return plan.rows.loc[plan.rows["action"] == action, "reason"].tolist()


class TestForms:
    def test_a_day_alone_is_stamped_at_its_start_and_said_so(self, tmp_path):
        plan, new = one(tmp_path, "archive", "layers", "- 茶")
        assert new.entries()["written_at"].tolist() == [pd.Timestamp("2025-02-02T16:00Z")]
        assert new.entries()["date"].tolist() == [pd.Timestamp("2025-02-03")]
        assert reasons(plan) == ["only its day is known: it is stamped 00:00 of that day, zone Asia/Shanghai"]
        assert plan.warnings[-1] == "1 changed: only its day is known: it is stamped 00:00 of that day, zone Asia/Shanghai"

    def test_a_clock_becomes_an_instant_and_the_text_keeps_it(self, tmp_path):
        plan, new = one(tmp_path, "workspace", "layers", "- 14:30 茶")
        assert new.entries()["written_at"].tolist() == [pd.Timestamp("2025-02-03T06:30Z")]
        assert new.entries()["text"].tolist() == ["14:30 茶"]
        assert reasons(plan) == ["its clock became an instant of the zone Asia/Shanghai (14:30)"]

    def test_an_instant_is_kept_as_it_was_written(self, tmp_path):
        plan, new = one(tmp_path, "workspace", "layers", "- 2025-02-03T09:10:30+08:00 [茶] 壶")
        assert reasons(plan) == []
        path = new.root / "cold/2025-02/2025-02-03.md"
        assert path.read_text(encoding="utf-8") == "# 2025-02-03\n\n- [2025-02-03T09:10:30+08:00] [茶] 壶\n"

    def test_several_lines_are_folded_in_layers_and_kept_elsewhere(self, tmp_path):
        text = "- 茶\n  - 水\n\n  壶\n- [x] 买茶"
        plan, new = one(tmp_path, "archive", "layers", text)
        assert new.entries()["text"].tolist() == ["茶 - 水 壶", "[x] 买茶"]
        assert "its text is folded to one line" in reasons(plan)[0]
        assert "its checkbox stands in its text ([x])" in reasons(plan)[1]
        plan, new = one(tmp_path / "b", "archive", "workspace", text)
        assert new.entries()["text"].tolist() == ["茶\n- 水\n\n壶", "买茶"]
        assert (reasons(plan), new.entries()["task"].tolist()[1]) == ([], "x")

    def test_tables_quotes_code_sections_and_clocks_of_headings_survive_between_markdown_layouts(self, tmp_path):
        text = (
            "一段话\n第二行\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> 引\n\n```\ncode\n```\n\n### 14:30 会\n- [茶] [家] 壶 #水\n"
        )
        plan, new = one(tmp_path, "archive", "workspace", text)
        source = open_at(tmp_path / "old")
        columns = ["date", "tag", "text", "kind", "section", "clock", "task", "block"]
        assert new.entries()[columns].equals(source.entries()[columns])
        assert new.tags()["tag"].tolist() == source.tags()["tag"].tolist() == ["茶", "家", "水"]
        assert reasons(plan) == []

    def test_a_tag_that_cannot_be_read_there_stays_in_the_text(self, tmp_path):
        plan, new = one(tmp_path, "layers", "archive", "- [2025-02-03T09:10:00.000Z] [2025-02-01] 茶")
        assert new.entries()["text"].tolist() == ["[2025-02-01] 茶"]
        assert "its tag stands in its text, since it cannot be one there" in reasons(plan)[0]

    def test_a_long_text_is_kept_whole(self, tmp_path):
        plan, new = one(tmp_path, "archive", "layers", f"- {'茶' * 5000}")
        assert new.entries()["chars"].tolist() == [5000]
        assert "it is longer than the 4,000 characters that this layout's own tools write (5,000)" in reasons(plan)[0]

    def test_entries_without_a_date_are_left_out_unless_a_day_is_named(self, tmp_path):
        source = begin(tmp_path / "old", "workspace", {TODAY: "- 茶"}, longterm="- 喜欢白水\n")
        plan, new = check(source, "archive", tmp_path / "a")
        assert reasons(plan, LEFT) == ["it has no date; undated=DAY (--undated) puts such entries on a day"]
        assert new.entries()["text"].tolist() == ["茶"]
        plan, new = check(source, "archive", tmp_path / "b", undated="2025-01-01")
        assert new.entries()["text"].tolist() == ["喜欢白水", "茶"]
        assert "it had no date, and is put on 2025-01-01" in reasons(plan)

    def test_marks_of_what_is_forgotten_stay_behind_and_what_they_hid_is_named(self, tmp_path):
        source = begin(tmp_path / "old", "workspace", {TODAY: "- 茶"}, longterm="## Forgotten\n- 2025-02-28T09:00:00Z 茶\n")
        plan, new = check(source, "archive", tmp_path / "new")
        assert new.entries()["text"].tolist() == ["茶"]
        assert reasons(plan, LEFT) == ["a mark of what is to be forgotten; only a workspace has them"]
        assert reasons(plan) == ["it was marked as forgotten, and is found again in the target"]

    def test_the_hot_body_becomes_long_term_memory_or_is_named(self, tmp_path):
        source = open_at(SAMPLES / "layers")
        _, new = check(source, "workspace", tmp_path / "a")
        assert (new.root / "MEMORY.md").read_text(encoding="utf-8") == f"{source.hot().content}\n"
        plan, _ = check(source, "archive", tmp_path / "b")
        assert f"its body, {source.hot().chars:,} characters" in reasons(plan, LEFT)
        assert f"{len(source.topics())} topics" in reasons(plan, LEFT)

    def test_a_new_archive_has_an_index_a_day_and_a_catalog_of_finished_days(self, tmp_path):
        _, new = check(open_at(SAMPLES / "layers"), "archive", tmp_path / "new")
        days = new.days()
        assert days["index"].notna().all()
        assert days["catalogued"].tolist() == days["frozen"].tolist()
        assert new.rebuild_catalog(dry_run=True).edits == ()

    def test_files_that_are_not_read_are_named(self, tmp_path):
        source = begin(tmp_path / "old", "archive", {TODAY: "- 茶"})
        (source.root / "archive/2025/notes.md").write_text("- 壶\n", encoding="utf-8")
        plan, _ = check(source, "layers", tmp_path / "new")
        assert ["archive/2025/notes.md", LEFT, "not archive/<YYYY>/<YYYY-MM-DD>.md"] in plan.rows.to_numpy().tolist()


class TestTheTarget:
    def test_must_be_another_layout(self, tmp_path):
        with pytest.raises(BadArgument, match=r"^to: .* is archive already"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="archive")
        with pytest.raises(BadArgument, match=r"^layout: 'obsidian'"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="obsidian")
        with pytest.raises(BadArgument, match=r"^source: str; expected an open store"):
            memkit.migrate("data-samples/archive", tmp_path / "new", to="layers")
        with pytest.raises(BadArgument, match=r"^undated: '2025-02-30' is not a day"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers", undated="2025-02-30")

    def test_must_be_empty_or_missing(self, tmp_path):
        (tmp_path / "full").mkdir()
        (tmp_path / "full/note.txt").touch()
        with pytest.raises(BadArgument, match=r"it is not empty \('note.txt' lies in it\)"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "full", to="layers")
        with pytest.raises(PathError, match="a file, and not a folder"):
            memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "full/note.txt", to="layers")

    @pytest.mark.parametrize("where", ["archive/new", "archive/.agents/nutstore-sync/memory/new", ".", "link/new"])
    def test_lies_neither_in_the_source_nor_around_it(self, tmp_path, copied, where):
        source = open_at(copied("archive"))
        (tmp_path / "link").symlink_to(source.root)
        with pytest.raises(PathError, match="lie in each other"):
            memkit.migrate(source, tmp_path / where, to="layers")

    def test_that_filled_since_the_plan_is_left_alone(self, tmp_path):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")
        (tmp_path / "new").mkdir()
        (tmp_path / "new/hot.md").write_text("mine\n", encoding="utf-8")
        with pytest.raises(BadArgument, match="it is not empty"):
            plan.apply()
        assert list(tree(tmp_path / "new")) == ["hot.md"]

    def test_is_not_written_when_the_source_changed_since_the_plan(self, tmp_path, copied):
        source = open_at(copied("archive"))
        plan = memkit.migrate(source, tmp_path / "new", to="layers")
        source.append("水开了")
        with pytest.raises(ConflictError, match="it changed since this was planned"):
            plan.apply()
        assert not (tmp_path / "new").exists()

    def test_is_finished_by_a_second_apply_after_a_first_that_failed(self, tmp_path, monkeypatch):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")
        from memkit.files import write

        real, calls = write._carry_out, []

        def failing(root, job):
            calls.append(job)
            if len(calls) == 9:
                raise memkit.DiskError("no space")
            real(root, job)

        monkeypatch.setattr(write, "_carry_out", failing)
        with pytest.raises(memkit.DiskError, match="no space"):
            plan.apply()
        assert len(tree(tmp_path / "new")) == 8
        plan.apply()
        assert plan.applied
        assert len(open_at(tmp_path / "new").entries()) == plan.added

    def test_that_does_not_read_back_is_an_error(self, tmp_path, monkeypatch):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers")
        real = memkit.Store.entries
        monkeypatch.setattr(memkit.Store, "entries", lambda self, **more: real(self, **more).iloc[1:])
        with pytest.raises(memkit.LostTextError, match="do not read as they were planned"):
            plan.apply()

    def test_of_an_empty_store_has_nothing_to_do(self, tmp_path):
        source = memkit.open(tmp_path / "none", layout="archive", now=CLOCK, tz=ZONE)
        plan = memkit.migrate(source, tmp_path / "new", to="layers").apply()
        assert (plan.added, len(plan.rows), plan.applied) == (0, 0, True)
        assert not (tmp_path / "new").exists()


class TestTheCommand:
    @pytest.fixture
    def say(self, capsys, monkeypatch):
        monkeypatch.setenv("COLUMNS", "120")

        def say(*words, typed=""):
            monkeypatch.setattr("sys.stdin", io.StringIO(typed))
            code = run(["migrate", *map(str, words), "--now", CLOCK, "--tz", ZONE])
            return code, *capsys.readouterr()

        return say

    def test_shows_the_plan_and_asks(self, say, tmp_path):
        new = tmp_path / "new"
        code, out, err = say(SAMPLES / "archive", new, "--to", "layers", "--dry-run")
        assert (code, err) == (0, "")
        assert out.startswith("not applied: 44 files changed, 147 entries added\n")
        assert "warning: 146 changed: only its day is known" in out
        assert say(SAMPLES / "archive", new, "--to", "layers", typed="n\n")[0] == 1
        assert say(SAMPLES / "archive", new, "--to", "layers")[0] == 1
        assert list(tmp_path.iterdir()) == []
        assert say(SAMPLES / "archive", new, "--to", "layers", typed="y\n")[:2][0] == 0
        assert len(open_at(new).entries()) == 147

    def test_prints_json_and_takes_a_day_for_what_has_none(self, say, tmp_path):
        words = [SAMPLES / "workspace", tmp_path / "new", "--to", "archive", "--undated", "2024-01-01", "--yes", "--json"]
        code, out, _ = say(*words)
        told = json.loads(out)
        assert (code, told["applied"]) == (0, True)
        assert told["added"] == len(open_at(tmp_path / "new").entries())
        assert {row["action"] for row in told["rows"]} == {LEFT, CHANGED, "create"}

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["{old}", "{new}", "--to", "archive"], "is archive already"),
            (["{old}", "{old}/x", "--to", "layers"], "lie in each other"),
            (["{old}", "{full}", "--to", "layers"], "it is not empty"),
            (["{old}", "{new}", "--to", "layers", "--undated", "soon"], "undated: 'soon' is not a day"),
            (["{new}", "{old}", "--to", "layers"], "no such folder"),
            (["{old}", "{new}"], "Missing option '--to'"),
            (["{old}", "--to", "layers"], "TARGET is missing"),
        ],
    )
    def test_refuses_what_cannot_be_meant(self, say, tmp_path, copied, words, said):
        (tmp_path / "full").mkdir()
        (tmp_path / "full/note.txt").touch()
        places = {"old": copied("archive"), "new": tmp_path / "new", "full": tmp_path / "full"}
        before = tree(tmp_path)
        code, out, err = say(*(word.format(**places) for word in words))
        assert (code, out) == (2, "")
        assert said in err
        assert tree(tmp_path) == before

    def test_waits_no_longer_than_it_may_for_another_writer(self, tmp_path):
        plan = memkit.migrate(open_at(SAMPLES / "archive"), tmp_path / "new", to="layers", lock_timeout=0.1)
        (tmp_path / "new").mkdir()
        with files.Lock(tmp_path / "new", 1).held(), pytest.raises(memkit.LockTimeout, match="try again"):
            plan.apply()
        assert tree(tmp_path / "new") == {}
        assert len(open_at(plan.apply().facts).entries()) == plan.added


class TestTheWriteRule:
    """Rule 5.2: a day file in a store that the same plan creates is no change of a finished day."""

    EARLY = Edit("cold/2025-02/2025-02-03.md", None, "- [2025-02-03T09:10:00.000Z] [-] 茶\n", ("begin",))

    def apply(self, root, *edits):
        files.apply(root, LAYOUTS["layers"], edits, TODAY)

    def test_lets_a_plan_begin_a_store_with_finished_days(self, tmp_path):
        self.apply(tmp_path, self.EARLY)
        assert tree(tmp_path) == {self.EARLY.path: self.EARLY.after.encode()}

    @pytest.mark.parametrize("other", ["cold/2025-02/2025-02-01.md", "hot.md", "notes.txt", "cold/2025-02/2025-02-03.md"])
    def test_is_as_strict_as_ever_where_any_file_lies(self, tmp_path, other):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).write_text("- something\n", encoding="utf-8")
        before = tree(tmp_path)
        with pytest.raises((FrozenError, ConflictError)):
            self.apply(tmp_path, self.EARLY)
        assert tree(tmp_path) == before

    def test_does_not_let_the_store_that_was_begun_be_changed(self, tmp_path):
        self.apply(tmp_path, self.EARLY)
        for edit in (
            Edit(self.EARLY.path, self.EARLY.after, f"{self.EARLY.after}- more\n", ("begin",)),
            Edit(self.EARLY.path, self.EARLY.after, None, ("begin",)),
            Edit("cold/2025-02/2025-02-04.md", None, "- [2025-02-04T09:10:00.000Z] [-] 茶\n", ("begin",)),
        ):
            with pytest.raises(FrozenError):
                self.apply(tmp_path, edit)

    def test_lets_the_same_plan_go_on_but_no_plan_that_differs_in_what_is_there(self, tmp_path):
        late = Edit("cold/2025-02/2025-02-04.md", None, "- [2025-02-04T09:10:00.000Z] [-] 茶\n", ("begin",))
        self.apply(tmp_path, self.EARLY)
        self.apply(tmp_path, self.EARLY, late)
        assert sorted(tree(tmp_path)) == [self.EARLY.path, late.path]

    def test_is_for_plans_that_say_that_they_begin_a_store(self, tmp_path):
        with pytest.raises(FrozenError):
            self.apply(tmp_path, Edit(self.EARLY.path, None, self.EARLY.after))
        with pytest.raises(FrozenError):
            check_rule(self.EARLY, LAYOUTS["layers"].role(self.EARLY.path), TODAY)
        assert tree(tmp_path) == {}
