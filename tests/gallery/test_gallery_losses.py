"""Figures of losses draw those that a test shows, and name the tests that show none."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.simple_cell import Cell, add, notes

import workbench as wb


def formed(share: float = 0.0, lost: float = 0.1, cycles: int = 3) -> Cell:
    """Cycles at C/20 of a cell that comes with a share of its charge and loses some in the first cycle."""
    cell = Cell(share)
    for number in range(cycles):
        cell.cycle = number
        gone = lost if number == 0 else 0.0
        cell.flow(cell.share - 1.0 - gone, 0.05, gone)
        cell.rest(600)
        cell.flow(1.0, 0.05)
        cell.rest(600)
    return cell


def test_a_cell_that_came_charged_has_no_first_cycle_loss(tmp_path: Path) -> None:
    """What came back beyond what went in was drawn as lost, and a test that still charges as 0 %."""
    charging = Cell()
    charging.flow(-1.0, 0.05)
    charging.rest(600)
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "new", formed().frame, "formation")
        add(bench, "came charged", formed(0.3, 0.0).frame, "formation")
        add(bench, "still charging", charging.frame, "formation")
        figure = bench.figure("formation")
        drawn = {trace.name: dict(zip(trace.x, trace.y, strict=True)) for trace in figure.data}
        assert drawn["lost in the first cycle"] == {"new": pytest.approx(0.1, abs=1e-3)}
        assert drawn["first-cycle efficiency"] == {"new": pytest.approx(100 / 1.1, abs=0.1)}
        assert "came charged (more came back than went in" in notes(figure)
        assert "still charging (the first cycle is not complete)" in notes(figure)
        bench.exclude("new", reason="a fault", cycles=[0])
        assert "new (the first cycle is excluded)" in notes(bench.figure("formation"))


def test_the_first_cycle_of_a_half_cell_begins_with_its_discharge(tmp_path: Path) -> None:
    electrode = Cell(1.0)
    for number, back in enumerate((-0.9, -0.9, -0.9)):
        electrode.cycle = number
        electrode.flow(electrode.share, 0.05)
        electrode.rest(600)
        electrode.flow(back, 0.05)
        electrode.rest(600)
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "electrode", electrode.frame, "formation")
        figure = bench.figure("formation")
        drawn = {trace.name: list(trace.y) for trace in figure.data}
        assert drawn["first-cycle efficiency"] == [pytest.approx(90, abs=0.1)]
        assert "first the discharge, as of a half cell: electrode" in notes(figure)
        # A table of cycles has no steps. It took those of the electrode, whose loss was turned around.
        cycles = "cycle,charge capacity [Ah],discharge capacity [Ah]\n1,1.1,1.0\n2,1.0,0.99\n3,1.0,0.98\n"
        (tmp_path / "paper.csv").write_text(cycles)
        bench.ingest(tmp_path / "paper.csv", specification="Cell", instance="paper", rating="1Ah,3V,4.2V")
        bench.measurements.update("paper", tags=["formation"])
        figure = bench.figure("formation")
        (found,) = [trace for trace in figure.data if trace.name == "first-cycle efficiency"]
        drawn = dict(zip(found.x, found.y, strict=True))
        assert drawn == {"electrode": pytest.approx(90, abs=0.1), "paper": pytest.approx(100 / 1.1, abs=0.1)}
        alone = bench.figure("formation", cells=["paper"])
        assert [list(trace.x) for trace in alone.data if trace.name == "first-cycle efficiency"] == [["paper"]]


def test_each_storage_of_a_test_has_its_own_bar(tmp_path: Path) -> None:
    """Two storages of one test were one bar of twice the height."""
    cell = Cell(1.0)
    cell.flow(1.0, 1.0)
    for _ in range(2):
        cell.flow(-1.0, 1.0)
        cell.rest(10 * 86_400.0, fall=0.01)
        cell.share = 0.98
        cell.flow(0.98, 1.0)
        cell.flow(-1.0, 1.0)
        cell.flow(1.0, 1.0)
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "stored", cell.frame, "storage")
        falls, *losses = bench.figure("self-discharge").data
        assert list(falls.x) == ["stored, storage 1", "stored, storage 2"]
        assert list(falls.y) == pytest.approx([1.0, 1.0])
        reversible = next(trace for trace in losses if trace.name == "reversible")
        assert list(reversible.x) == list(falls.x)
        assert list(reversible.y) == pytest.approx([2.0, 2.0], abs=0.1)


def test_a_loss_is_drawn_at_the_storage_that_it_is_of(tmp_path: Path) -> None:
    """Rests with a pulse between them are two storages and have one loss: that of the next storage was drawn at the
    second of them."""
    cell = Cell(1.0)
    cell.flow(1.0, 1.0)
    for pulsed in (True, False):
        cell.flow(-1.0, 1.0)
        if pulsed:
            cell.rest(5 * 86_400.0, fall=0.01)
            cell.flow(0.01, 1.0)
        cell.rest(5 * 86_400.0, fall=0.01)
        cell.share = 0.97
        cell.flow(0.97, 1.0)
        cell.flow(-1.0, 1.0)
        cell.flow(1.0, 1.0)
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "stored", cell.frame, "storage")
        falls, *losses = bench.figure("self-discharge").data
        assert list(falls.x) == [f"stored, storage {number}" for number in (1, 2, 3)]
        reversible = next(trace for trace in losses if trace.name == "reversible")
        assert list(reversible.x) == ["stored, storage 1", "stored, storage 3"]
