"""Columns over the life of a cell: cycles, time and throughput counted over all tests of the cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..table import Column, Table
from . import columns as c
from .columns import Described
from .steps import END_INDEX, START_INDEX

CYCLE_IN_LIFE = "Cycle in life"
TIME_IN_LIFE = "Time in life [d]"
CAPACITY_IN_LIFE = "Capacity throughput in life [A.h]"
ENERGY_IN_LIFE = "Energy throughput in life [W.h]"
CAPACITY = "Capacity throughput [A.h]"
ENERGY = "Energy throughput [W.h]"
START = "Start time [s]"
DAY = 86400.0

LIFE_COLUMNS: tuple[Described, ...] = (
    Described(
        CYCLE_IN_LIFE, "integer", "Number of the cycle in the life of the cell, from 0, over all its tests."
    ),
    Described(
        TIME_IN_LIFE, "number", "Days since the first test of the cell began; of steps and cycles, their start."
    ),
    Described(CAPACITY_IN_LIFE, "number", "Discharge plus charge capacity of all tests of the cell up to here."),
    Described(ENERGY_IN_LIFE, "number", "Discharge plus charge energy of all tests of the cell up to here."),
)
KINDS = {described.name: described.kind for described in LIFE_COLUMNS}
NEEDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "series": {
        CYCLE_IN_LIFE: (c.CYCLE_COUNT,),
        TIME_IN_LIFE: (c.TIME,),
        CAPACITY_IN_LIFE: (c.DISCHARGE_CAPACITY, c.CHARGE_CAPACITY),
        ENERGY_IN_LIFE: (c.DISCHARGE_ENERGY, c.CHARGE_ENERGY),
    },
    "steps": {
        CYCLE_IN_LIFE: (c.CYCLE_COUNT,),
        TIME_IN_LIFE: (START,),
        CAPACITY_IN_LIFE: (c.DISCHARGE_CAPACITY, c.CHARGE_CAPACITY),
        ENERGY_IN_LIFE: (c.DISCHARGE_ENERGY, c.CHARGE_ENERGY),
    },
    "cycles": {
        CYCLE_IN_LIFE: (c.CYCLE_COUNT,),
        TIME_IN_LIFE: (START,),
        CAPACITY_IN_LIFE: (CAPACITY,),
        ENERGY_IN_LIFE: (ENERGY,),
    },
}
"""Dataset -> column -> the columns that it is computed from when it is read. None of these columns is stored."""
THROUGHPUTS = (CAPACITY_IN_LIFE, ENERGY_IN_LIFE)
"""Columns of a series that are computed from its counters, which start at 0 in each step, and its ``steps``."""


@dataclass(frozen=True)
class Life:
    """The cycles, capacity (A.h), energy (W.h) and days that a cell had passed when a test began; None if unknown."""

    cycles: int = 0
    capacity: float | None = 0.0
    energy: float | None = 0.0
    days: float | None = 0.0

    def has(self, name: str) -> bool:
        """Whether the earlier life is known as far as the column ``name`` needs it."""
        return self._before(name) is not None

    def passed(self, name: str) -> float:
        """The throughput of this name before the test; 0 if it is unknown."""
        return self._before(name) or 0.0

    def _before(self, name: str) -> float | None:
        known = {CYCLE_IN_LIFE: self.cycles, TIME_IN_LIFE: self.days, CAPACITY_IN_LIFE: self.capacity}
        return known.get(name, self.energy)

    def column(self, name: str, table: Table, dataset: str) -> Column:
        """The column of this name for the rows of ``table``, computed from the columns that it needs."""
        columns = [table[need] for need in NEEDS[dataset][name]]
        missing = columns[0].missing()
        before = self._before(name) or 0
        if name == CYCLE_IN_LIFE:
            values: NDArray[np.float64] | NDArray[np.int64] = columns[0].values.astype(np.int64) + int(before)
        elif name == TIME_IN_LIFE:
            values = columns[0].floats() / DAY + before
        elif len(columns) == 1:
            values = columns[0].floats() + before
        else:
            values, missing = np.cumsum(_both(columns)) + before, np.zeros(table.n, bool)
        return Column(KINDS[name], values, ~missing if missing.any() else None)

    def bounds(self, name: str, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        """The bounds of a life column, as bounds of the column of the series that it is computed from."""
        before = self._before(name) or 0
        if name == CYCLE_IN_LIFE:
            return None if low is None else low - before, None if high is None else high - before
        # A sample on the bound must not be lost to the rounding of its days.
        return (
            None if low is None else (low - before - np.spacing(max(abs(low), before))) * DAY,
            None if high is None else (high - before + np.spacing(max(abs(high), before))) * DAY,
        )


@dataclass(frozen=True)
class Passed:
    """The throughput of a cell at the beginning and end of each step of a series, A.h or W.h.

    ``starts`` (n,) number of the first sample of each step; ``totals`` (n + 1,) throughput of this test at the start
    of each step and at the end; ``before`` throughput of earlier tests.
    """

    starts: NDArray[np.int64]
    totals: NDArray[np.float64]
    before: float

    @classmethod
    def of(cls, steps: Table, name: str, rows: int, before: float) -> Passed | None:
        """From the ``steps`` of a series; None if they do not cover its ``rows`` samples one after the other."""
        needs = (START_INDEX, END_INDEX, *NEEDS["steps"][name])
        if not steps.n or not {*needs} <= {*steps}:
            return None
        starts, ends = steps[START_INDEX].values, steps[END_INDEX].values
        edges = np.append(starts, rows)
        if edges[0] != 0 or bool((edges[1:] != ends + 1).any()):
            return None
        passed = np.cumsum(_both([steps[need] for need in NEEDS["steps"][name]]))
        return cls(starts.astype(np.int64), np.concatenate([[0.0], passed]), before)

    def column(self, rows: NDArray[np.int64], counters: Sequence[Column]) -> Column:
        """The throughput at the samples with these numbers, from their counters; null if a counter is null."""
        step = np.searchsorted(self.starts, rows, "right") - 1
        out, into = (counter.floats() for counter in counters)
        # A counter may start slightly above 0. The total of its step is right in ``steps``.
        values = np.minimum(self.totals[step] + (out + into), self.totals[step + 1]) + self.before
        known = ~np.isnan(values)
        return Column("number", values, None if known.all() else known)

    def step(self, bound: float, side: Literal["left", "right"]) -> int:
        """The first step that ends at or above (``left``), or above (``right``), the bound; else how many steps."""
        return int(np.searchsorted(self.totals[1:] + self.before, bound, side))


def _both(columns: Sequence[Column]) -> NDArray[np.float64]:
    out, into = (np.nan_to_num(column.floats(), nan=0.0) for column in columns)
    return out + into


@dataclass(frozen=True)
class OneTest:
    """One test of a cell: when it began (microseconds since 1970), and its ``cycles``, None if it has none."""

    id: str
    start: int | None
    cycles: Table | None


def lives(tests: Iterable[OneTest]) -> dict[str, Life]:
    """Test id -> what the cell had passed before that test.

    The tests are in the order of their start. Tests without a start come last, in the given order; their days are
    unknown.
    """
    order = sorted(tests, key=lambda test: (test.start is None, test.start or 0))
    first = next((test.start for test in order if test.start is not None), None)
    found: dict[str, Life] = {}
    cycles, capacities, energies = 0, [0.0], [0.0]
    for test in order:
        days = None if test.start is None or first is None else (test.start - first) / 1e6 / DAY
        found[test.id] = Life(cycles, _sum(capacities), _sum(energies), days)
        if test.cycles is not None and test.cycles.n:
            cycles += test.cycles.n
            capacities.append(_last(test.cycles, CAPACITY))
            energies.append(_last(test.cycles, ENERGY))
    return found


def _last(cycles: Table, name: str) -> float:
    return float(cycles[name].floats()[-1]) if name in cycles else math.nan


def _sum(values: Sequence[float]) -> float | None:
    total = math.fsum(values)
    return None if math.isnan(total) else total
