"""What is left out of a test, and why: an analysis record of the type :data:`EXCLUSION`.

``metadata.exclusion.cycles`` is a text such as ``3-5, 9``, or ``all`` for the whole test; ``metadata.exclusion.reason``
says why. A text, because lists of plans show no arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadRequest

EXCLUSION = "exclusion"
ALL = "all"
MOST_DIGITS = 9
_NUMBER = f"(0|[1-9][0-9]{{0,{MOST_DIGITS - 1}}})"
_RUN = re.compile(rf"{_NUMBER}(?:\s*-\s*{_NUMBER})?")
"""Without zeros before a number: ``1,000`` would be cycles 1 and 0."""
CYCLES, REASON = "metadata.exclusion.cycles", "metadata.exclusion.reason"


def cycles_text(cycles: Iterable[int] | int | str | None) -> str:
    """The text of cycles, with ranges; ``all`` for None. Also of such a text itself.

    Raises
    ------
    BadRequest
        If a cycle is not a whole number from 0, or there is none.

    >>> cycles_text([5, 3, 4, 9])
    '3-5, 9'
    """
    if cycles is None or (isinstance(cycles, str) and cycles.strip() == ALL):
        return ALL
    given = _runs(cycles)
    if not given or any(run is None for run in given):
        raise BadRequest(
            "'cycles' are numbers of cycles, whole and from 0, such as 7, [3, 4, 5] or '3-5, 9'. Leave them out to "
            "exclude the whole test."
        )
    runs: list[list[int]] = []
    for first, last in sorted(run for run in given if run is not None):
        if runs and first <= runs[-1][1] + 1:
            runs[-1][1] = max(runs[-1][1], last)
        else:
            runs.append([first, last])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def _runs(cycles: Iterable[int] | int | str) -> list[tuple[int, int] | None]:
    """The first and last of each run; None for what is not a cycle."""
    if isinstance(cycles, str):
        return [_run(part.strip()) for part in cycles.split(",")]
    if isinstance(cycles, bytes | bytearray):  # numbers to Python, a text to its user
        return [None]
    given = (
        cycles.tolist() if isinstance(cycles, np.ndarray) else cycles
    )  # an array of no dimension has one number
    return [_cycle(one) for one in (given if isinstance(given, Iterable) else [given])]


def _run(text: str) -> tuple[int, int] | None:
    found = _RUN.fullmatch(text)
    if found is None:
        return None
    first, last = int(found[1]), int(found[2] or found[1])
    return (first, last) if first <= last else None


def _cycle(value: object) -> tuple[int, int] | None:
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    number: Any = value  # all real numbers have an order
    whole = 0 <= number < 10**MOST_DIGITS and float(number).is_integer()
    return (int(number), int(number)) if whole else None


def exclusion_of(measurement: str, name: str, cycles: str, reason: str) -> dict[str, Any]:
    """The fields of the record that leaves ``cycles``, as `cycles_text` gives them, out of a measurement."""
    return {
        "name": name,
        "measurement_id": measurement,
        "analysis_type": EXCLUSION,
        "metadata": {"exclusion": {"cycles": cycles, "reason": reason}},
    }


def runs_of(text: str) -> list[tuple[int, int]]:
    """The first and last cycle of each run in a text of cycles; none for a whole test.

    >>> runs_of("3-5, 9")
    [(3, 5), (9, 9)]
    """
    found = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit() and (not last or last.isdigit()):
            found.append((int(first), int(last or first)))
    return found


def is_excluded(cycles: NDArray[np.float64], texts: Sequence[str]) -> NDArray[np.bool_]:
    """(n,) whether each cycle is among those of any of the texts."""
    out = np.zeros(len(cycles), bool)
    for text in texts:
        if text == ALL:
            return np.ones(len(cycles), bool)
        for first, last in runs_of(text):
            out |= (cycles >= first) & (cycles <= last)
    return out
