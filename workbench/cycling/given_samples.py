"""The rules for samples that a person gives directly. Samples that break a rule are refused, never changed."""

from __future__ import annotations

import numpy as np

from ..errors import instead
from ..table import Table
from . import columns as c
from .columns import SERIES_COLUMNS
from .run_statistics import Floats, Ints

_SLACK = 1e-6
_NUMBERS = ("number", "integer", "null")


class Rules:
    """Checks batch by batch that samples are as a series stores them. ``broken``: rule -> message, each rule once.

    ``Time [s]`` starts at 0, never falls and is null only in impedance rows; ``Step count`` starts at 0 and rises
    by 0 or 1. Counters are never negative, start at 0 in each step and never fall within it.

    Parameters
    ----------
    time : last time of the samples that are already stored, if these follow them; None at the start. In s.
    step : the last step number of the stored samples.
    counters : the last value of each counter in that step.
    """

    def __init__(
        self, *, time: float | None = None, step: int | None = None, counters: dict[str, float] | None = None
    ) -> None:
        self.broken: dict[str, str] = {}
        self._row = 0
        self._fresh = step is None
        self._time = time
        self._step = -1 if step is None else step
        self._counters = dict(counters or {})

    def feed(self, table: Table, steps: Ints | None = None) -> None:
        """Check the next samples; ``steps`` (n,) gives their step numbers if the table has no such column."""
        numbers = self._kinds(table)
        if steps is None:
            steps = self._step_numbers(table)
        if c.TIME in numbers:
            self._check_time(numbers[c.TIME], numbers.get(c.FREQUENCY))
        if steps is not None and len(steps):
            for name in c.COUNTERS:
                if name in numbers:
                    self._check_counter(name, numbers[name], steps)
            self._step = int(steps[-1])
        self._row += table.n

    def _kinds(self, table: Table) -> dict[str, Floats]:
        found = {}
        for described in SERIES_COLUMNS:
            if described.name in table:
                kind = table[described.name].kind
                if kind in _NUMBERS:
                    found[described.name] = table[described.name].floats()
                else:
                    self._break(
                        f"kind {described.name}",
                        f"'{described.name}' must be a column of numbers, not of {kind} values.",
                    )
        return found

    def _step_numbers(self, table: Table) -> Ints | None:
        if c.STEP_COUNT not in table:
            self._break("step", f"'{c.STEP_COUNT}' is missing. {instead(c.STEP_COUNT, table.names, 'columns')}")
            return None
        column = table[c.STEP_COUNT]
        if column.kind not in _NUMBERS or bool(column.missing().any()):
            self._break("step", f"'{c.STEP_COUNT}' must be an integer in every row.")
            return None
        steps: Ints = column.values.astype(np.int64)
        if not len(steps):
            return steps
        if self._row == 0 and self._fresh and steps[0] != 0:
            self._break("step", f"'{c.STEP_COUNT}' must start at 0; it starts at {column.values[0]}.")
        rise = np.diff(column.values, prepend=column.values[:1] if self._step < 0 else [self._step])
        wrong = np.flatnonzero((rise != 0) & (rise != 1))
        if len(wrong):
            row = int(wrong[0])
            self._break(
                "step",
                f"'{c.STEP_COUNT}' must rise by 0 or 1; at row {self._row + row} it changes by {rise[row]:g}.",
            )
        return steps

    def _check_time(self, time: Floats, impedance: Floats | None) -> None:
        unknown = np.isnan(time) if impedance is None else np.isnan(time) & np.isnan(impedance)
        if unknown.any():
            row = self._row + int(np.flatnonzero(unknown)[0])
            self._break("null", f"'{c.TIME}' may be empty in impedance rows only; it is empty in row {row}.")
        known = np.flatnonzero(~np.isnan(time))
        if not len(known):
            return
        if self._time is None:
            self._time = float(time[known[0]])
            if self._time != 0:
                self._break(
                    "origin", f"'{c.TIME}' must start at 0; it starts at {self._time:g}. Subtract that value."
                )
        values = time[known]
        falls = np.flatnonzero(np.diff(values, prepend=self._time) < 0)
        if len(falls):
            row = self._row + int(known[falls[0]])
            before = self._time if falls[0] == 0 else values[falls[0] - 1]
            self._break(
                "time",
                f"'{c.TIME}' must never fall; in row {row} it goes from {before:g} to {values[falls[0]]:g}.",
            )
        self._time = max(self._time, float(values[-1]))

    def _check_counter(self, name: str, values: Floats, steps: Ints) -> None:
        known = np.flatnonzero(~np.isnan(values))
        if not len(known):
            return
        v, step = values[known], steps[known]
        same = np.concatenate([[step[0] == self._step and name in self._counters], step[1:] == step[:-1]])
        before = np.concatenate([[self._counters.get(name, 0.0)], v[:-1]])
        slack = _SLACK * max(float(np.abs(v[np.isfinite(v)]).max(initial=0.0)), 1e-6)
        for rule, wrong, words in (
            ("negative", v < 0, "is negative"),
            ("start", ~same & (v > slack), "does not start at 0 in its step"),
            ("fall", same & (v < before), "falls within its step"),
        ):
            if wrong.any():
                row = self._row + int(known[np.flatnonzero(wrong)[0]])
                self._break(f"{rule} {name}", f"'{name}' {words} in row {row}.")
        self._counters[name] = float(v[-1])

    def _break(self, rule: str, message: str) -> None:
        self.broken.setdefault(rule, message)
