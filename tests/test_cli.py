"""The command line: every command over every layout, its exit codes, its formats, its places, and what it does not import."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at

import memkit
from memkit import audit, dates, layouts, schema, stats
from memkit.cli import cli, options, run
from memkit.cli.output import LEVELS, annotated
from memkit.plots import Plots

LAYOUTS = ("archive", "workspace", "layers")
FRAMES = ("volume", "entries", "days", "catalog", "recent", "tagged", "between", "matching")
CHANGES = (
    "append",
    "correct",
    "forget",
    "push",
    "catch-up",
    "rebuild",
    "hot",
    "store",
    "topic",
    "summarize",
    "trace",
    "mark-forgotten",
    "sync",
    "search",
    "context",
    "cache",
)  # test_cli_changes, test_cache
QUESTIONS = {"recent": ["7"], "tagged": ["计划"], "between": ["2025-01-01", "2025-01-31"], "matching": ["坚果云"]}
EVENING = ["--now", CLOCK, "--tz", ZONE]
PLACES = (
    "MEMORY_WORKSPACE",
    "MEMORY_EXTRA_PATHS",
    "MEMORY_INDEX_SESSION",
    "MEMORY_SESSION_PATH",
    "DSH_HOME",
    "MEMORY_INDEX_PATH",
)
PLACES += ("MEMORY_EMBEDDING_ENABLED", "EMBEDDING_API_KEY", "OPENAI_API_KEY", "EMBEDDING_BASE_URL", "EMBEDDING_MODEL")


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    """Run in an empty folder and home, without the seeds' environment, in 80 columns."""
    home = tmp_path / "home"
    home.mkdir()
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": str(home), "USERPROFILE": str(home), "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def say(capsys):
    """Return a function from words to the exit code, stdout and stderr of a command on the evening of the samples."""

    def say(*words, evening=True):
        code = run([*map(str, words), *(EVENING if evening else [])])
        return code, *capsys.readouterr()

    return say


@pytest.fixture
def faulty(copied):
    """Return an archive with one error and one warning."""
    root = copied("archive") / ".agents/nutstore-sync/memory"
    with (root / "archive/2025/2025-02-27.md").open("ab") as day:
        day.write(b"- \xff\n")
    rows = (root / "catalog/2025.tsv").read_bytes().split(b"\n")
    (root / "catalog/2025.tsv").write_bytes(b"\n".join(rows[1:]))
    return root.parents[2]


@pytest.mark.parametrize("layout", LAYOUTS)
class TestEveryLayout:
    def test_the_report_says_size_months_findings_and_the_week(self, say, layout):
        code, out, err = say("report", SAMPLES / layout)
        store = open_at(SAMPLES / layout)
        assert (code, err) == (0, "")
        assert out == f"{store!r}\n\n{store.summary('week')}"
        for part in (str(store.root)[-20:], f"{len(store.entries())} entries", "2025-02", "█", "no findings", "2025-W09"):
            assert part in out

    @pytest.mark.parametrize("command", FRAMES)
    def test_json_and_csv_hold_the_frame_that_python_gives(self, say, layout, command):
        asked = QUESTIONS.get(command, [])
        given = [int(word) if command == "recent" else word for word in asked]
        frame = getattr(open_at(SAMPLES / layout), command)(*given)
        code, out, _ = say(command, SAMPLES / layout, *asked, "--format", "json")
        rows = json.loads(out)
        assert code == 0
        assert len(rows) == len(frame)
        assert all(list(row) == list(frame.columns) for row in rows)
        text = say(command, SAMPLES / layout, *asked, "--format", "csv")[1]
        head, *cells = csv.reader(io.StringIO(text))
        assert head == list(frame.columns)
        assert len(cells) == len(frame)
        if "text" in head:
            assert [row["text"] for row in rows] == [row[head.index("text")] for row in cells] == frame["text"].tolist()

    @pytest.mark.parametrize("command", FRAMES)
    def test_a_table_fits_the_terminal(self, say, layout, command, monkeypatch):
        from memkit.cells import columns

        for width in (40, 80, 133):
            monkeypatch.setenv("COLUMNS", str(width))
            code, out, _ = say(command, SAMPLES / layout, *QUESTIONS.get(command, []))
            assert code == 0
            assert max(map(columns, out.splitlines())) <= width

    def test_a_clean_store_passes_the_audit_in_every_format(self, say, layout):
        assert say("audit", SAMPLES / layout, "--fail-on", "info")[0] == 0
        assert say("audit", SAMPLES / layout, "--format", "github") == (0, "", "")
        assert say("audit", SAMPLES / layout, "--format", "json") == (0, "[]\n", "")
        assert say("audit", SAMPLES / layout, "--format", "csv")[1].count("\n") == 1

    def test_nothing_is_written(self, say, copied, layout):
        root = copied(layout)
        before = {path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None) for path in root.rglob("*")}
        for command in ("report", "audit", *FRAMES):
            say(command, root, *QUESTIONS.get(command, []))
        assert {
            path: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None) for path in root.rglob("*")
        } == before


