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
    LOOPS = _found if _found.VERSION == 1 else None


def doubles_of(columns: Sequence[Column]) -> tuple[NDArray[np.float64], ...] | None:
    """The values of columns without nulls as the loops take them; None if any is of another kind."""
    values = tuple(column.values for column in columns)
    fits = all(
        column.kind == "number" and column.valid is None and one.dtype == np.float64 and one.flags.c_contiguous
        for column, one in zip(columns, values, strict=True)
    )
    return values if fits else None
