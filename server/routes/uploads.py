"""Uploads of measurements: begun, confirmed, extended."""

from __future__ import annotations

import re
from typing import Any

from workbench.errors import BadRequest, Conflict, FileRefused, Invalid, NotFound, Problem
from workbench.records import Instance, Measurement
from workbench.store.rows import new_id
from workbench.store.uploads import Upload

from .. import access, uploading
from .. import schemas as s
from ..call import Call
from ..operation import Body, Need, Operation
from ..uploading import MORE, SERIES, STEPS
from . import crud, fields

_FILE_NAME = re.compile(r"[^/\\?#%\x00-\x1f]{1,255}")
_FILE_NAME_WORDS = "A file name has 1 to 255 characters without / \\ ? # % and control characters."
_MOST_FILES = 1000
_KINDS = ("time_series", "file")
_BODY = {
    "measurement": dict,
    "measurement_type": str,
    "filenames": list,
    "cell_instance_id": str,
    "instance": dict,
}


def initiate(call: Call) -> dict[str, Any]:
    """Begin an upload; no record exists yet."""
    given = fields.read(call.body, _BODY, required=("measurement",), nullable=tuple(_BODY))
    instance = call.record(Instance)
    if given.get("cell_instance_id") not in (None, instance.id):
        raise BadRequest("'cell_instance_id' names another cell than the address.")
    kind = _kind(given)
    name = fields.name(given["measurement"].get("name"), ("measurement", "name"))
    _refuse_taken(call, instance, name)
    filenames = _filenames(given) if kind == "file" else [SERIES, STEPS]
    with call.writing(instance.id) as db:
        target = new_id(call.store.clock(db))
        upload = call.store.uploads.begin(
            "measurement",
            target,
            call.scope,
            call.actor,
            filenames,
            {"instance_id": instance.id, "measurement_type": kind, "filenames": filenames},
        )
    return {"measurement_id": target, "uploads": uploading.begun(call, upload)}


def _kind(given: dict[str, Any]) -> str:
    kind = given.get("measurement_type") or "time_series"
    if kind not in _KINDS:
        raise BadRequest(
            f"A measurement of type '{kind}' is not uploaded; uploads are of type time_series or file."
        )
    return str(kind)


def _filenames(given: dict[str, Any]) -> list[str]:
    names = given.get("filenames") or []
    problems = [
        Problem(("filenames", place), _FILE_NAME_WORDS)
        for place, name in enumerate(names)
        if not isinstance(name, str) or not _FILE_NAME.fullmatch(name) or name in (".", "..")
    ]
    if not names or len(names) > _MOST_FILES:
        problems.append(Problem(("filenames",), f"'filenames' holds 1 to {_MOST_FILES} names.", "missing"))
    if not problems and len(set(names)) < len(names):
        problems.append(Problem(("filenames",), "A file name stands twice.", "value_error"))
    if problems:
        raise Invalid(problems)
    return list(names)


def checked_name(name: str, loc: tuple[str | int, ...]) -> str:
    """A file name that an address can hold.

    Raises
    ------
    Invalid
    """
    if not _FILE_NAME.fullmatch(name) or name in (".", ".."):
        raise Invalid(Problem(loc, _FILE_NAME_WORDS, "value_error"))
    return name


def _refuse_taken(call: Call, instance: Instance, name: str) -> None:
    there = call.store.rows.page(
        Measurement, call.scope, where={"instance_id": instance.id, "name": name}, limit=1
    ).items
    if there:
        raise Conflict(f"There is a measurement '{name}' in its cell instance already.", there[0].id)


def confirm(call: Call) -> dict[str, Any]:
    """Make the record of an upload and take its data in; a second time it answers the record there is."""
    given = fields.read(call.body, _BODY, required=("measurement",), nullable=tuple(_BODY))
    upload = uploading.find(call, call.path["upload_id"], "measurement")
    scope = access.to_write(call, upload.scope.project_id)
    names = {"instance_id": "cell_instance_id", "measurement_type": "measurement_type", "filenames": "filenames"}
    uploading.check_same(upload, {key: value for key, value in given.items() if value is not None}, names)
    if upload.state == "open":
        _begin(call, upload, given["measurement"])
    try:
        record = call.store.rows.get(Measurement, upload.target, scope)
    except NotFound:
        raise Conflict(
            "This upload is being confirmed by another request, or its measurement was deleted."
        ) from None
    return {**crud.wire(record), "steps_created": 0}


