"""Studies: groups of measurements and simulations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from typing_extensions import TypedDict

from workbench.records import Measurement, Record, Simulation, Study

from .. import records
from ..auth import ProjectReader, ProjectWriter
from ..context import RequestContext
from ..kept_answers import from_store
from ..parameters import Asked, listing
from ..routing import Route, takes
from ..schemas import Changed, Empty, GivenIn, Page, Shown, wire

router = APIRouter(route_class=Route, tags=["Studies"])

_ALL = "/projects/{project_id}/studies"
_PLACE = _ALL + "/{study_id}"
_MEASUREMENTS, _SIMULATIONS = f"{_PLACE}/measurements", f"{_PLACE}/simulations"


class Assigned(TypedDict):
    study_id: str
    id: str


@router.get(_ALL)
@from_store()
def list_studies(
    context: ProjectReader, project_id: str, asked: Annotated[Asked, listing(Study)]
) -> Page[Shown[Study]]:
    """The studies of a project."""
    return records.listed(context, Study, asked, project_id=project_id)


@router.post(_ALL)
def create_study(context: ProjectWriter, project_id: str, body: GivenIn[Study]) -> Shown[Study]:
    """Make a study."""
    return wire(records.create(context, Study, records.under_path(Study, body, project_id=project_id)))


@router.get(_PLACE)
@from_store()
def read_study(context: ProjectReader) -> Shown[Study]:
    """One study."""
    return wire(context.record(Study))


@router.patch(_PLACE)
def change_study(context: ProjectWriter, body: Changed[Study]) -> Shown[Study]:
    """Change a study."""
    return wire(records.change(context, context.record(Study), body))


@router.delete(_PLACE, status_code=204)
def delete_study(context: ProjectWriter) -> None:
    """Delete a study; its measurements and simulations stay."""
    records.delete(context, context.record(Study))


# Its measurements and simulations


def _assign(context: RequestContext, kind: type[Record]) -> Assigned:
    study, record = context.record(Study), context.record(kind)
    with context.writing(study.id, assigned=record.id):
        context.store.rows.assign(study.id, kind, record.id, context.scope)
    return {"study_id": study.id, "id": record.id}


def _unassign(context: RequestContext, kind: type[Record]) -> None:
    study, record = context.record(Study), context.record(kind)
    with context.writing(study.id, unassigned=record.id):
        context.store.rows.unassign(study.id, kind, record.id, context.scope)


@router.post(f"{_MEASUREMENTS}/{{measurement_id}}")
@takes("small")
def assign_measurement(context: ProjectWriter, body: Empty | None = None) -> Assigned:
    """Put a measurement into the study; it may be there already."""
    return _assign(context, Measurement)


@router.delete(f"{_MEASUREMENTS}/{{measurement_id}}", status_code=204)
def unassign_measurement(context: ProjectWriter) -> None:
    """Take a measurement out of the study."""
    _unassign(context, Measurement)


@router.get(_MEASUREMENTS)
def list_measurements(
    context: ProjectReader, study_id: str, asked: Annotated[Asked, listing(Measurement)]
) -> Page[Shown[Measurement]]:
    """The measurements of the study."""
    return records.listed(context, Measurement, asked, study_id=study_id)


@router.post(f"{_SIMULATIONS}/{{simulation_id}}")
@takes("small")
def assign_simulation(context: ProjectWriter, body: Empty | None = None) -> Assigned:
    """Put a simulation into the study; it may be there already."""
    return _assign(context, Simulation)


@router.delete(f"{_SIMULATIONS}/{{simulation_id}}", status_code=204)
def unassign_simulation(context: ProjectWriter) -> None:
    """Take a simulation out of the study."""
    _unassign(context, Simulation)


@router.get(_SIMULATIONS)
def list_simulations(
    context: ProjectReader, study_id: str, asked: Annotated[Asked, listing(Simulation)]
) -> Page[Shown[Simulation]]:
    """The simulations of the study."""
    return records.listed(context, Simulation, asked, study_id=study_id)
