"""Numbers the steps and cycles of samples, by what the cycler wrote or else by the current."""

from __future__ import annotations

import numpy as np

from ..table import Table
from . import columns as c
from .changes import ChangeCounter
from .findings import Finding
from .run_statistics import Floats, Ints


class StepNumbers:
    """Numbers steps from 0. It uses the first of these that the samples have:

    - their own ``Step count``, renumbered if it does not rise one by one;
    - ``Cycle from cycler`` with ``Step from cycler``;
    - rest, charge and discharge by the rest limit, and impedance sweeps, in each ``Cycle from cycler`` if there is one.

    Parameters
    ----------
    rest_limit : the largest magnitude of a current at rest, A; see `rest_limit.rest_limit`.
    uncounted : the cycler's step never rises although the cell is charged and discharged; it counts as none.
    """

    def __init__(self, rest_limit: float, *, uncounted: bool = False) -> None:
        self._uncounted = uncounted
        self._seen: set[float] = set()
        self.renumbered = False
        self.source: tuple[str, ...] | None = None
        self._counter = ChangeCounter()
        self._limit = rest_limit
        self._current = False

    @property
    def is_one_step(self) -> bool:
        """Whether the cycler wrote a step, and it is the same in all samples so far."""
        return len(self._seen) == 1

    @property
    def by_state(self) -> bool:
        """True if the steps were found from the current, alone or within the cycles."""
        return self.source in ((), (c.CYCLER_CYCLE,)) and self._current

    def feed(self, table: Table) -> Ints:
        """(n,) step numbers of the next samples."""
        if self.source is None:
            own = (c.STEP_COUNT,) if c.STEP_COUNT in table else (c.CYCLER_CYCLE, c.CYCLER_STEP)
            if self._uncounted:
                own = (c.CYCLER_CYCLE,)
            self.source = tuple(name for name in own if has_numbers(table, name))
            self._current = has_numbers(table, c.CURRENT)
        watched = [table[name].floats() for name in self.source]
        if c.CYCLER_STEP in self.source and len(self._seen) < 2:
            values = table[c.CYCLER_STEP].floats()
            self._seen.update(np.unique(values[np.isfinite(values)])[:2].tolist())
        if self.by_state:
            return self._counter.feed(*watched, self._states(table))
        if self.source:
            numbers = self._counter.feed(*watched)
            if self.source == (c.STEP_COUNT,):
                self.renumbered |= bool((watched[0] != numbers).any())
            return numbers
        return np.zeros(table.n, np.int64)

    def _states(self, table: Table) -> Floats:
        """(n,) 0 at rest, 1 on discharge, -1 on charge, 2 in an impedance sweep; NaN if the current is null."""
        current = table[c.CURRENT].floats()
        states = np.where(np.abs(current) <= self._limit, 0.0, np.sign(current))
        if has_numbers(table, c.FREQUENCY):
            states = np.where(np.nan_to_num(table[c.FREQUENCY].floats()) > 0, 2.0, states)
        return states

    def findings(self) -> list[Finding]:
        made = []
        if self.source in ((), (c.CYCLER_CYCLE,)):
            none = (
                "The step counter of the file never rises" if self._uncounted else "The file has no step counter"
            )
            message = f"{none}: {self._found_by()}."
            made.append(Finding("assumed", "steps_by_state", message))
        if self.renumbered:
            made.append(Finding("assumed", "steps_renumbered", "Steps were renumbered from 0, one by one."))
        return made

    def _found_by(self) -> str:
        if self.by_state:
            within = " within each cycle" if self.source else ""
            return f"a step is each rest, charge and discharge{within}"
        return "each cycle is one step" if self.source else "all samples are one step"


class CycleNumbers:
    """Numbers cycles from 0. The number rises with each change of ``Cycle from cycler``, or else of ``Cycle count``."""

    def __init__(self) -> None:
        self.source: str | None = None
        self._counter = ChangeCounter()

    def feed(self, table: Table) -> Ints:
        """(n,) cycle numbers of the next samples; all 0 if the file has no cycle numbers."""
        for name in (c.CYCLER_CYCLE, c.CYCLE_COUNT):
            if has_numbers(table, name):
                self.source = name
                return self._counter.feed(table[name].floats())
        return np.zeros(table.n, np.int64)

    @property
    def count(self) -> int:
        """How many cycles there are so far."""
        return self._counter.number + 1


def has_numbers(table: Table, name: str) -> bool:
    return name in table and table[name].kind in ("number", "integer", "null")
