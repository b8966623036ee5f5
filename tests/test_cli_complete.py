"""The command line is complete: a command for every public name of Store, an example that runs for every command, JSON."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CLOCK, SAMPLES, ZONE, open_at, tree

import memkit
from memkit import files, tools
from memkit.cli import cli, options, run
from memkit.cli.agents import SHELLS
from memkit.cli.output import as_typed

EVENING = ["--now", CLOCK, "--tz", ZONE]
LAYOUTS = ("archive", "workspace", "layers")
PLACES = {"~/vault": "archive", "~/agent": "workspace", "~/.dsh": "layers"}
COMMANDS = {
    "hot": "hot-layer",
    "hot_set": "hot",
    "topics_add": "topic",
    "rebuild_catalog": "rebuild",
    "summarize_all": "summarize --all",
}  # the other names are those of the commands, with - for _
IN_NO_SHELL = {
    "explore": "a widget, which needs a notebook",
    "root": "a fact: `memkit doctor` says it",
    "vault": "a fact: `memkit doctor` says it",
    "layout": "a fact: `memkit doctor` says it",
    "tz": "a fact: `memkit doctor` says it",
}
BESIDE = {"report", "cache", "migrate", "doctor", "tools", "completion", "serve"}  # no method of a Store
IN_NO_JSON = {"serve", "completion"}  # a server, a script for a shell
ENDLESS = {"serve"}  # it runs until it is stopped; test_serve has it


@pytest.fixture
def say(capsys, monkeypatch, tmp_path):
    """Return a function from words, and what is typed, to the exit code, stdout and stderr of a command."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("MEMORY_WORKSPACE", "DSH_HOME", "MEMKIT_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home)

    def say(*words, typed="", evening=True):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run([*map(str, words), *(EVENING if evening else [])])
        return code, *capsys.readouterr()

    return say


def public(store):
    return {name for name in dir(store) if not name.startswith("_")}


def formats(command):
    return next((param.type.choices for param in cli.commands[command].params if param.name == "format"), ())


def examples():
    for name, command in cli.commands.items():
        (line,) = re.findall(r"Example: memkit (.+)", command.help)
        yield name, line


class TestEveryVerb:
    def test_of_a_store_has_a_command_or_a_reason(self):
        names = public(open_at(SAMPLES / "archive"))
        assert set(COMMANDS) | set(IN_NO_SHELL) <= names
        wanted = {COMMANDS.get(name, name.replace("_", "-")).partition(" ")[0] for name in names - set(IN_NO_SHELL)}
        assert set(cli.commands) == wanted | BESIDE

    def test_has_a_help_page_with_one_example(self, say):
        for name in cli.commands:
            code, out, _ = say(name, "--help", evening=False)
            assert code == 0
            assert out.count("Example: memkit ") == 1
            assert re.search(rf"Example: memkit {name}( |$)", out, re.MULTILINE)

    @pytest.mark.parametrize(("name", "example"), [pair for pair in examples() if pair[0] not in ENDLESS])
    def test_has_an_example_that_runs(self, say, tmp_path, copied, name, example):
        words, _, source = example.partition(" < ")
        given = shlex.split(words)
        for word in given:
            if word in PLACES:
                place = open_at(copied(PLACES[word])).root
                given = [str(place) if other == word else other for other in given]
        open_at(SAMPLES / "archive").entries(editable=True).to_parquet("edited.parquet")
        with open("lines.txt", "w", encoding="utf-8") as lines:  # noqa: PTH123
            lines.write("水开了\n\n灯灭了\n")
        takes_the_clock = any(param.name == "now" for param in cli.commands[name].params)
        code, out, err = say(*given, typed="新的正文" if source else "", evening=takes_the_clock)
        assert (code, bool(out)) == (0, "github" not in given), err  # a clean store has no annotation

    def test_but_those_that_print_no_facts_has_json(self):
        for name in set(cli.commands) - IN_NO_JSON:
            assert "json" in formats(name), name
            assert any(param.opts == ["--json"] for param in cli.commands[name].params), name


