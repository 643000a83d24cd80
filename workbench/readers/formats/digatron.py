"""Digatron text: a header of settings, names and below them units, in English or German."""

from __future__ import annotations

from ..table.columns import From
from ..table.states import States
from ..table.text_format import TextFormat

_TEMPERATURES = (
    *("temperature", "temperatur", "temp", "temp1", "temp 1", "t1"),
    *(f"temp{sensor}" for sensor in range(2, 65)),  # the number of a circuit, of which one cell has one
)

DIGATRON = TextFormat(
    name="digatron",
    brand="Digatron",
    endings=(".csv", ".txt"),
    sign="charge",
    about="Known by the columns of step, status, program time, voltage and current, or the same in German.",
    needs=(
        ("step", "schritt"),
        ("status", "zustand"),
        ("prog time", "program time", "program duration", "programmdauer"),
        ("voltage", "spannung"),
        ("current", "strom"),
    ),
    columns=(
        From("Time [s]", ("prog time", "program time", "program duration"), "s"),
        From("Time [s]", ("programmdauer",), "ms"),  # German exports write milliseconds, with the unit or without
        From("Current [A]", ("current", "strom"), "A"),
        From("Voltage [V]", ("voltage", "spannung"), "V"),
        From("Step from cycler", ("step", "schritt")),
        From("Cycle from cycler", ("cycle", "zyklus")),
        From("Charge capacity [A.h]", ("ahcha", "ahchg", "ahlad"), "A.h", positive=True),
        From("Discharge capacity [A.h]", ("ahdch", "ahdis", "ahela"), "A.h", positive=True),
        From("Charge energy [W.h]", ("whcha", "whchg", "whlad"), "W.h", positive=True),
        From("Discharge energy [W.h]", ("whdch", "whdis", "whela"), "W.h", positive=True),
        From("Temperature [degC]", _TEMPERATURES, "degC"),
        From("Ambient temperature [degC]", ("tenv",), "degC"),
    ),
    states=States(("status", "zustand"), charge=("CHA", "LAD"), discharge=("DCH", "ELA"), read=True),
    within_step=("step time", "step duration", "schrittdauer"),
    clocks=("time stamp", "timestamp", "date time", "zeit"),
    start=r"^(?:Start Time|Startzeit)[;,:\t ]+(\S.*?)[;,\t ]*$",
    rule=7,
)
