"""The commands of recipes: check, run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..bench import Bench, open_bench
from ..errors import Invalid, Problem
from ..phrases import counted
from ..place import meant_store
from ..recipe.recipe import Recipe, read_file
from ..transform.script import check_script
from .console import err, out, print_json, print_problems, progress_bar
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing

commands = typer.Typer()

RecipeArgument = Annotated[Path, typer.Argument(metavar="RECIPE.json", help="A recipe file.", show_default=False)]
ValuesOption = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        metavar="NAME=TEXT",
        help="A param's value: an option's value or label, or text. NAME:=JSON is literal; repeated it makes a list.",
    ),
]


@commands.command(epilog="Example: `workbench check fade.json -p fraction=0.8`")
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


@commands.command(epilog="Example: `workbench run fade.json -p cells=M50-A-01 -p cells=M50-A-02 -o fade.html`")
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
