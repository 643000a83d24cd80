"""Makes values comparable between cells: by rating, by the first cycle, by mass, by area."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def of_rated(values: ArrayLike, rated: ArrayLike) -> pd.Series:
    """Values as a fraction of a rating in the same unit.

    Parameters
    ----------
    values : (n,) numbers.
    rated : one number for all, or (n,) one for each of the same rows; where it is null, the fraction is.

    Raises
    ------
    ValueError
        If a rating is not above 0, or if the ratings are not those of the same rows.
    """
    return _over(values, rated, "rated value")


def of_first(values: ArrayLike, groups: ArrayLike | None = None) -> pd.Series:
    """Values as a fraction of the first that is neither null nor 0: the first cycle of each group.

    Parameters
    ----------
    values : (n,) numbers, in order of cycles.
    groups : (n,) labels, one for each value (a cell, a measurement); without it all are one group.
    """
    column = _column(values)
    usable = column.where((column != 0) & np.isfinite(column))
    if groups is None:
        found = usable.dropna()
        return column / (found.iloc[0] if len(found) else np.nan)
    labels = groups.to_numpy() if isinstance(groups, pd.Series) else np.asarray(groups)
    return column / usable.groupby(labels, dropna=False).transform("first")


def per_mass(values: ArrayLike, grams: ArrayLike) -> pd.Series:
    """A capacity in A.h per mass in g, as mA.h/g (energy in W.h: mW.h/g).

    ``grams`` is one number, or one for each value; the errors are those of `of_rated`.
    """
    return 1000 * _over(values, grams, "mass")


def per_area(values: ArrayLike, square_centimetres: ArrayLike) -> pd.Series:
    """A capacity in A.h per area in cm2, as mA.h/cm2.

    ``square_centimetres`` is one number, or one for each value; the errors are those of `of_rated`.
    """
    return 1000 * _over(values, square_centimetres, "area")


def _column(values: ArrayLike) -> pd.Series:
    made = values if isinstance(values, pd.Series) else pd.Series(np.asarray(values, float))
    return made.astype(float)


def _over(values: ArrayLike, by: ArrayLike, what: str) -> pd.Series:
    """Values over one number above 0, or over one for each of them, of which some may be null."""
    column = _column(values)
    if not np.ndim(by):
        number = float(np.asarray(by, float))
        if not number > 0 or not np.isfinite(number):
            raise ValueError(f"The {what} must be a number above 0; it is {by!r}.")
        return column / number
    each = np.asarray(by, float)
    same_rows = not isinstance(by, pd.Series) or not isinstance(values, pd.Series) or by.index.equals(values.index)
    if each.shape != column.shape or not same_rows:
        raise ValueError(f"There must be one {what} for each value, in the same rows: take both from one frame.")
    wrong = each[(each <= 0) | np.isinf(each)]
    if len(wrong):
        raise ValueError(f"The {what} must be a number above 0; it is {wrong[0]:g}.")
    made: pd.Series = column / each
    return made
