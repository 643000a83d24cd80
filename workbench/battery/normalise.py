"""Makes values comparable between cells: by rating, by the first cycle, by mass, by area."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def of_rated(values: ArrayLike, rated: float) -> pd.Series:
    """Values as a fraction of a rating, such as a rated capacity in the same unit; a Series stays one.

    Raises
    ------
    ValueError
        If the rating is not above 0.
    """
    return _column(values) / _positive(rated, "rated value")


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


def per_mass(values: ArrayLike, grams: float) -> pd.Series:
    """A capacity in A.h per mass in g, as mA.h/g (energy in W.h: mW.h/g)."""
    return 1000 * _column(values) / _positive(grams, "mass")


def per_area(values: ArrayLike, square_centimetres: float) -> pd.Series:
    """A capacity in A.h per area in cm2, as mA.h/cm2."""
    return 1000 * _column(values) / _positive(square_centimetres, "area")


def _column(values: ArrayLike) -> pd.Series:
    made = values if isinstance(values, pd.Series) else pd.Series(np.asarray(values, float))
    return made.astype(float)


def _positive(value: float, what: str) -> float:
    number = float(value)
    if not number > 0 or not np.isfinite(number):
        raise ValueError(f"The {what} must be a number above 0; it is {value!r}.")
    return number
