"""``rate_capability``: what a cell gives at each current."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from ...messages import counted
from ..inputs import T_MEAN, Refusal, positive, refusing, temperatures
from ..result import Cell, Remark, result
from .step_table import CC, CV, MEAN_CURRENT, NEAR, TYPE, Half, Steps, halves, largest_discharge

COLUMNS = (
    "C-rate [1/h]",
    "Current [A]",
    "CC capacity [A.h]",
    "Spread [A.h]",
    "Fraction of slowest",
    "Duration [s]",
    "Mean power [W]",
    "Energy [W.h]",
    "Specific power [W/kg]",
    "Specific energy [W.h/kg]",
    "n",
    T_MEAN,
)
FEWEST = 3
_SAME_RATE = 0.05
_SAME_CUT_OFF = 0.2
_LEAST = 0.05
_NAMED = 3
_BESIDE = 0.01
"""Steps at another current that pass less than this share of a discharge are not of it: rests in which the cycler shows
some milliamperes, or a sample that it wrote while it switched."""


@dataclass(frozen=True)
class Rate:
    """The discharges at one current, A: each a discharge whose constant current is that of no other step of it."""

    current: float
    discharges: tuple[Half, ...]

    def mean(self, values: list[float]) -> float:
        """The mean of a value of each discharge."""
        return float(np.mean(values))


@refusing(COLUMNS)
def rate_capability(steps: pd.DataFrame, *, rated: float | None = None, mass: float | None = None) -> pd.DataFrame:
    """The capacity of the constant-current discharges by current, and the power and energy of each (Ragone).

    Only the constant-current part counts: what a constant voltage adds hides what the rate takes away. Discharges
    within 5 % of one current are one row: the mean, and the sample standard deviation as spread. ``Mean power [W]`` is
    energy over duration of that part.

    A discharge counts that follows a charge, at one current, and ends within 20 mV of the voltage where most do; others
    are named in the warnings. Steps at another current that pass less than 1 % of it are not of a discharge, such as
    rests in which the cycler shows some milliamperes. Fewer than three rates, charges that end at currents more than
    20 % apart, and temperatures more than 2 K apart are warned of.

    Parameters
    ----------
    steps : the ``steps`` summary of one test.
    rated : rated capacity, A.h; without it the C-rate is by the largest discharge of the test, and a warning says so.
    mass : of the cell or its active material, g; for the specific columns, which are NaN without it.
    """
    positive(rated, "rated capacity")
    positive(mass, "mass")
    found, remarks = rates(Steps.of(steps))
    reference, said = reference_capacity(Steps.of(steps), rated)
    remarks += said
    if len(found) < FEWEST:
        remarks.append(
            Remark("not_a_rate_test", f"Not a rate test: {counted(len(found), 'rate')} instead of {FEWEST}.")
        )
    rows: list[dict[str, Cell]] = []
    slowest = np.nan
    for rate in found:
        charge = [half.passed(CC) for half in rate.discharges]
        energy, seconds = (
            rate.mean([half.energy(CC) for half in rate.discharges]),
            rate.mean([half.seconds(CC) for half in rate.discharges]),
        )
        capacity = rate.mean(charge)
        slowest = capacity if np.isnan(slowest) else slowest
        power = energy / seconds * 3600 if seconds > 0 else np.nan
        kilograms = np.nan if mass is None else mass / 1000
        rows.append(
            {
                "C-rate [1/h]": rate.current / reference,
                "Current [A]": rate.current,
                "CC capacity [A.h]": capacity,
                "Spread [A.h]": float(np.std(charge, ddof=1)) if len(charge) > 1 else np.nan,
                "Fraction of slowest": capacity / slowest,
                "Duration [s]": seconds,
                "Mean power [W]": power,
                "Energy [W.h]": energy,
                "Specific power [W/kg]": power / kilograms,
                "Specific energy [W.h/kg]": energy / kilograms,
                "n": len(charge),
                T_MEAN: rate.mean([half.temperature for half in rate.discharges]),
            }
        )
    return result(rows, COLUMNS, remarks)


def rates(steps: Steps) -> tuple[list[Rate], list[Remark]]:
    """The rates of a test from the slowest on, and what to know of them.

    Raises
    ------
    Refusal
        If no discharge counts.
    """
    every = halves(steps)
    found = halves(steps, _LEAST * largest_discharge(every)) if every else []
    pairs = [
        (_without_beside(charge), _without_beside(discharge))
        for charge, discharge in pairwise(found)
        if discharge.direction > 0 and charge.direction < 0
    ]
    after_charge = [discharge for _, discharge in pairs if not discharge.is_excluded]
    pairs = [
        (charge, discharge)
        for charge, discharge in pairs
        if discharge.passed(CC) > 0 and not discharge.is_excluded
    ]
    if not pairs:
        words = "The test has no discharge at constant current after a charge"
        raise Refusal("no_discharge", f"{words}{_types(after_charge)}.")
    ends = np.array([discharge.last("End voltage [V]") for _, discharge in pairs])
    usual = float(np.nanmedian(ends)) if np.isfinite(ends).any() else np.nan
    kept, left = [], []
    if found[0].direction > 0 and not found[0].is_excluded:
        left.append(f"step {found[0].first('Step count'):g} (no charge before it)")
    for (charge, discharge), end in zip(pairs, ends, strict=True):
        one_current = np.ptp(discharge.currents) <= _SAME_RATE * discharge.current
        if one_current and abs(end - usual) <= NEAR:
            kept.append((charge, discharge))
        else:
            why = "at several currents" if not one_current else f"ends at {end:.3f} V, others at {usual:.3f} V"
            left.append(f"step {discharge.first('Step count'):g} ({why})")
    if not kept:
        raise Refusal("no_discharge", f"No discharge is at one current and ends where others do: {_few(left)}.")
    remarks = [Remark("left_out", f"Left out: {', '.join(left)}.")] if left else []
    remarks += _unequal_charges([charge for charge, _ in kept])
    remarks += temperatures(np.array([discharge.temperature for _, discharge in kept]))
    made: list[Rate] = []
    for half in sorted((discharge for _, discharge in kept), key=lambda half: half.current):
        if made and half.current <= (1 + _SAME_RATE) * made[-1].discharges[0].current:
            grown = (*made[-1].discharges, half)
            made[-1] = Rate(float(np.mean([one.current for one in grown])), grown)
        else:
            made.append(Rate(half.current, (half,)))
    return made, remarks


def _without_beside(half: Half) -> Half:
    """A half cycle without the constant-current steps beside it: those at another current that pass almost nothing."""
    flow = half.steps.out if half.direction > 0 else half.steps.into
    current = np.abs(half.steps.column(MEAN_CURRENT)[half.rows])
    other = np.abs(current - half.current) > _SAME_RATE * half.current
    beside = (half.steps.part[half.rows] == CC) & other & (flow[half.rows] < _BESIDE * half.passed())
    return replace(half, rows=half.rows[~beside]) if beside.any() else half


def _types(discharges: list[Half]) -> str:
    """In words, of which types the steps of discharges are; empty without any."""
    if not discharges:
        return ""
    kinds = {str(kind) for half in discharges for kind in half.steps.frame[TYPE].to_numpy()[half.rows]}
    named = ", ".join(f"'{kind}'" for kind in sorted(kinds))
    return f": those after a charge are of type {named}. A current that deviates by 10 mA, or by C/200, is not constant"


def _few(left: list[str]) -> str:
    more = len(left) - _NAMED
    return ", ".join(left[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _unequal_charges(charges: list[Half]) -> list[Remark]:
    """Whether the charges before ended differently: with another cut-off current of the constant voltage."""
    held = [half for half in charges if half.steps.part[half.rows[-1]] == CV]
    if held and len(held) < len(charges):
        words = (
            f"{len(held)} of {len(charges)} charges end with a constant voltage: the discharges begin unequally."
        )
        return [Remark("unequal_charges", words)]
    ends = np.array([min(abs(half.last("Min current [A]")), abs(half.last("Max current [A]"))) for half in held])
    usual = np.nanmedian(ends) if np.isfinite(ends).any() else np.nan
    if (np.abs(ends - usual) > _SAME_CUT_OFF * usual).any():
        words = (
            f"The charges before end at {ends.min():.3g} to {ends.max():.3g} A: the discharges begin unequally."
        )
        return [Remark("unequal_charges", words)]
    return []


def reference_capacity(steps: Steps, rated: float | None) -> tuple[float, list[Remark]]:
    """The capacity that makes C-rates, A.h: the rated one, or the largest discharge with a remark."""
    if rated is not None:
        return rated, []
    largest = largest_discharge(halves(steps))
    return largest, [Remark("no_rated_capacity", f"C-rate by the largest discharge, {largest:.4g} A.h.")]
