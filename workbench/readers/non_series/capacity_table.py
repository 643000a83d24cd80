"""Tables of capacity by cycle, without samples: of one cell, or of several cells that a column names."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import JsonValue

from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ...messages import counted, quoted, spaced
from ..file.outside_parsers import guarded
from ..file.source import Head, LineStream
from ..formats.delimited import CURRENT_NAMES, VOLTAGE_NAMES
from ..reading import JsonObject
from ..table.header_units import split_header, unit_of
from ..table.several_cells import cells_first, column_of_cells, may_count
from ..table.text_layout import HeaderLine, header_lines, lay_out
from ..table.values import Cells, Floats, Texts, are_whole, numbers, without_points

CYCLE = (
    "cycle",
    "cycle index",
    "cycle number",
    "cycle id",
    "cycle no",
    "cycle nr",
    "cyc",
    "cyclenumber",
    "cycleindex",
    "discharge number",
    "zyklus",
    *("循环号", "循环", "循环次数", "循环序号"),
)
DISCHARGE = (
    "discharge capacity", "dischg capacity", "dchg cap", "discharge cap", "q dis", "qdis", "qd", "q discharge",
    "qdischarge", "dchg capacity", "放电容量", "capacity", "cap", "capacity ah", "q",
)  # fmt: skip
CHARGE = ("charge capacity", "chg cap", "charge cap", "q chg", "qchg", "qc", "q charge", "qcharge", "充电容量")
DISCHARGE_ENERGY = ("discharge energy", "dchg energy", "e dis", "edis", "e discharge")
CHARGE_ENERGY = ("charge energy", "chg energy", "e chg", "echg", "e charge")
_COLUMNS = {
    "Discharge capacity [A.h]": DISCHARGE,
    "Charge capacity [A.h]": CHARGE,
    "Discharge energy [W.h]": DISCHARGE_ENERGY,
    "Charge energy [W.h]": CHARGE_ENERGY,
}
_MOST_ROWS, _MOST_CELLS = 1_000_000, 10_000


class CapacityTable:
    """Text with a cycle number and a capacity, but without voltage and current."""

    def matches(self, head: Head) -> bool:
        return _header(head) is not None

    def records(self, head: Head, notes: list[Finding]) -> list[JsonObject]:
        """One record per cell: ``cell`` (None if the file names none) and ``columns``, lists by name.

        "Cycle from cycler" has the numbers of the file. Capacities and energies are in A.h and W.h and never negative.

        Raises
        ------
        FileRefused, TooLarge
            If no row has a capacity, or there are too many rows or cells.
        """
        header = _header(head)
        if header is None:
            raise FileRefused(f"'{head.name}' has no columns of cycle and capacity. Name them in a header line.")
        frame, decimal = _frame(head, header)
        heads = {str(label): split_header(str(label)) for label in frame}
        cycle = next(label for name in CYCLE for label, h in heads.items() if h.key == name)
        made = {"Cycle from cycler": numbers(frame[cycle], decimal)[0]}
        for name, names in _COLUMNS.items():
            label = next((label for known in names for label, h in heads.items() if h.key == known), None)
            if label is not None:
                made[name] = np.abs(_in_unit(frame[label], heads[label].unit, name, label, decimal, notes))
        good = ~np.isnan(made["Cycle from cycler"])
        passed = [made[name] for name in _COLUMNS if name in made]
        has_charge = ~np.isnan(np.column_stack(passed)).all(axis=1)
        _say_left_out(frame[cycle], has_charge & ~good, notes)
        good &= has_charge
        if not good.any():
            raise FileRefused(f"No row of '{head.name}' has a cycle number and a capacity.")
        texts = {label: frame[label].astype("str").str.strip() for label in cells_first(heads)}
        counts = {label: Counter(column) for label, column in texts.items()}
        cell = column_of_cells(counts) or next((label for label in texts if not may_count(label)), None)
        if DISCHARGE_ONLY & {h.key for h in heads.values()} and "Charge capacity [A.h]" not in made:
            notes.append(Finding("assumed", "capacity_means", "The capacity was read as the discharge capacity."))
        return _by_cell(made, good, None if cell is None else texts[cell], head.name, notes)


DISCHARGE_ONLY = frozenset(("capacity", "cap", "capacity ah", "q"))


def _header(head: Head) -> HeaderLine | None:
    if holds_samples(head):  # below the lines of their cycles
        return None
    for line in header_lines(head):
        cycle, capacity = line.has((CYCLE,)), line.has(((*DISCHARGE, *CHARGE),))
        if cycle and capacity and not any(_is_sample(field) for field in line.fields):
            return line
    return None


def holds_samples(head: Head) -> bool:
    """Whether a text has a line that names a voltage and a current."""
    return any(sum(map(_is_sample, line.fields)) > 1 for line in header_lines(head))


def _is_sample(field: str) -> bool:
    """Whether a header names a voltage or current. ``V_min`` does not, although "min" is a unit."""
    header = split_header(field)
    unit = unit_of(header.unit)
    return header.key in (*VOLTAGE_NAMES, *CURRENT_NAMES) and (unit is None or unit.base in ("V", "A"))


def _frame(head: Head, header: HeaderLine) -> tuple[pd.DataFrame, str | None]:
    """The cells as written, and the decimal mark."""
    layout = lay_out(head, header)
    stream = LineStream(head, layout.skip, unquote=layout.unquote)
    try:
        with guarded(lambda why: f"'{head.name}' cannot be cut into rows and columns ({why})."):
            # The stubs of pandas lack this combination of options.
            frame = pd.read_csv(stream, sep=layout.delimiter, header=None, names=layout.labels, index_col=False,  # type: ignore[call-overload]
                                decimal=layout.decimal or ".", skipinitialspace=True, nrows=_MOST_ROWS + 1)  # fmt: skip
    finally:
        stream.close()
    if len(frame) > _MOST_ROWS:
        raise TooLarge(f"'{head.name}' has more than {spaced(_MOST_ROWS)} rows. No table of cycles is that long.")
    return without_points(frame, layout.by_points), layout.decimal


def _in_unit(
    values: Cells, unit: str | None, name: str, label: str, decimal: str | None, notes: list[Finding]
) -> Floats:
    base = name[name.index("[") + 1 : -1]
    said = unit or _unit_below(values)
    known, read = unit_of(said), numbers(values, decimal)[0]
    if known is not None and known.base == base:
        return known.convert(read)
    if said is None:
        notes.append(Finding("assumed", "unit", f"'{label}' names no unit. It was read in {base}."))
    else:
        text = f"The unit of '{label}' does not give {base}, but its numbers were read in {base}. Check them."
        notes.append(Finding("odd", "other_unit", text))
    return read


def _unit_below(values: Cells) -> str | None:
    """The unit in the first filled cell of a column; None if it holds a number or another text."""
    first = values.dropna()
    text = str(first.iloc[0]).strip().strip("()[]") if len(first) else ""
    return text if unit_of(text) is not None and text != "-" else None


def _say_left_out(cycles: Cells, rows: NDArray[np.bool_], notes: list[Finding]) -> None:
    """Warn of rows with a capacity whose cycle is not a number."""
    if rows.any():
        said = quoted(dict.fromkeys(str(one).strip() for one in cycles[rows].dropna()))
        text = f"Left out, since their cycle is not a number: {counted(int(rows.sum()), 'row')} with a capacity"
        notes.append(Finding("odd", "rows_left_out", f"{text} ({said})." if said else f"{text}."))


class _Order:
    """The order of the rows of each cell, and what is to be said of it."""

    def __init__(self) -> None:
        self._twice: list[str] = []
        self._sorted = 0

    def of(self, cycles: Floats, rows: NDArray[np.bool_], cell: str | None) -> NDArray[np.int64]:
        """The numbers of these rows in the order of their cycles, if each is there once; else in that of the file, as
        where one table has several tests."""
        places = np.flatnonzero(rows).astype(np.int64)
        numbers, times = np.unique(cycles[places], return_counts=True)
        if (times > 1).any():
            self._twice.append(f"{numbers[times > 1][0]:g}" + ("" if cell is None else f" of '{cell}'"))
        elif (np.diff(cycles[places]) < 0).any():
            self._sorted += 1
            places = places[np.argsort(cycles[places])]
        return places

    def notes(self) -> list[Finding]:
        found = []
        if self._twice:
            others = len(self._twice) - 1
            more = f", and of {counted(others, 'other cell')} too" if others else ""
            text = (
                f"Cycle {self._twice[0]} has several rows{more}. Each was stored as a cycle, as the file has them."
            )
            found.append(Finding("odd", "cycles_repeated", text))
        if self._sorted:
            text = f"The rows of {counted(self._sorted, 'cell')} were put in the order of their cycles."
            found.append(Finding("assumed", "cycles_sorted", text))
        return found


def _by_cell(
    columns: dict[str, Floats], good: NDArray[np.bool_], cells: Texts | None, file: str, notes: list[Finding]
) -> list[JsonObject]:
    order, cycles = _Order(), columns["Cycle from cycler"]
    if cells is None:
        made: list[JsonObject] = [{"cell": None, "columns": _lists(columns, order.of(cycles, good, None))}]
        notes += order.notes()
        return made
    names = np.asarray(cells)
    listed = list(dict.fromkeys(names[good].tolist()))
    if len(listed) > _MOST_CELLS:
        raise TooLarge(f"'{file}' names more than {spaced(_MOST_CELLS)} cells. Split the file.")
    made = []
    for name in listed:
        rows = order.of(cycles, good & (names == name), str(name))
        made.append({"cell": str(name), "columns": _lists(columns, rows)})
    notes += order.notes()
    return made


def _lists(columns: dict[str, Floats], rows: NDArray[np.int64]) -> dict[str, JsonValue]:
    made: dict[str, JsonValue] = {}
    for name, values in columns.items():
        kept = values[rows]
        whole = name == "Cycle from cycler" and are_whole(kept)
        made[name] = [int(v) for v in kept] if whole else [None if np.isnan(v) else float(v) for v in kept]
    return made


CAPACITIES = CapacityTable()
