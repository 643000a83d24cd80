"""What the readers and the checks find: nothing is changed without saying so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

Level: TypeAlias = Literal["assumed", "kept", "repaired", "odd", "refused"]


class FindingFields(TypedDict):
    """A finding as JSON, as processes hand it to each other; ``Finding(**fields)`` makes it again."""

    level: Level
    code: str
    message: str


@dataclass(frozen=True)
class Finding:
    """One thing about a series that a person should know, as a sentence.

    ``level``: ``assumed`` (taken so, the data do not say), ``kept`` (stored as it is, though unknown to us),
    ``repaired`` (changed on request), ``odd`` (a warning: stored as it is, but look at it), ``refused`` (not stored).
    """

    level: Level
    code: str
    message: str

    @property
    def fields(self) -> FindingFields:
        """The finding as JSON."""
        return {"level": self.level, "code": self.code, "message": self.message}
