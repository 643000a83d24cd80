"""Delimited text of any program with time, current and voltage: columns by common names, or by a column map."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..file.source import Head
from ..table.columns import From
from ..table.impedance import settle_imaginary
from ..table.missing_columns import may_be_samples
from ..table.states import States
from ..table.text_format import STEP_TIME_NAMES, TextFormat
from ..table.text_layout import HeaderLine, header_lines

TIME_NAMES = (
    "test time", "testtime", "total time", "tottime", "cumulative time", "elapsed time", "elapsed", "run time",
    "time elapsed", "testzeit", "prüfzeit", "programmdauer", "prog time", "测试时间", "总时间", "経過時間",
    "corrected time", "time", "t", "zeit", "tid", "tijd", "czas", "temps", "tiempo", "tempo", "时间", "時間",
    "시간", "время",
)  # fmt: skip
"""Names of the time of the whole test come first: a plain "time" beside them is the time of the step."""
CURRENT_NAMES = (
    "current",
    "i",
    "amps",
    "cell current",
    "i cell",
    "current measured",
    "measured current",
    "<i>",
    "cur",
    "strom",
    "courant",
    "corriente",
    "corrente",
    "ma",
    "电流",
    "電流",
    "전류",
    "ток",
    "current i",
    "we(1) current",
    "we current",
    "channel current",
    "c cur",
    "working electrode current",
    "amp",
    "ampere",
    "amperes",
    *("ström", "strøm", "stroom", "prąd"),
    "curr",
    "mamp",
    "mamps",
    "milliamp",
    "milliamps",
    "milliampere",
    "milliamperes",
    "battery current",
    "pack current",
    "module current",
    *("i bat", "ibat", "i batt", "ibatt", "battcurrent"),
)
VOLTAGE_NAMES = (
    "voltage", "v", "u", "volts", "potential", "cell voltage", "terminal voltage", "voltage measured", "ecell",
    "ewe", "measured voltage", "e", "vol", "ocv", "spannung", "tension", "tensión", "tensione", "tensão", "voltaje",
    "mv", "电压", "電圧", "電壓", "전압", "напряжение", "spänning", "spænding", "spenning",
    "spanning", "napięcie", "<ecell>", "<ewe>", "ewe-ece", "<ewe-ece>", "e cell", "e we",
    "u cell", "v cell", "cell potential", "electrode potential", "we(1) potential", "we potential", "working electrode",
    "working electrode potential", "vf", "potential applied", "volt", "mvolt", "mvolts", "millivolt", "millivolts",
    "ocp", "open circuit voltage", "open circuit potential", "battery voltage", "pack voltage", "module voltage",
    "channel voltage", "c vol", "v bat", "vbat", "v batt", "vbatt", "u bat", "ubat", "battvoltage",
)  # fmt: skip
CLOCK_NAMES = (
    "date",
    "date time",
    "datetime",
    "timestamp",
    "date and time",
    *("date/time", "date / time", "time/date", "date&time", "date-time", "datum/zeit", "datum/uhrzeit"),
    "clock",
    "absolute time",
    "system time",
    "datum",
    "zeitstempel",
    "time stamp",
    "系统时间",
    "绝对时间",
    *("日期", "日期时间", "日付", "日時", "날짜", "fecha", "data e ora", "date et heure", "fecha y hora"),
    *("uts", "unix time", "unixtime", "unix timestamp", "unix time stamp", "unixtimestamp", "unixzeit"),
    *("posix time", "posixtime", "epoch time", "epochtime", "epoch timestamp"),
    *("datenum", "matlab datenum", "matlab time", "excel time", "excel date"),
)
_OF_DIGATRON = ("programmdauer",)
"""The time of German exports of Digatron: milliseconds, with the unit or without."""
COLUMNS = (
    From("Time [s]", _OF_DIGATRON, "ms"),
    From("Time [s]", tuple(name for name in TIME_NAMES if name not in _OF_DIGATRON), "s"),
    From("Current [A]", CURRENT_NAMES, "A"),
    From("Voltage [V]", VOLTAGE_NAMES, "V"),
    From(
        "Step from cycler",
        (
            "step from cycler",
            "step index",
            "step number",
            "step",
            "step id",
            "stepid",
            "ns",
            "step count",
            "stepnumber",
            "stepindex",
            "schritt",
            "étape",
            "step no",
            "stepno",
            "step nr",
            "step#",
            "paso",
            "passo",
            "ステップ",
            "ｽﾃｯﾌﾟ",
            "스텝",
            *("schrittnummer", "schritt-nr", "schritt nr", "工步号", "工步序号", "工步索引", "步序号", "工步"),
        ),
    ),
    From(
        "Cycle from cycler",
        (
            "cycle from cycler",
            "cycle index",
            "cycle number",
            "cycle",
            "cycle id",
            "cyc",
            "cyc#",
            "cycle count",
            "cyclenumber",
            "cycleindex",
            "zyklus",
            "cycle no",
            "cycle nr",
            "number of cycle",
            "totcycle",
            "cycle#",
            "ciclo",
            "サイクル",
            "ｻｲｸﾙ",
            "사이클",
            *(
                "zyklusnummer",
                "zyklus-nr",
                "zyklus nr",
                "循环号",
                "循环",
                "循环次数",
                "循环序号",
                "循环索引",
                "循环圈数",
                "圈数",
                "循環",
                "循環號",
            ),
        ),
    ),
    From(
        "Discharge capacity [A.h]",
        (
            *(
                "discharge capacity",
                "discharging capacity",
                "dchg cap",
                "discharge cap",
                "q discharge",
                "qdischarge",
            ),
            *("dchg ah", "dischar cap", "dischargecapacity", "放电容量", "放電容量"),
            *("entladekapazität", "entladekapazitaet", "entladene kapazität", "kapazität entladen"),
            *("capacité de décharge", "capacité décharge", "capacidad de descarga", "capacità di scarica"),
        ),
        "A.h",
        positive=True,
    ),
    From(
        "Charge capacity [A.h]",
        (
            *("charge capacity", "charging capacity", "chg cap", "charge cap", "q charge", "qcharge", "chg ah"),
            *("char cap", "chargecapacity", "充电容量", "充電容量"),
            *("ladekapazität", "ladekapazitaet", "geladene kapazität", "kapazität laden"),
            *("capacité de charge", "capacité charge", "capacidad de carga", "capacità di carica"),
        ),
        "A.h",
        positive=True,
    ),
    From(
        "Discharge energy [W.h]",
        (
            "discharge energy",
            "discharging energy",
            "dchg energy",
            "energydischarge",
            "dischargeenergy",
            *("放电能量", "放電能量", "放電電力量"),
            *("entladeenergie", "entladene energie", "energie entladen"),
            *("énergie de décharge", "énergie décharge", "energía de descarga", "energia di scarica"),
        ),
        "W.h",
        positive=True,
    ),
    From(
        "Charge energy [W.h]",
        (
            *("charge energy", "charging energy", "chg energy", "energycharge", "chargeenergy"),
            *("充电能量", "充電能量", "充電電力量", "ladeenergie", "geladene energie", "energie laden"),
            *("énergie de charge", "énergie charge", "energía de carga", "energia di carica"),
        ),
        "W.h",
        positive=True,
    ),
    From(
        "Temperature [degC]",
        (
            "temperature",
            "temp",
            "temperatur",
            "cell temperature",
            "cell temp",
            "aux temp",
            "t1",
            "temperature 1",
            "aux temperature 1",
            "temperature t1",
            "temperature measured",
            "measured temperature",
            *("température", "temperatura", "温度", "温度1", "溫度", "온도", "температура"),
            *("zelltemperatur", "电池温度", "電池溫度", "電池温度"),
            *("battery temperature", "battery temp", "surface temperature", "cell surface temperature", "temp1"),
            *("temp 1", "temp cell", "t cell", "t bat", "tbat", "t batt", "batttemp", "t surf", "t surface", "T"),
            *("module temperature", "pack temperature"),
            *("volume-averaged cell temperature", "x-averaged cell temperature"),
        ),
        "degC",
    ),
    From(
        "Ambient temperature [degC]",
        (
            *("ambient temperature", "chamber temperature", "environment temperature", "ambient temp"),
            *("chamber temp", "temp chamber", "temp amb", "amb temp", "t amb", "t ambient", "t chamber", "t env"),
            *("umgebungstemperatur", "kammertemperatur", "环境温度", "環境溫度", "環境温度"),
        ),
        "degC",
    ),
    From("Frequency [Hz]", ("frequency", "freq", "frequenz"), "Hz"),
    From(
        "Z_Re [Ohm]",
        ("z re", "re(z)", "z real", "real(z)", "zreal", "zre", "z'", "real impedance", "rez", "z1"),
        "Ohm",
    ),
    From(
        "Z_Im [Ohm]",
        ("z im", "im(z)", "z imag", "imag(z)", "zimag", "zim", "z''", 'z"', "imaginary impedance", "imz", "z2"),
        "Ohm",
    ),
    From(
        "Z_Im [Ohm]",
        ("-im(z)", "-z im", "-zim", "-z''", "-zimag", "-z imag", "-z2", "-imz", '-z"'),
        "Ohm",
        negate=True,
    ),
    From("Z_Mod [Ohm]", ("z mod", "|z|", "zmod", "z mag", "impedance", "impedanz", "z"), "Ohm"),
    From("Z_Phase [deg]", ("z phase", "phase(z)", "phase", "zphz", "z phase degree", "phi", "theta"), "deg"),
    From("Z_Phase [deg]", ("-phase", "-phase(z)", "-phi", "-z phase"), "deg", negate=True),
)


STATES = States(
    (
        "state",
        "mode",
        "status",
        "step type",
        "steptype",
        "step mode",
        "step name",
        "step state",
        "work mode",
        "md",
    ),
    read=True,
)

_MOMENT = re.compile(r'"?\d{4}-\d\d-\d\d[ T]\d\d:\d\d')
_DURATION = re.compile(r'"?\d+ days?\b')


@dataclass(frozen=True)
class Delimited(TextFormat):
    """A text whose time may be the index of a table of pandas, which is written as a first column without a name."""

    def header(self, head: Head) -> HeaderLine | None:
        named = (_with_index(head, line) for line in header_lines(head) if not line.fields[0].strip())
        return super().header(head) or next((line for line in named if line.has(self.needs)), None)


def _with_index(head: Head, line: HeaderLine) -> HeaderLine:
    """A header whose first field gets the name of the times below it."""
    row = next((row for row in head.lines[line.below :] if row.strip()), "")
    name = "Timestamp" if _MOMENT.match(row) else "Time" if _DURATION.match(row) else ""
    return replace(line, fields=(name, *line.fields[1:]), keys=line.keys | {name.casefold()})


DELIMITED = Delimited(
    name="delimited",
    brand="any delimited text",
    endings=(".csv", ".tsv", ".txt"),
    about="Columns by their common names with units from the header, or by --map; the header line is found.",
    needs=((*TIME_NAMES, *CLOCK_NAMES, *STEP_TIME_NAMES), CURRENT_NAMES, VOLTAGE_NAMES),
    columns=COLUMNS,
    sign="found",
    states=STATES,
    clocks=CLOCK_NAMES,
    rule=11,
)


@dataclass(frozen=True)
class OpenCircuit(TextFormat):
    """A curve without time and current. A test with a capacity whose time or current has another name is not one."""

    def matches(self, head: Head) -> bool:
        header = self.header(head)
        return header is not None and not may_be_samples(header.fields)


OPEN_CIRCUIT = OpenCircuit(
    name="open-circuit",
    brand="open-circuit curve",
    endings=(".csv", ".txt"),
    about="A voltage over capacity, stoichiometry or SOC, without time or current.",
    needs=(VOLTAGE_NAMES, ("capacity", "stoichiometry", "sto", "soc", "state of charge")),
    columns=(
        From("Voltage [V]", VOLTAGE_NAMES, "V"),
        From("Capacity [A.h]", ("capacity",), "A.h"),
        From("Stoichiometry", ("stoichiometry", "sto")),
        From("SOC", ("soc", "state of charge")),
    ),
    sign="found",
)

IMPEDANCE = TextFormat(
    name="impedance",
    brand="impedance spectra",
    endings=(".csv", ".txt"),
    about="Frequency with real and imaginary impedance or modulus and phase, without current and voltage.",
    needs=(
        ("frequency", "freq", "frequenz"),
        tuple(name for column in COLUMNS if column.to in ("Z_Re [Ohm]", "Z_Mod [Ohm]") for name in column.names),
        tuple(name for column in COLUMNS if column.to in ("Z_Im [Ohm]", "Z_Phase [deg]") for name in column.names),
    ),
    columns=COLUMNS,
    sign="found",
    settle=settle_imaginary,
    rule=7,
)
