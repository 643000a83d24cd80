"""Dashboards and their plots: saved recipes, their figures and data."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BeforeValidator, Field, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench import export, figure_traces
from workbench.backend import FigureAnswer
from workbench.errors import Invalid, NotFound, Problem, instead
from workbench.figure_sketch import SketchLine, sketch
from workbench.operations.arguments import whole
from workbench.recipe.check import sound
from workbench.recipe.plot import PlotConfig
from workbench.recipe.strict import NotNull, Raw
from workbench.records import Dashboard, Plot

from .. import records
from ..auth import ProjectReader, ProjectWriter
from ..context import RequestContext, Slow
from ..kept_answers import from_store
from ..parameters import Asked, AsOf, Flag, Text, Values, listing
from ..responses import CSV, PARQUET
from ..routing import Route, heavy, takes
from ..schemas import Body, Changed, DescribedAs, GivenIn, Json, Page, Shown, id_of, wire
from .recipes import (
    ARROW,
    DatasetShown,
    FigureShown,
    Part,
    TracesShown,
    data,
    detail,
    drawn,
    figure_response,
)

router = APIRouter(route_class=Route, tags=["Dashboards and plots"])

_BOARDS = "/projects/{project_id}/dashboards"
BOARD = _BOARDS + "/{dashboard_id}"
_PLOTS = BOARD + "/plots"
PLOT = _PLOTS + "/{plot_id}"
_MEDIA = {"csv": CSV, "parquet": PARQUET}
_MOST = (1 << 31) - 1
MOST_SKETCHED = 12
"""So many plots of a dashboard have a sketch."""
PlotName = Annotated[str, Field(json_schema_extra={"minLength": 1, "maxLength": 500, "pattern": r"\S"})]


Note = Annotated[
    Annotated[Text, Field(max_length=1000)] | None, Field(description="What changed and why, for the history.")
]
RevisionAsked = Annotated[
    Annotated[int, Field(ge=1, le=_MOST), BeforeValidator(whole)] | None,
    Query(description="A revision of the plot; without it the newest."),
]
_NOT_CHANGED: dict[int | str, Json] = {304: {"description": "The figure is the one that ``If-None-Match`` names."}}

RecipeObject = Annotated[Json, DescribedAs(PlotConfig)]


def _started(value: object, whole: ValidatorFunctionWrapHandler) -> object:
    """Refuse a number that is out of range for the revision that a change started from."""
    if isinstance(value, int) and not isinstance(value, bool) and not 0 <= value <= _MOST:
        raise PydanticCustomError("int_range", "'revision' is a whole number from 0 to {most}.", {"most": _MOST})
    return whole(value)


def _meant(value: object, whole: ValidatorFunctionWrapHandler) -> object:
    """Refuse anything but a number from 1, or null for the newest revision."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST):
        return whole(value)
    raise PydanticCustomError("int_type", "'revision' is a whole number from 1.")


class NewPlot(Body):
    """A plot to be saved."""

    name: PlotName
    config: RecipeObject
    note: Note = None


class ChangedPlot(Body):
    """What changes of a plot, and the revision that the change started from."""

    revision: Annotated[int, Field(ge=0, le=_MOST), WrapValidator(_started)]
    name: Annotated[PlotName | None, NotNull()] = None
    config: Annotated[RecipeObject | None, NotNull()] = None
    note: Note = None


class Chosen(Body):
    """Chosen values of a saved plot, and a revision of it; without a revision the newest."""

    values: Json = Field(default_factory=dict)
    revision: Annotated[int | None, Field(ge=1, le=_MOST), WrapValidator(_meant)] = None


class ShownPlot(Body):
    """A figure that is on a screen: its plot, the revision and values it was drawn with, and its ``content``.

    ``pinned`` says that this revision is meant, also where there is a newer one.
    """

    id: Annotated[Text, id_of(Plot)]
    revision: Annotated[int, Field(ge=1, le=_MOST)]
    content: Text
    values: Json = Field(default_factory=dict)
    pinned: bool = False


class ShownPlots(Body):
    """The figures that are on a screen."""

    plots: Annotated[list[ShownPlot], Field(max_length=1000)]


class Stale(TypedDict):
    """The ids of plots whose figures are not current."""

    stale: list[str]


class PlotSketch(TypedDict):
    """A plot as a few thin lines on 100 x 100 places; null if its figure is not in the cache as it is now."""

    id: str
    name: str
    lines: list[SketchLine] | None


class ChosenDetail(Part, Chosen):
    """Chosen values, and the part of the figure that is wanted in detail."""


