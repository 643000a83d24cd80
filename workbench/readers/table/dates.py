"""Notes on dates that can be read in two ways, and on clock times without a time zone."""

from __future__ import annotations

from ...cycling.findings import Finding
from ...messages import column_map, option
from .columns import DATE_ORDERS
from .values import names_zone, one_clock


def date_notes(header: str, pattern: str, example: str, *, swappable: bool) -> list[Finding]:
    """Notes on the clock times in a column: the order of day and month, and that they name no time zone."""
    made = []
    if swappable:
        day_first = pattern.index("%d") < pattern.index("%m")
        other = next(word for word, first in DATE_ORDERS.items() if first != day_first)
        text = (
            f"Dates in '{header}' can be read in two ways. They were read as {_order(day_first)}"
            f"{_meaning(example, day_first)}. If not, say {column_map({header: f'Date [{other}]'})}."
        )
        taken = next(word for word, first in DATE_ORDERS.items() if first == day_first)
        made.append(Finding("assumed", "dates", text, column_map({header: f"Date [{taken}]"})))
    if not pattern.endswith(("Z", "%z", "UTC", "GMT")):
        made.append(zone_note(f"Clock times in '{header}' name"))
    return made


def start_notes(text: str, day_first: bool) -> list[Finding]:
    """Notes on the start of the test that the header gives as ``text``."""
    made = []
    begun, swapped = one_clock(text, day_first), one_clock(text, not day_first)
    if begun is not None and begun != swapped:
        said = (
            f"The beginning of the test in the header can be read in two ways. It was read as {_order(day_first)}"
            f"{_meaning(text, day_first)}. If not, correct the start_time of the measurement."
        )
        made.append(Finding("assumed", "dates", said))
    if not names_zone(text):
        made.append(zone_note("The beginning of the test in the header names", "It was"))
    return made


def zone_note(what: str, they: str = "They were") -> Finding:
    """The note on times without a zone; ``what`` is the subject of the sentence with its verb."""
    return Finding("assumed", "time_zone", f"{what} no time zone. {they} read as UTC.", option("zone", "UTC"))


def _order(day_first: bool) -> str:
    return "day before month" if day_first else "month before day"


def _meaning(example: str, day_first: bool) -> str:
    when = one_clock(example, day_first)
    return "" if when is None else f": '{example.strip()}' is {when.day} {when:%B %Y}"
