"""Resistance, power and diffusion: what a row says, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from battery.made_tests import hppc, joined, rest

from tools.validation.made_samples import series, sphere_titration
from workbench import battery

ZERO, TEN, THIRTY = (battery.resistance_column(seconds) for seconds in (0, 10, 30))
END = "Resistance at the end [Ohm]"
LIMITS = (3.3, 4.2)


def test_pulses_have_their_level_rest_and_state_of_charge() -> None:
    frame = hppc(levels=4)
    made = battery.dcir(frame, limits=(frame["Voltage [V]"].min(), frame["Voltage [V]"].max()))
    assert made["Direction"].tolist() == ["discharge", "charge"] * 4
    assert made["Level"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert made[[ZERO, TEN, END]].to_numpy() == pytest.approx(0.05, rel=0.03)
    assert made[THIRTY].isna().all()
    assert made["Warning"].str.contains("the pulse ended after 10 s").all()
    assert made["Valid"].all()
    assert made["Rest before [s]"].tolist() == pytest.approx([3540, 40, *[3600, 40] * 3], abs=1)
    assert made["SOC"][0] == pytest.approx(1.0, abs=0.01)
    assert made["SOC"].diff()[2] == pytest.approx(-0.25, abs=0.01)
    assert made.attrs["warnings"] == []


def test_without_limits_the_state_of_charge_is_relative_and_says_so() -> None:
    for made in (battery.dcir(hppc()), battery.dcir(hppc(), limits=(2.0, 5.0))):
        assert {remark["code"] for remark in made.attrs["warnings"]} == {"soc_relative"}
        assert made["Warning"].str.contains("SOC is relative to this test").all()
    one = battery.dcir(hppc(), limits=(2.0, hppc()["Voltage [V]"].max()), capacity=4.0)
    assert one.attrs["warnings"] == []
    assert one["SOC"].to_numpy() == pytest.approx(1 - one["Capacity [A.h]"].to_numpy() / 4.0, abs=0.01)


def test_a_pulse_that_ends_at_a_limit_does_not_say_where_the_cell_is_empty() -> None:
    """The pulse of 2 A comes to the lower limit at a SOC of 0.2, long before the discharge of 0.5 A does."""
    frame = hppc(levels=5)
    pulse = frame.index[frame["Current [A]"] == 2.0][-1]
    cut = frame.loc[: pulse + 145]
    limits = (cut["Voltage [V]"].min(), frame["Voltage [V]"].max())
    made = battery.dcir(cut, limits=limits, capacity=2.0)
    assert made["SOC"].iloc[::2].to_numpy() == pytest.approx([1, 0.8, 0.6, 0.4, 0.2], abs=0.015)
    without = battery.dcir(cut, limits=limits)
    assert {remark["code"] for remark in without.attrs["warnings"]} == {"soc_relative"}


def test_a_span_that_is_not_the_capacity_is_said() -> None:
    frame = hppc(levels=4)
    limits = (frame["Voltage [V]"].min(), frame["Voltage [V]"].max())
    assert battery.dcir(frame, limits=limits, capacity=2.1).attrs["warnings"] == []
    [said] = battery.dcir(frame, limits=limits, capacity=2.5).attrs["warnings"]
    assert said["code"] == "soc_span"
    assert "2.5 A.h" in said["message"]


def test_a_coarse_pulse_has_no_value_before_its_first_sample() -> None:
    """Sampled every 10 s, a cell whose resistance grows with time is not known at 0 s, and doubtful at 10 s."""
    made = battery.dcir(hppc(every=5.0), at=(0.0, 2.0, 10.0))
    assert made[ZERO].isna().all()
    assert made[battery.resistance_column(2)].isna().all()
    assert made["Onset gap [s]"].to_numpy() == pytest.approx(5.0)
    assert made["Warning"].str.contains(r"Resistance at 10 s \[Ohm\]: uncertain").all()


def test_a_voltage_that_still_moves_is_named() -> None:
    frame = hppc()
    frame["Voltage [V]"] += 0.01 * np.exp(-(frame["Time [s]"] % 3600) / 600)
    made = battery.dcir(frame)
    assert made["Warning"].str.contains("still moves by").any()


def test_a_pulse_at_its_limit_and_a_wrong_sign_have_no_resistance() -> None:
    frame = hppc()
    pulse = (frame["Time [s]"] > 3600) & (frame["Time [s]"] <= 3610)
    frame.loc[pulse, "Current [A]"] *= np.exp(-(frame["Time [s]"][pulse] - 3600) / 20)
    first = battery.dcir(frame).iloc[0]
    assert np.isnan(first[TEN])
    assert "not constant" in first["Warning"]
    wrong = battery.dcir(hppc(sign=-1))
    assert not wrong["Valid"].any()
    assert wrong[[ZERO, TEN, END]].isna().all(axis=None)
    assert wrong["Warning"].str.contains("sign were reversed").all()


def test_temperatures_of_a_pulse_are_in_its_row() -> None:
    frame = hppc().assign(**{"Temperature [degC]": 25.0})
    made = battery.dcir(frame)
    assert (made[["T mean [degC]", "T min [degC]", "T max [degC]"]] == 25.0).all(axis=None)
    assert battery.dcir(hppc())["T mean [degC]"].isna().all()


def test_long_loads_are_no_pulses() -> None:
    frame = joined(rest(600, 3.7), series(np.arange(0, 600.0), np.ones(600), np.full(600, 3.6)), rest(600, 3.7))
    made = battery.dcir(frame)
    assert made.attrs["warnings"][0]["code"] == "no_pulses"
    assert "lasts longer than 120 s" in made["Warning"][0]


@pytest.mark.parametrize(
    "analysis", [battery.dcir, battery.gitt, battery.relaxation, battery.ocv_from_rests, battery.power_capability]
)
def test_a_cycler_that_shows_a_current_at_rest_is_the_reason(analysis: Callable[..., pd.DataFrame]) -> None:
    """A cell of 100 A.h, at rest with 20 mA: the limit of rest is 1 mA."""
    frame = hppc(ohm=0.001)
    frame = frame.assign(**{"Current [A]": 50 * frame["Current [A]"] + 0.02})
    given = {"limits": LIMITS} if analysis is battery.power_capability else {}
    refused = analysis(frame, **given)["Warning"].iloc[0]
    assert (
        "the smallest current is 0.02 A, above 0.001 A. If the cycler shows that at rest, give rest=0.024"
        in refused
    )
    if analysis is battery.dcir:
        assert len(battery.dcir(frame, rest=0.024)) == len(battery.dcir(hppc(ohm=0.001)))


def test_power_needs_limits_and_says_how_far_it_extrapolates() -> None:
    assert battery.power_capability(hppc()).attrs["warnings"][0]["code"] == "needs_limits"
    made = battery.power_capability(hppc(), limits=LIMITS)
    first = made.iloc[0]
    assert first["Power at 10 s [W]"] == pytest.approx(3.3 * (first["Voltage before [V]"] - 3.3) / 0.05, rel=0.02)
    assert first["Extrapolation"] == pytest.approx(first["Current at the limit [A]"] / 2.0, rel=0.01)
    assert "times the current of the pulse" in first["Warning"]
    beyond = battery.power_capability(hppc(), limits=(4.19, 4.2))
    assert beyond["Power at 10 s [W]"].min() == 0
    assert beyond["Warning"].str.contains("beyond the limit of 4.19 V").any()


@pytest.mark.parametrize("limits", [(4.2, 2.5), (3.6, 3.6)])
def test_limits_in_the_wrong_order_give_no_state_of_charge(limits: tuple[float, float]) -> None:
    """Every sample was within both, so that SOC was that of the test and was said to be that of the cell."""
    for analysis in (battery.dcir, battery.ocv_from_rests):
        with pytest.raises(ValueError, match=r"the lower and the upper voltage, such as \(2.5, 4.2\)"):
            analysis(hppc(), limits=limits)


@pytest.mark.parametrize("radius", [0.0, -1e-6])
def test_a_particle_has_a_radius(radius: float) -> None:
    """With 0 the diffusion was 0, and valid."""
    for analysis in (battery.gitt, battery.ici):
        with pytest.raises(ValueError, match="The radius must be a number above 0"):
            analysis(sphere_titration(1e-15, 1.8e-6), radius=radius)


def test_titration_without_a_radius_gives_what_is_known() -> None:
    frame = sphere_titration(1e-15, 1.8e-6)
    made, sized = battery.gitt(frame), battery.gitt(frame, radius=1.8e-6)
    assert made[["D [m2/s]", "D second window [m2/s]"]].isna().all(axis=None)
    assert made["D/R2 [1/s]"].to_numpy() * 1.8e-6**2 == pytest.approx(sized["D [m2/s]"].to_numpy())
    slab = battery.gitt(frame, radius=1.8e-6, geometry="slab")
    assert slab["D [m2/s]"].to_numpy() == pytest.approx(9 * sized["D [m2/s]"].to_numpy())
    assert "apparent" in {remark["code"] for remark in made.attrs["warnings"]}
    assert made["SOC"].is_monotonic_decreasing


def test_windows_that_differ_by_more_than_a_factor_of_two_are_marked() -> None:
    frame = sphere_titration(1e-14, 1.8e-6)
    made = battery.gitt(frame, window=(1, 10), second_window=(1, 500))
    assert made["Window sensitive"].all()
    assert made["Warning"].str.contains("differ by more than a factor of 2").all()
    assert not battery.gitt(sphere_titration(1e-15, 1.8e-6))["Window sensitive"].any()


def test_a_cut_pulse_has_no_diffusion() -> None:
    frame = sphere_titration(1e-15, 1.8e-6)
    last = frame["Current [A]"].to_numpy() > 0
    onset = frame["Time [s]"][last].iloc[-1] - 600
    cut = frame[~(last & (frame["Time [s]"] > onset + 100))].reset_index(drop=True)
    made = battery.gitt(cut, radius=1.8e-6)
    assert made["Valid"].tolist() == [True] * 5 + [False]
    assert np.isnan(made["D [m2/s]"].iloc[-1])
    assert "the pulse lasts" in made["Warning"].iloc[-1]


def test_a_pulse_whose_end_has_no_sample_may_have_lasted_longer() -> None:
    """Of 600 s the last sample is at 540 s: D is 23 % too large, and the row says by how much it may be."""
    frame = sphere_titration(1e-15, 1.8e-6)
    current, time = frame["Current [A]"].to_numpy(), frame["Time [s]"].to_numpy()
    after = np.flatnonzero((current == 0) & (np.append(1.0, current[:-1]) != 0))
    ends = after[np.minimum(np.searchsorted(after, np.arange(len(frame)), "right"), len(after) - 1)]
    cut = frame[(current == 0) | (time[ends] - time > 60)].reset_index(drop=True)
    whole, made = battery.gitt(frame, radius=1.8e-6), battery.gitt(cut, radius=1.8e-6)
    assert not whole["Warning"].str.contains("lasted").any()
    assert made["D [m2/s]"].iloc[0] / whole["D [m2/s]"].iloc[0] == pytest.approx((600 / 540) ** 2, rel=0.01)
    assert (
        "may have lasted up to 60.1 s longer, for which no sample is there: D is up to 19% smaller"
        in (made["Warning"].iloc[0])
    )


def test_a_plateau_and_an_unknown_onset_have_no_diffusion() -> None:
    frame = sphere_titration(1e-15, 1.8e-6)
    flat = frame.assign(**{"Voltage [V]": 3.4 + np.random.default_rng(0).normal(0, 1e-3, len(frame))})
    made = battery.gitt(flat)
    assert not made["Valid"].any()
    assert made["Warning"].str.contains("below 5 times the noise").all()
    loaded = frame["Current [A]"].to_numpy() > 0
    early = np.zeros(len(frame), bool)
    early[1:] = loaded[1:] & ~loaded[:-1]
    late = frame[~np.convolve(early, np.ones(30), "full")[: len(frame)].astype(bool)].reset_index(drop=True)
    made = battery.gitt(late)
    assert not made["Valid"].any()
    assert made["Warning"].str.contains("comes 3.1 s after the onset").all()
    assert made["D/R2 [1/s]"].isna().all()


def test_a_rest_that_ends_against_its_pulse_has_no_diffusion() -> None:
    """In a real titration the voltage fell by 52 mV over a charge pulse and its rest: D was 20 times that of the
    neighbours, and valid."""
    frame = sphere_titration(1e-15, 1.8e-6)
    loaded = frame["Current [A]"].to_numpy() > 0
    third = np.flatnonzero(~loaded[1:] & loaded[:-1])[2] + 1
    moved = frame.assign(**{"Voltage [V]": frame["Voltage [V]"] + np.where(frame.index >= third, 0.5, 0.0)})
    made = battery.gitt(moved, radius=1.8e-6)
    assert made["Valid"].tolist() == [True, True, False, True, True, True]
    assert np.isnan(made["D [m2/s]"].iloc[2])
    assert "goes against the voltage in the pulse" in made["Warning"].iloc[2]


def test_a_pulse_that_is_lost_in_a_gap_gives_no_diffusion_to_the_one_before() -> None:
    """Its change of the voltage was counted to the pulse before the gap, whose D was 6 times too large."""
    frame = sphere_titration(1e-15, 1.8e-6)
    whole = battery.gitt(frame)
    begin, end = whole["Time [s]"].iloc[3] - 600, whole["Time [s]"].iloc[4] - 600
    holed = frame[~frame["Time [s]"].between(begin, end)].reset_index(drop=True)
    made = battery.gitt(holed)
    assert made["Valid"].tolist() == [True, True, False, True, True]
    assert "another load may be in it" in made["Warning"].iloc[2]
    assert made["D/R2 [1/s]"].iloc[3] == pytest.approx(whole["D/R2 [1/s]"].iloc[4])


def test_samples_that_are_there_twice_raise_nothing() -> None:
    """A rest and a load at one time, both twice, are pulses without a duration: it was a ZeroDivisionError."""
    frame = sphere_titration(1e-15, 1.8e-6)
    loaded = frame["Current [A]"] > 0
    begins = loaded & ~loaded.shift(fill_value=False)
    frame["Time [s]"] = frame["Time [s]"].mask(begins, frame["Time [s]"].shift())
    twice = pd.concat([frame, frame]).sort_values("Time [s]", kind="stable").reset_index(drop=True)
    made = battery.gitt(twice)
    assert not made["Valid"].any()
    assert made["Warning"].str.contains("no duration").any()


def test_coarse_titration_is_refused_or_named() -> None:
    frame = sphere_titration(1e-15, 1.8e-6)
    loaded = frame["Current [A]"].to_numpy() > 0
    coarse = frame[~loaded | (np.round(frame["Time [s]"] % 20_600, 1) % 20 == 1)].reset_index(drop=True)
    made = battery.gitt(coarse)
    assert made["Warning"].str.contains("samples in the window|after the onset").all()


def interrupted(breaks: int = 12, off: float = 10.0, every: float = 0.1) -> pd.DataFrame:
    parts = [rest(600, 4.0)]
    for number in range(breaks):
        t = np.arange(1.0, 300.5)
        parts.append(series(t, np.full(300, 0.002), 3.99 - 1e-5 * (300 * number + t)))
        t = np.arange(every, off + every / 2, every)
        last = 3.99 - 1e-5 * 300 * (number + 1)
        parts.append(series(t, 0 * t, last + 0.001 + 4e-4 * np.sqrt(t)))
    t = np.arange(1.0, 300.5)
    parts.append(series(t, np.full(300, 0.002), 3.95 + 0 * t))
    return joined(*parts, apart=0.0)


def test_interruptions_have_resistance_and_diffusion() -> None:
    made = battery.ici(interrupted(), radius=1.8e-6)
    assert len(made) == 12
    assert made["Valid"].all()
    assert made["Resistance [Ohm]"].to_numpy() == pytest.approx(0.5)
    assert made["k [Ohm.s^-0.5]"].to_numpy() == pytest.approx(0.2)
    its = 4 / (9 * np.pi) * (1.8e-6 * 1e-5 / 4e-4) ** 2
    assert made["D [m2/s]"].to_numpy() == pytest.approx(its, rel=0.01)


def test_breaks_before_the_gradient_is_steady_are_named() -> None:
    """Of an exact sphere the formula gives twice D at the first one, later 1.18 of it. Here 0.1 R^2 / D are 1131 s."""
    frame = interrupted()
    said = battery.ici(frame)["Warning"].str.contains("the gradient is not steady")
    assert said.tolist() == [True] * 3 + [False] * 9
    # After a long rest it begins anew.
    again = joined(frame, rest(3600, 3.95), frame, apart=0.0)
    twice = battery.ici(again)["Warning"].str.contains("the gradient is not steady")
    assert twice.tolist() == said.tolist() * 2


def test_breaks_of_several_discharges_have_the_slope_of_their_own() -> None:
    """The end of a discharge and the begin of the next one, after a charge, are 0.04 V apart, and have one slope."""
    frame = interrupted()
    t = np.arange(10.0, 1800.1, 10.0)
    charge = series(t, np.full(len(t), -0.002), 3.95 + 5e-5 * t)
    again = battery.ici(joined(frame, charge, frame, apart=0.0))
    assert again["Valid"].sum() == 24
    assert again["dE_OC/dt [V/s]"].to_numpy() == pytest.approx(-1e-5, rel=1e-6)


def test_breaks_of_another_current_have_the_slope_of_their_own() -> None:
    frame = interrupted()
    last = frame["Voltage [V]"].iloc[-1] - frame["Voltage [V]"].iloc[0]
    doubled = {
        "Current [A]": 2 * frame["Current [A]"],
        "Voltage [V]": 2 * frame["Voltage [V]"] - 4.0 + last - 0.011,
    }
    made = battery.ici(joined(frame, frame.assign(**doubled), apart=0.0))
    slower = made["Current [A]"] < 0.003
    assert made["Valid"].sum() >= 23
    assert made["dE_OC/dt [V/s]"][slower].to_numpy() == pytest.approx(-1e-5, rel=1e-6)
    assert made["dE_OC/dt [V/s]"][~slower].to_numpy() == pytest.approx(-2e-5, rel=1e-6)


def test_few_breaks_and_coarse_breaks_have_no_numbers() -> None:
    assert battery.ici(interrupted(7)).attrs["warnings"][0]["code"] == "no_breaks"
    coarse = battery.ici(interrupted(every=2.5))
    assert not coarse["Valid"].any()
    assert coarse["Warning"].str.contains("4 samples in the window, fewer than 5").all()
    assert coarse[["Resistance [Ohm]", "D/R2 [1/s]"]].isna().all(axis=None)


def test_a_break_that_is_cut_has_no_numbers_and_one_that_steps_backwards_is_doubtful() -> None:
    frame = interrupted()
    whole = battery.ici(frame)
    fifth = float(whole["Time [s]"].iloc[5])
    cut = battery.ici(frame[~frame["Time [s]"].between(fifth + 3, fifth + 10.5)].reset_index(drop=True))
    assert "the break lasts" in cut["Warning"].iloc[5]
    assert not cut["Valid"].iloc[5]
    inside = frame["Time [s]"].between(fifth + 0.05, fifth + 10.05)
    back = battery.ici(frame.assign(**{"Voltage [V]": frame["Voltage [V]"] - 0.002 * inside}))
    assert "beyond the voltage under load" in back["Warning"].iloc[5]
    assert back["Resistance [Ohm]"].drop(5).to_numpy() == pytest.approx(0.5)


@pytest.mark.parametrize("analysis", [battery.dcir, battery.gitt, battery.ici])
def test_the_same_again_is_the_same(analysis: object) -> None:
    assert callable(analysis)
    frame = interrupted() if analysis is battery.ici else sphere_titration(1e-15, 1.8e-6)
    pd.testing.assert_frame_equal(analysis(frame), analysis(frame.copy()))