@router.get(_BOARDS)
@from_store()
def list_dashboards(
    context: ProjectReader, project_id: str, asked: Annotated[Asked, listing(Dashboard)]
) -> Page[Shown[Dashboard]]:
    """The dashboards of a project."""
    return records.listed(context, Dashboard, asked, project_id=project_id)


@router.post(_BOARDS)
@takes("small")
def create_dashboard(context: ProjectWriter, project_id: str, body: GivenIn[Dashboard]) -> Shown[Dashboard]:
    """Make a dashboard."""
    placed = records.under_path(Dashboard, body, project_id=project_id)
    return wire(records.create(context, Dashboard, placed))


@router.get(BOARD)
@from_store()
def read_dashboard(context: ProjectReader) -> Shown[Dashboard]:
    """One dashboard."""
    return wire(context.record(Dashboard))


@router.get(f"{BOARD}/sketch")
@heavy
def sketch_dashboard(context: ProjectReader) -> list[PlotSketch]:
    """The plots of a dashboard at their saved values as thin lines, for lists of dashboards.

    Nothing is read or drawn for it: only figures in the cache have lines. At most 12 plots, in the order of the layout.
    """
    board = context.record(Dashboard)
    places = {tile.plot_id: (tile.y, tile.x) for tile in board.layout}
    last = (_MOST, 0)
    plots = sorted(context.backend.plots(board), key=lambda one: places.get(one.id, last))
    return [{"id": one.id, "name": one.name, "lines": _lines(context, one)} for one in plots[:MOST_SKETCHED]]


def _lines(context: RequestContext, plot: Plot) -> list[SketchLine] | None:
    try:
        found = context.backend.cached_figure(context.state.recipes.of(plot), {})
    except Invalid:
        return None
    return None if found is None else sketch(found.figure)


@router.patch(BOARD)
@takes("small")
def change_dashboard(context: ProjectWriter, body: Changed[Dashboard]) -> Shown[Dashboard]:
    """Change a dashboard."""
    return wire(records.change(context, context.record(Dashboard), body))


@router.delete(BOARD, status_code=204)
def delete_dashboard(context: ProjectWriter) -> None:
    """Delete a dashboard with its plots."""
    records.delete(context, context.record(Dashboard))


@router.get(_PLOTS)
@from_store()
def list_plots(
    context: ProjectReader,
    dashboard_id: str,
    asked: Annotated[Asked, listing(Plot)],
    config: Annotated[
        Flag, Query(description="With false the recipes are left empty: they are most of the list.")
    ] = True,
) -> Page[Shown[Plot]]:
    """The plots of a dashboard."""
    found = records.listed(context, Plot, asked, dashboard_id=dashboard_id)
    if not config:
        for one in found["items"]:
            one["config"] = {}
    return found


def _sound(context: RequestContext, raw: Raw) -> Json:
    """A recipe as it is stored. The drawer checks its script.

    Raises
    ------
    Invalid
        With everything wrong with it or with its script.
    """
    checked = sound(raw)
    context.backend.check_script(checked)
    return checked.dump()


@router.post(_PLOTS)
@heavy
@takes("small")
def create_plot(context: ProjectWriter, dashboard_id: str, body: NewPlot) -> Shown[Plot]:
    """Save a recipe as a plot."""
    given = {"name": body.name, "config": _sound(context, body.config), "dashboard_id": dashboard_id}
    with context.store.transaction() as db:
        made = records.create(context, Plot, given)
        context.store.plots.annotate(db, made, body.note)
    return wire(made)


@router.get(PLOT)
@from_store()
def read_plot(context: ProjectReader) -> Shown[Plot]:
    """One plot."""
    return wire(context.record(Plot))


@router.patch(PLOT)
@heavy
@takes("small")
def change_plot(context: ProjectWriter, body: ChangedPlot) -> Shown[Plot]:
    """Change a plot, as a new revision.

    The body has the revision that the change started from. If the plot has a newer one, the change is refused, and the
    answer has both numbers.
    """
    given = body.model_dump(exclude_unset=True, exclude={"note"})
    if "config" in given:
        given["config"] = _sound(context, given["config"])
    before = context.record(Plot)
    with context.store.transaction() as db:
        changed = records.change(context, before, given)
        if changed.revision != before.revision:
            context.store.plots.annotate(db, changed, body.note)
    return wire(changed)


@router.delete(PLOT, status_code=204)
def delete_plot(context: ProjectWriter) -> None:
    """Delete a plot with its revisions."""
    records.delete(context, context.record(Plot))


def _config(context: RequestContext, chosen: Chosen) -> PlotConfig:
    """The recipe of the plot of the path: of the chosen revision, or the newest."""
    return config_of(context, context.record(Plot), chosen)


