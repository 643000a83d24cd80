"""Bodies at the door: bounded before they are parsed, packed or not, and strict JSON."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import AsyncIterator
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request

from workbench.errors import BadRequest, Cancelled, Invalid, Problem, TooLarge

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


async def read(request: Request, most: int) -> bytes:
    """The whole body, unpacked.

    Raises
    ------
    TooLarge
        As soon as more than ``most`` bytes were announced, sent or unpacked.
    BadRequest
        For a coding other than gzip, or a damaged one.
    """
    parts = []
    size = 0
    async for part in unpacked(request, most):
        size += len(part)
        parts.append(part)
    return b"".join(parts)


async def unpacked(request: Request, most: int) -> AsyncIterator[bytes]:
    """The body in parts, unpacked, at most ``most`` bytes in all; errors as ``read``."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        raise _too_large(most)
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", ""):
        raise BadRequest(f"The body is coded as '{coding[:40]}'; send it plain or with gzip.")
    unpack = _Gzip(most) if coding == "gzip" else None
    size = 0
    try:
        async for sent in request.stream():
            for part in [sent] if unpack is None else unpack.feed(sent):
                size += len(part)
                if size > most:
                    raise _too_large(most)
                if part:
                    yield part
    except ClientDisconnect:
        raise Cancelled("The client went away while it sent the body.") from None
    if unpack is not None:
        unpack.finish()


class _Gzip:
    """Unpacks at most ``most`` bytes, a block at a time, so that a bomb does not grow before it is noticed."""

    BLOCK = 1 << 18

    def __init__(self, most: int) -> None:
        self._object = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self._most = most

    def feed(self, data: bytes) -> list[bytes]:
        parts: list[bytes] = []
        size = 0
        try:
            # A full block may leave more to come although all that was sent is taken in.
            while (data or (parts and len(parts[-1]) == self.BLOCK)) and size <= self._most:
                if data and self._object.eof:
                    raise BadRequest("The body goes on after its gzip stream ended.")
                parts.append(self._object.decompress(data, self.BLOCK))
                size += len(parts[-1])
                data = self._object.unconsumed_tail or self._object.unused_data
        except zlib.error as error:
            raise BadRequest(f"The body is no gzip stream ({error}).") from None
        return parts

    def finish(self) -> None:
        if not self._object.eof:
            raise BadRequest("The gzip stream of the body is cut off.")


def _too_large(most: int) -> TooLarge:
    size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most} bytes"
    return TooLarge(f"The body is larger than {size}, the most that is taken here.")


def strict_json(data: bytes, what: str = "The body") -> Any:
    """The value of a JSON text as the standard has it: UTF-8, no NaN, no key twice in one object.

    ``what`` is how a problem calls the text.

    Raises
    ------
    Invalid
        With line and column where there are any.
    """
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
        if _SURROGATE.search(data):
            _refuse_halves(data)
        return value
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        message = f"{what} is no JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        raise Invalid(Problem((), message, "json_invalid", place)) from None
    except (UnicodeDecodeError, ValueError) as error:
        raise Invalid(Problem((), f"{what} is no JSON: {error}.", "json_invalid")) from None
    except RecursionError:
        raise Invalid(Problem((), f"{what} is nested too deep.", "json_depth")) from None


def _refuse_halves(data: bytes) -> None:
    """Refuse a text with half of a surrogate pair: no store keeps it and no answer can say it."""
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"a text holds half of a surrogate pair ({error})") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key '{key[:80]}' stands twice in one object")
            seen.add(key)
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON; use null")


def as_object(value: Any) -> dict[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        raise Invalid(Problem((), "The body must be a JSON object.", "dict_type"))
    return value
