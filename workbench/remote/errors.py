"""Errors of a server as our own classes: the same that the call raises on a local store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import orjson

from .. import errors
from ..errors import (
    Conflict,
    Invalid,
    Later,
    Problem,
    ProblemDetail,
    ScriptError,
    ServerAway,
    Unauthorized,
    WorkbenchError,
)
from ..operations.operation import Sent

_ASK = "Ask an administrator for a new one: they make it with `workbench keys create`."


def _classes(top: type[WorkbenchError]) -> Iterator[type[WorkbenchError]]:
    for one in top.__subclasses__():
        yield one
        yield from _classes(one)


_BY_CODE = {one.code: one for one in reversed(list(_classes(errors.WorkbenchError)))}


def error_of(status: int, headers: Mapping[str, str], content: bytes, url: str) -> WorkbenchError:
    """The error of an answer."""
    body = _object(content)
    if body is None:
        return ServerAway(
            f"What answers at {url} is not a workbench server, or a proxy before it. It answered {status} without a "
            "reason. Check the address."
        )
    code, message = str(body["error_code"]), str(body.get("message") or status)
    if code == Invalid.code:
        return _invalid(body)
    if code == Conflict.code:
        return _conflict(body, message)
    if code == Unauthorized.code:
        return Unauthorized(
            f"The server at {url} does not take this key: it is unknown, revoked or expired. {_ASK}"
        )
    kind = _BY_CODE.get(code)
    if kind is None:
        made = WorkbenchError(message)
        made.status, made.code = status, code
        return made
    if issubclass(kind, Later):
        after = headers.get("retry-after", "1")
        return kind(message, int(after) if after.isdigit() else 1)
    return kind(message)


def _object(content: bytes) -> dict[str, Sent] | None:
    """The body of an error; None for any other answer."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) and "error_code" in body else None


def _invalid(body: Mapping[str, Sent]) -> Invalid:
    problems = problems_of(body.get("detail") or [])
    script = "log" in body or any(problem.type.startswith("script") for problem in problems)
    return ScriptError(problems, str(body.get("log", ""))) if script else Invalid(problems)


def problems_of(detail: Sequence[ProblemDetail]) -> list[Problem]:
    """The problems of ValidationError objects."""
    return [Problem(tuple(one["loc"]), one["msg"], one["type"], one.get("ctx", {})) for one in detail]


def _conflict(body: Mapping[str, Sent], message: str) -> Conflict:
    detail = dict(body.get("detail") or {})
    return Conflict(message, detail.pop("existing_id", None), detail)
