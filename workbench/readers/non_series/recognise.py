"""Recognises files that hold no series (parameter sets, drive cycles, capacities by cycle) and reads their records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict

from ...cycling.findings import Finding, FindingFields
from ..file.source import Head, look
from ..reading import JsonObject
from .bpx_set import BPX
from .capacity_table import CAPACITIES
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
    """The format of a file that holds no series; None for any other file."""
    return next((other for other in OTHERS.values() if other.matches(head)), None)


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
