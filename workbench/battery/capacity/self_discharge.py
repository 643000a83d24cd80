"""``self_discharge``: what a stored cell loses, and what of it comes back."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..completeness import left_out
from ..doubts import SamplesLeftOut
from ..inputs import STEP, T_MEAN, Refusal, need, numbers, positive, refusing, temperatures
from ..result import Cell, Remark, result
from .reference import REFILLED
from .step_table import MEAN_CURRENT, NEAR, REST, Half, Steps, halves, largest_discharge

COLUMNS = (
    "Storage [d]",
    "Capacity before [A.h]",
    "Capacity remaining [A.h]",
    "Capacity after [A.h]",
    "Reversible [A.h]",
    "Irreversible [A.h]",
    "Reversible [%]",
    "Irreversible [%]",
    "Voltage slope [mV/d]",
    "Leak current [A]",
    "Next step",
    T_MEAN,
)
DAY = 86400.0
_LEAST = 0.05
_OTHER_RATE = 0.1
_LITTLE = 0.01
"""A current below this share of the largest may be an offset of the cycler."""


@refusing(COLUMNS)
def self_discharge(
    steps: pd.DataFrame,
    *,
    samples: pd.DataFrame | None = None,
    capacity_per_volt: float | None = None,
    rest: float = DAY,
) -> pd.DataFrame:
    """The loss over each storage between two full reference discharges.

    Reversible = Q_before - Q_remaining - irreversible; irreversible = Q_before - Q_after. Q_before is the discharge
    before the charge and the storage, Q_remaining the discharge right after the storage, Q_after the next one after a
    full charge. All three must end at the same voltage, within 20 mV, and Q_before must not be of a cell that came
    part-charged; currents more than 10 % apart are warned of, since capacity depends on them. ``Voltage slope [mV/d]``
    is the slope of the resting voltage after its first 24 h, which relax; ``Leak current [A]`` = capacity_per_volt x
    slope. ``Next step`` is the ``Step count`` of the step after the storage.

    Storage shorter than 24 h is refused. An irreversible loss below 0 is warned of: lithium came back from the
    anode's overhang. So is a reversible one below 0: no cell gains charge at rest.

    Parameters
    ----------
    steps : the ``steps`` summary of one test.
    samples : the series of the test, ``Time [s]`` and ``Voltage [V]``, for the slope; NaN without it.
    capacity_per_volt : dQ/dV of the cell where it rests, A.h/V; the leak current is NaN without it.
    rest : the least storage, s.
    """
    positive(capacity_per_volt, "capacity per volt")
    if not rest >= DAY:
        raise ValueError(f"Storage is at least 24 h, {DAY:g} s; the least rest is {rest!r}.")
    table = Steps.of(steps)
    found = halves(table, _LEAST * largest_discharge(halves(table)))
    stored = [place for place, half in enumerate(found) if half.rest >= rest]
    if not stored:
        longest = max((half.rest for half in found), default=0.0)
        lacking = f"No rest before a half cycle lasts {rest / 3600:g} h; the longest {longest:g} s."
        raise Refusal("no_storage", lacking + _at_current(table, rest))
    if samples is not None:
        need(samples, ("Time [s]", "Voltage [V]"), 2, "sample")
    rows = [_row(found, place, samples, capacity_per_volt) for place in stored]
    remarks = (
        [] if samples is not None else [Remark("no_samples", "Without samples no slope of voltage is known.")]
    )
    if samples is not None and (words := left_out(samples)):
        remarks.append(Remark(SamplesLeftOut.code, f"The slope of the voltage is of fewer samples: {words}."))
    taken = [half.temperature for place in stored for half in found[max(place - 2, 0) : place + 3]]
    return result(rows, COLUMNS, remarks + temperatures(np.array(taken)))


def _at_current(table: Steps, rest: float) -> str:
    """In words, which long step is not a rest since a little current flows in it; empty without one."""
    current = np.abs(table.column(MEAN_CURRENT))
    small = (table.part != REST) & (table.duration >= rest) & (current < _LITTLE * np.nanmax(current, initial=0.0))
    if not small.any():
        return ""
    first = int(np.flatnonzero(small)[0])
    return (
        f" Step {table.column(STEP)[first]:g} lasts {table.duration[first] / DAY:.3g} d, and is not a rest by its "
        f"'Step type': its mean current is {current[first]:.3g} A."
    )


def _row(found: list[Half], place: int, samples: pd.DataFrame | None, per_volt: float | None) -> dict[str, Cell]:
    half = found[place]
    row: dict[str, Cell] = {"Storage [d]": half.rest / DAY, T_MEAN: half.temperature}
    row["Next step"] = half.first("Step count")
    slope, why = _slope(half, samples)
    row["Voltage slope [mV/d]"] = slope
    if per_volt is not None:
        row["Leak current [A]"] = -slope / 1000 * per_volt / 24
    around = found[place - 2 : place + 3] if place >= 2 else []
    ways = [one.direction for one in around]
    if ways != [1, -1, 1, -1, 1]:
        reason = "the storage is not between two reference discharges, each with a charge beside it"
        return row | {"Valid": False, "Warning": reason}
    if any(one.is_excluded for one in around):
        return row | {"Valid": False, "Warning": "a cycle beside the storage is excluded"}
    before, remaining, after = around[0], around[2], around[4]
    ends = np.array([one.last("End voltage [V]") for one in (before, remaining, after)])
    if not np.ptp(ends) <= NEAR:
        listed = ", ".join(f"{end:.3f}" for end in ends)
        return row | {"Valid": False, "Warning": f"the discharges end at different voltages: {listed} V"}
    if place == 2 and before.passed() < REFILLED * around[1].passed():  # nothing charged it before
        return row | {"Valid": False, "Warning": "the discharge before the storage began part-charged"}
    q, left, q_after = (one.passed() for one in (before, remaining, after))
    irreversible = q - q_after
    reversible = q - left - irreversible
    said = [why] if why else []
    currents = np.array([one.current for one in (before, remaining, after)])
    if np.ptp(currents) > _OTHER_RATE * np.median(currents):
        listed = ", ".join(f"{current:.3g}" for current in currents)
        said.append(f"the discharges are at different currents, {listed} A: a part of the losses is of these")
    if irreversible < 0:
        said.append("the capacity rose over the storage (overhang)")
    if reversible < 0:
        said.append("more charge came out after the storage than in the discharge after it")
    return row | {
        "Capacity before [A.h]": q,
        "Capacity remaining [A.h]": left,
        "Capacity after [A.h]": q_after,
        "Reversible [A.h]": reversible,
        "Irreversible [A.h]": irreversible,
        "Reversible [%]": 100 * reversible / q,
        "Irreversible [%]": 100 * irreversible / q,
        "Warning": "; ".join(said),
    }


def _slope(half: Half, samples: pd.DataFrame | None) -> tuple[float, str]:
    """The slope of the voltage over the storage before a half cycle, without its first 24 h, mV/d."""
    if samples is None:
        return np.nan, ""
    time, volts = numbers(samples, "Time [s]"), numbers(samples, "Voltage [V]")
    end = half.first("Start time [s]")
    inside = (time >= end - half.rest + DAY) & (time < end) & np.isfinite(volts)
    if inside.sum() < 3 or not np.ptp(time[inside]) > 0:
        return np.nan, "fewer than 3 samples rest after the first 24 h, so that the slope is not known"
    return 1000 * DAY * float(np.polyfit(time[inside] - end, volts[inside], 1)[0]), ""
