"""The page of the commands, with their options and examples."""

from __future__ import annotations

from collections.abc import Iterator

import typer
from typer.core import TyperCommand, TyperGroup

from workbench.cli import app
from workbench.cli.help import default, params, spelled, usage

from .prose import MADE, cell


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# Commands",
        "",
        f"<!-- {MADE} -->",
        "",
        "One command, `workbench`. A store is one SQLite file: `--store PATH`, or `$WORKBENCH_STORE`, or",
        "`./workbench.db`. If the store has several projects, say which with `--project NAME` or",
        "`$WORKBENCH_PROJECT`. If it has several organizations, say which with `--organization NAME` or",
        "`$WORKBENCH_ORGANIZATION`.",
        "",
        "Exit code 0: done. 1: the command failed: an invalid recipe, a file that cannot be read, a damaged store. 2:",
        "the command was not understood: an unknown option, store, project, param or step. Results go to the standard",
        "output. Problems, warnings and the progress bar go to the standard error.",
        "",
        "`workbench --install-completion` lets your shell complete commands and options with the Tab key.",
        "",
    ]
    for name, command in commands().items():
        lines += _command(name, command)
    return "\n".join(lines)


def commands() -> dict[str, TyperCommand]:
    """Every command by its whole name, those of groups among them."""
    whole = typer.main.get_command(app)
    return dict(_below(whole)) if isinstance(whole, TyperGroup) else {}


def _below(group: TyperGroup, above: str = "") -> Iterator[tuple[str, TyperCommand]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _below(command, f"{above}{name} ")
        elif isinstance(command, TyperCommand):
            yield f"{above}{name}", command


def _command(name: str, command: TyperCommand) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    for paragraph in (command.help or "").split("\n\n"):
        yield " ".join(paragraph.split())
        yield ""
    yield f"`workbench {name} {usage(command)}`"
    yield ""
    yield "| | | |"
    yield "|---|---|---|"
    for param in params(command):
        yield f"| `{spelled(param)}` | {default(param)} | {cell(param.help or '')} |"
    yield ""
    yield (command.epilog or "").strip()
    yield ""
