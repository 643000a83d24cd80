"""The cells, what is done to them, and the files that come of it."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import driving
import exports
import numpy as np
import pandas as pd
import protocols
from channel import Cycler, Record, Sensors
from designs import LFP_AGEING, M50_ADDITIVE, M50_AGEING, POUCH_AGEING, lfp, m50, pouch
from impedance import circuit_of, fit, measure
from simulated_cell import Ageing, Cell, Design

CYCLES = 120
CHECK_EVERY = 40
ROOM = 25.0  # degC

Entry = dict[str, object]


@dataclass(frozen=True)
class Brand:
    """A cycler: the format and ending of its exports and what its sensors do to a signal."""

    name: str
    format: str
    ending: str
    check_ending: str
    sensors: Sensors
    delay: float = 0.0  # s from the start of a step to its first sample
    tick: float = 0.1  # s


NEWARE = Brand(
    "Neware BTS-4000 5V 12A", "neware_csv", ".csv.gz", ".csv.gz", Sensors(8e-5, 1e-4, 3e-4, 1e-4), tick=1.0
)
MACCOR = Brand("Maccor Series 4000", "maccor_txt", ".txt.gz", ".txt.gz", Sensors(6e-5, 1e-5 * 8, 2e-4, 1e-5), 0.05)
BDF = Brand("Basytec XCTS-25", "bdf", ".bdf.csv.gz", ".bdf.parquet", Sensors(4e-5, 1e-5, 2e-4, 1e-5))
BIOLOGIC = Brand("BioLogic BCS-805", "biologic_mpt", ".mpt.gz", ".mpt.gz", Sensors(3e-5, 1e-6, 1e-6, 1e-7))


@dataclass(frozen=True)
class Sample:
    """One cell of the fleet."""

    name: str
    specification: str
    batch: str | None
    design: Design
    ageing: Ageing
    temperature: float  # degC while ageing
    brand: Brand
    rates: protocols.Rates
    start: datetime
    size: float
    resistance_factor: float
    channel: int


@dataclass
class Harvest:
    """What has been made so far, as lists of the manifest."""

    folder: Path
    measurements: list[Entry] = field(default_factory=list)
    analyses: list[Entry] = field(default_factory=list)
    initial: dict[str, dict[str, float]] = field(default_factory=dict)


def noise(*key: object) -> np.random.Generator:
    """Random numbers that depend on the name of what they are for and on nothing else."""
    return np.random.default_rng(zlib.crc32("/".join(str(part) for part in key).encode()))


M50_RATES = protocols.Rates(charge=2.5, discharge=5.0, end=0.25, rated=5.0, low=2.5, high=4.2)
LFP_RATES = protocols.Rates(charge=2.5, discharge=2.5, end=0.125, rated=2.5, low=2.0, high=3.6)
POUCH_RATES = protocols.Rates(charge=0.025, discharge=0.05, end=0.0025, rated=0.05, low=2.8, high=4.2)


def fleet() -> list[Sample]:
    """Twelve cells in three batches, half of each at 25 and half at 45 degC, and two laboratory pouches."""
    batches: list[tuple[str, str, Design, Ageing, Brand, protocols.Rates, datetime]] = [
        ("A", "M50", m50(), M50_AGEING, NEWARE, M50_RATES, datetime(2024, 3, 4, 9, 12)),
        ("B", "M50", m50(), M50_ADDITIVE, MACCOR, M50_RATES, datetime(2024, 4, 8, 13, 40)),
        ("C", "LFP", lfp(), LFP_AGEING, BDF, LFP_RATES, datetime(2024, 5, 13, 8, 5)),
    ]
    names = {"M50": "SIM M50 21700", "LFP": "SIM LFP 26650"}
    samples = []
    for batch, kind, design, ageing, brand, rates, start in batches:
        for number in range(1, 5):
            name = f"{kind}-{batch}-{number:02d}"
            rng = noise("spread", name)
            size, resistance = 1 + 0.006 * rng.normal(), 1 + 0.03 * rng.normal()
            pace = 1 + 0.07 * rng.normal()
            worn = replace(
                ageing,
                sei=ageing.sei * pace,
                throughput_loss=ageing.throughput_loss * pace,
                loss_negative=ageing.loss_negative * (1 + 0.12 * rng.normal()),
            )
            if name == "M50-A-04":
                worn = replace(worn, knee=0.072, plating=0.0011)
            samples.append(
                Sample(
                    name,
                    names[kind],
                    batch,
                    design,
                    worn,
                    25.0 if number <= 2 else 45.0,
                    brand,
                    rates,
                    start + timedelta(minutes=7 * number),
                    size,
                    resistance,
                    number,
                )
            )
    for number in (1, 2):
        name = f"PCH-{number:02d}"
        rng = noise("spread", name)
        samples.append(
            Sample(
                name,
                "SIM NMC532 pouch",
                None,
                pouch(),
                POUCH_AGEING,
                25.0,
                BIOLOGIC,
                POUCH_RATES,
                datetime(2024, 6, 17, 10, 30 + number),
                1 + 0.008 * rng.normal(),
                1 + 0.05 * rng.normal(),
                number,
            )
        )
    return samples


def new_cell(sample: Sample) -> Cell:
    """The cell as it arrives: at 25 degC and three tenths full."""
    return Cell(sample.design, sample.ageing, ROOM, size=sample.size, resistance_factor=sample.resistance_factor)


def write(
    harvest: Harvest,
    sample: Sample,
    channel: Cycler,
    stem: str,
    *,
    check: bool = True,
    tags: list[str],
    protocol: Entry,
    temperature: float,
    notes: str = "",
) -> pd.DataFrame:
    """Write what a channel recorded as the export of the sample's cycler; returns the table as it was seen."""
    brand = sample.brand
    seen = brand.sensors.read(channel.table(), noise("sensor", stem))
    file = f"{brand.format.split('_')[0]}/{stem}{brand.check_ending if check else brand.ending}"
    path = harvest.folder / file
    if brand is NEWARE:
        exports.neware(path, seen)
    elif brand is MACCOR:
        exports.maccor(path, seen, procedure=f"{protocol['name']}.000", channel=sample.channel)
    elif brand is BDF:
        exports.bdf(path, seen)
    else:
        exports.biologic(path, seen, capacity=sample.design.rated)
    form = brand.format
    if brand is BDF:
        form = "bdf_parquet" if path.suffix == ".parquet" else "bdf_csv"
    harvest.measurements.append(
        {
            "file": file,
            "instance": sample.name,
            "name": stem,
            "format": form,
            "tags": tags,
            "protocol": {**protocol, "temperature": {"value": temperature, "unit": "degC"}},
            "test_setup": {
                "cycler": f"{brand.name} (simulated)",
                "channel": sample.channel,
                "temperature": {"value": temperature, "unit": "degC"},
            },
            "start_time": stamp(channel.start),
            "end_time": stamp(channel.clock),
            "rows": len(seen),
            "cycles": int(seen["cycle"].nunique()),
            "notes": notes,
        }
    )
    return seen


