"""The scope: which records a caller may see."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple, TypeAlias


class Scope(NamedTuple):
    """What a caller may see: the records of one project, and those of its organization that have no project.

    Without a project, ``projects`` may name several: the caller sees their records, and of all projects only these.
    """

    organization_id: str
    project_id: str | None
    projects: tuple[str, ...] | None = None


class Whole(Enum):
    """The scope of work on the store itself, such as verify. No caller has it."""

    STORE = "the whole store"


EVERYTHING: Final = Whole.STORE
Within: TypeAlias = Scope | Whole
