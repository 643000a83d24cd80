"""Resistance and diffusion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from workbench import battery

from .. import Case, Check
from ..files import SAMPLE, read
from ..made_samples import AMPWORKS, of_ampworks, series, sphere_titration

RADIUS = 1.8e-6
HPPC = SAMPLE / "neware" / "M50-A-01_HPPC_fresh.csv.gz"
TEN = "Resistance at 10 s [Ohm]"


def dcir_ampworks(shared: Path) -> Iterator[Check]:
    """HPPC of ampworks: the first and the last discharge pulse."""
    found = battery.dcir(of_ampworks(shared, "hppc_discharge"))
    discharges = found[found["Direction"] == "discharge"][TEN]
    case = "ampworks hppc_discharge, 18 pulses"
    for name, place, its in (("first", 0, 20.3769), ("ninth", -1, 41.5035)):
        ours = discharges.iloc[place]
        yield Check("dcir", f"10 s, {name} discharge pulse [Ohm]", case, "ampworks 0.1.0", its, ours, 1e-4)
    yield Check("dcir", "pulses", case, "ampworks 0.1.0", 18, len(found), 0)


def dcir_sample(_: Path) -> Iterator[Check]:
    """HPPC of the sample data against the resistances that were stored when it was simulated."""
    stored = pd.read_csv(SAMPLE / "analyses" / "M50-A-01_HPPC_fresh_dcir.csv")
    found = battery.dcir(read(HPPC).samples, limits=(2.5, 4.2))
    for direction in ("discharge", "charge"):
        ours = 1000 * found[found["Direction"] == direction][TEN].to_numpy()
        its = stored[f"{direction.capitalize()} resistance 10 s [mOhm]"].to_numpy()
        yield Check(
            "dcir",
            f"10 s, mean of 9 {direction} pulses [mOhm]",
            "sample_data M50-A-01_HPPC_fresh",
            "simulation",
            float(its.mean()),
            float(ours.mean()),
            0.005,
        )
    off = float(np.abs(found[found["Direction"] == "discharge"]["SOC"].to_numpy() - stored["SOC"]).max())
    yield Check("dcir", "SOC, largest difference", "sample_data M50-A-01_HPPC_fresh", "simulation", 0, off, 1e-3)


def power(_: Path) -> Iterator[Check]:
    """A cell of 0.1 Ohm at 3.7 V between 3 and 4.2 V."""
    time = np.concatenate([np.arange(0, 3605, 10.0), 3600 + np.arange(0.1, 20.05, 0.1)])
    for current, its in ((2.0, 3.0 * 0.7 / 0.1), (-2.0, 4.2 * 0.5 / 0.1)):
        amps = np.where(time > 3600, current, 0.0)
        found = battery.power_capability(series(time, amps, 3.7 - 0.1 * amps), limits=(3.0, 4.2)).iloc[0]
        words = f"{found['Direction']} power [W]"
        made = "made: 3.7 V, 0.1 Ohm, limits 3.0 and 4.2 V"
        yield Check("power_capability", words, made, "closed form", its, found["Power at 10 s [W]"], 1e-9)


def gitt_ampworks(shared: Path) -> Iterator[Check]:
    """Two pulses of the titration of ampworks against a regression done elsewhere."""
    for part, onset, its in (("start", 600.0, 1.5556e-15), ("middle", 481080.112, 6.7423e-16)):
        found = battery.gitt(of_ampworks(shared, f"gitt_discharge_{part}"), radius=RADIUS).iloc[0]
        case = f"ampworks gitt_discharge, pulse at {onset:.10g} s"
        yield Check("gitt", f"D, 1 to 60 s, {part} [1e-15 m2/s]", case, "independent regression",
                    its * 1e15, found["D [m2/s]"] * 1e15, 1e-4)  # fmt: skip
        yield Check("gitt", f"onset, {part} [s]", case, "independent regression", onset, found["Time [s]"], 1e-6)


def gitt_sphere(_: Path) -> Iterator[Check]:
    """The exact solution of one sphere: what the formula gives of the true D."""
    for diffusion, windows in ((1e-15, ((10.0, 0.87), (60.0, 0.74))), (1e-14, ((10.0, 0.64), (60.0, 0.35)))):
        frame = sphere_titration(diffusion, RADIUS)
        for end, its in windows:
            found = battery.gitt(frame, radius=RADIUS, window=(1.0, end))["D [m2/s]"].median() / diffusion
            case = f"made: sphere of 1.8 um, D = {diffusion:g} m2/s"
            yield Check("gitt", f"D/D, 1 to {end:g} s, D = {diffusion:g}", case, "exact series", its, found, 0.006)


def ici_ampworks(shared: Path) -> Iterator[Check]:
    """The interruptions of ampworks. Its D counts the breaks as time under current: 300 s on, 10 s off."""
    found = battery.ici(of_ampworks(shared, "ici_discharge"), radius=RADIUS)
    case = "ampworks ici_discharge, 132 breaks"
    yield Check("ici", "breaks", case, "ampworks 0.1.0", 132, len(found), 0)
    resistance = found["Resistance [Ohm]"].median()
    yield Check("ici", "R, median [Ohm]", case, "independent regression", 0.5994, resistance, 1e-4)
    diffusion = found["D [m2/s]"].median() * 1e16
    yield Check("ici", "D, median [1e-16 m2/s]", case, "independent regression", 4.878, diffusion, 1e-3)
    its = 4.593 * (310 / 300) ** 2
    yield Check("ici", "D, median, over time under current [1e-16 m2/s]", case,
                "ampworks 0.1.0, times (310/300)^2", its, diffusion, 0.03)  # fmt: skip


def ici_exact(_: Path) -> Iterator[Check]:
    """A straight line under load and a square root in the breaks."""
    slope, root, ohm, current = -1e-5, 4e-4, 0.5, 0.002
    times, amps, volts, base = [np.arange(0, 600, 10.0)], [np.zeros(60)], [np.full(60, 4.0)], 600.0
    for number in range(12):
        on, off = np.arange(1.0, 300.5), np.arange(0.1, 10.05, 0.1)
        line = 4.0 + slope * 300 * number
        times += [base + on, base + 300 + off]
        amps += [np.full(300, current), np.zeros(100)]
        volts += [line + slope * on - ohm * current, line + slope * 300 + root * np.sqrt(off)]
        base += 310
    times.append(base + np.arange(1.0, 300.5))
    amps.append(np.full(300, current))
    volts.append(np.full(300, volts[-2][-1]))
    frame = series(np.concatenate(times), np.concatenate(amps), np.concatenate(volts))
    found = battery.ici(frame, radius=RADIUS).iloc[5]
    made = "made: line under load, square root in the breaks"
    yield Check("ici", "R, made [Ohm]", made, "closed form", ohm, found["Resistance [Ohm]"], 1e-9)
    yield Check("ici", "k [Ohm.s^-0.5]", made, "closed form", root / current, found["k [Ohm.s^-0.5]"], 1e-9)
    its = 4 / (9 * np.pi) * (RADIUS * slope / root) ** 2
    yield Check("ici", "D [1e-16 m2/s]", made, "closed form", its * 1e16, found["D [m2/s]"] * 1e16, 1e-6)


CASES = (
    Case("dcir, ampworks", dcir_ampworks, (f"{AMPWORKS}/hppc_discharge.csv.gz",)),
    Case("dcir, M50-A-01", dcir_sample),
    Case("power_capability, exact", power),
    Case(
        "gitt, ampworks",
        gitt_ampworks,
        tuple(f"{AMPWORKS}/gitt_discharge_{part}.csv.gz" for part in ("start", "middle")),
    ),
    Case("gitt, sphere", gitt_sphere),
    Case("ici, ampworks", ici_ampworks, (f"{AMPWORKS}/ici_discharge.csv.gz",)),
    Case("ici, exact", ici_exact),
)
