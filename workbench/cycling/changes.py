"""A counter whose number rises wherever a watched value changes: it numbers steps and cycles."""

from __future__ import annotations

import numpy as np

from .run_statistics import Floats, Ints


class ChangeCounter:
    """Numbers samples from 0. The number rises by one wherever any of the watched values changes.

    A null (NaN) is not a change. ``number`` and ``last`` continue an earlier count.

    >>> counter = ChangeCounter()
    >>> counter.feed(np.array([1.0, 1.0, np.nan, 1.0, 2.0, 1.0])).tolist()
    [0, 0, 0, 0, 1, 2]
    >>> counter.feed(np.array([1.0, 3.0])).tolist()
    [2, 3]
    """

    def __init__(self, number: int = 0, last: float | None = None) -> None:
        self.number = number
        self._last: dict[int, float | None] = {0: last}

    def feed(self, *watched: Floats) -> Ints:
        """(n,) numbers of the next samples; every call watches the same columns, each (n,) float."""
        change = np.zeros(len(watched[0]), bool)
        for place, values in enumerate(watched):
            missing = np.isnan(values)
            known = np.flatnonzero(~missing) if missing.any() else slice(None)
            present = values[known]
            if not len(present):
                continue
            last = self._last.get(place)
            changed = np.empty(len(present), bool)
            changed[0] = last is not None and present[0] != last
            np.not_equal(present[1:], present[:-1], out=changed[1:])
            change[known] |= changed
            self._last[place] = float(present[-1])
        numbers: Ints = self.number + np.cumsum(change)
        if len(numbers):
            self.number = int(numbers[-1])
        return numbers
