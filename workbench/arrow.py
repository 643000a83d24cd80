"""Typed columns as Arrow arrays and back, bit for bit; nulls and NaNs stay distinct."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .table import Array, Column

ArrowArray: TypeAlias = Any
"""A ``pyarrow.Array`` or ``pyarrow.ChunkedArray``: pyarrow has no types to check here."""
_FLOAT64 = pa.float64()


def to_arrow(column: Column) -> ArrowArray:
    """The Arrow array of a column.

    Raises
    ------
    TypeError
        For a column of mixed types.
    """
    mask = None if column.valid is None else ~column.valid
    if column.kind == "null":
        return pa.nulls(len(column))
    if column.kind == "text":
        if not column.words:
            return pa.nulls(len(column), pa.string())
        return pa.array(column.words, pa.string()).take(pa.array(column.values, mask=mask))
    if column.kind == "datetime":
        return pa.array(column.values.view("M8[us]"), pa.timestamp("us", tz="UTC"), mask=mask)
    if column.kind == "mixed":
        raise TypeError("a column of mixed types has no Arrow array")
    return pa.array(column.values, mask=mask, from_pandas=False)


def of_arrow(array: ArrowArray) -> Column | None:
    """The column of an Arrow array or chunked array; None for nested and binary types, which a column cannot hold."""
    if pa.types.is_string_view(_values(array.type)):
        array = _without_views(array)
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    kind = array.type
    if kind == _FLOAT64 and array.null_count == 0:
        return Column("number", array.to_numpy(zero_copy_only=False))
    valid = None if array.null_count == 0 else pc.is_valid(array).to_numpy(zero_copy_only=False)
    if pa.types.is_null(kind):
        return Column.nulls(len(array))
    if pa.types.is_dictionary(kind) and _is_string(kind.value_type):
        return _coded(array, valid)
    if pa.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    if _is_string(kind):
        return _coded(array.dictionary_encode(), valid)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        micros = array.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        return Column("datetime", micros.fill_null(0).to_numpy(zero_copy_only=False), valid)
    if pa.types.is_duration(kind):
        seconds = array.cast(pa.duration("us"), safe=False).cast(pa.int64()).fill_null(0)
        return Column("number", seconds.to_numpy(zero_copy_only=False) / 1e6, valid)
    if pa.types.is_boolean(kind):
        return Column("boolean", array.fill_null(False).to_numpy(zero_copy_only=False), valid)
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        array = array.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    filled = array if valid is None else array.fill_null(0)
    values: Array = filled.to_numpy(zero_copy_only=False)
    return Column("number" if values.dtype.kind == "f" else "integer", values, valid)


def _values(kind: pa.DataType) -> pa.DataType:
    """The type of the values of an array, also of one that names them by codes."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _without_views(array: ArrowArray) -> ArrowArray:
    """Views of texts, which polars gives and few functions of pyarrow take, as texts."""
    if isinstance(array, pa.ChunkedArray):
        parts = [_without_views(chunk) for chunk in array.chunks]
        return pa.chunked_array(parts) if parts else pa.array([], pa.string())
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pa.string()))
    return array.cast(pa.string())


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _coded(array: ArrowArray, valid: NDArray[np.bool_] | None) -> Column:
    codes = array.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
    return Column("text", codes, valid, tuple(array.dictionary.to_pylist()) or ("",))
