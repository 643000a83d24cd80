"""Direct-current resistance of pulses, as a table by state of charge, direction and temperature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..allowed import ABOVE_0, FROM_0, LIMITS, TIMES, takes
from ..checked import T_COLUMNS, Checked, checked, joined, temperature_cells
from ..half_cycles import rest_limit
from ..inputs import Floats, Refusal, refusing
from ..pulses import ONSET_GAP, Pulse, PulsePlace, PulseSamples, pulse_places, resistance_column
from ..rests import drift, why_no_rest
from ..result import VALID, WARNING, Cell, result
from ..state_of_charge import CountedCharge, Limits, count_charge

AT_END = "Resistance at the end [Ohm]"
HEAD = (
    "Pulse",
    "Level",
    "Time [s]",
    "Direction",
    "SOC",
    "Capacity [A.h]",
    "Rest before [s]",
    ONSET_GAP,
    "Voltage before [V]",
    "Drift before [mV/min]",
    "Current step [A]",
    "Duration [s]",
)
_STANDARD = (0.0, 10.0, 30.0)
_LAST_PART = 60.0
_MOVES = 1.0
_WHAT = "Pulses"


@takes(at=TIMES, longest=ABOVE_0, soaked=FROM_0, least=ABOVE_0, rest=FROM_0, limits=LIMITS, capacity=ABOVE_0)
def dcir(
    frame: pd.DataFrame,
    *,
    at: Sequence[float] = _STANDARD,
    longest: float = 120.0,
    soaked: float = 300.0,
    least: float | None = None,
    rest: float | None = None,
    limits: Limits | None = None,
    capacity: float | None = None,
) -> pd.DataFrame:
    """The resistance of each pulse of a test: R(t) = -(U(t) - U0) / (I(t) - I0), one row a pulse.

    The definition is that of hybrid pulse power characterisation: US DOE, Battery Test Manual for Electric Vehicles,
    revision 3, INL/EXT-15-34184 (2015), DOI 10.2172/1186745. ``pulse_resistance`` says how pulses are found.

    Parameters
    ----------
    frame : every sample of ``Time [s]``, ``Current [A]`` (positive on discharge) and ``Voltage [V]`` in order of time;
        ``Temperature [degC]``, ``Step time [s]`` and the capacity counters are used if they are there.
    at : s, times after the onset; 0 is the first sample under load.
    longest : s; a load that lasts longer is not a pulse.
    soaked : s; a pulse after a rest of at least this begins a new ``Level``.
    least : A, the smallest jump of current; by default a fifth of the largest ``|I|``.
    rest : A, the largest ``|I|`` that is rest; by default ``rest_limit``.
    limits : V, the lower and the upper limit of the cell, between which SOC counts. Without them, or where the test
        does not reach them, SOC is relative to the test and a remark says so.
    capacity : A.h, for SOC where only one of the limits is reached.

    Returns ``Pulse``, ``Level`` (from 0), ``Time [s]`` (onset), ``Direction``, ``SOC`` and ``Capacity [A.h]`` (removed
    since the first sample) at the onset, ``Rest before [s]``, ``Onset gap [s]``, ``Voltage before [V]``, ``Drift
    before [mV/min]`` (over the last minute of the rest), ``Current step [A]``, ``Duration [s]``, a resistance for
    each of ``at`` and one at the end, Ohm, the temperature of its samples, ``Valid`` and ``Warning``. A resistance is
    NaN where ``pulse_resistance`` has none. A row is not valid if it has none at all, or a negative one.
    """
    columns = columns_of(at)

    @refusing(columns)
    def table() -> pd.DataFrame:
        samples = checked(frame, _WHAT, exact=True)
        measured = PulseSamples.of(samples.frame)
        still = rest_limit(measured.current) if rest is None else rest
        counted = count_charge(samples, limits, capacity)
        rows: list[dict[str, Cell]] = []
        loads = np.flatnonzero(np.abs(samples.current) > still)
        level, long = -1, 0
        for place in pulse_places(measured.current, still, least):
            if samples.excluded[place.last]:
                continue
            pulse = Pulse(measured, place, max([*at, 1.0]), still)
            if pulse.duration > longest:
                long += 1
                continue
            before = rest_before(samples.time, loads, place.rest)
            level += 1 if before >= soaked or level < 0 else 0
            rows.append(_row(samples, counted, place, pulse, at, before, len(rows), level))
        if not rows:
            raise _no_pulses(long, longest, why_no_rest(samples.current, still))
        return result(rows, columns, [*samples.remarks, *counted.remarks])

    return table()


def columns_of(at: Sequence[float]) -> list[str]:
    """The columns of a table with resistances at these times, s."""
    return [*HEAD, *map(resistance_column, at), AT_END, *T_COLUMNS]


def rest_before(time: Floats, loads: NDArray[np.intp], last: int) -> float:
    """How long the cell rested until sample ``last``, s; from the last sample under load before it, or from the first
    sample. ``loads``: the samples under load, in order."""
    before = int(np.searchsorted(loads, last))
    return float(time[last] - time[loads[before - 1] if before else 0])


def _row(
    samples: Checked,
    counted: CountedCharge,
    place: PulsePlace,
    pulse: Pulse,
    at: Sequence[float],
    before: float,
    number: int,
    level: int,
) -> dict[str, Cell]:
    found = {resistance_column(seconds): pulse.resistance(seconds) for seconds in at}
    found[AT_END] = pulse.resistance(pulse.duration)
    values = {name: value for name, (value, _, _) in found.items()}
    rested = slice(int(np.searchsorted(samples.time, pulse.onset - before - 1e-6)), place.rest + 1)
    moving = drift(samples.time[rested], samples.voltage[rested], _LAST_PART) * 60_000
    said = [f"{name}: {words}" for name, (_, words, _) in found.items() if words]
    if abs(moving) > _MOVES:
        said.insert(0, f"the voltage still moves by {moving:.2g} mV/min before the pulse")
    said.append(counted.words)
    valid = bool(np.isfinite(list(values.values())).any())
    if any(value < 0 for value in values.values()):
        values, valid = dict.fromkeys(values, float("nan")), False
        said.insert(0, "the voltage follows the current as if its sign were reversed: no resistance")
    return {
        "Pulse": number,
        "Level": level,
        "Time [s]": pulse.onset,
        "Direction": "discharge" if pulse.step > 0 else "charge",
        "SOC": float(counted.soc[place.rest]),
        "Capacity [A.h]": float(counted.removed[place.rest]),
        "Rest before [s]": before,
        ONSET_GAP: pulse.gap,
        "Voltage before [V]": pulse.voltage,
        "Drift before [mV/min]": moving,
        "Current step [A]": pulse.step,
        "Duration [s]": pulse.duration,
        **values,
        **temperature_cells(samples.temperature[place.rest : place.last + 1]),
        VALID: valid,
        WARNING: joined(said),
    }


def _no_pulses(long: int, longest: float, why: str) -> Refusal:
    words = "No load starts from rest"
    if long:
        which = "the load that starts" if long == 1 else f"each of the {long} loads that start"
        words = f"No pulse: {which} from rest lasts longer than {longest:g} s"
    return Refusal("no_pulses", f"{words}. HPPC, GITT or any pulse after a rest of 5 min would do.{why}")
