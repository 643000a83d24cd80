"""Ratings of a cell as a person writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue

from ...errors import BadRequest
from ...readers.table.header_units import unit_of
from .labels import Ratings

AMOUNT = re.compile(r"^\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)\s*+([^\d\s](?:.*\S)?)\s*$")
"""A number and a unit."""


def ratings_of(given: str | Mapping[str, JsonValue]) -> Ratings:
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
    if not isinstance(given, str):
        raise BadRequest(f"A rating is a text like '5Ah,2.5V,4.2V' or an object, not {given!r:.40}.")
    charges: list[float] = []
    volts: list[float] = []
    for part in given.split(","):
        match = AMOUNT.match(part)
        unit = unit_of(match[2]) if match else None
        if match is None or unit is None or unit.base not in ("A.h", "V"):
            raise BadRequest(
                f"'{part.strip()}' is not a capacity or a voltage. Write a rating like '5Ah,2.5V,4.2V'."
            )
        value = float(match[1]) * unit.times / unit.over
        (charges if unit.base == "A.h" else volts).append(value)
    if len(charges) != 1 or len(volts) != 2 or charges[0] <= 0 or volts[0] == volts[1]:
        raise BadRequest(
            f"A rating needs one capacity above 0 and two different voltages, like '5Ah,2.5V,4.2V', not '{given}'."
        )
    return ratings(charges[0], min(volts), max(volts))


def rated_ah(ratings: Mapping[str, JsonValue]) -> float | None:
    """The rated capacity in A.h; None where its unit is not known as one of charge."""
    return _rated(ratings, "capacity", "A.h")


def known_ah(ratings: Mapping[str, JsonValue]) -> float | None:
    """The rated capacity in A.h; None where it is not known: in an unknown unit, or not above 0."""
    found = rated_ah(ratings)
    return found if found is not None and found > 0 else None


def rated_volts(ratings: Mapping[str, JsonValue]) -> float | None:
    """The highest rated voltage in V; None where its unit is not known as one of voltage."""
    return _rated(ratings, "voltage_max", "V")


def _rated(ratings: Mapping[str, JsonValue], name: str, base: str) -> float | None:
    rating = ratings.get(name)
    if not isinstance(rating, Mapping):
        return None
    value, named = rating.get("value"), rating.get("unit")
    unit = unit_of(named) if isinstance(named, str) else None
    if unit is None or unit.base != base or not isinstance(value, int | float):
        return None
    return float(value) * unit.times / unit.over


def ratings(capacity: float, low: float, high: float) -> Ratings:
    """Ratings of a capacity, A.h, and two voltages, V."""
    return {
        "capacity": {"value": capacity, "unit": "A.h"},
        "voltage_min": {"value": low, "unit": "V"},
        "voltage_max": {"value": high, "unit": "V"},
    }
