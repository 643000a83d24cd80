"""The command ``workbench``: each command parses, calls the bench, prints.

Exit code 0: done. 1: it was tried and failed (an unsound recipe, a refused file, a damaged store). 2: it was asked
wrongly (an unknown option, store, project, param or step). A mistake ends in a sentence, never in a traceback.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from . import __version__
from .bench import Bench, open_bench
from .cli_ingest import add_commands as add_files
from .cli_options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing
from .cli_server import add_commands, serve_demo
from .errors import BadRequest, Conflict, Invalid, NotFound, Problem, WorkbenchError
from .phrases import counted, spaced, typed_in
from .place import go_to, meant_store
from .recipe.recipe import Recipe, read_file
from .store.store import Store
from .terminal import err, out, print_json, print_problems, print_rows, progress_bar
from .transform.script import check_script

MOST_OF_A_KIND = 20
"""The most hits of one kind that the search gives."""
DEMO = Path("workbench-demo")

app = typer.Typer(
    name="workbench",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Battery Workbench: from cycler files to a figure that answers a question.",
)

RecipeArgument = Annotated[Path, typer.Argument(metavar="RECIPE.json", help="A recipe file.", show_default=False)]
ValuesOption = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        metavar="NAME=TEXT",
        help="A param's value: an option's value or label, or text. NAME:=JSON is literal; repeated it makes a list.",
    ),
]


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    context.with_resource(typed_in("terminal"))
    if version:
        out.print(__version__)
        raise typer.Exit


@app.command(epilog="Example: `workbench demo my-demo --no-serve`")
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
    from .demo import make_demo

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


@app.command(epilog="Example: `workbench lab my-demo --port 8899 -- --ServerApp.ip=127.0.0.1`")
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
    from .demo import make_demo

    out.print(f"Making the demo in '{folder}' first; that is done once.", markup=False, soft_wrap=True)
    with progress_bar("Demo:") as step:
        made = make_demo(folder, progress=step)
    for failure in made.failures:
        err.print(failure, style="red", markup=False, soft_wrap=True)


add_files(app)


@app.command(epilog="Example: `workbench catalog --store lab.db`")
def catalog(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what there is to plot: sources, their columns, units and counts."""
    with open_bench(existing(store), project, organization) as bench, progress_bar("Counting"):
        found = bench.catalog()
    if as_json:
        print_json(found.as_dict())
    else:
        out.print(found)


