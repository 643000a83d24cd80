"""The half cycles of a series, from its ``steps``: charges and discharges, without the rests and pulses inside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..exact_sum import group_sums
from ..table import Table
from . import columns as c
from .run_statistics import Floats, Ints
from .steps import CONSTANT, START_INDEX, STEP_TYPE, current_limits

NEEDS = (
    c.CYCLE_COUNT,
    START_INDEX,
    "Duration [s]",
    "End voltage [V]",
    "Mean voltage [V]",
    "Min voltage [V]",
    "Max voltage [V]",
    "Std voltage [V]",
    "Mean current [A]",
    "Min current [A]",
    "Max current [A]",
    "Mean frequency [Hz]",
    c.DISCHARGE_CAPACITY,
    c.CHARGE_CAPACITY,
)
"""Columns of ``steps`` without which half cycles are not known."""
REVERSAL = 0.05
"""A reversal of less than this share of the cycle's swing in charge does not end a half cycle: the pulses of a
resistance test, the braking of a drive cycle."""
NEAR = 0.02
"""V: so near to a voltage is at it."""
STRAY = 0.01
"""A step of one sample that passes less than this share of its run shows no end: it is a record that a cycler wrote
while it switched, at whatever voltage the cell then had."""
_STEADY = 0.01
_TAPER = 0.05
_NOISE = 0.01
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class HalfCycles:
    """One value for each half cycle, in the order of time.

    ``cycle`` its ``Cycle count``; ``direction`` 1 discharge, -1 charge; ``ended``: later samples show its end;
    ``held``: it ends with a constant voltage; ``voltage`` its last, V; ``duration`` of its steps, s; ``charge`` that it
    passed, A.h.
    """

    cycle: Ints
    direction: Ints
    ended: Flags
    held: Flags
    voltage: Floats
    duration: Floats
    charge: Floats


def half_cycles_of(steps: Table) -> HalfCycles:
    """The half cycles of a series with the columns :data:`NEEDS` in its ``steps``, and a cycle in every step.

    A half cycle lasts until the charge turns by 5 % of the cycle's swing, or until the cycle ends. The last steps of a
    test are a half cycle however short they are, if their cycle has no other in that direction: it has begun.

    Rest is what ``step_types`` takes for rest without a rated capacity, because a wrong one must not hide a half cycle,
    and steps that show the noise of the cycler alone.
    """
    of = {name: steps[name].floats() for name in NEEDS}
    of["held"] = _words_of_constant_voltage(steps)
    order = np.argsort(of[START_INDEX], kind="stable")
    direction = directions(of)[order]
    moving = np.flatnonzero(direction)
    place = order[moving]
    runs = _Runs.of({name: values[place] for name, values in of.items()}, direction[moving])
    firsts, lasts = _turns(runs)
    out = runs.direction[lasts] > 0
    low, high = _over(np.fmin, runs.lowest, firsts, lasts), _over(np.fmax, runs.highest, firsts, lasts)
    at_end = np.abs(runs.level[lasts] - np.where(out, low, high)) <= NEAR
    lasted = (_between(np.where(runs.direction == way, runs.duration, 0.0), firsts, lasts) for way in (1, -1))
    return HalfCycles(
        cycle=runs.cycle[lasts],
        direction=runs.direction[lasts],
        ended=moving[runs.last[lasts]] < steps.n - 1,
        held=runs.constant[lasts] & at_end,
        voltage=runs.voltage[lasts],
        duration=np.where(out, *lasted),
        charge=np.abs(_between(runs.net, firsts, lasts)),
    )


@dataclass(frozen=True)
class _Runs:
    """Steps of one direction one after the other within a cycle, rests left out. One value for each run:

    ``cycle``, ``direction``, the number of its ``last`` step among those that are not rest, its ``net`` charge
    (discharge positive, A.h), ``duration``, ``lowest`` and ``highest`` voltage, and of the last step that shows its end
    the end ``voltage``, the mean voltage ``level`` and whether it holds a ``constant`` voltage.
    """

    cycle: Ints
    direction: Ints
    last: Ints
    net: Floats
    duration: Floats
    lowest: Floats
    highest: Floats
    voltage: Floats
    level: Floats
    constant: Flags

    @classmethod
    def of(cls, of: Mapping[str, Floats], direction: Ints) -> _Runs:
        """From the columns of the steps that are not rest, in the order of time, and their directions."""
        cycle = of[c.CYCLE_COUNT].astype(np.int64)
        n = len(cycle)
        new = np.ones(n, bool)
        new[1:] = (cycle[1:] != cycle[:-1]) | (direction[1:] != direction[:-1])
        starts = np.flatnonzero(new)
        last = np.append(starts[1:], n)[: len(starts)] - 1
        duration = np.nan_to_num(of["Duration [s]"])
        net = np.nan_to_num(of[c.DISCHARGE_CAPACITY]) - np.nan_to_num(of[c.CHARGE_CAPACITY])
        # A step of a single sample passes nothing where trapezoids are summed.
        net = np.where(net * direction > 0, net, of["Mean current [A]"] * duration / 3600)
        passed = group_sums(net, starts)
        end = _last_that_shows(duration, net, passed, starts, last)
        return cls(
            cycle=cycle[last],
            direction=direction[last],
            last=last,
            net=passed,
            duration=group_sums(duration, starts),
            lowest=_each(np.fmin, of["Min voltage [V]"], starts),
            highest=_each(np.fmax, of["Max voltage [V]"], starts),
            voltage=of["End voltage [V]"][end],
            level=of["Mean voltage [V]"][end],
            constant=_holds_voltage(of)[end],
        )


def _last_that_shows(duration: Floats, net: Floats, passed: Floats, starts: Ints, last: Ints) -> Ints:
    """The last step of each run that is not :data:`STRAY`; the ``last`` where all are."""
    counts = np.diff(np.append(starts, len(net)))
    stray = (duration == 0) & (np.abs(net) < STRAY * np.repeat(np.abs(passed), counts))
    if not stray[last].any():  # as nearly always
        return last
    found = np.maximum.reduceat(np.where(stray, -1, np.arange(len(net))), starts)
    return np.where(found < 0, last, found)


def directions(of: Mapping[str, Floats]) -> Ints:
    """(n,) 1 discharge, -1 charge, 0 rest or impedance, of each step.

    A step whose current has both signs, and nowhere more than 1 % of the largest of the test, shows the noise and the
    offset of a cycler at rest.
    """
    mean, low, high = of["Mean current [A]"], of["Min current [A]"], of["Max current [A]"]
    rest, _ = current_limits(None, np.abs(np.concatenate([low, high])))
    swing = np.fmax(np.abs(low), np.abs(high))
    largest = float(np.max(swing, initial=0.0, where=np.isfinite(swing)))
    noise = (low < 0) & (high > 0) & (swing <= _NOISE * largest)
    flows = (np.abs(mean) >= rest) & ~noise & ~(of["Mean frequency [Hz]"] > 1e-8)
    return np.where(flows, np.sign(mean), 0).astype(np.int64)


def _words_of_constant_voltage(steps: Table) -> Floats:
    """(n,) 1 where the type of a step was given as a constant voltage, else 0."""
    if STEP_TYPE not in steps:
        return np.zeros(steps.n)
    return np.array([str(word).startswith(CONSTANT[1]) for word in steps[STEP_TYPE].tolist()], np.float64)


def _holds_voltage(of: Mapping[str, Floats]) -> Flags:
    """Whether the voltage of each step is constant, and its current falls, as it does not while it is constant too."""
    low, high = np.abs(of["Min current [A]"]), np.abs(of["Max current [A]"])
    falls = np.abs(high - low) >= _TAPER * np.maximum(low, high)
    return np.asarray(((of["Std voltage [V]"] < _STEADY) & falls) | (of["held"] > 0), bool)


def _turns(runs: _Runs) -> tuple[Ints, Ints]:
    """The first and the last run of each half cycle; between them there may be short reversals."""
    n = len(runs.cycle)
    if not n:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], runs.cycle[1:] != runs.cycle[:-1]]))
    counts = np.diff(np.append(starts, n))
    size = np.abs(runs.net)
    one, other = size[starts], size[np.minimum(starts + 1, n - 1)]
    even = np.minimum(one, other) >= REVERSAL * np.maximum(one, other)
    plain = (counts == 1) | ((counts == 2) & even)
    own = np.flatnonzero(np.repeat(plain, counts))
    pairs = [np.stack([own, own], axis=1)]
    for block in np.flatnonzero(~plain).tolist():
        start, stop = int(starts[block]), int(starts[block] + counts[block])
        direction = runs.direction[start:stop].tolist()
        found = turning_points(runs.net[start:stop].tolist(), direction)
        if stop == n and not {direction[last] for _, last in found} >= {1, -1}:
            found += _begun(direction, found)
        pairs.append(np.array(found, np.int64) + start)
    made = np.concatenate(pairs)
    made = made[np.argsort(made[:, 0], kind="stable")]
    return made[:, 0], made[:, 1]


def turning_points(net: Sequence[float], direction: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last run of each half cycle of one cycle, from the net charge of its runs.

    >>> turning_points([-5.0, 1.0, -0.01, 4.0], [-1, 1, -1, 1])  # a pulse inside the discharge
    [(0, 0), (1, 3)]
    """
    levels = np.cumsum(net)
    if not np.ptp(np.append(levels, 0.0)) > 0:
        levels = np.cumsum(direction, dtype=np.float64)
    least = REVERSAL * float(np.ptp(np.append(levels, 0.0)))
    found: list[tuple[int, int]] = []
    way, first, began, furthest, at = 1, 0, 0.0, 0.0, -1
    for run, level in enumerate(levels.tolist()):
        if direction[run] == way and (level - furthest) * way >= 0:
            furthest, at = level, run
        elif (furthest - level) * way >= least:
            if abs(furthest - began) >= least:
                found.append((first, at))
            way, first, began = -way, at + 1, furthest
            furthest, at = level, run
    return [*found, (first, at)]


def _begun(direction: Sequence[int], found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The last run, if it goes the other way than the last half cycle: a half cycle that has begun."""
    last = len(direction) - 1
    return [(last, last)] if direction[last] != direction[found[-1][1]] else []


def _each(reduce: np.ufunc, values: Floats, starts: Ints) -> Floats:
    """(g,) one value for each run of ``values`` that begins at ``starts``."""
    return np.asarray(reduce.reduceat(values, starts), np.float64) if len(starts) else np.zeros(0)


def _over(reduce: np.ufunc, values: Floats, firsts: Ints, lasts: Ints) -> Floats:
    """One value for each range from a first to a last place; NaN is skipped."""
    edges = np.stack([firsts, lasts + 1], axis=1).ravel()
    return np.asarray(reduce.reduceat(np.append(values, np.nan), edges)[::2], np.float64)


def _between(values: Floats, firsts: Ints, lasts: Ints) -> Floats:
    """The sum from a first to a last place."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(sums[lasts + 1] - sums[firsts], np.float64)
