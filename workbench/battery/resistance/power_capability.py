"""The power that a cell can give and take between its limits of voltage, from the resistance of pulses."""

from __future__ import annotations

import pandas as pd

from ..allowed import ABOVE_0, FROM_0, LIMITS, takes
from ..checked import T_COLUMNS, joined
from ..inputs import Refusal, refusing
from ..pulses import resistance_column
from ..result import VALID, WARNING, WARNINGS, Cell, Remark, result
from ..state_of_charge import Limits
from .dcir import dcir

_TAKEN = (
    "Pulse",
    "Direction",
    "SOC",
    "Capacity [A.h]",
    "Rest before [s]",
    "Voltage before [V]",
    "Current step [A]",
)
_EXTRAPOLATED = 1.05


@takes(limits=LIMITS, seconds=FROM_0, longest=ABOVE_0, soaked=FROM_0, least=ABOVE_0, rest=FROM_0, capacity=ABOVE_0)
def power_capability(
    frame: pd.DataFrame,
    *,
    limits: Limits | None = None,
    seconds: float = 10.0,
    longest: float = 120.0,
    soaked: float = 300.0,
    least: float | None = None,
    rest: float | None = None,
    capacity: float | None = None,
) -> pd.DataFrame:
    """The pulse power of a cell by state of charge: what it gives until it reaches the lower limit of voltage, and
    takes until it reaches the upper one.

    P = Vmin (OCV - Vmin) / R on discharge, P = Vmax (Vmax - OCV) / R on charge, with OCV the voltage before the pulse
    and R the resistance after ``seconds``: US DOE, Battery Test Manual for Electric Vehicles, revision 3,
    INL/EXT-15-34184 (2015), DOI 10.2172/1186745.

    Parameters
    ----------
    frame, longest, soaked, least, rest, capacity : as in ``dcir``.
    limits : V, the lower and the upper limit of the cell. There is no default: without them nothing is computed.
    seconds : s, the duration of the power.

    Returns ``Pulse``, ``Direction``, ``SOC``, ``Capacity [A.h]``, ``Rest before [s]``, ``Voltage before [V]``,
    ``Current step [A]``, the resistance, ``Power at 10 s [W]``, ``Current at the limit [A]``, ``Extrapolation`` (that
    current over the current of the pulse), the temperature of the samples, ``Valid`` and ``Warning``. Above an
    extrapolation of 1.05 ``Warning`` gives the factor: that R is the same at that current is an assumption.
    """
    ohms, watts = resistance_column(seconds), f"Power at {seconds:g} s [W]"
    columns = [*_TAKEN, ohms, watts, "Current at the limit [A]", "Extrapolation", *T_COLUMNS]

    @refusing(columns)
    def table() -> pd.DataFrame:
        if limits is None or not limits[0] < limits[1]:
            raise Refusal(
                "needs_limits",
                "Power needs the lower and the upper limit of voltage: give limits=(2.5, 4.2), or the ratings of the "
                "cell's specification.",
            )
        resistances = dcir(
            frame, at=(seconds,), longest=longest, soaked=soaked, least=least, rest=rest, limits=limits,
            capacity=capacity,
        )  # fmt: skip
        remarks = [Remark(**told) for told in resistances.attrs[WARNINGS]]
        rows = [
            _row({str(name): value for name, value in one.items()}, limits, ohms, watts)
            for one in resistances.to_dict("records")
        ]
        return result(rows, columns, remarks)

    return table()


def _row(one: dict[str, Cell], limits: Limits, ohms: str, watts: str) -> dict[str, Cell]:
    """The row of one pulse, from its row of ``dcir``."""
    row: dict[str, Cell] = {name: one[name] for name in (*_TAKEN, ohms, *T_COLUMNS)}
    said = str(one[WARNING] or "")
    before, ohm, step = (float(one[name] or "nan") for name in ("Voltage before [V]", ohms, "Current step [A]"))
    bound = limits[0] if step > 0 else limits[1]
    current = (before - bound) / ohm
    if not ohm > 0:
        return {**row, VALID: False, WARNING: said}
    if current * step <= 0:
        words = f"the voltage before the pulse is beyond the limit of {bound:g} V"
        return {**row, watts: 0.0, "Current at the limit [A]": 0.0, WARNING: joined([said, words])}
    factor = current / step
    words = f"extrapolated to {factor:.2g} times the current of the pulse" if factor > _EXTRAPOLATED else ""
    return {
        **row,
        watts: bound * abs(current),
        "Current at the limit [A]": current,
        "Extrapolation": factor,
        WARNING: joined([said, words]),
    }
