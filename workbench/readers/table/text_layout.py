"""The layout of a text file: its header line, its delimiter and its decimal mark."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from ...errors import FileRefused, TooLarge
from .. import limits
from ..file.source import Head
from .columns import unique_labels
from .header_units import split_header, unit_of
from .impedance_names import of_units, other_names

DELIMITERS = ("\t", ";", ",", "|")
_SAMPLE = 300
_LONGEST_HEADER = 200
"""Lines of a header whose quoted fields have line breaks, as spreadsheets write them."""


def _cells(form: str) -> re.Pattern[str]:
    """A pattern for a cell of this form, with blanks around it, or for each of many in a text of one cell a line.

    A search in a text of many cells takes a fifth of the time of a look at each.
    """
    return re.compile(rf"^[^\S\n]*({form})[^\S\n]*$", re.MULTILINE)


_WITH_COMMA = _cells(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_WITH_POINT = _cells(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_GROUPED = _cells(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_BY_POINTS = re.compile(r"^[+-]?[1-9]\d{0,2}(?:\.\d{3})+$")
SMALL_UNITS = 1e3
_HUNDREDS = re.compile(r"^[+-]?[1-9]\d\d$")
"""A whole number below a thousand, but not far: with three decimals it would have a mark."""
_NUMBER = _cells(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?")
_ROWS = {
    mark: re.compile(rf"(?:{number})?+(?:{re.escape(mark)}(?:{number})?+)*+")
    for mark in DELIMITERS
    for point in (r"\." if mark == "," else "[.,]",)
    for number in (rf"[+-]?(?:\d++{point}?\d*+|{point}\d++)(?:[eE][+-]?\d++)?",)
}
"""Delimiter -> a pattern for a line of numbers and empty cells without blanks. It takes a third of the time of a look
at each cell."""
_UNDER_TITLES = re.compile(r"(?=.*--)[\s|:-]*+")
"""The line below the column titles of a table in Markdown. Such a table is a page to read, not an export."""


@dataclass(frozen=True, eq=False)
class HeaderLine:
    """A line that can be a header: its number from 0, its delimiter, its fields and their folded names ``keys``.

    ``lines``: how many lines of the file it takes; a quoted field may hold the ends of some. ``beyond``: how many
    more fields it has. They are over the limit, and nothing looks at them: each look at a name takes time.
    """

    line: int
    delimiter: str
    fields: tuple[str, ...]
    keys: frozenset[str]
    quoted: bool
    lines: int = 1
    beyond: int = 0

    @property
    def below(self) -> int:
        """The number of the line below it."""
        return self.line + self.lines

    def has(self, needs: Sequence[tuple[str, ...]]) -> bool:
        """Whether the line has at least one name of each group."""
        return have(self.keys, needs)


def keys_of(fields: Sequence[str]) -> frozenset[str]:
    """The folded names of the fields of a header."""
    keys = frozenset(split_header(field).key for field in fields)
    return keys | {other.key for other in other_names(fields).values()}


def have(keys: frozenset[str], needs: Sequence[tuple[str, ...]]) -> bool:
    """Whether folded names have at least one of each group."""
    return all(any(name in keys for name in names) for names in needs)


@dataclass(frozen=True)
class Layout:
    """How the rows of one file are split into fields.

    ``skip``: number of lines before the first row. ``labels``: the headers, made unique. ``decimal``: the decimal mark,
    None if the sample shows none. ``whole_rows``: the smallest number of fields of a row in the sample. ``mean_line``:
    characters. ``blanks``: there are blanks after delimiters. ``usual``: the number of fields of most rows.
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
    usual: int
    by_points: frozenset[str] = frozenset()
    """The columns of a file with decimal commas whose points group thousands: ``2.500``."""


def is_number(field: str) -> bool:
    """Whether a field holds a number, with a point or a comma."""
    return _NUMBER.match(field.strip()) is not None


