"""The analyses of lives and fleets: what each refuses or warns of. Their numbers are in ``test_validation``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.analysis_frames import DISCHARGED, LAW, bent, curves, cycles, early, fleet

from workbench import battery
from workbench.battery.fleet.broken_lines import BrokenLines
from workbench.battery.fleet.course import jumps


def codes(made: pd.DataFrame) -> set[str]:
    return {remark["code"] for remark in made.attrs["warnings"]}


def only(made: pd.DataFrame) -> pd.Series:
    assert len(made) == 1
    return made.iloc[0]


def fading(*slopes: float, each: int = 100) -> pd.DataFrame:
    """Cycles whose fade has one slope after the other, per cycle."""
    falls = np.repeat(slopes, each)
    return cycles(len(falls)).assign(**{DISCHARGED: 2 * (1 - np.cumsum(falls))})


# knee


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (fading(1e-4, 1e-4, 1.1e-4), "fell by"),
        (fading(6e-4, 6e-4, 6e-4), "do not steepen"),
        (fading(9e-4, 3e-4, 1e-4), "do not steepen"),
        (fading(1e-4, 2e-3, 2e-4), "do not steepen"),
        (cycles(49), "At least 50 complete cycles"),
        (cycles(200).assign(Complete=False), "At least 50 complete cycles"),
        (bent().assign(**{"Mean discharge current [A]": [1.0, 2.0] * 200}), "different currents"),
    ],
)
def test_where_there_is_no_knee_there_is_no_number(frame: pd.DataFrame, reason: str) -> None:
    made = only(battery.knee(frame, bootstrap=0))
    assert not made["Valid"]
    assert reason in made["Warning"]
    assert np.isnan(made["Knee cycle"])
    assert np.isnan(made["Onset cycle"])


def test_a_knee_is_found_with_its_band_and_twice_the_same() -> None:
    frame = bent()
    frame[DISCHARGED] += np.random.default_rng(1).normal(0, 0.004, len(frame))
    one, two = battery.knee(frame, bootstrap=30), battery.knee(frame, bootstrap=30)
    pd.testing.assert_frame_equal(one, two)
    made = only(one)
    assert made["Onset low"] <= made["Onset cycle"] <= made["Onset high"]
    assert made["Onset cycle"] == pytest.approx(200, abs=15)
    assert made["Second bend"] == pytest.approx(320, abs=8)
    assert made["Slope 1 [1/cycle]"] > made["Slope 2 [1/cycle]"] > made["Slope 3 [1/cycle]"]


@pytest.mark.parametrize(("n", "block"), [(120, 40), (500, 50), (1000, 50)])
def test_what_blocks_of_residuals_show_of_the_deviation_of_a_bend(n: int, block: int) -> None:
    """By the whole projection: the part of the deviation that the fit leaves, and Student's t of few blocks."""
    x, bends = np.linspace(0, 1, n), (0.6, 0.85)
    derivatives = np.column_stack(
        [np.ones(n), x, *(np.abs(x - bend) for bend in bends), *(np.sign(x - bend) for bend in bends)]
    )
    left = np.eye(n) - derivatives @ np.linalg.pinv(derivatives)  # the covariance of residuals of noise 1
    starts = range(n - block + 1)
    usual = sum(left[at : at + block, at : at + block] for at in starts) / len(starts)
    moves = np.linalg.pinv(derivatives)[-2]
    parts = [moves[at : at + block] for at in range(0, n, block)]
    kept = sum(part @ usual[: len(part), : len(part)] @ part for part in parts) / (moves @ moves)
    student = stats.t.ppf(0.95, max(1.5 * n / block - 6, 3)) / stats.norm.ppf(0.95)
    found = BrokenLines(np.arange(float(n))).shown_by_blocks([bend * (n - 1) for bend in bends], block)
    assert found == pytest.approx(kept**0.5 / student, rel=0.03)


@pytest.mark.long
def test_the_band_of_the_onset_holds_it_as_often_as_it_says() -> None:
    """Of 40 courses 28 were in the band of 90 %."""
    random, within = np.random.default_rng(3), []
    x = np.arange(500.0)
    course = 2 - 0.2 * np.minimum(x, 300) / 500 - 0.6 * np.clip(x - 300, 0, 125) / 500
    course -= 1.8 * np.maximum(x - 425, 0) / 500
    for _ in range(40):
        noisy = pd.DataFrame({"Cycle count": x, DISCHARGED: course + random.normal(0, 0.008, 500)})
        made = only(battery.knee(noisy, reference="rated", rated=2.0, bootstrap=40))
        within.append(made["Onset low"] <= 300 <= made["Onset high"])
    assert sum(within) >= 32


