"""Workbooks (.xlsx, .xls): each sheet becomes a csv text."""

from __future__ import annotations

import csv
import itertools
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import IO, TypeAlias

import python_calamine

from ...errors import FileRefused, TooLarge, instead
from ...messages import spaced
from .. import limits
from .archives import Scratch, check_members, members, unpacked
from .outside_parsers import guarded
from .source import Head, look
from .valueless_cells import Valueless, blank_formulas_of_xls, column_number, may_lack_values, valueless_cells

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BLOCK = 1 << 20
_OVERLAP = 64
_CELL = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,4})(\d{1,9})["']""")
_NO_CELL = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{5}|[A-Za-z]*\d{10})""")
"""The beginning of a name that no cell has. The parser would ask for memory by hundreds of GB, and end the process."""
_STRING = re.compile(rb"<(?:\w+:)?si[ >]")
_SHARED = re.compile(rb"""\bt=["']s["']""")
Cell: TypeAlias = int | float | str | bool | time | date | timedelta
"""What calamine makes of a cell; an empty one is an empty text."""
_NO_DATE = 1910
"""A date before this year is a duration with the format of a date: no cycler is that old."""
_DAY_0, _DAY_0_AFTER_FEBRUARY = datetime(1899, 12, 31), datetime(1899, 12, 30)
_AFTER_FEBRUARY = datetime(1900, 3, 1)
"""Day 1 is the first of January 1900. A workbook counts a 29th of February 1900, which there was not, as day 60."""
_LAST_DAY, _ONE_DAY = 59, timedelta(days=1)
_DAY_0_OF_1904 = datetime(1904, 1, 1)
"""Day 0 of the workbooks that count from 1904, as those of Excel for the Mac did."""


@dataclass(frozen=True)
class Sheet:
    """A sheet as text: its head, the number of its lines, and whether spreadsheet programs hide it.

    ``formulas`` and ``errors``: place of a column in the lines -> how many of its cells are empty there because they
    are formulas that were never computed, or errors such as #DIV/0!. ``first``: number of the first column, from 0.
    """

    name: str
    head: Head
    rows: int
    hidden: bool = False
    formulas: Mapping[int, int] = field(default_factory=dict)
    errors: Mapping[int, int] = field(default_factory=dict)
    first: int = 0


def is_workbook(head: Head) -> bool:
    """Whether a file is a workbook of any kind."""
    if head.data.startswith(_OLE):
        return True
    if head.raw.startswith(b"PK") and _parts(head.path):
        return True
    if head.packed is None or not head.data.startswith(b"PK"):
        return False
    with unpacked(head.path, head.name, head.packed) as path:
        return bool(_parts(path))


def _parts(path: Path) -> list[str]:
    """The files in a zip archive that show which kind of workbook it is."""
    return [
        name for name in members(path) if name.casefold() in ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
    ]


def sheets_of(head: Head) -> list[Sheet]:
    """All sheets of a workbook that are not empty, as text.

    Raises
    ------
    FileRefused, TooLarge
        If it is damaged, of a kind that cannot be read (.xlsb, .ods), or over a limit.
    """
    packed = None if head.data.startswith(_OLE) or _parts(head.path) else head.packed
    with unpacked(head.path, head.name, head.packed if head.data.startswith(_OLE) else packed) as path:
        valueless = {} if head.data.startswith(_OLE) else _check(path, head.name)
        with guarded(lambda why: _damaged(head.name, why)):
            workbook = python_calamine.CalamineWorkbook.from_path(str(path))
            if len(workbook.sheet_names) > limits.MOST_MEMBERS:
                raise TooLarge(f"'{head.name}' has more than {limits.MOST_MEMBERS} sheets. Split it.")
            if head.data.startswith(_OLE):
                valueless = blank_formulas_of_xls(path, workbook.sheet_names)
            found = []
            for about in workbook.sheets_metadata:
                lacks = valueless.get(about.name, Valueless())
                sheet = _as_text(workbook.get_sheet_by_name(about.name), about.name, head, lacks)
                if sheet is not None and sheet.formulas and head.data.startswith(_OLE):
                    sheet = _with_blank_columns(sheet)
                if sheet is not None:
                    shown = about.visible == python_calamine.SheetVisibleEnum.Visible
                    found.append(sheet if shown else replace(sheet, hidden=True))
    return found


def _damaged(name: str, why: str) -> str:
    return f"'{name}' is damaged or not a workbook ({why}). Save it again as .xlsx or csv."


def _check(path: Path, name: str) -> dict[str, Valueless]:
    """The cells without values of each sheet. Refuses a workbook that would take too much memory to be parsed."""
    check_members(path, name)
    if "xl/workbook.xml" not in {part.casefold() for part in _parts(path)}:
        raise FileRefused(f"'{name}' is a workbook of a kind that cannot be read. Save it as .xlsx or csv.")
    longest = shared = 0
    lacking: set[str] = set()
    try:
        with zipfile.ZipFile(path) as container:
            for member in container.infolist():
                # Reading all of it shows whether the sizes that the archive declares are true.
                with container.open(member) as file:
                    if "worksheets/" in member.filename:
                        texts, lacks = _check_extent(file, name)
                        shared += texts
                        lacking |= {member.filename} if lacks else set()
                    else:
                        longest = max(longest, _longest_string(file))
            valueless = valueless_cells(container, frozenset(lacking)) if lacking else {}
    except TooLarge:
        raise
    except Exception as error:  # zipfile raises errors of many classes for damaged archives
        raise FileRefused(_damaged(name, str(error)[:100])) from None
    if longest * shared > limits.MOST_IN_MEMORY:
        raise TooLarge(
            f"The texts in the cells of '{name}' add up to more than {limits.MOST_IN_MEMORY >> 30} GiB. Split the file."
        )
    return valueless


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Blocks of a file, each with the last bytes of the block before in front, so that no match is cut."""
    rest = b""
    while block := file.read(_BLOCK):
        yield rest + block
        rest = block[-_OVERLAP:]


def _check_extent(file: IO[bytes], name: str) -> tuple[int, bool]:
    """The number of shared texts in a sheet, and whether cells may lack values. Refuses a sheet that is too large or
    almost empty."""
    rows = columns = cells = shared = 0
    lacks = False
    for block in _blocks(file):
        if strange := _NO_CELL.search(block):
            raise ValueError(f"a cell is called '{strange[1].decode()}...'")
        found = _CELL.findall(block)
        cells += len(found)
        rows = max(rows, *map(int, {digits for _, digits in found}), 0)
        columns = max(columns, *map(column_number, {letters for letters, _ in found}), 0)
        shared += len(_SHARED.findall(block))
        lacks = lacks or may_lack_values(block)
    if rows > limits.MOST_SHEET_ROWS or columns > 4 * limits.MOST_COLUMNS:
        raise TooLarge(
            f"A sheet of '{name}' claims {spaced(rows)} rows and {spaced(columns)} columns. No workbook has so many."
        )
    if rows * columns > limits.FREE_CELLS + limits.MOST_EMPTY * cells:
        raise TooLarge(
            f"A sheet of '{name}' spans {spaced(rows)} rows and {spaced(columns)} columns for {spaced(cells)} cells. "
            "Delete the cells far away from the table."
        )
    return shared, lacks


def _longest_string(file: IO[bytes]) -> int:
    """An upper bound of the length of the longest shared text, bytes."""
    longest = since = 0
    for block in _blocks(file):
        starts = [found.start() for found in _STRING.finditer(block)]
        gaps = [after - before for before, after in itertools.pairwise(starts)]
        longest = max([longest, since + (starts[0] if starts else len(block)), *gaps])
        since = len(block) - starts[-1] if starts else since + len(block)
    return max(longest, since)


def _as_text(sheet: python_calamine.CalamineSheet, name: str, head: Head, lacks: Valueless) -> Sheet | None:
    scratch = Scratch(".csv")
    rows = 0
    with open(scratch.path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        passed: dict[int, timedelta] = {}
        for row in _filled(sheet):
            cells = [_cell(value, column, passed) for column, value in enumerate(row)]
            if any(cells):
                writer.writerow(cells)
                rows += 1
    if not rows:
        return None
    made = look(scratch.path, head.name)
    first = 0 if sheet.start is None else sheet.start[1]
    formulas, errors = (
        {column - 1 - first: count for column, count in found.items()} for found in (lacks.formulas, lacks.errors)
    )
    return Sheet(name, replace(made, kept=scratch), rows, formulas=formulas, errors=errors, first=first)


def _with_blank_columns(sheet: Sheet) -> Sheet:
    """The sheet of an .xls with those columns of formulas that hold nothing below their header. An empty text may be
    what a formula gives; a column of nothing else was not computed."""
    with open(sheet.head.path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        filled = Counter(place for row in rows for place in sheet.formulas if place < len(row) and row[place])
    return replace(sheet, formulas={place: n for place, n in sheet.formulas.items() if filled[place] <= 1})


def _filled(sheet: python_calamine.CalamineSheet) -> Iterator[list[Cell]]:
    """The rows of a sheet. A text that is merged over several rows, as headers of two lines are, is in each of them."""
    first = 0 if sheet.start is None else sheet.start[1]
    merged: dict[int, list[tuple[int, int]]] = {}
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or []:
        if bottom > top:
            merged.setdefault(top, []).append((left - first, bottom))
    reaching: dict[int, tuple[int, Cell]] = {}
    for number, row in enumerate(sheet.iter_rows()):
        for place, (bottom, value) in list(reaching.items()):
            if number > bottom:
                del reaching[place]
            elif row[place] == "":
                row[place] = value
        for place, bottom in merged.get(number, ()):
            if 0 <= place < len(row) and isinstance(row[place], str) and row[place]:
                reaching[place] = (bottom, row[place])
        yield row


def _cell(value: Cell, column: int, passed: dict[int, timedelta]) -> str:
    """A cell as text; numbers keep all their digits. ``passed``: column -> its last duration that was a date."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, str):
        return " ".join(value.split()) if value else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        if value.year >= _NO_DATE:
            return moment.isoformat(" ", "microseconds")
        passed[column] = _span(moment, passed.get(column, timedelta()))
        return _duration(passed[column])
    if isinstance(value, timedelta):
        return _duration(value)
    return value.isoformat() if isinstance(value, time) else str(value)


def _span(moment: datetime, before: timedelta) -> timedelta:
    """The duration that is shown as a date: the date of the number of its days in the calendar of the workbook."""
    if moment >= _DAY_0_OF_1904:  # a test of four years would have been written with hours alone
        return moment - _DAY_0_OF_1904
    span = moment - (_DAY_0 if moment < _AFTER_FEBRUARY else _DAY_0_AFTER_FEBRUARY)
    # Day 60 comes as the 28th of February too. Only a fall behind day 59 shows it.
    return span + _ONE_DAY if span.days == _LAST_DAY and before > span else span


def _duration(span: timedelta) -> str:
    seconds = span.seconds + span.microseconds / 1e6
    return f"{span.days}d {int(seconds // 3600):02}:{int(seconds // 60 % 60):02}:{seconds % 60:09.6f}"


def chosen(sheets: list[Sheet], wanted: str, file: str) -> Sheet:
    """The sheet with this name.

    Raises
    ------
    FileRefused
        If there is no such sheet; names the nearest one.
    """
    for sheet in sheets:
        if sheet.name.casefold() == wanted.casefold():
            return sheet
    raise FileRefused(
        f"'{file}' has no sheet '{wanted}' with anything in it. {instead(wanted, [s.name for s in sheets], 'sheets')}"
    )


def joined(first: Head, others: list[Sheet], skip: Callable[[Head], int]) -> Head:
    """The text of sheets one after the other; ``skip`` gives the number of lines above the rows of a later sheet."""
    if not others:
        return first
    scratch = Scratch(".csv")
    with open(scratch.path, "wb") as made:
        made.write(first.path.read_bytes())
        for sheet in others:
            with open(sheet.head.path, "rb") as file:
                for _ in range(skip(sheet.head)):
                    file.readline()
                while block := file.read(_BLOCK):
                    made.write(block)
    return replace(look(scratch.path, first.name), kept=scratch)
