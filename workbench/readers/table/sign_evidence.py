"""What the samples of a file show about the sign of its current. ``kinds_and_sign.Survey.settle_sign`` decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...cycling.checks import are_spikes
from .values import Floats

_SMALL = 0.01
"""A current below this share of the largest one does not show a direction."""

BEYOND_ANY = 1e36
"""Numbers of this size are marks of an overload, such as 9.9E37, in any unit."""

_FAINT = 0.002
"""Jumps that sum to less than this share of all voltage changes do not count against the trend."""


class Polarity(NamedTuple):
    """What a positive current means, and the movement of the voltage that shows it."""

    means: Literal["charge", "discharge"]
    shown: str


def polarity(current: Floats, voltage: Floats) -> Polarity | None:
    """What a positive current means in these samples; None if they do not show it. Both are (n,), A and V.

    A cell has a positive resistance, so its voltage jumps up where the charging current grows. It also rises while
    the cell is charged. Both are checked, and they must not contradict each other.
    """
    good = (np.abs(current) < BEYOND_ANY) & (np.abs(voltage) < BEYOND_ANY)
    current, voltage = current[good], voltage[good]
    measured = ~are_spikes(voltage)  # marks such as -999
    current, voltage = current[measured], voltage[measured]
    if len(current) < 2 or not np.any(current):
        return None
    change = np.diff(current)
    jumps = np.abs(change) > 0.1 * np.abs(current).max()
    volts = np.diff(voltage)
    by_jump = _score(change[jumps] * volts[jumps])
    mean = (current[1:] + current[:-1]) / 2
    steady = ~jumps & (np.abs(mean) > _SMALL * np.abs(current).max())
    by_trend = _score(np.sign(mean[steady]) * volts[steady])
    if by_jump * by_trend < 0:
        # A cell with a very small resistance shows no jumps, only noise at the steps.
        moved, jumped = float(np.abs(volts[steady]).sum()), float(np.abs(volts[jumps]).sum())
        by_jump, by_trend = (0, by_trend) if jumped < _FAINT * moved else (by_jump, 0)
    verdict = by_jump or by_trend
    if not verdict:
        return None
    if by_jump:
        way = "up" if verdict > 0 else "down"
        return Polarity("charge" if verdict > 0 else "discharge", f"jumps {way} where the current rises")
    way = "rises" if verdict > 0 else "falls"
    return Polarity("charge" if verdict > 0 else "discharge", f"{way} while the current is positive")


def _score(products: Floats) -> int:
    """The sign of a sum that is clear against the size of its terms, else 0."""
    total, size = float(products.sum()), float(np.abs(products).sum())
    return int(np.sign(total)) if size > 0 and abs(total) > 0.2 * size else 0


class StateVotes:
    """What the sign means by a column of states: whether current is positive in rows of a discharge or of a charge."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum, self._size = 0.0, 0.0

    def feed(self, current: Floats, directions: Floats) -> None:
        """Take the next rows, (n,): signed currents, and by the words +1 (discharge), -1 (charge) or NaN."""
        known = np.isfinite(current) & np.isfinite(directions)
        products = current[known] * directions[known]
        self.rows += len(products)
        self._sum += float(products.sum())
        self._size += float(np.abs(products).sum())

    @property
    def means(self) -> Literal["charge", "discharge"] | None:
        """What a positive current means; None if the words do not agree."""
        if self._size == 0 or abs(self._sum) < 0.5 * self._size:
            return None
        return "discharge" if self._sum > 0 else "charge"


@dataclass(frozen=True)
class Directions:
    """The direction of each run of a file: run i starts at row ``starts[i]``; +1 discharge, -1 charge, 0 rest."""

    starts: NDArray[np.int64]
    signs: NDArray[np.int8]

    def rows(self, first: int, n: int) -> NDArray[np.int8]:
        """(n,) directions of the rows from ``first`` on."""
        run = np.searchsorted(self.starts, np.arange(first, first + n), "right") - 1
        return self.signs[run]


def _known_before(values: Floats, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> Floats:
    """The last value of each run that is known, NaN where none is: a line that was cut has a current and no voltage."""
    places = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(len(values))))[ends]
    return np.where(places < starts, np.nan, values[places])


class RunScan:
    """Collects, batch by batch, the runs of an unsigned current and how the voltage moves in each.

    A run ends where the step or cycle number changes, where current starts or stops, and where a counter falls.
    Memory grows with the number of runs only.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.largest = 0.0
        self.falls_below_zero = False
        self._starts: list[NDArray[np.int64]] = []
        self._first: list[Floats] = []
        self._last: list[Floats] = []
        self._flows: list[NDArray[np.bool_]] = []
        self._steps: list[Floats] = []
        self._peaks: list[Floats] = []

    def feed(self, current: Floats, voltage: Floats, step: Floats, cycle: Floats, counter: Floats) -> None:
        """Take a batch, each (n,). ``step``, ``cycle`` and ``counter`` are all NaN if the file has none."""
        n = len(current)
        if not n:
            return
        self.falls_below_zero |= bool((current < 0).any())
        size = np.nan_to_num(np.abs(current))
        self.largest = max(self.largest, float(size.max()))
        flows = size > 1e-9
        begins = np.ones(n, bool)
        begins[1:] = (
            (flows[1:] != flows[:-1])
            | _differs(step)
            | _differs(cycle)
            | (counter[1:] < counter[:-1] * 0.5 - 1e-9)
        )
        place = np.flatnonzero(begins)
        ends = np.append(place[1:], n) - 1
        self._starts.append(place + self.rows)
        self._first.append(voltage[place])
        self._last.append(_known_before(voltage, place, ends))
        self._flows.append(flows[place])
        self._steps.append(step[place])
        self._peaks.append(np.maximum.reduceat(size, place))
        self.rows += n

    def directions(self) -> tuple[Directions, int]:
        """The directions, and the number of rows with a current whose direction is unknown."""
        starts = np.concatenate(self._starts)
        first, last = np.concatenate(self._first), np.concatenate(self._last)
        flows, steps = np.concatenate(self._flows), np.concatenate(self._steps)
        peaks = np.concatenate(self._peaks)
        before = np.concatenate([[np.nan], last[:-1]])
        rested = np.concatenate([[False], ~flows[:-1]])
        rise = last - np.where(rested & np.isfinite(before), before, first)
        rise = np.where(flows & np.isfinite(rise), rise, 0.0)
        noise = 1e-3
        signs = np.where(np.abs(rise) > noise, -np.sign(rise), 0.0)
        for number in np.unique(steps[flows & np.isfinite(steps)]):
            same = flows & (steps == number)
            together = float(rise[same].sum())
            if abs(together) > 0.5 * float(np.abs(rise[same]).sum()) and abs(together) > noise:
                signs[same] = -np.sign(together)
        for run in range(1, len(signs)):
            if flows[run] and not signs[run] and flows[run - 1]:
                signs[run] = signs[run - 1]
        unknown = flows & (signs == 0) & (peaks > _SMALL * self.largest)
        lengths = np.diff(np.append(starts, self.rows))
        return Directions(starts, signs.astype(np.int8)), int(lengths[unknown].sum())


def _differs(numbers: Floats) -> NDArray[np.bool_]:
    changed: NDArray[np.bool_] = numbers[1:] != numbers[:-1]
    return changed & ~(np.isnan(numbers[1:]) & np.isnan(numbers[:-1]))
