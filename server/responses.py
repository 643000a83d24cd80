"""Answers of endpoints as responses; JSON is written here and nowhere else."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

import orjson
from starlette.responses import RedirectResponse, Response, StreamingResponse

from workbench.engine.wire import values_json
from workbench.table import Table

JSON = "application/json"
CSV = "text/csv; charset=utf-8"
PARQUET = "application/vnd.apache.parquet"
LEAST_PACKED = 1400
"""JSON of fewer bytes is in one packet of the network anyhow."""
_NONE = re.compile(r"q\s*=\s*0(\.0*)?")
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


def attachment(filename: str) -> dict[str, str]:
    """The header of a file that a browser keeps under this name; signs that no system takes are left out."""
    plain = "".join(" " if letter in '/\\:*?"<>|' or not letter.isprintable() else letter for letter in filename)
    return {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(' '.join(plain.split())[-200:], safe='')}"
    }


def packs(found: Response, accept: str) -> bool:
    """Whether an answer is JSON that is worth packing, and its client unpacks gzip."""
    return (
        found.headers.get("content-type") == JSON
        and "content-encoding" not in found.headers
        and not isinstance(found, StreamingResponse)
        and len(found.body) >= LEAST_PACKED
        and _takes_gzip(accept)
    )


def _takes_gzip(accept: str) -> bool:
    """Whether ``Accept-Encoding`` names gzip, and not with the weight 0, which forbids it."""
    parts = [part.strip().partition(";") for part in accept.lower().split(",")]
    return any(name.strip() == "gzip" and not _NONE.fullmatch(weight.strip()) for name, _, weight in parts)


def packed(body: bytes) -> bytes:
    """A body packed with gzip, fast rather than small."""
    return gzip.compress(body, 1, mtime=0)


def use_packed(found: Response, body: bytes) -> None:
    """Make an answer the one with its packed body."""
    found.body = body
    found.headers["content-encoding"] = "gzip"
    found.headers["content-length"] = str(len(body))
    found.headers.add_vary_header("accept-encoding")


def response(answer: Answer) -> Response:
    """The response for the answer of an endpoint: JSON, or 204 for None."""
    if isinstance(answer, Response):
        return answer
    if answer is None:
        return Response(status_code=204)
    return Response(dumps(answer), media_type=JSON)
