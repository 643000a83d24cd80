"""The layout of a text file: its header line, its delimiter and its decimal mark."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...errors import FileRefused, TooLarge
from .. import limits
from ..file.source import Head
from .columns import unique_labels
from .header_units import split_header, unit_of
from .impedance_names import other_names

DELIMITERS = ("\t", ";", ",", "|")
_SAMPLE = 300
_WITH_COMMA = re.compile(r"^[+-]?\d*,\d+(?:[eE][+-]?\d+)?$")
_WITH_POINT = re.compile(r"^[+-]?\d*\.\d+(?:[eE][+-]?\d+)?$")
_GROUPED = re.compile(r"^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?$")
_NUMBER = re.compile(r"^[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?$")


@dataclass(frozen=True, eq=False)
class HeaderLine:
    """A line that can be a header: its number from 0, its delimiter, its fields and their folded names ``keys``."""

    line: int
    delimiter: str
    fields: tuple[str, ...]
    keys: frozenset[str]
    quoted: bool

    def has(self, needs: Sequence[tuple[str, ...]]) -> bool:
        """Whether the line has at least one name of each group."""
        return all(any(name in self.keys for name in names) for names in needs)


@dataclass(frozen=True)
class Layout:
    """How the rows of one file are split into fields.

    ``skip``: number of lines before the first row. ``labels``: the headers, made unique. ``decimal``: the decimal mark,
    None if the sample shows none. ``whole_rows``: the smallest number of fields of a row in the sample. ``mean_line``:
    characters. ``blanks``: there are blanks after delimiters.
    """

    skip: int
    delimiter: str
    labels: list[str]
    decimal: str | None
    thousands: bool
    unquote: bool
    whole_rows: int
    mean_line: int
    blanks: bool


def is_number(field: str) -> bool:
    """Whether a field holds a number, with a point or a comma."""
    return _NUMBER.match(field.strip()) is not None


def split_line(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return line.split(delimiter)


@lru_cache(maxsize=8)
def header_lines(head: Head) -> tuple[HeaderLine, ...]:
    """Each line of the head that can be a header, for each delimiter that splits it.

    The search ends after many lines of mostly numbers: the header is above them.
    """
    found = []
    rows = 0
    for place, line in enumerate(head.lines):
        if rows == _SAMPLE:
            break
        for delimiter in DELIMITERS:
            if delimiter not in line:
                continue
            text, quoted = line.strip("\r"), False
            if text.startswith('"') and text.endswith('"') and len(split_line(text, delimiter)) == 1:
                text, quoted = text[1:-1], True
            fields = split_line(text, delimiter)
            words = [field for field in fields if field.strip() and not _NUMBER.match(field.strip())]
            filled = sum(bool(field.strip()) for field in fields)
            if len(fields) < 2 or len(words) < 2 or 2 * len(words) < filled:
                rows += filled > 1 and 2 * len(words) < filled
                continue
            keys = frozenset(split_header(field).key for field in fields)
            keys |= {other.key for other in other_names(fields).values()}
            found.append(HeaderLine(place, delimiter, tuple(fields), keys, quoted))
    return tuple(found)


def lay_out(head: Head, header: HeaderLine) -> Layout:
    """The layout of the rows below a header line.

    Raises
    ------
    FileRefused
        If the rows have more fields than the header, as with commas as delimiter and as decimal mark.
    TooLarge
        If there are more columns than ``limits.MOST_COLUMNS``.
    """
    if len(header.fields) > limits.MOST_COLUMNS:
        raise TooLarge(
            f"'{head.name}' has {len(header.fields)} columns; at most {limits.MOST_COLUMNS} can be read."
        )
    fields, skip = list(header.fields), header.line + 1
    sample = _sample(head, skip, header)
    if sample and _is_unit_row(sample[0]):
        units = sample.pop(0)
        bare = [unit.strip().strip("()[]") for unit in units]
        bare += [""] * (len(fields) - len(bare))
        fields = [f"{name} [{unit}]" if unit_of(unit) else name for name, unit in zip(fields, bare, strict=False)]
        skip = next(place for place in range(skip, len(head.lines)) if head.lines[place].strip()) + 1
    widths = Counter(len(row) for row in sample)
    usual = widths.most_common(1)[0][0] if widths else len(fields)
    if usual > len(fields):
        beyond = [cell for row in sample for cell in row[len(fields) :] if cell.strip()]
        if 4 * len(beyond) > len(sample):
            raise FileRefused(
                f"The rows of '{head.name}' have {usual} fields below a header of {len(fields)}. If commas "
                "separate the fields, numbers need a decimal point. Export with ';' or tabs, or with decimal points."
            )
    while len(fields) > usual and not fields[-1].strip():
        fields.pop()
    decimal, thousands = _marks(sample, header.delimiter)
    whole = min((len(row) for row in sample[:-1]), default=0)
    blanks = any(header.delimiter + " " in line for line in head.lines[skip : skip + _SAMPLE])
    mean = sum(len(line) for line in head.lines[skip:]) // max(len(head.lines) - skip, 1)
    return Layout(
        skip, header.delimiter, unique_labels(fields), decimal, thousands, header.quoted, whole, mean, blanks
    )


def _sample(head: Head, skip: int, header: HeaderLine) -> list[list[str]]:
    rows = []
    for line in head.lines[skip:]:
        text = line.strip("\r\n").replace('"', "") if header.quoted else line.strip("\r\n")
        if text.strip():
            rows.append(split_line(text, header.delimiter))
        if len(rows) == _SAMPLE:
            break
    return rows


def _is_unit_row(row: list[str]) -> bool:
    """Whether a row below the header holds units (s, A, V). Some may be unknown, but none is a number."""
    cells = [cell.strip().strip("()[]") for cell in row if cell.strip()]
    if any(cell[:1].isdigit() or _NUMBER.match(cell) for cell in cells):
        return False
    known = [cell for cell in cells if unit_of(cell) is not None and cell != "-"]
    return len(known) >= 2 and 2 * len(known) >= len(cells)


def _marks(sample: list[list[str]], delimiter: str) -> tuple[str | None, bool]:
    """The decimal mark (None: not seen), and whether commas group thousands."""
    cells = [cell.strip() for row in sample for cell in row]
    comma = sum(1 for cell in cells if _WITH_COMMA.match(cell) and not _GROUPED.match(cell))
    point = sum(1 for cell in cells if _WITH_POINT.match(cell))
    grouped = sum(1 for cell in cells if _GROUPED.match(cell))
    if delimiter == "," and comma > point:
        return ",", False  # then each number is in quotes
    if delimiter == ",":
        return ".", grouped > 0 and not comma
    if comma > point or (grouped and not point and not comma):
        return ",", False
    if point:
        return ".", grouped > 0 and not comma
    return None, False