def stamp(moment: datetime) -> str:
    """ISO 8601 with zone; the cyclers' clocks are set to UTC."""
    return moment.isoformat(timespec="seconds") + "Z"


def age(harvest: Harvest, sample: Sample) -> dict[str, Cell]:
    """Check, 40 cycles, check ... up to 120 cycles. Returns copies of the cell as it was at each check."""
    cell = new_cell(sample)
    states: dict[str, Cell] = {}
    ledger: list[dict[str, float]] = []
    clock = sample.start
    main: Cycler | None = None
    for done in range(0, CYCLES + 1, CHECK_EVERY):
        clock = check(harvest, sample, cell, clock, done) + timedelta(hours=3)
        states[f"{done}"] = copy.deepcopy(cell)
        ledger.append(bookkeeping(cell, sample, done))
        if done == CYCLES:
            break
        if main is None:
            main = Cycler(cell, clock, tick=sample.brand.tick, delay=sample.brand.delay)
        main.pause_until(clock)
        for number in range(done + 1, done + CHECK_EVERY + 1):
            cell.ambient = chamber(sample, number)
            if sample.name == "M50-A-02" and number == 53:
                main.pause_until(main.clock + timedelta(hours=6, minutes=18))
            protocols.ageing_cycle(main, sample.rates)
        if sample.name == "LFP-C-03" and done + CHECK_EVERY == CYCLES:
            protocols.ageing_cycle(main, sample.rates, partial=1500.0)
        clock = main.clock + timedelta(hours=4)
        cell.ambient = ROOM
    assert main is not None
    rates = sample.rates
    write(
        harvest,
        sample,
        main,
        f"{sample.name}_ageing",
        check=False,
        tags=["ageing", f"{sample.temperature:.0f} degC"],
        protocol={
            "name": "CCCV ageing",
            "charge_c_rate": rates.charge / rates.rated,
            "discharge_c_rate": rates.discharge / rates.rated,
            "cycles": CYCLES,
        },
        temperature=sample.temperature,
        notes=NOTES.get(sample.name, ""),
    )
    if sample.name in ("M50-A-01", "M50-A-03", "M50-A-04", "LFP-C-03"):
        save_analysis(
            harvest,
            f"{sample.name}_degradation_modes",
            f"{sample.name}_RPT{CYCLES // CHECK_EVERY}",
            "lam_lli_from_rpt",
            pd.DataFrame(ledger),
            {"method": "the simulator's own ledger (exact, not fitted)", "reference": "RPT0"},
        )
    return states


