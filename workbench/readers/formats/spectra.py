"""Impedance spectra as text whose fields are separated by blanks, or without a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...errors import FileRefused
from ..file.source import Head
from ..reading import Reading
from ..table.header_units import split_header
from ..table.impedance import BARE, settle_imaginary
from ..table.text_format import TextFormat, read_text
from ..table.text_layout import HeaderLine, header_lines, is_number
from ..table.values import Floats
from .delimited import IMPEDANCE

_BLANKS = re.compile(r"[ \t]+")
_LEAST_POINTS, _LEAST_DECADES = 5, 2.0


def tabbed() -> Callable[[bytes], bytes]:
    """A function that replaces the blanks between fields by tabs, block by block."""
    held = {"rest": b""}

    def rewrite(block: bytes) -> bytes:
        lines = (held["rest"] + block).split(b"\n")
        held["rest"] = lines.pop() if block else b""
        return b"".join(b"\t".join(line.split()) + b"\n" for line in lines)

    return rewrite


def _with_tabs(head: Head) -> Head:
    return replace(head, lines=tuple(_BLANKS.sub("\t", line.strip()) for line in head.lines))


@dataclass(frozen=True)
class ByBlanks(TextFormat):
    """A text whose fields are separated by blanks."""

    def header(self, head: Head) -> HeaderLine | None:
        marked = any(line.has(self.needs) for line in header_lines(head))
        return None if marked or head.encoding is None else super().header(_with_tabs(head))

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        header = self.header(head)
        if header is None:
            raise FileRefused(self._no_header(head))
        return read_text(self, _with_tabs(head), header, column_map, sign)


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
            return read_text(replace(self, rewrite=tabbed), _with_tabs(head), header, column_map, sign)
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
    settle=settle_imaginary,
)
