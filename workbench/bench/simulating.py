"""``bench.simulate``: a model run with PyBaMM becomes a simulation of the project."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ..backend import Backend
from ..errors import BadRequest, Invalid, NotFound, instead
from ..messages import counted, said_of_json
from ..quick_import import later
from ..recipe.jsontext import plain
from ..records import Instance, Measurement, Model, Simulation, Specification
from ..records.exclusion import CYCLES, EXCLUSION, REASON, is_excluded

if TYPE_CHECKING:
    import pandas as pd

    from .. import simulation as process
    from ..battery import charge
    from .collections import Collection
    from .sampled_collections import Measurements, Simulations
else:  # frames bring pandas, and a simulation its process
    process = later("workbench.simulation")
    pd = later("pandas")
    charge = later("workbench.battery.charge")

TIME, CURRENT, VOLTAGE, STEP, CYCLE = "Time [s]", "Current [A]", "Voltage [V]", "Step count", "Cycle count"
MEASURED, ERROR = "Measured voltage [V]", "Voltage error [mV]"
EXCLUDED = "Excluded"
"""A column of the measured samples: those that count in no error."""
MOST_SAMPLES = 200_000
"""Most samples of a measured current: the solver visits each."""
_STILL = 0.01
"""A first current below this share of the largest is a rest."""
_WORDS = re.compile(r"\s*(charge|discharge|rest|hold|run)\b", re.IGNORECASE)
Cell = str | Path | Mapping[str, JsonValue] | Specification | Instance
Protocol = str | Sequence[str] | Measurement


@dataclass(frozen=True)
class _Parameters:
    """What is simulated: a set by name or a BPX document, and the design it belongs to."""

    name: str
    content: str | Mapping[str, JsonValue]
    specification: Specification | None = None


@dataclass(frozen=True)
class _Wanted:
    """What is put into the project when the simulation has ended."""

    name: str
    model: str
    parameters: _Parameters
    job: process.Job
    measurement: Measurement | None
    measured: pd.DataFrame | None


class SimulationRun:
    """A simulation that runs in a process of its own: ``done``, ``stop()``, and ``record()``, which waits for it."""

    def __init__(self, bench: Simulating, wanted: _Wanted, running: process.Running) -> None:
        self._bench, self._wanted, self._running = bench, wanted, running
        self._record: Simulation | None = None

    def __repr__(self) -> str:
        return f"<simulation '{self._wanted.name}', {'ended' if self.done else 'running'}>"

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return self._record is not None or self._running.done

    def stop(self) -> None:
        """End it at once; nothing is kept."""
        self._running.stop()

    def record(self) -> Simulation:
        """Wait for the end, and put what was simulated into the project.

        Raises
        ------
        BadRequest
            If it was stopped, took longer than its limit, or could not be solved; says why. Nothing is stored.
        """
        if self._record is None:
            try:
                result = self._running.result()
            except process.Failed as error:
                raise BadRequest(_explained(str(error), self._wanted)) from error
            self._record = self._bench._keep_simulation(self._wanted, result)
        return self._record


class Simulating:
    """What a bench can do with models."""

    backend: Backend
    specifications: Collection[Specification]
    instances: Collection[Instance]
    models: Collection[Model]
    measurements: Measurements
    simulations: Simulations

    def simulate(self, cell: Cell, protocol: Protocol, **options: JsonValue) -> Simulation:
        """Simulate a cell with PyBaMM (extra ``sim``) and keep the result as a simulation of this project.

        The model runs in a process of its own, within a limit of time; interrupt the cell of the notebook to stop it.
        `start_simulation` takes the same and does not wait.

        Parameters
        ----------
        cell : the name of a parameter set of PyBaMM (``"Chen2020"``); a BPX set, as the path of its file or as a
            mapping; or a specification or a cell, or its name, that has a BPX set (as after ``ingest`` of one).
        protocol : steps in words, one or a list: ``["Discharge at C/2 until 2.5 V", "Rest for 1 hour"]``; or a
            measurement, or its name, whose measured current is repeated.
        options : ``model`` (``"SPMe"`` by default, ``"SPM"``, ``"DFN"``), ``name``, ``soc`` at the start (0 to 1; by
            default full before a discharge, empty before a charge, and for a measurement by its first voltage: give it
            where that is under load),
            ``temperature`` in degC, ``thermal`` (True: the cell warms up), ``cycles`` of the measurement (a list of
            cycle counts that follow each other), ``period`` in seconds between two rows of a protocol in words (10),
            and ``time_limit`` in seconds (300; None: no limit).

        Returns
        -------
        Simulation
            Its series has ``Time [s]``, ``Current [A]``, ``Voltage [V]``, ``Temperature [degC]`` and ``Step count``;
            with a measurement also ``Measured voltage [V]`` and ``Voltage error [mV]`` (simulated less measured), and
            its steps have the error of each step. ``metrics`` has the error of the whole, ``source`` what was
            simulated, with ``notes`` of what was assumed or cut short. Excluded cycles are simulated, since the cell
            lived through them, and count in no error. Nor does a gap, over which the current is a straight line: an
            interval above 60 s and above 10 times the median and those beside it.

        Raises
        ------
        BadRequest
            If PyBaMM is missing, if parameters or protocol cannot be used, if all samples are excluded, or if it took
            too long. Nothing is stored.
        """
        run = self.start_simulation(cell, protocol, **options)
        try:
            return run.record()
        except BaseException:
            run.stop()
            raise

    def start_simulation(self, cell: Cell, protocol: Protocol, **options: JsonValue) -> SimulationRun:
        """Start a simulation and do not wait for it; the arguments are those of `simulate`."""
        chosen = _options(options)
        if not process.is_installed():
            raise BadRequest("Simulations need PyBaMM: pip install 'battery-workbench[sim]'.")
        parameters = self._parameters(cell)
        words, measurement = self._protocol(protocol)
        frame = None if measurement is None else self._measured(measurement, chosen.cycles)
        soc, first = chosen.soc, None
        if frame is not None:
            first = float(frame[VOLTAGE].iloc[0])
        elif soc is None:
            soc = 0.0 if words[0].strip().lower().startswith("charge") else 1.0
        job = process.Job(
            parameters=parameters.content,
            model=chosen.model,
            protocol=words,
            soc=soc,
            start_voltage=first,
            temperature=chosen.temperature,
            thermal=chosen.thermal,
            period=chosen.period,
            time=np.zeros(0) if frame is None else frame[TIME].to_numpy(float),
            current=np.zeros(0) if frame is None else frame[CURRENT].to_numpy(float),
        )
        what = measurement.name if measurement else words[0] + (" ..." if len(words) > 1 else "")
        name = chosen.name or f"{parameters.name} {chosen.model}, {what}"
        wanted = _Wanted(name, chosen.model, parameters, job, measurement, frame)
        return SimulationRun(self, wanted, process.start(job, chosen.time_limit))

    def _parameters(self, cell: Cell) -> _Parameters:
        if isinstance(cell, Mapping):
            return _Parameters(_title(cell, "BPX"), cell)
        if isinstance(cell, Instance):
            cell = self.specifications.get(cell.specification_id)
        if isinstance(cell, Specification):
            return self._of_specification(cell)
        path = Path(cell)
        if path.suffix.lower() == ".json":
            return _Parameters(*_bpx_file(path))
        for collection in (self.specifications, self.instances):
            try:
                return self._parameters(collection.get(str(cell)))
            except NotFound:
                continue
        return _Parameters(str(cell), str(cell))

    def _of_specification(self, specification: Specification) -> _Parameters:
        held = (specification.properties or {}).get("bpx")
        if not isinstance(held, dict):
            raise BadRequest(
                f"The specification '{specification.name}' has no BPX parameters. Ingest a BPX file of the cell, or "
                "name a parameter set of PyBaMM such as 'Chen2020'."
            )
        return _Parameters(specification.name, held, specification)

    def _protocol(self, protocol: Protocol) -> tuple[list[str], Measurement | None]:
        if isinstance(protocol, Measurement):
            return [], protocol
        if isinstance(protocol, str):
            try:
                return [], self.measurements.get(protocol)  # a test may be called 'Discharge C/2'
            except NotFound as error:
                if not _WORDS.match(protocol):
                    raise BadRequest(
                        f"'{protocol}' is neither a measurement nor a step in words. Steps begin with Charge, "
                        "Discharge, Rest or Hold: 'Discharge at C/2 until 2.5 V'."
                    ) from error
        words = [protocol] if isinstance(protocol, str) else list(protocol)
        if not words or not all(isinstance(word, str) and word.strip() for word in words):
            raise BadRequest("A protocol is one step in words or a list of them: ['Discharge at 1C until 2.5 V'].")
        # PyBaMM reads only 'Discharge', and says of 'discharge' that it must be 'discharge'.
        return [_WORDS.sub(lambda found: found[1].capitalize(), word, count=1).strip() for word in words], None

    def _measured(self, measurement: Measurement, cycles: Sequence[int] | None) -> pd.DataFrame:
        frame = self.measurements.time_series(measurement)
        missing = [name for name in (TIME, CURRENT, VOLTAGE) if name not in frame]
        if missing:
            raise BadRequest(f"The measurement '{measurement.name}' has no '{missing[0]}'.")
        texts, reasons = self._excluded(measurement)
        counts = (
            frame[CYCLE].to_numpy(float, na_value=math.nan) if CYCLE in frame else np.full(len(frame), math.nan)
        )
        frame = frame.assign(**{EXCLUDED: is_excluded(counts, texts)})
        if cycles is not None:
            frame = _of_cycles(frame, cycles, measurement.name)
        frame = frame.dropna(subset=[TIME, CURRENT, VOLTAGE])
        # Of samples at one time the last counts: the first is still that of the step before.
        frame = frame[~frame[TIME].duplicated(keep="last")]
        frame = frame[frame[TIME] > frame[TIME].cummax().shift(fill_value=-math.inf)]
        if not 2 <= len(frame) <= MOST_SAMPLES:
            raise BadRequest(
                f"'{measurement.name}' has {counted(len(frame), 'sample')} to simulate; it needs 2 to {MOST_SAMPLES}. "
                "Choose cycles: cycles=[1, 2]."
            )
        if frame[EXCLUDED].all():
            raise BadRequest(
                f"All samples of '{measurement.name}' that would be simulated are excluded ({'; '.join(reasons)}). "
                "Choose other cycles, or take the exclusion back: bench.exclusions() has its name, for bench.include."
            )
        return frame.assign(**{TIME: frame[TIME] - frame[TIME].iloc[0]}).reset_index(drop=True)

    def _excluded(self, measurement: Measurement) -> tuple[list[str], list[str]]:
        """The texts of the cycles that are excluded from a test, and why."""
        where: dict[str, JsonValue] = {"analysisType": EXCLUSION, "measurementIds": [measurement.id]}
        found = [*self.backend.listing("analyses", where, ["id", CYCLES, REASON], None).records()]
        return [str(one[CYCLES]) for one in found], [str(one[REASON]) for one in found]

    def _keep_simulation(self, wanted: _Wanted, result: process.Result) -> Simulation:
        series = pd.DataFrame(result.rows)
        steps: pd.DataFrame | None = None
        metrics: dict[str, JsonValue] = {}
        if wanted.measured is None:
            series.insert(1, STEP, result.steps)
        else:
            series, steps, metrics = compared(series, wanted.measured)
        fields: dict[str, JsonValue] = {"name": self._free_name(wanted.name), "metrics": metrics}
        if wanted.parameters.specification is not None:
            fields["specification_id"] = wanted.parameters.specification.id
        return self.simulations.create(
            time_series=series, steps=steps, model_id=self._model(wanted, result).id, source=_source(wanted, result),
            **fields,
        )  # fmt: skip

    def _free_name(self, name: str) -> str:
        taken = set(self.simulations.list()["name"])
        tries = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
        return next(one for one in tries if one not in taken)

    def _model(self, wanted: _Wanted, result: process.Result) -> Model:
        """The model of this name that has just these parameters: sets of one title may differ in their numbers."""
        base = f"{wanted.parameters.name} {wanted.model} (PyBaMM {result.version})"
        held = wanted.parameters.content
        config = {"library": "pybamm", "model": wanted.model, "parameters": held}
        name, number = base, 1
        while True:
            try:
                found = self.models.get(name)
            except NotFound:
                return self.models.create(name=name, config=config, simulator_version=f"pybamm {result.version}")
            if found.config == config:
                return found
            number += 1
            name = f"{base} ({number})"


def _of_cycles(frame: pd.DataFrame, cycles: Sequence[int], name: str) -> pd.DataFrame:
    """The samples of some cycles. They must adjoin: the current of a simulation is one function of time, so across
    cycles that were left out it would be a ramp that nobody measured."""
    if CYCLE not in frame:
        return frame.iloc[:0]
    kept = frame[CYCLE].isin(cycles)
    places = np.flatnonzero(kept)
    runs = [frame[CYCLE].iloc[part] for part in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)]
    if len(runs) > 1:
        firsts = [sorted({int(cycle) for cycle in run}) for run in runs[:2]]
        raise BadRequest(
            f"The cycles chosen of '{name}' do not follow each other: samples of other cycles lie between cycle "
            f"{firsts[0][-1]} and cycle {firsts[1][0]}, and their current would be missing. Simulate each run of "
            f"cycles by itself: cycles={firsts[0]}, then cycles={firsts[1]}."
        )
    return frame[kept]


@dataclass(frozen=True)
class _Options:
    model: str = "SPMe"
    name: str | None = None
    soc: float | None = None
    temperature: float | None = None
    thermal: bool = False
    period: float = 10.0
    cycles: list[int] | None = None
    time_limit: float | None = 300.0


def _options(given: Mapping[str, JsonValue]) -> _Options:
    known = list(_Options.__dataclass_fields__)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise BadRequest(f"A simulation has no option '{unknown[0]}'. {instead(unknown[0], known, 'options')}")
    cycles = given.get("cycles")
    if isinstance(cycles, Iterable) and not isinstance(cycles, str | Mapping):
        given = {**given, "cycles": list(cycles)}  # a range, a set, a column of a frame
    read, problems = plain(given)
    if problems:
        raise Invalid(problems)
    given = read if isinstance(read, dict) else {}
    model, name, cycles = given.get("model", "SPMe"), given.get("name"), given.get("cycles")
    if model not in process.MODELS:
        raise BadRequest(f"There is no model {model!r}. {instead(str(model), process.MODELS, 'models')}")
    soc = _number(given, "soc", 0, 1)
    limit = _number(given, "time_limit", 0.001, 1e9) if "time_limit" in given else 300.0
    thermal = given.get("thermal", False)
    if not isinstance(thermal, bool):
        raise BadRequest(f"thermal is True, where the cell warms up, or False, not {thermal!r}.")
    return _Options(
        str(model),
        None if name is None else str(name),
        soc,
        _number(given, "temperature", -100, 200),
        thermal,
        _number(given, "period", 0.001, 1e6) or 10.0,
        None if cycles is None else _cycle_counts(cycles),
        limit,
    )


def _cycle_counts(given: JsonValue) -> list[int]:
    """Cycle counts as a caller lists them; those out of a frame may be written ``1.0``."""
    if isinstance(given, list) and all(_is_count(one) for one in given):
        return [int(str(one).removesuffix(".0")) for one in given]
    raise BadRequest(f"cycles is a list of cycle counts, such as [1, 2], not {given!r:.40}.")


def _is_count(one: JsonValue) -> bool:
    return isinstance(one, int | float) and not isinstance(one, bool) and float(one).is_integer() and one >= 0


def _number(given: Mapping[str, JsonValue], name: str, low: float, high: float) -> float | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadRequest(f"{name} is a number from {low:g} to {high:g}, not {value!r}.")
    return float(value)


def _bpx_file(path: Path) -> tuple[str, Mapping[str, JsonValue]]:
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise BadRequest(f"The parameters '{path}' cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise BadRequest(f"'{path.name}' is not valid JSON: {said_of_json(error)}.") from error
    if not isinstance(content, dict) or "Parameterisation" not in content:
        raise BadRequest(f"'{path.name}' is not a BPX parameter set: it has no 'Parameterisation'.")
    return _title(content, path.stem), content


def _title(content: Mapping[str, JsonValue], otherwise: str) -> str:
    header = content.get("Header")
    title = header.get("Title") if isinstance(header, dict) else None
    return str(title)[:80] if title else otherwise


def compared(
    simulated: pd.DataFrame, measured: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, JsonValue]]:
    """A simulation beside the test whose current it repeated: both voltages, their difference, and its error by step.

    The error is simulated less measured, in mV; its root mean square is weighted by time (trapezoid), so that it does
    not depend on how often a step was sampled. It is NaN for excluded samples, and no time counts beside them nor over
    a gap.
    """
    series = simulated.copy()
    at = series[TIME].to_numpy(float)
    series[MEASURED] = np.interp(at, measured[TIME].to_numpy(float), measured[VOLTAGE].to_numpy(float))
    series[ERROR] = 1000 * (series[VOLTAGE] - series[MEASURED])
    place = np.searchsorted(measured[TIME].to_numpy(float), at - 1e-9).clip(0, len(measured) - 1)
    if EXCLUDED in measured:
        series[ERROR] = series[ERROR].mask(measured[EXCLUDED].to_numpy(bool)[place])
    for column in (CYCLE, STEP):
        values = measured[column].to_numpy()[place] if column in measured else np.zeros(len(at), int)
        series.insert(1, column, values.astype(np.int64))
    rows = []
    after_gap = np.isin(place, _ends_of_gaps(measured[TIME].to_numpy(float)))
    for step, part in series.groupby(STEP, sort=True):
        rows.append({STEP: step, CYCLE: part[CYCLE].iloc[0], **_errors(part, after_gap[part.index])})
    whole = _errors(series, after_gap)
    metrics: dict[str, JsonValue] = {
        "rms_error": {"value": whole["RMS error [mV]"], "unit": "mV"},
        "largest_error": {"value": whole["Largest error [mV]"], "unit": "mV"},
    }
    return series, pd.DataFrame(rows), metrics


def _ends_of_gaps(time: NDArray[np.float64]) -> NDArray[np.intp]:
    """The places of the samples before which nothing was recorded for long. ``time``: (n,) s, rising."""
    apart = np.diff(time)
    longest = np.maximum(charge.longest_intervals(apart), charge.TIMES * np.median(apart))
    return np.flatnonzero(apart > longest) + 1


def _errors(part: pd.DataFrame, after_gap: NDArray[np.bool_]) -> dict[str, float]:
    """The errors of some samples. ``after_gap``: (n,) whether nothing was recorded before each of them."""
    time, error = part[TIME].to_numpy(float), part[ERROR].to_numpy(float)
    known = error[np.isfinite(error)]
    apart, counts = np.diff(time), np.isfinite(error[1:] + error[:-1]) & ~after_gap[1:]
    span, apart = time[-1] - time[0], apart[counts]
    if not len(known):
        mean = square = largest = math.nan
    elif apart.sum() > 0:
        ends = error[:-1][counts], error[1:][counts]
        mean, square = (
            sum(apart @ one for one in of) / 2 / apart.sum() for of in (ends, (ends[0] ** 2, ends[1] ** 2))
        )
        largest = np.abs(known).max()
    else:
        mean, square, largest = known.mean(), (known**2).mean(), np.abs(known).max()
    return {
        "Duration [s]": float(span),
        "Mean error [mV]": float(mean),
        "RMS error [mV]": float(np.sqrt(square)),
        "Largest error [mV]": float(largest),
    }


def _remarks(measured: pd.DataFrame | None) -> list[str]:
    """What a reader has to know of a measured current that is repeated: excluded cycles, and gaps."""
    if measured is None:
        return []
    said = []
    if EXCLUDED in measured and (out := int(measured[EXCLUDED].sum())):
        share = counted(out, "sample")
        said.append(f"Excluded cycles count in no error: {share} of {len(measured)}. Their current is repeated.")
    time, current = measured[TIME].to_numpy(float), measured[CURRENT].to_numpy(float)
    ends = _ends_of_gaps(time)
    if len(ends):
        hours = float((time[ends] - time[ends - 1]).sum()) / 3600
        first, last = (f"{time[at]:g} s ({current[at]:g} A)" for at in (ends[0] - 1, ends[0]))
        said.append(
            f"The test has no sample over {counted(len(ends), 'gap')} of {hours:.3g} h in all, the first from {first} "
            f"to {last}. The current there is a straight line that nobody measured, and the time counts in no error."
        )
    return said


def _loaded(wanted: _Wanted) -> list[str]:
    """Where a test begins under load: its first voltage is not that of the cell at rest, from which the SOC follows."""
    if wanted.measured is None or wanted.job.soc is not None:
        return []
    current = wanted.measured[CURRENT].to_numpy(float)
    if abs(current[0]) <= _STILL * np.abs(current).max():
        return []
    return [
        f"The test begins under load ({current[0]:.3g} A), and its first voltage, {wanted.job.start_voltage:.4g} V, "
        "was taken for that of the cell at rest: the SOC at the start is off by the drop of the load, and so is all "
        "that follows. Give soc."
    ]


def _source(wanted: _Wanted, result: process.Result) -> dict[str, JsonValue]:
    job = wanted.job
    notes: list[JsonValue] = [*result.notes, *_remarks(wanted.measured), *_loaded(wanted)]
    words: list[JsonValue] = [*job.protocol]
    return {
        "made_by": "simulate",
        "pybamm": result.version,
        "parameters": wanted.parameters.name,
        "model": wanted.model,
        "protocol": words,
        "of_measurement": wanted.measurement.id if wanted.measurement else None,
        "soc": job.soc,
        "start_voltage": job.start_voltage,
        "temperature": job.temperature,
        "thermal": job.thermal,
        "notes": notes,
    }


def _explained(words: str, wanted: _Wanted) -> str:
    """An error of the process for people; a set that PyBaMM does not know gets the nearest names."""
    head, marked, sets = words.partition("unknown set: ")
    if head or not marked:
        return words
    name = str(wanted.parameters.content)
    others = instead(name, json.loads(sets), "sets of PyBaMM")
    return f"There is no parameter set, specification or cell '{name}'. {others}"
