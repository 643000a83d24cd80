"""The command ``workbench``: each command parses, calls the bench, prints. Exit code 0 done, 1 failed, 2 misused."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from . import __version__
from .bench import Bench, open_bench
from .errors import Invalid, WorkbenchError
from .recipe.recipe import Recipe
from .recipe.values import read_cli_values

app = typer.Typer(
    name="workbench",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Battery Workbench: from cycler files to a figure that answers a question.",
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", help="The store file; else $WORKBENCH_STORE, else ./workbench.db.", show_default=False
    ),
]
ProjectOption = Annotated[
    str | None, typer.Option("--project", help="Project name or id; else $WORKBENCH_PROJECT.", show_default=False)
]
OrganizationOption = Annotated[
    str | None, typer.Option("--organization", help="Needed where a store has several.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def _store_path(store: Path | None) -> Path:
    return store or Path(os.environ.get("WORKBENCH_STORE") or "workbench.db")


def _open(store: Path | None, project: str | None, organization: str | None, *, create: bool = False) -> Bench:
    path = _store_path(store)
    if not create and not path.exists():
        raise typer.BadParameter(
            f"There is no store at {path}. Make one with `workbench ingest` or `workbench demo`, "
            "or name one with --store or $WORKBENCH_STORE."
        )
    project = project or os.environ.get("WORKBENCH_PROJECT")
    return open_bench(path, project=project, organization=organization)


def _print_json(value: Any) -> None:
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    sys.stdout.write(orjson.dumps(value, option=options, default=str).decode() + "\n")


def _print_rows(rows: list[dict[str, Any]], columns: list[str], title: str | None = None) -> None:
    grid = Grid(title=title, title_justify="left", header_style="bold", show_edge=False, pad_edge=False)
    for column in columns:
        numeric = all(isinstance(row.get(column), int | float | None) for row in rows)
        grid.add_column(column, justify="right" if numeric and rows else "left", overflow="fold")
    for row in rows:
        grid.add_row(*("" if row.get(column) is None else str(row[column]) for column in columns))
    out.print(grid)


@contextmanager
def _progress(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar that shows itself only on a terminal; called with (done, of, what)."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(label, total=None)

        def step(done: int, of: int, what: str) -> None:
            bar.update(task, completed=done, total=of, description=f"{label} {what}".rstrip())

        yield step


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    if version:
        out.print(__version__)
        raise typer.Exit


@app.command(epilog="Example: `workbench demo my-demo --no-serve`")
def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to make it.")] = Path("workbench-demo"),
    no_serve: Annotated[bool, typer.Option("--no-serve", help="Stop before the server starts.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if one plot fails.")] = False,
) -> None:
    """Make DIR: a store filled from the packaged sample data through the ordinary readers, saved dashboards, the
    notebooks, and every saved plot as a page in DIR/figures with an index to open."""
    from .demo import make_demo

    with _progress("") as step:
        made = make_demo(folder, progress=step)
    _print_rows(made.counts, ["what", "count", "examples"], title="The demo store")
    _print_rows(made.plots, ["plot", "dashboard", "result", "ms"], title="\nSaved plots")
    out.print(f"\nOpen [bold]{made.index}[/bold] in a browser.")
    out.print(f"In Python: [bold]import workbench as wb; bench = wb.open({str(made.store)!r})[/bold]")
    for failure in made.failures:
        err.print(f"[red]{failure}[/red]")
    if check and made.failures:
        raise typer.Exit(1)


@app.command(
    epilog="Example: `workbench ingest data/*.csv --specification 'LG M50' --rating 5Ah,2.5V,4.2V --batch A`"
)
def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Cycler files, or folders of them.")],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    specification: Annotated[str | None, typer.Option(help="Cell specification; made if absent.")] = None,
    rating: Annotated[str | None, typer.Option(help="Capacity and voltage bounds, as 5Ah,2.5V,4.2V.")] = None,
    instance: Annotated[str | None, typer.Option(help="The cell; without it the file's stem.")] = None,
    batch: Annotated[str | None, typer.Option(help="The batch of the cells; made if absent.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Else recognised from the content.")] = None,
    column_map: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="'THEIRS=OURS'", help="As 'Volts=Voltage [V]'; repeatable."),
    ] = None,
    sign: Annotated[
        str | None, typer.Option(help="What a positive current in the file means: discharge or charge.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Files read at the same time.")] = 1,
    keep_file: Annotated[
        bool, typer.Option("--keep-file", help="Keep the file's bytes in the store too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read cycler files or folders into the store; what does not exist yet is made and reported."""
    bench = _open(store, project, organization, create=True)
    with _progress("Reading") as step:
        report = bench.ingest(
            paths,
            specification=specification,
            rating=rating,
            instance=instance,
            batch=batch,
            format=format,
            column_map=_pairs(column_map),
            sign=sign,
            jobs=jobs,
            keep_file=keep_file,
            progress=step,
        )
    if as_json:
        _print_json(report.as_dict())
    else:
        out.print(report)
    if not report.ok:
        raise typer.Exit(1)


