"""What commands are given as text: at stdin and in files, closed, in other encodings, under an ASCII locale."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CLOCK, ZONE, open_at

import memkit

HOME = Path(memkit.__file__).parents[1]
EVENING = ["--now", CLOCK, "--tz", ZONE]
ASCII = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def shell(*words, data=b"", closed=False, env=None):
    """Return exit code, stdout and stderr of a command that gets some bytes at stdin."""
    command = [sys.executable, "-m", "memkit", *map(str, words), *EVENING]
    if closed:
        command = ["sh", "-c", '"$@" <&-', "sh", *command]
    given = {} if closed else {"input": data}
    around = os.environ | {"PYTHONPATH": str(HOME)} | (env or {})
    done = subprocess.run(command, capture_output=True, check=False, env=around, **given)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
@pytest.mark.parametrize("words", [["append", "{}", "-"], ["append-many", "{}", "-"], ["forget", "{}", "-"]])
def test_a_closed_stdin_is_said_to_be_closed(copied, words):
    path = copied("layers")
    code, _, err = shell(*(word.format(path) for word in words), closed=True)
    assert (code, err) == (2, "memkit: stdin: it is closed; give the text itself in place of -, or pipe it in\n")


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_a_question_at_a_closed_stdin_is_a_no(copied, tmp_path):
    code, out, err = shell("migrate", copied("layers"), tmp_path / "new", "--to", "archive", closed=True)
    assert (code, err) == (1, "")
    assert "there is nobody to ask; pass --yes\nnothing was written\n" in out
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("data", "at"), [(b"a\xffb", 2), ("茶室开门".encode("gbk"), 1), ("茶".encode("utf-16"), 1)])
def test_bytes_that_are_not_utf8_are_refused_with_their_place(copied, tmp_path, data, at):
    path = copied("layers")
    before = len(open_at(path).entries())
    assert shell("append", path, "-", data=data)[::2] == (
        2,
        f"memkit: stdin: not UTF-8 in line 1, at its byte {at}; save it as UTF-8\n",
    )
    (tmp_path / "lines.txt").write_bytes(b"good\n" + data)
    code, _, err = shell("append-many", path, tmp_path / "lines.txt")
    assert code == 2
    assert err.endswith(f"lines.txt: not UTF-8 in line 2, at its byte {at}; save it as UTF-8\n")
    assert len(open_at(path).entries()) == before


@pytest.mark.parametrize("env", [{}, ASCII])
def test_utf8_with_and_without_a_mark_is_read_whatever_the_locale(copied, env):
    path = copied("layers")
    for data in ("\ufeff茶水开了", "灯灭了"):
        code, _, err = shell("append", path, "-", data=data.encode(), env=env)
        assert (code, err) == (0, "")
    assert {"灯灭了", "茶水开了"} <= set(open_at(path).recent(1)["text"])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere arguments are UTF-8 whatever the locale")
def test_arguments_of_utf8_are_text_under_an_ascii_locale(copied, tmp_path):
    path = copied("layers")
    assert shell("append", path, "茶三", "--tag", "决定", env=ASCII)[::2] == (0, "")
    assert "茶三" in set(open_at(path).recent(1)["text"])
    code, _, err = shell("doctor", tmp_path / "茶馆", env=ASCII)
    assert code == 2
    assert err.count("\n") == 1
    assert "PYTHONUTF8=1" in err
    code, _, err = shell("append", path, "茶四".encode("gbk").decode("utf-8", "surrogateescape"), env=ASCII)
    assert code == 2
    assert "is not UTF-8 text" in err
