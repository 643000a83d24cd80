"""What is chosen and not drawn is named, and each curve has a name of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from support.cells_that_fade import samples

import workbench as wb
from workbench.gallery.script_parts import name_ends, not_drawn

LIMITS = {"voltage_min": {"value": 3.0, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
PULSED = 0.05
"""Ohm."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        made.specifications.create(name="cell", ratings={"capacity": {"value": 1.0, "unit": "A.h"}, **LIMITS})
        for number in range(2):
            made.instances.create(name=f"C{number}", specification="cell")
        yield made


def add(bench: wb.Bench, test: str, cell: str, frame: pd.DataFrame, *tags: str, began: str = "") -> None:
    fields = {"start_time": began} if began else {}
    bench.measurements.create(
        name=test, instance=cell, time_series=frame, tags=[*tags], sign="discharge", **fields
    )


def words(figure: go.Figure) -> str:
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)


def resting(hours: float = 1.0) -> pd.DataFrame:
    time = np.arange(0.0, 3600 * hours, 60.0)
    return pd.DataFrame(
        {"Time [s]": time, "Current [A]": 0 * time, "Voltage [V]": 3.6 + 0 * time, "Cycle count": 0}
    )


def pulses(celsius: float) -> pd.DataFrame:
    """From full to empty at 1 A in five parts, each after a rest and a pulse of 10 s."""
    rows: list[tuple[float, float, float]] = []
    now, passed = 0.0, 0.0
    for amperes, seconds, every in [
        (0.0, 600.0, 60.0),
        (1.0, 10.0, 1.0),
        (0.0, 60.0, 10.0),
        (1.0, 700.0, 70.0),
    ] * 5:
        for at in np.append(np.arange(0.1 if amperes else every, seconds - 0.5, every), seconds):
            rows.append((now + at, amperes, 4.1 - (passed + amperes * at / 3600) - amperes * PULSED))
        now, passed = now + seconds, passed + amperes * seconds / 3600
    frame = pd.DataFrame(rows, columns=["Time [s]", "Current [A]", "Voltage [V]"])
    frame["Time [s]"] -= frame["Time [s]"].iloc[0]
    frame["Step count"] = (frame["Current [A]"].diff().fillna(0) != 0).cumsum()
    return frame.assign(**{"Temperature [degC]": celsius, "Cycle count": 0})


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("fade", "no complete cycle"),
        ("efficiency", "no complete cycle with an efficiency"),
        ("outliers", "no complete cycle"),
    ],
)
def test_a_chosen_cell_that_has_nothing_to_draw_is_named(bench: wb.Bench, entry: str, why: str) -> None:
    add(bench, "whole", "C0", samples(0, 0, 12), "ageing")
    add(bench, "still", "C1", resting(), "ageing")
    assert f"left out: still ({why})" in words(bench.figure(entry))
    assert "still" not in words(bench.figure(entry, cells=["C0"]))


def test_names_of_tests_that_are_not_drawn() -> None:
    tests = pd.DataFrame(
        {"id": list("abcdef"), "name": ["t", "t", "u", "v", "w", "x"], "instance_name": list("ABCDEF")}
    )
    assert not_drawn(tests, list("abcdef"), "why") == ""
    assert not_drawn(tests, ["c"], "no pulse") == "left out: A, t, B, t, v, w and 1 more (no pulse)"


def test_a_test_without_a_curve_is_named(bench: wb.Bench) -> None:
    share = np.linspace(0, 1, 60)
    volts, amperes = np.append(3 + 1.2 * share, 4.2 - 1.2 * share), np.repeat([-0.05, 0.05], 60)
    both = pd.DataFrame({"Time [s]": 1200.0 * np.arange(120), "Current [A]": amperes, "Voltage [V]": volts})
    both["Cycle count"] = 0
    add(bench, "both", "C0", both, "rpt")
    add(bench, "charge", "C1", both.iloc[:60], "rpt")
    figure = bench.figure("dq-dv", tests=["both", "charge"], direction="discharge")
    assert "left out: charge (no whole discharge)" in words(figure)
    steps = bench.figure("capacity-by-step", tests=["both", "charge"], direction="discharge")
    assert "left out: charge (no discharge)" in words(steps)


