"""Least squares inside bounds from many starts at once, by the Levenberg-Marquardt method.

All starts take their steps together, as arrays: 40 starts of a circuit with 10 parameters take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .inputs import Floats

_STEPS = 400
_LARGEST = 2.0
_SETTLED = 1e-9
_STUCK = 1e10


class Minima(NamedTuple):
    """Where each start ended, (s, k), and its cost there, half of the sum of squares, (s,)."""

    places: Floats
    costs: Floats


def minima(
    residual: Callable[[Floats], tuple[Floats, Floats]], begin: Floats, low: Floats, high: Floats
) -> Minima:
    """The nearest minimum of each start.

    Parameters
    ----------
    residual : gives, for (s, k) places, the residuals (s, n) and their derivatives (s, n, k).
    begin : (s, k), where to begin.
    low, high : (k,), the bounds.
    """
    place = np.clip(begin, low, high)
    left, slope = residual(place)
    cost = _half_square(left)
    damping = np.full(len(place), 1e-2)
    running = np.arange(len(place))
    for _ in range(_STEPS):
        if not len(running):
            break
        step = _step(left[running], slope[running], damping[running], place[running], low, high)
        tried = np.clip(place[running] + step, low, high)
        new_left, new_slope = residual(tried)
        new_cost = _half_square(new_left)
        better = new_cost < cost[running]
        gain = np.where(better, (cost[running] - new_cost) / np.maximum(cost[running], 1e-300), np.inf)
        good = running[better]
        place[good], left[good], slope[good] = tried[better], new_left[better], new_slope[better]
        cost[good] = new_cost[better]
        damping[running] *= np.where(better, 0.2, 4.0)
        damping[running] = np.maximum(damping[running], 1e-12)
        settled = (gain < _SETTLED) | (damping[running] > _STUCK) | ~(cost[running] > 0)
        running = running[~settled]
    return Minima(place, cost)


def _half_square(left: Floats) -> Floats:
    found = 0.5 * (left**2).sum(axis=1)
    return np.where(np.isfinite(found), found, np.inf)


def _step(left: Floats, slope: Floats, damping: Floats, place: Floats, low: Floats, high: Floats) -> Floats:
    """The damped step of each start, (s, k); none for a parameter at a bound that would leave it."""
    gradient = np.einsum("snk,sn->sk", slope, left)
    held = ((place <= low) & (gradient > 0)) | ((place >= high) & (gradient < 0))
    free = np.where(held[:, None, :], 0.0, slope)
    normal = np.einsum("snk,snl->skl", free, free)
    size = np.einsum("skk->sk", normal)
    eye = np.eye(place.shape[1])
    extra = damping[:, None] * np.maximum(size, 1e-12) + held
    step = np.linalg.solve(normal + extra[:, None, :] * eye, -np.where(held, 0.0, gradient)[:, :, None])[:, :, 0]
    largest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, _LARGEST / np.maximum(largest, 1e-300)), float)
