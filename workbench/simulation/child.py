"""The process that simulates: it reads a job from its folder, and writes what PyBaMM answers into it.

It is run as a file. It imports PyBaMM and numpy and nothing of the workbench, so that the notebook stays as it is.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING or __name__ == "__main__":  # an import of this file as a module needs no PyBaMM
    import pybamm

TIME, CURRENT, VOLTAGE = "Time [s]", "Current [A]", "Voltage [V]"
TEMPERATURE = "Temperature [degC]"
_KELVIN = 273.15
_BEYOND = 1e-3
"""Volts beyond a limit that a step may end with, because of the tolerance of the solver."""
_CELL_TEMPERATURE = "Volume-averaged cell temperature [K]"


class Refused(Exception):
    """A job that PyBaMM cannot do; the text says why, for people."""


def parameters_of(job: dict[str, pybamm.Value]) -> pybamm.ParameterValues:
    given = job["parameters"]
    if isinstance(given, dict):
        try:
            return pybamm.ParameterValues.create_from_bpx_obj(given)
        except Exception as error:
            # PyBaMM raises errors of many kinds for a wrong input; each becomes a sentence.
            raise Refused(f"The BPX parameters cannot be used: {first_words(error)}") from error
    if given not in list(pybamm.parameter_sets):
        raise Refused(f"unknown set: {json.dumps(sorted(pybamm.parameter_sets))}")
    return pybamm.ParameterValues(given)


def model_of(job: dict[str, pybamm.Value]) -> pybamm.BaseModel:
    thermal = {"thermal": "lumped"} if job["thermal"] else {}
    return getattr(pybamm.lithium_ion, job["model"])(thermal)


def first_words(error: BaseException) -> str:
    """The first sentence of an error of PyBaMM; the rest is a traceback or a list of all examples."""
    text = str(error).strip().strip("'\"") or type(error).__name__
    return re.split(r"\n\s*\n|\n", text)[0][:400]


def parts_of(solution: pybamm.Solution) -> list[pybamm.Solution | None]:
    """The solution of each step of the protocol that was come to; None for one that PyBaMM left out."""
    steps = [step for cycle in solution.cycles if cycle for step in cycle.steps]
    return [None if isinstance(step, pybamm.EmptySolution) else step for step in steps]


def steps_of(parts: list[pybamm.Solution | None]) -> np.ndarray:
    """The number of the step of each row: the rows of a solution are those of its steps, one after the other."""
    return np.repeat(np.arange(len(parts)), [len(part[TIME].entries) if part else 0 for part in parts])


def note_steps(parts: list[pybamm.Solution | None], protocol: list[str], notes: list[str]) -> None:
    """Note which steps of a protocol are not there, or not in whole."""
    for number, part in enumerate(parts):
        words = f"Step {number} '{protocol[number]}'"
        if part is None:
            notes.append(f"{words} was left out: a limit of it is reached at once.")
            continue
        kind, _, event = str(part.termination).partition(": ")
        if kind == "event" and not event.endswith("[experiment]"):
            seconds = float(part.t[-1] - part.t[0])
            notes.append(
                f"{words} ends after {seconds:.6g} s, before it is done: the model reached its '{event}'."
            )
    if len(parts) < len(protocol):
        notes.append(f"Only {len(parts)} of {len(protocol)} steps were simulated: the next one is not possible.")


def note_voltages(values: pybamm.ParameterValues, volts: np.ndarray, notes: list[str]) -> None:
    """Note where a protocol goes beyond the voltages that the parameters are meant for: only its own words stop it."""
    low, high = float(values["Lower voltage cut-off [V]"]), float(values["Upper voltage cut-off [V]"])
    least, most = float(volts.min()), float(volts.max())
    if least < low - _BEYOND or most > high + _BEYOND:
        notes.append(
            f"The voltage goes from {least:.4g} to {most:.4g} V, beyond the limits of the parameters, {low:.4g} to "
            f"{high:.4g} V. A step stops at a voltage that it names: 'Discharge at 1C until {low:.4g} V'."
        )


def rows_of(solution: pybamm.Solution) -> dict[str, np.ndarray]:
    rows = {name: np.asarray(solution[name].entries, float) for name in (TIME, CURRENT, VOLTAGE)}
    rows[TEMPERATURE] = np.asarray(solution[_CELL_TEMPERATURE].entries, float) - _KELVIN
    return rows


def set_temperature(values: pybamm.ParameterValues, job: dict[str, pybamm.Value]) -> None:
    if job["temperature"] is not None:
        kelvin = job["temperature"] + _KELVIN
        values.update({"Ambient temperature [K]": kelvin, "Initial temperature [K]": kelvin})


def start_of(values: pybamm.ParameterValues, job: dict[str, pybamm.Value], notes: list[str]) -> float | str:
    if job["soc"] is not None:
        return float(job["soc"])
    low, high = float(values["Lower voltage cut-off [V]"]), float(values["Upper voltage cut-off [V]"])
    volts = job["start_voltage"]
    if not low <= volts <= high:
        notes.append(f"The test starts at {volts:.4g} V; the parameters go from {low:.4g} to {high:.4g} V.")
        volts = min(max(volts, low), high)
    return f"{volts:.6f} V"


def by_words(job: dict[str, pybamm.Value], notes: list[str]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    values, model = parameters_of(job), model_of(job)
    set_temperature(values, job)
    try:
        experiment = pybamm.Experiment([tuple(job["protocol"])], period=f"{job['period']} seconds")
    except Exception as error:
        # PyBaMM raises errors of many kinds for a protocol that it cannot read.
        words = first_words(error).partition(" For example")[0]
        raise Refused(f"The protocol cannot be read: {words}") from error
    simulation = pybamm.Simulation(model, parameter_values=values, experiment=experiment)
    solution = simulation.solve(initial_soc=start_of(values, job, notes))
    parts = parts_of(solution) if hasattr(solution, "cycles") else []
    if not any(parts):
        raise Refused(
            "The protocol is not possible: a limit of each step is reached at once. Start at another soc."
        )
    note_steps(parts, job["protocol"], notes)
    rows = rows_of(solution)
    note_voltages(values, rows[VOLTAGE], notes)
    return rows, steps_of(parts)


def by_current(
    job: dict[str, pybamm.Value], folder: Path, notes: list[str]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    values, model = parameters_of(job), model_of(job)
    set_temperature(values, job)
    measured = np.load(folder / "measured.npz")
    time, current = measured["time"], measured["current"]
    values["Current function [A]"] = pybamm.Interpolant(time, current, pybamm.t)
    simulation = pybamm.Simulation(model, parameter_values=values)
    solution = simulation.solve(time, t_interp=time, initial_soc=start_of(values, job, notes))
    rows = rows_of(solution)
    if rows[TIME][-1] < time[-1] - 1e-6:
        limit = "lower" if rows[VOLTAGE][-1] < np.mean(rows[VOLTAGE]) else "upper"
        reached = f"{rows[TIME][-1]:.6g} of {time[-1]:.6g} s"
        notes.append(f"The simulation ends after {reached}: its voltage reached the {limit} limit.")
    return rows, np.zeros(0, int)


def run(folder: Path) -> dict[str, pybamm.Value]:
    job = json.loads((folder / "job.json").read_text("utf-8"))
    notes: list[str] = []
    try:
        rows, steps = by_words(job, notes) if job["protocol"] else by_current(job, folder, notes)
    except Refused as error:
        return {"error": str(error), "kind": "refused"}
    except KeyError as error:
        return {"error": f"The parameters lack something that {job['model']} needs: {first_words(error)}"}
    except Exception as error:
        # A solver may fail with any error; this process answers for one simulation only.
        return {"error": f"PyBaMM could not solve it ({type(error).__name__}): {first_words(error)}"}
    if not all(np.isfinite(values).all() for values in rows.values()):
        return {"error": "The simulation gave values that are not numbers."}
    np.save(folder / "rows.npy", np.vstack(list(rows.values())))
    np.save(folder / "steps.npy", steps)
    return {"notes": notes, "version": pybamm.__version__, "columns": list(rows)}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    answer = run(place)
    draft = place / "answer.draft"
    draft.write_text(json.dumps(answer), "utf-8")
    draft.rename(place / "answer.json")
