"""A rated capacity of 0 is one that nobody knows, one below 0 is refused; stores that hold it open and go on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.local_and_remote import WHERE, opened

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.records import Specification


def ratings(capacity: float) -> dict[str, dict[str, float | str]]:
    """Ratings of a cell of 3.0 to 4.2 V."""
    volts = {"voltage_min": {"value": 3.0, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
    return {"capacity": {"value": capacity, "unit": "A.h"}, **volts}


def ageing(cycles: int = 12) -> pd.DataFrame:
    parts, time = [], 0.0
    for cycle in range(cycles):
        hours = 1 - 0.005 * cycle
        for amps, first, last in ((2.0, 4.1, 3.0), (-2.0, 3.05, 4.2)):
            rows = {"Time [s]": time + 3600 * hours * np.arange(60) / 60, "Current [A]": amps}
            parts.append(pd.DataFrame({**rows, "Voltage [V]": np.linspace(first, last, 60), "Cycle count": cycle}))
            time += 3600 * hours
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("where", WHERE)
def test_a_capacity_below_0_is_refused_and_one_of_0_is_unknown(where: str, tmp_path: Path) -> None:
    with opened(tmp_path / "lab.db", where) as bench:
        with pytest.raises(
            WorkbenchError, match="rated capacity is above 0, or 0 where it is not known; it is -2"
        ):
            bench.specifications.create(name="S", ratings=ratings(-2.0))
        assert not len(bench.specifications.list())
        bench.specifications.create(name="S", ratings=ratings(0.0))
        with pytest.raises(WorkbenchError, match="it is -1"):
            bench.specifications.update("S", ratings=ratings(-1.0))
        bench.instances.create(name="c", specification="S")
        bench.measurements.create(instance="c", name="t", time_series=ageing(), sign="discharge")
        assert all(_valid(bench, kind) for kind in ("retention", "rate_capability"))
        assert not _valid(bench, "pseudo_ocv"), "a cycle at 1C is no curve at rest, whatever it refers to"
        fade = bench.figure("fade", over="throughput")
        assert list(fade.data[0].x[:2]) == pytest.approx([1, 2], abs=0.02)
        assert "rating unknown" in fade.layout.annotations[0].text


def _valid(bench: wb.Bench, kind: str) -> bool:
    bench.analyse(kind, "t")
    found = bench.analyses.get(bench.analyses.list(analysis_type=kind)["id"].iloc[-1])
    assert "must be a number above 0" not in str(found.metadata["workbench"])
    return bool(found.metadata["workbench"]["valid"])


def test_a_store_that_holds_a_capacity_below_0_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with wb.open(tmp_path / "lab.db") as bench, monkeypatch.context() as older:
        older.setattr(Specification, "problems_entered", lambda *_: [])
        bench.specifications.create(name="S", ratings=ratings(-2.0))
        bench.instances.create(name="c", specification="S")
    with wb.open(tmp_path / "lab.db") as bench:
        bench.measurements.create(instance="c", name="t", time_series=ageing(), sign="discharge")
        assert _valid(bench, "retention")
        assert min(bench.figure("fade", over="throughput").data[0].x) > 0
        bench.specifications.update("S", notes="from the sheet of the maker")
        bench.specifications.update("S", ratings=ratings(-2.0) | {"voltage_max": {"value": 4.3, "unit": "V"}})
        assert bench.specifications.update("S", ratings=ratings(2.0)).ratings.capacity.value == 2
