"""What the exports of each brand look like: small files of our own in the shapes that their software writes."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest

from workbench.readers import Reading, read
from workbench.table import Table, concat

# One test in all shapes: rest, charge, rest, discharge; a sample every 10 s, steps of 4, 1 A or 0.
N = 32
SECONDS = [10.0 * n for n in range(N)]
STEP = [n // 4 % 4 for n in range(N)]
CYCLE = [n // 16 + 1 for n in range(N)]
CHARGING = [(0.0, 1.0, 0.0, -1.0)[step] for step in STEP]
VOLTS = [3.6 + (0.0, 0.1 + 0.01 * (n % 4), 0.02, -0.1 - 0.01 * (n % 4))[STEP[n]] for n in range(N)]
IN_STEP = [10.0 * (n % 4) for n in range(N)]
PASSED = [abs(CHARGING[n]) * IN_STEP[n] / 3600 for n in range(N)]
WORDS = [("Rest", "CC Chg", "Rest", "CC DChg")[step] for step in STEP]


def clock(seconds: float, day: str = "2024-05-13") -> str:
    return f"{day} {10 + int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"


def hms(seconds: float, digits: int = 0) -> str:
    whole = f"{int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
    return whole + (f".{0:0{digits}}" if digits else "")


def got(folder: Path, text: str | bytes, name: str = "file.csv") -> tuple[Reading, Table]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    reading = read(path)
    return reading, concat(list(reading.batches))


def lines(header: str, row: str, mark: str = ",") -> str:
    """Rows of the test: ``row`` is a format string of n, t, step, cycle, i (charge positive), u, q, word ..."""
    made = [header]
    for n in range(N):
        made.append(
            row.format(
                n=n + 1,
                t=SECONDS[n],
                step=STEP[n] + 1,
                line=n // 4 + 1,
                cycle=CYCLE[n],
                i=CHARGING[n],
                ma=1000 * CHARGING[n],
                size=abs(CHARGING[n]),
                u=VOLTS[n],
                mv=1000 * VOLTS[n],
                q=PASSED[n],
                mah=1000 * PASSED[n],
                qc=PASSED[n] * (CHARGING[n] > 0),
                qd=PASSED[n] * (CHARGING[n] < 0),
                s=IN_STEP[n],
                word=WORDS[n],
                clock=clock(SECONDS[n]),
                hms=hms(SECONDS[n]),
                shms=hms(IN_STEP[n], 3),
                h=SECONDS[n] / 3600,
                m=SECONDS[n] / 60,
            )
        )
    return "\n".join(made) + "\n"


def holds(table: Table, *, times: bool = True) -> None:
    """The table is the test, in our units and signs."""
    assert table.n == N
    if times:
        assert table["Time [s]"].floats() == pytest.approx(np.array(SECONDS), abs=1e-6)
    assert table["Current [A]"].floats() == pytest.approx(-np.array(CHARGING), abs=1e-9)
    assert table["Voltage [V]"].floats() == pytest.approx(np.array(VOLTS), abs=1e-6)
    assert table["Cycle from cycler"].tolist() == CYCLE
    assert len(np.flatnonzero(np.diff(table["Step from cycler"].floats()))) == N // 4 - 1


SHAPES: dict[str, tuple[str, str, str]] = {
    # name: (format, header with what stands above it, row)
    "arbin, MITS Pro 7": (
        "arbin",
        "Data_Point,Date_Time,Test_Time(s),Step_Time(s),Step_Index,Cycle_Index,Voltage(V),Current(A),"
        "Charge_Capacity(Ah),Discharge_Capacity(Ah)",
        "{n},{clock},{t},{s},{step},{cycle},{u},{i},{qc},{qd}",
    ),
    "arbin, without units": (
        "arbin",
        "Data_Point,Test_Time,DateTime,Step_Time,Step_Index,Cycle_Index,Current,Voltage,Charge_Capacity,"
        "Discharge_Capacity,Charge_Energy,Discharge_Energy,dV/dt,Internal_Resistance,Temperature",
        "{n},{t},1499006353,{s},{step},{cycle},{i},{u},{qc},{qd},0,0,0,0.017,29.1",
    ),
    "arbin, text with tabs": (
        "arbin",
        "Data_Point\tTest_Time(s)\tDate_Time\tStep_Time(s)\tStep_Index\tCycle_Index\tCurrent(A)\tVoltage(V)",
        "{n}\t{t}\t05/13/2024 10:00:00\t{s}\t{step}\t{cycle}\t{i}\t{u}",
    ),
    "neware, BTSDA": (
        "neware",
        "DataPoint,Cycle Index,Step Index,Step Type,Time,Total Time,Current(mA),Voltage(V),Capacity(mAh),"
        "Chg. Cap.(mAh),DChg. Cap.(mAh),Date,Power(W),T1(℃)",
        "{n},{cycle},{line},{word},{shms},{hms},{ma},{u},{mah},{mah},0,{clock},0,25.0",
    ),
    "neware, BTS 7 flat": (
        "neware",
        "Cycle ID\tStep ID\tRecord ID\tTime(h:min:s.ms)\tVoltage(V)\tCurrent(mA)\tTemperature(°C)\tCapacity(mAh)\t"
        "Energy(mWh)\tRealtime\tCapacitance_Chg(mAh)\tCapacitance_DChg(mAh)",
        "{cycle}\t{line}\t{n}\t{shms}\t{u}\t{ma}\t25\t{mah}\t0\t{clock}\t{mah}\t0",
    ),
    "neware, times within steps only": (
        "neware",
        "Record Index,Cycle,Step,Status,Cur(mA),Voltage(V),CapaCity(mAh),Relative Time(h:min:s.ms)",
        "{n},{cycle},{line},{word},{ma},{u},{mah},{shms}",
    ),
    "neware, in Chinese": (
        "neware",
        "数据序号,循环号,工步号,工步类型,时间,总时间,电流(A),电压(V),容量(Ah),充电容量(Ah),放电容量(Ah),绝对时间",
        "{n},{cycle},{line},恒流充电,{shms},{hms},{i},{u},{q},{qc},{qd},{clock}",
    ),
    "landt, workbook of old as text": (
        "landt-short",
        "Record,Cycle-Index,Step-Index,TestTime/Sec.,StepTime/Sec.,Current/mA,Capacity/mAh,Voltage/V,SysTime",
        "{n},{cycle},{line},{t},{s},{ma},{mah},{u},{clock}",
    ),
    "landt, durations": (
        "landt-short",
        "Record\tCycle\tStep\tTestTime\tStepTime\tCurrent/mA\tCapacity/mAh\tVoltage/V\tSysTime",
        "{n}\t{cycle}\t{line}\t{hms}\t{shms}\t{ma}\t{mah}\t{u}\t{clock}",
    ),
    "maccor, seconds": (
        "maccor",
        "Today's Date\t05/14/2024\tDate of Test:\t05/13/2024\n"
        "Rec#\tCyc#\tStep\tTest (Sec)\tStep (Sec)\tAmp-hr\tWatt-hr\tAmps\tVolts\tState\tES\tDPt Time",
        "{n}\t{cycle}\t{line}\t{t}\t{s}\t{q}\t0\t{i}\t{u}\tC\t1\t05/13/2024 10:00:00",
    ),
    "maccor, hours and quotes": (
        "maccor",
        '"Rec#","Cyc#","Step","Test (Hr)","Step (Hr)","Amp-hr","Watt-hr","Amps","Volts","State","ES","DPt Time"',
        '"{n}","{cycle}","{line}","{h}","0","{q}","0","{i}","{u}","C","1","05/13/2024 10:00:00"',
    ),
    "maccor, MIMS Client": (
        "maccor",
        "Title:;cell 7\nRec;Cycle P;Cycle C;Step;Test Time;Step Time;Cap. [Ah];Ener. [Wh];Current [A];Voltage [V];Md;"
        "ES;DPT Time",
        "{n};{cycle};0;{line};0d {hms}.00;0;{q};0;{i};{u};C;1;13-May-24 10:00:00 AM",
    ),
    "biologic, with cycles": (
        "biologic",
        "EC-Lab ASCII FILE\nNb header lines : 3\n"
        "mode\tox/red\ttime/s\tcontrol/V/mA\tEwe/V\t<I>/mA\tdQ/mA.h\tcycle number\tNs\t(Q-Qo)/mA.h",
        "1\t1\t{t:.9E}\t0\t{u:.9E}\t{ma:.9E}\t0\t{cycle}\t{line}\t0",
    ),
    "biologic, csv of BT-Lab": (
        "biologic",
        ";time/s;Ecell/V;I/mA;Q charge/mA.h;Q discharge/mA.h;cycle number;Ns;Temperature/°C",
        "{n};{t};{u};{ma};{mah};0;{cycle};{line};25.1",
    ),
    "novonix": (
        "novonix",
        "[Summary]\nNovonix HPC data file\nStarted: 2024-05-13 10:00:00 AM\n[End Summary]\n[Data]\n"
        "Date and Time,Cycle Number,Step Type,Run Time (h),Step Time (h),Current (A),Potential (V),Capacity (Ah),"
        "Temperature (°C)",
        "{clock},{cycle},{line},{h},0,{i},{u},0,25.0",
    ),
    "novonix, whole lines quoted": (
        "novonix",
        '"[Data]"\n"Date and Time,Cycle Number,Step Type,Run Time (h),Current (A),Potential (V)"',
        '"{clock},{cycle},{line},{h},{i},{u}"',
    ),
    "pec, milli": (
        "pec",
        "Test Regime Name:,x\nTest,Cell,Rack,Shelf,Position,Step,Cycle,Total Time (Seconds),Step Time (Seconds),"
        "Voltage (mV),Current (mA),Charge Capacity (mAh),Discharge Capacity (mAh)",
        "1,1,1,1,1,{line},{cycle},{t},{s},{mv},{ma},0,0",
    ),
    "pec, newer": (
        "pec",
        "Test,Cell,Rack,Shelf,Position,Step,Cycle,Total Time (hh:mm:ss.xxx),Step Time (hh:mm:ss.xxx),Voltage (V),"
        "Current (A),Charge Capacity (Ah),Discharge Capacity (Ah),Real Time",
        "1,1,1,1,1,{line},{cycle},{hms}.000,{shms},{u},{i},0,0,05/13/2024 10:00:00",
    ),
    "basytec, hours": (
        "basytec",
        "~Resultfile from Basytec Battery Test System\n~Start of Test: 13.05.2024 10:00:00\n~\n"
        "~Time[h]\tDataSet\tt-Step[h]\tLine\tCommand\tU[V]\tI[A]\tAh[Ah]\tAh-Step\tT1[°C]\tCyc-Count\tState",
        "{h}\t{n}\t0\t{line}\tCharge\t{u}\t{i}\t{q}\t{q}\t25\t{cycle}\t0",
    ),
    "bdf, preferred labels": (
        "bdf",
        "Test Time / s,Voltage / V,Current / A,Cycle Count / 1,Step Index / 1",
        "{t},{u},{i},{cycle},{line}",
    ),
    "units in a row of their own": (
        "delimited",
        "Schritt;Zyklus;Programmdauer;Spannung;Strom\n;;[s];[V];[A]",
        "{line};{cycle};{t};{u};{i}",
    ),
    "german headers": (
        "delimited",
        "Zeit [s];Strom [A];Spannung [V];Schritt;Zyklus",
        "{t};{i};{u};{line};{cycle}",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_of_a_brand(shape: str, tmp_path: Path) -> None:
    format, header, row = SHAPES[shape]
    reading, table = got(tmp_path, lines(header, row))
    assert reading.format == format
    holds(table, times="within" not in shape)


CLOTHES = ("latin-1 or gb18030", "mark", "utf-16", "utf-16 without mark", "gzip", "zip", "crlf")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("clothes", CLOTHES)
def test_a_shape_in_other_clothes(shape: str, clothes: str, tmp_path: Path) -> None:
    """Encodings, byte order marks, packing and line ends change nothing."""
    format, header, row = SHAPES[shape]
    text = lines(header, row)
    if clothes == "latin-1 or gb18030":
        data = text.encode("gb18030" if "电" in text else "latin-1", "replace")
    elif clothes == "mark":
        data = text.encode("utf-8-sig")
    elif clothes == "utf-16 without mark":
        if not text.isascii():
            pytest.skip("nothing tells it from other binary data")
        data = text.encode("utf-16-le")
    elif clothes == "utf-16":
        data = text.encode("utf-16")
    elif clothes == "crlf":
        data = text.replace("\n", "\r\n").encode()
    elif clothes == "gzip":
        data = gzip.compress(text.encode())
    else:
        with zipfile.ZipFile(tmp_path / "packed", "w", zipfile.ZIP_DEFLATED) as container:
            container.writestr("folder/test.csv", text)
            container.writestr("__MACOSX/._test.csv", b"\0\0")
        data = (tmp_path / "packed").read_bytes()
    reading, table = got(tmp_path, data, "anything")
    assert reading.format == format
    holds(table, times="within" not in shape)


@pytest.mark.parametrize("shape", [name for name in SHAPES if "\t" in SHAPES[name][1] or ";" in SHAPES[name][2]])
def test_a_shape_with_decimal_commas(shape: str, tmp_path: Path) -> None:
    format, header, row = SHAPES[shape]
    first, *rest = lines(header, row).splitlines()[header.count("\n") :]
    text = "\n".join([*header.split("\n")[:-1], first, *(line.replace(".", ",") for line in rest)]) + "\n"
    if "13,05" in text or "May" in text:
        text = text.replace("13,05,2024", "13.05.2024")
    reading, table = got(tmp_path, text)
    assert reading.format == format
    holds(table, times="within" not in shape)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (
            "Record ID,Cycle ID,Step ID,Step Name,Current(A),Voltage(V),Total Time",
            "{n},{cycle},{line},{word},{size},{u},{hms}",
        ),
        (
            "Record,Cycle-Index,Step-Index,State,TestTime/Sec.,Current/mA,Voltage/V",
            "{n},{cycle},{line},{word},{t},{size}e3,{u}",
        ),
        (
            "Record\tCycle\tStep\tState\tTestTime\tCurrent/mA\tVoltage/V\tSysTime",
            "{n}\t{cycle}\t{line}\t{word}\t{hms}\t{size}e3\t{u}\t{clock}",
        ),
    ],
)
def test_a_current_without_sign_takes_it_from_the_words_of_steps(header: str, row: str, tmp_path: Path) -> None:
    reading, table = got(tmp_path, lines(header, row))
    holds(table)
    assert "sign_from_state" in {note.code for note in reading.notes}


def test_times_within_steps_are_joined_and_that_is_said(tmp_path: Path) -> None:
    """A step that has passed 30 s when the next begins at 0 moves the next on by 30 s."""
    rows = "".join(f"{n},1,{n // 4},CC Chg,00:00:{10 * (n % 4):02}.500,1.0,{3.6 + n / 100}\n" for n in range(12))
    header = "Record ID,Cycle ID,Step ID,Step Name,Time(h:min:s.ms),Current(A),Voltage(V)\n"
    reading, table = got(tmp_path, header + rows)
    time = table["Time [s]"].floats()
    assert time[:5] == pytest.approx([0, 10, 20, 30, 30.5])
    assert (np.diff(time) > 0).all()
    assert "time_joined" in {note.code for note in reading.notes}


def test_a_clock_that_steps_back_stays_as_it_is(tmp_path: Path) -> None:
    text = "Date Time,Current (A),Voltage (V)\n"
    for n, minute in enumerate((0, 1, 2, 1, 2, 3)):
        text += f"2024-10-27 02:{minute:02}:00,{(-1) ** (n // 3)}.0,{3.6 + 0.1 * (-1) ** (n // 3)}\n"
    _, table = got(tmp_path, text)
    assert table["Time [s]"].tolist() == [0.0, 60.0, 120.0, 60.0, 120.0, 180.0]


def test_a_charge_that_runs_both_ways_is_parted_by_direction(tmp_path: Path) -> None:
    """Counters that name no direction, of brands that start them anew with each step."""
    for shape in ("landt, durations", "maccor, seconds", "neware, times within steps only"):
        _, header, row = SHAPES[shape]
        _, table = got(tmp_path, lines(header, row))
        charge, discharge = (table[f"{way} capacity [A.h]"].floats() for way in ("Charge", "Discharge"))
        assert charge.max() == pytest.approx(max(PASSED)), shape
        assert discharge.max() == pytest.approx(max(PASSED)), shape
        assert not (charge * discharge).any(), shape


@pytest.mark.parametrize("batch", [262_144, 5])
def test_a_current_from_the_charges_of_samples(
    batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EC-Lab may export charges and no current."""
    monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", batch)
    header = "mode\ttime/s\tcontrol/V/mA\tEwe/V\tdq/mA.h\tNs"
    rows = "".join(f"1\t{10 * n}\t0\t{VOLTS[n]}\t{CHARGING[n] * 10 / 3.6}\t{n // 4}\n" for n in range(N))
    reading, table = got(tmp_path, f"{header}\n{rows}")
    assert reading.format == "biologic"
    assert table["Current [A]"].floats() == pytest.approx(-np.array(CHARGING))
    assert "current_derived" in {note.code for note in reading.notes}


def test_decimal_commas_in_quotes_between_commas(tmp_path: Path) -> None:
    rows = lines("Time [s],Current [A],Voltage [V],Step,Cycle", '"{t:.3f}","{i:.1f}","{u:.3f}",{line},{cycle}')
    head, *rest = rows.splitlines()
    _, table = got(tmp_path, "\n".join([head, *(line.replace(".", ",") for line in rest)]) + "\n")
    holds(table)
