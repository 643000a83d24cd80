"""Open-circuit curves, peaks, degradation modes and relaxation: what a row says, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from battery.made_tests import both_ways, joined, open_circuit, rest, slow

from tools.validation.made_samples import half_cell, of_ampworks, peak_on_charge, series, slow_half_cycle
from workbench import battery


def codes(made: pd.DataFrame) -> set[str]:
    return {remark["code"] for remark in made.attrs["warnings"]}


def test_the_mean_of_both_directions_is_the_open_circuit_curve() -> None:
    made = battery.pseudo_ocv(both_ways(), rated=2.0)
    assert len(made) == 501
    assert made["Voltage [V]"].to_numpy() == pytest.approx(open_circuit(made["SOC"].to_numpy()), abs=1e-6)
    assert made["Hysteresis [V]"].to_numpy() == pytest.approx(0.04)
    assert made["Valid"].all()
    assert set(made["Warning"]) == {""}
    assert made.attrs["warnings"] == []


def test_the_drop_over_a_resistance_is_taken_out() -> None:
    made = battery.pseudo_ocv(both_ways(), resistance=[(0.0, 0.2), (1.0, 0.2)])
    assert made["Hysteresis [V]"].to_numpy() == pytest.approx(0, abs=1e-9)


def test_constant_voltage_is_not_part_of_the_curve() -> None:
    charge = slow(charge=True)
    top = float(charge["Voltage [V]"].iloc[-1])
    tail = series(np.arange(0, 7200, 60.0), -0.1 * np.exp(-np.arange(0, 7200, 60.0) / 1500), np.full(120, top))
    made = battery.pseudo_ocv(joined(charge, tail, slow(charge=False)))
    assert made["Charge capacity [A.h]"][0] == pytest.approx(2.0, rel=1e-3)
    assert made["Valid"].all()


def test_one_direction_is_shown_without_a_mean() -> None:
    made = battery.pseudo_ocv(slow(charge=False))
    assert "one_direction" in codes(made)
    assert made["Discharge voltage [V]"].notna().all()
    assert made[["Voltage [V]", "Charge voltage [V]", "Hysteresis [V]"]].isna().all(axis=None)
    assert not made["Valid"].any()


def test_a_discharge_above_the_charge_has_no_mean() -> None:
    """A half cell whose first discharge begins at 2.7 V and whose charge ends at 1 V: the charges are alike, and the
    hysteresis was -1.6 V."""
    discharge = slow(charge=False)
    begin = 1.5 * np.exp(-np.arange(len(discharge)) / (0.03 * len(discharge)))
    made = battery.pseudo_ocv(
        joined(slow(charge=True), discharge.assign(**{"Voltage [V]": lambda f: f["Voltage [V]"] + begin}))
    )
    assert "limits_differ" in codes(made)
    assert "above the charge" in made["Warning"][0]
    assert made[["Voltage [V]", "Hysteresis [V]"]].isna().all(axis=None)
    assert not made["Valid"].any()
    assert battery.pseudo_ocv(both_ways(), resistance=[(0.0, 0.5), (1.0, 0.5)])["Valid"].all()  # a drop too large


def test_directions_with_other_limits_have_no_mean() -> None:
    made = battery.pseudo_ocv(both_ways(discharged=1.9))
    assert "limits_differ" in codes(made)
    assert made["Voltage [V]"].isna().all()
    assert made["Charge voltage [V]"].notna().all()
    assert made["Warning"].str.contains("5.0% apart").all()


def test_fast_hot_or_polarised_curves_are_refused_or_named() -> None:
    assert codes(battery.pseudo_ocv(both_ways(hours=5))) == {"too_fast"}
    faster = battery.pseudo_ocv(both_ways(hours=10))
    assert faster["Valid"].all()
    assert faster["Warning"].str.contains("C/10 is faster than C/20").all()
    far = battery.pseudo_ocv(joined(slow(charge=True, ohm=0.7), slow(charge=False, ohm=0.7)))
    assert far["Warning"].str.contains("70 mV: polarisation").all()
    frame = both_ways()
    warm = np.where(frame["Current [A]"] < 0, 25.0, 29.0)
    apart = battery.pseudo_ocv(frame.assign(**{"Temperature [degC]": warm}))
    assert apart["Warning"].str.contains("temperature differs by 4.0 K").all()
    assert apart["T mean [degC]"][0] == pytest.approx(27, abs=0.1)


def test_peaks_are_the_same_both_ways_and_have_a_rate() -> None:
    made = battery.ic_peaks(both_ways(), rated=2.0)
    assert made["Direction"].tolist() == ["charge", "discharge"]
    up, down = made["Position [V]"]
    assert up - down == pytest.approx(0.04, abs=1e-3)
    assert (made["Height [A.h/V]"] > 0).all()
    assert made["C-rate [1/h]"].to_numpy() == pytest.approx(1 / 20, rel=1e-3)


def test_a_fast_half_cycle_and_a_second_current_have_no_peaks() -> None:
    fast = battery.ic_peaks(both_ways(hours=2))
    assert not fast["Valid"].any()
    assert fast["Warning"].str.contains("faster than 0.2 C").all()
    frame = slow(charge=True)
    frame.loc[frame.index > 2000, "Current [A]"] *= 2
    two = battery.ic_peaks(frame)
    assert two["Warning"].str.contains("more than one level of current").all()


def test_noise_that_the_window_does_not_cover_is_refused() -> None:
    frame = peak_on_charge(25.0, 3.7, 0.02)
    noisy = frame.assign(
        **{"Voltage [V]": frame["Voltage [V]"] + np.random.default_rng(0).normal(0, 1e-3, 40_000)}
    )
    made = battery.ic_peaks(noisy, window=0.005)
    assert not made["Valid"].any()
    assert "needs a window of" in made["Warning"][0]
    wide = battery.ic_peaks(noisy, window=0.04)
    assert wide["Position [V]"][0] == pytest.approx(3.7, abs=0.005)
    assert battery.ic_peaks(noisy, window=0.025)["Warning"].str.contains("uncertain: a noise of").all()


@pytest.mark.parametrize("scale", [0.002, 0.005, 0.008, 0.02])
def test_a_peak_that_the_window_flattens_is_said(scale: float) -> None:
    made = battery.ic_peaks(peak_on_charge(25.0, 3.7, scale), width=0.002)
    off = abs(made["Height [A.h/V]"][0] / 25.0 - 1)
    said = "higher and narrower than said: the window is 20 mV" in made["Warning"][0]
    assert said == (off > 0.1)


def test_peaks_within_a_window_have_no_area() -> None:
    volts = np.linspace(3.4, 4.0, 40_000)
    charge = sum(1 / (1 + np.exp(-(volts - at) / 0.004)) for at in (3.70, 3.73)) + 0.1 * (volts - 3.4)
    frame = series(charge / charge[-1] * 72_000, np.full(40_000, -charge[-1] / 20), volts)
    made = battery.ic_peaks(frame, window=0.04, width=0.002, step=0.001, prominence=0.0)
    near = made["Warning"].str.contains("another peak is within one window")
    alone = battery.ic_peaks(frame, window=0.01, width=0.002, step=0.001)
    assert len(alone) == 2
    assert alone["Area [A.h]"].notna().all()
    assert made["Area [A.h]"][near].isna().all()


def test_a_counter_in_coarse_steps_is_replaced_by_the_integral() -> None:
    frame = peak_on_charge(25.0, 3.7, 0.02)
    passed = -frame["Current [A]"].iloc[0] * frame["Time [s]"] / 3600
    made = battery.ic_peaks(frame.assign(**{"Charge capacity [A.h]": np.floor(passed / 0.05) * 0.05}))
    assert len(made) == 1
    assert made["Position [V]"][0] == pytest.approx(3.7, abs=1e-4)
    assert "the counter has steps of 0.05 A.h" in made["Warning"][0]


def test_the_maximum_of_differential_voltage_is_found_or_said_not_to_be() -> None:
    made = battery.dva_features(both_ways())
    assert made["Peak to empty [A.h]"].to_numpy() == pytest.approx(1.2, abs=5e-3)
    assert made["Peak to full [A.h]"].to_numpy() == pytest.approx(0.8, abs=5e-3)
    elsewhere = battery.dva_features(both_ways(), within=(0.75, 0.95))
    assert not elsewhere["Valid"].any()
    assert elsewhere["Peak SOC"].isna().all()
    part = battery.dva_features(joined(slow(charge=True, ampere_hours=1.4, hours=14), slow(charge=False)))
    assert part["Valid"].tolist() == [False, True]
    assert "not a whole half cycle" in part["Warning"][0]


def two_maxima(*features: tuple[float, float]) -> pd.DataFrame:
    """A slow charge whose dV/dQ has maxima of these heights, V, at these SOC."""

    def volts(charge: np.ndarray) -> np.ndarray:
        made = 3.4 + 0.1 * charge
        for soc, height in features:
            made = made + height * np.tanh((charge / 2 - soc) / 0.02)
        return np.asarray(made)

    return slow_half_cycle(volts, 20.0, 2.0, charge=True)


def test_a_maximum_at_the_edge_of_the_range_does_not_give_way_to_a_lesser_one() -> None:
    """Half of it lay beyond the range, so that the lesser one was that of graphite, without a word."""
    edge = battery.dva_features(two_maxima((0.795, 0.1), (0.5, 0.02)))
    assert not edge["Valid"].any()
    assert edge["Peak SOC"].isna().all()
    assert "at SOC 0.80 and 0.50 is that of graphite is not known: give within" in edge["Warning"][0]
    nowhere = battery.dva_features(two_maxima((0.795, 0.1), (0.5, 0.02)), within=(0.7, 0.3))
    assert "no maximum between SOC 0.7 and 0.3" in nowhere["Warning"][0]
    near = battery.dva_features(two_maxima((0.795, 0.1), (0.5, 0.02)), within=(0.3, 0.7))
    assert near["Peak SOC"].tolist() == pytest.approx([0.5], abs=2e-3)


def test_prominence_is_that_of_the_whole_curve() -> None:
    frame = two_maxima((0.77, 0.1), (0.45, 0.04))
    made = battery.dva_features(frame)
    assert made["Peak SOC"].tolist() == pytest.approx([0.77], abs=2e-3)
    wide = battery.dva_features(frame, within=(0.3, 0.95))
    assert made["Prominence [V/A.h]"].tolist() == pytest.approx(wide["Prominence [V/A.h]"].tolist(), rel=1e-12)
    like = battery.dva_features(two_maxima((0.65, 0.1), (0.45, 0.09), (0.55, 0.01)))
    assert "dV/dQ has 2 maxima of like prominence" in like["Warning"][0]


def test_heat_needs_current_rise_and_resolution() -> None:
    frame = slow(charge=False, hours=1.0)
    assert battery.dtv(frame).attrs["warnings"][0]["code"] == "missing_column"
    warm = 25 + 3 * frame["Time [s]"] / 3600
    assert battery.dtv(frame.assign(**{"Temperature [degC]": warm}))["Valid"].all()
    for values, words in (
        (25 + 0.2 * (warm - 25), "rises by 0.6 K"),
        (np.round(2 * warm) / 2, "in steps of 0.5 K"),
        (warm + np.random.default_rng(0).normal(0, 0.1, len(warm)), "noise of 0."),
    ):
        made = battery.dtv(frame.assign(**{"Temperature [degC]": values}))
        assert not made["Valid"].any()
        assert words in made["Warning"][0]
    slower = battery.dtv(slow(charge=False).assign(**{"Temperature [degC]": 25.0}))
    assert "too little heat" in slower["Warning"][0]


def made_half_cells() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A negative and a positive electrode, V over stoichiometry 0.01 to 0.99."""
    x = np.linspace(0.01, 0.99, 300)
    low = 0.1 + 0.6 * np.exp(-x / 0.04) - 0.05 * np.tanh((x - 0.5) / 0.02)
    high = 4.4 - 0.9 * x - 0.15 * np.tanh((x - 0.45) / 0.08) - 0.3 * np.exp((x - 1) / 0.03)
    return tuple(pd.DataFrame({"Stoichiometry": x, "Voltage [V]": volts}) for volts in (low, high))  # type: ignore[return-value]


