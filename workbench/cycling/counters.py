"""Capacity and energy counters: as cyclers write them, turned into counters that start at 0 in each step."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..table import Column
from .run_statistics import Floats, Ints

Bools = NDArray[np.bool_]
Numbers = TypeVar("Numbers", Floats, Ints)
_DECIMALS = 12
_NEAR_ZERO = 0.01
_WOBBLE = 0.99
"""A counter that falls to a larger share of its value between two steps wobbles; it did not start again."""
_PLAUSIBLE, _NEAR = 1.1, 0.2
_MANY = 10


class Sample(NamedTuple):
    """The last sample with a value: its step, time (s), flow (A or W), and what the counter was."""

    step: int
    time: float
    flow: float
    value: float


class CounterReset:
    """Turns one cumulative counter into one that starts at 0 in each step and never falls within it.

    A fall is a new start of the cycler's counter, and what it counted since then is added to the value before it.
    Differences are rounded to the decimals of the file, so they carry no rounding errors of binary numbers.
    What it counts between two steps is not in the values, but in :meth:`between`.
    """

    def __init__(self) -> None:
        self.rises = 0.0
        self.falls = 0.0
        """Sum of the falls within steps after which the counter did not start again."""
        self.fall_count = 0
        self.first_fall: int | None = None
        self._row, self._flowing = 0, 0
        self._before: Sample | None = None
        self._base = 0.0
        self._reached = 0.0
        self._owners: list[Ints] = []
        self._rises: list[Floats] = []
        self._starts: list[Floats] = []
        self._edges, self._edge_falls = 0, 0
        self.started: tuple[float, float] | None = None
        """The sums without and with the values after starts without a fall, where these count."""

    def feed(self, column: Column, steps: Ints, time: Floats, flow: Floats) -> Column:
        """Take the next samples of the counter and return them reset. Nulls stay null.

        Parameters
        ----------
        steps, time : (n,) step numbers, and s.
        flow : (n,) current, A, or power, W, in the direction that the counter counts; 0 in the other one.
        """
        values = column.floats()
        missing = np.isnan(values)
        made = values
        if not missing.any():
            self._flowing += int((flow > 0).sum())
            if len(values):
                made = self._reset(values, steps, time, np.nan_to_num(flow), None)
        else:
            known = np.flatnonzero(~missing)
            made = values.copy()
            self._flowing += int((flow[known] > 0).sum())
            if len(known):
                made[known] = self._reset(
                    values[known], steps[known], time[known], np.nan_to_num(flow[known]), known
                )
        self._row += len(values)
        return Column("number", made, column.valid if column.kind == "number" else ~column.null_mask())

    @property
    def is_still(self) -> bool:
        """Whether all values of the counter were the same, though it could have counted in many samples."""
        counted_none = not self.rises and not self.fall_count
        return self._flowing >= _MANY and counted_none and not any(part.any() for part in self._rises)

    def between(self, steps: int, within: Floats, integral: float) -> Floats:
        """(steps,) what was counted between two steps: it belongs to the one of the two samples with the larger flow,
        to the later one if they are equal.

        A counter that nearly always starts again with a step may do so without a fall, where its first value in the new
        step is the larger one. Then that whole value counts, if the sum agrees with the integral so much better.

        Parameters
        ----------
        within : what the steps counted in themselves.
        integral : of the flow over the test.
        """
        if not self._owners:
            return np.zeros(steps)
        owners = np.concatenate(self._owners)
        made = [
            np.bincount(owners, np.concatenate(parts), minlength=steps).astype(np.float64)
            for parts in (self._rises, self._starts)
        ]
        rises, starts = (abs(float(np.nansum(within) + one.sum()) - integral) for one in made)
        self.started = None
        anew = 2 * self._edge_falls >= self._edges > 0 and rises > 0.005 * integral and 2 * starts < rises
        if not anew:
            return made[0]
        self.started = float(np.nansum(within) + made[0].sum()), float(np.nansum(within) + made[1].sum())
        return made[1]

    def _reset(self, values: Floats, steps: Ints, time: Floats, flow: Floats, rows: Ints | None) -> Floats:
        """``rows``: the numbers of the samples, if there are others between them."""
        last = self._before or Sample(int(steps[0]) - 1, float(time[0]), 0.0, float(values[0]))
        edges = np.flatnonzero(steps[1:] != steps[:-1]) + 1
        if int(steps[0]) != last.step:
            edges = np.concatenate([[0], edges])
        change = np.empty(len(values))
        change[0] = values[0] - last.value
        np.subtract(values[1:], values[:-1], out=change[1:])
        change[edges] = 0.0
        falls = np.flatnonzero(change < 0)
        self._count_edges(values, steps, time, flow, edges, last)
        before = _before(values, falls, last.value)
        restart = self._are_plausible(values, time, flow, falls, last)
        restart |= values[falls] <= _NEAR_ZERO * np.abs(before)
        self._watch(change, falls, restart, rows)
        runs = np.diff(np.concatenate([[0], edges, [len(values)]]))
        if len(falls):
            lifts = np.zeros(len(values))
            lifts[falls] = np.where(restart, before, -change[falls])
            lifted = np.cumsum(lifts)
            bases = np.concatenate([[self._base], values[edges] + lifted[edges]])
            # What was counted before a fall may have more decimals than all values of this batch.
            written = values, bases[runs > 0], before
            made = np.maximum(_rounded(values + lifted - np.repeat(bases, runs), *written), 0.0)
            made = _never_falling(made, edges, self._reached)
            self._base = float(_rounded(bases[-1:] - lifted[-1:], *written)[0])
        else:
            bases = np.concatenate([[self._base], values[edges] + 0.0])
            made = np.maximum(_rounded(values - np.repeat(bases, runs), values, bases[runs > 0]), 0.0)
            # What the batch before reached came out of another sum, which may differ in its last bit.
            np.maximum(made[: runs[0]], self._reached, out=made[: runs[0]])
            self._base = float(bases[-1])
        self._before = Sample(int(steps[-1]), float(time[-1]), float(flow[-1]), float(values[-1]))
        self._reached = float(made[-1])
        return made

    def _are_plausible(self, values: Floats, time: Floats, flow: Floats, some: Ints, last: Sample) -> Bools:
        """Whether a counter that began at 0 in the interval before a sample may have its value; of ``some`` samples."""
        if not len(some):
            return np.zeros(0, bool)
        flow_before = _before(flow, some, last.flow)
        time_before = _before(time, some, last.time)
        passed = np.maximum(flow[some], flow_before) * (time[some] - time_before) / 3600
        # A counter that counts backwards falls by what passed.
        backwards = np.abs(_before(values, some, last.value) - values[some] - passed) <= _NEAR * passed
        plausible: Bools = (values[some] <= _PLAUSIBLE * passed) & ~backwards
        return plausible

    def _count_edges(
        self, values: Floats, steps: Ints, time: Floats, flow: Floats, edges: Ints, last: Sample
    ) -> None:
        """Note what was counted between two steps, which begin at the samples ``edges``, and whose it is."""
        if self._before is None:
            edges = edges[1:]
        if not len(edges):
            return
        steps_before = _before(steps, edges, last.step)
        value, base = np.maximum(values[edges], 0.0), _before(values, edges, last.value)
        falls = value < base
        plausible = self._are_plausible(values, time, flow, edges, last)
        again = falls & (plausible | (value <= _WOBBLE * base))
        rises = np.where(again, value, np.maximum(value - base, 0.0))
        is_earlier = _before(flow, edges, last.flow) > flow[edges]
        self._owners.append(np.where(is_earlier, steps_before, steps[edges]))
        self._rises.append(rises)
        self._starts.append(np.where(falls & ~again, 0.0, value))
        self._edges += int((base > 0).sum())
        self._edge_falls += int(again.sum())

    def _watch(self, change: Floats, falls: Ints, restart: Bools, rows: Ints | None) -> None:
        self.rises += float(change[change > 0].sum())
        if len(falls):
            self.falls -= float(change[falls[~restart]].sum())
            self.fall_count += len(falls)
            if self.first_fall is None:
                self.first_fall = self._row + int(falls[0] if rows is None else rows[falls[0]])


def shifted(column: Column, by: float) -> Column:
    """A number column minus ``by``, rounded to the decimals that it was written in. Nulls stay null."""
    values = column.floats()
    return Column("number", _rounded(values - by, values, np.array([by])), column.valid)


def _before(values: Numbers, some: Ints, last: float) -> Numbers:
    """The value before each of some samples; before the first one it is ``last``."""
    return np.where(some > 0, values[some - 1], values.dtype.type(last))


def _never_falling(values: Floats, edges: Ints, reached: float) -> Floats:
    starts = edges.tolist()
    made = values.copy()
    if not starts or starts[0] > 0:
        made[0] = max(made[0], reached)
    for start, stop in zip([0, *starts], [*starts, len(values)], strict=True):
        if stop > start:
            made[start:stop] = np.maximum.accumulate(made[start:stop])
    return made


def _rounded(made: Floats, *inputs: Floats) -> Floats:
    digits = 0
    for values in inputs:
        found = decimals(values, digits)
        if found is None:
            return made
        digits = found
    return np.round(made, digits)


def decimals(values: Floats, least: int = 0) -> int | None:
    """The number of decimals that write every value exactly, from ``least`` to 12; None if 12 are not enough.

    >>> decimals(np.array([0.25, 1.0, np.nan]))
    2
    """
    is_finite = np.isfinite(values)
    finite = values if is_finite.all() else values[is_finite]
    few = _digits(finite[:: max(len(finite) // 256, 1)], least)
    return None if few is None else _digits(finite, few)


def _digits(finite: Floats, least: int) -> int | None:
    for digits in range(least, _DECIMALS + 1):
        finite = finite[finite != np.round(finite, digits)]
        if not len(finite):
            return digits
    return None