class TestJson:
    @pytest.mark.parametrize(
        "command", ["entries", "days", "overview", "gaps", "duplicates", "summaries", "topics", "tags", "files"]
    )
    def test_is_the_frame_that_python_gives(self, say, command):
        for layout in LAYOUTS:
            code, out, err = say(command, SAMPLES / layout, "--json")
            assert (code, err) == (0, "")
            assert say(command, SAMPLES / layout, "--format", "json") == (code, out, err)
            frame = getattr(open_at(SAMPLES / layout), command)()
            assert len(json.loads(out)) == len(frame)

    def test_and_another_format_do_not_go_together(self, say):
        code, out, err = say("entries", SAMPLES / "archive", "--json", "--format", "csv")
        assert (code, out) == (2, "")
        assert "--json and --format csv do not go together" in err
        assert say("entries", SAMPLES / "archive", "--json", "--format", "json")[0] == 0

    def test_of_what_is_no_frame_is_one_object(self, say, copied):
        store = open_at(SAMPLES / "archive")
        told = json.loads(say("report", SAMPLES / "archive", "--json")[1])
        assert set(told) == {"store", "months", "findings", "summary"}
        assert told["store"]["entries"] == len(store.entries())
        assert [row["entries"] for row in told["months"]] == store.volume("month")["entries"].tolist()
        assert told["findings"] == []
        assert told["summary"].startswith("# 周摘要 2025-W09")
        told = json.loads(say("summary", SAMPLES / "archive", "--period", "month", "--date", "2025-01", "--json")[1])
        assert (told["key"], told["text"]) == ("2025-01", str(store.summary("month", "2025-01")))
        assert json.loads(say("summary", SAMPLES / "archive", "--json")[1])["key"] == "2025-W09"
        told = json.loads(say("plot", SAMPLES / "archive", "tags", "--json")[1])
        assert len(told["frame"]) == len(store.plot.tags().frame)
        assert told["spec"]["$schema"].endswith("v5.json")
        told = json.loads(say("sync", copied("workspace"), "--json")[1])
        assert (told["chunks"], told["warning"]) == (183, "")
        code, out, _ = say("cache", "clear", "--json", evening=False)
        assert (code, json.loads(out)["removed_bytes"]) == (0, 0)

    def test_of_a_plan_says_rows_added_applied_warnings_and_diff(self, say, copied):
        mem = open_at(copied("workspace"))
        for words, applied in ((["--dry-run"], False), ([], True)):
            told = json.loads(say("append", mem.root, "水开了", "--tag", "茶", "--json", *words)[1])
            assert set(told) == {"rows", "added", "applied", "warnings", "diff"}
            assert (told["added"], told["applied"], told["warnings"]) == (1, applied, [])
            assert told["rows"] == [{"row": "memory/2025-02-28.md", "action": "append", "reason": "today"}]
            assert "[茶] 水开了" in told["diff"]

    def test_of_a_plan_that_asks_needs_an_answer_beforehand(self, say, copied):
        mem = open_at(copied("archive"))
        text = mem.entries()["text"].iloc[0]
        code, out, err = say("forget", mem.root, text, "--json")
        assert (code, out) == (2, "")
        assert "pass --yes or --dry-run" in err
        assert json.loads(say("forget", mem.root, text, "--json", "--dry-run")[1])["applied"] is False
        assert text in mem.entries()["text"].tolist()
        assert json.loads(say("forget", mem.root, text, "--json", "--yes")[1])["applied"] is True
        assert text not in mem.entries()["text"].tolist()

    def test_of_a_day_and_of_the_hot_layer_hold_all_there_is(self, say):
        store = open_at(SAMPLES / "layers")
        told = json.loads(say("hot-layer", SAMPLES / "layers", "--json")[1])
        assert told["content"] == store.hot().content
        assert [row["text"] for row in told["candidates"]] == store.hot().candidates["text"].tolist()
        assert len(told["topics"]) == len(store.topics())
        told = json.loads(say("day", SAMPLES / "archive", "2025-02-03", "--json")[1])
        found = open_at(SAMPLES / "archive").day("2025-02-03")
        assert (told["path"], told["index"], told["text"]) == (found.path, found.index, found.text)
        assert [row["text"] for row in told["entries"]] == found.entries["text"].tolist()


