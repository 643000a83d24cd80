"""Tables that users give, as typed columns: DataFrames, Arrow tables and mappings of arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import JsonValue

from ..arrow import of_arrow
from ..errors import BadRequest
from ..table import Column, Table

ArrowValues: TypeAlias = Any
"""An Arrow array or table; pyarrow has no types."""
Values: TypeAlias = (
    Column | pd.Index | pd.api.extensions.ExtensionArray | NDArray[np.generic] | Iterable[JsonValue]
)
TableLike: TypeAlias = Table | pd.DataFrame | Mapping[str, Values] | ArrowValues
"""A DataFrame, an Arrow table, a mapping of column name to values, or a workbench Table."""


def table_of(given: TableLike) -> Table:
    """The typed columns of a table; every value stays exactly the same. Time spans become numbers of seconds.

    Raises
    ------
    BadRequest
        If it is not a table, a name occurs twice, columns have different lengths, or no column type holds a value.
    """
    if isinstance(given, Table):
        return given
    try:
        if isinstance(given, pd.DataFrame):
            names = _distinct(given.columns)
            made = {name: _column(name, given.iloc[:, place]) for place, name in enumerate(names)}
            return Table(made, len(given))
        arrow = _arrow_table(given)
        if arrow is not None:
            pairs = zip(_distinct(arrow.column_names), arrow.columns, strict=True)
            return Table({name: _column(name, column) for name, column in pairs}, arrow.num_rows)
        if isinstance(given, Mapping):
            pairs = zip(_distinct(given), given.values(), strict=True)
            return Table.of({name: _column(name, values) for name, values in pairs})
    except (TypeError, ValueError) as error:
        raise BadRequest(f"This is not a table of columns: {error}.") from None
    collect = " Give .collect() of it." if hasattr(given, "collect") else ""
    raise BadRequest(
        "A table is a DataFrame, an Arrow table or a mapping of column name to values, not "
        f"{type(given).__name__}.{collect}"
    )


def _arrow_table(given: TableLike) -> ArrowValues | None:
    """What Arrow can read as a table, such as a frame of polars; None for anything else, such as a single column."""
    if not hasattr(given, "__arrow_c_stream__"):
        return None
    try:
        return pa.table(given)
    except pa.ArrowInvalid:
        return None


def _distinct(given: Iterable[Hashable]) -> list[str]:
    """The names as texts; ValueError if two columns have the same, because one of them would be lost."""
    names = [str(name) for name in given]
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{times} columns are named '{name}'; rename all but one")
    return names


def _column(name: str, values: Values | ArrowValues) -> Column:
    """The values of a column; what is wrong with them is said with its name."""
    try:
        return _of_values(values)
    except OverflowError:
        raise ValueError(
            f"column '{name}' has whole numbers beyond 64 bits; give them as floats or texts"
        ) from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"column '{name}' cannot be kept, {error}") from None


def _of_values(values: Values | ArrowValues) -> Column:
    if isinstance(values, Column):
        return values
    if isinstance(values, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return _of_pandas(pd.Series(values))
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _of_arrow(values)
    if hasattr(values, "__arrow_c_stream__"):  # a column of polars
        return _of_arrow(pa.chunked_array(values))
    if isinstance(values, np.ndarray):
        return Column.of(values)
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping | Set):
        raise TypeError(f"a column is an array or a list of values, not {type(values).__name__}")
    return Column.from_python([None if item is pd.NA or item is pd.NaT else item for item in values])


def _of_pandas(series: pd.Series[Any]) -> Column:
    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype):
        return _of_arrow(pa.chunked_array(series))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return Column.of(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[us]"))
    if isinstance(dtype, np.dtype) and dtype.kind in "fiubmM":
        return Column.of(series.to_numpy())
    present = series.notna().to_numpy()
    if pd.api.types.is_bool_dtype(dtype) and not isinstance(dtype, np.dtype):
        return Column.of(series.to_numpy(bool, na_value=False), present)
    if pd.api.types.is_integer_dtype(dtype):
        values: NDArray[np.integer] = series.to_numpy(np.dtype(str(dtype).lower()), na_value=0)
        return Column.of(values, present)
    if pd.api.types.is_float_dtype(dtype):
        return Column.of(series.to_numpy(np.float64, na_value=np.nan), present)
    items = series.astype(object).tolist()
    return Column.from_python([item if ok else None for item, ok in zip(items, present, strict=True)])


def _of_arrow(array: ArrowValues) -> Column:
    column = of_arrow(array)
    if column is None:
        raise TypeError(f"it has the type {array.type}, which the workbench cannot store")
    return column