def config_of(context: RequestContext, plot: Plot, chosen: Chosen) -> PlotConfig:
    if chosen.revision is None or chosen.revision == plot.revision:
        return context.state.recipes.of(plot)
    return sound(context.backend.revision(plot, chosen.revision).config)


@router.post(f"{PLOT}/dataset", response_model=DatasetShown, responses=ARROW)
@heavy
@takes("small")
def plot_dataset(context: ProjectReader, body: Chosen | None = None, as_of: AsOf = None) -> Response:
    """The data of a plot with chosen values, as JSON or Arrow."""
    context.show_as_of(as_of)
    chosen = body or Chosen()
    return data(context, _config(context, chosen), chosen.values)


@router.post(f"{PLOT}/figure", response_model=FigureShown)
@from_store(counts=("dataset", "figure"))
@takes("small")
def plot_figure(context: ProjectReader, body: Chosen | None = None, as_of: AsOf = None) -> Response | Slow:
    """The figure of a plot with chosen values."""
    context.show_as_of(as_of)
    chosen = body or Chosen()
    return drawn(context, _config(context, chosen), chosen.values)


@router.get(f"{PLOT}/figure", response_model=FigureShown, responses=_NOT_CHANGED)
@from_store("if-none-match", counts=("dataset", "figure"))
def read_figure(
    context: ProjectReader, values: Values = None, revision: RevisionAsked = None, as_of: AsOf = None
) -> Response | Slow:
    """The figure of a plot with chosen values, at an address that a browser keeps.

    ``ETag`` names the content. With it in ``If-None-Match`` the answer is 304 as long as the figure is the same.
    """
    context.show_as_of(as_of)
    chosen = Chosen(values=values or {}, revision=revision)
    known = context.request.headers.get("if-none-match", "")

    def respond(config: PlotConfig, found: FigureAnswer) -> Response:
        tag = f'W/"{found.content}"'
        headers = {"etag": tag, "cache-control": "private, no-cache"}
        if tag.removeprefix("W/") in known:
            return Response(status_code=304, headers=headers)
        return figure_response(config, found, headers)

    return drawn(context, _config(context, chosen), chosen.values, respond)


@router.post("/projects/{project_id}/figures/current")
@heavy
@takes("small")
def stale_figures(context: ProjectReader, body: ShownPlots) -> Stale:
    """Which of these figures are not as they would be drawn now: their data, recipe or choices have changed.

    Nothing is drawn. A figure that is not in the cache any more counts as changed, and so does a plot that is gone.
    """
    return {"stale": [one.id for one in body.plots if not _is_current(context, one)]}


def _is_current(context: RequestContext, shown: ShownPlot) -> bool:
    try:
        plot = context.store.rows.get(Plot, shown.id, context.scope)
        if plot.revision != shown.revision and not shown.pinned:
            return False
        chosen = Chosen(values=shown.values, revision=shown.revision)
        found = context.backend.cached_figure(config_of(context, plot, chosen), shown.values)
    except (NotFound, Invalid):
        return False
    return found is not None and found.content == shown.content


@router.post(f"{PLOT}/figure/detail")
@heavy
@takes("small")
def plot_figure_detail(context: ProjectReader, body: ChosenDetail, as_of: AsOf = None) -> TracesShown:
    """Finer detail of a part of the figure of a plot."""
    context.show_as_of(as_of)
    return detail(context, _config(context, body), body.values, body)


@router.get(
    f"{PLOT}/data",
    response_class=Response,
    responses={200: {"content": {media: {} for media in _MEDIA.values()}}},
)
@heavy
def plot_data(
    context: ProjectReader,
    format: Annotated[Literal["csv", "parquet"], Query(description="Of the file.")] = "csv",
    step: Annotated[Text | None, Query(description="The rows of this step, not the traces.")] = None,
    values: Values = None,
    as_of: AsOf = None,
) -> Response:
    """The traces of a plot in long form, or the rows of a step, as a file."""
    context.show_as_of(as_of)
    plot, chosen = context.record(Plot), values or {}
    if step is None:
        table = figure_traces.traces(context.backend.figure(plot.config, chosen, cancel=context.cancel).figure)
    else:
        steps = context.backend.dataset(plot.config, chosen, cancel=context.cancel).steps
        if step not in steps:
            message = f"The plan has no step '{step[:80]}'. {instead(step, steps, 'steps')}"
            raise Invalid(Problem(("step",), message, "value_error"))
        table = export.step_table(steps[step])
    write = export.table_csv if format == "csv" else export.table_parquet
    headers = {"content-disposition": f'attachment; filename="data.{format}"'}
    return Response(write(table), 200, headers, _MEDIA[format])
