"""Files as six brands of cyclers export them, made up: for a folder that looks like a laboratory's."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

SPAN, EACH = 20.0, 120
STATES = ("Rest", "CC Chg", "CC DChg")
BEGUN = datetime(2026, 1, 5, 9, 30)


def samples(rows: int, seed: int) -> pd.DataFrame:
    """A cell that is charged, rests, is discharged and rests, again and again.

    Columns: time (s), current (A, positive on charge), voltage (V), cycle and step from 1, state (0 rest, 1 charge,
    2 discharge), the four counters (A.h and W.h, anew in each step), temperature (degC), clock.
    """
    rng = np.random.default_rng(seed)
    at = np.arange(rows)
    place = at // EACH
    state = np.array([1, 0, 2, 0])[place % 4]
    current = np.choose(state, [0.0, 2.5, -2.5]) * (1 + 0.02 * (seed % 7))
    within = (at % EACH) / EACH
    level = np.choose(place % 4, [within, np.ones(rows), 1 - within, np.zeros(rows)])
    voltage = 3.0 + 1.1 * level**0.7 + 0.03 * np.sign(current) + rng.normal(0, 2e-4, rows)
    passed = np.abs(current) * (at % EACH) * SPAN / 3600
    energy = passed * 3.6
    charge, discharge = np.where(state == 1, passed, 0.0), np.where(state == 2, passed, 0.0)
    return pd.DataFrame(
        {
            "time": at * SPAN,
            "current": current.round(4),
            "voltage": voltage.round(4),
            "cycle": place // 4 + 1,
            "step": place % 4 + 1,
            "state": state,
            "charge": charge.round(5),
            "discharge": discharge.round(5),
            "charge_energy": np.where(state == 1, energy, 0.0).round(5),
            "discharge_energy": np.where(state == 2, energy, 0.0).round(5),
            "temperature": (25 + 2 * level + rng.normal(0, 0.05, rows)).round(2),
            "clock": pd.Timestamp(BEGUN + timedelta(days=seed)) + pd.to_timedelta(at * SPAN, unit="s"),
        }
    )


def arbin(path: Path, t: pd.DataFrame) -> None:
    epoch = (t["clock"].astype("int64") // 10**6).astype("int64")
    frame = pd.DataFrame(
        {
            "Data_Point": np.arange(1, len(t) + 1),
            "Test_Time": t["time"],
            "DateTime": epoch,
            "Step_Time": t["time"] % (120 * SPAN),
            "Step_Index": t["step"],
            "Cycle_Index": t["cycle"],
            "Current": t["current"],
            "Voltage": t["voltage"],
            "Charge_Capacity": t["charge"],
            "Discharge_Capacity": t["discharge"],
            "Charge_Energy": t["charge_energy"],
            "Discharge_Energy": t["discharge_energy"],
            "Temperature": t["temperature"],
        }
    )
    frame.to_csv(path, index=False)


def landt(path: Path, t: pd.DataFrame) -> None:
    frame = pd.DataFrame(
        {
            "channel_index": 1,
            "cycle_index": t["cycle"],
            "step_index": t["step"],
            "date_time_iso_string": t["clock"].dt.strftime("%m/%d/%Y %H:%M:%S"),
            "test_time_s": t["time"],
            "step_time_s": t["time"] % (120 * SPAN),
            "current_A": t["current"],
            "voltage_V": t["voltage"],
            "discharge_capacity_Ah": t["discharge"],
            "charge_capacity_Ah": t["charge"],
            "discharge_energy_Wh": t["discharge_energy"],
            "charge_energy_Wh": t["charge_energy"],
            "temperature_1_C": t["temperature"],
            "step_name": t["state"].map(dict(enumerate(("rest", "charge", "discharge")))),
        }
    )
    head = "cell model:,,\ncell id: ,,\ntest: ,,\ncheckpoint: ,,\n"
    path.write_text(head + frame.to_csv(index=False, lineterminator=",\n"))


def basytec(path: Path, t: pd.DataFrame) -> None:
    frame = pd.DataFrame(
        {
            "~Time[s]": t["time"],
            "DataSet": np.arange(1, len(t) + 1),
            "Command": t["state"].map(dict(enumerate(("Pause", "Charge", "Discharge")))),
            "Line": t["step"],
            "Cyc-Count": t["cycle"],
            "U[V]": t["voltage"],
            "I[A]": t["current"],
            "Ah-Cyc-Charge": t["charge"],
            "Ah-Cyc-Discharge": t["discharge"],
            "T1[°C]": t["temperature"],
        }
    )
    begun = t["clock"].iloc[0]
    head = f"~Resultfile from Basytec Battery Test System\n~\n~Start of Test: {begun:%d.%m.%Y %H:%M:%S}\n~\n"
    path.write_bytes((head + frame.to_csv(index=False, sep="\t")).encode("latin-1"))


def novonix(path: Path, t: pd.DataFrame) -> None:
    frame = pd.DataFrame(
        {
            "Date and Time": t["clock"].dt.strftime("%Y-%m-%d %I:%M:%S %p"),
            "Cycle Number": t["cycle"],
            "Step Type": t["state"].map({0: 0, 1: 1, 2: 2}),
            "Run Time (h)": (t["time"] / 3600).round(9),
            "Step Time (h)": (t["time"] % (120 * SPAN) / 3600).round(9),
            "Current (A)": t["current"],
            "Potential (V)": t["voltage"],
            "Capacity (Ah)": (t["charge"] - t["discharge"]).round(5),
            "Temperature (°C)": t["temperature"],
            "Step Number": t["step"],
        }
    )
    head = "[Summary]\nNovonix HPC data file\nNovonix\nChannel: 01\n[End Summary]\n[Data]\n"
    path.write_text(head + frame.to_csv(index=False), encoding="utf-8")


def neware(path: Path, t: pd.DataFrame) -> None:
    frame = pd.DataFrame(
        {
            "DataPoint": np.arange(1, len(t) + 1),
            "Cycle Index": t["cycle"],
            "Step Index": t["step"],
            "Step Type": t["state"].map(dict(enumerate(STATES))),
            "Time": _hms(t["time"] % (120 * SPAN)),
            "Total Time": _hms(t["time"]),
            "Current(A)": t["current"],
            "Voltage(V)": t["voltage"],
            "Chg. Cap.(Ah)": t["charge"],
            "DChg. Cap.(Ah)": t["discharge"],
            "Chg. Energy(Wh)": t["charge_energy"],
            "DChg. Energy(Wh)": t["discharge_energy"],
            "Date": t["clock"].dt.strftime("%Y-%m-%d %H:%M:%S"),
            "T1(℃)": t["temperature"],
        }
    )
    frame.to_csv(path, index=False)


def maccor(path: Path, t: pd.DataFrame) -> None:
    frame = pd.DataFrame(
        {
            "Rec#": np.arange(1, len(t) + 1),
            "Cyc#": t["cycle"] - 1,
            "Step": t["step"],
            "TestTime(s)": t["time"],
            "StepTime(s)": t["time"] % (120 * SPAN),
            "Amp-hr": t["charge"] + t["discharge"],
            "Watt-hr": t["charge_energy"] + t["discharge_energy"],
            "Amps": t["current"].abs(),
            "Volts": t["voltage"],
            "State": t["state"].map(dict(enumerate("RCD"))),
            "ES": 1,
            "DPt Time": t["clock"].dt.strftime("%m/%d/%Y %H:%M:%S"),
        }
    )
    head = f"Today's Date:\t05 May 2026\tDate of Test:\t{BEGUN:%m/%d/%Y}\n"
    path.write_text(head + frame.to_csv(index=False, sep="\t"))


def _hms(seconds: pd.Series[float]) -> pd.Series[str]:
    s = seconds.astype(int)
    parts = (s // 3600, s // 60 % 60, s % 60)
    return parts[0].astype(str).str.zfill(2) + [f":{m:02d}:{r:02d}" for m, r in zip(*parts[1:], strict=True)]


BRANDS: dict[str, tuple[str, Callable[[Path, pd.DataFrame], None]]] = {
    "arbin": (".csv", arbin),
    "landt": (".csv", landt),
    "basytec": (".txt", basytec),
    "novonix": (".csv", novonix),
    "neware": (".csv", neware),
    "maccor": (".txt", maccor),
}


def folder(place: Path, files: int, rows: int) -> Path:
    """A folder of so many files from all brands, and beside it the sheet that says what each is; answers the sheet.

    A file is called after batch, cell and test: ``B_c07_RPT1.csv``; three tests a cell, the rows differ a little.
    """
    place.mkdir(parents=True, exist_ok=True)
    sheet = place.parent / "cells.csv"
    with sheet.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["file", "specification", "rating", "temperature [degC]", "mass [g]", "tags"])
        for number in range(files):
            brand = list(BRANDS)[number % len(BRANDS)]
            ending, write = BRANDS[brand]
            cell = number // 3
            name = f"{'ABC'[cell % 3]}_c{cell:02d}_RPT{number % 3}{ending}"
            write(place / name, samples(rows + 37 * (number % 11), number))
            writer.writerow(
                [name, "cell type 1", "2.5Ah,2.5V,4.2V", 25 + cell % 3 * 10, 68.5, f"round {number % 3}"]
            )
    return sheet
