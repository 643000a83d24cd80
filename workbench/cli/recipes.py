"""The commands of recipes: check, run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..environment import meant_store
from ..errors import BadRequest, Invalid, Problem
from ..messages import counted
from .console import err, out, print_json, print_problems, print_rows, progress_bar
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench
from .page_options import ControlsOption, say_size
from .paper_options import ColumnsOption, FontOption, HeightOption, PaperOption, TidyOption, WidthOption

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ..bench import Bench, SavedPlot
    from ..bench.recipe_input import Unchecked

commands = Commands()

RecipeArgument = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE", help="The file of the recipe, or the name of a saved plot.", show_default=False
    ),
]
ValuesOption = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        metavar="NAME=TEXT",
        help="Value of a param: an option, its label, or text. `NAME:=JSON` is read as JSON. A param that is given "
        "several times gets a list.",
    ),
]


@commands.add("workbench check fade.json -p fraction=0.8")
def check(
    recipe: RecipeArgument,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    param: ValuesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a recipe and print every error, with its place and how to fix it.

    If there is a store, the recipe is checked against it too: its columns, units and records."""
    from ..recipe.recipe import read_file

    plot = None
    if store is None and not meant_store(None).exists():
        problems, against = _problems_of(read_file(recipe)), "without a store"
    else:
        path = existing(store)
        with open_bench(path, project, organization, read_only=True) as bench, progress_bar("Checking"):
            raw, plot = _meant(bench, recipe)
            problems, against = _problems_in(bench, raw, param or []), f"against {path}"
    if as_json:
        print_json([problem.as_detail() for problem in problems])
    elif problems:
        print_problems(problems if plot is not None else _in_file(problems))
    else:
        out.print(f"{Path(recipe).name} is sound, checked {against}.", markup=False, soft_wrap=True)
    if problems:
        raise typer.Exit(1)


def _in_file(problems: list[Problem]) -> list[Problem]:
    """The problems with their places in a file, which holds what a request has as ``config``."""
    return [replace(one, loc=one.loc[1:]) if one.loc[:1] == ("config",) else one for one in problems]


@contextmanager
def _problems_in_file(plot: SavedPlot | None) -> Iterator[None]:
    """Problems of a recipe that is not a saved plot are printed with their places in its file, and end the command."""
    try:
        yield
    except Invalid as error:
        if plot is not None or not any(problem.loc[:1] == ("config",) for problem in error.problems):
            raise
        print_problems(_in_file(error.problems))
        raise typer.Exit(1) from None


def _meant(bench: Bench, recipe: str) -> tuple[Unchecked, SavedPlot | None]:
    """The JSON of a recipe file or of a saved plot, and the plot."""
    from ..bench import SavedPlot
    from ..bench.named_recipes import meant
    from ..recipe.plot import PlotConfig
    from ..recipe.recipe import read_file

    found = meant(bench, recipe)
    if isinstance(found, SavedPlot):
        return found.record.config, found
    return (found.dump() if isinstance(found, PlotConfig) else read_file(recipe)), None


def _problems_of(raw: Unchecked) -> list[Problem]:
    """What is wrong with a recipe and its script, as far as that shows without a store."""
    from ..recipe.recipe import Recipe
    from ..transform.script import check_script

    script = raw.get("transform") if isinstance(raw, dict) else None
    found = check_script(script) if isinstance(script, str) and script else []
    try:
        return [*Recipe(raw).check(), *found]
    except Invalid as error:
        return [*error.problems, *found]


def _problems_in(bench: Bench, raw: Unchecked, words: list[str]) -> list[Problem]:
    """What is wrong with a recipe in this store; values are read only for one that is sound by itself."""
    problems = _problems_of(raw)
    if not problems:
        return bench.check(raw, bench.values(raw, words))
    # Which of two spellings of a column is the right one, only the store knows.
    return bench.check(raw) if all(problem.type == "unknown_column" for problem in problems) else problems


