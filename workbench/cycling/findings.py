"""What readers and checks find in a file: each assumption, change and warning is one finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

Level: TypeAlias = Literal["assumed", "kept", "repaired", "odd", "refused"]


class FindingFields(TypedDict):
    """A finding as JSON, as processes hand it to each other; ``Finding(**fields)`` makes it again."""

    level: Level
    code: str
    message: str
    fix: str


@dataclass(frozen=True)
class Finding:
    """One sentence about a series that a person should know.

    ``level``: ``assumed`` (the file does not say it), ``kept`` (stored as it is, under a name that we do not know),
    ``repaired`` (changed on request), ``odd`` (a warning: stored as it is, but check it), ``refused`` (not stored).
    ``code`` is the stable name of the kind of finding. ``fix``: the option that says what was assumed, as it is typed;
    with it the file gives the same numbers. Empty where no option says it.
    """

    level: Level
    code: str
    message: str
    fix: str = ""

    @property
    def fields(self) -> FindingFields:
        """The finding as JSON."""
        return {"level": self.level, "code": self.code, "message": self.message, "fix": self.fix}