def _pairs(items: list[str] | None) -> dict[str, str] | None:
    if not items:
        return None
    pairs = {}
    for item in items:
        theirs, equals, ours = item.partition("=")
        if not equals or not theirs.strip() or not ours.strip():
            raise typer.BadParameter(f"--map takes 'their column=our column', not '{item}'.")
        pairs[theirs.strip()] = ours.strip()
    return pairs


@app.command(epilog="Example: `workbench catalog --store lab.db`")
def catalog(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sources, their columns, units and counts."""
    found = _open(store, project, organization).catalog()
    if as_json:
        _print_json(found.as_dict())
    else:
        out.print(found)


@app.command(epilog="Example: `workbench check fade.json`")
def check(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE.json")],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    param: Annotated[list[str] | None, typer.Option("-p", metavar="NAME=VALUE", help="As for `run`.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Validate a recipe, also against the store where there is one; every error with its place and the mend."""
    loaded = Recipe.load(recipe)
    if store is None and not _store_path(None).exists():
        problems = loaded.check()
        against = "without a store"
    else:
        bench = _open(store, project, organization)
        problems = bench.check(loaded, read_cli_values(loaded.config, param or []))
        against = f"against {_store_path(store)}"
    if as_json:
        _print_json([problem.as_detail() for problem in problems])
    elif problems:
        _print_problems(problems)
    else:
        out.print(f"{recipe.name} is sound, checked {against}.")
    if problems:
        raise typer.Exit(1)


def _print_problems(problems: list[Any]) -> None:
    for problem in problems:
        err.print(str(problem), style="red", markup=False)
        if "text" in problem.ctx:
            err.print(f"    line {problem.ctx['line']}: {problem.ctx['text']}", markup=False)


@app.command(epilog="Example: `workbench run fade.json -p cells=M50-A-01 -p cells=M50-A-02 -o fade.html`")
def run(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE.json")],
    output: Annotated[
        Path, typer.Option("-o", metavar="OUT", help=".html .png .svg .pdf .json .csv .parquet .ipynb")
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    param: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="NAME=VALUE", help="A value; NAME:=JSON is literal, repeated it makes a list."),
    ] = None,
    step: Annotated[
        str | None, typer.Option(help="With .csv or .parquet: this step's rows, not the traces.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a recipe and write its figure, its traces or a step's rows; OUT's ending says which."""
    bench = _open(store, project, organization)
    loaded = Recipe.load(recipe)
    trace = bench.export(loaded, output, read_cli_values(loaded.config, param or []), step=step)
    if as_json:
        _print_json(trace)
        return
    for warning in trace["warnings"]:
        err.print(f"Warning: {warning['message']}", style="yellow", markup=False)
    reads = trace["reads"]
    total = sum(trace["timings"].values())
    out.print(f"Wrote {output}: {reads['steps']} steps run, {reads['sources']} sources read, {total:.0f} ms.")


@app.command(epilog="Example: `workbench search nmc`")
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="At least two characters.")],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 25,
    as_json: JsonOption = False,
) -> None:
    """Search names and notes across everything the store holds."""
    found = _open(store, project, organization).find(text, limit=limit)
    if as_json:
        _print_json(asdict(found))
        return
    rows = [asdict(hit) for hit in found.results]
    _print_rows(rows, ["entity_type", "name", "id"])
    if found.total > len(rows):
        out.print(f"{len(rows)} of {found.total}; see more with --limit.")


@app.command(epilog="Example: `workbench backup lab-2026-11-21.db --store lab.db`")
def backup(
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="The file to make; must not exist.")],
    store: StoreOption = None,
) -> None:
    """Copy the store while it is in use; the copy is a whole store of its own."""
    bench = _open(store, None, None)
    bench.backup(destination)
    out.print(f"Wrote {destination} ({destination.stat().st_size / 1e6:.1f} MB).")


@app.command(epilog="Example: `workbench verify --store lab.db`")
def verify(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Read everything once: rows, every chunk against its checksum, summaries, files."""
    findings = _open(store, None, None).verify()
    if as_json:
        _print_json(findings)
    else:
        for finding in findings:
            err.print(finding, style="red", markup=False)
        if not findings:
            out.print("The store is sound.")
    if findings:
        raise typer.Exit(1)


def main() -> None:
    """The entry point: a user's mistake ends in a sentence, never in a traceback."""
    try:
        app()
    except Invalid as error:
        _print_problems(error.problems)
        sys.exit(1)
    except (WorkbenchError, OSError) as error:
        err.print(str(error), style="red", markup=False)
        sys.exit(1)
    except KeyboardInterrupt:
        err.print("Stopped.")
        sys.exit(130)