def test_curves_of_two_tests_of_a_cell_have_names_of_their_own(bench: wb.Bench) -> None:
    """Both were "cycle 1, C0", and the legend had one."""
    add(bench, "first", "C0", samples(0, 0, 12), "ageing")
    add(bench, "second", "C0", samples(0, 12, 18), "ageing")
    add(bench, "other", "C1", samples(1, 0, 12), "ageing")
    chosen = {"tests": ["first", "second", "other"], "early": 1, "middle": 5, "late": 10, "direction": "charge"}
    figure = bench.figure("voltage-curves", **chosen)
    assert [trace.name for trace in figure.data] == [
        *(f"cycle {cycle}, C0, first" for cycle in (1, 5, 10)),
        *(f"cycle {cycle}, C0, second" for cycle in (1, 5)),
        *(f"cycle {cycle}, C1" for cycle in (1, 5, 10)),
    ]
    assert all(trace.showlegend for trace in figure.data)
    assert "no curve of cycle 10: C0, second" in words(figure)
    same = bench.figure("voltage-curves", **{**chosen, "tests": ["first"], "middle": 1, "late": 1})
    assert [trace.name for trace in same.data] == ["cycle 1"]


def test_curves_of_more_tests_than_dashes_differ(bench: wb.Bench) -> None:
    names = [f"t{number}" for number in range(6)]
    for number, name in enumerate(names):
        add(bench, name, f"C{number % 2}", samples(number, 0, 12), "ageing")
    figure = bench.figure("voltage-curves", tests=names, direction="charge", early=1, middle=5, late=10)
    assert len({(trace.line.color, trace.line.dash) for trace in figure.data}) == len(figure.data) == 18
    assert "t0, t1, t2, t3 and 2 more" in words(figure)
    assert not figure.layout.showlegend, "more names than a legend holds are beside the curves"


def test_a_span_without_samples_is_not_a_test_without_time(bench: wb.Bench) -> None:
    add(bench, "t", "C0", samples(0, 0, 2))
    said = words(bench.figure("test-timeline", start=1e7))
    assert said == "The test 't' has no sample from 1e+07 s to its end. Choose other times."


def test_the_current_of_a_timeline_has_the_unit_of_its_axis(bench: wb.Bench) -> None:
    """The curve of a current in mA was called "Current [A]" in the tables."""
    add(bench, "t", "C0", samples(0, 0, 2, amperes=0.01))
    figure = bench.figure("test-timeline")
    assert figure.layout.yaxis2.title.text == "Current / mA"
    assert {"Voltage", "Current"} <= set(figure.tidy()["Series"])
    assert "[A]" not in str(set(figure.tidy()["Series"]))


def test_pulses_at_unlike_temperatures_are_said(bench: wb.Bench) -> None:
    """A resistance that halves between 25 and 45 °C was drawn as if the cell had changed."""
    for number, celsius in enumerate((25.0, 45.0)):
        add(bench, f"h{number}", "C0", pulses(celsius), "hppc", began=f"2024-0{number + 1}-01T00:00:00Z")
    assert "pulses at temperatures up to 20 K apart: C0" in words(bench.figure("resistance-growth"))
    assert "pulses at 25 to 45 °C" in words(bench.figure("dcir"))
    assert "°C" not in words(bench.figure("dcir", tests=["h0"]))
    add(bench, "still", "C1", resting(), "hppc")
    assert "left out: still (no pulse of 10 s after a rest)" in words(bench.figure("dcir"))


def test_each_of_many_curves_on_a_logarithmic_axis_has_its_name_at_its_end() -> None:
    figure = go.Figure([go.Scatter(x=[1, 10, 100], y=[1, 10, 100 + k], name=f"n{k}") for k in range(20)])
    figure.update_xaxes(type="log").update_yaxes(type="log")
    assert name_ends(figure) == ""
    assert {one.x for one in figure.layout.annotations} == {2.0}
    assert not figure.layout.showlegend


def spectrum(cycle: int, points: int = 31, slowest: float = -2) -> pd.DataFrame:
    """Two arcs, the second with its own width at each cycle."""
    frequency = np.logspace(4, slowest, points)
    turn = 2j * np.pi * frequency
    z = 0.01 + 0.015 / (1 + turn * 1.5e-4) + (0.02 + 0.01 * cycle) / (1 + turn * 0.6)
    frame = {"Time [s]": 1000.0 * cycle + np.arange(points), "Current [A]": 0.0, "Voltage [V]": 3.6 - 0.1 * cycle}
    frame |= {"Frequency [Hz]": frequency, "Z_Re [Ohm]": z.real, "Z_Im [Ohm]": z.imag, "Cycle count": cycle}
    return pd.DataFrame(frame).assign(**{"Step count": cycle})


