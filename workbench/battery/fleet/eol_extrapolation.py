"""``eol_extrapolation``: when a cell will fall below a share of its capacity, a little beyond what was measured."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..capacity.reference import Kind
from ..inputs import CYCLE, DISCHARGE, T_MEAN, Floats, Refusal, refusing
from ..result import Cell, result
from .course import Course, course, jumps
from .end_of_life import crossing
from .knee import FEWEST as ENOUGH_FOR_KNEE
from .knee import fitted

COLUMNS = (
    "EOL cycle",
    "EOL low",
    "EOL high",
    "Power law EOL cycle",
    "Power law exponent",
    "Slope [1/cycle]",
    "Observed share",
    "Threshold",
    "Last cycle",
    "Reference [A.h]",
    "Reference kind",
    T_MEAN,
)
FARTHEST = 1.2
FEWEST = 20
_OBSERVED = (0.7, 0.85)
_OFF = (0.20, 0.064)
"""The 90th percentile of the error of the line, of 18 cells whose end is known, by the share of life observed."""
_JUMP = 0.005
_LATE = 0.1


@refusing(COLUMNS)
def eol_extrapolation(
    cycles: pd.DataFrame,
    *,
    threshold: float = 0.8,
    reference: Kind = "first",
    rated: float | None = None,
    value: str = DISCHARGE,
    x: str = CYCLE,
) -> pd.DataFrame:
    """The end of life by a straight line through the last half of the data; the power law 1 - a x^b is beside it.
    One row, not valid where the end is reached already or beyond 1.2 times the last cycle: then show its `Warning`.

    If a knee is found after the middle, only the data after it count. ``EOL low`` and ``EOL high`` are a band of 90 %,
    from the errors of this line on 18 published cells whose end is known: 20 % where 70 % of the life was seen, 6.4 %
    from 85 % on. Most of these errors are too hopeful.

    It refuses to go beyond 1.2 times the observed range: with half of the life seen the line is 33 % off. The range
    begins at 0; data that begin later than a tenth of their own range, and are compared with their own first cycles,
    begin a life of their own. It also refuses where retention does not fall, and where the end is reached
    (``end_of_life`` has it).

    Parameters
    ----------
    cycles : the ``cycles`` of one cell; those that are complete and at the usual current count, at least 20.
    threshold, reference, rated, value, x : as for ``end_of_life``.
    """
    if not 0 < threshold < 1:
        raise ValueError(f"The threshold must be between 0 and 1; it is {threshold!r}.")
    held = course(cycles, value=value, x=x, reference=reference, rated=rated, least=FEWEST)
    reached = crossing(held.x, held.retention, threshold)
    if reached is not None:
        raise Refusal("reached", f"The end of life is reached, at {reached:.4g}: nothing is extrapolated.")
    begin, knee = _last_part(held)
    slope, end = line(held.x[begin:], held.retention[begin:], threshold)
    last, born = float(held.x[-1]), _begin(held)
    if not slope < 0:
        raise Refusal("no_fade", "Retention does not fall over the last half of the data.")
    if end - born > FARTHEST * (last - born):
        begun = f" that begins at {born:g}" if born else ""
        words = (
            f"The line ends beyond {FARTHEST:g} times the observed range{begun}, {last:g}, so no number is given."
        )
        raise Refusal("too_far", words)
    power, exponent = power_law(held.x - born, held.retention, threshold)
    share = (last - born) / (end - born)
    off = float(np.interp(share, _OBSERVED, _OFF))
    row: dict[str, Cell] = {
        "EOL cycle": end,
        "EOL low": max(born + (end - born) / (1 + off), last),
        "EOL high": born + (end - born) / (1 - off),
        "Power law EOL cycle": born + power,
        "Power law exponent": exponent,
        "Slope [1/cycle]": slope,
        "Observed share": share,
        "Threshold": threshold,
        "Last cycle": last,
        "Reference [A.h]": held.reference.value,
        "Reference kind": held.reference.kind,
        T_MEAN: held.temperature,
        "Warning": f"only the data after the knee at {knee:.0f} count" if knee is not None else "",
    }
    return result([row], COLUMNS, held.remarks)


def _begin(held: Course) -> float:
    """Where the life begins that the retention is of: at 0, or with the data, if these begin far later and are compared
    with their own first cycles."""
    first, last = float(held.x[0]), float(held.x[-1])
    return first if held.reference.kind != "rated" and first > _LATE * (last - first) else 0.0


def _last_part(held: Course) -> tuple[int, float | None]:
    """Where the data begin that the line is fitted to, and the knee where that is why."""
    middle = int(np.searchsorted(held.x, (held.x[0] + held.x[-1]) / 2))
    if len(held.x) < ENOUGH_FOR_KNEE:
        return middle, None
    _, bends = fitted(held, jumps(held.retention, _JUMP), "steps")
    bend = bends.double.bends[1]
    place = int(np.searchsorted(held.x, bend))
    return (middle, None) if bends.reason or place <= middle else (place, bend)


def line(x: Floats, retention: Floats, threshold: float) -> tuple[float, float]:
    """The slope of the line of least squares, and where it meets the threshold."""
    slope, intercept = np.polyfit(x, retention, 1)
    return float(slope), float((threshold - intercept) / slope) if slope else np.inf


def power_law(x: Floats, retention: Floats, threshold: float) -> tuple[float, float]:
    """Where 1 - a x^b meets the threshold, and b, by least squares of the retention; NaN where it does not fit."""
    from scipy.optimize import curve_fit

    base = float(np.median(retention[:5]))
    scale = float(x[-1])
    known = x > 0
    try:
        (a, b), _ = curve_fit(
            lambda at, a, b: base - a * at**b, x[known] / scale, retention[known], p0=(base - retention[-1], 1.0)
        )
    except (RuntimeError, TypeError, ValueError):
        return np.nan, np.nan
    if not (a > 0 and b > 0 and base > threshold):
        return np.nan, np.nan
    return float(scale * ((base - threshold) / a) ** (1 / b)), float(b)
