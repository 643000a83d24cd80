"""Samples of exactly 0 V and 0 A between others: what a lost contact or a damaged file writes, and no cell."""

from __future__ import annotations

import numpy as np

from ..messages import counted
from .findings import Finding
from .run_statistics import Floats, Ints

_OF_A_CELL = 1.0
"""Volts before and after, from which no cell falls to exactly 0 between two samples without a current, and comes back.
A cell that is discharged to 0 V gets there by less."""


class EmptySamples:
    """Counts the samples of exactly 0 V and 0 A that are between samples of a cell with a voltage."""

    def __init__(self) -> None:
        self._count = 0
        self._first: tuple[int, float, float] | None = None
        """Number and time of the first one, and the voltage before it."""
        # What the next samples go on from: the last one with a voltage, and behind it the first of a run that is open.
        self._rows: Ints = np.zeros(0, np.int64)
        self._tail: tuple[Floats, Floats, Floats] = (np.zeros(0), np.zeros(0), np.zeros(0))
        self._open = 0

    def feed(self, row: int, time: Floats, current: Floats, voltage: Floats) -> None:
        """Take the next samples, each (n,) float; ``row`` is the number of the first. Those without values are left
        out."""
        known = np.flatnonzero(np.isfinite(voltage) & np.isfinite(current))
        if not len(known):
            return
        if not self._open and (voltage[known] != 0).all():
            self._keep(row + known[-1:], time[known[-1:]], current[known[-1:]], voltage[known[-1:]])
            return
        rows = np.concatenate([self._rows, row + known])
        t, i, v = (
            np.append(old, new[known]) for old, new in zip(self._tail, (time, current, voltage), strict=True)
        )
        weight = np.ones(len(rows), np.int64)
        weight[len(self._rows) - 1] += max(self._open - 1, 0)
        edges = np.flatnonzero(np.diff(((v == 0) & (i == 0)).astype(np.int8), prepend=0, append=0))
        starts, ends = edges[::2], edges[1::2]
        is_open = bool(len(ends)) and ends[-1] == len(v)
        passed = np.concatenate([[0], np.cumsum(weight)])
        self._open = int(passed[-1] - passed[starts[-1]]) if is_open else 0
        begin = [max(starts[-1] - 1, 0), starts[-1]][0 if starts[-1] else 1 :] if is_open else [len(v) - 1]
        self._keep(rows[begin], t[begin], i[begin], v[begin])
        inside = (starts > 0) & (ends < len(v))
        starts, ends = starts[inside], ends[inside]
        shown = (np.abs(v[starts - 1]) >= _OF_A_CELL) & (np.abs(v[ends]) >= _OF_A_CELL)
        starts, ends = starts[shown], ends[shown]
        self._count += int((passed[ends] - passed[starts]).sum())
        if len(starts) and self._first is None:
            self._first = int(rows[starts[0]]), float(t[starts[0]]), float(v[starts[0] - 1])

    def _keep(self, rows: Ints, time: Floats, current: Floats, voltage: Floats) -> None:
        self._rows, self._tail = rows, (time, current, voltage)

    def findings(self) -> list[Finding]:
        """A warning if there are any."""
        if self._first is None:
            return []
        row, time, before = self._first
        place = f"sample {row}" + (f" ({time:.6g} s)" if np.isfinite(time) else "")
        message = (
            f"The voltage and the current are exactly 0 in {counted(self._count, 'sample')} between others, first at "
            f"{place}, behind one of {before:.6g} V. No cell does that: the contact was lost, or a part of the file is "
            "damaged. Energies, charges and mean voltages count such samples. Copy or export the file again; if they "
            "stay, leave them empty in the file and ingest it again, or exclude their cycles."
        )
        return [Finding("odd", "samples_empty", message)]
