"""The message about a file that lacks a column: its columns, likely ones, and the column map that fixes it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from ...cycling.columns import CURRENT, TIME, VOLTAGE
from ...messages import column_map, option, quoted
from ...units import split_unit
from ..file.source import Head
from .columns import Plan
from .header_units import split_header, unit_of
from .impedance_names import impedance_key
from .text_layout import HeaderLine, is_number, split_line

_LOOKED_AT, _LEAST_ROWS = 20, 3
WORDS = {TIME: "time", CURRENT: "current", VOLTAGE: "voltage"}
_STEMS = {
    TIME: (
        "time",
        "zeit",
        "temps",
        "tiempo",
        "tempo",
        "second",
        "sekund",
        "date",
        "datum",
        "fecha",
        "时间",
        "時間",
    ),
    CURRENT: ("current", "strom", "courant", "corriente", "corrente", "amps", "ampere", "电流", "電流"),
    VOLTAGE: ("volt", "spannung", "tension", "tensión", "potential", "ewe", "ecell", "电压", "電圧"),
}
_STATISTICS = frozenset(
    (
        *("min", "minimum", "max", "maximum", "mean", "avg", "average", "median", "std", "deviation"),
        *("start", "starting", "begin", "initial", "end", "ending", "final", "last", "first", "sum"),
        *("mittel", "mittelwert", "anfang", "ende", "gesamt", "onset", "endpoint", "duration", "dauer", "own"),
    )
)
"""Words in the names of columns that have one value for a step or a cycle."""
_SETTINGS = frozenset(
    (
        *(
            "set",
            "setpoint",
            "target",
            "limit",
            "cutoff",
            "range",
            "nominal",
            "rated",
            "control",
            "soll",
            "sollwert",
        ),
        *("upper", "lower", "offset", "error", "aux", "auxiliary"),
    )
)
"""Words in the names of columns that say what was to be, or that are of something else than the cell."""
_IMPEDANCE = {
    "frequency": ("frequency", "Frequency [Hz]"),
    "z re": ("real part", "Z_Re [Ohm]"),
    "z im": ("imaginary part", "Z_Im [Ohm]"),
    "z mod": ("modulus", "Z_Mod [Ohm]"),
    "z phase": ("phase", "Z_Phase [deg]"),
}
_ANGULAR = re.compile(r"^(?:omega|ω|log\w*[\s(]*f)|rad/s", re.IGNORECASE)
"""Columns that give a frequency in another form: as an angular frequency or a logarithm."""
_PER_AREA = re.compile(r"(?:ohms?|[Ω\u2126])\s*[.·*]?\s*[cmµ]?m(?:2|²|\^2)", re.IGNORECASE)
"""Units of an impedance per area of electrode."""
_PER_AMOUNT = re.compile(
    r"(?<![a-z])[mµμun]?A\s*(?:/\s*[kmµ]?g\b|/\s*[cmµ]?m(?:2|²|\^2)|[\s.·*]*[kmµ]?g\s*\^?[-⁻−][1¹]"
    r"|[\s.·*]*[cmµ]?m\s*\^?[-⁻−][2²])",
    re.IGNORECASE,
)
"""Units of a current per mass or area of electrode: ``mA/g``, ``A/cm2``, ``mA cm-2``."""
_RATES = re.compile(
    r"c[ _-]?rate|(?:current|strom|courant|i)\s*(?:\[C\]|\(C\)|/\s*C|\[1/h\]|\(1/h\))", re.IGNORECASE
)
"""Headers of a current over the rated capacity: ``C-rate``, ``Current [C]``."""
_DISCHARGES = re.compile(r"dis-?cha?rg|dchg|dch\b|entlade|放电|放電|방전")
_CHARGES = re.compile(r"cha?rg|\bchg|\bcha?\b|lade|充电|充電|충전")
_OTHER_UNITS = {TIME: "Time [min]", CURRENT: "Current [mA]", VOLTAGE: "Voltage [mV]"}
_LETTERS = {CURRENT: ("i",), VOLTAGE: ("u", "v")}
"""First words of names such as ``U_cell``."""
_TIMES = frozenset(
    (
        *(
            "t",
            "ts",
            "stamp",
            "epoch",
            "unix",
            "unixtime",
            "utc",
            "clock",
            "when",
            "at",
            "elapsed",
            "dt",
            "tsec",
            "tms",
        ),
        *(
            "created at",
            "recorded at",
            "logged at",
            "measured at",
            "created",
            "logged",
            "tick",
            "ticks",
            "x",
            "x value",
        ),
        *("tid", "czas", "cas", "čas", "ido", "idő", "aika", "zaman", "время", "시간"),
    )
)
"""Whole names of times, as loggers write them and in other languages."""
_UNIT_NAMES = {"millis": "ms", "micros": "us", "secs": "s", "mins": "min"}
"""Names that are a unit of time and that no header has as its unit."""
_ALONE = ("min", "duration", "dauer")
"""Names of times, unless others beside them show that they are of a step."""


def why_refused(file: str, plan: Plan, missing: list[str], rest: str | None = None) -> str:
    """The message: which of time, current and voltage the file lacks, and how to fix it.

    ``missing`` are our names of the columns, ``plan`` are the columns of the file. ``rest``: the format that takes the
    current of this file as 0, if it lacks nothing else.
    """
    if len(missing) > 1 and of_a_spectrum(plan.labels):
        return why_no_spectrum(file, plan)
    words = [WORDS[name] for name in missing]
    listed = " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    has = f"'{file}' has no column that is known as {listed}. Its columns are {quoted(plan.labels)}. "
    free = [column.header for column in plan.columns if column.role in ("free", "clock")]
    per_amount = [header for header in free if CURRENT in missing and _PER_AMOUNT.search(header)]
    rates = [header for header in free if CURRENT in missing and _RATES.fullmatch(header.strip())]
    found = candidates(missing, [header for header in free if header not in (*per_amount, *rates)])
    if per_amount and CURRENT not in found.values():
        one = len(per_amount) == 1
        return (
            f"{has}{quoted(per_amount)} {'is' if one else 'are'} per mass or area of the electrode, not the current of "
            "the cell. Multiply by the mass or the area, and name the column with its unit, such as 'Current [mA]'."
        )
    if rates and CURRENT not in found.values():
        return (
            f"{has}{quoted(rates)} {'is' if len(rates) == 1 else 'are'} over the rated capacity, not the current of "
            "the cell. Multiply by the rated capacity in A.h, and name the column with its unit, such as 'Current [A]'."
        )
    parts = _of_two_directions(free) if CURRENT in found.values() else ()
    if parts:
        return (
            f"{has}{quoted(parts)} are one current in two columns. Make one column of them, charge less discharge, and "
            "name it with its unit, such as 'Current [A]'."
        )
    alone = [header for header in free if split_header(header).key in _ALONE]
    if missing == [TIME] and not found and len(alone) == 1 and not any(map(_is_statistic, {*free} - {*alone})):
        found = {alone[0]: TIME}
    summary = [header for header in free if _is_statistic(header)]
    if summary and not found:
        return (
            f"{has}Columns such as {quoted(summary[:2])} belong to a table of steps or cycles, which has one row for "
            "each. Export the samples of the test instead."
        )
    if rest is not None and missing == [CURRENT] and not found:
        rested = f"If the cell had no load, say {option('format', rest)}; else"
        return f"{has}{rested} export the test again with its current."
    if found:
        rest = "" if len(found) == len(missing) else " Name the rest in the same way."
        rest += "".join(_unit_unknown(header, name) for header, name in found.items())
        rest += "".join(_rivals(header, name, free) for header, name in found.items())
        rest += "".join(_unit_unsaid(header, name) for header, name in found.items())
        said = column_map({header: _with_its_unit(header, name) for header, name in found.items()})
        return f"{has}If they mean what their names suggest, say {said}.{rest}"
    meant = column_map({f"its {WORDS[name]} column": name for name in missing})
    if free:
        return f"{has}Say which they are with {meant}, or export the test again with them."
    return f"{has}If one of them is the {listed} after all, say {meant}; else export the test again with it."


def of_a_spectrum(labels: Sequence[str]) -> bool:
    """Whether columns look like those of an impedance spectrum that are not all known."""
    labels = [label for label in labels if not _is_statistic(label)]
    keys = {(impedance_key(label) or "").removeprefix("-") for label in labels}
    units = [unit.base for label in labels if (unit := unit_of(split_header(label).unit)) is not None]
    swept = "frequency" in keys or "Hz" in units or any(_ANGULAR.search(label) for label in labels)
    in_ohm = "Ohm" in units or any(_PER_AREA.search(label) for label in labels)
    return {"z re", "z im"} <= keys or (swept and (bool(keys & {"z re", "z im", "z mod"}) or in_ohm))


def why_no_spectrum(file: str, plan: Plan) -> str:
    """The message about a spectrum that lacks a frequency or a part of the impedance, and how to fix it."""
    meant = {label: impedance_key(label) for label in plan.labels}
    known = {str(key).removeprefix("-"): label for label, key in meant.items() if key is not None}
    parts = ("z mod", "z phase") if "z phase" in known and "z im" not in known else ("z re", "z im")
    missing = [name for name in ("frequency", *parts) if name not in known]
    listed = " or ".join(_IMPEDANCE[name][0] for name in missing)
    lacks = f", but has no column that is known as {listed}" if listed else ""
    text = f"'{file}' looks like an impedance spectrum{lacks}. "
    text += f"Its columns are {quoted(plan.labels)}. "
    angular = next((label for label in plan.labels if _ANGULAR.search(label)), None)
    if "frequency" in missing and angular is not None:
        return f"{text}'{angular}' is not a frequency in Hz. Export the spectrum with one, or add such a column."
    per_area = [label for label in plan.labels if _PER_AREA.search(label)]
    if per_area:
        one = len(per_area) == 1
        return (
            f"{text}{quoted(per_area)} {'is' if one else 'are'} per area of the electrode. Export the spectrum in Ohm, "
            f"or divide {'it' if one else 'them'} by the area."
        )
    found: dict[str, str] = {}
    for name in ("frequency", *parts):
        word, ours = _IMPEDANCE[name]
        free = [label for label in plan.labels if meant[label] is None and label not in found]
        label = known.get(name) or next((label for label in free if _has_unit(label, ours)), None)
        minus = "-" if meant.get(label or "") == f"-{name}" else ""
        found[label or f"its column of the {word}"] = f"{minus}{ours}"
    text += f"If they mean what their names suggest, say {column_map(found)}."
    return f"{text} Write '-Z_Im [Ohm]' if a capacitive part is positive." if parts[1] == "z im" else text


def candidates(missing: list[str], headers: list[str]) -> dict[str, str]:
    """Header -> our name, for headers whose unit or name fits a missing column. Each header is used once."""
    found: dict[str, str] = {}
    for name in missing:
        left = [header for header in headers if header not in found and not _is_of_no_sample(header)]
        fitting = [header for header in left if _fit(header, name)]
        if fitting:
            found[max(fitting, key=lambda header: _fit(header, name))] = name
    return found


def _fit(header: str, name: str) -> int:
    """How well a header fits a column: 0 if neither its unit nor its name does. A name that is a time goes before the
    unit of another, such as that of how long a loop took."""
    unit, sounds = _has_unit(header, name), _sounds_like(header, name)
    if unit and sounds:
        return 4
    return 3 if _is_time(header, name) else 2 if unit else int(sounds)


def _is_time(header: str, name: str) -> bool:
    return name == TIME and split_header(header).key in _TIMES


def _rivals(header: str, name: str, headers: list[str]) -> str:
    """The sentence about other columns that could be meant as well as the one that is proposed."""
    others = [
        other for other in headers if other != header and not _is_of_no_sample(other) and _has_unit(other, name)
    ]
    could = f" {quoted(others, most=5)} could be the {WORDS[name]} too: name the right one."
    return could if others and (_has_unit(header, name) or _is_time(header, name)) else ""


def may_be_samples(headers: Sequence[str]) -> bool:
    """Whether a column may be a time or a current, by its unit or its name."""
    return bool(candidates([TIME, CURRENT], list(headers)))


def _of_two_directions(headers: Sequence[str]) -> list[str]:
    """The column of charge currents and that of discharge currents, if there is one of each."""
    alike = [header for header in headers if candidates([CURRENT], [header])]
    discharges = [header for header in alike if _DISCHARGES.search(split_header(header).key)]
    charges = [
        header for header in alike if header not in discharges and _CHARGES.search(split_header(header).key)
    ]
    return [charges[0], discharges[0]] if len(charges) == len(discharges) == 1 else []


def _unit_unknown(header: str, name: str) -> str:
    """The sentence about a unit in a header that is not known, so that nobody maps its values as they are."""
    unit = split_header(header).unit
    if unit is None or unit_of(unit) is not None:
        return ""
    other = _OTHER_UNITS[name]
    return f" The unit '{unit}' is not known: say what the values are in, such as '{other}'."


def _unit_of_name(header: str) -> str | None:
    """The unit of time that is the whole name of a column, as in ``ms``."""
    split = split_header(header)
    unit = _UNIT_NAMES.get(split.key, split.key)
    known = unit_of(unit) if split.unit is None else None
    return unit if known is not None and known.base == "s" else None


def _with_its_unit(header: str, name: str) -> str:
    """Our name for a column, with the unit that its own name is."""
    unit = _unit_of_name(header) if name == TIME else None
    return name if unit is None or unit_of(unit) == unit_of("s") else f"Time [{unit}]"


def _unit_unsaid(header: str, name: str) -> str:
    """The sentence about a time whose name says no unit."""
    if name != TIME or split_header(header).unit is not None or _unit_of_name(header) is not None:
        return ""
    return f" Numbers of '{header}' are then seconds; if they are milliseconds, say 'Time [ms]'."


def is_of_a_test(head: Head, header: HeaderLine | None, plan: Plan) -> bool:
    """Whether a table may be a test or a spectrum: it has two of its columns, or columns like them, and numbers."""
    known = [name for name in WORDS if plan.find(name)]
    free = [column.header for column in plan.columns if column.role in ("free", "clock")]
    alike = len(known) + len(candidates([name for name in WORDS if name not in known], free))
    if alike < 2 and not of_a_spectrum(plan.labels):
        return False
    if header is None:  # a parquet file, which always has rows
        return True
    lines = [line for line in head.lines[header.below :] if line.strip()][:_LOOKED_AT]
    numeric = [sum(map(is_number, split_line(line.strip("\r"), header.delimiter))) >= 2 for line in lines]
    return sum(numeric) >= max(_LEAST_ROWS, len(lines) - 2)


def _words(header: str) -> set[str]:
    return set(re.split(r"[^a-z\u00c0-\uffff]+", split_header(header).key.casefold()))


def _is_statistic(header: str) -> bool:
    """Whether a column is of a whole step or cycle: its mean, its end, its sum."""
    return bool(_words(header) & _STATISTICS)


def _is_of_no_sample(header: str) -> bool:
    """Whether a column holds no value of a sample, though its unit may fit: a statistic, a limit, a setting."""
    return _is_statistic(header) or bool(_words(header) & _SETTINGS)


def is_table(head: Head, header: HeaderLine) -> bool:
    """Whether the lines below a header are rows: most of them are numbers, as many as the header has fields. An export
    without rows begins with its header."""
    lines = [line.strip("\r") for line in head.lines[header.below :] if line.strip()][:_LOOKED_AT]
    if not lines:
        return not any(line.strip() for line in head.lines[: header.line])
    rows = [split_line(line, header.delimiter) for line in lines]
    numbers = [sum(map(is_number, row)) for row in rows]
    alike = sum(
        n >= 2 or (len(row) == len(header.fields) and 2 * n >= len(row))
        for row, n in zip(rows, numbers, strict=True)
    )
    return 2 * alike >= len(rows) or alike >= _LEAST_ROWS


def _has_unit(header: str, name: str) -> bool:
    """Whether a header names the unit of a column of ours, or is that unit and nothing else: ``A`` beside ``Time``."""
    written = split_header(header).unit or header
    if written == "S":  # siemens, unless the name is that of a time
        return False
    unit = unit_of(written)
    return unit is not None and unit.base == split_unit(name)[1]


def _sounds_like(header: str, name: str) -> bool:
    key = split_header(header).key
    words = key.replace("-", " ").split()
    if (words[:1] and words[0] in _LETTERS.get(name, ())) or (name == CURRENT and "amp" in words):
        return True
    if _is_time(header, name) or (name == TIME and _unit_of_name(header) is not None):
        return True
    return any(stem in key for stem in _STEMS[name]) or bool(get_close_matches(WORDS[name], words, 1, 0.75))
