"""Gamry .DTA text: settings, then tables of open circuit, impedance and curves, each with a line of units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime

import numpy as np

from ...cycling.columns import CURRENT, TEMPERATURE
from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import counted, quoted
from ...table import Table
from ..file.source import Head
from ..file.text_tables import TextTable, has_tables, lines_above, tables_of
from ..reading import Reading
from ..table.columns import From
from ..table.dates import start_notes
from ..table.header_units import split_header
from ..table.impedance import settle_imaginary
from ..table.joined_readings import Part, joined
from ..table.metadata_above import metadata_above
from ..table.text_format import TextFormat
from ..table.text_layout import header_lines, lay_out
from ..table.values import number_column, one_clock
from .delimited import IMPEDANCE

_CATHODIC = re.compile(r"^CONVENTION\tIQUANT\t0\b")
"""The setting by which a positive current is cathodic, and discharges the positive electrode. Else it is anodic."""
_DATE = re.compile(r"^DATE\tLABEL\t([^\t]+)")
_HOUR = re.compile(r"^TIME\tLABEL\t([^\t]+)")
_SETTING = re.compile(
    r"^(?P<name>\w+)\t(?P<kind>LABEL|PSTAT|I?QUANT|TOGGLE|SELECTOR)\t(?P<said>[^\t]+)(?:\t(?P<dialog>.*))?$"
)
"""A setting: its name, its kind, what it says, and how the dialog of Gamry calls it."""
_NO_THERMOMETER = -273.15
_COLUMNS = (
    From("Time [s]", ("t",), "s"),
    From("Current [A]", ("im",), "A"),
    From("Voltage [V]", ("vf",), "V"),
    From("Cycle from cycler", ("cycle",)),
    From("Temperature [degC]", ("temp",), "degC"),
)


@dataclass(frozen=True)
class Gamry(TextFormat):
    """A file of Gamry with all of its tables, or a text with the columns of its curves."""

    def matches(self, head: Head) -> bool:
        return self._has_tables(head) or super().matches(head)

    @staticmethod
    def _has_tables(head: Head) -> bool:
        return head.first_line.strip() == "EXPLAIN" and has_tables(head)

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a file; see ``readers.read``.

        Raises
        ------
        FileRefused
            If no table has samples.
        """
        if not self._has_tables(head):
            return super().read(head, column_map=column_map, sign=sign)
        cathodic = any(_CATHODIC.match(line) for line in head.lines)
        curve = replace(_CURVE, sign="discharge") if cathodic else _CURVE
        tables = tables_of(head)
        kinds = [(table, _kind_of(table, curve)) for table in tables]
        read = [(table, kind) for table, kind in kinds if kind is not None]
        left = [name for table, kind in kinds if kind is None for name in table.names]
        if not read:
            raise FileRefused(_without_samples(head, left))
        maps = _maps([table for table, _ in read], column_map)
        parts = [
            Part(kind.read(table.head, column_map=chosen, sign=sign), table.first, table.last)
            for (table, kind), chosen in zip(read, maps, strict=True)
        ]
        main = next((part.reading for part in parts if CURRENT in part.reading.headers), parts[0].reading)
        above = lines_above(head)
        settings = metadata_above(tuple(map(_setting, above)))
        made = Reading(self.name, iter(()), sign=main.sign, headers=main.headers, metadata=settings)
        made.start_time = _begun(above, made.notes)
        made.notes += _of_tables([table for table, _ in read], left)
        made.batches = _without_thermometer(joined(parts, made.notes), made.notes)
        return made


def _setting(line: str) -> str:
    """The name of a setting and what it says, a quantity with the unit of the dialog; other lines as they are."""
    found = _SETTING.match(line.rstrip())
    if found is None:
        return line
    dialog = (found["dialog"] or "").replace("&", "").strip()
    unit = split_header(dialog).unit if found["kind"] == "QUANT" else None
    return f"{found['name']}\t{found['said'].strip()} {unit or ''}".rstrip()


