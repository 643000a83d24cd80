"""Readings of typed columns, from parquet or a binary reader: matched like text, and values kept bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ...arrow import of_arrow
from ...cycling.columns import CURRENT, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ...messages import counted, option_name, spaced
from ...table import Column, Table, from_micros
from .. import limits
from ..file.source import Head
from ..reading import SIGN_OF_SPECTRA, SIGN_RULES, Counters, Reading, Sign
from .columns import From, Plan, Planned, Split, in_order, plan_columns, unique_labels
from .dates import date_notes, zone_note
from .header_units import split_header
from .impedance import completed
from .impedance_names import other_names
from .kinds_and_sign import Settings, Survey
from .proved_units import prove_units
from .several_cells import (
    cell_columns,
    column_of_cells,
    count_names,
    names_in,
    notes_of,
    refuse_several,
    refuse_side_by_side,
)
from .text_format import check_sign, of_one_electrode
from .text_rows import DAY, Midnights, directed, no_number, time_notes, unread_text, with_power
from .time_evidence import are_of_days, coarse_clock, refuse_written_dates, time_unit, two_parts
from .typed_clocks import first_moment, moments
from .typed_values import Meant, is_of_text, meant_by, numbers_of, series_of
from .values import (
    CountedClock,
    clock_format,
    clocks,
    count_column,
    counted_clock,
    durations,
    number_column,
)

_BUFFER = 1 << 20

Batches = Callable[[Sequence[str] | None], Iterator[pa.RecordBatch]]
"""Reads the rows from the start: all columns, or the named ones."""


@dataclass(frozen=True)
class ParquetFormat:
    """One kind of parquet file. The fields mean the same as in `text_format.TextFormat`."""

    name: str
    brand: str
    endings: tuple[str, ...]
    about: str
    needs: tuple[tuple[str, ...], ...]
    columns: tuple[From, ...]
    sign: Sign = "charge"
    counters: Counters = None
    clocks: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    settle: Callable[[Plan, pd.DataFrame, str | None, bool, list[Finding]], None] | None = None
    rule: int = 3

    @property
    def sign_rule(self) -> str:
        return SIGN_RULES[self.sign] if self.settle is None else SIGN_OF_SPECTRA

    def matches(self, head: Head) -> bool:
        names = parquet_names(head)
        if names is None or not set(self.exact) <= set(names):
            return False
        if self.marks and not set(self.marks) & set(names):
            return False
        keys = {split_header(name).key for name in names} | {other.key for other in other_names(names).values()}
        return all(any(name in keys for name in group) for group in self.needs)

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a parquet file; see ``readers.read``."""
        path = head.path
        source = _Parquet(path)
        plan = plan_columns(
            unique_labels(source.names), self.columns, clocks=self.clocks, column_map=column_map, file=path.name
        )
        notes: list[Finding] = []
        if self.settle is not None:
            headers = [column.header for column in plan.columns if column.role == "number"]
            self.settle(plan, _first_rows(source.batches, headers), ".", bool(column_map), notes)
        return read_typed(self, path.name, plan, source.batches, sign, notes, test=head.test)


@lru_cache(maxsize=8)
def parquet_names(head: Head) -> tuple[str, ...] | None:
    """The column names of a parquet file; () if it is damaged; None for any other file."""
    if not head.raw.startswith(b"PAR1"):
        return None
    try:
        return tuple(pq.read_schema(head.path).names)
    except (pa.ArrowException, OSError, ValueError):
        return ()


