"""Basytec text: a header of lines that begin with a tilde, German dates."""

from __future__ import annotations

from .columns import From
from .text import TextFormat

BASYTEC = TextFormat(
    name="basytec",
    brand="Basytec",
    endings=(".txt",),
    about="Known by the columns '~Time', 'U', 'I', 'Line' and 'Command'.",
    needs=(("time",), ("u",), ("i",), ("line",), ("command",)),
    columns=(
        From("Time [s]", ("time",), "h"),
        From("Current [A]", ("i",), "A"),
        From("Voltage [V]", ("u",), "V"),
        From("Step from cycler", ("line",)),
        From("Cycle from cycler", ("cyc-count",)),
        From("Charge capacity [A.h]", ("ah-cyc-charge",), "A.h", positive=True),
        From("Discharge capacity [A.h]", ("ah-cyc-discharge",), "A.h", positive=True),
        From("Charge energy [W.h]", ("wh-cyc-charge",), "W.h", positive=True),
        From("Discharge energy [W.h]", ("wh-cyc-discharge",), "W.h", positive=True),
        From("Temperature [degC]", ("t1",), "degC"),
    ),
    counters="cycle",
    day_first=True,
    start=r"^~?Start of Test:\s*(.+)$",
)
