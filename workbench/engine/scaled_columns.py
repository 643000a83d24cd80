"""Finds the number by which a script multiplied a column, and the number that it added, from the values that it drew.

``hours = seconds / 3600``, mA, %, kelvin, the time since a start. The numbers are found from the samples shown and
verified on all of them. Few different values verify nothing, so these are refused: see `fit`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Form = Literal["same", "times", "over", "plus", "times plus", "over plus", "minus times", "minus over"]
_ULPS = 16.0
"""A script may round several times on its way; so many units in the last place of the largest number are forgiven."""
_PROBES = 16
_FACTORS = (1.0, 60.0, 3600.0, 86400.0, 24.0, 100.0, 1e3, 1e6, 1e9, 1e12)
_UNIT_FACTORS = np.array([*_FACTORS, *(1 / factor for factor in _FACTORS)])
"""Those of units: time, %, and SI prefixes."""


@dataclass(frozen=True)
class Scale:
    """How drawn values follow from a column; ``doubt`` ranks the ways to explain the same values, 0 the surest."""

    form: Form = "same"
    factor: float = 1.0
    offset: float = 0.0
    doubt: int = 0

    def apply(self, values: Floats) -> Floats:
        """The drawn values of a column, computed as the script did as far as that can be found."""
        if self.form == "same":
            return values
        with np.errstate(over="ignore", invalid="ignore"):
            if self.form.startswith("minus"):
                values = values - self.offset
            if self.form.endswith("times") or self.form == "times plus":
                values = values * self.factor
            elif self.form != "plus":
                values = values / self.factor
            return values + self.offset if self.form.endswith("plus") else values


SAME = Scale()


def candidates(shown: Floats, columns: Floats) -> list[int]:
    """The rows of ``columns`` (m, n) that may be ``shown`` (n,) but for a factor and an offset, by a few samples."""
    known = np.flatnonzero(np.isfinite(shown))
    if len(known) < 2:
        return []
    low, high = known[np.argmin(shown[known])], known[np.argmax(shown[known])]
    span = shown[high] - shown[low]
    if not span > 0:
        return []
    probes = known[:: max(len(known) // _PROBES, 1)]
    rows = np.arange(len(columns))
    with np.errstate(all="ignore"):
        factors = span / (columns[:, high] - columns[:, low])
        for probe in probes:
            found = shown[low] + factors * (columns[rows, probe] - columns[rows, low])
            near = np.abs(found - shown[probe]) <= 1e-4 * span
            rows, factors = rows[near], factors[near]
    return rows.tolist()


def fit(shown: Floats, column: Floats, precision: float, least: float = 0.0) -> Scale | None:
    """How ``shown`` (n,) follows from ``column`` (n,); None where it does not, or where too few values say so.

    A factor needs two different values other than 0, or two of any kind where it converts units. An offset needs two
    different values, both together three.

    Parameters
    ----------
    precision : the distance of 1 to the next number, in the type of the drawn values.
    least : an error that is always forgiven, such as that of rounded times.
    """
    known = np.isfinite(shown)
    if not np.array_equal(known, np.isfinite(column)):
        return None
    drawn, stored = shown[known], column[known]
    if len(drawn) < 2:
        return None
    low, high = int(np.argmin(drawn)), int(np.argmax(drawn))
    if drawn[low] == drawn[high] or stored[low] == stored[high]:
        return None
    several = bool(((drawn != drawn[low]) & (drawn != drawn[high])).any())
    for scales, needed in _ways(drawn, stored, low, high):
        # The last one has the numbers as they were found; the others are as people write them.
        if (several or not needed) and _fits(drawn, stored, scales[-1], precision, least):
            return _best(drawn, stored, scales)
    return None


def _ways(drawn: Floats, stored: Floats, low: int, high: int) -> Iterator[tuple[list[Scale], bool]]:
    """Ways to explain the drawn values, the simplest first, each with its numbers written in several ways; and whether
    it needs three different values."""
    largest = int(np.argmax(np.abs(stored)))
    with np.errstate(all="ignore"):
        factor = float(drawn[largest] / stored[largest])
        slope = float((drawn[high] - drawn[low]) / (stored[high] - stored[low]))
    if np.isfinite(factor) and factor != 0:
        converts = bool((np.abs(factor / _UNIT_FACTORS - 1) < 1e-6).any())
        zero = drawn[low] == 0 or drawn[high] == 0
        yield _factors(factor, "times", "over", 0.0, 1 if converts else 2), zero and not converts
    offset = float(drawn[low] - stored[low])
    offsets = [-float(stored[np.argmin(np.abs(stored + offset))]), *_short(offset)]
    yield [Scale("plus", 1.0, one, 2) for one in offsets], False
    if not np.isfinite(slope) or slope == 0:
        return
    shift = float(drawn[low] - slope * stored[low])
    start = -shift / slope
    starts = [float(stored[np.argmin(np.abs(stored - start))]), *_short(start)]
    scales = [scale for one in starts for scale in _factors(slope, "minus times", "minus over", one, 3)]
    scales += [scale for one in _short(shift) for scale in _factors(slope, "times plus", "over plus", one, 3)]
    yield scales, True


def _factors(factor: float, times: Form, over: Form, offset: float, doubt: int) -> list[Scale]:
    """Multiplied by a short number, divided by one, or multiplied by the number as it was found."""
    *short, exact = [Scale(times, one, offset, doubt) for one in _short(factor)]
    return [*short, *(Scale(over, one, offset, doubt) for one in _short(1 / factor)[:-1]), exact]


def _short(number: float) -> list[float]:
    """A number as people write it, and as it is."""
    return [*dict.fromkeys([float(f"{number:.9g}"), float(f"{number:.13g}")]), number]


def _best(drawn: Floats, stored: Floats, scales: list[Scale]) -> Scale:
    """The way that repeats the drawn values best, the first of those that are equal."""
    best, least = scales[-1], np.inf
    for scale in scales:
        error = float(np.abs(drawn - scale.apply(stored)).max())
        if error < least:
            best, least = scale, error
        if not error:
            break
    return best


def _fits(drawn: Floats, stored: Floats, scale: Scale, precision: float, least: float) -> bool:
    """Whether every drawn value is repeated, as far as numbers of this precision can."""
    with np.errstate(all="ignore"):
        made = scale.apply(stored)
        factor = 1 / scale.factor if "over" in scale.form else scale.factor
        added = abs(scale.offset * (factor if "minus" in scale.form else 1.0))
        size = np.abs(stored * factor) + added
        if scale.offset:  # what was found at the largest values is used at the smallest too
            size = size.max()
        return bool((np.abs(made - drawn) <= np.maximum(_ULPS * precision * size, least)).all())
