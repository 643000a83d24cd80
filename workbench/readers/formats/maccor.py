"""Maccor text and csv exports: tabs or commas, signed currents or a State beside unsigned ones."""

from __future__ import annotations

from ..table.columns import From, Split
from ..table.states import States
from ..table.text_format import TextFormat

MACCOR = TextFormat(
    name="maccor",
    brand="Maccor",
    endings=(".txt", ".csv", ".xlsx", ".001 and other channel numbers"),
    sign="charge",
    about="Text of MIMS Client and Maccor export; known by cycle, test time, amps, volts and state or DPt time.",
    needs=(
        ("cyc#", "cycle c", "cycle p", "cycle#", "cycle", "cyc"),
        ("step",),
        ("testtime", "test", "test time"),
        ("amps", "current", "amp", "mamps"),
        ("volts", "voltage", "mvolts"),
        ("dpt time", "dpttime", "es", "state", "md"),
    ),
    columns=(
        # A plain number without unit is in minutes; "0d 00:00:05" carries its own.
        From("Time [s]", ("testtime", "test time", "test"), "min"),
        From("Current [A]", ("amps", "current", "amp", "mamps"), "A"),
        From("Voltage [V]", ("volts", "voltage", "mvolts"), "V"),
        From("Step from cycler", ("step",)),
        From("Cycle from cycler", ("cyc#", "cycle p", "cycle#", "cycle", "cyc")),
        From("Temperature [degC]", ("temp 1", "temperature", "temp1"), "degC"),
    ),
    states=States(("state", "md"), charge=("C",), discharge=("D",)),
    splits=(
        Split(
            ("amp-hr", "amphr", "amp hr", "cap", "capacity"),
            "Charge capacity [A.h]",
            "Discharge capacity [A.h]",
            "A.h",
        ),
        Split(("mamp-hr", "mamphr", "mamp hr"), "Charge capacity [A.h]", "Discharge capacity [A.h]", "mA.h"),
        Split(
            ("watt-hr", "watthr", "watt hr", "ener", "energy"),
            "Charge energy [W.h]",
            "Discharge energy [W.h]",
            "W.h",
        ),
        Split(("mwatt-hr", "mwatthr", "mwatt hr"), "Charge energy [W.h]", "Discharge energy [W.h]", "mW.h"),
    ),
    counters="step",
    clocks=("dpt time", "dpttime", "date time"),
    start=r"(?:Date of Test:|Started)\s*(\S.*?)(?:\t|\s+Filename|$)",
)
