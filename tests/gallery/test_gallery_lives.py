"""Figures over the lives of cells: one whose life is in two tests is like the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cells_that_fade import CELLS, CYCLES, FIRST, add, cells

import workbench as wb


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with cells(tmp_path) as opened:
        add(opened, "C0 begins", 0, 0, FIRST, "2024-01-01T00:00:00Z")
        add(opened, "C0 goes on", 0, FIRST, CYCLES, "2024-03-01T00:00:00Z")
        yield opened


def test_the_end_of_life_is_that_of_the_whole_life(bench: wb.Bench) -> None:
    drawn = bench.figure("end-of-life").tidy()
    assert len(drawn) == CELLS
    assert set(drawn["Series"]) == {"reached"}
    ends = drawn.set_index("Cell")["Cycles to 80 %"]
    assert ends["C0"] == pytest.approx(50, abs=1.5)
    assert ends.max() - ends.min() < 2


def test_a_test_at_another_current_stands_alone(bench: wb.Bench) -> None:
    add(bench, "C0 fast", 0, CYCLES, 2 * CYCLES, "2024-06-01T00:00:00Z", amperes=2.0)
    figure = bench.figure("end-of-life")
    drawn = figure.tidy()
    assert len(drawn) == CELLS + 1
    assert "a test at another current stands alone: C0" in str(figure.layout.annotations)
    assert drawn.loc[drawn["Series"] == "reached", "Cell"].str.startswith("C0").any()


def test_no_cell_is_an_outlier(bench: wb.Bench) -> None:
    drawn = bench.figure("outliers").tidy()
    of_cells = drawn.dropna(subset=["z"])
    assert len(of_cells) == CELLS
    assert of_cells["|z|"].max() < 2
