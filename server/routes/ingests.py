"""Cycler files sent to be read by the server: the files, then one run over all of them, then its account."""

from __future__ import annotations

import os
from typing import Any

from workbench.errors import BadRequest, Invalid, Problem, instead
from workbench.readers import FORMATS

from .. import schemas as s
from ..call import Call
from ..operation import Body, Need, Operation, Parameter
from . import fields

MOST_FILES = 10_000
_OPTIONS: dict[str, type] = {
    "specification": str,
    "rating": object,
    "instance": str,
    "batch": str,
    "format": str,
    "column_map": dict,
    "sign": str,
    "repair": list,
    "jobs": int,
    "keep_file": bool,
}


def send(call: Call) -> dict[str, Any]:
    """Keep a file until a run takes it."""
    name = call.query["name"]
    if "/" in name or "\0" in name or name in (".", "..") or len(os.fsencode(name)) > 255:
        raise Invalid(Problem(("name",), "This is no name of a file.", "value_error"))
    return {"file": call.state.ingests.keep(call.body, name, _owner(call)), "size": call.body.size}


def begin(call: Call) -> dict[str, Any]:
    """Read the files in their order, as ``workbench ingest`` does; its account comes after the answer."""
    given = fields.read(call.body, {"files": list, "options": dict}, required=("files",))
    files = fields.texts(given["files"], "files")
    if not 0 < len(files) <= MOST_FILES:
        raise BadRequest(f"An ingest reads 1 to {MOST_FILES} files, not {len(files)}.")
    options = _options(given.get("options", {}))
    with call.writing(files=len(files)):
        id = call.state.ingests.begin(files, options, call.scope, _owner(call))
    return call.state.ingests.told(id, _owner(call))


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of an ingest, each of its type; what is null is not given."""
    known = {name: kind for name, kind in _OPTIONS.items() if kind is not object}
    if unknown := [name for name in given if name not in _OPTIONS]:
        message = f"There is no option '{unknown[0][:80]}'. {instead(unknown[0], _OPTIONS, 'options')}"
        raise Invalid(Problem(("options", unknown[0]), message, "extra_forbidden"))
    told = {name: value for name, value in given.items() if value is not None}
    rest = fields.read({name: value for name, value in told.items() if name in known}, known)
    rating = told.get("rating")
    if rating is not None and not isinstance(rating, str | dict):
        raise Invalid(Problem(("options", "rating"), "'rating' is a text or an object.", "value_error"))
    if "format" in rest and rest["format"] not in FORMATS:
        raise BadRequest(
            f"There is no format '{rest['format'][:80]}'. {instead(rest['format'], FORMATS, 'formats')}"
        )
    texts = {"column_map": rest.get("column_map", {}).values(), "repair": rest.get("repair", [])}
    for name, values in texts.items():
        if not all(isinstance(value, str) for value in values):
            raise Invalid(Problem(("options", name), f"'{name}' holds texts.", "string_type"))
    return {**rest, **({"rating": rating} if rating is not None else {})}


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
        body=Body(s.body({"files": s.array(s.TEXT)}, {"options": s.FREE})),
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
