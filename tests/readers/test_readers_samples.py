"""The sample data, written by another hand as exports of four brands, are read as its manifest says."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.readers import read
from workbench.readers.table.sign_evidence import polarity
from workbench.table import Table, concat

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
MEASUREMENTS: list[dict[str, Any]] = json.loads((SAMPLES / "manifest.json").read_text())["measurements"]


def passed(table: Table, sign: int) -> float:
    current, time = table["Current [A]"].floats() * sign, table["Time [s]"].floats()
    current = np.maximum(current, 0)
    return float(((current[1:] + current[:-1]) / 2 * np.diff(time)).sum() / 3600)


@pytest.mark.parametrize("measurement", MEASUREMENTS, ids=lambda measurement: str(measurement["name"]))
def test_measurement(measurement: dict[str, Any]) -> None:
    reading = read(SAMPLES / measurement["file"])
    table = concat(list(reading.batches))
    assert table.n == measurement["rows"]
    assert reading.start_time is not None
    begun = datetime.fromisoformat(measurement["start_time"].replace("Z", "+00:00"))
    assert abs((reading.start_time - begun).total_seconds()) <= 1.0
    assert not [note for note in reading.notes if note.level == "odd"]
    if "Frequency [Hz]" in table:
        assert table["Frequency [Hz]"].floats().min() > 0
        assert (table["Z_Im [Ohm]"].floats() < 0).mean() > 0.5
        return
    assert table["Time [s]"].values[0] == 0
    assert (np.diff(table["Time [s]"].values) >= 0).all()
    assert len(set(table["Cycle from cycler"].tolist())) == measurement["cycles"]
    assert table["Temperature [degC]"].floats().min() > 15
    current, voltage = table["Current [A]"].floats(), table["Voltage [V]"].floats()
    assert getattr(polarity(current, voltage), "means", None) in ("discharge", None)
    for name, sign in (("Discharge capacity [A.h]", 1), ("Charge capacity [A.h]", -1)):
        rises = np.maximum(np.diff(table[name].floats(), prepend=0), 0).sum()
        assert rises == pytest.approx(passed(table, sign), rel=0.02, abs=0.01)
