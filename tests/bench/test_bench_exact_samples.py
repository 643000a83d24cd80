"""Samples that a helper needs are read exactly, or it says what is missing: on a local and on a remote bench."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest
from support.local_and_remote import Sides, sides

import workbench as wb
from workbench.transform import inprocess, protected

TEN = "Resistance at 10 s [Ohm]"
COLUMNS = ["Time [s]", "Current [A]", "Voltage [V]"]


def long_test() -> pd.DataFrame:
    """20 000 samples of discharge, then a rest, a pulse of 28 samples, and a rest."""
    parts = [(2, 20_000, 1.0, 1.0), (0, 60, 10.0, 0.0), (28, 28, 1.0, 2.0), (0, 60, 10.0, 0.0)]
    rows: list[tuple[float, float, float, int]] = []
    time = 0.0
    for step, (_, count, every, amps) in enumerate(parts):
        for number in range(count):
            resistance = 0.02 + 0.01 * (1 - np.exp(-(number + 1) * every / 8))
            rows.append((time, amps, 3.7 - amps * resistance, step))
            time += every
        time += (1.0 if parts[min(step + 1, 3)][3] else every) - every
    return pd.DataFrame(rows, columns=["Time [s]", "Current [A]", "Voltage [V]", "Step count"])


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with sides(tmp_path_factory.mktemp("exact") / "w.db") as made:
        bench = made.near
        quantity = {"value": 5.0, "unit": "A.h"}
        ratings = {"capacity": quantity, "voltage_min": quantity, "voltage_max": quantity}
        bench.specifications.create(name="S", ratings=ratings)
        bench.instances.create(specification="S", name="c")
        bench.measurements.create(instance="c", name="pulse", time_series=long_test())
        yield made


def recipe(script: str, **step: Any) -> dict[str, Any]:
    samples = {
        "op": "series",
        "source": "measurements",
        "ids": {"from": "tests", "column": "id"},
        "columns": COLUMNS,
    }
    tests = {"op": "list", "source": "measurements", "fields": ["id", "name"]}
    steps = {"tests": tests, "samples": {**samples, "x": "Time [s]", **step}}
    return {"plan": {"steps": steps}, "transform": f"from workbench import battery\n\n\n{script}"}


ALL = """
def transform(data, params):
    frame = next(iter(data["samples"].values()))
    told = frame.attrs["workbench"]
    return {"data": [], "layout": {"meta": [told["complete"], told["shown"], told["of"], len(told["source"])]}}
"""
PULSES = """
def transform(data, params):
    frame = next(iter(data["samples"].values()))
    made = battery.pulse_resistance(frame, at=[10])
    return go.Figure(go.Scatter(x=made["Time [s]"], y=made["Resistance at 10 s [Ohm]"], mode="markers"))
"""
CHARGE = """
def transform(data, params):
    frame = next(iter(data["samples"].values()))
    return go.Figure(go.Scatter(x=battery.charge_passed(frame, "discharge"), y=frame["Voltage [V]"]))
"""
WHOLE = {"x": "Step count", "window": {"min": 1, "max": 2}, "max_points": 10_000}


def drawn(bench: wb.Bench, config: dict[str, Any]) -> Any:
    return bench.figure(config).workbench


@pytest.mark.parametrize("where", ["near", "far"])
def test_a_frame_knows_how_complete_it_is(both: Sides, where: str) -> None:
    bench = getattr(both, where)
    frame = next(iter(bench.dataset(recipe(ALL)["plan"])["samples"].values()))
    told = frame.attrs["workbench"]
    assert (told["complete"], told["shown"], told["of"]) == (False, len(frame), 20_148)
    assert told["source"] == bench.measurements.get("pulse").id
    assert bench.measurements.time_series("pulse").attrs["workbench"]["complete"] is True
    assert list(bench.figure(recipe(ALL)).layout.meta)[:3] == [False, len(frame), 20_148]
    assert list(bench.figure(recipe(ALL, **WHOLE)).layout.meta)[:3] == [True, 88, 88]


@pytest.mark.parametrize("where", ["near", "far"])
def test_whole_steps_are_read_by_a_window_over_the_step_count(both: Sides, where: str) -> None:
    """28 of the 28 samples of the pulse, and all of the rest before it."""
    bench = getattr(both, where)
    config = recipe(PULSES, **{**WHOLE, "window": {"min": 2, "max": 2}})
    frame = next(iter(bench.dataset(config["plan"])["samples"].values()))
    assert frame.attrs["workbench"]["shown"] == len(frame) == 28
    figure = bench.figure(recipe(PULSES, **WHOLE))
    assert list(figure.data[0].y) == pytest.approx([0.02 + 0.01 * (1 - np.exp(-10 / 8))])
    assert figure.workbench.warnings == []
    stored = bench.measurements.steps("pulse")
    assert stored[TEN].tolist() == pytest.approx([np.nan, np.nan, figure.data[0].y[0], np.nan], nan_ok=True)
    assert stored["Onset gap [s]"].iloc[2] == 1.0


@pytest.mark.parametrize("where", ["near", "far"])
def test_pulses_of_thinned_samples_are_refused_with_a_fix_that_works(both: Sides, where: str) -> None:
    words = r"Pulses need every sample.* of its 20148 samples.*x 'Step count'"
    with pytest.raises(wb.ScriptError, match=words) as caught:
        getattr(both, where).figure(recipe(PULSES))
    assert caught.value.problems[0].ctx["text"] == "made = battery.pulse_resistance(frame, at=[10])"


@pytest.mark.parametrize("where", ["near", "far"])
def test_a_doubt_of_a_helper_is_one_warning_of_the_answer_with_the_name_of_the_test(
    both: Sides, where: str
) -> None:
    bench = getattr(both, where)
    for _ in range(2):  # drawn, and from the cache
        made = drawn(bench, recipe(CHARGE))
        (warning,) = made.warnings
        assert warning["code"] == "samples_left_out"
        assert "the frame of 'pulse' was read with" in warning["message"]
        assert "of its 20148 samples" in warning["message"]
        assert "SamplesLeftOut" in made.log
        assert "samples_left_out" not in {one.code for one in made.lint}
    assert drawn(bench, recipe(CHARGE, **WHOLE)).warnings == []


def test_the_answer_over_http_has_the_same_warning(both: Sides) -> None:
    answer = both.post("figures", {"config": recipe(CHARGE)})
    assert [one["code"] for one in answer.json()["warnings"]] == ["samples_left_out"]


def test_a_locked_process_says_the_same(both: Sides) -> None:
    answered = both.near.backend.answered(wb.Recipe(recipe(CHARGE)).config, {})
    here = inprocess.draw(recipe(CHARGE)["transform"], answered.packed, {})
    if not protected.shared().fence().holds:
        pytest.skip("scripts cannot be locked in here")
    there = protected.shared().draw(recipe(CHARGE)["transform"], answered.packed, {})
    assert there.warned == here.warned
    assert len(there.warned) == 1
    assert orjson.loads(there.figure) == orjson.loads(here.figure)
