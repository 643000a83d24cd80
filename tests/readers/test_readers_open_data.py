"""Tables as labs share them with their papers, and tables made by hand: names of columns that no cycler writes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import FileRefused
from workbench.readers import Reading, SeveralTests, read
from workbench.readers.file.source import look
from workbench.readers.table import text_layout
from workbench.table import Table, concat

# Rest, charge with 2 A, rest, discharge with 2 A: four samples each, one every 10 s.
FLOW = [(0.0, 2.0, 0.0, -2.0)[n // 4] for n in range(16)]
VOLTS = [3.6 + (0.0, 0.1 + 0.01 * (n % 4), 0.02, -0.1 - 0.01 * (n % 4))[n // 4] for n in range(16)]
WARM = [25 + n / 10 for n in range(16)]


def got(folder: Path, text: str, encoding: str = "utf-8") -> tuple[Reading, Table]:
    path = folder / "file.csv"
    path.write_bytes(text.encode(encoding))
    reading = read(path)
    return reading, concat(list(reading.batches))


def rows(line: str) -> str:
    return "".join(
        line.format(
            n=n, t=10 * n, i=FLOW[n], u=VOLTS[n], ma=1000 * FLOW[n], minus=-FLOW[n], warm=WARM[n], k=WARM[n] + 273.15,
            pack=96 * VOLTS[n], cycle=1 + n // 8, step=1 + n // 4, q=n / 8, mah=125 * n,
        )
        + "\n"
        for n in range(16)
    )  # fmt: skip


def holds(table: Table, *, volts: float = 1.0) -> None:
    assert table["Time [s]"].floats() == pytest.approx(10.0 * np.arange(16))
    assert table["Current [A]"].floats() == pytest.approx(-np.array(FLOW))
    assert table["Voltage [V]"].floats() == pytest.approx(volts * np.array(VOLTS))


BROKEN = '"Time\n(s)"{0}"Voltage\n(V)"{0}"Current\n(A)"\n'


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("mark", [",", ";", "\t"], ids=["comma", "semicolon", "tab"])
def test_line_breaks_within_the_names_of_columns(mark: str, end: str, tmp_path: Path) -> None:
    body = rows("{t},{u:.4f},{i}".replace(",", mark)).replace("\n", end)
    holds(got(tmp_path, "Cell 7" + end + BROKEN.format(mark).rstrip() + end + body)[1])


def test_line_breaks_within_the_names_of_some_columns(tmp_path: Path) -> None:
    """The header ends far below the line where it begins, and a line within it looks like another header."""
    header = 'Zeit [s];"Spannung\n\nder Zelle, 4-Leiter\n(V)";"Strom\n(A)";Spannung [V]\n'
    _, table = got(tmp_path, header + rows("{t};0;{i};{u:.4f}").replace(".", ","), "cp1252")
    holds(table)
    assert table.names[-1] == "Spannung der Zelle, 4-Leiter (V)"


def test_names_with_line_breaks_that_come_again(tmp_path: Path) -> None:
    lines = rows("{t},{u:.4f},{i}").splitlines(keepends=True)
    reading, table = got(tmp_path, BROKEN.format(",") + "".join([*lines[:8], BROKEN.format(","), *lines[8:]]))
    holds(table)
    assert "header_repeated" in {note.code for note in reading.notes}


def test_two_tests_below_each_other_whose_names_have_line_breaks(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text(2 * (BROKEN.format(",") + rows("{t},{u:.4f},{i}")))
    with pytest.raises(SeveralTests) as refused:
        read(tmp_path / "file.csv")
    for name in refused.value.tests:
        holds(concat(list(read(tmp_path / "file.csv", test=name).batches)))


@pytest.mark.parametrize("text", ['1,"a\n2,"b\nx,y\n' * 400, '1,"a\n' + "x,y\n" * 1200, '1,"a""b\n' * 1200])
def test_a_look_for_line_breaks_in_names_takes_each_line_a_few_times(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where each line opens a quote that the next one closes, or that none closes."""
    taken = 0
    plain = csv.reader

    def each(lines: Iterable[str]) -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += 1
            yield line

    def counting(lines: Iterable[str], delimiter: str, *, skipinitialspace: bool) -> object:
        return plain(each(lines), delimiter=delimiter, skipinitialspace=skipinitialspace)

    (path := tmp_path / "file.csv").write_text("Time,Note\n" + text)
    monkeypatch.setattr(csv, "reader", counting)
    text_layout.header_lines(look(path))
    assert 0 < taken <= 4 * len(text_layout.DELIMITERS) * 1201


