"""``off_course`` and ``stands_apart``: cycles that are not of the course of a test, such as check-ups between them.

A rule that finds them must not take fade for one. So a value only stands apart if it is outside of what comes before it
*and* of what comes after: a capacity that falls, however fast, is always between the two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..messages import counted
from .capacity.reference import came_part_charged
from .inputs import CYCLE, DISCHARGE, Floats, flags, numbers
from .result import Remark

CURRENT, ENERGY = "Mean discharge current [A]", "Discharge energy [W.h]"
LASTS = "Discharge duration [s]"
OTHER_RATE = 0.2
"""A discharge current that is further from that of most cycles, as a share of it, is another one. The mean current of a
discharge moves by a tenth with noise at rest, and a capacity hardly moves with so little current."""
MOST_AT_OTHER = 0.2
"""Where more cycles, as a share, have another current, no current is that of most."""
AT_OTHER = "at another current than most"
BESIDE = "a check-up, or part of a cycle"
NOTHING = "no charge passed"
LEAST = 0.03
"""The least difference of a capacity that stands apart, as a share."""
_FAR, _SAME_VOLTAGE, _EACH_SIDE = 0.1, 0.003, 2
"""A mean current that is further from the usual one, as a share, is looked at; a mean voltage within this share of that
of the cycles beside it, so many on each side, is the same."""
_BEFORE, _AFTER = 10, 20
_BLOCK = 9
"""Cycles of a check-up at most: fewer than half of `_AFTER`, so that the median after each is that of the course."""
_NOISES = 6.0
_ALIKE = 0.02
"""Shares of the course that differ less are those of the same kind of cycle."""
_PART = 0.8
_BETWEEN = 2
"""So many cycles between those that stand apart belong to the same check-up."""
_TO_SD = 1.4826


def stands_apart(values: Sequence[float] | pd.Series | Floats, *, least: float = LEAST) -> np.ndarray:
    """Which values of a sequence, in order, stand apart from those before and those after them: outliers of a course
    that rises or falls. A boolean array; a smaller ``least``, a share, finds smaller ones (of efficiencies 0.0005).

    A value stands apart if it is above both, or below both, of the median of the 10 before it that do not stand apart
    and of the median of the 20 after it, by more than ``least`` of the larger and by more than 6 standard deviations
    of the differences between neighbours (from their median absolute deviation). Values in a row that stand apart on
    one side begin and end with a step of that size, else they are a bend of the course. So no value of a course that
    only falls or only rises stands apart, and neither does a jump that stays, nor the first and the last value. NaN
    never does.

    Parameters
    ----------
    least : the least difference, as a share.

    >>> stands_apart([1.0] * 10 + [1.2] + [0.9] * 10).nonzero()[0]
    array([10])
    """
    given = np.asarray(values, float)
    held = np.flatnonzero(np.isfinite(given))
    found = np.zeros(len(given), bool)
    q = given[held]
    if len(q) < 3:
        return found
    steps = np.diff(q)
    noise = _NOISES * _TO_SD * float(np.median(np.abs(steps - np.median(steps))))
    listed = q.tolist()
    course, side, beyond = listed[:1], np.zeros(len(q), int), np.zeros(len(q))
    for place, value in enumerate(listed[1:-1], 1):
        before, after = _middle(course[-_BEFORE:]), _middle(listed[place + 1 : place + 1 + _AFTER])
        low, high = min(before, after), max(before, after)
        beyond[place] = bound = max(least * max(abs(low), abs(high)), noise)
        side[place] = (value > high + bound) - (value < low - bound)
        if not side[place]:
            course.append(value)
    # A cell that rested gives more for some cycles: they are not of the run of the part of a cycle before them.
    for first, last in sorted([*_runs(side < 0), *_runs(side > 0)]):
        if abs(steps[first - 1]) > beyond[first] and abs(steps[last]) > beyond[last]:
            found[held[first : last + 1]] = True
    return found


def _middle(values: list[float]) -> float:
    """The median of a few values, in a tenth of the time that an array of them takes."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _runs(apart: np.ndarray) -> list[tuple[int, int]]:
    """The first and last place of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], apart, [False]])))
    return list(zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True))


def off_course(cycles: pd.DataFrame, *, value: str = DISCHARGE) -> pd.Series:
    """Why each cycle of a test is not of its course, such as a check-up; an empty text for one that is.

    Where a current is that of most cycles (four of five are within 20 % of the median), a cycle at another one is not
    of the course, and neither is one whose discharge passed nothing. Where nothing says of any cycle whether it is
    ``Complete``, as in tables of cycles, one whose capacity stands apart (see ``stands_apart``) is not, nor one or two
    between such; and at the beginning and at the end, where nothing is on one side, one that has the same share of the
    capacity beside it as a cycle that stands apart.

    Parameters
    ----------
    cycles : the ``cycles`` summary of one test: ``Cycle count`` and ``value``, and where they are known ``Complete``
        and ``Mean discharge current [A]``.
    value : the column of capacities, A.h.

    Returns
    -------
    Texts with the index of ``cycles``: ``""``, ``"at another current than most"``, ``"no charge passed"`` or
    ``"a check-up, or part of a cycle"``.
    """
    order = np.argsort(numbers(cycles, CYCLE), kind="stable") if CYCLE in cycles else np.arange(len(cycles))
    rows = cycles.iloc[order]
    words = np.full(len(rows), "", object)
    words[order] = reasons(numbers(rows, value), flags(rows, "Complete"), currents(rows))
    return pd.Series(words, index=cycles.index, dtype=object)


def reasons(values: Floats, complete: Sequence[bool | None], current: Floats) -> list[str]:
    """What ``off_course`` says of cycles in order."""
    counts = np.isfinite(values) & (values > 0) & np.array([one is not False for one in complete], bool)
    other = other_current(current, counts)
    most = other.sum() <= MOST_AT_OTHER * (counts & np.isfinite(current)).sum()
    words = [AT_OTHER if one and most else "" for one in other]
    for place in np.flatnonzero(values <= 0).tolist():
        words[place] = NOTHING
    if any(one is not None for one in complete):
        return words
    counts &= np.array([not word for word in words], bool)
    if came_part_charged(values, complete):
        counts[0] = False
    for place in _beside(values, counts):
        words[place] = BESIDE
    return words


def currents(rows: pd.DataFrame) -> Floats:
    """The mean discharge current of each cycle, A; NaN where it says nothing of the current of the discharge.

    The mean is over all time in which any current flows. Where a cycler shows some milliamperes at rest, or where they
    are noise that is positive in the mean by chance, the rest counts in it, and a discharge at 100 A has 31 A. So a
    current that is not the usual one is NaN where capacity and mean voltage are those of the cycles beside it: at
    another current the voltage would be another. A current without the duration is given, and no such mean.
    """
    current, values = numbers(rows, CURRENT), numbers(rows, DISCHARGE)
    with np.errstate(divide="ignore", invalid="ignore"):
        volts = numbers(rows, ENERGY) / values
    known = np.isfinite(current) & np.isfinite(volts) & np.isfinite(numbers(rows, LASTS)) & (values > 0)
    if not known.any():
        return current
    usual = float(np.sort(current[known])[known.sum() // 2])  # of two kinds one, and not the mean of both
    far = known & (np.abs(current - usual) > _FAR * abs(usual))
    near, made = np.flatnonzero(known & ~far), current.copy()
    for place in np.flatnonzero(far).tolist():
        at = int(np.searchsorted(near, place))
        beside = near[max(at - _EACH_SIDE, 0) : at + _EACH_SIDE]
        volt, value = (float(np.median(of[beside])) for of in (volts, values))
        if abs(volts[place] - volt) <= _SAME_VOLTAGE * abs(volt) and abs(values[place] - value) <= LEAST * value:
            made[place] = np.nan
    return made


def left_out(cycles: int) -> Remark:
    """What is said of so many cycles that are not of the course."""
    words = f"{counted(cycles, 'cycle')} left out: check-ups or parts of cycles, by their capacities."
    return Remark("off_course", words)


def other_current(current: Floats, counts: np.ndarray) -> np.ndarray:
    """The cycles, of those that count, whose discharge current is not that in the middle of them."""
    known = counts & np.isfinite(current)
    usual = np.median(current[known]) if known.any() else np.nan
    return known & (np.abs(current - usual) > OTHER_RATE * abs(usual))


def _beside(values: Floats, counts: np.ndarray) -> list[int]:
    """The places of the values, of those that count, that are not of the course."""
    held = np.flatnonzero(counts)
    q = values[held]
    apart = stands_apart(q)
    if not apart.any():
        return []
    course = np.flatnonzero(~apart)
    shares = np.array([q[one] / _level(q, course, one) for one in np.flatnonzero(apart).tolist()])
    for ends in (list(range(min(_BLOCK, len(q)))), list(range(len(q) - 1, max(len(q) - 1 - _BLOCK, -1), -1))):
        apart[_at_end(q, apart, ends, shares)] = True
    for first, last in _runs(~apart):
        if first > 0 and last < len(q) - 1 and last - first < _BETWEEN:
            apart[first : last + 1] = True
    return [int(place) for place in held[apart]]


def _at_end(q: Floats, apart: np.ndarray, ends: list[int], shares: Floats) -> list[int]:
    """Those of the values at an end, from the outermost inwards, that are of the kinds which stand apart elsewhere.

    The last of them differs from its neighbour at once: a course that bends at its end is not taken for a check-up.
    """
    inside = np.setdiff1d(np.flatnonzero(~apart), ends)
    if not len(inside):
        return []
    level = float(np.median(q[inside[:_AFTER]] if ends[0] == 0 else q[inside[-_AFTER:]]))
    found: list[int] = []
    block: list[int] = []
    for place in ends:
        if apart[place]:
            block.append(place)
            continue
        share = q[place] / level
        if (share > 1 + LEAST or share < _PART) and (np.abs(shares - share) < _ALIKE).any():
            block.append(place)
            found = list(block)
            continue
        sudden = bool(block) and abs(q[block[-1]] / q[place] - 1) > LEAST
        return found if sudden else []
    return []


def _level(q: Floats, course: np.ndarray, place: int) -> float:
    """The median of the course around a place."""
    at = int(np.searchsorted(course, place))
    return float(np.median(q[course[max(at - _BEFORE, 0) : at + _BEFORE]]))
