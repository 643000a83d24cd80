"""The times of typed columns: of dates, of texts, and of numbers that count from a moment."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...arrow import of_arrow
from ...table import from_micros
from .columns import Planned
from .time_evidence import moments_of
from .typed_values import numbers_of
from .values import clock_format, clocks, counted_clock


def moments(array: pa.Array) -> NDArray[np.float64] | None:
    """(n,) s, the times of a clock column; None if it has none that can be read."""
    column = of_arrow(array)
    if column is not None and column.kind == "datetime":
        return np.asarray(np.where(column.null_mask(), np.nan, column.values / 1e6), np.float64)
    if column is not None and column.kind == "text":
        return moments_of(pd.Series(array.cast(pa.string()).to_pandas(), dtype="str"), ".")
    return moments_of(pd.Series(numbers_of(array)), ".")


def first_moment(array: pa.Array, planned: Planned) -> datetime | None:
    """The time of the first row of a column; None if it has none that can be read."""
    column = of_arrow(array)
    if column is None or not len(column) or bool(column.missing()[0]):
        return None
    if column.kind == "datetime":
        return from_micros(int(column.values[0]))
    if column.kind == "text":
        pattern, _ = clock_format([str(word) for word in column.words[:20000]])
        if pattern is None:
            return None
        return from_micros(int(clocks(pd.Series([column.tolist()[0]]), pattern).astype(np.int64)[0]))
    if planned.role != "clock" or column.kind not in ("number", "integer"):
        return None
    counted = counted_clock(column.floats())
    return counted.moment(float(column.values[0])) if counted is not None else None
