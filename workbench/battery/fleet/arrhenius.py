"""``arrhenius``: how a rate depends on temperature."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..inputs import Floats, Refusal, need, numbers, refusing
from ..result import Cell, Remark, result

COLUMNS = (
    "Ea [kJ/mol]",
    "sd",
    "r2",
    "Curvature sd",
    "Value at reference",
    "Reference [degC]",
    "Lowest [degC]",
    "Highest [degC]",
    "n",
)
GAS = 8.314462618
_ZERO = 273.15
_BENT = 2.0
"""Standard errors of the bend above which no single energy is given."""
_CHANCE = 0.05
"""From how often a straight law gives a bend as large it is said how often."""
_SAME = 1.0
_HOTTEST = 150.0
FEWEST = 3


@refusing(COLUMNS)
def arrhenius(
    points: pd.DataFrame,
    *,
    value: str = "Rate",
    temperature: str = "Temperature [degC]",
    reference: float = 25.0,
    falls: bool = False,
) -> pd.DataFrame:
    """The activation energy of a rate: ln k = ln A - Ea / (R T), by least squares.

    ``Value at reference`` is the line's value at the reference temperature; x(Tref) = x exp(Ea/R (1/T - 1/Tref))
    normalises a rate. ``Curvature sd`` is the quadratic term in 1/T over its standard error. Where its size is above 2
    the points bend, two processes take turns (growth of the film above, plating below about 25 degC: Waldmann et al.,
    *Journal of Power Sources* 262 (2014) 129), and no single Ea is given. Few points of a straight law often give one
    as large (Student's t with n - 3 degrees of freedom: in 30 % for 4 points); the warning says how often, and points
    of each cell rather than their means decide. With three temperatures alone the bend is judged by the scatter of
    their points; without any scatter it is not known, and a warning says so.

    Parameters
    ----------
    points : one row for each measured value, at the *measured* temperature in degC, not the set point. At least three
        temperatures, more than 1 K apart; above 150 degC they are taken for kelvins, and refused.
    value : the column of the rate, above 0.
    falls : the value falls with temperature, as a resistance does: Ea is that of 1 / value.
    """
    need(points, (temperature, value), 1, "point")
    if not -_ZERO < reference <= _HOTTEST:
        raise ValueError(f"The reference temperature is in degC; it is {reference!r}.")
    warm, rate = numbers(points, temperature), numbers(points, value)
    known = np.isfinite(warm) & np.isfinite(rate)
    if (rate[known] <= 0).any():
        raise Refusal("not_positive", f"'{value}' must be above 0 everywhere: it has a logarithm only then.")
    if (warm[known] > _HOTTEST).any():
        most = float(warm[known].max())
        raise Refusal(
            "too_hot",
            f"'{temperature}' is up to {most:.5g}, and temperatures are in degC. If these are kelvins, take "
            f"{_ZERO:g} from them.",
        )
    order = np.argsort(warm[known], kind="stable")
    warm, rate = warm[known][order], rate[known][order]
    levels = _levels(warm)
    if levels < FEWEST:
        found = f"is {levels}" if levels == 1 else f"are {levels}"
        words = f"At least {FEWEST} temperatures, more than {_SAME:g} K apart, are needed; there {found}."
        raise Refusal("too_few", words)
    x = 1 / (GAS * (warm + _ZERO))
    y = -np.log(rate) if falls else np.log(rate)
    slope, intercept, sd, r2 = _line(x, y)
    curved = _curvature(x, y)
    at = slope / (GAS * (reference + _ZERO)) + intercept
    chance = _chance(curved, len(x) - 3)
    bent = abs(curved) > _BENT
    warning = f"the points bend ({-slope / 1000:.3g} kJ/mol in the mean): no single Ea" if bent else ""
    if bent and chance >= _CHANCE:
        often = f"{len(warm)} points of a straight law seem to bend as much in {chance:.0%}"
        warning += f"; {often}, so give those of each cell"
    row: dict[str, Cell] = {
        "Ea [kJ/mol]": np.nan if bent else -slope / 1000,
        "sd": np.nan if bent else sd / 1000,
        "r2": r2,
        "Curvature sd": curved,
        "Value at reference": np.nan if bent else float(np.exp(-at if falls else at)),
        "Reference [degC]": reference,
        "Lowest [degC]": float(warm.min()),
        "Highest [degC]": float(warm.max()),
        "n": len(warm),
        "Valid": not bent,
        "Warning": warning,
    }
    remarks = []
    if np.isnan(curved):
        remarks.append(Remark("bend_unknown", "With so few points it is not known whether they bend."))
    return result([row], COLUMNS, remarks)


def _chance(curved: float, free: int) -> float:
    """How often a straight law gives a quadratic term as large, in either direction."""
    from scipy.special import stdtr  # takes a tenth of a second

    return 2 * float(stdtr(free, -abs(curved))) if free > 0 else 1.0


def _levels(warm: Floats) -> int:
    """How many temperatures there are that differ."""
    if not len(warm):
        return 0
    ordered = np.sort(warm)
    return 1 + int((np.diff(ordered) > _SAME).sum())


def _line(x: Floats, y: Floats) -> tuple[float, float, float, float]:
    """Slope, intercept, the standard error of the slope, r2."""
    slope, intercept = np.polyfit(x, y, 1)
    rest = y - slope * x - intercept
    spread, total = float(((x - x.mean()) ** 2).sum()), float(((y - y.mean()) ** 2).sum())
    sd = float(np.sqrt((rest**2).sum() / (len(x) - 2) / spread))
    return float(slope), float(intercept), sd, 1 - float((rest**2).sum()) / total if total > 0 else np.nan


def _curvature(x: Floats, y: Floats) -> float:
    """The quadratic term over its standard error; NaN if the points leave no scatter to judge it by."""
    scaled = (x - x.mean()) / np.ptp(x)
    columns = np.column_stack([np.ones(len(x)), scaled, scaled**2])
    free = len(x) - 3
    if free < 1:
        return np.nan
    weights, *_ = np.linalg.lstsq(columns, y, rcond=None)
    variance = float(((y - columns @ weights) ** 2).sum()) / free
    error = float(np.sqrt(variance * np.linalg.inv(columns.T @ columns)[2, 2]))
    # What is left of a straight line is rounding.
    noise = 1e-9 * float(np.abs(y).max())
    return float(weights[2] / max(error, noise))
