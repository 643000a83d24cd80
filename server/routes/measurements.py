"""Measurements: lists, records, tags, files, raw data, and the tables of a time series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.errors import BadRequest, NotFound
from workbench.records import Instance, Measurement, Project, RawData
from workbench.store import tags

from .. import access, downloads, query
from .. import schemas as s
from ..answers import Bytes, Nothing, Redirect, columns
from ..call import Call
from ..operation import Body, Need, Operation, Parameter
from . import crud, fields, storage

MOST_TAGGED = 1000
_FILTERS = (
    Parameter(
        "measurement_type", {"type": "string", "enum": ["time_series", "file", "properties"]}, "What it holds."
    ),
    query.text("tags_all", "Has all of these tags.", many=True),
    query.text("tags_any", "Has any of these tags.", many=True),
)


def _narrowed(call: Call) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if call.query["measurement_type"] is not None:
        made["measurement_type"] = {"in": [call.query["measurement_type"]]}
    wanted = {how: call.query[f"tags_{how}"] for how in ("all", "any") if call.query[f"tags_{how}"]}
    if wanted:
        made["tags"] = wanted
    return made


def _of_instance(call: Call) -> dict[str, Any]:
    return {**_narrowed(call), "instance_id": call.path["instance_id"]}


def _of_project(call: Call) -> dict[str, Any]:
    made = {**_narrowed(call), "project_id": call.scope.project_id}
    return {**made, "anywhere": call.query["q"]} if call.query["q"] else made


def create_properties(call: Call) -> dict[str, Any]:
    """A measurement that holds values, no samples."""
    if call.body.get("measurement_type", "properties") != "properties":
        raise BadRequest("Here only measurements of type 'properties' are made; samples and files are uploaded.")
    above = {"measurement_type": "properties", "instance_id": call.path["instance_id"]}
    return crud.wire(crud.create(call, Measurement, crud.placed(Measurement, call.body, above)))


# Tags


def known_tags(call: Call) -> dict[str, Any]:
    wanted = (call.query["q"] or "").casefold()
    found = [
        {"tag": tag, "usage_count": count}
        for tag, count in tags.usage(call.store.connection(), call.scope)
        if wanted in tag.casefold()
    ]
    start = call.query["offset"]
    page = found[start : start + call.query["limit"]]
    return {"items": page, "count": len(page), "total": len(found)}


def tag_many(call: Call) -> dict[str, Any]:
    """Add and remove tags of many measurements, all or nothing."""
    given = fields.read(
        call.body, {"measurement_ids": list, "add": list, "remove": list}, required=("measurement_ids",),
        nullable=("add", "remove"),
    )  # fmt: skip
    ids, add, remove = (fields.texts(given.get(name), name) for name in ("measurement_ids", "add", "remove"))
    if len(ids) > MOST_TAGGED:
        raise BadRequest(f"At most {MOST_TAGGED} measurements are tagged at once, these are {len(ids)}.")
    changed = 0
    with call.writing(measurements=len(ids)):
        for id in ids:
            changed += _tag(call, id, add, remove)
    return {"updated_count": changed}


def _tag(call: Call, id: str, add: list[str], remove: list[str]) -> bool:
    record = call.store.rows.get(Measurement, id, call.scope)
    scope = access.to_write(call, record.project_id)
    gone = {tag.strip().casefold() for tag in remove}
    kept = [tag for tag in record.tags if tag.casefold() not in gone]
    wanted = [*kept, *(tag for tag in add if tag.strip().casefold() not in gone)]
    changed = call.store.rows.update(Measurement, id, {"tags": wanted}, scope, call.actor)
    return bool(changed.tags != record.tags)


# Tables


def time_series(call: Call) -> Redirect:
    record = call.record(Measurement)
    return Redirect(storage.of_series(call, record.id, "series", "time_series.parquet", "measurement"))


def steps_file(call: Call) -> Bytes:
    return parquet(_steps(call))


def parquet(table: Any) -> Bytes:
    """A small table as a parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(downloads.as_arrow(table), sink, compression="zstd")
    return Bytes(bytes(sink.getvalue()), downloads.MEDIA)