def made_cell(qn: float, qp: float, lithium: float, number: int, low: float = 3.0) -> pd.DataFrame:
    """A discharge of a cell of these amounts, A.h, from 4.2 V to ``low``."""
    anode, cathode = made_half_cells()
    charge = np.linspace(0, qn, 40_001)
    x = charge / qn
    y = (lithium - charge) / qp
    volts = np.interp(y, cathode["Stoichiometry"], cathode["Voltage [V]"]) - np.interp(
        x, anode["Stoichiometry"], anode["Voltage [V]"]
    )
    inside = (x > 0.01) & (x < 0.99) & (y > 0.01) & (y < 0.99) & (volts > low) & (volts < 4.2)
    q, u = charge[inside][::-1][::20], volts[inside][::-1][::20]
    time = (q[0] - q) / 0.1 * 3600
    return series(time, np.full(len(time), 0.1), u - 0.002).assign(id=number)


def test_degradation_modes_of_made_cells_are_found() -> None:
    anode, cathode = made_half_cells()
    frame = pd.concat([made_cell(2.4, 2.6, 2.5, 0), made_cell(2.28, 2.47, 2.25, 1)], ignore_index=True)
    made = battery.degradation_modes(frame, anode=anode, cathode=cathode, by="id")
    assert made["Valid"].all(), made["Warning"].tolist()
    last = made.iloc[1]
    assert last["LAM anode [%]"] == pytest.approx(5.0, abs=0.2)
    assert last["LAM cathode [%]"] == pytest.approx(5.0, abs=0.2)
    assert last["LLI [%]"] == pytest.approx(10.0, abs=0.2)
    assert last["LLI [A.h]"] == pytest.approx(0.25, abs=0.01)
    assert last["Offset [V]"] == pytest.approx(0.002, abs=1e-3)
    assert last["rms [mV]"] < 1
    again = battery.degradation_modes(frame, anode=anode, cathode=cathode, by="id")
    pd.testing.assert_frame_equal(made, again)


