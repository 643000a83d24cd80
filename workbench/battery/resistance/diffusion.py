"""What titration and interruption share: the slope of voltage over the square root of time, and the diffusion that it
means."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from ..allowed import WINDOW, one_of
from ..inputs import Floats

Geometry = Literal["sphere", "slab"]
Window = tuple[float, float]
"""From and to, s after the onset."""
TAKEN = {"geometry": one_of(*get_args(Geometry)), "window": WINDOW, "second_window": WINDOW}
"""What the parameters that both analyses have take."""
_SAME_TIME = 1e-6
SENSITIVE = 2.0
"""Two windows whose diffusion differs by more than this factor."""
LONG = 0.01
"""D t / R^2 above which diffusion is no longer that into a half space."""


class SquareRootFit(NamedTuple):
    """V = intercept + slope sqrt(t): V, V/sqrt(s); r2; and the number of samples."""

    intercept: float
    slope: float
    r2: float
    samples: int


def square_root_fit(passed: Floats, voltage: Floats, window: Window) -> SquareRootFit:
    """Fit the samples whose time since the onset, s, is in a window; NaN for fewer than three."""
    inside = (passed >= window[0] - _SAME_TIME) & (passed <= window[1] + _SAME_TIME)
    count = int(inside.sum())
    root, volts = np.sqrt(passed[inside]), voltage[inside]
    if count < 3 or not np.ptp(root) > 0:
        return SquareRootFit(float("nan"), float("nan"), float("nan"), count)
    x, y = root - root.mean(), volts - volts.mean()
    slope = float(x @ y / (x @ x))
    total = float(y @ y)
    r2 = 1.0 - float(((y - slope * x) ** 2).sum()) / total if total > 0 else float("nan")
    return SquareRootFit(float(volts.mean() - slope * root.mean()), slope, r2, count)


def diffusion_rate(drive: float, slope: float, geometry: Geometry) -> float:
    """D/R^2 of a sphere of radius R, or D/L^2 of a slab of thickness L, 1/s.

    Parameters
    ----------
    drive : how fast the equilibrium voltage changes under the current, V/s.
    slope : the change of voltage with the square root of time, V/sqrt(s).
    """
    factor = 4 / (9 * np.pi) if geometry == "sphere" else 4 / np.pi
    return float(factor * (drive / slope) ** 2) if slope else float("nan")


def apart(one: float, other: float) -> float:
    """The factor between two values, at least 1; NaN if one is unknown."""
    return max(one / other, other / one) if one > 0 and other > 0 else float("nan")
