"""Errors as bodies: one shape for all, a JSON object with ``error_code``, ``message`` and ``detail``."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from workbench.errors import Conflict, Invalid, Later, Problem, ScriptError, WorkbenchError

from .answers import JSON, dumps


def body(error: WorkbenchError) -> dict[str, Any]:
    """The body of an error of ours."""
    made: dict[str, Any] = {"error_code": error.code, "message": str(error) or error.code}
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
    """The answer to a request that failed with an error of ours."""
    headers = {"x-correlation-id": request_id}
    if isinstance(error, Later):
        headers["retry-after"] = str(error.retry_after)
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    # What went wrong inside is for the log: a path or a statement is nobody's business outside.
    told = body(error) if error.status < 500 or isinstance(error, Later) else broken(request_id, error.code)
    return Response(dumps(told), error.status, headers, JSON)


def broken(request_id: str, code: str = "INTERNAL_ERROR") -> dict[str, Any]:
    """The body where the server itself failed."""
    message = f"The server failed; its log has the reason under the request id {request_id}."
    return {"error_code": code, "message": message}


def plain(
    status: int, code: str, message: str, request_id: str, headers: dict[str, str] | None = None
) -> Response:
    """An error that no class of ours stands for: an unknown path, a method that a path does not have."""
    content = dumps({"error_code": code, "message": message})
    return Response(content, status, {**(headers or {}), "x-correlation-id": request_id}, JSON)