NOTES = {
    "M50-A-02": "Power cut of about six hours before cycle 53: the date jumps, the test time does not.",
    "M50-A-04": "Fails early: lithium plating sets in after some 60 cycles and the capacity drops.",
    "M50-B-03": "Chamber fault: 33 degC instead of 45 degC in cycles 60 to 67.",
    "LFP-C-03": "Cycle 121 was stopped by hand in the middle of its discharge.",
}


def chamber(sample: Sample, cycle: int) -> float:
    """Temperature of the chamber in an ageing cycle, degC."""
    if sample.name == "M50-B-03" and 60 <= cycle <= 67:
        return 33.0
    return sample.temperature


def check(harvest: Harvest, sample: Sample, cell: Cell, clock: datetime, done: int) -> datetime:
    """A capacity check at 25 degC; returns when it ended."""
    channel = Cycler(cell, clock, tick=sample.brand.tick, delay=sample.brand.delay)
    cell.ambient = ROOM
    protocols.capacity_check(channel, sample.rates)
    stem = f"{sample.name}_RPT{done // CHECK_EVERY}"
    seen = write(
        harvest,
        sample,
        channel,
        stem,
        tags=["RPT", "capacity check"],
        protocol={
            "name": "RPT",
            "c_rate": 0.1,
            "ageing_cycles": done,
            "ageing_temperature": {"value": sample.temperature, "unit": "degC"},
        },
        temperature=ROOM,
    )
    if done == 0:
        pulse = seen[seen["step"] == 11]
        before = float(seen.loc[seen["step"] == 10, "voltage"].iloc[-1])
        harvest.initial[sample.name] = {
            "capacity": round(float(seen.loc[seen["step"] == 5, "discharge"].max()), 5),
            "resistance": round((before - float(pulse["voltage"].iloc[-1])) / sample.design.rated * 1e3, 3),
        }
    return channel.clock


