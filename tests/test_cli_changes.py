"""The commands that change a store: what they write, what they only show, what they ask, and how they refuse."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil

import pandas as pd
import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at

from memkit.cli import cli, run

LAYOUTS = ("archive", "workspace", "layers")
EVENING = ["--now", CLOCK, "--tz", ZONE]
TODAYS = {"archive": "archive/2025/2025-02-28.md", "workspace": "memory/2025-02-28.md", "layers": "cold/2025-02/2025-02-28.md"}
COMMANDS = {
    "append": (LAYOUTS, ["秤归零了", "--tag", "待办"]),
    "correct": (LAYOUTS, ["2025-02-03", "开业日期", "改到 3 月 15 日"]),
    "catch-up": (("archive",), []),
    "rebuild": (("archive",), []),
    "hot": (("layers",), ["新的正文"]),
    "topic": (("layers",), ["秤", "2025-02"]),
    "store": (("workspace",), ["喜欢白水"]),
    "mark-forgotten": (("workspace",), ["旧的地址"]),
}
PLACES = {
    "append": "archive",
    "hot": "layers",
    "topic": "layers",
    "store": "workspace",
    "trace": "layers",
    "mark-forgotten": "workspace",
    "sync": "workspace",
}
OF_ONE = [(command, layout) for command, (layouts, _) in COMMANDS.items() for layout in layouts]
OF_OTHERS = [(command, layout) for command, (layouts, _) in COMMANDS.items() for layout in LAYOUTS if layout not in layouts]


@pytest.fixture
def say(capsys, monkeypatch, tmp_path):
    """Return a function from words, and what is typed, to the exit code, stdout and stderr of a command."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("MEMORY_WORKSPACE", "DSH_HOME"):
        monkeypatch.delenv(name, raising=False)

    def say(*words, typed="", evening=True):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run([*map(str, words), *(EVENING if evening else [])])
        return code, *capsys.readouterr()

    return say


@pytest.fixture
def opened(copied):
    """Return a function from a layout to a copy of its sample, opened."""
    return lambda layout: open_at(copied(layout))


def as_applied(dry):
    """Return what a plan says once it is applied, from what it said before."""
    head, _, rest = dry.partition("\n")
    told = re.fullmatch("not applied: (.+) to change, (.+) to add", head)
    return f"applied: {told[1]} changed, {told[2]} added\n{rest}"


