"""Whose records a caller may see."""

from __future__ import annotations

from typing import NamedTuple


class Scope(NamedTuple):
    """What a caller may see: the records of one project, and those of its organization that have no project.

    Without a project, ``projects`` may name several at once: then their records, and these projects alone.
    """

    organization_id: str
    project_id: str | None
    projects: tuple[str, ...] | None = None
