"""Figures over the lives of cells: one whose life is in two tests is like the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.cells_that_fade import CELLS, CYCLES, FIRST, add, cells, samples

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


def test_a_cell_whose_end_cannot_be_told_is_not_beyond_it(bench: wb.Bench) -> None:
    """A third of its cycles are at each of three currents, so that none compares with another: its bar was "> 29"."""
    parts = [samples(1, 10 * part, 10 * part + 10, amperes) for part, amperes in enumerate((1.0, 2.0, 0.5))]
    begin = 0.0
    for number, part in enumerate(parts):
        part["Time [s]"] += begin
        part["Cycle count"] += 10 * number
        begin = part["Time [s]"].iloc[-1] + 1.0
    frame = pd.concat(parts, ignore_index=True)
    bench.instances.create(name="odd", specification="cell", batch="A")
    bench.measurements.create(time_series=frame, name="odd", instance="odd", tags=["ageing"], sign="discharge")
    figure = bench.figure("end-of-life")
    assert not figure.tidy()["Cell"].astype(str).str.contains("odd").any()
    assert "without odd: The discharges are at different currents" in words(figure)


def test_no_cell_is_an_outlier(bench: wb.Bench) -> None:
    drawn = bench.figure("outliers").tidy()
    of_cells = drawn.dropna(subset=["z"])
    assert len(of_cells) == CELLS
    assert of_cells["|z|"].max() < 2


def test_a_test_at_another_current_is_no_retention_of_the_first(bench: wb.Bench) -> None:
    """Its capacity over that of the first test was compared with the retention of others."""
    alone = bench.figure("outliers").tidy().set_index("Cell")["Retention [%]"]
    add(bench, "C1 fast", 1, CYCLES, 2 * CYCLES, "2024-06-01T00:00:00Z", amperes=2.0)
    bench.measurements.delete("C1 whole")
    add(bench, "C1 whole", 1, 0, CYCLES - 10, "2024-01-01T00:00:00Z")
    figure = bench.figure("outliers")
    assert "left out: a test at another current than the first of its cell: C1" in words(figure)
    drawn = figure.tidy().set_index("Cell")["Retention [%]"]
    assert drawn["C1"] == pytest.approx(100 - 0.4 * (CYCLES - 11), abs=0.5)
    assert drawn["C1"] > alone["C1"] + 3
    bench.analyse("outliers")
    (stored,) = bench.analyses.list(analysis_type="outliers", instance_ids=["C1"])["id"]
    assert 100 * bench.analyses.table(stored)["Value"].iloc[0] == pytest.approx(drawn["C1"], rel=1e-9)
    told = {one["code"] for one in bench.analyses.get(stored).metadata["workbench"]["warnings"]}
    assert "rates_differ" in told


def words(figure: wb.Figure) -> str:
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)


EA, HEATS, HALF = 30e3, (15.0, 25.0, 35.0, 45.0), (20, 40)


def add_warm(bench: wb.Bench, cell: str, degrees: float, start: int, stop: int) -> None:
    """A test of a cell that fades by the law of Arrhenius; of the cycles of ``HALF`` the cell gives half."""
    rate = 0.001 * np.exp(-EA / 8.314462618 * (1 / (degrees + 273.15) - 1 / 298.15))
    passed = [(1 - rate * cycle) * (0.5 if cycle in HALF else 1) for cycle in range(start, stop)]
    frame = samples(0, start, stop, passed=passed).assign(**{"Temperature [degC]": degrees})
    half = (frame["Cycle count"] + start).isin(HALF)
    frame["Voltage [V]"] = frame["Voltage [V]"].mask(half, 3.0 + (frame["Voltage [V]"] - 3.0) / 2)
    fields = {"name": f"{cell}, {start}", "instance": cell, "tags": ["ageing"], "sign": "discharge"}
    bench.measurements.create(time_series=frame, start_time=f"2024-0{1 + start // 50}-01T00:00:00Z", **fields)


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "warm.db") as opened:
        ends = {"voltage_min": {"value": 3.0, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
        opened.specifications.create(name="cell", ratings={"capacity": {"value": 1.0, "unit": "A.h"}, **ends})
        opened.batches.create(name="A", specification="cell")
        for degrees in HEATS:
            opened.instances.create(name=f"{degrees:g}", specification="cell", batch="A")
            for start, stop in ((0, 50), (50, 65)) if degrees == 45 else ((0, 65),):
                add_warm(opened, f"{degrees:g}", degrees, start, stop)
        yield opened


def test_the_rate_of_a_cell_is_that_of_its_whole_life(warm: wb.Bench) -> None:
    """The cycles of a second test, counted from 0 again, lay among those of the first, and halved the rate."""
    drawn = warm.figure("arrhenius").tidy().set_index("Cell")["Fade / % per cycle"]
    law = 0.1 * np.exp(-EA / 8.314462618 * (1 / (np.array(HEATS) + 273.15) - 1 / 298.15))
    assert drawn[[f"{degrees:g}" for degrees in HEATS]].to_numpy() == pytest.approx(law, rel=1e-3)


@pytest.mark.parametrize("entry", ["arrhenius", "outliers", "end-of-life", "fade"])
def test_cycles_that_are_not_complete_are_counted(warm: wb.Bench, entry: str) -> None:
    assert f"left out: {2 * len(HEATS)} of {65 * len(HEATS)} cycles, which are not" in words(warm.figure(entry))


def test_cells_without_a_rate_are_named(warm: wb.Bench) -> None:
    warm.instances.create(name="short", specification="cell", batch="A")
    add_warm(warm, "short", 30.0, 0, 8)
    warm.instances.create(name="rises", specification="cell", batch="A")
    frame = samples(0, 0, 30, passed=list(np.linspace(0.9, 1.0, 30))).assign(**{"Temperature [degC]": 20.0})
    fields = {"name": "rises", "instance": "rises", "tags": ["ageing"], "sign": "discharge"}
    warm.measurements.create(time_series=frame, **fields)
    said = words(warm.figure("arrhenius"))
    assert "without short: fewer than ten cycles" in said
    assert "without rises: no fade" in said
