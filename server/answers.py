"""What a handler may answer, and the one serialiser of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.responses import Response, StreamingResponse

from workbench.engine.wire import values_json
from workbench.table import Table

JSON = "application/json"


@dataclass(frozen=True)
class Bytes:
    """Bytes of a media type, as they are."""

    data: bytes
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True)
class Blocks:
    """Bytes that come block by block; ``length`` where it is known before."""

    blocks: Iterator[bytes]
    length: int | None
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True)
class Redirect:
    """Another address, given as a path of this server or a whole URL."""

    url: str
    status: int = 307


class Nothing:
    """Done, and nothing to say: 204."""


def dumps(value: Any) -> bytes:
    """JSON values as bytes; floats keep their decimal point."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # An error may repeat what somebody sent: a number of more than 64 bits, or half a character.
        return json.dumps(value, separators=(",", ":")).encode()


def columns(table: Table) -> dict[str, Any]:
    """A table as an object of columns; null for NaN, a decimal point in every float."""
    return {name: values_json(column) for name, column in table.items()}


def response(answer: Any) -> Response:
    """The response of what a handler answered."""
    if isinstance(answer, Response):
        return answer
    if isinstance(answer, Nothing):
        return Response(status_code=204)
    if isinstance(answer, Redirect):
        return Response(status_code=answer.status, headers={"location": answer.url, "cache-control": "no-store"})
    if isinstance(answer, Bytes):
        return Response(answer.data, answer.status, dict(answer.headers), answer.media_type)
    if isinstance(answer, Blocks):
        length = {} if answer.length is None else {"content-length": str(answer.length)}
        headers = {**answer.headers, **length}
        return StreamingResponse(answer.blocks, answer.status, headers, answer.media_type)
    return Response(dumps(answer), media_type=JSON)
