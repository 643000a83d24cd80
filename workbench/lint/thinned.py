"""A rule about curves of few points: the series was read with fewer samples than there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dataset import Samples, record_names
from ..messages import counted, spaced
from ..table import Table
from .figure_reader import FACTORS, Drawn, Floats, Trace
from .observation import Observation

_FEWEST, _FEW, _TIMES = 3, 30, 2
"""A curve has few points if it has fewer than so many, and its samples are more than so many times as many."""
_MOST_ROWS, _MOST_PLACES = 20_000, 50


def samples_left_out(drawn: Drawn) -> Iterator[Observation]:
    """Lines through few of the samples that the series has between their ends; once for each test."""
    if drawn.dataset is None:
        return
    runs = [(trace, run) for trace in drawn.scatters if trace.has_lines and (run := _run(trace)) is not None]
    if not runs:
        return  # most figures: to rank the values of all sources would take longer than all other rules together
    names = record_names(drawn.dataset.steps)
    sources = [
        _Source(names.get(id, id), samples)
        for result in drawn.dataset.steps.values()
        if not isinstance(result, Table)
        for id, samples in result.items()
        if not samples.complete and 0 < samples.table.n <= _MOST_ROWS and not _is_told(drawn, names.get(id, id))
    ]
    found: dict[str, list[tuple[Trace, int, int]]] = {}
    for trace, run in runs:
        for source in sources:
            if (of := source.samples_of(run)) is not None:
                if of > _TIMES * len(run.x):
                    found.setdefault(source.name, []).append((trace, len(run.x), of))
                break
    for name, curves in found.items():
        trace, shown, of = min(curves, key=lambda one: one[1] / one[2])
        some = "1 curve has" if len(curves) == 1 else f"{counted(len(curves), 'curve')} have"
        message = f"{some} few of the samples of '{name}': {trace.label} shows {spaced(shown)} of {spaced(of)}."
        yield Observation(message, trace.n)


def _is_told(drawn: Drawn, name: str) -> bool:
    """Whether a helper has said of this test that samples are missing."""
    told = (str(one.get("message")) for one in drawn.warnings if one.get("code") == "samples_left_out")
    return any(f"'{name}'" in words for words in told)


class _Run(NamedTuple):
    """The points of a curve, without those that a break in the line puts at its ends."""

    x: Floats
    y: Floats


def _run(trace: Trace) -> _Run | None:
    x, y = trace.x, trace.y
    if x is None or y is None or len(x) != len(y):
        return None
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    return _Run(x, y) if _FEWEST <= len(x) < _FEW and y.min() < y.max() else None


class _Source:
    """The samples of a test, and where each value of a column is."""

    def __init__(self, name: str, samples: Samples) -> None:
        self.name = name
        self._rows = samples.rows
        self._columns = [
            column.floats() for column in samples.table.values() if column.kind in ("number", "integer")
        ]
        self._orders = [np.argsort(values) for values in self._columns]
        self._sorted = [values[order] for values, order in zip(self._columns, self._orders, strict=True)]

    def samples_of(self, run: _Run) -> int | None:
        """How many samples the series has from the first to the last point of a curve; None if it is not from here.

        Both its x and its y are columns, one sample after the other, each times a usual factor.
        """
        for at in self._places(run.y):
            if any(_shows(run.x, values[at : at + len(run.x)]) for values in self._columns):
                return int(abs(self._rows[at + len(run.x) - 1] - self._rows[at])) + 1
        return None

    def _places(self, y: Floats) -> Iterator[int]:
        """The samples at which a column begins to show these values."""
        peak = int(np.argmax(np.abs(y)))
        for values, order, ranked in zip(self._columns, self._orders, self._sorted, strict=True):
            for factor in (*FACTORS, *-FACTORS):
                sought = y[peak] / factor
                room = 1e-9 * abs(sought)
                low, high = np.searchsorted(ranked, [sought - room, sought + room], "left")
                for at in (order[low : min(high, low + _MOST_PLACES)] - peak).tolist():
                    if at >= 0 and _alike(y, factor * values[at : at + len(y)]):
                        yield at


def _shows(given: Floats, values: Floats) -> bool:
    """Whether these values are those of a column, times a usual factor."""
    peak = int(np.argmax(np.abs(given)))
    if len(values) != len(given) or not values[peak]:
        return _alike(given, values)
    ratio = given[peak] / values[peak]
    fits: NDArray[np.bool_] = np.abs(abs(ratio) - FACTORS) <= 1e-9 * FACTORS
    return bool(fits.any()) and _alike(given, float(np.sign(ratio) * FACTORS[int(np.argmax(fits))]) * values)


def _alike(given: Floats, values: Floats) -> bool:
    return len(given) == len(values) and np.allclose(given, values, rtol=1e-9, atol=0)
