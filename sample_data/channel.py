"""A battery cycler: runs steps on a simulated cell and records on time, voltage and current, as a real one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
from simulated_cell import Cell

COLUMNS = [
    "time",
    "step_time",
    "cycle",
    "step",
    "run",
    "kind",
    "end",
    "current",
    "voltage",
    "temperature",
    "charge",
    "discharge",
    "charge_energy",
    "discharge_energy",
    "clock",
]


_ONSET_S = 0.8
"""How long after the onset of a step the first sample comes that ``growth`` asks for, about."""


@dataclass(frozen=True)
class Record:
    """When a sample is kept: after so many seconds, so many volts, or such a share of the current.

    With ``growth`` also when so many times the seconds of the last one have passed since the step began: samples as
    close as those of a cycler that records the onset of a pulse quickly.
    """

    seconds: float = 300.0
    volts: float = 0.04
    share: float = 0.08
    growth: float | None = None


@dataclass
class Cycler:
    """One channel with one cell on it. Times are whole multiples of `tick` (s)."""

    cell: Cell
    start: datetime
    tick: float = 1.0
    delay: float = 0.0  # s from the start of a step to its first sample
    cycle: int = 1
    rows: list[tuple[object, ...]] = field(default_factory=list)
    time: float = 0.0  # s since the test began, standing still while the channel is paused
    run: int = 0  # counts the steps that were run
    paused: float = 0.0  # s

    @property
    def clock(self) -> datetime:
        """Wall clock now."""
        return self.start + timedelta(seconds=self.time + self.paused)

    def pause_until(self, moment: datetime) -> None:
        """Let the wall clock run on while the test clock stands still (the cell is elsewhere)."""
        self.paused += max((moment - self.clock).total_seconds(), 0.0)

    def rest(self, step: int, seconds: float, record: Record) -> None:
        """Open circuit for `seconds`."""
        self._constant(step, "rest", 0.0, None, seconds, record)

    def cc(
        self, step: int, current: float, record: Record, *, until: float | None = None, seconds: float = 400_000.0
    ) -> None:
        """Constant current (A, positive = discharge) until a voltage (V) or for some seconds."""
        self._constant(step, "cc", current, until, seconds, record)

    def cv(self, step: int, voltage: float, stop: float, record: Record, seconds: float = 14_400.0) -> None:
        """Hold `voltage` (V) until the charging current falls to `stop` (A)."""
        counter = _Counter()
        current = self._solve(voltage, 0.0, -stop * 4.0, None)
        elapsed, stride = 0.0, self.tick
        self._sample(counter, step, "cv", 0.0, current, 0)
        kept_time, kept_current = 0.0, current
        while elapsed < seconds and -current > stop:
            stride = min(stride, seconds - elapsed)
            following = self._solve(voltage, stride, current, current)
            while abs(following - current) > record.share / 2 * abs(current) and stride > self.tick:
                stride = max(self.tick, stride / 2 // self.tick * self.tick)
                following = self._solve(voltage, stride, current, current)
            mean = (current + following) / 2
            self.cell.advance(mean, stride)
            counter.add(mean, voltage, stride)
            current = following
            elapsed += stride
            self.time += stride
            last = elapsed >= seconds or -current <= stop
            if (
                last
                or elapsed - kept_time >= record.seconds
                or (abs(current - kept_current) >= record.share * abs(kept_current))
            ):
                self._sample(counter, step, "cv", elapsed, current, 2 if last else 0)
                kept_time, kept_current = elapsed, current
            stride = min(max(stride * 1.6, stride + self.tick), 40.0) // self.tick * self.tick
        self.run += 1

    def profile(self, step: int, times: Iterable[float], currents: Iterable[float]) -> None:
        """Follow a drive cycle: `currents[i]` (A, positive = discharge) from `times[i]` to the next time (s)."""
        counter = _Counter()
        grid, flow = list(times), list(currents)
        for begin, end, current in zip(grid[:-1], grid[1:], flow[:-1], strict=True):
            self.cell.advance(current, end - begin)
            voltage = self.cell.voltage(current)
            counter.add(current, voltage, end - begin)
            self.time += end - begin
            self._sample(counter, step, "profile", end, current, 0)
            if voltage < self.cell.design.voltage_min:
                break
        self.run += 1

    def _constant(
        self, step: int, kind: str, current: float, until: float | None, seconds: float, record: Record
    ) -> None:
        """A step of constant current, with strides that shrink where the voltage moves fast."""
        cell, counter = self.cell, _Counter()
        elapsed = self.delay
        if self.delay:
            cell.advance(current, self.delay)
            self.time += self.delay
        voltage = cell.voltage(current)
        counter.add(current, voltage, self.delay)
        self._sample(counter, step, kind, elapsed, current, 0)
        kept_time, kept_voltage = elapsed, voltage
        stride = self.tick
        calm = record.volts / 2
        while True:
            longest = min(record.seconds, 60.0, seconds - elapsed)
            if record.growth is not None:
                longest = min(longest, max(self.tick, (record.growth - 1) * elapsed))
            stride = max(self.tick, min(max(stride * 1.6, stride + self.tick), longest) // self.tick * self.tick)
            stride = min(stride, seconds - elapsed)
            before = cell.snapshot()
            while True:
                cell.advance(current, stride)
                after = cell.voltage(current)
                beyond = until is not None and (after <= until if current > 0 else after >= until)
                if stride <= self.tick or (not beyond and abs(after - voltage) <= calm):
                    break
                cell.restore(before)
                stride = max(self.tick, stride / 2 // self.tick * self.tick)
            counter.add(current, (voltage + after) / 2, stride)
            elapsed += stride
            self.time += stride
            voltage = after
            done = seconds - elapsed <= 1e-9
            if (
                beyond
                or done
                or elapsed - kept_time >= record.seconds - 1e-9
                or (abs(voltage - kept_voltage) >= record.volts)
                or (record.growth is not None and elapsed >= record.growth * max(kept_time, _ONSET_S))
            ):
                self._sample(counter, step, kind, elapsed, current, 2 if beyond else 1 if done else 0)
                kept_time, kept_voltage = elapsed, voltage
            if beyond or done:
                break
        self.run += 1

    def _solve(self, voltage: float, seconds: float, guess: float, present: float | None) -> float:
        """The current (A) that gives `voltage` after `seconds`, moving evenly from `present`; secant rule."""
        before = self.cell.snapshot()

        def miss(current: float) -> float:
            if seconds:
                self.cell.advance(current if present is None else (present + current) / 2, seconds)
            found = self.cell.voltage(current) - voltage
            self.cell.restore(before)
            return found

        low, high = guess, guess * 0.97
        miss_low, miss_high = miss(low), miss(high)
        for _ in range(8):
            if abs(miss_high) < 2e-6 or miss_high == miss_low:
                break
            following = high - miss_high * (high - low) / (miss_high - miss_low)
            low, miss_low = high, miss_high
            high, miss_high = following, miss(following)
        return high

    def _sample(self, counter: _Counter, step: int, kind: str, elapsed: float, current: float, end: int) -> None:
        """Keep one row; `end` says why the step ended: 0 it goes on, 1 time, 2 limit."""
        self.rows.append(
            (
                self.time,
                elapsed,
                self.cycle,
                step,
                self.run,
                kind,
                end,
                current,
                self.cell.voltage(current),
                self.cell.temperature,
                counter.charge,
                counter.discharge,
                counter.charge_energy,
                counter.discharge_energy,
                self.clock,
            )
        )

    def table(self) -> pd.DataFrame:
        """All rows kept so far: times s, current A (positive = discharge), V, degC, counters A.h and W.h."""
        return pd.DataFrame(self.rows, columns=COLUMNS)


@dataclass
class _Counter:
    """Charge and energy since the step began, A.h and W.h."""

    charge: float = 0.0
    discharge: float = 0.0
    charge_energy: float = 0.0
    discharge_energy: float = 0.0

    def add(self, current: float, voltage: float, seconds: float) -> None:
        moved = abs(current) * seconds / 3600.0
        if current > 0:
            self.discharge += moved
            self.discharge_energy += moved * voltage
        elif current < 0:
            self.charge += moved
            self.charge_energy += moved * voltage


@dataclass(frozen=True)
class Sensors:
    """What the instrument adds to the truth: noise, then steps of its converter."""

    voltage_noise: float
    voltage_step: float
    current_noise: float
    current_step: float
    temperature_noise: float = 0.03
    temperature_step: float = 0.1

    def read(self, table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """The table as the instrument would have seen it. A resting channel reads exactly 0 A."""
        seen = table.copy()
        size = len(seen)
        seen["voltage"] = _steps(seen["voltage"] + rng.normal(0, self.voltage_noise, size), self.voltage_step)
        noisy = seen["current"] + rng.normal(0, self.current_noise, size)
        seen["current"] = _steps(noisy, self.current_step).where(table["kind"] != "rest", 0.0)
        drift = np.cumsum(rng.normal(0, 0.01, size))
        drift -= np.linspace(0, drift[-1], size)
        warm = seen["temperature"] + 0.15 * np.tanh(drift) + rng.normal(0, self.temperature_noise, size)
        seen["temperature"] = _steps(warm, self.temperature_step)
        return seen


def _steps(values: pd.Series, step: float) -> pd.Series:
    """Rounded to whole converter steps."""
    return (values / step).round() * step
