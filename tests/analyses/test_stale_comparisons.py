"""A comparison of cells does not hold once it would read other tests: older ones that grew or got a tag, or one of so
many that no record names them all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.small_ageing_test import CYCLES, small_test

import workbench as wb

CELLS = 6
SCRIPT = "def transform(data, params):\n    return {'data': [], 'layout': {}}\n"


def add(bench: wb.Bench, number: int, cycles: int = CYCLES) -> None:
    frame = small_test(number)
    frame = frame[frame["Cycle count"] < cycles]
    cell = bench.instances.create(name=f"C{number}", specification="S")
    bench.measurements.create(name=f"T{number}", instance=cell, time_series=frame, sign="discharge")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    """Six cells, each with an ageing test."""
    ratings = {"capacity": {"value": 1.0, "unit": "A.h"}, "voltage_min": {"value": 3.0, "unit": "V"}}
    with wb.open(tmp_path / "lab.db") as opened:
        opened.specifications.create(name="S", ratings={**ratings, "voltage_max": {"value": 4.2, "unit": "V"}})
        for number in range(CELLS):
            add(opened, number)
        yield opened


def named(*numbers: int) -> list[str]:
    return [f"T{number}" for number in numbers]


def are_stale(bench: wb.Bench, *of: str) -> bool:
    """Whether a list of the comparisons, or of those of some tests, is said to be stale."""
    ids = [bench.measurements.get(name).id for name in of]
    where = {"analysisType": "outliers", **({"measurementIds": ids} if of else {})}
    kept = {"op": "list", "source": "analyses", "fields": ["name"], "where": where}
    figure = bench.backend.figure({"plan": {"steps": {"kept": kept}}, "transform": SCRIPT}, {})
    return any(one["code"] == "analysis_stale" for one in figure.warnings)


def owners(bench: wb.Bench) -> set[str]:
    return set(bench.analyses.list(analysis_type="outliers")["measurement_name"])


def test_a_cell_that_is_not_compared_says_why(bench: wb.Bench) -> None:
    """Its record had no rows, and said that."""
    add(bench, 9, cycles=CYCLES // 2 - 1)
    bench.measurements.update("T9", tags=["ageing"])
    said = bench.analyse("outliers")
    assert list(said.invalid.values()) == [
        "its test is too short: it has less than half of the cycles that its group has in the middle"
    ]


def test_a_test_that_grows_into_the_comparison(bench: wb.Bench) -> None:
    add(bench, 9, cycles=3)  # it is still running
    bench.analyse("outliers")
    assert "T9" not in owners(bench)
    assert not are_stale(bench)
    frame = small_test(9)
    bench.measurements.extend("T9", frame[frame["Cycle count"] >= 3])
    assert bench.analyse("outliers", check=True).stale
    assert are_stale(bench)
    bench.analyse("outliers")
    assert not are_stale(bench)
    assert "T9" in owners(bench)


def test_a_test_that_a_tag_takes_out_of_the_comparison(bench: wb.Bench) -> None:
    bench.analyse("outliers")
    bench.measurements.update("T3", notes="the door was open")
    assert not are_stale(bench)
    bench.measurements.update("T3", tags=["rpt"])
    assert bench.analyse("outliers", check=True).stale
    assert are_stale(bench)
    bench.analyse("outliers")
    assert owners(bench) == {*named(0, 1, 2, 4, 5)}
    assert not are_stale(bench)
    bench.measurements.update("T3", tags=[])
    assert are_stale(bench)


def test_a_tag_also_of_a_test_that_was_named_and_has_no_record_of_its_kind(bench: wb.Bench) -> None:
    bench.analyse("outliers", named(0, 1, 2, 3))
    bench.measurements.update("T3", tags=["rpt"])
    assert are_stale(bench)


@pytest.mark.parametrize("recorded", [False, True])
def test_tests_that_were_left_out_on_purpose_may_change(bench: wb.Bench, recorded: bool) -> None:
    add(bench, 9, cycles=11)
    if recorded:
        bench.analyse("kinds")
    bench.analyse("outliers", named(0, 1, 2, 3))
    bench.measurements.update("T4", notes="the door was open")
    frame = small_test(9)
    bench.measurements.extend("T9", frame[frame["Cycle count"] >= 11])
    assert not are_stale(bench)


@pytest.mark.parametrize("recorded", [False, True])
def test_tests_of_another_kind_that_were_named_may_change(bench: wb.Bench, recorded: bool) -> None:
    for name in named(0, 1, 2, 3):
        bench.measurements.update(name, tags=["drive"])
    if recorded:
        bench.analyse("kinds")
    bench.analyse("outliers", named(0, 1, 2, 3, 4))
    bench.measurements.update("T4", notes="the door was open")
    assert not are_stale(bench)
    if recorded:
        bench.measurements.update("T0", notes="the door was open")
        assert not are_stale(bench)


def test_a_comparison_of_more_tests_than_a_record_names(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.analyses.computing.MOST_NAMED", 3)
    bench.exclude(
        "T5", reason="another chamber"
    )  # it has no data to read, and is known to the records all the same
    bench.analyse("outliers")
    known = bench.analyses.get(bench.analyses.list(analysis_type="outliers")["id"].iloc[0]).metadata["workbench"]
    assert known["others"]["tests"] == 4
    assert known["others"]["chosen"] == CELLS
    assert not are_stale(bench)
    bench.exclude("T3", cycles=[5], reason="power cut")
    assert bench.analyse("outliers", check=True).stale
    assert are_stale(bench, "T0")
    bench.analyse("outliers")
    assert not are_stale(bench)
    add(bench, 7)
    assert are_stale(bench, "T0")
    bench.analyse("outliers")
    bench.measurements.delete("T2")
    assert are_stale(bench, "T0")


def test_many_tests_of_which_some_are_compared_again(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.analyse("outliers")
    monkeypatch.setattr("workbench.analyses.computing.MOST_NAMED", 3)
    bench.exclude("T3", cycles=[5], reason="power cut")
    bench.analyse("outliers")
    bench.analyse("outliers", named(0, 1))
    assert not are_stale(bench)
    bench.exclude("T0", cycles=[7], reason="power cut")
    assert are_stale(bench, "T5")
