"""Drive cycles of the organization; each content is stored once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from workbench.records import DriveCycle

from .. import records
from ..auth import AnyReader, AnyWriter, RecordReader, RecordWriter
from ..kept_answers import from_store
from ..parameters import Asked, listing
from ..routing import Route
from ..schemas import Given, Page, Shown, wire

router = APIRouter(route_class=Route, tags=["Drive cycles"])

_PLACE = "/drive-cycles/{drive_cycle_id}"


@router.get("/drive-cycles")
@from_store()
def list_drive_cycles(
    context: AnyReader, asked: Annotated[Asked, listing(DriveCycle, default=20, most=100)]
) -> Page[Shown[DriveCycle]]:
    """The drive cycles of the organization."""
    return records.listed(context, DriveCycle, asked)


@router.post("/drive-cycles")
def create_drive_cycle(context: AnyWriter, body: Given[DriveCycle]) -> Shown[DriveCycle]:
    """Store a drive cycle; if one of this name and content exists, the answer is that one."""
    return wire(records.create(context, DriveCycle, body))


@router.get(_PLACE)
@from_store()
def read_drive_cycle(context: RecordReader) -> Shown[DriveCycle]:
    """One drive cycle."""
    return wire(context.record(DriveCycle))


@router.delete(_PLACE, status_code=204)
def delete_drive_cycle(context: RecordWriter) -> None:
    """Delete a drive cycle."""
    records.delete(context, context.record(DriveCycle))
