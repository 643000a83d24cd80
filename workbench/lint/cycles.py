"""The rule about cycles that were cut short."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..table import Column, Table
from .figure_reader import Drawn, Floats, Trace
from .observation import Observation

CYCLE, OWNER, LOWEST = "Cycle count", "measurement_id", "Min voltage [V]"
QUANTITIES = ("Discharge capacity [A.h]", "Discharge energy [W.h]", "Capacity retention", "Charge capacity [A.h]")
_NOT_CYCLES = ("Step count", "Step type")
_ABOVE = 0.05
_CLIFF = 0.85
_STEADY = 0.03
_LEAST = 5


class Cut(NamedTuple):
    """A last cycle that was cut short: its number, the number of the cycle before it, the ratio of the two in each
    quantity, and why it counts as cut."""

    cycle: float
    before: float
    ratios: dict[str, float]
    why: str


def partial_cycle(drawn: Drawn) -> Iterator[Observation]:
    cuts = [cut for table in drawn.tables() for cut in _cut_short(table)]
    told: set[int] = set()
    for trace in drawn.scatters if cuts else ():
        for cut in cuts:
            if trace.n not in told and _draws(trace, cut):
                told.add(trace.n)
                yield Observation(
                    f"{trace.label} ends with cycle count {cut.cycle:g}, which was cut short: {cut.why}.", trace.n
                )


def _cut_short(table: Table) -> Iterator[Cut]:
    """The tests of a table of cycles whose last cycle was cut short."""
    names = [name for name in QUANTITIES if name in table]
    whole = {CYCLE, OWNER} <= set(table) and names and not any(name in table for name in _NOT_CYCLES)
    if not whole or table[CYCLE].kind not in ("number", "integer"):
        return
    number = table[CYCLE].floats()
    for rows in _tests(table[OWNER], number):
        if len(rows) < _LEAST or (np.diff(number[rows]) == 0).any():
            continue
        why = _why(table, rows, names)
        if why is not None:
            last, before = rows[-1], rows[-2]
            values = {name: table[name].floats() for name in names}
            ratios = {name: float(v[last] / v[before]) for name, v in values.items() if v[before]}
            yield Cut(float(number[last]), float(number[before]), ratios, why)


def _tests(owner: Column, number: Floats) -> Iterator[NDArray[np.int64]]:
    """The rows of each test, by their cycle number."""
    if owner.kind != "text" or owner.valid is not None:
        return
    order = np.lexsort((number, owner.values))
    cuts = np.flatnonzero(np.diff(owner.values[order])) + 1
    yield from np.split(order, cuts)


def _why(table: Table, rows: NDArray[np.int64], names: list[str]) -> str | None:
    """Why the last cycle of a test counts as cut short. None if it is complete or if that is not certain."""
    if LOWEST in table:
        lowest = table[LOWEST].floats()[rows]
        usual = float(np.nanmedian(lowest))
        if lowest[-1] > usual + _ABOVE:
            return f"its discharge stopped at {lowest[-1]:.3g} V, the others reach {usual:.3g} V"
        return None
    for name in names:
        values: Floats = table[name].floats()[rows]
        recent = values[-_LEAST:-1]
        steps = np.abs(np.diff(recent)) / np.abs(recent[:-1]) if (recent != 0).all() else np.array([np.inf])
        if np.isfinite(recent).all() and (steps <= _STEADY).all() and values[-1] < _CLIFF * recent[-1]:
            return f"'{name}' falls to {values[-1] / recent[-1]:.0%} of the cycle before, after steady ones"
    return None


def _draws(trace: Trace, cut: Cut) -> bool:
    """Whether a trace shows that cycle right after the cycle before it, counted from 0 or 1, in any unit."""
    x, y = trace.x, trace.y
    if x is None or y is None or len(x) != len(y):
        return False
    for shift in (0.0, 1.0):
        for last in np.flatnonzero(x[1:] == cut.cycle + shift) + 1:
            if x[last - 1] == cut.before + shift and y[last - 1]:
                ratio = y[last] / y[last - 1]
                if any(abs(ratio - known) <= 1e-9 * max(abs(known), 1e-3) for known in cut.ratios.values()):
                    return True
    return False
