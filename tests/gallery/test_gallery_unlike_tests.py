"""Tests that lack what others have: they take nothing from the others, and each figure says what they lack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.engine.ratings import _CHARGES, in_ampere_hours
from workbench.gallery.script_parts import degrees_of, rated_of

CYCLES, SLOW, EACH = 60, 12, 20
LIMITS = {"voltage_min": {"value": 3.0, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}


def capacities(fade: float) -> np.ndarray:
    return 2 * (1 - fade * np.arange(CYCLES))


def bend(cycle: np.ndarray, knee: int) -> np.ndarray:
    """What a knee takes of the capacity."""
    return 1 - 0.0012 * np.maximum(cycle - knee, 0) ** 1.5


def cycled(fade: float, cycles: int = CYCLES, knee: int = CYCLES) -> pd.DataFrame:
    """Samples of an ageing test: every twelfth cycle, and the first, is a check-up at a tenth of the current, which
    passes 1.4 times as much."""
    slow = np.arange(cycles) % SLOW == 0
    whole = capacities(fade)[:cycles] * bend(np.arange(cycles), knee)
    capacity, amperes = whole * np.where(slow, 1.4, 1.0), np.where(slow, 0.2, 2.0)
    seconds = np.repeat(3600 * capacity / amperes, 2)
    begins = np.concatenate([[0.0], np.cumsum(seconds)[:-1]])
    shares = np.linspace(0.0, 1.0, EACH)
    time = (begins[:, None] + 1.0 + (seconds[:, None] - 1.0) * shares).ravel()
    ways = np.repeat(amperes, 2 * EACH) * np.tile(np.repeat([-1.0, 1.0], EACH), cycles)
    volts = np.tile(np.concatenate([3.0 + 1.2 * shares, 4.2 - 1.2 * shares]), cycles)
    frame = {"Time [s]": time - time[0], "Current [A]": ways, "Voltage [V]": volts}
    return pd.DataFrame({**frame, "Cycle count": np.repeat(np.arange(cycles), 2 * EACH)})


def add_table(bench: wb.Bench, folder: Path, *columns: str) -> None:
    """A table of cycles of another cell, as a paper gives it, without currents."""
    values = [capacities(0.003), 1.001 * capacities(0.003)]
    made = pd.DataFrame({"Cycle": np.arange(CYCLES), **dict(zip(columns, values, strict=False))})
    made.to_csv(folder / "paper.csv", index=False)
    report = bench.ingest(folder / "paper.csv", specification="Cell", instance="paper")
    assert report.ok, report.files[0].why
    bench.measurements.update("paper", tags=["ageing"])


BOTH = ("Discharge capacity [A.h]", "Charge capacity [A.h]")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        made.specifications.create(name="Cell", ratings={"capacity": {"value": 2.0, "unit": "A.h"}, **LIMITS})
        for number in range(2):
            name = f"lab {number}"
            made.instances.create(name=name, specification="Cell")
            made.measurements.create(
                name=name,
                instance=name,
                time_series=cycled(0.004 + 0.001 * number),
                tags=["ageing"],
                sign="discharge",
            )
        yield made


def words(figure: wb.Figure) -> str:
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)


def numbers(bench: wb.Bench, entry: str, column: str) -> dict[str, list[float]]:
    """The numbers of the cells of the lab in a figure."""
    found = bench.figure(entry).tidy()
    names = found["Cell"].fillna(found["Series"])
    return {name: found.loc[names == name, column].dropna().tolist() for name in ("lab 0", "lab 1")}


DRAWN = {"fade": "Capacity retention [%]", "end-of-life": "Cycles to 80 %", "outliers": "Retention [%]"}


@pytest.mark.parametrize("entry", DRAWN)
def test_a_test_without_a_column_does_not_take_it_from_others(bench: wb.Bench, tmp_path: Path, entry: str) -> None:
    alone = numbers(bench, entry, DRAWN[entry])
    assert all(alone.values())
    add_table(bench, tmp_path, *BOTH)
    assert numbers(bench, entry, DRAWN[entry]) == alone
    said = [
        str(one["message"]) for one in bench.figure(entry).workbench.warnings if one["code"] == "column_missing"
    ]
    assert any("Mean discharge current [A]" in message and "'paper'" in message for message in said)


def test_a_table_does_not_change_the_course_of_other_cells_with_knees(aged: wb.Bench, tmp_path: Path) -> None:
    """Its lack of currents took them from all cells, and their check-ups, of 1.4 times the capacity, were drawn."""
    for cell in ("a", "b"):
        aged.instances.create(name=cell, specification="Cell")
        frame = cycled(0.001, knee=25)
        aged.measurements.create(name=cell, instance=cell, time_series=frame, tags=["ageing"], sign="discharge")
    aged.analyse("knee")
    alone = {trace.name: (list(trace.x), list(trace.y)) for trace in aged.figure("knee").data if trace.name}
    assert max(max(y) for _, y in alone.values()) < 105
    made = pd.DataFrame({"Cycle": np.arange(CYCLES)})
    made["Discharge capacity [A.h]"] = capacities(0.001) * bend(np.arange(CYCLES), 25)
    made.to_csv(tmp_path / "paper.csv", index=False)
    aged.ingest(tmp_path / "paper.csv", specification="Cell", instance="paper")
    aged.measurements.update("paper", tags=["ageing"])
    aged.analyse("knee")
    beside = {trace.name: (list(trace.x), list(trace.y)) for trace in aged.figure("knee").data if trace.name}
    assert set(beside) == {*alone, "paper"}
    assert {name: beside[name] for name in alone} == alone
    chosen = aged.figure("knee", cells=["a"])
    assert {trace.name for trace in chosen.data if trace.name} == {"a"}
    own = "each test counts from its own first cycle"
    assert own not in words(chosen)
    frame = cycled(0.002, knee=25)
    aged.measurements.create(name="goes on", instance="a", time_series=frame, tags=["ageing"], sign="discharge")
    aged.analyse("knee")
    assert f"{own}: a" in words(aged.figure("knee"))


def test_excluded_samples_are_not_drawn_beside_a_test_without_cycles(aged: wb.Bench) -> None:
    aged.instances.create(name="c", specification="Cell")
    share = np.linspace(0, 1, 100)
    frame = pd.DataFrame(
        {
            "Time [s]": np.arange(400) * 360.0,
            "Current [A]": np.tile(np.repeat([-0.28, 0.28], 100), 2),
            "Voltage [V]": np.tile(np.concatenate([3 + 1.2 * share, 4.2 - 1.2 * share]), 2),
            "Cycle count": np.repeat([0, 1], 200),
        }
    )
    for name, one in (("counted", frame), ("bare", frame.drop(columns="Cycle count"))):
        aged.measurements.create(name=name, instance="c", time_series=one, tags=["RPT"], sign="discharge")
    assert {trace.name for trace in aged.figure("dq-dv").data if trace.name} == {"counted", "bare"}
    aged.exclude("counted", cycles=[0], reason="wrong cable")
    figure = aged.figure("dq-dv")
    assert [trace.name for trace in figure.data if trace.name] == ["counted"]
    assert "left out: bare (no column 'Cycle count')" in words(figure)


@pytest.mark.parametrize("entry", DRAWN)
def test_a_test_without_a_column_is_drawn_alone(bench: wb.Bench, tmp_path: Path, entry: str) -> None:
    add_table(bench, tmp_path, *BOTH)
    figure = bench.figure(entry, cells=["paper"])
    drawn = figure.tidy()[DRAWN[entry]]
    assert drawn.notna().all()
    assert figure.workbench.warnings[0]["code"] == "column_missing"


def test_a_cell_without_an_efficiency_is_named(bench: wb.Bench, tmp_path: Path) -> None:
    add_table(bench, tmp_path, BOTH[0])
    assert "without paper: no coulombic efficiency" in words(bench.figure("outliers", quantity="ce"))
    throughput = bench.figure("fade", over="throughput", group="cells")
    assert throughput.data


@pytest.fixture
def aged(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "aged.db") as made:
        made.specifications.create(name="Cell", ratings={"capacity": {"value": 2.8, "unit": "A.h"}, **LIMITS})
        yield made


def check_up(bench: wb.Bench, cell: str, place: int, *, month: int | None = None, degrees: float = np.nan) -> None:
    """A check-up, each with 5 % less than the one before."""
    if not place:
        bench.instances.create(name=cell, specification="Cell")
    frame = cycled(0.0, 1)
    frame["Time [s]"] *= 1 - 0.05 * place
    if degrees == degrees:
        frame["Temperature [degC]"] = degrees
    given = {} if month is None else {"start_time": f"2026-0{month}-01T00:00:00Z"}
    bench.measurements.create(
        name=f"{cell} {place}", instance=cell, time_series=frame, tags=["RPT"], sign="discharge", **given
    )


def drawn_of(figure: wb.Figure, cell: str) -> tuple[list[float], list[float]]:
    (one,) = [trace for trace in figure.data if trace.name == cell and trace.x[0] is not None]
    return [float(x) for x in one.x], [float(y) for y in one.y]


@pytest.mark.parametrize("dated", [None, 1])
def test_check_ups_without_dates_are_in_their_order(aged: wb.Bench, dated: int | None) -> None:
    """Also where one of them has a date: it would be alone on an axis of time, and not be the first."""
    for place in range(3):
        check_up(aged, "a", place, month=2 if place == dated else None)
    figure = aged.figure("reversible-loss")
    assert figure.layout.xaxis.title.text == "Place in the order of the tests"
    x, y = drawn_of(figure, "a")
    assert x == [0, 1, 2]
    assert y == pytest.approx([100, 95, 90], abs=0.2)
    assert "no temperature is logged" in words(figure)


def test_check_ups_without_dates_are_left_out_beside_dated_ones(aged: wb.Bench) -> None:
    for place in range(3):
        check_up(aged, "dated", place, month=place + 1, degrees=20.0 + 10 * place)
        check_up(aged, "undated", place)
    figure = aged.figure("reversible-loss")
    assert figure.layout.xaxis.title.text == "Time since the first test of the cell / d"
    assert drawn_of(figure, "dated")[0][1:] == pytest.approx([31, 59], abs=1.5)
    assert not [trace for trace in figure.data if trace.name == "undated"]
    assert "left out: undated 0, undated 1, undated 2 (time since the first test of the cell unknown)" in words(
        figure
    )
    alone = aged.figure("reversible-loss", cells=["undated"])
    assert alone.layout.xaxis.title.text == "Place in the order of the tests"
    assert "no temperature is logged" in words(alone)


def test_a_cell_without_temperatures_does_not_hide_those_of_others(aged: wb.Bench) -> None:
    for place in range(2):
        check_up(aged, "warm", place, month=place + 1, degrees=20.0 + 10 * place)
        check_up(aged, "bare", place, month=place + 1)
    assert "temperatures differ by 10.0 K, none is logged for bare" in words(aged.figure("reversible-loss"))
    warm = words(aged.figure("reversible-loss", cells=["warm"]))
    assert "temperatures differ by 10.0 K" in warm
    assert "temperature is logged" not in warm
    assert "none is logged" not in warm


def warm(bench: wb.Bench, cell: str, of_cell: dict[str, Any], **of_test: Any) -> None:
    bench.instances.create(name=cell, specification="Cell", properties=of_cell)
    given = {"name": cell, "instance": cell, "tags": ["ageing"], "sign": "discharge", **of_test}
    bench.measurements.create(time_series=cycled(0.003, 12), **given)


def test_temperatures_are_shown_in_degrees_celsius(aged: wb.Bench) -> None:
    given = {"a": (45.0, "°C"), "b": (318.15, "K"), "c": (113.0, "°F"), "d": (45.0, "degC"), "e": (572.67, "°R")}
    for cell, (value, unit) in given.items():
        warm(aged, cell, {"temperature": {"value": value, "unit": unit}})
    for entry in ("fade", "efficiency"):
        figure = aged.figure(entry)
        names = {trace.name for trace in figure.data if trace.name}
        assert {name for name in names if "°C" in name} == {f"{cell}, 45 °C" for cell in "abcd"}
        assert "temperature unknown, since its unit is: °R" in words(figure)
    groups = [trace.name for trace in aged.figure("end-of-life", color="temperature").data]
    assert {"45 °C", "temperature unknown"} <= set(groups)
    assert "°R" in words(aged.figure("outliers"))


def test_temperatures_of_tests_have_units_too(aged: wb.Bench) -> None:
    for cell, value, unit in (("a", 298.15, "kelvin"), ("b", 77.0, "degF"), ("c", 25.0, "")):
        warm(aged, cell, {}, properties={"temperature": {"value": value, **({"unit": unit} if unit else {})}})
    assert {trace.name for trace in aged.figure("fade").data if trace.name} >= {f"{cell}, 25 °C" for cell in "abc"}


def test_the_number_of_a_sensor_is_no_temperature(aged: wb.Bench) -> None:
    for cell in "abc":
        warm(aged, cell, {}, test_setup={"Mapped_Aux_Temperature_Number": 1, "temperature_sensors": 2})
    assert {trace.name for trace in aged.figure("fade").data if trace.name} >= {"a", "b", "c"}
    warm(aged, "d", {}, test_setup={"Mapped_Aux_Temperature_Number": 1, "ambient_temperature": 43})
    assert "d, 43 °C" in {trace.name for trace in aged.figure("fade").data if trace.name}


@pytest.mark.parametrize(
    "unit",
    [
        "degC",
        "°C",
        "C",
        "℃",
        "?C",
        "\ufffdC",
        "ï¿½C",
        "Â°C",
        "deg C",
        "celsius",
        "degree_celsius",
        "Celsius",
        "",
        "º C",
    ],
)
def test_all_spellings_of_degrees_celsius(unit: str) -> None:
    rows = pd.DataFrame({"properties.temperature.value": [45], "properties.temperature.unit": [unit]})
    assert degrees_of(rows).tolist() == [45]


@pytest.mark.parametrize(("unit", "value"), [("K", 318.15), ("kelvin", 318.15), ("Kelvin", 318.15), ("F", 113)])
def test_spellings_of_other_temperatures(unit: str, value: float) -> None:
    rows = pd.DataFrame({"properties.temperature.value": [value], "properties.temperature.unit": [unit]})
    assert degrees_of(rows).tolist() == pytest.approx([45])


@pytest.mark.parametrize("entry", ["fade", "efficiency", "end-of-life", "outliers"])
def test_a_whole_number_that_a_cell_lacks(aged: wb.Bench, entry: str) -> None:
    warm(aged, "a", {})
    warm(aged, "b", {"temperature": {"value": 25, "unit": "degC"}, "mass": {"value": 45, "unit": "g"}})
    assert aged.figure(entry).data


def test_a_rated_capacity_is_read_in_all_units_that_the_engine_knows() -> None:
    values = [2.0, 2000.0, 2000, 7200.0, 7200.0, 2e6, 2e6, 2e6, 0.002, 2.0]
    units = ["A.h", "mA h", "mA·h", "C", "A.s", "µA.h", "\N{GREEK SMALL LETTER MU}Ah", "uAh", "kA-h", "Ah"]
    known = {spelling for unit in units if (spelling := "".join(c for c in unit.lower() if c.isalpha()))}
    assert {one.replace("\N{GREEK SMALL LETTER MU}", "µ") for one in known} == set(_CHARGES)
    rows = pd.DataFrame({"ratings.capacity.value": values, "ratings.capacity.unit": units})
    assert rated_of(rows).tolist() == pytest.approx([2.0] * len(units))
    assert rated_of(rows).tolist() == [
        pytest.approx(in_ampere_hours(value, unit)) for value, unit in zip(values, units, strict=True)
    ]
    whole = pd.DataFrame(
        {"ratings.capacity.value": pd.array([2, None], "Int64"), "ratings.capacity.unit": ["Ah", None]}
    )
    assert np.isnan(rated_of(whole)[1])


@pytest.mark.parametrize("unit", ["mA h", "mA·h"])
def test_equivalent_full_cycles_in_any_unit_of_the_rating(tmp_path: Path, unit: str) -> None:
    with wb.open(tmp_path / "rated.db") as bench:
        for name, capacity in (("a", {"value": 3.0, "unit": "A.h"}), ("b", {"value": 3000.0, "unit": unit})):
            bench.specifications.create(name=name, ratings={"capacity": capacity, **LIMITS})
            bench.instances.create(name=name, specification=name)
            bench.measurements.create(
                name=name, instance=name, time_series=cycled(0.003, 12), tags=["ageing"], sign="discharge"
            )
        figure = bench.figure("fade", over="throughput", group="cells")
        ends = [trace.x[-1] for trace in figure.data if trace.name in ("a", "b")]
        assert ends[0] == pytest.approx(ends[1])
        assert "rating unknown" not in words(figure)
        bench.specifications.update("b", ratings={"capacity": {"value": 10.0, "unit": "W.h"}, **LIMITS})
        said = words(bench.figure("fade", over="throughput", group="cells"))
        assert "rating unknown, a full cycle is of the largest capacity: b" in said


def test_of_several_properties_the_figure_says_which_is_taken(aged: wb.Bench) -> None:
    grams = {"anode_active_mass": {"value": 8.0, "unit": "g"}, "cathode_active_mass": {"value": 12.0, "unit": "g"}}
    formed = {"formation_temperature": {"value": 30.0, "unit": "degC"}}
    warm(aged, "a", formed | grams)
    assert "property" not in words(aged.figure("fade"))
    assert "referred to the property 'anode active mass'" in words(aged.figure("fade", relative="value", per="g"))
    warm(aged, "b", formed | {"temperature": {"value": 45, "unit": "degC"}})
    figure = aged.figure("fade")
    assert "b, 45 °C" in {trace.name for trace in figure.data}
    assert "property" not in words(figure)  # no other name says it better


@pytest.mark.parametrize("group", ["batch", "range"])
def test_the_mean_of_a_batch_ends_with_its_first_cell(aged: wb.Bench, group: str) -> None:
    aged.batches.create(name="B", specification="Cell")
    for name, cycles, fade in (("slow", 22, 0.002), ("middle", 22, 0.003), ("fast", 10, 0.012)):
        aged.instances.create(name=name, specification="Cell", batch="B")
        aged.measurements.create(
            name=name, instance=name, time_series=cycled(fade, cycles), tags=["ageing"], sign="discharge"
        )
    figure = aged.figure("fade", group=group)
    (mean,) = [trace for trace in figure.data if trace.name == "B (n = 3)" and trace.showlegend is not False]
    assert max(mean.x) == 9
    assert set(np.asarray(mean.customdata)[:, 1]) == {3}
    assert np.all(np.diff(np.asarray(mean.y, float)) < 0)
    assert "the mean ends with the first cell of its group that ends" in words(figure)
    assert max(max(trace.x) for trace in figure.data if len(trace.x)) == 21
    alike = words(aged.figure("fade", group=group, cells=["slow", "middle"]))
    assert "the mean ends" not in alike


def test_masses_and_areas_are_read_in_the_units_that_people_write(tmp_path: Path) -> None:
    """Of an area in 'cm²' the figure said that no area is known; a mass of 0 made capacities infinite."""
    areas = {
        "a": (10.0, "cm²"),
        "b": (0.001, "m ^2"),
        "c": (10.0, "cm**2"),
        "d": (0.0, "cm2"),
        "e": (10.0, "acre"),
    }
    with wb.open(tmp_path / "lab.db") as bench:
        bench.specifications.create(name="S", ratings={"capacity": {"value": 2.0, "unit": "A.h"}, **LIMITS})
        for number, (name, (value, unit)) in enumerate(areas.items()):
            given = {"electrode_area": {"value": value, "unit": unit}}
            bench.instances.create(name=name, specification="S", properties=given)
            capacity = 2 - (0.004 + number / 1e4) * np.arange(25)
            frame = pd.DataFrame({"Cycle": range(25), "Discharge capacity [A.h]": capacity})
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
            bench.ingest(tmp_path / f"{name}.csv", instance=name, specification="S")
        figure = bench.figure("fade", relative="value", per="cm2", group="cells")
        firsts = {trace.name: trace.y[0] for trace in figure.data if trace.name}
        assert firsts == dict.fromkeys("abc", pytest.approx(200.0))
        assert "without d, e: mass or area unknown" in words(figure)
