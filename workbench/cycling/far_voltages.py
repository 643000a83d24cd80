"""Voltages that cannot be of the cell: far from all others of the series, or far above what the cell is rated for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..messages import counted
from .findings import Finding
from .run_statistics import Floats, Ints

_PER_OCTAVE = 16
"""Classes from one voltage to twice that."""
_BITS = 23 - 4
"""Bits of a float32 below its sign, its exponent and the four bits that divide an octave into 16 classes."""
_CLASSES = 256 * _PER_OCTAVE
_LOWEST = 127 * _PER_OCTAVE
"""The class of 1 V, and of all that is less."""
_OF_ONE_CELL = 6.0
"""Volts that no single cell exceeds: a half cell that falls from 3 V to 0.01 V is not far from itself."""
_FEW, _ALIKE = 0.01, 0.1
"""Share of the samples that are too few to be the usual course of a test; the second is of those that are all alike, as
what a cycler writes for an open cable is. A pack that is switched on for a part of a test is neither."""
_BEYOND_RATED = 2.0
"""Volts, or half of the rated voltage if that is more, by which a cell does not exceed its rating: a half cell is at
3 V when it is built, and tests of abuse go a little beyond."""


class FarVoltages:
    """Counts the samples of a series by the magnitude of their voltage, in classes that grow with it.

    Magnitudes, since a cell may be connected the other way round.
    """

    def __init__(self) -> None:
        self._counts: Ints = np.zeros(_CLASSES, np.int64)
        self._firsts: dict[int, tuple[int, float, float]] = {}
        """Class -> number, time and voltage of its first sample."""
        self._farthest = 0.0

    def feed(self, row: int, voltage: Floats, time: Floats) -> None:
        """Take the next samples, each (n,) float; ``row`` is the number of the first."""
        known = np.flatnonzero(np.isfinite(voltage))
        if not len(known):
            return
        values = voltage if len(known) == len(voltage) else voltage[known]
        classes = _classes(values)
        counts = np.bincount(classes, minlength=_CLASSES)
        for new in np.flatnonzero((counts > 0) & (self._counts == 0)).tolist():
            at = int(known[int(np.argmax(classes == new))])
            self._firsts[new] = row + at, float(time[at]), float(voltage[at])
        self._counts += counts
        for value in (float(values.min()), float(values.max())):
            if abs(value) > abs(self._farthest):
                self._farthest = value

    def findings(self, column: str, rated: float | None) -> list[Finding]:
        """A warning if any sample is far off.

        Parameters
        ----------
        column : what the voltage is called in the file.
        rated : the highest rated voltage of the cell, V, where somebody said so.
        """
        if rated is not None and rated > 0:
            limit = rated + max(_BEYOND_RATED, rated / 2)
            # Of the class after that of the limit, so that all of its voltages are beyond.
            return self._finding(
                column, int(_classes(np.array([limit]))[0]) + 1, f"the cell is rated up to {rated:g} V"
            )
        used = np.flatnonzero(self._counts)
        below = np.cumsum(self._counts[used])
        for place in range(1, len(used)):
            far = used[place] - used[place - 1] > _PER_OCTAVE and _lower_end(used[place]) >= _OF_ONE_CELL
            most = _ALIKE if len(used) - place <= 1 else _FEW
            if far and below[-1] - below[place - 1] <= most * below[-1]:
                others = f"all others are below {_lower_end(used[place - 1] + 1):.3g} V"
                return self._finding(column, int(used[place]), others)
        return []

    def _finding(self, column: str, first_class: int, against: str) -> list[Finding]:
        """The finding about the samples from a class on; none if there are none."""
        count = int(self._counts[first_class:].sum())
        if not count:
            return []
        row, time, value = min(first for of, first in self._firsts.items() if of >= first_class)
        place = f"sample {row}" + (f" ({time:.6g} s)" if np.isfinite(time) else "")
        if count == 1:
            seen = f"'{column}' is {value:.6g} V in 1 sample, {place}"
        elif value == self._farthest:
            seen = f"'{column}' is {value:.6g} V in {counted(count, 'sample')}, first at {place}"
        else:
            seen = (
                f"'{column}' is far off in {counted(count, 'sample')}: {value:.6g} V first, at {place}, and up to "
                f"{self._farthest:.6g} V"
            )
        message = f"{seen}, where {against}. Energies, mean voltages and energy efficiencies count such values. "
        if count > int(self._counts.sum()) / 2:
            message += "If the test is of another cell or of a pack, give it the specification of that."
        else:
            message += "If they were not measured, leave them empty in the file and ingest it again, "
            message += "or exclude their cycles."
        return [Finding("odd", "voltage_far_off", message)]


def _classes(voltage: Floats) -> NDArray[np.int32]:
    """(n,) the class of each magnitude: the leading bits of a float32 grow with it, and cost less than a logarithm."""
    with np.errstate(over="ignore"):  # what is beyond a float32 is in the class of infinity
        bits = np.abs(voltage).astype(np.float32).view(np.int32) >> _BITS
    classes: NDArray[np.int32] = np.maximum(bits, _LOWEST)
    return classes


def _lower_end(of: np.int64 | int) -> float:
    """The least magnitude of a class."""
    return float((np.array([of], np.int32) << _BITS).view(np.float32)[0])
