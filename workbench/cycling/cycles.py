"""The ``cycles`` summary: one row per cycle, computed from the rows of the ``steps`` summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..exact_sum import group_sums
from ..table import Column, Table
from . import columns as c
from .columns import Described
from .run_statistics import Floats
from .steps import OWN_TIME, by_cycle

RULE = 1
"""The number of the rule that makes cycles from steps. Raise it whenever the same steps give other cycles."""
MEAN_TEMPERATURE = "Mean temperature [degC]"

CYCLE_COLUMNS: tuple[Described, ...] = (
    Described(c.CYCLE_COUNT, "integer", "Number of the cycle in the series, from 0."),
    Described(c.DISCHARGE_CAPACITY, "number", "Charge passed on discharge, summed over the steps."),
    Described(c.CHARGE_CAPACITY, "number", "Charge passed on charge, summed over the steps."),
    Described(c.DISCHARGE_ENERGY, "number", "Energy passed on discharge, summed over the steps."),
    Described(c.CHARGE_ENERGY, "number", "Energy passed on charge, summed over the steps."),
    Described("Coulombic efficiency", "number", "Discharge over charge capacity of the same cycle, a fraction."),
    Described("Energy efficiency", "number", "Discharge over charge energy of the same cycle, a fraction."),
    Described("Capacity retention", "number", "Discharge capacity relative to the first cycle, a fraction."),
    Described("Energy retention", "number", "Discharge energy relative to the first cycle, a fraction."),
    Described("Capacity fade", "number", "1 minus capacity retention."),
    Described("Energy fade", "number", "1 minus energy retention."),
    Described("Mean discharge current [A]", "number", "Mean over the discharge steps by duration: positive."),
    Described("Mean charge current [A]", "number", "Mean over the charge steps by duration: negative."),
    Described("Min voltage [V]", "number", "Smallest voltage of all steps."),
    Described("Max voltage [V]", "number", "Largest voltage of all steps."),
    Described("Start time [s]", "number", "Earliest start of a step."),
    Described("Cycle duration [s]", "number", "Durations of all steps, summed."),
    Described("Discharge duration [s]", "number", "Durations of the steps with positive mean current, summed."),
    Described("Charge duration [s]", "number", "Durations of the steps with negative mean current, summed."),
    Described("Capacity throughput [A.h]", "number", "Discharge plus charge capacity up to and with this cycle."),
    Described("Energy throughput [W.h]", "number", "Discharge plus charge energy up to and with this cycle."),
    Described(MEAN_TEMPERATURE, "number", "Mean temperature of the steps by duration, if the steps have one."),
    Described(
        c.COMPLETE, "boolean", "Whether each half cycle ended, and as a full one; null where that is not certain."
    ),
)
"""All columns; ``Complete`` is never stored, since later cycles change it: see ``cycle_completeness``."""


@dataclass(frozen=True)
class _Cycles:
    """The rows of ``steps`` in the order of their cycles: ``order`` (n,), and where each cycle ``starts`` (g,)."""

    steps: Table
    order: NDArray[np.intp]
    starts: NDArray[np.intp]

    def of(self, name: str) -> Floats:
        """(n,) column of the steps in the order of their cycles; NaN for nulls and for a column that is absent."""
        if name not in self.steps:
            return np.full(self.steps.n, np.nan)
        return self.steps[name].floats()[self.order]

    def sums(self, values: Floats) -> Floats:
        """(g,) sums of the values that are not null; 0 for a cycle without any."""
        return group_sums(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf), self.starts)

    def weighted(self, values: Floats, weights: Floats) -> Floats:
        """(g,) weighted means over the steps that have both; NaN if the weights sum to 0."""
        known = ~(np.isnan(values) | np.isnan(weights))
        total = self.sums(np.where(known, weights, 0.0))
        return _ratio(self.sums(np.where(known, values * weights, 0.0)), total)

    def extreme(self, values: Floats, *, largest: bool) -> Floats:
        """(g,) smallest or largest of the values that are not null; NaN for a cycle without any."""
        if not len(self.starts):
            return np.zeros(0)
        reduce = np.fmax.reduceat if largest else np.fmin.reduceat
        return np.asarray(reduce(values, self.starts), np.float64)


def cycles_of(steps: Table) -> Table:
    """The ``cycles`` of one series: one row per ``Cycle count``, ascending, from all rows of its ``steps``.

    The energy columns are there only if the steps have both energies, and the mean temperature only if they have it.

    Raises
    ------
    Invalid
        If a step has no ``Cycle count``.
    """
    order, starts, numbers = by_cycle(steps)
    by = _Cycles(steps, order, starts)
    made: dict[str, Floats] = {}
    _add_passed(made, by, c.DISCHARGE_CAPACITY, c.CHARGE_CAPACITY, "Capacity", "Coulombic")
    if c.DISCHARGE_ENERGY in steps and c.CHARGE_ENERGY in steps:
        _add_passed(made, by, c.DISCHARGE_ENERGY, c.CHARGE_ENERGY, "Energy", "Energy")
    duration, current = by.of("Duration [s]"), by.of("Mean current [A]")
    # A step that owns time has a weight even if it is a single sample.
    weight = by.of(OWN_TIME) if OWN_TIME in steps else duration
    for word, flows in (("discharge", current > 0), ("charge", current < 0)):
        made[f"Mean {word} current [A]"] = by.weighted(np.where(flows, current, np.nan), weight)
        made[f"{word.capitalize()} duration [s]"] = by.sums(np.where(flows, duration, 0.0))
    made["Min voltage [V]"] = by.extreme(by.of("Min voltage [V]"), largest=False)
    made["Max voltage [V]"] = by.extreme(by.of("Max voltage [V]"), largest=True)
    made["Start time [s]"] = by.extreme(by.of("Start time [s]"), largest=False)
    made["Cycle duration [s]"] = by.sums(duration)
    if MEAN_TEMPERATURE in steps:
        made[MEAN_TEMPERATURE] = by.weighted(by.of(MEAN_TEMPERATURE), weight)
    table = {c.CYCLE_COUNT: Column.of(numbers)}
    for described in CYCLE_COLUMNS:
        if described.name in made:
            values = made[described.name]
            table[described.name] = Column.of(values, ~np.isnan(values))
    return Table(table, len(numbers))


def cycles_of_capacities(columns: Mapping[str, Column]) -> Table:
    """The ``cycles`` of a cell for which only the capacities of its cycles are known.

    ``columns`` are "Cycle from cycler" and capacities and energies under their canonical names, one row per cycle in
    order. Whatever :func:`cycles_of` computes from these columns is added. Columns that need others are left out.
    """
    n = len(columns[c.CYCLER_CYCLE])
    made: dict[str, Floats] = {}
    for out, into, word, efficiency in (
        (c.DISCHARGE_CAPACITY, c.CHARGE_CAPACITY, "Capacity", "Coulombic"),
        (c.DISCHARGE_ENERGY, c.CHARGE_ENERGY, "Energy", "Energy"),
    ):
        passed = {name: columns[name].floats() for name in (out, into) if name in columns}
        made |= passed
        if out in passed:
            known = passed[out][~np.isnan(passed[out])]
            made[f"{word} retention"] = _ratio(passed[out], np.full(n, known[0] if len(known) else np.nan))
            made[f"{word} fade"] = 1 - made[f"{word} retention"]
        if len(passed) == 2:
            made[f"{efficiency} efficiency"] = _ratio(passed[out], passed[into])
            both = np.nan_to_num(passed[out]) + np.nan_to_num(passed[into])
            made[f"{word} throughput {out[out.index('[') :]}"] = _running_sums(both)
    table = {c.CYCLE_COUNT: Column.of(np.arange(n)), c.CYCLER_CYCLE: columns[c.CYCLER_CYCLE]}
    for described in CYCLE_COLUMNS:
        if described.name in made:
            table[described.name] = Column.of(made[described.name], ~np.isnan(made[described.name]))
    return Table(table, n)


def _add_passed(made: dict[str, Floats], by: _Cycles, out: str, into: str, word: str, efficiency: str) -> None:
    """Add what is computed from one pair of discharge and charge: sums, efficiency, retention, fade, throughput."""
    unit = out[out.index("[") :]
    discharge, charge = by.sums(by.of(out)), by.sums(by.of(into))
    made[out], made[into] = discharge, charge
    made[f"{efficiency} efficiency"] = _ratio(discharge, charge)
    first = np.full(len(discharge), discharge[0] if len(discharge) else 0.0)
    retention = _ratio(discharge, first)
    made[f"{word} retention"] = retention
    made[f"{word} fade"] = 1 - retention
    made[f"{word} throughput {unit}"] = _running_sums(discharge + charge)


def _ratio(above: Floats, below: Floats) -> Floats:
    """(g,) above / below; NaN where below is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(below != 0, above / below, np.nan)


def _running_sums(values: Floats) -> Floats:
    """(n,) running sums. Each differs from the exact one by at most two units in the last place."""
    total, lost = 0.0, 0.0
    sums = []
    for value in values.tolist():
        after = total + value
        back = after - total
        lost += (total - (after - back)) + (value - back)
        total = after
        sums.append(total + lost)
    return np.array(sums, np.float64)