def bookkeeping(cell: Cell, sample: Sample, done: int) -> dict[str, float]:
    """Losses since new, percent, from the state of the simulation."""
    new = new_cell(sample)
    lithium = cell.x_negative * cell.q_negative + cell.x_positive * cell.q_positive
    at_first = new.x_negative * new.q_negative + new.x_positive * new.q_positive
    return {
        "Ageing cycles": float(done),
        "LLI [%]": round(100 * (1 - lithium / at_first), 4),
        "LAM anode [%]": round(100 * (1 - cell.q_negative / new.q_negative), 4),
        "LAM cathode [%]": round(100 * (1 - cell.q_positive / new.q_positive), 4),
    }


def save_analysis(
    harvest: Harvest, name: str, measurement: str, kind: str, table: pd.DataFrame, metadata: Entry
) -> None:
    """Write an analysis table as csv and enter it; column names have their units in brackets."""
    file = f"analyses/{name}.csv"
    exports.write_text(harvest.folder / file, table.to_csv(index=False, lineterminator="\n"))
    columns = [
        {"name": column, "unit": column.split("[")[1].rstrip("]") if "[" in column else ""}
        for column in table.columns
    ]
    harvest.analyses.append(
        {
            "file": file,
            "measurement": measurement,
            "name": name,
            "analysis_type": kind,
            "columns": columns,
            "metadata": metadata,
        }
    )


def side_test(
    harvest: Harvest,
    sample: Sample,
    cell: Cell,
    begun: datetime,
    stem: str,
    plan: Callable[[Cycler], None],
    tags: list[str],
    protocol: Entry,
    notes: str = "",
) -> pd.DataFrame:
    """Run a plan on a copy of the cell, which therefore does not age by it."""
    twin = copy.deepcopy(cell)
    twin.ambient = ROOM
    channel = Cycler(twin, begun, tick=sample.brand.tick, delay=sample.brand.delay)
    plan(channel)
    return write(
        harvest, sample, channel, stem, check=False, tags=tags, protocol=protocol, temperature=ROOM, notes=notes
    )


def pulses(harvest: Harvest, sample: Sample, cell: Cell, begun: datetime, label: str, done: int) -> None:
    """A pulse test and the resistances that follow from it."""
    stem = f"{sample.name}_HPPC_{label}"
    seen = side_test(
        harvest,
        sample,
        cell,
        begun,
        stem,
        lambda c: protocols.pulse_test(c, sample.rates),
        ["HPPC", label],
        {"name": "HPPC", "c_rate": 1.0, "ageing_cycles": done},
    )
    runs = [group for _, group in seen.groupby("run", sort=True)]
    full = sum(float(run["discharge"].iloc[-1]) - float(run["charge"].iloc[-1]) for run in runs[3:])
    used, rows = 0.0, []
    for number, run in enumerate(runs):
        if run["step"].iloc[0] == 6:
            rested, recovered, back = runs[number - 1], runs[number + 1], runs[number + 2]
            rest = float(rested["voltage"].iloc[-1])
            out, into = float(run["current"].mean()), float(back["current"].mean())
            rows.append(
                {
                    "SOC": round(1 - used / full, 4),
                    "Rest voltage [V]": round(rest, 5),
                    "Discharge resistance 0 s [mOhm]": round((rest - run["voltage"].iloc[0]) / out * 1e3, 3),
                    "Discharge resistance 10 s [mOhm]": round((rest - run["voltage"].iloc[-1]) / out * 1e3, 3),
                    "Charge resistance 10 s [mOhm]": round(
                        (recovered["voltage"].iloc[-1] - back["voltage"].iloc[-1]) / into * 1e3, 3
                    ),
                }
            )
        if number >= 3:
            used += float(run["discharge"].iloc[-1]) - float(run["charge"].iloc[-1])
    save_analysis(
        harvest,
        f"{stem}_dcir",
        stem,
        "dcir_from_hppc",
        pd.DataFrame(rows),
        {"pulse": {"value": 10, "unit": "s"}, "ageing_cycles": done},
    )


