"""How a file is to be read, as plain values that go to another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from ...cycling.conform import REPAIRS
from ...errors import BadRequest, instead
from ...messages import Place
from ...readers.reading import SIGNS
from ...version import __version__
from ..limits import Limits
from ..processes.worker_process import as_path, as_text


@cache
def reader_version() -> str:
    """The version whose readers are at work; another one may read the same bytes otherwise."""
    return __version__


class SaidReading(TypedDict, total=False):
    """What was said of the reading of a file, as its measurement keeps it, and the version that read."""

    version: str
    format: str
    map: dict[str, str]
    sign: str
    repair: list[str]
    zone: str
    test: str
    of: int
    cycles: str


@dataclass(frozen=True)
class ReadOptions:
    """How files are to be read; all of it plain values, as they go to another process."""

    format: str | None = None
    column_map: dict[str, str] | None = None
    sign: str | None = None
    repair: tuple[str, ...] = ()
    rated_capacity_ah: float | None = None
    rated_voltage_v: float | None = None
    """The highest rated voltage."""
    limits: Limits = field(default_factory=Limits)
    typed_in: Place = "python"
    parts: tuple[str, ...] = ()
    """Further files of the same test, in their order."""
    whole_lines: bool = False
    """The file may be written to meanwhile: it is read as it was at one moment, without a line that has no end."""
    zone: str | None = None
    """The time zone of clock times that name none."""
    test: str | None = None
    """The test that is read, of a file that holds several."""
    of: int = 0
    """How many tests the file holds."""
    cycles: str | None = None
    """``count`` or ``file``: whether half cycles or the file number the cycles. None: the file where it can."""

    def __post_init__(self) -> None:
        if self.sign is not None and self.sign not in SIGNS:
            raise BadRequest(f"There is no sign '{self.sign}'. {instead(self.sign, SIGNS, 'signs')}")
        for repair in self.repair:
            if repair not in REPAIRS:
                raise BadRequest(f"There is no repair '{repair}'. {instead(repair, REPAIRS, 'repairs')}")

    def said(self) -> SaidReading:
        """What a person said of the reading, and the version that reads: the same again gives the same samples."""
        said: SaidReading = {"version": reader_version()}
        if self.format:
            said["format"] = self.format
        if self.column_map:
            said["map"] = self.column_map
        if self.sign:
            said["sign"] = self.sign
        if self.repair:
            said["repair"] = list(self.repair)
        if self.zone:
            said["zone"] = self.zone
        if self.test is not None:
            said["test"] = self.test
            said["of"] = self.of
        if self.cycles:
            said["cycles"] = self.cycles
        return said

    def as_json(self) -> dict[str, Any]:
        """Values that go to another process as JSON."""
        return asdict(self) | {"parts": [as_text(Path(part)) for part in self.parts]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> ReadOptions:
        """What :meth:`as_json` gave."""
        parts = tuple(str(as_path(part)) for part in raw["parts"])
        given = {"limits": Limits(**raw["limits"]), "repair": tuple(raw["repair"]), "parts": parts}
        return cls(**{**raw, **given})

    @property
    def is_plain(self) -> bool:
        """Whether nobody said anything of the reading."""
        return not (self.format or self.column_map or self.sign or self.repair or self.zone)

    def with_reading(self, said: Mapping[str, Any]) -> ReadOptions:
        """With the options that labels give for one file, by the names of the fields here."""
        return replace(self, **said)

    def as_said(self, said: SaidReading, parts: Sequence[Path] = ()) -> ReadOptions:
        """As they were when this was said, unless these say more than the version; with further ``parts`` of a test."""
        options = self if self.said().keys() > {"version"} else self.with_said(said)
        return replace(options, parts=tuple(map(str, parts)))

    def with_said(self, said: SaidReading) -> ReadOptions:
        """As they were when this was said."""
        return replace(
            self,
            format=said.get("format"),
            column_map=said.get("map"),
            sign=said.get("sign"),
            repair=tuple(said.get("repair", ())),
            zone=said.get("zone"),
            cycles=said.get("cycles"),
        )
