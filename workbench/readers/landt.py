"""LANDT csv: six lines of test data above the header, rows that end in one comma more."""

from __future__ import annotations

from .columns import From
from .text import TextFormat

LANDT = TextFormat(
    name="landt",
    brand="LANDT",
    endings=(".csv",),
    about="Known by the columns of channel, cycle and step index with 'test_time_s'.",
    needs=(("channel index",), ("cycle index",), ("step index",), ("test time",), ("current",), ("voltage",)),
    columns=(
        From("Time [s]", ("test time",), "s"),
        From("Current [A]", ("current",), "A"),
        From("Voltage [V]", ("voltage",), "V"),
        From("Step from cycler", ("step index",)),
        From("Cycle from cycler", ("cycle index",)),
        From("Charge capacity [A.h]", ("charge capacity",), "A.h", positive=True),
        From("Discharge capacity [A.h]", ("discharge capacity",), "A.h", positive=True),
        From("Charge energy [W.h]", ("charge energy",), "W.h", positive=True),
        From("Discharge energy [W.h]", ("discharge energy",), "W.h", positive=True),
        From("Temperature [degC]", ("temperature 1", "temperature"), "degC"),
    ),
    clocks=("date time iso string",),
)
