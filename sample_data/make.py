"""Make the sample data: `python sample_data/make.py`. Needs pybamm, pandas, pyarrow, scipy; about a minute.

Everything is seeded by name: two runs give the same bytes (with the same versions of the libraries).
"""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import driving
import fleet
import models
from designs import lfp, m50, pouch
from exports import write_text

HERE = Path(__file__).parent
FOLDERS = ("neware", "maccor", "bdf", "biologic", "simulations", "materials", "drive_cycles", "analyses")


def quantity(value: float, unit: str) -> dict[str, object]:
    """A value with its unit."""
    return {"value": value, "unit": unit}


def specifications() -> list[fleet.Entry]:
    """The three cell specifications."""
    common = {"manufacturer": "simulated"}
    licence = {
        "license": "MIT",
        "creator_name": "The Battery Workbench developers",
        "publication_date": "2026-11-21",
    }
    return [
        {
            "name": "SIM M50 21700",
            **common,
            "form_factor": "21700",
            "ratings": {
                "capacity": quantity(5.0, "A.h"),
                "voltage_min": quantity(2.5, "V"),
                "voltage_max": quantity(4.2, "V"),
                "nominal_voltage": quantity(3.63, "V"),
                "energy": quantity(18.2, "W.h"),
                "max_discharge_rate": quantity(10.0, "A"),
                "max_charge_rate": quantity(3.5, "A"),
            },
            "properties": {
                "mass": quantity(69.0, "g"),
                "diameter": quantity(21.1, "mm"),
                "height": quantity(70.2, "mm"),
                "electrode_area": quantity(1027.0, "cm2"),
            },
            "components": {"anode": "Graphite-SiOx (M50)", "cathode": "NMC811 (M50)"},
            "source": {
                **licence,
                "doi": "10.1149/1945-7111/ab9050",
                "citation": "Open-circuit potentials: Chen et al., J. Electrochem. Soc. 167 (2020) 080534",
            },
            "notes": "A simulated 5 Ah cell in the manner of the LG M50.",
        },
        {
            "name": "SIM LFP 26650",
            **common,
            "form_factor": "26650",
            "ratings": {
                "capacity": quantity(2.5, "A.h"),
                "voltage_min": quantity(2.0, "V"),
                "voltage_max": quantity(3.6, "V"),
                "nominal_voltage": quantity(3.3, "V"),
                "energy": quantity(8.25, "W.h"),
                "max_discharge_rate": quantity(25.0, "A"),
                "max_charge_rate": quantity(5.0, "A"),
            },
            "properties": {
                "mass": quantity(76.0, "g"),
                "diameter": quantity(25.9, "mm"),
                "height": quantity(65.2, "mm"),
                "electrode_area": quantity(1800.0, "cm2"),
            },
            "components": {"anode": "Graphite (LFP cell)", "cathode": "LFP"},
            "source": {
                **licence,
                "doi": "10.48550/arXiv.1709.03970",
                "citation": "Open-circuit potentials: Afshar et al. (2017) for LFP; Ecker et al., "
                "J. Electrochem. Soc. 162 (2015) A1836 for graphite",
            },
            "notes": "A simulated 2.5 Ah power cell.",
        },
        {
            "name": "SIM NMC532 pouch",
            **common,
            "form_factor": "pouch",
            "ratings": {
                "capacity": quantity(0.05, "A.h"),
                "voltage_min": quantity(2.8, "V"),
                "voltage_max": quantity(4.2, "V"),
                "nominal_voltage": quantity(3.7, "V"),
            },
            "properties": {
                "mass": quantity(3.1, "g"),
                "electrode_area": quantity(20.5, "cm2"),
                "layers": quantity(1, "1"),
            },
            "components": {"anode": "Graphite (pouch)", "cathode": "NMC532"},
            "source": {**licence, "citation": "Open-circuit potentials: parameter set Mohtat2020 of PyBaMM"},
            "notes": "A simulated single-layer laboratory pouch.",
        },
    ]


def batches() -> list[fleet.Entry]:
    """The three batches."""
    return [
        {
            "name": "A",
            "specification": "SIM M50 21700",
            "date_manufactured": "2023-11-20",
            "notes": "Baseline electrolyte.",
        },
        {
            "name": "B",
            "specification": "SIM M50 21700",
            "date_manufactured": "2024-02-05",
            "notes": "Same design, with a film-forming additive in the electrolyte: slower film growth.",
        },
        {"name": "C", "specification": "SIM LFP 26650", "date_manufactured": "2024-01-15", "notes": "Power cell."},
    ]


