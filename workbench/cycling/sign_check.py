"""Checks the sign of the current against the voltage: a discharge (positive) lowers it, a charge raises it.

What a positive current means in a file is decided before, in ``readers/table/kinds_and_sign.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import BadRequest
from ..messages import option
from ..table import Column, Table
from . import columns as c
from .findings import Finding, Level
from .run_statistics import Floats, Ints

WINDOW = 64
_LEAST_MOVE = 0.002
_LEAST_EVIDENCE = 0.05
_SHARE = 0.25
_SMALL = 0.01
_MOST_RELAXED = 0.5
"""V. A cell that relaxes moves less."""


@dataclass(frozen=True)
class Taken:
    """How the sign of a current was read: what a positive current ``means`` in the file, and ``because`` of what.

    ``fixed``: the format or a rule says so, and nothing is open. ``by_format``: the format of the file documents it, so
    that the shape of the voltage is never a reason to refuse: in voltammetry and amperometry the voltage does not
    follow the current.
    """

    means: Literal["charge", "discharge", "unsigned"]
    because: str
    fixed: bool = False
    by_format: bool = False


SIGN_IS_FIXED = "nothing to choose: the format says what its sign means"
BY_CONVENTION = Taken("discharge", "that is the rule for samples given by hand", fixed=True)


@dataclass
class Votes:
    """Sums of voltage changes, V: those that agree with the sign of the current, and those that contradict it."""

    agree: float = 0.0
    contradict: float = 0.0

    def add(self, current: Floats, rise: Floats) -> None:
        """Add runs of samples: (n,) float each, mean ``current`` (A, not 0) and ``rise`` of the voltage (V)."""
        moved = np.abs(rise) >= _LEAST_MOVE
        against = current * rise > 0
        self.agree += float(np.abs(rise[moved & ~against]).sum())
        self.contradict += float(np.abs(rise[moved & against]).sum())

    @property
    def total(self) -> float:
        return self.agree + self.contradict

    @property
    def mixed(self) -> bool:
        low, high = sorted((self.agree, self.contradict))
        return low >= _LEAST_EVIDENCE and low >= _SHARE * high

    @property
    def against(self) -> bool:
        return self.contradict >= 2 * _LEAST_EVIDENCE and self.agree < _SHARE * self.contradict


class WindowVotes:
    """Votes of short runs of steady current. They work too if the file has no steps."""

    def __init__(self) -> None:
        self.votes = Votes()
        self.lowest, self.highest = 0.0, 0.0

    def feed(self, steps: Ints, current: Floats, voltage: Floats) -> None:
        """Take the next samples, each (n,). A run never crosses a batch."""
        known = np.isfinite(current)
        if known.any():
            self.lowest = min(self.lowest, float(current[known].min()))
            self.highest = max(self.highest, float(current[known].max()))
        count = len(current) // WINDOW
        if not count:
            return
        shape = (count, WINDOW)
        i, v = current[: count * WINDOW].reshape(shape), voltage[: count * WINDOW].reshape(shape)
        step = steps[: count * WINDOW].reshape(shape)
        with np.errstate(invalid="ignore"):
            mean = i.mean(axis=1)
            steady = i.max(axis=1) - i.min(axis=1) <= 0.05 * np.abs(mean)
            flows = np.abs(mean) > _SMALL * max(self.highest, -self.lowest)
            sound = (v.min(axis=1) > 0) & np.isfinite(v).all(axis=1) & (step[:, 0] == step[:, -1])
            chosen = steady & flows & sound
            self.votes.add(mean[chosen], (v[:, -1] - v[:, 0])[chosen])

    @property
    def one_signed(self) -> bool:
        """True if current flows, but in one direction only."""
        largest = max(self.highest, -self.lowest)
        return largest > 0 and min(self.highest, -self.lowest) <= 1e-3 * largest


def votes_of_steps(steps: Table) -> Votes:
    """Votes of the steps whose current never changes direction, by the voltage of their first and last sample."""
    votes = Votes()
    if not steps.n:
        return votes
    names = ("Mean current [A]", "Min current [A]", "Max current [A]", "Start voltage [V]", "End voltage [V]")
    mean, low, high, first, last = (steps[name].floats() for name in names)
    floor = steps["Min voltage [V]"].floats()
    largest = np.nanmax(np.abs(np.concatenate([low, high, [0.0]])))
    with np.errstate(invalid="ignore"):
        one_way = (low >= 0) | (high <= 0)
        chosen = one_way & (np.abs(mean) > _SMALL * largest) & (floor > 0) & ~np.isnan(first) & ~np.isnan(last)
    votes.add(mean[chosen], (last - first)[chosen])
    return votes


def _votes(steps: Table, windows: WindowVotes) -> Votes:
    """The votes of the steps, or those of the samples where the steps decide too little."""
    votes = votes_of_steps(steps)
    return windows.votes if votes.total < _LEAST_EVIDENCE else votes


def agrees(steps: Table, windows: WindowVotes) -> bool:
    """Whether the voltage shows that the sign of the current is right; see `judge`."""
    votes = _votes(steps, windows)
    return votes.total >= _LEAST_EVIDENCE and not votes.against and not votes.mixed


def judge(steps: Table, windows: WindowVotes, *, settled: bool, taken: Taken = BY_CONVENTION) -> list[Finding]:
    """The findings about the sign of the current; empty if it agrees with the voltage.

    Parameters
    ----------
    steps : the ``steps`` of the series.
    windows : the votes of its samples.
    settled : True if a person has said what the sign means. Then a contradiction is a warning, not a refusal.
    taken : how the sign was read, for the messages.
    """
    if windows.lowest == windows.highest == 0:
        return _without_load(steps)
    votes = _votes(steps, windows)
    mixed = votes.mixed or (windows.one_signed and windows.votes.mixed)
    level: Level = "odd" if settled or taken.by_format else "refused"
    seen = f"{votes.contradict:.3g} V of its movement contradict the sign, {votes.agree:.3g} V agree"
    if taken.by_format and not settled and windows.one_signed and mixed:
        message = (
            f"{_driven(taken, seen)} If the file leaves out the sign instead, say {option('sign', 'unsigned')}."
        )
        return [Finding(level, "sign_unsigned", message)]
    if taken.by_format and not settled and votes.against:
        return [Finding(level, "sign_reversed", _driven(taken, seen))]
    if windows.one_signed and mixed:
        message = (
            f"'{c.CURRENT}' has the same sign everywhere, but the voltage both rises and falls, so the sign does not "
            f"show the direction. Say {option('sign', 'unsigned')} to find the direction from the voltage. Say "
            f"{option('sign', 'charge')} or {option('sign', 'discharge')} if the direction really never changes."
        )
        return [Finding(level, "sign_unsigned", message)]
    if votes.against:
        message = (
            f"'{c.CURRENT}' seems to have the wrong sign: {_as_taken(taken)}, but the voltage moves in the other "
            f"direction ({seen}). "
        )
        message += _fix(taken) if not settled else "It is stored as you said."
        return [Finding(level, "sign_reversed", message)]
    if votes.mixed:
        message = f"'{c.CURRENT}' and the voltage do not always agree: {seen}; {_as_taken(taken)}."
        return [Finding("odd", "sign_mixed", message)]
    if votes.total < _LEAST_EVIDENCE and not settled:
        message = f"The voltage moves too little to check the sign of the current: {_as_taken(taken)}."
        return [Finding("assumed", "sign_unchecked", message, SIGN_IS_FIXED if taken.fixed else _confirmed(taken))]
    return []


def _without_load(steps: Table) -> list[Finding]:
    """A warning if the voltage of a series without current moves as it does under load.

    Spectra say nothing of it: they may be of several states of charge.
    """
    low, high = (steps[f"{end} voltage [V]"].floats() for end in ("Min", "Max"))
    seen = np.isfinite(low) & np.isfinite(high) & ~(steps["Mean frequency [Hz]"].floats() > 1e-8)
    lowest, highest = low[seen].min(initial=np.inf), high[seen].max(initial=-np.inf)
    if not highest - lowest > _MOST_RELAXED:
        return []
    message = (
        f"The current is 0 in all samples, but the voltage moves from {lowest:.3g} V to {highest:.3g} V, which is much "
        "for a cell at open circuit. If a current flowed, export the test with it, and with enough digits."
    )
    return [Finding("odd", "rest_moves", message)]


def _confirmed(taken: Taken) -> str:
    """The option that says what was taken."""
    return option("sign", taken.means)


def _driven(taken: Taken, seen: str) -> str:
    """The warning where the format fixes the sign, and the voltage does not follow it."""
    return (
        f"The voltage does not follow '{c.CURRENT}' ({seen}), as in voltammetry and amperometry, where it is driven. "
        f"The sign was kept: {_as_taken(taken)}."
    )


def _as_taken(taken: Taken) -> str:
    if taken.means == "unsigned":
        return f"the direction was chosen because {taken.because}"
    return f"a positive current was read as {taken.means} because {taken.because}"


def _fix(taken: Taken) -> str:
    """Which word for the sign agrees with the voltage, and which with the file."""
    if taken.means == "unsigned":
        return f"If its own sign is right, say {option('sign', 'charge')} or {option('sign', 'discharge')}."
    other = "discharge" if taken.means == "charge" else "charge"
    return (
        f"If the voltage is right, say {option('sign', other)}. If the sign is right, say "
        f"{option('sign', taken.means)}."
    )


def discharge_positive(samples: Table, sign: str | None) -> Table:
    """The samples with a current that is positive on discharge.

    ``sign``: what a positive current means in them, ``charge`` or ``discharge``; None: nobody said, they stay as they
    are.

    Raises
    ------
    BadRequest
        For another ``sign``.
    """
    if sign not in (None, "charge", "discharge"):
        raise BadRequest(f"'sign' says what a positive current means: 'charge' or 'discharge', not {sign!r}.")
    return _turned(samples) if sign == "charge" else samples


def _turned(samples: Table) -> Table:
    """The samples with the signs of current and power reversed: from positive on charge to positive on discharge."""
    columns = dict(samples.columns)
    for name in (c.CURRENT, c.POWER):
        column = columns.get(name)
        if column is not None and column.kind in ("number", "integer"):
            columns[name] = Column(column.kind, -column.values, column.valid)
    return Table(columns, samples.n)