def split_line(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return line.split(delimiter)


def split_lines(lines: list[str], delimiter: str) -> list[list[str]]:
    """The fields of each line; a quote ends with its line."""
    if not any('"' in line for line in lines):
        try:
            return list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
        except csv.Error:
            pass  # in one of the lines; that one alone is then split in another way
    return [split_line(line, delimiter) for line in lines]


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
        is_open = line.count('"') % 2 == 1
        for delimiter in DELIMITERS:
            broken = _broken_header(head.lines, place, delimiter) if is_open else None
            if broken is not None:
                found.append(broken)
                break
            if delimiter not in line:
                continue
            if _ROWS[delimiter].fullmatch(line):
                rows += sum(map(bool, line.split(delimiter))) > 1
                break  # at its decimal commas it has no names either
            text, quoted = line.strip("\r"), False
            if text.startswith('"') and text.endswith('"') and len(split_line(text, delimiter)) == 1:
                text, quoted = text[1:-1], True
            fields = split_line(text, delimiter)
            cells = "\n".join(fields)
            filled = sum(map(bool, map(str.strip, fields)))
            words = filled - len(_NUMBER.findall(cells))
            if len(fields) < 2 or words < 2 or 2 * words < filled:
                rows += filled > 1 and 2 * words < filled
                continue
            if delimiter == "|" and any(map(_UNDER_TITLES.fullmatch, head.lines[place : place + 2])):
                continue
            if of_units(fields) and _has_names_above(head.lines[:place], delimiter, len(fields)):
                continue
            found.append(_header_line(place, delimiter, fields, quoted))
    return tuple(found)


def _broken_header(lines: Sequence[str], place: int, delimiter: str) -> HeaderLine | None:
    """The header that begins in a line whose last quoted field goes on in the next one: ``"Time\\n(s)","Voltage``.

    Each look ends at the next line with a quote, so that all of them together take as long as one pass.
    """
    text = (line.rstrip("\r") + "\n" for line in lines[place : place + _LONGEST_HEADER])
    reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True)
    try:
        fields = [" ".join(field.split()) for field in next(reader, [])]
    except csv.Error:
        return None
    taken = reader.line_num
    quotes = sum(line.count('"') for line in lines[place : place + taken])
    names = [field for field in fields if field]
    if taken < 2 or quotes % 2 or len(names) < 2 or any(map(is_number, names)):
        return None
    return _header_line(place, delimiter, fields, quoted=False, lines=taken)


def _header_line(place: int, delimiter: str, fields: Sequence[str], quoted: bool, lines: int = 1) -> HeaderLine:
    names = tuple(fields[: limits.MOST_COLUMNS])
    return HeaderLine(place, delimiter, names, keys_of(names), quoted, lines, len(fields) - len(names))


def _has_names_above(above: Sequence[str], delimiter: str, fields: int) -> bool:
    """Whether the last line above a line of units names the columns: then the units alone do not say what they are."""
    line = next((line for line in reversed(above) if line.strip()), "")
    names = [name.strip() for name in split_line(line.strip("\r"), delimiter)]
    return len(names) == fields and len(set(names)) == fields and not any(re.search(r"^$|:|^\d", n) for n in names)


def lay_out(head: Head, header: HeaderLine) -> Layout:
    """The layout of the rows below a header line.

    Raises
    ------
    FileRefused
        If the rows have more fields than the header, as with commas as delimiter and as decimal mark.
    TooLarge
        If there are more columns than ``limits.MOST_COLUMNS``.
    """
    if header.beyond:
        count = len(header.fields) + header.beyond
        raise TooLarge(f"'{head.name}' has {count} columns; at most {limits.MOST_COLUMNS} can be read.")
    fields, skip = list(header.fields), header.below
    sample = _sample(head, skip, header)
    if sample and _is_unit_row(sample[0]):
        units = sample.pop(0)
        bare = [unit.strip().strip("()[]") for unit in units]
        bare += [""] * (len(fields) - len(bare))
        fields = [_with_unit(name, unit) for name, unit in zip(fields, bare, strict=False)]
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
    said = [unit_of(split_header(field).unit) for field in fields]
    small = {place for place, unit in enumerate(said) if unit is not None and unit.over >= SMALL_UNITS}
    looked_at = sample
    if len(sample) >= _SAMPLE and not _show_marks(sample, head.lines[skip:], header.delimiter):
        looked_at = _sample(head, skip, header, limits.HEAD_LINES)
    decimal, thousands = decimal_marks(looked_at, header.delimiter, small)
    labels = unique_labels(fields)
    pointed = _grouped_by_points(looked_at, small) if decimal == "," else ()
    by_points = frozenset(labels[place] for place in pointed if place < len(labels))
    whole = min((len(row) for row in sample[:-1]), default=0)
    blanks = any(header.delimiter + " " in line for line in head.lines[skip : skip + _SAMPLE])
    mean = sum(len(line) for line in head.lines[skip:]) // max(len(head.lines) - skip, 1)
    return Layout(
        skip, header.delimiter, labels, decimal, thousands, header.quoted, whole, mean, blanks, usual, by_points
    )


def _sample(head: Head, skip: int, header: HeaderLine, most: int = _SAMPLE) -> list[list[str]]:
    lines = (line.strip("\r\n") for line in head.lines[skip:])
    texts = (line.replace('"', "") if header.quoted else line for line in lines)
    return split_lines(list(itertools.islice((text for text in texts if text.strip()), most)), header.delimiter)


