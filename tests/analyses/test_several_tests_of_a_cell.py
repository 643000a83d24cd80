"""A cell whose life is in several tests: cells are compared along their lives, and a later test says that it is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from support.cells_that_fade import CELLS, CYCLES, FIRST, add, capacity, cells

import workbench as wb


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with cells(tmp_path) as opened:
        yield opened


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


def test_only_a_test_that_began_before_changes_the_life_of_a_cell(bench: wb.Bench) -> None:
    add(bench, "C0 whole", 0, 0, CYCLES, "2024-03-01T00:00:00Z")
    bench.analyse("outliers")
    for start, stale in (("2024-09-01T00:00:00Z", False), ("2024-02-01T00:00:00Z", True)):
        # A test of few cycles at one current is not an ageing test.
        add(bench, f"C0 check-up {start}", 0, 0, 2, start)
        bench.measurements.update(f"C0 check-up {start}", tags=["check-up"])
        assert bool(bench.analyse("outliers", check=True).stale) is stale, start


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
