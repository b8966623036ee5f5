"""The command line: `run` turns arguments into an exit code. Each command opens a store, asks it and prints the answer.

Only click is imported at the top of these modules, so that `memkit --help` costs what click costs; pandas comes with the
first answer.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module

import click

from memkit.cli.commands import cli
from memkit.cli.output import as_typed, help_width
from memkit.errors import BadArgument, MemkitError

for _room in ("nouns", "caching", "changes", "moving", "doctor", "agents", "serving"):
    import_module(f"memkit.cli.{_room}")  # its commands join the group, in the order in which help lists them

_ODD = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # halves that stand for no byte
BAD_REQUEST, INTERRUPTED = 2, 130
CURE = "set the terminal to UTF-8 (PYTHONUTF8=1 does where a locale is ASCII)"

__all__ = ["cli", "run"]


def run(args: list[str] | None = None) -> int:
    """Run the command line and return its exit code; an error that was meant is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # UTF-8 whatever the locale says
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    given = sys.argv[1:] if args is None else args
    try:
        code = cli.main(_as_text(given), prog_name="memkit", standalone_mode=False, terminal_width=help_width())
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except MemkitError as error:
        return _refuse(as_typed(str(error)))
    except UnicodeEncodeError as error:
        if sys.getfilesystemencoding() == "utf-8":
            raise
        return _refuse(f"{error.object[:60]}: no name of a file under this locale; {CURE}")
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        return _refuse(f"{error.filename}: {reason}" if error.filename else reason)
    return code if isinstance(code, int) else 0


def _as_text(args: list[str]) -> list[str]:
    """Return the arguments as text: where the locale is ASCII, each byte beyond it reaches Python as half a character.

    Raises: BadArgument for one whose bytes are not UTF-8.
    """
    return [_word(number, word) for number, word in enumerate(args, 1)]


def _word(number: int, word: str) -> str:
    try:
        return word.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError as error:
        shown = word.encode("utf-8", "surrogateescape" if _ODD.search(word) is None else "replace")
        raise BadArgument(
            f"argument {number}: {shown.decode('utf-8', 'backslashreplace')[:60]!s} is not UTF-8 text; "
            f"{CURE}, or rename the folder"
        ) from error


def _refuse(message: str) -> int:
    from memkit.cells import visible

    click.echo(f"memkit: {visible(message)}", err=True)
    return BAD_REQUEST
