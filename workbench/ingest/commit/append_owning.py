"""More samples of a test that was read from a file: its steps own every interval, so all of them are made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...cycling import columns as c
from ...cycling.changes import ChangeCounter
from ...cycling.counted_cycles import counted_cycles
from ...cycling.run_statistics import Floats, Ints
from ...cycling.steps import START_INDEX, StepsBuilder, replaced
from ...table import Column, Table

Stored = Callable[[int], Iterator[Table]]
"""Gives the stored samples from a sample number on, in parts."""


@dataclass(frozen=True)
class Continued:
    """All ``steps``, and the new samples as they are to be stored. Where the new ones give stored samples another
    cycle, ``cycles`` (g,) has that of each step; else it is None."""

    steps: Table
    parts: list[Table]
    cycles: Ints | None = None

    def renumbered(self, part: Table) -> Table:
        """Samples with the cycles of their steps."""
        if self.cycles is None:
            return part
        first = int(self.steps[c.STEP_COUNT].values[0])
        return _numbered(part, self.cycles[part[c.STEP_COUNT].values.astype(np.int64) - first])


def continued(
    stored: Stored,
    before: Table,
    parts: Sequence[Table],
    *,
    cycler: float | None,
    counted: bool,
    rated_capacity_ah: float | None,
) -> Continued:
    """What becomes of a test with more samples; their cycles are numbered on where they have none.

    What the cycler counted between the stored steps stays. Between new ones the samples are integrated.

    Parameters
    ----------
    before : the stored steps.
    parts : the new samples, with all columns of the series.
    cycler : the last stored number of the cycler's cycle; None if there is none.
    counted : the cycles were counted from half cycles, if need be with the ``rated_capacity_ah`` that somebody said.
    """
    number = int(before[c.CYCLE_COUNT].values[-1])
    unnumbered = all(bool(part[c.CYCLE_COUNT].missing().all()) for part in parts)
    if unnumbered:
        cycles = ChangeCounter(number, None if counted else cycler)
        watched = c.CYCLER_CYCLE if cycler is not None and not counted else c.CYCLE_COUNT
        parts = [_numbered(part, cycles.feed(part[watched].floats())) for part in parts]
    builder = StepsBuilder(owning=True)
    for part in (*stored(0), *parts):
        builder.feed(part)
    steps = _with_counted(builder.finish(), before, stored, [name for name in c.COUNTERS if name in parts[0]])
    if not (unnumbered and counted):
        return Continued(steps, [*parts])
    found = counted_cycles(steps, rated_capacity_ah)
    made = Continued(replaced(steps, {c.CYCLE_COUNT: Column("integer", found)}), [], found)
    parts = [made.renumbered(part) for part in parts]
    same = bool((found[: before.n] == before[c.CYCLE_COUNT].values).all())
    return Continued(made.steps, parts, None if same else found)


def _numbered(part: Table, cycles: Ints) -> Table:
    return Table({**part.columns, c.CYCLE_COUNT: Column("integer", cycles)}, part.n)


def _with_counted(steps: Table, before: Table, stored: Stored, counters: Sequence[str]) -> Table:
    """``steps`` with what these counters gave the stored ones; the last of them goes on from there."""
    if not counters:
        return steps
    last = before.n - 1
    builder = StepsBuilder(owning=True)
    for part in stored(max(int(before[START_INDEX].values[last]) - 1, 0)):
        builder.feed(part)
    then = builder.finish()
    made: dict[str, Column] = {}
    for name in counters:
        values: Floats = steps[name].floats().copy()
        more = values[last] - then[name].floats()[-1]
        values[: before.n] = before[name].floats()
        values[last] += max(float(more), 0.0)
        made[name] = Column("number", values)
    return replaced(steps, made)
