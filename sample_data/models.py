"""Simulations to lay over the measurements, and open-circuit tables.

The M50 is simulated by PyBaMM's DFN with the published parameters of Chen et al. 2020, which is another model than
the one behind the "measurements": the two differ as model and measurement do. The LFP cell and the pouch are
simulated by the model of `simulated_cell.py` itself, with nominal parameters, no spread, no ageing and no noise.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import driving
import numpy as np
import pandas as pd
import protocols
from channel import Cycler, Record
from fleet import LFP_RATES, POUCH_RATES
from simulated_cell import Ageing, Cell, Design

os.environ["PYBAMM_DISABLE_TELEMETRY"] = "true"
import pybamm

FRESH = Ageing(
    sei=1e-9,
    sei_energy=0.0,
    throughput_loss=0.0,
    loss_negative=0.0,
    loss_positive=0.0,
    loss_energy=0.0,
    resistance_per_loss=0.0,
)


def dfn(instructions: list[str], *, soc: float = 1.0, amperes: driving.Floats | None = None) -> pd.DataFrame:
    """PyBaMM's DFN of the M50 at 25 degC under a protocol, or under a current given every second (A)."""
    values = pybamm.ParameterValues("Chen2020")
    model = pybamm.lithium_ion.DFN({"thermal": "lumped"})
    solver = pybamm.IDAKLUSolver(rtol=1e-6, atol=1e-6)
    if amperes is None:
        simulation = pybamm.Simulation(
            model, experiment=pybamm.Experiment(instructions), parameter_values=values, solver=solver
        )
        solution = simulation.solve(initial_soc=soc)
        parts = [cycle.steps[0] for cycle in solution.cycles]
    else:
        seconds = np.arange(amperes.size, dtype=float)
        values["Current function [A]"] = pybamm.Interpolant(seconds, amperes, pybamm.t)
        simulation = pybamm.Simulation(model, parameter_values=values, solver=solver)
        parts = [simulation.solve([0.0, seconds[-1]], t_interp=seconds[::2], initial_soc=soc)]
    frames = []
    for number, part in enumerate(parts):
        frames.append(
            pd.DataFrame(
                {
                    "Time [s]": part["Time [s]"].entries,
                    "Step count": number,
                    "Current [A]": part["Current [A]"].entries,
                    "Voltage [V]": part["Voltage [V]"].entries,
                    "Temperature [degC]": part["Volume-averaged cell temperature [C]"].entries,
                }
            )
        )
    return counted(pd.concat(frames, ignore_index=True))


def own(design: Design, plan: Callable[[Cycler], None]) -> pd.DataFrame:
    """The model of the fleet itself with nominal parameters under a plan, at 25 degC, charged as in the tests."""
    cell = Cell(design, FRESH, 25.0)
    charger = Cycler(cell, datetime(2024, 1, 1))
    charger.cc(1, -design.rated / 3, protocols.SPARSE, until=design.voltage_max)
    charger.cv(2, design.voltage_max, design.rated / 50, protocols.SPARSE)
    charger.rest(3, 3600.0, protocols.RESTING)
    channel = Cycler(cell, datetime(2024, 1, 1))
    plan(channel)
    table = channel.table()
    return counted(
        pd.DataFrame(
            {
                "Time [s]": table["time"],
                "Step count": table["run"],
                "Current [A]": table["current"],
                "Voltage [V]": table["voltage"],
                "Temperature [degC]": table["temperature"],
            }
        )
    )


def counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Add charge (A.h) and energy (W.h) since the start of each step; round off what depends on the solver."""
    out = frame.copy()
    out["Time [s]"] = (out["Time [s]"] - out["Time [s]"].iloc[0]).round(3)
    out["Step count"] = out["Step count"].astype("int64")
    out["Current [A]"] = out["Current [A]"].round(6) + 0.0
    out["Voltage [V]"] = out["Voltage [V]"].round(5)
    out["Temperature [degC]"] = out["Temperature [degC]"].round(3)
    hours = out["Time [s]"].diff().fillna(0.0) / 3600.0
    inside = (out["Step count"].diff() == 0).astype(float)
    for name, sign in (("Discharge", 1.0), ("Charge", -1.0)):
        flow = (sign * out["Current [A]"]).clip(lower=0.0)
        for quantity, unit, values in (("capacity", "A.h", flow), ("energy", "W.h", flow * out["Voltage [V]"])):
            moved = (values + values.shift(fill_value=0.0)) / 2 * hours * inside
            out[f"{name} {quantity} [{unit}]"] = moved.groupby(out["Step count"]).cumsum().round(7)
    return out


def steps(frame: pd.DataFrame) -> pd.DataFrame:
    """The step table of a simulation: one row per step, named as in the workbench."""
    rows = []
    for number, group in frame.groupby("Step count", sort=True):
        volts, flow = group["Voltage [V]"], group["Current [A]"]
        rows.append(
            {
                "Step count": int(str(number)),
                "Start index": int(group.index[0]),
                "End index": int(group.index[-1]),
                "Start time [s]": group["Time [s]"].iloc[0],
                "End time [s]": group["Time [s]"].iloc[-1],
                "Duration [s]": group["Time [s]"].iloc[-1] - group["Time [s]"].iloc[0],
                "Start voltage [V]": volts.iloc[0],
                "End voltage [V]": volts.iloc[-1],
                "Min voltage [V]": volts.min(),
                "Max voltage [V]": volts.max(),
                "Mean voltage [V]": round(float(volts.mean()), 7),
                "Min current [A]": flow.min(),
                "Max current [A]": flow.max(),
                "Mean current [A]": round(float(flow.mean()), 7),
                "Discharge capacity [A.h]": group["Discharge capacity [A.h]"].iloc[-1],
                "Charge capacity [A.h]": group["Charge capacity [A.h]"].iloc[-1],
                "Discharge energy [W.h]": group["Discharge energy [W.h]"].iloc[-1],
                "Charge energy [W.h]": group["Charge energy [W.h]"].iloc[-1],
                "Cycle count": 0,
            }
        )
    return pd.DataFrame(rows)


def slow_plan(rates: protocols.Rates) -> Callable[[Cycler], None]:
    """C/10 discharge from full, an hour of rest, C/10 charge."""

    def plan(channel: Cycler) -> None:
        fine = Record(120.0, 0.01)
        channel.cc(1, rates.rated / 10, fine, until=rates.low)
        channel.rest(2, 3600.0, protocols.RESTING)
        channel.cc(3, -rates.rated / 10, fine, until=rates.high)

    return plan


def fast_plan(rates: protocols.Rates) -> Callable[[Cycler], None]:
    """1C discharge from full and ten minutes of rest."""

    def plan(channel: Cycler) -> None:
        channel.cc(1, rates.rated, Record(20.0, 0.01), until=rates.low)
        channel.rest(2, 600.0, Record(60.0, 0.01))

    return plan


def simulations(designs: dict[str, Design], urban: driving.Floats) -> dict[str, pd.DataFrame]:
    """All simulations by name."""
    slow = [
        "Discharge at C/10 until 2.5 V (4 minute period)",
        "Rest for 1 hour (10 minute period)",
        "Charge at C/10 until 4.2 V (4 minute period)",
    ]
    fast = ["Discharge at 1C until 2.5 V (20 second period)", "Rest for 10 minutes (1 minute period)"]
    return {
        "M50_DFN_C10": dfn(slow),
        "M50_DFN_1C": dfn(fast),
        "M50_DFN_drive_urban": dfn([], soc=0.8, amperes=urban),
        "LFP_SPM_C10": own(designs["LFP"], slow_plan(LFP_RATES)),
        "LFP_SPM_1C": own(designs["LFP"], fast_plan(LFP_RATES)),
        "PCH_SPM_C10": own(designs["PCH"], slow_plan(POUCH_RATES)),
        "PCH_SPM_1C": own(designs["PCH"], fast_plan(POUCH_RATES)),
    }


def half_cell(design: Design, side: str) -> pd.DataFrame:
    """Open-circuit potential of an electrode over stoichiometry: 251 rows, V against Li/Li+."""
    electrode = design.negative if side == "negative" else design.positive
    low, high = sorted((electrode.empty, electrode.full))
    grid = np.linspace(max(low - 0.01, 0.001), min(high + 0.04, 0.999), 251)
    return pd.DataFrame(
        {"Stoichiometry": grid.round(5), "Voltage [V]": [round(electrode.potential(float(x)), 5) for x in grid]}
    )


def full_cell(design: Design) -> pd.DataFrame:
    """Open-circuit voltage of the cell and both electrode potentials over state of charge: 201 rows, V."""
    rows = []
    for charge in np.linspace(0.0, 1.0, 201):
        negative, positive = (
            electrode.potential(electrode.empty + charge * (electrode.full - electrode.empty))
            for electrode in (design.negative, design.positive)
        )
        rows.append(
            {
                "SOC": round(float(charge), 4),
                "Voltage [V]": round(positive - negative, 5),
                "Cathode potential [V]": round(positive, 5),
                "Anode potential [V]": round(negative, 5),
            }
        )
    return pd.DataFrame(rows)


def save(path: Path, frame: pd.DataFrame) -> None:
    """Write a parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(path, compression="zstd", index=False)
