"""``capacity_by_step``: how much of each charge and discharge passed at constant current and at constant voltage."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..inputs import CYCLE, STEP, T_MEAN, TEMPERATURE, Floats, Refusal, not_summed, refusing, temperatures
from ..result import Cell, Remark, result
from .step_table import CC, CV, OTHER, Steps

_MOST_OTHER = 0.02
_WAYS = {"charge": -1, "discharge": 1}
_ENERGIES = {"charge": "Charge energy [W.h]", "discharge": "Discharge energy [W.h]"}


def _columns() -> tuple[str, ...]:
    found = [CYCLE]
    for way in _WAYS:
        for quantity, unit in (("capacity", "A.h"), ("energy", "W.h"), ("duration", "s")):
            found += [f"{part} {way} {quantity} [{unit}]" for part in (CC, CV, OTHER)]
        found += [f"{way.capitalize()} capacity [A.h]", f"CV share of {way}"]
    return (*found, T_MEAN)


COLUMNS = _columns()


@refusing(COLUMNS)
def capacity_by_step(steps: pd.DataFrame) -> pd.DataFrame:
    """Charge, energy and duration of each cycle at constant current (CC), constant voltage (CV) and otherwise, as
    `CV share of charge`. Steps that are CC and CV in one are ``Other``.

    One row for each cycle. The three parts of a direction sum to its total: what passes in a step of another type
    (constant power, unknown, and what a rest passes) is ``Other``; above 2 % of a direction it is warned of.
    ``CV share of charge`` is CV over total. Energies are NaN where the steps have none.

    Parameters
    ----------
    steps : the ``steps`` summary of one test, with ``Step type``.
    """
    table = Steps.of(steps)
    cycle = table.column(CYCLE)
    if np.isnan(cycle).any():
        raise Refusal("missing_column", f"Some steps have no '{CYCLE}', or the column is missing.")
    runs = [inside for inside in _runs_of(cycle) if not table.excluded[inside].any()]
    if not runs:
        raise Refusal("excluded", "All cycles are excluded.")
    rows = [_row(table, float(cycle[inside[0]]), inside) for inside in runs]
    remarks = (
        [] if _has_energy(table) else [Remark("no_energy", "The steps have no energy: these columns are null.")]
    )
    return result(
        rows, COLUMNS, remarks + not_summed(table.column(STEP), "step") + temperatures(table.column(TEMPERATURE))
    )


def _has_energy(table: Steps) -> bool:
    return all(name in table.frame for name in _ENERGIES.values())


def _runs_of(cycle: Floats) -> list[NDArray[np.intp]]:
    """The steps of each cycle, in order; the cycles as they first come."""
    order = np.argsort(cycle, kind="stable")
    runs = np.split(order, np.flatnonzero(np.diff(cycle[order])) + 1)
    return sorted(runs, key=lambda run: int(run[0]))


def _row(table: Steps, number: float, inside: NDArray[np.intp]) -> dict[str, Cell]:
    row: dict[str, Cell] = {CYCLE: number}
    said = []
    direction, duration, kind = table.direction[inside], table.duration[inside], table.part[inside]
    # What a rest passes is counted somewhere, or the parts do not sum to the total.
    parts = {CC: kind == CC, CV: kind == CV}
    parts[OTHER] = ~(parts[CC] | parts[CV])
    for way, sign in _WAYS.items():
        flow = (table.out if sign > 0 else table.into)[inside]
        energy = table.column(_ENERGIES[way])[inside]
        for part, taken in parts.items():
            row[f"{part} {way} capacity [A.h]"] = float(flow[taken].sum())
            row[f"{part} {way} energy [W.h]"] = float(energy[taken].sum())
            row[f"{part} {way} duration [s]"] = float(duration[taken & (direction == sign)].sum())
        total, other = float(flow.sum()), float(flow[parts[OTHER]].sum())
        row[f"{way.capitalize()} capacity [A.h]"] = total
        row[f"CV share of {way}"] = float(flow[parts[CV]].sum()) / total if total > 0 else np.nan
        if other > _MOST_OTHER * total:
            said.append(f"{100 * other / total:.3g} % of the {way} is in steps of other types")
    values, weights = table.column(TEMPERATURE)[inside], duration
    known = np.isfinite(values) & (weights > 0)
    row[T_MEAN] = float(np.average(values[known], weights=weights[known])) if known.any() else np.nan
    row["Warning"] = "; ".join(said)
    return row
