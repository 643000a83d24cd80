"""Ratings of specifications in A.h and V, and those of the cells of measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..cycling.cycle_completeness import VoltageLimits
from ..dataset import Warn
from ..records import Specification
from ..records.quantity import Quantity
from ..records.specification import ESTIMATED, is_estimate
from .reader import Reader

_CHARGES = {"ah": 1.0, "mah": 1e-3, "µah": 1e-6, "uah": 1e-6, "kah": 1e3, "as": 1 / 3600, "c": 1 / 3600}
_VOLTAGES = {"v": 1.0, "mv": 1e-3, "kv": 1e3, "µv": 1e-6, "uv": 1e-6}


def in_ampere_hours(value: float, unit: str) -> float | None:
    """A capacity in A.h; None where the unit is not known as one of charge.

    >>> in_ampere_hours(3200, "mA.h"), in_ampere_hours(5, "Ah"), in_ampere_hours(18, "W.h")
    (3.2, 5.0, None)
    """
    return _in(_CHARGES, value, unit)


def in_volts(value: float, unit: str) -> float | None:
    """A voltage in V; None where the unit is not known as one of voltage.

    >>> in_volts(2500, "mV"), in_volts(4.2, "V"), in_volts(4.2, "A")
    (2.5, 4.2, None)
    """
    return _in(_VOLTAGES, value, unit)


def _in(units: Mapping[str, float], value: float, unit: str) -> float | None:
    letters = "".join(
        letter for letter in unit.replace("\N{GREEK SMALL LETTER MU}", "µ") if letter not in " .·*-⋅"
    )
    factor = units.get(letters.lower())
    return None if factor is None else value * factor


def rated_capacities(ids: Sequence[str], reader: Reader) -> tuple[dict[str, float | None], list[Warn]]:
    """Measurement id -> rated capacity of its specification, A.h; None where it is only estimated from a file, and,
    with a warning, in an unknown unit."""
    found: dict[str, float | None] = {}
    warnings: list[Warn] = []
    for one, owners in _specifications(ids, reader):
        of, capacity = one.ratings.capacity, rated_capacity(one)
        found |= dict.fromkeys(owners, capacity)
        if in_ampere_hours(of.value, of.unit) is None and not is_estimate(one.source, of.value, of.unit):
            warnings.append(_unknown(f"rated capacity of '{one.name}'", of, "charge", "step types do", "A.h"))
    return {id: found.get(id) for id in ids}, warnings


def rated_capacity(one: Specification) -> float | None:
    """The rated capacity of a specification, A.h; None where it is only estimated, in an unknown unit, or not above 0:
    the field cannot be left out, so 0 says that nobody knows it."""
    of = one.ratings.capacity
    known = None if is_estimate(one.source, of.value, of.unit) else in_ampere_hours(of.value, of.unit)
    return known if known is not None and known > 0 else None


def limits_of(one: Specification) -> VoltageLimits:
    """The voltage limits of a specification, V; None where they are estimated, or in an unknown unit.

    Limits that were estimated from the data are what a test reached, and do not say what it should reach: they do not
    count. Equal ones are of a cell of which nobody knew them.
    """
    if one.source.get("ratings") == ESTIMATED:
        return VoltageLimits()
    low, high = (in_volts(of.value, of.unit) for of in (one.ratings.voltage_min, one.ratings.voltage_max))
    return VoltageLimits(low, high) if low is None or high is None or low < high else VoltageLimits()


def voltage_limits(ids: Sequence[str], reader: Reader) -> tuple[dict[str, VoltageLimits], list[Warn]]:
    """Measurement id -> the voltage limits of its specification, V; see `limits_of`. Unknown units and
    reversed limits give a warning."""
    found: dict[str, VoltageLimits] = {}
    warnings: list[Warn] = []
    for one, owners in _specifications(ids, reader):
        found |= dict.fromkeys(owners, limits_of(one))
        if one.source.get("ratings") == ESTIMATED:
            continue
        low, high = (in_volts(of.value, of.unit) for of in (one.ratings.voltage_min, one.ratings.voltage_max))
        if low is not None and high is not None and low > high:
            message = (
                f"The voltage limits of '{one.name}' are reversed: 'voltage_min' is {low:g} V and 'voltage_max' "
                f"{high:g} V, so 'Complete' does without them. Correct the specification."
            )
            warnings.append(Warn("limits_reversed", message))
        for limit in (one.ratings.voltage_min, one.ratings.voltage_max):
            if in_volts(limit.value, limit.unit) is None:
                what = f"voltage limit of '{one.name}'"
                warnings.append(_unknown(what, limit, "voltage", "'Complete' does", "V"))
    return {id: found.get(id, VoltageLimits()) for id in ids}, warnings


def _specifications(ids: Sequence[str], reader: Reader) -> Iterator[tuple[Specification, list[str]]]:
    """The specifications of measurements, each with the ids of its measurements."""
    if not ids:
        return
    owners: dict[str, list[str]] = {}
    for link in reader.rows("measurements", {"ids": [*ids]}, ["id", "specification_id"], len(ids)).table.records():
        if link["specification_id"]:
            owners.setdefault(link["specification_id"], []).append(link["id"])
    reader.dependencies.add(("rows", Specification.table))
    where = {"id": {"in": [*owners]}}
    for one in reader.store.rows.page(Specification, reader.scope, where=where, limit=None).items:
        yield one, owners[one.id]


def _unknown(what: str, given: Quantity, quantity: str, does: str, better: str) -> Warn:
    message = (
        f"The {what} is in '{given.unit}', which is not a known unit of {quantity}, "
        f"so {does} without it. Give it in {better}."
    )
    return Warn("unit_unknown", message)
