"""Whether the last line of a text file is incomplete, as where a copy or a disk ended before the file did."""

from __future__ import annotations

import csv
import re

_FIXED = re.compile(r'"?[-+]?(?:\d{1,3}(?:,\d{3})+|\d*)[.,](\d+)([eE][-+]\d\d+)?"?$')
_BEGUN = re.compile(r'"?(?:[-+]?(?=[\d.,])(?:\d{1,3}(?:,\d{3})+|\d*)(?:[.,]\d*)?(?:[eE][-+]?\d*)?)?"?$')
"""A number with decimals, and the beginning of one. A sign alone may say that there is none."""
_LEAST_SHOWN = 3
"""Lines before the last that can show how many decimals a column has."""
_MOST_LINES_OF_A_ROW = 100
_OPEN = "unexpected end of data"
"""What the parser of the standard library says of a quote that is not closed."""


def is_cut(tail: bytes, delimiter: str, whole: int) -> bool:
    """Whether the last line of a text is incomplete; ``tail`` is the end of the text, ``whole`` the number of fields
    that each row has.

    It is if it lacks fields that other lines have, and not only empty ones. A last line without a line break has also
    lost digits if its last number has fewer decimals than a column has that is written with a fixed number of them.
    """
    text = tail.decode("utf-8", "replace")
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or whole < 2:
        return False
    ended = text.endswith("\n")
    before = [_fields(line, delimiter) for line in lines[1:-1]]
    last = _fields(lines[-1], delimiter)
    if len(last) >= whole:
        return not ended and _lacks_decimals(last, before)
    if _ends_row_of_several_lines(lines, delimiter, whole):
        return False
    return not _lacks_only_blanks(last, before, ended=ended)


def opens_quote(tail: bytes, delimiter: str) -> bool:
    """Whether the last line of a text opens a quote that it does not close."""
    line = tail.decode("utf-8", "replace").rpartition("\n")[2]
    try:
        list(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error as error:
        return str(error) == _OPEN
    return False


def _fields(line: str, delimiter: str) -> list[str]:
    line = line.rstrip("\r")
    if '"' not in line or "\r" in line:
        return line.split(delimiter)
    return next(csv.reader([line], delimiter=delimiter))  # a delimiter within quotes is a part of the field


def _ends_row_of_several_lines(lines: list[str], delimiter: str, whole: int) -> bool:
    """Whether the last line is the end of a whole row, in which a text in quotes has a line break."""
    if '"' not in lines[-1]:
        return False
    for count in range(2, min(len(lines), _MOST_LINES_OF_A_ROW) + 1):
        try:
            rows = list(csv.reader((line + "\n" for line in lines[-count:]), delimiter=delimiter, strict=True))
        except csv.Error:  # it begins within the quotes
            continue
        if len(rows) == 1:
            return len(rows[0]) >= whole
    return False


def _lacks_decimals(last: list[str], before: list[list[str]]) -> bool:
    """Whether the last field is the beginning of a number with fewer decimals than all above it, of a column that is
    written with a fixed number of them.

    All have the same number then, and a zero at the end of one shows that zeros are not left out: 3.6 below 3.50 and
    3.55 has lost a digit, and below 3.45 and 3.55 it may be whole.
    """
    place = len(last) - 1
    above = [_FIXED.match(row[place].strip()) for row in before if len(row) > place]
    shown = {(len(found[1]), bool(found[2])) for found in above if found is not None}
    if len(above) < _LEAST_SHOWN or None in above or len(shown) > 1:
        return False
    if not any(found[1].endswith("0") for found in above if found is not None):
        return False
    field = last[place].strip()
    found = _FIXED.match(field)
    ((decimals, exponent),) = shown
    if found is not None and len(found[1]) >= decimals and bool(found[2]) == exponent:
        return False
    return _BEGUN.match(field) is not None


def _lacks_only_blanks(last: list[str], before: list[list[str]], *, ended: bool) -> bool:
    """Whether the fields that the last line lacks are empty in all lines ``before`` it.

    A line that did not end with a line break may have lost digits too: its last number must be as long as others.
    """
    place = len(last) - 1
    usual = [row for row in before if len(row) > place + 1]
    if not usual or any(field.strip() for row in usual for field in row[place + 1 :]):
        return False
    shown = [_decimals(row[place]) for row in usual]
    return bool(last[place].strip()) and (ended or _decimals(last[place]) >= min(shown))


def _decimals(field: str) -> int:
    """The number of characters after the decimal mark of a field; of all in it if it has none."""
    return len(field.strip()) - 1 - max(field.strip().rfind("."), field.strip().rfind(","))
