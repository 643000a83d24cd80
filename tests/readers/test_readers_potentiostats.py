"""Files of potentiostats: several tables, records without current, names of electrodes, voltammetry, a last line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import FileRefused
from workbench.readers import Reading, limits, read
from workbench.readers.non_series.recognise import holding
from workbench.table import Table, concat

N = 60
T = np.arange(N) * 1.0
CHARGE = np.select([T < 10, T < 30, T < 35], [0.0, 1.5, 0.0], -1.5)
"""A, positive on charge, as potentiostats write it."""
V = 3.6 + 5 * np.cumsum(CHARGE) / 3600 + 0.03 * CHARGE
F = np.logspace(4, -1, 26)
Z = 0.02 + 0.03 / (1 + 0.3j * np.pi * F) + 2e-7j * np.pi * F

SETTINGS = (
    "EXPLAIN\nTAG\tX\nDATE\tLABEL\t5/31/2016\tDate\nTIME\tLABEL\t17:47:03\tTime\nEOC\tQUANT\t0.1\tOpen (V)\n"
)
OPEN = "OCVCURVE\tTABLE\t20\n\tPt\tT\tVf\tVm\tAch\tOver\tTemp\n\t#\ts\tV vs. Ref.\tV\tV\tbits\tdeg C\n" + "".join(
    f"\t{n}\t{n}\t3.61\t3.6\t0\t...........\t-327.6\n" for n in range(20)
)
SWEEP = (
    "EOC\tQUANT\t3.61\tOpen Circuit (V)\nZCURVE\tTABLE\n\tPt\tTime\tFreq\tZreal\tZimag\tZmod\tZphz\tIdc\tVdc\n"
    "\t#\ts\tHz\tohm\tohm\tohm\t°\tA\tV\n"
) + "".join(
    f"\t{n}\t{n + 1}\t{f:.6E}\t{z.real:.7E}\t{z.imag:.7E}\t{abs(z):.7E}\t{np.degrees(np.angle(z)):.6f}\t0\t3.6\n"
    for n, (f, z) in enumerate(zip(F, Z, strict=True))
)


def curve(name: str = "CURVE", begins: float = 0.0, flow: np.ndarray = CHARGE, volts: np.ndarray = V) -> str:
    return f"{name}\tTABLE\t{N}\n\tPt\tT\tVf\tIm\tSig\tOver\n\t#\ts\tV\tA\tV\tbits\n" + "".join(
        f"\t{n}\t{begins + t}\t{v:.6f}\t{i:.6E}\t0\t..........a\n"
        for n, (t, v, i) in enumerate(zip(T, volts, flow, strict=True))
    )


def got(
    folder: Path, text: str, name: str = "test.DTA", **options: str | Mapping[str, str]
) -> tuple[Reading, Table]:
    path = folder / name
    path.write_bytes(text.encode("latin-1"))
    reading = read(path, **options)  # type: ignore[arg-type]
    return reading, concat(list(reading.batches))


def said(reading: Reading) -> dict[str, str]:
    return {note.code: note.message for note in reading.notes}


def test_settings_in_words_are_kept_without_their_kind(tmp_path: Path) -> None:
    settings = SETTINGS + "TITLE\tLABEL\tCell: 7\tTest &Identifier\nPSTAT\tPSTAT\tIFC1010\tPotentiostat\n"
    reading, _ = got(tmp_path, settings + curve())
    assert reading.metadata == {
        "TAG": "X",
        "DATE": "5/31/2016",
        "TIME": "17:47:03",
        "EOC": "0.1 V",
        "TITLE": "Cell: 7",
        "PSTAT": "IFC1010",
    }


def rows(form: str, first: int = 0, last: int = N) -> str:
    return "".join(form.format(n=n, t=T[n], v=V[n], i=CHARGE[n], ma=1e3 * CHARGE[n]) for n in range(first, last))


def is_the_curve(table: Table, first: int = 0, begins: float = 0.0) -> None:
    assert table["Time [s]"].floats()[first:] == pytest.approx(begins + T)
    assert table["Current [A]"].floats()[first:] == pytest.approx(-CHARGE)
    assert table["Voltage [V]"].floats()[first:] == pytest.approx(V, abs=1e-5)


def test_all_tables_of_a_file_are_one_series_in_their_order(tmp_path: Path) -> None:
    reading, table = got(tmp_path, SETTINGS + OPEN + SWEEP + curve())
    assert reading.format == "gamry"
    assert table.n == 20 + len(F) + N
    assert table["Current [A]"].tolist()[:20] == [0.0] * 20
    swept = slice(20, 20 + len(F))
    assert table["Frequency [Hz]"].floats()[swept] == pytest.approx(F, rel=1e-5)
    assert table["Z_Im [Ohm]"].floats()[swept] == pytest.approx(Z.imag, rel=1e-4)
    assert np.isnan(table["Current [A]"].floats()[swept]).all()
    assert np.isnan(
        table["Frequency [Hz]"].floats()[~np.isin(np.arange(table.n), np.arange(20, 20 + len(F)))]
    ).all()
    is_the_curve(table, 20 + len(F), begins=19.0 + len(F))
    assert "'OCVCURVE' (20 rows), 'ZCURVE' (26 rows), 'CURVE' (60 rows)" in said(reading)["tables_joined"]
    assert {"no_current", "no_thermometer"} <= said(reading).keys()
    assert table["Temperature [degC]"].null_mask().all()
    assert reading.start_time is not None
    assert (reading.start_time.month, reading.start_time.day, reading.start_time.hour) == (5, 31, 17)


@pytest.mark.parametrize("order", ["oc", "co", "zc", "cz"])
def test_no_order_of_tables_mixes_their_columns(order: str, tmp_path: Path) -> None:
    made = {"o": OPEN, "z": SWEEP, "c": curve()}
    _, table = got(tmp_path, SETTINGS + "".join(made[letter] for letter in order))
    flow = table["Current [A]"].floats()
    assert np.nanmin(flow) == -1.5
    assert np.nanmax(flow) == 1.5
    assert np.nanmin(table["Voltage [V]"].floats()) > 3.5
    assert (np.diff(table["Time [s]"].floats()) >= 0).all()


def test_open_circuit_alone_and_a_spectrum_alone(tmp_path: Path) -> None:
    _, table = got(tmp_path, SETTINGS + OPEN.replace("OCVCURVE", "CURVE"))
    assert table["Current [A]"].tolist() == [0.0] * 20
    assert table["Voltage [V]"].tolist() == [3.61] * 20
    _, table = got(tmp_path, SETTINGS + SWEEP)
    assert table["Z_Re [Ohm]"].floats() == pytest.approx(Z.real, rel=1e-5)


@pytest.mark.parametrize("again", [0.0, 60.0])
def test_curves_with_the_same_columns_go_on(again: float, tmp_path: Path) -> None:
    _, table = got(tmp_path, SETTINGS + curve("CURVE1") + curve("CURVE2", begins=again))
    assert table.n == 2 * N
    assert table["Time [s]"].floats()[N:] == pytest.approx((again or 59.0) + T)


def test_a_table_far_below_the_head_is_found(tmp_path: Path) -> None:
    long = OPEN + "".join(f"\t{n}\t{n}\t3.61\t3.6\t0\t...........\t25\n" for n in range(20, 12_000))
    _, table = got(tmp_path, SETTINGS + long + curve())
    assert table.n == 12_000 + N
    is_the_curve(table, 12_000, begins=11_999.0)


def test_the_convention_of_the_file_gives_the_sign(tmp_path: Path) -> None:
    text = SETTINGS + "CONVENTION\tIQUANT\t0\tCurrent Convention\n" + curve(flow=-CHARGE)
    is_the_curve(got(tmp_path, text)[1])


def test_a_map_names_a_column_of_one_table(tmp_path: Path) -> None:
    text = SETTINGS + OPEN + curve()
    _, table = got(tmp_path, text, column_map={"Vm [V]": "Voltage [V]"})
    assert table["Voltage [V]"].tolist()[:20] == [3.6] * 20
    with pytest.raises(FileRefused, match="no column 'Vx' to map"):
        got(tmp_path, text, column_map={"Vx": "Voltage [V]"})


def test_a_table_without_samples_is_refused_by_name(tmp_path: Path) -> None:
    summary = (
        "CAPACITYCURVE\tTABLE\n\tPt\tTime\tCycle\tCharge\n\t#\ts\t#\tC\n\t1\t3493\t1\t4362\n\t2\t6701\t1\t4013\n"
    )
    with pytest.raises(FileRefused, match="only 'CAPACITYCURVE'"):
        got(tmp_path, SETTINGS + summary)
    reading, table = got(tmp_path, SETTINGS + summary + curve())
    is_the_curve(table)
    assert "'CAPACITYCURVE'" in said(reading)["tables_left_out"]


MPT = "EC-Lab ASCII FILE\nNb header lines : 3\n"


@pytest.mark.parametrize(
    ("text", "name", "format"),
    [
        (
            MPT + "mode\terror\ttime/s\tEwe/V\tEce/V\t\n" + rows("3\t0\t{t:.3E}\t{v:.7E}\t0.1\n"),
            "a.mpt",
            "biologic-rest",
        ),
        ("time/s;<Ewe>/V\n" + rows("{t};{v:.7f}\n"), "a.csv", "biologic-rest"),
        (
            "Feb. 20, 2020\nOpen Circuit Potential - Time\nTime/sec, Potential/V\n\n" + rows("{t}, {v}\n"),
            "a.txt",
            "rest",
        ),
        ("Time (s),WE(1).Potential (V)\n" + rows("{t},{v}\n"), "a.csv", "rest"),
    ],
)
def test_a_record_at_open_circuit_has_current_0(text: str, name: str, format: str, tmp_path: Path) -> None:
    reading, table = got(tmp_path, text, name)
    assert reading.format == format
    assert table["Current [A]"].tolist() == [0.0] * N
    assert table["Voltage [V]"].floats() == pytest.approx(V)
    assert "taken as 0" in said(reading)["no_current"]


def test_a_voltage_over_time_alone_asks_and_the_advice_works(tmp_path: Path) -> None:
    text = "time (s),voltage (V)\n" + rows("{t},{v}\n")
    with pytest.raises(FileRefused, match='If the cell had no load, say format="rest"'):
        got(tmp_path, text, "a.csv")
    assert got(tmp_path, text, "a.csv", format="rest")[1]["Current [A]"].tolist() == [0.0] * N


@pytest.mark.parametrize("header", ["Time,V,A", "time (s),voltage (V),A"])
def test_a_column_that_is_called_by_its_unit_alone_is_asked_for(header: str, tmp_path: Path) -> None:
    """The advice was to take the current as 0."""
    text = f"{header}\n" + rows("{t},{v},{i}\n")
    with pytest.raises(FileRefused, match=r'column_map=\{"A": "Current \[A\]"\}') as refused:
        got(tmp_path, text, "a.csv")
    assert "rest" not in str(refused.value)


@pytest.mark.parametrize("more", ["(Q-Qo)/mA.h", "j/(mA/cm2)", "P/W", "dq/mA.h"])
def test_a_column_that_shows_a_current_is_never_a_rest(more: str, tmp_path: Path) -> None:
    text = f"time/s\tEwe/V\t{more}\n" + rows("{t}\t{v}\t{i}\n")
    if more == "dq/mA.h":
        assert got(tmp_path, text, "a.mpt")[1]["Current [A]"].floats().any()
        return
    with pytest.raises(FileRefused) as refused:
        got(tmp_path, text, "a.mpt")
    assert "rest" not in str(refused.value)


def test_rows_under_load_without_a_current_are_refused(tmp_path: Path) -> None:
    text = MPT + "mode\ttime/s\tEwe/V\n" + rows("1\t{t}\t{v}\n")
    with pytest.raises(FileRefused, match=r"'mode' says that the cell had a load.*I/mA"):
        got(tmp_path, text, "a.mpt")
    with pytest.raises(FileRefused, match="it has the current 'I/mA'"):
        got(tmp_path, "time/s,Ewe/V,I/mA\n" + rows("{t},{v},{ma}\n"), "b.csv", format="rest")


@pytest.mark.parametrize(
    "header",
    [
        "time/s,<Ewe>/V,<I>/mA",
        "time (s),<Ewe> (V),<I> (mA)",
        "time/s,Ewe/V vs. Li/Li+,I/mA",
        "t / s,E / V vs Li,I / mA",
        "Time (s),Potential vs. Ag/AgCl (V),Current (mA)",
        "Time (s),WE(1).Potential (V),WE(1).Current (mA)",
        "Elapsed Time (s),Working Electrode (V),Current (mA)",
        "Time_s,Ewe_V,I_mA",
        "time/s,<Ecell>/V,<I>/mA",
    ],
)
def test_names_of_potentiostat_columns(header: str, tmp_path: Path) -> None:
    is_the_curve(got(tmp_path, header + "\n" + rows("{t},{v:.6f},{ma}\n"), "a.csv")[1])


def test_bare_names_are_volts_and_amperes(tmp_path: Path) -> None:
    is_the_curve(got(tmp_path, "time,<Ewe>,<I>\n" + rows("{t},{v:.6f},{i}\n"), "a.csv")[1])


def test_the_potential_without_a_reference_is_the_first_choice(tmp_path: Path) -> None:
    text = "Elapsed Time (s),Working Electrode vs. NHE (V),Working Electrode (V),Current (mA)\n"
    is_the_curve(got(tmp_path, text + rows("{t},1.0,{v:.6f},{ma}\n"), "a.csv")[1])


@pytest.mark.parametrize("end", ["\n", "", "\r\n"])
@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_a_last_line_without_its_empty_last_field_is_kept(mark: str, end: str, tmp_path: Path) -> None:
    text = mark.join(("time/s", "I/A", "U/V", "note", "more")) + "\n"
    text += rows(mark.join(("{t}", "{i}", "{v:.6f}", "", "")) + "\n").rstrip(f"\n{mark}") + end
    reading, table = got(tmp_path, text, "a.csv")
    is_the_curve(table)
    assert "cut_short" not in said(reading)


@pytest.mark.parametrize("last", ["60,-1.5", "60,-1.5,3.5", "60,-1.5,"])
def test_a_last_line_that_lacks_more_is_left_out(last: str, tmp_path: Path) -> None:
    text = "time/s,I/A,U/V,note,\n" + rows("{t},{i},{v:.6f},x,\n") + last
    reading, table = got(tmp_path, text, "a.csv")
    assert table.n == N
    assert "cut_short" in said(reading)
    text = "time/s,I/A,U/V,\n" + rows("{t},{i},{v:.6f},\n") + last.rstrip(",")
    reading, table = got(tmp_path, text, "a.csv")
    assert table.n == N


SPECTRUM = "freq/Hz,Re(Z)/Ohm,-Im(Z)/Ohm\n" + "".join(
    f"{f},{z.real},{-z.imag}\n" for f, z in zip(F, Z, strict=True)
)
OTHER_UNITS = "time/s,I/mA,U/mV\n" + rows("{t},{ma},3600\n")
UNITS_BELOW = "time,current,voltage\ns,mA,mV\n" + rows("{t},{ma},3600\n")


@pytest.mark.parametrize(
    "other",
    [SPECTRUM, OTHER_UNITS, UNITS_BELOW, "\t  " + OTHER_UNITS, '"time/s",I/mA,U/mV' + OTHER_UNITS[16:]],
    ids=["spectrum", "units", "line of units", "after blanks", "in quotes"],
)
def test_another_table_below_is_never_read_with_these_columns(other: str, tmp_path: Path) -> None:
    reading, table = got(tmp_path, "time/s,I/A,U/V\n" + rows("{t},{i},{v:.6f}\n") + "\n" + other, "a.csv")
    is_the_curve(table)
    assert "begins in line 63" in said(reading)["other_table"]


def test_another_table_above_is_named(tmp_path: Path) -> None:
    reading, table = got(tmp_path, SPECTRUM + "\ntime/s,I/A,U/V\n" + rows("{t},{i},{v:.6f}\n"), "a.csv")
    is_the_curve(table)
    assert "in line 1, with 'freq/Hz'" in said(reading)["other_table"]


def test_words_between_rows_are_no_table(tmp_path: Path) -> None:
    half = rows("{t},{i},{v:.6f}\n", 0, 30), rows("{t},{i},{v:.6f}\n", 30)
    text = "time/s,I/A,U/V\n" + "end of part,voltage low,go on\n".join(half)
    reading, table = got(tmp_path, text, "a.csv")
    is_the_curve(table)
    assert "other_table" not in said(reading)


def test_a_spectrum_with_a_bias_whose_sign_nothing_shows(tmp_path: Path) -> None:
    head = "Segment #, Point #, E(V), I(A), Elapsed Time(s), Frequency(Hz), Z Real, Z Imag\n"
    text = head + "".join(
        f"0,{n},0,-3E-06,{n},{f},{z.real},{z.imag}\n" for n, (f, z) in enumerate(zip(F, Z, strict=True))
    )
    reading, table = got(tmp_path, text, "a.par")
    assert table["Z_Im [Ohm]"].floats() == pytest.approx(Z.imag)
    assert table["Current [A]"].null_mask().all()
    assert 'sign="charge"' in said(reading)["bias_left_out"]
    assert got(tmp_path, text, "a.par", sign="charge")[1]["Current [A]"].tolist()[0] == 3e-06


UP = np.arange(0.201, 0.6, 0.001)
POTENTIAL = np.concatenate([UP, UP[::-1], UP[:50]])
FLOW = 1e-5 * np.sin(np.arange(len(POTENTIAL)) / 40)


def chi(technique: str, settings: str, columns: str, *values: np.ndarray) -> str:
    """An export of the software of CH Instruments."""
    lines = "".join(", ".join(f"{one:.6g}" for one in row) + "\n" for row in zip(*values, strict=True))
    above = f"Sept. 5, 2019   14:10:22\n{technique}\nFile: cv.bin\nInstrument Model:  CHI760E\nHeader: \n\n"
    return f"{above}{settings}\nResults:\n\nSegment 1:\nEp = 0.3V\n\n{columns}\n\n{lines}"


def test_a_sweep_without_time_gets_it_from_its_scan_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = chi(
        "Cyclic Voltammetry",
        "Init E (V) = 0.2\nScan Rate (V/s) = 0.05\n",
        "Potential/V, Current/A",
        POTENTIAL,
        FLOW,
    )
    time = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(POTENTIAL)))]) / 0.05
    for rows_at_once in (1_000_000, 97):
        monkeypatch.setattr(limits, "CHUNK_ROWS", rows_at_once)
        reading, table = got(tmp_path, text, "cv.txt")
        assert reading.format == "chi"
        assert table["Time [s]"].floats() == pytest.approx(time, abs=1e-6)
        assert table["Voltage [V]"].floats() == pytest.approx(POTENTIAL)
        assert table["Current [A]"].floats() == pytest.approx(FLOW, abs=1e-10)
    assert "0.05 V/s" in said(reading)["time_from_sweep"]
    assert 'sign="charge"' in said(reading)["polarity"]
    assert str(reading.start_time) == "2019-09-05 14:10:22+00:00"
    turned, table = got(tmp_path, text, "cv.txt", sign="charge")
    assert table["Current [A]"].floats() == pytest.approx(-FLOW, abs=1e-10)
    assert "polarity" not in said(turned)


def test_a_held_potential_comes_from_the_settings(tmp_path: Path) -> None:
    text = chi("Amperometric i-t Curve", "Init E (V) = 0.35\n", "Time/sec, Current/A", T, CHARGE)
    reading, table = got(tmp_path, text, "it.txt")
    assert table["Voltage [V]"].tolist() == [0.35] * N
    assert table["Current [A]"].floats() == pytest.approx(CHARGE)
    assert "0.35 V" in said(reading)["voltage_held"]


@pytest.mark.parametrize("settings", ["Incr E (V) = 0.004\n", "Scan Rate (V/s) = fast\n", "Scan Rate (V/s) = 0\n"])
def test_a_voltammogram_without_time_or_scan_rate_is_refused(tmp_path: Path, settings: str) -> None:
    with pytest.raises(FileRefused, match="no column that is known as time"):
        got(tmp_path, chi("Voltammetry", settings, "Potential/V, Current/A", POTENTIAL, FLOW), "dpv.txt")


def test_steps_of_potential_without_the_potential_are_refused_and_are_not_a_drive_cycle(tmp_path: Path) -> None:
    settings = "Init E (V) = 0\nHigh E (V) = 0.5\nLow E (V) = 0\nPulse Width (sec) = 50\n"
    text = chi("Chronoamperometry", settings, "Time/sec, Current/A", T, CHARGE)
    with pytest.raises(FileRefused, match="a curve of 'Chronoamperometry' without its potential"):
        got(tmp_path, text, "ca.txt")
    assert holding(tmp_path / "ca.txt") is None
    plain = tmp_path / "drive.csv"
    plain.write_text("time [s],current [A]\n0,1\n1,2\n")
    assert holding(plain) is not None


@pytest.mark.parametrize("name", ["OCP (V vs. Ag/AgCl)", "OCV/V", "Open circuit potential (V)", "OCP/mV"])
def test_a_voltage_that_is_at_open_circuit_by_its_name_has_no_current(name: str, tmp_path: Path) -> None:
    reading, table = got(tmp_path, f"Time (s),{name}\n" + rows("{t},{v}\n"), "a.csv")
    assert reading.format == "rest"
    assert table["Current [A]"].tolist() == [0.0] * N
    with pytest.raises(FileRefused, match="current"):
        got(tmp_path, f"Time (s),{name},Q (mA.h)\n" + rows("{t},{v},1\n"), "b.csv")
