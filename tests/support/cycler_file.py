"""Small files for the tests of the ingest."""

from __future__ import annotations


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
