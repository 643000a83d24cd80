"""The charge that helpers count, against a plain integration of the same data; on thinned data never in silence."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workbench import battery
from workbench.dataset import Samples
from workbench.recipe.steps.series import MOST_POINTS
from workbench.table import Table
from workbench.transform.frames import SeriesFrames

CHARGE = "Charge capacity [A.h]", "Discharge capacity [A.h]"


def series(current: np.ndarray, every: float, **more: Any) -> pd.DataFrame:
    time = every * np.arange(len(current))
    return pd.DataFrame({"Time [s]": time, "Current [A]": current, "Voltage [V]": 3.7 - 0.01 * current, **more})


def plain(frame: pd.DataFrame, half: battery.HalfCycle) -> float:
    """numpy's trapezoid over all rows from the first to the last of a half cycle, rests too, in one direction."""
    rows = frame.loc[half.frame.index[0] : half.frame.index[-1]]
    sign = 1 if half.direction == "discharge" else -1
    flow = np.clip(sign * rows["Current [A]"].to_numpy(), 0, None)
    return float(np.trapezoid(flow, rows["Time [s]"])) / 3600


def titration(
    pulses: int = 100, on: int = 6, rest: int = 60, every: float = 10.0, amps: float = 1.0
) -> pd.DataFrame:
    one = np.concatenate([np.zeros(rest), np.full(on, amps)])
    current = np.concatenate([*[one] * pulses, np.zeros(rest)])
    steps = np.cumsum(np.diff(current, prepend=0.0) != 0)
    return series(current, every, **{"Step count": steps})


@pytest.mark.parametrize("every", [1.0, 5.0, 10.0, 60.0])
@pytest.mark.parametrize("on", [1, 2, 30])
def test_rests_that_were_left_out_count_nothing(every: float, on: int) -> None:
    frame = titration(40, on, 25, every)
    (half,) = battery.half_cycles(frame)
    passed = battery.charge_passed(half.frame, half.direction)
    assert passed[0] == 0
    assert (np.diff(passed) >= 0).all()
    assert passed[-1] == pytest.approx(plain(frame, half), rel=1e-9)
    assert passed[-1] < 1.01 * frame["Current [A]"].sum() * every / 3600


def test_an_on_off_load_of_one_hour_is_half_its_current() -> None:
    frame = series(4.0 * (np.arange(721) % 2), 5.0)
    (half,) = battery.half_cycles(frame)
    assert battery.charge_passed(half.frame, "discharge")[-1] == pytest.approx(plain(frame, half), rel=1e-9)
    assert battery.charge_passed(frame, "discharge")[-1] == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_random_tests_agree_with_the_plain_integral(seed: int) -> None:
    """Pulses, ramps, noise at rest, changes of direction, 1 to 60 s, mA and A, whole and without a counter."""
    random = np.random.default_rng(seed)
    amps = float(random.choice([0.05, 1.0, 20.0]))
    parts = []
    for _ in range(60):
        n = int(random.integers(1, 60))
        kind = random.integers(0, 4)
        level = amps * random.uniform(0.3, 1.0) * random.choice([-1, 1])
        parts.append(
            np.zeros(n) if kind == 0 else np.linspace(0.05 * level, level, n) if kind == 1 else np.full(n, level)
        )
    current = np.concatenate(parts)
    noise = random.choice([0.0, 2e-4 * amps])
    frame = series(current + random.normal(0, noise, len(current)), float(random.choice([1.0, 7.5, 60.0])))
    for half in battery.half_cycles(frame):
        passed = battery.charge_passed(half.frame, half.direction)[-1]
        assert passed == pytest.approx(plain(frame, half), rel=1e-3, abs=1e-6 * amps), half.number


