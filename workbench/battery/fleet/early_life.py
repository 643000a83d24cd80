"""``early_life``: the life of cells from the change of their first cycles, by a line through cells of known life."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ..inputs import Floats, need, numbers, refusing
from ..result import Cell, Remark, result

COLUMNS = (
    "Cell",
    "Group",
    "Feature",
    "Life",
    "Predicted life",
    "Low",
    "High",
    "Slope",
    "Intercept",
    "r",
    "RMSE",
    "n",
)
FEWEST = 10
_BAND = 0.95
"""The probability below ``High``, so that 90 % are between both."""


@refusing(COLUMNS)
def early_life(
    cells: pd.DataFrame,
    *,
    feature: str = "log10 var [(A.h)^2]",
    life: str = "Cycle life",
    cell: str = "Cell",
    group: str | None = "Group",
) -> pd.DataFrame:
    """log10 life = b + a feature, by least squares over the cells whose life is known, and what it predicts.

    The feature is that of ``delta_q`` between cycles 10 and 100 (Severson et al., *Nature Energy* 4 (2019) 383).
    ``r`` is the correlation of feature and log10 life; ``RMSE`` that of the fitted lives, in cycles. The life of one
    cell more is between ``Low`` and ``High`` in 90 %, if the scatter about the line is normal: s t sqrt(1 + 1/n + (x -
    mean)^2 / sum (x - mean)^2), with Student's t of n - 2 degrees of freedom, on log10 life.

    The line of one chemistry and protocol says nothing of another (Schauser et al., *Frontiers in Energy Research* 10
    (2022), doi 10.3389/fenrg.2022.1058999): each group has a line of its own, from at least 10 cells, and without it
    there is the feature and no prediction. A feature beyond those of the fitted cells is warned of.

    Parameters
    ----------
    cells : a row for each cell: ``cell``, ``feature``, its ``life`` in cycles, null where it is not known, and a
        ``group`` of chemistry and protocol where there are several.
    """
    need(cells, (cell, feature, life), 1, "cell")
    groups = [("all", cells)]
    if group is not None and group in cells:
        groups = [(str(name), rows) for name, rows in cells.groupby(group, dropna=False, sort=True)]
    rows: list[dict[str, Cell]] = []
    for name, frame in groups:
        rows += _of_group(
            name, frame, [str(one) for one in frame[cell]], numbers(frame, feature), numbers(frame, life)
        )
    remarks = []
    if group is None or group not in cells:
        words = "The cells are taken as one chemistry and one protocol: the frame has no groups."
        remarks.append(Remark("one_group", words))
    return result(rows, COLUMNS, remarks)


def _of_group(
    name: str, frame: pd.DataFrame, names: list[str], x: Floats, life: Floats
) -> Iterator[dict[str, Cell]]:
    fitted = np.isfinite(x) & (life > 0)
    enough = fitted.sum() >= FEWEST and np.ptp(x[fitted]) > 0
    line: dict[str, Cell] = {"n": int(fitted.sum())}
    slope = intercept = np.nan
    width = np.full(len(x), np.nan)
    if enough:
        y = np.log10(life[fitted])
        slope, intercept = (float(one) for one in np.polyfit(x[fitted], y, 1))
        rest = y - (slope * x[fitted] + intercept)
        width = _width(x, x[fitted], rest)
        off = life[fitted] - 10 ** (slope * x[fitted] + intercept)
        line |= {
            "Slope": slope,
            "Intercept": intercept,
            "r": float(np.corrcoef(x[fitted], y)[0, 1]),
            "RMSE": float(np.sqrt(np.mean(off**2))),
        }
    for place, one in enumerate(names):
        row: dict[str, Cell] = {"Cell": one, "Group": name, "Feature": x[place], "Life": life[place], **line}
        reason = ""
        if np.isnan(x[place]):
            reason = "the cell has no feature"
        elif not enough:
            reason = (
                f"no prediction: the life of {int(fitted.sum())} cells of the group is known, {FEWEST} are needed"
            )
        if reason:
            yield row | {"Valid": False, "Warning": reason}
            continue
        beyond = not x[fitted].min() <= x[place] <= x[fitted].max()
        log = slope * x[place] + intercept
        yield row | {
            "Predicted life": 10**log,
            "Low": 10 ** (log - width[place]),
            "High": 10 ** (log + width[place]),
            "Warning": "extrapolated: the feature is beyond those of the fitted cells" if beyond else "",
        }


def _width(x: Floats, fitted: Floats, rest: Floats) -> Floats:
    """Half of the band of one cell more at each x, from the residuals (n,) of the line through ``fitted`` (n,)."""
    from scipy.special import stdtrit  # takes a tenth of a second

    n = len(fitted)
    scatter = np.sqrt((rest**2).sum() / (n - 2))
    away = (x - fitted.mean()) ** 2 / ((fitted - fitted.mean()) ** 2).sum()
    return np.asarray(float(stdtrit(n - 2, _BAND)) * scatter * np.sqrt(1 + 1 / n + away), float)
