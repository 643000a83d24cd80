"""What was read a moment ago, in memory: who adds one cell to a plot of twenty waits for that one alone, and who counts
other cycles of the same tests reads none of them again."""

from __future__ import annotations

import hashlib
import sys
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from ...dataset import Samples
from ...table import Array, Column, Table
from ..db.remembered import LARGEST, Remembered
from .layout import Row

MOST_BYTES, MOST_WHOLE_BYTES = 32 << 20, 16 << 20
"""Of samples, and of whole tables."""
_EACH, _EACH_COLUMN, _EACH_ARRAY = 1500, 600, 150
"""Bytes that Python takes for an answer with its name, for a column, and for an array, beside their values."""
_EACH_WORD, _EACH_OBJECT = sys.getsizeof("") + 8, sys.getsizeof(2**53)


class Recent:
    """Samples of reduced reads and whole tables, by the content of their series: none is ever out of date."""

    def __init__(self) -> None:
        self.forget()

    def samples(self, row: Row, asked: Hashable, make: Callable[[], Samples]) -> Samples:
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
        if size > LARGEST:
            return made
        kept = _with(made, _own)
        self._kept.keep(name, kept, size)
        return _shown(kept)

    def columns(
        self, rows: Sequence[Row], names: Sequence[str], read: Callable[[], Mapping[str, Column]]
    ) -> dict[str, Column]:
        """What ``read`` reads: columns of the tables of ``rows``, one table below the other. Nobody can change them."""
        content = hashlib.sha256(b"".join([row.content for row in rows])).digest()
        kept = self._whole.made(
            ("below", content, *names),
            lambda: {name: _sealed(one) for name, one in read().items()},
            _size_of_columns,
        )
        return dict(kept)

    def tables(
        self, rows: Sequence[Row], names: Sequence[str], read: Callable[[list[Row]], Mapping[str, Table]]
    ) -> dict[str, Table]:
        """Columns of whole tables by owner; ``read`` reads those that are not here. Nobody can change them."""
        held = {row.owner: self._whole.get(("table", row.content, *names)) for row in rows}
        absent = [row for row in rows if held[row.owner] is None]
        found = read(absent) if absent else {}
        made: dict[str, Table] = {}
        for row in rows:
            kept = held[row.owner]
            if not isinstance(kept, Table):
                kept = Table({name: _sealed(one) for name, one in found[row.owner].columns.items()}, row.rows)
                self._whole.keep(("table", row.content, *names), kept, _size_of_columns(kept.columns))
            made[row.owner] = Table(dict(kept.columns), kept.n)
        return made

    def forget(self) -> None:
        """Read everything anew, as a measurement of reading does."""
        self._kept = Remembered(most_things=4096, most_bytes=MOST_BYTES)
        self._whole = Remembered(most_things=4096, most_bytes=MOST_WHOLE_BYTES, largest=MOST_WHOLE_BYTES)


def _own(array: Array) -> Array:
    """An array that nobody can change and that keeps no larger one in memory: a copy of a part of one."""
    owned = array if array.base is None else np.array(array)
    owned.flags.writeable = False
    return owned


def _sealed(column: Column) -> Column:
    """The same column, whose arrays nobody can change, nor make changeable again."""
    arrays = [array for array in (column.values, column.valid, column.exact) if array is not None]
    # Short columns come by the hundreds: they are the bytes of the file as they are, which nobody can change.
    return _changed(column, _fixed) if any(array.flags.writeable for array in arrays) else column


def _fixed(array: Array) -> Array:
    array.flags.writeable = False
    if isinstance(array.base, np.ndarray):
        array.base.flags.writeable = False
    return _view(array)


def _view(array: Array) -> Array:
    return array.view()


def _shown(kept: Samples) -> Samples:
    """The same samples for a caller, who can change neither the table nor the arrays that are kept."""
    return _with(kept, _view)


def _with(samples: Samples, change: Callable[[Array], Array]) -> Samples:
    columns = {name: _changed(one, change) for name, one in samples.table.items()}
    return Samples(change(samples.rows), Table(columns, samples.table.n), samples.complete, samples.total)


def _changed(column: Column, change: Callable[[Array], Array]) -> Column:
    valid = None if column.valid is None else change(column.valid)
    exact = None if column.exact is None else change(column.exact)
    return Column(column.kind, change(column.values), valid, column.words, exact)


def _size(samples: Samples) -> int:
    return samples.rows.nbytes + _EACH_ARRAY + _size_of_columns(samples.table)


def _size_of_columns(columns: Mapping[str, Column]) -> int:
    """Bytes of an answer in memory. Very many words are only counted: they are too large anyhow."""
    size = _EACH + _EACH_COLUMN * len(columns)
    words = 0
    for column in columns.values():
        words += _EACH_WORD * len(column.words)
        for array in (column.values, column.valid, column.exact):
            if array is not None:
                objects = _EACH_OBJECT * len(array) if array.dtype == object else 0
                size += _EACH_ARRAY + array.nbytes + objects
    if 0 < words <= LARGEST:
        words = sum(sys.getsizeof(word) + 8 for one in columns.values() for word in one.words)
    return size + words
