"""Packs a dataset, in any of the forms in which a caller may have it, as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from ...arrow import of_arrow
from ...dataset import Dataset, Samples, StepResult, pack
from ...errors import BadRequest
from ...table import Column, Table

Form: TypeAlias = Any
"""One of the forms that ``packed_of`` lists; it checks which."""


def packed_of(data: Form) -> bytes | bytearray | memoryview:
    """The packed bytes of a dataset.

    Parameters
    ----------
    data : packed bytes; a Dataset; or a mapping from the name of a step to its rows (Table, DataFrame, list of records,
        mapping of columns). For a series step it maps to a mapping from id to Samples, Table, DataFrame or
        ``{"columns": {...}, "complete": bool}``. Such a mapping may also be under ``"steps"``, as in answers.

    Raises
    ------
    BadRequest
        If it is none of these.
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return data
    if isinstance(data, Dataset):
        return pack(data.steps, {"columns": data.columns})
    if not isinstance(data, Mapping):
        raise BadRequest(
            f"Give the dataset as packed bytes, a Dataset or a mapping of steps, not as a {type(data).__name__}."
        )
    steps = data["steps"] if set(data) >= {"steps"} and isinstance(data["steps"], Mapping) else data
    return pack({str(name): _step(value, str(name)) for name, value in steps.items()})


def _step(value: Form, name: str) -> StepResult:
    if isinstance(value, Mapping) and not isinstance(value, Table) and _is_series(value):
        return {str(key): _samples(one, name) for key, one in value.items()}
    return _table(value, name)


def _is_series(value: Mapping[str, Form]) -> bool:
    return all(isinstance(one, Samples | Table | pd.DataFrame | Mapping) for one in value.values())


def _samples(value: Form, name: str) -> Samples:
    if isinstance(value, Samples):
        return value
    complete = True
    rows = None
    if isinstance(value, Mapping) and not isinstance(value, Table) and isinstance(value.get("columns"), Mapping):
        complete = bool(value.get("complete", True))
        value = value["columns"]
    if isinstance(value, pd.DataFrame) and pd.api.types.is_integer_dtype(value.index.dtype):
        rows = value.index.to_numpy(np.int64)
    table = _table(value, name)
    return Samples(np.arange(table.n) if rows is None else rows, table, complete, table.n)


def _table(value: Form, name: str) -> Table:
    if isinstance(value, Table):
        return value
    if isinstance(value, pd.DataFrame):
        return Table({str(key): _column(value[key]) for key in value.columns}, len(value))
    if isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
        names = list(dict.fromkeys(key for row in value for key in row))
        return Table({key: Column.from_python([row.get(key) for row in value]) for key in names}, len(value))
    if isinstance(value, Mapping):
        return Table.of(
            {str(key): one if isinstance(one, Column | np.ndarray) else list(one) for key, one in value.items()}
        )
    raise BadRequest(
        f"Step '{name}' is a {type(value).__name__}. Give rows (a table, frame or list of records) or a series."
    )


def _column(values: Form) -> Column:
    try:
        found = of_arrow(pa.array(values, from_pandas=True))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        found = None
    return Column.from_python(values.tolist()) if found is None else found
