"""Records at open circuit: a voltage over time. A potentiostat writes no current for them; it is 0."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import option, option_name
from ..file.source import Head
from ..reading import Reading
from ..table.columns import Plan
from ..table.header_units import split_header, unit_of
from ..table.impedance_names import other_names, without_reference
from ..table.text_format import TextFormat, read_text
from ..table.text_layout import HeaderLine, header_lines
from ..table.values import numbers
from .biologic import BIOLOGIC
from .delimited import CLOCK_NAMES, COLUMNS, CURRENT_NAMES, TIME_NAMES, VOLTAGE_NAMES

_OF_POTENTIOSTATS = frozenset(
    (
        "ewe",
        "ecell",
        "<ewe>",
        "<ecell>",
        "ewe-ece",
        "<ewe-ece>",
        "vf",
        "we(1) potential",
        "working electrode",
        "ocp",
        "ocv",
        "open circuit voltage",
        "open circuit potential",
    )
)
"""Names of a voltage that only potentiostats write, or that is one at open circuit by its name."""
_REST_MODE = 3
_AMPERE = re.compile(r"\b[mµμun]?A\b")
_TITLE = re.compile(r"open[\s_-]?circuit|\bOC[PV]\b|\bCORPOT\b|ruhespannung|ruhepotential|leerlauf", re.IGNORECASE)
_WITHOUT_CURRENT = frozenset(
    (
        "", "mode", "ox/red", "error", "control changes", "ns changes", "counter inc", "ns", "i range", "control",
        "pt", "point", "index", "over", "ach", "vm", "vu", "sig", "ierange", "record", "record number", "data point",
        "cycle number", "half cycle", "step", "cycle", "status", "segment #", "point #", "current range", "ece", "note",
    )
)  # fmt: skip
"""Columns that a record at open circuit may have besides time and voltage. None of them shows that a current flowed."""
_UNITS_WITHOUT_CURRENT = ("V", "s", "degC")
_TIMES = frozenset((*TIME_NAMES, *CLOCK_NAMES))


def without_current(fields: Sequence[str]) -> bool:
    """Whether no column of a table can be a current, a charge or a power."""
    for field in fields:
        head = without_reference(field) or split_header(field)
        unit = unit_of(head.unit)
        plain = head.key in _WITHOUT_CURRENT or head.key in _TIMES or head.key in VOLTAGE_NAMES
        fits = unit.base in _UNITS_WITHOUT_CURRENT if unit is not None else head.unit is None
        if not (plain and fits) and (unit is None or unit.base not in _UNITS_WITHOUT_CURRENT):
            return False
    return True


def shows_current(fields: Sequence[str]) -> bool:
    """Whether a column has, or is, a unit of current, charge, power or energy, or has one made with ampere."""
    for field in fields:
        head = split_header(field)
        unit = unit_of(head.unit or head.text)
        if unit is not None and unit.base in ("A", "A.h", "W", "W.h"):
            return True
        if unit is None and head.unit is not None and _AMPERE.search(head.unit):
            return True
    return False


def _refuse_load(plan: Plan, first: pd.DataFrame, decimal: str | None, mapped: bool, notes: list[Finding]) -> None:
    """Refuse rows of EC-Lab whose mode is not 3, which is a rest: their current was not exported."""
    label = next((label for label in plan.labels if split_header(label).key == "mode"), None)
    modes = numbers(first[label], decimal)[0] if label is not None else np.zeros(0)
    if not mapped and bool((np.isfinite(modes) & (modes != _REST_MODE)).any()):
        raise FileRefused(
            f"The file has no current, but '{label}' says that the cell had a load. Export it again with 'I/mA'. If "
            f"the cell was at open circuit after all, say {option('format', 'rest')}."
        )


@dataclass(frozen=True)
class AtRest(TextFormat):
    """A text with time and voltage, and nothing that can be a current."""

    def header(self, head: Head) -> HeaderLine | None:
        return next((line for line in self._lines(head) if self._is_certain(head, line)), None)

    def _lines(self, head: Head) -> list[HeaderLine]:
        return [line for line in header_lines(head) if line.has(self.needs)]

    def _is_certain(self, head: Head, line: HeaderLine) -> bool:
        if not without_current(line.fields):
            return False
        titled = any(_TITLE.search(above) for above in head.lines[: line.line])
        return titled or bool(
            _OF_POTENTIOSTATS & {*line.keys, *(named.key for named in other_names(line.fields).values())}
        )

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a file; a person who names this format says that no current flowed.

        Raises
        ------
        FileRefused
            If the file has a current.
        """
        lines = self._lines(head)
        header = self.header(head) or next(iter(lines), None)
        if header is None:
            return super().read(head, column_map=column_map, sign=sign)
        current = next((field for field in header.fields if split_header(field).key in CURRENT_NAMES), None)
        if current is not None:
            raise FileRefused(
                f"'{head.name}' is not a record at open circuit: it has the current '{current.strip()}'. Leave "
                f"{option_name('format')} out."
            )
        return read_text(self, head, header, column_map, sign)


BIOLOGIC_REST = AtRest(
    name="biologic-rest",
    brand="BioLogic",
    endings=(".mpt", ".txt", ".csv"),
    about="Open-circuit records of EC-Lab: 'time/s' with 'Ewe/V' or 'Ecell/V', and no current, which is 0.",
    needs=(("time",), ("ewe", "ecell", "<ewe>", "<ecell>", "ewe-ece")),
    columns=BIOLOGIC.columns,
    start=BIOLOGIC.start,
    start_at_zero=BIOLOGIC.start_at_zero,
    at_rest=True,
    settle=_refuse_load,
)
REST = AtRest(
    name="rest",
    brand="open-circuit record",
    endings=(".csv", ".txt"),
    about="A voltage over time without current, which is 0; known by a title of open circuit, or by --format rest.",
    needs=((*TIME_NAMES, *CLOCK_NAMES), VOLTAGE_NAMES),
    columns=COLUMNS,
    sign="found",
    clocks=CLOCK_NAMES,
    at_rest=True,
    rule=8,
)
