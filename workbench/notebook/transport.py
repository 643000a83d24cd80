"""A figure on its way to the page: JSON with places in buffers instead of typed arrays.

The page keeps one buffer from figure to figure. A change of color sends no samples: arrays that the page has are
named by their place in the buffer that it keeps, only others travel.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import orjson

from ..typed_arrays import is_spec

AT, KEPT = "$at", "$kept"
_NULL_OK = (int, float, type(None))
Place: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[bytes, str, str | None]
"""An array as a digest of its bytes, its dtype and its shape."""


@dataclass(frozen=True)
class Kept:
    """The buffer that a page keeps, and where in it each array stands."""

    buffer: bytes = b""
    places: Mapping[Key, Place] = field(default_factory=dict)


class Packer:
    """Puts arrays into one buffer, each once and at a multiple of eight bytes.

    Parameters
    ----------
    name : the key of a place: ``AT`` in the buffer that comes with a figure, ``KEPT`` in the one that stays.
    kept : what the page has already; its arrays are not packed again.
    """

    def __init__(self, name: str = AT, kept: Kept | None = None) -> None:
        self._name = name
        self._kept = (kept or Kept()).places
        self._parts: list[bytes] = []
        self.places: dict[Key, Place] = {}
        self.size = 0
        self._spared: set[Key] = set()

    def add(self, data: bytes, dtype: str, shape: str | None = None) -> Place:
        """The place of little-endian numbers: ``{"$at": [offset, bytes, dtype], "shape"?}``."""
        key = (hashlib.blake2b(data, digest_size=16).digest(), dtype, shape)
        if (there := self._kept.get(key)) is not None:
            self._spared.add(key)
            return there
        if key not in self.places:
            place: Place = {self._name: [self.size, len(data), dtype]}
            if shape is not None:
                place["shape"] = shape
            pad = -len(data) % 8
            self._parts += [data, b"\0" * pad]
            self.size += len(data) + pad
            self.places[key] = place
        return self.places[key]

    def numbers(self, values: list[Any]) -> Any:
        """A list of numbers, or of numbers and nulls, as float64; any other list as it is."""
        if not values or not all(type(value) in _NULL_OK for value in values):
            return values
        return self.add(np.array(values, np.float64).astype("<f8").tobytes(), "f8")

    @property
    def spared(self) -> int:
        """Bytes that need not be sent."""
        return sum(self._kept[key][KEPT][1] for key in self._spared)

    def buffer(self) -> bytes:
        return b"".join(self._parts)


def split(figure: bytes, kept: Kept) -> tuple[dict[str, Any], Kept, bytes]:
    """The figure of encoded bytes with its typed arrays moved into buffers: the one that the page keeps, and the one
    that comes with this figure. Where the page has little of a figure, all of it is to be kept anew."""
    content: dict[str, Any] = orjson.loads(figure)
    packer = Packer(kept=kept)
    moved = [_moved(trace, packer) for trace in content["data"]]
    if 3 * packer.spared < packer.size:
        packer = Packer(KEPT)
        moved = [_moved(trace, packer) for trace in content["data"]]
        return {**content, "data": moved}, Kept(packer.buffer(), packer.places), b""
    return {**content, "data": moved}, kept, packer.buffer()


def _moved(value: Any, packer: Packer) -> Any:
    if isinstance(value, dict):
        if is_spec(value):
            return packer.add(base64.b64decode(value["bdata"]), value["dtype"], value.get("shape"))
        return {key: _moved(item, packer) for key, item in value.items()}
    if isinstance(value, list) and value and any(isinstance(item, dict | list) for item in value):
        return [_moved(item, packer) for item in value]
    return value
