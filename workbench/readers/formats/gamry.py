"""Gamry .DTA text: settings, then a table of the curve with a line of units below its names."""

from __future__ import annotations

from ..table.columns import From
from ..table.text_format import TextFormat

GAMRY = TextFormat(
    name="gamry",
    brand="Gamry",
    endings=(".DTA",),
    about="Curves of a potentiostat; known by the columns 'T', 'Vf' and 'Im'.",
    needs=(("pt",), ("t",), ("vf",), ("im",)),
    columns=(
        From("Time [s]", ("t",), "s"),
        From("Current [A]", ("im",), "A"),
        From("Voltage [V]", ("vf",), "V"),
        From("Temperature [degC]", ("temp",), "degC"),
    ),
    sign="found",
)