def cycles(call: Call) -> dict[str, Any]:
    return {"cycles": columns(_cycles(call))}


def steps_and_cycles(call: Call) -> dict[str, Any]:
    with call.store.snapshot():
        return {"steps": columns(_steps(call)), "cycles": columns(_cycles(call))}


def _steps(call: Call) -> Any:
    _require(call, "steps")
    return call.work.steps(call.record(Measurement))


def _cycles(call: Call) -> Any:
    _require(call, "cycles")
    return call.work.sampled(call.record(Measurement).id, "cycles")


def _require(call: Call, dataset: str) -> None:
    record = call.record(Measurement)
    if call.store.series.info(record.id, dataset, scope=call.scope) is None:
        status = "" if record.processing_status == "ready" else f" (its status is '{record.processing_status}')"
        raise NotFound(f"This measurement has no {dataset}{status}.")


# Files and raw data


def files(call: Call) -> dict[str, Any]:
    return {"filenames": [file.filename for file in call.record(Measurement).files]}


def file(call: Call) -> Redirect:
    name = call.path["filename"]
    found = next((file for file in call.record(Measurement).files if file.filename == name), None)
    if found is None:
        raise NotFound(f"This measurement has no file '{name}'.")
    return Redirect(storage.of_piece(call, found.piece, name, "application/octet-stream"))


def link_raw_data(call: Call) -> Nothing:
    given = fields.read(call.body, {"raw_data_ids": list}, required=("raw_data_ids",))
    wanted = fields.texts(given["raw_data_ids"], "raw_data_ids")
    ids = [call.store.rows.get(RawData, id, call.scope).id for id in wanted]
    with call.writing() as db:
        call.store.uploads.link(call.record(Measurement).id, ids, db)
    return Nothing()


def unlink_raw_data(call: Call) -> Nothing:
    with call.writing() as db:
        call.store.uploads.unlink(call.record(Measurement).id, call.path["raw_data_id"], db)
    return Nothing()


def _raw_data(call: Call) -> Mapping[str, Any]:
    return {"id": {"in": call.store.uploads.raw_data_of(call.record(Measurement).id, call.scope)}}


_ONE = s.kind(Measurement)
_PROJECT = Parameter("project_id", meaning="The project.", required=True, kind=Project)
_TEXTS = {"type": ["array", "null"], "items": s.TEXT}
_PROPERTIES = s.given(Measurement)
_PROPERTIES["properties"].pop("cell_instance_id")
_PROPERTIES["required"] = ["name"]

