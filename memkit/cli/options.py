"""What the commands have in common: their words and options, and how a question that gives a frame becomes a command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from memkit.cli.output import ROWS, show
from memkit.cli.place import open_at

if TYPE_CHECKING:
    import pandas as pd

    from memkit.store import Store

# Written out, because the modules that mean them import pandas; a test holds them equal.
LAYOUTS = ("archive", "workspace", "layers")
KEYS = ("day", "week", "month", "year", "weekday", "hour", "tag", "label", "kind", "path")
PERIODS = ("day", "week", "month")
SEVERITIES = ("error", "warning", "info")

Ask = Callable[..., "pd.DataFrame"]
Answer = Callable[..., "int | None"]


def choice(name: str, values: Sequence[str], help: str, default: str | None = None, *, many: bool = False) -> click.Option:
    """Return an option with a closed set of values."""
    shown = default is not None
    return click.Option([name], type=click.Choice(values), default=default, show_default=shown, multiple=many, help=help)


def store_options() -> list[click.Parameter]:
    """Return the options of every command."""
    return [
        choice("--layout", LAYOUTS, "What the folder is.  [default: as it looks]"),
        click.Option(["--now"], metavar="TIME", help="Stands for now, as 2025-02-28T21:30+08:00."),
        click.Option(["--tz"], metavar="ZONE", help="Decides what today is.  [default: the machine's]"),
    ]


def print_options(*formats: str) -> list[click.Parameter]:
    """Return the options of a command that prints rows."""
    help = f"Print N rows, 0 for all.  [default: {ROWS} of a table, else 0]"
    return [
        choice("--format", formats, "How to print it.", "table"),
        click.Option(["--limit"], type=click.IntRange(min=0), metavar="N", help=help),
    ]


def on_store(
    group: click.Group, *names: str, default: str | None = None, options: Sequence[click.Parameter] = ()
) -> Callable[[Answer], Answer]:
    """Return a decorator that makes a command of a function from an open store; `names` are the words after PATH.

    The first word may be left out, and so may a number at the end for which there is a `default`.
    """

    def add(answer: Answer) -> Answer:
        def command(words: tuple[str, ...], layout: str | None, now: str | None, tz: str | None, **rest: Any) -> int | None:
            path, said = _split(words, names, default)
            return answer(open_at(path, layout=layout, now=now, tz=tz), *said, **rest)

        wanted = click.Argument(["words"], nargs=-1, metavar=" ".join(("[PATH]", *names)))
        group.command(answer.__name__.replace("_", "-"), help=answer.__doc__, params=[wanted, *options, *store_options()])(
            command
        )
        return answer

    return add


def on_frame(
    group: click.Group, *names: str, default: str | None = None, options: Sequence[click.Parameter] = ()
) -> Callable[[Ask], Ask]:
    """Return a decorator like `on_store` for a function that returns a frame, which is printed."""

    def add(ask: Ask) -> Ask:
        def answer(store: Store, *said: str, format: str, limit: int | None, **rest: Any) -> None:
            show(ask(store, *said, **rest), format, limit)

        answer.__name__, answer.__doc__ = ask.__name__, ask.__doc__
        on_store(group, *names, default=default, options=[*options, *print_options("table", "json", "csv")])(answer)
        return ask

    return add


def _split(words: tuple[str, ...], names: tuple[str, ...], default: str | None) -> tuple[str | None, tuple[str, ...]]:
    """Return PATH, None if it was left out, and the words after it."""
    given = len(words)
    if default is not None and not (words and words[-1].isdecimal()):
        words = (*words, default)
    room = len(words) - len(names)
    if room not in (0, 1):
        wanted = " ".join(("[PATH]", *names))
        raise click.UsageError(f"Expected {wanted}; got {given or 'nothing'}.", click.get_current_context())
    if not room and words and _is_folder(words[0]):
        raise click.UsageError(f"{names[0]} is missing: {words[0]} is a folder.", click.get_current_context())
    return (words[0] if room else None), words[room:]


def _is_folder(word: str) -> bool:
    from memkit import files

    return files.is_folder(word)
