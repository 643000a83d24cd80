"""Ratings that the data of a file suggest, and whether a file fits the ratings of its cell."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from ...cycling.findings import Finding
from ...messages import option_name
from ...readers.table.header_units import split_header, unit_of
from ..plan.labels import Ratings
from ..plan.ratings import AMOUNT, rated_ah, ratings
from ..read.prepare import Prepared

_NAMED = frozenset(
    ("capacity", "battery capacity", "cell capacity", "nominal capacity", "rated capacity", "design capacity")
)
ESTIMATED = "estimated from the data"


def estimated(prepared: Prepared) -> Ratings:
    """Ratings that a file suggests: the capacity its header names, else the most charge it passed, and its voltages."""
    low, high = prepared.voltage_min, prepared.voltage_max
    capacity = of_header(prepared)
    return ratings(
        float(f"{prepared.capacity or 0.0:.3g}") if capacity is None else capacity,
        round(low, 2) if low is not None else 0.0,
        round(high, 2) if high is not None else 0.0,
    )


def of_header(prepared: Prepared) -> float | None:
    """The capacity that the header of a file names, A.h; None where it names none, or none that can be meant."""
    for key, value in prepared.metadata.items():
        header = split_header(key)
        match = AMOUNT.match(f"{value} {header.unit}" if header.unit and header.key in _NAMED else str(value))
        unit = unit_of(match[2]) if match else None
        if header.key not in _NAMED or match is None or unit is None or unit.base != "A.h":
            continue
        named = float(match[1]) * unit.times / unit.over
        passed = prepared.capacity or named
        if named > 0 and passed / 5 <= named <= passed * 50:
            return named
    return None


def is_estimated(source: Mapping[str, JsonValue], ratings: Mapping[str, JsonValue]) -> bool:
    """Whether the capacity of a specification is still the one that was estimated from a file."""
    if source.get("ratings") != ESTIMATED:
        return False
    return bool(source.get("capacity", rated_ah(ratings)) == rated_ah(ratings))


def compared(
    prepared: Prepared,
    ratings: Mapping[str, JsonValue],
    name: str,
    source: Mapping[str, JsonValue],
    *,
    warned: bool = False,
) -> list[Finding]:
    """A warning, if far more or far less charge flows in a file than the cell is rated for, or was estimated to hold.

    ``warned``: another file of the same run has the warning already that the capacity is only an estimate, so the files
    that follow say it as an assumption.
    """
    rated, capacity = rated_ah(ratings), prepared.capacity
    if not rated or not capacity or rated / 50 <= capacity <= rated * 1.5:
        return []
    if any(finding.code == "current_unit" for finding in prepared.findings):
        return []  # a wrong unit says it all
    passed = f"Up to {capacity:.4g} A.h flow in one direction"
    if is_estimated(source, ratings):
        file = f"'{source['file']}'" if source.get("file") else "another file"
        if warned:
            message = (
                f"{passed}. The step types were found with the estimated capacity of '{name}', {rated:.4g} A.h."
            )
            return [Finding("assumed", "rating_apart", message)]
        message = (
            f"{passed}, but the capacity of '{name}' is only an estimate from {file}: {rated:.4g} A.h. "
            "The step types of all files of this specification depend on it. Name a specification "
            "for each kind of cell "
            f"({option_name('specification')}, {option_name('rating')}), "
            f"or correct the ratings of '{name}'."
        )
    else:
        message = f"{passed}, but '{name}' is rated {rated:.4g} A.h. "
        message += "Which steps count as rest, and all step types, depend on it. Is it the right specification?"
    return [Finding("odd", "rating_apart", message)]
