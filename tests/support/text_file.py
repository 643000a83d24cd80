"""A text file in a folder, what is read from it, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.readers import read
from workbench.table import Table, concat

PLAIN = """time [s],current [A],voltage [V]
0,0,3.50
10,1.0,3.60
20,1.0,3.62
30,-1.0,3.40
40,-1.0,3.38
"""
IMPEDANCE = """EC-Lab ASCII FILE
Nb header lines : 5
Acquisition started on : 05/13/2024 11:19:51.602

freq/Hz\tRe(Z)/Ohm\t-Im(Z)/Ohm\t|Z|/Ohm\tPhase(Z)/deg\ttime/s\t<Ewe>/V\t<I>/mA\tcycle number\t
1.0E+003\t1.0E-002\t2.0E-003\t1.02E-002\t-1.13E+001\t2.0E+000\t3.7E+000\t-1.0E+000\t1.0E+000
1.0E+002\t1.1E-002\t-1.0E-003\t1.1E-002\t5.2E+000\t4.0E+000\t3.7E+000\t1.0E+000\t1.0E+000
"""
TEST = [(10 * n, (0, -1, 0, 1.5)[n // 5 % 4], 3.6 - 0.05 * (0, -1, 0, 1.5)[n // 5 % 4]) for n in range(40)]
"""s, A with discharge positive, V."""


def file(folder: Path, text: str | bytes, name: str = "test.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def table(path: Path, **options: Any) -> Table:
    return concat(list(read(path, **options).batches))


def notes(path: Path, **options: Any) -> dict[str, str]:
    reading = read(path, **options)
    list(reading.batches)
    return {note.code: note.message for note in reading.notes}


def lines(samples: list[tuple[float, float, float]], when: Callable[[float], str] = str) -> list[str]:
    return [f"{when(t)},{i},{v:.4f}" for t, i, v in samples]


def holds_the_test(made: Table) -> None:
    times, current, voltage = (np.array(values) for values in zip(*TEST, strict=True))
    assert made["Time [s]"].floats() == pytest.approx(times)
    assert made["Current [A]"].floats() == pytest.approx(current)
    assert made["Voltage [V]"].floats() == pytest.approx(voltage)
