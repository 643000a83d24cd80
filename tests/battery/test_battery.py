"""The helpers for scripts against answers known beforehand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from workbench import battery


def cycle(n: int = 4000) -> pd.DataFrame:
    """A charge and a discharge of 2 A.h at 2 A with a known curve: Q(U) = 1 + tanh((U - 3.7) / 0.1)."""
    voltage = np.linspace(3.4, 4.0, n)
    charge = 1 + np.tanh((voltage - 3.7) / 0.1)
    charge -= charge[0]
    time = np.concatenate([charge / 2 * 3600, 4000 + charge / 2 * 3600])
    current = np.repeat([-2.0, 2.0], n)
    down = voltage[::-1], charge[-1] - charge[::-1]
    counters = {"Charge capacity [A.h]": np.concatenate([charge, np.zeros(n)])}
    counters["Discharge capacity [A.h]"] = np.concatenate([np.zeros(n), down[1]])
    columns = {"Time [s]": time, "Current [A]": current, "Voltage [V]": np.concatenate([voltage, down[0]])}
    columns["Time [s]"][n:] = 4000 + down[1] / 2 * 3600
    return pd.DataFrame({**columns, **counters})


def exact(voltage: np.ndarray) -> np.ndarray:
    return 10 / np.cosh((voltage - 3.7) / 0.1) ** 2


def test_half_cycles_by_sign_join_over_rests_and_split_at_reversal() -> None:
    frame = pd.DataFrame({"Current [A]": [0, 1, 1, 0, 1, -1, -1, 0, 1, np.nan], "n": range(10)})
    halves = battery.half_cycles(frame)
    assert [(h.number, h.direction, h.frame["n"].tolist()) for h in halves] == [
        (0, "discharge", [1, 2, 4]),
        (1, "charge", [5, 6]),
        (2, "discharge", [8]),
    ]
    assert battery.half_cycles(frame.iloc[:1]) == []


def test_half_cycles_by_step_type() -> None:
    words = ["Rest", "Constant current charge", "Constant voltage charge", "Constant current discharge", "EIS"]
    halves = battery.half_cycles(pd.DataFrame({"Step type": words}))
    assert [(h.direction, len(h.frame)) for h in halves] == [("charge", 2), ("discharge", 1)]
    with pytest.raises(ValueError, match="Current"):
        battery.half_cycles(pd.DataFrame({"Voltage [V]": [1.0]}))


def test_the_end_of_a_constant_voltage_is_no_noise() -> None:
    tail = np.exp(-np.arange(120) / 30)  # to 19 mA, in each of three cycles with rests of 5 samples
    cycle = np.concatenate([np.full(60, -1.0), -tail, np.zeros(5), np.full(60, 8.0), np.zeros(5)])
    frame = pd.DataFrame({"Current [A]": np.tile(cycle, 3)})
    assert battery.rest_limit(frame["Current [A]"]) == 0.001
    assert [len(half.frame) for half in battery.half_cycles(frame)] == [180, 60] * 3


def test_small_currents_are_rest() -> None:
    assert battery.rest_limit([5.0, -2.0]) == 0.001
    assert battery.rest_limit([0.01]) == pytest.approx(0.0001)
    assert battery.rest_limit([]) == 0.0
    frame = pd.DataFrame({"Current [A]": [0.0009, 5.0, -0.0009]})
    assert battery.directions(frame).tolist() == [0, 1, 0]


@pytest.mark.parametrize("dropped", [[], ["Charge capacity [A.h]", "Discharge capacity [A.h]"]])
def test_dqdv_gives_the_known_derivative_with_direction_and_break(dropped: list[str]) -> None:
    made = battery.dqdv(cycle().drop(columns=dropped))
    gaps = np.flatnonzero(made["Voltage [V]"].isna())
    assert len(gaps) == 1
    charge, discharge = made.iloc[: gaps[0]], made.iloc[gaps[0] + 1 :]
    assert set(charge["Direction"]) == {"charge"}
    assert set(discharge["Direction"]) == {"discharge"}
    assert (np.diff(charge["Voltage [V]"]) > 0).all()
    assert (np.diff(discharge["Voltage [V]"]) < 0).all()
    for part, sign in ((charge, 1), (discharge, -1)):
        inner = part.iloc[5:-5]
        wrong = inner["dQ/dV [A.h/V]"] - sign * exact(inner["Voltage [V]"].to_numpy())
        assert np.abs(wrong).max() < 0.05
    assert made.loc[gaps[0], "Half cycle"] == 1


def test_dqdv_keeps_its_area_whatever_the_smoothing() -> None:
    frame = cycle().iloc[:4000]
    passed = battery.charge_passed(frame, "charge")[-1]
    for smooth in (0.0, 0.01, 0.03):
        made = battery.dqdv(frame, smooth=smooth)
        area = np.trapezoid(made["dQ/dV [A.h/V]"], made["Voltage [V]"])
        assert area == pytest.approx(passed, rel=0.01)


def test_noise_is_smoothed_and_reported() -> None:
    frame = cycle().iloc[:4000].copy()
    frame["Voltage [V]"] += np.random.default_rng(3).normal(0, 0.001, len(frame))
    with pytest.warns(battery.NotMonotonic, match="turns back"):
        rough = battery.dqdv(frame, smooth=0.0)
    with pytest.warns(battery.NotMonotonic):
        smooth = battery.dqdv(frame, smooth=0.03)

    def error(made: pd.DataFrame) -> float:
        inner = made.iloc[5:-5]
        return float(np.abs(inner["dQ/dV [A.h/V]"] - exact(inner["Voltage [V]"].to_numpy())).mean())

    assert error(smooth) < error(rough)
    assert error(smooth) < 0.3


def test_counters_that_restart_in_each_step_add_up() -> None:
    frame = pd.DataFrame({"Discharge capacity [A.h]": [0.0, 0.5, 1.0, 0.2, 0.4]})
    assert battery.charge_passed(frame, "discharge").tolist() == pytest.approx([0, 0.5, 1.0, 1.2, 1.4])
    with pytest.raises(ValueError, match="Charge capacity"):
        battery.charge_passed(frame, "charge")


@pytest.mark.parametrize("direction", [1, None, "Charge", "charging", ["charge"]])
def test_a_wrong_direction_is_refused_with_those_there_are(direction: Any) -> None:
    frame = pd.DataFrame({"Charge capacity [A.h]": [0.0, 0.5]})
    with pytest.raises(ValueError, match="is 'charge' or 'discharge', not "):
        battery.charge_passed(frame, direction)


def test_dvdq_is_the_inverse_slope() -> None:
    made = battery.dvdq(cycle().iloc[:4000])
    inner = made.iloc[100:-100]
    voltage = 3.7 + 0.1 * np.arctanh(inner["Capacity [A.h]"] + np.tanh(-3.0))
    assert np.allclose(inner["dV/dQ [V/A.h]"], 1 / exact(voltage.to_numpy()), rtol=0.02)
    down = battery.dvdq(cycle())
    second = down[down["Direction"] == "discharge"].iloc[5:-5]
    assert (second["dV/dQ [V/A.h]"] < 0).all()


def test_derivatives_of_too_little_are_empty_with_their_columns() -> None:
    short = pd.DataFrame({"Current [A]": [1.0, 1.0], "Voltage [V]": [4.0, 3.999], "Time [s]": [0.0, 1.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for made in (battery.dqdv(short), battery.dvdq(short.iloc[:0])):
            assert len(made) == 0
            assert made.columns[2:].tolist() == ["Half cycle", "Direction"]
    with pytest.raises(ValueError, match="Voltage"):
        battery.dqdv(short.drop(columns="Voltage [V]"))


def pulse_test() -> pd.DataFrame:
    """Rest, 10 A for 20 s, rest, 5 A of charge for 5 s: U = 4 - I * (0.002 + 0.001 * t / 10)."""
    time = np.array([0.0, 10.0, 10.1, 11.0, 20.0, 30.0, 30.1, 60.0, 60.1, 65.0, 65.1, 80.0])
    current = np.array([0.0, 0.0, 10.0, 10.0, 10.0, 10.0, 0.0, 0.0, -5.0, -5.0, 0.0, 0.0])
    since = np.where(time < 40, time - 10, time - 60)
    voltage = 4 - current * (0.002 + 0.0001 * since)
    return pd.DataFrame({"Time [s]": time, "Current [A]": current, "Voltage [V]": voltage})


def test_pulse_resistance_at_times_after_the_onset() -> None:
    made = battery.pulse_resistance(pulse_test(), at=[0, 1, 10])
    assert made["Direction"].tolist() == ["discharge", "charge"]
    assert made["Time [s]"].tolist() == [10.0, 60.0]
    assert made["Current step [A]"].tolist() == [10.0, -5.0]
    assert made["Duration [s]"].tolist() == pytest.approx([20.0, 5.0])
    assert made["Resistance at 0 s [Ohm]"].tolist() == pytest.approx([0.00201, 0.00201])
    assert made["Resistance at 1 s [Ohm]"].tolist() == pytest.approx([0.0021, 0.0021])
    assert made["Resistance at 10 s [Ohm]"].iloc[0] == pytest.approx(0.003)
    assert np.isnan(made["Resistance at 10 s [Ohm]"].iloc[1]), "the pulse was over by then"


def test_no_pulses_give_an_empty_frame_with_columns() -> None:
    rest = pulse_test().assign(**{"Current [A]": 0.0})
    made = battery.pulse_resistance(rest)
    assert len(made) == 0
    assert "Resistance at 10 s [Ohm]" in made
    with pytest.raises(ValueError, match="Voltage"):
        battery.pulse_resistance(rest.drop(columns="Voltage [V]"))


def test_normalisation() -> None:
    capacity = pd.Series([4.0, 3.0, 5.0, np.nan], index=[7, 8, 9, 10])
    assert battery.of_rated(capacity, 5.0).tolist()[:3] == pytest.approx([0.8, 0.6, 1.0])
    assert battery.of_first(capacity).tolist()[:3] == [1.0, 0.75, 1.25]
    assert battery.of_first([0.0, np.nan, 2.0, 1.0]).tolist()[2:] == [1.0, 0.5]
    grouped = battery.of_first(
        pd.Series([2.0, 4.0, 1.0, 2.0]), pd.Series(["a", "b", "a", "b"], index=[3, 2, 1, 0])
    )
    assert grouped.tolist() == [1.0, 1.0, 0.5, 0.5]
    assert battery.per_mass(2.0 * np.ones(1), 10.0).tolist() == [200.0]
    assert battery.per_area([0.003], 2.0).tolist() == [1.5]
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="above 0"):
            battery.per_mass(capacity, wrong)


def test_each_value_may_have_its_own_rating() -> None:
    capacity = pd.Series([4.0, 1.25, 2.0], index=[7, 8, 9])
    rated = pd.Series([5.0, 2.5, np.nan], index=[7, 8, 9])
    made = battery.of_rated(capacity, rated)
    assert made.tolist()[:2] == [0.8, 0.5]
    assert np.isnan(made.iloc[2])
    assert list(made.index) == [7, 8, 9]
    assert battery.per_mass([0.001, 0.002], rated.iloc[:2]).tolist() == pytest.approx([0.2, 0.8])
    with pytest.raises(ValueError, match="rated value must be a number above 0; it is 0"):
        battery.of_rated(capacity, [5.0, 0.0, 2.0])
    for other in ([5.0, 2.5], rated.reset_index(drop=True)):
        with pytest.raises(ValueError, match="one rated value for each value, in the same rows"):
            battery.of_rated(capacity, other)


def test_mean_and_spread_keeps_counts_order_and_singletons() -> None:
    frame = pd.DataFrame(
        {
            "batch": ["B", "B", "A", "B", "B", None, "A"],
            "cycle": [1, 1, 1, 2, 2, 1, 2],
            "q": [1.0, 3.0, 5.0, 2.0, np.nan, 7.0, 4.0],
        }
    )
    made = battery.mean_and_spread(frame, "cycle", "q", "batch")
    assert made.columns.tolist() == ["batch", "cycle", "mean", "std", "n", "low", "high"]
    assert made["batch"].fillna("-").tolist() == ["B", "B", "A", "A", "-"]
    assert made["mean"].tolist() == [2.0, 2.0, 5.0, 4.0, 7.0]
    assert made["n"].tolist() == [2, 1, 1, 1, 1]
    assert made["std"].iloc[0] == pytest.approx(np.sqrt(2))
    assert made["std"].iloc[1:].isna().all()
    assert made["low"].iloc[1] == made["high"].iloc[1] == 2.0
    everything = battery.mean_and_spread(frame, "cycle", "q")
    assert everything["n"].tolist() == [4, 2]


def test_band_is_a_sound_pair_of_traces() -> None:
    frame = pd.DataFrame({"cycle": [1, 1, 2, 2], "q": [1.0, 3.0, 2.0, 4.0]})
    shade, line = battery.band(battery.mean_and_spread(frame, "cycle", "q"), "cycle", "A", "#0072B2", y="q [A.h]")
    go.Figure([shade, line])
    assert shade["x"].tolist() == [1, 2, 2, 1]
    assert shade["fillcolor"] == "rgba(0, 114, 178, 0.2)"
    assert line["customdata"][:, 1].tolist() == [2, 2]
    assert "n = " in line["hovertemplate"]
    with pytest.raises(ValueError, match="not a colour"):
        battery.pale("red")


@pytest.mark.parametrize(
    ("column", "title"),
    [
        ("Voltage [V]", "Voltage / V"),
        ("Discharge capacity [A.h]", "Discharge capacity / A h"),
        ("Mean temperature [degC]", "Mean temperature / °C"),
        ("dQ/dV [A.h/V]", "dQ/dV / A h V⁻¹"),
        ("Capacity [mA.h/cm2]", "Capacity / mA h cm⁻²"),
        ("Resistance [mOhm]", "Resistance / mΩ"),
        ("Current [uA]", "Current / µA"),
        ("Flux [mol/m^2/s]", "Flux / mol m⁻² s⁻¹"),
        ("Rate [s-1]", "Rate / s⁻¹"),
        ("Rate [1/h]", "Rate / h⁻¹"),
        ("Step count", "Step count"),
    ],
)
def test_axis_titles(column: str, title: str) -> None:
    assert battery.axis_title(column) == title


def test_few_curves_have_a_legend_and_many_a_colour_bar() -> None:
    few = battery.coloring([1, 50, 100], "Cycle")
    assert few.legend
    assert not few.bar
    assert len(set(few.colors)) == 3
    many = battery.coloring(list(range(0, 200, 10)), "Cycle")
    assert not many.legend
    assert len(set(many.colors)) == 20
    figure = go.Figure(many.bar)
    assert figure.data[0].marker.cmax == 190
    assert figure.data[0].marker.colorbar.title.text == "Cycle"
    names = battery.coloring(["a", "b", "a"] * 5, "Batch")
    assert names.legend
    assert names.colors[:2] == list(battery.PALETTE[:2])


def test_shades_follow_the_value_and_bear_gaps() -> None:
    low, middle, high = battery.shades([0.0, 50.0, 100.0])
    assert battery.shades([0.0, np.nan], 0.0, 100.0)[0] == low
    assert battery.shades([100.0, 50.0], 0.0, 100.0) == [high, middle]
    assert battery.shades([3.0, 3.0]) == [low, low]
    assert battery.shades([]) == battery.sequential(0) == []


def test_the_bar_shows_the_colours_of_the_curves() -> None:
    bar = battery.color_bar(0.0, 10.0, "Cycle")
    assert [shade for _, shade in bar["marker"]["colorscale"]] == battery.shades(list(range(11)))


def contrast(color: str) -> float:
    """WCAG contrast with white."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_the_palette_is_seen_on_white() -> None:
    assert min(map(contrast, battery.PALETTE)) > 2


