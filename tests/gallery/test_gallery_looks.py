"""What a reader of a figure trips over: lines over both directions, units with too many zeros, legends that cannot be
read, labels that are not numbers."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import orjson
import pandas as pd
import plotly.graph_objects as go
import pytest

import workbench as wb
from workbench.gallery.script_parts import capacity_unit, charge_axis, current_unit, log_ticks, ohm_unit
from workbench.pictures.fitting import fitted

PULSES, CURRENT, PULSE, REST = 10, 0.1, 600.0, 3600.0


def titration() -> pd.DataFrame:
    """Ten discharge pulses and ten charge pulses, 50 mV apart at equal charge, each with a rest of an hour."""
    parts, begin, charge = [], 0.0, 0.0
    after = np.array([0.1, 1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 45, 60, 120, 300, PULSE])
    still = np.array([0.1, 60, 600, 1800, 2400, 3000, 3300, REST])
    for sense in [1.0] * PULSES + [-1.0] * PULSES:
        loss = 0.025 * sense
        level = 4.0 - 1.5 * charge - loss
        volts = level - sense * 0.002 * np.sqrt(after)
        charge += sense * CURRENT * PULSE / 3600
        rested = 4.0 - 1.5 * charge - loss
        relaxing = rested + (volts[-1] - rested) * np.exp(-still / 300)
        parts.append((begin + after, np.full(len(after), sense * CURRENT), volts))
        parts.append((begin + PULSE + still, np.zeros(len(still)), relaxing))
        begin += PULSE + REST
    first = (np.array([-1800.0, -900.0, 0.0]), np.zeros(3), np.full(3, 3.975))
    time, amps, volts = (np.concatenate([first[k], *(part[k] for part in parts)]) for k in range(3))
    return pd.DataFrame({"Time [s]": time + 1800, "Current [A]": amps, "Voltage [V]": volts})


def words(figure: wb.Figure) -> str:
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)


def test_charge_and_discharge_of_a_titration_are_lines_of_their_own(tmp_path: Path) -> None:
    """They differ at one state of charge: one line through both went back and forth between them."""
    titration().to_csv(tmp_path / "titration.csv", index=False)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path / "titration.csv", specification="Cell", rating="0.2Ah,3V,4.2V", sign="discharge")
        bench.analyse("gitt", "titration")
        bench.analyse("ocv_from_rests", "titration")
        bench.measurements.update("titration", tags=["GITT"])
        figure = bench.figure("gitt")
        lines = [trace for trace in figure.data if trace.name]
        assert [trace.line.dash for trace in lines] == ["solid", "dot"]
        assert [trace.showlegend for trace in lines] == [True, False]
        assert words(figure).startswith("solid: discharge, dotted: charge")
        rests = bench.figure("ocv-from-rests")
        assert all(np.all(np.diff(trace.y) < 0) or np.all(np.diff(trace.y) > 0) for trace in rests.data)
        assert sum(trace.showlegend for trace in rests.data) == 1
        for drawn in (figure, rests):  # it reaches neither limit of voltage
            assert words(drawn).endswith("0 and 100 %: the emptiest and the fullest moment of a test")


def test_a_spectrum_without_a_voltage_has_a_number(tmp_path: Path) -> None:
    """Its bar was called "nan V"."""
    frequency = np.logspace(4, -1, 40)
    turn = 2j * np.pi * frequency
    impedance = 0.01 + 0.02 / (1 + 0.02 * 0.5 * turn) + 0.03 / (1 + 0.03 * 20 * turn)
    columns = {"Frequency [Hz]": frequency, "Z_Re [Ohm]": impedance.real, "Z_Im [Ohm]": impedance.imag}
    pd.DataFrame(columns).to_csv(tmp_path / "spectrum.csv", index=False)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path / "spectrum.csv", specification="Cell", rating="2Ah,3V,4.2V")
        bench.analyse("circuit", "spectrum", starts=3)
        (labels,) = {tuple(trace.x[1]) for trace in bench.figure("circuit").data}
        assert labels == ("no. 1",)


def test_one_check_up_of_each_cell_is_a_sentence(tmp_path: Path) -> None:
    """It was a single point at 100 %."""
    share = np.linspace(0, 1, 300)
    volts = np.concatenate([4.2 - 1.2 * share, np.full(20, 3.1), 3.0 + 1.2 * share])
    amps = np.concatenate([np.full(300, 0.1), np.zeros(20), np.full(300, -0.1)])
    slow = pd.DataFrame({"Time [s]": 240.0 * np.arange(620), "Current [A]": amps, "Voltage [V]": volts})
    slow.to_csv(tmp_path / "slow.csv", index=False)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path / "slow.csv", specification="Cell", rating="2Ah,3V,4.2V", sign="discharge")
        figure = bench.figure("reversible-loss")
        assert [one["code"] for one in figure.workbench.warnings] == ["needs_unmet"]
        assert "one check-up only" in words(figure)
        assert bench.figure("reversible-loss", relative="value").data


def test_units_fit_the_values_of_the_cell() -> None:
    """A coin cell had 0.0015 A h and 40k mΩ."""
    assert ohm_unit("cell", [20.0, 41.5]) == (1.0, "Ω")
    assert ohm_unit("cell", [0.02, np.nan]) == (1000.0, "mΩ")
    assert capacity_unit("cell", [0.0015, 0.005]) == (1000.0, "mA h")
    assert capacity_unit("cell", [2.5]) == (1.0, "A h")
    assert capacity_unit("g", [0.0015]) == (1000.0, "mA h g⁻¹")


def test_currents_have_the_unit_of_their_size() -> None:
    """200µ beside an axis in A is read as 200 A."""
    assert current_unit("cell", [-3e-4, 1.5e-4, np.nan]) == (1e6, "µA")
    assert current_unit("cell", [-0.02]) == (1000.0, "mA")
    assert current_unit("cell", [0.5, -2.0]) == (1.0, "A")
    assert current_unit("g", [3e-4]) == (1000.0, "mA g⁻¹")


def test_frequencies_of_a_kramers_kronig_test_have_a_tick_a_decade(demo_store: Path, tmp_path: Path) -> None:
    """plotly writes 2 and 5 between them, in small."""
    shutil.copy(demo_store, tmp_path / "kk.db")
    with wb.open(tmp_path / "kk.db") as bench:
        bench.analyse("kk", ["M50-A-01_EIS_fresh"])
        for axis in ("xaxis", "xaxis2"):
            ticks = bench.figure("kk").layout[axis].tickvals
            assert np.allclose(np.diff(np.log10(ticks)), 1)
            assert bench.figure("bode", show="bode").layout[axis].ticktext[-2:] == ("1000", "10000")


def test_voltage_curves_pass_the_charge_of_all_samples_of_a_cycle(tmp_path: Path) -> None:
    lines, time = ["Time [s],Current [A],Voltage [V],Cycle"], 0.0
    for cycle in range(3):
        for way in (1, -1):
            for n in range(1500):
                current = way * (1 + 0.5 * (n % 7 == 0))
                lines.append(f"{time},{current},{3.6 - way * 0.6 * (n / 1499 - 0.5):.5f},{cycle}")
                time += 1.0
    (tmp_path / "fast.csv").write_text("\n".join(lines))
    with wb.open(tmp_path / "store.db") as bench:
        bench.ingest(tmp_path / "fast.csv", sign="discharge", column_map={"Cycle": "Cycle from cycler"})
        figure = bench.figure("voltage-curves", tests="fast", direction="discharge")
        cycles = bench.measurements.cycles("fast")
    assert figure.workbench.warnings == []
    passed = max(figure.data[-1].x)
    assert passed == pytest.approx(cycles["Discharge capacity [A.h]"].iloc[-1], rel=2e-3)


def test_voltage_curves_of_a_short_test_are_of_its_first_middle_and_last_cycles(tmp_path: Path) -> None:
    """Cycles 1, 50 and 100 of a test of 17 are one curve."""
    half = np.r_[np.linspace(3.0, 4.1, 60), np.linspace(4.1, 3.0, 60)]
    amps = np.r_[np.full(60, -1.0), np.full(60, 1.0)]
    made = {"Voltage [V]": np.tile(half, 17), "Current [A]": np.tile(amps, 17), "Cycle": np.repeat(range(17), 120)}
    pd.DataFrame({"Time [s]": 60.0 * np.arange(17 * 120), **made}).to_csv(tmp_path / "short.csv", index=False)
    with wb.open(tmp_path / "own.db") as bench:
        bench.ingest(tmp_path / "short.csv", specification="Cell", rating="1Ah,3.0V,4.1V")
        names = {trace.name for trace in bench.figure("voltage-curves").data}
    assert names == {"cycle 1", "cycle 7", "cycle 15"}


def test_steps_of_two_kinds_are_explained(tmp_path: Path) -> None:
    """A charge at constant current and then voltage in one step, as some cyclers count it."""
    amps = np.r_[np.full(60, -1.0), -np.linspace(1.0, 0.05, 60), np.full(90, 1.0)]
    volts = np.r_[np.linspace(3.0, 4.2, 60), np.full(60, 4.2), np.linspace(4.2, 3.0, 90)]
    step = np.r_[np.zeros(120), np.ones(90)]
    made = {"Time [s]": 60.0 * np.arange(630), "Current [A]": np.tile(amps, 3), "Voltage [V]": np.tile(volts, 3)}
    made |= {"Cycle": np.repeat(range(3), 210), "Step": np.concatenate([step + 2 * turn for turn in range(3)])}
    pd.DataFrame(made).to_csv(tmp_path / "mixed.csv", index=False)
    with wb.open(tmp_path / "own.db") as bench:
        bench.ingest(tmp_path / "mixed.csv", specification="Cell", rating="1.5Ah,3.0V,4.2V", sign="discharge")
        assert "other: steps that are not wholly at constant" in words(bench.figure("capacity-by-step"))
        assert "other" not in words(bench.figure("capacity-by-step", direction="discharge"))


def test_small_numbers_on_a_logarithmic_axis_are_powers_of_ten() -> None:
    """Plotly wrote the digits 2 to 9 of each decade, one over the other, and powers larger than all other letters."""
    axis = log_ticks(np.array([1e-5, 3e-4]))
    assert axis["ticktext"][:4] == [
        f"{one}</sup>" for one in ("5·10<sup>−6", "10<sup>−5", "2·10<sup>−5", "5·10<sup>−5")
    ]
    assert axis["tickvals"] == pytest.approx([5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4])
    assert log_ticks(np.array([1e-9, 3e-4]))["ticktext"] == [f"10<sup>−{power}</sup>" for power in "987654"]
    assert log_ticks(np.array([0.3]))["dtick"] == "D2"


def test_the_symbols_of_a_legend_have_a_colour_for_dark_pages_and_names_are_in_order(demo_store: Path) -> None:
    """Plotly draws the legend of points of many colours in black, which a dark page does not show."""
    with wb.open(demo_store) as bench:
        keys = [
            trace for trace in bench.figure("reversible-loss").data if trace.name and trace.showlegend is not False
        ]
        assert len(keys) > 8
        assert {trace.marker.color for trace in keys} == {"#777777"}
        growth = bench.figure("resistance-growth").data
        names = [trace.name for trace in growth if trace.showlegend]
        assert names == sorted(names)


def test_panels_leave_room_for_the_titles_between_them(demo_store: Path) -> None:
    with wb.open(demo_store) as bench:
        layout = bench.figure("bode").layout
        assert layout.yaxis.domain[0] - layout.yaxis2.domain[1] > 0.18


def fades(folder: Path, names: list[str], cycles: int = 60) -> None:
    """A table of cycles of each of these cells, the first of which fades least."""
    for number, name in enumerate(names):
        capacity = 2 * (1 - 1e-3 * (1 + 0.1 * number) * np.arange(cycles))
        frame = pd.DataFrame({"Cycle": range(cycles), "Discharge capacity [A.h]": capacity})
        frame.to_csv(folder / f"{name}.csv", index=False)


LONG = "NDK_-_LG_M50_deg_-_exp_2_2_-_rig_3_-_25degC_-_cell_{}_-_BoL_-_RPT0_short_CA4_1"


def test_each_of_many_curves_has_its_name_beside_its_end(tmp_path: Path) -> None:
    """Above 16 curves there was neither a legend nor a name."""
    fades(tmp_path, [LONG.format(f"{number:02}") for number in range(24)])
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path, specification="Cell", rating="2Ah,3V,4.2V")
        figure = bench.figure("fade", group="cells")
        labels = [one for one in figure.layout.annotations if one.name == "end label"]
        assert len({one.text for one in labels}) == 24
        assert max(len(one.text) for one in labels) <= 20
        assert [one.text[-1] for one in labels] == ["1"] * 24 or all("…" in one.text for one in labels)
        assert figure.layout.showlegend is False
        paper, remarks = fitted(figure.to_json().encode(), {"width": "8.5 cm", "font": "8 pt"})
        layout = orjson.loads(paper)["layout"]
        assert not remarks
        placed = [one for one in layout["annotations"] if one.get("name") == "end label"]
        assert len({one["text"] for one in placed}) == 24
        letters = layout["template"]["layout"]["font"]["size"]
        assert (
            max(len(one["text"]) for one in placed) * 0.56 * letters < 0.36 * layout["template"]["layout"]["width"]
        )


def test_names_too_long_for_a_legend_are_cut_and_whole_in_the_tooltip(tmp_path: Path) -> None:
    names = [LONG.format(letter) for letter in "ABC"]
    fades(tmp_path, names)
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path, specification="Cell", rating="2Ah,3V,4.2V")
        for recipe in ("fade", "knee"):
            curves = [trace for trace in bench.figure(recipe).data if trace.name and trace.mode == "lines"]
            shown = {trace.name for trace in curves}
            assert len(shown) == (3 if recipe == "fade" else 0)
            assert all(len(name) <= 36 for name in shown)
        assert all(any(name in trace.hovertemplate for trace in bench.figure("fade").data) for name in names)
        ends = bench.figure("end-of-life")
        assert [len(text) <= 20 for text in ends.layout.xaxis.ticktext] == [True] * 3
        assert len(set(ends.layout.xaxis.ticktext)) == 3
        assert {name for trace in ends.data if trace.customdata is not None for name in trace.customdata} == set(
            names
        )
        timeline = bench.figure("capacity-by-step")
        assert timeline.layout.annotations


def test_many_cells_have_a_row_each_at_the_end_of_life(tmp_path: Path) -> None:
    """Plotly left out every second name, and wrote numbers smaller where bars are narrow."""
    fades(tmp_path, [f"cell {number}" for number in range(30)])
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(tmp_path, specification="Cell", rating="2Ah,3V,4.2V")
        figure = bench.figure("end-of-life", threshold=99)
        assert len(figure.layout.yaxis.ticktext) == 30
        bars = [trace for trace in figure.data if trace.type == "bar"]
        assert {trace.orientation for trace in bars} == {"h"}
        assert {trace.constraintext for trace in bars} == {"none"}
        paper, _ = fitted(figure.to_json().encode(), {"width": "8.5 cm", "font": "8 pt"})
        template = orjson.loads(paper)["layout"]["template"]["layout"]
        assert template["height"] > 30 * 1.2 * template["font"]["size"]


def test_no_curve_of_efficiency_goes_through_what_follows_a_check_up(demo_store: Path) -> None:
    """The charges of cycles 40 and 80 follow check-ups, which are tests of their own: they were spikes of curves."""
    with wb.open(demo_store) as bench:
        figure = bench.figure("efficiency", cells=["LFP-C-01", "LFP-C-04", "M50-B-01"])
        curves = [trace for trace in figure.data if trace.mode.startswith("lines")]
        assert len(curves) == 3
        for trace in curves:
            assert set(range(1, 120)) - set(trace.x) == {40, 80}
        marks = [trace for trace in figure.data if trace.mode == "markers"]
        assert {x for trace in marks for x in trace.x} == {0, 40, 80}
        assert {trace.marker.symbol for trace in marks} == {"circle-open"}
        assert "3 cycles (first of a test), 6 cycles (apart from both neighbours)" in words(figure)
        plated = bench.figure("efficiency", cells=["M50-A-04"]).data[0]
        assert len(plated.x) > 115, "a real loss is in the curve"


def test_tests_that_are_left_out_are_counted_by_their_reason(tmp_path: Path) -> None:
    """Of 18 tests of one name one was said, and a figure at 8.5 cm had ten lines of names above it."""
    for number in range(18):
        (tmp_path / f"c{number}").mkdir()
        fades(tmp_path / f"c{number}", ["capacity"], 20 + number)
    whole = pd.DataFrame({"Cycle": range(20), "Discharge capacity [A.h]": 2.0, "Charge capacity [A.h]": 2.01})
    whole = whole.assign(**{"Discharge energy [W.h]": 7.0, "Charge energy [W.h]": 7.5})
    whole.to_csv(tmp_path / "whole.csv", index=False)
    with wb.open(tmp_path / "lab.db") as bench:
        for number in range(18):
            bench.ingest(
                tmp_path / f"c{number}", specification="Cell", rating="2Ah,3V,4.2V", instance=f"c{number}"
            )
        bench.ingest(tmp_path / "whole.csv", specification="Cell", rating="2Ah,3V,4.2V")
        said = words(bench.figure("efficiency"))
        assert said.endswith("left out: capacity of 18 cells (no column 'Coulombic efficiency')")


def test_the_state_of_charge_of_pulses_says_what_it_refers_to(demo_store: Path) -> None:
    """A slow cycle in the test of the pulses makes 100 % more than what the pulses pass."""
    with wb.open(demo_store) as bench:
        figure = bench.figure("dcir", tests=["M50-A-01_HPPC_fresh"])
        steps = bench.measurements.steps("M50-A-01_HPPC_fresh")
    net = (steps["Discharge capacity [A.h]"] - steps["Charge capacity [A.h]"]).fillna(0).cumsum()
    whole = net.max() - min(net.min(), 0)
    said = words(figure).replace("<br>", " ")
    assert f"100 %: the fullest moment of a test, {whole:.3g} A h above the emptiest" in said
    assert [float(row[2]) for trace in figure.data for row in trace.customdata] == pytest.approx([whole] * 18)
    assert figure.layout.xaxis.range is None


def test_a_state_of_charge_between_the_limits_needs_no_words(demo_store: Path, tmp_path: Path) -> None:
    shutil.copy(demo_store, tmp_path / "power.db")
    with wb.open(tmp_path / "power.db") as bench:
        bench.analyse("power_capability", ["M50-A-01_HPPC_fresh"])
        said = words(bench.figure("power-capability"))
    assert said.startswith("solid: discharge")
    assert "moment" not in said


def test_points_at_nearly_one_state_of_charge_are_on_the_whole_axis() -> None:
    near, far, beyond = (go.Figure(go.Scatter(x=x, y=[1, 2])) for x in ([4.0, 6.0], [4.0, 60.0], [-5.0, 4.0]))
    for figure in (near, far, beyond):
        charge_axis(figure)
        assert figure.layout.xaxis.title.text == "State of charge / %"
    assert near.layout.xaxis.range == (-3, 103)
    assert far.layout.xaxis.range is beyond.layout.xaxis.range is None


@pytest.mark.long
def test_a_view_param_without_a_value_has_its_default(demo_store: Path) -> None:
    """Twenty of them ended in an error of Python."""
    with wb.open(demo_store) as bench:
        for item in bench.gallery().items:
            recipe = bench.gallery().recipe(item["name"])
            view = [name for name, param in recipe.params.items() if param["kind"] == "view"]
            if view:
                nothing = bench.figure(item["name"], **dict.fromkeys(view))
                assert nothing.to_json() == bench.figure(item["name"]).to_json(), item["name"]
