"""The open-circuit voltage at the end of long rests."""

from __future__ import annotations

import pandas as pd

from ..allowed import ABOVE_0, FROM_0, LIMITS, takes
from ..checked import T_COLUMNS, Checked, checked, joined, temperature_cells
from ..half_cycles import rest_limit
from ..inputs import Refusal, refusing
from ..rests import Rest, drift, rests_of, why_no_rest
from ..result import WARNING, Cell, result
from ..state_of_charge import CountedCharge, Limits, count_charge

COLUMNS = (
    "Rest",
    "Time [s]",
    "Direction before",
    "SOC",
    "Capacity [A.h]",
    "Voltage [V]",
    "Rest [s]",
    "Drift [mV/h]",
    *T_COLUMNS,
)
_WHAT = "Rests"
_LAST_PART = 600.0
_RELAXED = 2.0


@takes(least=FROM_0, rest=FROM_0, limits=LIMITS, capacity=ABOVE_0)
@refusing(COLUMNS)
def ocv_from_rests(
    frame: pd.DataFrame,
    *,
    least: float = 1800.0,
    rest: float | None = None,
    limits: Limits | None = None,
    capacity: float | None = None,
) -> pd.DataFrame:
    """The last voltage of each long rest over the state of charge, as in GITT and HPPC: one row a rest.

    Parameters
    ----------
    frame : every sample of ``Time [s]``, ``Current [A]`` and ``Voltage [V]`` in order of time.
    least : s, the shortest rest that counts.
    rest : A, the largest ``|I|`` that is rest; by default ``rest_limit``.
    limits, capacity : V and A.h: what SOC refers to, as in ``dcir``. Without them SOC is relative to the test.

    Returns ``Rest`` (from 0), ``Time [s]`` (its end), ``Direction before`` (of the load, empty at the start of a
    test), ``SOC``, ``Capacity [A.h]`` (removed since the first sample), ``Voltage [V]``, ``Rest [s]``, ``Drift
    [mV/h]`` (a line through the last 10 min, at least two samples), temperatures, ``Valid`` and ``Warning``, which
    names a drift above 2 mV/h: the voltage is not that of equilibrium.
    """
    samples = checked(frame, _WHAT, exact=True)
    still = rest_limit(samples.current) if rest is None else rest
    found = [one for one in rests_of(samples, still, least) if not samples.excluded[one.last]]
    if not found:
        words = f"No rest lasts {least:g} s. GITT, HPPC or any rest of half an hour would do."
        raise Refusal("no_rests", words + why_no_rest(samples.current, still))
    counted = count_charge(samples, limits, capacity)
    rows = [_row(samples, counted, one, number) for number, one in enumerate(found)]
    return result(rows, COLUMNS, [*samples.remarks, *counted.remarks])


def direction_before(samples: Checked, one: Rest) -> str:
    """Of the load before a rest; empty if there is none."""
    if not one.loaded:
        return ""
    return "discharge" if samples.current[one.first - 1] > 0 else "charge"


def _row(samples: Checked, counted: CountedCharge, one: Rest, number: int) -> dict[str, Cell]:
    part = slice(one.first, one.last + 1)
    moving = drift(samples.time[part], samples.voltage[part], _LAST_PART) * 3.6e6
    said = f"the voltage drifts by {moving:.2g} mV/h: not at equilibrium" if abs(moving) > _RELAXED else ""
    return {
        "Rest": number,
        "Time [s]": float(samples.time[one.last]),
        "Direction before": direction_before(samples, one),
        "SOC": float(counted.soc[one.last]),
        "Capacity [A.h]": float(counted.removed[one.last]),
        "Voltage [V]": float(samples.voltage[one.last]),
        "Rest [s]": float(samples.time[one.last]) - one.began,
        "Drift [mV/h]": moving,
        **temperature_cells(samples.temperature[part]),
        WARNING: joined([said, counted.words]),
    }
