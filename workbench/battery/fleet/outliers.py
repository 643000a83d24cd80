"""``outliers`` and ``batch_spread``: which cells differ from those they should equal, and how much all do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ..inputs import Floats, Refusal, need, numbers, refusing
from ..result import Cell, Remark, result

COLUMNS = ("Cell", "Group", "At", "n", "Value", "Median", "MAD", "z", "Outlier")
SPREAD_COLUMNS = ("Group", "At", "n", "Median", "MAD", "Mean", "sd", "sd / mean", "Levene p")
FEWEST = 6
_ROUNDING = 1e-9
"""A spread that is smaller, as a share of the median, is that of the last digits of equal numbers."""
_FOR_SD = 3
_TO_Z, _TO_Z_BY_MEAN = 0.6745, 1 / 1.253314
KIND = "Reference kind"


@refusing(COLUMNS)
def outliers(
    cells: pd.DataFrame,
    *,
    value: str = "Retention",
    cell: str = "Cell",
    group: str | None = "Group",
    at: str | None = None,
    limit: float = 3.5,
) -> pd.DataFrame:
    """The modified z of each cell in its group: z = 0.6745 (x - median) / MAD; an outlier if ``|z|`` > 3.5.

    Iglewicz and Hoaglin, *How to Detect and Handle Outliers* (1993). The group is to be those cells that should be
    equal: batch and condition. With ``at``, a column such as the cycle, each cell is compared at every value of it, and
    one row is the trajectory: z is that of the median ``|z|``, with its sign, and ``Value``, ``Median`` and ``MAD`` are
    those of the last value of ``at``.

    Fewer than 6 cells in a group: z is a rank and ``Outlier`` is "too few". Where the MAD is 0, since most cells are
    equal, z = (x - median) / (1.253314 mean absolute deviation), as the same authors say. Values of several
    references are refused.

    Parameters
    ----------
    cells : a row for each cell (and each ``at``): columns ``cell``, ``value`` and, where they are there, ``group``;
        all are one group without it.
    limit : the ``|z|`` above which a cell is an outlier.
    """
    if not limit > 0:
        raise ValueError(f"The limit must be above 0; it is {limit!r}.")
    _check(cells, value, [cell] if at is None else [cell, at])
    rows: list[dict[str, Cell]] = []
    for name, frame in _groups(cells, group):
        rows += _of_group(name, frame, value, cell, at, limit)
    return result(rows, COLUMNS)


def _check(cells: pd.DataFrame, value: str, needs: list[str]) -> None:
    need(cells, (*needs, value), 1, "cell")
    kinds = sorted({str(kind) for kind in cells[KIND].dropna()}) if KIND in cells else []
    if len(kinds) > 1:
        words = f"The values have different references: {', '.join(kinds)}. They do not compare."
        raise Refusal("references_differ", words)


def _groups(frame: pd.DataFrame, group: str | None) -> Iterator[tuple[str, pd.DataFrame]]:
    if group is None or group not in frame:
        yield "all", frame
        return
    for name, rows in frame.groupby(group, dropna=False, sort=True):
        yield str(name), rows


def _of_group(
    name: str, frame: pd.DataFrame, value: str, cell: str, at: str | None, limit: float
) -> Iterator[dict[str, Cell]]:
    names = list(dict.fromkeys(str(one) for one in frame[cell]))
    places = np.zeros(1) if at is None else np.unique(numbers(frame, at)[np.isfinite(numbers(frame, at))])
    table = _table(frame, value, cell, at, names, places)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = _nanmedian(table)
        mad = _nanmedian(np.abs(table - middle))
        mean = np.nansum(np.abs(table - middle), axis=0) / np.isfinite(table).sum(axis=0)
        least, away = _ROUNDING * np.abs(middle), table - middle
        z = np.select([mad > least, mean > least], [_TO_Z * away / mad, _TO_Z_BY_MEAN * away / mean], np.nan)
    count = np.isfinite(table).sum(axis=0)
    for row, one in enumerate(names):
        known = np.flatnonzero(np.isfinite(z[row]))
        there = np.flatnonzero(np.isfinite(table[row]))
        last = int(there[-1]) if len(there) else 0
        n = int(count[last])
        made: dict[str, Cell] = {
            "Cell": one,
            "Group": name,
            "At": float(places[last]) if at is not None else np.nan,
            "n": n,
            "Value": float(table[row, last]),
            "Median": float(middle[last]),
            "MAD": float(mad[last]),
        }
        if not len(there):
            yield made | {"Outlier": "unknown", "Valid": False, "Warning": "the cell has no value"}
        elif not len(known):
            why = "all cells are equal" if n > 1 else "the cell is alone in its group"
            yield made | {"Outlier": "unknown", "Valid": False, "Warning": why}
        else:
            score = _typical(z[row, known])
            few = n < FEWEST
            verdict = "too few" if few else "yes" if abs(score) > limit else "no"
            warning = f"only {n} cells: z is a rank, no verdict" if few else ""
            yield made | {"z": score, "Outlier": verdict, "Warning": warning}


def _table(frame: pd.DataFrame, value: str, cell: str, at: str | None, names: list[str], places: Floats) -> Floats:
    """(cells, places) the values.

    Raises
    ------
    Refusal
        If a cell has two values at a place.
    """
    table = np.full((len(names), len(places)), np.nan)
    rows = [names.index(str(one)) for one in frame[cell]]
    where = numbers(frame, at) if at is not None else np.zeros(len(frame))
    filled: set[tuple[int, float]] = set()
    for row, place, number in zip(rows, where.tolist(), numbers(frame, value), strict=True):
        if np.isnan(place):
            continue
        if (row, place) in filled:
            over = f" at {place:g}" if at is not None else "; name the column of the cycles with 'at'"
            raise Refusal("several_values", f"Cell '{names[row]}' has several values{over}.")
        filled.add((row, place))
        table[row, int(np.searchsorted(places, place))] = number
    return table


def _nanmedian(values: Floats) -> Floats:
    """The median of each column; NaN for a column without values."""
    known = np.isfinite(values).any(axis=0)
    found = np.full(values.shape[1], np.nan)
    found[known] = np.nanmedian(values[:, known], axis=0)
    return found


def _typical(z: Floats) -> float:
    """The median |z|, with the sign that most have."""
    sign = 1.0 if np.median(z) >= 0 else -1.0
    return sign * float(np.median(np.abs(z)))


@refusing(SPREAD_COLUMNS)
def batch_spread(
    cells: pd.DataFrame,
    *,
    value: str = "Retention",
    cell: str = "Cell",
    group: str | None = "Group",
    at: str | None = None,
) -> pd.DataFrame:
    """How much the cells of each group differ: median, MAD, mean, sample standard deviation and its share of the mean.

    The standard deviation needs 3 cells. ``Levene p`` is the probability of spreads as different as those of the
    groups if all had the same (Levene's test about the medians, of Brown and Forsythe, *Journal of the American
    Statistical Association* 69 (1974) 364); NaN unless two groups have 3 cells. With ``at`` there is a row for each
    group at each value of it.

    Parameters
    ----------
    cells : as for ``outliers``.
    """
    _check(cells, value, [cell] if at is None else [cell, at])
    places: list[float | None] = [None]
    if at is not None:
        places = [float(place) for place in np.unique(numbers(cells, at)[np.isfinite(numbers(cells, at))])]
    rows: list[dict[str, Cell]] = []
    for place in places:
        taken = cells if at is None else cells[numbers(cells, at) == place]
        groups = {}
        for name, frame in _groups(taken, group):
            _table(
                frame,
                value,
                cell,
                at,
                list(dict.fromkeys(str(one) for one in frame[cell])),
                np.array([place or 0.0]),
            )
            values = numbers(frame, value)
            groups[name] = values[np.isfinite(values)]
        rows += _spreads(groups, np.nan if place is None else place)
    return result(rows, SPREAD_COLUMNS, _alone(rows))


def _spreads(groups: dict[str, Floats], at: float) -> Iterator[dict[str, Cell]]:
    p = _levene([values for values in groups.values() if len(values) >= _FOR_SD])
    for name, values in groups.items():
        row: dict[str, Cell] = {"Group": name, "At": at, "n": len(values), "Levene p": p}
        if not len(values):
            yield row | {"Valid": False, "Warning": "the group has no value"}
            continue
        middle = float(np.median(values))
        enough = len(values) >= _FOR_SD
        sd, mean = float(np.std(values, ddof=1)) if enough else np.nan, float(values.mean())
        yield row | {
            "Median": middle,
            "MAD": float(np.median(np.abs(values - middle))),
            "Mean": mean,
            "sd": sd,
            "sd / mean": sd / mean if mean else np.nan,
            "Warning": "" if enough else f"no standard deviation of {len(values)} cells: it needs {_FOR_SD}",
        }


def _levene(groups: list[Floats]) -> float:
    if len(groups) < 2:
        return np.nan
    apart = [np.abs(values - np.median(values)) for values in groups]
    if not any(np.ptp(values) > 0 for values in apart):
        return np.nan
    from scipy.stats import levene

    return float(levene(*groups, center="median").pvalue)


def _alone(rows: list[dict[str, Cell]]) -> list[Remark]:
    if len({row["Group"] for row in rows}) == 1:
        return [Remark("one_group", "There is one group: no spread is compared with another.")]
    return []
