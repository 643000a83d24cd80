"""The peaks of a slope curve on an even grid: position, height, prominence, area and width."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..inputs import Floats


class Peak(NamedTuple):
    """In units of the grid and of the slope. ``area`` is from valley to valley, NaN where ``near`` says that a
    neighbour or an end is within a window. ``fwhm`` is the width at half of the prominence, NaN where a side does not
    fall to it."""

    position: float
    height: float
    prominence: float
    area: float
    fwhm: float
    centroid: float
    near: str


def peaks_of(grid: Floats, slope: Floats, *, window: float, prominence: float, width: float) -> list[Peak]:
    """The peaks of a curve, in order of the grid.

    The position and the height are those of the parabola through the highest point and its two neighbours; `Peak`
    describes the rest.

    Parameters
    ----------
    grid, slope : (n,), the grid even and rising.
    window : the width of the filter that made the slope, in units of the grid.
    prominence : the least prominence, as a part of the highest point.
    width : the least width at half of the prominence, in units of the grid.
    """
    from scipy.signal import find_peaks  # takes half a second, and few figures need it

    if len(grid) < 5:
        return []
    step = float(grid[1] - grid[0])
    with warnings.catch_warnings():
        # A ripple of rounding errors has no width, so it is left out as all narrow ones are.
        warnings.simplefilter("ignore", RuntimeWarning)
        tops, found = find_peaks(slope, prominence=prominence * float(slope.max()), width=width / step)
    places = [int(top) for top in tops]
    valleys = [_lowest(slope, one, other) for one, other in pairwise(places)]
    lows = [_lowest(slope, 0, places[0]) if places else 0, *valleys]
    highs = [*valleys, _lowest(slope, places[-1], len(slope) - 1) if places else 0]
    made = []
    for number, top in enumerate(places):
        at, height = _vertex(grid, slope, top)
        near = _near(places, number, grid, window)
        low, high = lows[number], highs[number]
        area = float(np.trapezoid(slope[low : high + 1], grid[low : high + 1]))
        moment = float(np.trapezoid((slope * grid)[low : high + 1], grid[low : high + 1]))
        prominent = float(found["prominences"][number]) + height - float(slope[top])
        made.append(
            Peak(
                at,
                height,
                prominent,
                float("nan") if near else area,
                _width(grid, slope, top, height - prominent / 2),
                moment / area if area else float("nan"),
                near,
            )
        )
    return made


def _lowest(slope: Floats, first: int, last: int) -> int:
    return first + int(np.argmin(slope[first : last + 1]))


def _vertex(grid: Floats, slope: Floats, top: int) -> tuple[float, float]:
    """The vertex of the parabola through a point and its neighbours."""
    left, middle, right = (float(slope[place]) for place in (top - 1, top, top + 1))
    bend = left - 2 * middle + right
    if not bend < 0:
        return float(grid[top]), middle
    shift = 0.5 * (left - right) / bend
    return float(grid[top] + shift * (grid[1] - grid[0])), middle - 0.25 * (left - right) * shift


def _near(places: list[int], number: int, grid: Floats, window: float) -> str:
    """What is within a window of a peak, in words; empty if nothing is."""
    at = grid[places[number]]
    others = [grid[place] for other, place in enumerate(places) if other != number]
    if any(abs(at - other) <= window for other in others):
        return "another peak is within one window"
    if min(at - grid[0], grid[-1] - at) <= window:
        return "an end of the curve is within one window"
    return ""


def _width(grid: Floats, slope: Floats, top: int, level: float) -> float:
    """The width of a peak where it crosses a level; NaN where a side does not."""
    below = np.flatnonzero(slope <= level)
    left, right = below[below < top], below[below > top]
    if not len(left) or not len(right):
        return float("nan")
    low, high = int(left[-1]), int(right[0])
    ends = [
        float(grid[one] + (level - slope[one]) / (slope[other] - slope[one]) * (grid[other] - grid[one]))
        for one, other in ((low, low + 1), (high, high - 1))
    ]
    return ends[1] - ends[0]
