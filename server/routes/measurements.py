"""Measurements: lists, records, tags, files, raw data, and the tables of a time series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field, create_model
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench.errors import BadRequest, NotFound
from workbench.records import Measurement, Project, RawData
from workbench.store.records import tags
from workbench.table import Table

from .. import auth, downloads, records
from ..auth import Member, QueryReader, RecordReader, RecordWriter
from ..context import RequestContext
from ..kept_answers import from_store
from ..parameters import Asked, Condition, Flag, Paging, Text, ids_of, listing, of_query, paging
from ..responses import PARQUET, columns, redirect
from ..routing import Route
from ..schemas import Body, Changed, GivenUnder, Page, Shown, page, wire
from . import storage

router = APIRouter(route_class=Route, tags=["Measurements"])

MOST_TAGGED = 1000
_PARQUET = {PARQUET: {"schema": {"type": "string", "format": "binary"}}}
_PLACE = "/cell_measurements/{measurement_id}"
OfProject = Annotated[Text, ids_of(Project, "The project.")]
Columns = dict[str, list[str | float | bool | None]]


class Tag(TypedDict):
    tag: str
    usage_count: int


class Updated(TypedDict):
    updated_count: int


class Cycles(TypedDict):
    cycles: Columns


class StepsAndCycles(TypedDict):
    steps: Columns
    cycles: Columns


class FileNames(TypedDict):
    filenames: list[str]


class TagChanges(Body):
    measurement_ids: Annotated[list[str], Field(json_schema_extra={"x-record": Measurement.table})]
    add: list[str] | None = None
    remove: list[str] | None = None


class Sources(Body):
    raw_data_ids: Annotated[list[str], Field(json_schema_extra={"x-record": RawData.table})]


class GivenValues(GivenUnder[Measurement]):
    """The body that makes a measurement of type ``properties``; the type may be left out."""

    @classmethod
    def described(cls) -> type[BaseModel]:
        only = (str, Field("properties", json_schema_extra={"enum": ["properties"]}))
        return create_model("MeasurementValuesGiven", __base__=super().described(), measurement_type=only)


@dataclass(frozen=True)
class Narrowed:
    """The filters of measurements that other kinds do not have."""

    measurement_type: str | None
    tags_all: Sequence[str]
    tags_any: Sequence[str]

    def where(self) -> dict[str, Condition]:
        """The conditions, as ``Rows.page`` takes them."""
        made: dict[str, Condition] = (
            {} if self.measurement_type is None else {"measurement_type": {"in": [self.measurement_type]}}
        )
        wanted = {how: found for how, found in (("all", self.tags_all), ("any", self.tags_any)) if found}
        return {**made, "tags": wanted} if wanted else made


@of_query
async def _narrowed(
    tags_all: Annotated[list[Text], Query(description="Has all of these tags.", default_factory=list)],
    tags_any: Annotated[list[Text], Query(description="Has any of these tags.", default_factory=list)],
    measurement_type: Annotated[
        Literal["time_series", "file", "properties"] | None, Query(description="What it holds.")
    ] = None,
) -> Narrowed:
    return Narrowed(measurement_type, tags_all, tags_any)


@router.get("/cell_instances/{instance_id}/cell_measurements")
@from_store()
def list_measurements_of_instance(
    context: RecordReader,
    instance_id: str,
    asked: Annotated[Asked, listing(Measurement, default=10_000, most=10_000)],
    narrowed: Annotated[Narrowed, Depends(_narrowed)],
) -> Page[Shown[Measurement]]:
    """The measurements of a cell."""
    return records.listed(context, Measurement, asked, **narrowed.where(), instance_id=instance_id)


@router.get("/cell_measurements")
@from_store()
def list_measurements(
    context: QueryReader,
    asked: Annotated[Asked, listing(Measurement, default=25)],
    narrowed: Annotated[Narrowed, Depends(_narrowed)],
    project_id: OfProject,
    q: Annotated[
        Text | None, Query(description="Part of the name, the notes, the name of the protocol or a tag.")
    ] = None,
    cells: Annotated[
        Flag, Query(description="With q: also part of the name of the cell, of its specification or of its batch.")
    ] = False,
) -> Page[Shown[Measurement]]:
    """The measurements of a project."""
    found = {"anywhere_or_cell" if cells else "anywhere": q} if q else {}
    return records.listed(context, Measurement, asked, **narrowed.where(), project_id=project_id, **found)


# Tags


@router.get("/cell_measurements/tags")
@from_store()
def list_tags(
    context: QueryReader,
    asked: Annotated[Paging, paging(50)],
    project_id: OfProject,
    q: Annotated[Text, Query(description="Part of the tag, case ignored.")] = "",
) -> Page[Tag]:
    """The tags of a project, most used first."""
    with context.store.snapshot() as db:
        found: list[Tag] = [
            {"tag": tag, "usage_count": count}
            for tag, count in tags.usage(db, context.scope)
            if q.casefold() in tag.casefold()
        ]
    return page(found[asked.offset : asked.offset + asked.limit], len(found))


@router.post("/cell_measurements/tags/bulk")
def change_tags(context: Member, body: TagChanges) -> Updated:
    """Add and remove tags of many measurements, all or nothing; needs a contributor of their projects."""
    ids = list(dict.fromkeys(body.measurement_ids))
    if len(ids) > MOST_TAGGED:
        raise BadRequest(
            f"A request changes the tags of at most {MOST_TAGGED} measurements, not of {len(ids)}. Send several."
        )
    with context.writing(measurements=len(ids)):
        return {"updated_count": sum(_tag(context, id, body.add or [], body.remove or []) for id in ids)}


def _tag(context: RequestContext, id: str, add: list[str], remove: list[str]) -> bool:
    """Change the tags of a measurement; true if they are others now."""
    record = context.store.rows.get(Measurement, id, context.scope)
    scope = auth.to_write(context, record.project_id)
    gone = {tag.strip().casefold() for tag in remove}
    kept = [tag for tag in record.tags if tag.casefold() not in gone]
    wanted = [*kept, *(tag for tag in dict.fromkeys(add) if tag.strip().casefold() not in gone)]
    changed: Measurement = context.store.rows.update(Measurement, id, {"tags": wanted}, scope, context.actor)
    return changed.tags != record.tags


# Records


@router.get(_PLACE)
@from_store()
def read_measurement(
    context: RecordReader,
    include_steps: Annotated[
        Flag, Query(description="Has no effect: steps have an address of their own.")
    ] = False,
    include_time_series: Annotated[
        Flag, Query(description="Has no effect: samples have an address of their own.")
    ] = False,
) -> Shown[Measurement]:
    """One measurement, without its samples."""
    return wire(context.record(Measurement))


@router.patch(_PLACE)
def change_measurement(context: RecordWriter, body: Changed[Measurement]) -> Shown[Measurement]:
    """Change a measurement."""
    return wire(records.change(context, context.record(Measurement), body))


@router.delete(_PLACE, status_code=204)
def delete_measurement(context: RecordWriter) -> None:
    """Delete a measurement with its samples and analyses."""
    records.delete(context, context.record(Measurement))


@router.post("/cell_instances/{instance_id}/cell_measurements/create")
def create_measurement(context: RecordWriter, instance_id: str, body: GivenValues) -> Shown[Measurement]:
    """Make a measurement that holds values, not samples."""
    if body.get("measurement_type", "properties") != "properties":
        raise BadRequest("This makes only measurements of type 'properties'. Upload samples and files.")
    given = records.under_path(Measurement, body, measurement_type="properties", instance_id=instance_id)
    return wire(records.create(context, Measurement, given))


# Tables


@router.get(f"{_PLACE}/time_series/download", status_code=307, response_class=Response)
def download_time_series(context: RecordReader, measurement_id: str) -> Response:
    """Redirect to the samples as parquet, at an address that needs no credential."""
    return redirect(storage.of_series(context, measurement_id, "series", "time_series.parquet", "measurement"))


@router.get(f"{_PLACE}/steps/download", response_class=Response, responses={200: {"content": _PARQUET}})
def download_steps(context: RecordReader) -> Response:
    """The steps as parquet."""
    sink = pa.BufferOutputStream()
    pq.write_table(downloads.as_arrow(_steps(context)), sink, compression="zstd")
    return Response(bytes(sink.getvalue()), media_type=PARQUET)


@router.get(f"{_PLACE}/cycles")
def read_cycles(context: RecordReader) -> Cycles:
    """The cycles as a table."""
    return {"cycles": columns(_cycles(context))}


@router.get(f"{_PLACE}/steps_and_cycles")
def read_steps_and_cycles(context: RecordReader) -> StepsAndCycles:
    """The steps and the cycles as tables."""
    with context.store.snapshot():
        return {"steps": columns(_steps(context)), "cycles": columns(_cycles(context))}


def _steps(context: RequestContext) -> Table:
    _require(context, "steps")
    return context.backend.steps(context.record(Measurement))


def _cycles(context: RequestContext) -> Table:
    _require(context, "cycles")
    return context.backend.cycles(context.record(Measurement))


def _require(context: RequestContext, dataset: str) -> None:
    record = context.record(Measurement)
    if context.store.series.info(record.id, dataset, scope=context.scope) is None:
        status = "" if record.processing_status == "ready" else f" (its status is '{record.processing_status}')"
        raise NotFound(f"This measurement has no {dataset}{status}.")


# Files and raw data


@router.get(f"{_PLACE}/files")
def list_files(context: RecordReader) -> FileNames:
    """The names of the files of a measurement."""
    return {"filenames": [file.filename for file in context.record(Measurement).files]}


@router.get(f"{_PLACE}/files/{{filename}}", status_code=307, response_class=Response)
def download_file(context: RecordReader, filename: str) -> Response:
    """Redirect to a file of a measurement."""
    found = next((file for file in context.record(Measurement).files if file.filename == filename), None)
    if found is None:
        raise NotFound(f"This measurement has no file '{filename}'.")
    return redirect(storage.of_blob(context, found.piece, filename, "application/octet-stream"))


@router.post(f"{_PLACE}/raw_data", status_code=204)
def link_raw_data(context: RecordWriter, measurement_id: str, body: Sources) -> None:
    """Link a measurement to the raw data that it comes from; links that exist stay."""
    wanted = dict.fromkeys(body.raw_data_ids)
    ids = [context.store.rows.get(RawData, id, context.scope).id for id in wanted]
    with context.writing() as db:
        context.store.uploads.link(measurement_id, ids, db)


@router.delete(f"{_PLACE}/raw_data/{{raw_data_id}}", status_code=204)
def unlink_raw_data(context: RecordWriter, measurement_id: str, raw_data_id: str) -> None:
    """Remove the link between a measurement and raw data."""
    with context.writing() as db:
        context.store.uploads.unlink(measurement_id, raw_data_id, db)


@router.get(f"{_PLACE}/raw_data")
@from_store()
def list_raw_data(
    context: RecordReader, measurement_id: str, asked: Annotated[Asked, listing(RawData)]
) -> Page[Shown[RawData]]:
    """The raw data of a measurement."""
    ids = context.store.uploads.raw_data_of(measurement_id, context.scope)
    return records.listed(context, RawData, asked, id={"in": ids})
