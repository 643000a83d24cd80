"""A small test as text, written into a folder, and the project that it is brought into."""

from __future__ import annotations

import gzip
from pathlib import Path

from workbench.records import Project
from workbench.store.scope import Scope
from workbench.store.store import Store


def first_scope(store: Store) -> Scope:
    chosen = store.rows.organizations()[0]
    project = store.rows.page(Project, Scope(chosen.id, None), limit=1).items[0]
    return Scope(chosen.id, project.id)


def cycler_text(cycles: int = 2, offset: float = 0.0) -> str:
    """A small test under our own column names: charge at 1 A, rest, discharge at 1 A, in each cycle."""
    lines = ["Time [s],Current [A],Voltage [V],Cycle from cycler,Step from cycler,Note"]
    for cycle in range(cycles):
        for step, (current, volts) in enumerate([(-1.0, (3.0, 4.0)), (0.0, (4.0, 4.0)), (1.0, (4.0, 3.0))]):
            for k in range(11):
                time = 60.0 * (cycle * 33 + step * 11 + k)
                voltage = volts[0] + (volts[1] - volts[0]) * k / 10 + offset
                lines.append(f"{time},{current},{voltage:.4f},{cycle + 1},{step + 1},n{k}")
    return "\n".join(lines) + "\n"


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path
