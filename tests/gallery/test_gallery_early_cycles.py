"""Early cycles and life: the lives are those of the figure of the end of life, and the axis names the cycles that the
records compare."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support import cells_that_fade
from support.simple_cell import Cell, add, notes

import workbench as wb

CYCLES = 40


def aged(first: float, amperes: float = 1.0) -> pd.DataFrame:
    """Each cycle passes 1 % less than the one before; the first one at a tenth of the current passes what is given."""
    cell = Cell(resistance=0.01)
    for number in range(CYCLES):
        cell.cycle = number
        passed, current = (first, 0.1 * amperes) if number == 0 else (0.9 * (1 - 0.01 * number), amperes)
        cell.share = 1.0 - passed
        cell.flow(-passed, current)
        cell.share = passed
        cell.flow(passed, current)
    return cell.frame


def test_a_slow_first_cycle_does_not_shorten_a_life(tmp_path: Path) -> None:
    """Its capacity was what all others were compared with: a life of one cycle."""
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "alike", aged(0.9, 1.01), "ageing")
        add(bench, "check-up first", aged(1.4), "ageing")
        bench.analyse("delta_q", m=5, n=15)
        drawn = bench.figure("delta-q")
        lives = drawn.tidy().set_index("Cell")["Cycles to 80 %"]
        ends = bench.figure("end-of-life").tidy().set_index("Cell")["Cycles to 80 %"]
        assert lives["check-up first"] == pytest.approx(20, abs=2)
        assert lives.to_dict() == pytest.approx(ends.to_dict())
        assert drawn.layout.xaxis.title.text == "log10 variance of ΔQ(V), cycles 5 and 15"
        bench.analyse("delta_q", "alike", m=5, n=25)
        apart = bench.figure("delta-q")
        assert apart.layout.xaxis.title.text == "log10 variance of ΔQ(V)"
        assert "different cycles" in notes(apart)
        assert "5 and 25" in notes(apart)


def test_a_life_over_two_tests_is_one(tmp_path: Path) -> None:
    """Each test was a dot, with a life from its own first cycle."""
    with cells_that_fade.cells(tmp_path) as bench:
        first = cells_that_fade.FIRST
        cells_that_fade.add(bench, "C0 begins", 0, 0, first, "2024-01-01T00:00:00Z")
        cells_that_fade.add(bench, "C0 goes on", 0, first, cells_that_fade.CYCLES, "2024-03-01T00:00:00Z")
        bench.analyse("delta_q", m=5, n=15)
        drawn = bench.figure("delta-q")
        found = drawn.tidy().set_index("Cell")["Cycles to 80 %"]
        assert found.index.is_unique
        assert len(found) == cells_that_fade.CELLS
        assert found["C0"] == pytest.approx(found["C1"], abs=1)
        assert "a life over several tests: C0" in notes(drawn)
