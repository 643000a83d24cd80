"""The open-circuit voltage of one electrode over its stoichiometry, and cells made of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..differential import VOLTAGE
from ..inputs import Floats, Refusal, need, numbers

STOICHIOMETRY = "Stoichiometry"
_GRID = 4001
_FEWEST = 20


@dataclass(frozen=True)
class HalfCell:
    """Voltage against lithium, V, and its slope, V, on an even grid from ``low`` to ``high`` of stoichiometry."""

    low: float
    high: float
    voltage: Floats
    slope: Floats

    @classmethod
    def of(cls, table: pd.DataFrame, name: str) -> HalfCell:
        """From a table with ``Stoichiometry`` (lithium content, 0 to 1) and ``Voltage [V]``.

        Raises
        ------
        Refusal
            If a column is missing, fewer than 20 points are there, or the stoichiometry is not within 0 and 1.
        """
        need(table, (STOICHIOMETRY, VOLTAGE), _FEWEST, f"point of the {name}'s half cell")
        x, volts = numbers(table, STOICHIOMETRY), numbers(table, VOLTAGE)
        kept = np.isfinite(x) & np.isfinite(volts)
        x, volts = x[kept], volts[kept]
        order = np.argsort(x, kind="stable")
        x, volts = x[order], volts[order]
        if len(x) < _FEWEST or not x[-1] > x[0]:
            raise Refusal("half_cell", f"The half cell of the {name} has {len(x)} points, fewer than {_FEWEST}.")
        if x[0] < -1e-6 or x[-1] > 1 + 1e-6:
            words = f"The stoichiometry of the {name} goes from {x[0]:.4g} to {x[-1]:.4g}; it is between 0 and 1."
            raise Refusal("half_cell", words)
        grid = np.linspace(x[0], x[-1], _GRID)
        made: Floats = np.interp(grid, x, volts)
        return cls(float(x[0]), float(x[-1]), made, np.gradient(made, grid))

    def at(self, x: Floats) -> tuple[Floats, Floats]:
        """Voltage and slope at stoichiometries, (n,) each; beyond the ends the slope goes on."""
        place = (x - self.low) / (self.high - self.low) * (_GRID - 1)
        near = np.clip(place, 0, _GRID - 1)
        index = np.minimum(near.astype(np.intp), _GRID - 2)
        share = near - index
        volts = self.voltage[index] * (1 - share) + self.voltage[index + 1] * share
        slope = self.slope[index] * (1 - share) + self.slope[index + 1] * share
        beyond = (place - near) * (self.high - self.low) / (_GRID - 1)
        return volts + slope * beyond, slope

    @property
    def relative(self) -> bool:
        """Whether its stoichiometry was scaled from 0 to 1, so that its origin is that of the half cell's test."""
        return abs(self.low) < 1e-9 and abs(self.high - 1) < 1e-9


class Fit(NamedTuple):
    """A cell as two half cells: xn0, xn1, xp0, xp1 (stoichiometries at SOC 0 and 1) and the offset, V; their
    covariance (5, 5); the rms of the residual, V; how many starts reached it; and the names of parameters at a
    bound."""

    parameters: Floats
    covariance: Floats
    rms: float
    reached: int
    at_bound: tuple[str, ...]


NAMES = ("xn0", "xn1", "xp0", "xp1", "Offset")
_BOUNDS = ((0.0, 0.5), (0.3, 1.0), (0.3, 1.0), (0.0, 0.7), (-0.2, 0.2))
_EDGE = 1e-3
_REACHED = 0.01
_EQUAL = 2e-5
"""Fits whose rms differs by less, V, are the same: made curves are met to the last digit."""
_LEAST_USE = 0.1


def fit_cell(soc: Floats, voltage: Floats, anode: HalfCell, cathode: HalfCell, starts: int, seed: int) -> Fit:
    """V(s) = Up(xp(s)) - Un(xn(s)) - offset by least squares, from several starts.

    Raises
    ------
    Refusal
        If the stoichiometries of the half cells leave no room between the bounds.
    """
    from scipy.optimize import least_squares  # takes a third of a second, and few figures need it

    ends = [(anode.low, anode.high)] * 2 + [(cathode.low, cathode.high)] * 2 + [_BOUNDS[4]]
    low = np.array([max(bound[0], end[0]) for bound, end in zip(_BOUNDS, ends, strict=True)])
    high = np.array([min(bound[1], end[1]) for bound, end in zip(_BOUNDS, ends, strict=True)])
    if (high <= low).any() or min(high[1] - low[0], high[2] - low[3]) < 2 * _LEAST_USE:
        raise Refusal(
            "half_cell",
            f"The half cells leave no room for a cell: the anode goes from {anode.low:.3g} to {anode.high:.3g}, the "
            f"cathode from {cathode.low:.3g} to {cathode.high:.3g} of stoichiometry.",
        )

    def residual(p: Floats) -> Floats:
        positive, negative = cathode.at(p[2] + soc * (p[3] - p[2])), anode.at(p[0] + soc * (p[1] - p[0]))
        return np.asarray(positive[0] - negative[0] - p[4] - voltage, float)

    def jacobian(p: Floats) -> Floats:
        positive = cathode.at(p[2] + soc * (p[3] - p[2]))[1]
        negative = anode.at(p[0] + soc * (p[1] - p[0]))[1]
        rest = 1 - soc
        return np.stack(
            [-negative * rest, -negative * soc, positive * rest, positive * soc, -np.ones_like(soc)], 1
        )

    rng = np.random.default_rng(seed)
    costs: list[float] = []
    best, least = (low + high) / 2, np.inf
    for _ in range(starts):
        begin = _begin(low, high, rng)
        found = least_squares(
            residual, begin, jac=jacobian, bounds=(low, high), x_scale=(0.1, 0.3, 0.3, 0.3, 0.02)
        )
        costs.append(float(found.cost))
        if found.cost < least:
            best, least = np.asarray(found.x, float), float(found.cost)
    matrix = jacobian(best)
    spread = 2 * least / max(len(soc) - 5, 1)
    covariance = np.asarray(spread * np.linalg.pinv(matrix.T @ matrix), float)
    width = high - low
    bounded = tuple(
        name
        for name, value, one, other, wide in zip(NAMES, best, low, high, width, strict=True)
        if min(value - one, other - value) < _EDGE * wide
    )
    rms = float(np.sqrt(2 * least / len(soc)))
    reached = int((np.sqrt(2 * np.array(costs) / len(soc)) <= max(rms * (1 + _REACHED), rms + _EQUAL)).sum())
    return Fit(best, covariance, rms, reached, bounded)


def _begin(low: Floats, high: Floats, rng: np.random.Generator) -> Floats:
    """A start inside the bounds, in which both electrodes are used in the right direction."""
    while True:
        begin = low + (high - low) * rng.uniform(0.02, 0.98, 5)
        if begin[1] - begin[0] > _LEAST_USE and begin[2] - begin[3] > _LEAST_USE:
            begin[4] = float(rng.uniform(-0.02, 0.02))
            return np.asarray(begin, float)
