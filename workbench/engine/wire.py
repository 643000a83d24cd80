"""A Dataset as JSON: records, series by id, types kept, and nothing that JSON cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ..dataset import Dataset, StepResult, Warn
from ..table import Column, Kind, Table
from .equality import plain, times_as_text
from .warnings import names_of

_ARRAYS = orjson.OPT_SERIALIZE_NUMPY
_LEAST_PLAIN, _MOST_PLAIN = 1e-5, 1e16
"""Between these orjson writes a float with a decimal point; beyond them without one (``1e16``)."""


def to_json(dataset: Dataset) -> bytes:
    """The Dataset of the interface, as bytes.

    Null and NaN are null; a float column carries a decimal point in every value, an integer column in none;
    date-times are UTC text of fixed width. An infinity is null, with a warning.
    """
    steps = {name: step_json(result, dataset.columns.get(name, ())) for name, result in dataset.steps.items()}
    return orjson.dumps({"steps": steps, **rest(dataset, infinities(dataset.steps))}, option=_ARRAYS)


def rest(dataset: Dataset, further: list[Warn]) -> dict[str, Any]:
    """All of a Dataset but its steps, as JSON values."""
    columns = {
        step: [{"name": name, "type": kind} for name, kind in columns] for step, columns in dataset.columns.items()
    }
    return {
        "columns": columns,
        "values": dataset.values,
        "options": dataset.options,
        "warnings": [warning.as_dict() for warning in [*dataset.warnings, *further]],
        "cache": dataset.cache,
        "reads": dataset.reads,
        "timings": dataset.timings,
    }


def step_json(result: StepResult, columns: Any = ()) -> Any:
    """One step as JSON values and arrays for orjson: a list of records, or id -> columns and ``complete``."""
    kinds: dict[str, Kind] = dict(columns)
    if isinstance(result, Table):
        return records(result)
    return {
        key: {
            "columns": {name: column_json(column, kinds.get(name)) for name, column in samples.table.items()},
            "complete": samples.complete,
        }
        for key, samples in result.items()
    }


def records(table: Table) -> list[dict[str, Any]]:
    """One object per row, keys in the order of the columns."""
    lists = [values_json(column) for column in table.values()]
    if not lists:
        return [{} for _ in range(table.n)]
    names = table.names
    return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)]


def values_json(column: Column, kind: Kind | None = None) -> list[Any]:
    """The values of a column for orjson; ``kind`` is what the whole step declares, as other sources may differ."""
    if column.kind == "datetime":
        return times_as_text(column).tolist()
    if column.kind == "integer" and kind == "number":
        column = Column("number", column.floats(), column.valid)
    if column.kind == "mixed":
        return [_finite(value) for value in plain(column)]
    if column.kind != "number":
        return column.tolist()
    values = column.values
    items: list[Any] = values.tolist()
    for place in np.flatnonzero(~np.isfinite(values) | column.null_mask()).tolist():
        items[place] = None
    for place in np.flatnonzero(_is_pointless(values)).tolist():
        if items[place] is not None:
            items[place] = _with_point(items[place])
    return items


def column_json(column: Column, kind: Kind | None = None) -> NDArray[np.float64] | list[Any]:
    """The same as ``values_json``, as an array where orjson writes that just so: three times faster."""
    if column.kind == "integer" and kind == "number":
        column = Column("number", column.floats(), column.valid)
    if column.kind != "number" or _is_pointless(column.values).any():
        return values_json(column, kind)
    return np.ascontiguousarray(column.floats())


def infinities(steps: Mapping[str, StepResult]) -> list[Warn]:
    """A warning for each step that holds infinities, which JSON makes null."""
    made = []
    for name, result in steps.items():
        tables = [result] if isinstance(result, Table) else [samples.table for samples in result.values()]
        held: dict[str, int] = {}
        for table in tables:
            for column_name, column in table.items():
                count = int(np.count_nonzero(_infinite(column)))
                if count:
                    held[column_name] = held.get(column_name, 0) + count
        if held:
            message = (
                f"{sum(held.values())} infinite values are null, since JSON has none: {names_of(list(held))}."
            )
            made.append(Warn("infinity_as_null", message, step=name))
    return made


def _infinite(column: Column) -> NDArray[np.bool_]:
    if column.kind == "number":
        infinite: NDArray[np.bool_] = np.isinf(column.values) & ~column.null_mask()
        return infinite
    if column.kind == "mixed":
        return np.array([isinstance(v, float) and v in (np.inf, -np.inf) for v in column.tolist()], bool)
    return np.zeros(0, bool)


def _finite(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    if not np.isfinite(value):
        return None
    return _with_point(value) if _is_pointless(np.array([value]))[0] else value


def _is_pointless(values: NDArray[Any]) -> NDArray[np.bool_]:
    size = np.abs(values)
    found: NDArray[np.bool_] = ((size >= _MOST_PLAIN) | ((size < _LEAST_PLAIN) & (size > 0))) & np.isfinite(size)
    return found


def _with_point(value: float) -> orjson.Fragment:
    """A float in exponent form with a decimal point: ``1e+16`` as ``1.0e+16``."""
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return orjson.Fragment(f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}")
