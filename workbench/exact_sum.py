"""Sums of groups of numbers. All code sums here, so that the same numbers give the same bits everywhere.

numpy's reduction adds pairwise (error grows with log n), also in ``reduceat``: within 1e-12 of the exact
value, relative to the sum of absolute values, for any number of rows a plan or a series can have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def group_sums(values: NDArray[np.float64], starts: NDArray[np.integer]) -> NDArray[np.float64]:
    """Sums of the runs that begin at ``starts``: (g,) float.

    Parameters
    ----------
    values : (n,) float, without NaN.
    starts : (g,) integer, rising strictly, the first 0; every run holds at least one value.

    >>> group_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 2]))
    array([3., 4.])
    """
    if not len(starts):
        return np.zeros(0)
    return np.add.reduceat(values, starts)
