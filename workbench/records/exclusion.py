"""What is left out of a test, and why: an analysis record of the type :data:`EXCLUSION`.

``metadata.exclusion.cycles`` is a text such as ``3-5, 9``, or ``all`` for the whole test; ``metadata.exclusion.reason``
says why. A text, because lists of plans show no arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import BadRequest

EXCLUSION = "exclusion"
ALL = "all"
CYCLES, REASON = "metadata.exclusion.cycles", "metadata.exclusion.reason"


def cycles_text(cycles: Iterable[int] | int | None) -> str:
    """The text of cycles, with ranges; ``all`` for None.

    Raises
    ------
    BadRequest
        If a cycle is not a whole number from 0, or there is none.

    >>> cycles_text([5, 3, 4, 9])
    '3-5, 9'
    """
    if cycles is None:
        return ALL
    given = [cycles] if isinstance(cycles, int) else list(cycles)
    numbers = sorted({int(one) for one in given if _is_cycle(one)})
    if len(numbers) < len(set(given)) or not numbers:
        raise BadRequest(
            "'cycles' are numbers of cycles, whole and from 0. Leave them out to exclude the whole test."
        )
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def _is_cycle(value: int) -> bool:
    return not isinstance(value, bool) and float(value).is_integer() and value >= 0


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
