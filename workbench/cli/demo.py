"""The commands that show what the workbench does: demo, lab."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..place import go_to
from .console import err, out, print_json, print_rows, progress_bar
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption
from .server import serve_demo

commands = typer.Typer()
DEMO = Path("workbench-demo")


@commands.command(epilog="Example: `workbench demo my-demo --no-serve`")
def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to make it.")] = DEMO,
    no_serve: Annotated[bool, typer.Option("--no-serve", help="Stop before the server starts.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if one plot fails; no server starts.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=65535, help="The server's port; else 8765, or a free one where that is taken."
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="NAME", help="The project that the demo fills; else Default."),
    ] = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make DIR: a store filled from the packaged sample data through the ordinary readers, saved dashboards, the
    notebooks, and every saved plot as a page in DIR/figures with an index to open. Then serve the store on this
    machine, until Ctrl-C."""
    from ..demo import make_demo

    with progress_bar("Demo:") as step:
        made = make_demo(folder, project=project, organization=organization, progress=step)
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


@commands.command(epilog="Example: `workbench lab my-demo --port 8899 -- --ServerApp.ip=127.0.0.1`")
def lab(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Holds notebooks, or a folder 'notebooks'.")
    ] = DEMO,
    further: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- OPTION", help="Further options of `jupyter lab`.", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", help="The port to use; else 8888 or the next free one.", min=1, max=65535),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open no browser.")] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
) -> None:
    """Open JupyterLab on the notebooks of DIR. Without DIR it is the demo, which is made first if it is not there.

    `wb.open()` in its notebooks, and `workbench` in its terminals, open what --store, --project and --organization
    say. JupyterLab is started without its news, its look for updates and its list of extensions, so that it asks
    nothing of another machine."""
    from . import lab as jupyter

    options = further or []
    if str(folder).startswith("-"):  # `workbench lab -- --option`: what follows the dashes stands first
        folder, options = DEMO, [str(folder), *options]
    if folder == DEMO and not folder.exists():
        _make_demo(folder)
    opening = jupyter.Opening.of(folder)
    go_to(store, project, organization)
    jupyter.start(jupyter.arguments(opening, port=port, browser=not no_browser, further=options))


def _make_demo(folder: Path) -> None:
    from ..demo import make_demo

    out.print(f"Making the demo in '{folder}' first; that is done once.", markup=False, soft_wrap=True)
    with progress_bar("Demo:") as step:
        made = make_demo(folder, progress=step)
    for failure in made.failures:
        err.print(failure, style="red", markup=False, soft_wrap=True)
