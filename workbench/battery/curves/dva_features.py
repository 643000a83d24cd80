"""Features of differential voltage, dV/dQ, of each slow half cycle."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..allowed import ABOVE_0, FROM_0, SHARES, takes, whole
from ..checked import T_COLUMNS, checked, joined, temperature_cells
from ..differential import slope_on_grid
from ..inputs import Refusal, refusing
from ..result import VALID, WARNING, Cell, result
from .peaks import Peak, peaks_of
from .slow_half_cycles import Curve, curves_of, noise_of

COLUMNS = (
    "Half cycle",
    "Direction",
    "Capacity [A.h]",
    "Peak to full [A.h]",
    "Peak to empty [A.h]",
    "Peak SOC",
    "Height [V/A.h]",
    "Prominence [V/A.h]",
    "Window [A.h]",
    "C-rate [1/h]",
    *T_COLUMNS,
)
_WHAT = "Features of dV/dQ"
_MARGIN = 1.005
_AMBIGUOUS = 0.5
_APART = 0.1
_WHOLE = 0.9


@takes(within=SHARES, steps=whole(10), smooth=ABOVE_0, fastest=ABOVE_0, rest=FROM_0)
@refusing(COLUMNS)
def dva_features(
    frame: pd.DataFrame,
    *,
    within: tuple[float, float] = (0.3, 0.8),
    steps: int = 500,
    smooth: float = 0.02,
    fastest: float = 1 / 8,
    rated: float | None = None,
    rest: float | None = None,
) -> pd.DataFrame:
    """Where the maximum of dV/dQ between the two plateaus of graphite is: one row a half cycle.

    The charge from that maximum (stage 2 of graphite, half of its lithium) to the full and to the empty cell shows
    which electrode lost capacity: I. Bloom et al., J. Power Sources 139 (2005) 295.

    Parameters
    ----------
    frame : ``Time [s]``, ``Current [A]``, ``Voltage [V]`` of a test with slow half cycles.
    within : the SOC between which the maximum is looked for. It is that of a cell with graphite; without one the
        numbers are those of another feature.
    steps, smooth : the grid is the charge over ``steps``, the window that part of the charge.
    fastest : 1/h; a half cycle at more is not computed.
    rated, rest : as in ``ic_peaks``.

    Returns ``Half cycle``, ``Direction``, ``Capacity [A.h]``, ``Peak to full [A.h]``, ``Peak to empty [A.h]``, ``Peak
    SOC``, ``Height [V/A.h]`` and ``Prominence [V/A.h]`` (positive both ways), ``Window [A.h]``, ``C-rate [1/h]``,
    temperatures, ``Valid`` and ``Warning``. The prominence is that in the whole curve. A row is not valid where the
    half cycle holds less than 90 % of the largest, no maximum is between these SOC, where a second one has more than
    half of its prominence both in the whole curve and in the part between these SOC, where another one stands out most
    in that part alone, or where its SOC is more than 0.1 from the median of the half cycles of that direction: then it
    is another feature.
    """
    samples = checked(frame, _WHAT)
    curves, remarks = curves_of(samples, rated, rest)
    if not curves:
        raise Refusal("no_half_cycle", "No half cycle: no current flows in the test. A charge at C/20 would do.")
    whole = _WHOLE * max(curve.total for curve in curves)
    rows = [_row(curve, within, steps, smooth, fastest, whole) for curve in curves]
    for direction in ("charge", "discharge"):
        _one_feature([row for row in rows if row["Direction"] == direction and row.get(VALID, True)])
    return result(rows, COLUMNS, [*samples.remarks, *remarks])


def _row(
    curve: Curve, within: tuple[float, float], steps: int, smooth: float, fastest: float, whole: float
) -> dict[str, Cell]:
    row: dict[str, Cell] = {
        "Half cycle": curve.number,
        "Direction": curve.direction,
        "Capacity [A.h]": curve.capacity,
        "Window [A.h]": smooth * curve.capacity,
        "C-rate [1/h]": curve.c_rate,
        **temperature_cells(curve.temperature),
    }
    why = curve.why
    if not why and curve.c_rate > fastest * _MARGIN:
        why = f"{curve.c_rate:.3g} C is faster than {fastest:.3g} C"
    if not why and curve.total < whole:
        why = "not a whole half cycle: its distance to full or empty is not known"
    if why:
        return {**row, VALID: False, WARNING: why}
    known = np.isfinite(curve.voltage)
    charge, volts = curve.charge[known], curve.voltage[known]
    step = curve.capacity / steps
    grid, slope = slope_on_grid(charge, volts * curve.sign, step=step, smooth=smooth * curve.capacity)
    soc = grid / curve.capacity if curve.direction == "charge" else 1 - grid / curve.capacity
    inside = (soc >= within[0]) & (soc <= within[1])
    width = smooth * curve.capacity / 2
    whole_curve = peaks_of(grid, slope, window=step, prominence=0.0, width=width)
    found = [peak for peak in whole_curve if within[0] <= _soc(peak, curve) <= within[1]]
    between = f"between SOC {within[0]:g} and {within[1]:g}"
    if not found:
        return {**row, VALID: False, WARNING: f"dV/dQ has no maximum {between}"}
    # A maximum near the end of the part has its valley beyond it: in the part alone it stands out less, and in the
    # whole curve one of the other electrode may stand out more.
    part = peaks_of(grid[inside], slope[inside], window=step, prominence=0.0, width=width)
    best, rivals = _clear(found)
    best_of_part, rivals_of_part = _clear(part or found)
    if abs(best.position - best_of_part.position) > width:
        places = " and ".join(f"{_soc(peak, curve):.2f}" for peak in (best, best_of_part))
        why = f"which of the maxima of dV/dQ at SOC {places} is that of graphite is not known: give within"
        return {**row, VALID: False, WARNING: why}
    if rivals and rivals_of_part:
        why = f"dV/dQ has {1 + min(rivals, rivals_of_part)} maxima of like prominence {between}"
        return {**row, VALID: False, WARNING: why}
    noise = noise_of(curve) / (smooth * curve.capacity)
    if best.prominence < noise:
        return {**row, VALID: False, WARNING: "the maximum of dV/dQ is not above its noise"}
    from_start, from_end = best.position, curve.capacity - best.position
    full, empty = (from_end, from_start) if curve.direction == "charge" else (from_start, from_end)
    return {
        **row,
        "Peak to full [A.h]": full,
        "Peak to empty [A.h]": empty,
        "Peak SOC": empty / curve.capacity,
        "Height [V/A.h]": best.height,
        "Prominence [V/A.h]": best.prominence,
        WARNING: joined([curve.said]),
    }


def _clear(found: list[Peak]) -> tuple[Peak, int]:
    """The most prominent maximum, and how many others have more than half of its prominence."""
    best = max(found, key=lambda peak: peak.prominence)
    return best, sum(peak.prominence > _AMBIGUOUS * best.prominence for peak in found) - 1


def _soc(peak: Peak, curve: Curve) -> float:
    share = peak.position / curve.capacity
    return share if curve.direction == "charge" else 1 - share


def _one_feature(rows: list[dict[str, Cell]]) -> None:
    """Empty the rows whose maximum is another one than that of the others."""
    places = [float(row["Peak SOC"] or "nan") for row in rows]
    if len(rows) < 3:
        return
    middle = float(np.median(places))
    for row, place in zip(rows, places, strict=True):
        if abs(place - middle) > _APART:
            row |= dict.fromkeys(COLUMNS[3:8])
            row |= {VALID: False, WARNING: f"the maximum at SOC {place:.2f} is another than that at {middle:.2f}"}