class _Parquet:
    """A parquet file as record batches, within limits."""

    def __init__(self, path: Path, name: str | None = None, most: int = limits.MOST_UNPACKED) -> None:
        self.path = path
        self.name = name or path.name
        try:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                meta, schema = file.metadata, file.schema_arrow
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from None
        self.names: list[str] = schema.names
        unpacked = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
        if len(self.names) > limits.MOST_COLUMNS or meta.num_rows > limits.MOST_ROWS:
            raise TooLarge(
                f"'{self.name}' has {counted(len(self.names), 'column')} and {counted(meta.num_rows, 'row')}; at most "
                f"{spaced(limits.MOST_COLUMNS)} columns and {spaced(limits.MOST_ROWS)} rows can be read."
            )
        if unpacked > most:
            raise TooLarge(f"'{self.name}' unpacks to more than {most >> 30} GiB. Split the file.")
        # Its own sizes are those of packed values: one value that is repeated takes no room there.
        self._refuse_past_ratio(meta.num_rows * sum(_width(field.type) for field in schema))

    def _refuse_past_ratio(self, unpacked: int) -> None:
        if unpacked > limits.RATIO_FREE and unpacked > limits.MOST_RATIO * self.path.stat().st_size:
            raise TooLarge(
                f"'{self.name}' unpacks to more than {limits.MOST_RATIO} times its size. No cycler writes such files."
            )

    def _damaged(self, error: Exception) -> FileRefused:
        said = str(error).splitlines()[0][:160] if str(error) else type(error).__name__
        return FileRefused(f"'{self.name}' is a damaged parquet file ({said}). Write or copy it again.")

    def batches(self, only: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Batches of all columns, or of the named ones, under their unique labels."""
        labels = unique_labels(self.names)
        chosen = None if only is None else [self.names[labels.index(label)] for label in only]
        unpacked = 0
        try:
            # With pre_buffer the whole file would be in memory, and without a buffer a whole row group.
            with pq.ParquetFile(self.path, pre_buffer=False, buffer_size=_BUFFER) as file:
                for batch in file.iter_batches(limits.CHUNK_ROWS, columns=chosen):
                    unpacked += sum(_unpacked(array) for array in batch)
                    self._refuse_past_ratio(unpacked)
                    names = labels if only is None else [labels[self.names.index(n)] for n in batch.schema.names]
                    yield batch.rename_columns(names)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from None


def _width(type: pa.DataType) -> int:
    """The bytes of a value whose type says how many it has; else 0."""
    return 0 if pa.types.is_nested(type) or not pa.types.is_primitive(type) else type.bit_width // 8


def _unpacked(array: pa.Array) -> int:
    """The bytes of a column, with each text as often as it is there."""
    if not pa.types.is_dictionary(array.type) or not _is_text(array.type.value_type):
        return int(array.nbytes)
    return int(pc.sum(pc.binary_length(array.dictionary).take(array.indices)).as_py() or 0)


def _is_text(type: pa.DataType) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_binary(type))


def parquet_tables(
    path: Path, name: str | None = None, most: int = limits.MOST_UNPACKED
) -> Callable[[], Iterator[Table]]:
    """A function that reads the rows of a parquet file, unchanged, in batches; it may be called again.

    ``name`` is the name of the file in errors; ``most`` is the number of bytes that it may unpack to.

    Raises
    ------
    FileRefused, TooLarge
        If it is not a parquet file, is damaged or over a limit, or has a column that a series cannot hold.
    """
    source = _Parquet(path, name, most)
    called = name or path.name

    def tables() -> Iterator[Table]:
        for batch in source.batches():
            columns = {name: of_arrow(array) for name, array in zip(batch.schema.names, batch, strict=True)}
            nested = [name for name, column in columns.items() if column is None]
            if nested:
                raise FileRefused(
                    f"The column '{nested[0]}' of '{called}' holds neither numbers, texts, times nor truth values."
                )
            yield Table({name: column for name, column in columns.items() if column is not None}, batch.num_rows)

    return tables


def batches_of(table: pa.Table) -> Batches:
    """The rows of a table in batches of ``limits.CHUNK_ROWS``, as often as they are asked for."""

    def batches(only: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        chosen = table if only is None else table.select(list(only))
        yield from chosen.to_batches(max_chunksize=limits.CHUNK_ROWS)

    return batches


class Typed(Protocol):
    """What a format of typed columns declares."""

    @property
    def name(self) -> str: ...

    @property
    def brand(self) -> str: ...

    @property
    def sign(self) -> Sign: ...

    @property
    def counters(self) -> Counters: ...


def read_typed(
    format: Typed,
    file: str,
    plan: Plan,
    batches: Batches,
    sign: str | None,
    notes: list[Finding] | None = None,
    *,
    test: str | None = None,
) -> Reading:
    """The reading of typed batches. One pass over the columns that decide sign and counts comes first.

    ``sign`` is what a person said; None for the sign of the format. ``test`` is the cell whose rows are read, of a
    table that holds several.

    Raises
    ------
    SeveralTests
        If it holds several cells and ``test`` names none.
    """
    check_sign(sign)
    notes = [] if notes is None else notes
    notes += of_one_electrode(plan)
    refuse_side_by_side(file, plan)
    batches = _of_one_cell(file, plan, batches, test, notes)
    batches = _as_meant(file, plan, batches)
    prove_units(
        plan,
        lambda headers: _first_rows(batches, headers),
        lambda header: _first_moments(batches, header),
        ".",
        notes,
    )
    _refuse_unread(file, plan, batches)
    survey = Survey(format.brand, file, plan, ".", format.sign, sign, None)
    rows = 0
    for batch in batches(survey.undecided(typed=True)):
        frame = pd.DataFrame(
            {name: numbers_of(column) for name, column in zip(batch.schema.names, batch, strict=True)}
        )
        survey.feed(frame)
        rows += len(frame)
    if not rows:
        raise FileRefused(f"'{file}' has no rows.")
    settings = Settings({}, ".")
    survey.settle_counts(settings, notes)
    survey.settle_sign(settings, notes)
    survey.settle_names(settings, notes)
    typed = _TypedRows(file, plan, settings, notes)
    start = typed.begin(next(b for b in batches(None) if b.num_rows))
    return Reading(
        format.name, typed.tables(batches(None)), start, notes, {}, format.counters, survey.taken, plan.headers
    )


def _as_meant(file: str, plan: Plan, batches: Batches) -> Batches:
    """The batches with the columns whose type is not what they mean as `typed_values` has them."""
    first = next((batch for batch in batches(None) if batch.num_rows), None)
    if first is None:
        return batches
    meant = meant_by(file, plan, first)
    if meant == Meant():
        return batches
    return lambda only: map(meant.typed, batches(only))


def _first_rows(batches: Batches, headers: Sequence[str]) -> pd.DataFrame:
    """The first rows of these columns as numbers."""
    batch = next((batch for batch in batches(headers) if batch.num_rows), None)
    if batch is None:
        return pd.DataFrame({header: np.zeros(0) for header in headers})
    return pd.DataFrame({name: numbers_of(column) for name, column in zip(batch.schema.names, batch, strict=True)})


def _first_moments(batches: Batches, header: str) -> NDArray[np.float64] | None:
    """(n,) s, the first times of a clock column; None if they cannot be read."""
    batch = next((batch for batch in batches([header]) if batch.num_rows), None)
    return None if batch is None else moments(batch.column(0))


def _refuse_unread(file: str, plan: Plan, batches: Batches) -> None:
    """Refuse a table whose first rows have values for the current or the voltage, of which none is a number."""
    found = [column for name in (CURRENT, VOLTAGE) if (column := plan.find(name)) is not None]
    headers = list(dict.fromkeys(column.header for column in found))
    batch = next((batch for batch in batches(headers) if batch.num_rows), None) if headers else None
    if batch is None:
        return
    for column in found:
        array = batch.column(batch.schema.names.index(column.header))
        if array.null_count < len(array) and np.isnan(numbers_of(array)).all():
            seen = next((str(value) for value in array.drop_null().to_pylist() if str(value).strip()), "nan")
            if seen.casefold() != "nan":
                raise no_number(file, column, seen)


def _of_one_cell(file: str, plan: Plan, batches: Batches, test: str | None, notes: list[Finding]) -> Batches:
    """The batches of the cell that is asked for, if the table has several."""
    columns = cell_columns(plan)
    counts = count_names(batches(columns)) if columns else {}
    column = column_of_cells({name: counts[name] for name in columns if name in counts})
    if test is None:
        if column is not None:
            refuse_several(file, column, counts[column])
        return batches
    if column is None:
        raise FileRefused(f"'{file}' has no column that names cells, so it has no test '{test}'.")
    notes += notes_of(file, column, counts[column], test)
    named: str = column

    def narrowed(only: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        asked = None if only is None else [*dict.fromkeys([*only, named])]
        for batch in batches(asked):
            mask = pc.fill_null(pc.equal(names_in(batch.column(batch.schema.names.index(named))), test), False)
            if not pc.any(mask).as_py():
                continue
            kept = batch.filter(mask)
            yield kept if only is None else kept.select(list(only))

    return narrowed


class _TypedRows:
    def __init__(self, file: str, plan: Plan, settings: Settings, notes: list[Finding]) -> None:
        self.file, self.plan, self.settings, self.notes = file, plan, settings, notes
        self.time = plan.find(TIME) or plan.clock
        self.days: Planned | None = None
        self.midnights = Midnights()
        self.pattern: str | None = None
        self.time_form = "" if self.time is None else self.time.of_durations
        self.counted: CountedClock | None = None
        self.zero: float | None = None
        self.passed = 0
        self.last_time = 0.0
        self.left_out: list[str] = []
        self.unread: dict[str, int] = {}

    def begin(self, batch: pa.RecordBatch) -> datetime | None:
        """The start of the test, from the first rows. It also finds how time is written."""
        columns = dict(zip(batch.schema.names, batch, strict=True))
        if self.time is not None:
            first = of_arrow(columns[self.time.header])
            if first is not None and first.kind == "text":
                self.pattern, swappable = clock_format([str(v) for v in first.words[:20000]])
                if self.pattern is not None:
                    header, example = self.time.header, str(first.words[0])
                    self.notes.extend(date_notes(header, self.pattern, example, swappable=swappable))
            if first is not None and first.kind in ("number", "integer") and self.time.role == "clock":
                refuse_written_dates(self.time.header, first.floats())
                self.counted = counted_clock(first.floats())
                if self.counted is not None and self.counted.is_local:
                    self.notes.append(zone_note(f"Clock times in '{self.time.header}' name"))
            if self.time.role == "clock" and (found := moments(columns[self.time.header])) is not None:
                self.notes.extend(coarse_clock(self.time.header, found))
            if first is not None and first.kind == "datetime" and columns[self.time.header].type.tz is None:
                self.notes.append(zone_note(f"Clock times in '{self.time.header}' name"))
            if (
                self.time.role == "time"
                and first is not None
                and self.pattern is None
                and first.kind not in ("datetime", "text")
            ):
                self._settle_unit(columns)
            if self.time.role == "time" and first is not None and first.kind == "text" and self.pattern is None:
                texts = series_of(columns[self.time.header])
                self.time_form, said = two_parts(self.time, texts, partial(self._beside, columns))
                self.notes.extend(said)
            if self._may_be_of_a_day(columns[self.time.header]):
                self._join_days(columns)
        if self.days is not None:
            known = self._of_day(columns) + np.asarray(moments(columns[self.days.header]), np.float64)
            return from_micros(round(float(known[np.isfinite(known)][0]) * 1e6))
        for planned in self.plan.columns:
            if planned.role == "clock" or (self.time is not None and planned.header == self.time.header):
                begun = first_moment(columns[planned.header], planned)
                if begun is not None:
                    return begun
        return None

    def _may_be_of_a_day(self, times: pa.Array) -> bool:
        """Whether times can be times of day: durations, as their type says or as they are written."""
        return self.pattern is None and (pa.types.is_duration(times.type) or is_of_text(times.type))

    def _of_day(self, columns: Mapping[str, pa.Array]) -> NDArray[np.float64]:
        """(n,) s, the times of a column of durations as it has them."""
        array = columns[self.time.header] if self.time is not None else pa.nulls(0)
        return self._time_of_text(array) if is_of_text(array.type) else numbers_of(array)

    def _join_days(self, columns: Mapping[str, pa.Array]) -> None:
        """Join times of day with a column of days beside them."""
        for planned in self.plan.columns:
            days = moments(columns[planned.header]) if planned.role == "clock" else None
            if days is None or planned == self.time or (days[np.isfinite(days)] % DAY != 0).any():
                continue
            if self.time is not None and are_of_days(self._of_day(columns), days):
                self.days = planned
                self._note_days(planned.header, self.time.header, columns[planned.header])
                return

    def _note_days(self, days: str, time: str, array: pa.Array) -> None:
        column = of_arrow(array)
        if column is not None and column.kind == "text":
            pattern, swappable = clock_format([str(word) for word in column.words[:20000]])
            self.notes.extend(date_notes(days, pattern or "", str(column.words[0]), swappable=swappable))
        else:
            self.notes.append(zone_note(f"Clock times in '{days}' name"))
        text = f"'{time}' is the time of day of '{days}'. The time was computed from both."
        self.notes.append(Finding("assumed", "time_from_clock", text))

    def _settle_unit(self, columns: Mapping[str, pa.Array]) -> None:
        """The unit of a time that is numbers: what its header names, or what agrees with a clock beside it."""
        if self.time is None:
            return
        beside = self._beside(columns)
        values, mapped = numbers_of(columns[self.time.header]), self.time.header in self.plan.mapped
        unit = time_unit(self.time, values, beside, mapped=mapped, notes=self.notes)
        self.time = replace(self.time, unit=unit)

    def _beside(self, columns: Mapping[str, pa.Array]) -> tuple[str, NDArray[np.float64]] | None:
        """The header of a clock column and its times, (n,) s; None if there is none."""
        clock = self.plan.clock
        found = None if clock is None else moments(columns[clock.header])
        return None if clock is None or found is None else (clock.header, found)

    def tables(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Table]:
        for batch in batches:
            if batch.num_rows:
                yield self._table(batch)
        self.notes.extend(time_notes(self.last_time))
        if self.time is not None:
            self.notes.extend(self.midnights.notes(self.time.header))
        for name in self.left_out:
            text = f"Column '{name}' holds neither numbers, texts, times nor truth values and was left out."
            self.notes.append(Finding("odd", "column_left_out", text))
        for header, count in self.unread.items():
            if not count:
                continue
            text = unread_text(header, count)
            self.notes.append(Finding("odd", "unreadable_values", text))

    def _table(self, batch: pa.RecordBatch) -> Table:
        arrays = dict(zip(batch.schema.names, batch, strict=True))
        made: dict[str, Column] = {}
        if self.time is not None:
            days = None if self.days is None else moments(arrays[self.days.header])
            made[TIME] = self._time(arrays[self.time.header], days)
        for planned in self.plan.columns:
            if planned.name == TIME:
                continue
            column = of_arrow(arrays[planned.header])
            if column is None:
                if planned.name not in self.left_out:
                    self.left_out.append(planned.name)
                continue
            made[planned.name] = self._column(planned, column, arrays[planned.header])
        if self.plan.at_rest and CURRENT not in made:
            made[CURRENT] = Column("number", np.zeros(batch.num_rows))
        for header, split, unit in self.plan.splits:
            made |= _split(split, unit.convert(numbers_of(arrays[header])), made[CURRENT].floats())
        made = with_power(completed(made, batch.num_rows), self.settings)
        self.passed += batch.num_rows
        return Table(in_order(made), batch.num_rows)

    def _column(self, planned: Planned, column: Column, array: pa.Array) -> Column:
        if planned.role == "number":
            values = column.values if column.kind == "number" else self._numbers(planned.header, array)
            valid = column.valid if column.kind == "number" else ~np.isnan(values)
            values = planned.apply(values)
            if planned.name == CURRENT:
                values = directed(values, self.settings, self.passed)
            return Column("number", values, None if valid is None or valid.all() else valid)
        if planned.role == "count" and column.kind != "integer":
            values = numbers_of(array)
            whole = self.settings.kinds.get(planned.name) == "integer"
            return count_column(values) if whole else number_column(values)
        return column

    def _numbers(self, header: str, array: pa.Array) -> NDArray[np.float64]:
        """The numbers of a column of another kind. What cannot be read is counted."""
        values = numbers_of(array)
        column = of_arrow(array)
        empty = pc.is_null(array)
        if column is not None and column.kind == "text":
            text = pc.utf8_lower(pc.utf8_trim_whitespace(array.cast(pa.string())))
            empty = pc.fill_null(pc.is_in(text, pa.array(["", "nan"])), True)
            empty = pc.or_(empty, pc.is_null(array))
        lost = np.isnan(values) & ~empty.to_numpy(zero_copy_only=False)
        self.unread[header] = self.unread.get(header, 0) + int(lost.sum())
        return values

    def _time(self, array: pa.Array, days: NDArray[np.float64] | None) -> Column:
        planned, column = self.time, of_arrow(array)
        if planned is None or column is None:
            raise FileRefused(
                f"The times of '{self.file}' cannot be read. Name their column with {option_name('column_map')}."
            )
        if column.kind == "datetime":
            values = np.where(column.null_mask(), np.nan, column.values / 1e6)
        elif column.kind == "text":
            values = self._time_of_text(array)
        else:
            values = column.floats()
            values = (
                planned.unit.convert(values) if planned.unit is not None and planned.role == "time" else values
            )
            values = values * self.counted.seconds if self.counted is not None else values
        if days is not None:
            values = values + days
        elif self._may_be_of_a_day(array):
            values = self.midnights.feed(values)
        present = values[np.isfinite(values)]
        if self.zero is None and len(present):
            self.zero = float(present[0])
            if self.zero and column.kind != "datetime" and not (self.pattern or self.counted or self.days):
                text = f"Time begins at {self.zero:.6g} s in '{planned.header}'; it was moved to 0."
                self.notes.append(Finding("assumed", "time_from_first_row", text))
        values = values - (self.zero or 0.0)
        self.last_time = max(self.last_time, float(np.nanmax(values, initial=0.0)))
        return number_column(values)

    def _time_of_text(self, array: pa.Array) -> NDArray[np.float64]:
        series = series_of(array)
        if self.pattern is None:
            return durations(series, self.time_form)[0]
        stamps = clocks(series, self.pattern)
        return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)


def _split(split: Split, values: NDArray[np.float64], current: NDArray[np.float64]) -> dict[str, Column]:
    way = -np.sign(values) if split.signed else np.sign(current)
    return {
        split.charge: number_column(np.where(way < 0, np.abs(values), 0.0)),
        split.discharge: number_column(np.where(way > 0, np.abs(values), 0.0)),
    }
