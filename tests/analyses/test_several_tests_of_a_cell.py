"""A cell whose life is in several tests: cells are compared along their lives, and a later test says that it is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb

CELLS, CYCLES, FIRST, EACH = 8, 60, 25, 20


def capacity(number: int, cycle: int) -> float:
    """A.h; a cell fades by 0.4 % of its capacity in each cycle."""
    return 1.0 - (0.004 + 1e-5 * number) * cycle + 1e-4 * ((7 * cycle + 3 * number) % 5 - 2)


def samples(number: int, start: int, stop: int) -> pd.DataFrame:
    """The cycles of a cell from one of its life to another, at 1 A, counted from 0 as a new file does."""
    seconds = [3600 * capacity(number, cycle) for cycle in range(start, stop) for _ in (0, 1)]
    begins = np.concatenate([[0.0], np.cumsum(seconds)[:-1]])
    shares = np.linspace(0.0, 1.0, EACH)
    # The first sample of a half cycle comes 1 s after the last one of the half cycle before it.
    time = (begins[:, None] + 1.0 + (np.array(seconds)[:, None] - 1.0) * shares).ravel()
    ways = np.tile(np.repeat([-1.0, 1.0], EACH), stop - start)
    volts = np.tile(np.concatenate([3.0 + 1.2 * shares, 4.2 - 1.2 * shares]), stop - start)
    frame = {"Time [s]": time - time[0], "Current [A]": ways, "Voltage [V]": volts}
    return pd.DataFrame({**frame, "Cycle count": np.repeat(np.arange(stop - start), 2 * EACH)})


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "w.db") as opened:
        limits = {"voltage_min": {"value": 3.0, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
        opened.specifications.create(name="cell", ratings={"capacity": {"value": 1.0, "unit": "A.h"}, **limits})
        opened.batches.create(name="A", specification="cell")
        for number in range(CELLS):
            opened.instances.create(name=f"C{number}", specification="cell", batch="A")
            if number:
                add(opened, f"C{number} whole", number, 0, CYCLES, "2024-01-01T00:00:00Z")
        yield opened


def add(bench: wb.Bench, name: str, number: int, start: int, stop: int, began: str | None) -> None:
    fields = {"name": name, "instance": f"C{number}", "tags": ["ageing"], "sign": "discharge"}
    fields |= {} if began is None else {"start_time": began}
    bench.measurements.create(time_series=samples(number, start, stop), **fields)


def of_cells(bench: wb.Bench) -> tuple[pd.DataFrame, set[str]]:
    """What is stored of each cell, and the codes of remarks."""
    bench.analyse("outliers")
    rows, codes = [], set()
    for id in bench.analyses.list(analysis_type="outliers")["id"]:
        rows.append(bench.analyses.table(id))
        codes |= {one["code"] for one in bench.analyses.get(id).metadata["workbench"]["warnings"]}
    return pd.concat(rows).set_index("Cell").sort_index(), codes


def test_a_cell_in_two_tests_is_no_outlier(bench: wb.Bench) -> None:
    add(bench, "C0 begins", 0, 0, FIRST, "2024-01-01T00:00:00Z")
    add(bench, "C0 goes on", 0, FIRST, CYCLES, "2024-03-01T00:00:00Z")
    found, codes = of_cells(bench)
    assert len(found) == CELLS
    assert (found["Outlier"] == "no").all()
    assert found.loc["C0", "Value"] == pytest.approx(capacity(0, CYCLES - 1) / capacity(0, 0), rel=1e-3)
    assert "life_order_unknown" not in codes


def test_it_is_computed_anew_when_the_order_of_its_tests_becomes_another(bench: wb.Bench) -> None:
    add(bench, "C0 begins", 0, 0, FIRST, "2024-04-01T00:00:00Z")
    add(bench, "C0 goes on", 0, FIRST, CYCLES, "2024-03-01T00:00:00Z")
    wrong, _ = of_cells(bench)
    bench.measurements.update("C0 begins", start_time="2024-01-01T00:00:00Z")
    assert bench.analyse("outliers", check=True).stale
    right, _ = of_cells(bench)
    assert wrong.loc["C0", "Value"] > 1 > right.loc["C0", "Value"]


def test_an_unknown_order_is_said(bench: wb.Bench) -> None:
    add(bench, "C0 begins", 0, 0, FIRST, None)
    add(bench, "C0 goes on", 0, FIRST, CYCLES, None)
    found, codes = of_cells(bench)
    assert "life_order_unknown" in codes
    assert found.loc["C0", "Outlier"] == "no"  # in the order in which they were added


@pytest.mark.parametrize("type", ["retention", "knee", "end_of_life", "eol_extrapolation"])
def test_a_later_test_says_that_it_counts_from_its_own_first_cycle(bench: wb.Bench, type: str) -> None:
    add(bench, "C0 begins", 0, 0, FIRST, "2024-01-01T00:00:00Z")
    add(bench, "C0 goes on", 0, FIRST, CYCLES, "2024-03-01T00:00:00Z")
    bench.analyse(type)
    said = {}
    listed = bench.analyses.list(analysis_type=type)
    for id, name in zip(listed["id"], listed["measurement_name"], strict=True):
        said[name] = {
            one["code"]: one["message"] for one in bench.analyses.get(id).metadata["workbench"]["warnings"]
        }
    assert len(said) == CELLS + 1
    assert [name for name, of in said.items() if "earlier_tests" in of] == ["C0 goes on"]
    assert "1 earlier test with many cycles" in said["C0 goes on"]["earlier_tests"]
    add(bench, "C0 later", 0, CYCLES, 2 * CYCLES, None)
    bench.analyse(type)
    listed = bench.analyses.list(analysis_type=type)
    (late,) = listed.loc[listed["measurement_name"] == "C0 later", "id"]
    codes = [one["code"] for one in bench.analyses.get(late).metadata["workbench"]["warnings"]]
    assert "life_order_unknown" in codes
