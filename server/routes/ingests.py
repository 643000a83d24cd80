"""Cycler files sent to be read by the server: the files, then one run over all of them, then its account."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from workbench.errors import BadRequest, Invalid, Problem
from workbench.ingest.options import sent_options
from workbench.ingest.plan.label_json import labels_of

from .. import schemas as s
from ..call import Call
from ..ingests import Test
from ..operation import Body, Need, Operation, Parameter
from . import fields

MOST_FILES = 10_000
_TEST: dict[str, type] = {
    "files": list,
    "beside": list,
    "labels": dict,
    "assumed": list,
    "odd": list,
    "loose": bool,
}


def send(call: Call) -> dict[str, Any]:
    """Keep a file until a run takes it."""
    name = call.query["name"]
    if "/" in name or "\0" in name or name in (".", "..") or len(os.fsencode(name)) > 255:
        raise Invalid(Problem(("name",), "This is no name of a file.", "value_error"))
    return {"file": call.state.ingests.keep(call.body, name, _owner(call)), "size": call.body.size}


def begin(call: Call) -> dict[str, Any]:
    """Read the files in their order, as ``workbench ingest`` does; its account comes after the answer."""
    given = fields.read(call.body, {"files": list, "tests": list, "options": dict}, required=("files",))
    files = fields.texts(given["files"], "files")
    if not 0 < len(files) <= MOST_FILES:
        raise BadRequest(f"An ingest reads 1 to {MOST_FILES} files, not {len(files)}.")
    options = sent_options(given.get("options", {}))
    tests = _tests(given["tests"], len(files)) if "tests" in given else None
    with call.writing(files=len(files)):
        id = call.state.ingests.begin(files, options, call.scope, _owner(call), tests)
    return call.state.ingests.told(id, _owner(call))


def _tests(given: list[Any], files: int) -> list[Test]:
    """The tests of an ingest; every file belongs to one of them.

    Raises
    ------
    Invalid
        With what is wrong in the first one that is.
    """
    made = [_test(one, ("tests", place)) for place, one in enumerate(given)]
    taken = sorted(place for test in made for place in (*test.files, *test.beside))
    if taken != list(range(files)):
        raise Invalid(Problem(("tests",), "Every file stands in one test, and in one only.", "value_error"))
    return made


def _test(given: Any, loc: tuple[str | int, ...]) -> Test:
    if not isinstance(given, dict):
        raise Invalid(Problem(loc, "A test is an object.", "dict_type"))
    try:
        told = fields.read(given, _TEST, required=("files",))
        said = {name: tuple(fields.texts(told.get(name), name)) for name in ("assumed", "odd")}
    except Invalid as error:
        raise Invalid([replace(problem, loc=(*loc, *problem.loc)) for problem in error.problems]) from None
    places = {name: told.get(name, []) for name in ("files", "beside")}
    for name, one in places.items():
        if not all(isinstance(place, int) and not isinstance(place, bool) for place in one) or not places["files"]:
            raise Invalid(Problem((*loc, name), f"'{name}' holds places of files, from 0.", "int_type"))
    labels = labels_of(told.get("labels", {}), (*loc, "labels"))
    files, beside = (tuple(one) for one in places.values())
    return Test(files, beside, labels, **said, loose=told.get("loose", False))


def told(call: Call) -> dict[str, Any]:
    return call.state.ingests.told(call.path["ingest_id"], _owner(call))


def _owner(call: Call) -> dict[str, str]:
    return {"project_id": call.path["project_id"], "user_id": call.actor}


_PLACE = "/projects/{project_id}/ingests"
_TOLD = s.record(
    {
        "id": s.TEXT,
        "state": {"enum": ["running", "done", "failed"]},
        "done": s.NUMBER,
        "of": s.NUMBER,
        "at": s.TEXT,
    },
    {"report": s.FREE, "error": s.TEXT},
)

OPERATIONS = (
    Operation(
        "POST",
        _PLACE + "/files",
        send,
        Need.WRITE,
        "Send a cycler file that an ingest is to read",
        project="path",
        query=(Parameter("name", {"type": "string", "minLength": 1}, "Its name.", required=True),),
        body=Body({"type": "string", "format": "binary"}, "upload", "raw"),
        answer=s.record({"file": s.TEXT, "size": s.NUMBER}),
    ),
    Operation(
        "POST",
        _PLACE,
        begin,
        Need.WRITE,
        "Read files that were sent; the options are those of `workbench ingest`",
        project="path",
        body=Body(s.body({"files": s.array(s.TEXT)}, {"tests": s.array(s.FREE), "options": s.FREE})),
        answer=_TOLD,
    ),
    Operation(
        "GET",
        _PLACE + "/{ingest_id}",
        told,
        Need.WRITE,
        "How far an ingest is, and what became of its files",
        project="path",
        answer=_TOLD,
    ),
)
