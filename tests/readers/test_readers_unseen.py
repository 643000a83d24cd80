"""Exports as other software versions write them: lines of units, headers that are units, further brands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from workbench.readers import Reading, read
from workbench.table import Table, concat

# Rest, charge with 2 A, rest, discharge with 2 A: four samples each, one every 10 s.
FLOW = [(0.0, 2.0, 0.0, -2.0)[n // 4] for n in range(16)]
VOLTS = [3.6 + (0.0, 0.1 + 0.01 * (n % 4), 0.02, -0.1 - 0.01 * (n % 4))[n // 4] for n in range(16)]


def got(folder: Path, text: str, name: str = "file.csv") -> tuple[Reading, Table]:
    path = folder / name
    path.write_bytes(text.encode("latin-1"))
    reading = read(path)
    return reading, concat(list(reading.batches))


def rows(line: str) -> str:
    words = ("PAU", "CHA", "PAU", "DCH")
    german = ("PAU", "LAD", "PAU", "ELA")
    made = []
    for n in range(16):
        step, t = n // 4, 10 * n
        passed = 2.0 * 10 * (n % 4) / 3600
        made.append(
            line.format(
                n=n, t=t, step=step + 1, word=words[step], wort=german[step], i=FLOW[n], u=VOLTS[n], ms=1000 * t,
                hms=f"00:{t // 60:02}:{t % 60:02}.000", ma=1000 * FLOW[n], mv=1000 * VOLTS[n], size=abs(FLOW[n]),
                mah=1000 * passed, qc=passed * (step == 1) + 0.0166667 * (step > 1), qd=passed * (step == 3),
                state="RCRD"[step], clock=f"13.05.2024 10:{t // 60:02}:{t % 60:02}",
            )
        )  # fmt: skip
    return "\n".join(made) + "\n"


def holds(table: Table) -> None:
    assert table.n == 16
    assert table["Time [s]"].floats() == pytest.approx(10.0 * np.arange(16))
    assert table["Current [A]"].floats() == pytest.approx(-np.array(FLOW))
    assert table["Voltage [V]"].floats() == pytest.approx(np.array(VOLTS), abs=1e-4)


def test_digatron_with_a_line_of_units(tmp_path: Path) -> None:
    head = "Test,,\nStart Time,5/13/2024 10:00:00 AM\n\n"
    head += "Step,Status,Prog Time,Step Time,Cycle,Procedure,Voltage,Current,Temperature,AhCha,AhDch,Cnt,\n"
    head += ",,,,,,[V],[mA],[C],[Ah],[Ah],[Cnt],\n"
    text = head + rows("{step},{word},{hms},{hms},1,P,{u:.4f},{ma},25.0,{qc:.6f},{qd:.6f},1,")
    reading, table = got(tmp_path, text)
    assert reading.format == "digatron"
    holds(table)
    assert table["Discharge capacity [A.h]"].floats()[-1] == pytest.approx(0.0166667, rel=1e-4)
    assert not [note for note in reading.notes if note.code in ("unit", "unreadable")]


def test_digatron_in_german(tmp_path: Path) -> None:
    head = "Kreis;1\nSchritt;Zustand;Zeit;Programmdauer;Zyklus;AhLad;AhEla;Spannung;Strom\n;;;ms;;Ah;Ah;V;A\n"
    line = "{step};{wort};{clock};{ms};1;{qc:.6f};{qd:.6f};{u:.4f};{size}"
    reading, table = got(tmp_path, head + rows(line).replace(".", ",").replace("13,05,2024", "13.05.2024"))
    assert reading.format == "digatron"
    holds(table)
    assert reading.start_time is not None
    assert (reading.start_time.month, reading.start_time.day) == (5, 13)


def test_a_curve_of_gamry(tmp_path: Path) -> None:
    head = "EXPLAIN\nTAG\tPWR800_CHARGE\nCURVE\tTABLE\t16\n"
    head += "\tPt\tT\tVf\tIm\tVu\tSig\tOver\n\t#\ts\tV vs. Ref.\tA\tV\tV\tbits\n"
    reading, table = got(tmp_path, head + rows("\t{n}\t{t}\t{u:.4f}\t{i}\t0\t0\t.........."), "charge.DTA")
    assert reading.format == "gamry"
    holds(table)
    assert not [note for note in reading.notes if note.level == "odd"]


def test_a_line_of_units_that_are_not_all_known_counts(tmp_path: Path) -> None:
    text = "time;voltage;current;label\ns;mV;mA;arb.\n" + rows("{t};{mv:.1f};{ma};x")
    reading, table = got(tmp_path, text)
    holds(table)
    assert "unit" not in {note.code for note in reading.notes}


def test_a_row_of_numbers_and_words_is_no_line_of_units(tmp_path: Path) -> None:
    text = "time,voltage,current,state,mode\n" + rows("{t},{u:.4f},{i},C,A")
    holds(got(tmp_path, text)[1])


@pytest.mark.parametrize("header", ["Time (s)\tmV\tmA", "Time (s)\tmVolts\tmAmps"])
def test_a_header_that_is_a_unit_says_what_its_values_are_in(header: str, tmp_path: Path) -> None:
    if "Volts" in header:
        head = header.replace("Time (s)", "Cyc#\tStep\tTest (Sec)") + "\tmAmp-hr\tState\n"
        text = head + rows("1\t{step}\t{t}\t{mv:.1f}\t{ma}\t{mah:.5f}\t{state}")
    else:
        text = header + "\n" + rows("{t}\t{mv:.1f}\t{ma}")
    reading, table = got(tmp_path, text, "file.txt")
    holds(table)
    if reading.format == "maccor":
        assert table["Charge capacity [A.h]"].floats()[7] == pytest.approx(2.0 * 30 / 3600, rel=1e-4)


def test_landt_with_letters_for_names_keeps_its_counters(tmp_path: Path) -> None:
    head = "Record\tCycle-Index\tStep-Index\tTestTime\tI/mA\tU/V\tCap/mAh\tState\n"
    text = head + rows("{n}\t1\t{step}\t{hms}\t{ma}\t{u:.4f}\t{mah:.5f}\t{word}")
    reading, table = got(tmp_path, text, "file.txt")
    assert reading.format == "landt-short"
    holds(table)
    assert table["Step from cycler"].tolist()[::4] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Number\tFrequency/Hz\tImpedance/Ohm\tPhase/deg", "1\t{f}\t{m}\t{p}"),
        ("Frequenz [Hz]\tRe(Z) [mOhm]\tIm(Z) [mOhm]", "{f}\t{re}\t{im}"),
    ],
)
def test_impedance_by_other_names(header: str, row: str, tmp_path: Path) -> None:
    lines = []
    for frequency, z in ((1000.0, 0.02 - 0.01j), (10.0, 0.03 - 0.02j), (0.1, 0.05 - 0.001j)):
        angle = np.degrees(np.angle(z))
        lines.append(row.format(f=frequency, m=abs(z), p=angle, re=1000 * z.real, im=1000 * z.imag))
    reading, table = got(tmp_path, "\n".join([header, *lines]) + "\n", "eis.txt")
    assert reading.format == "impedance"
    assert table["Z_Im [Ohm]"].floats() == pytest.approx([-0.01, -0.02, -0.001], rel=1e-6)
    assert table["Z_Re [Ohm]"].floats() == pytest.approx([0.02, 0.03, 0.05], rel=1e-6)


def operation(word: str, hour: int) -> dict[str, Any]:
    time = np.arange(10.0)
    flow = {"charge": 1.0, "discharge": -1.0}.get(word, 0.0)
    made = {"type": word, "ambient_temperature": 24, "time": np.array([2009, 4, 7, hour, 0, 0.5])}
    if not flow:
        return made | {"data": {"Battery_impedance": np.arange(5) * 1j, "Re": 0.02}}
    volts = 3.6 + 0.1 * flow + 0.01 * flow * time
    return made | {"data": {"Voltage_measured": volts, "Current_measured": np.full(10, flow), "Time": time}}


@pytest.mark.parametrize(
    ("order", "cycles"),
    [("cdcdcc", [1, 1, 2, 2, 3, 3]), ("dcdcd", [1, 1, 2, 2, 3]), ("ccd", [1, 1, 1]), ("cdd", [1, 1, 1])],
)
def test_nasa_cycles_begin_with_what_the_cell_began_with(order: str, cycles: list[int], tmp_path: Path) -> None:
    words = {"c": "charge", "d": "discharge"}
    of = [operation(words[letter], hour) for hour, letter in enumerate(order, 1)]
    scipy.io.savemat(tmp_path / "B9.mat", {"B9": {"cycle": np.array(of)}})
    table = concat(list(read(tmp_path / "B9.mat").batches))
    assert table["Cycle from cycler"].tolist()[::10] == cycles


def test_operations_that_are_left_out_are_named(tmp_path: Path) -> None:
    of = [operation(word, hour) for hour, word in enumerate(["charge", "impedance", "discharge", "impedance"], 1)]
    scipy.io.savemat(tmp_path / "B9.mat", {"B9": {"cycle": np.array(of)}})
    reading = read(tmp_path / "B9.mat")
    said = [note.message for note in reading.notes if note.code == "left_out"]
    assert said == ["2 operations 'impedance' have no time or frequency in the file and were left out."]


def test_a_voltage_of_one_electrode_is_told_with_the_map_to_that_of_the_cell(tmp_path: Path) -> None:
    head = "time/s\tEwe/V\tEce/V\tEwe-Ece/V\t<I>/mA\n"
    text = head + rows("{t}\t{u:.4f}\t0.1\t{u:.3f}\t{ma}")
    reading, table = got(tmp_path, text, "three.mpt")
    holds(table)
    said = {note.code: note.message for note in reading.notes}
    assert 'column_map={"Ewe-Ece/V": "Voltage [V]"}' in said["electrode"]
    mapped = read(tmp_path / "three.mpt", column_map={"Ewe-Ece/V": "Voltage [V]"})
    assert "electrode" not in {note.code for note in mapped.notes}
    assert concat(list(mapped.batches))["Voltage [V]"].floats()[4] == round(VOLTS[4], 3)


def test_a_voltage_of_one_electrode_without_that_of_the_cell_is_said(tmp_path: Path) -> None:
    """Its energies are not those of the cell, and nothing said so."""
    rows = "".join(f"{10 * n}\t{3.9 - 0.01 * n}\t0.1\t-1.0\n" for n in range(20))
    (tmp_path / "three.txt").write_text("time/s\tEwe/V\tEce/V\t<I>/mA\n" + rows)
    reading = read(tmp_path / "three.txt", sign="charge")
    said = {note.code: note.message for note in reading.notes}["electrode"]
    assert "That of the cell is its difference to 'Ece/V'" in said


@pytest.mark.parametrize("begins", [86395, 86100, 0])
def test_a_day_and_a_time_of_day_in_two_columns(begins: int, tmp_path: Path) -> None:
    made = ["Date;Time;Voltage (V);Current (A)"]
    for n in range(16):
        day, second = divmod(begins + 10 * n, 86400)
        at = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        made.append(f"{13 + day}.05.2024;{at};{VOLTS[n]:.4f};{FLOW[n]}")
    reading, table = got(tmp_path, "\n".join(made) + "\n")
    holds(table)
    assert reading.start_time is not None
    assert reading.start_time.timestamp() % 86400 == begins


def test_a_time_that_runs_on_beside_days_is_no_time_of_day(tmp_path: Path) -> None:
    made = ["Date;Time;Voltage (V);Current (A)"]
    made += [f"{13 + n // 5}.05.2024;00:{n // 6:02}:{10 * n % 60:02};{VOLTS[n]:.4f};{FLOW[n]}" for n in range(16)]
    holds(got(tmp_path, "\n".join(made) + "\n")[1])