def test_a_check_up_without_a_slow_curve_is_a_row_with_the_reason() -> None:
    anode, cathode = made_half_cells()
    fast = slow(charge=False, hours=2.0).assign(id=1)
    frame = pd.concat([made_cell(2.4, 2.6, 2.5, 0), fast], ignore_index=True)
    made = battery.degradation_modes(frame, anode=anode, cathode=cathode, by="id", starts=5, rated=2.0)
    assert made["Valid"].tolist() == [True, False]
    assert "C/8 or slower" in made["Warning"][1]
    assert made["LLI [%]"].isna()[1]
    absent = battery.degradation_modes(frame, anode=anode, cathode=cathode, by="test")
    assert codes(absent) == {"missing_column"}


def test_losses_say_since_when_they_are() -> None:
    """The first check-up has no fit: the losses are those since the second, without a word that an earlier one is
    not in them."""
    anode, cathode = made_half_cells()
    fast = slow(charge=False, hours=2.0).assign(id="RPT0")
    later = [made_cell(2.4, 2.6, 2.5, 0).assign(id="RPT1"), made_cell(2.28, 2.47, 2.25, 1).assign(id="RPT2")]
    frame = pd.concat([fast, *later], ignore_index=True)
    made = battery.degradation_modes(frame, anode=anode, cathode=cathode, by="id", starts=5, rated=2.0)
    assert made["Valid"].tolist() == [False, True, True]
    assert made["LLI [%]"][1] == 0
    said = next(one for one in made.attrs["warnings"] if one["code"] == "reference_later")
    assert "since check-up 1 (RPT1)" in said["message"]
    whole = battery.degradation_modes(
        pd.concat(later, ignore_index=True), anode=anode, cathode=cathode, by="id", starts=5, rated=2.0
    )
    assert "reference_later" not in codes(whole)


