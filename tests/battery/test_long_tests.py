"""What looks at its own samples alone, so that a long test takes no longer for each: the same as of each part read by
itself."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workbench import battery
from workbench.battery.capacity.step_table import NEEDS, Steps, halves
from workbench.battery.charge import ChargeRows, counted, counted_of
from workbench.battery.completeness import left_out
from workbench.battery.half_cycles import half_cycles, rows_of_half_cycles
from workbench.battery.neighbours import Neighbours


def load(seed: int, *, counters: bool, gaps: bool) -> pd.DataFrame:
    """Charges, discharges and rests of random lengths, with samples without a current, and some rows left out."""
    rng = np.random.default_rng(seed)
    current = np.repeat(rng.choice([-2.0, 0.0, 1.0], 60), rng.integers(1, 40, 60))
    n = len(current)
    current = current + rng.normal(0, 1e-5, n)
    frame = pd.DataFrame({"Time [s]": np.cumsum(rng.choice([1.0, 5.0, 90.0], n)), "Current [A]": current})
    frame["Step count"] = np.cumsum(np.abs(np.diff(current, prepend=0.0)) > 0.5)
    if counters:
        passed = pd.Series(np.maximum(current, 0) / 3600)
        by_step = passed.groupby(frame["Step count"]).cumsum()
        frame["Discharge capacity [A.h]"] = by_step if seed % 2 else passed.cumsum()
    frame.loc[rng.choice(n, 5, replace=False), "Current [A]"] = np.nan
    return frame.loc[np.sort(rng.choice(n, n - 12, replace=False))] if gaps else frame


def same(left: Any, right: Any) -> bool:
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, Neighbours):
        return all(same(getattr(left, one.name), getattr(right, one.name)) for one in fields(left))
    if isinstance(left, np.ndarray | pd.Index):
        return bool(np.array_equal(left, right, equal_nan=left.dtype.kind == "f"))
    return bool(left == right)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("counters", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_rows_of_a_half_cycle_are_those_of_its_frame(seed: int, counters: bool, gaps: bool) -> None:
    frame = load(seed, counters=counters, gaps=gaps)
    every, known = ChargeRows.of(frame), Neighbours.of(frame, left_out(frame))
    found = half_cycles(frame)
    assert len(found) > 10
    for half, (direction, rows) in zip(found, rows_of_half_cycles(frame), strict=True):
        own = every.half_cycle(rows, known, left_out(half.frame) or "")
        of_frame = ChargeRows.of(half.frame)
        for one in fields(own):
            assert same(getattr(own, one.name), getattr(of_frame, one.name)), one.name
        charge, said = counted(half.frame, half.direction)
        assert direction == half.direction
        assert np.array_equal(counted_of(own, direction)[0], charge)
        assert counted_of(own, direction)[1] == said


def steps(seed: int, count: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = rng.choice(
        ["Constant current charge", "Constant current discharge", "Constant voltage charge", "Rest"], count
    )
    size = rng.choice([0.001, 0.01, 0.3, 1.0], count)
    charges, discharges = [np.array([word in one for one in kind]) for word in (" charge", "discharge")]
    return pd.DataFrame(
        {
            "Step count": np.arange(count),
            "Step type": kind,
            "Duration [s]": 3600 * size,
            "Mean current [A]": np.where(discharges, 1.0, np.where(charges, -1.0, 0.0)),
            "Discharge capacity [A.h]": np.where(discharges, size, 0.0),
            "Charge capacity [A.h]": np.where(charges, size, 0.0),
            "Cycle count": rng.permutation(np.arange(count) // 7),
            "Mean temperature [degC]": rng.normal(25, 1, count),
        }
    )


def merged_one_by_one(table: Steps, least: float) -> list[list[int]]:
    """Half cycles by the definition: the smallest is dropped, its neighbours become one, until none is too small."""
    net = table.out - table.into
    runs: list[list[int]] = []
    for place in np.flatnonzero(table.direction).tolist():
        if runs and table.direction[runs[-1][-1]] == table.direction[place]:
            runs[-1].append(place)
        else:
            runs.append([place])
    while runs:
        sizes = [abs(float(net[run].sum())) for run in runs]
        at = sizes.index(min(sizes))
        if sizes[at] >= least:
            break
        runs = [*runs[:at], *runs[at + 1 :]]
        if 0 < at < len(runs):
            runs = [*runs[: at - 1], runs[at - 1] + runs[at], *runs[at + 1 :]]
    return runs


@pytest.mark.parametrize("least", [0.0, 0.005, 0.05, 0.5, 100.0])
@pytest.mark.parametrize("seed", range(4))
def test_small_half_cycles_are_dropped_one_by_one(seed: int, least: float) -> None:
    frame = steps(seed)
    assert set(NEEDS) <= set(frame)
    table = Steps.of(frame)
    assert [half.rows.tolist() for half in halves(table, least)] == merged_one_by_one(table, least)


def test_capacities_by_step_are_those_of_each_cycle_alone() -> None:
    frame = steps(5)
    whole = battery.capacity_by_step(frame)
    assert whole["Cycle count"].tolist() == list(dict.fromkeys(frame["Cycle count"]))
    for place, cycle in enumerate(whole["Cycle count"]):
        alone = battery.capacity_by_step(frame[frame["Cycle count"] == cycle])
        pd.testing.assert_frame_equal(whole.iloc[[place]].reset_index(drop=True), alone)


def test_a_pulse_among_thousands_has_the_resistance_that_it_has_alone() -> None:
    at = (12.0, 14.5)
    rng = np.random.default_rng(2)
    one = np.concatenate([np.zeros(40), np.full(15, 2.0), np.zeros(5), np.full(12, -1.5)])
    current = np.tile(one, 60) + rng.normal(0, 1e-4, 60 * len(one))
    time = np.arange(len(current)) + rng.uniform(0, 0.2, len(current))
    voltage = 3.7 - 0.03 * current + rng.normal(0, 1e-4, len(current))
    frame = pd.DataFrame({"Time [s]": time - time[0], "Current [A]": current, "Voltage [V]": voltage})
    every = battery.pulse_resistance(frame, at, least=1.0, rest=0.01)
    assert len(every) == 120
    for start in range(0, 60, 7):
        part = frame.iloc[start * len(one) : (start + 1) * len(one)]
        alone = battery.pulse_resistance(part, at, least=1.0, rest=0.01)
        expected = every.iloc[2 * start : 2 * start + 2].reset_index(drop=True)
        pd.testing.assert_frame_equal(alone, expected, check_exact=True)
