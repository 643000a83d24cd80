"""All operations of the server, in one table."""

from __future__ import annotations

from workbench.records import Project

from .. import schemas as s
from ..operation import Operation
from . import health, people, projects

OPERATIONS: tuple[Operation, ...] = (
    *health.OPERATIONS,
    *people.OPERATIONS,
    *projects.OPERATIONS,
)
MORE: dict[str, dict[str, s.Schema]] = {Project.__name__: {"user_project_roles": s.array(s.FREE)}}
"""Keys that the wire adds to a kind of record."""
