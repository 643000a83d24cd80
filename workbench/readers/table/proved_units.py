"""Units that the numbers of a file prove: millivolts by energy over charge, milliamperes and hours by charge over time.

A header often names no unit, or a wrong one. Where the capacity and energy of the same file have one, they say what
the voltage, the current or the time is in. Nothing is guessed: a unit is used only if the numbers agree with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...cycling.columns import CURRENT, TEMPERATURE, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...messages import column_map as mapping
from ...units import split_unit
from .columns import Plan, Planned, order_of
from .header_units import Unit, split_header, unit_of
from .time_evidence import without_letter
from .values import Floats, is_text, numbers

Frames = Callable[[Sequence[str]], pd.DataFrame]
"""Gives the first rows of some columns of a file, by header."""
Moments = Callable[[str], Floats | None]
"""Gives the first times of a clock column, (n,) s, by its header; None if they cannot be read."""

_AGREE = 0.03
_LEAST = 5
_NOT_VOLTS = 500.0
"""V. A usual voltage above this is not that of a cell or a module."""
_KELVIN = (220.0, 375.0)
_NOT_CELSIUS = 200.0
_SHORT, _LONG = 0.05, 500.0
"""s between which the usual interval of a test is."""
_PREFIXED = {1e3: "m", 1e6: "u"}
_TIMES = {1e-3: "ms", 60.0: "min", 3600.0: "h"}
_COUNTED = {
    "A.h": {1e3: "mA.h", 1e6: "uA.h", 3600.0: "A.s"},
    "W.h": {1e3: "mW.h", 1e6: "uW.h", 3600.0: "J"},
}
"""Unit of a counter -> how often others go into it, and their symbols."""
_PAIRS = (
    ("Discharge capacity [A.h]", "Discharge energy [W.h]"),
    ("Charge capacity [A.h]", "Charge energy [W.h]"),
)
_CAPACITIES = ("capacity", "cap", "amp-hr", "ah", "q", "charge", "cumulative capacity", "total capacity")
_ENERGIES = ("energy", "watt-hr", "wh", "cumulative energy", "total energy")


class Counter(NamedTuple):
    """A counter of the file: its header and the unit of its numbers."""

    header: str
    unit: Unit


def prove_units(plan: Plan, frames: Frames, moments: Moments, decimal: str | None, notes: list[Finding]) -> None:
    """Use the units that the first rows prove. Changes ``plan``.

    Columns that a person mapped keep their units. A unit that the header names is only replaced for a voltage, if
    energy over charge proves another and the numbers cannot be those of a cell.
    """
    proof = _Proof(plan, frames, decimal)
    _settle_letter(plan, proof, moments, notes)
    _prove_both(plan, proof, notes)
    for name, prove in ((VOLTAGE, proof.voltage), (TIME, proof.time), (CURRENT, proof.current)):
        column = plan.find(name)
        found = prove(column) if column is not None and column.header not in plan.mapped else None
        if column is None or found is None:
            continue
        unit, symbol, because = found
        plan.columns[plan.columns.index(column)] = replace(column, unit=unit, stated=True)
        text = f"'{column.header}' was read in {symbol}: {because}."
        fix = mapping({column.header: f"{split_unit(name)[0]} [{symbol}]"})
        if column.stated and name == VOLTAGE and split_header(column.header).unit is not None:
            text += f" To keep the unit of the header, say {mapping({column.header: name})}."
            notes.append(Finding("odd", "unit_proved", text, fix))
        else:
            notes.append(Finding("assumed", "unit_proved", text, fix))
    _prove_counters(plan, proof, notes)
    _settle_kelvin(plan, proof, notes)


def _settle_letter(plan: Plan, proof: _Proof, moments: Moments, notes: list[Finding]) -> None:
    """A column 'T' beside dates is the time only if it goes on as they do."""
    time, clock = plan.find(TIME), plan.clock
    if (
        time is None
        or clock is None
        or time.header.strip() != "T"
        or time.header in plan.mapped
        or proof.is_text(time)
    ):
        return
    times = moments(clock.header)
    if times is not None:
        without_letter(plan, proof.values(time.header), times, notes)


def _prove_both(plan: Plan, proof: _Proof, notes: list[Finding]) -> None:
    """The units of a time and a current that both name none, by the one pair with which a counter agrees."""
    time, current = plan.find(TIME), plan.find(CURRENT)
    if (
        time is None
        or current is None
        or time.stated
        or current.stated
        or {time.header, current.header} & plan.mapped
    ):
        return
    found = proof.both(current, time)
    if found is None:
        return
    (times, seconds), because = found
    for column, name, unit, symbol in (
        (current, CURRENT, Unit("A", 1.0, times), f"{_PREFIXED.get(times, '')}A"),
        (time, TIME, unit_of(_TIMES.get(seconds, "s")), _TIMES.get(seconds, "s")),
    ):
        plan.columns[plan.columns.index(column)] = replace(column, unit=unit, stated=True)
        text = f"'{column.header}' was read in {symbol}: '{because}' rises by that current in that time."
        notes.append(
            Finding("assumed", "unit_proved", text, mapping({column.header: f"{split_unit(name)[0]} [{symbol}]"}))
        )


def _prove_counters(plan: Plan, proof: _Proof, notes: list[Finding]) -> None:
    """The units of counters that name none, by the current, the time and the voltage, which name theirs."""
    for pair in _PAIRS:
        for name in pair:
            column = plan.find(name)
            if column is None or column.stated or column.header in plan.mapped:
                continue
            base = split_unit(name)[1] or ""
            over = proof.counter(column, base)
            if over is None:
                continue
            unit = Unit(base, 1.0, over)
            symbol = _COUNTED[base][over]
            plan.columns[plan.columns.index(column)] = replace(column, unit=unit, stated=True)
            text = f"'{column.header}' was read in {symbol}: it rises as fast as the current of the file says."
            fix = mapping({column.header: f"{split_unit(name)[0]} [{symbol}]"})
            notes.append(Finding("assumed", "unit_proved", text, fix))


def _settle_kelvin(plan: Plan, proof: _Proof, notes: list[Finding]) -> None:
    column = plan.find(TEMPERATURE)
    if column is None or column.stated or column.header in plan.mapped:
        return
    values = proof.values(column.header)
    values = values[np.isfinite(values)]
    if not len(values) or values.min() < _KELVIN[0] or values.max() > _KELVIN[1]:
        return
    plan.columns[plan.columns.index(column)] = replace(column, unit=unit_of("K"), stated=True)
    text = f"'{column.header}' names no unit. It was read in K: all of its values are above {_NOT_CELSIUS:g}."
    notes.append(Finding("assumed", "unit_proved", text, mapping({column.header: "Temperature [K]"})))


class _Proof:
    def __init__(self, plan: Plan, frames: Frames, decimal: str | None) -> None:
        self.plan, self._frames, self.decimal = plan, frames, decimal
        self._known: dict[str, Floats] = {}
        self.pairs = self._counters()

    def values(self, header: str) -> Floats:
        """(n,) float, the first rows of a column as the file has them; NaN where they are not numbers."""
        if header not in self._known:
            cells = self._frames([header])[header]
            self._known[header] = np.asarray(numbers(cells, self.decimal)[0], np.float64)
        return self._known[header]

    def _counters(self) -> list[tuple[Counter | None, Counter | None]]:
        """(capacity, energy) of each direction, where the file names their units."""
        made = []
        for capacity, energy in _PAIRS:
            both = [self.plan.find(name) for name in (capacity, energy)]
            made.append(tuple(_counter(column) for column in both))
        plain = [self._plain(names, base) for names, base in ((_CAPACITIES, "A.h"), (_ENERGIES, "W.h"))]
        return [(first, second) for first, second in (*made, tuple(plain)) if first is not None]

    def _plain(self, names: Sequence[str], base: str) -> Counter | None:
        for label in self.plan.labels:
            head = split_header(label)
            unit = unit_of(head.unit)
            if head.key in names and unit is not None and unit.base == base:
                return Counter(label, unit)
        return None

    def _rises(self, counter: Counter) -> Floats:
        """(n - 1,) float, what a counter rises between two rows, in A.h or W.h; 0 where it starts again."""
        rises = np.diff(np.abs(counter.unit.convert(self.values(counter.header))))
        return np.where(np.isfinite(rises) & (rises > 0), rises, 0.0)

    def voltage(self, column: Planned) -> tuple[Unit, str, str] | None:
        """Millivolts, if energy over charge is a thousandth of the numbers."""
        if not any(energy is not None for _, energy in self.pairs) or not self._is_plain(column, "V"):
            return None
        volts = np.abs(self.values(column.header))
        usual = volts[np.isfinite(volts)]
        if not len(usual) or float(np.median(usual)) < _NOT_VOLTS:
            return None
        for capacity, energy in self.pairs:
            if capacity is None or energy is None:
                continue
            charge, work = self._rises(capacity), self._rises(energy)
            both = (charge > 0) & (work > 0) & np.isfinite(volts[1:])
            if int(both.sum()) < _LEAST:
                continue
            by_energy = float(work[both].sum() / charge[both].sum())
            shown = float(((volts[1:] + volts[:-1])[both] / 2 * charge[both]).sum() / charge[both].sum())
            times = _near(shown / by_energy, _PREFIXED)
            if times is not None:
                text = f"'{energy.header}' over '{capacity.header}' is {by_energy:.4g} V"
                return Unit("V", 1.0, times), f"{_PREFIXED[times]}V", text
        return None

    def current(self, column: Planned) -> tuple[Unit, str, str] | None:
        """Milliamperes or microamperes, if the charge over time is as much smaller than the numbers."""
        time = self.plan.find(TIME)
        if column.stated or column.per_time or not self._is_plain(column, "A") or time is None:
            return None
        if not self._has_seconds(time):
            return None
        found = self._ratio(column, time)
        times = _near(found[0], _PREFIXED) if found is not None else None
        if found is None or times is None:
            return None
        return Unit("A", 1.0, times), f"{_PREFIXED[times]}A", f"'{found[1]}' rises by a current of that size"

    def time(self, column: Planned) -> tuple[Unit, str, str] | None:
        """Milliseconds, minutes or hours, if the charge over the current takes as long."""
        current = self.plan.find(CURRENT)
        if (
            column.stated
            or column.restarts
            or self.plan.clock is not None
            or current is None
            or not current.stated
        ):
            return None
        if not self._is_plain(column, "s") or current.per_time or self.is_text(column):
            return None
        found = self._ratio(current, column)
        unit = _near(1.0 / found[0], _TIMES) if found is not None and found[0] > 0 else None
        if found is None or unit is None:
            return None
        known = unit_of(_TIMES[unit])
        return (known, _TIMES[unit], f"'{found[1]}' takes so long to rise") if known is not None else None

    def counter(self, column: Planned, base: str) -> float | None:
        """How many of the unit of a counter are one of ours, if the flow over time shows that it is another."""
        current, time, voltage = (self.plan.find(name) for name in (CURRENT, TIME, VOLTAGE))
        if (
            current is None
            or time is None
            or current.per_time
            or not current.stated
            or not self._has_seconds(time)
        ):
            return None
        if base == "W.h" and (voltage is None or not voltage.stated):
            return None
        flow = np.abs(current.apply(self.values(current.header)))
        if base == "W.h" and voltage is not None:
            flow = flow * np.abs(voltage.apply(self.values(voltage.header)))
        ratio = self._against(flow, time, Counter(column.header, Unit(base)))
        return _near(1.0 / ratio, dict(_COUNTED[base])) if ratio else None

    def both(self, current: Planned, time: Planned) -> tuple[tuple[float, float], str] | None:
        """How often the numbers hold an ampere, the seconds of the time's unit, and the counter that shows it.

        Milliamperes in seconds and amperes in milliseconds agree with the same counter: the usual interval decides.
        """
        if current.per_time or time.restarts or self.is_text(time):
            return None
        if not self._is_plain(current, "A") or not self._is_plain(time, "s"):
            return None
        found = self._ratio(current, time)
        if found is None or found[0] <= 0:
            return None
        pairs = [(times, seconds) for times in (1.0, *_PREFIXED) for seconds in (1.0, *_TIMES)]
        fitting = [pair for pair in pairs if abs(found[0] * pair[1] / pair[0] - 1) < _AGREE]
        steps = np.diff(self.values(time.header))
        usual = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
        fitting = [(times, seconds) for times, seconds in fitting if _SHORT <= usual * seconds <= _LONG]
        if len(fitting) != 1 or fitting[0] == (1.0, 1.0):
            return None
        return fitting[0], found[1]

    def _has_seconds(self, time: Planned) -> bool:
        return time.stated and not self.is_text(time)

    def is_text(self, column: Planned) -> bool:
        return is_text(self._frames([column.header])[column.header])

    def _is_plain(self, column: Planned, base: str) -> bool:
        """Whether a column is read in its base unit: the header names that or none."""
        return column.unit is None or column.unit == Unit(base)

    def _ratio(self, current: Planned, time: Planned) -> tuple[float, str] | None:
        """Charge by current and time, as they are read now, over the rise of a counter, and the counter's header."""
        flow = np.abs(current.apply(self.values(current.header)))
        for capacity, _ in self.pairs:
            ratio = None if capacity is None else self._against(flow, time, capacity)
            if ratio is not None and capacity is not None:
                return ratio, capacity.header
        return None

    def _against(self, flow: Floats, time: Planned, counter: Counter) -> float | None:
        """What flows by the time, over the rise of a counter in the same rows; None where too few rows rise."""
        passed = np.diff(time.apply(self.values(time.header)))
        area = (flow[1:] + flow[:-1]) / 2 * passed / 3600
        rises = self._rises(counter)
        good = (rises > 0) & (passed > 0) & np.isfinite(area) & (np.minimum(flow[1:], flow[:-1]) > 0)
        return float(area[good].sum() / rises[good].sum()) if int(good.sum()) >= _LEAST else None


