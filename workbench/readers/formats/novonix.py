"""Novonix csv: sections in brackets above the data, times in hours, whole lines in quotes in some exports."""

from __future__ import annotations

from ..table.columns import From
from ..table.text_format import TextFormat

NOVONIX = TextFormat(
    name="novonix",
    brand="Novonix",
    endings=(".csv",),
    sign="charge",
    about="Known by the columns of run time, potential and cycle number.",
    needs=(("run time",), ("potential",), ("current",), ("cycle number",)),
    columns=(
        From("Time [s]", ("run time",), "h"),
        From("Current [A]", ("current",), "A"),
        From("Voltage [V]", ("potential",), "V"),
        From("Step from cycler", ("step number", "step position", "step type")),
        From("Cycle from cycler", ("cycle number",)),
        From("Temperature [degC]", ("temperature",), "degC"),
    ),
    clocks=("date and time",),
    start=r"^Started:\s*(.+)$",
)