def test_eight_curves_have_eight_colours() -> None:
    """The eighth test of `power-capability` had the colour of the first."""
    assert len(set(battery.PALETTE)) == 8
    parts = np.array([[int(color[place : place + 2], 16) for place in (1, 3, 5)] for color in battery.PALETTE])
    apart = np.abs(parts[:, None] - parts[None]).sum(axis=2) + 999 * np.eye(8)
    assert apart.min() > 80


@pytest.mark.parametrize("template", [battery.template(), battery.paper(), battery.paper(font=14)])
def test_rows_of_a_table_are_higher_than_their_letters(template: go.layout.Template) -> None:
    (table,) = template.data.table
    # plotly writes 8 px below the upper edge of a row, and a line is 1.3 times as high as its letters.
    least = 8 + 1.3 * template.layout.font.size
    assert table.cells.height >= least
    assert table.header.height >= least


def test_the_template_is_valid_and_registers_nothing() -> None:
    import plotly.io as pio

    before = list(pio.templates)
    figure = go.Figure(go.Scatter(y=[1, 2]), layout={"template": battery.template()})
    assert figure.layout.template.layout.plot_bgcolor == "white"
    assert list(pio.templates) == before
    assert pio.templates.default == "plotly"


def test_nyquist_has_equal_axes_and_turns_the_sign() -> None:
    z = pd.DataFrame(
        {"Z_Re [Ohm]": [1.0, 2.0, np.nan], "Z_Im [Ohm]": [-0.5, -1.0, 0.0], "Frequency [Hz]": [1e3, 1, 0]}
    )
    trace = battery.nyquist_trace(z, "cell", "#000000")
    assert list(trace["y"]) == [0.5, 1.0]
    assert trace["customdata"].tolist() == [1000, 1]
    beside = pd.DataFrame({"Z_Re [Ohm]": [1.0, 0], "Z_Im [Ohm]": [-0.5, 0], "Frequency [Hz]": [1e3, 0]})
    assert list(battery.nyquist_trace(beside, "cell")["x"]) == [1.0]
    figure = go.Figure([trace], layout=battery.nyquist_layout())
    assert figure.layout.yaxis.scaleanchor == "x"
    assert figure.layout.yaxis.scaleratio == 1
    upside_down = pd.DataFrame({"Z_Re [Ohm]": np.arange(6.0), "Z_Im [Ohm]": np.ones(6)})
    with pytest.warns(battery.SignLooksWrong, match="positive"):
        battery.nyquist_trace(upside_down, "cell")
    with pytest.raises(ValueError, match="Z_Im"):
        battery.nyquist_trace(z[["Z_Re [Ohm]"]], "cell")


