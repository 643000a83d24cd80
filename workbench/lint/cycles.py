"""The rule about cycles that are not complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..table import Column, Table
from .figure_reader import Drawn, Floats, Trace
from .observation import Observation

CYCLE, OWNERS, LOWEST, COMPLETE = "Cycle count", ("measurement_id", "id"), "Min voltage [V]", "Complete"
QUANTITIES = ("Discharge capacity [A.h]", "Discharge energy [W.h]", "Capacity retention", "Charge capacity [A.h]")
_NOT_CYCLES = ("Step count", "Step type")
_ABOVE = 0.05
_CLIFF = 0.85
_STEADY = 0.03
_LEAST = 5


class Cut(NamedTuple):
    """A cycle that is not complete: its number, the number of the cycle before it, the ratio of the two in each
    quantity, how a figure shows it, and why it counts as cut."""

    cycle: float
    before: float
    ratios: dict[str, float]
    shown: str
    why: str


def partial_cycle(drawn: Drawn) -> Iterator[Observation]:
    cuts = [cut for table in drawn.tables() for cut in _cut_short(table)]
    told: set[int] = set()
    for trace in drawn.scatters if cuts else ():
        for cut in cuts:
            if trace.n not in told and _draws(trace, cut):
                told.add(trace.n)
                yield Observation(f"{trace.label} {cut.shown}: {cut.why}.", trace.n)


def _cut_short(table: Table) -> Iterator[Cut]:
    """The cycles of a table that are not complete: by ``Complete``, else a last one that was cut short."""
    names = [name for name in QUANTITIES if name in table]
    owner = next((name for name in OWNERS if name in table), None)
    whole = CYCLE in table and owner is not None and names and not any(name in table for name in _NOT_CYCLES)
    if not whole or owner is None or table[CYCLE].kind not in ("number", "integer"):
        return
    number = table[CYCLE].floats()
    values = {name: table[name].floats() for name in names}
    complete = table[COMPLETE] if COMPLETE in table else Column.nulls(table.n)
    known = ~complete.null_mask()
    for rows in _tests(table[owner], number):
        if (np.diff(number[rows]) == 0).any():
            continue
        if known[rows].any():
            cut = known[rows] & (complete.values[rows] == 0)
            found = [(int(place), "'Complete' is false there") for place in np.flatnonzero(cut) if place]
        else:
            why = _why(table, rows, names) if len(rows) >= _LEAST else None
            found = [] if why is None else [(len(rows) - 1, why)]
        for place, reason in found:
            row, before = rows[place], rows[place - 1]
            ratios = {name: float(v[row] / v[before]) for name, v in values.items() if v[before]}
            verb = "ends with" if place == len(rows) - 1 else "shows"
            shown = f"{verb} cycle count {number[row]:g}, which was cut short"
            yield Cut(float(number[row]), float(number[before]), ratios, shown, reason)


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