def instances(samples: list[fleet.Sample], harvest: fleet.Harvest) -> list[fleet.Entry]:
    """The cells, with what their first check found."""
    made = {batch["name"]: batch["date_manufactured"] for batch in batches()}
    entries: list[fleet.Entry] = []
    for sample in samples:
        first = harvest.initial[sample.name]
        properties: dict[str, object] = {
            "ageing_temperature": quantity(sample.temperature, "degC"),
            "initial_capacity": quantity(first["capacity"], "A.h"),
            "electrolyte": {"A": "baseline", "B": "additive", "C": "baseline"}.get(
                sample.batch or "", "laboratory"
            ),
        }
        if "resistance" in first:
            properties["initial_resistance"] = quantity(first["resistance"], "mOhm")
        entries.append(
            {
                "name": sample.name,
                "specification": sample.specification,
                "batch": sample.batch,
                "date_manufactured": made.get(sample.batch or "", "2024-06-03"),
                "properties": properties,
                "notes": fleet.NOTES.get(sample.name, ""),
            }
        )
    return entries


def materials(harvest: fleet.Harvest) -> tuple[list[fleet.Entry], list[fleet.Entry]]:
    """Electrode materials and cells with their open-circuit tables."""
    chosen = {"M50": m50(), "LFP": lfp(), "PCH": pouch()}
    names = {
        "M50": ("Graphite-SiOx (M50)", "NMC811 (M50)", "M50 full cell"),
        "LFP": ("Graphite (LFP cell)", "LFP", "LFP full cell"),
        "PCH": ("Graphite (pouch)", "NMC532", "NMC532 pouch full cell"),
    }
    kinds: list[fleet.Entry] = []
    sets: list[fleet.Entry] = []
    for key, design in chosen.items():
        tables = (
            ("anode_ocp", models.half_cell(design, "negative"), "Anode open-circuit potential"),
            ("cathode_ocp", models.half_cell(design, "positive"), "Cathode open-circuit potential"),
            ("full_ocv", models.full_cell(design), "Full-cell open-circuit voltage"),
        )
        for material, (ending, table, title) in zip(names[key], tables, strict=True):
            file = f"materials/{key}_{ending}.csv"
            write_text(HERE / file, table.to_csv(index=False, lineterminator="\n"))
            kinds.append({"name": material, "manufacturer": "simulated", "product_id": f"SIM-{key}-{ending}"})
            sets.append(
                {
                    "file": file,
                    "material": material,
                    "name": f"{title} ({key})",
                    "columns": [
                        {"name": column, "unit": "V" if "[V]" in column else ""} for column in table.columns
                    ],
                }
            )
    return kinds, sets


MODELS: list[fleet.Entry] = [
    {
        "name": "M50 DFN (Chen 2020)",
        "chemistry": "lithium_ion",
        "description": "Doyle-Fuller-Newman model of PyBaMM with published parameters; not fitted to these cells.",
        "config": {"type": "DFN", "thermal": "lumped", "parameter_set": "Chen2020", "library": "pybamm"},
    },
    {
        "name": "LFP SPM (nominal)",
        "chemistry": "lithium_ion",
        "description": "Single-particle model with lumped electrolyte and heat, nominal parameters, no ageing.",
        "config": {
            "type": "SPM with lumped electrolyte",
            "source": "sample_data/simulated_cell.py",
            "design": "lfp",
        },
    },
    {
        "name": "Pouch SPM (nominal)",
        "chemistry": "lithium_ion",
        "description": "Single-particle model with lumped electrolyte and heat, nominal parameters, no ageing.",
        "config": {
            "type": "SPM with lumped electrolyte",
            "source": "sample_data/simulated_cell.py",
            "design": "pouch",
        },
    },
]


