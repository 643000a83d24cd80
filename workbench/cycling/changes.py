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
            known = np.flatnonzero(~np.isnan(values))
            if not len(known):
                continue
            present = values[known]
            last = self._last.get(place)
            before = np.concatenate([[present[0] if last is None else last], present[:-1]])
            change[known] |= present != before
            self._last[place] = float(present[-1])
        numbers: Ints = self.number + np.cumsum(change)
        if len(numbers):
            self.number = int(numbers[-1])
        return numbers
