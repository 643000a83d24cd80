"""Simulations and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Form, Query
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench.errors import Invalid, NotFound, Problem
from workbench.records import Model, Project, Simulation, Specification, Study
from workbench.store.records.people import Right
from workbench.table import time_text, to_micros

from .. import auth, records
from ..auth import AnyReader, BodyWriter, QueryReader, RecordReader, RecordWriter
from ..context import RequestContext
from ..kept_answers import from_store
from ..parameters import Asked, Condition, Flag, Text, ids_of, listing
from ..responses import redirect
from ..routing import Route, heavy, takes
from ..schemas import Body, FilePart, Json, JsonText, Name, Shown, id_of, wire
from ..schemas import Text as BodyText
from . import storage, tables
from .cells import only_project

router = APIRouter(route_class=Route, tags=["Simulations"])

_PLACE = "/simulations/{simulation_id}"
State = Literal["queued", "running", "completed", "failed"]


def _one_or_more(value: int) -> int:
    if value < 1:
        raise PydanticCustomError("out_of_range", "'limit' is at least 1.")
    return value


class SimulationWithResults(Shown[Simulation]):
    """A simulation as most routes show it; if it has a folder of results, it is finished."""

    more: ClassVar = {"storage_folder": str | None, "job_id": str | None}


class Simulations(TypedDict):
    simulations: list[SimulationWithResults]
    total: int
    model_scalar_parameters: Json


class Status(TypedDict):
    simulation_id: str
    status: State
    error: str | None
    error_code: str | None
    updated_at: str


class AskedStatuses(Body):
    simulation_ids: Annotated[list[BodyText], id_of(Simulation)]
    limit: Annotated[int, AfterValidator(_one_or_more)] | None = None


class NewSimulation(Body):
    """A simulation that ran elsewhere, with its results; ``file`` is another name of ``time_series``."""

    name: Name
    model_id: Annotated[BodyText | None, id_of(Model)] = None
    cell_specification_id: Annotated[BodyText | None, id_of(Specification)] = None
    state: BodyText | None = None
    error: BodyText | None = None
    notes: BodyText | None = None
    project_id: Annotated[BodyText | None, id_of(Project)] = None
    study_id: Annotated[BodyText | None, id_of(Study)] = None
    metrics: JsonText = None
    source: JsonText = None
    time_series: FilePart | None = None
    file: FilePart | None = None
    steps: FilePart | None = None


def shown(simulations: Sequence[Simulation]) -> list[SimulationWithResults]:
    """Simulations as the wire shows them."""
    return [
        SimulationWithResults(
            {
                **wire(one),
                "storage_folder": f"simulations/{one.id}" if one.state == "completed" else None,
                "job_id": None,
            }
        )
        for one in simulations
    ]


@router.get("/simulations")
@from_store()
def list_simulations(
    context: QueryReader,
    asked: Annotated[Asked, listing(Simulation)],
    parameterized_model_id: Annotated[Text | None, ids_of(Model, "Simulated with this model.")] = None,
    study_id: Annotated[Text | None, ids_of(Study, "Assigned to this study.")] = None,
    experiment_template_id: Annotated[
        Text | None, Query(description="There are none here, so nothing is found.")
    ] = None,
    project_id: Annotated[Text | None, ids_of(Project, "Of this project.")] = None,
    state: Annotated[State | None, Query(description="In this state.")] = None,
    summary: Annotated[Flag, Query(description="Has no effect: lists are short.")] = False,
) -> Simulations:
    """Simulations of a model, a study or a project."""
    if all(one is None for one in (parameterized_model_id, study_id, experiment_template_id, project_id)):
        message = "Give one of parameterized_model_id, study_id, experiment_template_id, project_id."
        raise Invalid(Problem(("study_id",), message, "missing"))
    where: dict[str, Condition] = {}
    if study_id is not None:
        where["study_id"] = auth.under(context, Study, study_id, Right.READ).id
    if parameterized_model_id is not None:
        where["model_id"] = {"in": [parameterized_model_id]}
    if experiment_template_id is not None:
        where["id"] = {"in": []}
    if state is not None:
        where["state"] = state
    found = asked.page(context.store.rows, Simulation, context.scope, **where)
    return {"simulations": shown(found.items), "total": found.total, "model_scalar_parameters": {}}


@router.post("/simulations/statuses")
def list_statuses(context: AnyReader, body: AskedStatuses) -> list[Status]:
    """The states of several simulations."""
    ids = list(dict.fromkeys(body.simulation_ids))
    where = {"id": {"in": ids}}
    most = min(body.limit or len(ids), len(ids))  # a limit may have more bits than the store takes
    found = context.store.rows.page(Simulation, context.scope, where=where, limit=most)
    return [
        {
            "simulation_id": one.id,
            "status": one.state,
            "error": one.error,
            "error_code": None,
            "updated_at": time_text(to_micros(one.updated_at)),
        }
        for one in found.items
    ]


@router.post("/simulations")
@heavy
@takes("upload")
def create_simulation(context: BodyWriter, form: Annotated[NewSimulation, Form()]) -> SimulationWithResults:
    """Keep a simulation that ran elsewhere: its time series and steps as parquet files."""
    study = None if form.study_id is None else auth.under(context, Study, form.study_id)
    if context.project is None:
        auth.enter(context, only_project(context))
    series = form.time_series or form.file
    if series is None:
        raise Invalid(Problem(("file",), "The form needs a file 'time_series'.", "missing"))
    parts = {"series": tables.sent_table(context, context.saved(series))}
    if form.steps is not None:
        parts["steps"] = tables.sent_table(context, context.saved(form.steps))

    def assign(id: str) -> None:
        if study is not None:
            context.store.rows.assign(study.id, Simulation, id, context.scope)

    elsewhere = {"time_series", "file", "steps", "project_id", "study_id"}
    given = form.model_dump(exclude=elsewhere, exclude_unset=True)
    fields = {**given, "project_id": context.scope.project_id}
    return shown([tables.create(context, Simulation, fields, parts, also=assign)])[0]


@router.get(_PLACE)
@from_store()
def read_simulation(context: RecordReader) -> SimulationWithResults:
    """One simulation."""
    return shown([context.record(Simulation)])[0]


@router.delete(_PLACE, status_code=204)
def delete_simulation(context: RecordWriter) -> None:
    """Delete a simulation with its results."""
    records.delete(context, context.record(Simulation))


@router.get(f"{_PLACE}/time_series/download", status_code=307, response_class=Response)
def download_time_series(context: RecordReader) -> Response:
    """Redirect to the time series as parquet."""
    return _download(context, "series", "time_series.parquet")


@router.get(f"{_PLACE}/steps/download", status_code=307, response_class=Response)
def download_steps(context: RecordReader) -> Response:
    """Redirect to the steps as parquet."""
    return _download(context, "steps", "steps.parquet")


def _download(context: RequestContext, dataset: str, filename: str) -> Response:
    record = context.record(Simulation)
    if record.state != "completed":
        raise NotFound(f"This simulation has no results yet (it is {record.state}).")
    return redirect(storage.of_series(context, record.id, dataset, filename, "simulation"))