def _begun(lines: tuple[str, ...], notes: list[Finding]) -> datetime | None:
    """The start of the test: the date and time among the settings."""
    found = [next((m[1].strip() for line in lines if (m := form.match(line))), "") for form in (_DATE, _HOUR)]
    text = " ".join(found)
    begun = one_clock(text) if all(found) else None
    if begun is not None:
        notes.extend(start_notes(text, day_first=False))
    return begun


def _kind_of(table: TextTable, curve: TextFormat) -> TextFormat | None:
    """How a table is read; None if it has no samples, as a list of capacities."""
    names = [line for line in header_lines(table.head) if line.line == 0]
    return next((kind for kind in (_SPECTRUM, curve, _REST) if any(line.has(kind.needs) for line in names)), None)


def _maps(tables: list[TextTable], column_map: Mapping[str, str] | None) -> list[dict[str, str] | None]:
    """The part of a column map for each table. A header that no table has stays, so that it is refused by name."""
    if not column_map:
        return [None] * len(tables)
    made: list[dict[str, str] | None] = []
    missing = dict(column_map)
    for table in tables:
        header = next(line for line in header_lines(table.head) if line.line == 0)
        labels = {label.casefold() for label in lay_out(table.head, header).labels}
        chosen = {name: ours for name, ours in column_map.items() if name.strip().casefold() in labels}
        missing = {name: ours for name, ours in missing.items() if name not in chosen}
        made.append(chosen or None)
    if missing:
        made[-1] = {**(made[-1] or {}), **missing}
    return made


def _of_tables(read: list[TextTable], left: list[str]) -> list[Finding]:
    notes = []
    if len(read) > 1:
        listed = ", ".join(f"'{table.names[0]}' ({counted(table.rows, 'row')})" for table in read)
        text = (
            f"The file holds tables one below the other: {listed}. They are one series in this order. A time that "
        )
        notes.append(Finding("assumed", "tables_joined", text + "starts again goes on from the table before."))
    if left:
        text = f"{quoted(left)} {'is a table' if len(left) == 1 else 'are tables'} without samples, and left out."
        notes.append(Finding("assumed", "tables_left_out", text))
    return notes


def _without_samples(head: Head, left: list[str]) -> str:
    held = f"only {quoted(left)}, without time and voltage" if left else "no rows below the names of its tables"
    return f"'{head.name}' holds {held}. Ingest the files of Gamry that hold the curves of the test."


def _without_thermometer(tables: Iterator[Table], notes: list[Finding]) -> Iterator[Table]:
    """The tables; temperatures that no thermometer can show are left empty."""
    seen = False
    for table in tables:
        column = table.get(TEMPERATURE)
        values = np.zeros(0) if column is None else column.floats()
        if column is not None and bool((values < _NO_THERMOMETER).any()):
            seen = True
            kept = number_column(np.where(values < _NO_THERMOMETER, np.nan, values))
            table = Table({**table.columns, TEMPERATURE: kept}, table.n)
        yield table
    if seen:
        text = "Temperatures below absolute zero, which a Gamry writes without a thermometer, were left empty."
        notes.append(Finding("assumed", "no_thermometer", text))


_CURVE = TextFormat(
    name="gamry",
    brand="Gamry",
    endings=(".DTA",),
    about="Curves, open circuit and impedance of a potentiostat; known by its tables, or by 'T', 'Vf' and 'Im'.",
    needs=(("pt",), ("t",), ("vf",), ("im",)),
    columns=_COLUMNS,
    sign="charge",
)
_REST = replace(_CURVE, needs=(("pt",), ("t",), ("vf",)), at_rest=True)
_SPECTRUM = replace(
    _CURVE,
    needs=(("freq",), ("zreal", "zmod"), ("zimag", "zphz")),
    columns=IMPEDANCE.columns,
    sign="found",
    settle=settle_imaginary,
)
GAMRY = Gamry(**{field.name: getattr(_CURVE, field.name) for field in fields(_CURVE)})
