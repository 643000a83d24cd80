"""What the plots of the built-in author say in numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from support.cells_that_fade import CYCLES, cells, samples

import workbench as wb
from workbench.gallery.author import written
from workbench.gallery.author.recipes import cells as cells_recipe


def drawn(bench: wb.Bench, wish: str) -> wb.Figure:
    return bench.figure(written(wish, bench.backend)["draft"]["config"])


def test_a_slow_first_cycle_is_not_what_the_others_are_compared_with(tmp_path: Path) -> None:
    """A check-up at C/10 passes more than the cycles after it, which would be below 80 % of it at once."""
    with cells(tmp_path) as bench:
        slow = samples(0, 0, 1, amperes=0.1)
        slow["Time [s]"] *= 1.3
        later = samples(0, 1, CYCLES)
        later["Time [s]"] += float(slow["Time [s]"].iloc[-1]) + 10
        later["Cycle count"] += 1
        frame = pd.concat([slow, later], ignore_index=True)
        bench.measurements.create(time_series=frame, name="C0", instance="C0", tags=["ageing"], sign="discharge")
        figure = drawn(bench, "capacity fade, marked below 80 %")
        marked = {text.partition(": ")[0]: float(text.partition(": ")[2]) for trace in figure.data if trace.text
                  for text in trace.text}  # fmt: skip
        assert marked["C0"] == pytest.approx(51, abs=1.5)
        assert marked["C1"] == pytest.approx(50, abs=1.5)
        assert "at another current than most" in str(figure.layout.annotations)


def test_a_property_in_several_units_is_drawn_in_one(tmp_path: Path) -> None:
    masses = {"a": (50.0, "g"), "b": (0.05, "kg"), "c": (50000.0, "mg"), "d": (0.11, "lb"), "e": (51.0, "g")}
    with wb.open(tmp_path / "w.db") as bench:
        volts = {"voltage_min": {"value": 3.0, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
        bench.specifications.create(name="cell", ratings={"capacity": {"value": 1.0, "unit": "A.h"}, **volts})
        for name, (value, unit) in masses.items():
            mass = {"value": value, "unit": unit}
            bench.instances.create(name=name, specification="cell", properties={"mass": mass})
        figure = drawn(bench, "mass of the cells")
        assert dict(zip(figure.data[0].x, figure.data[0].y, strict=True)) == pytest.approx(
            {"a": 50, "b": 50, "c": 50, "e": 51}
        )
        assert figure.layout.yaxis.title.text == "Mass / g"
        assert "unknown or of another quantity: d" in str(figure.layout.annotations)


@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [
        ("A.h", "mAh", 1e-3),
        ("cm2", "mm^2", 0.01),
        ("mA.h/g", "A.h/kg", 1.0),
        ("mOhm", "Ω", 1e3),
        ("h", "min", 1 / 60),
        ("g", "A", None),
        ("degC", "K", None),
        ("mm", "m", 1e3),
    ],
)
def test_units_that_measure_the_same_convert(
    one: str, other: str, factor: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells_recipe, "re", re, raising=False)  # as the scripts of figures have it
    script = vars(cells_recipe)["scaled"]
    (its, size), (theirs, large) = script(one), script(other)
    assert (its == theirs) == (factor is not None)
    if factor is not None:
        assert large / size == pytest.approx(factor)


def test_cycles_that_are_left_out_since_they_are_not_complete_are_counted(tmp_path: Path) -> None:
    """Of a test with many cycles that were cut short a few were drawn, without a word on the others."""
    with cells(tmp_path) as bench:
        frame = samples(0, 0, CYCLES)
        cut = (frame["Cycle count"] % 2 == 1) & (frame["Voltage [V]"] < 3.5)
        bench.measurements.create(
            time_series=frame[~cut].reset_index(drop=True),
            name="C0",
            instance="C0",
            tags=["ageing"],
            sign="discharge",
        )
        figure = drawn(bench, "discharge capacity of C0")
        shown = sum(len(trace.x) for trace in figure.data)
        assert 0 < shown < CYCLES
        assert f"left out: {CYCLES - shown} of {CYCLES} cycles, which are not complete" in str(
            figure.layout.annotations
        )
