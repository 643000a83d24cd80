"""LANDT text and workbooks: long names of the newer export, short ones with a slash of the older, in two languages."""

from __future__ import annotations

from dataclasses import replace

from ..table.columns import From, Split
from ..table.states import States
from ..table.text_format import TextFormat

LANDT = TextFormat(
    name="landt",
    brand="LANDT",
    endings=(".csv",),
    sign="charge",
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

LANDT_SHORT = replace(
    LANDT,
    name="landt-short",
    endings=(".xlsx", ".xls", ".csv", ".txt"),
    about="Known by 'TestTime/Sec' beside 'Current/mA' and 'Voltage/V', or the same in Chinese.",
    needs=(
        ("testtime", "测试时间"),
        (
            "systime",
            "record",
            "cycle-index",
            "step-index",
            "系统时间",
            "记录",
            "记录点",
            "循环序号",
            "步骤时间",
            "工步序号",
        ),
        ("current", "i", "电流"),
        ("voltage", "u", "电压"),
    ),
    columns=(
        From("Time [s]", ("testtime", "测试时间"), "s"),
        From("Current [A]", ("current", "i", "电流"), "A"),
        From("Voltage [V]", ("voltage", "u", "电压"), "V"),
        From("Step from cycler", ("step-index", "step index", "step", "工步序号", "步骤序号", "工步号")),
        From("Cycle from cycler", ("cycle-index", "cycle index", "cycle", "循环序号", "循环号")),
        From("Temperature [degC]", ("temperature", "温度"), "degC"),
    ),
    states=States(
        ("state", "mode", "status", "step-state", "work mode", "工作模式", "状态", "工步类型"), read=True
    ),
    splits=(
        Split(("capacity", "cap", "容量"), "Charge capacity [A.h]", "Discharge capacity [A.h]", "A.h"),
        Split(("energy", "en", "能量"), "Charge energy [W.h]", "Discharge energy [W.h]", "W.h"),
    ),
    counters="step",
    clocks=("systime", "系统时间"),
)