def jumping() -> pd.DataFrame:
    """A line of fade with a jump of 3 % at cycle 150, after a pause."""
    frame = fading(4e-4, 4e-4, 4e-4)
    frame[DISCHARGED] += 0.06 * (frame["Cycle count"] >= 150)
    frame[DISCHARGED] += np.random.default_rng(2).normal(0, 0.0005, len(frame))
    return frame


def test_a_jump_is_found_and_is_not_a_bend() -> None:
    made = battery.knee(jumping(), bootstrap=0)
    assert made["Jump cycles"].iloc[0] == "150"
    assert codes(made) == {"jumps"}
    assert not made["Valid"].iloc[0]
    kept = battery.knee(jumping(), bootstrap=0, jumps="keep")
    assert kept["Jump cycles"].iloc[0] == "150"
    assert not kept["Valid"].iloc[0]
    with pytest.raises(ValueError, match="'steps' or 'keep'"):
        battery.knee(jumping(), jumps="drop")  # type: ignore[arg-type]


def test_a_bend_beside_a_jump_is_refused_and_the_other_fit_is_named() -> None:
    frame = bent()
    frame[DISCHARGED] += 0.02 * (frame["Cycle count"] >= 201)
    made = only(battery.knee(frame, bootstrap=0))
    assert np.isnan(made["Knee cycle"])
    assert "is at a jump" in made["Warning"]
    kept = only(battery.knee(frame, bootstrap=0, jumps="keep"))
    assert kept["Valid"]
    assert made["Warning"].endswith(f"(jumps='keep') has one at {kept['Knee cycle']:.0f}")


def test_noise_and_single_values_are_no_jumps() -> None:
    left = 1 - 4e-4 * np.arange(300.0) + np.random.default_rng(3).normal(0, 0.001, 300)
    assert jumps(left, 0.005) == []
    left[150] += 0.05
    assert jumps(left, 0.005) == []


def test_cycles_at_another_current_are_left_out() -> None:
    frame = bent()
    at = frame["Cycle count"] % 50 == 49
    frame.loc[at, "Mean discharge current [A]"] = 0.1
    frame.loc[at, DISCHARGED] *= 1.2
    made = battery.knee(frame, bootstrap=0)
    assert codes(made) == {"rates_differ"}
    assert only(made)["n"] == 392
    assert only(made)["Second bend"] == pytest.approx(320, abs=3)


def test_a_line_without_bends_is_fitted_exactly() -> None:
    x = np.linspace(0.0, 10.0, 60)
    fit = BrokenLines(x).fit(3 - 2 * x, 1)
    assert fit.slopes == pytest.approx((-2.0, -2.0))
    assert fit.squares == pytest.approx(0, abs=1e-20)


# end_of_life, eol_extrapolation


def test_an_end_that_is_not_reached_is_no_number() -> None:
    made = only(battery.end_of_life(cycles(200)))
    assert made["EOL reached"] == "no"
    assert made["EOL low"] == 199
    assert np.isnan(made["EOL cycle"])
    assert made["Warning"] == "> 199: retention is not below 0.8 for good"


def test_a_single_low_cycle_is_not_the_end() -> None:
    frame = cycles(600)
    frame.loc[[100, 101], DISCHARGED] = 0.5
    made = only(battery.end_of_life(frame))
    # The median of five still holds one of the low values where it crosses.
    assert made["EOL cycle"] == pytest.approx(500, abs=0.01)
    assert made["EOL low"] == 100


