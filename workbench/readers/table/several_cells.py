"""Tables that hold several cells: the column that names them, and the rows of one of them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from ...cycling.columns import CURRENT, FREQUENCY, IMPEDANCE_AXES, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import column_map as mapping
from ...messages import counted, quoted, spaced
from ..reading import SeveralTests
from .columns import Plan
from .header_units import fold

_OF_CELLS = (
    "cell", "battery", "zelle", "zell", "akku", "pouch", "电池", "电芯", "dut", "specimen", "barcode", "条码", "serial",
    "sn", "s/n", "sample", "probe", "module", "modul", "pack", "channel", "chan", "chl", "ch", "kanal", "通道",
)  # fmt: skip
"""Words for a cell or the place where it is tested, the surest first."""
_NUMBERS = (
    "id", "ids", "no", "nr", "num", "number", "nummer", "name", "label", "index", "tag", "code", "#", "serial", "sn",
    "s/n", "barcode", "编号", "号", "名称", "条码", "序列号",
)  # fmt: skip
"""Words behind one of them that do not change what is named."""
_NOT_ALONE = frozenset(("sample", "probe", "module", "modul", "pack", "ch", "chl"))
"""Words that name a cell only with a word behind them: alone they count rows, or mean something else."""
_MAY_COUNT = frozenset(("serial", "sn", "s/n"))
"""Words that may also count the rows of each step."""


def _spelled(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_NAMES_CELLS = re.compile(f"({_spelled(_OF_CELLS)})((?:{_spelled(_NUMBERS)})*)")
_BETWEEN = re.compile(r"[\s_.,:;()\[\]-]+")
_NOT_EMPTY = re.compile(rb"^[^\S\n]*(\S)[^\n]*", re.MULTILINE)
_MAPPED = "Cell"
"""The name in a column map that makes any column this one: ``{"probe": "Cell"}``."""
_OF_A_TEST = (TIME, CURRENT, VOLTAGE)
MOST_TESTS = 1000
"""Tests in one file. A file with more names has a column that does not name cells."""


def refuse_side_by_side(file: str, plan: Plan) -> None:
    """Refuse a table in which the columns of several tests stand side by side, if nobody said which are meant.

    Raises
    ------
    FileRefused
        With the column map that reads the second.
    """
    again = {name: plan.again(name) for name in _OF_A_TEST}
    tests, what = 1 + min(max(len(again[CURRENT]), len(again[TIME])), len(again[VOLTAGE])), "tests"
    for parts in map(sorted, IMPEDANCE_AXES):
        swept = {name: plan.again(name) for name in (FREQUENCY, *parts)}
        spectra = 1 + min(len(swept[part]) for part in parts)
        if tests == 1 < spectra:
            again, tests, what = swept, spectra, "spectra"
    if tests == 1 or plan.mapped:
        return
    second = {labels[0]: name for name, labels in again.items() if labels}
    raise FileRefused(
        f"'{file}' holds {tests} {what} side by side: {quoted(second)} are the columns of the second. Save each test "
        f"as a file of its own. To read the second alone say {mapping(second)}."
    )


def names_cells(header: str) -> int | None:
    """How surely a header is that of a column which names the cell of each row: 0 is the surest; None if it is not.

    >>> names_cells("Cell_ID"), names_cells("S/N"), names_cells("Cell voltage (V)")
    (0, 13, None)
    """
    found = _NAMES_CELLS.fullmatch(_BETWEEN.sub("", header.casefold().strip("\ufeff~ ")))
    if found is None or (found[1] in _NOT_ALONE and not found[2]):
        return None
    return _OF_CELLS.index(found[1])


def names_several(header: str, rows: Counter[str]) -> bool:
    """Whether a column names several cells, and not each row. ``rows``: name -> its number of rows, "" for none."""
    counts = [count for name, count in rows.items() if name]
    if len(counts) < 2 or max(counts) < 2:
        return False
    return not may_count(header) or sum(counts) >= len(counts) ** 2


def may_count(header: str) -> bool:
    """Whether a column of this name may count rows instead of naming cells."""
    rank = names_cells(header)
    return rank is not None and _OF_CELLS[rank] in _MAY_COUNT


def cells_first(headers: Iterable[str]) -> list[str]:
    """Those of these headers that are of a column which names cells, the surest first."""
    ranks = {header: rank for header in headers if (rank := names_cells(header)) is not None}
    return sorted(ranks, key=ranks.__getitem__)


def cell_columns(plan: Plan) -> list[str]:
    """The headers of the columns that may name the cell of each row, the surest first.

    A column that a person gave another name is not one. If a person named one, there is no other.
    """
    free = [column for column in plan.columns if column.role == "free"]
    mapped = next((c for c in free if fold(c.name) == fold(_MAPPED) and c.name != c.header), None)
    if mapped is not None:
        return [mapped.header]
    return cells_first(column.header for column in free if column.name == column.header)


def column_of_cells(counts: Mapping[str, Counter[str]]) -> str | None:
    """The first of these columns that names several cells; None if none does. ``counts``: header -> name -> rows."""
    return next((header for header, rows in counts.items() if names_several(header, rows)), None)


def refuse_several(file: str, column: str, rows: Counter[str]) -> NoReturn:
    """Refuse a table whose rows belong to several cells. ``rows``: cell -> its number of rows, "" for none.

    Raises
    ------
    SeveralTests
        With the names of the cells.
    FileRefused
        If there are too many to be cells.
    """
    names = [name for name in rows if name]
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
        mark = re.escape(self._mark)
        # The rest of the line is taken too: from there the search for the next line is slow.
        field = re.compile(rb"^(?:[^%b\n]*%b){%d}([^%b\n]*)[^\n]*" % (mark, mark, self._place, mark), re.MULTILINE)

        def count(block: bytes) -> bytes:
            if b'"' in block:
                found = Counter(self.name(line) for line in block.split(b"\n") if line.strip())
            else:  # a search in the whole block takes a tenth of the time of a look at each line
                found = Counter(map(bytes.strip, field.findall(block)))
                del found[b""]
                if unnamed := len(_NOT_EMPTY.findall(block)) - found.total():
                    found[b""] = unnamed
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


def count_names(batches: Iterable[pa.RecordBatch]) -> dict[str, Counter[str]]:
    """Header -> cell -> number of rows, "" for rows that name none, in the order of the file, of each column that can
    name cells."""
    counts: dict[str, Counter[str]] = {}
    for batch in batches:
        for header, column in zip(batch.schema.names, batch.columns, strict=True):
            if not can_name(column.type):
                continue
            rows = counts.setdefault(header, Counter())
            for entry in names_in(column).value_counts().tolist():
                rows[entry["values"] or ""] += entry["counts"]
    return counts