def test_other_half_cells_are_refused() -> None:
    anode, cathode = made_half_cells()
    other = cathode.assign(**{"Voltage [V]": 3.4 - 0.05 * cathode["Stoichiometry"]})
    frame = made_cell(2.4, 2.6, 2.5, 0)
    made = battery.degradation_modes(frame, anode=anode, cathode=other, starts=5)
    assert not made["Valid"].any()
    assert made["Warning"].str.contains("above 10 mV|at a bound").all()
    assert made["LLI [%]"].isna().all()
    for table, code in (
        (anode.drop(columns="Stoichiometry"), "missing_column"),
        (anode.iloc[:5], "too_few"),
        (anode.assign(Stoichiometry=2 * anode["Stoichiometry"]), "half_cell"),
        (anode.assign(Stoichiometry=0.9 + 0.1 * anode["Stoichiometry"]), "half_cell"),
    ):
        assert codes(battery.degradation_modes(frame, anode=table, cathode=cathode)) == {code}


def test_half_cells_of_relative_stoichiometry_are_said(shared_data: Path) -> None:
    folder = shared_data.parent
    if not (folder / "cases" / "ampworks").exists():
        pytest.skip("the shared cases are absent")
    made = battery.degradation_modes(
        of_ampworks(folder, "cell1_smooth"),
        anode=half_cell(folder, "gr_smooth"),
        cathode=half_cell(folder, "nmc_smooth"),
        starts=5,
    )
    assert "stoichiometry_relative" in codes(made)
    assert made["rms [mV]"][0] < 2
    assert made["LLI [%]"][0] == 0


