"""The message about a file that lacks a column: its columns, likely ones, and the column map that fixes it."""

from __future__ import annotations

from difflib import get_close_matches

from ...cycling.columns import CURRENT, TIME, VOLTAGE
from ...messages import column_map, quoted
from ...units import split_unit
from ..file.source import Head
from .columns import Plan
from .header_units import split_header, unit_of
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
    CURRENT: ("current", "strom", "courant", "corriente", "corrente", "amp", "电流", "電流"),
    VOLTAGE: ("volt", "spannung", "tension", "tensión", "potential", "ewe", "ecell", "电压", "電圧"),
}
_LETTERS = {CURRENT: ("i",), VOLTAGE: ("u", "v")}
"""First words of names such as ``U_cell``."""


def why_refused(file: str, plan: Plan, missing: list[str]) -> str:
    """The message: which of time, current and voltage the file lacks, and how to fix it.

    ``missing`` are our names of the columns, ``plan`` are the columns of the file.
    """
    words = [WORDS[name] for name in missing]
    listed = " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    has = f"'{file}' has no column that is known as {listed}. Its columns are {quoted(plan.labels)}. "
    free = [column.header for column in plan.columns if column.role in ("free", "clock")]
    found = candidates(missing, free)
    if found:
        rest = "" if len(found) == len(missing) else " Name the rest in the same way."
        return f"{has}If they mean what their names suggest, say {column_map(found)}.{rest}"
    meant = column_map({f"its {WORDS[name]} column": name for name in missing})
    if free:
        return f"{has}Say which they are with {meant}, or export the test again with them."
    return f"{has}If one of them is the {listed} after all, say {meant}; else export the test again with it."


def candidates(missing: list[str], headers: list[str]) -> dict[str, str]:
    """Header -> our name, for headers whose unit or name fits a missing column. Each header is used once."""
    found: dict[str, str] = {}
    for name in missing:
        left = [header for header in headers if header not in found]
        header = next((header for header in left if _has_unit(header, name)), None)
        header = header or next((header for header in left if _sounds_like(header, name)), None)
        if header is not None:
            found[header] = name
    return found


def is_of_a_test(head: Head, header: HeaderLine | None, plan: Plan) -> bool:
    """Whether a table may be a test: it has two of time, current and voltage, or columns like them, and numbers."""
    known = [name for name in WORDS if plan.find(name)]
    free = [column.header for column in plan.columns if column.role in ("free", "clock")]
    if len(known) + len(candidates([name for name in WORDS if name not in known], free)) < 2:
        return False
    if header is None:  # a parquet file, which always has rows
        return True
    lines = [line for line in head.lines[header.line + 1 :] if line.strip()][:_LOOKED_AT]
    numeric = [sum(map(is_number, split_line(line.strip("\r"), header.delimiter))) >= 2 for line in lines]
    return sum(numeric) >= max(_LEAST_ROWS, len(lines) - 2)


def _has_unit(header: str, name: str) -> bool:
    unit = unit_of(split_header(header).unit)
    return unit is not None and unit.base == split_unit(name)[1]


def _sounds_like(header: str, name: str) -> bool:
    key = split_header(header).key
    words = key.replace("-", " ").split()
    if words[:1] and words[0] in _LETTERS.get(name, ()):
        return True
    return any(stem in key for stem in _STEMS[name]) or bool(get_close_matches(WORDS[name], words, 1, 0.75))
