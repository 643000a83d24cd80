"""Charge, energy and time of steps that own every interval of a test: half of it each sample beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..exact_sum import group_sums
from .run_statistics import Floats, Ints

GAP = 60.0
"""An interval above this, s, and above :data:`TIMES` the median interval of the test is a gap; unless an interval
beside it is long too: then samples were taken seldom there."""
TIMES = 10.0
_SHORT = GAP / TIMES
_ROUNDED = 6
"""Decimals to which intervals are compared, so that the rounding of large times makes no gap."""
CHARGE_OUT, CHARGE_IN, ENERGY_OUT, ENERGY_IN, SECONDS = range(5)
"""The columns of the sums."""
_FLOWS = {"charge": (CHARGE_OUT, CHARGE_IN), "energy": (ENERGY_OUT, ENERGY_IN), "time": (SECONDS,)}


class Unknown(NamedTuple):
    """Intervals over which a rate is not known: how long together, s, and what it would have passed, A.h or W.h."""

    seconds: float = 0.0
    missed: float = 0.0


_ALL_KNOWN = Unknown()


@dataclass(frozen=True)
class Gaps:
    """The intervals of a test over which nothing is integrated: how many, how long together, and the longest, in s.

    ``slow`` intervals under current would be gaps by their length, of up to ``slowest`` s, but those beside them are as
    long.
    ``at`` is the number of the sample after the longest. ``loaded`` are those with a current in one direction on both
    sides, and ``missed`` is the charge that it would have passed, A.h. ``unmeasured`` and ``unpowered`` are not in
    time: samples are there, but without a current, or without a power.
    """

    count: int = 0
    total: float = 0.0
    longest: float = 0.0
    at: int = -1
    loaded: int = 0
    missed: float = 0.0
    slow: int = 0
    slowest: float = 0.0
    unmeasured: Unknown = _ALL_KNOWN
    unpowered: Unknown = _ALL_KNOWN


@dataclass(frozen=True)
class Owned:
    """What each step owns: (g, 5) A.h out and in, W.h out and in, and s.

    ``within`` is from the intervals between two samples of the step, ``between`` from its halves of the intervals to
    the steps beside it.
    """

    within: Floats
    between: Floats
    gaps: Gaps

    @property
    def both(self) -> Floats:
        """(g, 5) all that each step owns."""
        return self.within + self.between


class OwnedIntervals:
    """Adds up what each step owns, block by block.

    A sample owns half of the interval on either side, at its own max(I, 0) or max(-I, 0); the same with the power. So
    the sum over all steps is the trapezoid of max(I, 0) and of max(-I, 0) over the test. A sample with a null is left
    out. Nothing is integrated over a gap, or where time falls.

    Steps are numbered one by one. The same samples give the same bits if the blocks are the same.
    """

    def __init__(self) -> None:
        self._first: int | None = None
        self._row = 0
        self._steps = 0
        self._within = np.zeros((0, 5))
        self._between = np.zeros((0, 5))
        self._carry: dict[str, tuple[int, float, float]] = {}
        self._before: dict[str, float] = {}
        self._last: dict[str, int] = {}
        self._long: dict[str, list[_Long]] = {name: [] for name in _FLOWS}
        self._intervals = _Intervals()

    def feed(self, steps: Ints, time: Floats, current: Floats, power: Floats) -> None:
        """Take the next samples, each (n,), n > 0. A gives A.h, W gives W.h."""
        if self._first is None:
            self._first = int(steps[0])
        place = steps - self._first
        self._grow(int(place[-1]) + 1)
        timed = ~np.isnan(time)
        rows = self._row + np.arange(len(steps))
        for name, rate in (("time", None), ("charge", current), ("energy", power)):
            known = timed if rate is None else timed & np.isfinite(rate)
            if known.all():
                self._add(name, place, time, rate, rows)
            elif known.any():
                self._add(name, place[known], time[known], None if rate is None else rate[known], rows[known])
        self._row += len(steps)

    def finish(self) -> Owned:
        """What each step owns, once all samples were fed."""
        within, between = self._within[: self._steps].copy(), self._between[: self._steps].copy()
        limit = max(GAP, round(TIMES * self._intervals.median(), _ROUNDED))
        for name, parts in self._long.items():
            for part in parts:
                part.add(within, between, _FLOWS[name], ~part.are_gaps(limit))
        return Owned(within, between, self._gaps(limit))

    def _gaps(self, limit: float) -> Gaps:
        lengths, rows = [np.zeros(0)], [np.zeros(0, np.int64)]
        loaded, missed, slow, slowest = 0, 0.0, 0, 0.0
        for part in self._long["time"]:
            gaps = part.are_gaps(limit)
            lengths.append(part.seconds[gaps])
            rows.append(part.row[gaps])
        length, row = np.concatenate(lengths), np.concatenate(rows)
        in_time = row, length
        for part in self._long["charge"]:
            gaps = part.are_gaps(limit)
            one_way = gaps & (part.left * part.right > 0) & part.are_among(in_time)
            loaded += int(one_way.sum())
            missed += part.passed(one_way)
            used = part.long(limit) & ~gaps & ((part.left != 0) | (part.right != 0))
            slow += int(used.sum())
            slowest = max(slowest, float(part.seconds[used].max(initial=0.0)))
        unknown = [self._unknown(name, limit, in_time) for name in ("charge", "energy")]
        if not len(length):
            return Gaps(slow=slow, slowest=slowest, unmeasured=unknown[0], unpowered=unknown[1])
        longest = int(np.argmax(length))
        many = (len(length), float(length.sum()), float(length[longest]), int(row[longest]))
        return Gaps(*many, loaded, missed, slow, slowest, *unknown)

    def _unknown(self, name: str, limit: float, in_time: tuple[Ints, Floats]) -> Unknown:
        """The gaps of a rate that are not gaps in time, where it goes one way on both sides."""
        seconds = missed = 0.0
        for part in self._long[name]:
            some = part.are_gaps(limit) & (part.left * part.right > 0) & ~part.are_among(in_time)
            seconds += float(part.seconds[some].sum())
            missed += part.passed(some)
        return Unknown(seconds, missed)

    def _keep_long(self, name: str, long: NDArray[np.bool_], found: _Long) -> None:
        """Keep the long intervals, each with the longer one of those beside it."""
        seconds, parts = found.seconds, self._long[name]
        if parts and parts[-1].row[-1] == self._last.get(name):
            parts[-1].beside[-1] = max(parts[-1].beside[-1], seconds[0])
        if long.any():
            before = np.concatenate([[self._before.get(name, 0.0)], seconds[:-1]])
            found.beside[:] = np.maximum(before, np.append(seconds[1:], 0.0))
            parts.append(found.chosen(long))
        self._before[name], self._last[name] = float(seconds[-1]), int(found.row[-1])

    def _grow(self, steps: int) -> None:
        have, self._steps = len(self._within), steps
        if steps > have:
            more = np.zeros((max(steps - have, have), 5))
            self._within = np.concatenate([self._within, more])
            self._between = np.concatenate([self._between, more])

    def _add(self, name: str, place: Ints, time: Floats, rate: Floats | None, rows: Ints) -> None:
        if rate is None:
            rate = np.ones(len(time))
        if name in self._carry:
            before = self._carry[name]
            place = np.concatenate([[before[0]], place])
            time, rate = np.concatenate([[before[1]], time]), np.concatenate([[before[2]], rate])
            rows = np.concatenate([[-1], rows])
        self._carry[name] = (int(place[-1]), float(time[-1]), float(rate[-1]))
        if len(time) < 2:
            return
        seconds = np.diff(time)
        if name == "time":
            self._intervals.feed(seconds)
        left, right = place[:-1], place[1:]
        long = np.round(seconds, _ROUNDED) > GAP
        self._keep_long(
            name, long, _Long(left, right, seconds, rate[:-1], rate[1:], rows[1:], np.zeros(len(seconds)))
        )
        used = np.where(long | (seconds < 0), 0.0, seconds)
        flows = (np.maximum(rate, 0.0), np.maximum(-rate, 0.0))
        scale = 2.0 if name == "time" else 7200.0
        share = used / scale
        inside = left == right
        starts = np.flatnonzero(np.concatenate([[True], left[1:] != left[:-1]]))
        crossing = np.flatnonzero(~inside)
        for column, flow in zip(_FLOWS[name], flows, strict=False):
            areas = np.where(inside, share * (flow[:-1] + flow[1:]), 0.0)
            self._within[left[starts], column] += group_sums(areas, starts)
            # A step has one interval to the step before it and one to the step after it, so no place comes twice.
            self._between[left[crossing], column] += share[crossing] * flow[:-1][crossing]
            self._between[right[crossing], column] += share[crossing] * flow[1:][crossing]


@dataclass(frozen=True)
class _Long:
    """Intervals that are gaps if the test is sampled more often: the places of their steps, s, the rates at their ends,
    the numbers of the samples after them, and the longer one of the intervals beside each, s."""

    before: Ints
    after: Ints
    seconds: Floats
    left: Floats
    right: Floats
    row: Ints
    beside: Floats

    def long(self, limit: float) -> NDArray[np.bool_]:
        """(n,) True where an interval is longer than this, s."""
        long: NDArray[np.bool_] = np.round(self.seconds, _ROUNDED) > limit
        return long

    def are_gaps(self, limit: float) -> NDArray[np.bool_]:
        """(n,) True where an interval is longer than this and than those beside it."""
        return self.long(limit) & (np.round(self.seconds, _ROUNDED) > np.round(TIMES * self.beside, _ROUNDED))

    def are_among(self, intervals: tuple[Ints, Floats]) -> NDArray[np.bool_]:
        """(n,) True where an interval is one of these: the numbers of the samples after them, rising, and s."""
        rows, seconds = intervals
        if not len(rows):
            return np.zeros(len(self.row), bool)
        place = np.minimum(np.searchsorted(rows, self.row), len(rows) - 1)
        same: NDArray[np.bool_] = (rows[place] == self.row) & (seconds[place] == self.seconds)
        return same

    def passed(self, some: NDArray[np.bool_]) -> float:
        """What some of them would have passed, A.h or W.h."""
        return float((np.abs(self.left + self.right) * self.seconds)[some].sum()) / 7200

    def chosen(self, some: NDArray[np.bool_]) -> _Long:
        """Some of them."""
        return _Long(
            self.before[some],
            self.after[some],
            self.seconds[some],
            self.left[some],
            self.right[some],
            self.row[some],
            self.beside[some],
        )

    def add(self, within: Floats, between: Floats, columns: tuple[int, ...], some: NDArray[np.bool_]) -> None:
        """Add some of them to the sums of their steps."""
        one = self.chosen(some)
        share = one.seconds / (2.0 if len(columns) == 1 else 7200.0)
        inside = one.before == one.after
        for column, sign in zip(columns, (1.0, -1.0), strict=False):
            halves = [share * np.maximum(sign * rate, 0.0) for rate in (one.left, one.right)]
            for steps, half in zip((one.before, one.after), halves, strict=True):
                np.add.at(within[:, column], steps[inside], half[inside])
                np.add.at(between[:, column], steps[~inside], half[~inside])


class _Intervals:
    """The median of intervals. Those that can make no gap are only counted."""

    def __init__(self) -> None:
        self._short, self._longest_short = 0, 0.0
        self._values = np.zeros(0)
        self._counts = np.zeros(0, np.int64)

    def feed(self, seconds: Floats) -> None:
        """Take more intervals, s; those that are not above 0 do not count."""
        short = (seconds > 0) & (seconds <= _SHORT)
        if short.any():
            self._short += int(short.sum())
            self._longest_short = max(self._longest_short, float(seconds[short].max()))
        rest = np.round(seconds[seconds > _SHORT], _ROUNDED)
        if len(rest):
            found, often = np.unique(
                rest, return_counts=True
            )  # without their places, which take three times as long
            values, place = np.unique(np.concatenate([self._values, found]), return_inverse=True)
            counts = np.bincount(place, np.concatenate([self._counts, often]), minlength=len(values))
            self._values, self._counts = values, counts.astype(np.int64)

    def median(self) -> float:
        """The median, s; where it cannot make a gap, the longest of the short ones stands for it."""
        count = self._short + int(self._counts.sum())
        if not count:
            return 0.0
        ends = self._short + np.cumsum(self._counts)
        middle = [(count - 1) // 2, count // 2]
        return float(np.mean([self._at(place, ends) for place in middle]))

    def _at(self, place: int, ends: Ints) -> float:
        if place < self._short:
            return self._longest_short
        return float(self._values[int(np.searchsorted(ends, place, side="right"))])
