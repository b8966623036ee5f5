"""`%memory` opens a store in a notebook, `%%remember` plans to add a cell's text to it; nothing else knows of IPython.

`%load_ext memkit` makes them known. What goes wrong is said in one line, as IPython says it of its own magics.
"""

from __future__ import annotations

import argparse
import keyword
import os
import shlex
from collections.abc import Callable
from typing import Any, NoReturn

import memkit.accessor  # noqa: F401 - frames of the store can be asked: it registers df.memory
from memkit.edits import Plan
from memkit.errors import BadArgument, MemkitError
from memkit.opening import open_store
from memkit.store import Store

VARIABLE = "mem"


class Magics:
    """The two magics of one shell; `name` is the variable that holds the store last opened."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.name = VARIABLE

    def memory(self, line: str) -> Store:
        """Open a memory store, put it into the variable `mem`, and show its card.

            %memory PATH [--layout archive|workspace|layers] [--tz ZONE] [--now TIME] [--as NAME]

        PATH is the folder, or a vault or workspace that holds one; without it, the current folder. The options are those of
        memkit.open; `--as` names another variable.

        Examples:
            %load_ext memkit
            %memory ~/vault
            %memory "~/坚果云/我的 记忆" --as diary
        """
        given = _parsed(_opening(), line)
        name = _checked_name(given.name or VARIABLE)
        path = " ".join(given.path) or None
        store = open_store(path, layout=given.layout, tz=given.tz, now=given.now)
        self._shell.push({name: store})
        self.name = name
        return store

    def remember(self, line: str, cell: str) -> Plan:
        """Plan to add the text of the cell to the store that `%memory` opened: look at the diff, then `_.apply()`.

            %%remember [--tag TAG] [--important] [--yes] [--as NAME]

        `--yes` adds it at once. `--important` (layers) also makes it a candidate. `--as` names the variable of another store.

        Examples:
            %%remember --tag 计划
            三月先试营业两周
        """
        given = _parsed(_adding(), line)
        if not cell.strip():
            raise BadArgument("the cell is empty; write below %%remember what is to be remembered")
        store = self._store(_checked_name(given.name or self.name))
        return store.append(cell.strip(), given.tag, important=given.important, dry_run=not given.yes)

    def _store(self, name: str) -> Store:
        held = self._shell.user_ns.get(name)
        if not isinstance(held, Store):
            raise BadArgument(f"{name}: no store in this variable; open one first: %memory PATH")
        return held


def load(shell: Any) -> None:
    """Make the magics known to an IPython shell."""
    magics = Magics(shell)
    shell.register_magic_function(_plainly(magics.memory), "line", "memory")
    shell.register_magic_function(_plainly(magics.remember), "cell", "remember")


def unload(shell: Any) -> None:
    """Take the magics away again."""
    for kind, name in (("line", "memory"), ("cell", "remember")):
        shell.magics_manager.magics[kind].pop(name, None)


def _plainly(magic: Callable[..., Any]) -> Callable[..., Any]:
    """Return a magic whose errors raised on purpose are a line, without a traceback."""
    from IPython.core.error import UsageError

    def plain(*given: str) -> Any:
        try:
            return magic(*given)
        except MemkitError as error:
            raise UsageError(" ".join(str(error).splitlines())) from None

    plain.__doc__ = magic.__doc__
    return plain


# ---- the line ----


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise BadArgument(f"{message}; %{self.prog}? says what there is")


def _opening() -> _Parser:
    parser = _parser("memory")
    parser.add_argument("path", nargs="*")
    for option in ("--layout", "--tz", "--now"):
        parser.add_argument(option)
    return parser


def _adding() -> _Parser:
    parser = _parser("%remember")
    parser.add_argument("--tag")
    for option in ("--important", "--yes"):
        parser.add_argument(option, action="store_true")
    return parser


def _parser(name: str) -> _Parser:
    parser = _Parser(prog=name, add_help=False, allow_abbrev=False)
    parser.add_argument("--as", dest="name")
    return parser


def _parsed(parser: _Parser, line: str) -> argparse.Namespace:
    """Return what a line says; words in quotes are one word.

    Raises: BadArgument for a quote without its end, or what the parser does not know.
    """
    words = shlex.shlex(line, posix=True, punctuation_chars=False)
    words.whitespace_split, words.commenters = True, ""
    words.escape = "\\" if os.sep == "/" else ""  # elsewhere it parts folders
    try:
        said = list(words)
    except ValueError as error:
        raise BadArgument(f"{str(error).lower()}: {line.strip()[:80]}") from None
    return parser.parse_args(said)


def _checked_name(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise BadArgument(f"--as: {name[:40]!r} is no name of a variable")
    return name