class TestRows:
    @pytest.mark.parametrize(
        ("columns", "first"), [(10, ["text"]), (20, ["text"]), (32, ["date", "text"]), (45, ["date", "text"])]
    )
    def test_a_narrow_terminal_keeps_the_text(self, say, monkeypatch, columns, first):
        from memkit import cells

        monkeypatch.setenv("COLUMNS", str(columns))
        for command in ("entries", "recent"):
            head, row, *_ = say(command, SAMPLES / "archive", "--limit", 1)[1].split("\n")
            assert head.split()[: len(first)] == first
            assert cells.columns(row) <= columns

    def test_a_table_shows_fifty_rows_and_says_so(self, say):
        out = say("entries", SAMPLES / "archive")[1]
        rows = len(open_at(SAMPLES / "archive").entries())
        assert f"50 of {rows} rows\nmore columns: --format json or csv\n" in out
        assert out.count("\n") == 1 + 50 + 2

    def test_limit_bounds_every_format_and_zero_is_all(self, say):
        every = len(open_at(SAMPLES / "archive").entries())
        assert f"3 of {every} rows" in say("entries", SAMPLES / "archive", "--limit", 3)[1]
        assert say("entries", SAMPLES / "archive", "--limit", 0)[1].count("\n") == 1 + every + 1
        for limit, rows in ((3, 3), (0, every), (9999, every)):
            assert len(json.loads(say("entries", SAMPLES / "archive", "--format", "json", "--limit", limit)[1])) == rows

    def test_json_has_a_row_a_line(self, say):
        lines = say("entries", SAMPLES / "workspace", "--format", "json")[1].rstrip("\n").split("\n")
        assert len(lines) == len(open_at(SAMPLES / "workspace").entries())
        assert json.loads(lines[4].rstrip(",")) == json.loads("\n".join(lines))[4]

    def test_csv_quotes_every_text_and_leaves_missing_empty(self, say):
        lines = say("volume", SAMPLES / "workspace", "--format", "csv")[1].splitlines()
        assert lines[0].startswith('"month","entries",')
        assert lines[-1].startswith('"",')

    def test_undated_rows_come_last_with_an_empty_key(self, say):
        assert json.loads(say("volume", SAMPLES / "workspace", "--format", "json")[1])[-1]["month"] is None
        assert re.search(r"^ +\d+ +\d", say("volume", SAMPLES / "workspace")[1], re.MULTILINE)

    def test_control_characters_of_a_memory_do_not_reach_the_terminal(self, say, somewhere):
        (somewhere / "memory").mkdir()
        (somewhere / "memory/2025-02-28.md").write_text("- red \x1b[31m alert\n- a \u202e b\n", encoding="utf-8")
        for command in ("report", "entries"):
            out = say(command, somewhere)[1]
            assert "red" in out
            assert "\x1b" not in out
            assert "\u202e" not in out


