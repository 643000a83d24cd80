"""Made step and cycle tables whose answers are known."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

DIRECTIONS = {1: "discharge", -1: "charge"}


def step_row(
    number: int, kind: str, current: float, hours: float, start: float, end: float, cycle: int = 0
) -> dict[str, float | str]:
    """A step of a ``steps`` summary at a mean current, A, discharge positive; voltages at its start and end, V."""
    charge, mean = abs(current) * hours, (start + end) / 2
    return {
        "Step count": number,
        "Cycle count": cycle,
        "Step type": kind,
        "Duration [s]": 3600 * hours,
        "Start voltage [V]": start,
        "End voltage [V]": end,
        "Mean current [A]": current,
        "Min current [A]": current,
        "Max current [A]": current,
        "Mean temperature [degC]": 25.0,
        "Discharge capacity [A.h]": charge if current > 0 else 0.0,
        "Charge capacity [A.h]": charge if current < 0 else 0.0,
        "Discharge energy [W.h]": charge * mean if current > 0 else 0.0,
        "Charge energy [W.h]": charge * mean if current < 0 else 0.0,
    }


def discharges(rates: Iterable[tuple[float, float]], low: float = 2.5, high: float = 4.2) -> pd.DataFrame:
    """The steps of a rate test: for each (current, A; capacity, A.h) a charge at 0.5 A, a rest and a discharge."""
    rows: list[dict[str, float | str]] = []
    before = next(iter(rates))[1]
    for cycle, (current, capacity) in enumerate(rates):
        n = len(rows)
        rows.append(step_row(n, "Constant current charge", -0.5, before / 0.5, low, high, cycle))
        rows.append(step_row(n + 1, "Rest", 0.0, 0.5, high, high, cycle))
        rows.append(step_row(n + 2, "Constant current discharge", current, capacity / current, high, low, cycle))
        before = capacity
    return pd.DataFrame(rows)


def storage(days: float, before: float, remaining: float, after: float) -> pd.DataFrame:
    """The steps of a storage test: a discharge, a charge, the storage, what remains, a charge, a discharge; A.h."""
    low, high, current = 2.5, 4.2, 1.0
    plan: list[tuple[str, float, float]] = [
        ("Constant current discharge", current, before),
        ("Constant current charge", -current, before),
        ("Rest", 0.0, 24 * days),
        ("Constant current discharge", current, remaining),
        ("Constant current charge", -current, remaining),
        ("Constant current discharge", current, after),
    ]
    rows: list[dict[str, float | str]] = []
    time = 0.0
    for number, (kind, amps, hours) in enumerate(plan):
        start, end = (high, low) if amps > 0 else (low, high) if amps < 0 else (high, high)
        rows.append({**step_row(number, kind, amps, hours, start, end, number // 2), "Start time [s]": time})
        time += 3600 * hours
    return pd.DataFrame(rows)
