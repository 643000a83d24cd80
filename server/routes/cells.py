"""Cell specifications, batches and instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, TypeVar

from fastapi import APIRouter, Query

from workbench.errors import Invalid, Problem
from workbench.records import Batch, Instance, Material, Project, Record, Specification

from .. import auth, records
from ..auth import BodyWriter, ProjectReader, QueryReader, RecordReader, RecordWriter
from ..context import RequestContext
from ..kept_answers import from_store
from ..parameters import Asked, Flag, Text, ids_of, listing
from ..routing import Route
from ..schemas import Changed, Given, GivenUnder, Json, Page, Shown, page, wire

router = APIRouter(route_class=Route, tags=["Cells"])

R = TypeVar("R", bound=Record)
Full = Annotated[Flag, Query(description="With components and instances.")]
Materials = Annotated[list[Text], ids_of(Material, "Only those with one of these materials there.", many=True)]
SLOTS = ("anode", "cathode", "electrolyte", "separator", "case")
ALL = 10_000
"""The page of a list that clients read without asking for a page."""


class ShownSpecification(Shown[Specification]):
    """A specification; with ``full`` its components and instances too."""

    more: ClassVar = {"instance_ids": list[Json] | None}


def shown(
    context: RequestContext, specifications: Sequence[Specification], full: bool = False
) -> list[ShownSpecification]:
    """Specifications as the wire shows them."""
    if not full:
        return [ShownSpecification({**one.wire(), "instance_ids": None}) for one in specifications]
    slots = {getattr(one, f"{slot}_id") for one in specifications for slot in SLOTS} - {None}
    materials = {m.id: m.wire() for m in _all(context, Material, {"id": {"in": sorted(slots)}})}
    instances: dict[str, list[Json]] = {one.id: [] for one in specifications}
    for instance in _all(context, Instance, {"specification_id": {"in": list(instances)}}):
        instances[instance.specification_id].append({"id": instance.id, "name": instance.name})
    return [
        ShownSpecification(
            {
                **one.wire(),
                **{slot: materials.get(getattr(one, f"{slot}_id") or "") for slot in SLOTS},
                "instance_ids": instances[one.id],
            }
        )
        for one in specifications
    ]


def _all(context: RequestContext, kind: type[R], where: Json) -> Sequence[R]:
    return context.store.rows.page(kind, context.scope, where=where, limit=None).items


# Specifications


@router.get("/cell_specifications")
@from_store()
def list_specifications(
    context: QueryReader,
    asked: Annotated[Asked, listing(Specification, default=ALL, most=ALL)],
    material_id: Materials,
    material_ids: Materials,
    anode_material_id: Materials,
    cathode_material_id: Materials,
    electrolyte_material_id: Materials,
    separator_material_id: Materials,
    case_material_id: Materials,
    exclude_cell_spec_id: Annotated[Text | None, ids_of(Specification, "Left out of the list.")] = None,
    project_id: Annotated[Text | None, ids_of(Project, "Only what belongs to this project or to none.")] = None,
    full: Full = False,
) -> Page[ShownSpecification]:
    """Cell specifications in reach."""
    made_of = {
        "anode": anode_material_id,
        "cathode": cathode_material_id,
        "electrolyte": electrolyte_material_id,
        "separator": separator_material_id,
        "case": case_material_id,
    }
    fixed = {
        **{f"{slot}_id": {"in": ids} for slot, ids in made_of.items() if ids},
        **_among(context, [*material_id, *material_ids], exclude_cell_spec_id),
    }
    with context.store.snapshot():
        found = asked.page(context.store.rows, Specification, context.scope, **fixed)
        return page(shown(context, found.items, full), found.total)


def _among(
    context: RequestContext, materials: Sequence[str], excluded: str | None
) -> Mapping[str, Mapping[str, str | list[str]]]:
    """The condition that a specification has one of these materials in any slot, and is not the excluded one."""
    ids: dict[str, str | list[str]] = {}
    if materials:
        slots = [{f"{slot}_id": {"in": materials}} for slot in SLOTS]
        ids["in"] = sorted({one.id for slot in slots for one in _all(context, Specification, slot)})
    if excluded is not None:
        ids["ne"] = excluded
    return {"id": ids} if ids else {}


@router.post("/cell_specifications")
def create_specification(context: BodyWriter, body: Given[Specification]) -> ShownSpecification:
    """Make a cell specification.

    Without ``project_id`` it belongs to the only project in reach.
    """
    if context.project is None:
        auth.enter(context, only_project(context))
    made = records.create(context, Specification, {**body, "project_id": context.scope.project_id})
    return shown(context, [made])[0]


def only_project(context: RequestContext) -> str:
    """The only project in reach.

    Raises
    ------
    Invalid
        If there are several, or none.
    """
    projects = context.store.people.visible(context.caller)
    if len(projects) != 1:
        message = f"'project_id' is missing. There are {len(projects)} projects; name one."
        raise Invalid(Problem(("project_id",), message, "missing"))
    return projects[0]


@router.get("/projects/{project_id}/cell_specs")
@from_store()
def list_specifications_of_project(context: ProjectReader, full: Full = False) -> list[ShownSpecification]:
    """All cell specifications of a project."""
    return shown(context, _all(context, Specification, {"project_id": context.scope.project_id}), full)


@router.get("/cell_specifications/{specification_id}")
@from_store()
def read_specification(context: RecordReader, full: Full = False) -> ShownSpecification:
    """One cell specification."""
    return shown(context, [context.record(Specification)], full)[0]


@router.patch("/cell_specifications/{specification_id}")
def change_specification(context: RecordWriter, body: Changed[Specification]) -> ShownSpecification:
    """Change a cell specification."""
    return shown(context, [records.change(context, context.record(Specification), body)])[0]


@router.delete("/cell_specifications/{specification_id}", status_code=204)
def delete_specification(context: RecordWriter) -> None:
    """Delete a cell specification with its batches, cells and their measurements."""
    records.delete(context, context.record(Specification))


# Cells


@router.get("/cell_specifications/{specification_id}/cell_instances")
@from_store()
def list_instances(
    context: RecordReader,
    specification_id: str,
    asked: Annotated[Asked, listing(Instance)],
    batch_id: Annotated[list[Text], ids_of(Batch, "Only the cells of these batches.", many=True)],
) -> Page[Shown[Instance]]:
    """The cells of a specification."""
    in_batch = {"batch_id": {"in": batch_id}} if batch_id else {}
    return records.listed(context, Instance, asked, specification_id=specification_id, **in_batch)


@router.post("/cell_specifications/{specification_id}/cell_instances")
def create_instance(context: RecordWriter, specification_id: str, body: GivenUnder[Instance]) -> Shown[Instance]:
    """Make a cell."""
    given = records.under_path(Instance, body, specification_id=specification_id)
    return wire(records.create(context, Instance, given))


@router.get("/cell_instances/{instance_id}")
@from_store()
def read_instance(context: RecordReader) -> Shown[Instance]:
    """One cell."""
    return wire(context.record(Instance))


@router.patch("/cell_instances/{instance_id}")
def change_instance(context: RecordWriter, body: Changed[Instance]) -> Shown[Instance]:
    """Change a cell; a batch of null takes it out of its batch."""
    return wire(records.change(context, context.record(Instance), body))


@router.delete("/cell_instances/{instance_id}", status_code=204)
def delete_instance(context: RecordWriter) -> None:
    """Delete a cell with its measurements."""
    records.delete(context, context.record(Instance))


# Batches


@router.get("/cell_specifications/{specification_id}/cell_batches")
@from_store()
def list_batches(
    context: RecordReader, specification_id: str, asked: Annotated[Asked, listing(Batch)]
) -> Page[Shown[Batch]]:
    """The batches of a specification."""
    return records.listed(context, Batch, asked, specification_id=specification_id)


@router.post("/cell_specifications/{specification_id}/cell_batches")
def create_batch(context: RecordWriter, specification_id: str, body: GivenUnder[Batch]) -> Shown[Batch]:
    """Make a batch."""
    return wire(records.create(context, Batch, records.under_path(Batch, body, specification_id=specification_id)))


@router.get("/cell_batches/{batch_id}")
@from_store()
def read_batch(context: RecordReader) -> Shown[Batch]:
    """One batch."""
    return wire(context.record(Batch))


@router.patch("/cell_batches/{batch_id}")
def change_batch(context: RecordWriter, body: Changed[Batch]) -> Shown[Batch]:
    """Change a batch."""
    return wire(records.change(context, context.record(Batch), body))


@router.delete("/cell_batches/{batch_id}", status_code=204)
def delete_batch(context: RecordWriter) -> None:
    """Delete a batch; its cells stay."""
    records.delete(context, context.record(Batch))
