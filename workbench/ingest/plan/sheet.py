"""A sheet of labels: one row for each file, or pattern of files, and what is known of it."""

from __future__ import annotations

import csv
import io
import os
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fnmatch import translate
from pathlib import Path
from typing import Any

from ...errors import BadRequest
from ...messages import counted, quoted
from ...near_files import meant_file
from ...readers.file.valueless_cells import Valueless, letters, valueless_cells
from ...records.values import LONGEST_NAME, composed
from ..processes.warm_workers import ask_locked
from ..processes.worker_process import DIED, as_path, as_text
from .headings import FILE, Heading, has_decimal_comma, may_be_thousands, names_files
from .labels import Labels
from .paths import shown, stem_of

MOST_ROWS = 100_000
MOST_BYTES = 64 << 20
MOST_TITLES = 20
MOST_COLUMNS = 1000
_ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".xls", ".ods")


class Asked:
    """A file, taken apart for the patterns of a sheet: its name, its path from the ingested folder on, and all parts
    of its path. ``mark`` stands behind each: it names one test of the file."""

    def __init__(self, path: Path, root: Path | None, mark: str = "") -> None:
        whole = Path(composed(os.path.abspath(path)))
        self.name, self.stem = whole.name + mark, stem_of(path) + mark
        self.parts = (*whole.parts[1:-1], whole.name + mark)
        start = whole.parent if root is None else Path(composed(os.path.abspath(root)))
        self.below = f"/{start.name}/{whole.relative_to(start).as_posix()}{mark}"


@dataclass
class Row:
    """One row: ``number`` as a person counts it, the pattern, and what it says."""

    number: int
    pattern: str
    labels: Labels
    used: int = 0
    folders: set[Path] = field(default_factory=set)
    """The folders of the files that it fits."""

    def __post_init__(self) -> None:
        pattern = composed(self.pattern).replace("\\", "/").removeprefix("./")
        self._path = "/" in pattern
        words = (
            (translate(pattern), translate(f"*/{pattern.lstrip('/')}")) if self._path else (translate(pattern),)
        )
        self._matches = [re.compile(word).match for word in words]
        levels = pattern.strip("/").split("/")
        self._above = [re.compile(translate(level)).match for level in levels]

    @property
    def is_bare(self) -> bool:
        """Whether the pattern is one name, without a folder and without ``*`` or ``?``."""
        return not self._path and not set("*?[") & set(self.pattern)

    def fits(self, path: Path, root: Path | None = None) -> bool:
        """Whether the pattern means this file: its name, its name without the ending, or the end of its path."""
        return self.names(Asked(path, root))

    def names(self, asked: Asked) -> bool:
        """As ``fits``, of a path that was taken apart.

        A ``*`` may stand for several folders below the folder that is ingested, and for a part of one name above.
        """
        if not self._path:
            return any(match(text) for match in self._matches for text in (asked.name, asked.stem))
        if any(match(asked.below) for match in self._matches):
            return True
        ends = asked.parts[-len(self._above) :]
        return len(ends) == len(self._above) and all(
            match(part) for match, part in zip(self._above, ends, strict=True)
        )

    def mark(self, path: Path, root: Path | None = None) -> str | None:
        """What stands behind the name of this file in the pattern, ``!A``: the row is about tests of the file."""
        places = (at for at, sign in enumerate(self.pattern) if sign == "!" and at)
        return next(
            (
                self.pattern[at:]
                for at in places
                if Row(self.number, self.pattern[:at], self.labels).fits(path, root)
            ),
            None,
        )


@dataclass
class Sheet:
    """The rows of a sheet in their order; of two that fit a file and differ, the later one holds."""

    path: Path
    rows: list[Row] = field(default_factory=list)

    def labels(
        self, path: Path, root: Path | None = None, test: str | None = None
    ) -> tuple[Labels | None, list[str]]:
        """What the sheet says of a file, None if no row fits; and remarks where rows contradict each other.

        ``root``: the folder that is ingested. ``test``: of one test of a file that holds several; rows name it as
        ``cells.csv!A``.
        """
        found: Labels | None = None
        remarks = []
        asked = Asked(path, root, "" if test is None else f"!{test}")
        for row in self.rows:
            if not row.names(asked):
                continue
            row.used += 1
            row.folders.add(path.parent)
            if found is not None and (differ := row.labels.differing(found)):
                remarks.append(
                    f"Row {row.number} of the sheet gives another {quoted(differ)} than "
                    f"a row above it; the lower row was used."
                )
            found = row.labels if found is None else row.labels.over(found)
        return found, remarks

    def of_tests(self, path: Path, root: Path | None = None) -> Sheet | None:
        """The rows about single tests of a file, as a sheet for a place where the file has another path."""
        marked = ((row, row.mark(path, root)) for row in self.rows)
        rows = [Row(row.number, f"*{mark}", row.labels) for row, mark in marked if mark is not None]
        return Sheet(self.path, rows) if rows else None

    def too_wide(self, path: Path, root: Path | None = None) -> list[str]:
        """Remarks on rows that name a cell and one file name, which this file has and files of other folders too."""
        return [
            f"Row {row.number} of the sheet, '{row.pattern}', fits files in {len(row.folders)} folders: all of them "
            f"are of the cell '{row.labels.instance}'. If they are of several cells, write the end of the path, such "
            f"as '{shown(path.parent.name)}/{shown(path.name)}'."
            for row in self.rows
            if len(row.folders) > 1 and row.labels.instance and row.is_bare and row.fits(path, root)
        ]

    def unused(self) -> list[str]:
        """The rows that fitted no file, as sentences."""
        return [f"Row {row.number}: no file matches '{row.pattern}'." for row in self.rows if not row.used]