def tree(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


class TestEveryCommand:
    @pytest.mark.parametrize(("command", "layout"), OF_ONE)
    def test_shows_on_a_dry_run_what_it_would_write_and_then_writes_it(self, say, opened, command, layout):
        mem = opened(layout)
        before = tree(mem.root)
        if command == "rebuild":
            (mem.root / "catalog/2024.tsv").unlink()
            before.pop("catalog/2024.tsv")
        code, dry, err = say(command, mem.root, *COMMANDS[command][1], "--dry-run")
        assert (code, err) == (0, "")
        assert dry.startswith("not applied: ")
        assert tree(mem.root) == before
        code, done, err = say(command, mem.root, *COMMANDS[command][1])
        assert (code, err) == (0, "")
        assert done == as_applied(dry)
        changed = {path for path, data in tree(mem.root).items() if before.get(path) != data}
        assert changed == {line.removeprefix("+++ b/") for line in done.split("\n") if line.startswith("+++ b/")}
        assert bool(changed) == (command != "catch-up")

    @pytest.mark.parametrize(("command", "layout"), OF_OTHERS)
    def test_of_another_layout_is_refused_in_one_line(self, say, opened, command, layout):
        mem = opened(layout)
        before = tree(mem.root)
        code, out, err = say(command, mem.root, *COMMANDS[command][1])
        assert (code, out) == (2, "")
        assert re.fullmatch(rf"memkit: {command}: only a store of the layout \w+ has it; this one is {layout}\n", err)
        assert tree(mem.root) == before

    @pytest.mark.parametrize("command", [*COMMANDS, "forget", "push", "summarize", "trace", "sync", "search", "context"])
    def test_has_one_example_and_it_works(self, say, opened, command, tmp_path, monkeypatch):
        code, out, _ = say(command, "--help", evening=False)
        assert code == 0
        (example,) = re.findall(r"Example: memkit (.+)", out)
        mem = opened(PLACES.get(command, "archive"))
        words, _, source = example.partition(" < ")
        words = [str(mem.root) if word in ("~/vault", "~/agent", "~/.dsh") else word for word in shlex.split(words)]
        assert words[0] == command
        monkeypatch.chdir(tmp_path)
        if command == "push":
            mem.entries(editable=True).to_parquet("edited.parquet")
        assert say(*words, typed="新的正文" if source else "")[0] == 0
        for option in (
            "--layout",
            "--now",
            "--tz",
            *(
                {"trace": ["--format"], "search": ["--format"], "context": ["--days"], "sync": ["--rebuild"]}.get(
                    command, ["--dry-run"]
                )
            ),
        ):
            assert option in out

    def test_are_in_the_list_of_commands(self, say):
        listed = re.findall(r"^  (\w[\w-]*)  ", say("--help", evening=False)[1], re.MULTILINE)
        assert (
            {*COMMANDS, "forget", "push", "manifest", "summarize", "trace", "sync", "search", "context"}
            <= set(listed)
            == set(cli.commands)
        )


class TestAPlan:
    @pytest.mark.parametrize("width", [40, 100])
    def test_says_in_whole_what_is_left_out_and_bounds_the_rest(self, say, monkeypatch, tmp_path, width):
        from memkit.cells import columns

        monkeypatch.setenv("COLUMNS", str(width))
        asked = ["migrate", SAMPLES / "workspace", tmp_path / "new", "--to", "layers", "--dry-run"]
        out = say(*asked)[1]
        rows = json.loads(say(*asked, "--json")[1])["rows"]
        left = [row for row in rows if row["action"] == "left out"]
        head, told, *rest = out[: out.index("\n--- ")].split("\n")
        assert head == "not applied: 34 files to change, 154 entries to add"
        assert told == f"left out, {len(left)} of {len(rows)} rows:"
        assert rest[-1].startswith(f"20 of {len(rows) - len(left)} rows")
        table = next(place for place, line in enumerate(rest) if line.startswith("row "))
        said = "".join(rest[:table]).replace(" ", "")
        assert said == "".join(f"-{row['row']}{row['reason']}" for row in left).replace(" ", "")
        assert max(map(columns, rest)) <= width
        if width == 100:
            assert max(map(columns, rest)) > 79

    def test_says_in_whole_which_rows_of_a_push_are_refused(self, say, opened, tmp_path):
        mem = opened("archive")
        frame = mem.entries(editable=True)
        frame.loc[frame.index[:30], "text"] = "改过的"
        frame.loc[frame.index[-1], "text"] = "改过的"  # of today, so it stands
        frame.to_parquet(tmp_path / "edited.parquet")
        _, out, _ = say("push", mem.root, tmp_path / "edited.parquet", "--dry-run")
        rows = mem.push(frame).rows
        (refused,) = rows[rows["action"] == "refused"]["reason"]
        assert len(refused) > 40
        assert f"refused, 1 of {len(rows)} rows:\n  - " in out
        assert refused in " ".join(out.split())

    def test_is_as_short_as_ever_where_python_shows_it(self, opened, tmp_path):
        from memkit import migrate

        assert "20 of 240 rows" in repr(migrate(opened("workspace"), tmp_path / "new", to="layers"))


class TestSummarize:
    def test_writes_all_that_are_over_into_the_store_of_layers(self, say, opened):
        mem = opened("layers")
        (mem.root / "summaries/week/2025-W06.md").unlink()
        before = tree(mem.root)
        code, dry, err = say("summarize", mem.root, "--all", "--dry-run")
        assert (code, err, tree(mem.root)) == (0, "", before)
        code, done, err = say("summarize", mem.root, "--all")
        assert (code, err, done) == (0, "", as_applied(dry))
        assert set(tree(mem.root)) - set(before) == {"summaries/week/2025-W06.md"}
        assert "create" in done.split("\n")[2]  # above the rows in which nothing happens

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_writes_one_to_a_folder_and_prints_what_summary_prints(self, say, opened, tmp_path, layout):
        mem = opened(layout)
        before = tree(mem.root)
        words = ["--period", "day", "--date", "2025-02-28"]
        assert say("summarize", mem.root, *words, "--out", tmp_path / "out")[0] == 0
        assert say("summary", mem.root, *words) == (0, (tmp_path / "out/day/2025-02-28.md").read_text(), "")
        assert tree(mem.root) == before

    def test_a_window_takes_in_what_touches_it(self, say, opened, tmp_path):
        window = ["--all", "--since", "2025-01-31", "--until", "2025-02-03"]
        say("summarize", opened("archive").root, "--period", "month", *window, "--out", tmp_path / "out")
        assert sorted(tree(tmp_path / "out")) == ["month/2025-01.md", "month/2025-02.md"]

    def test_an_archive_needs_a_folder(self, say, opened):
        code, out, err = say("summarize", opened("archive").root)
        assert (code, out) == (2, "")
        assert err == "memkit: out: archive has no place for summaries; pass --out, a folder outside the store\n"

    @pytest.mark.parametrize("words", [["--all", "--date", "2025-02-03"], ["--since", "2025-02-03"], ["--until", "2025-02-03"]])
    def test_options_that_do_not_go_together_show_the_usage(self, say, opened, words):
        code, out, err = say("summarize", opened("layers").root, *words)
        assert (code, out) == (2, "")
        assert err.startswith("Usage: memkit summarize")

    def test_trace_lists_an_entry_for_each_line(self, say, opened):
        mem = opened("layers")
        path = "summaries/week/2025-W08.md"
        rows = json.loads(say("trace", mem.root, path, "--format", "json")[1])
        lines = (mem.root / path).read_text().split("\n")
        assert [lines[row["summary_line"] - 1][:3] for row in rows] == ["- ["] * len(rows)
        assert all(row["text"].startswith(row["shown"].removesuffix("…")) for row in rows)
        assert say("trace", mem.root, "summaries/week/2024-W01.md")[0] == 2


class TestSearch:
    def test_prints_the_same_with_an_index_and_without_and_says_what_is_wrong_with_one(self, say, opened):
        mem = opened("workspace")
        code, before, err = say("search", mem.root, "红水壶", "--format", "json")
        assert (code, err, len(json.loads(before)) > 2) == (0, "", True)
        code, out, _ = say("sync", mem.root)
        assert (code, bool(re.search(r"183 entries of 39 files, 39 read, [0-9.]+ s$", out.strip()))) == (0, True)
        paths = [(row["path"], row["line"]) for row in json.loads(say("search", mem.root, "红水壶", "--format", "json")[1])]
        assert sorted(paths) == sorted((row["path"], row["line"]) for row in json.loads(before))
        (mem.root / "memory/index.sqlite").write_bytes(b"no database, but not empty")
        code, out, err = say("search", mem.root, "红水壶")
        assert (code, "memory/index.sqlite: it is no database" in err, "the files were read instead" in err) == (0, True, True)

    def test_leaves_out_what_was_marked_as_forgotten(self, say, opened):
        mem = opened("workspace")
        text = mem.search("红水壶").frame["text"].iloc[0]
        number = len(mem.search("红水壶"))
        assert say("mark-forgotten", mem.root, text)[0] == 0
        assert len(mem.search("红水壶")) == number - 1
        rows = json.loads(say("search", mem.root, "红水壶", "--include-forgotten", "--format", "json")[1])
        assert len(rows) == number + 1

    @pytest.mark.parametrize("layout", ["archive", "layers"])
    def test_from_near_to_far_prints_the_frame(self, say, opened, layout):
        mem = opened(layout)
        for words, asked in ((["茶"], {}), (["茶", "--days", "1"], {"days": 1}), (["茶", "--or", "红水壶"], {"more": "红水壶"}),
                             (["茶", "--any-of", "红水壶", "--any-of", "白"], {"any_of": ["红水壶", "白"]}),
                             (["茶", "--all-of", "白"], {"all_of": "白"})):  # fmt: skip
            code, out, err = say("search", mem.root, *words, "--format", "json")
            more = [asked.pop("more")] if "more" in asked else []
            frame = mem.search("茶", *more, limit=None, **asked).frame
            assert (code, err) == (0, "")
            assert [(row["step"], row["path"], row["line"]) for row in json.loads(out)] == list(
                frame[["step", "path", "line"]].itertuples(index=False, name=None)
            )
        assert "archive/2025" in say("search", mem.root, "茶")[1] or layout == "layers"

    def test_says_what_is_stale_and_heals_it_if_asked(self, say, opened):
        mem = opened("archive")
        catalog = mem.root / "catalog/2025.tsv"
        whole = catalog.read_bytes()
        catalog.write_bytes(whole.replace(b"2025-01-02\t", b"2025-01-02\tzebra "))
        code, out, err = say("search", mem.root, "水仙")
        assert (code, "水仙" in out) == (0, True)
        assert err == "memkit: the catalog is out of date for 2025-01-02; rebuild_catalog() or heal=True mends it\n"
        assert say("search", mem.root, "水仙", "--heal")[2].endswith("; catalog/2025.tsv rebuilt\n")
        assert catalog.read_bytes() == whole

    def test_an_index_of_another_layout_is_refused(self, say, opened):
        code, out, err = say("sync", opened("layers").root)
        assert (code, out) == (2, "")
        assert err.startswith("memkit: sync: ")


class TestContext:
    def test_prints_what_an_agent_is_given(self, say, opened):
        mem = opened("archive")
        code, out, err = say("context", mem.root, "--days", "3")
        assert (code, err) == (0, "")
        told = mem.context(3)
        assert json.loads(out) == told[["key", "path", "index"]].to_dict("records")
        assert len(told) == 3
        assert say("context", mem.root, "--days", "3", "--format", "csv")[1].startswith('"key","path","index"\n')

    def test_of_another_layout_or_of_no_days_is_refused(self, say, opened):
        assert say("context", opened("layers").root)[::2] == (
            2, "memkit: context: only a store of the layout archive has it; this one is layers\n"
        )  # fmt: skip
        assert say("context", opened("archive").root, "--days", "0")[0] == 2


class TestAppend:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_says_that_an_entry_stands_there_already(self, say, opened, layout):
        mem = opened(layout)
        assert "1 entry added" in say("append", mem.root, "水开了")[1]
        code, out, _ = say("append", mem.root, "水开了")
        assert code == 0
        assert out.startswith("applied: 0 files changed, 0 entries added\n")
        assert "the entry stands there already" in out

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_reads_stdin_for_a_dash(self, say, opened, layout):
        mem = opened(layout)
        assert say("append", mem.root, "-", typed="第一行\n第二行\n")[0] == 0
        assert mem.recent(1)["text"].str.fullmatch(r"第一行\s第二行").sum() == 1
        code, out, err = say("append", mem.root, "-", typed="\n")
        assert (code, out) == (2, "")
        assert re.fullmatch(r"memkit: text: .*\n", err)

    def test_takes_an_index_or_makes_a_candidate(self, say, opened):
        archive, layers = opened("archive"), opened("layers")
        say("append", archive.root, "水开了", "--index", "今天水开了")
        assert archive.days()["index"].iloc[-1] == "今天水开了"
        say("append", layers.root, "水开了", "--important")
        assert layers.hot().candidates["text"].tolist()[-1] == "水开了"
        for words in (["--important"], ["--index", "x"]):
            other = archive if "--important" in words else layers
            code, _, err = say("append", other.root, "灯", *words)
            assert code == 2
            assert "only a store of the layout" in err

    def test_creates_a_store_where_none_is_only_when_its_layout_is_named(self, say, tmp_path):
        code, _, err = say("append", tmp_path / "new", "水开了")
        assert code == 2
        assert err.count("\n") == 1
        assert not (tmp_path / "new").exists()
        assert say("append", tmp_path / "new", "水开了", "--layout", "layers")[0] == 0
        assert sorted(tree(tmp_path / "new")) == [TODAYS["layers"]]

    def test_is_not_misled_by_a_folder_alone(self, say, opened):
        root = opened("archive").root
        code, out, err = say("append", root)
        assert (code, out) == (2, "")
        assert f"TEXT is missing: {root} is a folder." in err


class TestStdin:
    def test_is_read_by_every_command_with_a_text(self, say, opened):
        mem = opened("workspace")
        say("store", mem.root, "-", typed="喜欢白水\n")
        say("correct", mem.root, "2025-02-03", "开业日期", "-", typed="改到 3 月 15 日\n")
        assert mem.recent(1)["text"].isin(["喜欢白水", "更正 2025-02-03：开业日期 → 改到 3 月 15 日"]).sum() == 2
        assert say("forget", mem.root, "-", "--yes", typed="喜欢白水\n")[0] == 0
        assert "喜欢白水" not in mem.entries()["text"].tolist()
        layers = opened("layers")
        say("hot", layers.root, "-", typed="正文\n第二行\n")
        assert layers.hot().content == "正文\n第二行"


class TestForget:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("typed", ["n\n", "\n", ""])
    def test_writes_nothing_unless_somebody_says_yes(self, say, opened, layout, typed):
        mem = opened(layout)
        before = tree(mem.root)
        code, out, err = say("forget", mem.root, mem.entries()["text"].iloc[3], typed=typed)
        assert (code, err) == (1, "")
        assert out.startswith("not applied: ")
        assert out.endswith("nothing was written\n")
        assert ("pass --yes" in out) == (not typed)
        assert tree(mem.root) == before

    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize(("typed", "options"), [("y\n", []), ("", ["--yes"])])
    def test_applies_what_it_showed(self, say, opened, layout, typed, options):
        mem = opened(layout)
        text = mem.entries()["text"].iloc[3]
        code, out, err = say("forget", mem.root, text, *options, typed=typed)
        assert (code, err) == (0, "")
        assert out.endswith("applied\n")
        assert text not in mem.entries()["text"].tolist()
        assert not len(mem.audit().frame)

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_asks_nothing_on_a_dry_run_or_when_there_is_nothing(self, say, opened, layout):
        mem = opened(layout)
        before = tree(mem.root)
        assert say("forget", mem.root, mem.entries()["text"].iloc[3], "--dry-run", "--yes")[0] == 0
        code, out, _ = say("forget", mem.root, "没有这一条")
        assert code == 0
        assert out == "not applied: 0 files to change, 0 entries to add\nwarning: no entry has exactly this text\n"
        assert tree(mem.root) == before

    def test_leaves_the_rows_that_are_to_be_kept(self, say, tmp_path):
        for day in ("2025-02-03", "2025-02-04"):
            (tmp_path / "w/memory").mkdir(parents=True, exist_ok=True)
            (tmp_path / f"w/memory/{day}.md").write_text("- 水开了\n- 灯\n", encoding="utf-8")
        words = ["forget", tmp_path / "w", "水开了", "--date", "2025-02-04", "--yes"]
        code, _, err = say(*words, "--keep", "memory/2025-02-03.md:9")
        assert (code, err) == (2, "memkit: keep: 'memory/2025-02-03.md:9' is no row of this plan; look at it with --dry-run\n")
        assert say(*words, "--keep", "memory/2025-02-03.md:1")[0] == 0
        assert {path: data.decode() for path, data in tree(tmp_path / "w/memory").items()} == {
            "2025-02-03.md": "- 水开了\n- 灯\n",
            "2025-02-04.md": "- 灯\n",
        }

    def test_replaces_and_takes_a_new_index(self, say, opened):
        mem = opened("archive")
        found = mem.entries().query("path == 'archive/2025/2025-02-03.md'").iloc[0]
        options = ["--replacement", "说过一句话", "--new-index", "一句话", "--date", "2025-02-03", "--yes"]
        assert say("forget", mem.root, found["text"], *options)[0] == 0
        assert "说过一句话" in mem.entries()["text"].tolist()
        assert mem.day("2025-02-03").index == "一句话"


class TestPush:
    def saved(self, mem, frame, tmp_path):
        frame.to_parquet(tmp_path / "edited.parquet")
        return [mem.root, tmp_path / "edited.parquet"]

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_asks_and_then_does_what_the_file_says(self, say, opened, layout, tmp_path):
        mem = opened(layout)
        frame = pd.concat([mem.entries(editable=True).iloc[1:], pd.DataFrame({"text": ["水开了"]})], ignore_index=True)
        words, before = self.saved(mem, frame, tmp_path), tree(mem.root)
        code, out, _ = say("push", *words, typed="n\n")
        assert (code, out.endswith("nothing was written\n")) == (1, True)
        assert say("push", *words, "--dry-run")[0] == 0
        assert tree(mem.root) == before
        code, out, _ = say("push", *words, typed="y\n")
        assert (code, out.endswith("applied\n")) == (0, True)
        assert len(mem.entries()) == len(frame) + 1
        code, out, _ = say("push", *words)
        assert (code, out.split("\n")[0]) == (0, "not applied: 0 files to change, 0 entries to add")
        assert say("push", *words, "--forget-missing", "--yes")[0] == 0
        assert len(mem.entries()) == len(frame)

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (None, "no such file"),
            (b"no parquet", "it is no Parquet file"),
            (pd.DataFrame({"text": ["x"]}), "frame: it has no column digest"),
        ],
    )
    def test_of_what_is_no_edited_frame_is_one_line(self, say, opened, tmp_path, content, said):
        mem, target = opened("archive"), tmp_path / "edited.parquet"
        if isinstance(content, bytes):
            target.write_bytes(content)
        elif content is not None:
            content.to_parquet(target)
        code, out, err = say("push", mem.root, target)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err


