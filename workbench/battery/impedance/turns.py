"""Where a curve turns back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..inputs import Floats


def turns(curve: Floats, clear: Floats | float) -> Iterator[tuple[int, bool]]:
    """The extremes from which a curve turns back by more than ``clear``, in order: place, and whether it is a maximum.
    Maxima and minima take turns. ``clear`` is one value, or one for each place, (n,)."""
    needed = np.broadcast_to(clear, curve.shape)
    highest = lowest = 0
    was_top: bool | None = None
    for at in range(len(curve)):
        highest = at if curve[at] > curve[highest] else highest
        lowest = at if curve[at] < curve[lowest] else lowest
        if was_top is not True and curve[highest] - curve[at] > needed[highest]:
            yield highest, True
            was_top, lowest = True, at
        elif was_top is not False and curve[at] - curve[lowest] > needed[lowest]:
            yield lowest, False
            was_top, highest = False, at
