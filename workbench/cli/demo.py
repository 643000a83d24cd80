"""The commands that show what the workbench does: demo, lab."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..environment import go_to
from .console import err, out, print_json, print_rows, progress_bar
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption
from .server import serve_demo

commands = Commands()
DEMO = Path("workbench-demo")


@commands.add("workbench demo my-demo --no-serve")
def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")] = DEMO,
    no_serve: Annotated[bool, typer.Option("--no-serve", help="Make the folder and start no server.")] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Exit with code 1 if a plot fails. No server starts."),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=65535,
            help="Port of the server. Without it: 8765, or a free port if 8765 is in use.",
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="NAME", help="Project to fill. Without it: `Default`."),
    ] = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a demo in the folder DIR, then serve it on this machine until Ctrl-C.

    The demo has a store with the sample data of the package, saved dashboards and notebooks. Every saved plot is a
    page in `DIR/figures`; open `DIR/figures/index.html` to see them."""
    from ..demo import make_demo

    with progress_bar("Demo:") as step:
        made = make_demo(
            folder,
            project=project,
            organization=organization,
            progress=step,
            for_server=not (check or no_serve),
        )
    if as_json:
        print_json(asdict(made))
    else:
        print_rows(made.counts, ["what", "count", "examples"], title="The demo store")
        print_rows(made.plots, ["plot", "dashboard", "result", "ms"], title="\nSaved plots")
        live = escape(f"workbench lab {shlex.quote(str(folder))}")
        out.print(f"\nWith controls, in JupyterLab: [bold]{live}[/bold]", soft_wrap=True)
        out.print(f"As pages: open [bold]{escape(str(made.index))}[/bold] in a browser.", soft_wrap=True)
        opening = escape(f"import workbench as wb; bench = wb.open({str(made.store)!r})")
        out.print(f"In Python: [bold]{opening}[/bold]", soft_wrap=True)
    for failure in made.failures:
        err.print(failure, style="red", markup=False, soft_wrap=True)
    if check and made.failures:
        raise typer.Exit(1)
    if not (check or no_serve):
        serve_demo(made.store, port, project, organization, as_json=as_json)


@commands.add("workbench lab my-demo --port 8899 -- --ServerApp.ip=127.0.0.1")
def lab(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with notebooks, or with a folder `notebooks`.")
    ] = DEMO,
    further: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- OPTION", help="Options of `jupyter lab`, after two dashes.", show_default=False
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", help="Port to use. Without it: 8888 or the next free port.", min=1, max=65535),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open no browser.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
) -> None:
    """Open JupyterLab on the notebooks of DIR. Without DIR it opens the demo, and makes it first if necessary.

    In the notebooks, `wb.open()` opens the store and project that you name here; so do the commands in the terminals of
    JupyterLab. JupyterLab contacts no other machine: news, the check for updates and the list of extensions are off."""
    from . import lab as jupyter

    jupyter.require()
    options = further or []
    if str(folder).startswith("-"):  # `workbench lab -- --option`: the first word after the dashes arrives as DIR
        folder, options = DEMO, [str(folder), *options]
    if folder == DEMO and not folder.exists():
        _make_demo(folder)
    opening = jupyter.Opening.of(folder)
    go_to(store, project, organization)
    jupyter.start(jupyter.arguments(opening, port=port, browser=not no_browser, further=options))


def _make_demo(folder: Path) -> None:
    from ..demo import make_demo

    out.print(f"Making the demo in '{folder}' first. This is done only once.", markup=False, soft_wrap=True)
    with progress_bar("Demo:") as step:
        made = make_demo(folder, progress=step)
    for failure in made.failures:
        err.print(failure, style="red", markup=False, soft_wrap=True)
