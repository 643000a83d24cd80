"""The command of dashboards: one as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .console import out, print_json, progress_bar
from .help import Commands
from .options import (
    ExecutorOption,
    JsonOption,
    OrganizationOption,
    ProjectOption,
    StoreOption,
    existing,
    open_bench,
)
from .page_options import ControlsOption, say_size

commands = Commands()


@commands.add("workbench warm Ageing --store lab.db")
def warm(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names or ids of dashboards. Without one: all of the project."),
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    executor: ExecutorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make what dashboards show at their defaults, so that whoever opens them next does not wait.

    Run it each morning, or after files came in."""
    path = existing(store)
    with open_bench(path, project, organization, executor=executor) as bench, progress_bar("Drawing") as told:
        done = bench.warm(names or None, progress=told)
    if as_json:
        print_json(done.as_dict())
    else:
        out.print(repr(done), markup=False, soft_wrap=True)
    if done.failed:
        raise typer.Exit(1)


@commands.add("workbench board Ageing -o ageing.html --controls", "board")
def export_board(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name or id of the dashboard.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            metavar="OUT",
            help="The file to write. `.html`: a page that needs no network. `.pdf`: a report to print. `.ipynb`: a "
            "notebook that draws the plots. `.zip`: a page and a table of each plot.",
        ),
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    controls: ControlsOption = False,
    protected: Annotated[
        bool, typer.Option("--protected", help="Run the scripts in a sandbox: for plots from somebody else.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a dashboard to one file, with the saved values of its plots."""
    opened = open_bench(existing(store), project, organization, read_only=True)
    with opened as bench, progress_bar("Drawing") as told:
        board = bench.dashboards.get(name)
        if controls:
            say_size(board.export_size(protected=protected or None))
        made = board.export(
            output,
            controls=controls,
            protected=protected or None,
            progress=lambda step, index, of, detail: told(index, of, f"{step} {detail}"),
        )
    if as_json:
        print_json({"file": str(output), **made})
    else:
        out.print(f"Wrote {output}: {made['bytes'] / 1e6:.1f} MB.", markup=False, soft_wrap=True)
