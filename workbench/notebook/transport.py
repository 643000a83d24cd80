"""A figure on its way to the page: JSON with places in one buffer instead of typed arrays."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import orjson

from ..typed_arrays import is_spec

_NULL_OK = (int, float, type(None))


class Packer:
    """Puts arrays into one buffer, each at a multiple of eight bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def add(self, data: bytes, dtype: str, shape: str | None = None) -> dict[str, Any]:
        """The place of little-endian numbers: ``{"$at": [offset, bytes, dtype], "shape"?}``."""
        place: dict[str, Any] = {"$at": [self.size, len(data), dtype]}
        if shape is not None:
            place["shape"] = shape
        pad = -len(data) % 8
        self._parts += [data, b"\0" * pad]
        self.size += len(data) + pad
        return place

    def numbers(self, values: list[Any]) -> Any:
        """A list of numbers, or of numbers and nulls, as float64; any other list as it is."""
        if not values or not all(type(value) in _NULL_OK for value in values):
            return values
        return self.add(np.array(values, np.float64).astype("<f8").tobytes(), "f8")

    def buffer(self) -> bytes:
        return b"".join(self._parts)


def split(figure: bytes) -> tuple[dict[str, Any], bytes]:
    """The figure of encoded bytes with its typed arrays moved into a buffer."""
    packer = Packer()
    content = orjson.loads(figure)
    content["data"] = [_moved(trace, packer) for trace in content["data"]]
    return content, packer.buffer()


def _moved(value: Any, packer: Packer) -> Any:
    if isinstance(value, dict):
        if is_spec(value):
            return packer.add(base64.b64decode(value["bdata"]), value["dtype"], value.get("shape"))
        return {key: _moved(item, packer) for key, item in value.items()}
    if isinstance(value, list) and value and any(isinstance(item, dict | list) for item in value):
        return [_moved(item, packer) for item in value]
    return value
