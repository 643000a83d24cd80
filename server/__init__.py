"""The shared server: one store behind one address, for notebooks and programs of a team."""

from __future__ import annotations

from .app import create_app
from .settings import Settings

__all__ = ["Settings", "create_app"]