def _show_marks(sample: list[list[str]], lines: Sequence[str], delimiter: str) -> bool:
    """Whether the first rows show already what the decimal mark is, since no cell of the ``lines`` has another mark."""
    if delimiter == ",":
        return not any('"' in line for line in lines)
    cells = "\n".join(map("\n".join, sample))
    if not any("," in line for line in lines):
        return any(not _BY_POINTS.match(cell) for cell in _WITH_POINT.findall(cells))
    if not any("." in line for line in lines):
        return any(not _GROUPED.match(cell) for cell in _WITH_COMMA.findall(cells))
    return False


def _with_unit(name: str, unit: str) -> str:
    """A name with the unit below it, unless it is unknown or the name says the same: ``Time (s)`` above ``s``."""
    known = unit_of(unit)
    return name if known is None or unit_of(split_header(name).unit) == known else f"{name} [{unit}]"


def _is_unit_row(row: list[str]) -> bool:
    """Whether a row below the header holds units (s, A, V). Some may be unknown, but none is a number."""
    cells = [cell.strip().strip("()[]") for cell in row if cell.strip()]
    if any(cell[:1].isdigit() or _NUMBER.match(cell) for cell in cells):
        return False
    known = [cell for cell in cells if unit_of(cell) is not None and cell != "-"]
    return len(known) >= 2 and 2 * len(known) >= len(cells)


def decimal_marks(sample: list[list[str]], delimiter: str, small: Set[int]) -> tuple[str | None, bool]:
    """The decimal mark (None: not seen), and whether commas group thousands.

    ``small``: the places of columns in a thousandth of our unit, such as mV.
    """
    cells = "\n".join(map("\n".join, sample))
    commas = "," in cells
    comma = sum(1 for cell in _WITH_COMMA.findall(cells) if not _GROUPED.match(cell)) if commas else 0
    grouped = len(_GROUPED.findall(cells)) if commas else 0
    if delimiter == "," and not comma:
        return ".", grouped > 0
    points = _WITH_POINT.findall(cells)
    point = len(points)
    if delimiter == "," and comma > point:
        return ",", False  # then each number is in quotes
    if delimiter == ",":
        return ".", grouped > 0 and not comma
    plain = any(not _BY_POINTS.match(cell) for cell in points)
    if point and not plain and _group_thousands(sample, small, commas=comma > 0):
        return ",", False
    if grouped and not point and not comma:
        marked = {place for row in sample for place, cell in enumerate(row) if _GROUPED.match(cell.strip())}
        shown = _thousands(sample, _GROUPED, small if marked <= small else frozenset())
        return (".", True) if shown else (",", False)
    if comma > point:
        return ",", False
    if point:
        return ".", grouped > 0 and not comma
    return None, False


def _group_thousands(sample: list[list[str]], small: Set[int], *, commas: bool) -> bool:
    """Whether points that all stand before three digits group thousands, and are not decimal points.

    ``commas``: numbers of the sample have decimal commas. Without them a column must show it by whole numbers of three
    digits.
    """
    if _thousands(sample, _GROUPED, frozenset()):
        return False
    return bool(_thousands(sample, _BY_POINTS, small if commas else frozenset()))


def _grouped_by_points(sample: list[list[str]], small: Set[int]) -> set[int]:
    """The places of columns whose points group thousands, in a file that has decimal commas."""
    columns = list(itertools.zip_longest(*sample, fillvalue=""))
    plain = {
        place
        for place, column in enumerate(columns)
        if any(_WITH_POINT.match(cell.strip()) and not _BY_POINTS.match(cell.strip()) for cell in column)
    }
    return _thousands(sample, _BY_POINTS, small) - plain


def _thousands(sample: list[list[str]], form: re.Pattern[str], small: Set[int]) -> set[int]:
    """The places of columns where a mark before three digits groups thousands and is not a decimal mark.

    There it is beside whole numbers of three digits without a mark, or in a column of a small unit. A zero before the
    mark (``0,125``) shows that it is a decimal mark in all columns.
    """
    columns = [[cell.strip() for cell in column] for column in itertools.zip_longest(*sample, fillvalue="")]
    marked = {place for place, cells in enumerate(columns) if any(map(form.match, cells))}
    if any(cell.lstrip("+-").startswith("0") for place in marked for cell in columns[place] if form.match(cell)):
        return set()
    return {place for place in marked if place in small or any(map(_HUNDREDS.match, columns[place]))}