def read_sheet(given: Any) -> Sheet:
    """A sheet from a file (csv with any usual separator, xlsx, ods; the first sheet of a workbook) or from rows at
    hand (a DataFrame, or a list of mappings of heading to value).

    Raises
    ------
    BadRequest
        If it cannot be read, has no column of files, or a heading or value cannot be meant so: all that is wrong,
        by row and column.
    """
    if isinstance(given, Sheet):
        return given
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        return _sheet(path, *_cells_of(path))
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = given.to_dict("records")
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        names = list(dict.fromkeys(name for row in given for name in row))
        cells = [names, *([row.get(name) for name in names] for row in given)]
        return _sheet(Path("sheet"), cells)
    raise BadRequest("A sheet is a path, a DataFrame, or a list of rows as mappings.")


def _sheet(path: Path, cells: Iterable[Sequence[Any]], decimal_comma: bool = False) -> Sheet:
    """``decimal_comma``: a comma in a number is certainly a decimal one; else the other numbers of the sheet say so."""
    rows = [[_text(value) for value in row] for row in cells]
    first = next((at for at, row in enumerate(rows) if any(row)), 0)
    rows = rows[first:]
    name = shown(path.name)
    if not rows:
        raise BadRequest(f"The sheet '{name}' is empty.")
    if len(rows) > MOST_ROWS:
        raise BadRequest(f"The sheet '{name}' has more than {counted(MOST_ROWS, 'row')}.")
    above = next((at for at, row in enumerate(rows[:MOST_TITLES]) if names_files(row)), 0)
    rows = rows[above:]
    headings = _headings(rows[0], name)
    place = next((at for at, heading in headings.items() if heading.means == FILE), None)
    if place is None:
        raise BadRequest(
            f"The sheet '{name}' has no column '{FILE}' that says which file a row is about; its columns are "
            f"{quoted(filter(None, rows[0]))}."
        )
    sheet = Sheet(path)
    wrong: list[str] = []
    numbers = [at for at, heading in headings.items() if heading.takes_numbers]
    decimal_comma = decimal_comma or any(
        has_decimal_comma(row[at]) for row in rows for at in numbers if at < len(row)
    )
    for number, row in enumerate(rows[1:], first + above + 2):
        if not any(row):
            continue
        pattern = row[place] if place < len(row) else ""
        if not pattern:
            wrong.append(f"Row {number}: the column for the file is empty.")
            continue
        labels = Labels()
        for at, heading in headings.items():
            text = row[at] if at < len(row) and at != place else ""
            if not decimal_comma and at in numbers and may_be_thousands(text):
                wrong.append(
                    f"Row {number}: '{text}' under '{heading.text}' is {text.replace(',', '.')} or "
                    f"{text.replace(',', '')}, and no other number of the sheet says which. Write it without a comma."
                )
                continue
            try:
                said = heading.labels(text)
            except BadRequest as error:
                wrong.append(f"Row {number}: {str(error).removeprefix(heading.where + ': ')}")
                continue
            labels = said.over(labels)
        sheet.rows.append(Row(number, pattern, labels))
    if wrong:
        raise BadRequest(
            "\n".join([f"The sheet '{name}' has mistakes. Nothing was read.", *wrong[:20], *_more(wrong[20:])])
        )
    return sheet


def _more(left: list[str]) -> list[str]:
    return [f"And {counted(len(left), 'row')} more."] if left else []


