"""What is asked of every public method of a bench, once local and once remote: right things and wrong ones.

A row is named after the methods that it is about, ``measurements.create``; its function gets a bench and ``ask``, which
takes down what a call answers, or raises, and gives the answer back.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import workbench as wb

Ask = Callable[[Callable[[], Any]], Any]
Row = Callable[[wb.Bench, Ask, Path], None]
ROWS: dict[str, Row] = {}
COVERED: set[str] = set()

DATA = Path(__file__).parents[2] / "sample_data"
SCRIPT = "def transform(data, params):\n    return px.bar(data['cells'], x='name')\n"
PLAN = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}}
NOWHERE = "01890000-0000-7000-8000-000000000000"
RATINGS = {
    "capacity": {"value": 5.0, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
TABLE = {"SOC": [0.1, 0.5, None], "R [Ohm]": [0.03, -0.0, 5e-324], "word": ["a", None, "ü"]}


def row(*methods: str) -> Callable[[Row], Row]:
    """These methods are asked by the function."""

    def keep(function: Row) -> Row:
        ROWS[function.__name__] = function
        COVERED.update(methods)
        return function

    return keep


def samples(n: int = 60, start: float = 0.0, step: int = 0) -> pd.DataFrame:
    """A charge and a discharge, a sample a second."""
    half = np.arange(n) < n // 2
    current = np.where(half, -1.0, 2.0)
    return pd.DataFrame(
        {
            "Time [s]": start + np.arange(n, dtype=float),
            "Current [A]": current,
            "Voltage [V]": np.where(half, 3.0, 4.0) - np.sign(current) * np.arange(n) / n / 2,
            "Step count": step + np.where(half, 0, 1),
            "Remark": [None, "x"] * (n // 2),
        }
    )


def recipe(script: str = SCRIPT, **params: Any) -> dict[str, Any]:
    return {"plan": PLAN, "transform": script, **({"params": params} if params else {})}


# The five methods that every collection has