class TestNouns:
    def test_without_path_a_folder_to_write_to_is_not_taken_for_the_store(self, say, copied, monkeypatch, tmp_path):
        monkeypatch.chdir(copied("workspace"))
        for name, words in (("new", ["migrate", "--to", "layers", "--yes"]), ("out", ["export"])):
            (tmp_path / name).mkdir()
            code, _, err = say(words[0], tmp_path / name, *words[1:])
            assert (code, err) == (0, "")
            assert any((tmp_path / name).iterdir())

    def test_an_error_names_the_command_as_it_was_typed(self, say):
        for command, more in (("catch-up", []), ("rebuild", []), ("topic", ["茶", "2025-02"]), ("hot", ["正文"])):
            err = say(command, SAMPLES / "workspace", *more)[2]
            assert err.startswith(f"memkit: {command}: only a store of the layout")
        assert "`memkit summaries` lists the stored ones" in say("trace", SAMPLES / "layers", "nowhere.md")[2]

    @pytest.mark.parametrize(
        ("python", "shell"),
        [
            ("rebuild_catalog: only a store", "rebuild: only a store"),
            ("it is frozen; use correct() or forget()", "it is frozen; use `memkit correct` or `memkit forget`"),
            ("use what mem.manifest() gave", "use what `memkit manifest` gave"),
            ("pass new_index=", "pass --new-index"),
            ("unforget() is none", "unforget() is none"),
        ],
    )
    def test_names_of_python_become_those_of_a_shell(self, python, shell):
        assert as_typed(python) == shell

    @pytest.mark.parametrize("words", [["export", ""], ["manifest", "--out", ""], ["plot", "volume", "--out", ""]])
    def test_no_name_is_no_place_to_write_to(self, say, words):
        before = set(Path().iterdir())
        command, *rest = words
        code, out, err = say(command, SAMPLES / "archive", *rest)
        assert (code, out) == (2, "")
        assert "'' is no path; expected the path of a file or folder" in err
        assert set(Path().iterdir()) == before

    def test_a_chart_is_printed_or_saved(self, say, tmp_path):
        for chart in ("volume", "calendar", "tags", "hours", "growth", "budget", "coverage"):
            code, out, err = say("plot", SAMPLES / "layers", chart)
            assert (code, err) == (0, "")
            assert out.splitlines()
        assert say("plot", SAMPLES / "archive", "volume", "--by", "week", "--out", tmp_path / "x.json")[0] == 0
        assert "2025-W09" in (tmp_path / "x.json").read_text(encoding="utf-8")

    @pytest.mark.parametrize("words", [["pie"], ["tags", "--by", "week"], ["volume", "--year", "2025"]])
    def test_a_chart_that_is_none_shows_the_usage(self, say, words):
        code, out, err = say("plot", SAMPLES / "archive", *words)
        assert (code, out) == (2, "")
        assert err.startswith("Usage: memkit plot")

    def test_an_export_is_read_back(self, say, tmp_path):
        code, out, _ = say("export", SAMPLES / "archive", tmp_path / "out", "--json")
        assert code == 0
        assert "entries.json" in out
        assert memkit.read_export(tmp_path / "out")["entries"].equals(open_at(SAMPLES / "archive").entries())
        assert say("export", SAMPLES / "archive", SAMPLES / "archive/.agents/nutstore-sync/memory/x")[0] == 2

    def test_many_lines_become_entries_or_none_does(self, say, copied):
        mem = open_at(copied("layers"))
        code, out, _ = say("append-many", mem.root, "-", "--tag", "待办", typed="水开了\n\n灯灭了\n")
        assert (code, "2 entries added" in out) == (0, True)
        assert mem.tagged("待办")["text"].head(2).tolist() == ["灯灭了", "水开了"]
        before = tree(mem.root)
        assert say("append-many", mem.root, "-", typed=f"好\n{'长' * 4001}\n")[0] == 2
        assert say("append-many", mem.root, "nowhere.txt")[::2] == (
            2, "memkit: file: no file nowhere.txt; name a text file, or - for stdin\n"
        )  # fmt: skip
        assert tree(mem.root) == before


class TestTools:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_are_printed_as_they_are_or_as_functions(self, say, layout):
        wanted = tools.schemas(open_at(SAMPLES / layout))
        assert json.loads(say("tools", SAMPLES / layout)[1]) == wanted
        told = json.loads(say("tools", SAMPLES / layout, "--format", "openai")[1])
        assert [set(one) for one in told] == [{"type", "function"}] * len(wanted)
        for one, tool in zip(told, wanted, strict=True):
            assert one["type"] == "function"
            assert set(one["function"]) == {"name", "description", "parameters"}
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one["function"]["name"])
            assert one["function"]["parameters"] == tool["inputSchema"]
            assert one["function"]["parameters"]["type"] == "object"

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_say_what_they_and_their_arguments_are(self, layout):
        for tool in tools.schemas(open_at(SAMPLES / layout)):
            assert len(tool["description"]) > 40, tool["name"]
            for name, argument in tool["inputSchema"]["properties"].items():
                assert argument["description"].endswith("."), (tool["name"], name)


