"""Capacity and energy counters: as cyclers write them, turned into counters that start at 0 in each step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..table import Column
from .run_statistics import Floats, Ints

Bools = NDArray[np.bool_]
_DECIMALS = 12


class CounterReset:
    """Turns one cumulative counter into one that starts at 0 in each step and never falls within it.

    A fall within a step is a new start of the cycler's counter, so counting continues from the value before it.
    Differences are rounded to the decimals of the file, so they carry no rounding errors of binary numbers.
    """

    def __init__(self) -> None:
        self.rises = 0.0
        self.falls = 0.0
        """Sum of the falls that do not end close to zero; a restart ends there."""
        self.fall_count = 0
        self.first_fall: int | None = None
        self._row = 0
        self._step: int | None = None
        self._base = 0.0
        self._last = 0.0
        self._reached = 0.0

    def feed(self, column: Column, steps: Ints) -> Column:
        """Take the next samples of the counter with their step numbers (n,) and return them reset. Nulls stay null."""
        values = column.floats()
        known = np.flatnonzero(~np.isnan(values))
        made = values.copy()
        if len(known):
            made[known] = self._reset(values[known], steps[known], known)
        self._row += len(values)
        return Column("number", made, column.valid if column.kind == "number" else ~column.null_mask())

    def _reset(self, values: Floats, steps: Ints, rows: Ints) -> Floats:
        before = np.concatenate([[self._last], values[:-1]])
        fresh = np.concatenate([[self._step is None or int(steps[0]) != self._step], steps[1:] != steps[:-1]])
        change = np.where(fresh, 0.0, values - before)
        falls = change < 0
        self._watch(change, before, falls, rows)
        lifted = np.cumsum(np.where(falls, -change, 0.0))
        start = np.maximum.accumulate(np.where(fresh, np.arange(len(values)), -1))
        continued = start < 0
        base = np.where(continued, self._base, values[start] + (lifted[start] if falls.any() else 0.0))
        made = values + lifted - base if falls.any() else values - base
        made = np.maximum(_rounded(made, values, base), 0.0)
        if falls.any():
            made = _never_falling(made, fresh, self._reached)
        self._step, self._last = int(steps[-1]), float(values[-1])
        self._base = float(base[-1] - lifted[-1])
        self._reached = float(made[-1])
        return made

    def _watch(self, change: Floats, before: Floats, falls: Bools, rows: Ints) -> None:
        self.rises += float(change[change > 0].sum())
        if falls.any():
            restart = falls & (before + change <= 0.01 * np.abs(before))
            self.falls -= float(change[falls & ~restart].sum())
            self.fall_count += int(falls.sum())
            if self.first_fall is None:
                self.first_fall = self._row + int(rows[np.flatnonzero(falls)[0]])


def shifted(column: Column, by: float) -> Column:
    """A number column minus ``by``, rounded to the decimals that it was written in. Nulls stay null."""
    values = column.floats()
    return Column("number", _rounded(values - by, values, np.array([by])), column.valid)


def _never_falling(values: Floats, fresh: Bools, reached: float) -> Floats:
    edges = np.flatnonzero(fresh).tolist()
    made = values.copy()
    if not edges or edges[0] > 0:
        made[0] = max(made[0], reached)
    for start, stop in zip([0, *edges], [*edges, len(values)], strict=True):
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
    finite = values[np.isfinite(values)]
    few = _digits(finite[:: max(len(finite) // 256, 1)], least)
    return None if few is None else _digits(finite, few)


def _digits(finite: Floats, least: int) -> int | None:
    for digits in range(least, _DECIMALS + 1):
        finite = finite[finite != np.round(finite, digits)]
        if not len(finite):
            return digits
    return None