@pytest.mark.parametrize("threshold", [0, 1, 80])
def test_a_threshold_is_a_share(threshold: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        battery.end_of_life(cycles(), threshold=threshold)
    with pytest.raises(ValueError, match="between 0 and 1"):
        battery.eol_extrapolation(cycles(), threshold=threshold)


def test_an_extrapolation_goes_a_fifth_beyond_and_no_further() -> None:
    made = only(battery.eol_extrapolation(cycles(430)))
    assert made["EOL cycle"] == pytest.approx(500)
    assert made["EOL low"] < 500 < made["EOL high"]
    assert made["Observed share"] == pytest.approx(429 / 500)
    assert codes(battery.eol_extrapolation(cycles(400))) == {"too_far"}
    assert codes(battery.eol_extrapolation(cycles(600))) == {"reached"}
    assert codes(battery.eol_extrapolation(cycles(100, -1e-4))) == {"no_fade"}


def test_a_life_that_begins_late_is_extrapolated_from_there() -> None:
    """Cycles 5000 to 5429 of a counter that goes on: 8.5 % beyond them was "99 % of the life observed"."""
    late, own = cycles(430), only(battery.eol_extrapolation(cycles(430)))
    late["Cycle count"] += 5000
    made = only(battery.eol_extrapolation(late))
    for name in ("EOL cycle", "EOL low", "EOL high", "Power law EOL cycle"):
        assert made[name] == pytest.approx(own[name] + 5000), name
    assert made["Observed share"] == pytest.approx(own["Observed share"])
    half = cycles(250)
    half["Cycle count"] += 5000
    assert codes(battery.eol_extrapolation(half)) == {"too_far"}
    rated = only(battery.eol_extrapolation(late, reference="rated", rated=float(late[DISCHARGED].iloc[0])))
    assert rated["Observed share"] == pytest.approx(5429 / 5500), "of a rated capacity the life begins at 0"


def test_a_few_cycles_of_another_kind_end_no_life() -> None:
    """A table with six short cycles at the start and a sound cell after: its end of life was cycle 2."""
    frame = cycles(200)
    frame.loc[frame.index[3:9], DISCHARGED] *= 0.1
    made = only(battery.end_of_life(frame))
    assert made["EOL reached"] == "no"
    assert made["EOL cycle"] != made["EOL cycle"]
    falls = fading(1e-4, 1e-4, 3e-4, 2e-3, each=100)
    late = falls.copy()
    late.loc[late.index[3:9], DISCHARGED] = 0.1
    assert only(battery.end_of_life(late))["EOL cycle"] == only(battery.end_of_life(falls))["EOL cycle"]


def test_after_a_late_knee_only_the_last_part_counts() -> None:
    frame = fading(1e-4, 1e-4, 3e-4, 2e-3, each=70)
    made = only(battery.eol_extrapolation(frame))
    assert "after the knee" in made["Warning"]
    fallen = 70 * (1e-4 + 1e-4 + 3e-4)
    assert made["EOL cycle"] == pytest.approx(210 + (0.2 - fallen) / 2e-3, rel=0.02)


# delta_q, early_life


def changed(cycle: int, name: str, by: float) -> pd.DataFrame:
    """The curves with a value added to a column of one cycle."""
    frame = curves()
    frame.loc[frame["Cycle count"] == cycle, name] += by
    return frame


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (changed(100, "Current [A]", 0.1), "rates_differ"),
        (changed(100, "Temperature [degC]", 3.0), "temperature_spread"),
        (changed(100, "Voltage [V]", 0.1), "limits_differ"),
        (curves()[lambda f: f["Cycle count"] == 10], "no_cycle"),
        (changed(100, "Current [A]", -2.0), "no_discharge"),
        (curves().iloc[::40], "too_few"),
        (curves().assign(**{"Current [A]": [1.0, 2.0] * 400}), "not_constant"),
    ],
)
def test_discharges_that_do_not_compare_are_refused(frame: pd.DataFrame, code: str) -> None:
    made = battery.delta_q(frame)
    assert not made["Valid"].iloc[0]
    assert codes(made) == {code}


def test_the_difference_of_two_curves() -> None:
    made = only(battery.delta_q(curves(), low=2.7, high=4.2))
    volts = np.linspace(4.2, 2.7, 1000)
    moved = (0.97 - 1.0) * np.sqrt((4.2 - volts) / 1.5)
    assert made["min [A.h]"] == pytest.approx(moved.min(), abs=1e-6)
    assert made["mean [A.h]"] == pytest.approx(moved.mean(), abs=1e-4)
    assert made["log10 var [(A.h)^2]"] == pytest.approx(np.log10(np.var(moved, ddof=1)), abs=0.01)


def test_a_pulse_with_more_samples_is_not_the_discharge() -> None:
    """Ten seconds with 1000 samples, and its charge back, before a discharge of 400."""
    frame, parts = curves().drop(columns="Discharge capacity [A.h]"), []
    for cycle, rows in frame.groupby("Cycle count"):
        for start, amps in ((-40.0, 3.0), (-20.0, -3.0)):
            time = rows["Time [s]"].iloc[0] + start + np.linspace(0, 10, 1000)
            pulse = {"Time [s]": time, "Current [A]": amps, "Voltage [V]": 4.2 - 0.01 * amps, "Cycle count": cycle}
            parts.append(pd.DataFrame(pulse).assign(**{"Temperature [degC]": 25.0}))
        parts.append(rows)
    made = only(battery.delta_q(pd.concat(parts, ignore_index=True), low=2.7, high=4.2))
    assert made["Current m [A]"] == 1.0
    assert made["mean [A.h]"] == pytest.approx(only(battery.delta_q(frame, low=2.7, high=4.2))["mean [A.h]"])


