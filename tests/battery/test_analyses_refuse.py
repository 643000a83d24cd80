"""What analyses of samples do with data that they cannot use: one row with the reason, never a number that is off."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from battery.made_tests import both_ways, hppc, titrated
from battery.test_battery_charge import read

from tools.validation.made_samples import two_arcs
from workbench import battery

HALF_CELL = pd.DataFrame({"Stoichiometry": np.linspace(0, 1, 50), "Voltage [V]": np.linspace(1, 0, 50)})
Analysis = Callable[[pd.DataFrame], pd.DataFrame]


def modes(frame: pd.DataFrame) -> pd.DataFrame:
    return battery.degradation_modes(frame, anode=HALF_CELL, cathode=HALF_CELL)


def power(frame: pd.DataFrame) -> pd.DataFrame:
    return battery.power_capability(frame, limits=(3.3, 4.2))


EXACT: list[Analysis] = [
    battery.dcir,
    power,
    battery.gitt,
    battery.ici,
    battery.ocv_from_rests,
    battery.relaxation,
]
CURVES: list[Analysis] = [battery.pseudo_ocv, battery.ic_peaks, battery.dva_features, battery.dtv, modes]
SPECTRA: list[Analysis] = [battery.bode, battery.kk, battery.circuit, battery.drt, battery.eis_features]
SERIES = ("Time [s]", "Current [A]", "Voltage [V]")
IMPEDANCE = ("Frequency [Hz]", "Z_Re [Ohm]", "Z_Im [Ohm]")


def refusal(made: pd.DataFrame) -> tuple[str, str]:
    """The code and the words of a table that has nothing else."""
    assert list(made)[-2:] == ["Valid", "Warning"]
    assert len(made) == 1
    assert not made["Valid"][0]
    assert made.drop(columns=["Valid", "Warning"]).isna().all(axis=None)
    (remark,) = made.attrs["warnings"]
    assert remark["message"] == made["Warning"][0]
    return remark["code"], remark["message"]


@pytest.mark.parametrize("analysis", [*EXACT, *CURVES])
@pytest.mark.parametrize("column", SERIES)
def test_a_series_without_a_column_is_refused(analysis: Analysis, column: str) -> None:
    code, words = refusal(analysis(hppc().drop(columns=column)))
    assert code == "missing_column"
    assert column in words


@pytest.mark.parametrize("analysis", SPECTRA)
@pytest.mark.parametrize("column", IMPEDANCE)
def test_a_spectrum_without_a_column_is_refused(analysis: Analysis, column: str) -> None:
    code, words = refusal(analysis(two_arcs().drop(columns=column)))
    assert code == "missing_column"
    assert column in words


NOTHING: list[tuple[str, Callable[[pd.DataFrame], pd.DataFrame]]] = [
    ("empty", lambda frame: frame.iloc[:0]),
    ("one sample", lambda frame: frame.iloc[:1]),
    ("only NaN", lambda frame: frame * np.nan),
]


@pytest.mark.parametrize(("_", "left"), NOTHING)
@pytest.mark.parametrize("analysis", [*EXACT, *CURVES])
def test_a_series_of_nothing_is_refused(analysis: Analysis, _: str, left: Analysis) -> None:
    code, words = refusal(analysis(left(hppc())))
    assert code == "no_samples"
    assert "need samples with time, current and voltage" in words


@pytest.mark.parametrize("analysis", [*EXACT, *CURVES])
def test_samples_in_reverse_are_refused(analysis: Analysis) -> None:
    code, words = refusal(analysis(hppc().iloc[::-1]))
    assert code == "time_falls"
    assert "sort the frame" in words


THINNED: list[Analysis] = [
    lambda frame: read(frame, np.arange(0, len(frame), 5)),
    lambda frame: frame.iloc[::5],
]


@pytest.mark.parametrize("thin", THINNED)
@pytest.mark.parametrize("analysis", EXACT)
def test_thinned_samples_are_refused_by_what_needs_all(analysis: Analysis, thin: Analysis) -> None:
    code, words = refusal(analysis(thin(hppc())))
    assert code == "samples_left_out"
    assert "max_points 10000" in words


@pytest.mark.parametrize("analysis", [battery.pseudo_ocv, battery.ic_peaks, battery.dva_features])
def test_thinned_curves_are_computed_and_said(analysis: Analysis) -> None:
    whole, thinned = both_ways(), both_ways().iloc[::20]
    made = analysis(thinned)
    assert "samples_left_out" in {remark["code"] for remark in made.attrs["warnings"]}
    known = made["Valid"].to_numpy()
    assert known.all()
    for name in ("Voltage [V]", "Position [V]", "Peak SOC"):
        if name in made:
            assert made[name].to_numpy() == pytest.approx(analysis(whole)[name].to_numpy(), abs=0.007)


@pytest.mark.parametrize("analysis", EXACT)
def test_a_test_without_rest_is_refused(analysis: Analysis) -> None:
    code, words = refusal(analysis(both_ways()))
    assert code in ("no_pulses", "no_breaks", "no_rests")
    assert "rest" in words


@pytest.mark.parametrize("analysis", CURVES)
def test_a_test_without_current_is_refused(analysis: Analysis) -> None:
    frame = both_ways().assign(**{"Current [A]": 0.0, "Temperature [degC]": 25.0})
    code, _ = refusal(analysis(frame))
    assert code in ("no_half_cycle", "no_slow_half_cycle")


@pytest.mark.parametrize("analysis", CURVES[:3])
def test_pulses_are_no_curve(analysis: Analysis) -> None:
    made = analysis(titrated())
    assert not made["Valid"].any()
    assert made["Warning"].str.contains("pulses inside: rests of").all()


@pytest.mark.parametrize("analysis", CURVES[:3])
def test_a_current_with_the_wrong_sign_is_no_curve(analysis: Analysis) -> None:
    frame = both_ways()
    made = analysis(frame.assign(**{"Current [A]": -frame["Current [A]"]}))
    assert not made["Valid"].any()
    assert made["Warning"].str.contains("sign of the current looks reversed").all()


@pytest.mark.parametrize("left", [frame for _, frame in NOTHING])
@pytest.mark.parametrize("analysis", SPECTRA)
def test_a_spectrum_of_nothing_has_no_numbers(analysis: Analysis, left: Analysis) -> None:
    made = analysis(left(two_arcs()))
    if analysis is battery.bode and len(left(two_arcs()).dropna()) == 1:
        assert made["Z_Mod [Ohm]"].tolist() == pytest.approx([abs(complex(*two_arcs().iloc[0, 1:]))])
        return
    assert len(made) == 1
    assert not made["Valid"][0]
    assert made["Warning"][0]
    assert made.drop(columns=["Valid", "Warning", "Spectrum"]).isna().all(axis=None)


@pytest.mark.parametrize("seed", range(8))
def test_frames_without_sense_are_answered_without_an_error(seed: int) -> None:
    """Random currents, equal times, flat voltages, nulls: a table, and no warning of numpy."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 300))
    apart = rng.choice([0, 0.1, 1, 10, 5000], n)
    current = [rng.choice([0, 1, -1, 0.05], n), np.repeat([0.0, 1.0], n)[:n], (np.arange(n) // 15) % 2][seed % 3]
    voltage = np.full(n, 3.7) if seed % 2 else 3.7 - 0.05 * current
    frame = pd.DataFrame({"Time [s]": np.cumsum(apart), "Current [A]": current, "Voltage [V]": voltage})
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    for analysis in [*EXACT, *CURVES]:
        made = analysis(frame)
        assert len(made)
        assert (made["Valid"] | (made["Warning"].str.len() > 8)).all()


def test_values_that_are_missing_here_and_there_do_no_harm() -> None:
    frame = hppc()
    whole = battery.dcir(frame)["Resistance at 10 s [Ohm]"].to_numpy()
    frame.loc[frame.index[7::50], "Voltage [V]"] = np.nan
    made = battery.dcir(frame)
    known = made["Resistance at 10 s [Ohm]"].notna().to_numpy()
    assert known.sum() > len(known) / 2
    assert made["Resistance at 10 s [Ohm]"].to_numpy()[known] == pytest.approx(whole[known], rel=1e-3)
    assert "rows_without_values" in {remark["code"] for remark in made.attrs["warnings"]}


NAN = float("nan")


@pytest.mark.parametrize(
    ("analysis", "parameters", "words"),
    [
        (battery.dcir, {"at": (-5.0, 10.0)}, "'at' must be numbers from 0, s"),
        (battery.dcir, {"at": (NAN,)}, "'at' must be"),
        (battery.dcir, {"longest": NAN}, "'longest' must be a number above 0; it is nan"),
        (battery.dcir, {"soaked": -1}, "'soaked' must be a number from 0"),
        (battery.dcir, {"least": 0}, "'least' must be a number above 0"),
        (battery.dcir, {"rest": "x"}, "'rest' must be a number from 0; it is 'x'"),
        (battery.dcir, {"limits": (4.2, 2.5)}, "the lower and the upper voltage, such as (2.5, 4.2)"),
        (battery.power_capability, {"limits": (3.0, 4.2), "seconds": -1}, "'seconds' must be a number from 0"),
        (battery.gitt, {"geometry": "Sphere"}, "'geometry' must be 'sphere' or 'slab'; it is 'Sphere'"),
        (battery.gitt, {"window": (60.0, 1.0)}, "'window' must be two numbers from 0, s, of which the second"),
        (battery.gitt, {"second_window": (1.0,)}, "'second_window' must be two numbers"),
        (battery.gitt, {"radius": "x"}, "The radius must be a number above 0; it is 'x'"),
        (battery.ici, {"geometry": "slabs"}, "'geometry' must be"),
        (battery.ocv_from_rests, {"least": -1}, "'least' must be a number from 0"),
        (battery.relaxation, {"window": (NAN, 1.0)}, "'window' must be"),
        (battery.pseudo_ocv, {"points": -1}, "'points' must be a whole number from 2"),
        (battery.ic_peaks, {"step": 0}, "'step' must be a number above 0"),
        (battery.ic_peaks, {"prominence": 5}, "'prominence' must be a number from 0 to 1"),
        (battery.dva_features, {"within": (-0.5, 0.3)}, "'within' must be two numbers from 0 to 1"),
        (battery.dva_features, {"steps": 0.5}, "'steps' must be a whole number from 10"),
        (battery.dtv, {"window": -0.02}, "'window' must be a number above 0"),
        (battery.kk, {"mu": NAN}, "'mu' must be a number from 0 to 1"),
        (battery.kk, {"elements": 0}, "'elements' must be a whole number from 1"),
        (battery.circuit, {"starts": 0}, "'starts' must be a whole number from 1"),
        (battery.circuit, {"seed": -1}, "'seed' must be a whole number from 0"),
        (battery.drt, {"per_decade": NAN}, "'per_decade' must be a whole number from 1"),
        (battery.knee, {"bootstrap": -1}, "'bootstrap' must be a whole number from 0"),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value)[:40],
)
def test_a_parameter_outside_of_its_range_is_an_error_that_names_both(
    analysis: Callable[..., pd.DataFrame], parameters: dict[str, object], words: str
) -> None:
    """They gave numbers of another window or geometry, no number without a reason, or an error of numpy."""
    with pytest.raises(ValueError) as caught:
        analysis(two_arcs() if analysis in SPECTRA else hppc(), **parameters)
    assert words in str(caught.value)


def test_parameters_at_the_ends_of_their_ranges_are_taken() -> None:
    made = battery.dcir(
        hppc(), at=[0, np.float64(10.0)], longest=np.inf, soaked=0, rest=0, limits=np.array([3.0, 4.2])
    )
    assert made["Valid"].any()
    assert battery.kk(two_arcs(), mu=1, elements=np.int64(12))["M"].eq(12).all()
