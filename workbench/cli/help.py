"""The help of the commands, as plain text: no markup is read in it, and a literal is never broken or changed.

A literal stands between backticks where it is written, as in the docs. The help shows it between quotes, so that it
can be copied into a shell.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeAlias

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command, get_command_name

from ..cached_property import cached_property

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand
    from typer._click import Context, HelpFormatter
    from typer._click import Parameter as AnyParameter

    Param = TyperArgument | TyperOption

P = ParamSpec("P")
Declared: TypeAlias = Callable[..., None]
"""The function of a command."""
Completed: TypeAlias = Callable[[Declared], Declared]

WIDEST = 100
"""Columns of the help on a wide terminal."""
_INDENT = "  "
_WIDEST_NAME = 24
_WORD = re.compile(r"(?:[^\s`\[]|`[^`]*`|\[[^\]]*\])+")
_LITERAL = re.compile(r"`([^`]*)`")
_BARE = re.compile(r"[$.-][\w./-]+")
_SENTENCE = re.compile(r"(?<=\.)\s|\n\n")


class Commands(typer.Typer):
    """A family of commands. The help of each ends with an example."""

    def __init__(self, help: str | None = None, example: str | None = None) -> None:
        super().__init__(cls=Group, no_args_is_help=True, help=help, epilog=example and _epilog(example))

    def add(
        self, example: str, name: str | None = None, *, completed: Completed = lambda function: function
    ) -> Callable[[Callable[P, None]], Callable[P, None]]:
        """A decorator: the function is a command, called by its own name or by ``name``.

        ``completed`` gives the function options that are declared elsewhere, when the command is first looked at.
        """

        def register(function: Callable[P, None]) -> Callable[P, None]:
            class Own(Command):
                def declared(self) -> Declared:
                    return completed(function)

            called = name or get_command_name(function.__name__)
            self.command(called, cls=Own, help=inspect.getdoc(function), epilog=_epilog(example))(_without_params)
            return function

        return register


def _without_params() -> None:
    """What typer reads in place of the function of a command."""


class Command(TyperCommand):
    """A command with its help as plain text.

    Its params are read from its function when they are first asked for. Typer would read those of all commands, of
    which one runs: that takes longer than to show the help.
    """

    def declared(self) -> Declared:
        """The function, with all its options."""
        raise NotImplementedError

    @cached_property
    def _whole(self) -> AnyCommand:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command()(self.declared())
        return get_command(alone)

    @property
    def params(self) -> list[AnyParameter]:
        return self._whole.params

    @params.setter
    def params(self, read: list[AnyParameter]) -> None:
        """Typer sets what it read."""

    @property
    def callback(self) -> Callable[..., object] | None:
        return self._whole.callback

    @callback.setter
    def callback(self, read: Callable[..., object] | None) -> None:
        """As for the params."""

    def get_usage(self, ctx: Context) -> str:
        return _called(self, ctx)

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        formatter.write(_page(self, ctx))


class Group(TyperGroup):
    """A group of commands with its help as plain text."""

    def get_usage(self, ctx: Context) -> str:
        return _called(self, ctx)

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        formatter.write(_page(self, ctx))


def usage(command: AnyCommand) -> str:
    """What follows the name of a command: ``[OPTIONS] PATH...``."""
    words = ["[OPTIONS]", *(["COMMAND"] if isinstance(command, TyperGroup) else [])]
    words += [
        spelled(one) if one.required else f"[{spelled(one)}]" for one in params(command) if _is_argument(one)
    ]
    return " ".join(words)


def params(command: AnyCommand) -> list[Param]:
    """The arguments of a command, then its options."""
    found = [one for one in command.params if isinstance(one, TyperArgument | TyperOption) and not one.hidden]
    return sorted(found, key=lambda one: not _is_argument(one))


def spelled(param: Param) -> str:
    """A param as it is typed: ``PATH...``, ``--store PATH``, ``--dry-run``."""
    name = str(param.metavar or (param.name or "").upper())
    if isinstance(param, TyperArgument):
        return name + ("..." if param.nargs == -1 else "")
    flags = ", ".join(param.opts)
    return flags if param.is_flag else f"{flags} {name}"


def default(param: Param) -> str:
    """What holds where a param is not given: ``required``, ``default: 8765``, or nothing to say."""
    if param.required:
        return "required"
    if isinstance(param, TyperOption) and param.multiple:
        return "repeatable"
    is_plain = isinstance(param.default, str | int | float) and not isinstance(param.default, bool)
    is_said = (is_plain and param.default != "") or hasattr(param.default, "as_posix")
    return f"default: {param.default}" if is_said else ""


def _is_argument(param: Param) -> bool:
    return isinstance(param, TyperArgument)


def _epilog(example: str) -> str:
    return f"Example: `{example}`"


def _called(command: AnyCommand, ctx: Context) -> str:
    return f"Usage: {ctx.command_path} {usage(command)}"


def _page(command: AnyCommand, ctx: Context) -> str:
    """The whole help of a command."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    blocks = [[_called(command, ctx)]]
    blocks += [list(_wrapped(one, width)) for one in (command.help or "").split("\n\n") if one.strip()]
    found = params(command)
    rows = {
        "Arguments": [_row(one) for one in found if _is_argument(one)],
        "Options": [
            *(_row(one) for one in found if not _is_argument(one)),
            ("--help", "Show this text and stop."),
        ],
    }
    if isinstance(command, TyperGroup):
        rows["Commands"] = [(name, _first_sentence(one)) for name, one in command.commands.items()]
    blocks += [[f"{title}:", *_table(given, width)] for title, given in rows.items() if given]
    if command.epilog:
        title, _, example = command.epilog.partition(" ")
        blocks.append([title, _INDENT + example.strip("`")])
    return "\n\n".join("\n".join(block) for block in blocks)


def _row(param: Param) -> tuple[str, str]:
    extra = default(param)
    return spelled(param), f"{param.help or ''} [{extra}]" if extra else param.help or ""


def _first_sentence(command: AnyCommand) -> str:
    return _SENTENCE.split(command.help or "")[0]


def _table(rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """Names and texts side by side; a text begins below a name that is too long."""
    indent = len(_INDENT) * 2 + min(max(len(name) for name, _ in rows), _WIDEST_NAME)
    for name, text in rows:
        first, *others = _wrapped(text, width - indent)
        start = _INDENT + name + _INDENT
        if len(start) > indent:
            yield start.rstrip()
            start = ""
        yield start.ljust(indent) + first
        yield from (" " * indent + line for line in others)


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Lines of a paragraph. A word and a literal stay whole, also where one is longer than the line."""
    line = ""
    for word in _WORD.findall(text):
        shown = _LITERAL.sub(_in_quotes, word)
        if line and len(line) + 1 + len(shown) > width:
            yield line
            line = shown
        else:
            line = f"{line} {shown}".lstrip()
    yield line


def _in_quotes(literal: re.Match[str]) -> str:
    """What shows by itself where it begins and ends needs no quotes: ``.csv``, ``$WORKBENCH_STORE``."""
    text = literal[1]
    return text if "'" in text or _BARE.fullmatch(text) else f"'{text}'"