@pytest.mark.parametrize(
    "name",
    [
        *("T [°C]", "T_degC", "T(C)", "T", "T_cell_degC", "T_cell (°C)", "Temp. cell (°C)", "Battery_Temp_degC"),
        *("Surface Temperature (°C)", "Battery Temperature [°C]", "Temp1"),
    ],
)
def test_a_temperature_of_the_cell(name: str, tmp_path: Path) -> None:
    _, table = got(tmp_path, f"t [s],U [V],I [A],{name}\n" + rows("{t},{u},{i},{warm}"))
    holds(table)
    assert table["Temperature [degC]"].floats() == pytest.approx(WARM)


@pytest.mark.parametrize("name", ["T_amb (°C)", "Chamber_Temp_degC", "Temp. chamber (°C)", "ambient_temp"])
def test_a_temperature_of_the_chamber(name: str, tmp_path: Path) -> None:
    _, table = got(tmp_path, f"t [s],U [V],I [A],{name}\n" + rows("{t},{u},{i},{warm}"))
    assert table["Ambient temperature [degC]"].floats() == pytest.approx(WARM)


@pytest.mark.parametrize("name", ["Volume-averaged cell temperature [K]", "X-averaged cell temperature [K]"])
def test_a_temperature_of_a_simulation(name: str, tmp_path: Path) -> None:
    text = f"Time [s],Current [A],Terminal voltage [V],{name}\n" + rows("{t},{minus},{u},{k}")
    _, table = got(tmp_path, text)
    holds(table)
    assert table["Temperature [degC]"].floats() == pytest.approx(WARM)


def test_a_capital_t_before_a_small_one_is_a_temperature(tmp_path: Path) -> None:
    """The time was read from the temperature."""
    _, table = got(tmp_path, "T,t,U,I\n" + rows("{warm},{t},{u},{i}"))
    holds(table)
    assert table["Temperature [degC]"].floats() == pytest.approx(WARM)


@pytest.mark.parametrize("letter", ["T", "t"])
def test_a_letter_alone_is_the_time(letter: str, tmp_path: Path) -> None:
    holds(got(tmp_path, f"{letter},U,I\n" + rows("{t},{u},{i}"))[1])


def test_a_small_t_beside_a_time_is_not_a_temperature(tmp_path: Path) -> None:
    assert "Temperature [degC]" not in got(tmp_path, "Time,t,U,I\n" + rows("{t},{t},{u},{i}"))[1].names


@pytest.mark.parametrize("whose", ["Pack", "Battery", "Module"])
def test_voltage_and_current_of_a_pack(whose: str, tmp_path: Path) -> None:
    header = f"Time [s];Velocity [km/h];{whose} Voltage [V];{whose} Current [A]\n"
    holds(got(tmp_path, header + rows("{t};50;{pack};{i}"))[1], volts=96)


@pytest.mark.parametrize(
    "names", ["Vbat (V),Ibat (A),Tbat (C)", "U_bat,I_bat,T_bat", "V_batt (V),I_batt (A),BattTemp [C]"]
)
def test_short_names_of_a_logger(names: str, tmp_path: Path) -> None:
    _, table = got(tmp_path, f"Time (s),{names}\n" + rows("{t},{u},{i},{warm}"))
    holds(table)
    assert table["Temperature [degC]"].floats() == pytest.approx(WARM)


def test_the_voltage_of_the_cell_goes_before_that_of_the_pack(tmp_path: Path) -> None:
    header = "Time [s],Pack Voltage [V],Pack Current [A],Voltage [V]\n"
    holds(got(tmp_path, header + rows("{t},{pack},{i},{u}"))[1])


