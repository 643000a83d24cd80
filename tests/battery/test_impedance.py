"""Impedance: spectra are judged, circuits fitted, and what the data do not know is left empty."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tools.validation.made_samples import spectrum, two_arcs
from workbench import battery
from workbench.battery.impedance.circuit_text import KINDS, circuit_of

F = np.geomspace(1e4, 1e-2, 49)
W = 2j * np.pi * F


def changed(frame: pd.DataFrame, factor: np.ndarray | float = 1.0, below: float = np.inf) -> pd.DataFrame:
    inside = frame["Frequency [Hz]"] < below
    return frame.assign(
        **{name: np.where(inside, frame[name] * factor, frame[name]) for name in ("Z_Re [Ohm]", "Z_Im [Ohm]")}
    )


def test_spectra_of_one_frame_are_told_apart() -> None:
    one = two_arcs().assign(SOC=0.5, **{"Voltage [V]": 3.7})
    frame = pd.concat([one, one.assign(SOC=0.2), one.iloc[::-1].assign(SOC=0.1)], ignore_index=True)
    made = battery.bode(frame.iloc[: 2 * len(one)])
    assert made.groupby("Spectrum")["SOC"].first().tolist() == pytest.approx([0.5, 0.2])
    assert made["Voltage [V]"].to_numpy() == pytest.approx(3.7)
    assert (made.groupby("Spectrum")["Frequency [Hz]"].diff().dropna() < 0).all()
    cycles = pd.concat([one.assign(**{"Cycle count": n}) for n in range(3)], ignore_index=True)
    assert battery.eis_features(cycles)["Spectrum"].tolist() == [0, 1, 2]
    rising = battery.kk(pd.concat([one.iloc[::-1]] * 2, ignore_index=True))
    assert rising["Spectrum"].nunique() == 2


def test_a_sweep_down_and_one_up_are_two_spectra() -> None:
    one = two_arcs()
    up = one.iloc[::-1].assign(**{"Z_Re [Ohm]": one["Z_Re [Ohm]"] + 0.01})
    each = len(one)
    for sweeps, sizes in (
        ([one, up], [each, each]),
        ([one, up.iloc[1:]], [each, each - 1]),
        ([up, one], [each, each]),
        ([one, up, one], [each] * 3),
        ([one, one, up, up], [each] * 4),
    ):
        frame = pd.concat(sweeps, ignore_index=True)
        for held in (frame, frame.assign(**{"Cycle count": 0})):
            made = battery.bode(held)
            assert made.groupby("Spectrum").size().tolist() == sizes
            assert set(made["Warning"]) == {""}
    # Neither the first points of a sweep that are measured again nor frequencies in no order are a sweep.
    start = pd.concat([one.iloc[4:0:-1], one], ignore_index=True)
    assert battery.bode(start)["Spectrum"].nunique() == 1
    for seed in range(20):
        shuffled = pd.concat([one, up]).sample(frac=1, random_state=seed)
        assert battery.bode(shuffled)["Spectrum"].nunique() == 1


def test_bode_names_what_is_unusual() -> None:
    frame = two_arcs()
    shuffled = battery.bode(frame.sample(frac=1, random_state=3).assign(**{"Cycle count": 0}))
    assert shuffled["Warning"].str.contains("not in order").all()
    assert shuffled["Frequency [Hz]"].tolist() == frame["Frequency [Hz]"].tolist()
    doubled = battery.bode(pd.concat([frame.iloc[:20], frame.iloc[19:]]))
    assert doubled["Warning"].str.contains("1 frequency measured twice").all()
    assert battery.bode(frame.iloc[::3])["Warning"].str.contains("points a decade").all()
    wrong = battery.bode(frame.assign(**{"Z_Im [Ohm]": -frame["Z_Im [Ohm]"]}))
    assert wrong["Warning"].str.contains("most of it is inductive").all()
    assert set(battery.bode(frame)["Warning"]) == {""}


def test_a_good_spectrum_passes_and_a_bad_one_does_not() -> None:
    good = battery.kk(two_arcs(0.002))
    assert good["Valid"].all()
    assert set(good["Warning"]) == {""}
    assert good["M"][0] >= 18
    jump = battery.kk(changed(two_arcs(0.002), 1.02, below=1.0))
    assert 0.01 < jump["Largest residual"][0] < 0.02
    assert jump["Warning"].str.contains("above 1 % at").all()
    assert jump["Valid"].all()
    wrong = battery.kk(two_arcs(0.002).assign(**{"Z_Im [Ohm]": -two_arcs(0.002)["Z_Im [Ohm]"]}))
    assert wrong["Largest residual"][0] > 0.3
    assert not wrong["Valid"].any()


def test_a_passed_test_does_not_prove_that_the_cell_stood_still() -> None:
    """As the docstring says: a smooth drift of 20 % through the sweep is not seen."""
    z = 0.01 + 0.02 / (1 + 0.02 * W) + 0.03 * np.linspace(1, 1.2, 49) / (1 + 3 * W)
    assert battery.kk(spectrum(F, z))["Largest residual"][0] < 0.01


def test_the_number_of_elements_can_be_given() -> None:
    assert battery.kk(two_arcs(), elements=10)["M"][0] == 10
    assert (
        battery.kk(two_arcs(), elements=10)["Largest residual"][0] > battery.kk(two_arcs())["Largest residual"][0]
    )


def test_few_points_are_not_judged() -> None:
    for made in (battery.kk(two_arcs().iloc[:9]), battery.circuit(two_arcs().iloc[:9])):
        assert not made["Valid"].any()
        assert "9 points, fewer than 10" in made["Warning"][0]


VALUES = {
    "resistance": 0.02,
    "capacitance": 0.8,
    "inductance": 1e-7,
    "time": 0.5,
    "warburg": 0.01,
    "exponent": 0.8,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_derivatives_of_each_element_are_those_of_its_impedance(kind: str) -> None:
    made = circuit_of(f"R0-p(R1,{kind}2)")
    fitted = np.array([VALUES[one] if one == "exponent" else np.log(VALUES[one]) for one in made.kinds])
    exponent = np.array([one == "exponent" for one in made.kinds])

    def at(values: np.ndarray) -> np.ndarray:
        return np.where(exponent, values, np.exp(np.where(exponent, 0, values)))[None]

    _, slopes = made.response(2 * np.pi * F, at(fitted))
    for place in range(len(fitted)):
        step = 1e-6 * np.eye(len(fitted))[place]
        up, down = (made.response(2 * np.pi * F, at(fitted + sign * step))[0][0] for sign in (1, -1))
        assert slopes[0, :, place] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-9)


def test_the_impedances_are_those_of_the_books() -> None:
    def z(text: str, *values: float) -> np.ndarray:
        return circuit_of(text).response(2 * np.pi * F, np.array([values]))[0][0]

    assert z("W1", 0.3) == pytest.approx(0.3 * (1 - 1j) / np.sqrt(2 * np.pi * F))
    x = np.sqrt(W * 2.0)
    low = F < 100
    assert z("Ws1", 0.3, 2.0)[low] == pytest.approx((0.3 * np.tanh(x) / x)[low])
    assert z("Wo1", 0.3, 2.0)[low] == pytest.approx(0.3 / np.tanh(x[low]) / x[low])
    assert z("G1", 0.3, 2.0) == pytest.approx(0.3 / np.sqrt(1 + W * 2.0))
    assert z("p(R1,C2)", 0.3, 2.0) == pytest.approx(0.3 / (1 + 0.6 * W))
    assert z("p(R1-W1,CPE2)", 0.3, 0.1, 2.0, 0.8) == pytest.approx(
        1 / (1 / (0.3 + 0.1 * (1 - 1j) / np.sqrt(2 * np.pi * F)) + 2.0 * W**0.8)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("R0-p(R1", "p. needs two or more parts"),
        ("R0-p(R1)", "p. needs two or more parts"),
        ("R0-X1", "'X1' is not an element"),
        ("R0-R0", "'R0' is there twice"),
        ("R", "is not an element"),
        ("R0-", "ends where an element is expected"),
        ("R0 R1", "'R1' is not expected"),
        ("R0+R1", "is not an element"),
        ("", "ends where an element is expected"),
    ],
)
def test_a_text_that_is_no_circuit_is_an_error_with_the_place(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        battery.circuit(two_arcs(), circuit=text)
    assert "A circuit is like R0-p(R1,CPE1)-Wo1" in str(caught.value)


def test_arcs_are_in_order_of_their_time_constants() -> None:
    names = ("R1", "C1", "R2", "C2")
    found = [
        battery.circuit(two_arcs(0.002), circuit="R0-p(R1,C1)-p(R2,C2)", seed=seed).iloc[0] for seed in range(3)
    ]
    for row in found:
        units = [row[f"{name} [{'Ohm' if name[0] == 'R' else 'F'}]"] for name in names]
        assert units == pytest.approx([0.02, 1.0, 0.03, 100.0], rel=0.02)
        assert row["Starts"] > 4
        assert row["KK valid"]
    pd.testing.assert_frame_equal(
        battery.circuit(two_arcs(0.002), starts=5), battery.circuit(two_arcs(0.002), starts=5)
    )


def test_all_starts_that_fit_a_spectrum_without_noise_reach_the_optimum() -> None:
    """What they leave is rounding, of which 2 % mean nothing."""
    row = battery.circuit(two_arcs(0.0), circuit="R0-p(R1,CPE1)-p(R2,CPE2)").iloc[0]
    assert row["Starts"] >= 10
    assert "starts reach the optimum" not in row["Warning"]
    assert row["R1 [Ohm]"] == pytest.approx(0.02, rel=1e-6)
    assert row["R2 [Ohm]"] == pytest.approx(0.03, rel=1e-6)


def test_what_the_data_do_not_know_is_empty_and_said() -> None:
    z = 0.01 + 0.02 / (1 + 0.02 * W)
    rng = np.random.default_rng(1)
    noisy = spectrum(F, z * (1 + 0.002 * (rng.normal(size=49) + 1j * rng.normal(size=49))))
    noisy = noisy[noisy["Z_Im [Ohm]"] < 0]
    row = battery.circuit(noisy, circuit="R0-p(R1,C1)-p(R2,CPE2)", starts=20).iloc[0]
    assert row["R1 [Ohm]"] == pytest.approx(0.02, rel=0.05) or np.isnan(row["R1 [Ohm]"])
    assert "not known by these data" in row["Warning"]
    unknown = [name for name in ("R2 [Ohm]", "CPE2 Q [F.s^(a-1)]", "CPE2 a") if np.isnan(row[name])]
    assert unknown


def test_of_a_resistor_alone_nothing_else_is_known() -> None:
    frequency = np.geomspace(1e4, 1e-2, 40)
    frame = pd.DataFrame({"Frequency [Hz]": frequency, "Z_Re [Ohm]": 0.05 + 0 * frequency, "Z_Im [Ohm]": 0.0})
    made = battery.circuit(frame, circuit="R0-p(R1,CPE1)").iloc[0]
    assert made["rms relative"] < 0.01
    assert "not known by these data" in made["Warning"]


def test_nothing_is_fitted_to_a_spectrum_that_fails() -> None:
    frame = changed(two_arcs(0.002), 1.5, below=1.0)
    row = battery.circuit(frame, circuit="R0-p(R1,C1)-p(R2,C2)").iloc[0]
    assert not row["Valid"]
    assert not row["KK valid"]
    assert np.isnan(row["R1 [Ohm]"])
    assert "nothing is fitted" in row["Warning"]


def test_of_several_circuits_the_better_one_is_given() -> None:
    row = battery.circuit(two_arcs(0.002), circuit=["R0-p(R1,C1)", "R0-p(R1,C1)-p(R2,C2)"], starts=20).iloc[0]
    assert row["Circuit"] == "R0-p(R1,C1)-p(R2,C2)"


def test_features_that_a_spectrum_lacks_are_empty() -> None:
    row = battery.eis_features(two_arcs()).iloc[0]
    assert np.isnan(row["R ohmic [Ohm]"])
    assert "no ohmic resistance" in row["Warning"]
    assert row["Z_Re at 1 kHz [Ohm]"] == pytest.approx(0.01, rel=1e-2)
    low = two_arcs()[two_arcs()["Frequency [Hz]"] < 500]
    assert np.isnan(battery.eis_features(low)["Z_Re at 1 kHz [Ohm]"][0])
    warburg = spectrum(F, 0.01 + 1e-7 * W + 0.01 * np.sqrt(2) / np.sqrt(W))
    assert battery.eis_features(warburg)["Tail slope"][0] == pytest.approx(1.0, rel=1e-3)
    wrong = two_arcs().assign(**{"Z_Im [Ohm]": -two_arcs()["Z_Im [Ohm]"]})
    assert not battery.eis_features(wrong)["Valid"].any()


def test_a_bump_of_noise_is_not_the_arc_of_a_spectrum() -> None:
    """The arc of 20 mOhm and a Warburg, 10 nH: -Z_Im is about 0 over two decades before the arc begins."""
    f = np.geomspace(1e4, 1e-2, 61)
    w = 2j * np.pi * f
    z = 0.01 + 1e-8 * w + 0.02 / (1 + (0.1 * w) ** 0.9) + 0.002 * (1 - 1j) / np.sqrt(w.imag)
    random = np.random.default_rng(0)
    clean = battery.eis_features(spectrum(f, z)).iloc[0]
    assert clean["Warning"] == ""
    for noise in (0.001, 0.003):
        for _ in range(30):
            row = battery.eis_features(
                spectrum(f, z + noise * np.abs(z) * (random.normal(size=61) + 1j * random.normal(size=61)))
            ).iloc[0]
            assert row["Arc width [Ohm]"] == pytest.approx(clean["Arc width [Ohm]"], rel=0.1)
            assert 1 < row["Top frequency [Hz]"] < 2.6
    # Without a minimum after the arc there is nothing that ends it, whatever the noise does.
    open_arc = 0.01 + 0.02 / (1 + 0.1 * w)
    for _ in range(30):
        noisy = open_arc + 0.003 * np.abs(open_arc) * (random.normal(size=61) + 1j * random.normal(size=61))
        row = battery.eis_features(spectrum(f, noisy)).iloc[0]
        assert np.isnan(row["Arc width [Ohm]"])
        assert "clear of the noise" in row["Warning"]


def test_relaxation_times_have_the_areas_of_the_elements() -> None:
    noise = np.random.default_rng(3).normal(size=(2, len(F)))
    z = (0.01 + 0.02 / (1 + 0.002 * W) + 0.03 / (1 + 2.0 * W)) * (1 + 0.002 * (noise[0] + 1j * noise[1]))
    made = battery.drt(spectrum(F, z))
    assert made["Valid"].all()
    peaks = made.drop_duplicates("Peak")
    assert peaks["Peak area [Ohm]"].to_numpy() == pytest.approx([0.02, 0.03], rel=0.02)
    tops = made.loc[made.groupby("Peak")["Distribution [Ohm]"].idxmax(), "Time constant [s]"]
    assert tops.to_numpy() == pytest.approx([0.002, 2.0], rel=0.15)
    assert peaks["Polarisation [Ohm]"].to_numpy() == pytest.approx(0.05, rel=0.02)
    assert peaks["R ohmic [Ohm]"].to_numpy() == pytest.approx(0.01, rel=0.01)
    assert (made["Warning"] == "").all()


def test_the_impedance_of_a_distribution_is_the_spectrum_again() -> None:
    frame = two_arcs()
    made = battery.drt(frame)
    inside = made[made["Frequency [Hz]"].between(frame["Frequency [Hz]"].min(), frame["Frequency [Hz]"].max())]
    for name in ("Z_Re [Ohm]", "Z_Im [Ohm]"):
        known = np.interp(
            np.log(inside["Frequency [Hz]"]),
            np.log(frame["Frequency [Hz]"].to_numpy()[::-1]),
            frame[name].to_numpy()[::-1],
        )
        assert inside[name].to_numpy() == pytest.approx(known, abs=0.02 * np.abs(frame["Z_Re [Ohm]"]).max())
    assert made["rms relative"].iloc[0] < 0.02


def test_a_distribution_that_does_not_end_and_a_spectrum_that_drifts_are_said() -> None:
    warburg = 0.01 + 0.02 / (1 + 0.002 * W) + 0.01 / np.sqrt(W)
    made = battery.drt(spectrum(F, warburg))
    assert made["Warning"].str.contains("open at its longest time constant").all()
    wrong = battery.drt(changed(two_arcs(), 1.5, below=1.0))
    assert not wrong["Valid"].any()
    assert wrong["Warning"].str.contains("nothing is fitted").all()
    coarse = battery.drt(two_arcs(), per_decade=2)
    assert coarse.attrs["warnings"][0]["code"] == "too_coarse"
    smooth, rough = (battery.drt(two_arcs(), strength=strength) for strength in (1e-2, 1e-8))
    assert smooth["Peaks"].iloc[0] <= rough["Peaks"].iloc[0]


@pytest.mark.parametrize(
    ("frame", "strength"),
    [
        (spectrum(F, 0.05 - 0.03 / (1 + 2.0 * W)), None),
        (spectrum(F, 0.01 + 1 / W), None),
        (two_arcs(), 1e6),
    ],
    ids=["a negative resistance", "a capacitor in series", "too smooth"],
)
def test_no_distribution_is_given_that_is_not_of_the_spectrum(frame: pd.DataFrame, strength: float | None) -> None:
    """They were valid, with rms of 34, 8 and 30 %."""
    made = battery.drt(frame, strength=strength)
    assert len(made) == 1
    assert not made["Valid"].any()
    assert made["rms relative"][0] > 0.05
    assert made["Polarisation [Ohm]"].isna().all()
    assert "the fit leaves" in made["Warning"][0]


def test_points_without_a_value_are_counted() -> None:
    whole = two_arcs()
    lacking = whole.assign(**{"Z_Re [Ohm]": whole["Z_Re [Ohm]"].mask(np.arange(len(whole)) % 10 == 3)})
    lost = int(lacking["Z_Re [Ohm]"].isna().sum())
    twice = pd.concat([whole, lacking], ignore_index=True)
    for analysis in (battery.bode, battery.kk, battery.eis_features, battery.circuit, battery.drt):
        said = analysis(twice).groupby("Spectrum")["Warning"].first()
        assert "without a value" not in said[0]
        assert f"{lost} points without a value left out" in said[1]
    end = whole.assign(**{"Frequency [Hz]": whole["Frequency [Hz]"].mask(np.arange(len(whole)) == 0)})
    assert "1 point without a value left out" in battery.bode(end)["Warning"][0]
    beside = pd.DataFrame(
        {"Frequency [Hz]": [0.0, np.nan], "Z_Re [Ohm]": [0.0, np.nan], "Z_Im [Ohm]": [0.0, np.nan]}
    )
    assert (battery.bode(pd.concat([beside, whole, beside]))["Warning"] == "").all()
