"""``retention`` and ``soh``: what is left of the capacity, and of the margin of resistance."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...messages import counted
from ..inputs import (
    CYCLE,
    DISCHARGE,
    T_MEAN,
    TEMPERATURE,
    Floats,
    Refusal,
    flags,
    in_order,
    need,
    not_summed,
    numbers,
    positive,
    refusing,
    temperatures,
)
from ..off_course import AT_OTHER, BESIDE, currents, left_out, reasons
from ..result import Cell, Remark, result
from .reference import PART_CHARGED, Kind, came_part_charged, reference_of

COLUMNS = (CYCLE, "Equivalent full cycles", "Retention", "Reference [A.h]", "Reference kind", T_MEAN)
SOH_COLUMNS = ("Check-up", "SOH C", "SOH R", "Reference [A.h]", "Reference kind", "Reference [Ohm]", T_MEAN)
RESISTANCE = "Resistance [Ohm]"
_OVERHANG = 0.005
_OTHER_RATE = 0.1


@refusing(COLUMNS)
def retention(
    cycles: pd.DataFrame,
    *,
    reference: Kind = "first",
    rated: float | None = None,
    value: str = DISCHARGE,
    x: str = CYCLE,
) -> pd.DataFrame:
    """The capacity of each cycle over that of a reference, a fraction: Q_n / Q_ref.

    Cycles that are not ``Complete`` are null and do not make the reference, and neither does the first discharge of a
    cell that came part-charged, nor a check-up between cycles at one current, nor a part of a cycle (see
    ``off_course``). Say the reference where the numbers are shown; numbers of different references do not compare.
    Discharges at currents more than 10 % apart, and a capacity that first rises by more than 0.5 % above the reference
    (lithium comes back from the anode's overhang), are warned of.

    Parameters
    ----------
    cycles : the ``cycles`` summary of one test, or of all tests of a cell with ``x`` that counts over its life.
    reference : "first" complete cycle, "median of 2..6", "rated", or "max of first 10".
    rated : rated capacity, A.h; for the reference "rated" and for ``Equivalent full cycles``, which are NaN without it:
        all discharge up to and with the cycle over the rated capacity.
    value : the column of capacities, A.h.
    x : the column that counts the cycles, such as ``Cycle in life``; ``Cycle count`` of the result holds it.
    """
    positive(rated, "rated capacity")
    need(cycles, (x, value), 1, "cycle")
    rows = in_order(cycles, x)
    every, complete = numbers(rows, value), flags(rows, "Complete")
    counts = np.array([one is not False for one in complete])
    partly = came_part_charged(every, complete)
    counts[0] &= not partly
    current = currents(rows)
    off = reasons(every, complete, current) if x == CYCLE else [""] * len(rows)
    counts &= np.array([not one for one in off])
    values = np.where(counts & (every > 0), every, np.nan)
    base = reference_of(values, reference, rated)
    full = np.full(len(rows), np.nan) if rated is None else np.cumsum(numbers(rows, DISCHARGE)) / rated
    made: list[dict[str, Cell]] = []
    for place, count in enumerate(numbers(rows, x)):
        known = bool(np.isfinite(values[place]))
        reason = "the cycle has no capacity" if counts[place] else off[place] or "the cycle is not complete"
        if partly and not place:
            reason = "the cell came part-charged"
        made.append(
            {
                CYCLE: count,
                "Equivalent full cycles": full[place],
                "Retention": values[place] / base.value,
                "Reference [A.h]": base.value,
                "Reference kind": base.kind,
                T_MEAN: numbers(rows, TEMPERATURE)[place],
                "Valid": known,
                "Warning": "" if known else reason,
            }
        )
    remarks = [PART_CHARGED] if partly else []
    remarks += [left_out(beside)] if (beside := off.count(BESIDE)) else []
    remarks += temperatures(numbers(rows, TEMPERATURE)) + _warned(values, base.value, current, off.count(AT_OTHER))
    if any(one is None for one in complete):
        words = "It is not known of every cycle whether it is complete; those are counted."
        remarks.append(Remark("complete_unknown", words))
    if rated is not None:
        remarks += not_summed(numbers(rows, x), "cycle")
    return result(made, COLUMNS, remarks)


def _warned(values: Floats, base: float, current: Floats, at_other: int) -> list[Remark]:
    remarks = []
    if at_other:
        remarks.append(
            Remark("rates_differ", f"{counted(at_other, 'cycle')} at another current than most left out.")
        )
    known = np.flatnonzero(np.isfinite(values))
    beginning = values[known][:10]
    if len(beginning) and beginning.max() > (1 + _OVERHANG) * base and beginning.argmax() > 0:
        words = f"The capacity first rises, to {beginning.max() / base:.4f} of the reference (overhang)."
        remarks.append(Remark("rises_first", words))
    currents = current[known][np.isfinite(current[known])]
    if len(currents) and np.ptp(currents) > _OTHER_RATE * np.median(currents):
        words = f"The discharges are at different currents, {currents.min():.3g} to {currents.max():.3g} A."
        remarks.append(Remark("rates_differ", words))
    return remarks


@refusing(SOH_COLUMNS)
def soh(
    checkups: pd.DataFrame,
    *,
    reference: Kind = "first",
    rated: float | None = None,
    end: float = 2.0,
    value: str = DISCHARGE,
    resistance: str = RESISTANCE,
    by: str = "Check-up",
) -> pd.DataFrame:
    """The state of health at each reference test: by capacity, and by resistance.

    SOH C = Q / Q_ref. SOH R = (R_EOL - R) / (R_EOL - R_0), with R_EOL = ``end`` R_0: 1 when new, 0 at the end of life.
    R_0 is that of the first test.

    Parameters
    ----------
    checkups : one row for each reference test of one cell: its number ``by``, its capacity ``value``, A.h, its
        ``resistance``, Ohm, or one of them; ``Mean temperature [degC]`` if it is known.
    reference : as for ``retention``.
    rated : rated capacity, A.h, for the reference "rated".
    end : how many times R_0 ends the life.
    """
    positive(rated, "rated capacity")
    if not end > 1:
        raise ValueError(f"The end of life must be more than 1 times the first resistance; it is {end!r}.")
    need(checkups, (by,), 1, "reference test")
    if value not in checkups and resistance not in checkups:
        raise Refusal("missing_column", f"The column '{value}' or '{resistance}' must be in the frame.")
    rows = in_order(checkups, by)
    capacity, ohms = numbers(rows, value), numbers(rows, resistance)
    base = reference_of(capacity, reference, rated) if value in rows else None
    first = ohms[np.isfinite(ohms)][0] if np.isfinite(ohms).any() else np.nan
    made: list[dict[str, Cell]] = []
    for place, number in enumerate(numbers(rows, by)):
        by_charge = np.nan if base is None else capacity[place] / base.value
        by_ohms = (end * first - ohms[place]) / (end * first - first) if first > 0 else np.nan
        known = bool(np.isfinite(by_charge) or np.isfinite(by_ohms))
        made.append(
            {
                "Check-up": number,
                "SOH C": by_charge,
                "SOH R": by_ohms,
                "Reference [A.h]": np.nan if base is None else base.value,
                "Reference kind": "" if base is None else base.kind,
                "Reference [Ohm]": first,
                T_MEAN: numbers(rows, TEMPERATURE)[place],
                "Valid": known,
                "Warning": "" if known else "the test has neither a capacity nor a resistance",
            }
        )
    return result(made, SOH_COLUMNS, temperatures(numbers(rows, TEMPERATURE)))
