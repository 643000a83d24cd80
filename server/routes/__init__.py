"""All routers of the server, in the order of the reference page."""

from __future__ import annotations

from fastapi import APIRouter

from .. import operations
from . import (
    cells,
    dashboards,
    ingests,
    kinds,
    measurements,
    people,
    projects,
    raw_data,
    recipes,
    storage,
    uploads,
)

ROUTERS: tuple[APIRouter, ...] = (
    people.router,
    projects.router,
    cells.router,
    measurements.router,
    uploads.router,
    raw_data.router,
    recipes.router,
    dashboards.router,
    kinds.router,
    ingests.router,
    operations.router,
    storage.router,
)
