"""Values that look a thousand times off: a unit that the header does not name, or names wrongly."""

from __future__ import annotations

from collections.abc import Mapping

from ...cycling.checks import Survey
from ...cycling.columns import CURRENT, TIME
from ...cycling.findings import Finding
from ...messages import column_map
from ...readers.table.header_units import split_header, unit_of

_MUCH = 700.0
"""Ampere or ampere-hours that one cell hardly has, and that milliampere of a small one easily are."""
_HIGHEST_OF_A_CELL = 6.0
_ABOUT_1000 = (200.0, 5000.0)
_LONG = 1000.0
"""Hours at the usual current that hardly anybody takes to fill or empty a cell."""
_HARDLY = 2e-3
"""Share of the rated capacity per hour below which a current hardly moves anything."""


def scale_findings(
    survey: Survey, capacity: float | None, rated: float | None, headers: Mapping[str, str]
) -> list[Finding]:
    """A warning, if the currents or the times of a series look a thousand times too large or too small.

    Parameters
    ----------
    capacity : the most charge that passes one way, A.h.
    rated : of the cell, A.h, where somebody said so.
    headers : our name -> the column of the file.
    """
    current, voltage = survey.usual_current, survey.usual_voltage
    if not current or not capacity:
        return []
    seen = f"A usual current of {current:.4g} A and a charge of {capacity:.4g} A.h in one direction"
    if rated:
        low, high = _ABOUT_1000
        if low <= capacity / rated <= high:
            return [_too_much(f"{seen} are very much for a cell of {rated:.4g} A.h.", capacity / current, headers)]
        if low <= rated / capacity <= high and current < _HARDLY * rated:
            return [_too_little(f"{seen} are very little for a cell of {rated:.4g} A.h", headers)]
        return []
    if voltage is not None and 0 < voltage < _HIGHEST_OF_A_CELL and max(current, capacity) >= _MUCH:
        return [_too_much(f"{seen} are very much for a cell of {voltage:.2g} V.", capacity / current, headers)]
    return []


def _too_much(seen: str, hours: float, headers: Mapping[str, str]) -> Finding:
    """Too much charge: of a current too large, or of a time too long. ``hours``: as long the usual current flows."""
    if hours < _LONG:
        return _finding(f"{seen} Is the current in mA?", headers, "mA")
    header = headers.get(TIME)
    fix = f" If so, say {column_map({header: 'Time [ms]'})}." if header else ""
    return Finding("odd", "time_unit", f"{seen} Is the time in milliseconds?{fix}")


def _too_little(seen: str, headers: Mapping[str, str]) -> Finding:
    """No cycler writes kiloampere: unless the header says milliampere, it is the cell that is another one."""
    header = headers.get(CURRENT)
    unit = unit_of(split_header(header).unit) if header else None
    if unit is not None and unit.base == "A" and unit.over == unit.times * 1000:
        return _finding(f"{seen}. Is the current in A?", headers, "A")
    return Finding("odd", "current_unit", f"{seen}. Is it the right specification?")


def _finding(message: str, headers: Mapping[str, str], unit: str) -> Finding:
    header = headers.get(CURRENT)
    fix = f" If so, say {column_map({header: f'Current [{unit}]'})}." if header else ""
    return Finding("odd", "current_unit", message + fix)
