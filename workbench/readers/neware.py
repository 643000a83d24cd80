"""Neware exports as text (BTSDA): the flat csv, one line a sample."""

from __future__ import annotations

from .columns import From
from .text import TextFormat

COLUMNS = (
    From("Time [s]", ("cumulative time", "total time", "test time", "relative time", "total testtime")),
    From("Current [A]", ("current", "cur"), "A"),
    From("Voltage [V]", ("voltage", "vol"), "V"),
    From("Step from cycler", ("step index", "step id", "step no", "step")),
    From("Cycle from cycler", ("cycle index", "cycle id", "cycle no", "cycle")),
    From("Charge capacity [A.h]", ("chg cap", "charge cap", "charge capacity", "cap chg"), "A.h", positive=True),
    From(
        "Discharge capacity [A.h]",
        ("dchg cap", "discharge cap", "discharge capacity", "cap dchg"),
        "A.h",
        positive=True,
    ),
    From("Charge energy [W.h]", ("chg energy", "charge energy", "engy chg", "eng chg"), "W.h", positive=True),
    From(
        "Discharge energy [W.h]",
        ("dchg energy", "discharge energy", "engy dchg", "eng dchg"),
        "W.h",
        positive=True,
    ),
    From("Temperature [degC]", ("t1", "temperature", "temp", "aux t1"), "degC"),
)

NEWARE = TextFormat(
    name="neware",
    brand="Neware",
    endings=(".csv", ".txt"),
    about="Flat text of BTSDA; known by the columns of record, cycle, step and step type.",
    needs=(
        ("datapoint", "record number", "record id", "data point", "record"),
        ("cycle index", "cycle id", "cycle no", "cycle"),
        ("step type", "step name", "state", "status"),
        ("current", "cur"),
        ("voltage", "vol"),
    ),
    columns=COLUMNS,
    sign="charge",
    counters="step",
    clocks=("date", "absolute time", "realtime", "real time", "date(h:min:s.ms)"),
)