class TestQuestions:
    @pytest.mark.parametrize("by", stats.KEYS)
    def test_volume_takes_every_key(self, say, by):
        code, out, _ = say("volume", SAMPLES / "workspace", "--by", by, "--limit", 0)
        assert code == 0
        assert out.startswith(by)

    def test_recent_counts_days_and_has_thirty_unless_told(self, say, monkeypatch):
        store = open_at(SAMPLES / "layers")
        assert len(json.loads(say("recent", SAMPLES / "layers", "--format", "json")[1])) == len(store.recent(30))
        assert len(json.loads(say("recent", SAMPLES / "layers", "3", "--format", "json")[1])) == len(store.recent(3))
        monkeypatch.chdir(SAMPLES / "layers")
        assert len(json.loads(say("recent", "3", "--format", "json")[1])) == len(store.recent(3))
        assert len(json.loads(say("recent", "--format", "json")[1])) == len(store.recent(30))

    def test_a_dash_asks_for_entries_without_tag(self, say):
        rows = json.loads(say("tagged", SAMPLES / "archive", "-", "--format", "json")[1])
        assert rows
        assert all(row["tag"] is None for row in rows)

    def test_matching_takes_mode_and_fields(self, say):
        store, words = open_at(SAMPLES / "archive"), "坚果云 计划"
        for more, frame in (
            ([], store.matching(words)),
            (["--mode", "or"], store.matching(words, "or")),
            (["--mode", "or", "--field", "tag"], store.matching(words, "or", "tag")),
            (["--mode", "or", "--field", "tag", "--field", "text"], store.matching(words, "or")),
        ):
            rows = json.loads(say("matching", SAMPLES / "archive", words, *more, "--format", "json")[1])
            assert [row["text"] for row in rows] == frame["text"].tolist()

    def test_the_path_may_be_left_out_before_words(self, say, monkeypatch):
        monkeypatch.chdir(SAMPLES / "archive")
        for command, words in QUESTIONS.items():
            assert say(command, *words) == say(command, SAMPLES / "archive", *words)


class TestReport:
    def test_without_entries_this_week_it_takes_the_latest_before_and_says_so(self, say):
        code, out, _ = say("report", SAMPLES / "archive", "--now", "2025-02-01T08:00+08:00", "--tz", ZONE, evening=False)
        assert code == 0
        assert "Nothing is dated in this week, 2025-W05; the latest one with entries is 2025-W04.\n\n# 周摘要 2025-W04" in out

    def test_before_the_first_entry_there_is_no_week(self, say):
        out = say("report", SAMPLES / "archive", "--now", "2020-02-01T08:00Z", evening=False)[1]
        assert " entries · " in out
        assert "周摘要" not in out

    def test_an_empty_store_is_friendly(self, say, somewhere):
        for layout in LAYOUTS:
            code, out, err = say("report", somewhere / "new", "--layout", layout)
            assert (code, err) == (0, "")
            assert "Nothing is remembered here yet" in out
            assert str(somewhere / "new")[-20:] in out.split("\n")[0]
        assert not (somewhere / "new").exists()

    def test_findings_are_told(self, say, faulty):
        code, out, _ = say("report", faulty)
        assert code == 0
        assert "1 error · 1 warning" in out
        assert "not-utf8" in out
        assert "# 周摘要 2025-W09" in out


