"""Raw data: files that are stored as they were sent."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from workbench.errors import BadRequest, Conflict, NotFound
from workbench.records import Project, RawData
from workbench.records.record import Name
from workbench.store import Transaction
from workbench.store.files.uploads import Upload
from workbench.store.records.rows import new_id

from .. import auth, records, uploading
from ..auth import BodyWriter, Member, QueryReader, RecordReader, RecordWriter
from ..context import RequestContext
from ..kept_answers import from_store
from ..parameters import Asked, Paging, ids_of, listing, paging
from ..parameters import Text as QueryText
from ..routing import Route
from ..schemas import Body, Changed, Json, Page, Shown, Text, wire
from . import storage
from .cells import only_project
from .uploads import file_name

router = APIRouter(route_class=Route, tags=["Raw data"])

_PLACE = "/raw_data/{raw_data_id}"


def _media_type(value: str) -> str:
    if value and not storage.is_media_type(value):
        raise ValueError("A content type has at most 200 printable ASCII characters, such as text/csv.")
    return value


class SentRawData(Body):
    name: Text
    filename: Text
    project_id: Annotated[Text | None, Field(json_schema_extra={"x-record": Project.table})] = None
    content_type: Annotated[Text, AfterValidator(_media_type)] | None = None
    metadata: Json | None = None
    source: Text | None = None
    size_bytes: int | None = None


class NewRawData(SentRawData):
    name: Name
    filename: Annotated[Text, AfterValidator(file_name)]


class BegunRawData(TypedDict):
    raw_data_id: str
    uploads: list[uploading.Target]


class MeasurementIds(TypedDict):
    items: list[str]
    total: int


@router.post("/raw_data/initiate-upload")
def begin_upload(context: BodyWriter, body: NewRawData) -> BegunRawData:
    """Begin to upload a file; no record exists yet."""
    if context.project is None:
        auth.enter(context, only_project(context))
    with context.writing(context.scope.project_id) as db:
        upload = context.store.uploads.begin(
            "raw_data",
            new_id(context.store.clock(db)),
            context.scope,
            context.actor,
            [body.filename],
            {"filename": body.filename},
            content_type=body.content_type,
        )
    return {"raw_data_id": upload.target, "uploads": uploading.targets(context, upload)}


@router.post("/raw_data/{upload_id}/confirm-upload")
def confirm_upload(context: Member, upload_id: str, body: SentRawData) -> Shown[RawData]:
    """Make the record of a file that was sent; if it exists, the answer is that record."""
    upload = uploading.find(context, upload_id, "raw_data")
    scope = auth.to_write(context, upload.scope.project_id)
    uploading.check_same("filename", body.filename, upload.about["filename"])
    if upload.state == "open":
        _make(context, upload, body)
    try:
        return wire(context.store.rows.get(RawData, upload.target, scope))
    except NotFound:
        raise Conflict("This upload is being confirmed by another request, or its file was deleted.") from None


def _make(context: RequestContext, upload: Upload, body: SentRawData) -> None:
    one = uploading.require(upload, body.filename)
    if body.size_bytes not in (None, one.size):
        raise BadRequest(f"{one.size} bytes arrived, not {body.size_bytes}. Send the file again.")
    scope = auth.to_write(context, upload.scope.project_id)
    data = {
        "name": body.name,
        "filename": one.filename,
        "content_type": body.content_type or one.content_type or "application/octet-stream",
        "size": one.size,
        "piece": one.blob,
        "source": body.source or None,
        "metadata": body.metadata or {},
    }

    def make(db: Transaction) -> None:
        rows = context.store.rows
        rows.create(RawData, data, scope=scope, actor=context.actor, id=upload.target, connection=db)
        context.store.uploads.settle(db, upload.id, "done", was=["running"])

    uploading.begin_running(context, upload, make)


@router.get("/raw_data")
@from_store()
def list_raw_data(
    context: QueryReader,
    asked: Annotated[Asked, listing(RawData)],
    project_id: Annotated[QueryText, ids_of(Project, "The project.")],
) -> Page[Shown[RawData]]:
    """The raw data of a project."""
    return records.listed(context, RawData, asked, project_id=project_id)


@router.get(_PLACE)
@from_store()
def read_raw_data(context: RecordReader) -> Shown[RawData]:
    """One file."""
    return wire(context.record(RawData))


@router.patch(_PLACE)
def change_raw_data(context: RecordWriter, body: Changed[RawData]) -> Shown[RawData]:
    """Change a file's name, source or metadata; an empty source clears it."""
    cleared = {"source": None} if body.get("source") == "" else {}
    return wire(records.change(context, context.record(RawData), {**body, **cleared}))


@router.delete(_PLACE, status_code=204)
def delete_raw_data(context: RecordWriter) -> None:
    """Delete a file."""
    records.delete(context, context.record(RawData))


@router.get(f"{_PLACE}/download-url")
def read_address(context: RecordReader) -> storage.Address:
    """A signed address of the file as it was sent."""
    record = context.record(RawData)
    return {"url": context.base_url + storage.of_blob(context, record.piece, record.filename, record.content_type)}


@router.get(f"{_PLACE}/cell_measurements")
def list_measurements(context: RecordReader, asked: Annotated[Paging, paging()]) -> MeasurementIds:
    """The ids of the measurements that come from the file."""
    found = context.store.uploads.measurements_of(context.record(RawData).id, context.scope)
    return {"items": found[asked.offset : asked.offset + asked.limit], "total": len(found)}