def test_all_names_of_the_package_are_there() -> None:
    assert sorted(battery.__all__) == battery.__all__ or set(battery.__all__) <= set(dir(battery))
    assert all(getattr(battery, name).__doc__ for name in battery.__all__ if name != "PALETTE")


def test_a_legend_lies_below_or_in_a_corner() -> None:
    below = battery.legend(title={"text": "Batch"})
    assert (below["yref"], below["y"], below["title"]) == ("container", 0, {"text": "Batch"})
    corner = battery.legend("bottom right", bgcolor="white")
    assert (corner["xanchor"], corner["yanchor"], corner["bgcolor"]) == ("right", "bottom", "white")
    for made in (below, corner):
        go.Figure(layout={"template": battery.template(), "legend": made})
    with pytest.raises(ValueError, match="'below' or into 'top left'"):
        battery.legend("above")


def test_a_message_is_a_sentence_without_axes_or_markup() -> None:
    text = "No <b>impedance</b> & nothing\nelse.\n\nChoose a test whose name is long enough for a second line."
    figure = battery.message(text)
    (note,) = figure.layout.annotations
    assert note.text.startswith("No &lt;b&gt;impedance&lt;/b&gt; &amp; nothing else.<br>Choose")
    assert note.text.count("<br>") == 2
    assert figure.layout.xaxis.visible is False
    assert figure.layout.yaxis.visible is False
    assert not figure.data


def test_each_template_is_a_new_one_with_all_that_plotly_has_checked() -> None:
    made, checked = battery.template(), go.layout.Template(battery.template())
    assert made == checked
    assert go.Figure(layout={"template": made}).to_json() == go.Figure(layout={"template": checked}).to_json()
    made.layout.font.size, made.data.scatter[0].line.width = 20, 9
    assert battery.template() == checked
    with pytest.raises(ValueError, match="size"):
        made.layout.font.size = "large"
    with pytest.raises(ValueError, match="colour"):
        made.layout.font = {"colour": "red"}


def test_no_button_of_the_template_sends_a_figure_away() -> None:
    bar = battery.template().layout.modebar
    assert "sendcharttocloud" in bar.remove
    assert not {"toimage", "zoom", "pan", "resetscale"} & set(bar.remove)
