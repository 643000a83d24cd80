"""Resistance from current pulses: R = -dU/dI across the onset of a load, at given times after it.

The definition is that of hybrid pulse power characterisation (US DOE, Battery Test Manual for Electric
Vehicles, revision 3, INL/EXT-15-34184, 2015): the change of voltage over the change of current since the last
sample before the pulse. With discharge counted positive the quotient carries a minus, and R is positive.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .differential import TIME, VOLTAGE
from .half_cycles import CURRENT, rest_limit


def resistance_column(seconds: float) -> str:
    """The name of the column for the resistance at a time after the onset: ``Resistance at 10 s [Ohm]``."""
    return f"Resistance at {seconds:g} s [Ohm]"


def pulse_resistance(
    frame: pd.DataFrame,
    at: Sequence[float] = (0.0, 1.0, 10.0),
    *,
    least: float | None = None,
    rest: float | None = None,
) -> pd.DataFrame:
    """The resistance of every pulse that starts from rest, of a series with time, current and voltage: one row a
    pulse, in order.

    A pulse starts where the current jumps from rest by at least ``least`` and ends where it next changes by
    that much. Time counts from the last sample at rest, which cyclers log as the end of the step.

    Parameters
    ----------
    frame : with ``Time [s]``, ``Current [A]`` (positive on discharge) and ``Voltage [V]``, in order of time.
    at : s, times after the onset; 0 is the first sample under load. Between samples U and I are interpolated.
    least : A, the smallest jump; by default a fifth of the largest ``|I|``.
    rest : A, the largest ``|I|`` that is rest; by default as in ``half_cycles``.

    Returns the columns ``Time [s]`` (of the onset), ``Direction``, ``Voltage before [V]``,
    ``Current step [A]``, ``Duration [s]`` and one ``Resistance at ... s [Ohm]`` for each of ``at``: NaN where
    the pulse ended before.

    Raises
    ------
    ValueError
        If a column is missing.
    """
    missing = [name for name in (TIME, CURRENT, VOLTAGE) if name not in frame]
    if missing:
        raise ValueError(
            f"Pulses need a column '{missing[0]}'; the frame has {', '.join(map(repr, frame.columns))}."
        )
    time, current, voltage = (frame[name].to_numpy(float, na_value=np.nan) for name in (TIME, CURRENT, VOLTAGE))
    kept = np.isfinite(time) & np.isfinite(current) & np.isfinite(voltage)
    time, current, voltage = time[kept], current[kept], voltage[kept]
    largest = float(np.abs(current).max()) if len(current) else 0.0
    jump = 0.2 * largest if least is None else least
    still = rest_limit(current) if rest is None else rest
    edges = np.flatnonzero(np.abs(np.diff(current)) >= jump) if jump > 0 else np.zeros(0, np.intp)
    rows = []
    for place, edge in enumerate(edges.tolist()):
        if abs(current[edge]) > still:
            continue
        stop = int(edges[place + 1]) + 1 if place + 1 < len(edges) else len(time)
        rows.append(_pulse(time[edge:stop], current[edge:stop], voltage[edge:stop], at))
    names = [TIME, "Direction", "Voltage before [V]", "Current step [A]", "Duration [s]"]
    made = pd.DataFrame(rows, columns=[*names, *map(resistance_column, at)])
    kinds = {name: "str" if name == "Direction" else "float64" for name in made.columns}
    return made.astype(kinds)


def _pulse(
    time: NDArray[np.float64], current: NDArray[np.float64], voltage: NDArray[np.float64], at: Sequence[float]
) -> list[float | str]:
    """One row; the first sample is the last at rest."""
    step = float(current[1] - current[0])
    passed = time - time[0]
    row: list[float | str] = [float(time[0]), "discharge" if step > 0 else "charge", float(voltage[0]), step]
    row.append(float(passed[-1]))
    for seconds in at:
        moment = max(seconds, float(passed[1]))
        if seconds > passed[-1]:
            row.append(float("nan"))
            continue
        u = float(np.interp(moment, passed[1:], voltage[1:]))
        i = float(np.interp(moment, passed[1:], current[1:]))
        row.append((float(voltage[0]) - u) / (i - float(current[0])))
    return row
