"""The analyses of steps and cycles: what each refuses or warns of. Their numbers are in ``test_validation``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.analysis_frames import DISCHARGED, RATES, STORED, TESTS, cycles, formation_steps

from tools.validation.made import discharges, step_row, storage
from workbench import battery


def codes(made: pd.DataFrame) -> set[str]:
    return {remark["code"] for remark in made.attrs["warnings"]}


def only(made: pd.DataFrame) -> pd.Series:
    assert len(made) == 1
    return made.iloc[0]


def stretched(steps: pd.DataFrame, number: int, **columns: float | str) -> pd.DataFrame:
    """The steps with other values in one of them."""
    made = steps.copy()
    for name, value in columns.items():
        made.loc[made["Step count"] == number, name] = value
    return made


# capacity_by_step


def with_held(kind: str) -> pd.DataFrame:
    rows = [
        step_row(0, "Constant current charge", -1.0, 1.5, 2.5, 4.2),
        step_row(1, kind, -0.5, 1.0, 4.2, 4.2),
        step_row(2, "Constant current discharge", 1.0, 1.9, 4.2, 2.5),
    ]
    return pd.DataFrame(rows)


def test_the_parts_of_a_charge() -> None:
    made = only(battery.capacity_by_step(with_held("Constant voltage charge")))
    assert made["CC charge capacity [A.h]"] == 1.5
    assert made["CV charge capacity [A.h]"] == 0.5
    assert made["Other charge capacity [A.h]"] == 0
    assert made["CV share of charge"] == 0.25
    assert made["CV charge duration [s]"] == 3600
    assert made["Warning"] == ""


def test_steps_of_other_types_are_other_and_warned_of() -> None:
    made = only(battery.capacity_by_step(with_held("Unknown step type")))
    assert made["Other charge capacity [A.h]"] == 0.5
    assert made["Warning"] == "25 % of the charge is in steps of other types"


def test_a_cycle_of_one_step_has_no_share_of_the_other_direction() -> None:
    made = only(battery.capacity_by_step(RATES.iloc[:1]))
    assert made["Charge capacity [A.h]"] == 2.0
    assert np.isnan(made["CV share of discharge"])


def test_steps_without_energy_have_charge() -> None:
    made = battery.capacity_by_step(RATES.drop(columns=["Charge energy [W.h]", "Discharge energy [W.h]"]))
    assert codes(made) == {"no_energy"}
    assert made["CC charge energy [W.h]"].isna().all()
    assert made["CC charge capacity [A.h]"].notna().all()


# efficiency


def test_incomplete_cycles_have_no_efficiency() -> None:
    made = battery.efficiency(cycles(4).assign(Complete=[True, False, None, True]))
    assert made["Coulombic efficiency"].isna().tolist() == [False, True, False, False]
    assert made["Warning"].tolist()[1:3] == [
        "the cycle is not complete",
        "it is not known whether the cycle is complete",
    ]
    assert made["Complete"].tolist() == ["yes", "no", "unknown", "yes"]


def test_a_first_cycle_that_came_charged_has_no_efficiency() -> None:
    frame = cycles(3)
    frame.loc[0, "Charge capacity [A.h]"] /= 2
    made = battery.efficiency(frame)
    assert made["Valid"].tolist() == [False, True, True]
    assert "came charged" in made["Warning"][0]


def test_a_cell_that_gives_more_than_it_takes_is_said() -> None:
    """As the anode of a half cell does, where the discharge puts the lithium in."""
    frame = cycles(5)
    more = frame.assign(**{"Discharge capacity [A.h]": 1.005 * frame["Charge capacity [A.h]"]})
    made = battery.efficiency(more)
    assert "ce_above_one" in codes(made)
    assert made["Valid"].all()
    assert "ce_above_one" not in codes(battery.efficiency(more, accuracy=0.01))
    assert "ce_above_one" not in codes(battery.efficiency(more.iloc[:2]))
    assert "ce_above_one" not in codes(battery.efficiency(frame))


def test_an_unusual_efficiency_is_warned_of() -> None:
    frame = cycles(3)
    frame.loc[1, "Charge capacity [A.h]"] *= 1.1
    made = battery.efficiency(frame)
    assert made["Valid"].all()
    assert "more than 0.05 from 1" in made["Warning"][1]
    unsure = battery.efficiency(frame.assign(Complete=None))
    assert unsure["Valid"].tolist() == [True, False, True]
    assert "not known whether" in unsure["Warning"][1]


def test_no_cycle_gives_more_than_it_took() -> None:
    frame = cycles(3)
    frame.loc[1, "Charge capacity [A.h]"] /= 10
    made = battery.efficiency(frame)
    assert made["Valid"].tolist() == [True, False, True]
    assert "came in another cycle" in made["Warning"][1]


def test_no_cycle_gives_more_energy_than_it_took() -> None:
    """As one voltage of 99.999 V in the discharge makes it."""
    frame = cycles(3)
    frame.loc[1, "Discharge energy [W.h]"] = 1.27 * frame.loc[1, "Charge energy [W.h]"]
    made = battery.efficiency(frame)
    assert made["Valid"].tolist() == [True, False, True]
    assert made["Energy efficiency"].isna().tolist() == [False, True, False]
    assert "gave 1.27 times the energy" in made["Warning"][1]
    assert "voltages that are not of the cell" in made["Warning"][1]


def test_another_rate_before_is_warned_of() -> None:
    made = battery.efficiency(cycles(3).assign(**{"Mean discharge current [A]": [1.0, 1.0, 2.0]}))
    assert ["another rate" in said for said in made["Warning"]] == [False, False, True]


def test_the_accuracy_of_the_cycler_bounds_the_digits() -> None:
    made = battery.efficiency(cycles(2), accuracy=0.002)
    assert "within the accuracy" in made["Warning"][0]
    assert "accuracy_unknown" not in codes(made)
    assert "accuracy_unknown" in codes(battery.efficiency(cycles(2)))
    with pytest.raises(ValueError, match="accuracy"):
        battery.efficiency(cycles(2), accuracy=0)


# retention, soh, equivalent_cycles


def test_retention_without_a_complete_cycle_is_refused() -> None:
    made = only(battery.retention(cycles(5).assign(Complete=False)))
    assert made["Warning"] == "The reference 'first' needs 1 complete cycles; there are 0."


def test_an_incomplete_cycle_is_not_the_reference() -> None:
    frame = cycles(5).assign(Complete=[False, *[True] * 4])
    frame.loc[0, DISCHARGED] = 0.2
    made = battery.retention(frame)
    assert made["Reference [A.h]"].unique().tolist() == [frame[DISCHARGED][1]]
    assert made["Valid"].tolist() == [False, *[True] * 4]


@pytest.mark.parametrize("complete", [{}, {"Complete": None}])
def test_a_first_discharge_that_began_half_full_is_not_the_reference(complete: dict[str, None]) -> None:
    frame = cycles(60).drop(columns="Complete").assign(**complete)
    frame.loc[0, DISCHARGED] /= 2
    made = battery.retention(frame)
    assert made["Reference [A.h]"].unique().tolist() == [frame[DISCHARGED][1]]
    assert made["Warning"][0] == "the cell came part-charged"
    assert np.isnan(made["Retention"][0])
    assert made["Retention"].max() == 1
    assert "part_charged" in codes(made)
    ended = battery.end_of_life(frame, threshold=0.99)
    assert "part_charged" in codes(ended)
    assert only(ended)["EOL cycle"] == only(battery.end_of_life(frame.iloc[1:], threshold=0.99))["EOL cycle"]
    decided = battery.retention(frame.assign(Complete=True))
    assert decided["Reference [A.h]"][0] == frame[DISCHARGED][0], "where it is known to be whole, that decides"


def test_a_reference_that_is_not_known_is_refused() -> None:
    assert codes(battery.retention(cycles(5), reference="rated")) == {"no_rated_capacity"}
    assert codes(battery.retention(cycles(5), reference="median of 2..6")) == {"too_few"}
    with pytest.raises(ValueError, match=r"'first', 'median of 2\.\.6', 'rated', 'max of first 10'"):
        battery.retention(cycles(5), reference="last")  # type: ignore[arg-type]


def test_rates_and_temperatures_that_differ_and_a_rise_are_warned_of() -> None:
    frame = cycles(20)
    frame["Mean discharge current [A]"] = [1.0] * 10 + [2.0] * 10
    frame["Mean temperature [degC]"] = np.linspace(20, 30, 20)
    frame.loc[0, DISCHARGED] = 1.9
    assert codes(battery.retention(frame)) == {"rates_differ", "temperature_spread", "rises_first"}
    assert codes(battery.retention(cycles(20))) == set()
    unknown = cycles(5).drop(columns=["Mean temperature [degC]", "Complete"])
    assert codes(battery.retention(unknown)) == {"temperature_unknown", "complete_unknown"}


def test_cycles_of_several_tests_are_counted_over_the_life() -> None:
    frame = pd.concat([cycles(3), cycles(3)]).assign(**{"Cycle in life": range(6)})
    assert codes(battery.retention(frame)) == {"several_tests"}
    made = battery.retention(frame, x="Cycle in life", rated=2.0)
    assert made["Cycle count"].tolist() == [0, 1, 2, 3, 4, 5]
    full = battery.equivalent_cycles(frame, x="Cycle in life", rated=2.0)["Equivalent full cycles"]
    assert full.tolist() == made["Equivalent full cycles"].tolist()


def test_resistance_alone_makes_a_state_of_health() -> None:
    made = battery.soh(TESTS.drop(columns=DISCHARGED))
    assert made["SOH R"].tolist() == pytest.approx([1.0, 0.75, 0.3])
    assert made["SOH C"].isna().all()
    assert codes(battery.soh(TESTS[["Check-up"]])) == {"missing_column"}
    with pytest.raises(ValueError, match="more than 1 times"):
        battery.soh(TESTS, end=1.0)


def test_equivalent_cycles_need_the_rated_capacity_and_every_cycle() -> None:
    assert codes(battery.equivalent_cycles(cycles(3))) == {"no_rated_capacity"}
    frame = cycles(4)
    frame.loc[2, DISCHARGED] = np.nan
    made = battery.equivalent_cycles(frame, rated=2.0)
    assert made["Valid"].tolist() == [True, True, False, False]
    with pytest.raises(ValueError, match="rated capacity must be a number above 0"):
        battery.equivalent_cycles(frame, rated=-1.0)


def test_what_missing_steps_passed_is_not_counted_in_silence() -> None:
    for helper in (battery.capacity_by_step, battery.cycle_count):
        assert "rows_left_out" not in codes(helper(RATES))
        said = [one["message"] for one in helper(RATES.drop(index=RATES.index[1])).attrs["warnings"]]
        assert "Step 1 is not in the frame: what passed there is not counted." in said


def test_what_missing_cycles_passed_is_not_counted_in_silence() -> None:
    whole = battery.equivalent_cycles(cycles(6), rated=2.0)
    assert codes(whole) == set()
    made = battery.equivalent_cycles(cycles(6).drop(index=[2, 3]), rated=2.0)
    assert made["Equivalent full cycles"].iloc[-1] < whole["Equivalent full cycles"].iloc[-1]
    lacks = "cycle 2 to 3 are not in the frame: what passed there is not counted"
    assert made["Warning"].tolist() == ["", "", lacks, lacks]
    assert codes(made) == {"rows_left_out"}
    assert "rows_left_out" in codes(battery.retention(cycles(6).drop(index=2), rated=2.0))
    assert "rows_left_out" not in codes(battery.retention(cycles(6).drop(index=2)))


# cycle_count


def test_pulses_and_pauses_do_not_count_as_cycles() -> None:
    rows = [
        step_row(0, "Constant current discharge", 1.0, 1.0, 4.2, 3.6),
        step_row(1, "Rest", 0.0, 1.0, 3.6, 3.7),
        step_row(2, "Constant current charge", -1.0, 0.01, 3.7, 3.8),
        step_row(3, "Constant current discharge", 1.0, 1.0, 3.7, 2.5),
        step_row(4, "Constant current charge", -1.0, 2.0, 2.5, 4.2),
        step_row(5, "Constant current discharge", 1.0, 2.0, 4.2, 2.5),
    ]
    made = battery.cycle_count(pd.DataFrame(rows))
    assert made[DISCHARGED].tolist() == pytest.approx([2.0, 2.0])
    assert made["First step"].tolist() == [0, 5]
    assert made["Warning"].tolist() == ["", "the second half of the cycle is missing"]


def test_a_counter_that_differs_is_to_be_kept() -> None:
    made = battery.cycle_count(RATES.assign(**{"Cycle from cycler": range(len(RATES))}))
    assert codes(made) == {"counter_differs"}
    assert codes(battery.cycle_count(RATES.assign(**{"Cycle count": 0}))) == set()


def test_a_test_without_charge_has_no_cycles() -> None:
    rest = pd.DataFrame([step_row(n, "Rest", 0.0, 1.0, 3.7, 3.7) for n in range(3)])
    assert codes(battery.cycle_count(rest)) == {"no_charge"}
    with pytest.raises(ValueError, match="least share"):
        battery.cycle_count(RATES, least=1.0)


def test_a_step_without_its_charge_is_refused() -> None:
    made = only(battery.cycle_count(stretched(RATES, 2, **{DISCHARGED: np.nan})))
    assert made["Warning"].startswith("Step 2 has no")


# formation


def test_formation_counts_the_slow_cycles_until_they_settle() -> None:
    made = only(battery.formation(formation_steps(), rated=2.0))
    assert made["Cycles"] == 3
    assert made["First-cycle loss [A.h]"] == pytest.approx(0.3)
    assert made["ICE"] == pytest.approx(2 / 2.3)
    assert made["Sum of losses [A.h]"] == pytest.approx(0.33)
    assert "start_assumed" in codes(battery.formation(formation_steps()))
    assert "start_assumed" not in codes(battery.formation(formation_steps(), tagged=True))


def test_formation_needs_the_first_charge() -> None:
    steps = formation_steps()
    turned = battery.formation(steps.iloc[1:])
    assert codes(turned) == {"not_the_first"}
    assert (
        "Of an electrode against lithium, which begins with a discharge, say half_cell=True"
        in turned["Warning"][0]
    )
    late = stretched(steps, 0, **{"Start voltage [V]": 3.7})
    assert codes(battery.formation(late)) == {"not_the_first"}
    assert battery.formation(late, tagged=True)["Valid"].iloc[0]
    assert codes(battery.formation(steps.drop(columns="Start voltage [V]"))) == {"missing_column"}


def test_fast_first_cycles_are_no_formation() -> None:
    steps = formation_steps()
    fast = steps.assign(**{"Mean current [A]": steps["Mean current [A]"] * 10})
    assert codes(battery.formation(fast, rated=2.0)) == {"too_fast"}
    assert codes(battery.formation(steps.iloc[8:], rated=2.0)) == {"too_fast"}


def test_a_cell_that_gives_more_than_it_took_has_no_loss() -> None:
    made = only(battery.formation(stretched(formation_steps(), 0, **{"Charge capacity [A.h]": 1.5}), tagged=True))
    assert not made["Valid"]
    assert np.isnan(made["ICE"])


# rate_capability, peukert


def test_two_rates_are_not_a_rate_test() -> None:
    two = discharges([(0.2, 2.0), (1.0, 1.9)])
    assert "not_a_rate_test" in codes(battery.rate_capability(two))
    assert codes(battery.peukert(two)) == {"too_few"}


def test_a_discharge_that_was_stopped_is_left_out() -> None:
    steps = stretched(RATES, 8, **{"End voltage [V]": 3.4})
    made = battery.rate_capability(steps)
    assert made["Current [A]"].tolist() == [0.2, 1.0, 4.0]
    assert "step 8 (ends at 3.400 V" in made.attrs["warnings"][0]["message"]


def test_a_discharge_without_a_charge_before_it_is_left_out() -> None:
    made = battery.rate_capability(RATES.iloc[2:])
    assert made["Current [A]"].tolist() == [1.0, 2.0, 4.0]
    assert "step 2 (no charge before it)" in made.attrs["warnings"][0]["message"]


def test_rests_in_which_the_cycler_shows_some_milliamperes_are_no_part_of_a_discharge() -> None:
    rows: list[dict[str, float | str]] = []
    for row in RATES.to_dict("records"):
        rows.append({**row, "Step count": len(rows)})
        volts, cycle = 3.0 if "discharge" in str(row["Step type"]) else 4.1, float(row["Cycle count"])
        rows.append(step_row(len(rows), "Constant current discharge", 0.004, 1.0, volts, volts, int(cycle)))
    made, clean = battery.rate_capability(pd.DataFrame(rows)), battery.rate_capability(RATES)
    columns = ["Current [A]", "CC capacity [A.h]", "Duration [s]", "Mean power [W]", "n"]
    assert made[columns].to_numpy() == pytest.approx(clean[columns].to_numpy())
    assert "left_out" not in codes(made)


def test_discharges_of_other_types_are_the_reason() -> None:
    """At 100 A the noise of a cycler may be above 10 mA."""
    noisy = RATES.assign(
        **{"Step type": RATES["Step type"].str.replace("Constant current discharge", "Unknown step type")}
    )
    said = battery.rate_capability(noisy)["Warning"].iloc[0]
    assert "those after a charge are of type 'Unknown step type'. A current that deviates by 10 mA" in said


def test_a_refusal_names_more_than_the_first_discharge() -> None:
    rows = []
    for n in range(3):
        rows.append(step_row(3 * n, "Constant current charge", -0.5, 4.0, 2.5, 4.2, n))
        rows.append(step_row(3 * n + 1, "Constant current discharge", 1.0, 1.0, 4.2, 3.4, n))
        rows.append(step_row(3 * n + 2, "Constant current discharge", 0.5, 2.0, 3.4, 2.5, n))
    said = battery.rate_capability(pd.DataFrame(rows))["Warning"].iloc[0]
    assert "step 1 (at several currents), step 4 (at several currents)" in said


def test_charges_that_end_differently_are_warned_of() -> None:
    rows = []
    for n, (cut, current) in enumerate([(0.05, 0.2), (0.2, 1.0), (0.05, 2.0)]):
        rows.append(step_row(3 * n, "Constant current charge", -0.5, 4.0, 2.5, 4.2, n))
        held = step_row(3 * n + 1, "Constant voltage charge", -0.2, 0.5, 4.2, 4.2, n)
        rows.append({**held, "Max current [A]": -cut})
        rows.append(step_row(3 * n + 2, "Constant current discharge", current, 2 / current, 4.2, 2.5, n))
    assert "unequal_charges" in codes(battery.rate_capability(pd.DataFrame(rows)))
    no_hold = [row for row in rows if row["Step count"] != 4]
    assert "unequal_charges" in codes(battery.rate_capability(pd.DataFrame(no_hold)))


def test_constant_voltage_does_not_count_in_a_rate() -> None:
    rows = RATES.to_dict("records")
    rows.append(step_row(len(rows), "Constant voltage discharge", 0.1, 2.0, 2.5, 2.5, 3))
    made = battery.rate_capability(pd.DataFrame(rows))
    assert made["CC capacity [A.h]"].iloc[-1] == pytest.approx(1.7)


def test_warm_discharges_are_warned_of() -> None:
    steps = RATES.assign(**{"Mean temperature [degC]": np.linspace(25, 30, len(RATES))})
    assert "temperature_spread" in codes(battery.rate_capability(steps))


def test_specific_values_need_the_mass() -> None:
    made = battery.rate_capability(RATES, rated=2.0, mass=40.0)
    assert made["Specific energy [W.h/kg]"].tolist() == pytest.approx((made["Energy [W.h]"] / 0.04).tolist())
    assert battery.rate_capability(RATES)["Specific energy [W.h/kg]"].isna().all()
    assert "no_rated_capacity" in codes(battery.rate_capability(RATES))
    assert "no_rated_capacity" not in codes(made)


def test_a_capacity_that_rises_with_the_rate_is_warned_of() -> None:
    made = only(battery.peukert(discharges([(0.2, 1.8), (1.0, 1.9), (4.0, 2.0)])))
    assert made["Exponent"] < 1
    assert "below 1" in made["Warning"]


def test_less_than_a_decade_is_warned_of() -> None:
    assert "narrow_range" in codes(battery.peukert(discharges([(0.5, 2.0), (1.0, 1.9), (2.0, 1.8)])))
    assert "narrow_range" not in codes(battery.peukert(RATES))


# self_discharge, calendar


def test_a_storage_after_a_discharge_that_began_part_charged_is_refused() -> None:
    steps = storage(30, 2.0, 1.9, 1.98)
    for name in ("Discharge capacity [A.h]", "Discharge energy [W.h]"):
        steps.loc[0, name] /= 2
    made = only(battery.self_discharge(steps))
    assert made["Warning"] == "the discharge before the storage began part-charged"
    assert np.isnan(made["Reversible [A.h]"])


def test_a_storage_with_one_sample_lasts_from_load_to_load() -> None:
    """A cycler that logs a rest by one sample has a step of 0 s."""
    steps = storage(30, 2.0, 1.9, 1.98)
    rests = steps["Step type"].eq("Rest") & (steps["Duration [s]"] > 86400)
    steps = steps.assign(**{"End time [s]": steps["Start time [s]"] + steps["Duration [s]"]})
    steps.loc[rests, "Start time [s]"], steps.loc[rests, "Duration [s]"] = steps.loc[rests, "End time [s]"], 0.0
    assert only(battery.self_discharge(steps))["Storage [d]"] == pytest.approx(30)


def test_a_storage_in_which_a_little_current_flows_is_named() -> None:
    steps = storage(30, 2.0, 1.9, 1.98)
    rests = steps["Step type"].eq("Rest") & (steps["Duration [s]"] > 86400)
    steps.loc[rests, ["Step type", "Mean current [A]"]] = ["Constant current discharge", 0.002]
    refused = battery.self_discharge(steps)["Warning"].iloc[0]
    assert "lasts 30 d, and is not a rest by its 'Step type': its mean current is 0.002 A" in refused


def test_short_storage_is_refused() -> None:
    assert codes(battery.self_discharge(storage(0.9, 2.0, 1.9, 1.98))) == {"no_storage"}
    with pytest.raises(ValueError, match="at least 24 h"):
        battery.self_discharge(storage(30, 2.0, 1.9, 1.98), rest=3600)


def test_storage_without_reference_discharges_has_no_loss() -> None:
    made = only(battery.self_discharge(storage(30, 2.0, 1.9, 1.98).iloc[1:]))
    assert not made["Valid"]
    assert made["Storage [d]"] == pytest.approx(30)
    assert np.isnan(made["Reversible [A.h]"])


def test_discharges_to_different_voltages_do_not_compare() -> None:
    made = only(battery.self_discharge(stretched(storage(30, 2.0, 1.9, 1.98), 5, **{"End voltage [V]": 2.8})))
    assert "different voltages" in made["Warning"]
    assert np.isnan(made["Irreversible [A.h]"])


def test_a_loss_between_discharges_at_different_currents_is_warned_of() -> None:
    steps = storage(30, 2.0, 1.9, 1.98)
    assert not only(battery.self_discharge(steps))["Warning"]
    steps.loc[3, "Mean current [A]"] = 3.0
    made = only(battery.self_discharge(steps))
    assert (
        made["Warning"] == "the discharges are at different currents, 1, 3, 1 A: a part of the losses is of these"
    )


def test_capacity_that_rose_is_warned_of() -> None:
    made = only(battery.self_discharge(storage(30, 2.0, 1.9, 2.02)))
    assert made["Irreversible [A.h]"] == pytest.approx(-0.02)
    assert "overhang" in made["Warning"]


def test_few_samples_give_no_slope() -> None:
    samples = pd.DataFrame({"Time [s]": [1e4, 2e4], "Voltage [V]": [4.1, 4.09]})
    made = only(battery.self_discharge(storage(30, 2.0, 1.9, 1.98), samples=samples))
    assert np.isnan(made["Voltage slope [mV/d]"])
    assert "fewer than 3 samples" in made["Warning"]
    assert codes(battery.self_discharge(storage(30, 2.0, 1.9, 1.98), samples=samples[["Time [s]"]])) == {
        "missing_column"
    }


def test_a_slope_of_thinned_samples_has_a_warning_in_its_row() -> None:
    time = np.arange(0, 40 * 86400, 3600.0)
    whole = pd.DataFrame({"Time [s]": time, "Voltage [V]": 4.2 - 1e-8 * time})
    steps = storage(30, 2.0, 1.9, 1.98)
    assert only(battery.self_discharge(steps, samples=whole))["Warning"] == ""
    thinned = only(battery.self_discharge(steps, samples=whole.iloc[::5]))
    assert np.isfinite(thinned["Voltage slope [mV/d]"])
    assert "The slope of the voltage is of fewer samples" in thinned["Warning"]


def test_three_checkups_are_too_few_for_a_law() -> None:
    made = only(battery.calendar(STORED.iloc[:3]))
    assert made["Warning"] == "at least 4 check-ups are needed; there are 3"
    assert made["Group"] == "SOC 0.5"
