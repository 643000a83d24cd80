"""Recognises files that hold no series (parameter sets, drive cycles, capacities by cycle) and reads their records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypedDict

from ...cycling.findings import Finding, FindingFields
from ...errors import FileRefused
from ...messages import quoted
from ..file.cells_of_sheets import cell_notes, refuse_formulas
from ..file.sheets import text_sheets
from ..file.source import Head, look
from ..file.workbook import is_workbook
from ..reading import JsonObject
from ..table.text_layout import header_lines
from .bpx_set import BPX
from .capacity_table import CAPACITIES, holds_samples
from .drive_cycle import DRIVE_CYCLE

Kind = Literal["specification", "drive_cycle", "cycles"]


@dataclass(frozen=True)
class Other:
    """A format that holds records instead of a series.

    ``matches`` recognises it from the head of a file. ``records`` gives the records as JSON and may add notes.
    ``kind`` is the kind of record that a file becomes.
    """

    name: str
    kind: Kind
    about: str
    matches: Callable[[Head], bool]
    records: Callable[[Head, list[Finding]], list[JsonObject]]


OTHERS: dict[str, Other] = {
    "bpx": Other(
        "bpx",
        "specification",
        "A BPX parameter set: becomes a cell specification.",
        BPX.matches,
        BPX.records,
    ),
    "drive-cycle": Other(
        "drive-cycle",
        "drive_cycle",
        "Two columns, time and current: becomes a drive cycle.",
        DRIVE_CYCLE.matches,
        DRIVE_CYCLE.records,
    ),
    "capacity-table": Other(
        "capacity-table",
        "cycles",
        "Capacity by cycle without samples, of one cell or of many: becomes measurements that have only cycles.",
        CAPACITIES.matches,
        CAPACITIES.records,
    ),
}


class HoldingFields(TypedDict):
    """A holding as JSON, as the process that reads hands it to the one that stores."""

    format: str
    kind: Kind
    records: list[JsonObject]
    notes: list[FindingFields]


@dataclass
class Holding:
    """What a file holds instead of a series: records as JSON, which ingest stores."""

    format: str
    kind: Kind
    records: list[JsonObject]
    notes: list[Finding] = field(default_factory=list)

    def as_dict(self) -> HoldingFields:
        notes = [note.fields for note in self.notes]
        return {"format": self.format, "kind": self.kind, "records": self.records, "notes": notes}

    @classmethod
    def of(cls, raw: HoldingFields) -> Holding:
        """What :meth:`as_dict` gave."""
        return cls(raw["format"], raw["kind"], raw["records"], [Finding(**note) for note in raw["notes"]])


def other_format(head: Head) -> Other | None:
    """The format of a file that holds no series; None for any other file.

    Raises
    ------
    FileRefused, TooLarge
        If it is a workbook that cannot be opened.
    """
    if not is_workbook(head):
        return next((other for other in OTHERS.values() if other.matches(head)), None)
    sheets = text_sheets(head)
    if any(holds_samples(sheet.head) for sheet in sheets):
        return None
    for other in OTHERS.values():
        if any(other.matches(sheet.head) for sheet in sheets):
            return replace(other, records=partial(_of_sheets, other))
    return None


def _of_sheets(other: Other, head: Head, notes: list[Finding]) -> list[JsonObject]:
    """The records of all sheets of a workbook that have the format; several sheets name theirs."""
    sheets = text_sheets(head)
    matching = [sheet for sheet in sheets if other.matches(sheet.head)]
    made: list[JsonObject] = []
    for sheet in matching:
        said: list[Finding] = []
        try:
            records = other.records(sheet.head, said)
        except FileRefused:
            refuse_formulas(head.name, [sheet])
            raise
        made += [{**record, "sheet": sheet.name} if len(matching) > 1 else record for record in records]
        headers = [line.fields for line in header_lines(sheet.head)]
        said += cell_notes(head.name, [sheet], max(headers, key=len, default=()))
        notes += [note for note in said if note not in notes]
    left = [sheet.name for sheet in sheets if sheet not in matching]
    if left:
        text = f"The sheets {quoted(left)} hold nothing of this kind and were left out."
        if len(left) == 1:
            text = f"The sheet '{left[0]}' holds nothing of this kind and was left out."
        notes.append(Finding("odd", "sheets_left_out", text))
    return made


def holding(path: Path) -> Holding | None:
    """What a file holds instead of a series; None if it has none of these formats.

    Raises
    ------
    FileRefused
        If it has such a format but is damaged, or lacks what its record needs.
    """
    head = look(path)
    other = other_format(head)
    if other is None:
        return None
    notes: list[Finding] = []
    return Holding(other.name, other.kind, other.records(head, notes), notes)
