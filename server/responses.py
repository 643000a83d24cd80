"""Answers of endpoints as responses; JSON is written here and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import orjson
from starlette.responses import RedirectResponse, Response, StreamingResponse

from workbench.engine.wire import values_json
from workbench.table import Table

JSON = "application/json"
Answer: TypeAlias = Any
"""What an endpoint gives: a response, or JSON values as its return type says."""


def dumps(value: Answer) -> bytes:
    """JSON values as bytes; a float keeps its decimal point."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # An error may repeat what a client sent: a number of more than 64 bits, or half of a character.
        return json.dumps(value, separators=(",", ":")).encode()


def columns(table: Table) -> dict[str, list[str | float | bool | None]]:
    """A table as an object of columns; NaN is null, and a float has a decimal point."""
    return {name: values_json(column) for name, column in table.items()}


def redirect(url: str) -> Response:
    """A redirect to a path of this server or to a URL."""
    return RedirectResponse(url, 307, {"cache-control": "no-store"})


def streamed(
    blocks: Iterator[bytes],
    media_type: str,
    headers: Mapping[str, str] | None = None,
    *,
    length: int | None = None,
    status: int = 200,
) -> Response:
    """Bytes that are sent block by block; ``length`` if it is known before."""
    known = {} if length is None else {"content-length": str(length)}
    return StreamingResponse(blocks, status, {**(headers or {}), **known}, media_type)


def response(answer: Answer) -> Response:
    """The response for the answer of an endpoint: JSON, or 204 for None."""
    if isinstance(answer, Response):
        return answer
    if answer is None:
        return Response(status_code=204)
    return Response(dumps(answer), media_type=JSON)
