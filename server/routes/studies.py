"""Studies: measurements and simulations that are looked at together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.records import Measurement, Record, Simulation, Study

from .. import query
from .. import schemas as s
from ..answers import Nothing
from ..call import Call
from ..operation import Body, Need, Operation
from . import crud, fields


def _of_project(call: Call) -> Mapping[str, Any]:
    return {"project_id": call.path["project_id"]}


def create(call: Call) -> dict[str, Any]:
    above = {"project_id": call.path["project_id"]}
    return crud.wire(crud.create(call, Study, crud.placed(Study, call.body, above)))


def assigns(kind: type[Record]) -> Callable[[Call], dict[str, Any]]:
    def handler(call: Call) -> dict[str, Any]:
        fields.read(call.body, {})
        study, record = call.record(Study), call.record(kind)
        with call.writing(study.id, assigned=record.id):
            call.store.rows.assign(study.id, kind, record.id, call.scope)
        return {"study_id": study.id, "id": record.id}

    return handler


def unassigns(kind: type[Record]) -> Callable[[Call], Nothing]:
    def handler(call: Call) -> Nothing:
        study, record = call.record(Study), call.record(kind)
        with call.writing(study.id, unassigned=record.id):
            call.store.rows.unassign(study.id, kind, record.id, call.scope)
        return Nothing()

    return handler


def _of_study(call: Call) -> Mapping[str, Any]:
    return {"study_id": call.path["study_id"]}


_ONE = s.kind(Study)
_ALL = "/projects/{project_id}/studies"
_PLACE = _ALL + "/{study_id}"
_GIVEN = s.given(Study)
_GIVEN["properties"].pop("project_id")


def _assignments(kind: type[Record], plural: str, position: str) -> tuple[Operation, ...]:
    path = f"{_PLACE}/{plural}/{{{position}}}"
    return (
        Operation(
            "POST",
            path,
            assigns(kind),
            Need.WRITE,
            f"Put a {kind.label} into the study; twice is harmless",
            project="path",
            body=Body(s.body({}), "small", optional=True),
            answer=s.record({"study_id": s.TEXT, "id": s.TEXT}),
        ),
        Operation(
            "DELETE",
            path,
            unassigns(kind),
            Need.WRITE,
            f"Take a {kind.label} out of the study",
            project="path",
            status=204,
        ),
        Operation(
            "GET",
            f"{_PLACE}/{plural}",
            crud.lists(kind, narrowed=_of_study),
            Need.READ,
            f"The {plural} of the study",
            project="path",
            query=query.listing(kind),
            answer=s.listed(s.kind(kind)),
        ),
    )


OPERATIONS = (
    Operation(
        "GET",
        _ALL,
        crud.lists(Study, narrowed=_of_project),
        Need.READ,
        "The studies of a project",
        project="path",
        query=query.listing(Study),
        answer=s.listed(_ONE),
    ),
    Operation("POST", _ALL, create, Need.WRITE, "Make a study", project="path", body=Body(_GIVEN), answer=_ONE),
    Operation("GET", _PLACE, crud.reads(Study), Need.READ, "One study", project="path", answer=_ONE),
    Operation(
        "PATCH",
        _PLACE,
        crud.changes(Study),
        Need.WRITE,
        "Change a study",
        project="path",
        body=Body(s.given(Study, changing=True)),
        answer=_ONE,
    ),
    Operation(
        "DELETE",
        _PLACE,
        crud.deletes(Study),
        Need.WRITE,
        "Delete a study; what it holds stays",
        project="path",
        status=204,
    ),
    *_assignments(Measurement, "measurements", "measurement_id"),
    *_assignments(Simulation, "simulations", "simulation_id"),
)
