"""What the plots of the built-in author say in numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.cells_that_fade import CYCLES, cells, samples

import workbench as wb
from workbench.gallery.author import written


def drawn(bench: wb.Bench, wish: str) -> wb.Figure:
    return bench.figure(written(wish, bench.backend)["draft"]["config"])


def test_a_slow_first_cycle_is_not_what_the_others_are_compared_with(tmp_path: Path) -> None:
    """A check-up at C/10 passes more than the cycles after it, which would be below 80 % of it at once."""
    with cells(tmp_path) as bench:
        slow = samples(0, 0, 1, amperes=0.1)
        slow["Time [s]"] *= 1.3
        later = samples(0, 1, CYCLES)
        later["Time [s]"] += float(slow["Time [s]"].iloc[-1]) + 10
        later["Cycle count"] += 1
        frame = pd.concat([slow, later], ignore_index=True)
        bench.measurements.create(time_series=frame, name="C0", instance="C0", tags=["ageing"], sign="discharge")
        figure = drawn(bench, "capacity fade, marked below 80 %")
        marked = {text.partition(": ")[0]: float(text.partition(": ")[2]) for trace in figure.data if trace.text
                  for text in trace.text}  # fmt: skip
        assert marked["C0"] == pytest.approx(51, abs=1.5)
        assert marked["C1"] == pytest.approx(50, abs=1.5)
        assert "at another current than most" in str(figure.layout.annotations)