def simulations(urban: driving.Floats) -> list[fleet.Entry]:
    """Simulations with their step tables."""
    belongs = {
        "M50_DFN_C10": ("M50-A-01_RPT0", "C/10 discharge, rest, C/10 charge"),
        "M50_DFN_1C": ("M50-A-01_ageing", "1C discharge and rest"),
        "M50_DFN_drive_urban": ("M50-A-02_drive_urban", "urban drive cycle from 80 % state of charge"),
        "LFP_SPM_C10": ("LFP-C-01_RPT0", "C/10 discharge, rest, C/10 charge"),
        "LFP_SPM_1C": ("LFP-C-01_ageing", "1C discharge and rest"),
        "PCH_SPM_C10": ("PCH-01_C20", "C/10 discharge, rest, C/10 charge"),
        "PCH_SPM_1C": ("PCH-02_rates", "1C discharge and rest"),
    }
    whose = {
        "M50": ("M50 DFN (Chen 2020)", "SIM M50 21700"),
        "LFP": ("LFP SPM (nominal)", "SIM LFP 26650"),
        "PCH": ("Pouch SPM (nominal)", "SIM NMC532 pouch"),
    }
    entries: list[fleet.Entry] = []
    for name, frame in models.simulations({"LFP": lfp(), "PCH": pouch()}, urban).items():
        file, steps = f"simulations/{name}.parquet", f"simulations/{name}.steps.parquet"
        models.save(HERE / file, frame)
        models.save(HERE / steps, models.steps(frame))
        measurement, protocol = belongs[name]
        model, specification = whose[name[:3]]
        entries.append(
            {
                "file": file,
                "steps": steps,
                "name": name,
                "model": model,
                "specification": specification,
                "of_measurement": measurement,
                "study": "Model validation",
                "protocol": protocol,
                "rows": len(frame),
            }
        )
    return entries


def studies(harvest: fleet.Harvest) -> list[fleet.Entry]:
    """Studies and the measurements that belong to them."""
    names = [str(entry["name"]) for entry in harvest.measurements]
    validated = [
        "M50-A-01_RPT0",
        "M50-A-01_ageing",
        "M50-A-02_drive_urban",
        "LFP-C-01_RPT0",
        "LFP-C-01_ageing",
        "PCH-01_C20",
        "PCH-02_rates",
    ]
    return [
        {
            "name": "Ageing at 25 and 45 degC",
            "description": "120 cycles of twelve cells with a check every 40 cycles.",
            "measurements": [name for name in names if name.endswith("_ageing") or "_RPT" in name],
        },
        {
            "name": "Resistance and impedance",
            "description": "Pulse tests and spectra of fresh and aged cells.",
            "measurements": [name for name in names if "_HPPC_" in name or "_EIS_" in name or "GITT" in name],
        },
        {
            "name": "Model validation",
            "description": "Simulations beside the measurements they describe.",
            "measurements": validated,
        },
    ]


def main() -> None:
    """Make every file and the manifest."""
    for folder in FOLDERS:
        shutil.rmtree(HERE / folder, ignore_errors=True)
    harvest = fleet.Harvest(HERE)
    samples = fleet.fleet()
    by_name = {sample.name: sample for sample in samples}

    cycles = {
        "urban": driving.current(driving.speed(driving.URBAN, fleet.noise("drive", "urban"))),
        "highway": driving.current(driving.speed(driving.HIGHWAY, fleet.noise("drive", "highway"))),
    }
    for name, amperes in cycles.items():
        driving.write(HERE / f"drive_cycles/{name}.csv", amperes)

    states = {}
    for sample in samples:
        if sample.batch is not None:
            print(sample.name)
            states[sample.name] = fleet.age(harvest, sample)
    late = timedelta(days=45)
    for name, label, done in (
        ("M50-A-01", "fresh", 0),
        ("M50-A-01", "aged", 120),
        ("M50-A-03", "aged", 120),
        ("LFP-C-01", "fresh", 0),
        ("LFP-C-03", "aged", 120),
    ):
        sample, cell = by_name[name], states[name][str(done)]
        begun = sample.start + (late if done else -timedelta(days=9))
        fleet.pulses(harvest, sample, cell, begun, label, done)
        fleet.impedance(harvest, sample, cell, begun + timedelta(days=3), label, done)
    sample = by_name["M50-A-02"]
    for number, (name, amperes) in enumerate(cycles.items()):
        begun = sample.start - timedelta(days=6 - 2 * number)
        fleet.drive(harvest, sample, states["M50-A-02"]["0"], begun, name, amperes)
    fleet.laboratory(harvest, by_name)

    kinds, property_sets = materials(harvest)
    manifest = {
        "specifications": specifications(),
        "batches": batches(),
        "instances": instances(samples, harvest),
        "measurements": harvest.measurements,
        "materials": kinds,
        "material_properties": property_sets,
        "models": MODELS,
        "simulations": simulations(cycles["urban"]),
        "studies": studies(harvest),
        "drive_cycles": [
            {
                "file": f"drive_cycles/{name}.csv",
                "name": f"{name}.csv",
                "notes": "Time in s, current of one 5 Ah cell in A, positive = discharge.",
            }
            for name in cycles
        ],
        "analyses": harvest.analyses,
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    (HERE / "manifest.json").write_text(text + "\n", encoding="utf-8")
    total = sum(
        path.stat().st_size for path in HERE.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    print(f"{len(harvest.measurements)} measurements, {total / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