def test_spectra_that_are_not_drawn_are_said(bench: wb.Bench) -> None:
    """Of three spectra of a test the middle one was drawn without a word, and a test of four points was not."""
    for number in range(2):
        frame = pd.concat([spectrum(cycle) for cycle in range(3)], ignore_index=True)
        add(bench, f"e{number}", "C0", frame, "eis")
    add(bench, "few", "C1", spectrum(0, points=4), "eis")
    said = words(bench.figure("bode", tests=["e0", "few"]))
    assert "of each test the spectrum in the middle" in said
    assert "left out: few (no spectrum of five points or more)" in said
    assert "in the middle" not in words(bench.figure("bode", tests=["e0", "e1"], spectra="all"))
    bench.analyse("drt", "e0")
    assert "of each test the spectrum in the middle" in words(bench.figure("drt"))


def test_a_resistance_that_no_spectrum_knows_is_said(bench: wb.Bench) -> None:
    """The circuit has a diffusion that the spectrum of two arcs does not show: the bars were said to be whole."""
    add(bench, "e", "C0", spectrum(0), "eis")
    bench.analyse("circuit", "e")
    figure = bench.figure("circuit")
    assert "-Wo1" in words(figure)
    assert not any("Wo1" in str(trace.name) for trace in figure.data)
    assert "not known of any spectrum: Wo1 R" in words(figure)


def peaked(scale: float) -> pd.DataFrame:
    """A slow charge and discharge with two peaks of dQ/dV."""
    volts = np.linspace(3.0, 4.2, 400)
    charge = 0.3 * (volts - 3) + sum(0.3 / (1 + np.exp(-(volts - at) / 0.02)) for at in (3.4, 3.8))
    even = np.linspace(charge[0], charge[-1], 300)
    up = np.interp(even, charge, volts)
    step = (even[1] - even[0]) * scale / 0.05 * 3600
    amperes, both = np.repeat([-0.05, 0.05], 300), np.append(up, up[::-1] - 0.01)
    frame = {"Time [s]": step * np.arange(600), "Current [A]": amperes, "Voltage [V]": both}
    return pd.DataFrame(frame).assign(**{"Cycle count": 0, "Step count": np.repeat([0, 1], 300)})


def test_a_line_of_peaks_is_of_one_cell(bench: wb.Bench) -> None:
    """It went from the peak of one cell to that of another and back."""
    for number in range(4):
        began = f"2024-0{number + 1}-01T00:00:00Z"
        add(bench, f"r{number}", f"C{number % 2}", peaked(1 - 0.1 * number), "rpt", began=began)
    bench.analyse("ic_peaks")
    lines = [trace for trace in bench.figure("ic-peaks", cells=["C0"]).data if trace.mode == "lines"]
    assert len(lines) == 2
    both = bench.figure("ic-peaks", cells=["C0", "C1"])
    assert not [trace for trace in both.data if trace.mode == "lines"]
    assert len([trace for trace in both.data if trace.name]) == 4


def test_each_curve_of_a_pseudo_ocv_has_a_name(bench: wb.Bench) -> None:
    """Those of the hysteresis had none, and stayed where a test was switched off in the legend."""
    for number in range(2):
        add(bench, f"r{number}", "C0", peaked(1 - 0.1 * number), "rpt", began=f"2024-0{number + 1}-01T00:00:00Z")
    bench.analyse("pseudo_ocv")
    figure = bench.figure("pseudo-ocv", tests=["r0", "r1"])
    assert [trace.name for trace in figure.data if trace.yaxis == "y2"] == ["r0, hysteresis", "r1, hysteresis"]
    assert len({trace.legendgroup for trace in figure.data}) == 2
    assert set(figure.tidy()["Series"]) == {
        f"r{number}, {what}" for number in (0, 1) for what in ("mean", "charge", "discharge", "hysteresis")
    }


def test_the_table_says_of_which_cell_each_curve_of_a_batch_is(bench: wb.Bench) -> None:
    for number in range(2):
        add(bench, f"t{number}", f"C{number}", samples(number, 0, 12), "ageing")
    table = bench.figure("fade", group="cells").tidy()
    assert table.groupby("Curve")["Cell"].first().tolist() == ["C0", "C1"]
    table = bench.figure("efficiency").tidy()
    assert set(table["Cell"]) == {"C0", "C1"}


def test_names_beside_curves_keep_inside_the_figure() -> None:
    """The range was that of the curves in the legend: where each was one point, names were far above the plot."""
    figure = go.Figure([go.Scatter(x=[100], y=[4.1], name=f"n{number}") for number in range(20)])
    figure.add_scatter(x=[0, 90], y=[3.0, 4.0], showlegend=False)
    name_ends(figure)
    plot = figure.layout.height - 150
    at = 0.06 + (4.1 - 3.0) / 1.1  # of the height that a range with 6 % of room at both ends has
    highest = max(plot * at / 1.12 - one.ay for one in figure.layout.annotations)
    assert highest <= plot