def after_load(every: float = 0.1, tau: float = 900.0, seconds: float = 7200.0) -> pd.DataFrame:
    on = series(np.arange(0, 100, 10.0), np.ones(10), np.full(10, 3.4))
    t = np.concatenate([np.arange(every, 60, every), np.arange(60.0, seconds + 1, 10.0)])
    off = series(t, 0 * t, 3.6 - 0.02 * np.exp(-t / 30) - 0.03 * np.exp(-t / tau))
    return joined(on, off, apart=0.0)


def test_relaxation_has_its_resistance_voltages_and_features() -> None:
    made = battery.relaxation(after_load()).iloc[0]
    assert made["Resistance [Ohm]"] == pytest.approx(0.15, abs=1e-3)
    for at in (10, 60, 1800):
        its = 3.6 - 0.02 * np.exp(-at / 30) - 0.03 * np.exp(-at / 900)
        assert made[f"Voltage at {at} s [V]"] == pytest.approx(its, abs=1e-4)
    assert made["Smallest [V]"] < made["Mean [V]"] < made["Largest [V]"]
    assert made["Skewness"] < 0
    assert made["Direction before"] == "discharge"


def test_relaxation_does_not_say_what_it_does_not_know() -> None:
    late = battery.relaxation(after_load(every=20.0)).iloc[0]
    assert np.isnan(late["Resistance [Ohm]"])
    assert np.isnan(late["Voltage at 10 s [V]"])
    assert "no resistance" in late["Warning"]
    slow_one = battery.relaxation(after_load(tau=30_000, seconds=3600)).iloc[0]
    assert np.isnan(slow_one["V_inf [V]"])
    assert np.isnan(slow_one["tau2 [s]"])
    assert "V_inf is not known" in slow_one["Warning"]
    short = battery.relaxation(
        joined(after_load(every=20.0).iloc[:13], rest(3600, 3.59, every=1200.0), apart=100.0)
    )
    assert not short["Valid"].any()
    assert "fewer than 20" in short["Warning"][0]