@pytest.mark.parametrize("names", ["Ecell_V,I_mA", "Voltage_V,I_mA"])
def test_names_of_a_cycler_that_a_program_joined(names: str, tmp_path: Path) -> None:
    header = f"time_s,{names},EnergyCharge_W_h,QCharge_mA_h,QDischarge_mA_h,Temperature__C,cycleNumber,Ns\n"
    _, table = got(tmp_path, header + rows("{t},{u},{ma},{q},{mah},{mah},{warm},{cycle},{step}"))
    holds(table)
    assert table["Charge energy [W.h]"].floats() == pytest.approx([n / 8 for n in range(16)])
    for name in ("Charge capacity [A.h]", "Discharge capacity [A.h]"):
        assert table[name].floats() == pytest.approx([n / 8 for n in range(16)])
    assert table["Cycle from cycler"].floats()[[0, 15]] == pytest.approx([1, 2])
    assert table["Temperature [degC]"].floats() == pytest.approx(WARM)


def test_notes_with_an_inch_sign_are_no_header(tmp_path: Path) -> None:
    text = 'Cell 3" wide, tab\nNote,"two\nlines"\nTime (s),Voltage (V),Current (A)\n'
    holds(got(tmp_path, text + rows("{t},{u},{i}"))[1])


def test_a_quote_that_nothing_closes_hides_no_header(tmp_path: Path) -> None:
    holds(got(tmp_path, 'Note,"two\nTime (s),Voltage (V),Current (A)\n' + rows("{t},{u},{i}"))[1])


def test_a_header_alone_is_still_refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="has a header but no rows"):
        got(tmp_path, BROKEN.format(","))


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("testTime,cycleIndex,stepIndex,current,voltage,chargeCapacity,dischargeCapacity,temperature",
         "{t},{cycle},{step},{i},{u},{q},{q},{warm}"),
        ("TestTime_s,CycleNumber,StepNumber,Current_A,Voltage_V,ChargeCapacity_mAh,DischargeCapacity_mAh,Temp_degC",
         "{t},{cycle},{step},{i},{u},{mah},{mah},{warm}"),
        ("循环,工步序号,时间/s,电流/mA,电压/V,充电容量/Ah,放电容量/Ah,温度/℃",
         "{cycle},{step},{t},{ma},{u},{q},{q},{warm}"),
        ("Zyklusnummer,Schritt-Nr.,Zeit [s],Strom [mA],Spannung [V],Ladekapazität [Ah],Entladekapazität [Ah],"
         "Zelltemperatur [°C]", "{cycle},{step},{t},{ma},{u},{q},{q},{warm}"),
        ("Zyklus;Schrittnummer;Testzeit/s;Strom/mA;Spannung/V;Kapazität Laden/mAh;Kapazität Entladen/mAh;"
         "Temperatur/°C", "{cycle};{step};{t};{ma};{u};{mah};{mah};{warm}"),
        ("循環,工步,時間(s),電流（mA）,電壓（V）,充電容量（mAh）,放電容量（mAh）,溫度（℃）",
         "{cycle},{step},{t},{ma},{u},{mah},{mah},{warm}"),
        ("Cycle,Étape,Temps (s),Courant (mA),Tension (V),Capacité de charge (Ah),Capacité de décharge (Ah),"
         "Température (°C)", "{cycle},{step},{t},{ma},{u},{q},{q},{warm}"),
    ],
    ids=["camels", "units behind", "Chinese", "German", "German verbs", "Chinese of Taiwan", "French"],
)  # fmt: skip
def test_counters_with_names_in_one_word(header: str, line: str, tmp_path: Path) -> None:
    _, table = got(tmp_path, header + "\n" + rows(line))
    holds(table)
    for name in ("Charge capacity [A.h]", "Discharge capacity [A.h]"):
        assert table[name].floats() == pytest.approx([n / 8 for n in range(16)])
    assert table["Cycle from cycler"].floats()[[0, 15]] == pytest.approx([1, 2])
    assert table["Step from cycler"].floats()[[0, 15]] == pytest.approx([1, 4])
    assert table["Temperature [degC]"].floats() == pytest.approx(WARM)


@pytest.mark.parametrize(
    "index", ["2024-05-13 10:{:02}:{:02}", "0 days 00:{:02}:{:02}", "2024-05-13T10:{:02}:{:02}.500+02:00"]
)
def test_times_that_are_the_index_of_pandas(index: str, tmp_path: Path) -> None:
    body = rows("{u},{i}").splitlines()
    text = "".join(f"{index.format(n // 6, 10 * n % 60)},{line}\n" for n, line in enumerate(body))
    holds(got(tmp_path, ",Voltage (V),Current (A)\n" + text)[1])


