"""Typed columns as Arrow arrays and back, nulls apart from NaNs, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .table import Column


def to_arrow(column: Column) -> Any:
    """The Arrow array of a column; one of mixed types has no array of its own and raises TypeError."""
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


def of_arrow(array: Any) -> Column:
    """The column of an Arrow array (or chunked array).

    Raises
    ------
    TypeError
        For a type that no column holds (lists, structs, binary); names it.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    valid = None if array.null_count == 0 else np.asarray(array.is_valid())
    if pa.types.is_null(kind):
        return Column.nulls(len(array))
    if pa.types.is_timestamp(kind):
        return Column("datetime", _values(array.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())), valid)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return Column.of(_values(array), valid)
    if pa.types.is_decimal(kind):
        return of_arrow(array.cast(pa.float64()))
    if pa.types.is_dictionary(kind):
        return of_arrow(array.cast(kind.value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_date(kind):
        coded = array.cast(pa.string()).dictionary_encode()
        return Column("text", _values(coded.indices).astype(np.int32), valid, tuple(coded.dictionary.to_pylist()))
    raise TypeError(f"a column of type {kind} is not kept")


def _values(array: Any) -> NDArray[Any]:
    """The plain values; under a null stands 0, told apart by the column's ``valid``."""
    if array.null_count:
        array = array.fill_null(False if pa.types.is_boolean(array.type) else 0)
    values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return values
