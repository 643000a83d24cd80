"""``Complete`` of cycles: whether each half cycle ended, and as a full one. Computed on read from the ``steps``.

It follows from the course of a cycle and not from its capacity: a cell that fades has complete cycles to the end, and a
test that was stopped in the middle of a discharge has not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..table import Column, Table
from . import columns as c
from .half_cycles_of_steps import NEAR, NEEDS, Flags, HalfCycles, half_cycles_of
from .run_statistics import Floats, Ints
from .steps import STEP_TYPE

READ = (*NEEDS, STEP_TYPE)
"""The columns of ``steps`` that are used, the last one only where it was given."""
MOST = 0.8
"""What this share of the cycles have in common is what a full half cycle has."""
SAME = 0.01
"""Durations and charges that differ by no more than this share are the same."""
FEWEST = 3
"""So many cycles show by themselves what a full one is."""
REFILLED = 0.95
"""A first discharge that passes less than this share of what refills it began part-charged."""
_DISCHARGE, _CHARGE = 1, -1


@dataclass(frozen=True)
class VoltageLimits:
    """The voltages, V, between which the cells of a specification are used; None where nobody said so."""

    low: float | None = None
    high: float | None = None

    @property
    def given(self) -> bool:
        """Whether there is any."""
        return self.low is not None or self.high is not None


def completeness(steps: Table | None, cycles: Column, limits: VoltageLimits) -> Column:
    """``Complete`` of each cycle: (n,) boolean, null where it cannot be decided.

    A cycle is complete if later samples show that each of its half cycles ended, and each ended as a full one: within
    20 mV of a voltage limit of the specification, or at the voltage where at least 80 % of the cycles end; or with a
    constant voltage; or after the duration, or the charge, of at least 80 % of the cycles. The last cycle need not
    count among these. A cycle is not complete if a half cycle ended otherwise, or if it lacks one that at least 80 % of
    the cycles have; only the first may lack the charge, because a cell may come charged. One that came part-charged is
    not complete: what its first discharge passed is not a capacity.

    Parameters
    ----------
    steps : the steps of one series; None, or without one of the columns that are needed: nothing is known.
    cycles : (n,) the ``Cycle count`` of the rows of ``cycles``. A cycle without steps is null.
    limits : voltages that were given. Without them fewer than three cycles decide nothing.
    """
    unknown = Column("boolean", np.zeros(len(cycles), bool), np.zeros(len(cycles), bool))
    if steps is None or not steps.n or any(name not in steps for name in NEEDS):
        return unknown
    if bool(steps[c.CYCLE_COUNT].missing().any()):
        return unknown
    counted = steps[c.CYCLE_COUNT].values.astype(np.int64)
    rises = counted[1:] > counted[:-1]
    if bool((rises | (counted[1:] == counted[:-1])).all()):  # as nearly always; sorting takes longer
        numbers = counted[np.concatenate([[True], rises])]
    else:
        numbers = np.unique(counted)
    if len(numbers) < FEWEST and not limits.given:
        return unknown
    # What is NaN or infinite is equal to nothing.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        complete, known = _judged(half_cycles_of(steps), numbers, limits)
    asked = cycles.floats()
    place = np.minimum(np.searchsorted(numbers, asked), len(numbers) - 1)
    known = known[place] & (numbers[place] == asked)
    return Column("boolean", complete[place] & known, None if bool(known.all()) else known)


def _judged(halves: HalfCycles, numbers: Ints, limits: VoltageLimits) -> tuple[Flags, Flags]:
    """(g,) whether each cycle is complete, and whether that is known."""
    place = np.searchsorted(numbers, halves.cycle)
    full, judged = halves.held.copy(), halves.held.copy()
    has = {}
    for direction, limit in ((_DISCHARGE, limits.low), (_CHARGE, limits.high)):
        mine = halves.direction == direction
        has[direction] = _any(mine, place, len(numbers))
        reached, decided = _full(halves, mine, place, len(numbers), limit)
        full |= reached
        judged |= mine & decided
    if _came_part_charged(halves, full):
        full[0], judged[0] = False, True
    # What has not ended may still go on, but what is far from its end is certainly not complete.
    broken = _any(judged & ~full, place, len(numbers)) | _lacking(has[_DISCHARGE], has[_CHARGE])
    unsure = _any(~judged | ~halves.ended, place, len(numbers)) | ~(has[_DISCHARGE] | has[_CHARGE])
    return ~broken & ~unsure, broken | ~unsure


def _came_part_charged(halves: HalfCycles, full: Flags) -> bool:
    """Whether a test begins with a discharge from a cell that was not full: the whole charge after it refills more than
    5 % beyond what it passed, compared with what the charges after later discharges do."""
    if len(full) < 2 or halves.direction[0] != _DISCHARGE or halves.direction[1] != _CHARGE or not full[:2].all():
        return False
    pair = (halves.direction[:-1] == _DISCHARGE) & (halves.direction[1:] == _CHARGE) & full[:-1] & full[1:]
    share = np.where(halves.charge[1:] > 0, halves.charge[:-1] / halves.charge[1:], np.nan)[pair]
    later = share[1:][np.isfinite(share[1:])]
    return bool(share[0] < REFILLED * (np.median(later) if len(later) else 1.0))


def _full(halves: HalfCycles, mine: Flags, place: Ints, n: int, limit: float | None) -> tuple[Flags, bool]:
    """Which half cycles of one direction (``mine``) end as full ones by what is usual or by ``limit``, and whether
    there is any such thing to compare them with."""
    sign = -1.0 if halves.direction[mine][:1].tolist() == [_DISCHARGE] else 1.0
    # A voltage is higher the further a charge has come, and lower the further a discharge has.
    end = sign * halves.voltage
    usual = _usual(_furthest(end, mine, place, n), absolute=NEAR)
    full = np.zeros(len(mine), bool)
    if usual is not None:
        full |= end >= usual - NEAR
    if limit is not None:
        full |= (end >= sign * limit - NEAR) & ((end <= sign * limit + NEAR) | (usual is None))
    known = usual is not None or limit is not None
    for values in (halves.duration, halves.charge):
        common = _usual(_furthest(values, mine, place, n), share=SAME)
        if common is not None and common > 0:
            full |= np.abs(values - common) <= SAME * common
            known = True
    return full & mine, known


def _furthest(values: Floats, mine: Flags, place: Ints, n: int) -> Floats:
    """(n,) the largest value of each cycle; NaN for a cycle without any."""
    made = np.full(n, np.nan)
    at = place[mine]
    if len(at) and int(np.bincount(at).max()) > 1:
        np.fmax.at(made, at, values[mine])
    else:  # as nearly always, and much faster
        made[at] = values[mine]
    return made


def _usual(values: Floats, *, absolute: float = 0.0, share: float = 0.0) -> float | None:
    """The value that 80 % of the cycles have, the last one counted or not, so far apart at most; None without one."""
    if len(values) < FEWEST:
        return None
    for held in (values, values[:-1]):
        known = np.sort(held[np.isfinite(held)])
        if len(known) < MOST * len(held):
            continue
        room = absolute + share * np.abs(known)
        counts = np.searchsorted(known, known + room, "right") - np.searchsorted(known, known - room, "left")
        best = np.flatnonzero(counts == counts.max())
        if counts.max() >= MOST * len(held):
            return float(known[best[len(best) // 2]])
    return None


def _lacking(discharges: Flags, charges: Flags) -> Flags:
    """(g,) cycles without a half cycle that most cycles have."""
    lacks = np.zeros(len(charges), bool)
    for has in (discharges, charges):
        if any(len(some) and np.count_nonzero(some) >= MOST * len(some) for some in (has, has[:-1])):
            lacks |= ~has
    lacks[0] &= not discharges[0]
    return lacks


def _any(flags: Flags, place: Ints, n: int) -> Flags:
    """(n,) cycles with any half cycle of which this holds."""
    made = np.zeros(n, bool)
    made[place[flags]] = True
    return made
