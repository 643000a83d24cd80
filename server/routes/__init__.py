"""All routers of the server, in the order of the reference page."""

from __future__ import annotations

from fastapi import APIRouter

from . import cells, measurements, people, projects, raw_data, storage, uploads

ROUTERS: tuple[APIRouter, ...] = (
    people.router,
    projects.router,
    cells.router,
    measurements.router,
    uploads.router,
    raw_data.router,
    storage.router,
)