def _begin(call: Call, upload: Upload, measurement: dict[str, Any]) -> None:
    series = upload.about["measurement_type"] == "time_series"
    if series:
        uploading.require(upload, SERIES)
    about = {name: upload.about[name] for name in ("instance_id", "measurement_type")}
    body = crud.placed(Measurement, measurement, about)
    try:
        data = crud.from_wire(Measurement, body)
        kept = {"processing_status": "running"} if series else {"files": _kept(upload)}
        scope = access.to_write(call, upload.scope.project_id)

        def make(db: Any) -> None:
            call.store.rows.create(
                Measurement, {**data, **kept}, scope=scope, actor=call.actor, id=upload.target, connection=db
            )
            if not series:
                call.store.uploads.settle(db, upload.id, "done", was=["running"])

        began = uploading.begin_running(call, upload, make)
    except Invalid as error:
        problems = crud.on_the_wire(Measurement, error, body).problems
        raise Invalid([Problem(("measurement", *p.loc), p.msg, p.type, p.ctx) for p in problems]) from None
    if began and series:
        uploading.take_in(call, upload)
        _refuse_failed(call, upload)


def _refuse_failed(call: Call, upload: Upload) -> None:
    """What failed while the client still waits is refused, and leaves no record behind."""
    scope = access.to_write(call, upload.scope.project_id)
    record = call.store.rows.get(Measurement, upload.target, scope)
    if record.processing_status == "failed":
        call.store.rows.delete(Measurement, record.id, scope)
        raise FileRefused(record.processing_error or "The data could not be taken in.")


def _kept(upload: Upload) -> list[dict[str, Any]]:
    found = [uploading.require(upload, name) for name in upload.about["filenames"]]
    return [{"filename": one.filename, "piece": one.piece, "size": one.size} for one in found]


# Extending


def initiate_extend(call: Call) -> dict[str, Any]:
    fields.read(call.body, {})
    record = call.record(Measurement)
    _refuse_unless_open(record)
    with call.writing(record.id):
        upload = call.store.uploads.begin(
            "extension", record.id, call.scope, call.actor, [MORE], {"measurement_type": "time_series"}
        )
    return {"measurement_id": record.id, "uploads": uploading.begun(call, upload)}


def confirm_extend(call: Call) -> dict[str, Any]:
    fields.read(call.body, {})
    record = call.record(Measurement)
    upload = uploading.find(call, record.id, "extension")
    if upload.state == "open":
        uploading.require(upload, MORE)

        def make(db: Any) -> None:
            present = call.store.rows.get(Measurement, record.id, call.scope)
            _refuse_unless_open(present)
            told = {"processing_status": "running", "processing_error": None}
            call.store.rows.update(Measurement, record.id, told, call.scope, call.actor, connection=db)

        if uploading.begin_running(call, upload, make):
            uploading.take_in(call, upload)
    return {**crud.wire(call.store.rows.get(Measurement, record.id, call.scope)), "steps_created": 0}


def _refuse_unless_open(record: Measurement) -> None:
    if record.measurement_type != "time_series":
        raise Conflict(f"'{record.name}' holds {record.measurement_type}; only a time series can be extended.")
    if record.processing_status != "ready":
        raise Conflict(f"'{record.name}' is {record.processing_status}; extend it when it is ready.")
    if record.end_time is not None:
        raise Conflict(f"'{record.name}' has ended; clear its end_time to go on with it.")


_TARGET = s.record(
    {"filename": s.TEXT, "signed_url": s.TEXT, "token": s.TEXT, "path": s.TEXT}, {"multipart": s.ANY}
)
_UPLOADS = s.record({"measurement_id": s.TEXT, "uploads": s.array(_TARGET)})
_GIVEN = s.body(
    {"measurement": s.FREE},
    {
        "measurement_type": {"enum": [*_KINDS, None]},
        "filenames": {"type": ["array", "null"], "items": s.TEXT},
        "cell_instance_id": s.TEXT_OR_NULL,
        "instance": {"type": ["object", "null"]},
    },
)
_DONE = {"allOf": [s.kind(Measurement), s.record({"steps_created": s.NUMBER})]}

OPERATIONS = (
    Operation(
        "POST",
        "/cell_instances/{instance_id}/cell_measurements/initiate-upload",
        initiate,
        Need.WRITE,
        "Begin to upload a measurement",
        project="record",
        body=Body(_GIVEN, ids={"cell_instance_id": Instance}),
        answer=_UPLOADS,
    ),
    Operation(
        "POST",
        "/cell_measurements/{upload_id}/confirm-upload",
        confirm,
        Need.MEMBER,
        "Make the record of an upload; where its data take longer, they come after the answer",
        body=Body(_GIVEN, ids={"cell_instance_id": Instance}),
        answer=_DONE,
        heavy=True,
    ),
    Operation(
        "POST",
        "/cell_measurements/{measurement_id}/initiate-extend",
        initiate_extend,
        Need.WRITE,
        "Begin to upload more samples of a running test",
        project="record",
        body=Body(s.body({}), "small", optional=True),
        answer=_UPLOADS,
    ),
    Operation(
        "POST",
        "/cell_measurements/{measurement_id}/confirm-extend",
        confirm_extend,
        Need.WRITE,
        "Append the samples that were sent",
        project="record",
        body=Body(s.body({}), "small", optional=True),
        answer=_DONE,
        heavy=True,
    ),
)
