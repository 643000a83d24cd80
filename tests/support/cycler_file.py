"""Small files for the tests of the ingest, and an ingest straight into a store."""

from __future__ import annotations

from typing import Unpack

from workbench.ingest import IngestKeywords, IngestOptions, Limits, Report
from workbench.ingest import ingest as ingest_with
from workbench.ingest.options import FileProgress
from workbench.ingest.plan.paths import Paths
from workbench.store.store import Scope, Store


def ingest(
    store: Store,
    scope: Scope,
    paths: Paths,
    *,
    limits: Limits | None = None,
    progress: FileProgress | None = None,
    **options: Unpack[IngestKeywords],
) -> Report:
    """As ``workbench.ingest.ingest``, with the options as keywords."""
    return ingest_with(store, scope, paths, IngestOptions.of(options), limits=limits, progress=progress)


def cycler_text(cycles: int = 2, offset: float = 0.0) -> str:
    """Charge at 1 A, rest, discharge at 1 A, in each cycle: 33 rows a cycle, under our own names."""
    lines = ["Time [s],Current [A],Voltage [V],Cycle from cycler,Step from cycler,Note"]
    for cycle in range(cycles):
        for step, (current, volts) in enumerate([(-1.0, (3.0, 4.0)), (0.0, (4.0, 4.0)), (1.0, (4.0, 3.0))]):
            for k in range(11):
                time = 60.0 * (cycle * 33 + step * 11 + k)
                voltage = volts[0] + (volts[1] - volts[0]) * k / 10 + offset
                lines.append(f"{time},{current},{voltage:.4f},{cycle + 1},{step + 1},n{k}")
    return "\n".join(lines) + "\n"
