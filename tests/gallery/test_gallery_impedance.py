"""Figures of impedance and diffusion where tests, spectra and fits differ: each number is of its own test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gallery.test_gallery_looks import titration, words

import workbench as wb

RATINGS = {
    "capacity": {"value": 2.0, "unit": "A.h"},
    "voltage_min": {"value": 3.0, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        made.specifications.create(name="Cell", ratings=RATINGS)
        made.instances.create(name="c1", specification="Cell")
        yield made


def sweep(size: float, cycle: int, points: int = 40, arcs: int = 2) -> pd.DataFrame:
    """A spectrum of arcs in series: ``size`` Ohm, then twice and three times as much."""
    frequency = np.logspace(4, -1, points)
    omega = 2j * np.pi * frequency
    z = sum(
        ((size * (k + 1)) / (1 + omega * tau) for k, tau in zip(range(arcs), (1e-3, 0.1, 1.0), strict=False)), size
    )
    frame = {"Frequency [Hz]": frequency, "Z_Re [Ohm]": np.real(z), "Z_Im [Ohm]": np.imag(z)}
    return pd.DataFrame({**frame, "Cycle count": cycle, "Voltage [V]": 3.5 + 0.1 * cycle})


def add(bench: wb.Bench, name: str, *sweeps: pd.DataFrame) -> None:
    frame = pd.concat(sweeps, ignore_index=True)
    frame = frame.assign(**{"Time [s]": np.arange(len(frame)) * 1.0, "Current [A]": 0.0})
    frame["Step count"] = frame["Cycle count"]
    bench.measurements.create(instance="c1", name=name, time_series=frame, sign="discharge")


def lines_and_dots(figure: wb.Figure) -> tuple[list[float], list[float]]:
    """The largest real part of each line and of the dots, in the panel below."""
    below = [trace for trace in figure.data if trace.xaxis == "x2"]
    largest = [[max(trace.x) for trace in below if trace.mode == mode] for mode in ("lines", "markers")]
    return largest[0], largest[1]


@pytest.mark.parametrize("excluded", [False, True])
def test_the_dots_of_a_distribution_are_of_its_own_spectrum(bench: wb.Bench, excluded: bool) -> None:
    """A sweep of four points has a number too, and excluded cycles have none."""
    first = sweep(0.01, 0) if excluded else sweep(0.01, 0, points=4)
    add(bench, "spectra", first, sweep(0.02, 1), sweep(0.04, 2), sweep(0.08, 3))
    if excluded:
        bench.exclude("spectra", cycles=[0], reason="wrong cable")
    bench.analyse("drt", "spectra")
    lines, dots = lines_and_dots(bench.figure("drt", {"shown": "all"}))
    assert len(lines) == 3
    assert dots == pytest.approx(lines, rel=0.03)


def test_each_resistance_of_a_circuit_is_drawn(bench: wb.Bench) -> None:
    """A fit with a third arc beside one with two; the first has nothing unknown for the lack of it."""
    add(bench, "two", sweep(0.01, 0, arcs=2))
    add(bench, "three", sweep(0.01, 0, arcs=3))
    bench.analyse("circuit", "two", circuit="R0-p(R1,C1)-p(R2,C2)", starts=8)
    bench.analyse("circuit", "three", circuit="R0-p(R1,C1)-p(R2,C2)-p(R4,C4)", starts=8)
    figure = bench.figure("circuit")
    bars = {trace.name: list(trace.y) for trace in figure.data if trace.type == "bar"}
    tests = next(list(trace.x[0]) for trace in figure.data if trace.type == "bar")
    total = dict(zip(tests, np.nansum(np.array(list(bars.values()), float), axis=0), strict=True))
    assert set(bars) == {"R0", "R1", "R2", "R4"}
    assert total["three"] / total["two"] == pytest.approx(7 / 4, rel=0.02)
    assert "+ ?" not in words(figure)


def test_a_titration_without_a_radius_is_drawn_beside_one_with_it(bench: wb.Bench) -> None:
    for name in ("bare", "known"):
        bench.measurements.create(
            instance="c1", name=name, time_series=titration(), tags=["GITT"], sign="discharge"
        )
    bench.analyse("gitt", "bare")
    bench.analyse("gitt", "known", radius=5e-6)
    figure = bench.figure("gitt")
    assert {trace.name for trace in figure.data if trace.name} == {"bare", "known"}
    assert figure.layout.yaxis.title.text.startswith("Apparent D/R²")
    assert "D needs the particle radius of bare" in words(figure)


def test_spectra_without_a_voltage_are_named_by_their_number_where_a_test_has_several(bench: wb.Bench) -> None:
    bare = [sweep(0.01, cycle).drop(columns="Voltage [V]") for cycle in (0, 1)]
    add(bench, "one", bare[0])
    add(bench, "two", *bare)
    add(bench, "full", sweep(0.01, 0).assign(**{"Voltage [V]": 3.7}))
    for entry in ("kk", "drt"):
        bench.analyse(entry)
        names = {trace.name for trace in bench.figure(entry, {"shown": "all"} if entry == "drt" else {}).data}
        # The distributions are those of two tests at first.
        assert names >= {"one", "two, no. 1", "two, no. 2", *(["full, 3.70 V"] if entry == "kk" else [])}, entry


def test_a_spectrum_keeps_its_voltage_beside_a_test_that_has_none(bench: wb.Bench) -> None:
    """One test without a voltage took those of all others out of their names."""
    add(bench, "with", sweep(0.01, 0))
    add(bench, "also", sweep(0.01, 0).assign(**{"Voltage [V]": 3.6}))
    add(bench, "without", sweep(0.02, 0).drop(columns="Voltage [V]"))
    names = {trace.name for trace in bench.figure("bode").data if trace.name}
    assert names == {"with, 3.50 V", "also, 3.60 V", "without"}
    assert {trace.name for trace in bench.figure("bode", tests=["without"]).data if trace.name} == {"without"}
