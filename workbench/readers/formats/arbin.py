"""Arbin text and workbooks, of MITS Pro and older: columns with units or without, date as text or epoch seconds."""

from __future__ import annotations

from ..table.columns import From
from ..table.text_format import TextFormat

ARBIN = TextFormat(
    name="arbin",
    brand="Arbin",
    endings=(".csv", ".txt", ".xlsx"),
    sign="charge",
    about="Known by the columns of test time, step time, step and cycle index.",
    needs=(("test time",), ("step time",), ("step index",), ("cycle index",), ("current",), ("voltage",)),
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
        From(
            "Temperature [degC]",
            (
                "aux temperature 1",
                "aux temperature(°c) 1",
                "aux temperature(℃) 1",
                "aux temperature(c) 1",
                "temperature",
            ),
            "degC",
        ),
    ),
    clocks=("date time", "datetime"),
)
