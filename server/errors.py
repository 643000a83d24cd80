"""Errors as answers: a JSON object with ``error_code``, ``message`` and ``detail``."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NotRequired

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, JsonValue
from pydantic_core import ErrorDetails
from starlette.datastructures import FormData
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench.errors import (
    Conflict,
    Invalid,
    Later,
    Problem,
    ProblemDetail,
    ScriptError,
    StoreAway,
    StoreFull,
    WorkbenchError,
    instead,
)
from workbench.messages import called, refused
from workbench.operations.arguments import FIELD_TYPES, QUERY_TYPES
from workbench.store.objects.place import PlaceAway

from .responses import JSON, dumps

_PLACE_SECONDS = 60
"""After so long a request for samples may be sent again, where their place did not answer."""
_STORE_SECONDS = 5
"""The same for any request, where the store did not answer."""
_OBJECT_TYPES = {"model_attributes_type": "dict_type", "model_type": "dict_type"}


class ErrorBody(TypedDict):
    """The body of every error."""

    error_code: str
    message: str
    detail: NotRequired[list[ProblemDetail] | dict[str, JsonValue]]
    log: NotRequired[str]


def body(error: WorkbenchError) -> ErrorBody:
    """The body of one of our errors."""
    made: ErrorBody = {"error_code": error.code, "message": str(error) or error.code}
    if isinstance(error, Invalid):
        made["detail"] = [problem.as_detail() for problem in error.problems]
    elif error.status == 422:
        made["detail"] = [Problem((), str(error), error.code.lower()).as_detail()]
    if isinstance(error, ScriptError) and error.log:
        made["log"] = error.log
    if isinstance(error, Conflict):
        made["detail"] = {**error.detail, **({"existing_id": error.existing_id} if error.existing_id else {})}
    return made


def response(error: WorkbenchError, request_id: str) -> Response:
    """The answer to a request that failed with one of our errors."""
    headers = {"x-correlation-id": request_id}
    if isinstance(error, Later):
        headers["retry-after"] = str(error.retry_after)
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, PlaceAway):
        headers["retry-after"] = str(_PLACE_SECONDS)
        shown = _away(request_id)
    elif isinstance(error, StoreFull):
        shown = full(request_id)
    elif isinstance(error, StoreAway):
        headers["retry-after"] = str(_STORE_SECONDS)
        shown = _store_away(request_id)
    elif error.status < 500 or isinstance(error, Later):
        shown = body(error)
    else:  # its text may hold a path or a statement, so it is only in the log
        shown = broken(request_id, error.code)
    return Response(dumps(shown), error.status, headers, JSON)


def _away(request_id: str) -> ErrorBody:
    """The body for samples that are in a place which does not answer; its address is for the operator."""
    message = (
        "The place where this server keeps its samples does not answer now. What needs no samples works: lists, "
        f"searches, figures of cycles. Try again in {_PLACE_SECONDS} s. The log of the server has the reason under the "
        f"request id {request_id}."
    )
    return {"error_code": PlaceAway.code, "message": message}


def _store_away(request_id: str) -> ErrorBody:
    """The body where the store does not answer; its address is for the operator."""
    message = (
        f"The store of this server does not answer now. Try again in {_STORE_SECONDS} s. A change that was on its way "
        "is stored whole or not at all: look first whether it is there. The log of the server has the reason under "
        f"the request id {request_id}."
    )
    return {"error_code": StoreAway.code, "message": message}


def full(request_id: str) -> ErrorBody:
    """The body where a disk of the server has no room."""
    message = (
        "A disk of this server is full. Nothing of this change was stored. Tell the operator, and try again when "
        f"there is room. The log of the server has the reason under the request id {request_id}."
    )
    return {"error_code": StoreFull.code, "message": message}


def unforeseen(error: Exception, request_id: str) -> Response:
    """The answer to a request that failed with an error that is not ours."""
    # What breaks while FastAPI reads a form is the cause of an error of its own.
    for one in (error, error.__cause__):
        if isinstance(one, OSError) and one.errno in (errno.ENOSPC, errno.EDQUOT):
            return Response(dumps(full(request_id)), StoreFull.status, media_type=JSON)
    return Response(dumps(broken(request_id)), 500, media_type=JSON)


def broken(request_id: str, code: str = "INTERNAL_ERROR") -> ErrorBody:
    """The body of an error inside the server."""
    message = (
        f"The server failed. Its log has the reason under the request id {request_id}; give that to the operator."
    )
    return {"error_code": code, "message": message}


def plain(
    status: int, code: str, message: str, request_id: str, headers: Mapping[str, str] | None = None
) -> Response:
    """An error that has no class of ours, such as an unknown path."""
    content = dumps({"error_code": code, "message": message})
    return Response(content, status, {**(headers or {}), "x-correlation-id": request_id}, JSON)


def invalid(
    error: RequestValidationError,
    known: Mapping[tuple[str, ...], Iterable[str]],
    sent: JsonValue | FormData = None,
) -> Invalid:
    """The problems that FastAPI found, in our words.

    ``known`` has the valid names at each place, for suggestions; ``sent`` is the parsed body.
    """
    problems = [_problem(found, known) for found in error.errors()]
    if isinstance(sent, FormData):
        # FastAPI takes an empty field of a form for one that was not sent.
        problems = [
            replace(one, msg=f"'{one.loc[0]}' is empty.", type="value_error")
            if one.type == "missing" and one.loc and one.loc[0] in sent
            else one
            for one in problems
        ]
    return Invalid(problems)


def _problem(found: ErrorDetails, known: Mapping[tuple[str, ...], Iterable[str]]) -> Problem:
    where, *loc = found["loc"]
    # pydantic adds the branch of a union to `loc`; the request does not have it.
    place: tuple[str | int, ...] = tuple(loc[:1] if where == "query" else loc)
    kind = found["type"]
    name = str(place[-1])[:80] if place else ""
    if kind == "extra_forbidden":
        names = known.get(tuple(str(part) for part in place[:-1]), ())
        return Problem(place, f"There is no '{name}' here. {instead(name, names, 'fields')}", kind)
    if not place and kind == "missing":
        return Problem((), "The body is missing. Send a JSON object.", "json_invalid", {"line": 1, "column": 1})
    if kind == "missing":
        return Problem(place, f"'{name}' is missing.", kind)
    ctx = found.get("ctx") or {}
    types = QUERY_TYPES if where == "query" else FIELD_TYPES if len(place) < 2 else _OBJECT_TYPES
    return Problem(
        place, refused(called(place) if place else "The body", kind, found["msg"], ctx), types.get(kind, kind)
    )


def names_at(model: type[BaseModel] | None) -> Mapping[tuple[str, ...], Sequence[str]]:
    """The names of the fields of a body, for suggestions."""
    fields = {} if model is None else model.model_fields
    return {(): [info.alias or name for name, info in fields.items()]}
