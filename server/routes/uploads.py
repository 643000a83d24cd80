"""Uploads of measurements: begun, confirmed, extended."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from workbench.errors import BadRequest, Conflict, FileRefused, Invalid, NotFound, Problem
from workbench.records import Instance, Measurement
from workbench.records.record import Name
from workbench.store import Transaction
from workbench.store.files.uploads import Upload
from workbench.store.records.rows import new_id

from .. import auth, records, uploading
from ..auth import Member, RecordWriter
from ..context import RequestContext
from ..intake import MORE, SERIES, STEPS
from ..routing import Route, heavy, takes
from ..schemas import Body, Empty, Json, Shown, Text, wire

router = APIRouter(route_class=Route, tags=["Measurements"])

_FILE_NAME = re.compile(r"[^/\\?#%\x00-\x1f]{1,255}")
_MOST_FILES = 1000
_KINDS = ("time_series", "file")


def file_name(value: object) -> str:
    """A file name that an address can hold.

    Raises
    ------
    ValueError
    """
    if not isinstance(value, str) or not _FILE_NAME.fullmatch(value) or value in (".", ".."):
        raise ValueError("A file name has 1 to 255 characters without / \\ ? # % and control characters.")
    return value


def _some_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("A file name is a text.")
    return value


def _needed_text(value: object) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("missing", "A measurement needs a name.")
    return value


class NamedMeasurement(BaseModel):
    """A measurement with a name. Its other fields are checked when the upload is confirmed."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: Annotated[Name, BeforeValidator(_needed_text)]


class _AnyUpload(Body):
    measurement_type: Annotated[Text | None, Field(json_schema_extra={"enum": [*_KINDS, None]})] = None
    filenames: list[Annotated[str, BeforeValidator(_some_text)]] | None = None
    cell_instance_id: Annotated[Text | None, Field(json_schema_extra={"x-record": Instance.table})] = None
    instance: Json | None = None


class NewUpload(_AnyUpload):
    measurement: NamedMeasurement


class SentUpload(_AnyUpload):
    measurement: Json | None


class BegunMeasurement(TypedDict):
    measurement_id: str
    uploads: list[uploading.Target]


class ConfirmedMeasurement(Shown[Measurement]):
    """The measurement of an upload."""

    more: ClassVar = {"steps_created": int}


@router.post("/cell_instances/{instance_id}/cell_measurements/initiate-upload")
def begin_upload(context: RecordWriter, body: NewUpload) -> BegunMeasurement:
    """Begin to upload a measurement; no record exists yet."""
    instance = context.record(Instance)
    if body.cell_instance_id not in (None, instance.id):
        raise BadRequest("'cell_instance_id' names another cell than the path.")
    kind = _kind(body)
    _refuse_taken(context, instance, body.measurement.name)
    filenames = _filenames(body.filenames or []) if kind == "file" else [SERIES, STEPS]
    with context.writing(instance.id) as db:
        upload = context.store.uploads.begin(
            "measurement",
            new_id(context.store.clock(db)),
            context.scope,
            context.actor,
            filenames,
            {"instance_id": instance.id, "measurement_type": kind, "filenames": filenames},
        )
    return {"measurement_id": upload.target, "uploads": uploading.targets(context, upload)}


def _kind(body: NewUpload) -> str:
    kind = body.measurement_type or "time_series"
    if kind not in _KINDS:
        raise BadRequest(
            f"A measurement of type '{kind}' cannot be uploaded. Uploads are of type time_series or file."
        )
    return kind


def _filenames(names: list[str]) -> list[str]:
    problems = []
    for place, name in enumerate(names):
        try:
            file_name(name)
        except ValueError as error:
            problems.append(Problem(("filenames", place), str(error)))
    if not names or len(names) > _MOST_FILES:
        problems.append(Problem(("filenames",), f"'filenames' holds 1 to {_MOST_FILES} names.", "missing"))
    if not problems and len(set(names)) < len(names):
        problems.append(Problem(("filenames",), "A file name is there twice.", "value_error"))
    if problems:
        raise Invalid(problems)
    return names


def _refuse_taken(context: RequestContext, instance: Instance, name: str) -> None:
    where = {"instance_id": instance.id, "name": name}
    there = context.store.rows.page(Measurement, context.scope, where=where, limit=1).items
    if there:
        raise Conflict(f"There is a measurement '{name}' in its cell instance already.", there[0].id)


