"""The commands of recipes: check, run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..environment import meant_store
from ..errors import Invalid, Problem
from ..messages import counted
from .console import err, out, print_json, print_problems, progress_bar
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench

if TYPE_CHECKING:
    from ..bench import Bench
    from ..bench.recipe_input import Unchecked

commands = Commands()

RecipeArgument = Annotated[
    Path, typer.Argument(metavar="RECIPE.json", help="The file of the recipe.", show_default=False)
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

    raw = read_file(recipe)
    if store is None and not meant_store(None).exists():
        problems, against = _problems_of(raw), "without a store"
    else:
        path = existing(store)
        with open_bench(path, project, organization, read_only=True) as bench, progress_bar("Checking"):
            problems, against = _problems_in(bench, raw, param or []), f"against {path}"
    if as_json:
        print_json([problem.as_detail() for problem in problems])
    elif problems:
        print_problems(problems)
    else:
        out.print(f"{recipe.name} is sound, checked {against}.", markup=False, soft_wrap=True)
    if problems:
        raise typer.Exit(1)


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
    as_json: JsonOption = False,
) -> None:
    """Run a recipe and write its figure, its data or a notebook."""
    from ..recipe.recipe import read_file

    raw = read_file(recipe)
    opened = open_bench(existing(store), project, organization, read_only=True)
    with opened as bench, progress_bar("Running") as told:
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