class TestCompletion:
    @pytest.mark.parametrize("shell", SHELLS)
    def test_prints_the_script_of_a_shell(self, say, shell):
        if shutil.which(shell) is None and shell == "bash":
            pytest.skip("no bash here")
        code, out, _ = say("completion", shell, evening=False)
        assert code == 0
        assert "_MEMKIT_COMPLETE" in out

    def complete(self, *words):
        asked = {"COMP_WORDS": shlex.join(words), "COMP_CWORD": str(len(words) - 1), "_MEMKIT_COMPLETE": "bash_complete"}
        done = subprocess.run(
            [sys.executable, "-m", "memkit"], env={**os.environ, **asked}, capture_output=True, text=True, check=False
        )
        return done.stdout.split()

    def test_offers_commands_options_values_and_paths(self):
        assert self.complete("memkit", "cat") == ["plain,catalog", "plain,catch-up"]
        assert "plain,--fail-on" in self.complete("memkit", "audit", "--fa")
        assert self.complete("memkit", "audit", "--fail-on", "err") == ["plain,error"]
        assert self.complete("memkit", "audit", "da") == ["file,da"]

    def test_offers_the_charts_where_one_is_due(self):
        charts = [f"plain,{chart}" for chart in options.CHARTS]
        assert self.complete("memkit", "plot", "somewhere", "") == charts
        assert self.complete("memkit", "plot", "somewhere", "ca") == ["plain,calendar"]
        assert self.complete("memkit", "plot", "") == ["file,", *charts]  # PATH may be left out
        assert self.complete("memkit", "day", "somewhere", "") == ["file,"]


class TestBadInput:
    @pytest.mark.parametrize("words", [["entries", "da\udcffta"], ["matching", ".", "\udce8"], ["append", ".", "a\ud800"]])
    def test_an_argument_that_is_not_utf8_is_named(self, say, words):
        code, out, err = say(*words, evening=False)
        assert (code, out) == (2, "")
        assert err.startswith(f"memkit: argument {len(words)}: ")
        assert "is not UTF-8 text" in err
        assert err.count("\n") == 1

    @pytest.mark.skipif(os.name != "posix", reason="bytes as arguments")
    def test_bytes_of_a_real_command_line_are_named_too(self, tmp_path):
        done = subprocess.run(
            [sys.executable.encode(), b"-m", b"memkit", b"entries", b"a\xffb"], capture_output=True, check=False, cwd=tmp_path
        )
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"argument 2: a\\xffb is not UTF-8 text" in done.stderr

    def test_a_store_that_another_writer_holds_is_a_readable_error(self, say, copied, monkeypatch):
        mem = open_at(copied("archive"))
        monkeypatch.setitem(memkit.open.__kwdefaults__, "lock_timeout", 0.1)
        before = tree(mem.root)
        with files.Lock(mem.root, 1).held():
            code, out, err = say("append", mem.root, "水开了")
        assert (code, out) == (2, "")
        assert re.fullmatch(r"memkit: .*: another writer holds it for over 0.1 seconds; try again\n", err)
        assert tree(mem.root) == before
        assert say("append", mem.root, "水开了")[0] == 0

    @pytest.mark.parametrize("command", ["day", "plot", "tools", "export", "overview", "migrate", "hot-layer"])
    def test_a_missing_or_ambiguous_path_is_one_line(self, say, tmp_path, command):
        words = {"day": ["2025-02-03"], "plot": ["tags"], "export": ["out"], "migrate": ["new", "--to", "layers"]}.get(
            command, []
        )
        (tmp_path / "both/memory").mkdir(parents=True)
        (tmp_path / "both/catalog").mkdir()
        (tmp_path / "both/memory/2025-01-01.md").touch()
        (tmp_path / "both/catalog/2025.tsv").touch()
        for path, said in (("/no/such/folder", "no such folder"), (tmp_path / "both", "pass --layout to choose one")):
            code, out, err = say(command, path, *words)
            assert (code, out) == (2, "")
            assert said in err
            assert err.count("\n") == 1
