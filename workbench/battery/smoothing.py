"""The width of the window by which dQ/dV is smoothed, from the data: as wide as the sharpest peak allows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .checked import voltage_noise
from .differential import Floats, slope_on_grid

WIDTHS = (0.020, 0.016, 0.012, 0.010, 0.008, 0.006, 0.005, 0.004, 0.003, 0.0025, 0.002, 0.0015, 0.001)
"""V, the windows that are tried, from the widest."""
_GRID = 0.002
_STEPS_IN_WINDOW = 6
_NOISE_IN_WINDOW = 20.0
_SAMPLES_IN_WINDOW = 4.0
_PROMINENT = 0.1
_KEPT = 0.04
_SAID = 0.05
_NOISE_IN_TURN, _LEAST_TURN = 12.0, 0.002
_NOISY = 18.0
# What is left of a peak of the logistic Q = A / (1 + exp(-v / s)) when the window is doubled, and how much the single
# window lowers it: the integral of dQ/dV over the weights of the filter, 1 - (2 v / window)^2.
_LEFT_BY_DOUBLE = (
    0.5,
    0.503,
    0.513,
    0.523,
    0.553,
    0.581,
    0.631,
    0.672,
    0.726,
    0.799,
    0.841,
    0.885,
    0.928,
    0.965,
    1.0,
)
_LOWERED = (1.0, 0.851, 0.71, 0.623, 0.475, 0.387, 0.279, 0.218, 0.156, 0.097, 0.07, 0.047, 0.027, 0.012, 0.0)


class Smoothing(NamedTuple):
    """How dQ/dV is smoothed: the ``width`` of the window and the ``step`` of the grid, V; by which part the window
    lowers the sharpest peak, ``lowered``; and what a reader has to know of that, ``said``, empty if nothing."""

    width: float
    step: float
    lowered: float
    said: str


class _Curve(NamedTuple):
    """One half cycle as its slope is taken: the envelope of its voltage, its charge, where it turned back."""

    voltage: Floats
    charge: Floats
    turned: Floats
    noise: float
    apart: float


def smoothing_window(curves: Iterable[tuple[ArrayLike, ArrayLike]], smooth: float | None = None) -> Smoothing:
    """The width of the smoothing window for dQ/dV of curves that are compared: one for all of them.

    Without ``smooth`` it is the widest of 20 mV and less that lowers no peak by more than 4 %, but not below 20 times
    the noise of the voltage, 4 samples and 1 mV. A peak is lowered by as much as one of a logistic Q(V) would be, for
    which a window of twice the width leaves the same part of it. Peaks below a tenth of the highest do not count, nor
    those where the voltage turns back.

    Parameters
    ----------
    curves : voltage (n,) V and charge passed (n,) A.h of each half cycle, as ``differential_capacity`` takes them.
    smooth : V, a width that is given; then only what it does to the peaks is found.

    Returns ``width`` and ``step`` in V, for ``differential_capacity``; ``lowered``, by which part the sharpest peak is
    lowered; and ``said``: words for a note where that is more than 5 %, or where the noise needs a wider window.
    """
    found = [one for voltage, charge in curves if (one := _curve(voltage, charge)) is not None]
    least = max((max(_NOISE_IN_WINDOW * one.noise, _SAMPLES_IN_WINDOW * one.apart) for one in found), default=0.0)
    noise = max((one.noise for one in found), default=0.0)
    if smooth is not None:
        lowered = max((_lowered(one, smooth, _GRID) for one in found), default=0.0)
        return Smoothing(smooth, _GRID, lowered, _said(smooth, lowered, noise))
    width, lowered = WIDTHS[0], 0.0
    for width in WIDTHS:
        lowered = max((_lowered(one, width, _step(width)) for one in found), default=0.0)
        if lowered <= _KEPT or not any(least <= narrower < width for narrower in WIDTHS):
            break
    return Smoothing(width, _step(width), lowered, _said(width, lowered, noise))


def _step(width: float) -> float:
    return min(_GRID, width / _STEPS_IN_WINDOW)


def _said(width: float, lowered: float, noise: float) -> str:
    if width < _NOISY * noise:
        return f"a noise of {1000 * noise:.2g} mV makes heights uncertain at this window"
    if lowered <= _SAID:
        return ""
    return f"the window lowers the sharpest peak by about {lowered:.0%}".replace("%", " %")


def _curve(voltage: ArrayLike, charge: ArrayLike) -> _Curve | None:
    v, q = np.asarray(voltage, float), np.asarray(charge, float)
    known = np.isfinite(v) & np.isfinite(q)
    v, q = v[known], q[known]
    if len(v) < 3:
        return None
    v = v if v[-1] >= v[0] else -v
    envelope = np.maximum.accumulate(v)
    noise = voltage_noise(v)
    turned = envelope - v > max(_NOISE_IN_TURN * noise, _LEAST_TURN)
    return _Curve(envelope, q, np.unique(envelope[turned]), noise, float(np.median(np.diff(envelope))))


def _lowered(curve: _Curve, width: float, step: float) -> float:
    """By which part a window lowers the sharpest peak of a curve."""
    from scipy.signal import find_peaks  # takes half a second, and few figures need it

    grid, slope = slope_on_grid(curve.voltage, curve.charge, step=step, smooth=width)
    wide = slope_on_grid(curve.voltage, curve.charge, step=step, smooth=2 * width)[1]
    if len(slope) < 3:
        return 0.0
    peaks, _ = find_peaks(slope, prominence=_PROMINENT * float(slope.max()))
    near = curve.turned
    if len(near):
        after = np.minimum(np.searchsorted(near, grid[peaks]), len(near) - 1)
        before = np.maximum(after - 1, 0)
        away = np.minimum(np.abs(near[after] - grid[peaks]), np.abs(near[before] - grid[peaks]))
        peaks = peaks[away > width]
    left = float(np.min(wide[peaks] / slope[peaks], initial=1.0))
    return float(np.interp(left, _LEFT_BY_DOUBLE, _LOWERED))
