"""Neware exports as text (BTSDA): the flat csv with one line per sample, and the csv of three nested levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...cycling.findings import Finding
from ..file.source import Head
from ..table.columns import From, Split
from ..table.states import States
from ..table.text_format import TextFormat
from ..table.text_layout import HeaderLine

COLUMNS = (
    From(
        "Time [s]",
        ("cumulative time", "total time", "test time", "testtime", "total testtime", "总时间", "累计时间"),
    ),
    From("Current [A]", ("current", "cur", "电流"), "A"),
    From("Voltage [V]", ("voltage", "vol", "电压"), "V"),
    From(
        "Step from cycler",
        ("step index", "step id", "step no", "step number", "steps", "step", "工步号", "工步序号", "工步id"),
    ),
    From(
        "Cycle from cycler",
        ("cycle index", "cycle id", "cycle no", "cycle number", "cycle", "循环号", "循环序号", "循环id"),
    ),
    From(
        "Charge capacity [A.h]",
        (
            "chg cap",
            "charge cap",
            "charge capacity",
            "cap chg",
            "capacitance chg",
            "capacity chg",
            "charging capacity",
            "充电容量",
        ),
        "A.h",
        positive=True,
    ),
    From(
        "Discharge capacity [A.h]",
        (
            "dchg cap",
            "discharge cap",
            "discharge capacity",
            "cap dchg",
            "capacitance dchg",
            "capacity dchg",
            "discharging capacity",
            "放电容量",
        ),
        "A.h",
        positive=True,
    ),
    From(
        "Charge energy [W.h]",
        ("chg energy", "charge energy", "engy chg", "eng chg", "充电能量"),
        "W.h",
        positive=True,
    ),
    From(
        "Discharge energy [W.h]",
        ("dchg energy", "discharge energy", "engy dchg", "eng dchg", "放电能量"),
        "W.h",
        positive=True,
    ),
    From("Temperature [degC]", ("t1", "temperature", "temp", "aux t1", "aux1 temperature", "温度"), "degC"),
)

STATES = States(("step type", "step name", "state", "status", "工步类型", "工步名称", "状态"), read=True)

NEWARE = TextFormat(
    name="neware",
    brand="Neware",
    endings=(".csv", ".txt", ".xlsx", ".xls"),
    about="Flat text of BTS and BTSDA; known by the columns of record, cycle, step and step type or step time.",
    needs=(
        (
            "datapoint",
            "data serial number",
            "record number",
            "record id",
            "record index",
            "data point",
            "record",
            "数据序号",
            "记录序号",
            "记录id",
        ),
        ("cycle index", "cycle id", "cycle no", "cycle number", "cycle", "循环号", "循环序号", "循环id"),
        (*STATES.names, "step id", "step no", "工步id"),
        ("current", "cur", "电流"),
        ("voltage", "vol", "电压"),
    ),
    columns=COLUMNS,
    sign="charge",
    states=STATES,
    counters="step",
    splits=(
        Split(("capacity", "cap", "容量"), "Charge capacity [A.h]", "Discharge capacity [A.h]", "A.h"),
        Split(("energy", "engy", "能量"), "Charge energy [W.h]", "Discharge energy [W.h]", "W.h"),
    ),
    clocks=(
        "date",
        "date time",
        "datetime",
        "absolute time",
        "realtime",
        "real time",
        "date(h:min:s ms)",
        "绝对时间",
        "日期",
        "系统时间",
    ),
    within_step=("time", "relative time", "step time", "时间", "相对时间", "工步时间"),
    rule=6,
)


def unnest() -> Callable[[bytes], bytes]:
    """A function that keeps only the lines of samples from blocks of three nested kinds of lines.

    The line of a cycle starts without a delimiter, that of a step with one, that of a sample with two. The sample gets
    the numbers of its cycle and step in these two places. Where samples follow the line of a cycle at once, that line
    also has the first step: its number is the next field.
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
                number["step"] = _next_number(line)
            elif line[1:2] != mark:
                number["step"] = _first_field(line[1:])
            else:
                made.append(number["cycle"] + mark + number["step"] + line[1:])
        end = b"\n" if block else b""  # a last line without one may be incomplete
        return b"".join(line + end for line in made)

    return rewrite


def _next_number(line: bytes) -> bytes:
    """The second field of a line that is not empty; empty unless it is a whole number."""
    for mark in (b",", b"\t", b";"):
        fields = [field.strip(b'" \r') for field in line.split(mark)[1:]]
        for field in fields:
            if field:
                return field if field.isdigit() else b""
    return b""


def _first_field(line: bytes) -> bytes:
    for mark in (b",", b"\t", b";"):
        line = line.split(mark, 1)[0]
    return line.strip(b'" \r')


@dataclass(frozen=True)
class Nested(TextFormat):
    """Text whose header of samples begins with two empty names, for the lines of cycles and of steps."""

    def header(self, head: Head) -> HeaderLine | None:
        line = super().header(head)
        return line if line is not None and not any(field.strip() for field in line.fields[:2]) else None


NESTED = Nested(
    **vars(NEWARE)
    | {
        "name": "neware-nested",
        "about": "Text of three nested kinds of lines (cycle, step, record); known by two empty names before the "
        "record's.",
        "needs": (("",), (*NEWARE.needs[0], "record no"), *NEWARE.needs[-2:]),
        "columns": (
            From("Cycle from cycler", ("column 1",)),
            From("Step from cycler", ("column 2",)),
            *(column for column in COLUMNS if column.to not in ("Cycle from cycler", "Step from cycler")),
        ),
        "remarks": (
            Finding("assumed", "summaries", "The lines of cycles and steps are summaries. They were not stored."),
        ),
        "rewrite": unnest,
    }
)
