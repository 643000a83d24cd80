"""Rated capacities of specifications in A.h."""

from __future__ import annotations

_PER_UNIT = {"ah": 1.0, "mah": 1e-3, "µah": 1e-6, "uah": 1e-6, "kah": 1e3, "as": 1 / 3600, "c": 1 / 3600}


def in_ampere_hours(value: float, unit: str) -> float | None:
    """A capacity in A.h; None where the unit is not known as one of charge.

    >>> in_ampere_hours(3200, "mA.h"), in_ampere_hours(5, "Ah"), in_ampere_hours(18, "W.h")
    (3.2, 5.0, None)
    """
    letters = "".join(
        letter for letter in unit.replace("\N{GREEK SMALL LETTER MU}", "µ") if letter not in " .·*-⋅"
    )
    factor = _PER_UNIT.get(letters.lower())
    return None if factor is None else value * factor
