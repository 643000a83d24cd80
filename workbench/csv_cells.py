"""Texts in CSV files. Spreadsheets run a cell as a formula if it begins with ``=``, ``+``, ``-`` or ``@``.

Where the decimal sign is a comma, a spreadsheet takes a semicolon for the end of a cell, also inside quotes: they are
quotes only at the beginning of a cell. So what follows a semicolon or an end of line counts as a cell too.
"""

from __future__ import annotations

import re

_FORMULA = re.compile("[=+\\-@\t\r＝＋－＠]")
_ENDS = re.compile("([;\r\n]+)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def harmless_cell(text: str) -> str:
    """A text for a cell of a CSV file. What a spreadsheet would run gets a ``'`` before it; numbers stay."""
    first, *rest = _ENDS.split(text)
    if not rest:
        return _harmless(text)
    begun = "'" if _FORMULA.match(text) and not first else ""
    return begun + _harmless(first) + "".join(_harmless(one) if at % 2 else one for at, one in enumerate(rest))


def _harmless(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