def test_a_time_constant_at_its_bound_is_not_known() -> None:
    """One of 30 s cannot be seen in samples from 60 s on; that of 900 s can."""
    on, t = after_load().iloc[:10], np.arange(60.0, 7201, 60.0)
    coarse = joined(on, series(t, 0 * t, 3.6 - 0.02 * np.exp(-t / 30) - 0.03 * np.exp(-t / 900)), apart=0.0)
    made = battery.relaxation(coarse).iloc[0]
    assert made[["tau1 [s]", "a1 [V]"]].isna().all()
    assert "tau1 is not known: it is as short as the fit allows, 60 s" in made["Warning"]
    assert made["tau2 [s]"] == pytest.approx(900, rel=0.02)
    assert made["V_inf [V]"] == pytest.approx(3.6, abs=1e-4)
    assert battery.relaxation(after_load()).iloc[0]["tau1 [s]"] == pytest.approx(30, rel=0.01)


RELAXED = ["a1 [V]", "tau1 [s]", "a2 [V]", "tau2 [s]"]


@pytest.mark.parametrize("noise", [0.0, 1e-4])
@pytest.mark.parametrize("every", [1.0, 60.0])
def test_one_time_constant_is_not_taken_for_two(every: float, noise: float) -> None:
    """Two were made of it by noise, such as -0.055 V with 798 s and 0.085 V with 834 s, or V_inf was not known."""
    on, t = after_load().iloc[:10], np.arange(every, 7201, every)
    volts = 3.6 - 0.03 * np.exp(-t / 900) + noise * np.random.default_rng(0).normal(size=len(t))
    made = battery.relaxation(joined(on, series(t, 0 * t, volts), apart=0.0)).iloc[0]
    assert made[["V_inf [V]", "a1 [V]", "tau1 [s]"]].tolist() == pytest.approx([3.6, 0.03, 900], rel=0.01)
    assert made[["a2 [V]", "tau2 [s]"]].isna().all()
    assert "the samples show one time constant only" in made["Warning"]


def test_a_voltage_without_a_course_has_no_time_constant() -> None:
    on, t = after_load().iloc[:10], np.arange(1.0, 3601)
    volts = 3.6 + 1e-4 * np.random.default_rng(0).normal(size=len(t))
    made = battery.relaxation(joined(on, series(t, 0 * t, volts), apart=0.0)).iloc[0]
    assert made[RELAXED].isna().all()
    assert made["V_inf [V]"] == pytest.approx(3.6, abs=1e-4)
    assert "no time constant" in made["Warning"]


def test_time_constants_that_are_both_at_the_bound_are_not_known() -> None:
    """One of 20 s, of which the samples from 60 s on show the end."""
    on, t = after_load().iloc[:10], np.arange(60.0, 7201, 60.0)
    made = battery.relaxation(joined(on, series(t, 0 * t, 3.6 - 0.02 * np.exp(-t / 20)), apart=0.0)).iloc[0]
    assert made[RELAXED].isna().all()
    assert "tau2 is not known: it is too close to tau1" in made["Warning"]