def test_a_half_cycle_that_was_cut_further_still_knows_its_rests() -> None:
    frame = titration(20)
    (half,) = battery.half_cycles(frame)
    part = half.frame[half.frame["Time [s]"] > 3000]
    rows = frame.loc[part.index[0] : part.index[-1]]
    assert battery.charge_passed(part, "discharge")[-1] == pytest.approx(
        np.trapezoid(rows["Current [A]"], rows["Time [s]"]) / 3600
    )


def test_a_half_cycle_that_was_thinned_by_the_script_warns() -> None:
    (half,) = battery.half_cycles(titration(20))
    with pytest.warns(battery.SamplesLeftOut, match="samples of the half cycle from 600 s to 630 s"):
        battery.charge_passed(half.frame.iloc[::3], "discharge")


def test_rows_that_a_script_left_out_are_not_integrated_over_in_silence() -> None:
    frame = titration(20)
    loaded = frame[frame["Current [A]"] > 0]
    with pytest.warns(battery.SamplesLeftOut, match="No charge is counted over 19 gaps of 3.22 h in all"):
        assert battery.charge_passed(loaded, "discharge")[-1] == pytest.approx(20 * 5 * 10 / 3600)
    with pytest.warns(battery.SamplesLeftOut, match="gaps"):
        battery.charge_passed(loaded.reset_index(drop=True), "discharge")


def test_a_gap_in_the_log_counts_nothing_and_is_named() -> None:
    frame = series(np.full(100, 2.0), 10.0)
    frame.loc[50:, "Time [s]"] += 7200.0
    with pytest.warns(battery.SamplesLeftOut, match="1 gap of 2 h in all, the first from 490 s to 7700 s"):
        passed = battery.charge_passed(frame, "discharge")
    assert passed[-1] == pytest.approx(2.0 * 980 / 3600)


def test_slow_logging_beside_fast_is_no_gap() -> None:
    """Pulses sampled every second, and the discharge between them every 200 s."""
    time = np.concatenate([np.arange(0.0, 300.0), 300 + 200.0 * np.arange(10), 2101 + np.arange(0.0, 300.0)])
    frame = pd.DataFrame({"Time [s]": time, "Current [A]": 2.0, "Voltage [V]": 3.7})
    assert battery.charge_passed(frame, "discharge")[-1] == pytest.approx(2.0 * time[-1] / 3600)


def test_a_row_without_current_loses_nothing() -> None:
    frame = series(np.full(101, 3.6), 10.0)
    frame.loc[[20, 21, 60], "Current [A]"] = np.nan
    assert battery.charge_passed(frame, "discharge")[-1] == pytest.approx(1.0)
    counted = frame.assign(**{CHARGE[1]: np.where(frame["Current [A]"].isna(), np.nan, frame["Time [s]"] / 1000)})
    assert battery.charge_passed(counted, "discharge")[-1] == pytest.approx(1.0)


def test_a_whole_series_counts_one_direction() -> None:
    frame = series(np.concatenate([np.full(361, 1.0), np.full(721, -1.0)]), 10.0)
    assert battery.charge_passed(frame, "discharge")[-1] == pytest.approx(1.0, rel=0.002)
    assert battery.charge_passed(frame, "charge")[-1] == pytest.approx(2.0, rel=0.002)
    unsigned = frame.assign(**{"Current [A]": frame["Current [A]"].abs()})
    assert battery.charge_passed(unsigned, "charge")[-1] == pytest.approx(10810 / 3600)


def test_counters_that_start_at_0_in_each_step_lose_nothing_between_steps() -> None:
    """A step for each sample: the counter of each step is 0, and the charge lies between the steps."""
    frame = titration(30, 1, 1, 10.0)
    frame = frame.assign(**dict.fromkeys(CHARGE, 0.0))
    (half,) = battery.half_cycles(frame)
    assert battery.charge_passed(half.frame, "discharge")[-1] == pytest.approx(plain(frame, half))


