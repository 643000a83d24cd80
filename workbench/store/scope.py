"""Whose records a caller may see."""

from __future__ import annotations

from typing import NamedTuple


class Scope(NamedTuple):
    """What a caller may see: the records of one project, and those of its organization that have no project."""

    organization_id: str
    project_id: str | None
