"""What the commands have in common: their words and options, and how a question that gives a frame becomes a command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from memkit.cli.output import ROWS, show
from memkit.cli.place import open_at

if TYPE_CHECKING:
    import pandas as pd

    from memkit.edits import Plan
    from memkit.store import Store

# Written out, because the modules that mean them import pandas; a test holds them equal.
LAYOUTS = ("archive", "workspace", "layers")
KEYS = ("day", "week", "month", "year", "weekday", "hour", "tag", "label", "kind", "path")
PERIODS = ("day", "week", "month")
CHARTS = ("volume", "calendar", "tags", "hours", "growth", "budget", "coverage")
SEVERITIES = ("error", "warning", "info")

WORDS = {"CHART": CHARTS}  # words after PATH that are one of a few

PLACES = ("TARGET", "DIR")  # words that are folders themselves; one with something in it is more likely the store

DRY_RUN = click.Option(["--dry-run"], is_flag=True, help="Only say what would change.")
YES = click.Option(["--yes"], is_flag=True, help="Apply without asking.")

Ask = Callable[..., "pd.DataFrame"]
Change = Callable[..., "Plan"]
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


def format_options(*formats: str) -> list[click.Parameter]:
    """Return `--format`, the first of which is the default, and `--json`, which is short for that format."""
    return [
        choice("--format", formats, "How to print it.", formats[0]),
        click.Option(["--json"], is_flag=True, help="The same as --format json."),
    ]


def print_options(*formats: str) -> list[click.Parameter]:
    """Return the options of a command that prints rows."""
    help = f"Print N rows, 0 for all.  [default: {ROWS} of a table, else 0]"
    return [
        *format_options(*formats),
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
            settle_format(rest)
            return answer(open_at(path, layout=layout, now=now, tz=tz), *said, **rest)

        name = answer.__name__.rstrip("_").replace("_", "-")
        group.command(name, help=answer.__doc__, params=[words_argument(*names), *options, *store_options()])(command)
        return answer

    return add


def words_argument(*names: str) -> click.Argument:
    """Return PATH and the words after it as one argument, which a shell completes as paths."""
    return click.Argument(["words"], nargs=-1, metavar=" ".join(("[PATH]", *names)), shell_complete=_completion(names))


def _completion(names: tuple[str, ...]) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """Return what a shell asks for the words that may follow: paths, and where one of a few is due, those."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        given = len(ctx.params.get(str(param.name)) or ())
        due = {name for name in names[max(given - 1, 0) : given + 1] if name in WORDS}  # with PATH, or without
        few = [CompletionItem(word) for name in due for word in WORDS[name] if word.startswith(incomplete)]
        paths = [] if due and given else [CompletionItem(incomplete, type="file")]
        return [*paths, *few]  # paths first: bash drops what stands in front of them

    return complete


def settle_format(rest: dict[str, Any]) -> None:
    """Take `--json` out of the options of a command, and put what it means in its place."""
    if not rest.pop("json", False):
        return
    source = click.get_current_context().get_parameter_source("format")
    if source is not None and source.name == "COMMANDLINE" and rest["format"] != "json":
        raise click.UsageError(f"--json and --format {rest['format']} do not go together.")
    rest["format"] = "json"


def on_plan(
    group: click.Group, *names: str, options: Sequence[click.Parameter] = (), asks: bool = False
) -> Callable[[Change], Change]:
    """Return a decorator like `on_store` for a function that returns a plan, which is printed.

    What it returns is applied already, or if it `asks`, only when somebody says yes or `--yes` was given.
    """
    more = [DRY_RUN, *([YES] if asks else []), *format_options("text", "json")]

    def add(change: Change) -> Change:
        def answer(store: Store, *said: str, format: str, dry_run: bool, yes: bool = False, **rest: Any) -> int:
            from memkit.cli import asking

            if not asks:
                asking.print_plan(change(store, *said, dry_run=dry_run, **rest), format)
                return 0
            asking.check(format, dry_run=dry_run, yes=yes)
            return asking.asked(change(store, *said, **rest), dry_run=dry_run, yes=yes, format=format)

        answer.__name__, answer.__doc__ = change.__name__, change.__doc__
        on_store(group, *names, options=[*options, *more])(answer)
        return change

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
    if not room and words and _is_folder(words[0]) and not (names[0] in PLACES and _is_empty(words[0])):
        raise click.UsageError(f"{names[0]} is missing: {words[0]} is a folder.", click.get_current_context())
    return (words[0] if room else None), words[room:]


def _is_folder(word: str) -> bool:
    from memkit import files

    return files.is_folder(word)


def _is_empty(word: str) -> bool:
    from memkit import files

    return not files.names_of_output(files.place_of(word, "PATH"))
