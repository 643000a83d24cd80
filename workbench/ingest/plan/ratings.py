"""Ratings of a cell: as a person writes them, or estimated from what a file holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...cycling.findings import Finding
from ...errors import BadRequest
from ...phrases import option_name
from ...readers.quantities import split_header, unit_of
from ..read.prepare import Prepared
from .labels import Ratings

_PART = re.compile(r"^\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)\s*([^\d\s].*?)\s*$")
_NAMED = frozenset(
    ("capacity", "battery capacity", "cell capacity", "nominal capacity", "rated capacity", "design capacity")
)
ESTIMATED = "estimated from the data"


def ratings_of(given: str | Mapping[str, Any]) -> Ratings:
    """Ratings from ``"5Ah,2.5V,4.2V"`` (capacity, lowest and highest voltage, in any order) or a mapping.

    Raises
    ------
    BadRequest
        If there is not one charge and two voltages; shows the form.

    >>> ratings_of("3200 mAh, 4.2 V, 2.5 V")["capacity"]
    {'value': 3.2, 'unit': 'A.h'}
    """
    if isinstance(given, Mapping):
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in given.items()}
    charges: list[float] = []
    volts: list[float] = []
    for part in given.split(","):
        match = _PART.match(part)
        unit = unit_of(match[2]) if match else None
        if match is None or unit is None or unit.base not in ("A.h", "V"):
            raise BadRequest(f"A rating is written '5Ah,2.5V,4.2V'; '{part.strip()}' is no charge or voltage.")
        value = float(match[1]) * unit.times / unit.over
        (charges if unit.base == "A.h" else volts).append(value)
    if len(charges) != 1 or len(volts) != 2 or charges[0] <= 0 or volts[0] == volts[1]:
        raise BadRequest(
            f"A rating is one capacity above 0 and two different voltages, as '5Ah,2.5V,4.2V'; got '{given}'."
        )
    return _ratings(charges[0], min(volts), max(volts))


def estimated(prepared: Prepared) -> Ratings:
    """Ratings that a file suggests: the capacity its header names, else the most charge it passed, and its voltages."""
    low, high = prepared.voltage_min, prepared.voltage_max
    capacity = of_header(prepared)
    return _ratings(
        float(f"{prepared.capacity or 0.0:.3g}") if capacity is None else capacity,
        round(low, 2) if low is not None else 0.0,
        round(high, 2) if high is not None else 0.0,
    )


def of_header(prepared: Prepared) -> float | None:
    """The capacity that the header of a file names, A.h; None where it names none, or none that can be meant."""
    for key, value in prepared.metadata.items():
        header = split_header(key)
        match = _PART.match(f"{value} {header.unit}" if header.unit and header.key in _NAMED else str(value))
        unit = unit_of(match[2]) if match else None
        if header.key not in _NAMED or match is None or unit is None or unit.base != "A.h":
            continue
        named = float(match[1]) * unit.times / unit.over
        passed = prepared.capacity or named
        if named > 0 and passed / 5 <= named <= passed * 50:
            return named
    return None


def rated_ah(ratings: Mapping[str, Any]) -> float | None:
    """The rated capacity in A.h; None where its unit is not known as one of charge."""
    capacity = ratings.get("capacity")
    if not isinstance(capacity, Mapping):
        return None
    unit = unit_of(capacity.get("unit"))
    if unit is None or unit.base != "A.h":
        return None
    return float(capacity["value"]) * unit.times / unit.over


def is_estimated(source: Mapping[str, Any], ratings: Mapping[str, Any]) -> bool:
    """Whether the capacity of a specification is still the one that was estimated from a file."""
    if source.get("ratings") != ESTIMATED:
        return False
    return bool(source.get("capacity", rated_ah(ratings)) == rated_ah(ratings))


def compared(
    prepared: Prepared, ratings: Mapping[str, Any], name: str, source: Mapping[str, Any], *, told: bool = False
) -> list[Finding]:
    """Odd, if a file passes far more or far less charge than the cell is rated for, or was estimated to be.

    ``told``: that the capacity was only estimated stands with another file of the same run, so it is no oddity of each
    file that follows; what is assumed of it is said.
    """
    rated, capacity = rated_ah(ratings), prepared.capacity
    if not rated or not capacity or rated / 50 <= capacity <= rated * 1.5:
        return []
    if any(finding.code == "current_unit" for finding in prepared.findings):
        return []  # a wrong unit says it all
    passed = f"Up to {capacity:.4g} A.h pass in one direction"
    if is_estimated(source, ratings):
        file = f"'{source['file']}'" if source.get("file") else "another file"
        if told:
            message = f"{passed}, and step types follow from the estimated capacity of '{name}', {rated:.4g} A.h."
            return [Finding("assumed", "rating_apart", message)]
        message = (
            f"{passed}, but the capacity of '{name}', {rated:.4g} A.h, was only estimated, from {file}. "
            "Step types follow from it, for all files of other cells too: name a specification for each kind of cell "
            f"({option_name('specification')}, {option_name('rating')}), "
            f"or correct the ratings of '{name}'."
        )
    else:
        message = f"{passed}, but '{name}' is rated {rated:.4g} A.h. "
        message += "Limits of rest and step types follow from it: is it the right specification?"
    return [Finding("odd", "rating_apart", message)]


def _ratings(capacity: float, low: float, high: float) -> Ratings:
    return {
        "capacity": {"value": capacity, "unit": "A.h"},
        "voltage_min": {"value": low, "unit": "V"},
        "voltage_max": {"value": high, "unit": "V"},
    }
