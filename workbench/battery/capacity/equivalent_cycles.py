"""``equivalent_cycles``: how many full discharges have passed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..inputs import (
    CYCLE,
    DISCHARGE,
    T_MEAN,
    TEMPERATURE,
    Refusal,
    in_order,
    missing_from,
    need,
    not_summed,
    numbers,
    positive,
    refusing,
)
from ..result import Cell, result

COLUMNS = (CYCLE, "Discharge throughput [A.h]", "Equivalent full cycles", T_MEAN)


@refusing(COLUMNS)
def equivalent_cycles(cycles: pd.DataFrame, *, rated: float | None = None, x: str = CYCLE) -> pd.DataFrame:
    """The discharge throughput up to and with each cycle, and its share of the rated capacity: EFC = sum Q_d / Q_rated.

    Partial cycles count as what they passed. Without a rated capacity it refuses; from a cycle without a capacity on
    it is null, since what passed is not known. Where cycles are not in the frame, the later rows warn: what these
    passed is not counted.

    Parameters
    ----------
    cycles : the ``cycles`` summary of one test, or of all tests of a cell with ``x`` that counts over its life.
    rated : rated capacity, A.h.
    x : the column that counts the cycles, such as ``Cycle in life``; ``Cycle count`` of the result holds it.
    """
    positive(rated, "rated capacity")
    if rated is None:
        raise Refusal("no_rated_capacity", "Equivalent full cycles need the rated capacity, and it is not known.")
    need(cycles, (x, DISCHARGE), 1, "cycle")
    rows = in_order(cycles, x)
    passed = np.cumsum(numbers(rows, DISCHARGE))
    missing = missing_from(numbers(rows, x))
    made: list[dict[str, Cell]] = []
    for place, count in enumerate(numbers(rows, x)):
        known = bool(np.isfinite(passed[place]))
        less = missing is not None and place >= missing[0]
        lacks = f"cycle {missing[1]}: what passed there is not counted" if missing is not None and less else ""
        made.append(
            {
                CYCLE: count,
                "Discharge throughput [A.h]": passed[place],
                "Equivalent full cycles": passed[place] / rated,
                T_MEAN: numbers(rows, TEMPERATURE)[place],
                "Valid": known,
                "Warning": lacks if known else "a cycle up to here has no capacity",
            }
        )
    return result(made, COLUMNS, not_summed(numbers(rows, x), "cycle"))
