"""Ratings that the data of a file suggest, and whether a file fits the ratings of its cell."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from ...cycling.findings import Finding
from ...messages import option_name
from ...readers.table.header_units import split_header, unit_of
from ...records import Specification
from ...records.specification import ESTIMATED, is_estimate
from ..limits import RecordFields
from ..plan.labels import Ratings
from ..plan.ratings import AMOUNT, known_ah, rated_ah, ratings
from ..read.prepare import Prepared

_NAMED = frozenset(
    ("capacity", "battery capacity", "cell capacity", "nominal capacity", "rated capacity", "design capacity")
)


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
    """The capacity that the header of a file names, A.h; None where it names none, or none that can be meant.

    A comma may be the mark of decimals or of thousands: what passed shows it.
    """
    for key, value in prepared.metadata.items():
        header = split_header(key)
        if header.key not in _NAMED:
            continue
        text = f"{value} {header.unit}" if header.unit else str(value)
        for written in (text.replace(",", "."), text.replace(",", "")) if "," in text else (text,):
            match = AMOUNT.match(written)
            unit = unit_of(match[2]) if match else None
            if match is None or unit is None or unit.base != "A.h":
                continue
            named = float(match[1]) * unit.times / unit.over
            passed = prepared.capacity or named
            if named > 0 and passed / 5 <= named <= passed * 50:
                return named
    return None


def is_estimated(specification: Specification) -> bool:
    """Whether the capacity of a specification is still the one that was estimated from a file."""
    capacity = specification.ratings.capacity
    return is_estimate(specification.source, capacity.value, capacity.unit)


def said_ratings(specification: Specification) -> Mapping[str, JsonValue]:
    """The ratings of a specification where somebody said them; none where they are estimated."""
    return {} if is_estimated(specification) else specification.ratings.model_dump()


def source_of(prepared: Prepared) -> RecordFields:
    """What the ``source`` of a specification says of ratings that were estimated from a file."""
    return {
        "ratings": ESTIMATED,
        "file": prepared.files[0]["name"],
        "capacity": rated_ah(estimated(prepared)),
        **({"at_least": True} if is_lower_bound(prepared) else {}),
    }


def is_lower_bound(prepared: Prepared) -> bool:
    """Whether the cell may hold more than its estimated capacity, since the test never charged and emptied it."""
    return of_header(prepared) is None and not prepared.filled


def words_of_estimate(name: str, ratings: Ratings, prepared: Prepared) -> str:
    """The sentence about ratings that were estimated."""
    shown = {key: value for key, value in ratings.items() if not isinstance(value, Mapping) or value.get("value")}
    if not shown:
        return (
            f"The file shows neither charge nor voltage, so the ratings of '{name}' are unknown and were set to 0."
        )
    ratings = shown
    least = "at least " if is_lower_bound(prepared) else ""
    listed = ", ".join(
        f"{key} {least if key == 'capacity' else ''}{_quantity(value)}" for key, value in ratings.items()
    )
    made = f"Ratings of '{name}' were estimated from the data: {listed}."
    if "capacity" in ratings and of_header(prepared) is not None:
        return made + " The capacity is from the header of the file."
    if "capacity" in ratings and least:
        return (
            made + " The capacity is the largest charge that passed one way, and a lower bound: the test does not "
            "show the cell going from full to empty."
        )
    return made


def _quantity(value: JsonValue) -> str:
    return f"{value['value']:g} {value['unit']}" if isinstance(value, Mapping) else str(value)


def grown(prepared: Prepared, rated: Specification) -> tuple[Ratings, RecordFields]:
    """Estimated ratings of one cell, with what a further file of it shows, and their ``source``."""
    old, source = rated.ratings, dict(rated.source)
    low, high = prepared.voltage_min, prepared.voltage_max
    capacity, shown = old.capacity.value, rated_ah(estimated(prepared)) or 0.0
    bound = is_lower_bound(prepared)
    if shown > capacity:
        capacity = shown
        source |= {"capacity": shown, "file": prepared.files[0]["name"], "at_least": True}
    if not bound and shown >= capacity:
        source.pop("at_least", None)
    lowest = [old.voltage_min.value] if old.voltage_min.value else []
    highest = [old.voltage_max.value] if old.voltage_max.value else []
    made = ratings(
        capacity,
        min([*lowest, *([] if low is None else [round(low, 2)])], default=0.0),
        max([*highest, *([] if high is None else [round(high, 2)])], default=0.0),
    )
    return {**old.model_dump(exclude_none=True), **made}, source


def compared(prepared: Prepared, rated: Specification, *, warned: bool = False) -> list[Finding]:
    """A warning, if far more or far less charge flows in a file than the cell is rated for, or was estimated to hold.

    ``warned``: another file of the same run has the warning already that the capacity is only an estimate, so the files
    that follow say it as an assumption.
    """
    name, capacity, passed_now = rated.name, known_ah(rated.ratings.model_dump()), prepared.capacity
    if not capacity or not passed_now or capacity / 50 <= passed_now <= capacity * 1.5:
        return []
    if any(finding.code == "current_unit" for finding in prepared.findings):
        return []  # a wrong unit says it all
    passed = f"Up to {passed_now:.4g} A.h flow in one direction"
    if is_estimated(rated):
        file = f"'{rated.source['file']}'" if rated.source.get("file") else "another file"
        if warned:
            message = f"{passed}; the estimated capacity of '{name}' is {capacity:.4g} A.h."
            return [Finding("assumed", "rating_apart", message)]
        message = (
            f"{passed}, but the capacity of '{name}' is only an estimate from {file}: {capacity:.4g} A.h. Step types "
            f"do not use it. If these are cells of several kinds, name a specification for each "
            f"({option_name('specification')}, {option_name('sheet')}); else correct the ratings of '{name}'."
        )
    else:
        message = f"{passed}, but '{name}' is rated {capacity:.4g} A.h. "
        message += "Which steps count as rest, and all step types, depend on it. Is it the right specification?"
    return [Finding("odd", "rating_apart", message)]