class TestAudit:
    def test_exit_codes_follow_the_worst_severity_asked_for(self, say, faulty):
        assert [say("audit", faulty, "--fail-on", level)[0] for level in ("error", "warning", "info")] == [1, 1, 1]
        (faulty / ".agents/nutstore-sync/memory/archive/2025/2025-02-27.md").write_bytes(
            (SAMPLES / "archive/.agents/nutstore-sync/memory/archive/2025/2025-02-27.md").read_bytes()
        )
        assert [say("audit", faulty, "--fail-on", level)[0] for level in ("error", "warning", "info")] == [0, 1, 1]
        assert say("audit", faulty)[0] == 1

    def test_the_table_is_the_report(self, say, faulty):
        assert say("audit", faulty)[1] == f"{open_at(faulty).audit()!r}\n"
        assert "showing 1 of 2" in say("audit", faulty, "--limit", 1)[1]

    def test_github_lines_name_files_from_the_current_folder(self, say, faulty, monkeypatch):
        memory = ".agents/nutstore-sync/memory"
        for here, prefix in ((faulty, ""), (faulty.parent, "archive/"), (faulty / ".agents", "../")):
            monkeypatch.chdir(here)
            code, out, err = say("audit", faulty, "--format", "github")
            assert (code, err) == (1, "")
            error, warning = out.splitlines()
            place = f"file={prefix}{memory}/".replace("../.agents/", "")
            assert error.startswith(f"::error {place}archive/2025/2025-02-27.md,line=")
            assert ",title=memkit not-utf8::" in error
            assert warning.startswith(f"::warning {place}catalog/2025.tsv,title=memkit row-missing::")

    def test_github_lines_are_escaped(self, somewhere):
        rows = [
            ("r", "info", "a,b:c%.md", 3, None, "50% of\r\nit: a, b", None, "0" * 12),
            ("r", "error", None, 0, None, "whole", None, "1" * 12),
        ]
        lines = list(annotated(schema.rows(schema.FINDINGS, rows), somewhere))
        assert lines == [
            "::notice file=a%2Cb%3Ac%25.md,line=3,title=memkit r::50%25 of%0D%0Ait: a, b",
            "::error title=memkit r::whole",
        ]

    def test_an_audit_of_nothing_says_so(self, say, somewhere):
        code, out, err = say("audit", somewhere / "typo", "--layout", "archive")
        assert (code, out) == (0, "no findings in 0 files\n")
        assert err == f"memkit: no file was read in {somewhere / 'typo'}\n"


class TestBadRequests:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["report", "/no/such/folder"], "memkit: /no/such/folder: no such folder (the nearest that exists is /); "),
            (["report"], "no memory store in it (seen: nothing); pass --layout to start a new store there"),
            (["between", SAMPLES / "archive", "2025-02-02", "2025-02-01"], "memkit: start: 2025-02-02 is after end 2025-02-01"),
            (["between", SAMPLES / "archive", "2025-02-30", "2025-03-01"], "memkit: start: '2025-02-30' is not a day"),
            (["recent", SAMPLES / "archive", "0"], "memkit: days: 0; expected a whole number of at least 1"),
            (["tagged", SAMPLES / "archive", "[]"], "memkit: tag: '[]' names no tag"),
            (["matching", SAMPLES / "archive", " "], "memkit: query: "),
            (["volume", SAMPLES / "archive", "--tz", "Mars/Olympus"], "memkit: tz: no zone is named 'Mars/Olympus'"),
            (["volume", SAMPLES / "archive", "--now", "yesterday"], "memkit: now: 'yesterday' is no time"),
            (["recent", SAMPLES / "archive", "--now", "2025-01-01T00:00"], "memkit: now: a time without zone"),
        ],
    )
    def test_an_error_is_one_line(self, say, words, said):
        code, out, err = say(*words, evening=False)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1

    @pytest.mark.parametrize(
        "words",
        [
            ["nope"], ["volume", "--by", "mood"], ["entries", "--format", "xml"], ["audit", "--fail-on", "never"],
            ["entries", "--limit", "-1"], ["report", "--layout", "vault"], ["tagged"], ["tagged", "a", "b", "c"],
            ["between", "2025-01-01"], ["report", "a", "b"], ["matching", ".", "a", "b"],
        ],
    )  # fmt: skip
    def test_what_cannot_be_meant_shows_the_usage(self, say, words):
        code, out, err = say(*words, evening=False)
        assert (code, out) == (2, "")
        assert err.startswith("Usage: memkit")
        assert "Error: " in err

    def test_a_folder_where_the_question_belongs_is_named(self, say, somewhere, copied):
        copied("archive")
        for words in (["matching"], ["tagged"], ["between", "2025-01-01"]):
            code, out, err = say(words[0], somewhere, *words[1:])
            assert (code, out) == (2, "")
            assert f"is missing: {somewhere} is a folder." in err

    def test_an_error_of_the_system_is_one_line_too(self, say, monkeypatch):
        def refuse(self):
            raise PermissionError(13, "Permission denied", "/vault/memory\n.md")

        monkeypatch.setattr(memkit.Store, "entries", refuse)
        assert say("entries", SAMPLES / "archive") == (2, "", "memkit: /vault/memory⏎.md: permission denied\n")

    def test_an_interrupt_is_130(self, say, monkeypatch):
        def interrupt(self):
            raise KeyboardInterrupt

        monkeypatch.setattr(memkit.Store, "entries", interrupt)
        code, out, err = say("entries", SAMPLES / "archive")
        assert (code, out, err.strip()) == (130, "", "")


