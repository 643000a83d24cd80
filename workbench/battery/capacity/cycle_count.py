"""``cycle_count``: cycles by what passed, for files whose counter is missing or never rises."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..inputs import CHARGE, CYCLE, DISCHARGE, STEP, T_MEAN, Refusal, not_summed, positive, refusing
from ..result import Cell, Remark, result
from .step_table import Half, Steps, halves, largest_discharge

COLUMNS = (CYCLE, "First step", "Last step", DISCHARGE, CHARGE, T_MEAN)
_MOST_APART = 0.05


@refusing(COLUMNS)
def cycle_count(steps: pd.DataFrame, *, rated: float | None = None, least: float = 0.05) -> pd.DataFrame:
    """The cycles of a test, counted by charge: one row for each pair of half cycles, in the order of the first.

    Steps of one direction are one half cycle; those that pass less than ``least`` of the rated capacity (of the largest
    half cycle without it) are dropped, and their neighbours are one. A test that begins with a charge has cycles of
    charge and discharge, else of discharge and charge. A half cycle left at the end is a cycle of its own, with a
    warning. Where the cycler's counter rises, and differs by more than 5 %, a warning says so: keep the counter.

    Parameters
    ----------
    steps : the ``steps`` summary of one test.
    rated : rated capacity, A.h.
    least : the share of it that a half cycle must pass.
    """
    positive(rated, "rated capacity")
    if not 0 <= least < 1:
        raise ValueError(f"The least share must be from 0 to below 1; it is {least!r}.")
    table = Steps.of(steps)
    every = halves(table)
    if not every:
        raise Refusal("no_charge", "No charge passes in the steps.")
    largest = largest_discharge(every)
    base = rated or max(half.passed() for half in every) if np.isnan(largest) else rated or largest
    found = halves(table, least * base)
    if not found:
        raise Refusal("no_charge", f"No half cycle passes {100 * least:g} % of {base:.4g} A.h.")
    rows = [_row(number, found[2 * number : 2 * number + 2]) for number in range((len(found) + 1) // 2)]
    remarks = _against_counter(table, len(found) // 2 + len(found) % 2)
    return result(rows, COLUMNS, remarks + not_summed(table.column(STEP), "step"))


def _row(number: int, pair: list[Half]) -> dict[str, Cell]:
    charge = {half.direction: half.passed() for half in pair}
    return {
        CYCLE: number,
        "First step": pair[0].first("Step count"),
        "Last step": pair[-1].last("Step count"),
        DISCHARGE: charge.get(1, 0.0),
        CHARGE: charge.get(-1, 0.0),
        T_MEAN: float(np.mean([half.temperature for half in pair])),
        "Warning": "" if len(pair) == 2 else "the second half of the cycle is missing",
    }


def _against_counter(table: Steps, count: int) -> list[Remark]:
    counter = table.column("Cycle from cycler") if "Cycle from cycler" in table.frame else table.column(CYCLE)
    known = np.unique(counter[np.isfinite(counter)])
    if len(known) > 1 and abs(len(known) - count) > _MOST_APART * len(known):
        words = f"The counter of the file has {len(known)} cycles, and {count} are counted: keep the counter."
        return [Remark("counter_differs", words)]
    return []
