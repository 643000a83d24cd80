"""What a bench says of itself, and what a quick look says of its assumptions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import workbench as wb


def test_a_bench_names_its_store_its_project_and_what_it_holds(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        assert "nothing yet" in repr(bench)
        bench.dashboards.create("One")
        bench.dashboards.create("Two")
        for told in (repr(bench), bench._repr_html_()):
            assert all(part in told for part in ("lab.db", bench.backend.project.name, "2 dashboards"))


def test_every_assumption_of_a_quick_look_names_its_option(tmp_path: Path) -> None:
    time = np.arange(0, 400.0)
    current = np.where(time < 100, 0.0, np.where(time < 200, 1000.0, np.where(time < 300, 0.0, -1000.0)))
    voltage = 3.6 + 0.05 * current / 1000 + 0.0005 * np.cumsum(current) / 1000
    path = tmp_path / "cell.csv"
    pd.DataFrame({"t/s": time, "I/mA": current, "U/V": voltage}).to_csv(path, index=False)
    with wb.open(tmp_path / "lab.db") as bench, bench.quick(path) as quick:
        assumed = [line for level, line in quick.report.lines if level == "assumed"]
    assert assumed
    assert all("=" in line for line in assumed), assumed
    assert any("sign=" in line for line in assumed)