def test_a_faulty_cycle_gives_way_to_the_next() -> None:
    frame = curves()
    faulty = frame[frame["Cycle count"] == 10].assign(**{"Discharge capacity [A.h]": lambda f: 45 * f[DISCHARGED]})
    good = frame[frame["Cycle count"] == 10].assign(**{"Cycle count": 11})
    made = battery.delta_q(pd.concat([faulty, good, frame[frame["Cycle count"] == 100]]), rated=1.0)
    assert only(made)["Cycle m"] == 11
    assert "faulty_cycle" in codes(made)


def test_a_window_that_a_discharge_does_not_hold_is_refused() -> None:
    assert codes(battery.delta_q(curves(), low=2.0)) == {"no_window"}
    assert codes(battery.delta_q(curves(), low=4.0, high=3.0)) == {"no_window"}
    with pytest.raises(ValueError, match="must differ"):
        battery.delta_q(curves(), m=10, n=10)


def test_what_is_not_known_of_the_discharges_is_said() -> None:
    frame = curves().drop(columns=["Current [A]", "Temperature [degC]", "Time [s]"])
    made = battery.delta_q(frame)
    assert codes(made) == {"current_unknown", "temperature_unknown"}
    frame = curves()
    frame.attrs["workbench"] = {"complete": False, "shown": 800, "of": 8000, "source": "a"}
    made = battery.delta_q(frame)
    assert codes(made) == {"samples_left_out"}
    assert "the frame of 'a' was read with 800 of its 8000 samples" in made["Warning"][0]


def test_nine_lives_predict_nothing() -> None:
    made = battery.early_life(early().iloc[:9])
    assert not made["Valid"].any()
    assert made["Predicted life"].isna().all()
    assert "10 are needed" in made["Warning"][0]


def test_one_group_says_nothing_of_another() -> None:
    frame = early()
    frame.loc[11, "Group"] = "another chemistry"
    made = battery.early_life(frame).set_index("Cell")
    assert made["Predicted life"]["10"] == pytest.approx(10 ** (1.3 - 0.4 * frame["log10 var [(A.h)^2]"][10]))
    assert not made["Valid"]["11"]


def test_a_feature_beyond_the_fitted_ones_is_warned_of() -> None:
    frame = early()
    frame.loc[10, "log10 var [(A.h)^2]"] = -1.0
    made = battery.early_life(frame).set_index("Cell")
    assert made["Warning"]["10"].startswith("extrapolated")
    assert "one_group" in codes(battery.early_life(frame.drop(columns="Group")))


def test_the_band_of_a_life_holds_nine_cells_of_ten() -> None:
    """With 1.645 deviations of the scatter alone it held 82 % of the cells that a line of 10 says something of."""
    random = np.random.default_rng(0)
    held = []
    for _ in range(400):
        feature = random.normal(-4, 0.5, 11)
        lives = 10 ** (1.3 - 0.4 * feature + random.normal(0, 0.1, 11))
        known = np.where(np.arange(11) < 10, lives, np.nan)
        frame = pd.DataFrame({"Cell": range(11), "log10 var [(A.h)^2]": feature, "Cycle life": known})
        last = battery.early_life(frame).iloc[-1]
        held.append(last["Low"] <= lives[-1] <= last["High"])
    assert 0.87 < np.mean(held) < 0.93


# outliers, batch_spread


def test_the_weak_cell_is_found() -> None:
    made = battery.outliers(fleet()).set_index("Cell")
    assert made.index[made["Outlier"] == "yes"].tolist() == ["c6"]
    assert made["z"]["c6"] == pytest.approx(0.6745 * (0.80 - 0.94) / 0.01)


def test_five_cells_get_a_rank_and_no_verdict() -> None:
    made = battery.outliers(fleet().iloc[2:])
    assert set(made["Outlier"]) == {"too few"}
    assert made["z"].notna().all()
    assert made["Warning"].str.startswith("only 5 cells").all()


def test_one_cell_beside_equal_ones_is_found_by_the_mean_deviation() -> None:
    made = battery.outliers(fleet().assign(Retention=[0.9] * 6 + [0.5])).set_index("Cell")
    assert made.index[made["Outlier"] == "yes"].tolist() == ["c6"]
    assert made["z"]["c6"] == pytest.approx(-0.4 / (1.253314 * 0.4 / 7))


