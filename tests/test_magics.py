"""%memory and %%remember in a real IPython shell, what Tab offers there, and what `?` says."""

import contextlib
import io
import shutil
import sys

import pytest
from conftest import CLOCK, SAMPLES, ZONE
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from memkit import Store

AT = f"--now {CLOCK} --tz {ZONE}"
QUESTIONS = {"between", "duplicates", "gaps", "matching", "recent", "tagged", "volume"}


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Return an IPython shell that keeps to itself, with memkit's magics."""
    for name in ("__main__", "__mp_main__"):  # a shell takes the place of the main module
        if name in sys.modules:
            monkeypatch.setitem(sys.modules, name, sys.modules[name])
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}), ipython_dir=str(tmp_path / "ipython"))
    assert shell.run_line_magic("load_ext", "memkit") is None
    yield shell
    shell.reset(new_session=False)
    shell.restore_sys_module_state()


@pytest.fixture
def opened(shell, copied):
    """Return the shell after `%memory` has opened a copy of the archive."""
    run(shell, f"%memory {copied('archive')} {AT}")
    return shell


def run(shell, cell):
    """Return what a cell gave and what was printed; a cell that fails shows its line as an error."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        ran = shell.run_cell(cell, store_history=True)
    return ran.result if ran.success else None, out.getvalue()


def refused(shell, cell):
    """Return the one line that a refused cell prints."""
    gave, printed = run(shell, cell)
    assert gave is None
    assert printed.count("\n") == 1
    return printed.strip().removeprefix("UsageError: ")


def today(shell):
    return (shell.user_ns["mem"].root / "archive/2025/2025-02-28.md").read_text(encoding="utf-8")


def test_the_cells_of_the_readme_open_a_vault_and_plan_to_remember(shell, copied, monkeypatch):
    folder = copied("archive").parent
    (folder / "data-samples").mkdir()
    (folder / "archive").rename(folder / "data-samples/archive")
    monkeypatch.chdir(folder)
    readme = (SAMPLES.parent / "README.md").read_text(encoding="utf-8")
    lines = readme.split("```ipython\n")[1].split("```")[0].splitlines()
    for line in lines:
        gave, printed = run(shell, line)
    assert isinstance(gave, Store)
    assert gave.vault == folder / "data-samples/archive"
    gave, printed = run(shell, "%%remember --tag 计划\n周末去看海")
    assert not gave.applied
    assert "+- [计划] 周末去看海" in printed


class TestMemory:
    def test_it_opens_a_store_names_it_mem_and_shows_its_card(self, shell):
        store, printed = run(shell, f"%memory {SAMPLES / 'archive'} {AT}")
        assert isinstance(store, Store)
        assert shell.user_ns["mem"] is store is shell.user_ns["_"]
        assert "147 entries" in printed
        assert run(shell, "mem.recent(1)['date'].max().day")[0] == 28

    def test_frames_can_be_asked(self, opened):
        assert len(run(opened, "mem.entries().memory.tagged('计划')")[0]) == 5

    @pytest.mark.parametrize("name", ["我的 记忆", "it's", 'say "hi"', "a  b", "#1", "-v"])
    def test_a_folder_may_be_called_anything(self, shell, tmp_path, name):
        shutil.copytree(SAMPLES / "archive", tmp_path / name)
        quoted = f'"{tmp_path / name}"' if '"' not in name else f"'{tmp_path / name}'"
        store, _ = run(shell, f"%memory {quoted} {AT}")
        assert store.root.is_relative_to(tmp_path / name)

    def test_blanks_need_no_quotes(self, shell, tmp_path):
        shutil.copytree(SAMPLES / "archive", tmp_path / "我的 记忆")
        assert run(shell, f"%memory {tmp_path}/我的 记忆 {AT}")[0].root.is_relative_to(tmp_path / "我的 记忆")
        assert run(shell, f"%memory {tmp_path}/我的\\ 记忆 {AT}")[0].root.is_relative_to(tmp_path / "我的 记忆")

    def test_home_is_a_tilde_and_no_path_is_here(self, shell, tmp_path, monkeypatch):
        shutil.copytree(SAMPLES / "archive", tmp_path / "vault")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        monkeypatch.chdir(tmp_path / "vault")
        for path in ("~/vault", ""):
            assert run(shell, f"%memory {path} {AT}")[0].root.is_relative_to(tmp_path / "vault")

    def test_a_variable_may_hold_the_path(self, shell):
        shell.user_ns["vault"] = SAMPLES / "archive"
        assert run(shell, f"%memory {{vault}} {AT}")[0].layout == "archive"
        assert run(shell, f"%memory $vault {AT}")[0].layout == "archive"

    def test_another_name_and_another_layout(self, shell, tmp_path):
        store, _ = run(shell, f"%memory {tmp_path}/new --layout layers --as 日记")
        assert store is shell.user_ns["日记"]
        assert store.layout == "layers"
        assert "mem" not in shell.user_ns
        assert not (tmp_path / "new").exists()

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("/no/where", "/no/where: no such folder"),
            (f"{SAMPLES / 'archive'} --tz Mars/Olympus", "tz: "),
            (f"{SAMPLES / 'archive'} --now yesterday", "now: "),
            (f"{SAMPLES / 'archive'} --layout heap", "layout: "),
            (f"{SAMPLES / 'archive'} --as 1st", "--as: '1st' is no name of a variable"),
            (f"{SAMPLES / 'archive'} --as class", "--as: 'class' is no name of a variable"),
            (f"{SAMPLES / 'archive'} --lay archive", "unrecognized arguments: --lay"),
            ('"~/vault', 'no closing quotation: "~/vault'),
        ],
    )
    def test_what_cannot_be_is_said_in_one_line(self, shell, line, said):
        assert refused(shell, f"%memory {line}").startswith(said)
        assert "mem" not in shell.user_ns

    def test_a_refusal_leaves_the_store_that_was_open(self, opened):
        before = opened.user_ns["mem"]
        refused(opened, "%memory /no/where")
        assert opened.user_ns["mem"] is before


class TestRemember:
    def test_it_plans_and_only_apply_writes(self, opened):
        before = today(opened)
        plan, printed = run(opened, "%%remember --tag 计划\n三月先试营业两周\n")
        assert "not applied" in printed
        assert "+- [计划] 三月先试营业两周" in plan.diff()
        assert today(opened) == before
        run(opened, "_.apply()")
        assert "\n- [计划] 三月先试营业两周\n" in today(opened)

    def test_yes_writes_at_once(self, opened):
        plan, printed = run(opened, "%%remember --yes\n红水壶又响了\n")
        assert plan.applied
        assert "not applied" not in printed
        assert today(opened).endswith("- 红水壶又响了\n")

    def test_a_cell_is_kept_as_it_is_written(self, opened):
        run(opened, "%%remember --yes\n三件事 $HOME {1 + 1} %memory\n1. \"海报\"\n\n2. 'b' \\n")
        lines = ["三件事 $HOME {1 + 1} %memory", '1. "海报"', "2. 'b' \\n"]
        assert all(line in today(opened) for line in lines)
        entry = opened.user_ns["mem"].entries()["text"].iloc[-1]
        assert [line for line in entry.split("\n") if line] == lines

    def test_it_goes_to_the_store_that_was_opened_last_or_that_is_named(self, shell, copied):
        archive, layers = copied("archive"), copied("layers")
        run(shell, f"%memory {archive} {AT}")
        run(shell, f"%memory {layers} --as hot {AT}")
        changed = [edit.path for edit in run(shell, "%%remember --important\n钥匙在红水壶里\n")[0].edits]
        assert changed == ["cold/2025-02/2025-02-28.md", "hot.md"]
        assert run(shell, "%%remember --as mem\n钥匙\n")[0].edits[0].path == "archive/2025/2025-02-28.md"

    def test_a_store_opened_without_the_magic_is_found_by_its_name(self, shell, copied):
        run(shell, f"import memkit; mem = memkit.open({str(copied('archive'))!r}, now={CLOCK!r}, tz={ZONE!r})")
        assert run(shell, "%%remember\n钥匙\n")[0].added == 1

    @pytest.mark.parametrize(
        ("cell", "said"),
        [
            ("%%remember\n \n", "the cell is empty"),
            ("%%remember --important\n钥匙\n", "important: only a store of the layout layers"),
            ("%%remember --as df\n钥匙\n", "df: no store in this variable"),
            ("%%remember 计划\n钥匙\n", "unrecognized arguments: 计划; %%remember? says"),
            ("%%remember --tag\n钥匙\n", "argument --tag: expected one argument"),
        ],
    )
    def test_what_cannot_be_is_said_in_one_line_and_nothing_is_written(self, opened, cell, said):
        before = today(opened)
        assert refused(opened, cell).startswith(said)
        assert today(opened) == before

    def test_before_any_store_it_says_how_to_open_one(self, shell):
        assert refused(shell, "%%remember\n钥匙\n") == "mem: no store in this variable; open one first: %memory PATH"

    def test_a_day_that_another_wrote_in_meanwhile_is_a_conflict(self, opened):
        run(opened, "%%remember\n钥匙\n")
        plan = opened.user_ns["_"]
        run(opened, "%%remember --yes\n门\n")
        opened.user_ns["plan"] = plan
        assert "ConflictError" in run(opened, "plan.apply()")[1]


class TestHelp:
    @pytest.mark.parametrize("jedi", [False, True])
    def test_tab_completes_the_accessor_the_store_and_the_magics(self, opened, jedi, tmp_path, monkeypatch):
        monkeypatch.setattr("jedi.settings.cache_directory", str(tmp_path / "jedi"))
        opened.Completer.use_jedi = jedi
        run(opened, "df = mem.entries()")
        assert offered(opened, "df.mem") >= {"memory"}
        assert offered(opened, "df.memory.") == QUESTIONS
        assert offered(opened, "mem.") >= {"entries", "recent", "audit", "append", "forget", "summary", "layout", "root"}
        assert not {name for name in offered(opened, "mem.") if name.startswith("_")}
        assert offered(opened, "%mem") == {"%memory"}
        assert offered(opened, "%%rem") == {"%%remember"}

    def test_a_question_mark_shows_what_a_magic_takes(self, opened):
        for name, words in (("%memory", "%memory PATH [--layout"), ("%%remember", "%%remember [--tag TAG]")):
            assert words in opened.object_inspect(name)["docstring"]

    def test_every_question_of_the_accessor_says_what_it_returns(self, opened):
        run(opened, "df = mem.entries()")
        for name in QUESTIONS:
            said = opened.object_inspect(f"df.memory.{name}")["docstring"]
            assert said.startswith("Return ")
            assert "Raises: BadArgument" in said


def offered(shell, text):
    """Return what Tab offers after a text."""
    with provisionalcompleter():
        return {one.text.lstrip(".") for one in shell.Completer.completions(text, len(text))}


def test_the_extension_can_be_taken_away_and_loaded_again(shell):
    shell.run_line_magic("unload_ext", "memkit")
    with contextlib.redirect_stderr(io.StringIO()), pytest.raises(UsageError):
        shell.run_line_magic("memory", "x")
    shell.run_line_magic("load_ext", "memkit")
    assert "no such folder" in refused(shell, "%memory /no/where")
