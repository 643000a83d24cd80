"""Tables that users give, as typed columns: DataFrames, Arrow tables and mappings of arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
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
    """The typed columns of a table; every value stays exactly the same.

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
            made = {name: _of_pandas(given.iloc[:, place]) for place, name in enumerate(names)}
            return Table(made, len(given))
        if hasattr(given, "__arrow_c_stream__"):  # besides Arrow tables also frames of polars
            arrow = pa.table(given)
            pairs = zip(_distinct(arrow.column_names), arrow.columns, strict=True)
            return Table({name: _of_arrow(name, column) for name, column in pairs}, arrow.num_rows)
        if isinstance(given, Mapping):
            pairs = zip(_distinct(given), given.values(), strict=True)
            return Table.of({name: _of_values(values) for name, values in pairs})
    except (TypeError, ValueError, OverflowError) as error:
        raise BadRequest(f"This is not a table of columns: {error}.") from None
    raise BadRequest(
        f"A table is a DataFrame, an Arrow table or a mapping of column name to values, not {type(given).__name__}."
    )


def _distinct(given: Iterable[Hashable]) -> list[str]:
    """The names as texts; ValueError if two columns have the same, because one of them would be lost."""
    names = [str(name) for name in given]
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{times} columns are named '{name}'; rename all but one")
    return names


def _of_values(values: Values) -> Column:
    if isinstance(values, Column):
        return values
    if isinstance(values, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return _of_pandas(pd.Series(values))
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _of_arrow("values", values)
    return Column.of(values) if isinstance(values, np.ndarray) else Column.from_python(list(values))


def _of_pandas(series: pd.Series[Any]) -> Column:
    dtype = series.dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        return Column.of(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[us]"))
    if isinstance(dtype, np.dtype) and dtype.kind in "fiubM":
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


def _of_arrow(name: str, array: ArrowValues) -> Column:
    column = of_arrow(array)
    if column is None:
        raise TypeError(f"column '{name}' has the type {array.type}, which the workbench cannot store")
    return column
