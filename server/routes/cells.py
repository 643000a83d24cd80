"""Cell specifications, batches and instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import Invalid, Problem
from workbench.records import Batch, Instance, Material, Project, Specification
from workbench.records.record import Record

from .. import access, query
from .. import schemas as s
from ..call import Call
from ..operation import Body, Need, Operation, Parameter
from . import crud

SLOTS = ("anode", "cathode", "electrolyte", "separator", "case")
ALL = 10_000
"""The page of a list that clients read without asking for a page."""


def shown(call: Call, specifications: Sequence[Specification]) -> list[dict[str, Any]]:
    """Specifications on the wire; with ``full`` their components and instances too."""
    if not call.query.get("full"):
        return [{**one.wire(), "instance_ids": None} for one in specifications]
    slots = {getattr(one, f"{slot}_id") for one in specifications for slot in SLOTS} - {None}
    materials = {m.id: m.wire() for m in _all(call, Material, {"id": {"in": sorted(slots)}})}
    instances: dict[str, list[dict[str, Any]]] = {one.id: [] for one in specifications}
    for instance in _all(call, Instance, {"specification_id": {"in": list(instances)}}):
        instances[instance.specification_id].append({"id": instance.id, "name": instance.name})
    return [
        {
            **one.wire(),
            **{slot: materials.get(getattr(one, f"{slot}_id") or "") for slot in SLOTS},
            "instance_ids": instances[one.id],
        }
        for one in specifications
    ]


def _all(call: Call, kind: type[Any], where: Mapping[str, Any]) -> list[Any]:
    return call.store.rows.page(kind, call.scope, where=where, limit=None).items


def _narrowed(call: Call) -> dict[str, Any]:
    """Conditions on the materials of the slots, and the specification that is left out."""
    asked = call.query
    made: dict[str, Any] = {
        f"{slot}_id": {"in": asked[name]} for slot in SLOTS if asked[name := f"{slot}_material_id"]
    }
    wanted = [*asked["material_id"], *asked["material_ids"]]
    ids: dict[str, Any] = {}
    if wanted:
        found = {one.id for slot in SLOTS for one in _all(call, Specification, {f"{slot}_id": {"in": wanted}})}
        ids["in"] = sorted(found)
    if asked["exclude_cell_spec_id"] is not None:
        ids["ne"] = asked["exclude_cell_spec_id"]
    return {**made, **({"id": ids} if ids else {})}


def create_specification(call: Call) -> dict[str, Any]:
    """A specification in the project that the body names, or in the only one there is."""
    body = {key: value for key, value in call.body.items() if key != "project_id"}
    if call.project is None:
        access.enter(call, only_project(call))
    made = crud.create(call, Specification, {**body, "project_id": call.scope.project_id})
    return shown(call, [made])[0]


def only_project(call: Call) -> str:
    """The only project in reach.

    Raises
    ------
    Invalid
        If there are several, or none.
    """
    projects = call.store.people.visible(call.caller)
    if len(projects) != 1:
        message = f"'project_id' is missing: there are {len(projects)} projects, say which."
        raise Invalid(Problem(("project_id",), message, "missing"))
    return projects[0]


def of_project(call: Call) -> list[dict[str, Any]]:
    found = _all(call, Specification, {"project_id": call.scope.project_id})
    return shown(call, found)


def _of_specification(call: Call) -> dict[str, Any]:
    made: dict[str, Any] = {"specification_id": call.path["specification_id"]}
    if call.query.get("batch_id"):
        made["batch_id"] = {"in": call.query["batch_id"]}
    return made


def _bodied(kind: type[Record], *left_out: str, ids: Mapping[str, type[Record]], changing: bool = False) -> Body:
    schema = s.given(kind, changing=changing)
    for name in left_out:
        schema["properties"].pop(name, None)
    schema["required"] = [name for name in schema["required"] if name not in left_out]
    return Body(schema, ids={name: found for name, found in ids.items() if name not in left_out})


_SPECIFICATION, _INSTANCE, _BATCH = s.kind(Specification), s.kind(Instance), s.kind(Batch)
_FULL = query.flag("full", "With components and instances.")
_COMPONENTS: dict[str, type[Record]] = {f"{slot}_id": Material for slot in SLOTS}
_PROJECT = Parameter("project_id", meaning="Only what belongs to this project or to none.", kind=Project)
_UNDER = {"specification_id": "specification_id"}
_IN_BATCH: dict[str, type[Record]] = {"batch_id": Batch, "cell_specification_id": Specification}

OPERATIONS = (
    Operation(
        "GET",
        "/cell_specifications",
        crud.lists(Specification, shown, _narrowed),
        Need.READ,
        "Cell specifications in reach",
        project="query",
        query=(
            *query.listing(Specification, default=ALL, most=ALL),
            _PROJECT,
            _FULL,
            query.text("material_id", "Made with this material in any slot.", many=True, kind=Material),
            query.text("material_ids", "Made with any of these materials.", many=True, kind=Material),
            *(
                query.text(f"{slot}_material_id", f"Material of the {slot}.", many=True, kind=Material)
                for slot in SLOTS
            ),
            query.text("exclude_cell_spec_id", "Left out of the list.", kind=Specification),
        ),
        answer=s.listed(_SPECIFICATION),
    ),
    Operation(
        "POST",
        "/cell_specifications",
        create_specification,
        Need.WRITE,
        "Make a cell specification",
        project="body",
        body=Body(s.given(Specification), ids={"project_id": Project, **_COMPONENTS}),
        answer=_SPECIFICATION,
    ),
    Operation(
        "GET",
        "/projects/{project_id}/cell_specs",
        of_project,
        Need.READ,
        "All cell specifications of a project",
        project="path",
        query=(_FULL,),
        answer=s.array(_SPECIFICATION),
    ),
    Operation(
        "GET",
        "/cell_specifications/{specification_id}",
        crud.reads(Specification, shown),
        Need.READ,
        "One cell specification",
        project="record",
        query=(_FULL,),
        answer=_SPECIFICATION,
    ),
    Operation(
        "PATCH",
        "/cell_specifications/{specification_id}",
        crud.changes(Specification, shown),
        Need.WRITE,
        "Change a cell specification",
        project="record",
        body=Body(s.given(Specification, changing=True), ids=_COMPONENTS),
        answer=_SPECIFICATION,
    ),
    Operation(
        "DELETE",
        "/cell_specifications/{specification_id}",
        crud.deletes(Specification),
        Need.WRITE,
        "Delete a cell specification with its batches, cells and their measurements",
        project="record",
        status=204,
    ),
    Operation(
        "GET",
        "/cell_specifications/{specification_id}/cell_instances",
        crud.lists(Instance, narrowed=_of_specification),
        Need.READ,
        "The cells of a specification",
        project="record",
        query=(
            *query.listing(Instance),
            query.text("batch_id", "Only the cells of this batch.", many=True, kind=Batch),
        ),
        answer=s.listed(_INSTANCE),
    ),
    Operation(
        "POST",
        "/cell_specifications/{specification_id}/cell_instances",
        crud.creates(Instance, under=_UNDER),
        Need.WRITE,
        "Make a cell",
        project="record",
        body=_bodied(Instance, "cell_specification_id", ids=_IN_BATCH),
        answer=_INSTANCE,
    ),
    Operation(
        "GET",
        "/cell_instances/{instance_id}",
        crud.reads(Instance),
        Need.READ,
        "One cell",
        project="record",
        answer=_INSTANCE,
    ),
    Operation(
        "PATCH",
        "/cell_instances/{instance_id}",
        crud.changes(Instance),
        Need.WRITE,
        "Change a cell; a batch of null takes it out of its batch",
        project="record",
        body=_bodied(Instance, ids=_IN_BATCH, changing=True),
        answer=_INSTANCE,
    ),
    Operation(
        "DELETE",
        "/cell_instances/{instance_id}",
        crud.deletes(Instance),
        Need.WRITE,
        "Delete a cell with its measurements",
        project="record",
        status=204,
    ),
    Operation(
        "GET",
        "/cell_specifications/{specification_id}/cell_batches",
        crud.lists(Batch, narrowed=_of_specification),
        Need.READ,
        "The batches of a specification",
        project="record",
        query=query.listing(Batch),
        answer=s.listed(_BATCH),
    ),
    Operation(
        "POST",
        "/cell_specifications/{specification_id}/cell_batches",
        crud.creates(Batch, under=_UNDER),
        Need.WRITE,
        "Make a batch",
        project="record",
        body=_bodied(Batch, "cell_specification_id", ids={}),
        answer=_BATCH,
    ),
    Operation(
        "GET",
        "/cell_batches/{batch_id}",
        crud.reads(Batch),
        Need.READ,
        "One batch",
        project="record",
        answer=_BATCH,
    ),
    Operation(
        "PATCH",
        "/cell_batches/{batch_id}",
        crud.changes(Batch),
        Need.WRITE,
        "Change a batch",
        project="record",
        body=_bodied(Batch, ids={"cell_specification_id": Specification}, changing=True),
        answer=_BATCH,
    ),
    Operation(
        "DELETE",
        "/cell_batches/{batch_id}",
        crud.deletes(Batch),
        Need.WRITE,
        "Delete a batch; its cells stay",
        project="record",
        status=204,
    ),
)
