"""Bars for slow work: shown on a terminal, silent in a pipe; and work that is stopped in the middle."""

import io
import sys

import pytest
from conftest import open_at

from memkit import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that puts a terminal in the place of stderr and calls everything slow; pytest would undo it earlier."""
    return lambda: _terminal(monkeypatch)


def _terminal(monkeypatch):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr(progress, "SLOW", 0.0)
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    return shown


@pytest.fixture
def many(tmp_path):
    """Return a workspace of 1,200 small notes."""
    folder = tmp_path / "vault/memory"
    folder.mkdir(parents=True)
    for number in range(1_200):
        (folder / f"note-{number}.md").write_text(f"- 第 {number} 件事\n", encoding="utf-8")
    return open_at(tmp_path / "vault", layout="workspace")


def test_reading_many_files_is_shown(many, terminal):
    screen = terminal()
    assert len(many.entries()) == 1_200
    assert "memkit: reading" in screen.getvalue()


def test_an_audit_is_shown(many, terminal):
    screen = terminal()
    many.audit()
    assert "memkit: auditing" in screen.getvalue()


def test_an_index_in_the_making_is_shown(many, terminal):
    screen = terminal()
    assert many.sync().chunks == 1_200
    assert "memkit: indexing" in screen.getvalue()


def test_nothing_is_said_in_a_pipe(many, terminal, monkeypatch):
    screen = terminal()
    monkeypatch.setattr(screen, "isatty", lambda: False)
    many.sync()
    many.audit()
    assert screen.getvalue() == ""


def test_an_index_that_is_stopped_in_the_making_leaves_none(many, monkeypatch):
    def stopped(items, *told, **how):
        yield items[0]
        raise KeyboardInterrupt

    monkeypatch.setattr("memkit.fts.fill.watched", stopped)
    with pytest.raises(KeyboardInterrupt):
        many.sync()
    assert not (many.root / "memory/index.sqlite").exists()
    assert [path.name for path in many.root.rglob("*.tmp")] == []
    assert len(many.search("件事", limit=None)) == 1_200


def test_reading_that_is_stopped_goes_on_when_asked_again(many, monkeypatch):
    def stopped(items, *told, **how):
        yield items[0]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("memkit.loading.watched", stopped)
        with pytest.raises(KeyboardInterrupt):
            many.entries()
    assert len(many.entries()) == 1_200
