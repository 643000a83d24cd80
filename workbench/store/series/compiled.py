"""The loops of reading that are compiled, if a C compiler was at hand when the workbench was installed.

`compiled_loops.c` says what they are. Where ``LOOPS`` is None the same is done with numpy, in about twice the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from ...table import Column

try:
    from . import compiled_loops as _found
except ImportError:  # there was no compiler, or it is one for another system
    LOOPS: ModuleType | None = None
else:
    # An installation for developers keeps what was compiled from an older file.
    LOOPS = _found if _found.VERSION == 3 else None


def candidates(columns: Sequence[Column], size: int, kept: NDArray[np.bool_]) -> bool:
    """Mark the candidates of `sample_selection.candidates` in ``kept``; False, and nothing is marked, where numpy has
    to."""
    values = _doubles(columns) if LOOPS else None
    return bool(LOOPS and values is not None and LOOPS.candidates(values, size, kept))


def ordered(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """The places and the numbers of `reading._order`, of rows (lists, buckets); None where numpy has to find them."""
    if not LOOPS or not rows.flags.c_contiguous:
        return None
    order, kept = np.empty((2, rows.size), np.int64)
    many = LOOPS.ordered(rows, len(rows), order, kept)
    return None if many < 0 else (order[:many], kept[:many])


def choose(x: NDArray[np.float64], columns: Sequence[Column], most: int, kept: NDArray[np.bool_]) -> bool:
    """Mark the choice of `sample_selection.choose` in ``kept``; False, and nothing is marked, where numpy has to."""
    values = _doubles(columns) if LOOPS else None
    return bool(LOOPS and values is not None and LOOPS.choose(x, values, most, kept))


def _doubles(columns: Sequence[Column]) -> tuple[NDArray[np.float64], ...] | None:
    """The values of columns without nulls as the loops take them; None if any is of another kind."""
    values = tuple(column.values for column in columns)
    fits = all(
        column.kind == "number" and column.valid is None and one.dtype == np.float64 and one.flags.c_contiguous
        for column, one in zip(columns, values, strict=True)
    )
    return values if fits else None