def test_equal_cells_have_no_z() -> None:
    made = battery.outliers(fleet().assign(Retention=[0.9] * 7))
    assert not made["Valid"].any()
    assert "all cells are equal" in made["Warning"][6]


def test_values_of_different_references_do_not_compare() -> None:
    frame = fleet().assign(**{"Reference kind": ["first"] * 6 + ["rated"]})
    assert codes(battery.outliers(frame)) == {"references_differ"}
    assert codes(battery.batch_spread(frame)) == {"references_differ"}


def test_several_values_of_a_cell_need_a_place() -> None:
    frame = pd.concat([fleet().assign(n=1), fleet().assign(n=2)])
    assert codes(battery.outliers(frame)) == {"several_values"}
    assert codes(battery.batch_spread(frame)) == {"several_values"}
    made = battery.outliers(frame, at="n").set_index("Cell")
    assert made["At"].unique().tolist() == [2.0]
    assert made["Outlier"]["c6"] == "yes"
    assert battery.batch_spread(frame, at="n")["At"].tolist() == [1.0, 2.0]


def test_a_cell_without_a_value_is_named() -> None:
    made = battery.outliers(fleet().assign(Retention=[np.nan, *fleet()["Retention"][1:]])).set_index("Cell")
    assert made["Warning"]["c0"] == "the cell has no value"
    assert made["n"]["c1"] == 6


def test_two_cells_have_no_standard_deviation() -> None:
    made = battery.batch_spread(fleet().iloc[:2])
    assert np.isnan(only(made)["sd"])
    assert "it needs 3" in only(made)["Warning"]
    assert codes(made) == {"one_group"}


# arrhenius


def test_two_temperatures_are_no_law() -> None:
    assert codes(battery.arrhenius(LAW.iloc[:2])) == {"too_few"}
    near = LAW.assign(**{"Temperature [degC]": [25.0, 25.4, 25.8, 55.0]})
    assert codes(battery.arrhenius(near)) == {"too_few"}


def test_points_that_bend_have_no_single_energy() -> None:
    bends = LAW.assign(Rate=LAW["Rate"] + 3 * LAW["Rate"][0] * np.array([1.0, 0.4, 0.1, 0.0]))
    made = only(battery.arrhenius(bends))
    assert not made["Valid"]
    assert abs(made["Curvature sd"]) > 2
    assert np.isnan(made["Ea [kJ/mol]"])


def test_few_points_that_bend_say_how_often_those_of_a_straight_law_do() -> None:
    """The fade of `ageing_sunwoda`: 1.47, 1.58, 2.23, 3.42e-4 per cycle at 25, 35, 45, 55 degC."""
    means = pd.DataFrame({"Temperature [degC]": [25.0, 35, 45, 55], "Rate": [1.47, 1.58, 2.23, 3.42]})
    made = only(battery.arrhenius(means))
    assert not made["Valid"]
    assert np.isnan(made["Ea [kJ/mol]"])
    assert made["Warning"] == (
        "the points bend (23.2 kJ/mol in the mean): no single Ea; 4 points of a straight law seem to bend as much in "
        "11%, so give those of each cell"
    )
    cells = pd.concat([means.assign(Rate=means["Rate"] * share) for share in (0.95, 1.0, 1.05)])
    assert only(battery.arrhenius(cells))["Warning"] == "the points bend (23.2 kJ/mol in the mean): no single Ea"


def test_a_rate_of_nothing_has_no_logarithm() -> None:
    assert codes(battery.arrhenius(LAW.assign(Rate=[0.0, *LAW["Rate"][1:]]))) == {"not_positive"}
    assert codes(battery.arrhenius(LAW.assign(Rate=-LAW["Rate"]))) == {"not_positive"}


def test_kelvins_are_not_taken_for_degrees_celsius() -> None:
    made = battery.arrhenius(LAW.assign(**{"Temperature [degC]": LAW["Temperature [degC]"] + 273.15}))
    assert codes(made) == {"too_hot"}
    assert "If these are kelvins" in made.attrs["warnings"][0]["message"]
    with pytest.raises(ValueError, match="in degC"):
        battery.arrhenius(LAW, reference=298.15)


def test_with_three_points_a_bend_is_not_known() -> None:
    made = battery.arrhenius(LAW.iloc[:3])
    assert only(made)["Valid"]
    assert codes(made) == {"bend_unknown"}
