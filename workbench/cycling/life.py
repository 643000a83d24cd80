"""Columns over the life of a cell: cycles, time and throughput counted over all tests of the cell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
        CYCLE_IN_LIFE,
        "integer",
        "Number of the cycle in the life of the cell, from 0, over all its tests, as they began.",
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
class Meanwhile:
    """What other tests of a cell had passed when each cycle of a test began, where they run at the same time.

    ``counts`` (n,) the ``Cycle count`` of the cycles, rising; ``passed`` column over life -> (n,) what to add there.
    """

    counts: NDArray[np.int64]
    passed: Mapping[str, NDArray[np.float64]]

    def at(self, name: str, counts: Column) -> NDArray[np.float64]:
        """What to add in the cycles of these numbers."""
        place = np.searchsorted(self.counts, counts.values.astype(np.int64), "right") - 1
        return self.passed[name][np.maximum(place, 0)]


@dataclass(frozen=True)
class Life:
    """The cycles, capacity (A.h), energy (W.h) and days that a cell had passed when a test began; None if unknown.

    ``meanwhile`` is there if cycles of other tests began between those of this test.
    """

    cycles: int = 0
    capacity: float | None = 0.0
    energy: float | None = 0.0
    days: float | None = 0.0
    meanwhile: Meanwhile | None = field(default=None, compare=False)

    def has(self, name: str) -> bool:
        """Whether the earlier life is known as far as the column ``name`` needs it."""
        return self._before(name) is not None

    def passed(self, name: str, counts: Column | None) -> float | NDArray[np.float64]:
        """What other tests passed before the rows of the cycles ``counts``, in the column ``name``; 0 if unknown."""
        if self.meanwhile is not None and name in self.meanwhile.passed and counts is not None:
            return self.meanwhile.at(name, counts)
        return self._before(name) or 0

    def _before(self, name: str) -> float | None:
        known = {CYCLE_IN_LIFE: self.cycles, TIME_IN_LIFE: self.days, CAPACITY_IN_LIFE: self.capacity}
        return known.get(name, self.energy)

    def column(self, name: str, table: Table, dataset: str) -> Column:
        """The column of this name for the rows of ``table``, computed from the columns that it needs."""
        columns = [table[need] for need in NEEDS[dataset][name]]
        missing = columns[0].missing()
        before = self.passed(name, table.columns.get(c.CYCLE_COUNT))
        if name == CYCLE_IN_LIFE:
            earlier = np.asarray(before).astype(np.int64)
            values: NDArray[np.float64] | NDArray[np.int64] = columns[0].values.astype(np.int64) + earlier
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
        if name == CYCLE_IN_LIFE and self.meanwhile is not None:
            return self._cycles_between(self.meanwhile, low, high)
        if name == CYCLE_IN_LIFE:
            return None if low is None else low - before, None if high is None else high - before
        return (
            None if low is None else _first_second(lambda days: days >= low, low, before),
            None
            if high is None
            else math.nextafter(_first_second(lambda days: days > high, high, before), -math.inf),
        )

    @staticmethod
    def _cycles_between(
        meanwhile: Meanwhile, low: float | None, high: float | None
    ) -> tuple[float | None, float | None]:
        """The first and last own cycle with a number in life between the bounds; it rises from cycle to cycle."""
        in_life = meanwhile.counts + meanwhile.passed[CYCLE_IN_LIFE]
        first = 0 if low is None else int(np.searchsorted(in_life, low, "left"))
        last = len(in_life) - 1 if high is None else int(np.searchsorted(in_life, high, "right")) - 1
        edges = np.append(meanwhile.counts, meanwhile.counts[-1] + 1).tolist()
        return None if low is None else edges[first], None if high is None else edges[last] if last >= 0 else -1


def _first_second(reached: Callable[[float], bool], bound: float, before: float) -> float:
    """The least time of a test, s, whose days in life, rounded as they are shown, have ``reached`` what lies at or next
    to the ``bound``."""
    room = 2 * float(np.spacing(max(abs(bound), before)))
    below, above = (bound - before - room) * DAY, (bound - before + room) * DAY
    while below < (middle := below + (above - below) / 2) < above:
        if reached(middle / DAY + before):
            above = middle
        else:
            below = middle
    return above


@dataclass(frozen=True)
class Passed:
    """The throughput of a cell at the beginning and end of each step of a series, A.h or W.h.

    ``starts`` (n,) number of the first sample of each step; ``totals`` (n + 1,) throughput of this test at the start
    of each step and at the end; ``before`` (n,) throughput of other tests before the cycle of each step.
    """

    starts: NDArray[np.int64]
    totals: NDArray[np.float64]
    before: NDArray[np.float64]

    @classmethod
    def of(cls, steps: Table, name: str, rows: int, life: Life) -> Passed | None:
        """From the ``steps`` of a series; None if they do not cover its ``rows`` samples one after the other."""
        needs = (START_INDEX, END_INDEX, *NEEDS["steps"][name])
        if not steps.n or not {*needs} <= {*steps}:
            return None
        starts, ends = steps[START_INDEX].values, steps[END_INDEX].values
        edges = np.append(starts, rows)
        if edges[0] != 0 or bool((edges[1:] != ends + 1).any()):
            return None
        passed = np.cumsum(_both([steps[need] for need in NEEDS["steps"][name]]))
        before = np.full(steps.n, life.passed(name, steps.columns.get(c.CYCLE_COUNT)), np.float64)
        return cls(starts.astype(np.int64), np.concatenate([[0.0], passed]), before)

    def column(self, rows: NDArray[np.int64], counters: Sequence[Column]) -> Column:
        """The throughput at the samples with these numbers, from their counters; null if a counter is null."""
        step = np.searchsorted(self.starts, rows, "right") - 1
        out, into = (counter.floats() for counter in counters)
        # A counter may start slightly above 0. The total of its step is right in ``steps``.
        values = np.minimum(self.totals[step] + (out + into), self.totals[step + 1]) + self.before[step]
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

    @property
    def n(self) -> int:
        return 0 if self.cycles is None else self.cycles.n

    def began(self) -> NDArray[np.float64]:
        """When its cycles began, in order; when the test began, if it has none. Infinity without a start."""
        if self.start is None:
            return np.full(max(self.n, 1), np.inf)
        if self.cycles is None or not self.n or START not in self.cycles:
            return np.full(max(self.n, 1), float(self.start))
        seconds = np.nan_to_num(self.cycles[START].floats(), nan=0.0)
        return self.start + np.maximum.accumulate(seconds) * 1e6

    def counts(self) -> NDArray[np.int64]:
        """The ``Cycle count`` of its cycles."""
        if self.cycles is None or c.CYCLE_COUNT not in self.cycles:
            return np.arange(self.n)
        return self.cycles[c.CYCLE_COUNT].values.astype(np.int64)

    def totals(self, name: str) -> NDArray[np.float64]:
        """A column over life of this test alone, when ``k`` of its cycles are over; (n + 1,), NaN if unknown."""
        if name == CYCLE_IN_LIFE:
            return np.arange(self.n + 1.0)
        needed = NEEDS["cycles"][name][0]
        known = self.cycles is not None and needed in self.cycles
        held = self.cycles[needed].floats() if known and self.cycles is not None else np.full(self.n, np.nan)
        return np.concatenate([[0.0], held])


COUNTED = (CYCLE_IN_LIFE, *THROUGHPUTS)
"""The columns over life that count what other tests passed."""


def lives(tests: Iterable[OneTest]) -> dict[str, Life]:
    """Test id -> what the cell had passed before that test, and between its cycles.

    The cycles of a cell are in the order in which they began: the start of the test and the time in it. Tests without a
    start come last, one after the other in the given order; their days are unknown. So do tests of one start among
    each other.
    """
    order = sorted(tests, key=lambda test: (test.start is None, test.start or 0))
    first = next((test.start for test in order if test.start is not None), None)
    began = [test.began() for test in order]
    firsts = np.array([times[0] for times in began])
    lasts = np.array([times[-1] for times in began])
    starts = np.array([np.inf if test.start is None else test.start for test in order], float)
    filled = np.array([test.n > 0 for test in order], bool)
    totals = {name: [test.totals(name) for test in order] for name in COUNTED}
    ends = {name: np.array([held[-1] for held in totals[name]]) for name in COUNTED}
    found: dict[str, Life] = {}
    for place, test in enumerate(order):
        ranks = np.arange(len(order))
        alike = starts == starts[place]
        whole = filled & np.where(alike, ranks < place, lasts < firsts[place])
        among = np.flatnonzero(filled & ~whole & ~alike & (firsts <= lasts[place]))
        over = {
            int(other): np.searchsorted(began[other], began[place], "right" if other < place else "left")
            for other in among
        }
        days = None if test.start is None or first is None else (test.start - first) / 1e6 / DAY
        before: dict[str, float] = {}
        meanwhile: dict[str, NDArray[np.float64]] = {}
        for name in COUNTED:
            own = ends[name][whole].tolist()
            before[name] = math.fsum([*own, *(totals[name][other][done[0]] for other, done in over.items())])
            meanwhile[name] = math.fsum(own) + np.sum(
                [totals[name][other][done] for other, done in over.items()] or [np.zeros(len(began[place]))],
                axis=0,
            )
        moves = test.n > 0 and any(done[0] != done[-1] for done in over.values())
        known = {name: not math.isnan(before[name] + meanwhile[name][-1]) for name in COUNTED}
        found[test.id] = Life(
            int(before[CYCLE_IN_LIFE]),
            before[CAPACITY_IN_LIFE] if known[CAPACITY_IN_LIFE] else None,
            before[ENERGY_IN_LIFE] if known[ENERGY_IN_LIFE] else None,
            days,
            Meanwhile(test.counts(), meanwhile) if moves else None,
        )
    return found


def of_unknown_order(tests: Sequence[OneTest]) -> list[str]:
    """Ids of tests of a cell whose order among its others is not known: without a start, or of the same start."""
    counted = [test for test in tests if test.n]
    starts = Counter(test.start for test in counted)
    unknown = [test.id for test in counted if test.start is None or starts[test.start] > 1]
    return unknown if len(counted) > 1 else []
