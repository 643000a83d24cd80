"""Samples of exactly 0 V and 0 A between others are named; those that a cell can have are not."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.cycling.empty_samples import EmptySamples


def said(voltage: list[float], current: list[float] | None = None, batch: int = 1000) -> list[str]:
    empty = EmptySamples()
    values = np.array(voltage)
    flows = np.where(values == 0, 0.0, 1.0) if current is None else np.array(current)
    for row in range(0, len(values), batch):
        part = slice(row, row + batch)
        empty.feed(row, 10.0 * np.arange(len(values))[part], flows[part], values[part])
    return [finding.message for finding in empty.findings()]


@pytest.mark.parametrize("batch", [1, 2, 3, 5, 1000])
def test_empty_samples_between_others_are_counted(batch: int) -> None:
    (message,) = said([0, 3.6, 3.5, 0, 0, 0, 3.4, 3.3, 0, np.nan, 0, 3.2, 0], batch=batch)
    assert "exactly 0 in 5 samples between others, first at sample 3 (30 s), behind one of 3.5 V." in message


@pytest.mark.parametrize("batch", [1, 2, 1000])
@pytest.mark.parametrize(
    ("voltage", "current"),
    [
        ([3.6, 3.5, 3.4], None),
        ([0, 0, 3.6, 3.5, 0, 0], None),  # a cell that is put in and taken out
        ([3.6, 1.2, 0.4, 0, 0, 0.1, 0.8, 1.5], None),  # discharged to 0 V
        ([0.01, 0, -0.01, 0, 0.01], None),  # a symmetric cell
        ([3.6, 0, 0, 3.6], [1, 1, 1, 1]),  # shorted: a current flows
        ([3.6, 0, 0, 3.6], [1, np.nan, np.nan, 1]),
    ],
)
def test_what_a_cell_can_have_is_not(voltage: list[float], current: list[float] | None, batch: int) -> None:
    assert said(voltage, current, batch) == []
