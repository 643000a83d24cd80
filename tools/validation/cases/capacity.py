"""Capacity and efficiency."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench import battery
from workbench.battery.capacity.reference import Kind

from .. import Case, Check
from ..files import SAMPLE, read
from ..made import discharges, storage

RATES = SAMPLE / "biologic" / "PCH-02_rates.mpt.gz"
CYCLING = SAMPLE / "biologic" / "PCH-02_cycling.mpt.gz"
MACCOR = "data/maccor_csv/testdata18.csv.gz"
MACCOR_RATES = "data/maccor_txt/maccor_001.txt.gz"
MACCOR_COLUMNS = ["State", "Amp-hr", "Amps"]
ARBIN = "data/arbin_res/20210210_FC_01_cc_01.res.gz"
UIO = "data/neware_csv/neware_uio.csv"
NDAX = "data/neware_ndax/BTS85-36-6-5-110-20240424.ndax"


def peukert_exact(_: Path) -> Iterator[Check]:
    """Discharges that follow the law."""
    exponent, constant = 1.08, 2.5
    steps = discharges([(current, constant * current ** (1 - exponent)) for current in (0.2, 0.5, 1.0, 2.0, 4.0)])
    found = battery.peukert(steps).iloc[0]
    made = "made: Q = C I^(1-k), 0.2 to 4 A"
    yield Check("peukert", "exponent", made, "closed form", exponent, found["Exponent"], 1e-9)
    yield Check("peukert", "constant [A^k.h]", made, "closed form", constant, found["Constant"], 1e-9)


def peukert_rates(_: Path) -> Iterator[Check]:
    """The rate test of the sample data, against a regression done elsewhere on the same file."""
    steps = read(RATES).steps
    for highest, exponent in ((None, 1.029), (1.0, 1.017)):
        found = battery.peukert(steps, rated=0.05, highest=highest).iloc[0]
        most = "3C" if highest is None else "1C"
        yield Check(
            "peukert",
            f"exponent, 0.2C to {most}",
            "sample_data PCH-02_rates",
            "independent regression",
            exponent,
            found["Exponent"],
            5e-4,
        )


def rate_capability_exact(_: Path) -> Iterator[Check]:
    """Two discharges at each of three rates."""
    rates = [(0.5, 2.0), (0.5, 1.98), (1.0, 1.9), (1.0, 1.9), (2.0, 1.7), (2.0, 1.7)]
    made = battery.rate_capability(discharges(rates), rated=2.0)
    case = "made: 2 discharges at each of 3 rates"
    ours = made["CC capacity [A.h]"]
    for place, capacity in enumerate((1.99, 1.9, 1.7)):
        c = f"{(0.25, 0.5, 1.0)[place]:g}C"
        yield Check("rate_capability", f"capacity at {c} [A.h]", case, "closed form", capacity, ours[place], 1e-9)
    power = made["Mean power [W]"][2]
    yield Check("rate_capability", "mean power at 1C [W]", case, "closed form", 2 * (4.2 + 2.5) / 2, power, 1e-9)


def rate_capability_ndax(shared: Path) -> Iterator[Check]:
    """A coin cell: its rates, and the capacity at the slowest by the cycler's counter."""
    test = read(shared / NDAX)
    made = battery.rate_capability(test.steps)
    case = "BTS85-36-6-5-110-20240424.ndax"
    out = test.steps[test.steps["Discharge capacity [A.h]"] > 1e-5]
    currents = np.sort(out["Mean current [A]"].to_numpy())
    count = 1 + int((currents[1:] > 1.1 * currents[:-1]).sum())
    whose = "discharge steps, 10 % apart"
    yield Check("rate_capability", "rates", case, whose, count, len(made), 0.0)
    samples = test.samples
    counter = samples.groupby("Step count")["Discharge capacity [A.h]"].max()
    slowest = out["Step count"][out["Mean current [A]"] < 1.1 * currents[0]]
    its = float(counter[slowest].mean())
    ours = float(made["CC capacity [A.h]"].iloc[0])
    yield Check("rate_capability", "capacity at the slowest [A.h]", case, "counter of the cycler", its, ours, 1e-7)


