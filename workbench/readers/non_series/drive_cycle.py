"""Drive cycles: text with two columns, time and current."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ...messages import counted, spaced
from ..file.outside_parsers import guarded
from ..file.source import Head, LineStream
from ..formats.chi import is_chi
from ..formats.delimited import CURRENT_NAMES, TIME_NAMES
from ..reading import JsonObject
from ..table.header_units import split_header, unit_of
from ..table.text_layout import DELIMITERS, HeaderLine, Layout, lay_out, split_line
from ..table.values import Cells, Floats, is_text, numbers, without_points

_POWER = ("power", "p", "leistung")
_MOST = 1_000_000
_COMMENTS = "#%~ "
_PER_SOMETHING = re.compile(r"/|[-⁻−^][12¹²]|cm|rate", re.IGNORECASE)
"""In the unit of a current: it is per area or mass, or a multiple of the capacity."""
_BEYOND = "\0beyond"


@dataclass(frozen=True)
class _Found:
    """The line that names a time and a current and no other column, and the places of both among its fields."""

    header: HeaderLine
    time: int
    current: int


class DriveCycle:
    """Text with time and current. The line of column names may be a comment."""

    def matches(self, head: Head) -> bool:
        # A potentiostat that holds a potential writes time and current too.
        return _header(head) is not None and not is_chi(head)

    def records(self, head: Head, notes: list[Finding]) -> list[JsonObject]:
        """One drive cycle: its name, and rows of time in s and current in A with the sign of the file.

        Raises
        ------
        FileRefused
            If it is a profile of power or of a current per area, or a row is not two numbers.
        TooLarge
            If it has too many rows.
        """
        found = _header(head)
        if found is None:
            raise FileRefused(
                f"'{head.name}' has no line that names a time and a current. Write 'time [s],current [A]' above its "
                "rows."
            )
        named = found.header.fields[found.current]
        if split_header(named).key in _POWER:
            raise FileRefused(
                f"'{head.name}' is a profile of power ('{named.strip()}'), but a drive cycle needs a current. Divide "
                "the power by the voltage of your cell, and name the column 'current [A]'."
            )
        layout = lay_out(head, found.header)
        first = _columns_before(head, layout)
        labels = [layout.labels[found.time], layout.labels[found.current]]
        frame = _frame(head, layout, layout.labels[first:], labels)
        made = []
        for label, base in zip(labels, ("s", "A"), strict=True):
            made.append(_converted(frame[label], label, base, layout.decimal, head, notes))
        rows = np.column_stack(made)
        rows = rows[~_left_out(frame, rows, head, notes)]
        if not len(rows):
            raise FileRefused(f"'{head.name}' has no rows below its column names. Export it again with its data.")
        wrong = int((~np.isfinite(rows)).any(axis=1).sum())
        if wrong:
            raise FileRefused(
                f"'{head.name}' must have rows of two numbers, but {counted(wrong, 'row')} cannot be read. Fix them."
            )
        text = "The current keeps the sign of the file. Check what the sign means where you use the current."
        notes.append(Finding("assumed", "sign_kept", text))
        return [{"name": head.name, "data": rows.tolist()}]


def _columns_before(head: Head, layout: Layout) -> int:
    """How many blank fields before the names have no column below them, as a tab behind the mark of a comment.

    A blank name with a column below it is that of row numbers, as pandas writes them.
    """
    lines = (line.strip("\r\n") for line in head.lines[layout.skip :])
    row = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    blank = next((at for at, label in enumerate(layout.labels) if not label.startswith("Column ")), 0)
    return min(blank, max(len(layout.labels) - len(split_line(row, layout.delimiter)), 0))


def _frame(head: Head, layout: Layout, names: list[str], wanted: list[str]) -> pd.DataFrame:
    """The columns of time and current as written.

    Raises
    ------
    FileRefused
        If rows have more fields than there are names: a comma may be both decimal mark and delimiter.
    TooLarge
        If there are too many rows.
    """
    stream = LineStream(head, layout.skip, unquote=layout.unquote)
    try:
        with guarded(lambda why: f"'{head.name}' cannot be read as time and current ({why})."):
            # The stubs of pandas lack this combination of options.
            frame = pd.read_csv(stream, sep=layout.delimiter, header=None, names=[*names, _BEYOND], index_col=False,  # type: ignore[call-overload]
                                comment="#", skipinitialspace=True, decimal=layout.decimal or ".",
                                nrows=_MOST + 1)  # fmt: skip
    finally:
        stream.close()
    if len(frame) > _MOST:
        raise TooLarge(f"'{head.name}' has more than {spaced(_MOST)} rows. No drive cycle is that long.")
    beyond = frame[_BEYOND].notna()
    if beyond.any():
        raise FileRefused(
            f"{counted(int(beyond.sum()), 'row')} of '{head.name}' have more fields than the {len(names)} of its "
            f"header. Where a comma is the decimal mark, separate the columns with ';' or tabs."
        )
    return without_points(frame[wanted].copy(), layout.by_points)


def _converted(
    values: Cells, label: str, base: str, decimal: str | None, head: Head, notes: list[Finding]
) -> Floats:
    """The values of a column in its base unit.

    Raises
    ------
    FileRefused
        If its unit is of another quantity.
    """
    said = split_header(label).unit
    unit = unit_of(said)
    read = numbers(values, decimal)[0]
    if unit is not None and unit.base == base:
        return unit.convert(read)
    if said is not None and (unit is not None or (base == "A" and _PER_SOMETHING.search(said))):
        raise FileRefused(
            f"'{label}' of '{head.name}' is not in a unit that gives {base}. Convert it to {base}, for a cell of your "
            f"size, and name the column '{'time' if base == 's' else 'current'} [{base}]'."
        )
    why = "names no unit" if said is None else f"has a unit that is not known ('{said}')"
    notes.append(Finding("assumed", "unit", f"'{label}' {why}. It was read in {base}."))
    return read


def _left_out(frame: pd.DataFrame, rows: Floats, head: Head, notes: list[Finding]) -> NDArray[np.bool_]:
    """(n,) whether a row holds no number; a warning says how many of them hold words."""
    empty: NDArray[np.bool_] = np.isnan(rows).sum(axis=1) == rows.shape[1]
    words = np.zeros(len(rows), bool)
    for label in frame:
        if is_text(frame[label]):
            words |= empty & frame[label].notna().to_numpy()
    if words.any():
        said = ", ".join(str(one).strip() for one in frame[words].iloc[0].dropna())[:80]
        some = counted(int(words.sum()), "row")
        text = f"Left out, without a number: {some} of '{head.name}', the first of them '{said}'."
        notes.append(Finding("odd", "rows_left_out", text))
    return empty


def _header(head: Head) -> _Found | None:
    """The line that names a time and a current and no other column."""
    for place, line in enumerate(head.lines[:50]):
        for delimiter in DELIMITERS:
            fields = split_line(line.strip("\r\n").lstrip(_COMMENTS), delimiter)
            filled = [at for at, field in enumerate(fields) if field.strip()]
            if len(filled) != 2:
                continue
            first, second = (split_header(fields[at]) for at in filled)
            if (
                first.key in TIME_NAMES
                and second.key in (*CURRENT_NAMES, *_POWER)
                and second.key not in ("u", "v")
            ):
                line_of = HeaderLine(place, delimiter, tuple(fields), frozenset((first.key, second.key)), False)
                return _Found(line_of, *filled)
    return None


DRIVE_CYCLE = DriveCycle()
