"""The command ``workbench``: each command parses, calls the bench, prints.

Exit code 0: done. 1: it was tried and failed (an unsound recipe, a refused file, a damaged store). 2: it was asked
wrongly (an unknown option, store, project, param or step). A mistake ends in a sentence, never in a traceback.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .. import __version__
from ..errors import BadRequest, Conflict, Invalid, NotFound, WorkbenchError
from ..phrases import typed_in
from . import demo, files, recipes, server, store
from .console import err, out, print_problems

app = typer.Typer(
    name="workbench",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Battery Workbench: from cycler files to a figure that answers a question.",
)
for family in (demo, files, recipes, store, server):
    app.add_typer(family.commands)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    context.with_resource(typed_in("terminal"))
    if version:
        out.print(__version__)
        raise typer.Exit


def main() -> None:
    """The entry point: a user's mistake ends in a sentence, never in a traceback."""
    try:
        app()
    except Invalid as error:
        print_problems(error.problems)
        sys.exit(1 if any(problem.loc[:1] == ("config",) for problem in error.problems) else 2)
    except (BadRequest, NotFound, Conflict) as error:
        err.print(str(error), style="red", markup=False, soft_wrap=True)
        sys.exit(2)
    except (WorkbenchError, OSError) as error:
        err.print(str(error), style="red", markup=False, soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        err.print("Stopped.")
        sys.exit(130)