def rate_capability_maccor(shared: Path) -> Iterator[Check]:
    """A real cell at four rates, against the cycler's counter."""
    path = shared / MACCOR_RATES
    made = battery.rate_capability(read(path).steps)
    raw = pd.read_csv(path, sep="\t", skiprows=3, index_col=False, encoding="latin-1", usecols=MACCOR_COLUMNS)
    out = raw[raw["State"] == "D"]
    step = (out.index.to_series().diff() != 1).cumsum()
    by_step = out.groupby(step)[["Amp-hr", "Amps"]].agg({"Amp-hr": "max", "Amps": "median"})
    case, whose = "maccor_001.txt", "counter of the cycler"
    for row in made.to_dict("records"):
        near = (by_step["Amps"] - row["Current [A]"]).abs() < 0.01 * row["Current [A]"]
        its = float(by_step["Amp-hr"][near].max())
        ours = row["CC capacity [A.h]"]
        yield Check(
            "rate_capability", f"capacity at {row['Current [A]']:.1f} A [A.h]", case, whose, its, ours, 1e-5
        )


def formation_arbin(shared: Path) -> Iterator[Check]:
    """The first two cycles of a real full cell, against the cycler's counters."""
    test = read(shared / ARBIN)
    most = test.samples.groupby("Step count")[["Charge capacity [A.h]", "Discharge capacity [A.h]"]].max()
    cycle = test.samples.groupby("Step count")["Cycle count"].first()
    first = most.groupby(cycle).sum().iloc[0]
    into, out = float(first["Charge capacity [A.h]"]), float(first["Discharge capacity [A.h]"])
    made = battery.formation(test.steps).iloc[0]
    case, whose = "20210210_FC_01_cc_01.res", "counters of the cycler"
    yield Check(
        "formation", "first-cycle loss [A.h]", case, whose, into - out, made["First-cycle loss [A.h]"], 1e-6
    )
    yield Check("formation", "ICE, full cell", case, whose, out / into, made["ICE"], 3e-4)


def capacity_by_step_sums(_: Path) -> Iterator[Check]:
    """The parts sum to the cycle's totals."""
    test = read(RATES)
    made = battery.capacity_by_step(test.steps)
    for way in ("charge", "discharge"):
        parts = sum(made[f"{part} {way} capacity [A.h]"].to_numpy() for part in ("CC", "CV", "Other"))
        total = test.cycles[f"{way.capitalize()} capacity [A.h]"].to_numpy()
        ours = float(np.abs(parts - total).max())
        case = "sample_data PCH-02_rates"
        yield Check("capacity_by_step", f"CC + CV + other less {way} [A.h]", case, "cycles table", 0.0, ours, 1e-9)


def efficiency_made(_: Path) -> Iterator[Check]:
    """Of charges and energies that are given."""
    cycles = pd.DataFrame(
        {
            "Cycle count": [0, 1],
            "Charge capacity [A.h]": [2.0, 2.0],
            "Discharge capacity [A.h]": [1.99, 1.998],
            "Charge energy [W.h]": [8.0, 8.0],
            "Discharge energy [W.h]": [7.4, 7.5],
            "Cycle duration [s]": [72000.0, 72000.0],
            "Complete": [True, True],
        }
    )
    made = battery.efficiency(cycles).iloc[1]
    case = "made: 2 A.h in, 1.998 out, 20 h"
    yield Check("efficiency", "CE", case, "closed form", 0.999, made["Coulombic efficiency"], 1e-12)
    yield Check("efficiency", "EE", case, "closed form", 0.9375, made["Energy efficiency"], 1e-12)
    yield Check("efficiency", "VE", case, "closed form", 0.9375 / 0.999, made["Voltage efficiency"], 1e-12)
    yield Check("efficiency", "CIE per hour [1/h]", case, "closed form", 5e-5, made["CIE per hour [1/h]"], 1e-15)


def efficiency_cycling(_: Path) -> Iterator[Check]:
    """Thirty cycles, against the cycler's counters in the samples."""
    made, its = _efficiencies(CYCLING)
    ours = made["Coulombic efficiency"].to_numpy()[1:]
    case = "sample_data PCH-02_cycling"
    whose = "counters in the samples"
    yield Check(
        "efficiency", "median CE, cycles 1 to 30", case, whose, np.median(its[1:]), np.nanmedian(ours), 2e-5
    )
    yield Check("efficiency", "CE of cycle 0 (0: none, it came charged)", case, "rule", 0, made["Valid"][0], 0.0)


def efficiency_maccor(shared: Path) -> Iterator[Check]:
    """Cycles of a real cell, against the cycler's counters in the samples."""
    made, its = _efficiencies(shared / MACCOR)
    ours = made["Coulombic efficiency"].to_numpy()
    off = float(np.nanmax(np.abs(ours - its)))
    case, whose = "testdata18.csv of a Maccor", "counters in the samples"
    yield Check("efficiency", "largest difference of CE", case, whose, 0.0, off, 1e-4)
    known = np.isfinite(ours)
    yield Check("efficiency", "median CE", case, whose, np.median(its[known]), np.median(ours[known]), 1e-5)


