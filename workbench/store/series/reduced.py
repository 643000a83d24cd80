"""Samples that were chosen a moment ago, in memory: who adds one cell to a plot of twenty waits for that one alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from ...dataset import Samples
from ...table import Array, Column, Table
from ..db.remembered import Remembered
from .layout import Row

MOST_BYTES = 32 << 20


class Reduced:
    """The samples of reduced reads by the content of their series, so that none is ever out of date."""

    def __init__(self) -> None:
        self._kept = _memory()

    def of(self, row: Row, asked: Hashable, make: Callable[[], Samples]) -> Samples:
        """What was ``asked`` of the series of a row; ``make`` reads it if it is not here. Nobody may change it."""
        # The choice depends on the levels too.
        name = (row.content, row.base, row.buckets, asked)
        return self._kept.made(name, lambda: _alone(make()), _size)

    def forget(self) -> None:
        """Read everything anew, as a measurement of reading does."""
        self._kept = _memory()


def _memory() -> Remembered:
    return Remembered(most_things=4096, most_bytes=MOST_BYTES)


def _alone(samples: Samples) -> Samples:
    """The same samples in arrays of their own, which keep no larger ones in memory, and that nobody can change."""
    columns = {
        name: Column(one.kind, _own(one.values), None if one.valid is None else _own(one.valid), one.words)
        for name, one in samples.table.items()
    }
    return Samples(_own(samples.rows), Table(columns, samples.table.n), samples.complete, samples.total)


def _own(array: Array) -> Array:
    made = np.array(array)
    made.flags.writeable = False
    return made


def _size(samples: Samples) -> int:
    words = sum(len(word) for one in samples.table.values() for word in one.words)
    return 500 + samples.rows.nbytes + samples.table.nbytes + words
