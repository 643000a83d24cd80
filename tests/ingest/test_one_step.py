"""A step counter that never rises is none where the cell is charged and discharged; a drive cycle stays one step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.ingest import FileReport

T = np.arange(0.0, 3600.0, 10.0)
HALVES = np.where(T < 1800, 1.0, -1.0)
DRIVEN = -2.0 + 2.5 * (np.arange(len(T)) % 6 == 0)
"""A, positive on charge: a discharge that feeds back now and then."""


def stored(
    bench: wb.Bench, folder: Path, current: np.ndarray, **columns: object
) -> tuple[FileReport, pd.DataFrame]:
    volts = 3.7 + np.cumsum(current) * 10 / 3600 / 5 + 0.02 * current
    frame = pd.DataFrame({"Test Time (s)": T, "Current (A)": current, "Voltage (V)": volts, **columns})
    frame.to_csv(folder / "test.csv", index=False)
    (file,) = bench.ingest(folder / "test.csv", sign="charge")
    return file, bench.measurements.steps(file.measurement_id)


@pytest.mark.parametrize("cycle", [None, 1, (T >= 900).astype(int)])
def test_a_counter_that_stays_at_one_step_counts_as_none(tmp_path: Path, cycle: object) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        more = {} if cycle is None else {"Cycle": cycle}
        file, steps = stored(bench, tmp_path, HALVES, Step=1, **more)
        assert set(steps["Step type"]) == {"Constant current charge", "Constant current discharge"}
        assert steps["Discharge capacity [A.h]"].sum() == pytest.approx(0.4986, abs=1e-4)
        assert steps["Charge capacity [A.h]"].sum() == pytest.approx(0.4986, abs=1e-4)
        assert [text for text in file.assumed if text.startswith("The step counter of the file never rises")]
        assert [text for text in file.odd if "No charge flows" in text] == []
        rated = bench.specifications.get("Unspecified test").ratings.capacity
        assert rated is not None
        assert rated.value == pytest.approx(0.499, abs=1e-3)


@pytest.mark.parametrize("current", [DRIVEN, np.where(T < 3000, -1.0, 0.0)], ids=["drive", "one way"])
def test_a_test_of_one_way_keeps_its_one_step(tmp_path: Path, current: np.ndarray) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        file, steps = stored(bench, tmp_path, current, Step=7)
        assert len(steps) == 1
        assert [text for text in file.assumed if "step counter" in text] == []


def test_a_counter_that_rises_is_kept(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        _, steps = stored(bench, tmp_path, HALVES, Step=np.where(T < 1790, 1, 2))
        assert steps["Step from cycler"].tolist() == [1, 2]
