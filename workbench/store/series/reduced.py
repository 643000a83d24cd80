"""Samples that were chosen a moment ago, in memory: who adds one cell to a plot of twenty waits for that one alone."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Hashable, Iterator

import numpy as np

from ...dataset import Samples
from ...table import Array, Column, Table
from ..db.remembered import LARGEST, Remembered
from .layout import Row

MOST_BYTES = 32 << 20
_EACH, _EACH_COLUMN, _EACH_ARRAY = 1500, 600, 150
"""Bytes that Python takes for an answer with its name, for a column, and for an array, beside their values."""
_EACH_WORD = sys.getsizeof("") + 8


class Reduced:
    """The samples of reduced reads by the content of their series, so that none is ever out of date."""

    def __init__(self) -> None:
        self._kept = _memory()

    def of(self, row: Row, asked: Hashable, make: Callable[[], Samples]) -> Samples:
        """What was ``asked`` of the series of a row; ``make`` reads it if it is not here."""
        # The choice depends on the levels and the statistics too. Equal samples nearly always have equal ones.
        name = (row.content, row.base, row.buckets, zlib.crc32(row.stats), asked)
        try:
            kept = self._kept.get(name)
        except TypeError:  # a list has no hash
            return make()
        if isinstance(kept, Samples):
            return _shown(kept)
        made = make()
        size = _size(made)
        if size <= LARGEST:
            self._kept.keep(name, _with(made, _own), size)
        return made

    def forget(self) -> None:
        """Read everything anew, as a measurement of reading does."""
        self._kept = _memory()


def _memory() -> Remembered:
    return Remembered(most_things=4096, most_bytes=MOST_BYTES)


def _own(array: Array) -> Array:
    """A copy, which keeps no larger array in memory."""
    made = np.array(array)
    made.flags.writeable = False
    return made


def _shown(kept: Samples) -> Samples:
    """The same samples for a caller, who can change neither the table nor the arrays that are kept."""
    return _with(kept, lambda array: array.view())


def _with(samples: Samples, change: Callable[[Array], Array]) -> Samples:
    columns = {
        name: Column(one.kind, change(one.values), None if one.valid is None else change(one.valid), one.words)
        for name, one in samples.table.items()
    }
    return Samples(change(samples.rows), Table(columns, samples.table.n), samples.complete, samples.total)


def _size(samples: Samples) -> int:
    """Bytes of an answer in memory. Very many words are only counted: they are too large anyhow."""
    arrays = list(_arrays(samples))
    words = _EACH_WORD * sum(len(one.words) for one in samples.table.values())
    if words <= LARGEST:
        words = sum(sys.getsizeof(word) + 8 for one in samples.table.values() for word in one.words)
    beside = _EACH + _EACH_COLUMN * len(samples.table) + _EACH_ARRAY * len(arrays)
    return beside + sum(one.nbytes for one in arrays) + words


def _arrays(samples: Samples) -> Iterator[Array]:
    yield samples.rows
    for one in samples.table.values():
        yield one.values
        if one.valid is not None:
            yield one.valid
