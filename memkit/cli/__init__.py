"""The command line: `run` turns arguments into an exit code. Each command opens a store, asks it and prints the answer.

Only click is imported at the top of these modules, so that `memkit --help` costs what click costs; pandas comes with the
first answer.
"""

from __future__ import annotations

import re
import sys

import click

from memkit.cli import caching as _caching  # noqa: F401  # their commands join the group
from memkit.cli import changes as _changes  # noqa: F401
from memkit.cli.commands import cli
from memkit.cli.output import help_width
from memkit.errors import MemkitError

_OPTION = re.compile(r"\bpass ([a-z_]+)=")  # as Python spells it
BAD_REQUEST, INTERRUPTED = 2, 130

__all__ = ["cli", "run"]


def run(args: list[str] | None = None) -> int:
    """Run the command line and return its exit code; an error that was meant is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # UTF-8 whatever the locale says
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = cli.main(args, prog_name="memkit", standalone_mode=False, terminal_width=help_width())
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except MemkitError as error:
        return _refuse(_OPTION.sub(lambda found: f"pass --{found[1].replace('_', '-')}", str(error)))
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        return _refuse(f"{error.filename}: {reason}" if error.filename else reason)
    return code if isinstance(code, int) else 0


def _refuse(message: str) -> int:
    from memkit.cells import visible

    click.echo(f"memkit: {visible(message)}", err=True)
    return BAD_REQUEST
