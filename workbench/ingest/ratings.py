"""Ratings of a cell: as a person writes them, or estimated from what a file holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..cycling.findings import Finding
from ..errors import BadRequest
from ..readers.quantities import unit_of
from .prepare import Prepared

_PART = re.compile(r"^\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)\s*([^\d\s].*?)\s*$")
Ratings = dict[str, dict[str, Any]]


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
    """Ratings that a file suggests: the most charge one cycle passed, and the voltages it reached."""
    low, high = prepared.voltage_min, prepared.voltage_max
    return _ratings(
        float(f"{prepared.capacity or 0.0:.3g}"),
        round(low, 2) if low is not None else 0.0,
        round(high, 2) if high is not None else 0.0,
    )


def rated_ah(ratings: Mapping[str, Any]) -> float | None:
    """The rated capacity in A.h; None where its unit is not known as one of charge."""
    capacity = ratings.get("capacity")
    if not isinstance(capacity, Mapping):
        return None
    unit = unit_of(capacity.get("unit"))
    if unit is None or unit.base != "A.h":
        return None
    return float(capacity["value"]) * unit.times / unit.over


def compared(prepared: Prepared, ratings: Mapping[str, Any], name: str) -> list[Finding]:
    """Odd, if a cycle of the file passes far more or far less charge than the cell is rated for."""
    rated, capacity = rated_ah(ratings), prepared.capacity
    if not rated or not capacity or rated / 50 <= capacity <= rated * 1.5:
        return []
    message = (
        f"The most charge in a cycle is {capacity:.4g} A.h, but '{name}' is rated {rated:.4g} A.h, which limits of "
        "rest and step types follow: is it the right specification?"
    )
    return [Finding("odd", "rating_apart", message)]


def _ratings(capacity: float, low: float, high: float) -> Ratings:
    return {
        "capacity": {"value": capacity, "unit": "A.h"},
        "voltage_min": {"value": low, "unit": "V"},
        "voltage_max": {"value": high, "unit": "V"},
    }
