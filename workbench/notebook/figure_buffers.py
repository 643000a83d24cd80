"""How a figure is sent to the page: as JSON, with its typed arrays in binary buffers.

The page keeps one buffer from figure to figure. An array that the page already has is named by its place in that
buffer; only other arrays are sent. So a change of a colour sends no samples.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import orjson
import pybase64

from ..typed_arrays import is_spec

AT, KEPT = "$at", "$kept"
_NULL_OK = (int, float, type(None))
Place: TypeAlias = dict[str, list[int | str] | str]
Part: TypeAlias = Any
"""A part of a figure as JSON; while it is packed, with a `Key` for each typed array."""


class Key(NamedTuple):
    """An array, identified by its content."""

    digest: bytes
    dtype: str
    shape: str | None


def key_of(data: bytes, dtype: str, shape: str | None = None) -> Key:
    return Key(hashlib.blake2b(data, digest_size=16).digest(), dtype, shape)


@dataclass(frozen=True)
class Kept:
    """The buffer that a page keeps, and the place of each array in it."""

    buffer: bytes = b""
    places: Mapping[Key, Place] = field(default_factory=dict)


class Packer:
    """Puts arrays into one buffer, each once and at a multiple of eight bytes.

    Parameters
    ----------
    name : the key of a place: ``AT`` for the buffer that is sent with one figure, ``KEPT`` for the one that the page
        keeps.
    kept : what the page has already. Its arrays are not packed again.
    """

    def __init__(self, name: str = AT, kept: Kept | None = None) -> None:
        self._name = name
        self._kept = (kept or Kept()).places
        self._parts: list[bytes] = []
        self.places: dict[Key, Place] = {}
        self.size = 0

    def add(self, data: bytes, dtype: str, shape: str | None = None) -> Place:
        """The place of little-endian numbers: ``{"$at": [offset, bytes, dtype], "shape"?}``."""
        return self.put(key_of(data, dtype, shape), data)

    def put(self, key: Key, data: bytes) -> Place:
        """As ``add``, for an array whose key is known."""
        if (there := self._kept.get(key)) is not None:
            return there
        if key not in self.places:
            place: Place = {self._name: [self.size, len(data), key.dtype]}
            if key.shape is not None:
                place["shape"] = key.shape
            pad = -len(data) % 8
            self._parts += [data, b"\0" * pad]
            self.size += len(data) + pad
            self.places[key] = place
        return self.places[key]

    def numbers(self, values: list[Part]) -> Place | list[Part]:
        """The place of a list of numbers and nulls as float64; any other list as it is."""
        if not values or not all(type(value) in _NULL_OK for value in values):
            return values
        return self.add(np.array(values, np.float64).astype("<f8").tobytes(), "f8")

    def buffer(self) -> bytes:
        return b"".join(self._parts)


def split(figure: bytes, kept: Kept) -> tuple[dict[str, Part], Kept, bytes]:
    """Move the typed arrays of a figure into buffers.

    Returns the figure, the buffer that the page keeps, and the buffer that is sent with this figure. If the page has
    only little of the figure, a new buffer to keep is made of all its arrays.
    """
    content: dict[str, Part] = orjson.loads(figure)
    arrays: dict[Key, bytes] = {}
    known: dict[tuple[str, str, str | None], Key] = {}

    def read(spec: dict[str, str]) -> Key:
        # Traces often share an array, and comparing its text is faster than decoding it.
        text = spec["bdata"], spec["dtype"], spec.get("shape")
        if text not in known:
            data = pybase64.b64decode(spec["bdata"])
            known[text] = key_of(data, spec["dtype"], spec.get("shape"))
            arrays[known[text]] = data
        return known[text]

    traces = [_read(trace, read) for trace in content["data"]]
    spared = sum(len(data) for key, data in arrays.items() if key in kept.places)
    if 3 * spared < sum(map(len, arrays.values())) - spared:
        packer = Packer(KEPT)
        moved = [_moved(trace, packer, arrays) for trace in traces]
        return {**content, "data": moved}, Kept(packer.buffer(), packer.places), b""
    packer = Packer(kept=kept)
    moved = [_moved(trace, packer, arrays) for trace in traces]
    return {**content, "data": moved}, kept, packer.buffer()


def _read(value: Part, read: Callable[[dict[str, str]], Key]) -> Part:
    """The same part with a `Key` in place of each typed array."""
    if isinstance(value, dict):
        return read(value) if is_spec(value) else {name: _read(item, read) for name, item in value.items()}
    if isinstance(value, list) and value and any(isinstance(item, dict | list) for item in value):
        return [_read(item, read) for item in value]
    return value


def _moved(value: Part, packer: Packer, arrays: Mapping[Key, bytes]) -> Part:
    if isinstance(value, Key):
        return packer.put(value, arrays[value])
    if isinstance(value, dict):
        return {name: _moved(item, packer, arrays) for name, item in value.items()}
    if isinstance(value, list) and value and any(isinstance(item, dict | list | Key) for item in value):
        return [_moved(item, packer, arrays) for item in value]
    return value
