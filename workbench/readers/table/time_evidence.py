"""What a clock column and the intervals of a time say of its unit, and of whether it is a time at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from ...cycling.columns import TEMPERATURE, TIME
from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import column_map as mapping
from ...messages import counted, spaced, times
from .columns import HOURS_AND_MINUTES, Plan, Planned, order_of
from .header_units import Unit, time_words
from .values import (
    Cells,
    Floats,
    clock_format,
    clocks,
    counted_clock,
    durations,
    have_two_parts,
    is_text,
    later_texts,
    numbers,
    some_texts,
    written_date,
)

_DAY = 86400.0
_FACTORS = (1.0, 60.0, 3600.0, 1e-3)
_SCALES = (60.0, 3600.0, 86400.0, 1e-3)
"""Units of time that a header may name wrongly, in s."""
_AGREE, _ROUNDED = 0.01, 2.0
"""Share of the elapsed time, and s of a clock of whole seconds at either end, that a time may differ by."""
_LEAST = 60.0
"""s of a clock that can show that a unit is wrong; below, its whole seconds are too coarse."""
_OTHER = 5.0
"""A time that goes on as many times faster or slower than a clock is another time."""
_SHORTEST = 0.01
"""s: numbers of days whose samples are up to a quarter of an hour apart go on by less."""
_SAMPLE = 300
_NO_MIDNIGHT = re.compile(r"[1-9][^:]?:|:\S*[1-9]")
_TIME_OF_DAY = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?")
_SHARED = 0.25
"""Share of the samples that may have the clock time of the one before."""


def rise_of(values: Floats, moments: Floats) -> tuple[float, float]:
    """How far a time rises, in its own unit, and how far a clock goes on between the same rows, in s; 0 if unknown."""
    both = np.flatnonzero(np.isfinite(values) & np.isfinite(moments))
    if not len(both):
        return 0.0, 0.0
    ends = both[[0, -1]]
    return float(np.diff(values[ends])[0]), float(np.diff(moments[ends])[0])


def agreeing(span: float, elapsed: float, factors: tuple[float, ...] = _FACTORS) -> float | None:
    """The factor, s, with which a rise is as long as a clock shows; None if none is."""
    if span <= 0 or elapsed <= 5:
        return None
    return next(
        (factor for factor in factors if abs(elapsed - span * factor) <= _ROUNDED + _AGREE * elapsed), None
    )


def refuse_written_dates(header: str, values: Floats) -> None:
    """Refuse a time whose numbers are dates and times written without separators.

    Raises
    ------
    FileRefused
        With the first of them, and how to write it.
    """
    meant = written_date(values)
    if meant is not None:
        raise FileRefused(
            f"The numbers in column '{header}' are dates and times without separators. Write them as '{meant}', or "
            f"name another column with {mapping({'its name': TIME})}."
        )


def refuse_times_of_day(file: str, header: str, texts: Cells) -> None:
    """Refuse clock times, (n,), that are times of day without a day.

    Raises
    ------
    FileRefused
        With the column map that makes them the time.
    """
    sample = texts.dropna().head(_SAMPLE)
    if not len(sample) or durations(sample)[1]:
        return
    meant = mapping({header: "Time [h]" if have_two_parts(sample) else TIME})
    raise FileRefused(
        f"The clock times in column '{header}' of '{file}', such as '{str(sample.iloc[0])[:40]}', have no day. To take "
        f"them for the time of the test, say {meant}: where they pass midnight, the time goes on."
    )


def take_time_of_day(plan: Plan, first: pd.DataFrame, decimal: str | None) -> None:
    """Use a column of times of day as the time, if the file has days alone and no other time. Changes ``plan``.

    Loggers write ``Datum;Uhrzeit`` in many languages. The days alone would give all samples of a day one time.
    ``first`` are the first rows.
    """
    clocks = {column.header: first[column.header] for column in plan.columns if column.role == "clock"}
    of_day = [header for header, cells in clocks.items() if _are_times_of_day(cells)]
    days = [header for header, cells in clocks.items() if _are_days_alone(cells)]
    if plan.find(TIME) is not None or not days or len(days) + len(of_day) < len(clocks):
        return
    free = [column.header for column in plan.columns if column.role == "free" and column.header in first]
    of_day += [header for header in free if _are_times_of_day(first[header])]
    if len(of_day) == 1 and _fall_at_midnight(durations(first[of_day[0]])[0], moments_of(first[days[0]], decimal)):
        place = next(at for at, column in enumerate(plan.columns) if column.header == of_day[0])
        plan.columns[place] = replace(plan.columns[place], name=TIME, role="time")
        plan.columns.sort(key=lambda planned: order_of(planned.name))


def _are_days_alone(cells: Cells) -> bool:
    """Whether dates have no time of day, or that of midnight, as a workbook writes them."""
    if not is_text(cells):
        return False
    texts = cells.dropna().astype("str")
    return not texts[texts.str.contains(":", regex=False)].str.contains(_NO_MIDNIGHT).any()


def _are_times_of_day(cells: Cells) -> bool:
    sample = cells.dropna().head(_SAMPLE).astype("str").str.strip()
    return is_text(cells) and len(sample) > 0 and bool(sample.str.fullmatch(_TIME_OF_DAY).all())


def _fall_at_midnight(values: Floats, days: Floats | None) -> bool:
    """Whether times, (n,) s, are of the days, (n,) s, and fall at no other place, as times within steps do."""
    if days is None or not are_of_days(values, days):
        return False
    known = np.isfinite(values) & np.isfinite(days)
    return not (np.diff(values[known]) < 0)[np.diff(days[known]) == 0].any()


def are_of_days(values: Floats, days: Floats) -> bool:
    """Whether times, (n,) s, are times of day of the days beside them, (n,) s, and not the time of the test.

    A time of day falls where the day changes, and nowhere else. After a pause until a later hour it need not.
    """
    known = np.isfinite(values) & np.isfinite(days)
    values, days = values[known], days[known]
    if not len(values) or values.max() >= _DAY:
        return False
    turns, falls = np.diff(days) != 0, np.diff(values) < 0
    if not turns.any():
        return bool(values[0] > 0)
    return bool(falls[turns].all() or (falls.any() and not falls[~turns].any()))


def time_unit(
    planned: Planned, values: Floats, clock: tuple[str, Floats] | None, *, mapped: bool, notes: list[Finding]
) -> Unit | None:
    """The unit of the numbers of a time: what the header names, else what agrees with a clock, else seconds.

    ``clock``: the header of a clock column and its times, (n,) s. What is not sure is added to ``notes``.
    """
    refuse_written_dates(planned.header, values)
    known = planned.unit.times / planned.unit.over if planned.unit else 1.0
    span, elapsed = rise_of(values, clock[1]) if clock is not None else (0.0, 0.0)
    if clock is not None and span * known > _LEAST:
        notes += _standing(clock[0], clock[1])
    notes += falls_beside(planned, values, clock)
    days = as_days(planned, values) if clock is None and not mapped and known == 1.0 else []
    notes += days
    if planned.stated:
        if clock is not None and not mapped:
            notes += _against_clock(planned, clock[0], span, elapsed, known)
        return planned.unit
    factor = agreeing(span, elapsed, (known, *_FACTORS))
    if clock is not None and factor is not None:
        word, symbol = time_words(factor)
        text = (
            f"'{planned.header}' names no unit. It was read in {word}, which agrees "
            f"with the clock times in '{clock[0]}'."
        )
        notes.append(Finding("assumed", "time_unit", text, mapping({planned.header: f"Time [{symbol}]"})))
        return Unit("s", factor)
    word, symbol = time_words(known)
    text = f"'{planned.header}' names no unit. It was read as {word}."
    notes.append(Finding("assumed", "time_unit", text, mapping({planned.header: f"Time [{symbol}]"})))
    if clock is not None and span > 0 and elapsed > _LEAST and not 1 / _OTHER < elapsed / (span * known) < _OTHER:
        text = (
            f"'{planned.header}' was read as {word} and rises by {span * known:.6g} s, while the clock times in "
            f"'{clock[0]}' go on by {elapsed:.6g} s. If it is not the time of the test, say "
            f"{mapping({clock[0]: TIME})}."
        )
        notes.append(Finding("odd", "time_unit", text))
    elif clock is None and known == 1.0 and not days:
        notes += by_interval(planned, values)
    return planned.unit


def falls_beside(planned: Planned, values: Floats, clock: tuple[str, Floats] | None) -> list[Finding]:
    """A warning if a time, (n,) of any unit, falls where a clock beside it goes on, so that the clock is the better.

    A spreadsheet writes ``1:05:00`` as ``05:00.0``. A clock of days alone says nothing of that.
    """
    if clock is None or planned.restarts:
        return []
    known = np.isfinite(values) & np.isfinite(clock[1])
    moments, down = clock[1][known], np.diff(values[known]) < 0
    gone = np.diff(moments)
    if not down.any() or not (gone[down] > 0).all() or (gone < 0).any() or (moments % _DAY == 0).all():
        return []
    text = (
        f"'{planned.header}' falls {times(int(down.sum()))}, while the clock times in '{clock[0]}' go on. A "
        "spreadsheet may have left out its hours, or it is the time of a step or a cycle. If so, say "
        f"{mapping({clock[0]: TIME})}."
    )
    return [Finding("odd", "time_falls_beside_clock", text)]


def _standing(header: str, moments: Floats) -> list[Finding]:
    """A warning if a clock beside a time that goes on shows one moment, as where a spreadsheet has rounded it.

    A midnight is a column of days, which may well be one day.
    """
    known = moments[np.isfinite(moments)]
    if len(known) < 2 or known.min() < known.max() or known[0] % _DAY == 0:
        return []
    text = (
        f"The clock times in '{header}' stand still, while the time goes on: they may have been rounded. They were "
        f"taken for the start of the test. If they are not, say {mapping({header: header + ' (no clock)'})}."
    )
    return [Finding("odd", "clock_stands_still", text)]


def _against_clock(planned: Planned, clock: str, span: float, elapsed: float, known: float) -> list[Finding]:
    """A warning if a time rises as if its header named the wrong unit."""
    rise = span * known
    if elapsed <= _LEAST or rise <= 0 or agreeing(rise, elapsed, (1.0,)) is not None:
        return []
    factor = next((scale for scale in _SCALES if abs(elapsed / span / scale - 1) <= _AGREE), None)
    if factor is None:
        return []
    word, symbol = time_words(factor)
    text = (
        f"'{planned.header}' rises by {rise:.6g} s, while the clock times in '{clock}' go on by {elapsed:.6g} s. Is it "
        f"in {word}? If so, say {mapping({planned.header: f'Time [{symbol}]'})}."
    )
    return [Finding("odd", "time_unit", text)]


def by_interval(planned: Planned, values: Floats) -> list[Finding]:
    """A warning if the usual interval is a crooked part of a second, and whole seconds in minutes, hours or days."""
    steps = np.diff(values[np.isfinite(values)])
    steps = steps[steps > 0]
    usual = float(np.median(steps)) if len(steps) else 0.0
    if not 0 < usual < 1 or _is_whole(1e3 * usual):
        return []
    factor = next((factor for factor in (60.0, 3600.0, 86400.0) if _is_whole(usual * factor)), None)
    if factor is None:
        return []
    word, symbol = time_words(factor)
    text = (
        f"The usual interval of '{planned.header}', which names no unit, is {usual:.4g}: {usual * factor:.4g} s if it "
        f"is in {word}. If so, say {mapping({planned.header: f'Time [{symbol}]'})}."
    )
    return [Finding("odd", "time_unit", text)]


def as_days(planned: Planned, values: Floats) -> list[Finding]:
    """A warning if the numbers of a time are days of Excel or MATLAB: they begin as these do, and go on by less than
    samples of seconds ever are apart."""
    found, steps = counted_clock(values), np.diff(values[np.isfinite(values)])
    steps = steps[steps > 0]
    usual = float(np.median(steps)) if len(steps) else 0.0
    if found is None or not found.is_local or not 0 < usual < _SHORTEST:
        return []
    text = (
        f"The numbers of '{planned.header}' begin at {values[np.isfinite(values)][0]:.6g} and go on by {usual:.3g}: "
        f"as days of Excel or MATLAB they are {usual * _DAY:.4g} s apart. If they are, say "
        f"{mapping({planned.header: 'Date'})}."
    )
    return [Finding("odd", "time_unit", text)]


def _is_whole(value: float) -> bool:
    return value > 0.5 and abs(value / round(value) - 1) <= _AGREE / max(1.0, value / 10)


def moments_of(cells: Cells, decimal: str | None) -> Floats | None:
    """(n,) s, the times of a clock column; None if it has none that can be read."""
    if not is_text(cells):
        values = numbers(cells, decimal)[0]
        counted = counted_clock(values)
        return None if counted is None else values * counted.seconds
    pattern, _ = clock_format(some_texts(cells), None, later_texts(cells))
    if pattern is None:
        return None
    stamps = clocks(cells, pattern)
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)


def without_letter(plan: Plan, values: Floats, clock: Floats, notes: list[Finding]) -> None:
    """Do not take a column 'T' for the time if it does not go on as a clock column beside it. Changes ``plan``.

    'T' alone may be a time; beside dates it mostly is a temperature.
    """
    planned = plan.find(TIME)
    if planned is None or plan.clock is None:
        return
    span, elapsed = rise_of(values, clock)
    if agreeing(span, elapsed) is not None or elapsed <= _LEAST:
        return
    place = plan.columns.index(planned)
    plan.columns[place] = replace(planned, name=planned.header, role="free", unit=None)
    plan.columns.append(plan.columns.pop(place))
    text = (
        f"'{planned.header}' does not go on as the clock times in '{plan.clock.header}' do, so it is not the time. It "
        f"keeps its name; if it is a temperature, say {mapping({planned.header: TEMPERATURE})}."
    )
    notes.append(Finding("assumed", "not_time", text))


def coarse_clock(header: str, moments: Floats) -> list[Finding]:
    """A warning if many samples have the clock time of the one before: a clock of whole minutes, for example."""
    known = moments[np.isfinite(moments)]
    steps = np.diff(known)
    if not len(steps) or float(np.mean(steps == 0)) <= _SHARED or not (steps > 0).any():
        return []
    usual = float(np.median(steps[steps > 0]))
    text = (
        f"{counted(int((steps == 0).sum()), 'sample')} of the first {spaced(len(known))} have the clock time of the "
        f"one before: '{header}' goes on by {usual:.6g} s at a time. Times and charges are off by as much in each "
        "step. Export it with seconds, or with the time of the test."
    )
    return [Finding("odd", "coarse_clock", text)]


def two_parts(
    planned: Planned, texts: Cells, beside: Callable[[], tuple[str, Floats] | None]
) -> tuple[str, list[Finding]]:
    """What says how times of two parts, such as ``0:30``, are meant, and the note on it if only the clock says it.

    ``texts``, (n,), are the times. ``beside`` gives the header of a clock column and its times, (n,) s. They are
    minutes and seconds unless the header or the clock says that they are hours and minutes.
    """
    if planned.stated or ":" in planned.header or not have_two_parts(texts.dropna().head(_SAMPLE)):
        return planned.of_durations, []
    said = f"The times in '{planned.header}', such as '{texts.dropna().iloc[0]}', were read as"
    in_hours, in_minutes = (mapping({planned.header: f"Time [{unit}]"}) for unit in ("h", "min"))
    clock = beside()
    if clock is not None and _are_hours(durations(texts)[0], clock[1]):
        text = f"{said} hours and minutes, which agrees with the clock times in '{clock[0]}'."
        return HOURS_AND_MINUTES, [Finding("assumed", "time_parts", text, in_hours)]
    text = f"{said} minutes and seconds. If they are hours and minutes, say {in_hours}."
    return planned.of_durations, [Finding("assumed", "time_parts", text, in_minutes)]


def _are_hours(passed: Floats, moments: Floats) -> bool:
    """Whether times, (n,) s if they are minutes and seconds, go on 60 times as fast, as a clock, (n,) s, shows.

    They may start again with each step. Each run of them is off by up to a minute.
    """
    known = np.isfinite(passed) & np.isfinite(moments)
    passed, moments = passed[known], moments[known]
    if (moments % _DAY == 0).all():
        return len(np.unique(moments)) > 1 and are_of_days(60.0 * passed, moments)
    on = np.diff(passed) >= 0
    span, elapsed = float(np.diff(passed)[on].sum()), float(np.diff(moments)[on].sum())
    slack = 60.0 * (1 + np.count_nonzero(~on)) + _AGREE * elapsed
    return bool(elapsed > 2.0 * slack and abs(elapsed - 60.0 * span) <= slack)
