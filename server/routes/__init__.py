"""All routers of the server, in the order of the reference page."""

from __future__ import annotations

from fastapi import APIRouter

from . import people, projects

ROUTERS: tuple[APIRouter, ...] = (
    people.router,
    projects.router,
)