OPERATIONS = (
    Operation(
        "GET",
        "/cell_instances/{instance_id}/cell_measurements",
        crud.lists(Measurement, narrowed=_of_instance),
        Need.READ,
        "The measurements of a cell",
        project="record",
        query=(*query.listing(Measurement, default=10_000, most=10_000), *_FILTERS),
        answer=s.listed(_ONE),
    ),
    Operation(
        "GET",
        "/cell_measurements",
        crud.lists(Measurement, narrowed=_of_project),
        Need.READ,
        "The measurements of a project",
        project="query",
        query=(
            *query.listing(Measurement, default=25),
            *_FILTERS,
            _PROJECT,
            query.text("q", "Part of the name, the notes, the name of the protocol or a tag."),
        ),
        answer=s.listed(_ONE),
    ),
    Operation(
        "GET",
        "/cell_measurements/tags",
        known_tags,
        Need.READ,
        "The tags of a project, most used first",
        project="query",
        query=(*query.paging(50), _PROJECT, query.text("q", "Part of the tag, case ignored.")),
        answer=s.listed(s.record({"tag": s.TEXT, "usage_count": s.NUMBER})),
    ),
    Operation(
        "POST",
        "/cell_measurements/tags/bulk",
        tag_many,
        Need.MEMBER,
        "Add and remove tags of many measurements, all or nothing; takes a contributor of their projects",
        body=Body(
            s.body({"measurement_ids": s.array(s.TEXT)}, {"add": _TEXTS, "remove": _TEXTS}),
            ids={"measurement_ids": Measurement},
        ),
        answer=s.record({"updated_count": s.NUMBER}),
    ),
    Operation(
        "GET",
        "/cell_measurements/{measurement_id}",
        crud.reads(Measurement),
        Need.READ,
        "One measurement, without its samples",
        project="record",
        query=(
            query.flag("include_steps", "Has no effect: steps have an address of their own."),
            query.flag("include_time_series", "Has no effect: samples have an address of their own."),
        ),
        answer=_ONE,
    ),
    Operation(
        "PATCH",
        "/cell_measurements/{measurement_id}",
        crud.changes(Measurement),
        Need.WRITE,
        "Change a measurement",
        project="record",
        body=Body(s.given(Measurement, changing=True), ids={"cell_instance_id": Instance}),
        answer=_ONE,
    ),
    Operation(
        "DELETE",
        "/cell_measurements/{measurement_id}",
        crud.deletes(Measurement),
        Need.WRITE,
        "Delete a measurement with its samples and analyses",
        project="record",
        status=204,
    ),
    Operation(
        "POST",
        "/cell_instances/{instance_id}/cell_measurements/create",
        create_properties,
        Need.WRITE,
        "Make a measurement that holds values",
        project="record",
        body=Body(_PROPERTIES),
        answer=_ONE,
    ),
    Operation(
        "GET",
        "/cell_measurements/{measurement_id}/time_series/download",
        time_series,
        Need.READ,
        "Redirect to the samples as parquet, at an address that needs no credential",
        project="record",
        status=307,
    ),
    Operation(
        "GET",
        "/cell_measurements/{measurement_id}/steps/download",
        steps_file,
        Need.READ,
        "The steps as parquet",
        project="record",
        media=(downloads.MEDIA,),
    ),
    Operation(
        "GET",
        "/cell_measurements/{measurement_id}/cycles",
        cycles,
        Need.READ,
        "The cycles as a table",
        project="record",
        answer=s.record({"cycles": s.ROWS}),
    ),
    Operation(
        "GET",
        "/cell_measurements/{measurement_id}/steps_and_cycles",
        steps_and_cycles,
        Need.READ,
        "The steps and the cycles as tables",
        project="record",
        answer=s.record({"steps": s.ROWS, "cycles": s.ROWS}),
    ),
    Operation(
        "GET",
        "/cell_measurements/{measurement_id}/files",
        files,
        Need.READ,
        "The names of the files of a measurement",
        project="record",
        answer=s.record({"filenames": s.array(s.TEXT)}),
    ),
    Operation(
        "GET",
        "/cell_measurements/{measurement_id}/files/{filename}",
        file,
        Need.READ,
        "Redirect to a file of a measurement",
        project="record",
        status=307,
    ),
    Operation(
        "POST",
        "/cell_measurements/{measurement_id}/raw_data",
        link_raw_data,
        Need.WRITE,
        "Say which raw data a measurement comes from; twice is harmless",
        project="record",
        body=Body(s.body({"raw_data_ids": s.array(s.TEXT)}), ids={"raw_data_ids": RawData}),
        status=204,
    ),
    Operation(
        "DELETE",
        "/cell_measurements/{measurement_id}/raw_data/{raw_data_id}",
        unlink_raw_data,
        Need.WRITE,
        "Take that back",
        project="record",
        status=204,
    ),
    Operation(
        "GET",
        "/cell_measurements/{measurement_id}/raw_data",
        crud.lists(RawData, narrowed=_raw_data),
        Need.READ,
        "The raw data of a measurement",
        project="record",
        query=query.listing(RawData),
        answer=s.listed(s.kind(RawData)),
    ),
)
