"""Arrays of numbers in the JSON of plotly: ``{"dtype", "bdata", "shape"?}`` with base64."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import orjson
import pybase64
from numpy.typing import NDArray
from pydantic import JsonValue

Array: TypeAlias = NDArray[Any]
Tree: TypeAlias = Any
"""A JSON value as Python has it, in which a numpy array may take the place of a typed array."""
Decoded: TypeAlias = "bool | int | float | str | Array | list[Decoded] | dict[str, Decoded] | None"
"""The same for a reader that asks each value what it is."""
_DTYPES = {"f8", "f4", "i1", "i2", "i4", "u1", "u2", "u4"}


def to_spec(values: Array) -> dict[str, JsonValue] | list[JsonValue]:
    """The spec of a float or integer array of one to three dimensions.

    The type is the smallest that keeps every value. Empty arrays, and integers beyond 32 bits, which JavaScript
    has no array for, are plain lists.
    """
    small = _smallest(values) if values.size else None
    if small is None:
        plain: list[JsonValue] = values.tolist()
        return plain
    small = np.ascontiguousarray(small, small.dtype.newbyteorder("<"))
    spec: dict[str, JsonValue] = {"dtype": small.dtype.str[1:], "bdata": pybase64.b64encode_as_string(small.data)}
    if small.ndim > 1:
        spec["shape"] = ", ".join(map(str, small.shape))
    return spec


def _smallest(values: Array) -> Array | None:
    if values.dtype.kind == "f":
        if values.dtype.itemsize in (4, 8):
            return values
        return values.astype(np.float32 if values.dtype.itemsize == 2 else np.float64)
    if values.dtype.itemsize < 8:
        return values
    least, most = int(values.min()), int(values.max())
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32):
        bounds = np.iinfo(dtype)
        if bounds.min <= least and most <= bounds.max:
            return values.astype(dtype)
    return None


def is_spec(value: Tree) -> bool:
    return isinstance(value, dict) and "bdata" in value and value.get("dtype") in _DTYPES


def from_spec(spec: dict[str, Tree]) -> Array:
    """The array of a spec: read-only."""
    values = np.frombuffer(pybase64.b64decode(spec["bdata"]), np.dtype("<" + spec["dtype"]))
    shape = spec.get("shape")
    if shape is not None:
        lengths = shape if isinstance(shape, list) else str(shape).split(",")
        values = values.reshape([int(part) for part in lengths])
    return values


def decode(figure: bytes | bytearray | memoryview) -> dict[str, Tree]:
    """A figure's JSON as dicts and lists, with numpy arrays where typed arrays were."""
    return dict(_with_arrays(orjson.loads(figure)))


def mapping(value: Decoded) -> Mapping[str, Decoded]:
    """A mapping of a figure as it is; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def _with_arrays(value: Tree) -> Tree:
    if isinstance(value, dict):
        if is_spec(value):
            return from_spec(value)
        return {key: _with_arrays(item) for key, item in value.items()}
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return [_with_arrays(item) for item in value]
    return value


def centres(edges: list[Decoded] | Array, n: int) -> list[Decoded] | Array:
    """The centres of n cells whose n + 1 edges are given: numbers, or times as ISO texts. What is of another length, or
    other texts, as it is."""
    if len(edges) != n + 1:
        return edges
    texts = [edge for edge in edges if isinstance(edge, str)]
    if len(texts) == len(edges):
        try:
            times = [datetime.fromisoformat(text) for text in texts]
            return [(low + (high - low) / 2).isoformat() for low, high in pairwise(times)]
        except (ValueError, TypeError):  # not times, or some with a zone and some without
            return edges
    if any(not isinstance(edge, int | float) for edge in np.asarray(edges).tolist()):
        return edges
    numbers = np.asarray(edges, float)
    return np.asarray((numbers[:-1] + numbers[1:]) / 2)
