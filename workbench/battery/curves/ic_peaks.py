"""The peaks of incremental capacity, dQ/dV, of each slow half cycle."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..allowed import ABOVE_0, FROM_0, SHARE, takes
from ..checked import T_COLUMNS, checked, joined, temperature_cells
from ..differential import slope_on_grid
from ..inputs import Refusal, refusing
from ..result import VALID, WARNING, Cell, result
from .peaks import Peak, peaks_of
from .slow_half_cycles import Curve, apart_of, curves_of, noise_of

COLUMNS = (
    "Half cycle",
    "Direction",
    "Peak",
    "Position [V]",
    "Height [A.h/V]",
    "Prominence [A.h/V]",
    "Area [A.h]",
    "FWHM [V]",
    "Centroid [V]",
    "Window [V]",
    "C-rate [1/h]",
    *T_COLUMNS,
)
_WHAT = "Peaks of dQ/dV"
_FAST, _BEST = 1 / 5, 1 / 20
_MARGIN = 1.005
_NOISY, _DOUBTFUL = 20.0, 40.0
_SPARSE = 1.8
"""Distances of samples in a window, below which a height is 2 % too low and more."""
_RESOLVED = 1.5
"""Windows of width at half height from which on a peak keeps nine tenths of its height."""


@takes(step=ABOVE_0, window=ABOVE_0, prominence=SHARE, width=FROM_0, fastest=ABOVE_0, rest=FROM_0)
@refusing(COLUMNS)
def ic_peaks(
    frame: pd.DataFrame,
    *,
    step: float = 0.002,
    window: float = 0.02,
    prominence: float = 0.05,
    width: float = 0.01,
    fastest: float = _FAST,
    rated: float | None = None,
    rest: float | None = None,
) -> pd.DataFrame:
    """The peaks of dQ/dV of each half cycle at constant current: one row a peak.

    Q(V) on an even grid, its slope by Savitzky-Golay (``slope_on_grid``); a peak is the vertex of the parabola through
    three points. M. Dubarry, D. Anseán, Frontiers in Energy Research 10 (2022). The height depends on the window: of a
    peak with a height of 25 A.h/V and a scale of 20 mV, windows of 5, 10, 20 and 40 mV give 24.98, 24.93, 24.64 and
    23.73. Compare only equal windows and rates; both are columns. A peak narrower than 1.5 windows has a warning.

    Parameters
    ----------
    frame : ``Time [s]``, ``Current [A]``, ``Voltage [V]`` of a test with a slow half cycle: at most C/5, at best C/20.
        Thinned samples do: 34 074 samples thinned to 100 move positions by up to 7 mV.
    step, window : V, distance of the grid and width of the filter.
    prominence : the least prominence, as a part of the highest point of the curve.
    width : V, the least width.
    fastest : 1/h; a half cycle at more is not computed.
    rated : A.h, to which C-rates refer; by default the largest half cycle.
    rest : as in ``half_cycles``.

    Returns ``Half cycle`` (from 0), ``Direction``, ``Peak`` (from 0, by rising voltage), ``Position [V]``, ``Height
    [A.h/V]`` and ``Prominence [A.h/V]`` (positive both ways), ``Area [A.h]`` (from valley to valley), ``FWHM [V]``,
    ``Centroid [V]``, ``Window [V]``, ``C-rate [1/h]``, temperatures, ``Valid`` and ``Warning``. A half cycle with
    rests or several currents inside, faster than ``fastest``, whose samples are further apart than the window, or whose
    noise times 20 is above the window has one row that is not valid: at 10 times the noise heights were up to 45 % off
    and positions 40 mV. The area is NaN where
    another peak or an end of the curve is within one window.
    """
    samples = checked(frame, _WHAT)
    curves, remarks = curves_of(samples, rated, rest)
    if not curves:
        raise Refusal("no_half_cycle", "No half cycle: no current flows in the test. A charge at C/20 would do.")
    rows: list[dict[str, Cell]] = []
    for curve in curves:
        why = curve.why or _why(curve, window, fastest)
        found = [] if why else _peaks(curve, step, window, prominence, width)
        if not found:
            rows.append(_row(curve, window) | {VALID: False, WARNING: why or "no peak is that prominent and wide"})
        said = f"C/{1 / curve.c_rate:.3g} is faster than C/20" if curve.c_rate > _BEST * _MARGIN else ""
        noise = noise_of(curve)
        noisy = f"uncertain: a noise of {1000 * noise:.2g} mV" if noise * _DOUBTFUL > window else ""
        apart = apart_of(curve)
        sparse = f"uncertain: the samples are {1000 * apart:.2g} mV apart" if apart * _SPARSE > window else ""
        for number, peak in enumerate(found):
            narrow = peak.fwhm < _RESOLVED * window
            unresolved = f"higher and narrower than said: the window is {1000 * window:g} mV" if narrow else ""
            rows.append(
                _row(curve, window)
                | _cells(number, peak)
                | {WARNING: joined([peak.near, said, noisy, sparse, unresolved, curve.said])}
            )
    return result(rows, COLUMNS, [*samples.remarks, *remarks])


def _why(curve: Curve, window: float, fastest: float) -> str:
    if curve.c_rate > fastest * _MARGIN:
        return f"{curve.c_rate:.3g} C is faster than {fastest:.3g} C: peaks need a slow half cycle, at best C/20"
    noise = noise_of(curve)
    if noise * _NOISY > window:
        needed = 1000 * _NOISY * noise
        return f"a noise of {1000 * noise:.2g} mV needs a window of {needed:.3g} mV; it is {1000 * window:g} mV"
    apart = apart_of(curve)
    if apart > _MARGIN * window:
        return f"the samples are {1000 * apart:.3g} mV apart, further than the window of {1000 * window:g} mV"
    return ""


def _peaks(curve: Curve, step: float, window: float, prominence: float, width: float) -> list[Peak]:
    known = np.isfinite(curve.voltage)
    rising = np.maximum.accumulate(curve.voltage[known] * curve.sign)
    grid, slope = slope_on_grid(rising, curve.charge[known], step=step, smooth=window)
    if len(grid) < 5:
        return []
    if curve.sign < 0:
        grid, slope = -grid[::-1], slope[::-1]
    return peaks_of(grid, slope, window=window, prominence=prominence, width=width)


def _row(curve: Curve, window: float) -> dict[str, Cell]:
    return {
        "Half cycle": curve.number,
        "Direction": curve.direction,
        "Window [V]": window,
        "C-rate [1/h]": curve.c_rate,
        **temperature_cells(curve.temperature),
    }


def _cells(number: int, peak: Peak) -> dict[str, Cell]:
    return {
        "Peak": number,
        "Position [V]": peak.position,
        "Height [A.h/V]": peak.height,
        "Prominence [A.h/V]": peak.prominence,
        "Area [A.h]": peak.area,
        "FWHM [V]": peak.fwhm,
        "Centroid [V]": peak.centroid,
    }