def _headings(texts: Sequence[str], name: str) -> dict[int, Heading]:
    where = f"The sheet '{name}'"
    if sum(map(bool, texts)) > MOST_COLUMNS:
        raise BadRequest(f"{where} has more than {counted(MOST_COLUMNS, 'column')}.")
    for at, text in enumerate(texts, 1):
        if len(text) > LONGEST_NAME:
            raise BadRequest(
                f"{where}: the heading of column {at} has {len(text)} characters; at most {LONGEST_NAME} can be read."
            )
    headings = {at: Heading(text, where) for at, text in enumerate(texts) if text}
    seen: dict[tuple[str, ...], str] = {}
    for heading in headings.values():
        if heading.key in seen:
            raise BadRequest(
                f"{where} has two columns for the same thing: '{seen[heading.key]}' and '{heading.text}'."
            )
        seen[heading.key] = heading.text
    return headings


def _cells_of(path: Path) -> tuple[Iterable[Sequence[Any]], bool]:
    """The cells of a file, and whether semicolons part them, so that its commas are decimal."""
    ending = path.suffix.lower()
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MOST_BYTES else b""
    except OSError as error:
        why = error.strerror or error
        raise BadRequest(
            f"The sheet '{shown(path)}' cannot be read: {why}.{meant_file(path, *_ENDINGS)}"
        ) from None
    if size > MOST_BYTES:
        raise BadRequest(f"The sheet '{shown(path.name)}' is larger than {MOST_BYTES >> 20} MiB.")
    if ending not in _ENDINGS:
        raise BadRequest(
            f"A sheet is a file that ends in {quoted(_ENDINGS, last='or')}, not '{shown(path.name)}'."
        )
    if ending in (".csv", ".tsv", ".txt"):
        return _of_text(data)
    return _of_workbook(path, data), False


def _of_text(data: bytes) -> tuple[list[list[str]], bool]:
    text = None
    for encoding in ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252", "latin-1"):
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    if text is None:
        raise BadRequest("The text encoding of the sheet is not known. Save it as UTF-8.")
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(";\t,", key=first.count)
    try:
        return list(csv.reader(io.StringIO(text), delimiter=separator)), separator == ";"
    except csv.Error as error:  # a cell of more than 131 072 characters, as after a quote that does not end
        raise BadRequest(
            f"The sheet cannot be read as text with '{separator}' between its cells: {error}."
        ) from None


def _of_workbook(path: Path, data: bytes) -> list[list[str]]:
    """The cells of a workbook, read in a locked process where this machine has the lock."""
    answer = ask_locked("sheet", {"sheet": as_text(path)}, [path])
    if answer is None:
        answer = _cells_or_why(data)
    cells = answer.get("cells") if isinstance(answer, dict) else None
    if not isinstance(cells, list) or not all(isinstance(row, list) for row in cells):
        why = answer.get("refused") if isinstance(answer, dict) else DIED
        raise BadRequest(
            f"The sheet '{shown(path.name)}' cannot be read as a workbook ({shown(str(why))}). "
            "Open it in a spreadsheet program and save it again as xlsx or csv."
        )
    return [[str(cell) for cell in row] for row in cells]


def cells_by(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a worker answers to a job about a workbook."""
    return _cells_or_why(as_path(job["sheet"]).read_bytes())


def _cells_or_why(data: bytes) -> Mapping[str, Any]:
    """The texts of the cells of a workbook, or why it is refused."""
    import python_calamine

    try:
        sheet = python_calamine.load_workbook(io.BytesIO(data)).get_sheet_by_index(0)
        if column := _uncomputed(data, sheet.name):
            return {"refused": f"the formulas in its column {column} were never computed, so that cells are empty"}
        cells = _filled(list(sheet.to_python(skip_empty_area=False)), sheet.merged_cell_ranges or [])
        return {"cells": [[_text(value) for value in row] for row in cells]}
    except Exception as error:  # a damaged workbook may break the parser in any way
        return {"refused": str(error)}


def _uncomputed(data: bytes, name: str) -> str | None:
    """The letters of the first column with formulas that were never computed; None without such formulas."""
    if not data.startswith(b"PK"):
        return None
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        members = frozenset(member for member in container.namelist() if "worksheets/" in member)
        formulas = valueless_cells(container, members).get(name, Valueless()).formulas
    return letters(min(formulas)) if formulas else None


def _filled(cells: list[list[Any]], merged: Iterable[tuple[tuple[int, int], tuple[int, int]]]) -> list[list[Any]]:
    """The text of a merged cell is put into each of its rows; a title over several columns is kept once."""
    for (top, left), (bottom, _) in merged:
        for row in cells[top + 1 : bottom + 1]:
            if left < len(row):
                row[left] = cells[top][left]
    return cells


def _text(value: Any) -> str:
    """A cell as a person sees it: whole numbers without a point, days without a time."""
    if value is None or value != value:  # NaN is what pandas makes of an empty cell
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == datetime.min.time():
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ";".join(str(item) for item in value)
    return str(value).strip()