def _efficiencies(path: Path) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """What ``efficiency`` makes of a file, and what passed by the counters that start at 0 in each step."""
    test = read(path)
    most = test.samples.groupby("Step count")[["Charge capacity [A.h]", "Discharge capacity [A.h]"]].max()
    cycle = test.samples.groupby("Step count")["Cycle count"].first()
    passed = most.groupby(cycle).sum()
    its = passed["Discharge capacity [A.h]"] / passed["Charge capacity [A.h]"]
    return battery.efficiency(test.cycles), its.to_numpy(float)


def retention_made(_: Path) -> Iterator[Check]:
    """The references, and equivalent full cycles."""
    capacity = np.array([1.9, 2.0, 1.99, 1.98, 1.97, 1.96, 1.95])
    cycles = pd.DataFrame(
        {"Cycle count": range(7), "Discharge capacity [A.h]": capacity, "Complete": [False, *[True] * 6]}
    )
    case = "made: 7 cycles, the first not complete"
    kinds: tuple[tuple[Kind, float], ...] = (
        ("first", 2.0),
        ("median of 2..6", 1.97),
        ("rated", 2.1),
        ("max of first 10", 2.0),
    )
    for kind, base in kinds:
        made = battery.retention(cycles, reference=kind, rated=2.1)["Retention"].iloc[-1]
        yield Check("retention", f"of the last, reference {kind}", case, "closed form", 1.95 / base, made, 1e-12)
    full = battery.equivalent_cycles(cycles, rated=2.0)["Equivalent full cycles"].iloc[-1]
    yield Check("equivalent_cycles", "EFC", case, "closed form", capacity.sum() / 2, full, 1e-12)


def soh_made(_: Path) -> Iterator[Check]:
    """Capacity and resistance of three reference tests."""
    tests = pd.DataFrame(
        {"Check-up": range(3), "Discharge capacity [A.h]": [2, 1.9, 1.7], "Resistance [Ohm]": [0.02, 0.025, 0.034]}
    )
    made = battery.soh(tests).iloc[-1]
    case = "made: 2 to 1.7 A.h, 20 to 34 mOhm"
    yield Check("soh", "SOH C", case, "closed form", 0.85, made["SOH C"], 1e-12)
    yield Check("soh", "SOH R", case, "closed form", 0.3, made["SOH R"], 1e-12)


def cycle_counts(_: Path) -> Iterator[Check]:
    """Pairs of half cycles, against the counter of each file."""
    for path, count in (
        (CYCLING, 31),
        (RATES, 10),
        (SAMPLE / "bdf" / "LFP-C-03_ageing.bdf.csv.gz", 121),
        (SAMPLE / "neware" / "M50-A-01_ageing.csv.gz", 120),
        (SAMPLE / "neware" / "M50-A-01_RPT0.csv.gz", 2),
    ):
        ours = len(battery.cycle_count(read(path).steps))
        case = f"sample_data {path.name.split('.')[0]}"
        yield Check(
            "cycle_count", f"cycles of {path.name.split('.')[0]}", case, "counter of the file", count, ours, 0
        )


def formation_neware(shared: Path) -> Iterator[Check]:
    """An electrode against lithium, against the counters in the file."""
    path = shared / UIO
    first = _neware_counters(path).iloc[0]
    into, out = float(first["DChg. Cap.(Ah)"]), float(first["Chg. Cap.(Ah)"])
    made = battery.formation(read(path).steps, half_cell=True).iloc[0]
    case, whose = "neware_uio.csv", "counters of the cycler"
    yield Check("formation", "first lithiation [A.h]", case, whose, into, made["First charge [A.h]"], 2e-6)
    yield Check("formation", "ICE", case, whose, out / into, made["ICE"], 1e-4)
    yield Check("formation", "slow cycles", case, "protocol: 3 at C/20, then C/5", 3, made["Cycles"], 0)


