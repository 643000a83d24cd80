"""The command of exported figures: inspect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..errors import BadRequest
from .console import out, print_json
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench

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

    Every png, svg, pdf, html, parquet and ipynb file that the workbench exports holds its passport; that of a csv file
    is in a file beside it. Nothing of the file is run, except with `--now`: then its script is run in a sandbox."""
    from ..bench.opened_figure import open_figure, why_changed

    opened = open_figure(file, number=number)
    if than is not None and now:
        raise BadRequest("Choose one of --than and --now.")
    changes = None if than is None else why_changed(than, opened)
    if now:
        with open_bench(existing(store), project, organization, read_only=True) as bench:
            changes = open_figure(file, bench, number=number).why_changed()
    if recipe is not None:
        opened.recipe.save(recipe)
    said = opened.passport
    if as_json:
        differs = {} if changes is None else {"changes": [vars(one) for one in changes]}
        print_json({**json.loads(said.as_json()), "code": said.code, **differs})
        return
    lines = {
        "Figure": f"{said.code}, exported {said.made_at}" + (f" by user {said.made_by}" if said.made_by else ""),
        "Versions": ", ".join(f"{name} {version}" for name, version in said.versions.items()),
        "Plot": None if said.plot is None else f"{said.plot.id}, revision {said.plot.revision}",
        "Values": ", ".join(f"{name} = {json.dumps(value)}" for name, value in said.values.items()) or None,
        "Recipe": "in the passport" if said.recipe is not None else "left out; only hashes of it are here",
        "Warnings": ", ".join(said.warnings) or None,
    }
    lines |= {f"Step {name}": _words(step.rows, len(step.sources)) for name, step in said.steps.items()}
    if changes is not None:
        lines["Changed"] = str(changes)
    if recipe is not None:
        lines["Wrote"] = f"{recipe}; its script is somebody else's until you trust it"
    for name, text in lines.items():
        if text is not None:
            out.print(f"{name}: {text}", markup=False, soft_wrap=True)


def _words(rows: int, sources: int) -> str:
    from ..messages import counted

    return counted(rows, "row") + (f" of {counted(sources, 'source')}" if sources else "")
