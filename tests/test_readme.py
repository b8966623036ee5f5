"""The README: its code and commands run, print what it says they print, and its two set-up commands are those that CI runs."""

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import SAMPLES

from memkit.cli import cli, run
from memkit.layouts import LAYOUTS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETUP = "python3 -m venv .venv && .venv/bin/pip install -q {what} && .venv/bin/{then}"
PROGRAM = "/home/me/.memkit/bin/memkit"
REPORT = "memkit report data-samples/archive --now 2025-02-28T21:30+08:00 --tz Asia/Shanghai"


class Block(NamedTuple):
    """A fenced block: its language, its text, the line of its fence."""

    language: str
    text: str
    line: int


def blocks():
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [Block(match[1], match[2], README.count("\n", 0, match.start()) + 1) for match in found]


BLOCKS = blocks()


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Stand in a folder like a clone, in 80 columns."""
    shutil.copytree(SAMPLES, tmp_path / "data-samples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_every_block_is_of_a_kind_that_is_checked():
    assert {block.language for block in BLOCKS} == {
        "python",
        "text",
        "sh",
        "console",
        "json",
        "ipython",
    }  # test_magics has the last


def test_python_runs_in_order_and_prints_what_the_text_below_it_says(clone):
    names: dict[str, object] = {}
    printed = ""
    for block in BLOCKS:
        if block.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * block.line + block.text, "README.md", "exec"), names)
            printed = out.getvalue()
        elif block.language == "text":
            assert printed == block.text, f"README.md:{block.line}"


def shown_commands():
    for block in BLOCKS:
        if block.language == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, said = part.partition("\n")
                yield pytest.param(command, said, id=f"line {block.line}")


@pytest.mark.parametrize(("command", "said"), list(shown_commands()))
def test_commands_print_what_is_shown(clone, capsys, command, said):
    program, *words = shlex.split(command)
    assert program == "memkit"
    assert run(words) in (0, 1)
    assert capsys.readouterr().out == said


def test_setup_commands_are_the_two_and_the_first_one_shows_the_main_job(clone, capsys):
    shown = [block.text.strip() for block in BLOCKS if block.language == "sh"]
    report = SETUP.format(what=".", then=REPORT)
    tests = SETUP.format(what="-e '.[test]'", then="pytest")
    assert shown[:2] == [report, tests]
    assert shown[-1] == report
    assert run(shlex.split(REPORT)[1:]) == 0
    out = capsys.readouterr().out
    for part in ("entries", "characters", "2024-12", "2025-01", "2025-02", "no findings", "# 周摘要 2025-W09"):
        assert part in out


def test_the_server_is_installed_with_its_extra_where_the_configurations_look_for_it(clone, capsys):
    setup = next(block.text.strip() for block in BLOCKS if block.language == "sh" and "[mcp]" in block.text)
    venv, install, doctor = setup.split(" && ")
    assert (venv, install) == ("python3 -m venv ~/.memkit", "~/.memkit/bin/pip install -q '.[mcp]'")
    program, *words = shlex.split(doctor)
    assert program == "~/.memkit/bin/memkit"
    assert run(words) == 0
    assert re.search(r"^  mcp +\d", capsys.readouterr().out, re.MULTILINE)
    assert README.count(PROGRAM) == 3


def test_ci_runs_the_test_command_of_the_readme():
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    pattern = re.search(r"sed -n '/(.+)/p' README\.md", script)[1]
    assert re.findall(pattern, README, re.MULTILINE) == [SETUP.format(what="-e '.[test]'", then="pytest")]
    assert 'eval "${command% && *}"' in script
    assert 'eval "${command##* && }"' in script


def test_commands_layouts_and_options_of_the_readme_are_those_that_there_are():
    table = README.split("## Command line")[1].split("\n## ")[0]
    assert set(cli.commands) <= set(re.findall(r"[\w-]+", table))
    named = re.findall(r"`memkit ([\w-]+) PATH", table)
    assert set(named) <= set(cli.commands)
    options = {option for command in cli.commands.values() for param in command.params for option in param.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", table)) <= options
    layouts = README.split("## Layouts")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` ", layouts, re.MULTILINE) == list(LAYOUTS)


def test_pictures_and_links_lead_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target
    assert all(picture.stat().st_size < 150_000 for picture in (ROOT / "notebooks/images").iterdir())


def test_the_readme_opens_with_five_lines_of_what_it_is():
    assert README.split("\n\n")[1].count("\n") == 4
    for heading in (
        "Start",
        "Three uses",
        "Layouts",
        "In a notebook",
        "Command line and CI",
        "Privacy",
        "Bad files",
        "中文",
        "Changes",
    ):
        assert f"\n## {heading}\n" in README