def impedance(harvest: Harvest, sample: Sample, cell: Cell, begun: datetime, label: str, done: int) -> None:
    """Spectra at five states of charge, from 90 % down, and the circuit fitted to each."""
    twin = copy.deepcopy(cell)
    twin.ambient = ROOM
    rates, stem = sample.rates, f"{sample.name}_EIS_{label}"
    rng = noise("impedance", stem)
    channel = Cycler(twin, begun)
    channel.cc(1, -rates.rated / 3, protocols.SPARSE, until=rates.high)
    channel.cv(2, rates.high, rates.rated / 50, protocols.SPARSE)
    capacity = harvest.initial[sample.name]["capacity"] if done == 0 else slow_capacity(twin, rates)
    spectra, rows, origin = [], [], 0.0
    for loop, charge in enumerate((0.9, 0.7, 0.5, 0.3, 0.1), start=1):
        share = 0.1 if loop == 1 else 0.2
        channel.cc(
            3,
            rates.rated / 3,
            protocols.SPARSE,
            until=rates.low,
            seconds=round(share * capacity / (rates.rated / 3) * 3600.0),
        )
        channel.rest(4, 7200.0, protocols.RESTING)
        circuit = circuit_of(twin)
        spectrum = measure(circuit, rng)
        took = np.cumsum(3.0 / spectrum["frequency"] + 0.6)
        if loop == 1:
            origin = channel.time
        spectra.append(
            spectrum.assign(loop=loop, time=channel.time - origin + took, voltage=round(twin.voltage(0.0), 5))
        )
        values, error = fit(spectrum, circuit)
        rows.append(
            {
                "Cycle": float(loop),
                "SOC": charge,
                "Voltage [V]": round(twin.voltage(0.0), 4),
                "R0 [mOhm]": round(values["R0"] * 1e3, 4),
                "R1 [mOhm]": round(values["R1"] * 1e3, 4),
                "R2 [mOhm]": round(values["R2"] * 1e3, 4),
                "Q1 [F.s^(a1-1)]": round(values["Q1"], 5),
                "a1": round(values["a1"], 4),
                "Q2 [F.s^(a2-1)]": round(values["Q2"], 5),
                "a2": round(values["a2"], 4),
                "RW [mOhm]": round(values["RW"] * 1e3, 4),
                "TW [s]": round(values["TW"], 2),
                "Relative rms error": round(error, 5),
            }
        )
    file = f"biologic/{stem}.mpt"
    table = pd.concat(spectra, ignore_index=True)
    first = begun + timedelta(seconds=origin)
    exports.biologic_impedance(harvest.folder / file, table, begun=first, capacity=sample.design.rated)
    harvest.measurements.append(
        {
            "file": file,
            "instance": sample.name,
            "name": stem,
            "format": "biologic_mpt",
            "tags": ["EIS", label],
            "protocol": {
                "name": "PEIS",
                "ageing_cycles": done,
                "soc": [0.9, 0.7, 0.5, 0.3, 0.1],
                "frequency_min": {"value": 0.01, "unit": "Hz"},
                "frequency_max": {"value": 10_000.0, "unit": "Hz"},
                "temperature": {"value": ROOM, "unit": "degC"},
            },
            "test_setup": {
                "cycler": "BioLogic VMP-300 (simulated)",
                "channel": 3,
                "temperature": {"value": ROOM, "unit": "degC"},
            },
            "start_time": stamp(first),
            "end_time": stamp(first + timedelta(seconds=float(table["time"].iloc[-1]))),
            "rows": len(table),
            "cycles": 5,
            "notes": "Loops 1 to 5 (cycle number): 90, 70, 50, 30, 10 % of charge, each after two hours of rest.",
        }
    )
    save_analysis(
        harvest,
        f"{stem}_circuit",
        stem,
        "ecm_from_eis",
        pd.DataFrame(rows),
        {"circuit": "L + R0 + (R1 | Q1) + (R2 | Q2) + finite-length Warburg (RW, TW)", "ageing_cycles": done},
    )


