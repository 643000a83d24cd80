"""dQ/dV and dV/dQ, each half cycle by itself.

Both interpolate onto an even grid and differentiate by a Savitzky-Golay filter (A. Savitzky, M. J. E. Golay,
Analytical Chemistry 36 (1964) 1627): the slope of the parabola fitted to the samples of a sliding window.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .charge import counted
from .completeness import left_out, warn_left_out
from .doubts import NotMonotonic, SamplesLeftOut
from .half_cycles import HalfCycle, half_cycles

VOLTAGE = "Voltage [V]"
CAPACITY = "Capacity [A.h]"
DQDV = "dQ/dV [A.h/V]"
DVDQ = "dV/dQ [V/A.h]"
_TOLERATED = 0.01
Floats = NDArray[np.float64]


def slope_on_grid(x: ArrayLike, y: ArrayLike, *, step: float, smooth: float) -> tuple[Floats, Floats]:
    """An even grid over x, and dy/dx on it: two (m,) float arrays; empty if x spans less than three steps.

    Parameters
    ----------
    x, y : (n,) float. x never falls; of equal x the last sample counts.
    step : distance of the grid, in units of x.
    smooth : width of the sliding window, in units of x; below three steps the window is three points wide.

    Warns with ``SamplesLeftOut`` where x or y is a column of a frame that lacks samples.
    """
    columns = (one for one in (x, y) if isinstance(one, pd.Series))
    any(warn_left_out(one, "The slope") for one in columns)  # it is said once
    from scipy.signal import savgol_filter  # takes half a second, and few figures need it

    xs, ys = np.asarray(x, float), np.asarray(y, float)
    last = np.append(np.diff(xs) > 0, True) if len(xs) else np.zeros(0, bool)
    xs, ys = xs[last], ys[last]
    if len(xs) < 2 or xs[-1] - xs[0] < 3 * step:
        return np.zeros(0), np.zeros(0)
    points = int(np.floor((xs[-1] - xs[0]) / step + 1e-9)) + 1
    grid = xs[0] + step * np.arange(points)
    window = max(3, 2 * round(smooth / step / 2) + 1)
    window = min(window, points - 1 + points % 2)
    values = np.interp(grid, xs, ys)
    slope: Floats = np.asarray(savgol_filter(values, window, 2, deriv=1, delta=step), float)
    return grid, slope


def differential_capacity(
    voltage: ArrayLike, capacity: ArrayLike, *, step: float = 0.002, smooth: float = 0.01
) -> tuple[Floats, Floats]:
    """dQ/dV of one half cycle: an even voltage grid (m,) V, in the half cycle's direction, and (m,) A.h/V.

    Parameters
    ----------
    voltage : (n,) float, V, rising on charge and falling on discharge.
    capacity : (n,) float, A.h, the charge passed, rising in both: so dQ/dV is positive on charge and negative
        on discharge.
    step, smooth : V, distance of the grid and width of the smoothing window. A window lowers peaks that are not at
        least twice as wide as it is; ``smoothing_window`` finds one that does not.

    Where the voltage turns back, its envelope (the highest so far on charge, the lowest on discharge) is
    used. If what it turns back is more than 1 % of its way, a ``NotMonotonic`` warning says how much.
    """
    if isinstance(voltage, pd.Series):
        warn_left_out(voltage, "dQ/dV")
    return _slope(np.asarray(voltage, float), np.asarray(capacity, float), step, smooth)


def _slope(v: Floats, q: Floats, step: float, smooth: float) -> tuple[Floats, Floats]:
    kept = np.isfinite(v) & np.isfinite(q)
    v, q = v[kept], q[kept]
    if len(v) < 3:
        return np.zeros(0), np.zeros(0)
    sign = 1.0 if v[-1] >= v[0] else -1.0
    moves = np.diff(v) * sign
    back, forth = float(-moves[moves < 0].sum()), float(moves[moves > 0].sum())
    if back > _TOLERATED * forth:
        share = back / forth if forth else 1.0
        message = f"the voltage turns back by {share:.0%} of its way; dQ/dV follows its envelope there"
        warnings.warn(message, NotMonotonic, stacklevel=3)
    x, slope = slope_on_grid(np.maximum.accumulate(v * sign), q, step=step, smooth=smooth)
    return x * sign, slope * sign


def dqdv(
    frame: pd.DataFrame, *, step: float = 0.002, smooth: float = 0.01, rest: float | None = None
) -> pd.DataFrame:
    """dQ/dV of every half cycle of a series (with voltage, current, time), with a row of NaN between them.

    Returns the columns ``Voltage [V]``, ``dQ/dV [A.h/V]`` (positive on charge, negative on discharge),
    ``Half cycle`` (its number from 0) and ``Direction``. ``step`` and ``smooth`` as in
    ``differential_capacity``, ``rest`` as in ``half_cycles``. Half cycles that span less than three steps are
    left out.
    """

    def of_one(half: HalfCycle) -> tuple[Floats, Floats]:
        voltage = half.frame[VOLTAGE].to_numpy(float, na_value=np.nan)
        return _slope(voltage, _charge_of(half), step, smooth)

    warn_left_out(frame, "dQ/dV")
    return _by_half_cycle(frame, rest, of_one, VOLTAGE, DQDV)


def dvdq(
    frame: pd.DataFrame, *, step: float | None = None, smooth: float | None = None, rest: float | None = None
) -> pd.DataFrame:
    """dV/dQ of every half cycle of a series against the charge passed in it, with a row of NaN between them.

    Returns the columns ``Capacity [A.h]``, ``dV/dQ [V/A.h]`` (positive on charge, negative on discharge),
    ``Half cycle`` and ``Direction``.

    Parameters
    ----------
    step : A.h, distance of the grid; by default a 500th of the half cycle's charge.
    smooth : A.h, width of the smoothing window; by default five steps.
    rest : as in ``half_cycles``.
    """

    def of_one(half: HalfCycle) -> tuple[Floats, Floats]:
        charge = _charge_of(half)
        voltage = half.frame[VOLTAGE].to_numpy(float, na_value=np.nan)
        kept = np.isfinite(voltage)
        width = step if step is not None else float(charge[-1]) / 500
        if width <= 0:
            return np.zeros(0), np.zeros(0)
        return slope_on_grid(
            charge[kept], voltage[kept], step=width, smooth=5 * width if smooth is None else smooth
        )

    warn_left_out(frame, "dV/dQ")
    return _by_half_cycle(frame, rest, of_one, CAPACITY, DVDQ)


def _charge_of(half: HalfCycle) -> Floats:
    """The charge passed in a half cycle of a frame for which missing samples were warned of."""
    charge, missing = counted(half.frame, half.direction)
    if missing and not left_out(half.frame):
        warnings.warn(f"Half cycle {half.number}: {missing}", SamplesLeftOut, stacklevel=5)
    return charge


def _by_half_cycle(
    frame: pd.DataFrame,
    rest: float | None,
    of_one: Callable[[HalfCycle], tuple[Floats, Floats]],
    x_name: str,
    y_name: str,
) -> pd.DataFrame:
    if VOLTAGE not in frame:
        raise ValueError(f"The frame needs a column '{VOLTAGE}'; it has {', '.join(map(repr, frame.columns))}.")
    gap = np.array([np.nan])
    xs: list[Floats] = []
    ys: list[Floats] = []
    numbers: list[NDArray[np.int64]] = []
    names: list[str] = []
    for half in half_cycles(frame, rest=rest):
        x, y = of_one(half)
        if not len(x):
            continue
        if xs:
            x, y = np.concatenate([gap, x]), np.concatenate([gap, y])
        xs.append(x)
        ys.append(y)
        numbers.append(np.full(len(x), half.number))
        names += [half.direction] * len(x)
    columns = {
        x_name: np.concatenate(xs) if xs else np.zeros(0),
        y_name: np.concatenate(ys) if ys else np.zeros(0),
        "Half cycle": np.concatenate(numbers) if numbers else np.zeros(0, np.int64),
        "Direction": pd.Series(names, dtype="str"),
    }
    return pd.DataFrame(columns)
