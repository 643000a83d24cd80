"""PEC csv: a block of test data above the header, units in the header that differ from export to export."""

from __future__ import annotations

from ..table.columns import From
from ..table.text_format import TextFormat

PEC = TextFormat(
    name="pec",
    brand="PEC",
    endings=(".csv",),
    sign="charge",
    about="Known by the columns of test, cell, rack or shelf, step, cycle and total time.",
    needs=(("test",), ("cell",), ("step",), ("cycle",), ("total time", "test time"), ("voltage",), ("current",)),
    columns=(
        From("Time [s]", ("total time", "test time"), "s"),
        From("Current [A]", ("current",), "A"),
        From("Voltage [V]", ("voltage",), "V"),
        From("Step from cycler", ("step",)),
        From("Cycle from cycler", ("cycle",)),
        From("Charge capacity [A.h]", ("charge capacity",), "A.h", positive=True),
        From("Discharge capacity [A.h]", ("discharge capacity",), "A.h", positive=True),
        From("Charge energy [W.h]", ("charge energy", "charge capacity"), "W.h", positive=True),
        From("Discharge energy [W.h]", ("discharge energy", "discharge capacity"), "W.h", positive=True),
        From("Temperature [degC]", ("temperature", "cell temperature", "temperature 1"), "degC"),
        From("Ambient temperature [degC]", ("ambient temperature",), "degC"),
    ),
    clocks=("real time", "date time", "start time"),
)
