"""Watches the voltage of a record that has no current, and was therefore taken as a rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...cycling.columns import VOLTAGE
from ...cycling.findings import Finding
from ...table import Table

_MOST_MOVED = 0.5
"""V. A cell that relaxes moves less."""


def watched(tables: Iterable[Table], notes: list[Finding]) -> Iterator[Table]:
    """The tables; a warning is added to ``notes`` after the last if the voltage moves as it does under load."""
    low, high = np.inf, -np.inf
    for table in tables:
        values = table[VOLTAGE].floats()
        values = values[np.isfinite(values)]
        if len(values):
            low, high = min(low, float(values.min())), max(high, float(values.max()))
        yield table
    if high - low > _MOST_MOVED:
        text = (
            f"The voltage moves from {low:.3g} V to {high:.3g} V, which is much for a cell at open circuit. If a "
            "current flowed, export the test with it."
        )
        notes.append(Finding("odd", "rest_moves", text))
