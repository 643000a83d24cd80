"""The shared server: a FastAPI application that gives a team's notebooks and programs one store at one address."""

from __future__ import annotations

from .app import create_app
from .settings import Settings

__all__ = ["Settings", "create_app"]