@app.command(epilog="Example: `workbench check fade.json -p fraction=0.8`")
def check(
    recipe: RecipeArgument,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    param: ValuesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Validate a recipe, also against the store where there is one; every error with its place and the mend."""
    raw = read_file(recipe)
    if store is None and not meant_store(None).exists():
        problems, against = _problems_of(raw), "without a store"
    else:
        path = existing(store)
        with open_bench(path, project, organization) as bench, progress_bar("Checking"):
            problems, against = _problems_in(bench, raw, param or []), f"against {path}"
    if as_json:
        print_json([problem.as_detail() for problem in problems])
    elif problems:
        print_problems(problems)
    else:
        out.print(f"{recipe.name} is sound, checked {against}.", markup=False, soft_wrap=True)
    if problems:
        raise typer.Exit(1)


def _problems_of(raw: Any) -> list[Problem]:
    """What is wrong with a recipe and its script, as far as that shows without a store."""
    script = raw.get("transform") if isinstance(raw, dict) else None
    found = check_script(script) if isinstance(script, str) and script else []
    try:
        return [*Recipe(raw).check(), *found]
    except Invalid as error:
        return [*error.problems, *found]


def _problems_in(bench: Bench, raw: Any, words: list[str]) -> list[Problem]:
    """What is wrong with a recipe in this store; values are read only for one that is sound by itself."""
    problems = _problems_of(raw)
    if not problems:
        return bench.check(raw, bench.values(raw, words))
    # Which of two spellings of a column is the right one, only the store knows.
    return bench.check(raw) if all(problem.type == "unknown_column" for problem in problems) else problems


@app.command(epilog="Example: `workbench run fade.json -p cells=M50-A-01 -p cells=M50-A-02 -o fade.html`")
def run(
    recipe: RecipeArgument,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            metavar="OUT",
            help="The file to write; its ending says what: .html .png .svg .pdf .json .csv .parquet .ipynb",
        ),
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    param: ValuesOption = None,
    step: Annotated[
        str | None,
        typer.Option(metavar="STEP", help="With .csv or .parquet: the rows of this step, not the traces."),
    ] = None,
    protected: Annotated[
        bool,
        typer.Option("--protected", help="Run the script locked in: for a recipe that somebody else wrote."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a recipe and write its figure, its traces or a step's rows."""
    raw = read_file(recipe)
    with open_bench(existing(store), project, organization) as bench, progress_bar("Running") as told:
        account = bench.export(
            raw,
            output,
            bench.values(raw, param or []),
            step=step,
            protected=protected or None,
            progress=lambda name, index, of, detail: told(index, of, f"{name} {detail}"),
        )
    for warning in account["warnings"]:
        err.print(f"Warning: {warning['message']}", style="yellow", markup=False, soft_wrap=True)
    if as_json:
        print_json({"file": str(output), **account})
        return
    reads = account["reads"]
    spent = sum(ms for stage, ms in account["timings"].items() if ":" not in stage)
    counts = f"{counted(reads['steps'], 'step')} run, {counted(reads['sources'], 'source')} read, {spent:.0f} ms"
    out.print(f"Wrote {output}: {counts}.", markup=False, soft_wrap=True)


@app.command(epilog="Example: `workbench search nmc --limit 50`")
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="At least two characters.", show_default=False)],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Most hits to print.")] = 25,
    as_json: JsonOption = False,
) -> None:
    """Search names and notes across everything the store holds."""
    if len(text.strip()) < 2:
        raise BadRequest("A search text has at least two characters.")
    with open_bench(existing(store), project, organization) as bench:
        found = bench.find(text, limit=limit, per_type=MOST_OF_A_KIND)
    if as_json:
        print_json(asdict(found))
        return
    if not found.results:
        out.print(f"No name and no note holds '{found.query}'.", markup=False)
        return
    rows = [asdict(hit) for hit in found.results]
    print_rows(rows, ["entity_type", "name", "id"])
    if found.total > len(rows):
        out.print(f"{spaced(len(rows))} of {spaced(found.total)}; see more with --limit.")
    by_kind = Counter(hit.entity_type for hit in found.results)
    if full := [kind for kind, count in by_kind.items() if count == MOST_OF_A_KIND]:
        out.print(
            f"Of a kind the first {MOST_OF_A_KIND} are shown ({', '.join(full)}); a longer text finds fewer."
        )


@app.command(epilog="Example: `workbench backup lab-2026-11-21.db --store lab.db`")
def backup(
    destination: Annotated[
        Path, typer.Argument(metavar="DEST", help="The file to make; must not exist.", show_default=False)
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the store while it is in use; the copy is a whole store of its own, with every project."""
    with _whole(store, project, organization) as opened, progress_bar("Copying"):
        opened.backup(destination)
    size = destination.stat().st_size
    if as_json:
        print_json({"file": str(destination), "bytes": size})
    else:
        out.print(f"Wrote {destination} ({size / 1e6:.1f} MB).", markup=False, soft_wrap=True)


@app.command(epilog="Example: `workbench verify --store lab.db`")
def verify(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read everything once: rows, every chunk against its checksum, summaries, files; of every project."""
    with _whole(store, project, organization) as opened, progress_bar("Reading everything"):
        findings = opened.verify()
    if as_json:
        print_json(findings)
    else:
        for finding in findings:
            err.print(finding, style="red", markup=False, soft_wrap=True)
        if not findings:
            out.print(f"{meant_store(store)} is sound.", markup=False, soft_wrap=True)
    if findings:
        raise typer.Exit(1)


def _whole(store: Path | None, project: str | None, organization: str | None) -> Store:
    """The store as such; a project that is named must be one of it, though the whole store is meant."""
    path = existing(store)
    if project is not None or organization is not None:
        open_bench(path, project=project, organization=organization).close()
    return Store.open(path, create=False)


add_commands(app)


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
