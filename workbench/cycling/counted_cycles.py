"""Cycles counted from half cycles, where a cycler counted none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..table import Table
from . import columns as c
from .run_statistics import Floats, Ints
from .steps import current_limits

_LEAST = 0.05
"""A half cycle passes at least this share of the rated capacity, or of the largest half cycle."""


def counted_cycles(steps: Table, rated_capacity_ah: float | None = None) -> Ints:
    """(n,) the number of the cycle of each step, from 0, by its half cycles.

    A half cycle is all that passes in one direction until the other one takes back at least 5 % of the rated capacity,
    or of the largest half cycle where that is not known. Two half cycles are a cycle: discharge and charge, or charge
    and discharge, whichever comes first. A cycle begins with the first step under current of its first half cycle; what
    comes before the first one belongs to it.

    Parameters
    ----------
    steps : in the order of time, with their capacities and currents.
    rated_capacity_ah : of the cell, A.h; None if it is unknown.

    >>> steps = {"Discharge capacity [A.h]": [1.0, 0.0, 0.0, 1.0], "Charge capacity [A.h]": [0.0, 0.0, 1.0, 0.0]}
    >>> currents = [1.0, 0.0, -1.0, 1.0]
    >>> counted_cycles(Table.of({**steps, **{f"{of} current [A]": currents for of in ("Mean", "Min", "Max")}})).tolist()
    [0, 0, 0, 1]
    """
    out, back = (
        np.nan_to_num(steps[name].floats(), nan=0.0) for name in (c.DISCHARGE_CAPACITY, c.CHARGE_CAPACITY)
    )
    sums = np.cumsum(out - back)
    whole = rated_capacity_ah or largest_move(sums)
    cycle: Ints = np.zeros(steps.n, np.int64)
    if not whole or not np.isfinite(sums).all():
        return cycle
    turns, way = _turns(sums, _LEAST * whole)
    limit, _ = current_limits(
        rated_capacity_ah,
        np.abs(np.concatenate([steps[f"{word} current [A]"].floats() for word in ("Min", "Max")])),
    )
    mean = np.nan_to_num(steps["Mean current [A]"].floats(), nan=0.0)
    # The sum rises on discharge. Every second turn ends a cycle.
    loaded = np.flatnonzero(way * mean >= limit)
    for turn in turns[1::2]:
        place = int(np.searchsorted(loaded, turn, side="right"))
        cycle[int(loaded[place]) if place < len(loaded) else turn + 1] += 1
    return np.cumsum(cycle)


def _turns(sums: Floats, least: float) -> tuple[list[int], int]:
    """The steps at whose end a running sum turns, by moves of at least ``least`` on both sides, and whether it rises
    (1) or falls (-1) first; 0 if it does not move so far."""
    turns: list[int] = []
    first = way = 0
    low = high = 0.0
    low_at = high_at = 0
    for place, value in enumerate(sums.tolist()):
        if value > high:
            high, high_at = value, place
        if value < low:
            low, low_at = value, place
        if way <= 0 and value - low >= least:
            if way:
                turns.append(low_at)
            first, way, high, high_at = first or 1, 1, value, place
        elif way >= 0 and high - value >= least:
            if way:
                turns.append(high_at)
            first, way, low, low_at = first or -1, -1, value, place
    return turns, first


def largest_move(sums: Sequence[float] | Floats) -> float | None:
    """The largest move of a running sum, from 0, in one direction; it ends where half of it is taken back.

    >>> largest_move([1.0, 0.9, 3.0, 0.0, 2.5])
    3.0
    """
    if not len(sums) or not np.isfinite(sums).all():
        return None
    largest = begin = extreme = 0.0
    for value in np.asarray(sums, np.float64).tolist():
        if (value - extreme) * (extreme - begin) >= 0:
            extreme = value
        elif abs(value - extreme) > abs(extreme - begin) / 2:
            begin, extreme = extreme, value
        largest = max(largest, abs(extreme - begin))
    return largest