def test_a_counter_that_contradicts_the_current_is_named_with_both_numbers() -> None:
    frame = series(np.full(361, 1.0), 10.0)
    frame[CHARGE[1]] = frame["Time [s]"] / 3600 * 0.9
    with pytest.warns(battery.ChargeDiffers, match="0.9 A.h and the integral of the current 1 A.h"):
        battery.charge_passed(frame, "discharge")
    frame[CHARGE[1]] = frame["Time [s]"] / 3600 * 0.999
    battery.charge_passed(frame, "discharge")


def read(frame: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """A frame as a script gets it that reads some of the samples of a series."""
    table = Table.of({name: frame[name].to_numpy()[rows] for name in frame})
    return SeriesFrames({"a": Samples(rows, table, len(rows) == len(frame), len(frame))})["a"]


THINNED = [
    lambda frame: battery.charge_passed(frame, "discharge"),
    lambda frame: battery.dqdv(frame),
    lambda frame: battery.dvdq(frame),
    lambda frame: battery.differential_capacity(frame["Voltage [V]"], np.arange(len(frame))),
    lambda frame: battery.slope_on_grid(frame["Time [s]"], frame["Voltage [V]"], step=100, smooth=300),
    lambda frame: battery.charge_passed(battery.half_cycles(frame)[0].frame, "discharge"),
    lambda frame: battery.charge_passed(
        frame.assign(**{CHARGE[1]: frame["Time [s]"] / 3600}).drop(columns="Step count", errors="ignore"),
        "discharge",
    ),
]


@pytest.mark.parametrize("helper", THINNED)
@pytest.mark.parametrize("lost", ["kept", "concat", "without steps", "long"])
def test_no_number_from_thinned_samples_without_a_warning(helper: Any, lost: str) -> None:
    current = np.repeat([0.0, 1.0], [40, 1000])
    frame = series(current, 10.0, **{"Step count": np.repeat([0, 1], [40, 1000])})
    frame["Voltage [V]"] = np.linspace(4.2, 3.0, len(frame))
    thin = read(frame, np.arange(0, len(frame), 7))
    whole = read(frame, np.arange(len(frame)))
    if lost == "concat":
        thin, whole = (pd.concat([one.iloc[:20], one.iloc[20:]]) for one in (thin, whole))
        thin.attrs.clear()
    elif lost == "without steps":
        thin, whole = (one.drop(columns="Step count") for one in (thin, whole))
        thin.attrs.clear()
    elif lost == "long":
        tables = {
            name: Samples(
                one.index.to_numpy(),
                Table.of({column: one[column].to_numpy() for column in one}),
                len(one) == len(frame),
                len(frame),
            )
            for name, one in (("thin", thin), ("whole", whole))
        }
        both = SeriesFrames(tables).long("cell")
        thin, whole = both[both["cell"] == "thin"], both[both["cell"] == "whole"]
    with pytest.warns(battery.SamplesLeftOut, match=f"max_points {MOST_POINTS}"):
        helper(thin)
    if helper in THINNED[3:5] and lost == "long":
        return  # a column of a long frame does not know its source
    with warnings.catch_warnings():
        warnings.simplefilter("error", battery.SamplesLeftOut)
        warnings.simplefilter("ignore", battery.ChargeDiffers)
        helper(whole)


def test_a_counter_within_one_step_is_exact_at_each_sample_that_is_there() -> None:
    frame = series(np.full(1000, 1.0), 10.0, **{"Step count": np.zeros(1000, int)})
    frame[CHARGE[1]] = frame["Time [s]"] / 3600
    thin = read(frame, np.array([0, 9, 500, 999]))
    assert battery.charge_passed(thin, "discharge")[-1] == pytest.approx(9990 / 3600)


def test_frames_know_how_complete_they_are() -> None:
    frame = series(np.ones(10), 1.0)
    thin = read(frame, np.array([0, 4, 9]))
    assert thin.attrs["workbench"] == {"complete": False, "shown": 3, "of": 10, "source": "a"}
    assert read(frame, np.arange(10)).attrs["workbench"]["complete"] is True
    assert thin[thin["Time [s]"] > 1].attrs["workbench"]["of"] == 10


def test_a_half_cycle_can_be_joined_copied_compared_and_written(tmp_path: Any) -> None:
    frame = titration(3)
    (half,) = battery.half_cycles(frame)
    both = pd.concat([half.frame, half.frame.copy()])
    assert len(both) == 2 * len(half.frame)
    pd.testing.assert_frame_equal(half.frame, half.frame.copy())
    half.frame.to_parquet(tmp_path / "half.parquet")
    again = pd.read_parquet(tmp_path / "half.parquet")
    assert battery.half_cycles(again)[0].direction == "discharge"


def test_a_column_of_a_half_cycle_lacks_nothing() -> None:
    frame = titration(100, 1, 2)
    frame["Voltage [V]"] = np.linspace(4.2, 3.0, len(frame))
    (half,) = battery.half_cycles(frame.drop(columns="Step count"))
    charge = battery.charge_passed(half.frame, "discharge")
    assert len(battery.differential_capacity(half.frame["Voltage [V]"], charge, step=0.05)[0])


def test_noise_at_rest_is_rest() -> None:
    random = np.random.default_rng(1)
    frame = titration(20, 30, 200, 1.0, amps=2.0)
    frame["Current [A]"] += random.normal(0, 0.003, len(frame))
    assert 0.012 < battery.rest_limit(frame["Current [A]"]) <= 0.02
    (half,) = battery.half_cycles(frame)
    assert len(half.frame) == 600
    quiet = titration(20, 30, 200, 1.0, amps=2.0)
    assert battery.charge_passed(half.frame, "discharge")[-1] == pytest.approx(plain(quiet, half), rel=1e-3)


def test_rows_in_the_wrong_order_are_said() -> None:
    """Their charge is not that of the test, and the reason is the order, not a gap."""
    frame = pd.DataFrame({"Time [s]": np.arange(600.0), "Current [A]": 1.0})
    shuffled = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    with pytest.warns(battery.SamplesLeftOut, match=r"'Time \[s\]' falls \d+ times: the rows are not in order"):
        battery.charge_passed(shuffled, "discharge")
    assert battery.charge_passed(shuffled.sort_values("Time [s]", ignore_index=True), "discharge")[
        -1
    ] == pytest.approx(599 / 3600)


def sparse(step: float) -> pd.DataFrame:
    """Ten discharges of 300 s at 1 A, logged every 100 s with a counter that is 0 at the first sample, each with a rest
    of 1 h that is logged every ``step``."""
    rows, start = [], 0.0
    for number in range(10):
        rows += [(start + 50 + t, 1.0, t / 3600, 2 * number) for t in (0.0, 100.0, 200.0)]
        rows += [(start + 300 + t, 0.0, 0.0, 2 * number + 1) for t in np.arange(step, 3600.0, step)]
        start += 3900.0
    made = pd.DataFrame(rows, columns=["Time [s]", "Current [A]", CHARGE[1], "Step count"])
    return made.assign(**{"Voltage [V]": 3.7})


@pytest.mark.parametrize("step", [10.0, 600.0])
def test_a_rest_that_is_logged_late_adds_no_charge_to_the_load_before_it(step: float) -> None:
    """A current that held for half of the 650 s until the next sample would double the charge."""
    with contextlib.nullcontext() if step < 100 else pytest.warns(battery.ChargeDiffers, match="counter is used"):
        passed = battery.charge_passed(sparse(step), "discharge")[-1]
    assert passed == pytest.approx(10 * 300 / 3600, rel=0.15)


def test_a_counter_that_falls_to_more_than_can_have_passed_did_not_restart() -> None:
    frame = series(np.full(11, -1.0), 10.0)
    frame[CHARGE[0]] = 5.0 - np.arange(11) * 10 / 3600  # what is still to be charged
    assert battery.charge_passed(frame, "charge")[-1] == pytest.approx(100 / 3600)
