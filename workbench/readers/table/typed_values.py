"""Values of typed columns that have another type than they mean: numbers as texts, times of day, durations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...arrow import of_arrow
from ...cycling.columns import TIME
from ...errors import FileRefused
from ...messages import column_map as mapping
from .columns import Plan, Planned
from .header_units import unit_of
from .text_layout import SMALL_UNITS, decimal_marks
from .time_evidence import refuse_times_of_day
from .values import clock_format, durations, numbers

_SAMPLE = 300
_COMMA = r"^\s*[+-]?[\d.]*,\d*(?:[eE][+-]?\d+)?\s*$"


@dataclass
class Meant:
    """The columns whose values have another type than they mean, by header.

    ``pointed``: texts of numbers with a decimal comma. ``counted``: texts of a time that are numbers. ``passed``: times
    of day, which are the time since midnight.
    """

    pointed: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)

    def typed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with these columns as they are meant."""
        for place, header in enumerate(batch.schema.names):
            array = batch.column(place)
            made = _spans(array) if header in self.passed else array
            made = _pointed(made) if header in self.pointed and is_of_text(made.type) else made
            if header in self.counted and is_of_text(made.type):
                made = pa.array(numbers(series_of(made), ".")[0], from_pandas=True)
            if made is not array:
                batch = batch.set_column(place, header, made)
        return batch


def meant_by(file: str, plan: Plan, batch: pa.RecordBatch) -> Meant:
    """What the first rows of a file show. A time whose type is a duration is in seconds: that changes ``plan``.

    Raises
    ------
    FileRefused
        If the time is a text that cannot be read, or of a type that is not a time.
    """
    arrays = dict(zip(batch.schema.names, batch, strict=True))
    made = Meant()
    units = {column.header: column.unit for column in plan.columns if column.role != "free"}
    units |= {header: unit for header, _, unit in plan.splits}
    texts = {
        header: series_of(arrays[header].slice(0, _SAMPLE)) for header in units if is_of_text(arrays[header].type)
    }
    small = {n for n, header in enumerate(texts) if (unit := units[header]) and unit.over >= SMALL_UNITS}
    rows = [list(row) for row in zip(*(series.fillna("") for series in texts.values()), strict=True)]
    if decimal_marks(rows, "\t", small)[0] == ",":
        made.pointed = set(texts)
    main = plan.find(TIME) or plan.clock
    for place, column in enumerate(plan.columns):
        if column.role not in ("time", "clock"):
            continue
        kind = arrays[column.header].type
        if column == main and column.role == "clock":
            _refuse_times_of_day(file, column, arrays[column.header])
        if pa.types.is_time(kind):
            made.passed.add(column.header)
        if pa.types.is_time(kind) or pa.types.is_duration(kind):
            plan.columns[place] = replace(column, unit=unit_of("s"), stated=True)
        if column.header in texts and numbers(texts[column.header], "," if made.pointed else ".")[1] == 0:
            made.counted.add(column.header)
        elif column == main:
            _refuse_unread(file, column, arrays[column.header])
    return made


def _refuse_times_of_day(file: str, clock: Planned, array: pa.Array) -> None:
    """Refuse the only time of a file if it is a clock without a day."""
    if pa.types.is_time(array.type):
        refuse_times_of_day(
            file, clock.header, pd.Series(array.slice(0, 1).cast(pa.string()).to_pandas(), dtype="str")
        )
    elif is_of_text(array.type):
        texts = series_of(array)
        if clock_format(texts.dropna().head(_SAMPLE).tolist())[0] is None and numbers(texts.head(1), ".")[1]:
            refuse_times_of_day(file, clock.header, texts[texts.str.strip() != ""])


def _refuse_unread(file: str, time: Planned, array: pa.Array) -> None:
    """Refuse texts of a time that are neither durations nor dates, and values of a type that cannot be a time."""
    expected = (
        f"seconds, hh:mm:ss or a date and time were expected. Name another with {mapping({'its name': TIME})}."
    )
    if is_of_text(array.type):
        sample = series_of(array).dropna()
        sample = sample[sample.str.strip() != ""]
        unread = len(sample) and durations(sample, time.of_durations)[1] == len(sample)
        if not unread or clock_format(sample.head(20_000).tolist())[0] is not None:
            return
        example = str(sample.iloc[0])[:40]
    elif (
        pa.types.is_nested(array.type)
        or pa.types.is_binary(array.type)
        or pa.types.is_fixed_size_binary(array.type)
    ):
        example = str(array.type)[:40]
    else:
        return
    raise FileRefused(f"The times in column '{time.header}' of '{file}' cannot be read ('{example}'): {expected}")


def is_of_text(kind: pa.DataType) -> bool:
    """Whether an array of this type holds texts."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def numbers_of(array: pa.Array) -> NDArray[np.float64]:
    """(n,) the values of a column as numbers, those of texts read; NaN where there is none."""
    column = of_arrow(array)
    if column is None or column.kind in ("text", "mixed", "datetime"):
        series = (
            pd.Series(array.cast(pa.string()).to_pandas())
            if column is not None and column.kind == "text"
            else None
        )
        return numbers(series)[0] if series is not None else np.full(len(array), np.nan)
    return column.floats()


def series_of(texts: pa.Array) -> pd.Series[str]:
    """The texts of a column."""
    return pd.Series(texts.cast(pa.string()).to_pandas(), dtype="str")


def _pointed(texts: pa.Array) -> pa.Array:
    """Texts with a decimal point instead of a decimal comma, and without points between thousands."""
    text = texts.cast(pa.string())
    plain = pc.replace_substring(pc.replace_substring(text, ".", ""), ",", ".")
    return pc.if_else(pc.match_substring_regex(text, _COMMA), plain, text)


def _spans(array: pa.Array) -> pa.Array:
    """Times of day as the time since midnight."""
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    return array.cast(width).cast(pa.int64()).cast(pa.duration(array.type.unit))