def _counter(column: Planned | None) -> Counter | None:
    if column is None or not column.stated or column.unit is None:
        return None
    return Counter(column.header, column.unit)


def _near(ratio: float, wanted: dict[float, str]) -> float | None:
    """The wanted factor that a ratio agrees with; None if it agrees with none."""
    return next((factor for factor in wanted if abs(ratio / factor - 1) < _AGREE), None)


def take_temperature(plan: Plan, first: pd.DataFrame, notes: list[Finding]) -> None:
    """Use a column of sensor values as the temperature, if the file has no other. Changes ``plan``.

    Exports with free sensor channels name the unit in a text column beside the values. The column is used if that
    unit is a degree and the values of the first batch are possible at a cell.
    """
    if plan.find(TEMPERATURE) is not None:
        return
    for place, column in enumerate(plan.columns):
        beside = f"{column.header} units"
        if column.role != "free" or beside not in first or is_text(first[column.header]):
            continue
        words = set(first[beside].dropna().astype("str").str.strip().unique())
        unit = unit_of(words.pop()) if len(words) == 1 else None
        values = first[column.header].dropna()
        if unit is None or unit.base != "degC" or values.empty or not values.between(-60, 200).all():
            continue
        plan.columns[place] = Planned(column.header, TEMPERATURE, "number", unit)
        plan.columns.sort(key=lambda planned: order_of(planned.name))
        text = (
            f"'{column.header}' is taken as the temperature: '{beside}' names its unit, and its values are likely."
        )
        notes.append(Finding("assumed", "temperature", text, mapping({column.header: TEMPERATURE})))
        return
