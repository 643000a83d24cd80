"""Resistance by state of charge, where a test ends fuller than any pulse began."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.simple_cell import Cell, add, notes

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


def pulsed(share: float, resistance: float) -> Cell:
    """A pulse at one state of charge between a full charge and a full discharge."""
    cell = Cell(1.0, resistance=resistance)
    cell.rest(600)
    cell.flow(1.0 - share, 0.2)
    cell.rest(600)
    cell.flow(10 / 3600, 1.0, samples=21)
    cell.rest(600)
    cell.flow(cell.share, 0.2)
    return cell


def test_tests_without_a_growth_are_named(tmp_path: Path) -> None:
    """They were left out without a word."""
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "cell", pulsed(0.5, 0.05).frame, "hppc", start_time="2024-01-01T00:00:00Z")
        for name, share, ohm in (("older", 0.5, 0.06), ("elsewhere", 0.9, 0.07)):
            frame = pulsed(share, ohm).frame
            start = f"2024-0{len(name)}-01T00:00:00Z"
            fields = {"name": name, "instance": "cell", "tags": ["hppc"], "sign": "discharge"}
            bench.measurements.create(time_series=frame, start_time=start, **fields)
        add(bench, "once", pulsed(0.5, 0.05).frame, "hppc", start_time="2024-01-01T00:00:00Z")
        figure = bench.figure("resistance-growth")
        (line,) = [trace for trace in figure.data if trace.name]
        falls = 1.2 * 9 / 3600  # Ohm: of the open circuit from the first sample, 1 s after the rest, to 10 s
        assert list(line.y) == pytest.approx([0, 100 * (0.06 + falls) / (0.05 + falls) - 100], abs=0.01)
        assert "left out: elsewhere (no discharge pulse within 15 % of 50 %)" in notes(figure)
        assert "without once: pulses at one age only" in notes(figure)
