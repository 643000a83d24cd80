"""Differential thermal voltammetry: dT/dV of each fast half cycle."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..allowed import ABOVE_0, FROM_0, takes
from ..checked import TEMPERATURE, checked, voltage_noise
from ..differential import slope_on_grid
from ..inputs import Floats, Refusal, need, refusing
from ..result import VALID, WARNING, Cell, result
from .slow_half_cycles import Curve, curves_of

COLUMNS = ("Half cycle", "Direction", "Voltage [V]", "dT/dV [K/V]", "Rise [K]", "Window [V]", "C-rate [1/h]")
_WHAT = "dT/dV"
_MARGIN = 0.995
_NOISE = 0.05
_RISE = 1.0
_STEPS_IN_RISE = 20.0


@takes(step=ABOVE_0, window=ABOVE_0, slowest=FROM_0, rest=FROM_0)
@refusing(COLUMNS)
def dtv(
    frame: pd.DataFrame,
    *,
    step: float = 0.002,
    window: float = 0.02,
    slowest: float = 0.5,
    rated: float | None = None,
    rest: float | None = None,
) -> pd.DataFrame:
    """dT/dV = (dT/dt) / (dV/dt) of each half cycle at constant current: one row a point of voltage.

    T over an even grid of voltage, its slope by Savitzky-Golay. Y. Merla et al., J. Power Sources 307 (2016) 308.

    Parameters
    ----------
    frame : ``Time [s]``, ``Current [A]``, ``Voltage [V]`` and ``Temperature [degC]`` of the cell's surface.
    step, window : V, distance of the grid and width of the filter.
    slowest : 1/h; a half cycle at less makes too little heat and is not computed.
    rated, rest : as in ``ic_peaks``.

    Returns ``Half cycle``, ``Direction``, ``Voltage [V]``, ``dT/dV [K/V]``, ``Rise [K]`` (largest less smallest
    temperature), ``Window [V]``, ``C-rate [1/h]``, ``Valid`` and ``Warning``. A half cycle has one row that is not
    valid where its temperature rises by less than 1 K or by less than 20 of its steps, or its noise is above 0.05 K.
    """
    samples = checked(frame, _WHAT)
    need(frame, (TEMPERATURE,))
    curves, remarks = curves_of(samples, rated, rest)
    if not curves:
        raise Refusal("no_half_cycle", "No half cycle: no current flows in the test.")
    rows: list[dict[str, Cell]] = []
    for curve in curves:
        rows += _rows(curve, step, window, slowest)
    return result(rows, COLUMNS, [*samples.remarks, *remarks])


def _rows(curve: Curve, step: float, window: float, slowest: float) -> list[dict[str, Cell]]:
    known = np.isfinite(curve.voltage) & np.isfinite(curve.temperature)
    warmth = curve.temperature[known]
    rise = float(np.ptp(warmth)) if len(warmth) else float("nan")
    head: dict[str, Cell] = {
        "Half cycle": curve.number,
        "Direction": curve.direction,
        "Rise [K]": rise,
        "Window [V]": window,
        "C-rate [1/h]": curve.c_rate,
    }
    if why := _why(curve, warmth, rise, slowest):
        return [{**head, VALID: False, WARNING: why}]
    rising = np.maximum.accumulate(curve.voltage[known] * curve.sign)
    grid, slope = slope_on_grid(rising, warmth, step=step, smooth=window)
    return [
        {
            **head,
            "Voltage [V]": float(curve.sign * at),
            "dT/dV [K/V]": float(curve.sign * value),
            WARNING: curve.said,
        }
        for at, value in zip(grid, slope, strict=True)
    ]


def _why(curve: Curve, warmth: Floats, rise: float, slowest: float) -> str:
    if curve.why:
        return curve.why
    if curve.c_rate < slowest * _MARGIN:
        return f"{curve.c_rate:.3g} C is slower than {slowest:.3g} C: too little heat"
    if len(warmth) < 20:
        return f"{len(warmth)} samples with a temperature, fewer than 20"
    steps = np.diff(np.unique(warmth))
    resolution = float(steps[steps > 1e-6].min(initial=np.inf))
    if not rise > _RISE:
        return f"the temperature rises by {rise:.2g} K, less than {_RISE:g} K"
    if np.isfinite(resolution) and rise < _STEPS_IN_RISE * resolution:
        return (
            f"the temperature rises by {rise:.2g} K in steps of {resolution:.2g} K, fewer than {_STEPS_IN_RISE:g}"
        )
    noise = voltage_noise(warmth)
    return f"the temperature has a noise of {noise:.2g} K, above {_NOISE:g} K" if noise > _NOISE else ""
