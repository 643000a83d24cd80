"""Cells of unlike sizes, currents and temperatures in one figure: no mean is taken over them, and no name is of two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from support.cells_that_fade import samples

import workbench as wb
from workbench.gallery.catalog import entry
from workbench.gallery.script_parts import rated_of, sized
from workbench.records.specification import ESTIMATED

LIMITS = {"voltage_min": {"value": 3.0, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
CYCLES = 12


def cycled(ampere_hours: float, fade: float, amperes: float, cycles: int = CYCLES) -> pd.DataFrame:
    passed = [ampere_hours * (1 - fade * cycle) for cycle in range(cycles)]
    return samples(0, 0, cycles, amperes, passed)


def add(bench: wb.Bench, test: str, cell: str, design: str, frame: pd.DataFrame, **fields: str) -> None:
    if cell not in set(bench.instances.list()["name"]):
        batch = {"batch": fields.pop("batch")} if "batch" in fields else {}
        bench.instances.create(name=cell, specification=design, **batch)
    bench.measurements.create(
        name=test, instance=cell, time_series=frame, tags=["ageing"], sign="discharge", **fields
    )


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    """Designs of 1 and 5 A h, the second rated in mA h, and a batch."""
    with wb.open(tmp_path / "lab.db") as made:
        for name, value, unit in (("small", 1.0, "A.h"), ("large", 5000.0, "mA.h")):
            made.specifications.create(name=name, ratings={"capacity": {"value": value, "unit": unit}, **LIMITS})
        made.batches.create(name="A", specification="small")
        yield made


def words(figure: go.Figure) -> str:
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)


def test_no_mean_is_over_cells_of_unlike_sizes(bench: wb.Bench) -> None:
    """Cells without a batch are of any design: the mean of one with 1 A h and one with 5 A h was drawn, 3 A h."""
    add(bench, "in batch", "B", "small", cycled(1, 0.01, 1), batch="A")
    for number in range(2):
        add(bench, f"s{number}", f"S{number}", "small", cycled(1, 0.01, 1))
        add(bench, f"l{number}", f"L{number}", "large", cycled(5, 0.01, 5))
    figure = bench.figure("fade", relative="value")
    means = {one.name: one.y[0] for one in figure.data if one.line.width == 2.4}
    assert means == {
        "no batch, 1 A h (n = 2)": pytest.approx(1.0, rel=0.01),
        "no batch, 5 A h (n = 2)": pytest.approx(5.0, rel=0.01),
    }
    assert "unlike currents" not in words(figure)


def test_a_mean_over_unlike_currents_is_said(bench: wb.Bench) -> None:
    for number, amperes in enumerate((1.0, 0.5)):
        add(bench, f"t{number}", f"C{number}", "small", cycled(1, 0.01, amperes), batch="A")
    assert "a mean over cells at unlike currents: A (n = 2)" in words(bench.figure("fade"))
    assert "unlike currents" not in words(bench.figure("fade", group="cells"))


def test_a_comparison_over_unlike_temperatures_is_said(bench: wb.Bench) -> None:
    """Ageing depends on the temperature, and only properties part groups by it: the measured one was not looked at."""
    for number, degrees in enumerate((15.0, 24.0, 26.0, 45.0)):
        frame = cycled(1, 0.01, 1).assign(**{"Temperature [degC]": degrees})
        add(bench, f"t{number}", f"C{number}", "small", frame, batch="A")
    said = words(bench.figure("fade"))
    assert "a mean over cells at unlike temperatures: A (n = 4), 15 to 45 °C" in said
    assert "groups of cells at unlike temperatures: all, 15 to 45 °C" in words(bench.figure("outliers"))
    assert "unlike temperatures" not in words(bench.figure("fade", group="cells"))
    for name in ("t0", "t3"):
        bench.measurements.delete(name)
    assert "unlike temperatures" not in words(bench.figure("fade")) + words(bench.figure("outliers"))


def test_a_cell_of_a_larger_design_is_no_outlier(bench: wb.Bench) -> None:
    """Beside seven cells of 1 A h one of 5 A h stood apart: it was called an outlier."""
    for number in range(7):
        add(bench, f"s{number}", f"S{number}", "small", cycled(1 + 0.002 * number, 0.01, 1))
    add(bench, "l", "L", "large", cycled(5, 0.01, 5))
    figure = bench.figure("outliers", quantity="capacity", group="all")
    assert "outliers (" not in words(figure)
    assert [text.split("<br>")[0] for text in figure.layout.xaxis.ticktext] == ["all, 1 A h", "all, 5 A h"]


def test_groups_are_named_by_size_where_they_hold_several() -> None:
    group = pd.Series(["a", "a", "a", "b", "b"])
    assert sized(group, pd.Series([2.0, 2.1, 2.2, 3.0, 3.0])).tolist() == group.tolist()
    found = sized(group, pd.Series([0.002, 0.005, np.nan, 0.005, 0.005])).tolist()
    assert found == ["a, 2 mA h", "a, 5 mA h", "a, size unknown", "b", "b"]


def test_an_estimated_capacity_is_not_a_rated_one() -> None:
    said = {"ratings.capacity.unit": ["A.h"] * 3, "ratings.capacity.value": [3.01, 3.0, 3.01]}
    rows = pd.DataFrame({**said, "source.ratings": [ESTIMATED] * 2 + [None]})
    assert rated_of(rows).isna().tolist() == [True, True, False]
    rows["source.capacity"] = [3.01, 3.01, np.nan]  # somebody said the second one
    assert rated_of(rows).isna().tolist() == [True, False, False]


def test_equivalent_cycles_of_an_unlabelled_file_say_what_a_full_one_is(bench: wb.Bench, tmp_path: Path) -> None:
    """Its rating is what the test happened to pass: it was taken for that of the cell without a word."""
    cycled(1, 0.01, 1).rename(columns={"Cycle count": "Cycle"}).to_csv(tmp_path / "own.csv", index=False)
    bench.ingest(tmp_path / "own.csv", sign="discharge")
    bench.measurements.update("own", tags=["ageing"])
    figure = bench.figure("fade", over="throughput")
    assert "rating unknown, a full cycle is of the largest capacity: own" in words(figure)
    bench.specifications.update("Unspecified own", ratings={"capacity": {"value": 2.0, "unit": "A.h"}, **LIMITS})
    rated = bench.figure("fade", over="throughput")
    assert "rating unknown" not in words(rated)
    assert list(rated.data[0].x) == pytest.approx([0.5 * x for x in figure.data[0].x], rel=0.01)


def test_efficiency_of_a_cell_with_two_tests_goes_on(bench: wb.Bench) -> None:
    """The second test was drawn over the first, from cycle 0, under the same name."""
    for number, start in enumerate(("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z")):
        add(bench, f"t{number}", "C", "small", cycled(1, 0.01, 1), start_time=start)
    figure = bench.figure("efficiency")
    assert figure.layout.xaxis.title.text == "Cycle in the life of the cell"
    places = sorted(x for trace in figure.data for x in trace.x)
    assert places == list(range(2 * CYCLES))


def test_more_cells_than_colours_have_a_line_of_their_own(bench: wb.Bench) -> None:
    for number in range(10):
        bench.instances.create(
            name=f"C{number}",
            specification="small",
            properties={"temperature": {"value": 25.0, "unit": "degC"}},
        )
        add(bench, f"t{number}", f"C{number}", "small", cycled(1, 0.01, 1))
    lines = [(trace.line.color, trace.line.dash) for trace in bench.figure("efficiency").data if trace.line.color]
    assert len(lines) == len(set(lines)) == 10


def test_a_cell_that_gives_a_little_more_than_it_takes_is_said_to_be_a_half_cell(bench: wb.Bench) -> None:
    """`efficiency` says so of a median above 1.001; the figure did from 1.01 on."""
    frame = cycled(1, 0.0, 1)
    frame.loc[frame["Current [A]"] < 0, "Current [A]"] *= 0.995
    add(bench, "t", "C", "small", frame)
    assert "C: above 100 %, or far below: a half cell" in words(bench.figure("efficiency"))


def test_no_mean_is_spoken_of_where_none_is_drawn(bench: wb.Bench) -> None:
    """Over equivalent full cycles each cell is drawn alone, and the note spoke of a thick mean."""
    for number in range(2):
        add(bench, f"t{number}", f"C{number}", "small", cycled(1, 0.01, 1), batch="A")
    assert "thick: mean" in words(bench.figure("fade"))
    assert "thick" not in words(bench.figure("fade", over="throughput"))


def test_a_temperature_law_is_of_cells_of_one_size(bench: wb.Bench) -> None:
    """Cells without a batch made one law, whatever they are."""
    for number, celsius in enumerate((25.0, 35.0, 45.0)):
        for name, design, size in (("S", "small", 1.0), ("L", "large", 5.0)):
            frame = cycled(size, 0.002 * (1 + number) * size, size).assign(**{"Temperature [degC]": celsius})
            add(bench, f"{name}{number}", f"{name}{number}", design, frame)
    figure = bench.figure("arrhenius")
    assert [trace.name for trace in figure.data] == ["no batch, 1 A h", "no batch, 5 A h"]
    assert words(figure).count("Ea = ") == 2


def early(sizes: list[float]) -> go.Figure:
    """The figure of early cycles of cells of these rated capacities, each of which ends at 80 % of its first one."""
    ids = [f"t{number}" for number in range(len(sizes))]
    cells = pd.DataFrame({"id": ids, "measurement_id": ids, "instance_name": ids, "batch_name": None})
    cells["metadata.results.log_var"] = -4.0 + 0.1 * np.arange(len(sizes))
    cells = cells.assign(**{f"metadata.workbench.parameters.{key}": 10.0 for key in "mn"})
    cells = cells.assign(**{"ratings.capacity.value": sizes, "ratings.capacity.unit": "A.h"})
    parts = []
    for number, (test, size) in enumerate(zip(ids, sizes, strict=True)):
        counts = np.arange(60 + 5 * number)
        rows = {"Cycle count": counts, "Discharge capacity [A.h]": size * (1 - 0.3 * counts / counts[-1])}
        parts.append(pd.DataFrame(rows).assign(measurement_id=test, Complete=True))
    scope = {"go": go, "np": np, "pd": pd}
    exec(entry("delta-q").script, scope)
    data = {"chosen": cells, "records": cells, "cycles": pd.concat(parts, ignore_index=True)}
    made: go.Figure = scope["transform"](data, {"cells": ids, "threshold": 80})
    return made


def test_variances_of_cells_of_unlike_sizes_make_no_correlation() -> None:
    """A variance of charge is larger in a larger cell, whatever its life."""
    assert "over 5 cells that ended" in words(early([1.0] * 5))
    unlike = words(early([1.0, 1.0, 1.0, 5.0, 5.0]))
    assert "the cells are of unlike rated capacities" in unlike
    assert "r = " not in unlike
