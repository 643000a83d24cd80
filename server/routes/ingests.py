"""Ingest of cycler files: send the files, begin a run over all of them, ask for its report."""

from __future__ import annotations

import os
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError
from starlette.requests import Request
from typing_extensions import TypedDict

from workbench.errors import BadRequest, Invalid, Problem
from workbench.ingest.options import sent_options
from workbench.ingest.plan.label_json import labels_of
from workbench.ingest.plan.sheet import Row

from ..auth import ProjectWriter
from ..context import RequestContext
from ..ingests import IngestShown, Owner, Test
from ..parameters import Text as QueryText
from ..requests import SentFile, streamed_to_disk
from ..routing import Route, takes
from ..schemas import Body, Json, Text

router = APIRouter(route_class=Route, tags=["Files to be read"])

MOST_FILES = 10_000
_INGESTS = "/projects/{project_id}/ingests"


def _places(value: object) -> object:
    if not isinstance(value, list) or not all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        kind = "int_type" if isinstance(value, list) else "list_type"
        raise PydanticCustomError(kind, "This is a list of places of files, from 0.")
    return value


Places = Annotated[list[int], BeforeValidator(_places)]
"""Places of files in the list of an ingest, from 0."""


class RowOfTest(Body):
    """A row of a sheet about single tests of a file that holds several: its number, a pattern as ``*!A``, labels."""

    row: int = Field(ge=0)
    test: Text
    labels: Json = Field(default_factory=dict)


class OneTest(Body):
    """The files of one test, the files beside them, and what is known of the test."""

    files: Places
    beside: Places = Field(default_factory=list)
    labels: Json = Field(default_factory=dict)
    assumed: list[Text] = Field(default_factory=list)
    odd: list[Text] = Field(default_factory=list)
    loose: bool = False
    folder: Text = ""
    above: int = Field(0, ge=0)
    of_tests: list[RowOfTest] = Field(default_factory=list)


class NewIngest(Body):
    """The files of an ingest, which of them belong together, and the options of ``workbench ingest``."""

    files: list[Text]
    tests: Annotated[list[OneTest] | None, Field(json_schema_extra={"type": "array"})] = None
    options: Json = Field(default_factory=dict)


class KeptFile(TypedDict):
    file: str
    size: int


async def _sent_bytes(request: Request) -> SentFile:
    context: RequestContext = request.scope["workbench"]
    return context.keep_until_end(await streamed_to_disk(request, context.state.files))


@router.post(
    f"{_INGESTS}/files",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
@takes("upload")
def send_file(
    context: ProjectWriter,
    sent: Annotated[SentFile, Depends(_sent_bytes)],
    name: Annotated[QueryText, Query(min_length=1, description="Its name.")],
) -> KeptFile:
    """Send a cycler file for an ingest."""
    if "/" in name or name in (".", "..") or len(os.fsencode(name)) > 255:
        raise Invalid(Problem(("name",), f"'{name[:80]}' is not a file name.", "value_error"))
    return {"file": context.state.ingests.keep(sent, name, _owner(context)), "size": sent.size}


@router.post(_INGESTS)
def begin_ingest(context: ProjectWriter, body: NewIngest) -> IngestShown:
    """Read files that were sent, in their order, with the options of `workbench ingest`."""
    files = list(dict.fromkeys(body.files))
    if not 0 < len(files) <= MOST_FILES:
        raise BadRequest(f"An ingest reads 1 to {MOST_FILES} files, not {len(files)}.")
    options = sent_options(body.options)
    tests = None if body.tests is None else _tests(body.tests, len(files))
    with context.writing(files=len(files)):
        id = context.state.ingests.begin(files, options, context.scope, _owner(context), tests)
    return _shown(context, id)


def _tests(given: list[OneTest], files: int) -> list[Test]:
    """The tests of an ingest; every file belongs to one of them.

    Raises
    ------
    Invalid
        With what is wrong in the first test that has a problem.
    """
    made = [_test(one, ("tests", place)) for place, one in enumerate(given)]
    taken = sorted(place for test in made for place in (*test.files, *test.beside))
    if taken != list(range(files)):
        raise Invalid(Problem(("tests",), "Every file must belong to exactly one test.", "value_error"))
    return made


def _test(given: OneTest, loc: tuple[str | int, ...]) -> Test:
    if not given.files:
        raise Invalid(Problem((*loc, "files"), "'files' holds places of files, from 0.", "int_type"))
    return Test(
        tuple(given.files),
        tuple(given.beside),
        labels_of(given.labels, (*loc, "labels")),
        assumed=tuple(given.assumed),
        odd=tuple(given.odd),
        loose=given.loose,
        folder=given.folder,
        above=given.above,
        rows=tuple(
            Row(one.row, one.test, labels_of(one.labels, (*loc, "of_tests", place, "labels")))
            for place, one in enumerate(given.of_tests)
        ),
    )


@router.get(f"{_INGESTS}/{{ingest_id}}")
def read_ingest(context: ProjectWriter, ingest_id: str) -> IngestShown:
    """The state of an ingest, and at its end the report on its files."""
    return _shown(context, ingest_id)


def _shown(context: RequestContext, id: str) -> IngestShown:
    return context.state.ingests.shown(id, _owner(context))


def _owner(context: RequestContext) -> Owner:
    return {"project_id": context.path["project_id"], "user_id": context.actor}
