"""The ``steps`` summary: one row per step, computed from all its samples, and the types of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import Invalid, Problem
from ..exact_sum import group_sums
from ..table import Column, Table
from . import columns as c
from .changes import ChangeCounter
from .columns import Described
from .onsets import GAP, RESISTANCE, Sample
from .owned_intervals import SECONDS, Owned, OwnedIntervals
from .run_statistics import Floats, Ints
from .steps_builder import QUANTITIES, RunsBuilder

RULE = 2
"""The number of the rule that makes steps from samples. Raise it whenever the same samples give other steps."""
SINCE = {RESISTANCE: 2, GAP: 2}
"""Columns that older rules did not make -> the first rule that makes them."""
STEP_TYPE = "Step type"
STEP_TYPE_FROM_CYCLER = "Step type from cycler"
START_INDEX, END_INDEX = "Start index", "End index"
OWN_TIME = "Own time [s]"
"""Of steps that own every interval: the duration, and half of the time to the steps before and after. Other steps
do not have this column, so it is after those that every step has."""
CYCLE_SUMS = {f"Cycle {name[0].lower()}{name[1:]}": name for name in c.COUNTERS}


def _spread_columns(quantity: str, over: str) -> tuple[Described, ...]:
    unit = QUANTITIES[quantity]
    return (
        Described(f"Min {quantity} [{unit}]", "number", f"Smallest {over}."),
        Described(f"Max {quantity} [{unit}]", "number", f"Largest {over}."),
        Described(f"Mean {quantity} [{unit}]", "number", f"Mean {over} over the samples, unweighted."),
        Described(
            f"Std {quantity} [{unit}]", "number", f"Deviation of the {over} without the first and the last sample."
        ),
    )


STEP_COLUMNS: tuple[Described, ...] = (
    Described(c.STEP_COUNT, "integer", "Number of the step in the series."),
    Described(START_INDEX, "integer", "Sample number of the first sample of the step, from 0."),
    Described(END_INDEX, "integer", "Sample number of the last sample of the step, which belongs to it."),
    Described("Start time [s]", "number", "Time of the first sample."),
    Described("End time [s]", "number", "Time of the last sample."),
    Described("Duration [s]", "number", "Time from the first to the last sample."),
    Described("Start voltage [V]", "number", "Voltage of the first sample."),
    Described("End voltage [V]", "number", "Voltage of the last sample."),
    *_spread_columns("voltage", "voltage"),
    *_spread_columns("current", "signed current (positive on discharge)"),
    *_spread_columns("power", "signed power (voltage times current, positive on discharge)"),
    *_spread_columns("frequency", "frequency (0 where there is no impedance)"),
    Described(c.DISCHARGE_CAPACITY, "number", "Charge passed on discharge within the step."),
    Described(c.CHARGE_CAPACITY, "number", "Charge passed on charge within the step."),
    Described(c.DISCHARGE_ENERGY, "number", "Energy passed on discharge within the step."),
    Described(c.CHARGE_ENERGY, "number", "Energy passed on charge within the step."),
    Described(c.CYCLE_COUNT, "integer", "Number of the cycle of the step's first sample, from 0."),
    Described(c.CYCLER_STEP, "integer", "Step number as the cycler wrote it, first in the step."),
    Described(c.CYCLER_CYCLE, "integer", "Cycle number as the cycler wrote it, first in the step."),
    Described(c.FRAME, "integer", "Nested level of the procedure; only if the series has it."),
    Described(STEP_TYPE, "text", "Rest, constant current, voltage or power with direction, EIS, or unknown."),
    Described(STEP_TYPE_FROM_CYCLER, "text", "What the cycler calls the step; only if the file says it."),
    *(
        Described(name, "number", f"{of.split(' [')[0]} summed over the steps of the cycle.")
        for name, of in CYCLE_SUMS.items()
    ),
    *(
        described
        for described in _spread_columns("temperature", "temperature (only if the series has it)")
        if not described.name.startswith("Std")
    ),
    Described(
        RESISTANCE,
        "number",
        "Resistance 10 s after the onset of a step that begins from rest; null if it ends before or is not constant.",
    ),
    Described(
        GAP,
        "number",
        "Time from the last sample at rest to the first under load, of a step that begins from rest.",
    ),
)
STEP_TYPE_NEEDS = (
    "Mean frequency [Hz]",
    "Mean current [A]",
    "Std current [A]",
    "Std voltage [V]",
    "Std power [W]",
    "Min current [A]",
    "Max current [A]",
)
Between: TypeAlias = Callable[[str, Floats, float], Floats]
_INTEGERS = frozenset(described.name for described in STEP_COLUMNS if described.kind == "integer")


class StepsBuilder:
    """Builds the ``steps`` of a series from batches of its samples. Memory holds one block and the steps.

    A batch may end anywhere in a step: the same samples give the same bits.

    Parameters
    ----------
    row, cycles : where the samples begin, and the count of cycles before them.
    owning : each interval between two samples belongs to the steps of both, half to each, so that the sums over the
        steps are the integrals over the test. Else the interval between two steps belongs to neither.

    >>> builder = StepsBuilder()
    >>> builder.feed(Table.of({"Step count": [0, 0], "Time [s]": [0.0, 3600.0], "Current [A]": [1.0, 1.0]}))
    >>> builder.finish()["Discharge capacity [A.h]"].tolist()
    [1.0]
    """

    def __init__(
        self,
        row: int = 0,
        cycles: ChangeCounter | None = None,
        before: Sample | None = None,
        *,
        owning: bool = False,
    ) -> None:
        self._intervals = OwnedIntervals() if owning else None
        self._runs = RunsBuilder(row, cycles, before, self._intervals)
        self.owned: Owned | None = None
        """What the steps own, by the trapezoid rule; known once they are finished."""

    def feed(self, table: Table) -> None:
        """Take the next samples, in stored order. They need a ``Step count``: integers without nulls.

        Raises
        ------
        Invalid
            Without ``Step count``, or if a column that is used holds no numbers.
        """
        self._runs.feed(table, step_numbers(table))

    def finish(self, between: Between | None = None) -> Table:
        """One row per step with all :data:`STEP_COLUMNS` that apply, except ``Step type``, which is never stored.

        Parameters
        ----------
        between : gives of a counter what it counted between two steps, from what it counted within them (g,) and the
            integral over the test. Without it: the trapezoid of those intervals.
        """
        table = as_table(self._runs.finish(), self._runs.present)
        if self._intervals is not None:
            self.owned = self._intervals.finish()
            table = _with_owned(table, self.owned, self._runs.present, between)
        return with_cycle_sums(table)


def _with_owned(table: Table, owned: Owned, present: frozenset[str], between: Between | None) -> Table:
    """``table`` with what each step owns: by a counter of the samples where there is one, else by the trapezoid."""
    made = dict(table.columns)
    both = owned.both
    for place, name in enumerate(c.COUNTERS):
        values = both[:, place]
        if name in present:
            within = made[name].floats()
            counted = owned.between[:, place] if between is None else between(name, within, float(values.sum()))
            # A step without a value of the counter has what its samples give.
            values = np.where(np.isnan(within), values, within + counted)
        made[name] = Column("number", values)
    made[OWN_TIME] = Column("number", both[:, SECONDS])
    return Table(in_order(made), table.n)


def replaced(steps: Table, columns: Mapping[str, Column]) -> Table:
    """``steps`` with some columns replaced, and the sums over each cycle made anew."""
    kept = {name: column for name, column in steps.items() if name not in CYCLE_SUMS}
    return with_cycle_sums(Table(in_order({**kept, **columns}), steps.n))


def with_counted(steps: Table, before: Table, counters: Iterable[str]) -> Table:
    """``steps`` that were made anew, with what these counters of the cycler gave the same steps ``before``.

    What a cycler counted between two steps is not in the samples, but only in the steps that were made of its file.
    """
    if OWN_TIME not in before or before[END_INDEX].tolist() != steps[END_INDEX].tolist():
        return steps
    return replaced(steps, {name: before[name] for name in counters if name in before})


def steps_of(table: Table | Iterable[Table], *, owning: bool = False) -> Table:
    """The ``steps`` of whole samples, or of samples in batches; ``owning`` as in `StepsBuilder`."""
    builder = StepsBuilder(owning=owning)
    for batch in [table] if isinstance(table, Table) else table:
        builder.feed(batch)
    return builder.finish()


def step_numbers(table: Table) -> Ints:
    """(n,) the step numbers of samples.

    Raises
    ------
    Invalid
        If the samples have no step numbers, or some are null or not whole.
    """
    place = ("columns", c.STEP_COUNT)
    if c.STEP_COUNT not in table:
        raise Invalid(Problem(place, f"'{c.STEP_COUNT}' is missing: without it samples have no steps."))
    column = table[c.STEP_COUNT]
    if table.n == 0:
        return np.zeros(0, np.int64)
    if column.kind not in ("integer", "number") or bool(column.missing().any()):
        raise Invalid(Problem(place, f"'{c.STEP_COUNT}' must be an integer in every row."))
    numbers: Ints = column.values.astype(np.int64)
    if column.kind == "number" and bool((numbers != column.values).any()):
        raise Invalid(Problem(place, f"'{c.STEP_COUNT}' must be an integer in every row."))
    return numbers


EIS, REST, UNKNOWN = "EIS", "Rest", "Unknown step type"
CONSTANT = ("Constant current", "Constant voltage", "Constant power")
STEP_TYPES = (EIS, REST, *(f"{kind} {way}" for kind in CONSTANT for way in ("discharge", "charge")), UNKNOWN)
"""Every value of ``Step type``."""


def step_types(steps: Table, rated_capacity_ah: float | None) -> Column:
    """The step type of each row of ``steps``: (n,) text. Computed on read, from all steps of one series.

    Parameters
    ----------
    steps : with :data:`STEP_TYPE_NEEDS`. A ``Step type`` that was given is returned as it is.
    rated_capacity_ah : capacity of the specification, A.h. If it is None (unknown), the limits of rest and
        constant current are at most 1 % of the largest current of the series.
    """
    if STEP_TYPE in steps:
        return steps[STEP_TYPE]
    frequency, mean, std_i, std_v, std_p, low, high = (_numbers(steps, name) for name in STEP_TYPE_NEEDS)
    rest, constant = current_limits(rated_capacity_ah, np.abs(np.concatenate([low, high])))
    std_i, std_v, std_p = (np.nan_to_num(std, nan=0.0, posinf=np.inf) for std in (std_i, std_v, std_p))
    kinds = np.select(
        [frequency > 1e-8, np.isnan(mean), np.abs(mean) < rest, std_i < constant, std_v < 0.01, std_p < 0.01],
        [EIS, "", REST, *CONSTANT],
        "",
    ).tolist()
    words: list[str | None] = []
    for kind, current in zip(kinds, mean.tolist(), strict=True):
        if not kind:
            words.append(UNKNOWN)
        elif kind in CONSTANT:
            words.append(f"{kind} {'discharge' if current > 0 else 'charge'}")
        else:
            words.append(kind)
    return Column.text(words)


def current_limits(rated_capacity_ah: float | None, largest: Floats) -> tuple[float, float]:
    """The current below which a sample rests, and the deviation below which a current is constant, both in A.

    ``largest``: magnitudes of currents, used only without a rated capacity. If no current ever flows, they do not
    change the limits.
    """
    if rated_capacity_ah is not None and rated_capacity_ah > 0:
        return min(1e-3, rated_capacity_ah / 1000), min(1e-2, rated_capacity_ah / 200)
    finite = largest[np.isfinite(largest)]
    cap = 0.01 * float(finite.max()) if len(finite) else 0.0
    return (min(1e-3, cap), min(1e-2, cap)) if cap > 0 else (1e-3, 1e-2)


def with_cycle_sums(steps: Table) -> Table:
    """``steps`` with those of the four ``Cycle ...`` sums that it lacks, summed over its own rows."""
    made = dict(steps.columns)
    order, starts, _ = by_cycle(steps)
    for name, of in CYCLE_SUMS.items():
        if name in made:
            continue
        values = np.nan_to_num(steps[of].floats(), nan=0.0)[order]
        sums = np.empty(steps.n)
        sums[order] = np.repeat(group_sums(values, starts), np.diff(np.append(starts, steps.n)))
        made[name] = Column("number", sums)
    return Table(in_order(made), steps.n)


def by_cycle(steps: Table) -> tuple[NDArray[np.intp], NDArray[np.intp], Ints]:
    """(n,) rows of ``steps`` ordered by cycle (stable), (g,) where each cycle starts in that order, (g,) its number."""
    column = steps[c.CYCLE_COUNT]
    if bool(column.missing().any()):
        raise Invalid(Problem(("columns", c.CYCLE_COUNT), f"'{c.CYCLE_COUNT}' must be an integer in every step."))
    numbers: Ints = column.values.astype(np.int64)
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    starts = (
        np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if steps.n else np.zeros(0, np.intp)
    )
    return order, starts, ranked[starts]


def _numbers(steps: Table, name: str) -> Floats:
    if name not in steps:
        raise Invalid(Problem(("columns", name), f"Step types need the column '{name}'."))
    return steps[name].floats()


def as_table(stats: Mapping[str, Floats], present: frozenset[str]) -> Table:
    """Statistics of runs under the names of the summary, in the order of :data:`STEP_COLUMNS`."""
    n = len(stats["key"]) if stats else 0
    void = np.full(n, np.nan)

    def of(name: str) -> Floats:
        return stats.get(name, void)

    made: dict[str, Floats] = {
        c.STEP_COUNT: of("key"),
        START_INDEX: of("start"),
        END_INDEX: of("end"),
        "Start time [s]": of("start_time"),
        "End time [s]": of("end_time"),
        "Duration [s]": of("end_time") - of("start_time"),
        "Start voltage [V]": of("voltage:first"),
        "End voltage [V]": of("voltage:last"),
        c.CYCLE_COUNT: of("cycle"),
        c.CYCLER_STEP: of(f"first:{c.CYCLER_STEP}"),
        c.CYCLER_CYCLE: of(f"first:{c.CYCLER_CYCLE}"),
        RESISTANCE: of(RESISTANCE),
        GAP: of(GAP),
    }
    for quantity, unit in QUANTITIES.items():
        for word in ("Min", "Max", "Mean", "Std"):
            made[f"{word} {quantity} [{unit}]"] = of(f"{quantity}:{word.lower()}")
    for word in ("Min", "Max", "Mean", "Std"):
        made[f"{word} frequency [Hz]"] = np.nan_to_num(made[f"{word} frequency [Hz]"], nan=0.0)
    made |= _counted(of, present)
    if c.FRAME in present:
        made[c.FRAME] = of(f"first:{c.FRAME}")
    del made["Std temperature [degC]"]
    if c.TEMPERATURE not in present:
        for word in ("Min", "Max", "Mean"):
            del made[f"{word} temperature [degC]"]
    return Table(in_order({name: _column(name, values) for name, values in made.items()}), n)


def _counted(of: Callable[[str], Floats], present: frozenset[str]) -> dict[str, Floats]:
    """Capacities and energies: from the counters of the series if it has them, else by the trapezoid rule."""
    made = {}
    for counter, passed in zip(c.COUNTERS, ("charge:out", "charge:in", "energy:out", "energy:in"), strict=True):
        if counter in present:
            made[counter] = np.maximum(of(f"last:{counter}") - of(f"first:{counter}"), 0.0)
        else:
            made[counter] = of(passed)
    return made


def _column(name: str, values: Floats) -> Column:
    known = ~np.isnan(values)
    valid = None if bool(known.all()) else known
    filled = np.where(known, values, 0.0)
    whole = np.isfinite(filled) & (filled == np.floor(filled)) & (np.abs(filled) < 2**53)
    if name in _INTEGERS and bool(whole.all()):
        return Column("integer", filled.astype(np.int64), valid)
    return Column("number", values, valid)


def in_order(made: Mapping[str, Column]) -> dict[str, Column]:
    """The declared columns in their declared order, then all others."""
    declared = {described.name: made[described.name] for described in STEP_COLUMNS if described.name in made}
    return declared | {name: column for name, column in made.items() if name not in declared}
