"""Texts in CSV files. Spreadsheets run a cell as a formula if it begins with ``=``, ``+``, ``-`` or ``@``."""

from __future__ import annotations

import re

_FORMULA = re.compile("[=+\\-@\t\r＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def harmless_cell(text: str) -> str:
    """A text for a cell of a CSV file. One that a spreadsheet would run gets a ``'`` before it; numbers stay."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
