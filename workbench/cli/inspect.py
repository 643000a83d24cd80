"""The command of exported figures: inspect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import BadRequest
from .console import out, print_json
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench

if TYPE_CHECKING:
    from ..passport import Passport

commands = Commands()


@commands.add("workbench inspect fade.png --than fade-of-may.png")
def inspect(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="An exported figure or its table.", show_default=False)
    ],
    than: Annotated[
        Path | None,
        typer.Option(metavar="OTHER", help="Say why FILE differs from this older one.", show_default=False),
    ] = None,
    now: Annotated[
        bool, typer.Option("--now", help="Say why it would be drawn differently now, from the data of the store.")
    ] = False,
    recipe: Annotated[
        Path | None,
        typer.Option("-o", metavar="RECIPE.json", help="Write the recipe to this file.", show_default=False),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="In the file of a dashboard: which figure, counted from 1.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what an exported figure was drawn from: its passport.

    Every png, svg, pdf, html, parquet, ipynb and zip file that the workbench exports holds its passport; that of a csv
    file is in a file beside it. The file of a dashboard has one for each figure: all are shown, and `--than` another
    file of it compares plot by plot. Nothing of the file is run, except with `--now`: then its scripts are run in a
    sandbox."""
    from ..bench.opened_figure import open_figure, why_changed
    from ..passport import read_passports, why_boards_changed

    if than is not None and now:
        raise BadRequest("Choose one of --than and --now.")
    if recipe is not None or number is not None:
        opened = open_figure(file, number=number)
        shown = [opened.passport]
    else:
        shown = read_passports(file)
    changes = None
    if than is not None:
        changes = why_changed(than, shown[0] if number is not None else file)
    if now:
        with open_bench(existing(store), project, organization, read_only=True) as bench:
            numbers = [number] if len(shown) == 1 else range(1, len(shown) + 1)
            drawn = [open_figure(file, bench, number=one).figure().workbench.passport for one in numbers]
        named = [one.model_copy(update={"plot": was.plot}) for one, was in zip(drawn, shown, strict=True)]
        changes = why_changed(shown[0], named[0]) if len(shown) == 1 else why_boards_changed(shown, named)
    if recipe is not None:
        opened.recipe.save(recipe)
    if as_json:
        figures = [{**json.loads(one.as_json()), "code": one.code} for one in shown]
        differs = {} if changes is None else {"changes": [vars(one) for one in changes]}
        print_json({**figures[0], **differs} if len(figures) == 1 else {"figures": figures, **differs})
        return
    lines = [line for place, one in enumerate(shown, 1) for line in _lines(one, place if len(shown) > 1 else None)]
    if changes is not None:
        lines.append(f"Changed: {changes}")
    if recipe is not None:
        lines.append(f"Wrote: {recipe}; its script is somebody else's until you trust it")
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def _lines(said: Passport, number: int | None) -> list[str]:
    """A passport in words; ``number`` is that of one of several figures."""
    plot = said.plot
    named = "" if plot is None or plot.name is None else f"'{plot.name}', plot "
    lines = {
        "Figure" + (f" {number}" if number is not None else ""): f"{said.code}, exported {said.made_at}"
        + (f" by user {said.made_by}" if said.made_by else ""),
        "Versions": ", ".join(f"{name} {version}" for name, version in said.versions.items()),
        "Plot": None if plot is None else f"{named}{plot.id}, revision {plot.revision}",
        "Values": ", ".join(f"{name} = {json.dumps(value)}" for name, value in said.values.items()) or None,
        "Recipe": "in the passport" if said.recipe is not None else "left out; only hashes of it are here",
        "Warnings": ", ".join(said.warnings) or None,
    }
    lines |= {f"Step {name}": _words(step.rows, len(step.sources)) for name, step in said.steps.items()}
    indent = "" if number is None else "  "
    texts = [f"{name}: {text}" for name, text in lines.items() if text is not None]
    return [texts[0], *(f"{indent}{text}" for text in texts[1:])]


def _words(rows: int, sources: int) -> str:
    from ..messages import counted

    return counted(rows, "row") + (f" of {counted(sources, 'source')}" if sources else "")
