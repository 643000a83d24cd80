"""TOYO SYSTEM text: a time that starts again with each step, and a current without a sign, in English or Japanese."""

from __future__ import annotations

from ..table.columns import From
from ..table.states import States
from ..table.text_format import TextFormat

# Japanese files write some names with letters of half the width.
_STEP = ("mode", "ﾓｰﾄﾞ", "モード")
_CYCLE = ("cycle", "ｻｲｸﾙ", "サイクル")
_PASSED = ("passtime", "passed time", "経過時間")
STATES = States(("condition", "状態"), charge=("1", "充電"), discharge=("2", "放電"))

TOYO = TextFormat(
    name="toyo",
    brand="TOYO SYSTEM",
    endings=(".csv", "none: six digits"),
    sign="charge",
    about="Known by the columns of passed time, condition, mode, cycle, voltage and current, or the same in Japanese.",
    needs=(_PASSED, STATES.names, _STEP, _CYCLE, ("voltage", "電圧"), ("current", "電流")),
    columns=(
        From("Time [s]", ("time", "時刻")),
        From("Current [A]", ("current", "電流"), "A"),
        From("Voltage [V]", ("voltage", "電圧"), "V"),
        From("Step from cycler", _STEP),
        From("Cycle from cycler", _CYCLE),
        From("Temperature [degC]", ("temp1", "temp 1", "温度1", "温度"), "degC"),
    ),
    states=STATES,
    clocks=("date", "日付"),
    within_step=_PASSED,
)
