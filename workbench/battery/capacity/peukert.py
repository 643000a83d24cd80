"""``peukert``: how fast the time of discharge falls with the current."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...messages import counted
from ..inputs import T_MEAN, Refusal, positive, refusing
from ..result import Cell, Remark, result
from .rate_capability import FEWEST, rates, reference_capacity
from .step_table import CC, Steps

COLUMNS = ("Exponent", "Exponent sd", "Constant", "r2", "Lowest [1/h]", "Highest [1/h]", "n", T_MEAN)


@refusing(COLUMNS)
def peukert(steps: pd.DataFrame, *, rated: float | None = None, highest: float | None = None) -> pd.DataFrame:
    """The exponent k of t = C I^-k, by regression of ln t on ln I over the rates of a test.

    t is the duration of the constant-current discharge, h; I its current, A. ``Constant`` is C, so that the capacity
    is C I^(1-k) in A.h. k depends on the range of rates, which is given with it; for lithium-ion it is a description
    and not a law. Peukert (1897); use and limits: Doerffel and Sharkh, *Journal of Power Sources* 155 (2006) 395.

    At least three rates are needed. Less than a decade of rates, and k below 1 (warmer at high rate, or a constant
    voltage counted in), are warned of.

    Parameters
    ----------
    steps : the ``steps`` summary of one test; the discharges of ``rate_capability`` are taken.
    rated : rated capacity, A.h; without it the C-rate is by the largest discharge.
    highest : the highest C-rate that is fitted, 1/h; all without it.
    """
    positive(rated, "rated capacity")
    positive(highest, "highest C-rate")
    table = Steps.of(steps)
    found, remarks = rates(table)
    reference, said = reference_capacity(table, rated)
    # A rate is not above the limit by the digits of a mean.
    taken = [rate for rate in found if highest is None or rate.current / reference <= 1.01 * highest]
    if len(taken) < FEWEST:
        raise Refusal("too_few", f"At least {FEWEST} rates are needed; there {_are(len(taken))}.")
    current = np.array([rate.current for rate in taken])
    hours = np.array([rate.mean([half.passed(CC) for half in rate.discharges]) for rate in taken]) / current
    x, y = np.log(current), np.log(hours)
    slope, intercept = np.polyfit(x, y, 1)
    rest = y - (slope * x + intercept)
    total = float(((y - y.mean()) ** 2).sum())
    sd = float(np.sqrt((rest**2).sum() / (len(x) - 2) / ((x - x.mean()) ** 2).sum()))
    exponent = -float(slope)
    remarks += said
    if current[-1] < 10 * current[0]:
        remarks.append(
            Remark("narrow_range", f"The rates span a factor of {current[-1] / current[0]:.3g}, not 10.")
        )
    warning = ""
    if exponent < 1:
        warning = "k is below 1: the temperature rises with the rate, or the capacity does not end at one voltage"
    row: dict[str, Cell] = {
        "Exponent": exponent,
        "Exponent sd": sd,
        "Constant": float(np.exp(intercept)),
        "r2": 1 - float((rest**2).sum()) / total,
        "Lowest [1/h]": float(current[0]) / reference,
        "Highest [1/h]": float(current[-1]) / reference,
        "n": len(taken),
        T_MEAN: float(np.mean([half.temperature for rate in taken for half in rate.discharges])),
        "Warning": warning,
    }
    return result([row], COLUMNS, remarks)


def _are(number: int) -> str:
    return f"{'is' if number == 1 else 'are'} {counted(number, 'rate')}"
