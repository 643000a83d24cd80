"""Tables that hold several cells: the column that names them, and the rows of one of them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import column_map as mapping
from ...messages import counted, spaced
from ..reading import SeveralTests
from .columns import Plan
from .header_units import fold, split_header

CELL = (
    "cell", "cell id", "cell name", "cell number", "cell no", "cell nr", "cell index", "cell label", "cellid",
    "cell serial", "cell serial number", "battery", "battery id", "battery name", "battery number", "batteryid",
    "barcode", "cell barcode", "battery barcode", "sample id", "sample name", "specimen", "channel", "channel id",
    "channel index", "channel number", "channel no", "zelle", "zell id", "zellnummer", "电池", "电池编号",
)  # fmt: skip
"""Folded headers of a column that names the cell of each row."""
_MAPPED = "Cell"
"""The name in a column map that makes any column this one: ``{"specimen": "Cell"}``."""
MOST_TESTS = 1000
"""Tests in one file. A file with more names has a column that does not name cells."""


def cell_column(plan: Plan) -> str | None:
    """The header of the column that names the cell of each row; None if there is none.

    A column that a person gave another name is not one.
    """
    free = [column for column in plan.columns if column.role == "free"]
    mapped = next((c for c in free if fold(c.name) == fold(_MAPPED) and c.name != c.header), None)
    if mapped is not None:
        return mapped.header
    named = [column for column in free if column.name == column.header]
    heads = {column.header: split_header(column.header) for column in named}
    return next(
        (header for key in CELL for header, head in heads.items() if head.key == key and head.unit is None), None
    )


def check_several(file: str, column: str, rows: Counter[str]) -> None:
    """Refuse a table whose rows belong to several cells. ``rows``: cell -> its number of rows, "" for none.

    Raises
    ------
    SeveralTests
        With the names of the cells.
    FileRefused
        If there are too many to be cells.
    """
    names = [name for name in rows if name]
    if len(names) < 2 or max(rows[name] for name in names) < 2:
        return
    if len(names) > MOST_TESTS:
        raise FileRefused(
            f"The column '{column}' of '{file}' has {spaced(len(names))} different values, and a file may hold "
            f"{spaced(MOST_TESTS)} cells. If it names cells, split the file; else say "
            f"{mapping({column: f'{column} (no cell)'})}."
        )
    raise SeveralTests(file, tuple(names), f"its column '{column}' names {counted(len(names), 'cell')}")


def notes_of(file: str, column: str, rows: Counter[str], wanted: str) -> list[Finding]:
    """What is to be said of the rows of one cell.

    Raises
    ------
    FileRefused
        If no row is of this cell.
    """
    names = [name for name in rows if name]
    if wanted not in names:
        raise FileRefused(f"'{file}' has no cell '{wanted}' in its column '{column}'.")
    text = f"The file holds {counted(len(names), 'cell')}; this is '{wanted}' by its column '{column}'."
    found = [Finding("assumed", "one_of_cells", text)]
    if rows[""]:
        left = counted(rows[""], "row")
        found.append(
            Finding("odd", "rows_of_no_cell", f"{left} without a name in '{column}' were left out of every cell.")
        )
    return found


class CellLines:
    """The name of the cell in lines of text: the field at ``place``."""

    def __init__(self, place: int, delimiter: str) -> None:
        self._place = place
        self._mark = delimiter.encode()

    def name(self, line: bytes) -> bytes:
        """The name in a line; empty if there is none."""
        if b'"' in line:
            cells = next(csv.reader([line.decode("utf-8", "replace")], delimiter=self._mark.decode()), [])
            return cells[self._place].strip().encode() if len(cells) > self._place else b""
        fields = line.split(self._mark, self._place + 1)
        return fields[self._place].strip() if len(fields) > self._place else b""

    def counting(self, rows: Counter[str]) -> Callable[[bytes], bytes]:
        """A function that counts the lines of each cell in blocks of whole lines, and keeps none of them."""

        def count(block: bytes) -> bytes:
            found = Counter(self.name(line) for line in block.split(b"\n") if line.strip())
            for name, lines in found.items():
                rows[name.decode("utf-8", "replace")] += lines
            return b""

        return count

    def only(self, wanted: str) -> Callable[[bytes], bytes]:
        """A function that keeps only the lines of one cell from blocks of whole lines."""
        sought = wanted.encode()

        def keep(block: bytes) -> bytes:
            if sought not in block and b'"' not in block:
                return b""
            lines = (line for line in block.splitlines(keepends=True) if self.name(line.rstrip(b"\r\n")) == sought)
            return b"".join(lines)

        return keep


def names_in(column: pa.Array) -> pa.Array:
    """The names of cells in a typed column, as text; null where there is none."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        whole = pc.equal(column, pc.floor(column))
        column = pc.if_else(whole, column, pa.scalar(None, column.type)).cast(pa.int64())
    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def can_name(type: pa.DataType) -> bool:
    """Whether a typed column can name cells: text, or numbers that may be whole."""
    if pa.types.is_dictionary(type):
        type = type.value_type
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_floating)
    return any(test(type) for test in tests)


def count_names(columns: Iterable[pa.Array]) -> Counter[str]:
    """Cell -> number of rows, "" for rows that name none, in the order of the file."""
    rows: Counter[str] = Counter()
    for column in columns:
        for entry in names_in(column).value_counts().tolist():
            rows[entry["values"] or ""] += entry["counts"]
    return rows
