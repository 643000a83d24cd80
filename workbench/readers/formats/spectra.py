"""Impedance spectra as text whose fields are separated by blanks, or without a header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...errors import FileRefused
from ..file.source import Head
from ..reading import Reading
from ..table.header_units import split_header
from ..table.impedance import BARE, settle_imaginary
from ..table.text_format import TextFormat, read_text
from ..table.text_layout import HeaderLine, is_number
from ..table.values import Floats
from .by_blanks import ByBlanks, tabbed, with_tabs
from .delimited import IMPEDANCE

_LEAST_POINTS, _LEAST_DECADES = 5, 2.0


@dataclass(frozen=True)
class WithoutHeader(TextFormat):
    """Only rows of three numbers: frequency, real and imaginary part."""

    def header(self, head: Head) -> HeaderLine | None:
        delimiter = _delimiter(head)
        if delimiter is None:
            return None
        keys = frozenset(split_header(name).key for name in BARE)
        return HeaderLine(-1, delimiter or "\t", BARE, keys, quoted=False)

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        header = self.header(head)
        if header is None:
            raise FileRefused(
                f"'{head.name}' is not a spectrum without a header. Its rows must be three numbers (a frequency, Z' "
                "and Z'') over at least two decades of frequency. Write a line of column names above them."
            )
        if _delimiter(head) == "":
            return read_text(replace(self, rewrite=tabbed), with_tabs(head), header, column_map, sign)
        return read_text(self, head, header, column_map, sign)


def _delimiter(head: Head) -> str | None:
    """The delimiter of a file that holds only a spectrum ("" for blanks); None for any other file."""
    lines = [line for line in head.lines if line.strip()]
    if head.encoding is None or len(lines) < _LEAST_POINTS:
        return None
    for delimiter in ("\t", ";", ",", ""):
        rows = [line.split(delimiter) if delimiter else line.split() for line in lines]
        if all(len(row) == 3 and all(map(is_number, row)) for row in rows):
            values = np.array([[float(cell.replace(",", ".")) for cell in row] for row in rows])
            return delimiter if _is_spectrum(values) else None
    return None


def _is_spectrum(values: Floats) -> bool:
    frequency, real = values[:, 0], values[:, 1]
    if bool((frequency <= 0).any()) or bool((real <= 0).any()):
        return False
    steps = np.diff(np.log10(frequency))
    one_way = bool((steps < 0).all() or (steps > 0).all())
    return one_way and abs(float(steps.sum())) >= _LEAST_DECADES


IMPEDANCE_BLANKS = ByBlanks(
    name="impedance-blanks",
    brand="impedance spectra",
    endings=(".z", ".txt"),
    about="As impedance, with fields separated by blanks, as Scribner ZPlot and ZView write them.",
    needs=IMPEDANCE.needs,
    columns=IMPEDANCE.columns,
    sign="found",
    rewrite=tabbed,
    settle=settle_imaginary,
)

IMPEDANCE_BARE = WithoutHeader(
    name="impedance-bare",
    brand="impedance spectra",
    endings=(".z", ".txt", ".csv"),
    about="Rows of three numbers without a header: frequency, Z' and Z''; known by how the numbers run.",
    needs=IMPEDANCE.needs,
    columns=IMPEDANCE.columns,
    sign="found",
    settle=partial(settle_imaginary, bare=True),
)
