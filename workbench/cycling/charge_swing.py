"""How much charge passes each way in a test, on balance: a pulse back is little, a whole half cycle is much."""

from __future__ import annotations

import numpy as np

from .run_statistics import Floats

_BOTH = 0.2
"""Share of the larger way from which the smaller one counts. What a drive cycle feeds back is less."""


class ChargeSwing:
    """Integrates the current batch by batch, and keeps the largest rise and the largest fall of the charge."""

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None
        self._charge = self._low = self._high = 0.0
        self.rise = self.fall = 0.0

    def feed(self, time: Floats, current: Floats) -> None:
        known = np.isfinite(time) & np.isfinite(current)
        t, i = time[known], current[known]
        if not len(t):
            return
        before = (float(t[0]), float(i[0])) if self._last is None else self._last
        passed = np.maximum(np.diff(t, prepend=before[0]), 0.0)
        means = (i + np.concatenate([[before[1]], i[:-1]])) / 2
        charge = self._charge + np.cumsum(means * passed)
        low = np.minimum.accumulate(np.concatenate([[self._low], charge]))[1:]
        high = np.maximum.accumulate(np.concatenate([[self._high], charge]))[1:]
        self.rise = max(self.rise, float((charge - low).max()))
        self.fall = max(self.fall, float((high - charge).max()))
        self._last = (float(t[-1]), float(i[-1]))
        self._charge, self._low, self._high = float(charge[-1]), float(low[-1]), float(high[-1])

    @property
    def is_both_ways(self) -> bool:
        """Whether the cell was charged and discharged by more than pulses."""
        return min(self.rise, self.fall) > _BOTH * max(self.rise, self.fall)
