"""Figures of simulations with more samples than a figure draws have no error of a selection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from support.simple_cell import notes

import workbench as wb


def noisy(samples: int) -> pd.DataFrame:
    """A simulation whose error has a root mean square of 1 mV."""
    time = np.arange(float(samples))
    error = np.random.default_rng(0).normal(0.0, 1.0, samples)
    measured = 3.7 + 0.3 * np.sin(time / 20_000)
    columns = {"Time [s]": time, "Current [A]": 1.0, "Voltage [V]": measured + error / 1000}
    columns |= {
        "Measured voltage [V]": measured,
        "Voltage error [mV]": error,
        "Step count": (time // 3600).astype(int),
    }
    return pd.DataFrame(columns)


def test_no_error_of_a_selection_is_printed(tmp_path: Path) -> None:
    """The selection keeps the extremes: it said 2.07 mV where 1.00 is true."""
    with wb.open(tmp_path / "lab.db") as bench:
        bench.simulations.create(name="long", time_series=noisy(30_000))
        for name in ("simulation", "simulation-residual"):
            figure = bench.figure(name)
            assert "rms" not in notes(figure)
            assert "error of all samples unknown" in notes(figure)
            assert "a selection of samples is drawn: long" in notes(figure)
            assert all(trace.type == "scatter" for trace in figure.data)
        bars = bench.figure("simulation-error")
        assert not bars.data
        assert "not all samples are read of long" in notes(bars)
        assert "of a selection of samples: long" in notes(bench.figure("simulation-error", quantity="largest"))
        bench.simulations.create(name="short", time_series=noisy(5000))
        assert "rms 0.995 mV, at most 3.9 mV" in notes(bench.figure("simulation"))
        assert list(bench.figure("simulation-error").data[0].x) == ["0", "1"]
