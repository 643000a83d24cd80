"""Where a current goes from one level to another: such a change is not noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def changes_level(windows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(n,) whether the values of each window (n, w) go from one level to another, as at the end of a constant voltage.

    They cross the middle of their range once. Noise crosses it again and again.

    >>> changes_level(np.array([[0.1, 0.1, 0.0, 0.0], [0.1, 0.0, 0.1, 0.0], [0.0, 0.0, 0.0, 0.0]])).tolist()
    [True, False, False]
    """
    low, high = windows.min(axis=1, keepdims=True), windows.max(axis=1, keepdims=True)
    above = windows > (low + high) / 2
    found: NDArray[np.bool_] = (above[:, 1:] != above[:, :-1]).sum(axis=1) == 1
    return found
