"""The impedance spectra of a frame: each sweep of frequency is one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...messages import counted
from ..checked import joined, temperature_cells, temperatures
from ..inputs import CYCLE, Floats, Refusal, excluded, need, numbers
from ..nyquist import FREQUENCY, IMAGINARY, REAL
from ..result import Cell
from .turns import turns

VOLTAGE, SOC = "Voltage [V]", "SOC"
HEAD = ("Spectrum", SOC, VOLTAGE)
FEWEST = 10
"""Points that a spectrum needs to be judged or fitted."""
_PER_DECADE = 5.0
_BACK = 1.0
_SWEEP = 0.7
_TURN = 0.999
_FEWEST_MOVES = 5
_AGAINST = 0.1
_INDUCTIVE = 0.75
Complexes = NDArray[np.complex128]


@dataclass(frozen=True)
class Spectrum:
    """One spectrum: ``frequency`` Hz, falling, and ``z`` Ohm, (n,) each. ``words`` are what is to be said of it, and
    ``sign`` whether nearly all of it is inductive, as if minus Z_Im had been stored."""

    number: int
    frequency: Floats
    z: Complexes
    soc: float
    voltage: float
    temperature: Floats
    words: str
    sign: bool

    @property
    def omega(self) -> Floats:
        """The angular frequency, 1/s."""
        return 2 * np.pi * self.frequency

    @property
    def head(self) -> dict[str, Cell]:
        """The cells that name it in a row."""
        return {"Spectrum": self.number, SOC: self.soc, VOLTAGE: self.voltage}

    @property
    def warmth(self) -> dict[str, Cell]:
        """The cells of its temperature."""
        return temperature_cells(self.temperature)


def spectra_of(frame: pd.DataFrame) -> list[Spectrum]:
    """The spectra of a frame, in order. A new one begins with another ``Cycle count``, where the frequency goes
    back by a decade or more against the direction of the sweep, and where a sweep turns into one of the other
    direction, both over a decade or more. Points that lack their frequency or a part of the impedance are left out, and
    the words of the spectrum in which they lie say how many.

    Raises
    ------
    Refusal
        If a column is missing, or no row has a frequency above 0 and an impedance.
    """
    need(frame, (FREQUENCY, REAL, IMAGINARY), 0)
    values = [numbers(frame, name) for name in (FREQUENCY, REAL, IMAGINARY)]
    there = [np.isfinite(one) for one in values]
    with np.errstate(invalid="ignore"):
        there[0] &= values[0] > 0
    is_in = ~excluded(frame)
    kept = there[0] & there[1] & there[2] & is_in
    if not kept.any():
        raise Refusal("no_samples", f"No row has '{FREQUENCY}' above 0, '{REAL}' and '{IMAGINARY}': no impedance.")
    rows = frame.loc[kept]
    frequency = values[0][kept]
    cuts = np.flatnonzero(_starts(frequency, numbers(rows, CYCLE)))
    # Samples between spectra have no frequency, and some exports write 0 there, beside an impedance of 0.
    lacking = np.flatnonzero((there[0] | (np.isnan(values[0]) & there[1] & there[2])) & ~kept & is_in)
    before = np.searchsorted(np.flatnonzero(kept), lacking) - 1  # the point that each of them follows
    lost = np.bincount(np.searchsorted(cuts, np.maximum(before, 0), side="right"), minlength=len(cuts) + 1)
    parts = np.split(np.arange(len(rows)), cuts)
    return [_spectrum(number, rows.iloc[part], int(lost[number])) for number, part in enumerate(parts)]


def _starts(frequency: Floats, cycle: Floats) -> NDArray[np.bool_]:
    """Whether each row but the first begins a spectrum, (n,); the first of the answer is False."""
    logs = np.log10(frequency)
    other = np.isfinite(cycle[1:]) & np.isfinite(cycle[:-1]) & (cycle[1:] != cycle[:-1])
    starts = np.concatenate([[False], _back(logs) | other])
    turned = [first + at for first, part in _parts(logs, starts) for at in _turned(part)]
    if turned:
        starts[turned] = True
        for first, part in _parts(logs, starts):
            # Sweeps up and down in one frame have no direction in common, so that jumps back are seen only here.
            starts[first + 1 : first + len(part)] |= _back(part)
    return starts


def _parts(values: Floats, starts: NDArray[np.bool_]) -> list[tuple[int, Floats]]:
    """The place of the first value of each part, and its values."""
    cuts = np.flatnonzero(starts)
    return list(zip([0, *cuts.tolist()], np.split(values, cuts), strict=True))


def _back(logs: Floats) -> NDArray[np.bool_]:
    """Whether each move goes back by a decade or more against the direction of the sweep, (n - 1,)."""
    moves = np.diff(logs)
    way = np.sign(np.median(moves)) if len(moves) else 0.0
    if len(moves) and float((np.sign(moves) == way).mean()) < _SWEEP:
        way = 0.0  # no sweep: the order says nothing
    return np.asarray((way != 0) & (np.abs(moves) >= _BACK) & (np.sign(moves) == -way))


def _turned(logs: Floats) -> list[int]:
    """Where a sweep follows one of the other direction: the place after the turn. Legs between turns that are jumps,
    or as ragged as those of frequencies in no order, do not count."""
    found = [place for place, _ in turns(logs, _TURN)]
    if len(found) < 2:
        return []
    after = logs[found[-1] :]
    ends = [*found, found[-1] + int(np.argmax(np.abs(after - after[0])))]
    sweeps = [_is_sweep(np.diff(logs[first : last + 1])) for first, last in pairwise(ends)]
    return [place + 1 for place, both in zip(ends[1:], pairwise(sweeps), strict=False) if all(both)]


def _is_sweep(moves: Floats) -> bool:
    way = np.sign(moves.sum())
    return len(moves) >= _FEWEST_MOVES and float((np.sign(moves) == -way).mean()) <= _AGAINST


def _spectrum(number: int, rows: pd.DataFrame, lost: int) -> Spectrum:
    frequency = numbers(rows, FREQUENCY)
    order = np.argsort(-frequency, kind="stable")
    moves = np.diff(np.log(frequency))
    sorted_ones = bool((moves <= 0).all() or (moves >= 0).all())
    f = frequency[order]
    z = (numbers(rows, REAL) + 1j * numbers(rows, IMAGINARY))[order]
    doubled = int((np.diff(f) == 0).sum())
    decades = float(np.log10(f[0] / f[-1]))
    per_decade = (len(f) - 1) / decades if decades > 0 else float("inf")
    sign = bool(len(f) > 4 and (z.imag > 0).mean() > _INDUCTIVE)
    words = [
        f"{counted(lost, 'point')} without a value left out" if lost else "",
        "" if sorted_ones else "the frequencies were not in order",
        f"{counted(doubled, 'frequency', 'frequencies')} measured twice" if doubled else "",
        f"only {per_decade:.1f} points a decade" if per_decade < _PER_DECADE else "",
        "most of it is inductive: Z_Im should be negative in the capacitive part" if sign else "",
    ]
    return Spectrum(number, f, z, _mean(rows, SOC), _mean(rows, VOLTAGE), temperatures(rows), joined(words), sign)


def _mean(rows: pd.DataFrame, name: str) -> float:
    values = numbers(rows, name)
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