class TestPlaces:
    def test_the_card_shows_where_dots_lead(self, say, monkeypatch):
        monkeypatch.chdir(SAMPLES / "archive")
        card = say("report", "../archive")[1].split("\n")[0]
        assert card.endswith("/data-samples/archive/.agents/nutstore-sync/memory")
        assert ".." not in card

    def test_the_current_folder_comes_last(self, say, monkeypatch):
        monkeypatch.chdir(SAMPLES / "archive")
        assert say("report")[1].startswith("archive")

    def test_the_workspace_of_the_environment_comes_first(self, say, monkeypatch):
        monkeypatch.chdir(SAMPLES / "archive")
        monkeypatch.setenv("MEMORY_WORKSPACE", str(SAMPLES / "workspace"))
        monkeypatch.setenv("DSH_HOME", str(SAMPLES / "layers"))
        assert say("report")[1].startswith("workspace")
        assert say("report", "--layout", "layers")[1].startswith("layers")
        assert say("report", "--layout", "archive")[1].startswith("archive")
        assert say("report", SAMPLES / "layers")[1].startswith("layers")

    def test_a_workspace_not_begun_yet_is_empty(self, say, monkeypatch, somewhere):
        monkeypatch.setenv("MEMORY_WORKSPACE", str(somewhere / "new"))
        code, out, _ = say("report")
        assert code == 0
        assert "Nothing is remembered here yet" in out

    def test_layers_lie_in_dsh_home_or_in_the_home_folder(self, say, monkeypatch, somewhere, copied):
        assert say("report")[0] == 2
        copied("layers").rename(somewhere / ".dsh")
        assert str(somewhere / ".dsh/dsh-memory-layers")[-40:] in say("report")[1].split("\n")[0]
        monkeypatch.setenv("DSH_HOME", str(SAMPLES / "layers"))
        assert str(SAMPLES / "layers")[-20:] in say("report")[1].split("\n")[0]
        monkeypatch.setenv("DSH_HOME", str(somewhere / "elsewhere"))
        assert say("report")[0] == 2

    def test_dsh_home_may_be_relative_and_its_tilde_is_a_name(self, say, monkeypatch, somewhere, copied):
        copied("layers").rename(somewhere / "~")
        monkeypatch.setenv("DSH_HOME", "~")
        assert say("report")[1].startswith("layers")

    def test_extra_paths_and_the_transcript_join_a_workspace_without_path(self, say, monkeypatch, tmp_path):
        (tmp_path / "extra.md").write_text("- 山外 the extra note\n", encoding="utf-8")
        talk = [{"role": "user", "content": "山外 said aloud"}]
        (tmp_path / "talk.json").write_text(json.dumps(talk), encoding="utf-8")
        monkeypatch.setenv("MEMORY_EXTRA_PATHS", f"{tmp_path / 'extra.md'}, ,")
        monkeypatch.setenv("MEMORY_SESSION_PATH", str(tmp_path / "talk.json"))
        monkeypatch.chdir(SAMPLES / "workspace")

        def found(*path):
            return [row["kind"] for row in json.loads(say("matching", *path, "山外", "--format", "json")[1])]

        assert found() == ["extra"]
        for on in ("1", "true"):
            monkeypatch.setenv("MEMORY_INDEX_SESSION", on)
            assert sorted(found()) == ["extra", "session"]
        monkeypatch.setenv("MEMORY_INDEX_SESSION", "0")
        assert found() == ["extra"]
        assert found(SAMPLES / "workspace") == []
        monkeypatch.chdir(SAMPLES / "archive")
        assert say("report")[0] == 0


