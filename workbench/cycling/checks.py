"""Checks of the samples of a series while they are read: clock, nulls, voltages, counters against integrals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..messages import column_map, counted, option, spaced, times
from ..table import Table
from . import columns as c
from .empty_samples import EmptySamples
from .far_voltages import FarVoltages
from .findings import Finding
from .owned_intervals import Gaps, Owned
from .run_statistics import Floats, Ints
from .sign_check import BY_CONVENTION, Taken, WindowVotes, judge

_FACTORS = {
    3600.0: "hours read as seconds",
    1000.0: "a unit read as one that is 1000 times smaller",
    60.0: "minutes for seconds",
}
_GAP = 3600.0
_SLOW = 600.0
_APART = 0.005
_APART_WITHIN = 0.05
"""For samples that are given by hand, whose intervals between two steps are in no counter."""
_HINTED = 0.05
_LITTLE = 1e-4
"""Share of all that passes below which a difference is not worth a word."""
_ANEW = 0.05
"""Share of the time that has passed up to which a time that falls has begun anew."""
_NOT_VOLTS = 500.0
_KELVINS = (200.0, 400.0)
_OF_A_CELL = (-100.0, 150.0)
"""degC that a cell may have."""
_FEW = 2
"""Samples that may have one time: a test that has just begun."""
_SPIKE = 1.0
"""A sample that differs from both neighbours by more volts than this is not a measurement of a cell."""


class Clock:
    """Watches the time of a series: where it falls, repeats or has gaps, and its usual interval."""

    def __init__(self) -> None:
        self.falls, self.first_fall, self.deepest = 0, -1, 0.0
        self.anew = 0
        self.explained = 0
        """Falls that are a change from summer time: another warning says what to do."""
        self.repeats, self.duplicates = 0, 0
        self.longest, self.longest_at = 0.0, -1
        self.nulls = 0
        self.samples = 0
        self.first: float | None = None
        self.intervals: list[float] = []
        self.under_current: list[float] = []
        self._last: tuple[float, float, float] | None = None

    def feed(self, row: int, time: Floats, current: Floats, voltage: Floats, impedance: Floats) -> None:
        """Take the next samples, each (n,) float; ``row`` is the number of the first."""
        self.nulls += int((np.isnan(time) & np.isnan(impedance)).sum())
        known = np.flatnonzero(~np.isnan(time))
        if not len(known):
            return
        self.samples += len(known)
        t, i, v = time[known], current[known], voltage[known]
        if self.first is None:
            self.first = float(t[0])
        if self._last is not None:
            t, i, v = (np.concatenate([[last], part]) for last, part in zip(self._last, (t, i, v), strict=True))
            known = np.concatenate([[known[0]], known])
        self._last = (float(t[-1]), float(i[-1]), float(v[-1]))
        gaps = np.diff(t)
        if not len(gaps):
            return
        self._falls(row + known[1:], t, gaps)
        again = gaps == 0
        self.repeats += int(again.sum())
        self.duplicates += int((again & (np.diff(i) == 0) & (np.diff(v) == 0)).sum())
        forward = gaps > 0
        if forward.any():
            self.intervals.append(float(np.median(gaps[forward])))
        flows = forward & (i[1:] != 0) & (i[:-1] != 0)
        if flows.any():
            self.under_current.append(float(np.median(gaps[flows])))
        largest = int(np.argmax(gaps))
        if gaps[largest] > self.longest:
            self.longest, self.longest_at = float(gaps[largest]), int(row + known[largest + 1])

    def _falls(self, rows: Ints, time: Floats, gaps: Floats) -> None:
        down = gaps < 0
        if down.any():
            self.falls += int(down.sum())
            passed = time - (self.first or 0.0)
            self.anew += int((down & begins_anew(passed)).sum())
            self.deepest = max(self.deepest, float(-gaps.min()))
            if self.first_fall < 0:
                self.first_fall = int(rows[np.flatnonzero(down)[0]])

    @property
    def duration(self) -> float | None:
        """Time from the first to the last sample that has a time, s; None if no sample has one."""
        return None if self._last is None or self.first is None else self._last[0] - self.first

    @property
    def usual(self) -> float:
        """The usual interval, s; 0 if there is none."""
        return float(np.median(self.intervals)) if self.intervals else 0.0

    def findings(self, gaps: Gaps | None = None) -> list[Finding]:
        """The warnings about the time; ``gaps`` are those over which nothing was integrated, if that was looked at."""
        made = []
        if self.falls:
            message = (
                f"Time falls {times(self.falls)}, first at sample {self.first_fall}, "
                f"by up to {self.deepest:g} s. It is stored as it is.{self._ways_out()}"
            )
            made.append(Finding("odd", "time_falls", message))
        if self.samples > _FEW and not self.falls and self.longest == 0:
            message = (
                f"Time stands still: all {spaced(self.samples)} samples have the same time, so nothing could be "
                f"integrated. If another column is the time, say {column_map({'its name': c.TIME})}, or export the "
                "test again with its times."
            )
            made.append(Finding("odd", "time_stands_still", message))
        if gaps is not None:
            made += self._gap_findings(gaps)
        elif self.longest > max(_GAP, 100 * self.usual):
            message = (
                f"The longest gap in time is {self.longest:g} s, before sample {self.longest_at}. "
                f"The usual gap is {self.usual:g} s."
            )
            made.append(Finding("odd", "time_gap", message))
        if self.under_current and float(np.median(self.under_current)) > _SLOW:
            message = (
                f"Samples under current are {np.median(self.under_current):g} s apart. "
                "The time may not be in seconds: it may be in a smaller unit, or 3600 times too large."
            )
            made.append(Finding("odd", "time_unit", message))
        if self.duplicates:
            again = "repeats" if self.duplicates == 1 else "repeat"
            message = (
                f"{counted(self.duplicates, 'sample')} {again} the time, current and voltage of the one before."
            )
            made.append(Finding("odd", "rows_repeated", message))
        if self.nulls:
            message = f"{counted(self.nulls, 'sample')} without a time. Only impedance samples may have none."
            made.append(Finding("odd", "time_null", message))
        return made

    def _ways_out(self) -> str:
        """What may have happened where time falls, and what to do; empty if all of it is said elsewhere."""
        others = self.falls - self.explained
        if others <= 0:
            return ""
        repair = option("repair", "time")
        if self.explained:
            return f" What still falls once the zone is said was set back: {repair} makes the clock stand still there."
        if self.anew < others:
            return (
                f" If the clock was set back, {repair} makes the clock stand still there. If samples come twice or out "
                "of order, what passed in that time counts twice: remove or sort them, and ingest the file again."
            )
        where = "there" if self.falls == 1 else "each time"
        return (
            f" It starts anew {where}. If another test begins there, put each test in a file of its own; if it is the "
            f"time of a step or a cycle, {repair} makes it go on from the last one."
        )

    def _gap_findings(self, gaps: Gaps) -> list[Finding]:
        made = []
        if gaps.slow:
            said = (
                f"{counted(gaps.slow, 'interval')} under current {'is' if gaps.slow == 1 else 'are'} long, up to "
                f"{gaps.slowest:g} s, where the usual one is {self.usual:g} s. The intervals beside them are long too, "
                "so they are not gaps: they were integrated."
            )
            made.append(Finding("assumed", "long_intervals", said))
        if not gaps.count:
            return made
        longest = f"{gaps.longest:g} s, before sample {gaps.at}"
        if gaps.count == 1:
            said = f"There is a gap in time of {longest}: nothing was integrated over it. "
        else:
            said = (
                f"There are {counted(gaps.count, 'gap')} in time, {gaps.total:g} s together: nothing was integrated "
                f"over them. The longest is {longest}. "
            )
        said += f"The usual interval is {self.usual:g} s."
        if gaps.loaded:
            said += (
                f" Current flowed before and after {spaced(gaps.loaded)} of them; if it flowed all the time, "
                f"{gaps.missed:.4g} A.h passed there."
            )
        warned = gaps.loaded or gaps.longest > max(_GAP, 100 * self.usual)
        return [*made, Finding("odd" if warned else "assumed", "time_gap", said)]


def begins_anew(passed: Floats) -> NDArray[np.bool_]:
    """(n - 1,) whether each time but the first is at the begin again. ``passed``: (n,) s since the first."""
    anew: NDArray[np.bool_] = np.abs(passed[1:]) <= _ANEW * passed[:-1]
    return anew


class Passed:
    """Sums charge and energy twice: from the counters of the file, and as integrals over the samples."""

    def __init__(self, apart: float = _APART_WITHIN) -> None:
        self.counted = dict.fromkeys(c.COUNTERS, 0.0)
        self.integrated = dict.fromkeys(c.COUNTERS, 0.0)
        self._apart = apart

    def take(self, steps: Table, owned: Owned, names: Iterable[str]) -> None:
        """Compare these counters of steps that own their intervals with the integrals over the test."""
        self._apart = _APART
        whole = owned.both.sum(axis=0)
        for place, name in enumerate(c.COUNTERS):
            if name in names:
                self.counted[name] = float(np.nansum(steps[name].floats()))
                self.integrated[name] = float(whole[place])

    def feed(self, table: Table, steps: Ints, time: Floats, current: Floats, voltage: Floats) -> None:
        """Take the next samples, each (n,) float. Counters start at 0 in each step."""
        if not any(name in table for name in c.COUNTERS) or table.n < 2:
            return
        same = steps[1:] == steps[:-1]
        hours = np.where(same, np.diff(time), np.nan) / 7200
        power = current * voltage
        flows = (np.maximum(current, 0), np.maximum(-current, 0), np.maximum(power, 0), np.maximum(-power, 0))
        for name, flow in zip(c.COUNTERS, flows, strict=True):
            if name in table:
                rise = np.diff(table[name].floats())
                area = hours * (flow[1:] + flow[:-1])
                both = same & np.isfinite(rise) & np.isfinite(area)
                self.counted[name] += float(rise[both].sum())
                self.integrated[name] += float(area[both].sum())

    def findings(self, *, negative: bool = False) -> list[Finding]:
        """A warning for each counter that is not what the samples give; ``negative``: some voltages are below 0."""
        made = []
        for name, other in zip(c.COUNTERS, (1, 0, 3, 2), strict=True):
            counted, integrated = self.counted[name], self.integrated[name]
            both = max(self.counted[one] + self.integrated[one] for one in (name, c.COUNTERS[other]))
            apart = abs(integrated - counted)
            if not np.isfinite(apart) or apart <= max(self._apart * max(counted, integrated), _LITTLE * both):
                continue
            ratio = integrated / counted if counted else np.inf
            what = "current" if name in c.COUNTERS[:2] else "power"
            message = f"'{name}' counts {counted:.6g}, the integral of the {what} gives {integrated:.6g}"
            message += f" ({ratio:.4g} times as much){_hint(ratio)}." if counted else "."
            if what == "power" and negative and self._by_current():
                message += (
                    " Both directions together agree: the counters go by the direction of the current, and where the "
                    "voltage is negative the power goes the other way. An energy efficiency of them says nothing."
                )
            made.append(Finding("odd", "capacity_apart" if what == "current" else "energy_apart", message))
        return made

    def _by_current(self) -> bool:
        """Whether the energies of both directions together are those of the power, though each is not."""
        counted, integrated = (
            sum(sums[name] for name in c.COUNTERS[2:]) for sums in (self.counted, self.integrated)
        )
        return integrated > 0 and abs(counted - integrated) <= _HINTED * integrated


def _hint(ratio: float) -> str:
    """Which wrong unit explains the ratio of integral to counter; empty if none does."""
    for factor, meaning in _FACTORS.items():
        what = "time or the current" if factor == 1000 else "time"
        if abs(ratio * factor - 1) < _HINTED:
            return f": the {what} looks {factor:g} times too small ({meaning})"
        if abs(ratio / factor - 1) < _HINTED:
            return f": the {what} looks {factor:g} times too large"
    return ""


class Survey:
    """Watches the samples of one series as they will be stored; :meth:`findings` gives the warnings about them.

    ``owning``: its steps own every interval, and their sums are compared with the integrals once they are made.
    """

    def __init__(self, *, owning: bool = False) -> None:
        self.rows = 0
        self.gaps: Gaps | None = None
        self._owning = owning
        self.clock = Clock()
        self.passed = Passed()
        self.windows = WindowVotes()
        self.present: frozenset[str] = frozenset()
        self.highest_voltage, self.lowest_voltage = -np.inf, np.inf
        self._negative = 0
        self._infinite = 0
        self._unknown = {c.CURRENT: 0, c.VOLTAGE: 0}
        self._voltages: list[float] = []
        self._far = FarVoltages()
        self._empty = EmptySamples()
        self._currents: list[float] = []
        self._temperatures: list[float] = []

    def feed(self, table: Table, steps: Ints) -> None:
        """Take the next samples with their step numbers (n,)."""
        self.present = frozenset(table)
        time, current, voltage, impedance = (
            _numbers(table, name) for name in (c.TIME, c.CURRENT, c.VOLTAGE, c.FREQUENCY)
        )
        if c.TIME in table:
            self.clock.feed(self.rows, time, current, voltage, impedance)
        if not self._owning:
            with np.errstate(invalid="ignore", over="ignore"):
                self.passed.feed(table, steps, time, current, voltage)
        swept = impedance > 0  # exports of potentiostats write 0 where there is no spectrum
        self.windows.feed(steps, np.where(swept, np.nan, current), voltage)
        for name, values in ((c.CURRENT, current), (c.VOLTAGE, voltage)):
            self._unknown[name] += int((np.isnan(values) & ~swept).sum())
            self._infinite += int(np.isinf(values).sum())
        self._negative += int((voltage < 0).sum())
        self._far.feed(self.rows, voltage, time)
        self._empty.feed(self.rows, time, np.where(swept, np.nan, current), voltage)
        finite = voltage[np.isfinite(voltage)]
        if len(finite):
            self._voltages.append(float(np.median(finite)))
            likely = finite[(finite > 0) & ~are_spikes(finite)]
            if len(likely):
                self.highest_voltage = max(self.highest_voltage, float(likely.max()))
                self.lowest_voltage = min(self.lowest_voltage, float(likely.min()))
        flows = np.abs(current[np.isfinite(current) & (current != 0)])
        if len(flows):
            self._currents.append(float(np.median(flows)))
        if c.TEMPERATURE in table:
            degrees = _numbers(table, c.TEMPERATURE)
            degrees = degrees[np.isfinite(degrees)]
            self._temperatures += [float(np.median(degrees))] if len(degrees) else []
        self.rows += table.n

    def take(self, steps: Table, owned: Owned) -> None:
        """Take what the steps of the series own."""
        self.gaps = owned.gaps
        self.passed.take(steps, owned, self.present)

    @property
    def largest_current(self) -> float:
        """Largest magnitude of the current, A; 0 if no current flows."""
        return max(self.windows.highest, -self.windows.lowest)

    @property
    def usual_voltage(self) -> float | None:
        """Median voltage, V; None if no sample has one."""
        return float(np.median(self._voltages)) if self._voltages else None

    @property
    def usual_current(self) -> float:
        """Median magnitude of the current while it flows, A; 0 if no current flows."""
        return float(np.median(self._currents)) if self._currents else 0.0

    def findings(
        self,
        steps: Table,
        *,
        settled: bool = False,
        taken: Taken = BY_CONVENTION,
        headers: Mapping[str, str] | None = None,
        rated_voltage: float | None = None,
    ) -> list[Finding]:
        """All warnings about the series.

        Parameters
        ----------
        steps : the ``steps`` of the series.
        settled, taken : see `sign_check.judge`.
        headers : our name -> the column of the file it is from, for the messages about units.
        rated_voltage : the highest of the cell, V, where somebody said so.
        """
        headers = headers or {}
        made = judge(steps, self.windows, settled=settled, taken=taken) if c.CURRENT in self.present else []
        made += self.clock.findings(self.gaps) + self.passed.findings(negative=self._negative > 0)
        if self._negative:
            message = f"The voltage is negative in {counted(self._negative, 'sample')}."
            made.append(Finding("odd", "voltage_negative", message))
        in_millivolts = abs(self.usual_voltage or 0.0) >= _NOT_VOLTS
        if in_millivolts:
            message = f"The usual voltage is {self.usual_voltage:g} V. Is it in millivolts?"
            if c.VOLTAGE in headers:
                message += f" If so, say {column_map({headers[c.VOLTAGE]: 'Voltage [mV]'})}."
            made.append(Finding("odd", "voltage_unit", message))
        made += self._far.findings(headers.get(c.VOLTAGE, c.VOLTAGE), None if in_millivolts else rated_voltage)
        made += self._of_temperature(headers)
        made += self._empty.findings()
        for name, count in self._unknown.items():
            if count and name in self.present:
                message = f"'{name}' is null in {spaced(count)} of {counted(self.rows, 'sample')}."
                made.append(Finding("odd", "null_values", message + self._not_integrated(name)))
        if self._infinite:
            message = f"The current or voltage is infinite in {counted(self._infinite, 'value')}."
            made.append(Finding("odd", "infinite_values", message))
        return made

    def _of_temperature(self, headers: Mapping[str, str]) -> list[Finding]:
        """A warning if the usual temperature is none of a cell."""
        usual = float(np.median(self._temperatures)) if self._temperatures else 0.0
        if _OF_A_CELL[0] <= usual <= _OF_A_CELL[1]:
            return []
        message = f"The usual temperature is {usual:g} degC. "
        if not _KELVINS[0] <= usual <= _KELVINS[1]:
            message += "No cell has that; a sensor that is not connected shows such values."
        elif c.TEMPERATURE in headers:
            message += f"Is it in kelvin? If so, say {column_map({headers[c.TEMPERATURE]: 'Temperature [K]'})}."
        else:
            message += "Is it in kelvin?"
        return [Finding("odd", "temperature_unit", message)]

    def _not_integrated(self, name: str) -> str:
        """What was not integrated because the current, or the voltage beside it, is null; empty if nothing was."""
        counters, unit, lost = c.COUNTERS[2:], "W.h", self.gaps and self.gaps.unpowered
        if name == c.CURRENT:
            counters, unit, lost = c.COUNTERS[:2], "A.h", self.gaps and self.gaps.unmeasured
        if not lost or not lost.missed or set(counters) <= self.present:
            return ""
        what = "No charge" if unit == "A.h" else "No energy"
        return (
            f" {what} was integrated over {lost.seconds:g} s without one; if the current flowed all the time, "
            f"{lost.missed:.4g} {unit} passed there."
        )


def are_spikes(voltage: Floats) -> NDArray[np.bool_]:
    """(n,) True where a voltage is a single jump away from both neighbours, which agree, and back."""
    spikes = np.zeros(len(voltage), bool)
    if len(voltage) > 2:
        before, at, after = voltage[:-2], voltage[1:-1], voltage[2:]
        away = np.minimum(np.abs(at - before), np.abs(at - after)) > _SPIKE
        spikes[1:-1] = away & (np.abs(after - before) < _SPIKE / 5)
    return spikes


def _numbers(table: Table, name: str) -> Floats:
    if name not in table or table[name].kind not in ("number", "integer", "null"):
        return np.full(table.n, np.nan)
    return table[name].floats()