@router.post("/cell_measurements/{upload_id}/confirm-upload")
@heavy
def confirm_upload(context: Member, upload_id: str, body: SentUpload) -> ConfirmedMeasurement:
    """Make the record of an upload; if its data take long, they are stored after the answer.

    If the record exists, the answer is that record.
    """
    upload = uploading.find(context, upload_id, "measurement")
    scope = auth.to_write(context, upload.scope.project_id)
    about = upload.about
    uploading.check_same("cell_instance_id", body.cell_instance_id, about["instance_id"])
    uploading.check_same("measurement_type", body.measurement_type, about["measurement_type"])
    uploading.check_same("filenames", body.filenames, about["filenames"])
    if body.measurement is None:
        raise Invalid(Problem(("measurement",), "'measurement' must be an object.", "dict_type"))
    if upload.state == "open":
        _begin(context, upload, body.measurement)
    try:
        record = context.store.rows.get(Measurement, upload.target, scope)
    except NotFound:
        raise Conflict(
            "This upload is being confirmed by another request, or its measurement was deleted."
        ) from None
    return _confirmed(record)


def _confirmed(record: Measurement) -> ConfirmedMeasurement:
    return ConfirmedMeasurement({**wire(record), "steps_created": 0})


def _begin(context: RequestContext, upload: Upload, measurement: Json) -> None:
    series = upload.about["measurement_type"] == "time_series"
    if series:
        uploading.require(upload, SERIES)
    above = {name: upload.about[name] for name in ("instance_id", "measurement_type")}
    body = records.under_path(Measurement, measurement, **above)
    try:
        data = records.from_wire(Measurement, body)
        kept = {"processing_status": "running"} if series else {"files": _kept(upload)}
        scope = auth.to_write(context, upload.scope.project_id)

        def make(db: Transaction) -> None:
            context.store.rows.create(
                Measurement, {**data, **kept}, scope=scope, actor=context.actor, id=upload.target, connection=db
            )
            if not series:
                context.store.uploads.settle(db, upload.id, "done", was=["running"])

        began = uploading.begin_running(context, upload, make)
    except Invalid as error:
        problems = records.on_the_wire(Measurement, error, body).problems
        raise Invalid([Problem(("measurement", *p.loc), p.msg, p.type, p.ctx) for p in problems]) from None
    if began and series:
        uploading.take_in(context, upload)
        _refuse_failed(context, upload)


def _refuse_failed(context: RequestContext, upload: Upload) -> None:
    """Refuse an upload that failed while the client still waits, and delete its record."""
    scope = auth.to_write(context, upload.scope.project_id)
    record = context.store.rows.get(Measurement, upload.target, scope)
    if record.processing_status == "failed":
        context.store.rows.delete(Measurement, record.id, scope)
        raise FileRefused(record.processing_error or "The data could not be stored.")


def _kept(upload: Upload) -> list[dict[str, str | int | None]]:
    found = [uploading.require(upload, name) for name in upload.about["filenames"]]
    return [{"filename": one.filename, "piece": one.blob, "size": one.size} for one in found]


# Extending


@router.post("/cell_measurements/{measurement_id}/initiate-extend")
@takes("small")
def begin_extension(context: RecordWriter, body: Empty | None = None) -> BegunMeasurement:
    """Begin to upload more samples of a running test."""
    record = context.record(Measurement)
    _refuse_unless_open(record)
    about = {"measurement_type": "time_series"}
    with context.writing(record.id) as db:
        uploading.replace_earlier(context, db, record.id, "extension", record.name)
        upload = context.store.uploads.begin("extension", record.id, context.scope, context.actor, [MORE], about)
    return {"measurement_id": record.id, "uploads": uploading.targets(context, upload)}


@router.post("/cell_measurements/{measurement_id}/confirm-extend")
@takes("small")
@heavy
def confirm_extension(context: RecordWriter, body: Empty | None = None) -> ConfirmedMeasurement:
    """Append the samples that were sent."""
    record, rows = context.record(Measurement), context.store.rows
    upload = uploading.find(context, record.id, "extension")
    if upload.state == "open":
        uploading.require(upload, MORE)

        def make(db: Transaction) -> None:
            _refuse_unless_open(rows.get(Measurement, record.id, context.scope))
            started = {"processing_status": "running", "processing_error": None}
            rows.update(Measurement, record.id, started, context.scope, context.actor, connection=db)

        if uploading.begin_running(context, upload, make):
            uploading.take_in(context, upload)
    return _confirmed(rows.get(Measurement, record.id, context.scope))


def _refuse_unless_open(record: Measurement) -> None:
    if record.measurement_type != "time_series":
        raise Conflict(
            f"'{record.name}' has the type {record.measurement_type}. Only a time series can be extended."
        )
    if record.processing_status != "ready":
        raise Conflict(f"'{record.name}' is {record.processing_status}. Extend it when it is ready.")
    if record.end_time is not None:
        raise Conflict(f"'{record.name}' has ended. Set its end_time to null to extend it.")
