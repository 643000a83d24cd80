"""The page of the commands, with their options and examples."""

from __future__ import annotations

from collections.abc import Iterator

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from workbench.cli import app

from .prose import MADE, cell


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# Commands",
        "",
        f"<!-- {MADE} -->",
        "",
        "One command, `workbench`. A store is one SQLite file: `--store PATH`, else `$WORKBENCH_STORE`, else",
        "`./workbench.db`. Where it has several projects, `--project NAME` (else `$WORKBENCH_PROJECT`) says which;",
        "`--organization NAME` (else `$WORKBENCH_ORGANIZATION`) in a store of several organizations.",
        "",
        "Exit code 0: done. 1: it was tried and failed: an unsound recipe, a refused file, a damaged store. 2: it was",
        "asked wrongly: an unknown option, store, project, param or step. Results go to the standard output, problems,",
        "warnings and the progress bar to the standard error.",
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
    arguments = [param for param in command.params if isinstance(param, TyperArgument)]
    options = [param for param in command.params if isinstance(param, TyperOption) and not param.is_eager]
    called = " ".join(["workbench", name, *(_usage(argument) for argument in arguments)])
    yield f"## {name}"
    yield ""
    yield " ".join((command.help or "").split())
    yield ""
    yield f"`{called} [OPTIONS]`"
    yield ""
    yield "| | | |"
    yield "|---|---|---|"
    for argument in arguments:
        yield f"| `{_usage(argument)}` | {_default(argument)} | {cell(argument.help or '')} |"
    for option in options:
        yield f"| {_spelled(option)} | {_default(option)} | {cell(option.help or '')} |"
    yield ""
    yield (command.epilog or "").strip()
    yield ""


def _usage(argument: TyperArgument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required else f"[{name}]"


def _spelled(option: TyperOption) -> str:
    value = "" if option.is_flag else f" {option.metavar or 'VALUE'}"
    return f"`{', '.join(option.opts)}{value}`"


def _default(param: TyperArgument | TyperOption) -> str:
    if param.required:
        return "required"
    flag = isinstance(param, TyperOption) and param.is_flag
    if flag or param.default in (None, False, []):
        return "repeatable" if isinstance(param, TyperOption) and param.multiple else ""
    return f"else `{param.default}`"
