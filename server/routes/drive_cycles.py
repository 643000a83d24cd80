"""Drive cycles: kept once for each content, for the whole organization."""

from __future__ import annotations

from workbench.records import DriveCycle, Measurement

from .. import query
from .. import schemas as s
from ..operation import Body, Need, Operation
from . import crud

_ONE = s.kind(DriveCycle)
_PLACE = "/drive-cycles/{drive_cycle_id}"

OPERATIONS = (
    Operation(
        "GET",
        "/drive-cycles",
        crud.lists(DriveCycle),
        Need.READ,
        "The drive cycles of the organization",
        query=query.listing(DriveCycle, default=20, most=100),
        answer=s.listed(_ONE),
    ),
    Operation(
        "POST",
        "/drive-cycles",
        crud.creates(DriveCycle),
        Need.WRITE,
        "Keep a drive cycle; one of the same name and content is answered as it is",
        body=Body(s.given(DriveCycle), ids={"measurement_id": Measurement}),
        answer=_ONE,
    ),
    Operation("GET", _PLACE, crud.reads(DriveCycle), Need.READ, "One drive cycle", project="record", answer=_ONE),
    Operation(
        "DELETE",
        _PLACE,
        crud.deletes(DriveCycle),
        Need.WRITE,
        "Delete a drive cycle",
        project="record",
        status=204,
    ),
)
