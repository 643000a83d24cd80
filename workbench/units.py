"""The grammar of column names: a name, and its unit in brackets (``Voltage [V]``)."""

from __future__ import annotations

import re

_NAME = re.compile(r"^(?P<name>(?:.*\S)??)\s*+\[(?P<unit>[^\[\]]++)\]$", re.DOTALL)


def split_unit(column: str) -> tuple[str, str | None]:
    """Name and unit of a column; the unit is None where the name has none.

    >>> split_unit("Discharge capacity [A.h]")
    ('Discharge capacity', 'A.h')
    >>> split_unit("Step count")
    ('Step count', None)
    """
    match = _NAME.match(column)
    return (match["name"], match["unit"]) if match else (column, None)
