"""Files of one's own, without any labels: the gallery's numbers are right, and what it leaves out is in the figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.gallery.script_parts import first_in_life

CYCLES, ROWS, CURRENT, STEP = 12, 300, 2.0, 12.0
CHARGE = CURRENT * ROWS * STEP / 3600
"""A.h of a half cycle."""


def ageing(noise: float = 0.0) -> pd.DataFrame:
    """Cycles of a discharge, a rest, a charge with a tail at constant voltage, and a rest. ``noise``, A, is the offset
    at rest, with 1.5 times as much noise."""
    luck = np.random.default_rng(3)
    share = np.linspace(0, 1, ROWS)
    curve = 3.0 + 1.1 * share + 0.03 * np.sin(6 * np.pi * share)
    tail = CURRENT * np.exp(-np.arange(60) / 15)
    current, voltage = [], []
    for _ in range(CYCLES):
        still = luck.normal(noise, 1.5 * noise, 2 * 40)
        current += [np.full(ROWS, CURRENT), still[:40], np.full(ROWS, -CURRENT), -tail, still[40:]]
        voltage += [
            curve[::-1] - 0.05,
            np.linspace(3.0, 3.05, 40),
            curve + 0.05,
            np.full(60, 4.15),
            np.full(40, 4.1),
        ]
    amps, volts = np.concatenate(current), np.concatenate(voltage)
    return pd.DataFrame({"Time [s]": STEP * np.arange(len(amps)), "Current [A]": amps, "Voltage [V]": volts})


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    folder = tmp_path_factory.mktemp("own")
    ageing().to_csv(folder / "quiet.csv", index=False)
    ageing(0.002).to_csv(folder / "noisy.csv", index=False)
    with wb.open(folder / "lab.db") as made:
        for name in ("quiet", "noisy"):
            made.ingest(folder / f"{name}.csv", specification="Cell", rating="2Ah,3.0V,4.15V", sign="discharge")
        yield made


def words(figure: wb.Figure) -> str:
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)


def kinds(bench: wb.Bench, name: str) -> set[str]:
    found = bench.kinds()
    return set(found.loc[found["measurement_name"] == name, "kind"])


def test_noise_and_an_offset_at_rest_change_no_kind_and_no_cycle(bench: wb.Bench) -> None:
    assert kinds(bench, "noisy") == kinds(bench, "quiet") == {"ageing"}
    figure = bench.figure("fade", group="cells")
    assert {len(trace.x) for trace in figure.data} == {CYCLES}
    assert "left out" not in words(figure)
    assert "open marks" not in words(figure)


@pytest.mark.parametrize("direction", ["charge", "discharge"])
def test_dqdv_of_an_ageing_test_has_the_area_of_its_charge(bench: wb.Bench, direction: str) -> None:
    """The test has more samples than a plan reads: thinned, its curves were combs of a sixteenth of the charge."""
    figure = bench.figure("dq-dv", direction=direction, tests=["quiet"])
    curves = [trace for trace in figure.data if trace.name]
    assert [trace.name for trace in curves] == ["quiet, cycle 1", f"quiet, cycle {CYCLES - 2}"]
    for trace in curves:
        assert abs(np.trapezoid(trace.y, trace.x)) == pytest.approx(CHARGE, rel=0.03)
        assert max(trace.y) < 3 * CHARGE / 1.1  # no spike of a constant voltage
    assert not figure.workbench.warnings


@pytest.mark.parametrize("entry", ["dq-dv", "ic-peaks"])
def test_a_test_that_only_discharges_is_sent_to_the_other_direction(tmp_path: Path, entry: str) -> None:
    """Of a test that has a discharge alone the recipe said to choose others, though it can draw this one."""
    share = np.linspace(0, 1, 400)
    columns = {
        "Time [s]": 72000 * share,
        "Current [A]": 0.1 + 0 * share,
        "Voltage [V]": 4.1 - share + 0.02 * np.sin(9 * share),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "slow.csv", index=False)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path / "slow.csv", specification="Cell", rating="2Ah,3.0V,4.15V", sign="discharge")
        bench.analyse("ic_peaks", "slow")
        assert "or the other direction" in words(bench.figure(entry, direction="charge"))
        assert bench.figure(entry, direction="discharge").data


def test_dqdv_keeps_the_height_of_a_sharp_peak_or_says_that_it_does_not(tmp_path: Path) -> None:
    """A plateau of 2 mV in a charge at C/20: the window of 20 mV drew half of its height, and said nothing."""
    volts = np.linspace(3.0, 3.9, 200_001)
    charge = 0.2 * (volts - 3) + 1.8 / (1 + np.exp(-(volts - 3.4) / 0.002))
    even = np.linspace(charge[0], charge[-1], 4000)
    up = np.interp(even, charge, volts)
    amps = np.concatenate([np.full(4000, -0.1), np.zeros(50), np.full(4000, 0.1)])
    time = np.cumsum(np.full(len(amps), (even[1] - even[0]) / 0.1 * 3600))
    frame = pd.DataFrame({"Time [s]": time, "Current [A]": amps})
    frame["Voltage [V]"] = np.concatenate([up, np.full(50, up[-1]), up[::-1]])
    frame.to_csv(tmp_path / "slow.csv", index=False)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path / "slow.csv", specification="Cell", rating="2Ah,3.0V,3.9V", sign="discharge")
        exact = 0.2 + 1.8 / (4 * 0.002)
        drawn = bench.figure("dq-dv")
        assert max(drawn.data[0].y) == pytest.approx(exact, rel=0.05)
        assert "window 3 mV" in words(drawn)
        assert "lowers" not in words(drawn)
        given = bench.figure("dq-dv", smooth=20)
        assert max(given.data[0].y) < 0.52 * exact
        assert "window 20 mV; the window lowers the sharpest peak by about" in words(given)


def test_a_table_of_cycles_is_an_ageing_test(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        for number, (cell, slope) in enumerate(zip("ABCDEFG", (4, 4, 4, 4, 4, 4, 15), strict=True)):
            capacity = (2 + number / 100) * (1 - slope / 2000 * np.arange(25))
            fade = pd.DataFrame({"Cycle": range(25), "Discharge capacity [A.h]": capacity})
            fade.to_csv(tmp_path / f"{cell}.csv", index=False)
            bench.ingest(tmp_path / f"{cell}.csv", specification="Cell", rating="2Ah,3V,4.2V")
        found = bench.kinds()
        assert set(found["kind"]) == {"ageing"}
        bench.analyse("kinds")
        assert bench.kinds().equals(found)
        assert len([trace for trace in bench.figure("fade", group="cells").data if len(trace.x) > 20]) == 7
        assert "outliers (|z| > 3.5): G" in words(bench.figure("outliers", group="all"))


def test_a_first_cycle_that_is_hardly_one_is_left_out_with_its_test(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        for cell, first in (("A", 2.0), ("B", 0.1)):
            capacity = [first, *(2 - 0.004 * np.arange(24))]
            frame = pd.DataFrame(
                {"Cycle": range(25), "Discharge capacity [A.h]": capacity, "Complete": [True] * 25}
            )
            frame.to_csv(tmp_path / f"{cell}.csv", index=False)
            bench.ingest(tmp_path / f"{cell}.csv", specification="Cell", rating="2Ah,3V,4.2V")
        figure = bench.figure("fade", group="cells")
        assert max(max(trace.y) for trace in figure.data) < 105


def test_a_rate_that_is_left_out_is_said(tmp_path: Path) -> None:
    parts, time = [], 0.0
    for rate in (0.2, 0.5, 1.0, 2.0):
        for sense, low, high in ((1, 4.1, 3.0), (-1, 3.1, 4.2)):
            rows = 200
            step = 2.0 / (2.0 * rate) * 3600 / rows
            volts = np.linspace(low, high, rows)
            parts.append((time + step * np.arange(rows), np.full(rows, sense * 2.0 * rate), volts))
            time += step * rows
            parts.append((time + 30.0 * np.arange(20), np.zeros(20), np.full(20, volts[-1] + 0.02 * sense)))
            time += 600.0
    columns = (np.concatenate([part[k] for part in parts]) for k in range(3))
    frame = pd.DataFrame(dict(zip(("Time [s]", "Current [A]", "Voltage [V]"), columns, strict=True)))
    frame.to_csv(tmp_path / "rates.csv", index=False)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path / "rates.csv", specification="Cell", rating="2Ah,3.0V,4.2V", sign="discharge")
        figure = bench.figure("rate-capability")
        assert "left out: step 0 (no charge before it)" in words(figure)
        assert figure.layout.yaxis.title.text == "CC capacity / % of that at 0.5 C"


def test_values_for_a_recipe_without_data_are_answered_with_what_is_missing(tmp_path: Path) -> None:
    """A script that asks six questions goes on where the data answer five."""
    with wb.open(tmp_path / "empty.db") as bench:
        lacking = {item["name"]: item["lacking"] for item in bench.gallery().items}
        for name, missing in lacking.items():
            figure = bench.figure(name, values={"cells": ["A1"]})
            assert [warning["code"] for warning in figure.workbench.warnings] == ["needs_unmet"]
            assert missing, name
            assert missing in words(figure)
        answer = bench.export("fade", tmp_path / "fade.csv", {"group": "cells"}, tidy=True)
        assert [warning["code"] for warning in answer["warnings"]] == ["needs_unmet"]
    words_of_shell = [
        "run",
        "fade",
        "-p",
        "group=cells",
        "--store",
        str(tmp_path / "empty.db"),
        "-o",
        str(tmp_path / "a.html"),
    ]
    written = CliRunner().invoke(app, words_of_shell)
    assert written.exit_code == 0, written.output


def test_pulses_of_several_currents_are_a_line_each(tmp_path: Path) -> None:
    time, current, voltage, now = [], [], [], 0.0
    for turn in range(6):
        pulses = ((0.0, 600, 10), (1.0, 12, 1), (0.0, 600, 10), (3.0, 12, 1))
        for amps, seconds, every in (*pulses, (0.0, 60, 10), (2.0, 900, 10)):
            n = seconds // every
            time += list(now + every * np.arange(1, n + 1))
            current += [amps] * n
            voltage += [4.1 - 0.1 * turn - (0.03 if amps < 2 else 0.02) * amps] * n
            now += seconds
    frame = pd.DataFrame({"Time [s]": time, "Current [A]": current, "Voltage [V]": voltage})
    frame.to_csv(tmp_path / "pulses.csv", index=False)
    with wb.open(tmp_path / "own.db") as bench:
        bench.ingest(tmp_path / "pulses.csv", specification="Cell", rating="3Ah,2.5V,4.2V")
        drawn = bench.figure("dcir")
    lines = {
        tuple(round(current, 6) for current, *_ in trace.customdata): trace.y
        for trace in drawn.data
        if len(trace.y) > 1
    }
    assert set(lines) == {(1.0,) * 6, (3.0,) * 6}
    assert np.allclose(lines[(1.0,) * 6], 30, rtol=0.05)
    assert np.allclose(lines[(3.0,) * 6], 20, rtol=0.05)
    assert "a line for each current: pulses" in words(drawn)


def test_tables_of_cycles_are_analysed_too_and_called_by_their_cells(tmp_path: Path) -> None:
    """They have no samples, and a run left them out without a word: no knee of 18 published cells."""
    cycles = np.arange(300.0)
    bent = 1 - 1e-4 * cycles - 3e-4 * np.clip(cycles - 120, 0, None) - 8e-4 * np.clip(cycles - 210, 0, None)
    with wb.open(tmp_path / "lab.db") as bench:
        for cell in ("A", "B"):
            (tmp_path / cell).mkdir()
            fade = pd.DataFrame(
                {"Cycle": range(300), "Discharge capacity [A.h]": 2.0 * bent if cell == "A" else 2.0}
            )
            fade.to_csv(tmp_path / cell / "fade.csv", index=False)
            bench.ingest(tmp_path / cell / "fade.csv", specification="Cell", rating="2Ah,3V,4.2V", instance=cell)
        done = bench.analyse("knee")
        assert sorted(done.computed) == ["A, fade", "B, fade"]
        assert list(done.invalid) == ["B, fade"]
        assert "fell by 0 %" in done.invalid["B, fade"]
        assert words(bench.figure("knee")) == "no knee: B"
        assert bench.analyse("dcir").tests == 0
        assert {"A, fade: retention", "B, fade: retention"} <= set(bench.analyse("arrival").computed)


def test_a_life_in_two_files_is_one_course(tmp_path: Path) -> None:
    """The second file began at 100 % again."""
    with wb.open(tmp_path / "own.db") as bench:
        for number, first in enumerate((1.0, 0.8)):
            made = pd.DataFrame({"Cycle": range(15), "Discharge capacity [A.h]": 2 * first - 0.02 * np.arange(15)})
            made.to_csv(tmp_path / f"part{number}.csv", index=False)
            bench.ingest(tmp_path / f"part{number}.csv", specification="Cell", rating="2Ah,3V,4.2V", instance="A")
            bench.measurements.update(f"part{number}", start_time=f"2024-0{number + 1}-01T00:00:00Z")
        figure = bench.figure("fade", group="cells", cells=["A"])
    (course,) = [trace for trace in figure.data if trace.mode == "lines"]
    assert [course.y[place] for place in (0, 14, 15, 29)] == pytest.approx([100, 86, 80, 66])


def test_a_test_at_another_current_is_compared_with_its_own_first_cycle() -> None:
    rows = pd.DataFrame(
        {
            "measurement_id": [name for name in "abc" for _ in range(3)],
            "instance_name": ["A"] * 9,
            "Cycle count": [0, 1, 2] * 3,
            "Cycle in life": [6, 7, 8, 0, 1, 2, 3, 4, 5],
            "Discharge capacity [A.h]": [0.7, 0.6, 0.5, 1.0, 0.9, 0.8, 1.2, 1.1, 1.0],
            "Mean discharge current [A]": [2.1] * 3 + [2.0] * 3 + [0.5] * 3,
        }
    )
    first, words = first_in_life(rows)
    assert first.to_dict() == {"b": 1.0, "c": 1.2, "a": 1.0}
    assert words == "a test at another current is compared with its own first cycle: A"
    alone, nothing = first_in_life(rows[rows["measurement_id"] == "a"])
    assert alone.to_dict() == {"a": 0.7}
    assert nothing == ""


@pytest.mark.parametrize("wish", ["capacity fade", "end of life", "timeline of all tests"])
def test_a_wish_is_drawn_where_cells_have_neither_mass_nor_batch(bench: wb.Bench, wish: str) -> None:
    checked = bench.backend.propose(wish)
    assert checked.is_sound, checked.problems


@pytest.fixture(scope="module")
def unsorted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    """A cell with temperatures and without a batch."""
    folder = Path(__file__).parents[2] / "sample_data" / "neware"
    with wb.open(tmp_path_factory.mktemp("unsorted") / "lab.db") as made:
        files = [folder / f"M50-A-01_{test}.csv.gz" for test in ("RPT0", "RPT3", "ageing")]
        made.ingest(files, name_rule="{cell}_{test}")
        made.analyse("delta_q", m=10, n=5)
        yield made


@pytest.mark.parametrize("entry", ["resistance-growth", "arrhenius", "delta-q"])
def test_cells_without_a_batch_are_drawn_without_a_warning_of_pandas(unsorted: wb.Bench, entry: str) -> None:
    """The figure had `'str' is not supported as a fill value for float64 dtype` below it."""
    figure = unsorted.figure(entry, **({"threshold": 99} if entry == "delta-q" else {}))
    assert figure.data
    assert figure.workbench.log == ""
    assert any("no batch" in str(trace.name) for trace in figure.data)


def test_cells_without_a_temperature_are_compared_without_a_warning_of_pandas(bench: wb.Bench) -> None:
    figure = bench.figure("outliers", group="condition")
    assert figure.data
    assert figure.workbench.log == ""
