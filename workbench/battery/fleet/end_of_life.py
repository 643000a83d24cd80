"""``end_of_life``: when a cell falls below a share of its capacity, for good."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view

from ..capacity.reference import Kind
from ..inputs import CYCLE, DISCHARGE, T_MEAN, Floats, refusing
from ..result import Cell, result
from .course import course

COLUMNS = (
    "EOL cycle",
    "EOL reached",
    "EOL low",
    "EOL high",
    "Threshold",
    "Last cycle",
    "Last retention",
    "Reference [A.h]",
    "Reference kind",
    T_MEAN,
)
_MEDIAN, _STAYS = 5, 3
FEWEST = 5


@refusing(COLUMNS)
def end_of_life(
    cycles: pd.DataFrame,
    *,
    threshold: float = 0.8,
    reference: Kind = "first",
    rated: float | None = None,
    value: str = DISCHARGE,
    x: str = CYCLE,
) -> pd.DataFrame:
    """The first x from which retention stays below the threshold.

    The running median of 5 cycles is below it for 3 cycles on end and for most of those after, so that a few cycles of
    another kind do not end a life; the crossing before the first of them is interpolated. ``EOL low`` is the first
    single cycle below, ``EOL high`` the last one above. Where the threshold is not reached the row has no number:
    ``EOL reached`` is "no", ``EOL low`` the last cycle, and ``Warning`` says "> n".

    Parameters
    ----------
    cycles : the ``cycles`` of one cell; those that are complete and at the usual current count, at least 5.
    threshold : the share of the reference that ends the life.
    reference, rated, value : as for ``retention``.
    x : the column along which to look, such as ``Cycle count`` or ``Equivalent full cycles``.
    """
    if not 0 < threshold < 1:
        raise ValueError(f"The threshold must be between 0 and 1; it is {threshold!r}.")
    held = course(cycles, value=value, x=x, reference=reference, rated=rated, least=FEWEST)
    row: dict[str, Cell] = {
        "Threshold": threshold,
        "Last cycle": float(held.x[-1]),
        "Last retention": float(held.retention[-1]),
        "Reference [A.h]": held.reference.value,
        "Reference kind": held.reference.kind,
        T_MEAN: held.temperature,
    }
    found = crossing(held.x, held.retention, threshold)
    if found is None:
        last = float(held.x[-1])
        row |= {
            "EOL reached": "no",
            "EOL low": last,
            "Valid": False,
            "Warning": f"> {last:g}: retention is not below {threshold:g} for good",
        }
    else:
        below = held.retention < threshold
        row |= {
            "EOL cycle": found,
            "EOL reached": "yes",
            "EOL low": min(found, float(held.x[np.flatnonzero(below)[0]])),
            "EOL high": max(found, float(held.x[np.flatnonzero(~below)[-1]]) if (~below).any() else found),
        }
    return result([row], COLUMNS, held.remarks)


def _running_median(values: Floats) -> Floats:
    """The median of each value and those around it; of fewer at the ends."""
    half, n = _MEDIAN // 2, len(values)
    if n < _MEDIAN:
        return np.array([np.median(values[max(i - half, 0) : i + half + 1]) for i in range(n)])
    ends = [np.median(part) for i in range(half) for part in (values[: i + half + 1], values[n - half - 1 - i :])]
    middle = np.median(sliding_window_view(values, _MEDIAN), axis=1)
    return np.concatenate([ends[::2], middle, ends[1::2][::-1]])


def crossing(x: Floats, retention: Floats, threshold: float) -> float | None:
    """Where the running median falls below the threshold and stays: at least 3 on end, and most of those after; None if
    it does not.

    The first and last values have medians of fewer.
    """
    n = len(retention)
    smooth = _running_median(retention)
    below = smooth < threshold
    most_after = np.cumsum(below[::-1])[::-1] > 0.5 * np.arange(n, 0, -1)
    if n < _STAYS:
        return None
    starts = np.asarray(sliding_window_view(below, _STAYS).all(axis=1))
    stays = np.flatnonzero(starts & most_after[: n - _STAYS + 1])
    if not len(stays):
        return None
    at = int(stays[0])
    if at == 0:
        return float(x[0])
    share = (smooth[at - 1] - threshold) / (smooth[at - 1] - smooth[at])
    return float(x[at - 1] + share * (x[at] - x[at - 1]))
