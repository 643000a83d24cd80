"""Saved plots and dashboards as files: pages, pictures, tables, notebooks, each with its passport."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from workbench import board_export, export
from workbench.errors import Invalid, Problem
from workbench.passport import PlotSeen, sidecar
from workbench.recipe.recipe import Recipe
from workbench.records import Dashboard, Plot
from workbench.standalone_page.page import PageSize, Source, alone, looked_at, size_of
from workbench.standalone_page.page import page as standalone

from ..auth import ProjectReader
from ..context import RequestContext
from ..parameters import AsOf, Flag, Values
from ..responses import CSV, JSON, PARQUET, attachment
from ..routing import Route, heavy
from ..schemas import Json
from .dashboards import BOARD, PLOT, Chosen, RevisionAsked, config_of

router = APIRouter(route_class=Route, tags=["Dashboards and plots"])

_MEDIA = {
    "html": "text/html; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "json": JSON,
    "csv": CSV,
    "csv.json": JSON,
    "parquet": PARQUET,
    "ipynb": "application/x-ipynb+json",
}
Format = Literal["html", "png", "svg", "pdf", "json", "csv", "csv.json", "parquet", "ipynb"]
_BOARD_MEDIA = {"html": _MEDIA["html"], "pdf": _MEDIA["pdf"], "ipynb": _MEDIA["ipynb"], "zip": "application/zip"}
BoardFormat = Literal["html", "pdf", "ipynb", "zip"]
WithRecipe = Annotated[Flag, Query(description="The passport holds the recipe; without it only hashes of it.")]

Controls = Annotated[
    Flag,
    Query(description="In html, the view controls with few values work: the figures of all choices are computed."),
]


@router.get(
    f"{PLOT}/export",
    response_class=Response,
    responses={
        200: {"content": {media: {} for media in _MEDIA.values()}},
        501: {"description": "Pictures cannot be drawn: the server lacks kaleido or a browser."},
    },
)
@heavy
def export_plot(
    context: ProjectReader,
    format: Annotated[
        Format, Query(description="Of the file; csv.json is the passport of the csv file.")
    ] = "html",
    values: Values = None,
    revision: RevisionAsked = None,
    with_recipe: WithRecipe = True,
    as_of: AsOf = None,
    controls: Controls = False,
) -> Response:
    """A plot as a file that holds its passport: the figure, the values that it plots, or a notebook that draws it.

    The file is named after the plot and the day.
    """
    context.show_as_of(as_of)
    plot = context.record(Plot)
    config = config_of(context, plot, Chosen(values=values or {}, revision=revision))
    if controls and format == "html":
        sheet = alone(_source(context, plot, values or {}, revision, with_recipe))
        return _file(standalone(plot.name, [sheet], day=_today()), plot.name, "html", _MEDIA["html"])
    answer = context.backend.figure(config, values or {}, cancel=context.cancel)
    shown = PlotSeen.of(plot.id, revision or plot.revision, plot.name)
    said = context.backend.passport(config, answer, plot=shown, with_recipe=with_recipe)
    if format == "ipynb":
        recipe = Recipe(config)
        recipe.foreign = (
            True  # Whoever opens the notebook did not write the script, as far as anybody there knows.
        )
        content = export.notebook(
            recipe.raw(),
            name=plot.name,
            values=answer.values,
            opening=_opening(context),
            passport=said,
        )
    elif format == "csv.json":
        content = sidecar(export.file(answer.figure, "csv"), said)
    else:
        content = export.file(answer.figure, format, title=plot.name, passport=said)
    return _file(content, plot.name, format, _MEDIA[format])


def _file(content: bytes, name: str, format: str, media: str) -> Response:
    headers = {**attachment(f"{name} {_today()}.{format}"), "cache-control": "private, no-cache"}
    if format == "html":
        # It may be opened from this address, where its script must not act for who is signed in.
        headers["content-security-policy"] = "sandbox allow-scripts"
    return Response(content, 200, headers, media)


@router.get(f"{PLOT}/export/size")
@heavy
def size_of_plot(
    context: ProjectReader, values: Values = None, revision: RevisionAsked = None, as_of: AsOf = None
) -> PageSize:
    """What the page of a plot with working controls would hold: how many figures and bytes, and what stays fixed.

    Its first figure is drawn for it, the others are not.
    """
    context.show_as_of(as_of)
    return size_of([alone(_source(context, context.record(Plot), values or {}, revision))])


@router.get(f"{BOARD}/export/size")
@heavy
def size_of_dashboard(context: ProjectReader, values: Values = None, as_of: AsOf = None) -> PageSize:
    """What the page of a dashboard with working controls would hold; as that of a plot."""
    context.show_as_of(as_of)
    return size_of(looked_at(_sources(context, values or {})))


@router.get(
    f"{BOARD}/export",
    response_class=Response,
    responses={
        200: {"content": {one: {} for one in _BOARD_MEDIA.values()}},
        501: {"description": "A report cannot be printed: the server lacks kaleido or a browser."},
    },
)
@heavy
def export_dashboard(
    context: ProjectReader,
    format: Annotated[
        BoardFormat, Query(description="Of the file; pdf is a report; zip has a page and a table of each plot.")
    ] = "html",
    values: Values = None,
    with_recipe: WithRecipe = True,
    as_of: AsOf = None,
    controls: Controls = False,
) -> Response:
    """A dashboard as one file, its plots in the order of their places. ``values`` are by plot id and param name.

    A plot that cannot be drawn is there with the reason.
    """
    context.show_as_of(as_of)
    board = context.record(Dashboard)
    sheets = looked_at(_sources(context, values or {}, with_recipe), controls=controls)
    about = board.description or ""
    if format == "html":
        content = standalone(board.name, sheets, day=_today(), description=about)
    elif format == "pdf":
        content = board_export.report(board.name, sheets, day=_today(), description=about)
    elif format == "ipynb":
        content = board_export.notebook(board.name, board_export.parts_of(sheets), _opening(context))
    else:
        content = board_export.archive(board_export.parts_of(sheets))
    return _file(content, board.name, format, _BOARD_MEDIA[format])


def _source(
    context: RequestContext, plot: Plot, values: Json, revision: int | None = None, with_recipe: bool = True
) -> Source:
    """A plot as a page takes it: the newest revision as it was saved, of which what is wrong is shown in its place."""
    chosen = Chosen(values=values, revision=revision)
    config = plot.config if revision is None else config_of(context, plot, chosen)
    shown = PlotSeen.of(plot.id, revision or plot.revision, plot.name)
    backend = context.backend
    return Source(
        plot.name,
        config,
        values,
        draw=lambda given: backend.figure(config, given, cancel=context.cancel),
        said=lambda drawn: backend.passport(config, drawn, plot=shown, with_recipe=with_recipe),
    )


def _sources(context: RequestContext, values: Json, with_recipe: bool = True) -> list[Source]:
    """The plots of a dashboard in the order of their places."""
    board = context.record(Dashboard)
    places = {tile.plot_id: (tile.y, tile.x) for tile in board.layout}
    last = (1 << 31, 0)
    plots = sorted(context.backend.plots(board), key=lambda one: places.get(one.id, last))
    unknown = [id for id in values if id not in {one.id for one in plots}]
    if unknown:
        raise Invalid([Problem(("values", id), f"There is no plot '{id[:80]}'.", "value_error") for id in unknown])
    return [_source(context, plot, values.get(plot.id, {}), with_recipe=with_recipe) for plot in plots]


def _opening(context: RequestContext) -> str:
    """The Python expression that opens a bench on this server. The key is not in it."""
    name = context.backend.project.name
    return f"wb.connect({context.base_url!r}, os.environ['WORKBENCH_API_KEY'], {name!r})"


def _today() -> str:
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%d")
