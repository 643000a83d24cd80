"""Neware exports as text (BTSDA): the flat csv, one line a sample, and the one of three nested levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .columns import From
from .reading import Note
from .text import TextFormat

COLUMNS = (
    From("Time [s]", ("cumulative time", "total time", "test time", "total testtime")),
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


def unnest() -> Callable[[bytes], bytes]:
    """A function that turns blocks of three nested kinds of lines into lines of samples only.

    A line of a cycle begins at the margin, one of a step behind one delimiter, one of a sample behind two; the
    sample gets the numbers of its cycle and step in these two places.
    """
    number = {"cycle": b"", "step": b"", "rest": b""}

    def rewrite(block: bytes) -> bytes:
        lines = (number["rest"] + block).split(b"\n")
        number["rest"] = lines.pop() if block else b""
        made = []
        for line in lines:
            mark = line[:1]
            if mark not in (b",", b"\t", b";"):
                number["cycle"] = _first_field(line)
            elif line[1:2] != mark:
                number["step"] = _first_field(line[1:])
            else:
                made.append(number["cycle"] + mark + number["step"] + line[1:])
        return b"".join(line + b"\n" for line in made)

    return rewrite


def _first_field(line: bytes) -> bytes:
    for mark in (b",", b"\t", b";"):
        line = line.split(mark, 1)[0]
    return line.strip(b'" \r')


NESTED = replace(
    NEWARE,
    name="neware-nested",
    about="Text of three nested kinds of lines (cycle, step, record); known by two empty names before the record's.",
    needs=(
        ("",),
        ("record id", "record number", "record no", "datapoint"),
        ("current", "cur"),
        ("voltage", "vol"),
    ),
    columns=(
        From("Cycle from cycler", ("column 1",)),
        From("Step from cycler", ("column 2",)),
        *(column for column in COLUMNS if column.to not in ("Cycle from cycler", "Step from cycler")),
    ),
    remarks=(Note("assumed", "summaries", "The lines of cycles and steps are summaries and were not stored."),),
    rewrite=unnest,
)
