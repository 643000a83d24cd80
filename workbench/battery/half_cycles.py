"""Half cycles: the runs of charge and of discharge in a series."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..current_levels import changes_level
from .completeness import left_out
from .neighbours import Neighbours

CURRENT = "Current [A]"
STEP_TYPE = "Step type"
Direction = Literal["discharge", "charge"]
Floats = NDArray[np.float64]
_WINDOW = 8
_QUIETEST = 0.1
_AS_QUIET = 3.0


class HalfCycle(NamedTuple):
    """One run of charge or discharge: its number from 0, its direction, and its rows without rests."""

    number: int
    direction: Direction
    frame: pd.DataFrame


def rest_limit(current: ArrayLike) -> float:
    """The current up to which a sample counts as rest, A: 1 mA, or 5 times the noise of the quietest tenth where that
    is more; at most 1 % of the largest ``|I|``. Where the current goes to another level, there is no noise."""
    values = np.asarray(current, float)
    values = values[np.isfinite(values)]
    largest = float(np.abs(values).max()) if len(values) else 0.0
    return min(max(0.001, 5 * _noise(values)), 0.01 * largest)


def _noise(current: Floats) -> float:
    """The deviation of the current, A, in all windows that are about as quiet as the quietest tenth. A window in which
    the level of the current changes has no noise to show."""
    count = len(current) // _WINDOW
    windows = current[: count * _WINDOW].reshape(count, _WINDOW)
    windows = windows[~changes_level(windows)]
    if not len(windows):
        return 0.0
    size = np.sqrt((windows**2).mean(axis=1))
    tenth = np.sort(size)[int(_QUIETEST * (len(windows) - 1))]
    return float(np.sqrt(windows[size <= _AS_QUIET * tenth].var(axis=1, ddof=1).mean()))


def directions(frame: pd.DataFrame, rest: float | None = None) -> NDArray[np.int8]:
    """1 for discharge, -1 for charge, 0 for rest: (n,) int8.

    By the sign of ``Current [A]`` (positive is discharge), or, in a frame without it, by the words of
    ``Step type``. ``rest`` is the largest ``|I|`` that is rest, A; by default ``rest_limit``.

    Raises
    ------
    ValueError
        If the frame has neither column.
    """
    if CURRENT in frame:
        current = frame[CURRENT].to_numpy(float, na_value=np.nan)
        limit = rest_limit(current) if rest is None else rest
        with np.errstate(invalid="ignore"):
            found = np.where(current > limit, 1, np.where(current < -limit, -1, 0))
        return found.astype(np.int8)
    if STEP_TYPE in frame:
        words = [str(word).lower() for word in frame[STEP_TYPE]]
        return np.array([1 if "discharge" in word else -1 if "charge" in word else 0 for word in words], np.int8)
    raise ValueError(f"To distinguish charge and discharge the frame needs a column '{CURRENT}' or '{STEP_TYPE}'.")


def half_cycles(frame: pd.DataFrame, *, rest: float | None = None) -> list[HalfCycle]:
    """The half cycles of a series with ``Current [A]``, in order. ``rest``: the current, A, up to which a
    sample rests; 0.02 of the largest where noise begins or ends half cycles.

    A half cycle lasts until the current changes sign; rests inside it (as between titration pulses) do not
    end it, and their rows are left out. ``directions`` says which rows are charge, discharge and rest. Each frame
    remembers how long its samples were before and after the rows that were left out, so that ``charge_passed`` does not
    count the rests.
    """
    known = Neighbours.of(frame, left_out(frame))
    return [
        HalfCycle(number, way, Neighbours.remembered(frame.iloc[rows], known, rows))
        for number, (way, rows) in enumerate(rows_of_half_cycles(frame, rest))
    ]


def rows_of_half_cycles(
    frame: pd.DataFrame, rest: float | None = None
) -> list[tuple[Direction, NDArray[np.intp]]]:
    """The direction and the rows of each of ``half_cycles``."""
    signs = directions(frame, rest)
    active = np.flatnonzero(signs)
    if not len(active):
        return []
    cuts = np.flatnonzero(np.diff(signs[active])) + 1
    return [("discharge" if signs[rows[0]] > 0 else "charge", rows) for rows in np.split(active, cuts)]
