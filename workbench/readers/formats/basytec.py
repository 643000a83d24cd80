"""Basytec text: a header of lines that begin with a tilde, German dates."""

from __future__ import annotations

from dataclasses import fields

from ..table.columns import From
from ..table.text_format import TextFormat
from .by_blanks import ByBlanks

BASYTEC = TextFormat(
    name="basytec",
    brand="Basytec",
    endings=(".txt",),
    sign="charge",
    about="Known by the columns '~Time', 'U', 'I', 'Line' and 'Command'.",
    needs=(("time",), ("u",), ("i",), ("line",), ("command",)),
    columns=(
        From("Time [s]", ("time",), "h"),
        From("Current [A]", ("i",), "A"),
        From("Voltage [V]", ("u",), "V"),
        From("Step from cycler", ("line",)),
        From("Cycle from cycler", ("cyc-count", "cyc", "cycle")),
        From("Charge capacity [A.h]", ("ah-cyc-charge", "ah-charge", "ah-ch"), "A.h", positive=True),
        From("Discharge capacity [A.h]", ("ah-cyc-discharge", "ah-discharge", "ah-dis"), "A.h", positive=True),
        From("Charge energy [W.h]", ("wh-cyc-charge", "wh-charge"), "W.h", positive=True),
        From("Discharge energy [W.h]", ("wh-cyc-discharge", "wh-discharge"), "W.h", positive=True),
        From("Temperature [degC]", ("t1", "t", "temperature"), "degC"),
    ),
    counters="cycle",
    day_first=True,
    start=r"^~?Start of Test:\s*(.+)$",
)
BASYTEC_BLANKS = ByBlanks(
    **{
        field.name: getattr(BASYTEC, field.name)
        for field in fields(BASYTEC)
        if field.name not in ("name", "about")
    },
    name="basytec-blanks",
    about="As basytec, with fields separated by blanks.",
)
