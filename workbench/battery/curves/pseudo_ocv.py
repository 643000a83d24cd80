"""The open-circuit voltage between a slow charge and a slow discharge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..allowed import FROM_0, takes, whole
from ..checked import T_COLUMNS, checked, joined, spread_words, temperature_cells
from ..inputs import Floats, Refusal, refusing
from ..result import VALID, WARNING, Cell, Remark, result
from .slow_half_cycles import Curve, curves_of, slowest

COLUMNS = (
    "SOC",
    "Voltage [V]",
    "Charge voltage [V]",
    "Discharge voltage [V]",
    "Hysteresis [V]",
    "Charge capacity [A.h]",
    "Discharge capacity [A.h]",
    *T_COLUMNS,
)
_WHAT = "Open-circuit curves"
_TOO_FAST, _FAST = 1 / 8, 1 / 20
_CHARGES = 0.02
_POLARISED = 0.05
_ABOVE, _LONG = 0.005, 0.01
_MARGIN = 1.005


@takes(points=whole(2), rest=FROM_0)
@refusing(COLUMNS)
def pseudo_ocv(
    frame: pd.DataFrame,
    *,
    points: int = 501,
    rated: float | None = None,
    resistance: Sequence[tuple[float, float]] | None = None,
    rest: float | None = None,
) -> pd.DataFrame:
    """The mean of a slow charge and a slow discharge at equal SOC.

    SOC is the charge of each direction over that direction's own: the constant-current part between the same two
    limits, without constant voltage. Hysteresis = charge voltage - discharge voltage; it holds the polarisation of
    both currents. With ``resistance`` the drop I R is taken out of both first.

    Parameters
    ----------
    frame : ``Time [s]``, ``Current [A]``, ``Voltage [V]`` of a test with a slow half cycle each way, at best C/20 or
        slower. Where there are several, the slowest of each direction is taken.
    points : number of SOC from 0 to 1.
    rated : A.h, to which C-rates refer; by default the largest half cycle.
    resistance : pairs of SOC and Ohm, as ``dcir`` gives them.
    rest : as in ``half_cycles``.

    Returns ``SOC``, ``Voltage [V]`` (the mean), ``Charge voltage [V]``, ``Discharge voltage [V]``, ``Hysteresis [V]``,
    the charge of each direction, the temperatures, ``Valid`` and ``Warning``. The mean is NaN and no row is valid with
    one direction only, and where the two do not have the same limits: charges that differ by more than 2 %, or a
    discharge more than 5 mV above the charge over 1 % of SOC. Nothing is computed above C/8. ``Warning`` names rates
    above C/20, a polarisation (half of the median hysteresis) above 50 mV, and temperatures that differ by more than
    2 K.
    """
    samples = checked(frame, _WHAT)
    curves, remarks = curves_of(samples, rated, rest)
    remarks = [*samples.remarks, *remarks]
    charge, discharge = slowest(curves, "charge"), slowest(curves, "discharge")
    if charge is None and discharge is None:
        raise Refusal("no_slow_half_cycle", _no_curve(curves))
    for curve in (charge, discharge):
        if curve is not None and curve.c_rate > _TOO_FAST * _MARGIN:
            raise Refusal(
                "too_fast",
                f"{_WHAT} need C/20, at most C/8; the slowest {curve.direction} has {curve.c_rate:.3g} C.",
            )
    soc = np.linspace(0, 1, points)
    pairs = None if resistance is None else np.asarray(sorted(resistance), float).reshape(-1, 2)
    up, down = (_voltage(curve, soc, pairs) for curve in (charge, discharge))
    if charge is None or discharge is None:
        one = charge or discharge
        words = f"only a {one.direction if one else ''} is there: the mean needs both directions"
        remarks.append(Remark("one_direction", f"{words[0].upper()}{words[1:]}."))
        return result(_rows(soc, up, down, charge, discharge, words, valid=False), COLUMNS, remarks)
    words = _other_limits(charge, discharge, soc)
    if words:
        remarks.append(Remark("limits_differ", f"{words[0].upper()}{words[1:]}."))
        return result(_rows(soc, up, down, charge, discharge, words, valid=False), COLUMNS, remarks)
    words = _words(charge, discharge, up, down)
    if words:
        remarks.append(Remark("doubtful", f"{words[0].upper()}{words[1:]}."))
    return result(_rows(soc, up, down, charge, discharge, words, valid=True), COLUMNS, remarks)


def _other_limits(charge: Curve, discharge: Curve, soc: Floats) -> str:
    """Why the two do not have the same limits, so that equal SOC is not known; empty if they may have."""
    differ = abs(charge.capacity - discharge.capacity) / max(charge.capacity, discharge.capacity)
    so = "they do not have the same limits, so that equal SOC is not known"
    if differ > _CHARGES:
        return (
            f"the charge holds {charge.capacity:.4g} A.h and the discharge {discharge.capacity:.4g} A.h, {differ:.1%} "
            f"apart: {so}"
        )
    over = _voltage(discharge, soc, None) - _voltage(charge, soc, None)
    if float(np.mean(over > _ABOVE)) > _LONG:
        return (
            f"the discharge lies up to {1000 * over.max():.3g} mV above the charge, over {np.mean(over > _ABOVE):.0%} "
            f"of SOC: {so}"
        )
    return ""


def _no_curve(curves: Sequence[Curve]) -> str:
    if not curves:
        return "No half cycle: no current flows in the test. A slow charge and discharge (C/20) would do."
    return f"No half cycle can be used: {'; '.join(f'{one.named}: {one.why}' for one in curves[:3])}."


def _voltage(curve: Curve | None, soc: Floats, pairs: Floats | None) -> Floats:
    """The voltage of a curve at these SOC, (n,) V; without the drop I R if pairs of SOC and Ohm are given."""
    if curve is None:
        return np.full(len(soc), np.nan)
    passed = curve.charge / curve.capacity
    at, volts = (
        (passed, curve.voltage) if curve.direction == "charge" else ((1 - passed)[::-1], curve.voltage[::-1])
    )
    known = np.isfinite(volts)
    found: Floats = np.interp(soc, at[known], volts[known])
    if pairs is None:
        return found
    return found - curve.sign * curve.current * np.interp(soc, pairs[:, 0], pairs[:, 1])


def _words(charge: Curve, discharge: Curve, up: Floats, down: Floats) -> str:
    """What is to be said of the two curves together."""
    fastest = max(charge.c_rate, discharge.c_rate)
    middle = float(np.median(up - down)) / 2
    said = [
        f"C/{1 / fastest:.3g} is faster than C/20" if fastest > _FAST * _MARGIN else "",
        f"half the difference of the two is {1000 * middle:.0f} mV: polarisation" if middle > _POLARISED else "",
        charge.said,
        discharge.said,
        spread_words(np.concatenate([charge.temperature, discharge.temperature])),
    ]
    return joined(said)


def _rows(
    soc: Floats,
    up: Floats,
    down: Floats,
    charge: Curve | None,
    discharge: Curve | None,
    words: str,
    *,
    valid: bool,
) -> list[dict[str, Cell]]:
    there = [curve.temperature for curve in (charge, discharge) if curve is not None]
    same: dict[str, Cell] = {
        "Charge capacity [A.h]": charge.capacity if charge else None,
        "Discharge capacity [A.h]": discharge.capacity if discharge else None,
        **temperature_cells(np.concatenate(there)),
        VALID: valid,
        WARNING: words,
    }
    return [
        {
            "SOC": float(at),
            "Voltage [V]": float(high + low) / 2 if valid else None,
            "Charge voltage [V]": float(high),
            "Discharge voltage [V]": float(low),
            "Hysteresis [V]": float(high - low) if valid else None,
            **same,
        }
        for at, high, low in zip(soc, up, down, strict=True)
    ]
