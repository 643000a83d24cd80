"""Excluded cycles give no number in analyses of steps and of samples either, and each says what was left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench import battery
from workbench.errors import BadRequest

CYCLES, OUT = 12, "3-5, 10"
LEFT = [3, 4, 5, 10]


def ageing(pulses: bool = True) -> pd.DataFrame:
    """Cycles of 1 A.h that fade, each with a pulse after a rest of half an hour. Cycle 10 has a spoiled discharge, and
    cycle 4 a pulse of twice the resistance."""
    parts: list[tuple[float, float, float, float, int]] = []
    for cycle in range(CYCLES):
        full, ohm = 3600.0 * (1 - 0.01 * cycle), 0.06 if cycle == 4 else 0.03
        spoiled = 0.2 if cycle == 10 else 0.0
        parts += [(full, -1.0, 3.0, 4.2, cycle), (1800.0, 0.0, 4.15, 4.15, cycle)]
        if pulses:
            parts += [(10.0, 2.0, 4.15 - 2 * ohm, 4.15 - 2 * ohm, cycle), (60.0, 0.0, 4.14, 4.14, cycle)]
        parts += [(full, 1.0, 4.1 - spoiled, 3.0, cycle), (1800.0, 0.0, 3.3, 3.3, cycle)]
    each = 40
    length = np.array([part[0] for part in parts])
    begins = np.concatenate([[0.0], np.cumsum(length)[:-1]])
    # The first sample of a step comes 0.1 s after the last one of the step before it.
    shares = np.linspace(0.0, 1.0, each)
    time = (begins[:, None] + 0.1 + (length[:, None] - 0.1) * shares).ravel()
    volts = np.concatenate([part[2] + (part[3] - part[2]) * shares for part in parts])
    frame = {"Time [s]": time - time[0], "Current [A]": np.repeat([part[1] for part in parts], each)}
    frame |= {"Voltage [V]": volts, "Step count": np.repeat(np.arange(len(parts)), each)}
    return pd.DataFrame({**frame, "Cycle count": np.repeat([part[4] for part in parts], each)})


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    ratings = {"capacity": {"value": 1.0, "unit": "A.h"}, "voltage_min": {"value": 3.0, "unit": "V"}}
    ratings["voltage_max"] = {"value": 4.2, "unit": "V"}
    with wb.open(tmp_path / "w.db") as opened:
        opened.specifications.create(name="cell", ratings=ratings)
        opened.instances.create(name="C0", specification="cell")
        opened.measurements.create(time_series=ageing(), name="test", instance="C0", sign="discharge")
        yield opened


def kept(bench: wb.Bench, type: str, **parameters: Any) -> tuple[pd.DataFrame, dict[str, str]]:
    """The stored table of an analysis, and its remarks."""
    bench.analyse(type, "test", **parameters)
    (id,) = bench.analyses.list(analysis_type=type)["id"]
    told = bench.analyses.get(id).metadata["workbench"]["warnings"]
    return bench.analyses.table(id), {one["code"]: one["message"] for one in told}


BY_TIME = ("dcir", "relaxation", "ocv_from_rests", "gitt")


@pytest.mark.parametrize("type", BY_TIME)
def test_pulses_and_rests_of_excluded_cycles_are_left_out_and_the_others_are_as_they_were(
    bench: wb.Bench, type: str
) -> None:
    before, said = kept(bench, type)
    assert "excluded" not in said
    bench.exclude("test", cycles=OUT, reason="contact lost")
    after, said = kept(bench, type)
    assert said["excluded"] == f"Excluded and left out: cycles {OUT}."
    starts = ageing().groupby("Cycle count")["Time [s]"].agg(["min", "max"])
    # A pulse begins with the last sample before it, which may be of the cycle before; a rest has the time of its end.
    moment = before["Time [s]"] + (0.0 if type == "ocv_from_rests" else 1.0)
    inside = np.zeros(len(before), bool)
    for cycle in LEFT:
        low, high = starts.loc[cycle].to_numpy(float)
        inside |= ((moment >= low) & (moment <= high)).to_numpy()
    assert 0 < inside.sum() < len(before)
    # The state of charge is counted through the excluded cycles, so that it is what it was.
    same = [name for name in before if name not in ("Pulse", "Rest", "Level")]
    pd.testing.assert_frame_equal(before.loc[~inside, same].reset_index(drop=True), after[same])


def test_steps_of_excluded_cycles_are_left_out(bench: wb.Bench) -> None:
    before, _ = kept(bench, "capacity_by_step")
    bench.exclude("test", cycles=OUT, reason="contact lost")
    after, said = kept(bench, "capacity_by_step")
    assert "excluded" in said
    expected = before[~before["Cycle count"].isin(LEFT)].reset_index(drop=True)
    pd.testing.assert_frame_equal(after, expected)


def test_curves_of_excluded_cycles_are_left_out(bench: wb.Bench) -> None:
    before, _ = kept(bench, "dva_features")
    bench.exclude("test", cycles=OUT, reason="contact lost")
    after, said = kept(bench, "dva_features")
    assert "excluded" in said
    assert len(after) < len(before)
    assert set(after["Half cycle"]) < set(before["Half cycle"])


def test_an_excluded_cycle_is_not_compared_with_another(bench: wb.Bench) -> None:
    frame = ageing(pulses=False)
    bench.measurements.delete("test")
    bench.measurements.create(time_series=frame, name="test", instance="C0", sign="discharge")
    spoiled, _ = kept(bench, "delta_q", m=2, n=10)
    bench.exclude("test", cycles=OUT, reason="contact lost")
    after, said = kept(bench, "delta_q", m=2, n=10)
    assert spoiled["Cycle n"].tolist() == [10], spoiled["Warning"].tolist()
    assert after["Cycle n"].tolist() == [11]
    assert said["excluded_cycle"] == "Cycle 10 is excluded; cycle 11 is taken."
    refused = battery.delta_q(frame.assign(Excluded=frame["Cycle count"].isin(LEFT)), m=2, n=4)
    assert "cycles 4 and 5 is excluded" in str(refused["Warning"].iloc[-1])


def test_records_that_were_kept_before_are_stale_once_something_is_excluded(bench: wb.Bench) -> None:
    kept(bench, "dcir")
    assert not bench.analyse("dcir", "test", check=True).stale
    bench.exclude("test", cycles=OUT, reason="contact lost")
    assert bench.analyse("dcir", "test", check=True).stale
    kept(bench, "dcir")
    assert not bench.analyse("dcir", "test", check=True).stale


def test_without_cycles_it_is_said_that_nothing_is_left_out(bench: wb.Bench) -> None:
    bench.instances.create(name="C1", specification="cell")
    frame = ageing().drop(columns="Cycle count")
    made = bench.measurements.create(time_series=frame, name="uncounted", instance="C1", sign="discharge")
    assert "Cycle count" not in bench.measurements.time_series(made.id)
    bench.exclude("uncounted", cycles="0", reason="contact lost")
    bench.analyse("dcir", "uncounted")
    (id,) = bench.analyses.list(analysis_type="dcir")["id"]
    told = bench.analyses.get(id).metadata["workbench"]["warnings"]
    assert any("still in here" in one["message"] for one in told)


@pytest.mark.parametrize("cycles", ["900", "3, 900-950", [900]])
def test_cycles_that_the_test_does_not_have_are_refused(bench: wb.Bench, cycles: Any) -> None:
    with pytest.raises(BadRequest, match=r"has no cycles? 900.*goes from 0 to 11"):
        bench.exclude("test", cycles=cycles, reason="contact lost")
    assert bench.exclusions().empty
    bench.exclude("test", cycles="8-900", reason="contact lost")  # from the eighth on, also of what comes


def test_cycles_that_only_the_samples_have_can_be_excluded(bench: wb.Bench) -> None:
    """A discharge alone is one cycle, whatever number its samples were given."""
    samples = pd.DataFrame({"Time [s]": np.arange(9.0), "Current [A]": 1.0, "Voltage [V]": 3.4})
    samples["Cycle count"] = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    bench.instances.create(name="C1", specification="cell")
    bench.measurements.create(instance="C1", name="drive", time_series=samples, sign="discharge")
    assert bench.measurements.cycles("drive")["Cycle count"].tolist() == [0]
    with pytest.raises(BadRequest, match="has no cycle 3: its 'Cycle count' goes from 0 to 2"):
        bench.exclude("drive", cycles="1, 3", reason="contact lost")
    bench.exclude("drive", cycles="1-2", reason="contact lost")


@pytest.mark.parametrize("type", ["end_of_life", "knee", "eol_extrapolation"])
def test_cycles_that_do_not_count_are_counted(type: str) -> None:
    cycle = np.arange(120)
    frame = pd.DataFrame({"Cycle count": cycle, "Discharge capacity [A.h]": 1 - 0.0015 * cycle})
    found = getattr(battery, type)(frame.assign(Complete=~np.isin(cycle, LEFT)))
    told = {one["code"]: one["message"] for one in found.attrs["warnings"]}
    assert told["incomplete"] == "4 of 120 cycles left out: not complete, or excluded."


def test_a_formation_without_its_first_cycle_is_refused() -> None:
    steps = pd.DataFrame(
        {
            "Step count": [0, 1, 2, 3],
            "Step type": ["Constant current charge", "Constant current discharge"] * 2,
            "Duration [s]": 36000.0,
            "Mean current [A]": [-0.1, 0.1, -0.1, 0.1],
            "Discharge capacity [A.h]": [0.0, 0.9, 0.0, 0.89],
            "Charge capacity [A.h]": [1.0, 0.0, 0.9, 0.0],
            "Start voltage [V]": [3.0, 4.2, 3.0, 4.2],
            "End voltage [V]": [4.2, 3.0, 4.2, 3.0],
            "Cycle count": [0, 0, 1, 1],
        }
    )
    whole = battery.formation(steps, rated=1.0)
    assert whole["First-cycle loss [A.h]"].iloc[0] == pytest.approx(0.1)
    refused = battery.formation(steps.assign(Excluded=steps["Cycle count"] == 0), rated=1.0)
    assert not refused["Valid"].iloc[0]
    assert "excluded" in refused["Warning"].iloc[0]


def test_excluded_spectra_are_left_out() -> None:
    frequency = np.geomspace(1e4, 1e-1, 40)
    z = 0.02 + 0.03 / (1 + 2j * np.pi * frequency * 0.03)
    one = {"Frequency [Hz]": frequency, "Z_Re [Ohm]": z.real, "Z_Im [Ohm]": z.imag}
    frame = pd.concat([pd.DataFrame({**one, "Cycle count": cycle}) for cycle in range(3)], ignore_index=True)
    assert battery.kk(frame)["Spectrum"].nunique() == 3
    assert battery.kk(frame.assign(Excluded=frame["Cycle count"] == 1))["Spectrum"].nunique() == 2


def test_an_exclusion_names_the_cell_where_tests_have_one_name(bench: wb.Bench) -> None:
    """An ageing test is called alike on every cell of a batch."""
    other = bench.instances.create(name="C1", specification="cell")
    bench.measurements.create(time_series=ageing(), name="test", instance=other, sign="discharge")
    for id in bench.measurements.list()["id"]:
        bench.exclude(id, cycles=0, reason="warming up")
        with pytest.raises(BadRequest, match=r"There is an exclusion '.*cycles 0: warming up' already"):
            bench.exclude(id, cycles=0, reason="warming up")
    assert bench.exclusions()["name"].tolist() == ["test, cycles 0: warming up", "C1, test, cycles 0: warming up"]
    notes = " ".join(str(one.text) for one in bench.figure("fade").layout.annotations).replace("<br>", " ")
    assert "excluded: C0, test cycles 0 (warming up); C1, test cycles 0 (warming up)" in notes
