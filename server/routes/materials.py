"""Materials and their property sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from workbench.errors import NotFound
from workbench.records import Material, MaterialProperty, Project
from workbench.store.uploads import Attachment

from .. import access, query
from .. import schemas as s
from ..answers import columns
from ..call import Call
from ..forms import Form, new_file
from ..operation import Body, Need, Operation, Parameter
from . import crud, storage, tables


def create_material(call: Call) -> dict[str, Any]:
    return crud.wire(crud.create(call, Material, {"project_id": None, **call.body}))


def shown(call: Call, sets: Sequence[MaterialProperty]) -> list[dict[str, Any]]:
    """Property sets on the wire, with the number of empty cells of each column."""
    infos = call.store.series.infos([one.id for one in sets], scope=call.scope)
    return [
        {
            **crud.wire(one),
            "nan_counts": {column.name: column.nulls for column in infos[one.id].columns}
            if one.id in infos
            else {},
        }
        for one in sets
    ]


def create_set(call: Call) -> dict[str, Any]:
    form: Form = call.body
    form.only("file", "material_id", "project_id", "name", "columns", "notes", "source")
    if call.project is None and form.get("material_id") is not None:
        access.under(call, Material, form.fields["material_id"])
    sent = form.file()
    raw = tables.sent_table(call, sent)
    described = _columns(form, raw)
    fields: dict[str, Any] = {
        **{name: form.fields[name] for name in ("name", "material_id") if name in form.fields},
        "columns": described,
    }
    for name, value in (
        ("project_id", form.get("project_id")),
        ("notes", form.get("notes")),
        ("source", form.json("source")),
    ):
        if value is not None:
            fields[name] = value
    return shown(
        call, [tables.create(call, MaterialProperty, fields, {"series": tables.numbers(raw, described)}, sent)]
    )[0]


def _columns(form: Form, raw: Any) -> list[dict[str, Any]]:
    given = form.json("columns")
    if given is None:
        return [{**column, "source_column_index": n} for n, column in enumerate(tables.described(raw))]
    return [{**column, "unit": column.get("unit") or ""} for column in tables.one_name_each(given)]


def replace_file(call: Call) -> dict[str, Any]:
    """A new table for a property set: its version rises by one, and the old one is gone."""
    form: Form = call.body
    form.only("file", "name", "columns")
    record, sent = call.record(MaterialProperty), form.file()
    raw = tables.sent_table(call, sent)
    there = [column.model_dump() for column in record.columns]
    described = _columns(form, raw) if "columns" in form.fields else there
    table = tables.numbers(raw, described)
    kept = tables.keep(call, sent)
    changes: dict[str, Any] = {"columns": described}
    if form.get("name") is not None:
        changes["name"] = form.get("name")
    store = call.store
    with store.series.writer(record.id) as writer:
        tables.fill(writer, table)
        with call.writing(record.id) as db:
            present = store.rows.get(MaterialProperty, record.id, call.scope)
            changes["data_version"] = present.data_version + 1
            store.rows.update(MaterialProperty, record.id, changes, call.scope, call.actor, connection=db)
            writer.publish(db)
            store.uploads.attach(db, record.id, "original", kept)
    store.series.tidy()
    return shown(call, [store.rows.get(MaterialProperty, record.id, call.scope)])[0]


def change_set(call: Call) -> dict[str, Any]:
    """Change a property set; a column that is renamed is renamed in its table too."""
    record = call.record(MaterialProperty)
    body = dict(call.body)
    if "columns" not in body:
        return shown(call, [crud.change(call, record, body)])[0]
    described = [{**column, "unit": column.get("unit") or ""} for column in tables.one_name_each(body["columns"])]
    original = call.store.uploads.attached(record.id, "original")
    if original is None:
        raise NotFound("The file of this property set is not kept, so its columns cannot be chosen anew.")
    body["columns"] = described
    with _again(call, original) as raw, call.store.series.writer(record.id) as writer:
        tables.fill(writer, tables.numbers(raw, described))
        with call.store.transaction() as db:
            changed = crud.change(call, record, body)
            writer.publish(db)
    call.store.series.tidy()
    return shown(call, [changed])[0]


@contextmanager
def _again(call: Call, original: Attachment) -> Iterator[tables.Parts]:
    """The rows of the file that a property set came in."""
    sent = new_file(call.state.files, original.filename, original.content_type)
    try:
        with sent.path.open("xb") as file:
            for block in call.store.pieces.get(original.piece):
                file.write(block)
        yield tables.sent_table(call, sent)
    finally:
        sent.path.unlink(missing_ok=True)


def data(call: Call) -> dict[str, Any]:
    record = call.record(MaterialProperty)
    if call.store.series.info(record.id, scope=call.scope) is None:
        raise NotFound("This property set has no table.")
    return columns(call.work.sampled(record.id, "series"))


def download_url(call: Call) -> dict[str, Any]:
    record = call.record(MaterialProperty)
    if call.query["kind"] == "original":
        original = call.store.uploads.attached(record.id, "original")
        if original is None:
            raise NotFound("The file that this property set came in is not kept.")
        path = storage.of_piece(call, original.piece, original.filename, original.content_type)
    else:
        path = storage.of_series(call, record.id, "series", "data.parquet", "property set")
    return {"url": call.base_url + path}


def _of_material(call: Call) -> dict[str, Any]:
    return {"material_id": call.query["material_id"]}


_MATERIAL, _SET = s.kind(Material), s.kind(MaterialProperty)
_PROJECT = Parameter("project_id", meaning="The project.", required=True, kind=Project)
_FILE = {"type": "string", "format": "binary"}
_URL = s.record({"url": s.TEXT})
_PLACE = "/material_property_datasets/{property_set_id}"

OPERATIONS = (
    Operation(
        "GET",
        "/materials",
        crud.lists(Material),
        Need.READ,
        "Materials of a project and of the whole organization",
        project="query",
        query=(*query.listing(Material, sort="name"), _PROJECT),
        answer=s.listed(_MATERIAL),
    ),
    Operation(
        "POST",
        "/materials",
        create_material,
        Need.WRITE,
        "Make a material; without a project it belongs to the whole organization",
        project="body",
        body=Body(s.given(Material), ids={"project_id": Project}),
        answer=_MATERIAL,
    ),
    Operation(
        "GET",
        "/materials/{material_id}",
        crud.reads(Material),
        Need.READ,
        "One material",
        project="record",
        answer=_MATERIAL,
    ),
    Operation(
        "PATCH",
        "/materials/{material_id}",
        crud.changes(Material),
        Need.WRITE,
        "Change a material",
        project="record",
        body=Body(s.given(Material, changing=True)),
        answer=_MATERIAL,
    ),
    Operation(
        "DELETE",
        "/materials/{material_id}",
        crud.deletes(Material),
        Need.WRITE,
        "Delete a material with its property sets",
        project="record",
        status=204,
    ),
    Operation(
        "GET",
        "/material_property_datasets",
        crud.lists(MaterialProperty, shown, _of_material),
        Need.READ,
        "The property sets of a material",
        project="query",
        query=(
            *query.listing(MaterialProperty),
            Parameter("material_id", meaning="The material.", required=True, kind=Material),
            Parameter("project_id", meaning="The project.", kind=Project),
        ),
        answer=s.listed(_SET),
    ),
    Operation(
        "POST",
        "/material_property_datasets",
        create_set,
        Need.WRITE,
        "Make a property set from a parquet file",
        project="body",
        body=Body(
            s.body(
                {"file": _FILE, "material_id": s.TEXT, "name": s.NAME},
                {"project_id": s.TEXT, "columns": s.TEXT, "notes": s.TEXT, "source": s.TEXT},
            ),
            "upload",
            "multipart",
            ids={"material_id": Material, "project_id": Project},
        ),
        answer=_SET,
        heavy=True,
    ),
    Operation(
        "GET",
        _PLACE,
        crud.reads(MaterialProperty, shown),
        Need.READ,
        "One property set",
        project="record",
        answer=_SET,
    ),
    Operation(
        "PATCH",
        _PLACE,
        change_set,
        Need.WRITE,
        "Change a property set",
        project="record",
        body=Body(s.given(MaterialProperty, changing=True), ids={"material_id": Material}),
        answer=_SET,
    ),
    Operation(
        "DELETE",
        _PLACE,
        crud.deletes(MaterialProperty),
        Need.WRITE,
        "Delete a property set",
        project="record",
        status=204,
    ),
    Operation(
        "GET",
        f"{_PLACE}/data",
        data,
        Need.READ,
        "The table of a property set",
        project="record",
        answer=s.ROWS,
    ),
    Operation(
        "PATCH",
        f"{_PLACE}/file",
        replace_file,
        Need.WRITE,
        "Give a property set a new table",
        project="record",
        body=Body(s.body({"file": _FILE}, {"name": s.TEXT, "columns": s.TEXT}), "upload", "multipart"),
        answer=_SET,
        heavy=True,
    ),
    Operation(
        "GET",
        f"{_PLACE}/download-url",
        download_url,
        Need.READ,
        "A signed address of the table or of the file it came in",
        project="record",
        query=(
            Parameter(
                "kind", {"type": "string", "enum": ["parquet", "original"]}, "Which file.", default="parquet"
            ),
        ),
        answer=_URL,
    ),
)