def test_a_rest_that_goes_on_past_the_end_of_its_fit_has_no_v_inf() -> None:
    """After a C/10 discharge of an LG M50 two exponentials ended 23 mV below the last sample of a voltage that still
    rose, and that was called extrapolated."""
    on, t = after_load().iloc[:10], np.geomspace(1.0, 21600, 2000)
    made = battery.relaxation(joined(on, series(t, 0 * t, 3.4 + 0.04 * np.log(t)), apart=0.0)).iloc[0]
    assert np.isnan(made["V_inf [V]"])
    assert "mV past the end of the fit: V_inf is not known" in made["Warning"]
    fallen = 3.6 + 0.02 * np.exp(-t / 900) - 0.05 * np.exp(-t / 20)
    down = battery.relaxation(joined(on, series(t, 0 * t, fallen), apart=0.0)).iloc[0]
    assert down["V_inf [V]"] == pytest.approx(3.6, abs=1e-5)


def test_two_samples_at_the_end_of_a_rest_are_not_its_drift() -> None:
    """A rest that is logged every 10 min, and again 0.1 s later at its end: a bit of 0.15 mV there made 5 V/h of it."""
    on, t = after_load().iloc[:10], np.append(np.arange(600.0, 7201, 600.0), 7200.1)
    volts = 3.6 - 0.001 * np.exp(-t / 3600) + np.append(np.zeros(12), 1.5e-4)
    frame = joined(on, series(t, 0 * t, volts), apart=0.0)
    true = 1000 * 0.001 * np.exp(-7200 / 3600)
    assert battery.ocv_from_rests(frame)["Drift [mV/h]"].iloc[0] == pytest.approx(true, abs=1)
    pulse = series(np.arange(0.1, 10, 0.1), np.full(99, 1.0), np.full(99, 3.5))
    assert abs(battery.dcir(joined(frame, pulse, apart=0.1))["Drift before [mV/min]"].iloc[-1]) < 0.1


def test_a_rest_that_still_drifts_is_marked() -> None:
    made = battery.ocv_from_rests(after_load(tau=3000, seconds=3600))
    assert made["Warning"].str.contains("mV/h: not at equilibrium").all()
    relaxed = battery.ocv_from_rests(after_load())
    assert not relaxed["Warning"].str.contains("equilibrium").any()
    assert codes(battery.ocv_from_rests(after_load(), least=10_000)) == {"no_rests"}


def logged_by_voltage(every: float) -> pd.DataFrame:
    """A charge with a peak of 25.3 A.h/V at 3.6 V, of which a cycler logs a sample at each ``every`` V."""
    volts = np.arange(3.0, 4.2, 1e-5)
    charge = 2 / (1 + np.exp(-(volts - 3.6) / 0.02)) + 0.3 * (volts - 3.0)
    hours = (charge - charge[0]) / (charge[-1] - charge[0]) * 20
    seconds = np.arange(0.0, 72000.0, 5.0)
    every_second = np.interp(seconds, 3600 * hours, volts)
    kept = np.unique(np.searchsorted(every_second, np.arange(3.0, every_second[-1], every)))
    amps = -(charge[-1] - charge[0]) / 20
    return series(seconds[kept], np.full(len(kept), amps), every_second[kept])


@pytest.mark.parametrize("every", [0.002, 0.005, 0.01])
def test_samples_at_each_step_of_voltage_are_not_noise(every: float) -> None:
    made = battery.ic_peaks(logged_by_voltage(every), rated=2.36)
    assert made["Valid"].tolist() == [True]
    assert made["Position [V]"].iloc[0] == pytest.approx(3.6, abs=0.003)
    assert made["Height [A.h/V]"].iloc[0] == pytest.approx(24.94, rel=0.015)
    assert made["Warning"].iloc[0] == ""


def test_samples_further_apart_than_the_window_have_no_peaks_and_say_so() -> None:
    uncertain = battery.ic_peaks(logged_by_voltage(0.015), rated=2.36)
    assert "uncertain: the samples are 15 mV apart" in uncertain["Warning"].iloc[0]
    apart = battery.ic_peaks(logged_by_voltage(0.04), rated=2.36)
    assert not apart["Valid"].any()
    assert "the samples are 40 mV apart, further than the window of 20 mV" in apart["Warning"].iloc[0]
