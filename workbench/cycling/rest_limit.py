"""The current below which a sample of a file rests: from the limits of a cell, and from the noise that is seen."""

from __future__ import annotations

import numpy as np

from ..current_levels import changes_level
from .run_statistics import Floats
from .steps import current_limits

WINDOW = 16
_TIMES = 5.0
_MOST = 0.01


class QuietNoise:
    """The noise of a current where it is quietest: the usual deviation of the tenth of its windows with the smallest
    currents. A window is 16 samples, whatever the batches are. One in which the level of the current changes has no
    noise to show."""

    def __init__(self) -> None:
        self._held = np.zeros(0)
        self._levels: list[Floats] = []
        self._deviations: list[Floats] = []

    def feed(self, current: Floats) -> None:
        """Take the next samples, (n,) A; nulls do not count."""
        values = np.concatenate([self._held, current[np.isfinite(current)]])
        whole = len(values) // WINDOW * WINDOW
        self._held = values[whole:]
        if whole:
            windows = values[:whole].reshape(-1, WINDOW)
            windows = windows[~changes_level(windows)]
            self._levels.append(np.abs(windows).mean(axis=1))
            self._deviations.append(windows.std(axis=1))

    @property
    def noise(self) -> float:
        """The deviation, A; 0 if there are too few samples to know."""
        if not self._levels:
            return 0.0
        levels, deviations = np.concatenate(self._levels), np.concatenate(self._deviations)
        if not len(levels):
            return 0.0
        tenth = max(len(levels) // 10, 1)
        return float(np.median(deviations[np.argsort(levels, kind="stable")[:tenth]]))


def rest_limit(rated_capacity_ah: float | None, largest_current: float, noise: float) -> float:
    """The largest magnitude of a current at rest, A.

    It is the larger of the limit for a cell (see `steps.current_limits`) and of 5 times the ``noise``, of which at most
    1 % of the ``largest_current`` of the test counts; all in A.

    >>> rest_limit(5.0, 4.0, 0.002)
    0.01
    """
    limit, _ = current_limits(rated_capacity_ah, np.array([largest_current]))
    return max(limit, min(_TIMES * noise, _MOST * largest_current))
