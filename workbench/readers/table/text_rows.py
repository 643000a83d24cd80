"""Turns batches of parsed text into tables: canonical columns are converted, the others stay as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...cycling.columns import CURRENT, FREQUENCY, POWER, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import counted, option_name, quoted, spaced, times
from ...table import Column, Table
from .columns import Plan, Planned, in_order
from .impedance import PARTS, completed
from .kinds_and_sign import Settings, step_times
from .row_places import MOST_EXAMPLES, Places
from .sign_evidence import BEYOND_ANY
from .values import (
    Cells,
    Floats,
    are_words,
    clocks,
    column_of,
    count_column,
    durations,
    is_text,
    number_column,
    numbers,
)

DAY, _NEAR_MIDNIGHT = 86400.0, 3600.0
_LEAST_NESTED, _MOST_NESTED = 5, 0.5
"""Rows that show that a table has several kinds of lines, and the largest share of those that are not samples."""
BEYOND = "\0beyond the header"
"""Label of the fields beyond the last header. No header of a file can be equal to it."""


class Rows:
    """Converts the batches of one file. It remembers the first time, the number of rows and what to warn about."""

    def __init__(self, file: str, plan: Plan, settings: Settings, notes: list[Finding], places: Places) -> None:
        self.file, self.plan, self.settings, self.notes, self.places = file, plan, settings, notes, places
        self.zero: float | None = None
        self.passed = 0
        self.last_time = 0.0
        self.joint = Joint()
        self.midnights = Midnights()
        self.no_samples: NDArray[np.bool_] | None = None
        self.anchored = Anchored()
        self.before: float | None = None
        self.potential: float | None = None
        self.kept = 0
        self.unread: Counter[str] = Counter()
        self.examples: dict[str, list[tuple[int, str]]] = {}
        self.left_out = 0
        self.too_wide = 0

    def batches(self, frames: Iterable[tuple[pd.DataFrame, bool]]) -> Iterator[Table]:
        """Tables of the frames, each with whether its last line is incomplete. The notes are complete at the end."""
        for frame, cut_short in frames:
            table = self._table(frame)
            self.passed += len(frame)
            table = self._without_junk(table, cut_short)
            if table.n:
                self.kept += table.n
                yield table
        self._finish()

    def _table(self, frame: pd.DataFrame) -> Table:
        if BEYOND in frame:
            self.too_wide += int(frame[BEYOND].notna().sum())
        made: dict[str, Column] = {}
        if self.settings.has_times:
            made[TIME] = number_column(self._time(frame))
        for column in self.plan.columns:
            if column.name != TIME:
                made[column.name] = self._column(column, frame)
        current = self.plan.find(CURRENT)
        if current is not None and current.per_time and TIME in made:
            made[CURRENT] = self._flow(made)
        if self.plan.held is not None and VOLTAGE not in made:
            made[VOLTAGE] = Column("number", np.full(len(frame), self.plan.held))
        if self.plan.sweep is not None and TIME not in made:
            made[TIME] = self._swept(made[VOLTAGE].floats(), self.plan.sweep)
        if self.plan.at_rest and CURRENT not in made:
            made[CURRENT] = Column("number", np.zeros(len(frame)))
        made = with_power(self._split(made, frame), self.settings)
        return Table(in_order(completed(made, len(frame))), len(frame))

    def _swept(self, volts: Floats, rate: float) -> Column:
        """The time, s, at which each potential was reached at a rate in V/s."""
        known = np.isfinite(volts)
        reached = volts[known]
        times = np.full(len(volts), np.nan)
        if len(reached):
            moved = np.abs(np.diff(reached, prepend=reached[0] if self.potential is None else self.potential))
            times[known] = self.last_time + np.cumsum(moved) / rate
            self.potential, self.last_time = float(reached[-1]), float(times[known][-1])
        return number_column(times)

    def _flow(self, made: dict[str, Column]) -> Column:
        """The current, A, from the charge in A.h since the sample before; 0 if no time passed."""
        time = made[TIME].floats()
        passed = np.diff(time, prepend=np.nan if self.before is None else self.before)
        with np.errstate(divide="ignore", invalid="ignore"):
            flow = made[CURRENT].floats() * 3600 / passed
        self.before = float(time[-1]) if len(time) else self.before
        return number_column(np.where(np.isfinite(flow), flow, 0.0) + 0.0)

    def _split(self, made: dict[str, Column], frame: pd.DataFrame) -> dict[str, Column]:
        """Counters of both directions, split into charge and discharge by the direction of the current."""
        for header, split, unit in self.plan.splits:
            values = unit.convert(numbers(frame[header], self.settings.decimal)[0])
            signs = self._signs(made[CURRENT].floats(), frame)
            made[split.charge] = number_column(np.where(signs < 0, np.abs(values), 0.0))
            made[split.discharge] = number_column(np.where(signs > 0, np.abs(values), 0.0))
        return made

    def _signs(self, current: Floats, frame: pd.DataFrame) -> Floats:
        """(n,) +1 for a discharge, -1 for a charge: by the state if there is one, else by the current."""
        signs = np.asarray(np.sign(current), np.float64)
        if self.settings.state_column is None:
            return signs
        by_word = self._by_word(frame)
        made: Floats = np.where(np.isnan(by_word), signs, by_word)
        return made

    def _by_word(self, frame: pd.DataFrame) -> Floats:
        if self.settings.states is None:
            return np.full(len(frame), np.nan)
        return self.settings.states.directions(frame[self.settings.state_column])

    def _column(self, column: Planned, frame: pd.DataFrame) -> Column:
        series = frame[column.header]
        if column.role == "number":
            values, unread = numbers(series, self.settings.decimal)
            over = np.isfinite(values) & (np.abs(values) >= BEYOND_ANY)
            if over.any():
                values, unread = np.where(over, np.nan, values), unread + int(over.sum())
            self._note_unread(column.header, series, unread, np.isnan(values))
            values = column.apply(values)
            return number_column(self._directed(values, frame) if column.name == CURRENT else values)
        if column.role == "count":
            values, unread = numbers(series, self.settings.decimal)
            self._note_unread(column.header, series, unread, np.isnan(values))
            return count_column(values) if self.settings.kinds[column.name] == "integer" else number_column(values)
        if column.header in self.settings.patterns:
            times = clocks(series, self.settings.patterns[column.header])
            unread = int((np.isnat(times) & series.notna().to_numpy()).sum())
            self._note_unread(column.header, series, unread, np.isnat(times))
            return Column.of(times)
        made, lost = column_of(series, self.settings.kinds[column.name])
        self.unread[column.header] += lost
        return made

    def _note_unread(self, header: str, series: Cells, unread: int, empty: NDArray[np.bool_]) -> None:
        """Count values that cannot be read, and keep the first of them with their rows."""
        self.unread[header] += unread
        kept = self.examples.setdefault(header, [])
        if not unread or len(kept) == MOST_EXAMPLES:
            return
        texts = series.astype("str").str.strip()
        wrong = empty & series.notna().to_numpy() & ~texts.str.casefold().isin(["", "nan"]).to_numpy(bool)
        for place in np.flatnonzero(wrong)[: MOST_EXAMPLES - len(kept)].tolist():
            kept.append((self.passed + place, str(texts.iloc[place])[:40]))

    def _time(self, frame: pd.DataFrame) -> Floats:
        settings = self.settings
        series = frame[settings.time_from]
        if settings.time == "number":
            values, unread = numbers(series, settings.decimal)
            values = settings.time_unit.convert(values) if settings.time_unit else values
        elif settings.time == "duration":
            values, unread = (
                durations(series, settings.time_form)
                if is_text(series)
                else (np.full(len(series), np.nan), len(series))
            )
            if settings.days is None and not settings.time_restarts:
                values = self.midnights.feed(values)
            elif settings.days is not None:
                days = clocks(frame[settings.days], settings.patterns[settings.days])
                values = values + np.where(np.isnat(days), np.nan, days.astype(np.int64) / 1e6)
        else:
            stamps = clocks(series, str(settings.time))
            values = np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)
            unread = int((np.isnat(stamps) & series.notna().to_numpy()).sum())
        self._note_unread(str(settings.time_from), series, unread, np.isnan(values))
        self.no_samples = are_words(series) if unread else None
        if settings.time_restarts:
            values = self.joint.feed(values)
        if settings.finer is not None:
            within = step_times(frame[settings.finer.header], settings.finer, settings.decimal)
            values = self.anchored.feed(within, values)
        if self.zero is None:
            present = values[np.isfinite(values)]
            if len(present):
                self.zero = float(present[0])
                self._note_zero()
        values = values - (self.zero or 0.0)
        self.last_time = max(self.last_time, float(np.nanmax(values, initial=0.0)))
        return values

    def _note_zero(self) -> None:
        numeric = (
            self.settings.time in ("number", "duration") and self.settings.time_from not in self.settings.counted
        )
        if self.zero and numeric and self.settings.days is None:
            text = f"Time begins at {self.zero:.6g} s in '{self.settings.time_from}'; it was moved to 0."
            self.notes.append(Finding("assumed", "time_from_first_row", text))

    def _directed(self, current: Floats, frame: pd.DataFrame) -> Floats:
        by_word = None if self.settings.state_column is None else self._by_word(frame)
        return directed(current, self.settings, self.passed, by_word)

    def _without_junk(self, table: Table, cut_short: bool) -> Table:
        """Leave out rows without any time, current, voltage or frequency, and those with a word for the time: titles,
        ends, blanks and sums."""
        known: tuple[str, ...] = (TIME, CURRENT, VOLTAGE, FREQUENCY)
        if self.plan.at_rest:
            known = (TIME, VOLTAGE)
        elif self.plan.held is not None:
            known = (TIME, CURRENT)
        empty = np.logical_and.reduce([_lacking(table, name) for name in known if name in table])
        if self.no_samples is not None:
            empty |= self.no_samples
        if cut_short and not empty[-1]:
            empty[-1] = True
            self.notes.append(
                Finding(
                    "odd",
                    "cut_short",
                    "The last line of the file is incomplete and was left out. The test may have continued.",
                )
            )
        elif cut_short:
            self.left_out -= 1
        if not empty.any():
            return table
        self.left_out += int(empty.sum()) - int(cut_short)
        return table.take(~empty)

    def _finish(self) -> None:
        if not self.kept:
            raise FileRefused(
                f"No row of '{self.file}' holds numbers for time, current and voltage. Check whether the export has "
                f"data below its header, or name the columns with {option_name('column_map')}."
            )
        self.notes.extend(time_notes(self.last_time))
        self.notes.extend(self.midnights.notes(str(self.settings.time_from)))
        if self.left_out > 0:
            text = f"{counted(self.left_out, 'line')} without a time, current or voltage left out."
            self.notes.append(Finding("odd", "lines_left_out", text))
        if self.too_wide:
            wide = f"{counted(self.too_wide, 'line')} {'has' if self.too_wide == 1 else 'have'}"
            text = f"{wide} more fields than the header. The extra fields were left out."
            self.notes.append(Finding("odd", "more_fields", text))
        self.notes.extend(self.places.notes())
        lines = self.places.lines_of({row for kept in self.examples.values() for row, _ in kept})
        for header, count in self.unread.items():
            if count:
                seen = [f"'{text}'" + _in_line(lines.get(row)) for row, text in self.examples.get(header, [])]
                self.notes.append(Finding("odd", "unreadable_values", unread_text(header, count, seen)))


class Midnights:
    """Joins the days of a time of day that has no date: it falls at midnight, from nearly 24 h to nearly 0."""

    def __init__(self) -> None:
        self._days, self._last = 0, 0.0
        self._is_of_a_day = True

    def feed(self, values: Floats) -> Floats:
        """(n,) s, the next times of day -> (n,) s since the midnight before the first; other times stay."""
        known = np.flatnonzero(np.isfinite(values))
        present = values[known]
        self._is_of_a_day &= not (present >= DAY).any()
        if not len(known) or not self._is_of_a_day:
            return values
        before = np.concatenate([[self._last], present[:-1]])
        nights = self._days + np.cumsum((before > DAY - _NEAR_MIDNIGHT) & (present < _NEAR_MIDNIGHT))
        self._days, self._last = int(nights[-1]), float(present[-1])
        joined = values.copy()
        joined[known] = present + DAY * nights
        return joined

    def notes(self, header: str) -> list[Finding]:
        if not self._days:
            return []
        text = f"'{header}' is a time of day: where it passes midnight ({times(self._days)}), a day was added."
        return [Finding("assumed", "midnights", text)]


class Joint:
    """Joins times that start again with each step."""

    def __init__(self) -> None:
        self._passed = 0.0
        self._last = 0.0

    def feed(self, values: Floats) -> Floats:
        """(n,) the next times within steps -> (n,) times since the start of the first step."""
        known = np.flatnonzero(np.isfinite(values))
        if not len(known):
            return values
        present = values[known]
        before = np.concatenate([[self._last], present[:-1]])
        passed = self._passed + np.cumsum(np.where(present < before, before, 0.0))
        self._passed, self._last = float(passed[-1]), float(present[-1])
        joined = values.copy()
        joined[known] = present + passed
        return joined


class Anchored:
    """Joins times within steps, where a coarser clock shows how long the pauses between steps are."""

    _COARSE = 2.0
    """s by which a clock of whole seconds and a finer time may be apart without a pause."""

    def __init__(self) -> None:
        self._base: float | None = None
        self._last = 0.0

    def feed(self, within: Floats, clock: Floats) -> Floats:
        """(n,) the next times within steps and clock times, s -> (n,) s, clock times as fine as those within steps."""
        made = clock.copy()
        known = np.flatnonzero(np.isfinite(within) & np.isfinite(clock))
        if not len(known):
            return made
        steps, moments = within[known], clock[known]
        if self._base is None:
            self._base, self._last = float(moments[0] - steps[0]), float(steps[0])
        begins = np.flatnonzero(np.diff(steps, prepend=self._last) < 0)
        base = self._base
        for first, after in zip([0, *begins], [*begins, len(steps)], strict=True):
            if first in begins:
                base += float(steps[first - 1]) if first else self._last
            pause = float(moments[first] - steps[first]) - base if first < after else 0.0
            base += pause if pause > self._COARSE else 0.0
            made[known[first:after]] = base + steps[first:after]
        self._base, self._last = base, float(steps[-1])
        return made


def _lacking(table: Table, name: str) -> NDArray[np.bool_]:
    """Whether each row has no value in a column, (n,) bool. A frequency without an impedance is none: some programs
    write the number of points below the header."""
    parts = [part for part in PARTS if name == FREQUENCY and part in table]
    alone = np.logical_and.reduce([table[part].null_mask() for part in parts]) if parts else False
    return np.asarray(table[name].null_mask() | alone)


def directed(current: Floats, settings: Settings, first: int, by_word: Floats | None = None) -> Floats:
    """(n,) current, positive on discharge and without negative zeros, of the rows from number ``first`` on.

    ``by_word``: (n,) +1 or -1 where a state gives the direction, else NaN; it overrides the direction of the run.
    """
    if settings.turn is not None and np.isnan(settings.turn):
        return np.full(len(current), np.nan)
    if settings.turn is not None:
        return current + 0.0 if settings.turn > 0 else 0.0 - current
    signs = np.zeros(len(current))
    if settings.directions is not None:
        signs = settings.directions.rows(first, len(current)).astype(np.float64)
    if by_word is not None:
        signs = np.where(np.isnan(by_word), signs, by_word)
    turned: Floats = np.abs(current) * signs + 0.0
    return turned


def with_power(made: dict[str, Column], settings: Settings) -> dict[str, Column]:
    """The columns with a power, if there is one, that has the sign of the current: positive on discharge."""
    power, current = made.get(POWER), made.get(CURRENT)
    if power is None or current is None or power.kind not in ("number", "integer"):
        return made
    if settings.turn is not None and settings.turn > 0:
        return made
    values = power.floats()
    if settings.turn is not None and (values < 0).any():
        values = 0.0 - values
    else:  # it has no sign in the file, or these samples only charge
        signs = np.sign(current.floats())
        values = np.where((signs == 0) | (values == 0), values, np.abs(values) * signs)
    return {**made, POWER: Column("number", values, power.valid)}


def refuse_unread(file: str, plan: Plan, first: pd.DataFrame, decimal: str | None) -> None:
    """Refuse a file that has texts for its current or its voltage, of which none can be read as a number, or of which
    most hold digits and cannot.

    Raises
    ------
    FileRefused
        With one of the texts.
    """
    for name in (CURRENT, VOLTAGE):
        column = plan.find(name)
        if column is None or not is_text(first[column.header]):
            continue
        values, unread = numbers(first[column.header], decimal)
        if not unread:
            continue
        texts = first[column.header].astype("str").str.strip()
        wrong = texts[np.isnan(values) & ~texts.isin(["", "nan"]).to_numpy(bool)]
        with_digits = int(wrong.str.contains(r"\d").sum())
        if not np.isfinite(values).any() or 2 * with_digits > len(texts) - int(texts.isin(["", "nan"]).sum()):
            raise no_number(file, column, str(wrong.iloc[0]), some=bool(np.isfinite(values).any()))


def without_fields(file: str, plan: Plan, first: pd.DataFrame, usual: int) -> list[Finding]:
    """What is to be known of a table whose rows end before its header does. ``usual``: the fields of most rows.

    A field that rows leave out may stand before the last one: then names stand above the wrong columns.

    Raises
    ------
    FileRefused
        If the rows have no field for the time, the current or the voltage.
    """
    absent = [label for label in plan.labels[usual:] if label in first and first[label].isna().all()]
    if not absent:
        return []
    counts = f"{counted(usual, 'field')} below a header of {len(plan.labels)}"
    for name in (TIME, CURRENT, VOLTAGE):
        column = plan.find(name)
        if column is not None and column.header in absent:
            raise FileRefused(
                f"The rows of '{file}' have {counts}, so none has a value in '{column.header}', and other names may "
                "stand above the wrong columns. Export it again with a name for each field, in their order."
            )
    text = f"Rows have {counts}: {quoted(absent)} {'has' if len(absent) == 1 else 'have'} no value. "
    return [
        Finding("odd", "rows_end_early", text + "If another field is left out, names stand above wrong columns.")
    ]


def refuse_nested(file: str, plan: Plan, first: pd.DataFrame) -> None:
    """Refuse a table of several kinds of lines: those of steps or cycles fill the first column, which has no name.

    Raises
    ------
    FileRefused
        With what to export.
    """
    label = plan.labels[0]
    column = next((column for column in plan.columns if column.header == label), None)
    if label != "Column 1" or column is None or column.role != "free" or len(first) < _LEAST_NESTED:
        return
    filled = first[label].notna().to_numpy()
    voltage = plan.find(VOLTAGE)
    if not filled.any() or filled.mean() > _MOST_NESTED or voltage is None:
        return
    if (
        first[voltage.header].notna().to_numpy()[filled].any()
        or first[voltage.header].isna().to_numpy()[~filled].all()
    ):
        return
    raise FileRefused(
        f"'{file}' has lines of several kinds: {counted(int(filled.sum()), 'line')} of the first "
        f"{spaced(len(first))} begin with a number in a column without a name, as those of steps or cycles do, and the "
        "others are samples. Export it flat, with one line for each sample."
    )


def no_number(file: str, column: Planned, seen: str, *, some: bool = False) -> FileRefused:
    """The refusal of a file of whose current or voltage nothing could be read, or only ``some``; ``seen`` is one of the
    values that could not."""
    which, are = ("Most values", "are not numbers") if some else ("No value", "is a number")
    return FileRefused(
        f"{which} in '{column.header}' of '{file}' {are} ('{seen[:40]}'). Export numbers alone, with their unit in the "
        f"header, such as '{column.name}'."
    )


def unread_text(header: str, count: int, seen: Sequence[str] = ()) -> str:
    """The message about values that cannot be read; ``seen`` are the first of them."""
    kept = "is" if count == 1 else "are"
    listed = ": " + ", ".join(seen) if seen else ""
    more = f" and {spaced(count - len(seen))} more" if seen and count > len(seen) else ""
    return f"{counted(count, 'value')} in '{header}' could not be read and {kept} left empty{listed}{more}."


def _in_line(line: int | None) -> str:
    return "" if line is None else f" in line {spaced(line)}"


def time_notes(last: float) -> list[Finding]:
    """A warning if a series that ends at ``last`` seconds is longer than five years."""
    years = last / (365.25 * 86400)
    if years < 5:
        return []
    text = f"Time runs to {last:.6g} s, {years:.0f} years. Check whether the unit that the file names is right."
    return [Finding("odd", "very_long", text)]
