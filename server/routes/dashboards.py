"""Dashboards and their plots: saved recipes, their figures and data."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from starlette.responses import Response

from workbench import export
from workbench.errors import Invalid, Problem, instead
from workbench.recipe.check import sound
from workbench.recipe.plot import PlotConfig
from workbench.recipe.strict import NotNull, Raw
from workbench.records import Dashboard, Plot

from .. import records
from ..auth import ProjectReader, ProjectWriter
from ..context import RequestContext
from ..parameters import Asked, Text, Values, listing
from ..routing import Route, heavy, takes
from ..schemas import Body, Changed, DescribedAs, GivenIn, Json, Page, Shown, wire
from .recipes import (
    ARROW,
    DatasetShown,
    FigureShown,
    Part,
    TracesShown,
    data,
    detail,
    drawn,
)

router = APIRouter(route_class=Route, tags=["Dashboards and plots"])

_BOARDS = "/projects/{project_id}/dashboards"
_BOARD = _BOARDS + "/{dashboard_id}"
_PLOTS = _BOARD + "/plots"
_PLOT = _PLOTS + "/{plot_id}"
_FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
_MOST = (1 << 31) - 1
PlotName = Annotated[str, Field(json_schema_extra={"minLength": 1, "maxLength": 500, "pattern": r"\S"})]


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


class ChangedPlot(Body):
    """What changes of a plot, and the revision that the change started from."""

    revision: Annotated[int, Field(ge=0, le=_MOST), WrapValidator(_started)]
    name: Annotated[PlotName | None, NotNull()] = None
    config: Annotated[RecipeObject | None, NotNull()] = None


class Chosen(Body):
    """Chosen values of a saved plot, and a revision of it; without a revision the newest."""

    values: Json = Field(default_factory=dict)
    revision: Annotated[int | None, Field(ge=1, le=_MOST), WrapValidator(_meant)] = None


class ChosenDetail(Part, Chosen):
    """Chosen values, and the part of the figure that is wanted in detail."""


@router.get(_BOARDS)
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


@router.get(_BOARD)
def read_dashboard(context: ProjectReader) -> Shown[Dashboard]:
    """One dashboard."""
    return wire(context.record(Dashboard))


@router.patch(_BOARD)
@takes("small")
def change_dashboard(context: ProjectWriter, body: Changed[Dashboard]) -> Shown[Dashboard]:
    """Change a dashboard."""
    return wire(records.change(context, context.record(Dashboard), body))


@router.delete(_BOARD, status_code=204)
def delete_dashboard(context: ProjectWriter) -> None:
    """Delete a dashboard with its plots."""
    records.delete(context, context.record(Dashboard))


@router.get(_PLOTS)
def list_plots(
    context: ProjectReader, dashboard_id: str, asked: Annotated[Asked, listing(Plot)]
) -> Page[Shown[Plot]]:
    """The plots of a dashboard."""
    return records.listed(context, Plot, asked, dashboard_id=dashboard_id)


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
    return wire(records.create(context, Plot, given))


@router.get(_PLOT)
def read_plot(context: ProjectReader) -> Shown[Plot]:
    """One plot."""
    return wire(context.record(Plot))


@router.patch(_PLOT)
@heavy
@takes("small")
def change_plot(context: ProjectWriter, body: ChangedPlot) -> Shown[Plot]:
    """Change a plot, as a new revision.

    The body has the revision that the change started from. If the plot has a newer one, the change is refused, and the
    answer has both numbers.
    """
    given = body.model_dump(exclude_unset=True)
    if "config" in given:
        given["config"] = _sound(context, given["config"])
    return wire(records.change(context, context.record(Plot), given))


@router.delete(_PLOT, status_code=204)
def delete_plot(context: ProjectWriter) -> None:
    """Delete a plot with its revisions."""
    records.delete(context, context.record(Plot))


def _config(context: RequestContext, chosen: Chosen) -> PlotConfig:
    """The recipe of a plot: of the chosen revision, or the newest."""
    plot = context.record(Plot)
    if chosen.revision is None or chosen.revision == plot.revision:
        return context.state.recipes.of(plot)
    return sound(context.backend.revision(plot, chosen.revision).config)


@router.post(f"{_PLOT}/dataset", response_model=DatasetShown, responses=ARROW)
@heavy
@takes("small")
def plot_dataset(context: ProjectReader, body: Chosen | None = None) -> Response:
    """The data of a plot with chosen values, as JSON or Arrow."""
    chosen = body or Chosen()
    return data(context, _config(context, chosen), chosen.values)


@router.post(f"{_PLOT}/figure", response_model=FigureShown)
@takes("small")
async def plot_figure(context: ProjectReader, body: Chosen | None = None) -> Response:
    """The figure of a plot with chosen values."""
    chosen = body or Chosen()
    return await drawn(context, lambda: _config(context, chosen), chosen.values)


@router.post(f"{_PLOT}/figure/detail")
@heavy
@takes("small")
def plot_figure_detail(context: ProjectReader, body: ChosenDetail) -> TracesShown:
    """Finer detail of a part of the figure of a plot."""
    return detail(context, _config(context, body), body.values, body)


@router.get(
    f"{_PLOT}/data",
    response_class=Response,
    responses={200: {"content": {media: {} for media in _FORMATS.values()}}},
)
@heavy
def plot_data(
    context: ProjectReader,
    format: Annotated[Literal["csv", "parquet"], Query(description="Of the file.")] = "csv",
    step: Annotated[Text | None, Query(description="The rows of this step, not the traces.")] = None,
    values: Values = None,
) -> Response:
    """The traces of a plot in long form, or the rows of a step, as a file."""
    plot, chosen = context.record(Plot), values or {}
    if step is None:
        table = export.traces(context.backend.figure(plot.config, chosen, cancel=context.cancel).figure)
    else:
        steps = context.backend.dataset(plot.config, chosen, cancel=context.cancel).steps
        if step not in steps:
            message = f"The plan has no step '{step[:80]}'. {instead(step, steps, 'steps')}"
            raise Invalid(Problem(("step",), message, "value_error"))
        table = export.step_table(steps[step])
    write = export.table_csv if format == "csv" else export.table_parquet
    headers = {"content-disposition": f'attachment; filename="data.{format}"'}
    return Response(write(table), 200, headers, _FORMATS[format])
