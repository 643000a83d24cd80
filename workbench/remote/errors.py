"""What a server says is wrong, as the errors that the same call raises on a store at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from .. import errors
from ..errors import Conflict, Invalid, Later, Problem, ScriptError, ServerAway, Unauthorized, WorkbenchError

_ASK = "Ask an administrator for a new one: they make it with `workbench keys create`."


def _classes(top: type[WorkbenchError]) -> Iterator[type[WorkbenchError]]:
    for one in top.__subclasses__():
        yield one
        yield from _classes(one)


_BY_CODE = {one.code: one for one in reversed(list(_classes(errors.WorkbenchError)))}


def error_of(status: int, headers: Mapping[str, str], content: bytes, url: str) -> WorkbenchError:
    """The error that an answer stands for."""
    told = _object(content)
    if told is None:
        return ServerAway(
            f"What answers at {url} is no workbench server, or a proxy before it: it said {status} without a reason."
        )
    code, message = str(told["error_code"]), str(told.get("message") or status)
    if code == Invalid.code:
        return _invalid(told)
    if code == Conflict.code:
        return _conflict(told, message)
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


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        told = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return told if isinstance(told, dict) and "error_code" in told else None


def _invalid(told: Mapping[str, Any]) -> Invalid:
    problems = problems_of(told.get("detail"))
    script = "log" in told or any(problem.type.startswith("script") for problem in problems)
    return ScriptError(problems, str(told.get("log", ""))) if script else Invalid(problems)


def problems_of(detail: Any) -> list[Problem]:
    """The problems of ValidationError objects."""
    return [Problem(tuple(one["loc"]), one["msg"], one["type"], one.get("ctx", {})) for one in detail or []]


def _conflict(told: Mapping[str, Any], message: str) -> Conflict:
    detail = dict(told.get("detail") or {})
    return Conflict(message, detail.pop("existing_id", None), detail)
