"""Resistance by state of charge, where a test ends fuller than any pulse began."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.simple_cell import Cell, add

import workbench as wb


def test_a_charge_at_the_end_counts_for_the_state_of_charge(tmp_path: Path) -> None:
    """The fullest moment was looked for before each step, so that of the last charge was not seen."""
    cell = Cell(0.5, resistance=0.05)
    cell.rest(600)
    for _ in range(2):
        cell.flow(1.0 * 10 / 3600, 1.0, samples=21)
        cell.rest(600)
        cell.flow(0.2, 0.2)
        cell.rest(600)
    cell.flow(cell.share, 0.2)
    cell.rest(600)
    cell.flow(-1.0, 0.2)
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "pulses", cell.frame, "hppc")
        (line,) = [trace for trace in bench.figure("dcir").data if trace.name]
        assert sorted(line.x) == pytest.approx([29.7, 50.0], abs=0.2)
