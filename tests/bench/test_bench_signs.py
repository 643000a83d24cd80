"""Samples from Python whose current goes the other way: refused with the fix, accepted once the sign is given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.local_and_remote import WHERE, opened

import workbench as wb


def charge_positive() -> pd.DataFrame:
    """A charge, then a discharge, with current positive on charge and no ohmic drop."""
    time = np.arange(400) * 10.0
    current = np.where(time < 2000, 1.0, -1.0)
    voltage = 3.0 + np.concatenate([np.linspace(0, 1, 200), np.linspace(1, 0, 200)])
    return pd.DataFrame({"Time [s]": time, "Current [A]": current, "Voltage [V]": voltage})


@pytest.fixture(params=WHERE)
def bench(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[wb.Bench]:
    with opened(tmp_path / "lab.db", request.param) as made:
        prepare(made)
        yield made


def prepare(bench: wb.Bench) -> None:
    ratings = {
        "capacity": {"value": 1.0, "unit": "A.h"},
        "voltage_min": {"value": 3.0, "unit": "V"},
        "voltage_max": {"value": 4.0, "unit": "V"},
    }
    bench.specifications.create(name="S", ratings=ratings)
    bench.instances.create(name="cell", specification="S")


def test_a_reversed_current_is_refused_with_the_mend(bench: wb.Bench) -> None:
    with pytest.raises(wb.FileRefused, match='sign="charge"'):
        bench.measurements.create(instance="cell", name="t", time_series=charge_positive())
    assert len(bench.measurements.list()) == 0


def test_it_is_turned_once_the_sign_is_said(bench: wb.Bench) -> None:
    made = bench.measurements.create(instance="cell", name="t", time_series=charge_positive(), sign="charge")
    steps = bench.measurements.steps(made.id)
    assert steps["Mean current [A]"].tolist() == [-1.0, 1.0]
    assert steps["Charge capacity [A.h]"].iloc[0] > 0.5
    assert bench.measurements.time_series(made.id)["Current [A]"].iloc[0] == -1.0


def test_another_word_for_the_sign_is_refused(bench: wb.Bench) -> None:
    with pytest.raises(wb.BadRequest, match="'charge' or 'discharge'"):
        bench.measurements.create(instance="cell", name="t", time_series=charge_positive(), sign="up")
