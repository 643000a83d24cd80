"""Raw data: files kept as they were sent."""

from __future__ import annotations

from typing import Any

from workbench.errors import BadRequest, Conflict, NotFound
from workbench.records import Project, RawData
from workbench.store.rows import new_id
from workbench.store.uploads import Upload

from .. import access, query, uploading
from .. import schemas as s
from ..call import Call
from ..operation import Body, Need, Operation, Parameter
from . import crud, fields, storage
from .cells import only_project
from .uploads import checked_name

_TYPES = {
    "project_id": str,
    "name": str,
    "filename": str,
    "content_type": str,
    "metadata": dict,
    "source": str,
    "size_bytes": int,
}
_OPTIONAL = ("content_type", "metadata", "source", "project_id", "size_bytes")


def initiate(call: Call) -> dict[str, Any]:
    """Begin to upload a file; no record exists yet."""
    given = fields.read(call.body, _TYPES, required=("name", "filename"), nullable=_OPTIONAL)
    fields.name(given["name"], ("name",))
    filename = checked_name(given["filename"], ("filename",))
    if call.project is None:
        access.enter(call, only_project(call))
    with call.writing(call.scope.project_id) as db:
        target = new_id(call.store.clock(db))
        upload = call.store.uploads.begin(
            "raw_data",
            target,
            call.scope,
            call.actor,
            [filename],
            {"filename": filename},
            content_type=given.get("content_type"),
        )
    return {"raw_data_id": target, "uploads": uploading.begun(call, upload)}


def confirm(call: Call) -> dict[str, Any]:
    """Make the record of a file that was sent; a second time it answers the record there is."""
    given = fields.read(call.body, _TYPES, required=("name", "filename"), nullable=_OPTIONAL)
    upload = uploading.find(call, call.path["upload_id"], "raw_data")
    scope = access.to_write(call, upload.scope.project_id)
    uploading.check_same(upload, given, {"filename": "filename"})
    if upload.state == "open":
        _make(call, upload, given)
    try:
        return crud.wire(call.store.rows.get(RawData, upload.target, scope))
    except NotFound:
        raise Conflict("This upload is being confirmed by another request, or its file was deleted.") from None


def _make(call: Call, upload: Upload, given: dict[str, Any]) -> None:
    one = uploading.require(upload, upload.about["filename"])
    size = given.get("size_bytes")
    if size is not None and size != one.size:
        raise BadRequest(f"{one.size} bytes arrived, not {size}; send the file again.")
    scope = access.to_write(call, upload.scope.project_id)
    data = {
        "name": given["name"],
        "filename": one.filename,
        "content_type": given.get("content_type") or one.content_type or "application/octet-stream",
        "size": one.size,
        "piece": one.piece,
        "source": given.get("source") or None,
        "metadata": given.get("metadata") or {},
    }

    def make(db: Any) -> None:
        call.store.rows.create(RawData, data, scope=scope, actor=call.actor, id=upload.target, connection=db)
        call.store.uploads.settle(db, upload.id, "done", was=["running"])

    uploading.begin_running(call, upload, make)


def change(call: Call) -> dict[str, Any]:
    body = dict(call.body)
    if body.get("source") == "":
        body["source"] = None
    return crud.wire(crud.change(call, call.record(RawData), body))


def download_url(call: Call) -> dict[str, Any]:
    record = call.record(RawData)
    return {"url": call.base_url + storage.of_piece(call, record.piece, record.filename, record.content_type)}


def measurements(call: Call) -> dict[str, Any]:
    found = call.store.uploads.measurements_of(call.record(RawData).id, call.scope)
    start = call.query["offset"]
    return {"items": found[start : start + call.query["limit"]], "total": len(found)}


def _of_project(call: Call) -> dict[str, Any]:
    return {"project_id": call.scope.project_id}


_ONE = s.kind(RawData)
_PLACE = "/raw_data/{raw_data_id}"
_GIVEN = s.body(
    {"name": s.NAME, "filename": s.NAME},
    {
        "project_id": s.TEXT_OR_NULL,
        "content_type": s.TEXT_OR_NULL,
        "metadata": {"type": ["object", "null"]},
        "source": s.TEXT_OR_NULL,
        "size_bytes": {"type": ["integer", "null"]},
    },
)
_TARGET = s.record(
    {"filename": s.TEXT, "signed_url": s.TEXT, "token": s.TEXT, "path": s.TEXT}, {"multipart": s.ANY}
)

OPERATIONS = (
    Operation(
        "POST",
        "/raw_data/initiate-upload",
        initiate,
        Need.WRITE,
        "Begin to upload a file",
        project="body",
        body=Body(_GIVEN, ids={"project_id": Project}),
        answer=s.record({"raw_data_id": s.TEXT, "uploads": s.array(_TARGET)}),
    ),
    Operation(
        "POST",
        "/raw_data/{upload_id}/confirm-upload",
        confirm,
        Need.MEMBER,
        "Make the record of a file that was sent",
        body=Body(_GIVEN, ids={"project_id": Project}),
        answer=_ONE,
    ),
    Operation(
        "GET",
        "/raw_data",
        crud.lists(RawData, narrowed=_of_project),
        Need.READ,
        "The raw data of a project",
        project="query",
        query=(
            *query.listing(RawData),
            Parameter("project_id", meaning="The project.", required=True, kind=Project),
        ),
        answer=s.listed(_ONE),
    ),
    Operation("GET", _PLACE, crud.reads(RawData), Need.READ, "One file", project="record", answer=_ONE),
    Operation(
        "PATCH",
        _PLACE,
        change,
        Need.WRITE,
        "Change a file's name, source or metadata; an empty source clears it",
        project="record",
        body=Body(s.given(RawData, changing=True)),
        answer=_ONE,
    ),
    Operation("DELETE", _PLACE, crud.deletes(RawData), Need.WRITE, "Delete a file", project="record", status=204),
    Operation(
        "GET",
        f"{_PLACE}/download-url",
        download_url,
        Need.READ,
        "A signed address of the file as it was sent",
        project="record",
        answer=s.record({"url": s.TEXT}),
    ),
    Operation(
        "GET",
        f"{_PLACE}/cell_measurements",
        measurements,
        Need.READ,
        "The ids of the measurements that come from the file",
        project="record",
        query=query.paging(),
        answer=s.record({"items": s.array(s.TEXT), "total": s.NUMBER}),
    ),
)
