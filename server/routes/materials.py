"""Materials and their property sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Form, Query

from workbench.errors import NotFound
from workbench.records import Material, MaterialProperty, Project
from workbench.store.files.uploads import Attachment

from .. import auth, records
from ..auth import BodyWriter, QueryReader, RecordReader, RecordWriter
from ..context import RequestContext
from ..kept_answers import from_store
from ..parameters import Asked, Text, ids_of, listing
from ..requests import new_file
from ..responses import columns
from ..routing import Route, heavy, takes
from ..schemas import Body, Changed, FilePart, Given, Json, JsonText, Name, Page, Shown, id_of, page, wire
from ..schemas import Text as BodyText
from . import storage, tables
from .measurements import Columns, OfProject

router = APIRouter(route_class=Route, tags=["Materials"])

_MATERIAL = "/materials/{material_id}"
_SETS = "/material_property_datasets"
_SET = _SETS + "/{property_set_id}"


class ShownMaterialProperty(Shown[MaterialProperty]):
    """A property set with the number of empty cells of each column."""

    more: ClassVar = {"nan_counts": dict[str, int]}


class NewTable(Body):
    """A new parquet file for a property set."""

    file: FilePart
    name: Name | None = None
    columns: JsonText = None


class NewSet(Body):
    """A property set with its table, a parquet file."""

    file: FilePart
    material_id: Annotated[BodyText, id_of(Material)]
    name: Name
    project_id: Annotated[BodyText | None, id_of(Project)] = None
    columns: JsonText = None
    notes: BodyText | None = None
    source: JsonText = None


@router.get("/materials")
@from_store()
def list_materials(
    context: QueryReader, asked: Annotated[Asked, listing(Material, sort="name")], project_id: OfProject
) -> Page[Shown[Material]]:
    """Materials of a project and of the whole organization."""
    return records.listed(context, Material, asked)


@router.post("/materials")
def create_material(context: BodyWriter, body: Given[Material]) -> Shown[Material]:
    """Make a material; without a project it belongs to the whole organization."""
    return wire(records.create(context, Material, {"project_id": None, **body}))


@router.get(_MATERIAL)
@from_store()
def read_material(context: RecordReader) -> Shown[Material]:
    """One material."""
    return wire(context.record(Material))


@router.patch(_MATERIAL)
def change_material(context: RecordWriter, body: Changed[Material]) -> Shown[Material]:
    """Change a material."""
    return wire(records.change(context, context.record(Material), body))


@router.delete(_MATERIAL, status_code=204)
def delete_material(context: RecordWriter) -> None:
    """Delete a material with its property sets."""
    records.delete(context, context.record(Material))


# Property sets


def shown(context: RequestContext, sets: Sequence[MaterialProperty]) -> list[ShownMaterialProperty]:
    """Property sets as the wire shows them."""
    infos = context.store.series.infos([one.id for one in sets], scope=context.scope)
    counts = {id: {column.name: column.nulls for column in info.columns} for id, info in infos.items()}
    return [ShownMaterialProperty({**wire(one), "nan_counts": counts.get(one.id, {})}) for one in sets]


@router.get(_SETS)
@from_store()
def list_sets(
    context: QueryReader,
    asked: Annotated[Asked, listing(MaterialProperty)],
    material_id: Annotated[Text, ids_of(Material, "The material.")],
    project_id: Annotated[Text | None, ids_of(Project, "The project.")] = None,
) -> Page[ShownMaterialProperty]:
    """The property sets of a material."""
    with context.store.snapshot():
        found = asked.page(context.store.rows, MaterialProperty, context.scope, material_id=material_id)
        return page(shown(context, found.items), found.total)


@router.post(_SETS)
@heavy
@takes("upload")
def create_set(context: BodyWriter, form: Annotated[NewSet, Form()]) -> ShownMaterialProperty:
    """Make a property set from a parquet file."""
    if context.project is None:
        auth.under(context, Material, form.material_id)
    sent = context.saved(form.file)
    raw = tables.sent_table(context, sent)
    described = _columns(form.columns, raw)
    given = form.model_dump(include={"name", "material_id", "project_id", "notes", "source"}, exclude_none=True)
    fields = {**given, "columns": described}
    series = {"series": tables.numbers(raw, described)}
    return shown(context, [tables.create(context, MaterialProperty, fields, series, sent)])[0]


def _columns(given: object, raw: tables.Parts) -> list[Json]:
    if given is None:
        return [{**column, "source_column_index": n} for n, column in enumerate(tables.described(raw))]
    return tables.one_name_each(given)


@router.get(_SET)
@from_store()
def read_set(context: RecordReader) -> ShownMaterialProperty:
    """One property set."""
    return shown(context, [context.record(MaterialProperty)])[0]


@router.patch(_SET)
def change_set(context: RecordWriter, body: Changed[MaterialProperty]) -> ShownMaterialProperty:
    """Change a property set; its table follows its columns."""
    record = context.record(MaterialProperty)
    if "columns" not in body:
        return shown(context, [records.change(context, record, body)])[0]
    described = tables.one_name_each(body["columns"])
    original = context.store.uploads.attached(record.id, "original")
    if original is None:
        raise NotFound(
            "The original file of this property set is not kept, so its columns cannot be chosen again."
        )
    raw = _sent_again(context, original)
    with context.store.series.writer(record.id) as writer:
        tables.fill(writer, tables.numbers(raw, described))
        with context.store.transaction() as db:
            changed = records.change(context, record, {**body, "columns": described})
            writer.publish(db)
    context.store.series.tidy()
    return shown(context, [changed])[0]


def _sent_again(context: RequestContext, original: Attachment) -> tables.Parts:
    """The rows of the original file of a property set."""
    sent = context.keep_until_end(new_file(context.state.files, original.filename, original.content_type))
    with sent.path.open("xb") as file:
        for block in context.store.blobs.get(original.blob):
            file.write(block)
    return tables.sent_table(context, sent)


@router.delete(_SET, status_code=204)
def delete_set(context: RecordWriter) -> None:
    """Delete a property set."""
    records.delete(context, context.record(MaterialProperty))


@router.get(f"{_SET}/data")
def read_data(context: RecordReader) -> Columns:
    """The table of a property set."""
    record = context.record(MaterialProperty)
    if context.store.series.info(record.id, scope=context.scope) is None:
        raise NotFound("This property set has no table.")
    return columns(context.backend.sampled(record.id, "series"))


@router.patch(f"{_SET}/file")
@heavy
@takes("upload")
def replace_file(context: RecordWriter, form: Annotated[NewTable, Form()]) -> ShownMaterialProperty:
    """Give a property set a new table.

    Its version rises by one, and the old table is gone.
    """
    record, sent = context.record(MaterialProperty), context.saved(form.file)
    raw = tables.sent_table(context, sent)
    there = [column.model_dump() for column in record.columns]
    described = _columns(form.columns, raw) if "columns" in form.model_fields_set else there
    table = tables.numbers(raw, described)
    kept = tables.keep(context, sent)
    changes = {"columns": described, **form.model_dump(include={"name"}, exclude_none=True)}
    store = context.store
    with store.series.writer(record.id) as writer:
        tables.fill(writer, table)
        with context.writing(record.id) as db:
            present = store.rows.get(MaterialProperty, record.id, context.scope)
            changes["data_version"] = present.data_version + 1
            store.rows.update(MaterialProperty, record.id, changes, context.scope, context.actor, connection=db)
            writer.publish(db)
            store.uploads.attach(db, record.id, "original", kept)
    store.series.tidy()
    return shown(context, [store.rows.get(MaterialProperty, record.id, context.scope)])[0]


@router.get(f"{_SET}/download-url")
def read_address(
    context: RecordReader,
    kind: Annotated[Literal["parquet", "original"], Query(description="Which file.")] = "parquet",
) -> storage.Address:
    """A signed address of the table or of the original file."""
    record = context.record(MaterialProperty)
    if kind == "parquet":
        path = storage.of_series(context, record.id, "series", "data.parquet", "property set")
        return {"url": context.base_url + path}
    original = context.store.uploads.attached(record.id, "original")
    if original is None:
        raise NotFound("The original file of this property set is not kept.")
    path = storage.of_blob(context, original.blob, original.filename, original.content_type)
    return {"url": context.base_url + path}
