"""A text file in a folder, what is read from it, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.readers import read
from workbench.table import Table, concat

PLAIN = """time [s],current [A],voltage [V]
0,0,3.50
10,1.0,3.60
20,1.0,3.62
30,-1.0,3.40
40,-1.0,3.38
"""


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
