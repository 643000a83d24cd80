"""CH Instruments text: lines of settings, and below them the curve; a sweep has no time, a held potential no column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime

from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import option
from ..file.source import Head
from ..reading import Reading
from ..table.columns import From
from ..table.dates import start_notes
from ..table.text_format import TextFormat
from ..table.values import one_clock

_MODEL = re.compile(r"^Instrument Model:\s*CHI", re.IGNORECASE)
_HELD = "Amperometric i-t Curve"
"""The technique that holds the potential which the settings name first."""
_BEGUN = re.compile(r"^([A-Z][a-z]{2})[a-z]*\.? (\d{1,2}), (\d{4})\s+(\d{1,2}:\d{2}:\d{2})\s*$")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Chi(TextFormat):
    """A file of the CHI software; the names of its columns alone are those of many programs."""

    def matches(self, head: Head) -> bool:
        return is_chi(head) and (self._for(head).header(head) is not None or _steps(head) is not None)

    def _for(self, head: Head) -> TextFormat:
        return _AT_ONE_POTENTIAL if any(line.strip() == _HELD for line in head.lines[:10]) else _CURVE

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read a file; see ``readers.read``."""
        stepped = _steps(head)
        if stepped is not None and not column_map:
            raise FileRefused(
                f"'{head.name}' is a curve of '{stepped}' without its potential, which steps between those of the "
                "settings above it. Add a column 'Potential/V' and ingest it again."
            )
        made = self._for(head).read(head, column_map=column_map, sign=sign)
        if sign is None:
            made.notes.insert(0, _polarity())
        made.start_time = made.start_time or _begun(head, made.notes)
        return made


def is_chi(head: Head) -> bool:
    """Whether a text was written by the software of CH Instruments."""
    return any(_MODEL.match(line) for line in head.lines)


def _steps(head: Head) -> str | None:
    """The technique of a file with a time and a current but no potential, where the settings name no single one."""
    lines = [line.strip() for line in head.lines[:10]]
    if _HELD in lines or _CURVE.header(head) is not None or _AT_ONE_POTENTIAL.header(head) is None:
        return None
    return lines[1] if len(lines) > 1 else ""


def _polarity() -> Finding:
    other = option("sign", "charge")
    text = (
        "The CHI software writes cathodic currents as positive, unless its user chose otherwise, which the file does "
        "not show. A positive current was taken as a discharge. If anodic currents are positive in this file, say "
    )
    return Finding("assumed", "polarity", f"{text}{other}.", other)


def _begun(head: Head, notes: list[Finding]) -> datetime | None:
    found = _BEGUN.match(head.first_line)
    if found is None or found[1] not in _MONTHS:
        return None
    text = f"{found[3]}-{_MONTHS.index(found[1]) + 1:02d}-{int(found[2]):02d} {found[4]}"
    notes.extend(start_notes(text, day_first=False))
    return one_clock(text)


_CURVE = TextFormat(
    name="chi",
    brand="CH Instruments",
    endings=(".txt", ".csv"),
    about="Curves of a potentiostat; known by 'Instrument Model: CHI'. The time of a sweep is computed from its scan "
    "rate, and an amperometric curve has the potential of the settings.",
    needs=(("potential",), ("current",)),
    columns=(
        From("Time [s]", ("time",), "s"),
        From("Current [A]", ("current",), "A"),
        From("Voltage [V]", ("potential",), "V"),
    ),
    sign="discharge",
    sweep=r"^Scan Rate \(V/s\) = (\S+)\s*$",
)
_AT_ONE_POTENTIAL = replace(_CURVE, needs=(("time",), ("current",)), sweep=None, held=r"^Init E \(V\) = (\S+)\s*$")
CHI = Chi(**{field.name: getattr(_CURVE, field.name) for field in fields(_CURVE)})
