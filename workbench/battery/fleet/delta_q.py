"""``delta_q``: by how much the discharge curve moved between two cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..charge import counted as charge_counted
from ..completeness import left_out
from ..half_cycles import CURRENT, HalfCycle, half_cycles
from ..inputs import CYCLE, DISCHARGE, T_MEAN, WIDEST, Floats, Refusal, excluded, need, numbers, positive, refusing
from ..result import Cell, Remark, result

COLUMNS = (
    "Cycle m",
    "Cycle n",
    "log10 var [(A.h)^2]",
    "min [A.h]",
    "mean [A.h]",
    "skew",
    "kurtosis",
    "Low [V]",
    "High [V]",
    "Points",
    "Current m [A]",
    "Current n [A]",
    T_MEAN,
)
VOLTAGE = "Voltage [V]"
_SAME_CURRENT = 0.05
_NEAR = 0.02
_OUTLIER = 1.2
_FEWEST = 20


class Curve(NamedTuple):
    """The discharge of a cycle: voltage falling (n,), charge passed (n,), A.h; current and temperature, if known."""

    cycle: int
    voltage: Floats
    charge: Floats
    current: float
    temperature: float


@refusing(COLUMNS)
def delta_q(
    samples: pd.DataFrame,
    *,
    m: int = 10,
    n: int = 100,
    low: float | None = None,
    high: float | None = None,
    points: int = 1000,
    rated: float | None = None,
) -> pd.DataFrame:
    """The difference of the discharge curves of two cycles, as numbers: dQ(V) = Q_n(V) - Q_m(V).

    log10 of the variance (divisor points - 1), the least, the mean, skewness and excess kurtosis of dQ on an even
    grid of voltages (Severson et al., *Nature Energy* 4 (2019) 383). Q counts from the start of the discharge.

    It refuses discharges at currents more than 5 % apart, at temperatures more than 2 K apart, that end more than
    20 mV apart, or that hold less than the window. A cycle that passes more than 1.2 times the rated capacity is
    faulty: instead of it, and of one that is excluded, the next one is taken, and a warning says so. Frames with
    left-out samples are warned of.

    Parameters
    ----------
    samples : a series with ``Cycle count``, ``Voltage [V]``, and ``Current [A]`` with ``Time [s]`` or
        ``Discharge capacity [A.h]``. Without a current, all rows of a cycle are its discharge, and its capacity is as
        it is there.
    m, n : the cycles, as ``Cycle count`` numbers them.
    low, high : the window, V; by default what both discharges have (2.0 to 3.5 is usual for LFP).
    points : of the grid.
    rated : rated capacity, A.h.
    """
    positive(rated, "rated capacity")
    if not points >= 3:
        raise ValueError(f"The grid needs at least 3 points; it has {points!r}.")
    if m == n:
        raise ValueError(f"The two cycles must differ; both are {m}.")
    need(samples, (CYCLE, VOLTAGE), 2, "sample")
    first, said = _curve(samples, m, rated)
    second, more = _curve(samples, n, rated)
    _check_alike(first, second)
    window = _window(first, second, low, high)
    grid = np.linspace(window[1], window[0], points)
    moved = on_grid(second, grid) - on_grid(first, grid)
    row: dict[str, Cell] = {
        "Cycle m": first.cycle,
        "Cycle n": second.cycle,
        **features(moved),
        "Low [V]": window[0],
        "High [V]": window[1],
        "Points": points,
        "Current m [A]": first.current,
        "Current n [A]": second.current,
        T_MEAN: float(np.mean([first.temperature, second.temperature])),
    }
    remarks = said + more
    if np.isnan(first.current):
        remarks.append(Remark("current_unknown", "The currents are not known: their equality is not checked."))
    if np.isnan(first.temperature):
        remarks.append(Remark("temperature_unknown", "The temperature is unknown: the data have none."))
    if words := left_out(samples):
        remarks.append(Remark("samples_left_out", f"The curves are drawn with fewer samples: {words}."))
    return result([row], COLUMNS, remarks)


def features(moved: Floats) -> dict[str, Cell]:
    """The numbers of a difference of curves, A.h. Where nothing varies, log10 var is NaN."""
    variance = float(np.var(moved, ddof=1))
    centred = moved - moved.mean()
    spread = float(np.mean(centred**2))
    known = spread > 0
    return {
        "log10 var [(A.h)^2]": float(np.log10(variance)) if variance > 0 else np.nan,
        "min [A.h]": float(moved.min()),
        "mean [A.h]": float(moved.mean()),
        "skew": float(np.mean(centred**3)) / spread**1.5 if known else np.nan,
        "kurtosis": float(np.mean(centred**4)) / spread**2 - 3 if known else np.nan,
    }


def on_grid(curve: Curve, grid: Floats) -> Floats:
    """Q of a discharge at falling voltages; where the voltage turns back, its envelope counts."""
    falling = np.minimum.accumulate(curve.voltage)
    return np.interp(-grid, -falling, curve.charge)


def _curve(samples: pd.DataFrame, asked: int, rated: float | None) -> tuple[Curve, list[Remark]]:
    """The discharge of a cycle, or of the next one where that is faulty or excluded."""
    cycle, out = numbers(samples, CYCLE), excluded(samples)
    said = []
    for place in (asked, asked + 1):
        rows = samples[cycle == place]
        if not len(rows):
            known = cycle[np.isfinite(cycle)]
            there = f"{known.min():g} to {known.max():g}" if len(known) else "none"
            raise Refusal("no_cycle", f"Cycle {place} is not in the frame; there are cycles {there}.")
        if out[cycle == place].any():
            said.append(Remark("excluded_cycle", f"Cycle {place} is excluded; cycle {asked + 1} is taken."))
            continue
        curve = _discharge(rows, place)
        if rated is None or curve.charge[-1] <= _OUTLIER * rated:
            return curve, said
        words = (
            f"Cycle {place} passes more than {_OUTLIER:g} times the rated capacity; cycle {asked + 1} is taken."
        )
        said.append(Remark("faulty_cycle", words))
    if said[0].code == said[1].code == "faulty_cycle":
        raise Refusal(
            "faulty_cycle", f"Cycles {asked} and {asked + 1} pass more than {_OUTLIER:g} times what is rated."
        )
    raise Refusal(
        "excluded_cycle",
        f"Each of cycles {asked} and {asked + 1} is excluded or faulty. Choose other cycles.",
    )


def _discharge(rows: pd.DataFrame, cycle: int) -> Curve:
    if CURRENT in rows and np.isfinite(numbers(rows, CURRENT)).any():
        found = [half for half in half_cycles(rows) if half.direction == "discharge"]
        if not found:
            raise Refusal("no_discharge", f"Cycle {cycle} has no discharge.")
        # By charge: a pulse may have more samples than the discharge.
        passed = [charge_counted(one.frame, "discharge")[0] for one in found]
        place = max(range(len(found)), key=lambda one: float(passed[one][-1]))
        half_rows, charge = found[place].frame, passed[place]
        current = _constant(found[place], cycle)
    else:
        need(rows, (DISCHARGE,), 2, "sample")
        half_rows, current = rows, np.nan
        charge = numbers(rows, DISCHARGE)
    voltage = numbers(half_rows, VOLTAGE)
    known = np.isfinite(voltage) & np.isfinite(charge)
    if known.sum() < _FEWEST:
        words = f"The discharge of cycle {cycle} has {int(known.sum())} samples; at least {_FEWEST} are needed."
        raise Refusal("too_few", words)
    voltage, charge = voltage[known], charge[known]
    if voltage[0] < voltage[-1]:
        raise Refusal(
            "reversed", f"The voltage of cycle {cycle} rises over its discharge: are rows or sign reversed?"
        )
    warm = numbers(half_rows, "Temperature [degC]")
    temperature = float(np.nanmean(warm)) if np.isfinite(warm).any() else np.nan
    return Curve(cycle, voltage, charge, current, temperature)


def _constant(half: HalfCycle, cycle: int) -> float:
    """The current of a discharge, A.

    Raises
    ------
    Refusal
        If a tenth of its samples are at another: a discharge in stages, or with pulses inside.
    """
    current = numbers(half.frame, CURRENT)
    usual = float(np.nanmedian(current))
    if np.mean(np.abs(current - usual) > _SAME_CURRENT * abs(usual)) > 0.1:
        raise Refusal(
            "not_constant", f"The discharge of cycle {cycle} is not at one current (pulses or stages inside)."
        )
    return usual


def _check_alike(first: Curve, second: Curve) -> None:
    """Refuse discharges that differ in what is not age."""
    which = f"cycles {first.cycle} and {second.cycle}"
    if abs(first.current - second.current) > _SAME_CURRENT * abs(first.current):
        words = f"The discharges of {which} are at {first.current:.4g} and {second.current:.4g} A."
        raise Refusal("rates_differ", words)
    if abs(first.temperature - second.temperature) > WIDEST:
        words = f"The discharges of {which} are at {first.temperature:.1f} and {second.temperature:.1f} degC."
        raise Refusal("temperature_spread", words)
    ends = float(first.voltage.min()), float(second.voltage.min())
    if abs(ends[0] - ends[1]) > _NEAR:
        raise Refusal("limits_differ", f"The discharges of {which} end at {ends[0]:.3f} and {ends[1]:.3f} V.")


def _window(first: Curve, second: Curve, low: float | None, high: float | None) -> tuple[float, float]:
    """The window of voltages, which both discharges must have.

    Raises
    ------
    Refusal
        If one of them does not reach down to it. Above its first sample nothing has passed.
    """
    least = max(float(first.voltage.min()), float(second.voltage.min()))
    most = min(float(first.voltage[0]), float(second.voltage[0]))
    window = (least if low is None else low, most if high is None else high)
    if not window[0] < window[1]:
        raise Refusal("no_window", f"The window is empty: {window[0]:.3f} to {window[1]:.3f} V.")
    if window[0] < least - _NEAR:
        raise Refusal("no_window", f"The discharges end at {least:.3f} V, above the window's {window[0]:.3f} V.")
    return window
