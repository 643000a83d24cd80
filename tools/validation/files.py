"""A test file as the workbench stores it: its steps, cycles and samples."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pandas as pd

import workbench as wb

from . import ROOT

SAMPLE = ROOT / "sample_data"
"""The project's own sample data, which are simulated."""


class ReadTest(NamedTuple):
    """The frames of one test."""

    steps: pd.DataFrame
    cycles: pd.DataFrame
    samples: pd.DataFrame


@cache
def read(path: Path) -> ReadTest:
    """A file, read as ``bench.quick`` reads it. Callers do not change the frames."""
    with (
        TemporaryDirectory() as folder,
        wb.open(Path(folder) / "bench.db") as bench,
        bench.quick(path) as quick,
    ):
        return ReadTest(quick.steps(), quick.cycles(), quick.table())