@commands.add("workbench run fade.json -p cells=M50-A-01 -p cells=M50-A-02 -o fade.html")
def run(
    recipe: RecipeArgument,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            metavar="OUT",
            help="The file to write. `.html`, `.png`, `.svg`, `.pdf` or `.json`: the figure. `.csv` or `.parquet`: the "
            "data of its traces. `.ipynb`: a notebook that draws it.",
        ),
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    param: ValuesOption = None,
    step: Annotated[
        str | None,
        typer.Option(metavar="STEP", help="With `.csv` or `.parquet`: write the rows of this step of the plan."),
    ] = None,
    protected: Annotated[
        bool,
        typer.Option("--protected", help="Run the script in a sandbox: for a recipe from somebody else."),
    ] = False,
    tidy: TidyOption = False,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="WHEN",
            help="Draw the data as they were then: a time (without a zone UTC), a day (to its end), or an exported "
            "file, for the data that it was drawn from.",
            show_default=False,
        ),
    ] = None,
    paper: PaperOption = None,
    width: WidthOption = None,
    height: HeightOption = None,
    font: FontOption = None,
    columns: ColumnsOption = None,
    controls: ControlsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a recipe and write its figure, its data or a notebook."""
    opened = open_bench(existing(store), project, organization, read_only=True)
    with opened as bench, progress_bar("Running") as told:
        raw, plot = _meant(bench, recipe)
        if not protected and step is None:
            _say_protected(bench, raw, plot)
        with _problems_in_file(plot):
            values = bench.values(raw, param or [])
            if controls:
                say_size(bench.export_size(plot or raw, values, protected=protected or None))
            account = bench.export(
                plot or raw,
                output,
                values,
                step=step,
                protected=protected or None,
                progress=lambda name, index, of, detail: told(index, of, f"{name} {detail}"),
                tidy=tidy,
                as_of=as_of,
                paper=paper,
                width=width,
                height=height,
                font=font,
                columns=columns,
                controls=controls,
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


def _say_protected(bench: Bench, raw: Unchecked, plot: SavedPlot | None) -> None:
    """Say that a script runs protected because it is not this user's own; once for each script and store."""
    from ..bench.recipe_input import is_untrusted
    from ..drawing import script_in
    from ..own_scripts import fingerprint, own_scripts

    backend = bench.backend
    script = script_in(raw)
    if script is None or not is_untrusted(backend, raw if plot is None else plot.recipe()):
        return
    if not own_scripts().is_first_look(fingerprint(f"run {backend.opening} {script}")):
        return
    what = "This script" if plot is None else f"The script of '{plot.name}'"
    err.print(
        f"{what} did not come from you on this machine, so it runs protected: no files, no network. "
        "If you trust it, 'workbench trust --help' says how.",
        style="yellow",
        markup=False,
        soft_wrap=True,
    )


@commands.add("workbench trust --all --store from-a-friend.db")
def trust(
    recipe: Annotated[
        Path | None,
        typer.Argument(metavar="RECIPE.json", help="The file of a recipe to trust.", show_default=False),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Trust every script that is saved in the store now.")
    ] = False,
    plot: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Trust the scripts of all revisions of the plots of this name."),
    ] = None,
    author: Annotated[
        str | None,
        typer.Option(metavar="EMAIL", help="Trust the scripts that this user has saved, as the store says."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Stop trusting these scripts.")] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Trust scripts of others on this machine: they then run with all your rights, not protected.

    Only these scripts are trusted, as they are now: a script that is changed or added later is untrusted. Without
    options, the command lists the untrusted scripts."""
    if sum([recipe is not None, every, plot is not None, author is not None]) > 1:
        raise BadRequest("Choose one of RECIPE.json, --all, --plot and --author.")
    with open_bench(existing(store), project, organization, read_only=True) as bench:
        if recipe is None and plot is None and author is None and not every:
            _list_untrusted(bench, as_json)
            return
        count = (bench.distrust if remove else bench.trust)(recipe, plot=plot, author=author)
    if as_json:
        print_json({"changed": count})
    else:
        verb = "made untrusted" if remove else "trusted: they now run with your rights"
        out.print(f"{counted(count, 'script')} {verb}.", markup=False, soft_wrap=True)


def _list_untrusted(bench: Bench, as_json: bool) -> None:
    rows: list[dict[str, JsonValue]] = json.loads(bench.untrusted().to_json(orient="records"))
    if as_json:
        print_json(rows)
    elif not rows:
        out.print("Every saved script in this store is your own.")
    else:
        print_rows(rows, ["project", "dashboard", "plot", "revision", "author", "origin"])
        out.print(
            "These scripts run protected. Trust one with --plot NAME, those of a user with --author EMAIL, or every "
            "one with --all.",
            soft_wrap=True,
        )
