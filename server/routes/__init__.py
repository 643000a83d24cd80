"""All routers of the server, in the order of the reference page."""

from __future__ import annotations

from fastapi import APIRouter

from .. import operations
from . import (
    analyses,
    backups,
    cells,
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

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    people.router,
    projects.router,
    cells.router,
    measurements.router,
    uploads.router,
    materials.router,
    analyses.router,
    studies.router,
    models.router,
    simulations.router,
    drive_cycles.router,
    raw_data.router,
    search.router,
    recipes.router,
    dashboards.router,
    kinds.router,
    ingests.router,
    operations.router,
    backups.router,
    storage.router,
)
