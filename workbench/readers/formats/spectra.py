"""Impedance spectra as text whose fields are separated by blanks, or without a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...errors import FileRefused
from ..file.source import Head
from ..reading import Reading
from ..table.header_units import split_header
from ..table.impedance import BARE, settle_imaginary
from ..table.impedance_names import impedance_key
from ..table.text_format import TextFormat, read_text
from ..table.text_layout import HeaderLine, header_lines, is_number
from ..table.values import Floats
from .delimited import IMPEDANCE

_BLANKS = re.compile(r"[ \t]+")
_WIDE_BLANKS = re.compile(r"[ ]{2,}|[ ]*\t[ \t]*")
_BEFORE_UNIT = re.compile(r"[ \t]+(?=[(\[])")
_AROUND_SLASH = re.compile(r"[ \t]*/[ \t]*")
_MOST_LOOKED_AT = 20
_LEAST_POINTS, _LEAST_DECADES = 5, 2.0


def tabbed(*, commas: bool = False) -> Callable[[bytes], bytes]:
    """A function that replaces blanks between fields by tabs, block by block; ``commas`` too if they part fields."""
    held = {"rest": b""}

    def rewrite(block: bytes) -> bytes:
        lines = (held["rest"] + block).split(b"\n")
        held["rest"] = lines.pop() if block else b""
        parted = (line.replace(b",", b" ") if commas else line for line in lines)
        return b"".join(b"\t".join(line.split()) + b"\n" for line in parted)

    return rewrite


def _with_tabs(head: Head, *, commas: bool = False, names: tuple[int, Sequence[str]] | None = None) -> Head:
    """The head with tabs between fields; ``names``: a line and the fields that are in it."""
    parted = (line.replace(",", " ") if commas else line for line in head.lines)
    lines = [_BLANKS.sub("\t", line.strip()) for line in parted]
    if names is not None:
        lines[names[0]] = "\t".join(names[1])
    return replace(head, lines=tuple(lines))


@dataclass(frozen=True)
class ByBlanks(TextFormat):
    """A text whose fields are separated by blanks. Names may hold blanks: there are as many as numbers in a row."""

    def header(self, head: Head) -> HeaderLine | None:
        found = self._found(head)
        return None if found is None else found[1]

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        found = self._found(head)
        if found is None:
            raise FileRefused(self._no_header(head))
        tabs, header, commas = found
        return read_text(replace(self, rewrite=partial(tabbed, commas=commas)), tabs, header, column_map, sign)

    def _found(self, head: Head) -> tuple[Head, HeaderLine, bool] | None:
        """The head with tabs, its header line, and whether commas part the rows."""
        if head.encoding is None or any(line.has(self.needs) for line in header_lines(head)):
            return None
        for place, line in enumerate(head.lines):
            if is_number(line.split(None, 1)[0].split(",")[0] if line.strip() else "0"):
                continue
            rows = [row for row in head.lines[place + 1 :][:_MOST_LOOKED_AT] if row.strip()]
            for commas in (False, True):
                width = _width(rows, commas=commas)
                names = next((n for n in _names(line) if len(n) == width), None) if width >= len(BARE) else None
                if names is None:
                    continue
                tabs = _with_tabs(head, commas=commas, names=(place, names))
                header = next((h for h in header_lines(tabs) if h.line == place and h.has(self.needs)), None)
                if header is not None:
                    return tabs, header, commas
        return None


def names_that_do_not_fit(head: Head) -> str | None:
    """The message about a spectrum of blanks whose names are not as many as the numbers in its rows."""
    for place, line in enumerate(head.lines):
        names = _BLANKS.split(line.strip().strip('"#%').strip())
        width = _width([row for row in head.lines[place + 1 :][:_MOST_LOOKED_AT] if row.strip()], commas=False)
        if width >= len(BARE) and len(names) >= len(BARE) and "frequency" in map(impedance_key, names):
            return (
                f"'{head.name}' looks like an impedance spectrum with blanks between its fields, but line {place + 1} "
                f"has {len(names)} names above rows of {width} numbers. Write tabs or commas between names and numbers."
            )
    return None


def _width(rows: Sequence[str], *, commas: bool) -> int:
    """The number of fields of the rows; 0 if it differs or the fields are not numbers."""
    parted = [(row.replace(",", " ") if commas else row).split() for row in rows]
    widths = {len(row) for row in parted[:-1] or parted}
    numeric = all(2 * sum(map(is_number, row)) > len(row) for row in parted[:-1] or parted)
    return widths.pop() if len(widths) == 1 and numeric else 0


def _names(line: str) -> Iterator[list[str]]:
    """The names in a line, parted in the ways in which programs write them."""
    clean = line.strip().strip('"#%').strip()
    yield [name for name in _WIDE_BLANKS.split(clean) if name]
    yield _BLANKS.split(_AROUND_SLASH.sub("/", _BEFORE_UNIT.sub("", clean)))
    yield _BLANKS.split(clean)


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
    settle=partial(settle_imaginary, bare=True),
)
