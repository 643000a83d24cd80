"""What a reader of a figure trips over: lines over both directions, units with too many zeros, legends that cannot be
read, labels that are not numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import workbench as wb
from workbench.gallery.script_parts import capacity_unit, log_ticks, ohm_unit

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


def test_small_numbers_on_a_logarithmic_axis_are_powers_of_ten() -> None:
    """Plotly wrote the digits 2 to 9 of each decade, one over the other."""
    assert log_ticks(np.array([1e-5, 3e-4])) == {"type": "log", "dtick": "D2", "exponentformat": "power"}
    assert log_ticks(np.array([1e-9, 3e-4]))["dtick"] == 1
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