class TestHelp:
    def test_words_written_out_for_help_are_those_that_are_meant(self):
        assert options.LAYOUTS == LAYOUTS == tuple(layouts.LAYOUTS)
        assert options.KEYS == stats.KEYS
        assert options.PERIODS == dates.PERIODS
        assert options.SEVERITIES == tuple(schema.SEVERITY.categories) == tuple(LEVELS)
        assert {"report", "audit", "manifest", "summary", *FRAMES, *CHANGES} <= set(cli.commands)
        assert tuple(name for name in vars(Plots) if not name.startswith("_")) == options.CHARTS

    @pytest.mark.parametrize("command", ["report", "audit", "manifest", "summary", *FRAMES])
    def test_help_has_one_example_and_it_works(self, say, command):
        code, out, _ = say(command, "--help", evening=False)
        assert code == 0
        (example,) = re.findall(r"Example: memkit (.+)", out)
        words = [word.replace("~/vault", str(SAMPLES / "archive")) for word in shlex.split(example)]
        assert words[0] == command
        assert say(*words)[0] == 0
        for option in ("--layout", "--now", "--tz"):
            assert option in out

    def test_help_lists_the_commands_and_the_exit_codes(self, say):
        code, out, _ = say("--help", evening=False)
        assert code == 0
        assert re.findall(r"^  (\w[\w-]*)  ", out, re.MULTILINE) == list(cli.commands)
        assert "Exit codes: 0 fine, 1 the audit found something, 2 bad request, 130 stopped." in out
        assert "..." not in out.split("Commands:")[1]

    def test_version_is_that_of_the_package(self, say):
        assert say("--version", evening=False) == (0, f"memkit, version {memkit.__version__}\n", "")


class TestProcess:
    """What only a process of its own shows."""

    def start(self, *words, **environment):
        return subprocess.Popen(
            [sys.executable, "-m", "memkit", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )

    @pytest.mark.parametrize("words", [["--help"], ["--version"], ["audit", "--help"], ["nope"], ["tagged"]])
    def test_help_and_bad_options_import_nothing_heavy(self, words):
        code = (
            "import sys; from memkit.cli import run; run(sys.argv[1:]); "
            "print(*sys.modules, sep='\\n', file=open('modules', 'w'))"
        )
        subprocess.run([sys.executable, "-c", code, *words], capture_output=True, check=True)
        with open("modules") as file:  # noqa: PTH123
            loaded = set(file.read().split())
        heavy = {
            "pandas",
            "pyarrow",
            "numpy",
            "ipywidgets",
            "anywidget",
            "rich",
            "tqdm",
            "yaml",
            "pathlib",
            "shutil",
            "memkit.store",
        }
        assert "click" in loaded
        assert not heavy & loaded

    def test_output_is_utf8_whatever_the_locale(self):
        for odd in ({"LC_ALL": "C", "LANG": "C"}, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii"}):
            out, err = self.start("tagged", SAMPLES / "archive", "计划", **odd).communicate()
            assert err == b""
            assert "试营业名单" in out.decode("utf-8")

    @pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="this system has no SIGPIPE")
    def test_a_reader_that_leaves_early_is_no_error(self):
        process = self.start("entries", SAMPLES / "archive", "--format", "json")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGPIPE
        process.stderr.close()

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")  # noqa: PTH110
    def test_a_full_disk_is_one_line(self):
        with open("/dev/full", "w") as full:  # noqa: PTH123
            done = subprocess.run([sys.executable, "-m", "memkit", "--version"], stdout=full, stderr=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (2, b"memkit: no space left on device\n")

    def test_the_program_exits_with_the_code_of_the_command(self, faulty):
        for words, code in ((["audit", SAMPLES / "archive", *EVENING], 0), (["audit", faulty, *EVENING], 1), (["report"], 2)):
            process = self.start(*words)
            process.communicate()
            assert process.returncode == code


def test_rules_and_severities_have_a_level():
    assert set(LEVELS) >= {rule.severity for layout in LAYOUTS for rule in audit.rules_of(layout)}
