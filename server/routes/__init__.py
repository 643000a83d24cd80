"""All operations of the server, in one table."""

from __future__ import annotations

from workbench.records import Project, Specification

from .. import schemas as s
from ..operation import Operation
from . import (
    analyses,
    authoring,
    cells,
    chats,
    dashboards,
    drive_cycles,
    health,
    ingests,
    kinds,
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

GROUPS: dict[str, tuple[Operation, ...]] = {
    "The server": health.OPERATIONS,
    "People": people.OPERATIONS,
    "Projects": projects.OPERATIONS,
    "Cells": cells.OPERATIONS,
    "Measurements": (*measurements.OPERATIONS, *uploads.OPERATIONS),
    "Materials": materials.OPERATIONS,
    "Analyses": analyses.OPERATIONS,
    "Studies": studies.OPERATIONS,
    "Models": models.OPERATIONS,
    "Simulations": simulations.OPERATIONS,
    "Drive cycles": drive_cycles.OPERATIONS,
    "Raw data": raw_data.OPERATIONS,
    "Search": search.OPERATIONS,
    "Recipes": recipes.OPERATIONS,
    "Dashboards and plots": dashboards.OPERATIONS,
    "Records of any kind": kinds.OPERATIONS,
    "Files to be read": ingests.OPERATIONS,
    "Authoring and sessions": (*authoring.OPERATIONS, *chats.OPERATIONS),
    "Signed addresses": storage.OPERATIONS,
}
OPERATIONS: tuple[Operation, ...] = tuple(operation for group in GROUPS.values() for operation in group)
MORE: dict[str, dict[str, s.Schema]] = {
    Project.__name__: {"user_project_roles": s.array(s.FREE)},
    Specification.__name__: {"instance_ids": {"type": ["array", "null"], "items": s.FREE}},
}
"""Keys that the wire adds to a kind of record."""