def self_discharge_made(_: Path) -> Iterator[Check]:
    """Thirty days between two full discharges, of which 1 % stays lost."""
    days = np.arange(0, 30.01, 0.1)
    steps = storage(30.0, 2.0, 1.9, 1.98)
    start = float(steps["Start time [s]"][steps["Step type"] == "Rest"].iloc[0])
    volts = 4.1 - 0.001 * days + 0.02 * np.exp(-days / 0.1)
    samples = pd.DataFrame({"Time [s]": start + 86400 * days, "Voltage [V]": volts})
    made = battery.self_discharge(steps, samples=samples, capacity_per_volt=1.2).iloc[0]
    case = "made: 30 d, 2.0 to 1.9 and 1.98 A.h, -1 mV/d"
    yield Check("self_discharge", "reversible [A.h]", case, "closed form", 0.08, made["Reversible [A.h]"], 1e-9)
    yield Check(
        "self_discharge", "irreversible [A.h]", case, "closed form", 0.02, made["Irreversible [A.h]"], 1e-9
    )
    yield Check("self_discharge", "slope [mV/d]", case, "closed form", -1.0, made["Voltage slope [mV/d]"], 1e-3)
    yield Check("self_discharge", "leak current [A]", case, "closed form", 5e-5, made["Leak current [A]"], 1e-7)


def calendar_made(_: Path) -> Iterator[Check]:
    """Storage whose loss follows the square root of time, and one that follows time."""
    days = np.array([0.0, 50, 100, 200, 300, 400])
    hot = pd.DataFrame(
        {"Storage time [d]": days, "Retention": 1 - 0.01 * np.sqrt(days), "Temperature [degC]": 45.0}
    )
    cold = pd.DataFrame({"Storage time [d]": days, "Retention": 1 - 1e-4 * days, "Temperature [degC]": 25.0})
    made = battery.calendar(pd.concat([hot, cold]))
    case = "made: 1 - 0.01 sqrt(d) at 45 degC, 1 - 1e-4 d at 25"
    ours = made["Root slope [d^-0.5]"][1], made["Root r2"][1], made["Linear slope [1/d]"][0], made["Linear r2"][0]
    yield Check("calendar", "root slope, 45 degC [d^-0.5]", case, "closed form", -0.01, ours[0], 1e-12)
    yield Check("calendar", "root r2, 45 degC", case, "closed form", 1.0, ours[1], 1e-12)
    yield Check("calendar", "linear slope, 25 degC [1/d]", case, "closed form", -1e-4, ours[2], 1e-14)
    yield Check("calendar", "linear r2, 25 degC", case, "closed form", 1.0, ours[3], 1e-12)


def _neware_counters(path: Path) -> pd.DataFrame:
    """What passed in each cycle by the counters of the file, which start at 0 in each step."""
    raw = pd.read_csv(path)
    step = (raw["Step Index"].diff() != 0).cumsum()
    most = raw.groupby(step)[["Chg. Cap.(Ah)", "DChg. Cap.(Ah)"]].max()
    return most.groupby(raw.groupby(step)["Cycle Index"].first()).sum()


def capacity_by_step_neware(shared: Path) -> Iterator[Check]:
    """A real half cell, against the counters in the file."""
    path = shared / UIO
    by_cycle = _neware_counters(path)
    made = battery.capacity_by_step(read(path).steps)
    for way, name in (("charge", "Chg. Cap.(Ah)"), ("discharge", "DChg. Cap.(Ah)")):
        off = float(np.abs(made[f"CC {way} capacity [A.h]"].to_numpy() - by_cycle[name].to_numpy()).max())
        whose = "counters of the cycler"
        yield Check(
            "capacity_by_step", f"CC {way}, largest difference [A.h]", "neware_uio.csv", whose, 0.0, off, 2e-6
        )


CASES = (
    Case("capacity_by_step, neware_uio", capacity_by_step_neware, (UIO,)),
    Case("capacity_by_step, PCH-02_rates", capacity_by_step_sums),
    Case("efficiency, made", efficiency_made),
    Case("efficiency, PCH-02_cycling", efficiency_cycling),
    Case("efficiency, Maccor", efficiency_maccor, (MACCOR,)),
    Case("retention, made", retention_made),
    Case("soh, made", soh_made),
    Case("formation, neware_uio", formation_neware, (UIO,)),
    Case("formation, Arbin", formation_arbin, (ARBIN,), programs=("mdb-export",)),
    Case("cycle_count, sample_data", cycle_counts, long=True),
    Case("rate_capability, exact", rate_capability_exact),
    Case("rate_capability, Maccor", rate_capability_maccor, (MACCOR_RATES,)),
    Case("rate_capability, BTS85", rate_capability_ndax, (NDAX,), ("fastnda",), long=True),
    Case("peukert, exact", peukert_exact),
    Case("peukert, PCH-02_rates", peukert_rates),
    Case("self_discharge, made", self_discharge_made),
    Case("calendar, made", calendar_made),
)
