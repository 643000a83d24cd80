"""Curves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from workbench import battery

from .. import Case, Check
from ..files import SAMPLE, read
from ..made_samples import AMPWORKS, Floats, half_cell, of_ampworks, peak_on_charge, series, slow_half_cycle

LG_M50 = "data/pyprobe_parquet/NDK_-_LG_M50_deg_-_exp_2_2_-_rig_3_-_25degC_-_cell_C_-_BoL_-_RPT0_short_CA4.parquet"


def open_circuit(soc: Floats) -> Floats:
    """A made curve, V."""
    return np.asarray(3.4 + 0.7 * soc + 0.05 * np.tanh((soc - 0.5) / 0.05), float)


def pseudo_ocv_exact(_: Path) -> Iterator[Check]:
    """A charge and a discharge of C/20, each 20 mV from the open-circuit curve."""
    up = slow_half_cycle(lambda q: open_circuit(q / 2) + 0.02, 20, 2.0, charge=True)
    down = slow_half_cycle(lambda q: open_circuit(1 - q / 2) - 0.02, 20, 2.0, charge=False)
    down["Time [s]"] += up["Time [s]"].iloc[-1] + 10
    found = battery.pseudo_ocv(pd.concat([up, down], ignore_index=True))
    off = np.abs(found["Voltage [V]"].to_numpy() - open_circuit(found["SOC"].to_numpy())).max()
    made = "made: +-20 mV around a curve, C/20"
    yield Check("pseudo_ocv", "mean, largest difference [mV]", made, "closed form", 0, 1000 * float(off), 1e-3)
    hysteresis = 1000 * found["Hysteresis [V]"].median()
    yield Check("pseudo_ocv", "hysteresis [mV]", made, "closed form", 40, hysteresis, 1e-3)


def rests(_: Path) -> Iterator[Check]:
    """A rest of two hours after a load: two exponentials."""
    on, off = np.arange(0, 100, 10.0), np.concatenate([np.arange(0.1, 60, 0.1), np.arange(60.0, 7210, 10.0)])
    relaxed = 3.6 - 0.02 * np.exp(-off / 30) - 0.03 * np.exp(-off / 900)
    frame = series(
        np.concatenate([on, 90 + off]),
        np.concatenate([np.ones(10), np.zeros(len(off))]),
        np.concatenate([np.full(10, 3.5), relaxed]),
    )
    made = "made: V = 3.6 - 0.02 exp(-t/30 s) - 0.03 exp(-t/900 s)"
    found = battery.relaxation(frame).iloc[0]
    for name, its, allowed in (
        ("V_inf [V]", 3.6, 1e-6), ("tau1 [s]", 30, 1e-3), ("tau2 [s]", 900, 1e-2), ("a2 [V]", 0.03, 1e-6)
    ):  # fmt: skip
        yield Check("relaxation", name, made, "closed form", its, found[name], allowed)
    last = battery.ocv_from_rests(frame).iloc[0]
    yield Check("ocv_from_rests", "last voltage [V]", made, "closed form",
                3.6 - 0.03 * np.exp(-8.0), last["Voltage [V]"], 1e-9)  # fmt: skip
    its = 0.03 * np.exp(-6900 / 900) / 900 * 3.6e6
    yield Check(
        "ocv_from_rests",
        "drift, middle of the last 10 min [mV/h]",
        made,
        "closed form",
        its,
        last["Drift [mV/h]"],
        0.02 * its,
    )


def peaks_exact(_: Path) -> Iterator[Check]:
    """One peak of 25 A.h/V, 2 A.h, at four widths of the window."""
    frame = peak_on_charge(25.0, 3.7, 0.02)
    made = "made: Q = A / (1 + exp(-(V - 3.7) / 20 mV)), A = 2 A.h"
    for window, its in ((0.005, 24.98), (0.01, 24.93), (0.02, 24.64), (0.04, 23.73)):
        found = battery.ic_peaks(frame, window=window).iloc[0]
        yield Check("ic_peaks", f"height, window {1000 * window:g} mV [A.h/V]", made,
                    "independent Savitzky-Golay", its, found["Height [A.h/V]"], 0.006)  # fmt: skip
    yield Check("ic_peaks", "area [A.h]", made, "closed form", 2.0, found["Area [A.h]"], 1e-3)
    yield Check("ic_peaks", "position [V]", made, "closed form", 3.7, found["Position [V]"], 1e-5)


def peaks_m50(shared: Path) -> Iterator[Check]:
    """The C/10 charge of an LG M50: positions and heights at 20 mV, found elsewhere."""
    frame = pd.read_parquet(shared / LG_M50)
    found = battery.ic_peaks(series(frame["Time [s]"], -frame["Current [A]"], frame["Voltage [V]"]))
    charge = found[(found["Half cycle"] == 2) & found["Valid"]]
    for number, (volts, height) in enumerate(((3.465, 5.80), (3.651, 9.16), (3.930, 6.03), (4.127, 11.79))):
        row = charge.iloc[number]
        reference = "independent Savitzky-Golay"
        yield Check("ic_peaks", f"peak {number}, position [V]", "PyProBE LG M50 RPT0, C/10 charge", reference,
                    volts, row["Position [V]"], 1e-3)  # fmt: skip
        yield Check("ic_peaks", f"peak {number}, height [A.h/V]", "PyProBE LG M50 RPT0, C/10 charge", reference,
                    height, row["Height [A.h/V]"], 0.01)  # fmt: skip


def differential_voltage(_: Path) -> Iterator[Check]:
    """A step of voltage at 60 % of the charge."""
    charge = slow_half_cycle(lambda q: 3.4 + 0.2 * q + 0.1 * np.tanh((q - 1.2) / 0.1), 20, 2.0, charge=True)
    found = battery.dva_features(charge).iloc[0]
    made = "made: V = 3.4 + 0.2 Q + 0.1 tanh((Q - 1.2) / 0.1), 2 A.h"
    for name, its in (("Peak to full [A.h]", 0.8), ("Peak to empty [A.h]", 1.2)):
        yield Check("dva_features", name, made, "closed form", its, found[name], 1e-3)
    yield Check("dva_features", "height [V/A.h]", made, "closed form", 1.2, found["Height [V/A.h]"], 0.02)


def thermal(_: Path) -> Iterator[Check]:
    """A discharge whose temperature is a known function of its voltage."""
    frame = slow_half_cycle(lambda q: 4.1 - 0.5 * q, 1, 2.0, charge=False)
    volts = frame["Voltage [V]"]
    frame["Temperature [degC]"] = 25 + 4 * np.sin(2 * (4.1 - volts))
    found = battery.dtv(frame)
    at = found["Voltage [V]"].to_numpy()
    middle = (at > 3.2) & (at < 4.0)
    off = np.abs(found["dT/dV [K/V]"].to_numpy() + 8 * np.cos(2 * (4.1 - at)))[middle].max()
    made = "made: T = 25 + 4 sin(2 (4.1 - V))"
    yield Check("dtv", "largest difference [K/V]", made, "closed form", 0, float(off), 0.01)


def modes_ampworks(shared: Path) -> Iterator[Check]:
    """Two cells of ampworks as two check-ups, against PyProBE and ampworks (voltage alone)."""
    both = [of_ampworks(shared, f"cell{number}_rough").assign(id=number) for number in (1, 2)]
    found = battery.degradation_modes(
        pd.concat(both, ignore_index=True),
        anode=half_cell(shared, "gr_smooth"),
        cathode=half_cell(shared, "nmc_smooth"),
        by="id",
    ).iloc[1]
    case = "ampworks cell2_rough after cell1_rough"
    for name, pyprobe, ampworks in (("Qn", 26.04, 25.98), ("Qp", 22.60, 22.72), ("Li inventory", 22.72, 22.71)):
        ours = 1000 * found[f"{name} [A.h]"]
        for reference, its in (("PyProBE 2.6.1", pyprobe), ("ampworks 0.1.0, voltage", ampworks)):
            words = f"{name} [mA.h], {reference.split()[0]}"
            yield Check("degradation_modes", words, case, reference, its, ours, 0.007 * its)


def modes_simulated(_: Path) -> Iterator[Check]:
    """Simulated cells against the ledger of the simulation, since check-up 0."""
    for cell in ("M50-A-01", "M50-A-04"):
        tests = [
            read(SAMPLE / "neware" / f"{cell}_RPT{number}.csv.gz").samples.assign(id=number) for number in (0, 3)
        ]
        anode, cathode = (
            pd.read_csv(SAMPLE / "materials" / f"M50_{side}_ocp.csv") for side in ("anode", "cathode")
        )
        frame = pd.concat(tests, ignore_index=True)
        found = battery.degradation_modes(frame, anode=anode, cathode=cathode, by="id", compare=False).iloc[1]
        ledger = pd.read_csv(SAMPLE / "analyses" / f"{cell}_degradation_modes.csv")
        for name in ("LLI [%]", "LAM anode [%]", "LAM cathode [%]"):
            its = 100 * (1 - (1 - ledger[name].iloc[3] / 100) / (1 - ledger[name].iloc[0] / 100))
            case = f"sample_data {cell}, RPT3 after RPT0"
            yield Check("degradation_modes", f"{cell}, {name}", case, "simulation", float(its), found[name], 0.5)


CASES = (
    Case("pseudo_ocv, exact", pseudo_ocv_exact),
    Case("relaxation, exact", rests),
    Case("ic_peaks, exact", peaks_exact),
    Case("ic_peaks, LG M50", peaks_m50, (LG_M50,)),
    Case("dva_features, exact", differential_voltage),
    Case("dtv, exact", thermal),
    Case(
        "degradation_modes, ampworks",
        modes_ampworks,
        tuple(f"{AMPWORKS}/{name}.csv.gz" for name in ("cell1_rough", "cell2_rough", "gr_smooth", "nmc_smooth")),
    ),
    Case("degradation_modes, simulated", modes_simulated, long=True),
)
