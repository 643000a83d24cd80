"""Writes a test as the export of one brand of cycler, with that brand's columns, units and sign of current.

Every writer takes the table of `Cycler.table` after `Sensors.read` (A, positive = discharge; V; A.h; W.h; degC).
"""

from __future__ import annotations

import gzip
import io
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def write_text(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Write text, gzipped without a date if the name ends in .gz, so that equal text gives equal bytes."""
    data = text.encode(encoding)
    if path.suffix == ".gz":
        buffer = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as file:
            file.write(data)
        data = buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _rows(table: pd.DataFrame) -> list[Any]:
    """The rows as named tuples, whose fields are the columns."""
    return list(table.itertuples(index=False))


def _hms(seconds: float) -> str:
    """Whole seconds as HH:MM:SS; hours may exceed 24."""
    whole = round(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


NEWARE_HEADER = (
    "DataPoint,Cycle Index,Step Index,Step Type,Time,Total Time,Current(A),Voltage(V),Capacity(Ah),"
    "Chg. Cap.(Ah),DChg. Cap.(Ah),Energy(Wh),Chg. Energy(Wh),DChg. Energy(Wh),Date,Power(W),T1(℃)"
)


def neware(path: Path, table: pd.DataFrame) -> None:
    """Neware BTSDA flat csv: A with charge positive, times HH:MM:SS, counters start anew in every step."""
    lines = [NEWARE_HEADER]
    for number, row in enumerate(_rows(table), start=1):
        current = -row.current + 0.0
        kind = {
            "rest": "Rest",
            "cc": "CC DChg" if row.current > 0 else "CC Chg",
            "cv": "CV Chg",
            "profile": "SIM",
        }[row.kind]
        charge, discharge = f"{row.charge:.5f}", f"{row.discharge:.5f}"
        charge_energy, discharge_energy = f"{row.charge_energy:.5f}", f"{row.discharge_energy:.5f}"
        passed = charge if row.charge >= row.discharge else discharge
        energy = charge_energy if row.charge_energy >= row.discharge_energy else discharge_energy
        lines.append(
            f"{number},{row.cycle},{row.step},{kind},{_hms(row.step_time)},{_hms(row.time)},{current:.4f},"
            f"{row.voltage:.4f},{passed},{charge},{discharge},{energy},{charge_energy},{discharge_energy},"
            f"{row.clock:%Y-%m-%d %H:%M:%S},{current * row.voltage:.4f},{row.temperature:.1f}"
        )
    write_text(path, "\n".join(lines) + "\n")


def _days(seconds: float) -> str:
    """Maccor's time: days, then HH:MM:SS with what is left of a second."""
    hundredths = round(seconds * 100)
    minutes, rest = divmod(hundredths, 6000)
    return f"  {minutes // 1440}d {minutes // 60 % 24:02d}:{minutes % 60:02d}:{rest / 100:g}"


MACCOR_COLUMNS = [
    "Rec#",
    "Cyc#",
    "Step",
    "TestTime",
    "StepTime",
    "Amp-hr",
    "Watt-hr",
    "Amps",
    "Volts",
    "State",
    "ES",
    "DPt Time",
    "ACImp/Ohms",
    "DCIR/Ohms",
    "Temp 1",
    " Units",
]


def maccor(path: Path, table: pd.DataFrame, *, procedure: str, channel: int) -> None:
    """Maccor text: current and counters without sign, direction only in State (C, D, R); cycles from 0."""
    begun: datetime = table["clock"].iloc[0]
    stem = path.name.removesuffix(".txt.gz").removesuffix(".txt")
    ended = table["clock"].iloc[-1] + timedelta(days=1)
    lines = [
        f"Today's Date:\t{ended:%d %B %Y}\tDate of Test:\t{begun:%d %B %Y, %I:%M:%S %p}",
        f"    Filename:\t{stem}\tTester Channel:\t{channel}",
        f"Procedure:\t{procedure}\tDescription:\tsimulated cell",
        "\t".join(MACCOR_COLUMNS),
    ]
    previous = None
    for number, row in enumerate(_rows(table), start=1):
        state = "R" if row.kind == "rest" else "D" if row.current > 0 else "C"
        limit = 132 if row.kind == "cv" else 133
        status = 0 if row.run != previous else {0: 1, 1: 129, 2: limit}[row.end]
        previous = row.run
        lines.append(
            "\t".join(
                [
                    str(number),
                    str(row.cycle - 1),
                    str(row.step),
                    _days(row.time),
                    _days(row.step_time),
                    f"{max(row.charge, row.discharge):.5f}",
                    f"{max(row.charge_energy, row.discharge_energy):.5f}",
                    f"{abs(row.current):.5f}",
                    f"{row.voltage:.5f}",
                    state,
                    str(status),
                    f"{row.clock:%m/%d/%Y %H:%M:%S}",
                    "0.00000",
                    "0.00000",
                    f"{row.temperature:.1f}",
                    " C  ",
                ]
            )
        )
    write_text(path, "\n".join(lines) + "\n", "latin-1")


def bdf(path: Path, table: pd.DataFrame) -> None:
    """Battery Data Format, csv or parquet by the name: A with charge positive, counters anew in every step."""
    epoch = datetime(1970, 1, 1)
    frame = pd.DataFrame(
        {
            "test_time_second": table["time"].round(3),
            "voltage_volt": table["voltage"].round(5),
            "current_ampere": (-table["current"] + 0.0).round(5),
            "unix_time_second": [(clock - epoch).total_seconds() for clock in table["clock"]],
            "cycle_count": table["cycle"],
            "step_count": table["run"] + 1,
            "step_index": table["step"],
            "charging_capacity_ah": table["charge"].round(6),
            "discharging_capacity_ah": table["discharge"].round(6),
            "charging_energy_wh": table["charge_energy"].round(6),
            "discharging_energy_wh": table["discharge_energy"].round(6),
            "temperature_t1_celsius": table["temperature"].round(1),
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        frame.to_parquet(path, compression="zstd", index=False)
    else:
        write_text(path, frame.to_csv(index=False, lineterminator="\n"))


BIOLOGIC_COLUMNS = [
    "mode",
    "ox/red",
    "error",
    "control changes",
    "Ns changes",
    "counter inc.",
    "Ns",
    "I Range",
    "time/s",
    "control/V/mA",
    "Ecell/V",
    "I/mA",
    "(Q-Qo)/mA.h",
    "Q charge/mA.h",
    "Q discharge/mA.h",
    "Energy charge/W.h",
    "Energy discharge/W.h",
    "half cycle",
    "cycle number",
    "Temperature/°C",
]


def _biologic_head(
    first: str, technique: str, begun: datetime, device: str, capacity: float, extra: list[str], columns: list[str]
) -> str:
    """The header block, whose second line counts its lines."""
    body = [
        "",
        technique,
        "",
        "Run on channel : 3",
        "User : ",
        "Ecell ctrl range : min = 0.00 V, max = 5.00 V",
        "Safety Limits :",
        "\tEcell min = 2.00 V",
        "\tEcell max = 4.40 V",
        "\tfor t > 10 ms",
        f"Acquisition started on : {begun:%m/%d/%Y %H:%M:%S}.000",
        f"Device : {device}",
        "Electrode material : ",
        "Initial state : ",
        "Electrolyte : ",
        "Comments : simulated",
        f"Battery capacity : {capacity:.3f} A.h",
        "Electrode surface area : 0.001 cm²",
        "Cycle Definition : Charge/Discharge alternance",
        *extra,
        "",
    ]
    lines = [first, f"Nb header lines : {len(body) + 3:<28d}", *body, "\t".join(columns) + "\t"]
    return "\n".join(lines) + "\n"


def biologic(path: Path, table: pd.DataFrame, *, capacity: float) -> None:
    """BioLogic text of a cycling technique: mA with charge positive, charge per half cycle in mA.h, latin-1."""
    head = _biologic_head(
        "BT-Lab ASCII FILE",
        "Modulo Bat",
        table["clock"].iloc[0],
        "BCS-805 (SN 0000)",
        capacity,
        ["Record Temperature"],
        BIOLOGIC_COLUMNS,
    )
    lines = []
    net, half, direction, run, sequence = 0.0, 0, 0, -1, -1
    done = {"charge": 0.0, "discharge": 0.0, "charge_energy": 0.0, "discharge_energy": 0.0}
    last = dict(done)
    for row in _rows(table):
        changed = row.run != run
        if changed:
            run = row.run
            done = {key: done[key] + last[key] for key in done}
            net += last["charge"] - last["discharge"]
            last = dict.fromkeys(done, 0.0)
            turn = int(np.sign(-row.current))
            if turn and direction and turn != direction:
                half += 1
                done = dict.fromkeys(done, 0.0)
            direction = turn or direction
        last = {key: getattr(row, key) for key in done}
        total = {key: done[key] + last[key] for key in done}
        mode = {"rest": 3, "cc": 1, "cv": 2, "profile": 1}[row.kind]
        control = row.voltage if mode == 2 else -row.current * 1e3
        shift = int(row.step - 1 != sequence)
        sequence = row.step - 1
        lines.append(
            "\t".join(
                [
                    str(mode),
                    str(int(-row.current > 0)),
                    "0",
                    str(int(changed)),
                    str(shift),
                    "0",
                    str(row.step - 1),
                    "11",
                    f"{row.time:.12E}",
                    f"{control + 0.0:.6E}",
                    f"{row.voltage:.7E}",
                    f"{-row.current * 1e3 + 0.0:.7E}",
                    f"{(net + last['charge'] - last['discharge']) * 1e3 + 0.0:.9E}",
                    f"{total['charge'] * 1e3:.9E}",
                    f"{total['discharge'] * 1e3:.9E}",
                    f"{total['charge_energy']:.9E}",
                    f"{total['discharge_energy']:.9E}",
                    str(half),
                    f"{row.cycle - 1:.6E}",
                    f"{row.temperature:.5E}",
                ]
            )
        )
    write_text(path, head + "\n".join(lines) + "\n", "latin-1")


IMPEDANCE_COLUMNS = [
    "freq/Hz",
    "Re(Z)/Ohm",
    "-Im(Z)/Ohm",
    "|Z|/Ohm",
    "Phase(Z)/deg",
    "time/s",
    "<Ewe>/V",
    "<I>/mA",
    "cycle number",
    "I Range",
    "|Ewe|/V",
    "|I|/A",
    "Ns",
]


def biologic_impedance(path: Path, spectra: pd.DataFrame, *, begun: datetime, capacity: float) -> None:
    """EC-Lab text of PEIS, one loop (`cycle number`, from 1) per state of charge.

    `spectra`: columns loop, frequency (Hz), real, imaginary (Ohm), time (s), voltage (V).
    """
    extra = [
        "Mode                Single sine",
        "fi                  10.000",
        "unit fi             kHz",
        "ff                  10.000",
        "unit ff             mHz",
        "Nd                  8",
        "Points              per decade",
        "Va (mV)             5.0",
        "nc cycles           4",
    ]
    head = _biologic_head(
        "EC-Lab ASCII FILE",
        "Potentio Electrochemical Impedance Spectroscopy",
        begun,
        "VMP-300 (SN 0000)",
        capacity,
        extra,
        IMPEDANCE_COLUMNS,
    )
    lines = []
    for row in _rows(spectra):
        size, phase = (
            float(np.hypot(row.real, row.imaginary)),
            float(np.degrees(np.arctan2(row.imaginary, row.real))),
        )
        values = [
            row.frequency,
            row.real,
            -row.imaginary,
            size,
            phase,
            row.time,
            row.voltage,
            0.0,
            float(row.loop),
        ]
        text = [f"{value:.7E}" for value in values]
        lines.append("\t".join([*text, "11", f"{0.005:.7E}", f"{0.005 / size:.7E}", "0"]))
    write_text(path, head + "\n".join(lines) + "\n", "latin-1")
