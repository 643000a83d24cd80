"""Finds in the rows of a file what its header does not say: kinds of columns, form of times, sign of the current."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from ...cycling.columns import (
    CURRENT,
    CYCLER_CYCLE,
    CYCLER_STEP,
    FREQUENCY,
    IMPEDANCE_AXES,
    OPEN_CIRCUIT_AXES,
    TIME,
    VOLTAGE,
)
from ...cycling.findings import Finding
from ...cycling.sign_check import BY_CONVENTION, Taken
from ...errors import FileRefused
from ...messages import column_map as mapping
from ...messages import counted, option
from ...units import split_unit
from .as_written import LongWholeNumbers
from .columns import Plan, Planned
from .dates import date_notes, zone_note
from .header_units import Unit, split_header
from .missing_columns import why_refused
from .sign_evidence import Directions, Polarity, RunScan, StateVotes, polarity
from .states import States
from .time_evidence import (
    are_of_days,
    coarse_clock,
    falls_beside,
    refuse_times_of_day,
    refuse_written_dates,
    time_unit,
    two_parts,
)
from .values import (
    Cells,
    CountedClock,
    Floats,
    are_whole,
    are_words,
    clock_format,
    clocks,
    counted_clock,
    durations,
    first_clock,
    is_text,
    later_texts,
    moment,
    numbers,
    some_texts,
)

_RANK = {"null": 0, "boolean": 1, "integer": 2, "number": 3, "text": 4}
_SAMPLE = 5000
_APART, _MOSTLY = 2.0, 0.99
"""s between a clock of whole seconds and a finer time, and the share of the rows in which they are no more apart."""
_COUNTERS = ("capacity", "amp-hr", "cap")


@dataclass
class Settings:
    """How the rows of one file are read; decided once, before the first batch.

    ``kinds``: column name -> kind in every batch. ``time``: how time is written ("number", "duration" or a clock
    pattern); ``time_from`` is its header, ``time_form`` says how durations of two parts are meant. ``turn``: factor on
    the current, NaN if it stays empty; None if the direction comes from ``directions`` (by run) or ``states`` (by
    word). ``patterns``: header -> pattern of the clock columns. ``counted``: header -> how it counts, of the clock
    columns that are numbers.
    """

    kinds: dict[str, str]
    decimal: str | None
    time: str | None = None
    time_from: str | None = None
    time_form: str = ""
    time_unit: Unit | None = None
    turn: float | None = None
    directions: Directions | None = None
    states: States | None = None
    state_column: str | None = None
    patterns: dict[str, str] = field(default_factory=dict)
    counted: dict[str, CountedClock] = field(default_factory=dict)
    first_clock: datetime | None = None
    days: str | None = None
    first_time: float = 0.0
    has_times: bool = True
    time_restarts: bool = False
    finer: Planned | None = None
    """A time within steps that is finer than the clock from which the time comes."""


class Survey:
    """Looks at the first batch of a file, and then at all batches of the columns that the first leaves undecided."""

    def __init__(
        self,
        brand: str,
        file: str,
        plan: Plan,
        decimal: str | None,
        documented: str,
        said: str | None,
        states: States | None,
    ) -> None:
        self.brand, self.file, self.plan, self.decimal = brand, file, plan, decimal
        self.sign, self.said = said or documented, said
        self.states = states
        self.state = self._state_column()
        self.kinds = {column.name: "null" for column in plan.columns if column.role == "free"}
        self._long = LongWholeNumbers()
        self.whole = {column.name: True for column in plan.columns if column.role == "count"}
        self.first: pd.DataFrame | None = None
        self.runs = RunScan()
        self.verdict: Polarity | None = None
        self.by_state = StateVotes()
        self.taken = BY_CONVENTION
        self._is_sure = False
        self.check_columns()

    def check_columns(self) -> None:
        """Refuse a file that lacks time, current or voltage; the message names the columns that it has."""
        has = {column.name for column in self.plan.columns}
        impedance = FREQUENCY in has and any(axes <= has for axes in IMPEDANCE_AXES)
        open_circuit = VOLTAGE in has and any(axis in has for axis in OPEN_CIRCUIT_AXES)
        timed = TIME in has or self.plan.clock is not None or self.plan.sweep is not None
        has |= {VOLTAGE} if self.plan.held is not None else set()
        missing = [name for name in (VOLTAGE, CURRENT) if name not in has]
        if not timed:
            missing.append(TIME)
        if self.plan.at_rest and missing == [CURRENT]:
            return
        if not missing or impedance or (open_circuit and not {VOLTAGE} & set(missing)):
            return
        raise FileRefused(why_refused(self.file, self.plan, missing))

    def _state_column(self) -> str | None:
        if self.states is None:
            return None
        return next((label for label in self.plan.labels if split_header(label).key in self.states.names), None)

    def go_on(self) -> None:
        """Start a pass over all rows. What the first batch decided stays."""
        self.runs, self.by_state = RunScan(), StateVotes()

    def undecided(self, *, typed: bool = False) -> list[str]:
        """Headers of the columns whose kind later rows may change, and of those that the sign needs.

        ``typed``: free columns already have their types.
        """
        wanted = [column.header for column in self.plan.columns if column.role == "count"]
        if not typed:
            free = [column for column in self.plan.columns if column.role == "free"]
            open_ = {name for name, kind in self.kinds.items() if _RANK[kind] < _RANK["number"]}
            open_.update(self.rounded)
            wanted += [column.header for column in free if column.name in open_]
        if self._needs_runs():
            wanted += [header for header in self._run_headers() if header is not None and header not in wanted]
            swept = self.plan.find(FREQUENCY)
            wanted += [swept.header] if swept is not None and swept.header not in wanted else []
        return wanted or [self.plan.labels[0]]

    @property
    def rounded(self) -> list[str]:
        """The columns of whole numbers whose last digits floats would change."""
        return self._long.rounded(self.kinds)

    def is_sure_of_sign(self) -> bool:
        """Whether what was seen so far decides the direction of the current, whatever the later rows are."""
        if not self._needs_runs():
            self._is_sure = True
        elif self.sign in ("charge", "discharge"):
            self._is_sure = self.runs.falls_below_zero
        elif self.sign == "found":
            self._is_sure = self.state is None and self.runs.falls_below_zero and self.verdict is not None
        return self._is_sure

    def learns_from(self, frame: pd.DataFrame) -> bool:
        """Take the next rows of the undecided columns; whether they show other kinds than the rows before."""
        before = dict(self.kinds), dict(self.whole)
        self.feed(frame)
        return before != (self.kinds, self.whole)

    def _needs_runs(self) -> bool:
        if self._is_sure or CURRENT not in {column.name for column in self.plan.columns}:
            return False
        return self.sign in ("found", "unsigned") or self.states is not None

    def _run_headers(self) -> tuple[str | None, ...]:
        named = [self.plan.find(name) for name in (CURRENT, VOLTAGE, CYCLER_STEP, CYCLER_CYCLE)]
        counter = next((label for label in self.plan.labels if split_header(label).key in _COUNTERS), None)
        return (*(column.header if column else None for column in named), counter, self.state)

    def feed(self, frame: pd.DataFrame) -> None:
        if self.first is None:
            self.first = frame
        for column in self.plan.columns:
            if column.header not in frame:
                continue
            if column.role == "free":
                self._rank(column.name, frame[column.header])
            elif column.role == "count" and self.whole[column.name]:
                self.whole[column.name] = are_whole(
                    numbers(frame[column.header], self.decimal)[0].astype(np.float64)
                )
        if self._needs_runs():
            self._feed_runs(frame)

    def _rank(self, name: str, series: Cells) -> None:
        if series.isna().all():
            return
        kind = {"i": "integer", "u": "integer", "f": "number", "b": "boolean"}.get(series.dtype.kind, "text")
        if kind == "text":
            present = series.dropna()
            first_too = present[:1].isin([True, False]).all()  # most often this one shows that it is text
            kind = "boolean" if first_too and present.isin([True, False]).all() else kind
        self._long.feed(name, series)
        known = self.kinds[name]
        if "boolean" in (known, kind) and {known, kind} & {"integer", "number"}:
            kind = "text"
        if _RANK[kind] > _RANK[known]:
            self.kinds[name] = kind

    def _feed_runs(self, frame: pd.DataFrame) -> None:
        empty = np.full(len(frame), np.nan)
        parts = []
        for header in self._run_headers()[:-1]:
            values = numbers(frame[header], self.decimal)[0].astype(np.float64) if header in frame else empty
            parts.append(values)
        current, voltage, step, cycle, counter = parts
        self.runs.feed(current, voltage, step, cycle, counter)
        if self.state is not None and self.states is not None and self.state in frame:
            self.by_state.feed(current, self.states.directions(frame[self.state]))
        if self.sign == "found" and self.verdict is None and (current < 0).any():
            time = self.plan.find(TIME)
            samples = ~are_words(frame[time.header]) if time is not None and time.header in frame else slice(None)
            self.verdict = polarity(current[samples], voltage[samples])

    def settle(self, notes: list[Finding], day_first: bool = False) -> Settings:
        """The settings. What had to be assumed for them is added to ``notes``.

        Raises
        ------
        FileRefused
            If there are no rows, the times cannot be read, or the direction of the current cannot be known.
        """
        if self.first is None:
            raise FileRefused(f"'{self.file}' has no rows.")
        settings = Settings(dict(self.kinds), self.decimal)
        self.settle_counts(settings, notes)
        self._settle_clocks(settings, notes, day_first)
        self._settle_time(settings, notes, day_first)
        self.settle_sign(settings, notes)
        self.settle_names(settings, notes)
        return settings

    def _column(self, header: str) -> Cells:
        if self.first is None:
            raise FileRefused(f"'{self.file}' has no rows.")
        return self.first[header]

    def _settle_clocks(self, settings: Settings, notes: list[Finding], day_first: bool) -> None:
        for column in self.plan.columns:
            if column.role != "clock":
                continue
            series = self._column(column.header)
            if is_text(series):
                texts = some_texts(series), column.day_first, later_texts(series)
                pattern, swappable = clock_format(*texts, usual=day_first)
                if pattern is None:
                    settings.kinds[column.name] = "text"
                    continue
                settings.patterns[column.header] = pattern
                settings.kinds[column.name] = "datetime"
                swappable &= column.day_first is None
                notes.extend(date_notes(column.header, pattern, _example(series), swappable=swappable))
                if settings.first_clock is None:
                    settings.first_clock = first_clock(series, pattern)
            else:
                self._rank_numeric_clock(settings, column, series, notes)

    def _rank_numeric_clock(
        self, settings: Settings, column: Planned, series: Cells, notes: list[Finding]
    ) -> None:
        settings.kinds[column.name] = "integer" if series.dtype.kind in "iu" else "number"
        values = numbers(series, self.decimal)[0]
        found = counted_clock(values)
        if found is None:
            return
        settings.counted[column.header] = found
        if found.is_local:
            notes.append(zone_note(f"Clock times in '{column.header}' name"))
        if settings.first_clock is None:
            settings.first_clock = found.moment(float(values[np.isfinite(values)][0]))

    def _note_sweep(self, notes: list[Finding]) -> None:
        if self.plan.sweep is not None:
            text = (
                "The file has no time. It was computed from the potential and the scan rate of "
                f"{self.plan.sweep:g} V/s; a time at rest before or between the sweeps is not in it."
            )
            notes.append(Finding("assumed", "time_from_sweep", text))

    def _settle_time(self, settings: Settings, notes: list[Finding], day_first: bool) -> None:
        planned = self.plan.find(TIME)
        if planned is None:
            clock = self.plan.clock
            if clock is None or clock.header not in (*settings.patterns, *settings.counted):
                self._refuse_clock(clock)
                settings.has_times = False
                self._note_sweep(notes)
                return
            settings.time_from, settings.time = clock.header, settings.patterns.get(clock.header, "number")
            if settings.time == "number":
                settings.time_unit = Unit("s", settings.counted[clock.header].seconds)
            text = f"The time was computed from the clock times in '{clock.header}'."
            if self.plan.step_time is not None and self._is_finer(settings, clock.header, self.plan.step_time):
                settings.finer = self.plan.step_time
                text += f" Within a step it comes from '{self.plan.step_time.header}', which is finer."
            else:
                notes.extend(coarse_clock(clock.header, self._moments(settings, clock.header)))
            notes.append(Finding("assumed", "time_from_clock", text))
            return
        settings.time_from, settings.time_unit = planned.header, planned.unit
        settings.time_restarts = planned.restarts
        if planned.restarts:
            text = (
                f"The file has no time of the whole test. The times of its steps ('{planned.header}') were joined."
            )
            notes.append(Finding("assumed", "time_joined", text))
        series = self._column(planned.header)
        if not is_text(series) or self._mostly_numbers(series):
            settings.time = "number"
            values, beside = numbers(series, self.decimal)[0], self._beside(settings)
            mapped = planned.header in self.plan.mapped
            settings.time_unit = time_unit(planned, values, beside, mapped=mapped, notes=notes)
            present = values[np.isfinite(values)][:1]
            if len(present):
                converted = settings.time_unit.convert(present) if settings.time_unit else present
                settings.first_time = float(converted[0])
            return
        sample = series.dropna().head(_SAMPLE)
        if durations(sample, planned.of_durations)[1] < 0.5 * max(len(sample), 1):
            settings.time = "duration"
            settings.time_form, said = two_parts(planned, series, partial(self._beside, settings))
            notes.extend(said)
            passed = durations(series, settings.time_form)[0]
            if (np.diff(passed) < 0).any():
                notes.extend(falls_beside(planned, passed, self._beside(settings)))
            self._join_days(settings, planned, series, notes)
            return
        pattern, swappable = clock_format(some_texts(series), None, later_texts(series), usual=day_first)
        if pattern is None:
            example = _example(series)[:40]
            raise FileRefused(
                f"The times in column '{planned.header}' of '{self.file}' cannot be read ('{example}'): seconds, "
                f"hh:mm:ss or a date and time were expected. Name another with {mapping({'its name': 'Time [s]'})}."
            )
        settings.time = pattern
        notes.extend(date_notes(planned.header, pattern, _example(series), swappable=swappable))
        settings.first_clock = settings.first_clock or first_clock(series, pattern)
        notes.append(
            Finding(
                "assumed",
                "time_from_clock",
                f"The time was computed from the clock times in '{planned.header}'.",
                mapping({planned.header: TIME}),
            )
        )

    def _refuse_clock(self, clock: Planned | None) -> None:
        """Refuse a test whose only times are those of a clock column that cannot be read."""
        has = {column.name for column in self.plan.columns}
        if clock is None or self.plan.sweep is not None or not {CURRENT, VOLTAGE} <= has or FREQUENCY in has:
            return
        series = self._column(clock.header)
        if has & set(OPEN_CIRCUIT_AXES) or series.dropna().empty:
            return
        if not is_text(series):
            refuse_written_dates(clock.header, numbers(series)[0])
            raise FileRefused(
                f"The numbers in column '{clock.header}' of '{self.file}' ({_example(series)[:40]}) are not times of a "
                "clock: seconds since 1970, or days of Excel or MATLAB. If they are the time of the test, say "
                f"{mapping({clock.header: TIME})}; if they are in another unit, write that one, such as 'Time [ms]'."
            )
        refuse_times_of_day(self.file, clock.header, series)
        raise FileRefused(
            f"The clock times in column '{clock.header}' of '{self.file}' cannot be read ('{_example(series)[:40]}'): "
            "a date and a time such as '2024-05-13 10:00:00' were expected. If another column is the time, say "
            f"{mapping({'its name': TIME})}."
        )

    def _join_days(self, settings: Settings, planned: Planned, series: Cells, notes: list[Finding]) -> None:
        """Join a time of day with a column of dates. It falls where the date changes, and does not start at 0."""
        days = (
            None if planned.restarts else next(filter(partial(self._are_days, settings), settings.patterns), None)
        )
        if days is None:
            return
        values = durations(series, settings.time_form)[0]
        stamps = clocks(self._column(days), settings.patterns[days])
        since = np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)
        if not are_of_days(values, since):
            return
        first = np.flatnonzero(np.isfinite(values + since))[0]
        settings.days = days
        settings.first_clock = moment(stamps[first] + np.timedelta64(round(1e6 * values[first]), "us"))
        text = f"'{planned.header}' is the time of day of '{days}'. The time was computed from both."
        notes.append(Finding("assumed", "time_from_clock", text))

    def _are_days(self, settings: Settings, header: str) -> bool:
        """Whether a clock column holds days alone. Those of a workbook have the time of midnight."""
        stamps = clocks(self._column(header), settings.patterns[header])
        stamps = stamps[~np.isnat(stamps)]
        return "%H" not in settings.patterns[header] or bool((stamps == stamps.astype("datetime64[D]")).all())

    def _mostly_numbers(self, series: Cells) -> bool:
        sample = series.dropna().head(_SAMPLE)
        if 2 * int(sample.astype("str").str.contains(":", regex=False).sum()) >= max(len(sample), 1):
            return False  # no number has a colon
        return numbers(sample, self.decimal)[1] < 0.5 * max(len(sample), 1)

    def _is_finer(self, settings: Settings, clock: str, step_time: Planned) -> bool:
        """Whether times within steps have parts of a second that a clock lacks, and go on as the clock does."""
        moments = self._moments(settings, clock)
        within = step_times(self._column(step_time.header), step_time, self.decimal)
        known = np.isfinite(moments) & np.isfinite(within)
        moments, within = moments[known], within[known]
        if not len(within) or (moments % 1 != 0).any() or not (within % 1 != 0).any():
            return False
        on = np.diff(within) > 0
        return bool(on.any()) and float(np.mean(np.abs(np.diff(within) - np.diff(moments))[on] < _APART)) > _MOSTLY

    def _beside(self, settings: Settings) -> tuple[str, Floats] | None:
        """The header of a clock column and its times, (n,) s; None if there is none."""
        shown = next(iter((*settings.patterns, *settings.counted)), None)
        return None if shown is None else (shown, self._moments(settings, shown))

    def _moments(self, settings: Settings, header: str) -> Floats:
        """(n,) s, the times of a clock column; NaN where it has none."""
        if header in settings.counted:
            return numbers(self._column(header), self.decimal)[0] * settings.counted[header].seconds
        stamps = clocks(self._column(header), settings.patterns[header])
        return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)

    def settle_counts(self, settings: Settings, notes: list[Finding]) -> None:
        """Cycle and step numbers are integers if all are whole, else numbers with a warning."""
        settings.kinds |= {name: "integer" if whole else "number" for name, whole in self.whole.items()}
        for name, whole in self.whole.items():
            if not whole:
                text = f"'{name}' has numbers that are not whole. They were kept as they are."
                notes.append(Finding("odd", "not_whole", text))

    def settle_names(self, settings: Settings, notes: list[Finding]) -> None:
        """Notes on units that were assumed, on a current from charges, and on columns that keep their names."""
        current = self.plan.find(CURRENT)
        if self.plan.at_rest and current is None:
            text = "A record at open circuit has no column of current. The current was taken as 0."
            notes.append(Finding("assumed", "no_current", text))
        if self.plan.held is not None and self.plan.find(VOLTAGE) is None:
            text = (
                f"The file has no column of voltage. It was taken from the settings: {self.plan.held:g} V, held."
            )
            notes.append(Finding("assumed", "voltage_held", text))
        if current is not None and current.per_time:
            text = (
                f"The file has no current. It was computed from the charge '{current.header}' and the time of each "
                "sample."
            )
            notes.append(Finding("assumed", "current_derived", text))
        for column in self.plan.columns:
            if not column.stated and column.role == "number" and self.sign == "found":
                unit = split_unit(column.name)[1]
                text = f"'{column.header}' names no unit. It was read in {unit}."
                notes.append(Finding("assumed", "unit", text, mapping({column.header: column.name})))
        if self.plan.kept:
            listed = ", ".join(f"'{name}'" for name in self.plan.kept[:40])
            more = f" and {len(self.plan.kept) - 40} more" if len(self.plan.kept) > 40 else ""
            notes.append(Finding("kept", "columns_kept", f"Columns kept under their own names: {listed}{more}."))

    def settle_sign(self, settings: Settings, notes: list[Finding]) -> None:
        if self.plan.find(CURRENT) is None:
            return
        below = self.runs.falls_below_zero
        if self.sign in ("charge", "discharge") and not (self.states and not below):
            settings.turn = -1.0 if self.sign == "charge" else 1.0
            self.taken = self._documented()
        elif below and self.sign != "unsigned":
            settings.turn = self._found_turn(notes)
        elif self.states is not None and self._shows_direction():
            settings.state_column, settings.states = self.state, self.states
            because = f"the words in '{self.state}' say it"
            self.taken = Taken("unsigned", because)
            text = f"The current has no sign in the file. Its direction was found from '{self.state}'."
            notes.append(Finding("assumed", "sign_from_state", text, option("sign", "unsigned")))
            if VOLTAGE in {column.name for column in self.plan.columns}:
                settings.directions = self.runs.directions()[0]
        else:
            self._settle_by_runs(settings, notes)

    def _documented(self) -> Taken:
        """The sign that a person said, or else that the brand documents."""
        means: Literal["charge", "discharge"] = "charge" if self.sign == "charge" else "discharge"
        if self.said:
            return Taken(means, "you said so", fixed=True)
        because = f"the headers are those of {self.brand} files"
        return Taken(means, because, fixed=True, by_format=True)

    def _shows_direction(self) -> bool:
        """Whether there is a column of states with words that mean charge or discharge."""
        if self.state is None or self.states is None:
            return False
        return not self.states.read or self.by_state.rows > 0

    def _found_turn(self, notes: list[Finding]) -> float:
        means, because = self.by_state.means, f"the words in '{self.state}' say so"
        if means is None and self.verdict is not None:
            means, because = self.verdict.means, f"its voltage {self.verdict.shown}"
        if means is None:
            if self.runs.largest == 0:
                return 1.0
            if self._is_spectrum():
                text = f"The current '{self._header(CURRENT)}' of the spectrum was left empty: nothing shows its "
                text += f"direction. To keep it say {option('sign', 'charge')} or {option('sign', 'discharge')}."
                notes.append(Finding("assumed", "bias_left_out", text))
                return np.nan
            raise FileRefused(
                f"The direction of the current in '{self.file}' cannot be known: neither the headers nor a column of "
                "states give its sign, and the voltage does not show it. Say what a positive current means: "
                f"{option('sign', 'charge')} or {option('sign', 'discharge')}."
            )
        self.taken = Taken(means, because)
        code = "sign_from_state" if self.by_state.means else "sign_from_voltage"
        text = f"A positive current {means}s in this file: {because}."
        notes.append(Finding("assumed", code, text, option("sign", means)))
        return -1.0 if means == "charge" else 1.0

    def _header(self, name: str) -> str:
        column = self.plan.find(name)
        return name if column is None else column.header

    def _is_spectrum(self) -> bool:
        """Whether most of the first rows have a frequency: their current is only the small bias of a spectrum."""
        has = {column.name for column in self.plan.columns}
        if self.first is None or FREQUENCY not in has or not any(axes <= has for axes in IMPEDANCE_AXES):
            return False
        header = self._header(FREQUENCY)
        if header not in self.first:
            return False
        frequency = numbers(self.first[header], self.decimal)[0].astype(np.float64)
        return bool(np.mean(frequency > 0) > 0.5)

    def _settle_by_runs(self, settings: Settings, notes: list[Finding]) -> None:
        if self.runs.largest == 0:
            settings.turn = 1.0
            return
        directions, unknown = self.runs.directions()
        if self.sign != "unsigned" and self._is_spectrum():
            settings.turn = self._found_turn(notes)
            return
        if unknown > 0.01 * self.runs.rows:
            raise FileRefused(
                f"The current in '{self.file}' has no sign, no column says whether the cell is charged, and the "
                f"voltage does not show it for {counted(unknown, 'row')}. Say which: {option('sign', 'charge')} or "
                f"{option('sign', 'discharge')}."
            )
        settings.directions = directions
        self.taken = Taken("unsigned", "the voltage rises or falls in each step")
        text = "The current has no sign in the file. Its direction was found from the voltage in each step."
        notes.append(Finding("assumed", "sign_from_voltage", text, option("sign", "unsigned")))
        if unknown:
            text = (
                f"{counted(unknown, 'row')} with a current of unknown direction. The current was set to 0 there."
            )
            notes.append(Finding("odd", "no_direction", text))


def step_times(series: Cells, planned: Planned, decimal: str | None) -> Floats:
    """(n,) s, the values of a column of times within steps; NaN where they cannot be read."""
    if is_text(series):
        found, unread = durations(series, planned.of_durations)
        if unread < len(series):
            return found
    return planned.apply(numbers(series, decimal)[0])


def _example(series: Cells) -> str:
    return str(series.dropna().iloc[0])
