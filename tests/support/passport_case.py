"""A recipe that draws the curves of all tests, and samples of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

RECIPE: dict[str, Any] = {
    "plan": {
        "steps": {
            "tests": {"op": "list", "source": "measurements", "fields": ["id", "name", "sample_count"]},
            "curves": {
                "op": "series",
                "source": "measurements",
                "ids": {"from": "tests", "column": "id"},
                "x": "Time [s]",
                "columns": ["Voltage [V]", "Current [A]"],
            },
        }
    },
    "transform": (
        "def transform(data, params):\n"
        "    traces = []\n"
        "    for id, curve in data['curves'].items():\n"
        "        scaled = curve['Voltage [V]'] * params['scale']\n"
        "        traces.append({'x': curve.index.tolist(), 'y': scaled.tolist(), 'name': params['name']})\n"
        "    return {'data': traces, 'layout': {'title': {'text': '</script><b>Ü'}}}\n"
    ),
    "params": {
        "scale": {"kind": "view", "default": 1.0, "control": {"min": 0.0, "max": 9.0, "step": 0.5}},
        "name": {"kind": "view", "default": "cell", "control": {"label": "Name of the curves"}},
    },
}


def samples(n: int, start: float = 0.0) -> pd.DataFrame:
    time = start + np.arange(float(n))
    return pd.DataFrame(
        {
            "Time [s]": time,
            "Step count": np.zeros(n, np.int64),
            "Current [A]": np.full(n, 1.0),
            "Voltage [V]": 4.0 - time / 1000,
        }
    )
