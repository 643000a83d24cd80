"""A store whose tests grow, by samples that are added and by a file that gets longer, and plots of what they have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import workbench as wb
from support.cycler_file import cycler_text
from workbench.drawing import FigureAnswer

EXTENDED = (9_000, 16_384, 17_000, 40_000, 70_001)
"""How many samples the test has that is extended: within a chunk, at its end, and with levels above many."""
LINES = (20, 71, 130, 150, 199)
"""How many lines the file has that grows."""

_TESTS = {"op": "list", "source": "measurements", "fields": ["id", "name", "sample_count", "cycle_count"]}
_IDS = {"from": "tests", "column": "id"}
_DRAW = (
    "def transform(data, params):\n"
    "    traces = []\n"
    "    for step, found in data.items():\n"
    "        frames = {step: found} if hasattr(found, 'columns') else found\n"
    "        for id, frame in frames.items():\n"
    "            for column in frame.columns:\n"
    "                traces.append({'y': frame[column].tolist(), 'name': f'{step} {id} {column}'})\n"
    "    return {'data': traces, 'layout': {}}\n"
)


def _recipe(**steps: Any) -> dict[str, Any]:
    return {"plan": {"steps": {"tests": _TESTS, **steps}}, "transform": _DRAW}


PLOTS: dict[str, dict[str, Any]] = {
    "curves": _recipe(
        curves={
            "op": "series",
            "source": "measurements",
            "ids": _IDS,
            "x": "Time [s]",
            "columns": ["Voltage [V]", "Current [A]"],
            "max_points": 400,
        }
    ),
    "part": _recipe(
        curves={
            "op": "series",
            "source": "measurements",
            "ids": _IDS,
            "x": "Time [s]",
            "columns": ["Voltage [V]"],
            "window": {"min": 1000, "max": 30_000},
            "max_points": 300,
        }
    ),
    "steps": _recipe(
        steps={
            "op": "summary",
            "dataset": "steps",
            "ids": _IDS,
            "columns": [
                "Step count",
                "Duration [s]",
                "Discharge capacity [A.h]",
                "Charge capacity [A.h]",
                "Step type",
            ],
        }
    ),
    "cycles": _recipe(
        cycles={
            "op": "summary",
            "dataset": "cycles",
            "ids": _IDS,
            "columns": ["Cycle count", "Discharge capacity [A.h]", "Complete"],
        }
    ),
}


class Growing:
    """A bench whose two tests grow together, stage by stage; what each stage drew is kept in ``drawn``."""

    def __init__(self, bench: wb.Bench, folder: Path) -> None:
        self.bench, self.file, self.stage = bench, folder / "grows.csv", 0
        ratings = {
            name: {"value": value, "unit": unit}
            for name, value, unit in (
                ("capacity", 5.0, "A.h"),
                ("voltage_min", 2.5, "V"),
                ("voltage_max", 4.2, "V"),
            )
        }
        bench.specifications.create(name="M50", ratings=ratings)
        cell = bench.instances.create(name="A", specification="M50")
        self.samples = samples(EXTENDED[-1])
        self.board = bench.dashboards.create("Ageing")
        for name, recipe in PLOTS.items():
            self.board.save(name, recipe)
        self.id = bench.measurements.create(
            instance_id=cell.id, name="RPT", time_series=self.samples[: EXTENDED[0]]
        ).id
        self._ingest()

    def _ingest(self) -> None:
        lines = cycler_text(6).splitlines(keepends=True)
        self.file.write_text("".join(lines[: LINES[self.stage]]))
        self.bench.ingest(self.file)

    def grow(self) -> None:
        """Let both tests go on by a stage."""
        before = EXTENDED[self.stage]
        self.stage += 1
        self.bench.measurements.extend(self.id, self.samples[before : EXTENDED[self.stage]])
        self._ingest()


def samples(n: int) -> pd.DataFrame:
    """Cycles of 500 samples: a charge, a rest, a discharge."""
    place = np.arange(n)
    part = place % 500
    current = np.where(part < 220, -1.0, np.where(part < 280, 0.0, 1.0))
    noise = np.sin(place * 1.7) * 1e-3
    return pd.DataFrame(
        {
            "Time [s]": place * 2.0,
            "Step count": place // 500 * 3 + (part >= 220) + (part >= 280),
            "Cycle from cycler": place // 500,
            "Current [A]": current,
            "Voltage [V]": 3.0 + np.where(part < 250, part, 500 - part) / 250 + noise,
        }
    )


def drawn(bench: wb.Bench, name: str, as_of: int | None = None) -> FigureAnswer:
    """The plot of this name as it is drawn now, or as of a time."""
    backend = bench.backend if as_of is None else bench.backend.as_of(as_of)
    return backend.figure(bench.dashboards.get("Ageing").plot(name).record.config, {}, protected=False)