class TestRefusals:
    @pytest.mark.parametrize(
        ("layout", "words", "said"),
        [
            ("archive", ["append", ""], "text: "),
            ("archive", ["append", "***"], "text: "),
            ("archive", ["append", "水", "--tag", "2025-01-01"], "tag: "),
            ("archive", ["append", "水", "--index", "a\tb"], "index: "),
            ("archive", ["correct", "2025-02-30", "a", "b"], "date: "),
            ("archive", ["correct", "2025-02-03", " ", "b"], "subject: "),
            ("archive", ["forget", " "], "rows_or_text: "),
            ("archive", ["forget", "x", "--date", "x"], "date: "),
            ("archive", ["rebuild", "--year", "0"], "year: "),
            ("layers", ["hot", "<!-- topics:start -->"], "content: "),
            ("layers", ["topic", "茶", "2025-13"], "topic and month: "),
            ("layers", ["append", "长" * 4001], "text: 4,001 characters"),
            ("workspace", ["store", "长" * 4001], "text: 4,001 characters"),
        ],
    )
    def test_are_one_line_and_write_nothing(self, say, opened, layout, words, said):
        mem = opened(layout)
        before = tree(mem.root)
        code, out, err = say(words[0], mem.root, *words[1:])
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"memkit: {said}")
        assert tree(mem.root) == before

    @pytest.mark.parametrize(
        "words",
        [["append"], ["correct", "2025-01-01"], ["store", "--target", "x", "a"], ["rebuild", "--year", "x"], ["topic", "a"]],
    )
    def test_what_cannot_be_meant_shows_the_usage(self, say, words):
        code, out, err = say(*words, evening=False)
        assert (code, out) == (2, "")
        assert err.startswith("Usage: memkit")

    def test_a_changed_file_between_showing_and_yes_is_a_conflict(self, say, opened, monkeypatch):
        mem = opened("layers")
        text = mem.entries()["text"].iloc[3]
        path = mem.root / mem.entries()["path"].iloc[3]

        def confirm(*_, **__):
            path.write_bytes(path.read_bytes() + b"\n")
            return True

        monkeypatch.setattr("click.confirm", confirm)
        code, _, err = say("forget", mem.root, text)
        assert code == 2
        assert re.fullmatch(r"memkit: .*changed on disk since it was read.*\n", err)
        assert text in mem.entries()["text"].tolist()

    def test_a_manifest_inside_the_store_is_refused(self, say, opened, tmp_path):
        mem = opened("archive")
        assert say("manifest", mem.root, "--out", mem.root / "m.parquet")[0] == 2
        assert say("manifest", mem.root, "--out", tmp_path / "m.parquet")[0] == 0
        shutil.rmtree(mem.root / "archive/2024")
        assert say("audit", mem.root, "--against", tmp_path / "m.parquet")[0] == 1


def test_samples_are_as_they_were():
    assert not len(open_at(SAMPLES / "archive").audit().frame)
    assert open_at(SAMPLES / "archive").recent(1)["text"].str.contains("秤归零了|水开了").sum() <= 1
