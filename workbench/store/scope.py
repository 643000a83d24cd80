"""The scope: which records a caller may see."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple, TypeAlias


class Scope(NamedTuple):
    """What a caller may see: the records of one project, and those of its organization that have no project.

    Without a project, ``projects`` may name several: the caller sees their records, and of all projects only these.

    With ``as_of``, microseconds since 1970 by the clock of the store, the caller sees the data as they were then: no
    record that plans can list and that was made later, and of each series the samples that it had. Dashboards and plots
    are those of today.
    """

    organization_id: str
    project_id: str | None
    projects: tuple[str, ...] | None = None
    as_of: int | None = None

    @property
    def name(self) -> tuple[str | int | tuple[str, ...] | None, ...]:
        """Distinguishes it from other scopes, also in cache keys; without ``as_of`` it is as before there was one."""
        return self[:3] if self.as_of is None else tuple(self)


class Whole(Enum):
    """The scope of work on the store itself, such as verify. No caller has it."""

    STORE = "the whole store"


EVERYTHING: Final = Whole.STORE
Within: TypeAlias = Scope | Whole
