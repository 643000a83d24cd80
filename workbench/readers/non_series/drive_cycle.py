"""Drive cycles: text with two columns, time and current."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ...messages import counted, spaced
from ..file.outside_parsers import guarded
from ..file.source import Head, LineStream
from ..formats.chi import is_chi
from ..formats.delimited import CURRENT_NAMES, TIME_NAMES
from ..reading import JsonObject
from ..table.header_units import Header, Unit, split_header, unit_of
from ..table.text_layout import DELIMITERS, split_line
from ..table.values import Cells, Floats, numbers

_POWER = ("power", "p", "leistung")
_MOST = 1_000_000
_COMMENTS = "#%~ \t"


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
            If it is a profile of power, or a row is not two numbers.
        TooLarge
            If it has too many rows.
        """
        found = _header(head)
        if found is None:
            raise FileRefused(
                f"'{head.name}' has no line that names a time and a current. Write 'time [s],current [A]' above its "
                "rows."
            )
        line, delimiter, (time, flow) = found
        if flow.key in _POWER:
            raise FileRefused(
                f"'{head.name}' is a profile of power ('{flow.text}'), but a drive cycle needs a current. Divide the "
                "power by the voltage of your cell, and name the column 'current [A]'."
            )
        stream = LineStream(head, line + 1)
        try:
            with guarded(lambda why: f"'{head.name}' cannot be read as time and current ({why})."):
                # The stubs of pandas lack this combination of options.
                frame = pd.read_csv(stream, sep=delimiter, header=None, names=["time", "current"], usecols=[0, 1],  # type: ignore[call-overload]
                                    comment="#", skipinitialspace=True, nrows=_MOST + 1)  # fmt: skip
        finally:
            stream.close()
        if len(frame) > _MOST:
            raise TooLarge(f"'{head.name}' has more than {spaced(_MOST)} rows. No drive cycle is that long.")
        rows = np.column_stack([_converted(frame["time"], time, "s"), _converted(frame["current"], flow, "A")])
        rows = rows[~np.isnan(rows).all(axis=1)]
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


def _converted(values: Cells, header: Header, base: str) -> Floats:
    unit = unit_of(header.unit)
    return (unit if unit is not None and unit.base == base else Unit(base)).convert(numbers(values)[0])


def _header(head: Head) -> tuple[int, str, tuple[Header, Header]] | None:
    """Line number, delimiter and headers of a line that names a time and a current and no other column."""
    for place, line in enumerate(head.lines[:50]):
        for delimiter in DELIMITERS:
            fields = [field for field in split_line(line.lstrip(_COMMENTS), delimiter) if field.strip()]
            if len(fields) != 2:
                continue
            first, second = (split_header(field) for field in fields)
            if (
                first.key in TIME_NAMES
                and second.key in (*CURRENT_NAMES, *_POWER)
                and second.key not in ("u", "v")
            ):
                return place, delimiter, (first, second)
    return None


DRIVE_CYCLE = DriveCycle()
