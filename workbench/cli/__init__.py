"""The command ``workbench``: each command parses, calls the bench, prints.

Exit code 0: done. 1: the command failed (an invalid recipe, a file that cannot be read, a damaged store). 2: the
command was not understood (an unknown option, store, project, param or step). A mistake ends in a sentence, never in a
traceback.

A module of commands imports only what its help needs. What a command needs to run is imported in its body.
"""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, TextIO

import typer

from ..errors import BadRequest, Conflict, Invalid, NotFound, StoreNotice, WorkbenchError
from ..messages import said_of_system, typed_in
from ..version import __version__
from . import (
    alerts,
    analyses,
    assistants,
    audit,
    author,
    boards,
    demo,
    files,
    inspect,
    keys,
    recipes,
    samples,
    server,
    store,
    users,
)
from .console import err, out, print_everywhere, print_problems
from .help import Group

app = typer.Typer(
    name="workbench",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Battery Workbench: from cycler files to a figure that answers a question.",
    epilog="Example: `workbench demo`",
)
for family in (demo, files, recipes, boards, analyses, inspect, store, server, author, assistants, audit):
    app.add_typer(family.commands)
app.add_typer(keys.commands, name="keys")
app.add_typer(users.commands, name="users")
app.add_typer(samples.commands, name="samples")
app.add_typer(alerts.commands, name="alerts")
app.add_typer(alerts.webhooks, name="webhooks")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    context.with_resource(typed_in("terminal"))
    if version:
        out.print(__version__)
        raise typer.Exit


def _print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A notice of a store as one line for a person; any other warning as Python prints it."""
    if issubclass(category, StoreNotice):
        err.print(str(message), style="yellow", markup=False, soft_wrap=True)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def _with_room(run: Callable[[], object]) -> None:
    """Run a command in a frame whose block has room for the frames of all calls below it.

    Python keeps frames in blocks of 16 kB. Where a command comes close to the end of one and makes many short calls
    there, each maps a new block and gives it back: the imports of JupyterLab took 6 s for 1.5. This frame asks for so
    much that it gets a block of 1 MB, of which only what is used becomes memory.
    """
    run()


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=70_000)


_STOPPED = 130
"""The exit code after Ctrl-C."""


def main() -> None:
    """The entry point: a user's mistake ends in a sentence, never in a traceback."""
    warnings.showwarning = _print_warning
    print_everywhere()
    # A command has closed what it opened. What is left at its end goes with the process: the collector's look at all of
    # it, once and again, takes longer than many a command.
    atexit.register(gc.freeze)
    try:
        _with_room(app)
    except Invalid as error:
        print_problems(error.problems)
        sys.exit(1 if any(problem.loc[:1] == ("config",) for problem in error.problems) else 2)
    except (BadRequest, NotFound, Conflict) as error:
        err.print(str(error), style="red", markup=False, soft_wrap=True)
        sys.exit(2)
    except WorkbenchError as error:
        err.print(str(error), style="red", markup=False, soft_wrap=True)
        sys.exit(1)
    except OSError as error:
        err.print(said_of_system(error), style="red", markup=False, soft_wrap=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == _STOPPED:  # typer has made this of Ctrl-C, without a word
            err.print("Stopped.")
        raise
