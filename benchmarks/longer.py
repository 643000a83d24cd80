"""Makes long files in the style of real ones: their rows again and again, with times and counters that go on.

A day of samples each second has 86 400 rows, a week 600 000; the real files at hand have fewer.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from file_peers import SKIP, header_place, unpacked

GOES_ON: dict[str, dict[str, str]] = {
    "arbin_csv": {"Data_Point": "count", "Test_Time": "time", "DateTime": "time", "Cycle_Index": "count"},
    "neware_csv": {
        "DataPoint": "count", "Cycle Index": "count", "Cumulative Time": "h:m:s", "Date": "%Y-%m-%d %H:%M:%S"
    },
    "maccor_txt": {"Rec#": "count", "Cyc#": "count", "Test (Sec)": "time", "DPt Time": "%m/%d/%Y %H:%M:%S"},
    "biologic_mpt": {"time/s": "time", "Ns": "count", "cycle number": "count"},
    "bdf_csv": {"test_time_second": "time", "step_count": "count", "unix_time_second": "time"},
}  # fmt: skip
"""Format -> column -> how it goes on with the next copy of the rows: a ``count`` from one more than its last; a
``time`` in seconds, and a duration or clock in this form, by the time that the copy takes."""


def longer(real: Path, made: Path, rows: int) -> None:
    """Write a file of so many rows in the style of a real one.

    Raises
    ------
    ValueError
        If the real file lacks a column that has to go on.
    """
    kind = real.parent.name
    _, mark, encoding = SKIP[kind]
    text = unpacked(real).decode(encoding, "surrogateescape")
    lines = text.splitlines(keepends=True)
    top = header_place(kind, lines) + 1
    names = [name.strip() for name in lines[top - 1].rstrip("\r\n").split(mark)]
    lines[-1] = lines[-1].rstrip("\r\n") + lines[top - 1][len(lines[top - 1].rstrip("\r\n")) :]
    body = [line.split(mark) for line in lines[top:] if line.strip()]
    going = {names.index(name): form for name, form in GOES_ON[kind].items()}
    span = _seconds(body, names, kind)
    with made.open("w", encoding=encoding, errors="surrogateescape", newline="") as file:
        file.writelines(lines[:top])
        written = 0
        while written < rows:
            copy = written // len(body)
            file.writelines(mark.join(row) for row in _gone_on(body[: rows - written], body, going, copy, span))
            written += len(body)


def _seconds(body: list[list[str]], names: list[str], kind: str) -> Decimal:
    """The time that one copy takes, to its first row after the last one: one more step as the last."""
    place, form = next(
        (names.index(name), form) for name, form in GOES_ON[kind].items() if form in ("time", "h:m:s")
    )
    first, before, last = (_as_seconds(body[at][place], form) for at in (0, -2, -1))
    return max(last - first + max(last - before, Decimal(1)), Decimal(1)).quantize(Decimal(1), "ROUND_CEILING")


def _as_seconds(cell: str, form: str) -> Decimal:
    if form == "time":
        return Decimal(cell.strip())
    hours, minutes, seconds = cell.strip().split(":")
    return 3600 * Decimal(hours) + 60 * Decimal(minutes) + Decimal(seconds)


def _gone_on(
    some: list[list[str]], body: list[list[str]], going: dict[int, str], copy: int, span: Decimal
) -> list[list[str]]:
    if not copy:
        return some
    made = [list(row) for row in some]
    for place, form in going.items():
        jump = copy * span
        if form == "count":
            counts = [float(row[place]) for row in (body[0], body[-1])]
            jump = copy * Decimal(int(max(counts) - min(counts)) + 1)
        for row in made:
            row[place] = _later(row[place], form, jump)
    return made


def _later(cell: str, form: str, jump: Decimal) -> str:
    """A cell as it is written so much later; blanks around it stay."""
    found = re.fullmatch(r"(\s*)(\S.*?)(\s*)", cell, re.DOTALL)
    if found is None:
        return cell
    return found[1] + _moved(found[2], form, jump) + found[3]


def _moved(text: str, form: str, jump: Decimal) -> str:
    if form == "h:m:s":
        whole = int(_as_seconds(text, form) + jump)
        return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    if "%" in form:
        return (datetime.strptime(text, form) + timedelta(seconds=float(jump))).strftime(form)
    if "E" in text:
        digits, _, power = text.partition("E")
        value = f"{Decimal(text) + jump:.{len(digits) - 2}E}"
        head, _, tail = value.partition("E")
        return f"{head}E{tail[0]}{tail[1:].rjust(len(power) - 1, '0')}"
    return str(Decimal(text) + jump)
