"""All operations of the server, in one table."""

from __future__ import annotations

from workbench.records import Project

from .. import schemas as s
from ..operation import Operation
from . import (
    analyses,
    cells,
    dashboards,
    drive_cycles,
    health,
    materials,
    measurements,
    models,
    people,
    projects,
    raw_data,
    recipes,
    search,
    simulations,
    storage,
    studies,
    uploads,
)

OPERATIONS: tuple[Operation, ...] = (
    *health.OPERATIONS,
    *people.OPERATIONS,
    *projects.OPERATIONS,
    *cells.OPERATIONS,
    *measurements.OPERATIONS,
    *uploads.OPERATIONS,
    *materials.OPERATIONS,
    *analyses.OPERATIONS,
    *studies.OPERATIONS,
    *models.OPERATIONS,
    *simulations.OPERATIONS,
    *drive_cycles.OPERATIONS,
    *raw_data.OPERATIONS,
    *search.OPERATIONS,
    *recipes.OPERATIONS,
    *dashboards.OPERATIONS,
    *storage.OPERATIONS,
)
MORE: dict[str, dict[str, s.Schema]] = {Project.__name__: {"user_project_roles": s.array(s.FREE)}}
"""Keys that the wire adds to a kind of record."""
