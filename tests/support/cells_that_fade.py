"""A store of cells that fade alike, one of which may have its life in several tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

import workbench as wb

CELLS, CYCLES, FIRST, EACH = 8, 60, 25, 20


def capacity(number: int, cycle: int) -> float:
    """A.h; a cell fades by 0.4 % of its capacity in each cycle."""
    return 1.0 - (0.004 + 1e-5 * number) * cycle + 1e-4 * ((7 * cycle + 3 * number) % 5 - 2)


def samples(
    number: int, start: int, stop: int, amperes: float = 1.0, passed: Sequence[float] | None = None
) -> pd.DataFrame:
    """The cycles of a cell from one of its life to another, at one current, counted from 0 as a new file does; what
    each ``passed``, A.h, where it is not its capacity."""
    each = [capacity(number, cycle) for cycle in range(start, stop)] if passed is None else passed
    seconds = [3600 * one / amperes for one in each for _ in (0, 1)]
    begins = np.concatenate([[0.0], np.cumsum(seconds)[:-1]])
    shares = np.linspace(0.0, 1.0, EACH)
    # The first sample of a half cycle comes 1 s after the last one of the half cycle before it.
    time = (begins[:, None] + 1.0 + (np.array(seconds)[:, None] - 1.0) * shares).ravel()
    ways = amperes * np.tile(np.repeat([-1.0, 1.0], EACH), stop - start)
    volts = np.tile(np.concatenate([3.0 + 1.2 * shares, 4.2 - 1.2 * shares]), stop - start)
    frame = {"Time [s]": time - time[0], "Current [A]": ways, "Voltage [V]": volts}
    return pd.DataFrame({**frame, "Cycle count": np.repeat(np.arange(stop - start), 2 * EACH)})


@contextmanager
def cells(folder: Path) -> Iterator[wb.Bench]:
    """All cells but the first have one test; the first has none yet."""
    with wb.open(folder / "w.db") as opened:
        limits = {"voltage_min": {"value": 3.0, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}
        opened.specifications.create(name="cell", ratings={"capacity": {"value": 1.0, "unit": "A.h"}, **limits})
        opened.batches.create(name="A", specification="cell")
        for number in range(CELLS):
            opened.instances.create(name=f"C{number}", specification="cell", batch="A")
            if number:
                add(opened, f"C{number} whole", number, 0, CYCLES, "2024-01-01T00:00:00Z")
        yield opened


def add(
    bench: wb.Bench, name: str, number: int, start: int, stop: int, began: str | None, amperes: float = 1.0
) -> None:
    fields = {"name": name, "instance": f"C{number}", "tags": ["ageing"], "sign": "discharge"}
    fields |= {} if began is None else {"start_time": began}
    bench.measurements.create(time_series=samples(number, start, stop, amperes), **fields)