def slow_capacity(cell: Cell, rates: protocols.Rates) -> float:
    """C/10 discharge capacity of a full cell, A.h, tried on a copy."""
    channel = Cycler(copy.deepcopy(cell), datetime(2024, 1, 1))
    channel.cc(1, rates.rated / 10, protocols.SLOW, until=rates.low)
    return float(channel.table()["discharge"].max())


def drive(
    harvest: Harvest, sample: Sample, cell: Cell, begun: datetime, name: str, amperes: driving.Floats
) -> None:
    """Full charge, an hour of rest, one drive cycle."""
    rates = sample.rates

    def plan(channel: Cycler) -> None:
        channel.cc(1, -rates.rated / 3, protocols.SPARSE, until=rates.high)
        channel.cv(2, rates.high, rates.rated / 50, protocols.SPARSE)
        channel.rest(3, 3600.0, protocols.RESTING)
        channel.cc(4, rates.rated / 3, protocols.SPARSE, seconds=2160.0)
        channel.rest(5, 3600.0, protocols.RESTING)
        channel.profile(6, range(len(amperes)), amperes.tolist())
        channel.rest(7, 600.0, Record(30.0, 0.005))

    side_test(
        harvest,
        sample,
        cell,
        begun,
        f"{sample.name}_drive_{name}",
        plan,
        ["drive cycle", "validation"],
        {"name": f"drive cycle {name}", "ageing_cycles": 0, "initial_soc": 0.8},
    )


def laboratory(harvest: Harvest, samples: dict[str, Sample]) -> None:
    """The two pouches: slow cycle, titration, impedance on the first, rates and a few cycles on the second."""
    first, second = samples["PCH-01"], samples["PCH-02"]
    cell = new_cell(first)
    begun = first.start
    slow = side_test(
        harvest,
        first,
        cell,
        begun,
        "PCH-01_C20",
        lambda c: protocols.slow_cycle(c, first.rates),
        ["OCV", "slow cycle"],
        {"name": "C/20 cycle", "c_rate": 0.05},
    )
    harvest.initial["PCH-01"] = {"capacity": round(float(slow.loc[slow["step"] == 4, "discharge"].max()), 6)}
    side_test(
        harvest,
        first,
        cell,
        begun + timedelta(days=3),
        "PCH-01_GITT",
        lambda c: protocols.titration(c, first.rates),
        ["GITT"],
        {"name": "GITT", "c_rate": 0.1},
    )
    impedance(harvest, first, cell, begun + timedelta(days=8), "fresh", 0)

    cell = new_cell(second)
    channel = Cycler(cell, second.start, tick=second.brand.tick)
    protocols.rate_test(channel, second.rates, (0.2, 0.5, 1.0, 2.0, 3.0))
    seen = write(
        harvest,
        second,
        channel,
        "PCH-02_rates",
        check=False,
        tags=["rate test"],
        protocol={"name": "rate test", "c_rates": "0.2 0.5 1 2 3"},
        temperature=ROOM,
    )
    harvest.initial["PCH-02"] = {"capacity": round(float(seen.loc[seen["step"] == 4, "discharge"].max()), 6)}
    channel = Cycler(cell, channel.clock + timedelta(hours=2), tick=second.brand.tick)
    for _ in range(30):
        protocols.ageing_cycle(channel, second.rates)
    protocols.ageing_cycle(channel, second.rates, partial=1200.0)
    write(
        harvest,
        second,
        channel,
        "PCH-02_cycling",
        check=False,
        tags=["cycling", "25 degC"],
        protocol={"name": "CCCV ageing", "charge_c_rate": 0.5, "discharge_c_rate": 1.0},
        temperature=ROOM,
        notes="Still running when exported: the last cycle is partial.",
    )
