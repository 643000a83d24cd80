"""Files that hold no series: parameter sets of cells, drive cycles, and capacities by cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ...cycling.findings import Finding
from ..file.source import Head, look
from .bpx_set import BPX
from .capacity_table import CAPACITIES
from .drive_cycle import DRIVE_CYCLE

Kind = Literal["specification", "drive_cycle", "cycles"]


@dataclass(frozen=True)
class Other:
    """A format that holds records: how it is known, and what it becomes.

    ``found`` gives the records as plain values, and may add notes; None where the file is of another format.
    ``matches`` decides by the head alone.
    """

    name: str
    kind: Kind
    about: str
    matches: Callable[[Head], bool]
    records: Callable[[Head, list[Finding]], list[dict[str, Any]]]


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


@dataclass
class Holding:
    """What a file holds instead of a series: records as plain values, by which ingest makes them."""

    format: str
    kind: Kind
    records: list[dict[str, Any]]
    notes: list[Finding] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Holding:
        """What :meth:`as_dict` gave."""
        return cls(**{**raw, "notes": [Finding(**note) for note in raw["notes"]]})


def other_format(head: Head) -> Other | None:
    """The format of a file that holds no series, if it is one of these."""
    return next((other for other in OTHERS.values() if other.matches(head)), None)


def holding(path: Path) -> Holding | None:
    """What a file holds instead of a series; None if it is of no such format.

    Raises
    ------
    FileRefused
        If it is of such a format and damaged, or lacks what its record needs.
    """
    head = look(path)
    other = other_format(head)
    if other is None:
        return None
    notes: list[Finding] = []
    return Holding(other.name, other.kind, other.records(head, notes), notes)
