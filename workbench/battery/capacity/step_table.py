"""The half cycles of a test, from the ``steps`` summary: charges and discharges without the rests between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...cached_property import cached_property
from ..inputs import (
    CHARGE,
    CYCLE,
    DISCHARGE,
    STEP,
    TEMPERATURE,
    Floats,
    Refusal,
    excluded,
    in_order,
    need,
    numbers,
)

TYPE = "Step type"
DURATION, MEAN_CURRENT = "Duration [s]", "Mean current [A]"
NEEDS = (STEP, TYPE, DURATION, MEAN_CURRENT, DISCHARGE, CHARGE)
CC, CV, OTHER, REST = "CC", "CV", "Other", "Rest"
_PARTS = {"Constant current": CC, "Constant voltage": CV, "Rest": REST}
NEAR = 0.02
"""V; so near to a voltage is at it."""
_NOTHING = 1e-9
_SELDOM = 1.01


@dataclass(frozen=True)
class Steps:
    """The steps of one test in order, one value for each.

    ``part`` is CC, CV, Other or Rest; ``out`` and ``into`` the charge passed on discharge and charge, A.h;
    ``direction`` 1 discharge, -1 charge, 0 neither.
    """

    frame: pd.DataFrame
    part: NDArray[np.str_]
    out: Floats
    into: Floats
    duration: Floats
    _columns: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Steps:
        """From the ``steps`` summary of one test.

        Raises
        ------
        Refusal
            Without its columns or rows, or where a step lacks its charge.
        """
        need(frame, NEEDS, 1, "step")
        rows = in_order(frame, STEP)
        out, into = numbers(rows, DISCHARGE), numbers(rows, CHARGE)
        missing = np.flatnonzero(np.isnan(out) | np.isnan(into))
        if len(missing):
            step = numbers(rows, STEP)[missing[0]]
            raise Refusal("missing_charge", f"Step {step:g} has no '{DISCHARGE}' or '{CHARGE}'.")
        part = np.array([_part(word) for word in rows[TYPE]], np.str_)
        return cls(rows, part, out, into, np.nan_to_num(numbers(rows, DURATION)))

    @cached_property
    def direction(self) -> NDArray[np.int8]:
        """By what passed; a rest, and a step in which nothing passed, has none."""
        net = self.out - self.into
        least = _NOTHING * max(float(np.abs(net).max(initial=0.0)), _NOTHING)
        moving = (np.abs(net) > least) & (self.part != REST)
        return np.where(moving, np.sign(net), 0).astype(np.int8)

    @cached_property
    def excluded(self) -> NDArray[np.bool_]:
        """The steps that give no result."""
        return excluded(self.frame)

    def column(self, name: str) -> Floats:
        """(n,) a column of the summary."""
        # Each half cycle and each cycle asks for it.
        if name not in self._columns:
            self._columns[name] = numbers(self.frame, name)
        return self._columns[name]


def _part(word: object) -> str:
    text = str(word)
    return next((part for name, part in _PARTS.items() if text.startswith(name)), OTHER)


@dataclass(frozen=True)
class Half:
    """A charge or discharge: its rows of the step table in order, rests within it left out.

    ``direction`` 1 discharge, -1 charge; ``charge`` that passed, A.h, ``cc`` of it at constant current; ``current`` the
    mean of its longest constant-current step, A, without sign; ``rest`` before it, s.
    """

    steps: Steps
    rows: NDArray[np.intp]
    direction: int
    rest: float

    def passed(self, part: str | None = None) -> float:
        """The charge in its direction, A.h; of one part only if that is given."""
        flow = self.steps.out if self.direction > 0 else self.steps.into
        return float(flow[self._of(part)].sum())

    def energy(self, part: str | None = None) -> float:
        """The energy in its direction, W.h; NaN if a step lacks it."""
        name = "Discharge energy [W.h]" if self.direction > 0 else "Charge energy [W.h]"
        return float(self.steps.column(name)[self._of(part)].sum())

    def seconds(self, part: str | None = None) -> float:
        """The duration of its steps, s."""
        return float(self.steps.duration[self._of(part)].sum())

    def _of(self, part: str | None) -> NDArray[np.intp]:
        return self.rows if part is None else self.rows[self.steps.part[self.rows] == part]

    @property
    def currents(self) -> Floats:
        """The mean currents of its constant-current steps, A, without sign."""
        return np.abs(self.steps.column(MEAN_CURRENT)[self._of(CC)])

    @property
    def current(self) -> float:
        """The current of its constant-current part: of the step that passed most, A; NaN without one."""
        rows = self._of(CC)
        flow = self.steps.out if self.direction > 0 else self.steps.into
        return float(self.currents[np.argmax(flow[rows])]) if len(rows) else np.nan

    def first(self, name: str) -> float:
        """A column at its first step."""
        return float(self.steps.column(name)[self.rows[0]])

    def last(self, name: str) -> float:
        """A column at its last step."""
        return float(self.steps.column(name)[self.rows[-1]])

    @property
    def is_excluded(self) -> bool:
        """Whether one of its steps is left out."""
        return bool(self.steps.excluded[self.rows].any())

    @property
    def temperature(self) -> float:
        """The mean over its steps by duration, degC; NaN if unknown."""
        values, weights = self.steps.column(TEMPERATURE)[self.rows], self.steps.duration[self.rows]
        known = np.isfinite(values) & (weights > 0)
        return float(np.average(values[known], weights=weights[known])) if known.any() else np.nan

    @property
    def cycle(self) -> float:
        """The ``Cycle count`` of its first step; NaN without one."""
        return self.first(CYCLE)


def halves(steps: Steps, least: float = 0.0) -> list[Half]:
    """The half cycles in order. Those that pass less than ``least``, A.h, are dropped, and their neighbours of one
    direction are one half cycle."""
    direction = steps.direction
    moving = np.flatnonzero(direction)
    found = [run for run in np.split(moving, np.flatnonzero(np.diff(direction[moving])) + 1) if len(run)]
    net = steps.out - steps.into
    sizes = np.abs([float(net[run].sum()) for run in found])
    while found:
        smallest = int(np.argmin(sizes))
        if sizes[smallest] >= least:
            break
        found.pop(smallest)
        sizes = np.delete(sizes, smallest)
        if 0 < smallest < len(found):
            found[smallest - 1] = np.concatenate([found[smallest - 1], found.pop(smallest)])
            sizes = np.delete(sizes, smallest)
            sizes[smallest - 1] = abs(float(net[found[smallest - 1]].sum()))
    made = []
    for number, rows in enumerate(found):
        begin = found[number - 1][-1] + 1 if number else 0
        made.append(Half(steps, rows, int(np.sign(net[rows].sum())), _rested(steps, begin, int(rows[0]))))
    return made


def _rested(steps: Steps, begin: int, end: int) -> float:
    """How long the cell rested in the steps from ``begin`` up to ``end``, which is not among them, s.

    The durations of the rests, but the time between the loads where that is longer by more than 1 %: a cycler may log
    a rest seldom, or with one sample.
    """
    between = np.arange(begin, end)
    still = steps.part[between] == REST
    logged = float(steps.duration[between[still]].sum())
    if not still.any() or not begin:
        return logged
    apart = float(steps.column("Start time [s]")[end] - steps.column("End time [s]")[begin - 1])
    apart -= float(steps.duration[between[~still]].sum())
    return apart if apart > _SELDOM * logged else logged


def largest_discharge(found: list[Half]) -> float:
    """The largest charge of a discharge that is not left out, A.h; NaN without one."""
    return max((half.passed() for half in found if half.direction > 0 and not half.is_excluded), default=np.nan)
