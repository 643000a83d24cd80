"""Resistance from pulses: every pulse is found, and the helper gives no number that the samples do not hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from battery.test_battery_charge import read

from workbench import battery
from workbench.cycling.steps import steps_of
from workbench.table import Column, Table

ZERO, ONE, TEN = (battery.resistance_column(seconds) for seconds in (0, 1, 10))


def true_resistance(passed: np.ndarray | float) -> np.ndarray:
    return np.asarray(0.020 + 0.010 * (1 - np.exp(-np.asarray(passed) / 8)))


def pulses(
    every: float, *, ramp: float = 0.0, noise: float = 0.0, amps: float = 2.0, lag: float = 0.0
) -> pd.DataFrame:
    """Five pulses of 30 s after 600 s of rest each, both ways. ``ramp``: time to full current, s. ``lag``: how long
    after the onset the first sample under load is logged, s; by default ``every``."""
    rows: list[tuple[float, float, float, int]] = []
    onset = 0.0
    for number, sign in enumerate([1, -1, 1, -1, 1]):
        rest = np.arange(0, 600 + 1e-9, min(every, 60.0))
        onset += 600.0
        rows += [(onset - 600 + t, 0.0, 3.7, 2 * number) for t in rest]
        first = lag or every
        for passed in np.arange(first, 30 + 1e-9, every):
            level = sign * amps * min(1.0, passed / ramp if ramp else 1.0)
            rows.append((onset + passed, level, 3.7 - level * float(true_resistance(passed)), 2 * number + 1))
        onset += 30.5
    frame = pd.DataFrame(rows, columns=["Time [s]", "Current [A]", "Voltage [V]", "Step count"])
    frame["Current [A]"] += np.random.default_rng(0).normal(0, noise, len(frame))
    return frame


def in_silence(frame: pd.DataFrame, **options: object) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", battery.UncertainResistance)
        return battery.pulse_resistance(frame, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", [0.0, 0.003])
@pytest.mark.parametrize("ramp", [0.0, 0.5, 0.9])
def test_ramps_and_noise_at_rest_hide_no_pulse(ramp: float, noise: float) -> None:
    made = in_silence(pulses(0.1, ramp=ramp, noise=noise))
    assert made["Direction"].tolist() == ["discharge", "charge"] * 2 + ["discharge"]
    assert made[TEN].to_numpy() == pytest.approx(np.full(5, true_resistance(10)), rel=0.01)
    assert made[ONE].to_numpy() == pytest.approx(np.full(5, true_resistance(1)), rel=0.01)
    assert made["Onset gap [s]"].to_numpy() == pytest.approx(np.full(5, 0.1), abs=0.11)
    assert made["Duration [s]"].to_numpy() == pytest.approx(np.full(5, 30.0), abs=0.11)


def test_well_sampled_pulses_have_no_remark() -> None:
    made = battery.pulse_resistance(pulses(0.1))
    assert made["Warning"].tolist() == [""] * 5


def test_a_time_before_the_first_sample_under_load_is_no_value() -> None:
    """Sampled every 10 s: nothing is known of the first second."""
    with pytest.warns(battery.UncertainResistance, match="5 pulses of 5 .* comes 10 s after"):
        made = battery.pulse_resistance(pulses(10.0))
    assert made[ZERO].isna().all()
    assert made[ONE].isna().all()
    assert made["Onset gap [s]"].to_numpy() == pytest.approx(np.full(5, 10.0))
    assert made["Warning"].str.contains("Resistance at 1 s .* comes 10 s after the onset").all()
    assert made[TEN].to_numpy() == pytest.approx(np.full(5, true_resistance(10)))
    assert made["Warning"].str.contains(r"Resistance at 10 s \[Ohm\]: uncertain").all()


def test_a_gap_of_more_than_a_tenth_is_said() -> None:
    with pytest.warns(battery.UncertainResistance, match="1 s after the onset"):
        made = battery.pulse_resistance(pulses(1.0), at=[0, 10])
    assert made[TEN].to_numpy() == pytest.approx(np.full(5, true_resistance(10)))
    assert not made["Warning"].str.contains("at 10 s").any()
    assert made[ZERO].to_numpy() == pytest.approx(np.full(5, true_resistance(1)))


def test_a_current_that_changes_is_no_value() -> None:
    frame = pulses(0.1)
    falling = frame["Current [A]"] * np.exp(-((frame["Time [s]"] % 630.5 - 600).clip(0)) / 50)
    with pytest.warns(battery.UncertainResistance, match="the current is not constant"):
        made = battery.pulse_resistance(frame.assign(**{"Current [A]": falling}))
    assert made[TEN].isna().all()
    assert made["Warning"].str.contains("not constant").all()


def test_the_end_of_a_pulse_is_no_doubt() -> None:
    made = battery.pulse_resistance(pulses(0.1), at=[10, 60])
    assert made[battery.resistance_column(60)].isna().all()
    assert made["Warning"].str.contains("the pulse ended after 30 s").all()


def test_a_ramp_down_belongs_to_the_rest() -> None:
    frame = pulses(0.1)
    time = frame["Time [s]"] % 630.5 - 600
    factor = np.where(time > 29, np.clip((30 - time) / 1.0, 0, 1), 1.0)
    made = battery.pulse_resistance(frame.assign(**{"Current [A]": frame["Current [A]"] * factor}))
    assert made["Duration [s]"].to_numpy() == pytest.approx(np.full(5, 29.1), abs=0.15)


def test_the_time_in_the_step_says_when_the_load_began() -> None:
    frame = pulses(1.0, lag=0.2)
    late = frame["Step count"] % 2 == 1
    frame = frame[~((frame["Time [s]"] % 630.5 > 595) & ~late)].reset_index(
        drop=True
    )  # the last rest is 5 s early
    late = frame["Step count"] % 2 == 1
    since = np.where(late, frame["Time [s]"] % 630.5 - 600, frame["Time [s]"] % 630.5)
    without = in_silence(frame)
    made = in_silence(frame.assign(**{"Step time [s]": since}))
    assert (without["Onset gap [s]"] > 5).all()
    assert without[ONE].isna().all()
    assert made["Onset gap [s]"].to_numpy() == pytest.approx(np.full(5, 0.2))
    assert made[ONE].to_numpy() == pytest.approx(np.full(5, true_resistance(1)), rel=0.02)


def test_a_charge_with_a_constant_voltage_after_it_has_its_resistance() -> None:
    time = np.concatenate([np.arange(0, 600, 10.0), np.arange(600, 7200, 1.0)])
    current = np.where(time <= 590, 0.0, np.where(time < 1800, -2.0, -2.0 * np.exp(-(time - 1800) / 900)))
    frame = pd.DataFrame({"Time [s]": time, "Current [A]": current, "Voltage [V]": 3.7 - 0.02 * current})
    made = in_silence(frame, at=[30])
    assert made[battery.resistance_column(30)].tolist() == pytest.approx([0.02])


THINNED: list[Callable[[pd.DataFrame], pd.DataFrame]] = [
    lambda frame: read(frame, np.arange(0, len(frame), 3)),
    lambda frame: pd.concat([frame.iloc[:50:3], frame.iloc[50::3]]),
    lambda frame: frame.drop(columns="Step count").iloc[::2],
]


@pytest.mark.parametrize("thin", THINNED)
def test_thinned_pulses_are_refused_with_the_fix(thin: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    words = r"Pulses need every sample.*'Step count'.*max_points 10000.*steps summary"
    with pytest.raises(battery.NeedsEverySample, match=words):
        battery.pulse_resistance(thin(pulses(1.0)))


def test_rows_that_are_gone_between_steps_do_no_harm() -> None:
    frame = pulses(0.1)
    whole = battery.pulse_resistance(frame)
    gone = frame[~((frame["Step count"] == 2) & (frame["Time [s]"] < 1100))]
    pd.testing.assert_frame_equal(battery.pulse_resistance(gone), whole)


def test_published_pulses_have_the_published_resistance(shared_data: Path) -> None:
    """HPPC of ampworks: its own R after 10 s is 20.3769 Ohm in the first pulse and 41.5035 Ohm in the last."""
    path = shared_data.parent / "cases" / "ampworks" / "hppc_discharge.csv.gz"
    if not path.exists():
        pytest.skip("the shared cases are absent")
    names = {"Seconds": "Time [s]", "Amps": "Current [A]", "Volts": "Voltage [V]", "Step": "Step count"}
    frame = pd.read_csv(path).rename(columns=names)
    frame["Current [A]"] *= -1
    made = battery.pulse_resistance(frame, at=[10])
    pulses = made[(made["Duration [s]"] < 60) & (made["Direction"] == "discharge")]
    assert pulses[TEN].iloc[[0, -1]].tolist() == pytest.approx([20.3769, 41.5035], rel=1e-5)
    assert set(made["Warning"]) == {""}
    table = Table.of({name: frame[name].to_numpy() for name in frame if name not in ("State", "Step count")})
    steps = np.cumsum(np.diff(frame["Step count"], prepend=frame["Step count"].iloc[0]) != 0)
    stored = steps_of(Table({**table.columns, "Step count": Column("integer", steps)}, table.n))
    found = np.array(stored[TEN].tolist(), float)
    assert found[~np.isnan(found)] == pytest.approx(made[TEN].to_numpy())


@pytest.mark.parametrize("every", [0.1, 1.0, 2.5])
@pytest.mark.parametrize("amps", [0.002, 2.0])
def test_the_steps_have_the_resistance_that_the_helper_finds(every: float, amps: float) -> None:
    frame = pulses(every, amps=amps)
    steps = steps_of(Table.of({name: frame[name].to_numpy() for name in frame}))
    made = in_silence(frame, at=[10])
    loaded = np.array(steps["Step count"].tolist()) % 2 == 1
    found = np.array(steps[TEN].tolist(), float)
    assert found[loaded] == pytest.approx(made[TEN].to_numpy())
    assert np.isnan(found[~loaded]).all()
    assert np.array(steps["Onset gap [s]"].tolist(), float)[loaded] == pytest.approx(
        made["Onset gap [s]"].to_numpy()
    )
