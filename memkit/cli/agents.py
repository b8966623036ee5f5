"""What programs ask of the command line: the tools' schemas, and the script by which a shell completes words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memkit.cli.commands import cli
from memkit.cli.options import format_options, on_store
from memkit.cli.output import show_facts

if TYPE_CHECKING:
    from memkit.store import Store

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MEMKIT_COMPLETE"  # by which click is asked; made of the program's name


@on_store(cli, options=format_options("json", "openai"))
def tools(store: Store, format: str) -> None:
    """Print the agents' tools as JSON schemas.

    For frameworks without MCP: json as memkit names its parts, openai as `tools` of a chat request.

    Example: memkit tools ~/vault --format openai
    """
    from memkit.tools import schemas

    told = [_as_function(tool) if format == "openai" else tool for tool in schemas(store)]
    show_facts(told)


def _as_function(tool: dict[str, object]) -> dict[str, object]:
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": function}


@cli.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes words in a shell.

    bash: eval "$(memkit completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: memkit completion fish
    into ~/.config/fish/completions/memkit.fish.

    Example: memkit completion bash
    """
    from click.shell_completion import get_completion_class

    known = get_completion_class(shell)
    assert known is not None
    click.echo(known(cli, {}, "memkit", VARIABLE).source())
