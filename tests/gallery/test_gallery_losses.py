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


def stored(cycles: int = 4) -> Cell:
    """Cycles of a cell that fades by 5 % in each, with a storage before the last discharge but one."""
    cell = Cell()
    for number in range(cycles):
        cell.cycle, full = number, 1.0 - 0.05 * number
        cell.flow(-full, 0.5)
        if number == cycles - 2:
            cell.rest(10 * 86_400.0, fall=0.01)
        cell.share = full
        cell.flow(full, 0.5)
        cell.share = 0.0
    return cell


def test_a_storage_beside_an_excluded_cycle_has_no_loss_as_in_the_analysis(tmp_path: Path) -> None:
    """The discharge before the excluded one was taken for that before the storage."""
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "stored", stored().frame, "storage")
        assert "irreversible" in {
            trace.name for trace in bench.figure("self-discharge").data if len(trace.x or ())
        }
        bench.exclude("stored", cycles=[1], reason="a fault")
        figure = bench.figure("self-discharge")
        assert "irreversible" not in {trace.name for trace in figure.data if len(trace.x or ())}
        assert "stored: a cycle beside the storage is excluded" in notes(figure)
        bench.analyse("self_discharge")
        (id,) = bench.analyses.list(analysis_type="self_discharge")["id"]
        assert not bench.analyses.table(id)["Valid"].any()


def rated(first: str = "charge") -> Cell:
    cell = Cell(1.0 if first == "discharge" else 0.0)
    for number, amperes in enumerate((0.1, 0.1, 0.5, 1.0)):
        cell.cycle = number
        for charge in (0.9, -0.9) if first == "discharge" else (-0.9, 0.9):
            cell.share = 1.0 if charge > 0 else 0.1
            cell.flow(charge, amperes if charge > 0 else 0.5)
    return cell


def test_rates_beside_an_excluded_cycle_count_as_in_the_analysis(tmp_path: Path) -> None:
    """The discharge after an excluded cycle had no charge before it any more, and was left out."""
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "rates", rated("discharge").frame, "rate")
        bench.exclude("rates", cycles=[0], reason="a fault")
        bench.analyse("rate_capability")
        (id,) = bench.analyses.list(analysis_type="rate_capability")["id"]
        kept = bench.analyses.table(id)["C-rate [1/h]"].round(2).tolist()
        assert kept == [0.1, 0.5, 1.0]
        (drawn,) = (trace for trace in bench.figure("rate-capability").data)
        assert [round(float(x), 2) for x in drawn.x] == kept


def test_the_rates_of_ragone_are_of_the_rated_capacity(tmp_path: Path) -> None:
    """They were of the largest discharge, and what was left out was not said."""
    with wb.open(tmp_path / "lab.db") as bench:
        add(bench, "rates", rated().frame, "rate")
        figure = bench.figure("ragone")
        assert [round(float(rate), 2) for rate in figure.data[0].customdata] == [0.1, 0.5, 1.0]
        other = rated("discharge").frame
        add(bench, "begins with a discharge", other, "rate")
        assert "begins with a discharge: left out: step 0 (no charge before it)" in notes(bench.figure("ragone"))


def test_check_ups_at_unlike_currents_are_said(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        for number, amperes in enumerate((0.05, 0.3)):
            cell = Cell()
            cell.flow(-1.0, 0.05)
            cell.rest(3600)
            cell.flow(1.0 - 0.1 * number, amperes)
            fields = {"time_series": cell.frame, "tags": ["RPT"], "sign": "discharge"}
            if not number:
                add(bench, "cell", cell.frame, "RPT", start_time="2024-01-01T00:00:00Z")
            else:
                bench.measurements.create(
                    name="later", instance="cell", start_time="2024-06-01T00:00:00Z", **fields
                )
        assert "check-ups at unlike currents: cell" in notes(bench.figure("reversible-loss"))