def test_an_index_of_numbers_is_no_time(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="no column that is known as time"):
        got(tmp_path, ",Voltage (V),Current (A)\n" + rows("{n},{u},{i}"))
    _, table = got(tmp_path, ",Time (s),Voltage (V),Current (A)\n" + rows("{n},{t},{u},{i}"))
    holds(table)
    assert table.names[-1] == "Column 1"


@pytest.mark.parametrize("header", ["Cycle,Cell1,Cell2", "Cycle number,Cell 1 capacity (Ah),Cell 2 capacity (Ah)"])
def test_a_column_of_each_cell_gets_the_form_of_a_table_of_capacities(header: str, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="and a column 'cell' where it has several"):
        got(tmp_path, header + "\n" + rows("{n},2.1,2.2"))


SPECTRUM = [(1000, 0.02, -0.001), (100, 0.03, -0.002), (10, 0.04, -0.005), (1, 0.05, -0.009)]


def spectrum(line: str) -> str:
    return "".join(line.format(f=f, r=r, x=x) + "\n" for f, r, x in SPECTRUM)


def is_spectrum(table: Table) -> None:
    assert table["Z_Re [Ohm]"].floats() == pytest.approx([r for _, r, _ in SPECTRUM])
    assert table["Z_Im [Ohm]"].floats() == pytest.approx([x for *_, x in SPECTRUM])


def test_resistance_and_reactance_of_a_meter(tmp_path: Path) -> None:
    _, table = got(tmp_path, "FREQUENCY[Hz],R[ohm],X[ohm],V[V]\n" + spectrum("{f:E},{r:E},{x:E},3.6001E+00"))
    is_spectrum(table)


def test_an_amplitude_of_the_impedance_is_its_modulus(tmp_path: Path) -> None:
    """The amplitude of what was applied is not."""
    polar = "".join(f"{f},5,{1000 * abs(r + 1j * x)},{np.degrees(np.angle(r + 1j * x))}\n" for f, r, x in SPECTRUM)
    _, table = got(tmp_path, "freq_Hz,Amplitude,z_amp_mOhm,z_ph_deg\n" + polar)
    is_spectrum(table)


def test_a_resistance_beside_the_parts_of_an_impedance_is_none_of_them(tmp_path: Path) -> None:
    _, table = got(tmp_path, "Freq (Hz),R (Ohm),Z' (Ohm),Z'' (Ohm)\n" + spectrum("{f},7,{r},{x}"))
    is_spectrum(table)
    assert table["R (Ohm)"].floats() == pytest.approx([7.0] * 4)


def test_a_negative_real_part_is_turned_by_the_map_that_is_advised(tmp_path: Path) -> None:
    """The map that was advised made a real part below zero, and there was none that turned it."""
    text = "Freq/Hz,-Z'/Ohm,Z''/Ohm\n" + spectrum("{f},-{r},{x}")
    with pytest.raises(FileRefused, match=re.escape("""\"-Z'/Ohm\": \"-Z_Re [Ohm]\"""")):
        got(tmp_path, text)
    is_spectrum(concat(list(read(tmp_path / "file.csv", column_map={"-Z'/Ohm": "-Z_Re [Ohm]"}).batches)))


def test_all_lines_of_a_comment_are_kept(tmp_path: Path) -> None:
    above = "Comments : first\nMass : 1 g\nComments : and second\nMass : 2 g\n"
    reading, _ = got(tmp_path, above + "Time [s],Voltage [V],Current [A]\n" + rows("{t},{u},{i}"))
    assert reading.metadata == {"Comments": "first\nand second", "Mass": "1 g"}


@pytest.mark.parametrize("sensor", [2, 13])
def test_the_temperature_of_a_circuit_of_digatron(sensor: int, tmp_path: Path) -> None:
    text = f"Schritt,Zustand,Zeit,Programmdauer,Spannung,Strom,Temp{sensor}\n,,,ms,V,A,C\n"
    _, table = got(tmp_path, text + rows("{step},PAU,2015-10-22 11:17:20,{t}000,{u},{i},{warm}"))
    holds(table)
    assert table["Temperature [degC]"].floats() == pytest.approx(WARM)
